"""The common part of the priors whose probabilities have a closed form."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.priors.prior import Codes, listed_distribution

__all__ = [
    "ClosedFormPrior",
    "distinct_colors",
    "drawn_colors",
    "is_distribution",
    "logs_of",
    "repeat_faults",
]

_ROUNDING = 1e-9


class ClosedFormPrior(Value, ABC):
    """A prior that computes the probability of a code, not only a weight.

    Such priors can be the members of a `MixturePrior`.
    """

    board: Board
    """The board of the codes."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the prior at the command line and in files."""

    @abstractmethod
    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``.

        Parameters
        ----------
        codes
            ``(m, pegs)``, codes of the board. They are not checked.
        """

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""

    def observe(self, code: Sequence[int]) -> Self:
        """Return the prior of the next code after another code; by default it learns nothing.

        Parameters
        ----------
        code
            The colors of the code that was revealed, each from 1 to the number of colors.
        """
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether another prior is of the same kind with equal fields."""
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(cast(Any, self))]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash((type(self), self.board, self.name))

    def log_weights(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's weight, here its probability."""
        return self.log_probabilities(codes)

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """
        return listed_distribution(self)


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def logs_of(probabilities: tuple[float, ...], logs: tuple[float, ...] | None) -> tuple[float, ...]:
    """Return the natural logarithms of probabilities, or the given ones if they agree.

    Raises
    ------
    InvalidArgumentError
        If the given logarithms are not those of the probabilities.
    """
    if logs is None:
        return tuple(math.log(p) if p > 0 else -math.inf for p in probabilities)
    fits = len(logs) == len(probabilities) and all(
        log <= _ROUNDING and abs(math.exp(log) - p) <= _ROUNDING
        for log, p in zip(logs, probabilities, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(f"expected the logarithms of {probabilities}, got {logs}", logs)
    return logs


def repeat_faults(board: Board, prior: str) -> Iterator[str]:
    """Yield what is wrong unless a color may occur more than once."""
    if not board.repeats:
        yield f"the prior {prior} needs a board on which colors may repeat, got the board {board}"


def is_distribution(values: Sequence[float] | Floats, n: int, *, tolerance: float = 1e-9) -> bool:
    """Return whether the values are n probabilities that sum to one."""
    if isinstance(values, np.ndarray):
        is_fit, total = values.shape == (n,) and bool((values >= 0).all()), float(values.sum())
    else:
        is_fit = len(values) == n and all(p >= 0 for p in values)
        total = math.fsum(values)
    return is_fit and abs(total - 1) <= tolerance


def distinct_colors(codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the number of different colors in each code, ``(m,)``."""
    in_order = np.sort(codes, axis=1)
    changes: NDArray[np.intp] = np.count_nonzero(in_order[:, 1:] != in_order[:, :-1], axis=1)
    return changes + 1


def drawn_colors(board: Board, n: int, rng: np.random.Generator) -> Codes:
    """Return all colors in random order, for each of `n` codes, ``(n, colors)``."""
    colors = np.tile(np.arange(1, board.colors + 1, dtype=np.uint8), (n, 1))
    return rng.permuted(colors, axis=1)
