"""Weights for `WeightedEntropy`, fitted to the total number of guesses by random search.

The total of a tree is a step function of the weights, so gradients are useless. The search changes
a few random weights at a time and keeps the change if the total is not worse. Sometimes it accepts
a total that is worse by one guess, and after a while it returns to the best weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import many
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.strategies.players.myopic import Myopic
from bnmind.strategies.scores.score import Integers
from bnmind.strategies.scores.weighted_entropy import MAX_WEIGHT, UNIT, WeightedEntropy
from bnmind.strategies.trees.myopic_tree import grow_exactly

__all__ = ["FittedWeights", "fit_weights"]

_STEPS = (20.0, 100.0, 400.0)
"""Standard deviations of changes, in thousandths."""
_PASSED = 0.03
"""The probability of accepting a total that is worse by one."""
_RETURN = 0.01
"""The probability that a worse search returns to the best weights."""
_DEEPEST = 200


@dataclass(frozen=True)
class FittedWeights(Result):
    """The best weights of a search."""

    score: WeightedEntropy
    """The weights."""
    total: int
    """The number of guesses to find every code once, with these weights."""
    start: int
    """The number of guesses with the initial weights."""
    evaluations: int
    """The number of trees that were grown."""

    def to_dict(self) -> dict[str, Any]:
        """Return the totals and the weights as a record."""
        return {
            "board": str(self.score.board),
            "total": self.total,
            "start": self.start,
            "evaluations": self.evaluations,
            "weights": [list(turn) for turn in self.score.weights],
        }

    def _shown(self) -> Iterator[str | Table]:
        yield (
            f"{self.total:,} guesses in all, from {self.start:,}, after {self.evaluations:,}"
            " evaluations."
        )


@checked_if_it_fails
def fit_weights(
    board: Board,
    *,
    turns: int = 1,
    evaluations: int = 2000,
    seed: int = 0,
    start: WeightedEntropy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FittedWeights:
    """Return weights with a small total number of guesses.

    Parameters
    ----------
    board
        The board. At 4x6 an evaluation takes about a hundredth of a second.
    turns
        The number of turns with separate weights.
    evaluations
        The number of trees to grow. This is the only limit, so the seed determines the weights.
    seed
        Not negative.
    start
        The initial weights, by default equal. The last turn also applies to later turns.
    progress
        Called after each evaluation with the number of evaluations and the best total.

    Raises
    ------
    InvalidArgumentError
        If there are no turns or evaluations, more than 200 turns, or `start` is for another board.
    TooLargeError
        If the board is too large for compiled trees.

    Examples
    --------
    >>> fit_weights(Board(3, 3), evaluations=10, seed=1).start
    73
    """
    if turns < 1 or evaluations < 1:
        raise InvalidArgumentError(
            f"expected at least one turn and one evaluation, got {turns} and {evaluations}",
            (turns, evaluations),
        )
    if turns > _DEEPEST:
        raise InvalidArgumentError(f"expected at most {_DEEPEST} turns, got {many(turns)}", turns)
    if start is not None and start.board != board:
        raise InvalidArgumentError(
            f"expected initial weights for the board {board}, got weights for {start.board}", start
        )
    rng = np.random.default_rng(seed)
    initial = ((UNIT,) * len(board.true_replies),) if start is None else start.weights
    rows = [initial[min(turn, len(initial) - 1)] for turn in range(turns)]
    best = current = np.array(rows, dtype=np.int64)
    best_total = total = first = _total(board, current)
    for number in range(2, evaluations + 1):
        changed = _changed(current, rng)
        changed_total = _total(board, changed)
        if changed_total <= total + (rng.random() < _PASSED):
            current, total = changed, changed_total
        elif total > best_total and rng.random() < _RETURN:
            current, total = best, best_total
        if changed_total < best_total:
            best, best_total = changed, changed_total
        if progress is not None:
            progress(number, best_total)
    return FittedWeights(_score(board, best), best_total, first, evaluations)


def _changed(weights: Integers, rng: np.random.Generator) -> Integers:
    changed = weights.copy()
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(changed.size))
        step = float(rng.normal(scale=_STEPS[int(rng.integers(len(_STEPS)))]))
        changed.flat[place] = min(MAX_WEIGHT, max(0, int(changed.flat[place]) + round(step)))
    return changed


def _total(board: Board, weights: Integers) -> int:
    strategy = Myopic(_score(board, weights))
    return grow_exactly(strategy, board, max_guesses=_DEEPEST).total


def _score(board: Board, weights: Integers) -> WeightedEntropy:
    return WeightedEntropy(board, tuple(map(tuple, weights.tolist())))
