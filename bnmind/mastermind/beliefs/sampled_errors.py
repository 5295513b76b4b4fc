"""Standard errors of the estimates of a sampled belief.

The islands of the sampler are independent, so their spread gives the errors; see
`bnmind.mastermind.sampling.island_estimates`. An event that no sample shows still has a standard
error, 1/n for samples as good as n independent ones. If the belief lists all possible codes, its
numbers are exact, and the errors are zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling.consistent_codes import ListedCodes
from bnmind.mastermind.sampling.island_estimates import (
    island_shares,
    jackknife_error,
    joint_error,
    log_mean,
)
from bnmind.mastermind.sampling.sample_masses_kernel import masses_of_samples
from bnmind.mastermind.sampling.sequential_monte_carlo import Population

__all__ = ["SampledErrors"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledErrors(Sealed):
    """The standard errors of a sampled belief, by methods of the same names."""

    board: Board
    """The board."""
    history: tuple[Turn, ...]
    """The turns so far."""
    population: Population
    """The samples."""
    listed: ListedCodes | None
    """All possible codes, if they are listed."""
    log_targets: Floats
    """``(islands, size)``, the logarithm of the unnormalized posterior of each sample."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the standard errors of the masses, in the same shape."""
        shape = (len(guesses), len(self.board.true_replies))
        if self.listed is not None:
            return np.zeros(shape)
        codes = np.array([self.board.code(guess) for guess in guesses.tolist()], dtype=np.uint8)
        return self._with_floor(joint_error(self._masses(codes), self._shares))

    def marginals(self) -> Floats:
        """Return the standard errors of the probabilities of colors, ``(pegs, colors)``."""
        if self.listed is not None:
            return np.zeros((self.board.pegs, self.board.colors))
        colors = np.arange(1, self.board.colors + 1)
        weights = np.exp(self.population.log_weights)
        each = np.einsum("rm,rmpc->rpc", weights, self.population.codes[..., None] == colors)
        return self._with_floor(joint_error(each, self._shares))

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return the standard error of each probability of a misreport."""
        if self.listed is not None or not self.history:
            return (0.0,) * len(self.history)
        guesses = np.array([turn.guess for turn in self.history], dtype=np.uint8)
        true = self.board.true_replies
        right = np.array([[reply == turn.reply for reply in true] for turn in self.history])
        wrong = np.where(right, 0.0, self._masses(guesses)).sum(axis=2)
        return tuple(self._with_floor(joint_error(wrong, self._shares)).tolist())

    def entropy(self) -> float:
        """Return the standard error of the entropy, in bits."""
        if self.listed is not None:
            return 0.0
        constants, weights = self.population.log_constants, np.exp(self.population.log_weights)
        means = (weights * np.where(weights > 0, self.log_targets, 0.0)).sum(axis=1)
        estimates: list[float] = []
        for island in range(len(constants)):
            others = np.delete(constants, island)
            if others.max() == -math.inf:
                return math.nan
            mean = float(island_shares(others) @ np.delete(means, island))
            estimates.append(log_mean(others) - mean)
        return jackknife_error(np.array(estimates)) / math.log(2)

    @property
    def _shares(self) -> Floats:
        return island_shares(self.population.log_constants)

    def _masses(self, guesses: NDArray[np.uint8]) -> Floats:
        """Return the masses of each island, ``(islands, guesses, true replies)``."""
        weights = np.exp(self.population.log_weights)
        return np.array(
            [
                masses_of_samples(self.board, guesses, codes, some)
                for codes, some in zip(self.population.codes, weights, strict=True)
            ]
        )

    def _with_floor(self, errors: Floats) -> Floats:
        """Return the errors with that of an event that no sample shows."""
        weights = np.exp(self.population.log_weights) * self._shares[:, None]
        rare = float((weights**2).sum())
        combined: Floats = np.sqrt(errors**2 + rare**2)
        return combined
