r"""Items that are learned alike: pairs of chances, tables of chances, and steps.

A block computes the response probabilities of its items from their parameters, and in the
M-step the most likely parameters from expected counts. Configurations of the parents that the
response model does not distinguish form a *group*; probabilities and counts are by group.

==============  ===============================================================
rule            block
==============  ===============================================================
Dina, Dino      `PairBlock`: two groups, all items together
Gdina           `TableBlock`: the items with as many skills together
Sequential      `StepsBlock`: each step is a block
main effects    `EffectsBlock`, `SharedBlock` in `bnmind.adaptive.learning.main_effects`
NoisyAnd, -Or   `NoisyBlock` in `bnmind.adaptive.learning.main_effects`
Graded, IRT     `CurveBlock` in `bnmind.adaptive.learning.curves`
fixed           `FixedBlock`
==============  ===============================================================

The chance of a step
--------------------
A table of more than two responses is learned as steps: the chance of at least response r, given at
least r − 1, in each configuration. If monotone, these chances may not decrease with more skill;
then P(X ≥ r) does not decrease either.

The likelihood of a `Sequential` item is a product over its steps. A step is right for examinees
who went beyond it, wrong for those who stopped there, and missing for others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.learning.forms import Form, Polytope, ascended
from bnmind.adaptive.learning.options import Bounds, Priors, kept_off
from bnmind.adaptive.response_models.base import ResponseModel, response_channel
from bnmind.adaptive.response_models.gates import GuessSlip
from bnmind.adaptive.response_models.links import IDENTITY, binary
from bnmind.adaptive.response_models.tables import Gdina, Sequential
from bnmind.information import Floats
from bnmind.pgm import Variable

_SAME = 1e-7
"""Chances in order that differ less are equal."""


_INSIDE = 0.01
"""The least distance of initial chances from 0 and 1, which no step could leave."""

SLACK = 1e-12
"""The tolerance for the sum of a guess and a slip, which may be 1 up to rounding."""


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

    @property
    def guess(self) -> tuple[float, float]:
        """The least and the largest chance of a right response at the lowest levels."""
        return kept_off(self.bounds.guess, self.least)

    @property
    def slip(self) -> tuple[float, float]:
        """The least and the largest chance of a wrong response at the highest levels."""
        return kept_off(self.bounds.slip, self.least)


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

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger likelihood of the counts.

        Parameters
        ----------
        values
            The current parameters.
        counts
            ``(items, groups, responses)``: the expected numbers of examinees.
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
        near = within(values, known, self.limits)
        return near if self.valid(near) else known

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item with these parameters, or None."""
        return tuple(rule.model for rule in self.rules)


@dataclass(frozen=True, eq=False)
class FixedBlock(ItemBlock):
    """Items whose parameters are fixed."""


def softened(chances: Floats) -> Floats:
    """Return chances at a distance from 0 and 1, so that steps can change them."""
    return np.clip(chances, _INSIDE, 1 - _INSIDE)


def within(values: Floats, known: Floats, limits: Floats) -> Floats:
    """Return values in their limits ``(…, 2)``; known ones in place of a chance of zero or one.

    No step leaves such a chance again.
    """
    low, high = limits.T
    values = np.clip(values, low, high)
    return np.where(((values <= 0) & (low == 0)) | ((values >= 1) & (high == 1)), known, values)


def beta_counts(priors: Priors) -> tuple[Floats, Floats]:
    """Return what the priors add to the counts of right and of all responses, by group."""
    (a, b), (c, d) = priors.guess, priors.slip
    return np.array([a - 1, d - 1]), np.array([a + b - 2, c + d - 2])


def log_beta(chances: Floats, parameters: tuple[float, float], limits: Floats) -> float:
    """Return the logarithm of the beta density of chances, up to a constant.

    Chances with equal limits ``(…, 2)`` are not parameters and are ignored; a chance fixed at
    zero would give density zero everywhere.
    """
    a, b = parameters
    free = chances[limits[..., 0] < limits[..., 1]]
    total = 0.0
    for weight, value in ((a - 1, free), (b - 1, 1 - free)):
        if weight:
            with np.errstate(divide="ignore"):
                total += weight * float(np.log(value).sum())
    return total


@dataclass(frozen=True, eq=False)
class FormBlock(ABC, ItemBlock):
    """A base of blocks with a form; their parameters are those of its problems in a row."""

    priors: Priors
    """Of the parameters."""
    monotone: bool = True
    """Whether more skill must not lower the chance of a right response."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """The chances of the problems, and the valid parameters."""

    def points(self, values: Floats) -> Floats:
        """Return parameters by problem, ``(problems, parameters)``."""
        return values.reshape(len(self.form.polytope.least), -1)

    def values_of(self, points: Floats) -> Floats:
        """Return parameters of the problems in a row; the inverse of `points`."""
        return points.reshape(-1)

    def inside(self, points: Floats) -> Floats:
        """Return the closest valid parameters, in a row."""
        return self.values_of(self.form.polytope.inside(points))

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return valid parameters on the way from known ones to others."""
        near = within(values, known, self.limits)
        holds = self.form.polytope.holds(self.points(near))[:, None]
        rows = len(holds), -1
        return np.where(holds, near.reshape(rows), known.reshape(rows)).reshape(-1)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each group."""
        return self.form.table(self.points(values))

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the parameters with the largest expected log-likelihood."""
        return self.values_of(ascended(self.form, self.points(values), counts))

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density, up to a constant."""
        return float(self.form.log_prior(self.points(values))[0].sum())

    def valid(self, values: Floats) -> bool:
        """Return whether the parameters satisfy the inequalities."""
        return bool(self.form.polytope.holds(self.points(values), tolerance=5e-10).all())


@dataclass(frozen=True, eq=False)
class TableBlock(FormBlock):
    """Items with a `Gdina` model, or with a table of their own in a network.

    Parameters
    ----------
    rules
        The items, with parents of the same sizes and order and as many responses. With more than
        two responses it is a single item.
    priors
        Beta distributions for the lowest and the highest configuration of each step.
    monotone
        Whether higher levels of ordered parents must not lower the chance of a step.
    """

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The chance of each step in each configuration."""
        return tuple(
            (rule.name, f"P(≥{step} | {f'≥{step - 1}, ' if step > 1 else ''}{', '.join(states)})")
            for rule in self.rules
            for step in range(1, self.shape[1])
            for states in product(*(v.states for v in rule.parents))
        )

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(v.n_states for v in self.rules[0].parents)

    @property
    def _ordered(self) -> list[int]:
        """The parents whose higher levels mean more skill."""
        ordered = self.rules[0].ordered or (True,) * len(self._sizes)
        return [axis for axis, rises in enumerate(ordered) if rises]

    @cached_property
    def _bounds(self) -> Floats:
        """``(items and their steps, configurations, 2)``."""
        ordered = self._ordered
        levels = np.indices(self._sizes).reshape(len(self._sizes), -1)[ordered]
        lowest = (levels == 0).all(axis=0)
        highest = (levels == np.array(self._sizes)[ordered, None] - 1).all(axis=0)
        bounds = np.empty((len(self.rules), self.shape[0], 2))
        for own, rule in zip(bounds, self.rules, strict=True):
            own[:] = rule.least, 1 - rule.least
            own[lowest], own[highest] = rule.guess, (1 - rule.slip[1], 1 - rule.slip[0])
        return np.repeat(bounds, self.shape[1] - 1, axis=0)

    @cached_property
    def _order(self) -> Floats:
        """``(pairs of configurations, configurations)``: the second one less the first."""
        n = self.shape[0]
        cells, eye = np.arange(n).reshape(self._sizes), np.eye(n)
        rises = self._ordered if self.monotone else ()
        steps = [np.diff(eye[np.moveaxis(cells, axis, 0)], axis=0) for axis in rises]
        return np.concatenate([eye[:0], *[one.reshape(-1, n) for one in steps]])

    @cached_property
    def form(self) -> Form:
        """The chance of each step in each configuration."""
        return Form(
            binary(IDENTITY), np.eye(self.shape[0])[:, None], Polytope.of(self._bounds, self._order)
        )

    @property
    def limits(self) -> Floats:
        """The bounds of guess and slip at the lowest and highest configurations, else wide."""
        return self._bounds.reshape(-1, 2)

    def start(self) -> Floats:
        """Return the current chances of the items."""
        steps = np.concatenate([_steps(rule.channel) for rule in self.rules])
        return self.inside(softened(steps))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random chances that increase with the share of the levels."""
        levels = np.indices(self._sizes).reshape(len(self._sizes), -1)
        share = (levels / (np.array(self._sizes)[:, None] - 1)).mean(axis=0)
        n_steps = self.shape[1] - 1
        ends = [
            (rng.uniform(0.05, 0.45, n_steps), rng.uniform(0.55, 0.95, n_steps)) for _ in self.rules
        ]
        low, high = np.moveaxis(np.array(ends), 1, 0).reshape(2, -1, 1)
        return self.inside(low + (high - low) * share)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        n, r = self.shape
        steps = self.points(values).reshape(-1, r - 1, n)
        ones = np.ones((len(steps), 1, n))
        reached = np.cumprod(np.concatenate([ones, steps], axis=1), axis=1)
        probabilities: Floats = reached * np.concatenate([1 - steps, ones], axis=1)
        return probabilities.transpose(0, 2, 1)

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the shares of examinees who take each step, within bounds and in order."""
        least = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1].transpose(0, 2, 1)
        right = least[:, 1:].reshape(-1, self.shape[0]).copy()
        total = least[:, :-1].reshape(-1, self.shape[0]).copy()
        more_right, more = beta_counts(self.priors)
        right[:, [0, -1]] += more_right
        total[:, [0, -1]] += more
        shares = np.divide(right, total, out=self.points(values).copy(), where=total > 0)
        found = np.clip(shares, *np.moveaxis(self._bounds, -1, 0))
        wrong = np.flatnonzero(~self.form.polytope.holds(found))
        if len(wrong):
            found[wrong] = self._in_order(self.points(values), right, total, wrong)
        return self.values_of(found)

    def _in_order(
        self, known: Floats, right: Floats, total: Floats, problems: NDArray[np.intp]
    ) -> Floats:
        """Return the most likely chances of problems where the shares are out of order."""
        from scipy.sparse.csgraph import connected_components

        right, total, bounds = right[problems], total[problems], self._bounds[problems]
        form = replace(self.form, polytope=Polytope.of(bounds, self._order))
        found = ascended(form, known[problems], np.stack([total - right, right], axis=-1))
        low, high = np.moveaxis(bounds, -1, 0)
        at_bound = (found < low + _SAME) | (found > high - _SAME)
        for problem, chances in enumerate(found):
            # Equal chances are one share: exactly, so that extrapolated ones stay in order.
            met = np.abs(self._order[self._order @ chances < _SAME])
            _, block = connected_components(met.T @ met)
            rights, totals, held = (
                np.bincount(block, one[problem]) for one in (right, total, at_bound)
            )
            free = ((totals > 0) & (held == 0))[block]
            chances[free] = (rights / np.where(totals > 0, totals, 1.0))[block][free]
        found = np.clip(found, low, high).reshape(-1, *self._sizes)
        for axis in self._ordered:  # correct rounding errors
            found = np.maximum.accumulate(found, axis=axis + 1)
        return found.reshape(len(problems), -1)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        steps, bounds = self.points(values), self._bounds
        return log_beta(steps[:, 0], self.priors.guess, bounds[:, 0]) + log_beta(
            1 - steps[:, -1], self.priors.slip, bounds[:, -1]
        )

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return each table as a `Gdina`."""
        return tuple(Gdina(table) for table in self.response_parameters(values))


def _steps(channel: Floats) -> Floats:
    """Return the chance of each step in each configuration, ``(steps, configurations)``."""
    least = np.cumsum(channel.T[::-1], axis=0)[::-1]
    steps: Floats = np.divide(
        least[1:], least[:-1], out=np.full(least[1:].shape, 0.5), where=least[:-1] > 0
    )
    return steps


@dataclass(frozen=True, eq=False)
class PairBlock(TableBlock):
    """Items with one guess and one slip each: `Dina` and `Dino`.

    Parameters
    ----------
    rules
        The items.
    priors
        Beta distributions of guesses and slips.
    monotone
        Whether guess + slip must be at most 1. If not, an item with a larger sum becomes a
        `Gdina`.
    """

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """Whether each configuration suffices, for each item."""
        groups = []
        for rule in self.rules:
            assert isinstance(rule.model, GuessSlip)
            plain = replace(rule.model, guess=0.0, slip=0.0)
            groups.append((response_channel(plain, rule.parents)[:, 1] > 0.5).astype(np.intp))
        return tuple(map(sealed, groups))

    @property
    def shape(self) -> tuple[int, int]:
        """Two groups, without and with the required skills; two responses."""
        return 2, 2

    @property
    def _sizes(self) -> tuple[int, ...]:
        return (2,)

    @property
    def _ordered(self) -> list[int]:
        return [0]

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The guess and the slip of each item."""
        return tuple((name, what) for name in self.names for what in ("guess", "slip"))

    @property
    def limits(self) -> Floats:
        """The bounds of each guess and slip."""
        return np.array([pair for rule in self.rules for pair in (rule.guess, rule.slip)])

    def points(self, values: Floats) -> Floats:
        """Return the chances of right responses in both groups, ``(items, 2)``."""
        return np.abs([0.0, 1.0] - values.reshape(-1, 2))

    def values_of(self, points: Floats) -> Floats:
        """Return guesses and slips."""
        return self.points(points).reshape(-1)

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return guesses and slips within bounds; known ones if an item is out of order."""
        near = within(values, known, self.limits)
        holds = self.form.polytope.holds(self.points(near), tolerance=SLACK)
        return near if holds.all() else known

    def _in_order(
        self, known: Floats, right: Floats, total: Floats, problems: NDArray[np.intp]
    ) -> Floats:
        """Return equal chances, which are best out of order: the objective is concave."""
        sums, least, most = total[problems].sum(axis=1), *np.moveaxis(self._bounds[problems], -1, 0)
        before = known[problems].mean(axis=1)
        pooled = np.divide(right[problems].sum(axis=1), sums, out=before, where=sums > 0)
        pooled = np.maximum(np.minimum(pooled, most.min(axis=1)), least.max(axis=1))
        return np.repeat(pooled[:, None], 2, axis=1)

    def start(self) -> Floats:
        """Return the current guesses and slips of the items."""
        pairs = [(r.model.guess, r.model.slip) for r in self.rules]  # type: ignore[union-attr]
        return np.clip(softened(np.array(pairs).reshape(-1)), *self.limits.T)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return guesses and slips between 0.05 and 0.45."""
        return np.clip(rng.uniform(0.05, 0.45, 2 * len(self.rules)), *self.limits.T)

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response models; `Gdina` if more skill lowers the chance."""
        models: list[ResponseModel] = []
        for rule, groups, (guess, slip), probabilities in zip(
            self.rules,
            self.groups,
            values.reshape(-1, 2).tolist(),
            self.response_parameters(values),
            strict=True,
        ):
            if guess + slip > 1 + SLACK:
                models.append(Gdina(probabilities[groups]))
            else:
                assert isinstance(rule.model, GuessSlip)
                models.append(replace(rule.model, guess=guess, slip=slip))
        return tuple(models)


@dataclass(frozen=True, eq=False)
class StepsBlock(ItemBlock):
    """An item with a `Sequential` model.

    Parameters
    ----------
    rules
        The item.
    steps
        A block for each step, with one item and two responses.
    """

    steps: tuple[ItemBlock, ...]

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters of all steps."""
        return tuple(
            (name, f"step {number}: {what}")
            for number, step in enumerate(self.steps, 1)
            for name, what in step.parameters
        )

    @property
    def limits(self) -> Floats:
        """The limits of all steps."""
        return np.concatenate([step.limits for step in self.steps])

    def parts_of(self, values: Floats) -> list[Floats]:
        """Return the parameters of each step."""
        ends = np.cumsum([len(step.parameters) for step in self.steps])
        return np.split(values, ends[:-1])

    def start(self) -> Floats:
        """Return the parameters of all steps."""
        return np.concatenate([step.start() for step in self.steps])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters of all steps."""
        return np.concatenate([step.draw(rng) for step in self.steps])

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each number of steps in each configuration."""
        reached = np.ones(len(self.rules[0].channel))
        columns = []
        for step, part in zip(self.steps, self.parts_of(values), strict=True):
            chances = step.response_parameters(part)[0][step.groups[0]]
            columns.append(reached * chances[:, 0])
            reached = reached * chances[:, 1]
        return np.stack([*columns, reached], axis=1)[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the best parameters of each step."""
        best = []
        for number, (step, part) in enumerate(zip(self.steps, self.parts_of(values), strict=True)):
            stopped = counts[0][:, number]
            beyond = counts[0][:, number + 1 :].sum(axis=1)
            grouped = np.zeros(step.shape)
            np.add.at(grouped, step.groups[0], np.stack([stopped, beyond], axis=1))
            best.append(step.maximize(part, grouped[None]))
        return np.concatenate(best)

    def log_prior(self, values: Floats) -> float:
        """Return the sum over all steps."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        return sum(step.log_prior(part) for step, part in parts)

    def valid(self, values: Floats) -> bool:
        """Return whether all steps are valid."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        return all(step.valid(part) for step, part in parts)

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the sequential model of the steps."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        models = [model for step, part in parts for model in step.response_models(part)]
        return (Sequential(tuple(model for model in models if model is not None)),)
