"""A code-maker that draws each peg by itself, with fixed probabilities of the colors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, repeat_faults
from bnmind.mastermind.priors.prior import Codes, code_array

__all__ = ["FixedColors", "parse_fixed_colors"]


@dataclass(frozen=True, eq=False)
class FixedColors(ClosedFormPrior):
    """The prior of independent pegs, each with given probabilities of the colors.

    Examples
    --------
    >>> prior = FixedColors.from_weights(Board(2, 3), [2, 1, 1])
    >>> prior.name, round(prior.distribution().probability((1, 2)), 6)
    ('fixed:0.5,0.25,0.25', 0.125)
    """

    board: Board
    """The board of the codes; colors may repeat."""
    probabilities: Annotated[Floats, Ge(0)]
    """``(pegs, colors)``, read-only; each row sums to one."""

    def _faults(self) -> Iterator[str]:
        yield from repeat_faults(self.board, "fixed")
        shape, p = (self.board.pegs, self.board.colors), self.probabilities
        if p.shape != shape:
            yield (
                f"expected probabilities of {shape[1]} colors at {shape[0]} positions, got an"
                f" array of shape {p.shape}"
            )
        elif not abs(p.sum(axis=1) - 1).max() <= 1e-9:
            yield (
                f"expected probabilities of colors that sum to 1 at each position, got {shown(p)}"
            )

    @classmethod
    @checked
    def from_weights(cls, board: Board, weights: ArrayLike) -> FixedColors:
        """Return the prior with probabilities proportional to the weights.

        Parameters
        ----------
        board
            The board of the codes.
        weights
            ``(colors,)``, the same for all positions, or ``(pegs, colors)``; not negative.

        Raises
        ------
        InvalidArgumentError
            If there are not as many weights as colors, a weight is negative or not finite, or all
            weights of a position are zero.
        """
        values = np.array(number_array(weights, "the weights of the colors"))
        if values.shape not in ((board.colors,), (board.pegs, board.colors)):
            raise InvalidArgumentError(
                f"expected {board.colors} weights, one for each color, or {board.pegs} positions of"
                f" {board.colors} weights, got {shown(weights)}",
                weights,
            )
        rows = np.broadcast_to(values, (board.pegs, board.colors))
        totals = rows.sum(axis=1, keepdims=True)
        if not ((rows >= 0).all() and np.isfinite(rows).all() and (totals > 0).all()):
            raise InvalidArgumentError(
                "expected weights of colors that are not negative and, at each position, not all"
                f" zero, got {shown(weights)}",
                weights,
            )
        return cls(board, rows / totals)

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        rows = [",".join(f"{p:.6g}" for p in row) for row in self.probabilities]
        return f"fixed:{rows[0] if len(set(rows)) == 1 else '/'.join(rows)}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities)
        positions = np.arange(self.board.pegs)
        total: Floats = logs[positions, np.asarray(codes, dtype=np.intp) - 1].sum(axis=1)
        return total

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        columns = [
            rng.choice(self.board.colors, size=n, p=row / row.sum()) for row in self.probabilities
        ]
        return code_array(np.column_stack(columns) + 1)


def parse_fixed_colors(board: Board, text: str) -> FixedColors:
    """Parse weights of colors: numbers between commas, positions between slashes.

    Raises
    ------
    InvalidArgumentError
        If the text has another form, or does not fit the board.
    """
    rows: list[Sequence[float]] = []
    for row in text.split("/"):
        try:
            rows.append([float(word) for word in row.split(",")])
        except ValueError:
            raise InvalidArgumentError(
                "expected numbers between commas after fixed:, one for each color, and a slash"
                f" between positions if they differ, got {shown(text)}",
                text,
            ) from None
    if len({len(row) for row in rows}) > 1:
        raise InvalidArgumentError(
            f"expected {board.colors} numbers at each position after fixed:, got {shown(text)}",
            text,
        )
    return FixedColors.from_weights(board, rows[0] if len(rows) == 1 else rows)
