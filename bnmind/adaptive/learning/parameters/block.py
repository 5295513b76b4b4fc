"""Blocks of items that are learned by the same rule.

A block computes the response probabilities of its items from their parameters, and in the
M-step the most likely parameters from expected counts. Configurations of the parents that the
response model does not distinguish form a *group*; probabilities and counts are by group.

==============  ===============================================================
rule            block
==============  ===============================================================
Dina, Dino      `PairBlock`: two groups, all items together
Gdina           `TableBlock` in `bnmind.adaptive.learning.parameters.gdina`
NoisyAnd, -Or   `NoisyBlock` in `bnmind.adaptive.learning.parameters.noisy`
Sequential      `StepsBlock` in `bnmind.adaptive.learning.parameters.sequential`
main effects    `EffectsBlock`, `SharedBlock` in ``learning.parameters.main_effects``
Graded, IRT     `CurveBlock` in `bnmind.adaptive.learning.parameters.curves`
fixed           `FixedBlock`
==============  ===============================================================
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.learning.parameters.isotonic import two_chances
from bnmind.adaptive.learning.parameters.options import Bounds, Priors, kept_off
from bnmind.adaptive.response_models.base.model import ResponseModel, response_channel
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.guess_slip import GuessSlip
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = [
    "SLACK",
    "ConvexBlock",
    "FixedBlock",
    "ItemBlock",
    "ItemRule",
    "PairBlock",
    "RuleBlock",
    "beta_counts",
    "log_beta",
    "softened",
]

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
