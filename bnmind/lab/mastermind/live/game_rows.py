"""The rows of a game that can be edited, left out of account, and taken into account again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.history import Turn

__all__ = ["GameRows"]


@dataclass(frozen=True)
class GameRows(Value):
    """The guesses of a game with their replies, some of which the player does not trust.

    Rows are numbered from 1, as people see them.

    Examples
    --------
    >>> from bnmind.mastermind import Board, parse_history
    >>> rows = GameRows(parse_history(Board(4, 6), "1123 1b1w, 2345 0b2w"))
    >>> doubted = rows.toggled(1)
    >>> len(doubted.turns), len(doubted.trusted), doubted.toggled(1) == rows
    (2, 1, True)
    """

    turns: tuple[Turn, ...] = ()
    """All turns, oldest first."""
    ignored: tuple[int, ...] = ()
    """The numbers of the rows that are left out of account, ascending."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.ignored:
            self._require(row)
        self._set(ignored=tuple(sorted(set(self.ignored))))

    @property
    def trusted(self) -> tuple[Turn, ...]:
        """The turns that are taken into account."""
        return tuple(t for row, t in enumerate(self.turns, start=1) if row not in self.ignored)

    def turn(self, row: int) -> Turn:
        """Return the turn of a row.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return self.turns[row - 1]

    def added(self, turn: Turn) -> GameRows:
        """Return the rows with one more at the end."""
        return replace(self, turns=(*self.turns, turn))

    def first(self, n: int) -> GameRows:
        """Return the first ``n`` rows."""
        return GameRows(self.turns[:n], tuple(row for row in self.ignored if row <= n))

    def edited(self, row: int, turn: Turn) -> GameRows:
        """Return the rows with another turn in a row, which is then trusted.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        turns = (*self.turns[: row - 1], turn, *self.turns[row:])
        return GameRows(turns, tuple(one for one in self.ignored if one != row))

    def toggled(self, row: int) -> GameRows:
        """Return the rows with a row left out of account, or taken into account again.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return replace(self, ignored=tuple({row}.symmetric_difference(self.ignored)))

    def without(self, row: int) -> GameRows:
        """Return the rows without one of them.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        later = tuple(one - (one > row) for one in self.ignored if one != row)
        return GameRows((*self.turns[: row - 1], *self.turns[row:]), later)

    def ignoring(self, row: int) -> GameRows:
        """Return the rows with a row left out of account, whether it was or not.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return replace(self, ignored=(*self.ignored, row))

    def _require(self, row: int) -> None:
        if not 1 <= row <= len(self.turns):
            rows = (
                f"expected a row from 1 to {len(self.turns)}" if self.turns else "there is no row"
            )
            raise InvalidArgumentError(f"{rows}{f', got {row}' if self.turns else ' yet'}", row)
