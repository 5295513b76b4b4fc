"""The prior protocol: the probability of each secret code before the first guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of, require_believable
from bnmind.mastermind.masses.distribution import CodeDistribution

__all__ = [
    "Codes",
    "LearningPrior",
    "Prior",
    "code_array",
    "distribution_before",
    "listed_distribution",
    "observed",
    "require_same_board",
]

Codes: TypeAlias = NDArray[np.uint8]
"""Codes as rows of colors 1..k, ``(n, pegs)``."""

_BLOCK = 2**18  # number of codes that are weighed at a time


class Prior(Protocol):
    """A probability distribution over the secret code before the first guess.

    A prior need not list the codes: boards of any size have log weights and draws.
    """

    @property
    def board(self) -> Board:
        """The board of the codes."""

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""

    def log_weights(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's weight, ``(m,)``.

        The weights are probabilities up to a constant factor, the same for all codes; an impossible
        code has −∞.

        Parameters
        ----------
        codes
            ``(m, pegs)``, codes of the board. They are not checked.
        """

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``.

        Parameters
        ----------
        n
            The number of codes, at least 0.
        rng
            The source of random numbers.
        """

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """


class LearningPrior(Prior, Protocol):
    """A prior that learns from the earlier codes of a code-maker."""

    def observe(self, code: Sequence[int]) -> Self:
        """Return the prior of the next code after another code.

        Parameters
        ----------
        code
            The colors of the code that was revealed, each from 1 to the number of colors.
        """


def distribution_before(board: Board, prior: Prior | Floats | None) -> CodeDistribution:
    """Return the distribution of the code before the first guess; uniform if the prior is None.

    Raises
    ------
    InvalidArgumentError
        If the prior belongs to another board.
        If an array is not a distribution over the codes of the board.
    TooLargeError
        If the board has too many codes to list.
    """
    if prior is None:
        return CodeDistribution.uniform(board)
    if hasattr(prior, "log_weights"):
        given = cast(Prior, prior)
        require_same_board(board, given)
        return given.distribution()
    return CodeDistribution(board, prior)


def observed(prior: Prior, code: Sequence[int]) -> Prior:
    """Return the prior of the next code after another code; itself if it does not learn."""
    return cast(LearningPrior, prior).observe(code) if hasattr(prior, "observe") else prior


def require_same_board(board: Board, prior: Prior) -> None:
    """Raise `InvalidArgumentError` if a prior belongs to another board."""
    if prior.board != board:
        raise InvalidArgumentError(
            f"expected a prior of the board {board}, got {prior.name} of the board {prior.board}",
            prior,
        )


def code_array(codes: NDArray[np.integer]) -> Codes:
    """Return codes as bytes."""
    return np.asarray(codes, dtype=np.uint8)


def listed_distribution(prior: Prior) -> CodeDistribution:
    """Return the distribution of a prior, from the log weight of every code.

    Parameters
    ----------
    prior
        The prior.

    Raises
    ------
    TooLargeError
        If the board has too many codes to list.
    InvalidArgumentError
        If every code has weight zero.
    """
    board = prior.board
    require_believable(board)
    logs = np.empty(board.n_codes)
    for start in range(0, board.n_codes, _BLOCK):
        stop = min(start + _BLOCK, board.n_codes)
        logs[start:stop] = prior.log_weights(digits_of(board, np.arange(start, stop)))
    largest = float(logs.max())
    if largest == -np.inf:
        raise InvalidArgumentError(
            f"the prior {prior.name} gives every code of the board {board} the probability zero",
            prior,
        )
    logs -= largest
    weights = np.exp(logs, out=logs)
    weights /= weights.sum()
    weights.setflags(write=False)
    return CodeDistribution(board, weights)
