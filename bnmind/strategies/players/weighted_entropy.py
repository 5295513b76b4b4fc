"""The strategy ``weighted-entropy``: one guess ahead, with the weights that come with bnmind."""

from __future__ import annotations

from importlib.resources import files

from bnmind.strategies.players.myopic import Myopic
from bnmind.strategies.scores.weighted_entropy import parse_weights

__all__ = ["weighted_entropy"]

_WEIGHTS = "weights_4x6.json"


def weighted_entropy() -> Myopic:
    """Return the strategy ``weighted-entropy``, with the weights that come with bnmind.

    They are fitted for 4x6, turn by turn.
    """
    text = files("bnmind.strategies").joinpath(_WEIGHTS).read_text(encoding="utf-8")
    return Myopic(parse_weights(text, _WEIGHTS), name="weighted-entropy")
