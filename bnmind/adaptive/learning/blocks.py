r"""Items that are learned alike: G-DINA, tables of chances, steps; and isotonic M-steps.

Maximum likelihood of chances of success that never decrease with more skill.

Maximizes :math:`\sum_c y_c \log p_c + (n_c - y_c) \log(1 - p_c)` over chances p that do
not decrease along any axis of a table of levels. For every exponential family the solution
is the isotonic regression of the shares y/n with the weights n (Barlow, Bartholomew,
Bremner and Brunk, *Statistical Inference under Order Restrictions*, 1972, theorem 1.10);
with bounds common to all, it is that regression clipped.

The regression on a product of chains is computed by splitting. If no upper set of a block
exceeds the mean of the block, the block gets that mean. Otherwise the upper set with the
largest weighted excess and the rest become separate blocks. Tables with too many upper sets are
regressed along one axis after the other with Dykstra's corrections, which converges to the
exact solution, slowly if weights are very different.

==================  ======================================================
symbol              name here
==================  ======================================================
g, w                ``shares``, ``weights``
I_i                 ``increments`` (Dykstra), one for each axis
==================  ======================================================

Blocks of items that are learned by the same rule.

A block computes the response probabilities of its items from their parameters, and in the
M-step the most likely parameters from expected counts. Configurations of the parents that the
response model does not distinguish form a *group*; probabilities and counts are by group.

==============  ===============================================================
rule            block
==============  ===============================================================
Dina, Dino      `PairBlock`: two groups, all items together
Gdina           `TableBlock` in `bnmind.adaptive.learning.blocks`
NoisyAnd, -Or   `NoisyBlock` in `bnmind.adaptive.learning.blocks`
Sequential      `StepsBlock` in `bnmind.adaptive.learning.blocks`
main effects    `EffectsBlock`, `SharedBlock` in ``learning.parameters.main_effects``
Graded, IRT     `CurveBlock` in `bnmind.adaptive.learning.curves`
fixed           `FixedBlock`
==============  ===============================================================

Learning items with separate response probabilities for each configuration.

A table of more than two responses is learned as steps: the chance of at least response r, given
at least r − 1, in each configuration. If monotone, these chances may not decrease with more
skill; then P(X ≥ r) does not decrease either.

Learning items with the sequential model, step by step.

The likelihood of a `Sequential` item is a product over its steps. A step is right for examinees
who went beyond it, wrong for those who stopped there, and missing for others.

References
----------
J. Spouge, H. Wan and W. Wilbur, "Least squares isotonic regression in two dimensions", J.
Optim. Theory Appl. 2003; R. Dykstra and T. Robertson, "An algorithm for isotonic
regression for two or more independent variables", Ann. Statist. 1982.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.learning.options import Bounds, Priors, kept_off
from bnmind.adaptive.response_models.base import ResponseModel, response_channel
from bnmind.adaptive.response_models.gates import GuessSlip
from bnmind.adaptive.response_models.tables import Gdina, Sequential
from bnmind.information import Floats
from bnmind.pgm import Variable

_MOST_UPPER_SETS = 8000
"""The limit of upper sets; five skills with two levels have fewer."""

_ROUNDS = 1000
_SETTLED = 1e-12
_NOTHING = 1e-9
"""The weight of a configuration without expected examinees."""


def two_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success of two groups, ``(…, 2)``, the abler second.

    Parameters
    ----------
    right, total
        ``(…, 2)``: the number of right responses and of all responses in each group.
    before
        The chances of empty groups.
    limits
        ``(…, 2, 2)``: the least and the largest chance of each group.
    monotone
        Whether the second must be at least the first.
    """
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    chance = np.clip(share, limits[..., 0], limits[..., 1])
    falls = chance[..., 0] > chance[..., 1]
    if not monotone or not np.any(falls):
        return chance
    # The objective is concave: if the order is violated, the optimum has equal chances.
    sums = total.sum(axis=-1)
    pooled = np.divide(right.sum(axis=-1), sums, out=np.array(before.mean(axis=-1)), where=sums > 0)
    low = limits[..., 0].max(axis=-1)
    pooled = np.maximum(np.minimum(pooled, limits[..., 1].min(axis=-1)), low)
    return np.where(falls[..., None], pooled[..., None], chance)


def monotone_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success in each configuration of levels.

    Parameters
    ----------
    right, total, before
        As for `two_chances`, with an axis for each parent, levels ascending.
    limits
        ``(3, 2)``: the least and the largest chance of the lowest configuration, of the
        highest configuration, and of all others.
    monotone
        Whether chances must not decrease along any axis. Then bounds apply to the
        configurations between too, by the order.
    """
    first, last = (0,) * right.ndim, (-1,) * right.ndim
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    if not monotone:
        chance: Floats = np.clip(share, *limits[2])
        chance[first] = np.clip(share[first], *limits[0])
        chance[last] = np.clip(share[last], *limits[1])
        return chance
    weights = np.maximum(total, _NOTHING)
    held = share.copy()
    low, high = limits[0, 0], max(limits[1, 1], limits[0, 0])
    first_free, last_free = True, True
    while True:
        regressed = np.clip(isotonic(held, weights), low, high)
        chance = np.clip(regressed, *limits[2])
        chance[first], chance[last] = regressed[first], regressed[last]
        if chance.size > 2:
            # Where the others were clipped, an end that was pooled with them has more room.
            own, between = np.clip(held, low, high), chance.reshape(-1)[1:-1]
            chance[first] = max(chance[first], min(own[first], between.min()))
            chance[last] = min(chance[last], max(own[last], between.max()))
        if not first_free:
            chance[first] = low
        if not last_free:
            chance[last] = high
        # An end at its bound no longer constrains the rest: give it a negligible weight.
        if first_free and chance[first] > limits[0, 1]:
            first_free, low = False, limits[0, 1]
            held[first], weights[first] = low, _NOTHING
        elif last_free and chance[last] < limits[1, 0]:
            last_free, high = False, limits[1, 0]
            held[last], weights[last] = high, _NOTHING
        else:
            return chance


def isotonic(shares: Floats, weights: Floats) -> Floats:
    """Return the closest table that does not decrease along any axis, by weighted least squares.

    Examples
    --------
    >>> isotonic(np.array([[0.2, 0.6], [0.4, 0.3]]), np.ones((2, 2))).round(3).tolist()
    [[0.2, 0.45], [0.4, 0.45]]
    """
    axes = [axis for axis, size in enumerate(shares.shape) if size > 1]
    if all(np.all(np.diff(shares, axis=axis) >= 0) for axis in axes):
        return shares
    sets = _upper_sets(shares.shape) if len(axes) > 1 else None
    table = np.array(shares) if sets is None else _by_splitting(shares, weights, sets)
    increments = {axis: np.zeros_like(table) for axis in axes}
    for _ in range(_ROUNDS if sets is None else 0):
        before = table
        for axis in axes:
            corrected = table - increments[axis]
            table = _along(corrected, weights, axis)
            increments[axis] = table - corrected
        if len(axes) == 1 or np.abs(table - before).max() < _SETTLED:
            break
    for axis in axes:  # correct rounding errors
        table = np.maximum.accumulate(table, axis=axis)
    return table


@cache
def _upper_sets(shape: tuple[int, ...]) -> Floats | None:
    """Return indicators of all upper sets of a table, ``(sets, cells)``; None if too many.

    As numbers, so that sums over all sets are a matrix product.
    """
    sets = np.array([[False], [True]])
    for size in shape:
        if len(sets) ** 2 > 100 * _MOST_UPPER_SETS:
            return None
        # One more axis: an increasing chain of upper sets, one for each level.
        within = [np.flatnonzero((row <= sets).all(axis=1)).tolist() for row in sets]
        chains: list[tuple[int, ...]] = [(first,) for first in range(len(sets))]
        for _ in range(size - 1):
            chains = [(*chain, after) for chain in chains for after in within[chain[-1]]]
            if len(chains) > _MOST_UPPER_SETS:
                return None
        sets = np.array([sets[list(chain)].T.reshape(-1) for chain in chains])
    indicators = sets.astype(np.float64)
    indicators.setflags(write=False)
    return indicators


def _by_splitting(shares: Floats, weights: Floats, sets: Floats) -> Floats:
    """Return the isotonic regression, given the upper sets of the table."""
    values, loads = shares.reshape(-1), weights.reshape(-1)
    regressed = np.empty(len(values))
    blocks = [np.ones(len(values), dtype=bool)]
    while blocks:
        block = blocks.pop()
        mean = float(loads[block] @ values[block] / loads[block].sum())
        above = np.where(block, loads * (values - mean), 0.0)
        gains = sets @ above
        best = int(np.argmax(gains))
        upper = (sets[best] > 0) & block
        if gains[best] > 1e-14 * np.abs(above).sum() and np.any(upper != block):
            blocks += [upper, block & ~upper]
        else:
            regressed[block] = mean
    return regressed.reshape(shares.shape)


def _along(values: Floats, weights: Floats, axis: int) -> Floats:
    """Return the regression along one axis, by pooling adjacent violators in each line."""
    v, w = np.moveaxis(values, axis, -1), np.moveaxis(weights, axis, -1)
    size = v.shape[-1]
    lines, loads = v.reshape(-1, size), w.reshape(-1, size)
    if size == 2:
        mean = (lines * loads).sum(axis=1) / loads.sum(axis=1)
        falls = lines[:, 0] > lines[:, 1]
        regressed = np.where(falls[:, None], mean[:, None], lines)
    else:
        regressed = np.array([_pooled(a, b) for a, b in zip(lines, loads, strict=True)])
    return np.moveaxis(regressed.reshape(v.shape), -1, axis)


def _pooled(values: Floats, weights: NDArray[np.float64]) -> Floats:
    means: list[float] = []
    loads: list[float] = []
    sizes: list[int] = []
    for value, load in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        loads.append(load)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            total = loads[-2] + loads[-1]
            mean = (means[-2] * loads[-2] + means[-1] * loads[-1]) / total
            size = sizes[-2] + sizes[-1]
            del means[-1], loads[-1], sizes[-1]
            means[-1], loads[-1], sizes[-1] = mean, total, size
    return np.repeat(means, sizes)


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


class ItemBlock(Protocol):
    """The interface of blocks: items that are learned together, with parameters in one array."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items."""

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the group of each configuration of its parents."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of groups and of responses of each item."""

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The item and the name of each parameter."""

    @property
    def limits(self) -> Floats:
        """``(parameters, 2)``: the least and the largest value of each parameter."""

    def start(self) -> Floats:
        """Return initial parameters, near the current parameters of the items."""

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random initial parameters."""

    def response_parameters(self, values: Floats) -> Floats:
        """Return the response probabilities, ``(items, groups, responses)``."""

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger likelihood of the counts.

        Parameters
        ----------
        values
            The current parameters.
        counts
            ``(items, groups, responses)``: the expected numbers of examinees.
        """

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density, up to a constant."""

    def valid(self, values: Floats) -> bool:
        """Return whether parameters satisfy the constraints of order."""

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item with these parameters, or None."""


class ConvexBlock(ABC):
    """A base of blocks whose valid parameters are a convex set."""

    @abstractmethod
    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the farthest valid parameters from known ones on the way to others."""


def softened(chances: Floats) -> Floats:
    """Return chances at a distance from 0 and 1, so that steps can change them."""
    return np.clip(chances, _INSIDE, 1 - _INSIDE)


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
class RuleBlock(Sealed):
    """A base of blocks with a single item."""

    rule: ItemRule
    """The item."""

    @property
    def names(self) -> tuple[str, ...]:
        """The item."""
        return (self.rule.name,)

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """A separate group for each configuration."""
        return (np.arange(len(self.rule.channel)),)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the item's channel."""
        n_configurations, n_responses = self.rule.channel.shape
        return n_configurations, n_responses


@dataclass(frozen=True, eq=False)
class FixedBlock(RuleBlock):
    """A block with an item whose parameters are fixed."""

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """None."""
        return ()

    @property
    def limits(self) -> Floats:
        """None."""
        return np.zeros((0, 2))

    def start(self) -> Floats:
        """Return nothing."""
        return np.zeros(0)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return nothing."""
        return np.zeros(0)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the item's channel."""
        return self.rule.channel[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return nothing."""
        return values

    def log_prior(self, values: Floats) -> float:
        """Return 0."""
        return 0.0

    def valid(self, values: Floats) -> bool:
        """Return True."""
        return True

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of the item."""
        return (self.rule.model,)


@dataclass(frozen=True, eq=False)
class PairBlock(Sealed):
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

    rules: tuple[ItemRule, ...]
    priors: Priors
    monotone: bool = True

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """Whether each configuration suffices, for each item."""
        groups = []
        for rule in self.rules:
            assert isinstance(rule.model, GuessSlip)
            plain = dataclasses.replace(rule.model, guess=0.0, slip=0.0)
            groups.append((response_channel(plain, rule.parents)[:, 1] > 0.5).astype(np.intp))
        return tuple(map(sealed, groups))

    @property
    def names(self) -> tuple[str, ...]:
        """The items."""
        return tuple(rule.name for rule in self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """Two groups, without and with the required skills; two responses."""
        return 2, 2

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The guess and the slip of each item."""
        return tuple((name, what) for name in self.names for what in ("guess", "slip"))

    @property
    def limits(self) -> Floats:
        """The bounds of each guess and slip."""
        return np.array([pair for r in self.rules for pair in (r.guess, r.slip)])

    @property
    def _chance_limits(self) -> Floats:
        """``(items, 2, 2)``: the bounds of the chances of the two groups."""
        limits = self.limits.reshape(-1, 2, 2).copy()
        limits[:, 1] = 1 - limits[:, 1, ::-1]
        return limits

    def start(self) -> Floats:
        """Return the current guesses and slips of the items."""
        pairs = [(r.model.guess, r.model.slip) for r in self.rules]  # type: ignore[union-attr]
        return self._within(softened(np.array(pairs)))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return guesses and slips between 0.05 and 0.45."""
        return self._within(rng.uniform(0.05, 0.45, (len(self.rules), 2)))

    def _within(self, pairs: Floats) -> Floats:
        limits = self.limits
        return np.clip(pairs.reshape(-1), limits[:, 0], limits[:, 1])

    def response_parameters(self, values: Floats) -> Floats:
        """Return the chances of wrong and right responses in both groups."""
        pairs = values.reshape(-1, 2)
        right = np.stack([pairs[:, 0], 1 - pairs[:, 1]], axis=1)
        wrong = np.stack([1 - pairs[:, 0], pairs[:, 1]], axis=1)
        return np.stack([wrong, right], axis=-1)

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the shares of right responses, within bounds and in order."""
        more_right, more = beta_counts(self.priors)
        chance = two_chances(
            counts[..., 1] + more_right,
            counts.sum(axis=-1) + more,
            self.response_parameters(values)[..., 1],
            self._chance_limits,
            monotone=self.monotone,
        )
        return self._within(np.stack([chance[:, 0], 1 - chance[:, 1]], axis=1))

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        pairs, limits = values.reshape(-1, 2), self.limits.reshape(-1, 2, 2)
        return log_beta(pairs[:, 0], self.priors.guess, limits[:, 0]) + log_beta(
            pairs[:, 1], self.priors.slip, limits[:, 1]
        )

    def valid(self, values: Floats) -> bool:
        """Return whether no guess is above one minus the slip."""
        return not self.monotone or bool(np.all(values.reshape(-1, 2).sum(axis=1) <= 1 + SLACK))

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
                models.append(dataclasses.replace(rule.model, guess=guess, slip=slip))
        return tuple(models)


@dataclass(frozen=True, eq=False)
class TableBlock(RuleBlock):
    """An item with a `Gdina` model, or with a table of its own in a network.

    Parameters
    ----------
    rule
        The item.
    priors
        Beta distributions for the lowest and the highest configuration of each step.
    monotone
        Whether higher levels of ordered parents must not lower the chance of a step.
    """

    priors: Priors
    monotone: bool = True

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The chance of each step in each configuration."""
        n, r = self.shape
        states = list(product(*(v.states for v in self.rule.parents)))
        return tuple(
            (
                self.rule.name,
                f"P(≥{step}" + (f" | ≥{step - 1}, " if step > 1 else " | ") + f"{', '.join(c)})",
            )
            for step in range(1, r)
            for c in states[:n]
        )

    @property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The least and the largest chance of the lowest and of the highest configuration."""
        low, high = self.rule.slip
        return self.rule.guess, (1 - high, 1 - low)

    @property
    def _inside(self) -> tuple[float, float]:
        """The least and the largest chance of all other configurations."""
        return self.rule.least, 1 - self.rule.least

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(v.n_states for v in self.rule.parents)

    @property
    def limits(self) -> Floats:
        """The bounds of guess and slip at the lowest and highest configuration, else wide."""
        n, r = self.shape
        limits = np.empty((r - 1, n, 2))
        limits[...] = self._inside
        limits[:, 0], limits[:, -1] = self._ends
        return limits.reshape(-1, 2)

    def start(self) -> Floats:
        """Return the current chances of the item."""
        return self._settled(softened(_steps(self.rule.channel)))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random chances that increase with the share of the levels."""
        r = self.shape[1]
        levels = np.indices(self._sizes).reshape(len(self._sizes), -1)
        share = (levels / (np.array(self._sizes)[:, None] - 1)).mean(axis=0)
        low, high = rng.uniform(0.05, 0.45, r - 1), rng.uniform(0.55, 0.95, r - 1)
        return self._settled(low[:, None] + (high - low)[:, None] * share)

    def _settled(self, steps: Floats) -> Floats:
        """Return chances within bounds and in order."""
        n, r = self.shape
        ones = np.ones((r - 1, n))
        return self._solve(steps.reshape(r - 1, n), ones, steps.reshape(r - 1, n))

    def _solve(self, right: Floats, total: Floats, before: Floats) -> Floats:
        ordered = self.rule.ordered or (True,) * len(self._sizes)
        up = [axis for axis, rises in enumerate(ordered) if rises]
        rest = [axis for axis, rises in enumerate(ordered) if not rises]
        limits = np.array([*self._ends, self._inside])
        chances = []
        for parts in zip(right, total, before, strict=True):
            tables = [part.reshape(self._sizes).transpose(*rest, *up) for part in parts]
            solved = np.empty(tables[0].shape)
            rights, totals, befores = tables
            for place in np.ndindex(solved.shape[: len(rest)]):
                solved[place] = monotone_chances(
                    rights[place], totals[place], befores[place], limits, monotone=self.monotone
                )
            chances.append(solved.transpose(np.argsort([*rest, *up])).reshape(-1))
        return np.concatenate(chances)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        n, r = self.shape
        steps = values.reshape(r - 1, n)
        reached = np.cumprod(np.concatenate([np.ones((1, n)), steps]), axis=0)
        probabilities = reached * np.concatenate([1 - steps, np.ones((1, n))])
        table: Floats = probabilities.T[None]
        return table

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the shares of examinees who take each step, within bounds and in order."""
        n, r = self.shape
        table = counts[0].T
        least = np.cumsum(table[::-1], axis=0)[::-1]
        right, total = least[1:].copy(), least[:-1].copy()
        more_right, more = beta_counts(self.priors)
        right[:, [0, -1]] += more_right
        total[:, [0, -1]] += more
        return self._solve(right, total, values.reshape(r - 1, n))

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        n_steps = self.shape[1] - 1
        steps, limits = values.reshape(n_steps, -1), self.limits.reshape(n_steps, -1, 2)
        return log_beta(steps[:, 0], self.priors.guess, limits[:, 0]) + log_beta(
            1 - steps[:, -1], self.priors.slip, limits[:, -1]
        )

    def valid(self, values: Floats) -> bool:
        """Return whether no chance decreases with more skill."""
        if not self.monotone:
            return True
        ordered = self.rule.ordered or (True,) * len(self._sizes)
        table = values.reshape(-1, *self._sizes)
        return all(
            bool(np.all(np.diff(table, axis=axis + 1) >= 0))
            for axis, rises in enumerate(ordered)
            if rises
        )

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the table as a `Gdina`."""
        return (Gdina(self.response_parameters(values)[0]),)


def _steps(channel: Floats) -> Floats:
    """Return the chance of each step in each configuration, ``(steps, configurations)``."""
    least = np.cumsum(channel.T[::-1], axis=0)[::-1]
    steps: Floats = np.divide(
        least[1:], least[:-1], out=np.full(least[1:].shape, 0.5), where=least[:-1] > 0
    )
    return steps


@dataclass(frozen=True, eq=False)
class StepsBlock(RuleBlock):
    """An item with a `Sequential` model.

    Parameters
    ----------
    rule
        The item.
    steps
        A block for each step, with one item and two responses.
    """

    steps: tuple[ItemBlock, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of configurations, and the number of steps plus one."""
        return len(self.rule.channel), len(self.steps) + 1

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
        reached = np.ones(len(self.rule.channel))
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
