"""What learning is asked to do: bounds, priors, starts, and when it has converged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from bnmind._arguments import check_fields, checked
from bnmind._messages import listed
from bnmind.errors import InvalidArgumentError

__all__ = ["Bounds", "LearningOptions", "Priors", "kept_off"]


@dataclass(frozen=True)
class Bounds:
    """Between what the parameters of an item must stay; equal ends fix a parameter.

    Parameters
    ----------
    guess
        The least and the largest chance of a right response at the lowest levels.
    slip
        The least and the largest chance of a wrong response at the highest levels.
    slope
        The least and the largest slope of a curve, which others do not have.

    Examples
    --------
    >>> Bounds(guess=(0.25, 0.25))  # four alternatives, of which one is right
    Bounds(guess=(0.25, 0.25), slip=(0.0, 1.0), slope=(0.0, inf))
    >>> rasch = Bounds(slope=(1, 1))
    """

    guess: tuple[float, float] = (0.0, 1.0)
    slip: tuple[float, float] = (0.0, 1.0)
    slope: tuple[float, float] = (0.0, math.inf)

    def __post_init__(self) -> None:
        check_fields(self)
        problems = []
        for name, most in (("guess", 1), ("slip", 1), ("slope", math.inf)):
            low, high = getattr(self, name)
            if not 0 <= low <= high <= most:
                problems.append(
                    f"expected bounds 0 <= low <= high <= {most} of a {name}, got {low, high}"
                )
            object.__setattr__(self, name, (float(low), float(high)))
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))


@dataclass(frozen=True)
class Priors:
    """What is believed of the parameters beforehand; nothing unless given.

    Parameters
    ----------
    guess, slip
        The two parameters of a beta distribution, at least 1; (1, 1) is no prior. For
        `Gdina` they are about the lowest and the highest configuration, for items in
        steps about each step.
    skills
        The concentration of a Dirichlet distribution over each distribution of the
        skills, at least 1; 1 is no prior. With a saturated distribution it is about all
        the profiles together.
    """

    guess: tuple[float, float] = (1.0, 1.0)
    slip: tuple[float, float] = (1.0, 1.0)
    skills: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        problems = [
            f"expected parameters of at least 1 of the prior of {name}, got {given}"
            for name, given in (("guess", self.guess), ("slip", self.slip))
            if len(given) != 2 or not all(math.isfinite(x) and x >= 1 for x in given)
        ]
        if not (math.isfinite(self.skills) and self.skills >= 1):
            problems.append(f"expected a concentration of at least 1, got {self.skills}")
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
        object.__setattr__(self, "guess", tuple(self.guess))
        object.__setattr__(self, "slip", tuple(self.slip))


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """How parameters are learned.

    Parameters
    ----------
    starts
        How many starts to learn from; the first is the model as it is given, the others
        are drawn. The best end counts.
    seed
        Of the starts that are drawn.
    bounds
        For all items, or for some by name.
    least_chance
        Every chance that is learned of an item's response is at least this, and at most one
        minus it: guesses, slips, and each configuration of a `Gdina`. So no response is
        impossible, which one surprising answer in a test would refute, and no divergence is
        infinite. At 0 the likelihood alone decides. Bounds that leave no room for it, as a
        guess fixed at 0, hold instead; curves have no such bound, and no chance of zero.
    priors
        None unless given: the likelihood alone is maximized.
    monotone
        Whether more skill never lowers the chance of success. It always holds for
        response models that cannot say anything else; with False, `Dina` and `Dino` items
        for which it does not hold become `Gdina`.
    fixed
        Names of items, skills and other hidden variables whose distributions stay as
        they are.
    max_iterations
        The most steps from one start. A step is one M-step and the E-step that evaluates
        it, which goes through all the responses; one more E-step evaluates the start.
    tolerance
        Learning has converged if a step raises the log-likelihood by no more.
    accelerate
        Whether steps are extrapolated (SQUAREM) where that raises the likelihood.
    max_profiles
        Up to so many profiles the responses are weighed by a table over all of them,
        above by a junction tree.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.

    References
    ----------
    The bounds of 0.0001 and 0.9999 are those of the R package GDINA (W. Ma and J. de la
    Torre, J. Stat. Softw. 2020).
    """

    starts: int = 1
    seed: int = 0
    bounds: Bounds | Mapping[str, Bounds] = field(default_factory=Bounds)
    least_chance: float = 1e-4
    priors: Priors = field(default_factory=Priors)
    monotone: bool = True
    fixed: Set[str] = frozenset()
    max_iterations: int = 5000
    tolerance: float = 1e-7
    accelerate: bool = True
    max_profiles: int = 2**14

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "fixed", frozenset(self.fixed))
        problems = [
            f"expected {name} of at least {least}, got {value}"
            for name, value, least in (
                ("starts", self.starts, 1),
                ("seed", self.seed, 0),
                ("max_iterations", self.max_iterations, 1),
                ("tolerance", self.tolerance, 0),
                ("max_profiles", self.max_profiles, 0),
            )
            if not value >= least
        ]
        if not 0 <= self.least_chance < 0.5:
            problems.append(f"expected a least chance in [0, 0.5), got {self.least_chance}")
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))

    @checked
    def bounds_of(self, item: str) -> Bounds:
        """Return the bounds of an item."""
        if isinstance(self.bounds, Bounds):
            return self.bounds
        return self.bounds.get(item, Bounds())


def kept_off(bounds: tuple[float, float], least: float) -> tuple[float, float]:
    """Return bounds that keep a chance off 0 and 1, if they leave room for that.

    >>> kept_off((0.0, 0.6), 0.01), kept_off((0.0, 0.0), 0.01)
    ((0.01, 0.6), (0.0, 0.0))
    """
    low, high = max(bounds[0], least), min(bounds[1], 1 - least)
    return (low, high) if low <= high and bounds[0] < bounds[1] else bounds
