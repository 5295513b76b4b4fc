r"""Items that are learned alike, by the formula that their response models state.

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
responses each chance is `ItemRule.floor` or more.

The priors
----------
===============================  =========================================================
prior                            log-density up to a constant
===============================  =========================================================
beta (α, β) of a chance or an    (α − 1) ln c + (β − 1) ln(1 − c), which is that of α − 1 and
asymptote c                      β − 1 more responses
log-normal (m, s) of a slope a   −ln a − (ln a − m)² / 2s²
logit-normal (m, s) of an        −(logit c − m)² / 2s², the density of the logit
asymptote c
===============================  =========================================================

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011. The densities are those
of R. P. Chalmers, "mirt: a multidimensional item response theory package for the R environment",
J. Stat. Softw. 2012 (``lnorm``, ``expbeta``, and ``norm`` of an asymptote, which is on the scale of
the logit there). R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item
parameters", Psychometrika 1981; R. Mislevy, "Bayes modal estimation in item response models",
Psychometrika 1986 (priors of slopes and asymptotes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.formulas import (
    CUMULATIVE,
    IDENTITY,
    Formula,
    Learnable,
    LinkFunction,
    ResponseModel,
    binary,
)
from bnmind.adaptive.learning.forms import Densities, Form, Polytope, ascended, improved, log_prior
from bnmind.adaptive.learning.options import Bounds, Priors, kept_off
from bnmind.adaptive.skill_models import Gdina, GuessSlip, SkillEffects
from bnmind.information import Floats
from bnmind.pgm import Variable

_SAME = 1e-7
"""Chances in order that differ less are equal."""

_INSIDE = 0.01
"""The least distance of initial chances from 0 and 1, which no step could leave."""

_OFF = 1e-10
"""The least distance of chances from 0 and 1, where scales are infinite."""

_SLACK = 1e-12
"""The tolerance for the sum of a guess and a slip, which may be 1 up to rounding."""

_WIDE = 60.0
"""The largest effect."""

FLATTEST = 1e-5
"""The least slope of one ability where slopes must be positive."""

STEEPEST = 50.0
"""The largest slope of all curves."""

FARTHEST = 100.0
"""The largest threshold and intercept."""

_GAP = 1e-9
"""The least gap of thresholds, more than a polytope tolerates."""

_APART = 1e-6
"""The least distance of two asymptotes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemRule(Sealed):
    """An item with its response model and the constraints of its parameters."""

    name: str
    model: ResponseModel | None
    parents: tuple[Variable, ...]
    channel: Floats
    """``(parent configurations, responses)``: the initial distribution."""
    bounds: Bounds = field(default_factory=Bounds)
    ordered: tuple[bool, ...] = ()
    """For each parent, whether higher levels mean more skill."""
    least: float = 0.0
    """The least distance of learned chances from 0 and 1, if the bounds allow it."""
    floor: float = 0.0
    """The least chance of each of more than two responses, if the bounds allow it."""

    @property
    def guess(self) -> tuple[float, float]:
        """The least and the largest chance of a right response at the lowest levels."""
        return kept_off(self.bounds.guess, self.least)

    @property
    def right(self) -> tuple[float, float]:
        """The least and the largest chance of a right response at the highest levels."""
        low, high = kept_off(self.bounds.slip, self.least)
        return 1 - high, 1 - low

    @cached_property
    def learnable(self) -> Learnable:
        """The response model; a table of its own in a network is one of `Gdina`."""
        return cast("Learnable", Gdina(self.channel) if self.model is None else self.model)

    @cached_property
    def formula(self) -> Formula:
        """How the chances depend on the parameters."""
        item, model = Variable.of_integers(self.name, range(self.channel.shape[1])), self.learnable
        if isinstance(model, Gdina):
            return model._formula(item, self.parents, self.ordered)
        return model._formula(item, self.parents)

    def range_of(self, role: str, priors: Priors) -> tuple[float, float]:
        """Return the least and the largest value of a parameter."""
        bounds = self.bounds
        if role == "slope":
            # Slopes are positive where their prior or a bound says so.
            positive = bounds.slope[0] >= 0 or priors.slope is not None
            least = FLATTEST if positive else -STEEPEST
            return tuple(np.clip(bounds.slope, least, STEEPEST).tolist())
        known = {
            **dict.fromkeys(("guess", "lowest"), self.guess),
            **{"slip": kept_off(self.bounds.slip, self.least), "highest": self.right},
            **dict.fromkeys(("chance", "edge"), (self.least, 1 - self.least)),
            **{"lower": bounds.guess, "upper": (1 - bounds.slip[1], 1 - bounds.slip[0])},
            **dict.fromkeys(("intercept", "threshold"), (-FARTHEST, FARTHEST)),
            "free": (-STEEPEST, STEEPEST),
            "weight": (max(bounds.slope[0], 0.0), min(max(bounds.slope[1], 0.0), STEEPEST)),
        }
        return known[role]


@dataclass(frozen=True, eq=False)
class ItemBlock(Sealed):
    """Items that are learned together, with parameters in one array; by default, nothing is."""

    rules: tuple[ItemRule, ...]
    """The items."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items."""
        return tuple(rule.name for rule in self.rules)

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the group of each configuration of its parents; by default its own."""
        return (np.arange(self.shape[0]),) * len(self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of groups and of responses of each item."""
        n_configurations, n_responses = self.rules[0].channel.shape
        return n_configurations, n_responses

    @property
    def shared(self) -> bool:
        """Whether the items share their parameters."""
        return False

    @property
    def own(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each item's parameters, or of all that it shares."""
        return (np.zeros(0, dtype=np.intp),) * len(self.rules)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The item and the name of each parameter."""
        return ()

    @property
    def limits(self) -> Floats:
        """``(parameters, 2)``: the least and the largest value of each parameter."""
        return np.zeros((0, 2))

    def start(self) -> Floats:
        """Return initial parameters, near the current parameters of the items."""
        return np.zeros(0)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random initial parameters."""
        return np.zeros(0)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the response probabilities, ``(items, groups, responses)``."""
        return np.stack([rule.channel for rule in self.rules])

    def slopes(self, values: Floats) -> Floats:
        """Return the derivatives of the probabilities of each item by its parameters.

        ``(items, parameters, groups, responses)``; the parameters are those of all items if they
        share them.
        """
        return np.zeros((len(self.rules), 0, *self.shape))

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
        return values

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density, up to a constant."""
        return 0.0

    def valid(self, values: Floats) -> bool:
        """Return whether parameters satisfy the constraints of order."""
        return True

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return valid parameters on the way from known ones to others."""
        return known

    def residual(self, values: Floats, counts: Floats) -> float:
        """Return how far the gradient leads from the parameters, for each examinee."""
        return 0.0

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item with these parameters, or None."""
        return tuple(rule.model for rule in self.rules)


@dataclass(frozen=True, eq=False)
class FixedBlock(ItemBlock):
    """Items whose parameters are fixed."""


def log_normal_prior(values: Floats, mean: float, deviation: float) -> Densities:
    """Return log-density, slope and curvature at positive values."""
    log = np.log(values)
    away = (log - mean) / deviation**2
    density = -log - (log - mean) ** 2 / (2 * deviation**2)
    return density, -(1 + away) / values, (1 / deviation**2) / values**2


def beta_prior(values: Floats, alpha: float, beta: float) -> Densities:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _SLACK, 1 - _SLACK)
    a, b = alpha - 1, beta - 1
    return (
        a * np.log(c) + b * np.log1p(-c),
        a / c - b / (1 - c),
        a / c**2 + b / (1 - c) ** 2,
    )


def logit_normal_prior(values: Floats, mean: float, deviation: float) -> Densities:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _SLACK, 1 - _SLACK)
    away = np.log(c) - np.log1p(-c) - mean
    by_c = 1 / (c * (1 - c))
    variance = deviation**2
    return -(away**2) / (2 * variance), -away * by_c / variance, by_c**2 / variance


Rows = list[tuple[Floats, Any]]
"""Rows of inequalities, with the least product of each."""


@dataclass(frozen=True, eq=False)
class FormBlock(ItemBlock):
    """Items whose response models state formulas with the same design.

    Each item has parameters of its own, or all share those of the skills (`SkillEffects`). Those of
    the items follow each other. Designs of main effects may have different sizes: missing cells are
    like the first one, and missing parameters are 0.

    Parameters
    ----------
    rules
        The items.
    priors
        Of their parameters.
    monotone
        Whether more skill must not lower the chance of a right response.
    """

    priors: Priors
    monotone: bool = True

    @cached_property
    def formula(self) -> Formula:
        """The formula of the first item, or the largest one."""
        return max([rule.formula for rule in self.rules], key=lambda one: len(one.roles))

    @property
    def shared(self) -> bool:
        """Whether the items share their parameters."""
        return isinstance(self.rules[0].model, SkillEffects)

    @property
    def is_saturated(self) -> bool:
        """Whether each cell has a chance of its own, so that the most likely ones are shares."""
        return self.formula.scale is IDENTITY and bool(self.formula.is_chance.all())

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
    def columns(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each item's parameters in those of its problem."""
        if not self.shared:
            every = sealed(np.arange(len(self._labels)))
            return tuple([every[: len(rule.formula.roles)] for rule in self.rules])
        place = {name: number for number, name in enumerate(self._labels)}
        names = [rule.formula.names for rule in self.rules]
        return tuple([sealed(np.array([place[name] for name in of_rule])) for of_rule in names])

    @cached_property
    def own(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each item's parameters, or of all that it shares."""
        if self.shared:
            return (sealed(np.arange(len(self._labels))),) * len(self.rules)
        ends = np.cumsum([len(columns) for columns in self.columns])
        return tuple([sealed(one) for one in np.split(np.arange(ends[-1]), ends[:-1])])

    @cached_property
    def _present(self) -> NDArray[np.bool_] | None:
        """Which parameters of a problem there are, ``(problems, parameters)``; None for all."""
        n = [len(columns) for columns in self.columns]
        if self.shared or min(n) == max(n):
            return None
        return sealed(np.arange(max(n)) < np.array(n)[:, None])

    def rows(self, values: Floats) -> Floats:
        """Return parameters ``(parameters, …)`` by problem, ``(problems, parameters, …)``."""
        if self._present is None:
            return values.reshape(-1, len(self._labels), *values.shape[1:])
        rows = np.zeros((*self._present.shape, *values.shape[1:]))
        rows[self._present] = values
        return rows

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The item and the name of each parameter; of shared ones, the first item."""
        if not self.shared:
            return tuple((rule.name, name) for rule in self.rules for name in rule.formula.names)
        first = {n: rule.name for rule in reversed(self.rules) for n in rule.formula.names}
        return tuple((first[name], f"{name} in all items") for name in self._labels)

    @cached_property
    def limits(self) -> Floats:
        """``(parameters, 2)``; nan for an effect that a fixed guess or slip determines."""
        if not self.shared:
            return sealed(np.concatenate([self._limits_of(rule) for rule in self.rules]))
        limits = np.tile([-_WIDE, _WIDE], (len(self._labels), 1))
        if self._rises(self.formula):
            limits[len(limits) // 2 :, 0] = 0.0
        return sealed(limits)

    def _limits_of(self, rule: ItemRule) -> Floats:
        rows: list[Any] = []
        for part in rule.formula.parts:
            if part.limits is not None:
                for low, high in part.limits.tolist():
                    off = low >= 0 and high <= 1
                    rows.append(kept_off((low, high), rule.least) if off else (low, high))
            elif part.bounded is None:
                rows += [rule.range_of(role, self.priors) for role in part.roles]
            else:
                assert part.scale is not None
                ends = _on(part.scale, [rule.guess[0], rule.right[1]]).tolist()
                effects = [(0.0 if self._rises(part) else -_WIDE, _WIDE)] * (len(part.roles) - 1)
                own: list[Any] = [ends, *effects]
                if rule.guess[0] >= rule.guess[1]:
                    own[0] = np.nan, np.nan
                if rule.right[0] >= rule.right[1]:
                    own[-1] = np.nan, np.nan
                rows += own
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def _rises(self, part: Formula) -> bool:
        return part.rises or self.monotone

    @cached_property
    def _range(self) -> Floats:
        """``(problems, parameters, 2)``: the bounds of parameters; of effects there are none."""
        limits = self.rows(self.limits)
        if self.shared:
            return np.full(limits.shape, (-np.inf, np.inf))
        boxed = [[part.bounded is None] * len(part.roles) for part in self.formula.parts]
        own = np.array([one for part in boxed for one in part], dtype=np.bool_)
        if self._present is not None:
            own = own | ~self._present
        return sealed(np.where(own[..., None], limits, (-np.inf, np.inf)))

    def _clipped(self, values: Floats) -> Floats:
        return np.clip(values, self._range[..., 0], self._range[..., 1])

    @cached_property
    def form(self) -> Form:
        """The chances of the problems, and the valid parameters."""
        each = [list(self._inequalities(rule)) for rule in self.rules]
        wide = [
            self._widened(own, columns) for own, columns in zip(each, self.columns, strict=True)
        ]
        n = len(self._labels)
        if self.shared:
            rows = np.concatenate([rows for rows, _ in wide])
            least = np.concatenate([least for _, least in wide])[None]
        elif self._present is None:
            rows, least = wide[0][0], np.stack([least for _, least in wide])
        else:
            rows, where = np.unique(
                np.concatenate([rows for rows, _ in wide]), axis=0, return_inverse=True
            )
            problem = np.repeat(np.arange(len(wide)), [len(rows) for rows, _ in wide])
            least = np.full((len(wide), len(rows)), -np.inf)
            products = np.concatenate([least for _, least in wide])
            np.maximum.at(least, (problem, where.reshape(-1)), products)
        polytope = Polytope.of(self._bounds, rows, least)
        design = np.zeros((len(self.rules), self.shape[0], self.formula.design.shape[1], n))
        for own, rule, columns in zip(design, self.rules, self.columns, strict=True):
            cells = rule.formula.design
            own[: len(cells), :, columns] = cells
            own[len(cells) :, :, columns] = cells[0]  # of no configuration
        one = design.reshape(-1, *design.shape[2:]) if self.shared else design[0]
        form = Form(
            self.formula.link,
            one if self._present is None else design,
            polytope,
            prior=self._prior if self.formula.scale is None else None,
            pseudo=tuple(self._pseudo(polytope)),
        )
        if self.shape[1] == 2 or not self.rules[0].floor:
            return form
        form = replace(form, least=self.rules[0].floor)
        low = form.low(form.inside(self._first))
        return replace(form, exempt=low) if low.any() else form

    @cached_property
    def _bounds(self) -> Floats:
        """``(problems, parameters, 2)``: the bounds of x."""
        ends = [self._x(end) for end in np.moveaxis(self._range, 2, 0)]
        return np.sort(np.stack(ends, axis=-1))

    def _x(self, numbers: Floats) -> Floats:
        """Return x of numbers ``(problems, parameters)``, off infinity."""
        if not self._is_chance.any():
            return numbers
        inside = np.where(self._is_chance, np.clip(numbers, _OFF, 1 - _OFF), numbers)
        linear = all(part.scale in (IDENTITY, None) for part in self.formula.parts)
        return self.formula.points(numbers if linear else inside)

    @cached_property
    def _is_chance(self) -> NDArray[np.bool_]:
        chance = self.formula.is_chance
        return np.zeros(len(self._labels), dtype=np.bool_) if self.shared else chance

    def _inequalities(self, rule: ItemRule) -> Iterator[tuple[Floats, Floats]]:
        """Yield rows of inequalities of an item's x, and the least product with each."""
        end, n = 0, len(rule.formula.roles)
        for part in rule.formula.parts:
            columns = np.arange(end, end := end + len(part.roles))
            for rows, least in self._of_part(rule, part):
                wide = np.zeros((len(rows), n))
                wide[:, columns] = rows
                yield wide, np.broadcast_to(np.asarray(least, dtype=np.float64), len(rows))

    def _of_part(self, rule: ItemRule, part: Formula) -> Iterator[tuple[Floats, Any]]:
        predictors = part.design[:, 0]
        off = rule.least, 1 - rule.least
        if part.bounded is not None:
            assert part.scale is not None
            bounded = [*zip(part.bounded, (rule.guess, rule.right), strict=True)]
            if not self._rises(part):
                bounded.append((predictors[1:-1], off))
            if part.noise is not None and part.noise is not part.bounded:
                bounded += [(rows, off) for rows in part.noise]
            for rows, range_ in bounded:
                low, high = _on(part.scale, range_)
                yield rows, low
                yield -rows, -high
        elif part.scale is not None and part.scale is not IDENTITY:
            # Products of chances come closer to 0 than these.
            low, high = _on(part.scale, off)
            least, most = np.moveaxis(np.sort(self._edges_of(rule, part), axis=-1), -1, 0)
            yield predictors, np.where(predictors @ most >= low, low, -np.inf)
            yield -predictors, np.where(predictors @ least <= high, -high, -np.inf)
        if part.scale is not None and self._rises(part):
            yield _order(part, rule.ordered if len(rule.ordered) == len(part.sizes) else ()), 0.0
        if part.link is CUMULATIVE:
            # Halfway between two thresholds with this gap, a response has about the least chance.
            yield part.design[0, :-1] - part.design[0, 1:], max(4 * rule.least, _GAP)
        if {"lower", "upper"} <= {*part.roles}:
            yield np.array([[0.0, 0.0, -1.0, 1.0]]), _APART

    def _edges_of(self, rule: ItemRule, part: Formula) -> Floats:
        ends = np.array([rule.range_of(role, self.priors) for role in part.roles]).T
        return np.stack([part.points(np.clip(end, _OFF, 1 - _OFF)) for end in ends], axis=-1)

    def _widened(
        self, parts: list[tuple[Floats, Floats]], columns: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Return rows of an item with the columns of its problem."""
        size = len(self._labels)
        rows = np.concatenate([np.zeros((0, len(columns))), *(rows for rows, _ in parts)])
        wide = np.zeros((len(rows), size))
        wide[:, columns] = rows
        return wide, np.concatenate([np.zeros(0), *(least for _, least in parts)])

    def _pseudo(self, polytope: Polytope) -> Iterator[tuple[Form, Floats]]:
        """Yield the chances that have beta priors, with the counts that these add."""
        (a, b), (c, d) = self.priors.guess, self.priors.slip
        if self.priors.guess == self.priors.slip == (1.0, 1.0):
            return
        rules = self.rules if self.shared else self.rules[:1]
        found: dict[tuple[int, int], list[Floats]] = {}
        for rule, columns in zip(rules, self.columns, strict=False):
            end = 0
            for number, part in enumerate(rule.formula.parts):
                own = columns[end : (end := end + len(part.roles))]
                for which, rows in enumerate(_noisy(part)):
                    wide = np.zeros((len(rows), len(self._labels)))
                    wide[:, own] = rows
                    found.setdefault((number, which), []).append(wide)
        for (number, which), parts in found.items():
            scale = self.formula.parts[number].scale
            rows = np.unique(np.concatenate(parts), axis=0)
            if scale is not None and len(rows):
                counts = np.array([(b - 1, a - 1), (c - 1, d - 1)][which])
                numbers = np.broadcast_to(counts, (len(rows), 2))
                yield Form(binary(scale), rows[:, None], polytope), numbers

    def _prior(self, x: Floats) -> list[tuple[int, Densities]]:
        """Return the column of each prior of a curve, and its densities."""
        priors, terms = self.priors, list[tuple[int, Densities]]()
        for column, role in enumerate(self.formula.roles):
            if role == "slope" and priors.slope is not None:
                terms.append((column, log_normal_prior(x[:, column], *priors.slope)))
            if role not in ("lower", "upper"):
                continue
            is_lower = role == "lower"
            beta = priors.guess if is_lower else priors.slip
            normal = priors.logit_guess if is_lower else priors.logit_slip
            c, sign = (x[:, column], 1) if is_lower else (1 - x[:, column], -1)
            found = [beta_prior(c, *beta)] if beta != (1.0, 1.0) else []
            found += [logit_normal_prior(c, *normal)] if normal is not None else []
            terms += [(column, (value, sign * slope, more)) for value, slope, more in found]
        return terms

    def points(self, values: Floats) -> Floats:
        """Return x of parameters, ``(problems, parameters)``."""
        return self._x(self.rows(values))

    def values_of(self, points: Floats) -> Floats:
        """Return the parameters of x in a row; the inverse of `points`."""
        if self._is_chance.any():
            points = self.formula.values(points)
        clipped = self._clipped(points)
        return clipped.reshape(-1) if self._present is None else clipped[self._present]

    def inside(self, points: Floats) -> Floats:
        """Return the closest valid parameters, in a row."""
        return self.values_of(self.form.inside(points))

    @cached_property
    def _first(self) -> Floats:
        """The x of the models, chances off 0 and 1, so that steps can change them."""
        n = len(self._labels)
        total, number = np.zeros((2, 1 if self.shared else len(self.rules), n))
        for place, (rule, columns) in enumerate(zip(self.rules, self.columns, strict=True)):
            row = 0 if self.shared else place
            total[row, columns] += rule.learnable._numbers
            number[row, columns] += 1
        values = total / np.maximum(number, 1)
        soft = np.where(self._is_chance, np.clip(values, _INSIDE, 1 - _INSIDE), values)
        return self._x(self._clipped(soft))

    def start(self) -> Floats:
        """Return the current parameters of the models; the means of shared ones."""
        return self.inside(self._first)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters.

        Chances rise from a random guess to a random slip, each skill having a random share in it.
        Other parameters are near those of the models.
        """
        known, range_ = self._first, self.rows(self.limits)
        total, number = np.zeros((2, *known.shape))
        for place, (rule, columns) in enumerate(zip(self.rules, self.columns, strict=True)):
            row = 0 if self.shared else place
            current = known[row, columns]
            limits = range_[row, columns].T
            parts, end = [], 0
            for part in rule.formula.parts:
                own = slice(end, end := end + len(part.roles))
                parts.append(_drawn(part, current[own], limits[:, own], rng))
            total[row, columns] += np.concatenate(parts)
            number[row, columns] += 1
        return self.inside(total / np.maximum(number, 1))

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each group."""
        table = self.form.table(self.points(values))
        return table.reshape(len(self.rules), *self.shape)

    def slopes(self, values: Floats) -> Floats:
        """Return the derivatives of the probabilities of each item by its parameters."""
        x = self.points(values)
        slopes = self.form.slopes(x)
        if self._is_chance.any():
            slopes = slopes / self.formula.rates(x)[..., None, None]
        by_item = slopes.reshape(*x.shape, -1, *self.shape).swapaxes(1, 2)
        return by_item.reshape(len(self.rules), -1, *self.shape)

    def maximize(self, values: Floats, counts: Floats, chances: Floats | None = None) -> Floats:
        """Return the parameters with the largest expected log-likelihood."""
        x = self.points(values)
        counts = counts.reshape(len(x), -1, counts.shape[2])
        if not self.is_saturated:
            known = None if chances is None else chances.reshape(counts.shape)
            return self.values_of(improved(self.form, x, counts, known))
        wrong, right = np.moveaxis(counts, 2, 0)
        for part, numbers in self.form.pseudo:
            wrong, right = (
                one + n @ part.design[:, 0]
                for one, n in zip((wrong, right), numbers.T, strict=True)
            )
        total = right + wrong
        shares = np.divide(right, total, out=x.copy(), where=total > 0)
        found = np.clip(shares, *np.moveaxis(self._bounds, -1, 0))
        wanting = np.flatnonzero(~self.form.polytope.holds(found))
        if len(wanting):
            found[wanting] = self._in_order(x, right, total, wanting)
        return self.values_of(found)

    def _in_order(
        self, known: Floats, right: Floats, total: Floats, problems: NDArray[np.intp]
    ) -> Floats:
        """Return the most likely chances of problems where the shares are out of order."""
        from scipy.sparse.csgraph import connected_components

        right, total, bounds = right[problems], total[problems], self._bounds[problems]
        order = _order(self.formula, self.rules[0].ordered)
        form = replace(self.form, polytope=Polytope.of(bounds, order), pseudo=())
        found = ascended(form, known[problems], np.stack([total - right, right], axis=-1))
        low, high = np.moveaxis(bounds, -1, 0)
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
        if self.form.prior is None and not self.form.pseudo:
            return 0.0
        return float(log_prior(self.form, self.points(values)).sum())

    def valid(self, values: Floats) -> bool:
        """Return whether the parameters satisfy the inequalities."""
        x = self.points(values)
        holds = self.form.polytope.holds(x, tolerance=5e-10).all()
        return bool(holds and np.isfinite(self.form.table(x)).all())

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the farthest valid parameters from known ones on the way to others."""
        far = self._clipped(self.rows(values))
        low, high = np.moveaxis(self._range, 2, 0)
        # No step leaves a chance of zero or one again.
        never = ((far <= 0) & (low == 0)) | ((far >= 1) & (high == 1))
        if never.any():
            far[never] = self.rows(known)[never]
        start, there = self.points(known), self._x(far)
        outside = ~self.form.holds(there)
        if not outside.any():
            return far.reshape(-1) if self._present is None else far[self._present]
        if self.is_saturated:
            return known
        if self._is_chance.any():
            return self.inside(there)
        steps = there - start
        near = start + self.form.polytope.reach(start, steps)[:, None] * steps
        near = np.where(self.form.holds(near, tolerance=1e-8)[:, None], near, start)
        return self.values_of(np.where(outside[:, None], near, there))

    def residual(self, values: Floats, counts: Floats) -> float:
        """Return how far the gradient leads from the parameters, for each examinee."""
        x = self.points(values)
        counts = counts.reshape(len(x), -1, counts.shape[2])
        return float(self.form.residual(x, counts).max(initial=0.0))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models; `Gdina` if more skill lowers a chance of a `GuessSlip`."""
        rows = self.rows(values)
        tables, models = self.response_parameters(values), list[ResponseModel]()
        for place, (rule, columns) in enumerate(zip(self.rules, self.columns, strict=True)):
            numbers = rows[0 if self.shared else place, columns]
            if isinstance(rule.model, GuessSlip) and numbers.sum() > 1 + _SLACK:
                models.append(Gdina(tables[place][rule.formula.cells]))
            else:
                models.append(rule.learnable._with_numbers(numbers))
        return tuple(models)


def _on(scale: LinkFunction, chances: Any) -> Floats:
    """Return chances on a scale, off 0 and 1 where it is infinite."""
    return scale.of(np.clip(np.asarray(chances, dtype=np.float64), _OFF, 1 - _OFF))


def _noisy(part: Formula) -> tuple[Floats, ...]:
    """Return the predictors of guesses and of what slips, to which priors apply."""
    if part.noise is not None or part.bounded is not None:
        return part.noise or ()
    eye, roles = np.eye(len(part.roles)), np.array(part.roles)
    ends = ("guess", "lowest"), ("slip", "highest")
    return tuple([eye[np.isin(roles, names)] for names in ends])


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
def _shares(sizes: tuple[int, ...]) -> Floats:
    """Return the levels in each cell of a grid, as shares of the highest."""
    levels = np.indices(sizes).reshape(len(sizes), -1)
    return sealed(levels / (np.array(sizes)[:, None] - 1))


@lru_cache
def _inverse(design: bytes, shape: tuple[int, ...]) -> Floats:
    """Return the matrix from predictors to the x that fit best."""
    return np.asarray(np.linalg.pinv(np.frombuffer(design).reshape(shape)[:, 0]), dtype=float)


def _drawn(part: Formula, current: Floats, limits: Floats, rng: np.random.Generator) -> Floats:
    """Return random x of a part of an item's formula."""
    if part.scale is not None:
        low, high = part.scale.of(rng.uniform([0.05, 0.55], [0.45, 0.95]))
        rise = rng.dirichlet(np.full(len(part.sizes), 2.0)) @ _shares(part.sizes)
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
