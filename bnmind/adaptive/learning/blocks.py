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
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.learning.options import Bounds, Priors, kept_off
from bnmind.adaptive.response_models.additive import IDENTITY, LinkFunction
from bnmind.adaptive.response_models.base import ResponseModel, response_channel
from bnmind.adaptive.response_models.gates import GuessSlip
from bnmind.adaptive.response_models.tables import Gdina, Sequential
from bnmind.information import Floats
from bnmind.pgm import Variable

_TOLERANCE = 1e-10
"""Points violate the inequalities by no more than this."""


@dataclass(frozen=True, eq=False)
class Polytope(Sealed):
    """The points x with G x ≥ h, for several h at once.

    Parameters
    ----------
    rows
        ``(inequalities, dimensions)``: G.
    least
        ``(problems, inequalities)``: h of each problem.
    """

    rows: Floats
    least: Floats

    def holds(self, points: Floats, *, tolerance: float = _TOLERANCE) -> NDArray[np.bool_]:
        """Return whether each problem's point, ``(problems, dimensions)``, is inside."""
        short = (self.least - points @ self.rows.T).max(axis=1)
        inside: NDArray[np.bool_] = np.less_equal(short, tolerance)
        return inside

    def inside(self, points: Floats) -> Floats:
        """Return the closest points inside, ``(problems, dimensions)``."""
        points = points.copy()
        for problem in np.flatnonzero(~self.holds(points)).tolist():
            closest = self.closest(problem, points[problem], np.eye(points.shape[1]))
            if closest is not None:
                points[problem] = closest
        return points

    def reach(self, points: Floats, steps: Floats) -> Floats:
        """Return the share of each step, at most 1, that stays inside, ``(problems,)``."""
        along = steps @ self.rows.T
        left = np.maximum(points @ self.rows.T - self.least + _TOLERANCE, 0.0)
        ratio = np.divide(left, -along, out=np.full(left.shape, np.inf), where=along < -_TOLERANCE)
        shares: Floats = ratio.min(axis=1, initial=1.0)
        return shares

    def closest(self, problem: int, target: Floats, curvature: Floats) -> Floats | None:
        """Return the x of a problem with the least (x − t)ᵀ H (x − t); None if there is none.

        Parameters
        ----------
        problem
            The number of the problem.
        target
            t, ``(dimensions,)``.
        curvature
            H, positive definite.
        """
        from scipy.optimize import nnls

        root = np.linalg.inv(np.linalg.cholesky(curvature)).T
        # With x = t + L⁻ᵀ z: the least |z| with G L⁻ᵀ z ≥ h − G t.
        rows = self.rows @ root
        least = self.least[problem] - self.rows @ target
        size = np.sqrt((rows**2).sum(axis=1))
        rows, least = rows / size[:, None], least / size
        matrix = np.concatenate([rows.T, least[None]])
        goal = np.zeros(len(matrix))
        goal[-1] = 1.0
        try:
            weights, distance = nnls(matrix, goal)
        except RuntimeError:  # too many steps
            return None
        residual = matrix @ weights - goal
        if distance < 1e-12 or residual[-1] > -1e-14:
            return None
        z = -residual[:-1] / residual[-1]
        found: Floats = target + root @ z
        # A target far away costs digits, and a step that ends a hair outside would not be taken.
        met = weights > 0
        short = self.least[problem][met] - self.rows[met] @ found
        found += np.linalg.lstsq(self.rows[met], short)[0]
        return found


_SAME = 1e-7
"""Chances in order that differ less are equal."""

_STEPS = 8
_SETTLED = 1e-11
"""Steps end if the approximation gains no more than this times the number of examinees."""

_RIDGE = 1e-9
"""Added to the curvature, relative to its mean, so that flat directions stay as they are."""

_LONGEST = 1e4
"""About the longest step: where the objective is linear, a plain Newton step has no end."""

_HALVINGS = 25


def ascended(
    link: LinkFunction,
    design: Floats,
    polytope: Polytope,
    values: Floats,
    counts: tuple[Floats, Floats],
) -> Floats:
    """Return coefficients that maximize the expected log-likelihood, ``(problems, coefficients)``.

    Parameters
    ----------
    link
        The link function.
    design
        X.
    polytope
        The admissible coefficients.
    values
        The current coefficients, inside of the polytope. The objective of no problem
        decreases.
    counts
        y and w.
    """
    right, wrong = counts
    weight = (right + wrong).sum(axis=1)
    current = link.log_likelihood(values @ design.T, right, wrong).sum(axis=1)
    open_ = weight > 0
    for _ in range(_STEPS):
        slopes, curvatures = link.derivatives(values @ design.T, right, wrong)
        gradient = slopes @ design
        hessian = (design.T[None] * curvatures[:, None, :]) @ design
        mean = np.trace(hessian, axis1=1, axis2=2) / design.shape[1]
        ridge = _RIDGE * mean + np.abs(gradient).max(axis=1) / _LONGEST + 1e-30
        hessian += ridge[:, None, None] * np.eye(design.shape[1])
        plain = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        steps: Floats = np.where(open_[:, None], plain, 0.0)
        for problem in np.flatnonzero(~polytope.holds(values + steps)).tolist():
            best = polytope.closest(problem, values[problem] + steps[problem], hessian[problem])
            if best is not None:
                steps[problem] = best - values[problem]
        steps *= polytope.reach(values, steps)[:, None]
        open_ &= (gradient * steps).sum(axis=1) > _SETTLED * weight
        if not open_.any():
            break
        steps[~open_] = 0.0
        values, current = _halved(link, design, (values, steps), current, counts)
    return values


def _halved(
    link: LinkFunction,
    design: Floats,
    move: tuple[Floats, Floats],
    current: Floats,
    counts: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Return values and objectives after steps, halved until no objective decreases."""
    values, steps = move
    bad: NDArray[np.bool_]
    for _ in range(_HALVINGS):
        reached = values + steps
        objective = link.log_likelihood(reached @ design.T, *counts).sum(axis=1)
        bad = objective < current
        if not bad.any():
            return reached, objective
        steps = np.where(bad[:, None], steps / 2, steps)
    steps = np.where(bad[:, None], 0.0, steps)
    return values + steps, np.where(bad, current, objective)


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
class TableBlock(ConvexBlock, Sealed):
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

    rules: tuple[ItemRule, ...]
    priors: Priors
    monotone: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The items."""
        return tuple(rule.name for rule in self.rules)

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """A separate group for each configuration."""
        return (np.arange(self.shape[0]),) * len(self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of configurations and of responses."""
        n_configurations, n_responses = self.rules[0].channel.shape
        return n_configurations, n_responses

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
    def _polytope(self) -> Polytope:
        """The valid chances of a step: bounds of each configuration, then the order."""
        n, ordered = self.shape[0], self._ordered
        levels = np.indices(self._sizes).reshape(len(self._sizes), -1)[ordered]
        lowest = (levels == 0).all(axis=0)
        highest = (levels == np.array(self._sizes)[ordered, None] - 1).all(axis=0)
        cells, eye = np.arange(n).reshape(self._sizes), np.eye(n)
        steps = [np.diff(eye[np.moveaxis(cells, axis, 0)], axis=0) for axis in ordered]
        order = np.concatenate([eye[:0], *[one.reshape(-1, n) for one in steps if self.monotone]])
        least = []
        for rule in self.rules:
            bounds = np.full((n, 2), (rule.least, 1 - rule.least))
            bounds[lowest], bounds[highest] = rule.guess, (1 - rule.slip[1], 1 - rule.slip[0])
            row = np.concatenate([bounds[:, 0], -bounds[:, 1], np.zeros(len(order))])
            least += [row] * (self.shape[1] - 1)
        return Polytope(np.concatenate([eye, -eye, order]), np.array(least))

    @property
    def limits(self) -> Floats:
        """The bounds of guess and slip at the lowest and highest configurations, else wide."""
        n, least = self.shape[0], self._polytope.least
        return np.stack([least[:, :n], -least[:, n : 2 * n]], axis=-1).reshape(-1, 2)

    def _points(self, values: Floats) -> Floats:
        """``(items and their steps, configurations)``."""
        return values.reshape(-1, self.shape[0])

    def start(self) -> Floats:
        """Return the current chances of the items."""
        steps = np.concatenate([_steps(rule.channel) for rule in self.rules])
        return self._polytope.inside(softened(steps)).reshape(-1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random chances that increase with the share of the levels."""
        levels = np.indices(self._sizes).reshape(len(self._sizes), -1)
        share = (levels / (np.array(self._sizes)[:, None] - 1)).mean(axis=0)
        n_steps = self.shape[1] - 1
        ends = [
            (rng.uniform(0.05, 0.45, n_steps), rng.uniform(0.55, 0.95, n_steps)) for _ in self.rules
        ]
        low, high = np.moveaxis(np.array(ends), 1, 0).reshape(2, -1, 1)
        return self._polytope.inside(low + (high - low) * share).reshape(-1)

    def between(self, known: Floats, values: Floats) -> Floats:
        """Return the closest chances within bounds; known ones where the order would not hold."""
        low, high = self.limits.T
        values = np.clip(values, low, high)
        # No step leaves a chance of zero or one again.
        values = np.where(
            ((values <= 0) & (low == 0)) | ((values >= 1) & (high == 1)), known, values
        )
        holds = self._polytope.holds(self._points(values))
        return np.where(holds[:, None], self._points(values), self._points(known)).reshape(-1)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        n, r = self.shape
        steps = values.reshape(-1, r - 1, n)
        ones = np.ones((len(steps), 1, n))
        reached = np.cumprod(np.concatenate([ones, steps], axis=1), axis=1)
        probabilities = reached * np.concatenate([1 - steps, ones], axis=1)
        return probabilities.transpose(0, 2, 1)

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the shares of examinees who take each step, within bounds and in order."""
        least = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1].transpose(0, 2, 1)
        right = least[:, 1:].reshape(-1, self.shape[0]).copy()
        total = least[:, :-1].reshape(-1, self.shape[0]).copy()
        more_right, more = beta_counts(self.priors)
        right[:, [0, -1]] += more_right
        total[:, [0, -1]] += more
        shares = np.divide(right, total, out=self._points(values).copy(), where=total > 0)
        found = np.clip(shares, *np.moveaxis(self.limits.reshape(*shares.shape, 2), -1, 0))
        if self.monotone:
            wrong = ~self._polytope.holds(found)
            found[wrong] = self._in_order(values, right, total, wrong)
        return found.reshape(-1)

    def _in_order(
        self, values: Floats, right: Floats, total: Floats, which: NDArray[np.bool_]
    ) -> Floats:
        """Return the most likely chances of some problems where the shares are out of order."""
        from scipy.sparse.csgraph import connected_components

        n, polytope = self.shape[0], Polytope(self._polytope.rows, self._polytope.least[which])
        right, total = right[which], total[which]
        start = self._points(values)[which]
        found = ascended(IDENTITY, np.eye(n), polytope, start, (right, total - right))
        order, low, high = (
            polytope.rows[2 * n :],
            polytope.least[:, :n],
            -polytope.least[:, n : 2 * n],
        )
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
        found = np.clip(found, low, high).reshape(-1, *self._sizes)
        for axis in self._ordered:  # correct rounding errors
            found = np.maximum.accumulate(found, axis=axis + 1)
        return found.reshape(-1, n)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        steps = self._points(values)
        limits = self.limits.reshape(*steps.shape, 2)
        return log_beta(steps[:, 0], self.priors.guess, limits[:, 0]) + log_beta(
            1 - steps[:, -1], self.priors.slip, limits[:, -1]
        )

    def valid(self, values: Floats) -> bool:
        """Return whether no chance decreases with more skill."""
        return bool(self._polytope.holds(self._points(values)).all())

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
