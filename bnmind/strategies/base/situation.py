"""The knowledge of a strategy beside the belief."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import Count, Value

__all__ = ["FIRST_TURN", "Situation"]


@dataclass(frozen=True, kw_only=True)
class Situation(Value):
    """The knowledge of a strategy beside the belief: its memory, and the end of the game."""

    memory: object = None
    """The memory of the last turn, `GuessInfo.memory`; None at the first turn, or if the strategy
    is asked in the middle of a game that it has not played."""
    guesses_left: Count | None = None
    """The number of guesses that the game still allows, the next one included; None if unknown."""


FIRST_TURN = Situation()
"""The situation of a strategy that remembers nothing, in a game of unknown length."""
