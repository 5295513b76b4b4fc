"""Learning items with separate response probabilities for each configuration.

A table of more than two responses is learned as steps: the chance of at least response r, given
at least r − 1, in each configuration. If monotone, these chances may not decrease with more
skill; then P(X ≥ r) does not decrease either.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from bnmind.adaptive.learning.parameters.block import RuleBlock, beta_counts, log_beta, softened
from bnmind.adaptive.learning.parameters.isotonic import monotone_chances
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.information import Floats

__all__ = ["TableBlock"]


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
