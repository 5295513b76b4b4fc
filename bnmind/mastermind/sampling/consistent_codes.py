"""The list of all codes that agree with all replies, if they are few.

The depth-first search for one such code, of `find_possible_code`, goes on after each code that it
finds, until it has tried everything. If no code agrees with all replies, the search leaves out one
reply after the other, and then each pair of replies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Sealed
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling.consistent_kernel import (
    FOUND,
    NONE,
    PAUSED,
    Facts,
    Trail,
    list_ways,
    search_slice,
    start_trail,
)
from bnmind.mastermind.sampling.turn_arrays import turn_arrays

__all__ = [
    "MAX_LISTED",
    "ListedCodes",
    "distinct_codes",
    "list_consistent_codes",
    "list_possible_codes",
]

MAX_LISTED = 2**14
"""The largest number of codes that are listed."""

_MOST_NODES = 10**6  # pegs placed by one search, some 30 milliseconds
_MOST_WRONG = 2

_MOST_WAYS = 2**16
_MOST_COLORS = 63  # a set of colors is a word, without its sign bit
_SLICE = 50_000_000  # operations of one call of compiled code, a tenth of a second or less
_DEPTH, _IS_NEW = 1, 3  # places in `Trail.counts`


def list_consistent_codes(
    board: Board, history: Sequence[Turn], *, most: int, max_nodes: int
) -> NDArray[np.uint8] | None:
    """Return all codes that agree with all replies, in lexicographic order.

    Parameters
    ----------
    board
        The board, of any size.
    history
        The guesses and their replies, which are assumed to be true.
    most
        The largest number of codes to list.
    max_nodes
        The largest number of pegs to place during the search.

    Returns
    -------
    NDArray[np.uint8] | None
        ``(codes, pegs)``, colors 1..k; None if there are more codes, the search takes longer, or
        the board has more than 63 colors.

    Examples
    --------
    >>> from bnmind.mastermind.reply import Reply
    >>> turns = [Turn((1, 1, 2, 3), Reply(1, 2)), Turn((1, 4, 5, 6), Reply(1, 0))]
    >>> list_consistent_codes(Board(4, 6), turns, most=100, max_nodes=10**6).shape
    (6, 4)
    """
    if board.colors > _MOST_COLORS:
        return None
    guesses, black, both, standing = turn_arrays(board, history)
    most_of_a_color = board.pegs if board.repeats else 1
    ways, are_all = list_ways(standing, both, board.pegs, most_of_a_color, _MOST_WAYS)
    if are_all and not len(ways):
        return np.zeros((0, board.pegs), dtype=np.uint8)
    facts = Facts(
        guesses,
        black,
        both,
        standing,
        np.tile(np.arange(1, board.colors + 1), (board.pegs, 1)),
        ways,
        board.repeats,
    )
    trail, codes = start_trail(facts), np.zeros((most, board.pegs), dtype=np.uint8)
    n = 0
    # Ctrl-C works between two slices.
    while True:
        n, end = _list_slice(facts, trail, codes, n, max_nodes, _SLICE)
        if end != PAUSED:
            return codes[:n].copy() if end == NONE else None


@njit
def _list_slice(
    facts: Facts, trail: Trail, codes: NDArray[np.uint8], n: int, max_nodes: int, most: int
) -> tuple[int, int]:
    """Add the next codes; return their number, and how the search ended.

    It ends with `FOUND` if there is another code, but no room for it.
    """
    pegs = trail.code.size
    while True:
        end = search_slice(facts, trail, max_nodes, most)
        if end != FOUND or n == codes.shape[0]:
            return n, end
        for i in range(pegs):
            codes[n, i] = trail.code[i]
        n += 1
        # Go on as if the last peg had failed.
        trail.counts[_DEPTH], trail.counts[_IS_NEW] = pegs - 1, 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedCodes(Sealed):
    """All possible codes and their probabilities."""

    codes: NDArray[np.uint8]
    """``(codes, pegs)``, colors 1..k, in lexicographic order."""
    probabilities: Floats
    """``(codes,)``; they sum to one."""
    contradictions: int
    """The number of replies that each of the codes contradicts."""


def list_possible_codes(
    board: Board,
    history: Sequence[Turn],
    log_prior: Callable[[NDArray[np.uint8]], Floats] | None,
    *,
    ends: bool,
) -> ListedCodes | None:
    """Return the codes of the smallest number of contradicted replies, with probabilities.

    Parameters
    ----------
    board
        The board, of any size.
    history
        The turns. A reply that is not a true reply contradicts every code.
    log_prior
        The logarithm of the weight of each code; None if all are equally probable.
    ends
        Whether the game ends at the winning guess, which excludes codes already guessed.

    Returns
    -------
    ListedCodes | None
        None if there are more than 16,384 codes, the search takes too long, or every code
        contradicts more than two replies.
    """
    true = [turn for turn in history if turn.reply in board.true_replies]
    for wrong in range(_MOST_WRONG + 1):
        lists: list[NDArray[np.uint8]] = []
        for left_out in combinations(range(len(true)), wrong):
            rest = [turn for place, turn in enumerate(true) if place not in left_out]
            codes = list_consistent_codes(board, rest, most=MAX_LISTED, max_nodes=_MOST_NODES)
            if codes is None:
                return None
            lists.append(codes)
        lists.append(np.zeros((0, board.pegs), dtype=np.uint8))
        found = distinct_codes(np.concatenate(lists))[0]
        if ends and len(found):
            guessed = {turn.guess for turn in history}
            found = found[[tuple(code) not in guessed for code in found.tolist()]]
        if len(found) > MAX_LISTED:
            return None
        probabilities = _weighted(found, log_prior)
        if probabilities is not None:
            possible = probabilities > 0
            return ListedCodes(
                codes=found[possible],
                probabilities=probabilities[possible],
                contradictions=wrong + len(history) - len(true),
            )
    return None


def _weighted(
    codes: NDArray[np.uint8], log_prior: Callable[[NDArray[np.uint8]], Floats] | None
) -> Floats | None:
    """Return the probabilities of the codes; None if all have weight zero."""
    if not len(codes):
        return None
    if log_prior is None:
        return np.full(len(codes), 1 / len(codes))
    logs = np.asarray(log_prior(codes), dtype=np.float64)
    largest = float(logs.max())
    if largest == -math.inf:
        return None
    weights = np.exp(logs - largest)
    probabilities: Floats = weights / weights.sum()
    return probabilities


def distinct_codes(
    codes: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct codes in lexicographic order, a place of each, and the rank of each code.

    Parameters
    ----------
    codes
        ``(codes, pegs)``, colors from 1.
    """
    # No color is 0, so strings of bytes keep all pegs, and they are sorted quickly.
    rows = np.ascontiguousarray(codes).view(f"S{codes.shape[1]}").ravel()
    _, first, ranks = np.unique(rows, return_index=True, return_inverse=True)
    return codes[first], first, ranks.ravel()
