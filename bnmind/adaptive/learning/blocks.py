r"""The options of learning, and items that are learned alike, by their models' formulas.

A block computes the chances of the responses to its items from their parameters, and in the M-step
the most likely parameters from expected counts. Chances and counts are by *group*: a cell of the
formula, in which the response model does not distinguish configurations of the parents.

What holds
----------
==============  ================================================================================
parameters      bounds
==============  ================================================================================
chances         those of the guess at the lowest levels, of the slip at the highest, and
                `ItemRule.least` from 0 and 1 elsewhere, if the other bounds allow it
effects         the same for the chances that they make, unless more skill must not hurt: then those
                between the lowest and the highest chance are within the bounds of these
slopes          those of slopes; asymptotes have the bounds of guess and slip
thresholds      increasing, with a gap
==============  ================================================================================

If more skill must not hurt, no predictor may fall from a level to the next. With more than two
responses, the bounds of chances are those of each step to a better response.

The priors
----------
===============================  =========================================================
prior                            log-density up to a constant
===============================  =========================================================
beta (α, β) of a chance or an    (α − 1) ln c + (β − 1) ln(1 − c), which is that of α − 1 and
asymptote c                      β − 1 more responses
log-normal (m, s) of a slope a   −ln a − (ln a − m)² / 2s²
===============================  =========================================================

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011. The densities are those
of R. P. Chalmers, "mirt: a multidimensional item response theory package for the R environment",
J. Stat. Softw. 2012 (``lnorm`` and ``expbeta``). R. D. Bock and M. Aitkin, "Marginal maximum
likelihood estimation of item parameters", Psychometrika 1981; R. Mislevy, "Bayes modal estimation
in item response models", Psychometrika 1986 (priors of slopes and asymptotes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, cast

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Finite, Natural, Positive, Sealed, Value, sealed
from bnmind._workers import faults_of_workers
from bnmind.adaptive.formulas import (
    CHANCES,
    CUMULATIVE,
    IDENTITY,
    LOGIT,
    Formula,
    Learnable,
    Link,
    LinkFunction,
    ResponseModel,
    binary,
)
from bnmind.adaptive.learning.forms import Form, Polytope, ascended, improved
from bnmind.adaptive.skill_models import Gdina, GuessSlip, SkillEffects
from bnmind.information import Floats
from bnmind.pgm import Variable

# --- Options: bounds, priors, starts, and the criterion of convergence ----------------------------

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

    Examples
    --------
    >>> Priors(guess=(5, 17))  # of BILOG for five alternatives, with the mode at 0.2
    Priors(guess=(5.0, 17.0), slip=(1.0, 1.0), skills=1.0, slope=None)
    """

    guess: _Beta = (1.0, 1.0)
    slip: _Beta = (1.0, 1.0)
    skills: _Pseudo = 1.0
    slope: _Normal | None = None


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
        response in each configuration of the skills, with more than two responses of each step to a
        better one; and of each level of a skill given its parents. Then no response is impossible,
        which a single answer could contradict, and no divergence is infinite. Set to 0 for maximum
        likelihood. Bounds that conflict with it, such as a guess fixed at 0, take precedence, and
        initial probabilities of zero in the distribution of the skills stay zero. Curves of an
        ability have no such bound, and no probability of zero.
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


# --- Items and their constraints ------------------------------------------------------------------

_SAME = 1e-7
"""Chances in order that differ less are equal."""

_INSIDE = 0.01
"""The least distance of initial chances from 0 and 1, which no step could leave."""

_OFF = 1e-10
"""The least distance of chances from 0 and 1, where scales are infinite."""

_FAR = 700.0
"""Stands for infinity on a scale, if bounds fix a chance at 0 or 1."""

_SLACK = 1e-12
"""The tolerance for the sum of a guess and a slip, which may be 1 up to rounding."""

_WIDE = 60.0
"""The largest effect."""

_FLATTEST = 1e-5
"""The least slope of one ability where slopes must be positive."""

_STEEPEST = 50.0
"""The largest slope of all curves."""

_FARTHEST = 100.0
"""The largest threshold and intercept."""

_GAP = 1e-9
"""The least gap of thresholds, more than a polytope tolerates."""

_APART = 1e-6
"""The least distance of two asymptotes."""


def _on(scale: LinkFunction, chances: Any) -> Floats:
    """Return chances on a scale, off 0 and 1 where it is infinite."""
    return scale.of(np.clip(np.asarray(chances, dtype=np.float64), _OFF, 1 - _OFF))


def _kept_off(bounds: tuple[float, float], least: float) -> tuple[float, float]:
    """Return bounds that exclude 0 and 1, if that is possible within them.

    >>> _kept_off((0.0, 0.6), 0.01), _kept_off((0.0, 0.0), 0.01)
    ((0.01, 0.6), (0.0, 0.0))
    """
    low, high = max(bounds[0], least), min(bounds[1], 1 - least)
    return (low, high) if low <= high and bounds[0] < bounds[1] else bounds


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemRule(Sealed):
    """An item with its response model and the constraints of its parameters."""

    name: str
    model: ResponseModel | None
    parents: tuple[Variable, ...]
    channel: Floats
    """``(parent configurations, responses)``: the initial distribution."""
    fixed: bool = False
    """Whether nothing is learned of it."""
    bounds: Bounds = field(default_factory=Bounds)
    ordered: tuple[bool, ...] = ()
    """For each parent, whether higher levels mean more skill."""
    least: float = 0.0
    """The least distance of learned chances from 0 and 1, if the bounds allow it."""

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of the chance of a right response at the lowest and at the highest levels."""
        low, high = _kept_off(self.bounds.slip, self.least)
        return _kept_off(self.bounds.guess, self.least), (1 - high, 1 - low)

    @cached_property
    def learnable(self) -> Learnable:
        """The response model; a table of its own in a network is one of `Gdina`."""
        return cast("Learnable", Gdina(self.channel) if self.model is None else self.model)

    @property
    def numbers(self) -> Floats:
        """The present parameters."""
        return np.zeros(0) if self.fixed else self.learnable._numbers

    @cached_property
    def formula(self) -> Formula:
        """How the chances depend on the parameters, of which a fixed item has none."""
        n, n_responses = self.channel.shape
        if self.fixed:
            table = Link(
                lambda x: np.broadcast_to(self.channel, (len(x), n, n_responses)),
                lambda x: np.zeros((len(x), n, 1, n_responses)),
            )
            return Formula(link=table, design=np.zeros((n, 1, 0)), cells=np.arange(n))
        item, model = Variable.of_integers(self.name, range(n_responses)), self.learnable
        if isinstance(model, Gdina):
            return model._formula(item, self.parents, self.ordered)
        return model._formula(item, self.parents)

    def range_of(self, role: str, part: Formula, priors: Priors) -> tuple[float, float]:
        """Return the least and the largest value of a parameter of a part of the formula."""
        bounds, (guess, right) = self.bounds, self.ends
        if role == "slope":
            # Slopes are positive where their prior or a bound says so.
            positive = bounds.slope[0] >= 0 or priors.slope is not None
            least = _FLATTEST if positive else -_STEEPEST
            return tuple(np.clip(bounds.slope, least, _STEEPEST).tolist())
        known = {
            **{"guess": guess, "right": right, "chance": (self.least, 1 - self.least)},
            **{"lower": bounds.guess, "upper": (1 - bounds.slip[1], 1 - bounds.slip[0])},
            **dict.fromkeys(("intercept", "threshold"), (-_FARTHEST, _FARTHEST)),
            "free": (-_STEEPEST, _STEEPEST),
            "weight": (max(bounds.slope[0], 0.0), min(max(bounds.slope[1], 0.0), _STEEPEST)),
        }
        low, high = known[role]
        if role not in CHANCES or part.scale in (IDENTITY, None):
            return low, high
        with np.errstate(divide="ignore"):
            ends = (
                part.scale.of(np.array([low, high]))
                if low == high
                else _on(part.scale, (low, high))
            )
        return tuple(np.clip(ends, -_FAR, _FAR).tolist())


@dataclass(frozen=True, eq=False)
class ItemBlock(Sealed):
    """Items whose response models state formulas with the same design.

    Each item is a problem of the M-step with parameters of its own, which follow those of the item
    before; or all share those of the skills (`SkillEffects`), and are one problem. Designs of main
    effects may have different sizes: missing cells are like the first one, and missing parameters
    stay 0.

    Parameters
    ----------
    rules
        The items.
    priors
        Of their parameters.
    monotone
        Whether more skill must not lower the chance of a right response.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors = field(default_factory=Priors)
    monotone: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items."""
        return tuple([rule.name for rule in self.rules])

    @property
    def fixed(self) -> bool:
        """Whether nothing is learned."""
        return self.rules[0].fixed

    @cached_property
    def formula(self) -> Formula:
        """The formula of the first item, or the largest one."""
        return max([rule.formula for rule in self.rules], key=lambda one: len(one.roles))

    @cached_property
    def shared(self) -> bool:
        """Whether the items share their parameters."""
        return isinstance(self.rules[0].model, SkillEffects) and not self.fixed

    @cached_property
    def is_saturated(self) -> bool:
        """Whether each cell has a chance of its own, so that the most likely ones are shares."""
        return self.formula.scale is IDENTITY and not self.formula.is_main

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the cell of each configuration of its parents."""
        return tuple([rule.formula.cells for rule in self.rules])

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The largest number of cells of an item, and the number of responses."""
        return max(len(rule.formula.design) for rule in self.rules), self.rules[0].channel.shape[1]

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        """The names of the parameters of a problem."""
        if not self.shared:
            return self.formula.names
        names = dict.fromkeys(name for rule in self.rules for name in rule.formula.names)
        return tuple(sorted(names, key=lambda name: not name.startswith("intercept")))

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of problems, and of the parameters of each."""
        return 1 if self.shared else len(self.rules), len(self._labels)

    @cached_property
    def _places(self) -> tuple[tuple[int, NDArray[np.intp]], ...]:
        """For each item its problem, and the places of its parameters in those of the problem."""
        if not self.shared:
            sizes = [len(rule.formula.names) for rule in self.rules]
            return tuple([(row, sealed(np.arange(n))) for row, n in enumerate(sizes)])
        place = {name: number for number, name in enumerate(self._labels)}
        names = [rule.formula.names for rule in self.rules]
        return tuple([(0, sealed(np.array([place[n] for n in own]))) for own in names])

    @cached_property
    def own(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each item's parameters, or of all that it shares."""
        n = self.size[1]
        if self.shared:
            return (sealed(np.arange(n)),) * len(self.rules)
        return tuple([sealed(problem * n + columns) for problem, columns in self._places])

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The item and the name of each parameter, empty if missing; of shared ones, the first."""
        if self.shared:
            first = {n: rule.name for rule in reversed(self.rules) for n in rule.formula.names}
            return tuple([(first[name], f"{name} in all items") for name in self._labels])
        n, missing = self.size[1], ("",) * self.size[1]
        names = [(rule.formula.names + missing)[:n] for rule in self.rules]
        return tuple(
            [(r.name, name) for r, own in zip(self.rules, names, strict=True) for name in own]
        )

    @cached_property
    def limits(self) -> Floats:
        """``(parameters, 2)``; nan for an effect that a fixed guess or slip determines."""
        if self.shared:
            limits = np.tile([-_WIDE, _WIDE], (1, self.size[1], 1))
            limits[0, self.size[1] // 2 :, 0] = 0.0 if self._rises(self.formula) else -_WIDE
        else:
            limits = np.zeros((*self.size, 2))
            for rule, (problem, columns) in zip(self.rules, self._places, strict=True):
                limits[problem, columns] = self._limits_of(rule)
        return sealed(limits.reshape(-1, 2))

    def _limits_of(self, rule: ItemRule) -> Floats:
        rows: list[Any] = []
        for part in rule.formula.parts:
            if part.limits is not None:
                for low, high in part.limits.tolist():
                    off = low >= 0 and high <= 1
                    rows.append(_kept_off((low, high), rule.least) if off else (low, high))
            elif not part.is_main:
                rows += [rule.range_of(role, part, self.priors) for role in part.roles]
            else:
                assert part.scale is not None
                guess, right = rule.ends
                effects = [(0.0 if self._rises(part) else -_WIDE, _WIDE)] * (len(part.roles) - 1)
                own: list[Any] = [_on(part.scale, (guess[0], right[1])), *effects]
                for place, (low, high) in ((0, guess), (-1, right)):
                    own[place] = own[place] if low < high else (np.nan, np.nan)
                rows += own
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def _rises(self, part: Formula) -> bool:
        return part.rises or self.monotone

    @cached_property
    def _box(self) -> Floats:
        """``(2, problems, parameters)``: the bounds of parameters; of effects there are none."""
        low, high = np.array(np.moveaxis(self.limits.reshape(*self.size, 2), 2, 0))
        of_main = [part.is_main for part in self.formula.parts for _ in part.roles]
        for problem, columns in self._places:
            main = columns[of_main[: len(columns)]]
            low[problem, main], high[problem, main] = -np.inf, np.inf
        return sealed(np.array([low, high]))

    def _ends(self, least: float) -> Floats:
        """Return the ends of parameters that are chances, (2, parameters), infinite for others."""
        ends = [
            part.scale.of(np.array([least, 1 - least]))
            if part.scale and role in CHANCES
            else (-np.inf, np.inf)
            for part in self.formula.parts
            for role in part.roles
        ]
        return np.array([(-np.inf, np.inf)] if self.shared else ends).reshape(-1, 2).T

    @cached_property
    def form(self) -> Form:
        """The chances of the problems, and the valid parameters."""
        (n_problems, n), n_predictors = self.size, self.formula.design.shape[1]
        found = [self._inequalities(number) for number in range(len(self.rules))]
        every = np.concatenate([rows for rows, _ in found])
        problem = np.repeat([row for row, _ in self._places], [len(rows) for rows, _ in found])
        rows, where = np.unique(every, axis=0, return_inverse=True)
        least = np.full((n_problems, len(rows)), -np.inf)
        np.maximum.at(least, (problem, where.reshape(-1)), np.concatenate([h for _, h in found]))
        polytope = Polytope.of(np.moveaxis(self._box, 0, -1), rows, least)
        design: Any = np.zeros((len(self.rules), self.shape[0], n_predictors, n))
        for own, rule, (_, columns) in zip(design, self.rules, self._places, strict=True):
            cells = rule.formula.design
            own[: len(cells), :, columns] = cells
            own[len(cells) :, :, columns] = cells[0]  # of no configuration
        if self.shared:
            design = design.reshape(-1, n_predictors, n)
        elif len({len(columns) for _, columns in self._places}) == 1:
            design = design[0]
        return Form(
            self.formula.link,
            design,
            polytope,
            log_normal=self.priors.slope if "slope" in self.formula.roles else None,
            pseudo=tuple(self._pseudo(polytope)),
        )

    def _inequalities(self, number: int) -> tuple[Floats, Floats]:
        """Return rows of inequalities of the problem of an item, and the least products."""
        rows, least = [np.zeros((0, self.size[1]))], [np.zeros(0)]
        for part, columns in self._parts(number):
            for of_part, products in self._of_part(self.rules[number], part):
                rows.append(self._widened(of_part, columns))
                least.append(np.broadcast_to(np.asarray(products, dtype=float), len(of_part)))
        return np.concatenate(rows), np.concatenate(least)

    def _parts(self, number: int) -> Iterator[tuple[Formula, NDArray[np.intp]]]:
        """Yield the parts of an item's formula, with the columns of their parameters."""
        formula, (_, columns) = self.rules[number].formula, self._places[number]
        ends = np.cumsum([len(part.roles) for part in formula.parts])[:-1]
        yield from zip(formula.parts, np.split(columns, ends), strict=True)

    def _widened(self, rows: Floats, columns: NDArray[np.intp]) -> Floats:
        wide = np.zeros((len(rows), self.size[1]))
        wide[:, columns] = rows
        return wide

    def _of_part(self, rule: ItemRule, part: Formula) -> Iterator[tuple[Floats, Any]]:
        predictors, off = part.design[:, 0], (rule.least, 1 - rule.least)
        if part.is_main:
            assert part.scale is not None
            bounded = [*zip(part.ends, rule.ends, strict=True)]
            if not self._rises(part):
                bounded.append((predictors[1:-1], off))
            bounded += [(rows, off) for rows in part.noise or ()]
            for rows, range_ in bounded:
                low, high = _on(part.scale, range_)
                yield rows, low
                yield -rows, -high
        elif part.scale not in (None, IDENTITY):
            # Products of chances come closer to 0 than these.
            low, high = _on(part.scale, off)
            least, most = np.array([rule.range_of(r, part, self.priors) for r in part.roles]).T
            yield predictors, np.where(predictors @ most >= low, low, -np.inf)
            yield -predictors, np.where(predictors @ least <= high, -high, -np.inf)
        if part.scale is not None and self._rises(part):
            yield _order(part, rule.ordered if len(rule.ordered) == len(part.sizes) else ()), 0.0
        if part.link is CUMULATIVE:
            # Halfway between two thresholds with this gap, a response has about the least chance.
            yield part.design[0, :-1] - part.design[0, 1:], max(4 * rule.least, _GAP)
        if "weight" in part.roles:
            rows, (low, high) = part.design.reshape(-1, len(part.roles)), _on(LOGIT, off)
            yield rows, low
            yield -rows, -high
        if {"lower", "upper"} <= {*part.roles}:
            yield np.array([[0.0, 0.0, -1.0, 1.0]]), _APART

    def _pseudo(self, polytope: Polytope) -> Iterator[tuple[Form, Floats]]:
        """Yield the chances that have beta priors, with the counts that these add."""
        found: dict[tuple[LinkFunction, int], list[Floats]] = {}
        for number in range(len(self.rules) if self.shared else 1):
            for part, columns in self._parts(number):
                for which, rows in enumerate(part.noise or part.ends):
                    of_scale = found.setdefault((part.scale or IDENTITY, which), [])
                    of_scale.append(self._widened(rows, columns))
        for (scale, which), each in found.items():
            a, b = (self.priors.guess, self.priors.slip)[which]
            rows = np.unique(np.concatenate(each), axis=0)
            if len(rows) and (a, b) != (1.0, 1.0):
                counts = (b - 1, a - 1) if which == 0 else (a - 1, b - 1)
                numbers = np.broadcast_to(counts, (len(rows), 2))
                yield Form(binary(scale), rows[:, None], polytope), numbers

    def rows(self, values: Floats) -> Floats:
        """Return parameters by problem, ``(problems, parameters)``."""
        return values.reshape(self.size)

    def _values(self, x: Floats) -> Floats:
        """Return parameters of problems in a row."""
        return np.clip(x, *self._box).reshape(-1)

    def _means(self, each: Iterable[Floats]) -> Floats:
        """Return the parameters of problems, given those of each item."""
        total, number = np.zeros((2, *self.size))
        for (problem, columns), own in zip(self._places, each, strict=True):
            total[problem, columns] += own
            number[problem, columns] += 1
        return total / np.maximum(number, 1)

    @cached_property
    def _first(self) -> Floats:
        """The parameters of the models, chances off 0 and 1, so that steps can change them."""
        numbers = self._means(rule.numbers for rule in self.rules)
        return np.clip(np.clip(numbers, *self._ends(_INSIDE)), *self._box)

    def start(self) -> Floats:
        """Return the current parameters of the models; the means of shared ones."""
        return self._values(self.form.polytope.inside(self._first))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters.

        Chances rise from a random guess to a random slip, each skill having a random share in it.
        Other parameters are near those of the models.
        """
        known, limits = self._first, self.limits.reshape(*self.size, 2)

        def drawn(number: int) -> Floats:
            row = self._places[number][0]
            each = [
                _drawn(part, known[row, columns], limits[row, columns].T, rng)
                for part, columns in self._parts(number)
            ]
            return np.concatenate(each)

        return self._values(
            self.form.polytope.inside(self._means(map(drawn, range(len(self.rules)))))
        )

    def response_parameters(self, values: Floats) -> Floats:
        """Return the response probabilities, ``(items, groups, responses)``."""
        return self.form.table(self.rows(values)).reshape(len(self.rules), *self.shape)

    def slopes(self, values: Floats) -> Floats:
        """Return the derivatives of the probabilities of each item by its parameters.

        ``(items, parameters, groups, responses)``; the parameters are those of all items if they
        share them.
        """
        slopes = self.form.slopes(self.rows(values))
        each = len(self.rules) // self.size[0]
        by_item = slopes.reshape(*self.size, each, *self.shape).swapaxes(1, 2)
        return by_item.reshape(len(self.rules), self.size[1], *self.shape)

    def maximize(self, values: Floats, counts: Floats, chances: Floats | None = None) -> Floats:
        """Return parameters with a larger likelihood of the counts.

        Parameters
        ----------
        values
            The current parameters.
        counts
            ``(items, groups, responses)``: the expected numbers of examinees.
        chances
            Those of the current parameters, of the same shape, if they are known.
        """
        if self.fixed:
            return values
        x = self.rows(values)
        counts = counts.reshape(len(x), -1, counts.shape[2])
        if not self.is_saturated:
            known = None if chances is None else chances.reshape(counts.shape)
            return self._values(improved(self.form, x, counts, known))
        wrong, right = np.moveaxis(counts, 2, 0)
        for part, numbers in self.form.pseudo:
            wrong, right = (
                one + n @ part.design[:, 0]
                for one, n in zip((wrong, right), numbers.T, strict=True)
            )
        total = right + wrong
        found = np.clip(np.divide(right, total, out=x.copy(), where=total > 0), *self._box)
        wanting = np.flatnonzero(~self.form.polytope.holds(found))
        if len(wanting):
            found[wanting] = self._in_order(x, right, total, wanting)
        return self._values(found)

    def _in_order(
        self, known: Floats, right: Floats, total: Floats, problems: NDArray[np.intp]
    ) -> Floats:
        """Return the most likely chances of problems where the shares are out of order."""
        from scipy.sparse.csgraph import connected_components

        right, total, (low, high) = right[problems], total[problems], self._box[:, problems]
        order = _order(self.formula, self.rules[0].ordered)
        polytope = Polytope.of(np.stack([low, high], axis=-1), order)
        form = replace(self.form, polytope=polytope, pseudo=())
        found = ascended(form, known[problems], np.stack([total - right, right], axis=-1))
        at_bound = (found < low + _SAME) | (found > high - _SAME)
        for problem, chances in enumerate(found):
            # Equal chances are one share: exactly, so that extrapolated ones stay in order.
            met = np.abs(order[order @ chances < _SAME])
            _, block = connected_components(met.T @ met)
            rights, totals, held = (
                np.bincount(block, one[problem]) for one in (right, total, at_bound)
            )
            free = ((totals > 0) & (held == 0))[block]
            chances[free] = (rights / np.where(totals > 0, totals, 1.0))[block][free]
        found = np.clip(found, low, high).reshape(-1, *self.formula.sizes)
        for axis in rises_along(self.formula, self.rules[0].ordered):  # correct rounding errors
            found = np.maximum.accumulate(found, axis=axis + 1)
        return found.reshape(len(problems), -1)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density, up to a constant."""
        return float(self.form.log_prior(self.rows(values)).sum())

    def valid(self, values: Floats) -> bool:
        """Return whether the parameters satisfy the inequalities."""
        x = self.rows(values)
        holds = self.form.polytope.holds(x, tolerance=5e-10).all()
        return bool(holds and np.isfinite(self.form.table(x)).all())

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the farthest valid parameters from known ones on the way to others."""
        start, far = self.rows(known), np.clip(self.rows(values), *self._box)
        (none, sure), (low, high) = self._ends(_OFF), self._box
        # No step leaves a chance of zero or one again.
        never = (
            (far <= none) | ((far <= 0) & (low == 0)) | (far >= sure) | ((far >= 1) & (high == 1))
        )
        far = np.where(never, start, far)
        outside = ~self.form.polytope.holds(far)
        if not outside.any():
            return far.reshape(-1)
        if self.is_saturated:
            return known
        if not CHANCES.isdisjoint(self.formula.roles):
            return self._values(self.form.polytope.inside(far))
        steps = far - start
        near = start + self.form.polytope.reach(start, steps)[:, None] * steps
        near = np.where(self.form.polytope.holds(near, tolerance=1e-8)[:, None], near, start)
        return self._values(np.where(outside[:, None], near, far))

    def residual(self, values: Floats, counts: Floats) -> float:
        """Return how far the gradient leads from the parameters, for each examinee."""
        if self.fixed:
            return 0.0
        x = self.rows(values)
        counts = counts.reshape(len(x), -1, counts.shape[2])
        return float(self.form.residual(x, counts).max(initial=0.0))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models; `Gdina` if more skill lowers a chance of a `GuessSlip`."""
        x, models = self.rows(values), list[ResponseModel | None]()
        tables = self.response_parameters(values)
        for rule, table, (problem, columns) in zip(self.rules, tables, self._places, strict=True):
            numbers = x[problem, columns]
            if rule.fixed:
                models.append(rule.model)
            elif isinstance(rule.model, GuessSlip) and numbers[0] > numbers[1] + _SLACK:
                models.append(Gdina(table[rule.formula.cells]))
            else:
                models.append(rule.learnable._with_numbers(numbers))
        return tuple(models)


def rises_along(part: Formula, ordered: tuple[bool, ...]) -> list[int]:
    """Return the axes of the grid of cells along which more is better."""
    every = part.rises or len(ordered) != len(part.sizes)
    return [axis for axis in range(len(part.sizes)) if every or ordered[axis]]


def _order(part: Formula, ordered: tuple[bool, ...]) -> Floats:
    """Return what must not be negative: predictors less those of the next lower level."""
    predictors = part.design[:, 0].reshape(*part.sizes, -1)
    n = predictors.shape[-1]
    steps = [np.diff(predictors, axis=axis).reshape(-1, n) for axis in rises_along(part, ordered)]
    rows = np.concatenate([np.zeros((0, n)), *steps])
    return np.unique(rows, axis=0)


@lru_cache
def _inverse(design: bytes, shape: tuple[int, ...]) -> Floats:
    """Return the matrix from predictors to the parameters that fit best."""
    return np.asarray(np.linalg.pinv(np.frombuffer(design).reshape(shape)[:, 0]), dtype=float)


def _drawn(part: Formula, current: Floats, limits: Floats, rng: np.random.Generator) -> Floats:
    """Return random parameters of a part of an item's formula."""
    if part.scale is not None:
        low, high = part.scale.of(rng.uniform([0.05, 0.55], [0.45, 0.95]))
        levels = np.indices(part.sizes).reshape(len(part.sizes), -1)
        shares = levels / (np.array(part.sizes)[:, None] - 1)
        rise = rng.dirichlet(np.full(len(part.sizes), 2.0)) @ shares
        inverse = _inverse(part.design.tobytes(), part.design.shape)
        x: Floats = inverse @ (low + (high - low) * rise)
        return x
    change, roles = rng.normal(0, 0.5, len(current)), np.array(part.roles)
    if part.limits is not None:
        bounded = np.isfinite(limits).all(axis=0)
        uniform = rng.uniform(*np.where(bounded, limits, [[0.0], [1.0]]))
        return np.where(bounded, uniform, current + change * np.maximum(np.abs(current), 1.0))
    slope = np.isin(roles, ("slope", "weight"))
    steep = np.where(current < 0, -1, 1) * np.maximum(np.abs(current), 0.1) * np.exp(change)
    still = np.isin(roles, ("lower", "upper"))
    return np.where(slope, steep, np.where(still, current, current + change))
