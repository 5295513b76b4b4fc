"""The strategy ``weighted-entropy``: one guess ahead, with the weights that come with bnmind."""

from __future__ import annotations

from bnmind.strategies.players.myopic import Myopic
from bnmind.strategies.scores.weighted_entropy import shipped_weights

__all__ = ["weighted_entropy"]


def weighted_entropy() -> Myopic:
    """Return the strategy ``weighted-entropy``, with the weights that come with bnmind.

    The weights were fitted for the board 4x6, turn by turn.
    """
    return Myopic(shipped_weights(), name="weighted-entropy")
