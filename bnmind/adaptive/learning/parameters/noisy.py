r"""Learning noisy-and and noisy-or items.

Whether skill k worked is hidden, so a step of EM contains further steps of EM. Let f_k be the
chance that a link works (and) or fails (or), ℓ the leak, and q = ℓ Π_k f_k the chance of the
response that requires all of these:

=====================================  ===========================================
symbol                                 name here
=====================================  ===========================================
f_k                                    ``links``: works (and), or fails (or)
ℓ                                      ``leak``: the ceiling (and), 1 − floor (or)
P(link k | not all) =                  :math:`(f_k - q) / (1 - q)`
=====================================  ===========================================

Each inner step raises the expected log-likelihood, and a few are enough for generalized EM.

References
----------
J. Vomlel, "Noisy-or classifier", Int. J. Intell. Syst. 2006; A. Dempster, N. Laird and
D. Rubin, "Maximum likelihood from incomplete data via the EM algorithm", J. R. Stat. Soc.
B 1977 (generalized EM).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import sealed
from bnmind.adaptive.learning.parameters.block import (
    SLACK,
    RuleBlock,
    beta_counts,
    log_beta,
    softened,
)
from bnmind.adaptive.learning.parameters.isotonic import two_chances
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.noisy_skills import NoisySkills
from bnmind.information import Floats
from bnmind.pgm import NoisyMinimum

__all__ = ["NoisyBlock"]

_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class NoisyBlock(RuleBlock):
    """An item with a `NoisyAnd` or `NoisyOr` model.

    A ceiling below 1 or a floor above 0 is learned too. One guess and one slip for all skills
    stay shared; otherwise each skill has its own.

    Parameters
    ----------
    rule
        The item.
    priors
        Beta distributions of guesses and slips.
    """

    priors: Priors

    @cached_property
    def has(self) -> NDArray[np.bool_]:
        """``(parents, configurations)``: whether the required level is reached."""
        sizes = [v.n_states for v in self.rule.parents]
        levels = np.indices(tuple(sizes)).reshape(len(sizes), -1)
        needed = self._model.required
        required = np.ones(len(sizes), dtype=int) if needed is None else np.array(needed)
        return sealed(levels >= required[:, None])

    @property
    def _model(self) -> NoisySkills:
        assert isinstance(self.rule.model, NoisySkills)
        return self.rule.model

    @property
    def _is_and(self) -> bool:
        return self._model.combination is NoisyMinimum

    @property
    def _shared(self) -> bool:
        return not np.ndim(self._model.guess) and not np.ndim(self._model.slip)

    @property
    def _n_pairs(self) -> int:
        return 1 if self._shared else len(self.rule.parents)

    @property
    def _leak(self) -> float:
        right = self._model.leak[1]
        return right if self._is_and else 1 - right

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Guesses, slips, and the ceiling or the floor."""
        of = [""] if self._shared else [f" of {v.name}" for v in self.rule.parents]
        names = [f"guess{skill}" for skill in of] + [f"slip{skill}" for skill in of]
        if self._leak < 1:
            names.append(self._model.leak[0])
        return tuple((self.rule.name, what) for what in names)

    @property
    def limits(self) -> Floats:
        """The bounds of guesses, slips, and the ceiling or the floor."""
        least = self.rule.least
        bounds = [self.rule.guess] * self._n_pairs + [self.rule.slip] * self._n_pairs
        return np.array(bounds + ([(least, 1 - least)] if self._leak < 1 else []))

    def start(self) -> Floats:
        """Return the current parameters of the model."""
        n = self._n_pairs
        pairs = [np.broadcast_to(x, (n,)) for x in (self._model.guess, self._model.slip)]
        leak = [self._leak if self._is_and else 1 - self._leak] if self._leak < 1 else []
        return self._within(softened(np.concatenate([*pairs, leak])))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return guesses and slips between 0.05 and 0.45."""
        values = rng.uniform(0.05, 0.45, 2 * self._n_pairs)
        if self._leak < 1:
            edge = rng.uniform(0.05, 0.3)
            values = np.append(values, 1 - edge if self._is_and else edge)
        return self._within(values)

    def _within(self, values: Floats) -> Floats:
        return np.clip(values, self.limits[:, 0], self.limits[:, 1])

    def _links(self, values: Floats) -> tuple[Floats, float]:
        """Return the chances of the links, ``(parents, configurations)``, and the leak."""
        n = self._n_pairs
        guess, slip = values[:n, None], values[n : 2 * n, None]
        works = np.where(self.has, 1 - slip, guess)
        leak = 1.0
        if self._leak < 1:
            leak = float(values[-1] if self._is_and else 1 - values[-1])
        return (works if self._is_and else 1 - works), leak

    def response_parameters(self, values: Floats) -> Floats:
        """Return the chances of wrong and right responses in each configuration."""
        links, leak = self._links(values)
        asked = leak * links.prod(axis=0)
        pair = [1 - asked, asked] if self._is_and else [asked, 1 - asked]
        return np.stack(pair, axis=-1)[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the parameters after a few steps of EM over the links."""
        asked = counts[0][:, 1 if self._is_and else 0]
        total = counts[0].sum(axis=1)
        for _ in range(_ROUNDS):
            values = self._step(values, asked, total)
        return values

    def _step(self, values: Floats, asked: Floats, total: Floats) -> Floats:
        links, leak = self._links(values)
        q = leak * links.prod(axis=0)
        other = np.where(q < 1, (total - asked) / np.where(q < 1, 1 - q, 1), 0.0)
        as_asked = asked + other * (links - q)
        works = as_asked if self._is_and else total - as_asked
        right = np.stack([(works * ~self.has).sum(axis=1), (works * self.has).sum(axis=1)], axis=1)
        everyone = np.stack([(total * ~self.has).sum(axis=1), (total * self.has).sum(axis=1)], 1)
        if self._shared:
            right, everyone = right.sum(axis=0)[None], everyone.sum(axis=0)[None]
        more_right, more = beta_counts(self.priors)
        n = self._n_pairs
        before = np.stack([values[:n], 1 - values[n : 2 * n]], axis=1)
        limits = np.stack([self.limits[:n], 1 - self.limits[n : 2 * n, ::-1]], axis=1)
        chance = two_chances(right + more_right, everyone + more, before, limits, monotone=True)
        updated = np.concatenate([chance[:, 0], 1 - chance[:, 1]])
        if self._leak < 1:
            leaks = float((asked + other * (leak - q)).sum() / max(total.sum(), 1e-300))
            updated = np.append(updated, leaks if self._is_and else 1 - leaks)
        return self._within(updated)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the beta densities."""
        n, limits = self._n_pairs, self.limits
        return log_beta(values[:n], self.priors.guess, limits[:n]) + log_beta(
            values[n : 2 * n], self.priors.slip, limits[n : 2 * n]
        )

    def valid(self, values: Floats) -> bool:
        """Return whether no guess is above one minus the slip."""
        n = self._n_pairs
        return bool(np.all(values[:n] + values[n : 2 * n] <= 1 + SLACK))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model."""
        n = self._n_pairs
        guess, slip = values[:n].tolist(), values[n : 2 * n].tolist()
        changed: dict[str, Any] = {
            "guess": guess[0] if self._shared else tuple(guess),
            "slip": slip[0] if self._shared else tuple(slip),
        }
        if self._leak < 1:
            changed[self._model.leak[0]] = float(values[-1])
        return (dataclasses.replace(self._model, **changed),)
