"""Weighted entropy: the entropy of the reply, with a weight for each reply."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind._messages import visible
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.strategies.base.record_json import parse_record
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms, fixed_point_bits
from bnmind.strategies.scores.score import ClassTerms

__all__ = [
    "MAX_WEIGHT",
    "UNIT",
    "WeightedEntropy",
    "parse_weights",
    "read_weights",
    "shipped_weights",
    "write_weights",
]

UNIT = 1000
"""The weight of a term with factor 1."""

MAX_WEIGHT = 9999
"""The largest weight."""

_FORMAT = "bnmind entropy weights"
_VERSION = 1
_SHIPPED = "weights_4x6.json"


@dataclass(frozen=True)
class WeightedEntropy(Value):
    """Σ_r w_r · p_r · log₂(1/p_r), to be maximized, where p_r = n_r / n.

    The score has one weight for each reply. `fit_weights` fits the weights to the total number of
    guesses; a reply has a large weight if the game is hard to finish after it. On other boards
    than that of the weights, the score is the entropy.

    Raises
    ------
    InvalidArgumentError
        If some turn does not have a weight from 0 to `MAX_WEIGHT` for each reply.
    """

    board: Board
    """The board of the weights."""
    weights: tuple[tuple[Annotated[int, Ge(0), Le(MAX_WEIGHT)], ...], ...]
    """By turn and true reply, in thousandths; the last row also applies to all later turns."""

    def _faults(self) -> Iterator[str]:
        n_replies = len(self.board.true_replies)
        if not self.weights or any(len(turn) != n_replies for turn in self.weights):
            yield (
                f"expected {n_replies} weights for each turn on the board {self.board}, got"
                f" {[len(turn) for turn in self.weights]}"
            )

    @property
    def minimized(self) -> bool:
        """Larger values are better."""
        return False

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        if board != self.board:
            return EntropyLeft().terms(board, largest)
        table = entropy_terms(largest, self._bits)
        logs = table // np.maximum(np.arange(largest + 1), 1)
        return ClassTerms(table, np.array(self.weights), per_code=logs)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the weighted entropy of the reply, in bits."""
        if board != self.board:
            return math.log2(codes) - EntropyLeft().shown(board, key, codes)
        return -math.ldexp(key, -self._bits) / codes / UNIT

    @property
    def _bits(self) -> int:
        return fixed_point_bits(self.board.n_codes, largest_weight=MAX_WEIGHT)


def shipped_weights() -> WeightedEntropy:
    """Return the weights that come with bnmind, fitted for 4x6, turn by turn."""
    text = files("bnmind.strategies").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return parse_weights(text, _SHIPPED)


@checked
def read_weights(path: Path | str) -> WeightedEntropy:
    """Read weights from a JSON file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not contain weights.
    """
    return parse_weights(read_text(path, most=SMALL_FILE), str(path))


@checked
def write_weights(score: WeightedEntropy, path: Path | str) -> None:
    """Write weights to a JSON file, by turn and reply.

    Parameters
    ----------
    score
        The score with the weights.
    path
        The file.

    Raises
    ------
    FileWriteError
        If the file cannot be written. An existing file is then unchanged.
    """
    board = score.board
    replies = [str(reply) for reply in board.true_replies]
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "weights": [dict(zip(replies, turn, strict=True)) for turn in score.weights],
    }
    write_file(path, json.dumps(document, indent=1) + "\n")


def parse_weights(text: str, where: str) -> WeightedEntropy:
    """Parse weights; messages name the file as `where`.

    Parameters
    ----------
    text
        JSON, as `write_weights` writes it.
    where
        The name of the file, for messages.

    Raises
    ------
    ModelFileError
        If the text does not contain weights.
    """
    return parse_record(text, where, (_FORMAT, _VERSION), _weights)


def _weights(document: Any) -> WeightedEntropy:
    board = Board(**document["board"])
    replies = [str(reply) for reply in board.true_replies]
    for number, turn in enumerate(document["weights"], 1):
        unexpected = [*(set(replies) - set(turn)), *(set(turn) - set(replies))]
        if unexpected:
            raise InvalidArgumentError(
                f"expected one weight for each reply of the board {board}; turn {number} has a"
                f" missing or unknown reply: {visible(min(unexpected)[:40])}",
                min(unexpected),
            )
    turns = tuple(tuple(turn[reply] for reply in replies) for turn in document["weights"])
    return WeightedEntropy(board, turns)
