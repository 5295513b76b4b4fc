"""Options of learning: bounds, priors, starts, and the criterion of convergence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Set
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Lt

from bnmind._arguments import checked
from bnmind._values import Count, Finite, Natural, Positive, Value
from bnmind._workers import faults_of_workers

_Pseudo = Annotated[float, Ge(1), Finite]
_Beta = tuple[_Pseudo, _Pseudo]
_Normal = tuple[Annotated[float, Finite], Positive]


@dataclass(frozen=True)
class Bounds(Value):
    """Bounds of the parameters of an item; equal bounds fix a parameter.

    Parameters
    ----------
    guess
        The least and the largest chance of a right response at the lowest levels.
    slip
        The least and the largest chance of a wrong response at the highest levels.
    slope
        The least and the largest slope, for models with a logistic curve. Slopes of an ability are
        free by default, as in mirt: that of a reversed item is negative. ``(0, math.inf)`` lets
        all curves rise, as `LearningOptions.monotone` and a prior of the slopes do; the 3PL and
        the 4PL of `learn_irt` have such a prior by default.

    Examples
    --------
    >>> Bounds(guess=(0.25, 0.25))  # four alternatives, of which one is right
    Bounds(guess=(0.25, 0.25), slip=(0.0, 1.0), slope=(-inf, inf))
    >>> rasch = Bounds(slope=(1, 1))
    """

    guess: tuple[float, float] = (0.0, 1.0)
    slip: tuple[float, float] = (0.0, 1.0)
    slope: tuple[float, float] = (-math.inf, math.inf)

    def _faults(self) -> Iterator[str]:
        for name, least, most in (("guess", 0, 1), ("slip", 0, 1), ("slope", -math.inf, math.inf)):
            got = getattr(self, name)
            if not least <= got[0] <= got[1] <= most:
                yield f"expected bounds {least} <= low <= high <= {most} for the {name}, got {got}"


@dataclass(frozen=True)
class Priors(Value):
    """Prior distributions of the parameters; flat by default.

    Parameters
    ----------
    guess, slip
        The two parameters of a beta distribution, at least 1; (1, 1) is flat. For `Gdina`
        they apply to the lowest and the highest configuration, for sequential items to
        each step. For `Logistic` they apply to the asymptotes that are learned: ``guess`` to
        the lower one, ``slip`` to one minus the upper one.
    skills
        The concentration of a Dirichlet distribution of each distribution of the skills,
        at least 1; 1 is flat. For a saturated distribution it applies to all profiles.
    slope
        The mean and the standard deviation of the logarithm of a slope, which has a log-normal
        distribution, so that the slopes are positive; for models of one ability, but not
        `Nominal`. None is flat.
    logit_guess, logit_slip
        The mean and the standard deviation of the logit of an asymptote that is learned, which
        has a normal distribution; in addition to ``guess`` and ``slip``. None is flat.

    Examples
    --------
    >>> Priors(guess=(5, 17))  # of BILOG for five alternatives, with the mode at 0.2
    Priors(guess=(5.0, 17.0), slip=(1.0, 1.0), skills=1.0, slope=None, logit_guess=None, \
logit_slip=None)
    """

    guess: _Beta = (1.0, 1.0)
    slip: _Beta = (1.0, 1.0)
    skills: _Pseudo = 1.0
    slope: _Normal | None = None
    logit_guess: _Normal | None = field(default=None, kw_only=True)
    logit_slip: _Normal | None = field(default=None, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class LearningOptions(Value):
    """Options of `learn`.

    Parameters
    ----------
    starts
        The number of starts. The first start is the given model, others are drawn. The
        best result is returned. By default the model decides: one start for curves of one
        ability, and several for discrete skills; see `bnmind.adaptive.learning.em`.
    seed
        At least 0; determines the drawn starts.
    bounds
        The bounds of all items, or a mapping from names of items to bounds.
    least_chance
        The least entry of each learned table, which is at most one minus this: of each
        response in each configuration of the skills, and of each level of a skill given
        its parents. Then no response is impossible, which a single answer could contradict,
        and no divergence is infinite. Set to 0 for maximum likelihood. Bounds that conflict
        with it, such as a guess fixed at 0, take precedence, and initial probabilities of
        zero in the distribution of the skills stay zero. Curves of an ability have no such
        bound, and no probability of zero.
    priors
        The prior distributions; default flat, for maximum likelihood.
    monotone
        Whether more skill never lowers the chance of success. By default it may, as in the R
        packages CDM and GDINA: then wrong keys show, as `Learned.notes` says, and
        likelihoods compare with those of other programs. Curves of an ability then have positive
        slopes. Some response models are always monotone; `Dina` and `Dino` items that are not
        become `Gdina`.
    fixed
        Names of items, skills and other hidden variables whose distributions are fixed.
    scaled
        Names of abilities of which only the standard deviation is learned. The mean and the
        shape of the distribution stay. With slopes fixed at 1 this is the Rasch model.
    moved
        Names of abilities of which the mean and the standard deviation are learned, and the shape
        stays: for examinees other than those that the items are known from. Some items must be
        fixed. `learn_groups` does this for each group of examinees but the first.
    max_iterations
        The largest number of steps from one start. A step is one M-step and the E-step
        that evaluates it. One more E-step evaluates the start.
    tolerance
        Learning has converged if an M-step raises the log-likelihood by no more than this.
    accelerate
        Whether to extrapolate steps (SQUAREM) if this raises the likelihood.
    max_profiles
        The number of profiles up to which the E-step uses a table; above it uses a
        junction tree.
    workers
        The number of processes for the starts; −1 for one process for each core. Or a
        executor, such as `bnmind.lab.Cluster`. The result does not depend on it.
    until
        Asked before each step, or with several workers after each start. If it returns true,
        learning ends with the best parameters so far, and `LearningRecord.converged` is false.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.

    References
    ----------
    The bounds of 0.0001 and 0.9999 are those of the R package GDINA (W. Ma and J. de la
    Torre, J. Stat. Softw. 2020).
    """

    starts: Count | None = None
    seed: Natural = 0
    bounds: Bounds | Mapping[str, Bounds] = field(default_factory=Bounds)
    least_chance: Annotated[float, Ge(0), Lt(0.5)] = 1e-4
    priors: Priors = field(default_factory=Priors)
    monotone: bool = False
    fixed: Set[str] = frozenset()
    scaled: Set[str] = frozenset()
    moved: Set[str] = frozenset()
    max_iterations: Count = 5000
    tolerance: Annotated[float, Ge(0)] = 1e-7
    accelerate: bool = True
    max_profiles: Natural = 2**14
    workers: int | Executor = 1
    until: Callable[[], bool] | None = None

    def _faults(self) -> Iterator[str]:
        yield from faults_of_workers(self.workers)
        fixed, scaled, moved = self.fixed, self.scaled, self.moved
        for name in sorted(fixed & scaled | fixed & moved | scaled & moved):
            yield f"expected {name} to be fixed, scaled or moved, got two of them"

    @checked
    def bounds_of(self, item: str) -> Bounds:
        """Return the bounds of an item.

        Parameters
        ----------
        item
            The name of the item.
        """
        if isinstance(self.bounds, Bounds):
            return self.bounds
        return self.bounds.get(item, Bounds())


def kept_off(bounds: tuple[float, float], least: float) -> tuple[float, float]:
    """Return bounds that exclude 0 and 1, if that is possible within them.

    >>> kept_off((0.0, 0.6), 0.01), kept_off((0.0, 0.0), 0.01)
    ((0.01, 0.6), (0.0, 0.0))
    """
    low, high = max(bounds[0], least), min(bounds[1], 1 - least)
    return (low, high) if low <= high and bounds[0] < bounds[1] else bounds
