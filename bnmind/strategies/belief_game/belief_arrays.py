"""The arrays of the search for the value of the belief game: a game, its beliefs, and policies."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_table

__all__ = [
    "BELIEFS",
    "CHILDREN",
    "POLICIES",
    "TRIALS",
    "BeliefGame",
    "Pool",
    "grown",
    "make_game",
    "make_pool",
    "symmetries_of",
]

_Number = TypeVar("_Number", np.float64, np.int64)

BELIEFS = 0
CHILDREN = 1
POLICIES = 2
TRIALS = 3
"""The places of `Pool.counts`."""


class BeliefGame(NamedTuple):
    """A board and a channel; codes and guesses are given by their indices."""

    likelihoods: Floats
    """``(guesses, reports, codes)``, the probability of each report; 0 if the guess is the code."""
    symmetries: NDArray[np.int64]
    """``(symmetries, codes)``, the permutations of the codes that preserve all replies."""


class Pool(NamedTuple):
    """Beliefs with bounds of their values, and policies. The first belief is the start.

    The weights of a belief have the largest of its symmetric images in lexicographic order, and
    their maximum is one. A value is the sum of the expected numbers of guesses times the weights.
    """

    weights: Floats
    """``(beliefs, codes)``."""
    lower: Floats
    """``(beliefs,)``, lower bounds of the values."""
    upper: Floats
    """``(beliefs,)``, upper bounds of the values."""
    guess_lower: Floats
    """``(beliefs, guesses)``, lower bounds if the guess comes first; nan if not yet computed."""
    first_child: NDArray[np.int64]
    """``(beliefs, guesses)``, the place of the first child after the guess, or -1."""
    children: NDArray[np.int64]
    """``(children, 2)``, a belief, or -1 if it has no weight, and the symmetry that leads to it.
    The children of a guess, one for each report, are consecutive."""
    masses: Floats
    """``(children,)``, the factors by which the weights of the children are to be multiplied."""
    slots: NDArray[np.int64]
    """``(2^b,)``, an open hash table of the beliefs; -1 if empty."""
    vectors: Floats
    """``(policies, codes)``, the expected number of guesses of each policy, for each code."""
    guesses: NDArray[np.int64]
    """``(policies,)``, the next guess of each policy."""
    counts: NDArray[np.int64]
    """The numbers of beliefs, children, policies and trials."""


def make_game(channel: Channel) -> BeliefGame:
    """Return the arrays of a board and a channel."""
    played = channel.revealed()
    table = reply_table(channel.board)
    n_reports = len(played.reports)
    likelihoods = np.ascontiguousarray(played.matrix[table, :n_reports].transpose(0, 2, 1))
    return BeliefGame(likelihoods, symmetries_of(channel.board))


def symmetries_of(board: Board) -> NDArray[np.int64]:
    """Return the permutations of the codes by positions and colors, each once.

    Returns
    -------
    NDArray[np.int64]
        ``(symmetries, codes)``, the image of each code.
    """
    codes = board.codes.astype(np.int64) - 1
    places = {tuple(code): place for place, code in enumerate(codes.tolist())}
    found = {
        tuple(
            places[tuple(names[color] for color in code)]
            for code in codes[:, list(positions)].tolist()
        )
        for positions in permutations(range(board.pegs))
        for names in permutations(range(board.colors))
    }
    return np.array(sorted(found), dtype=np.int64)


def make_pool(game: BeliefGame, room: int) -> Pool:
    """Return an empty pool with room for so many beliefs, children and policies."""
    n_guesses, _, n_codes = game.likelihoods.shape
    beliefs = children = policies = room
    return Pool(
        weights=np.empty((beliefs, n_codes)),
        lower=np.empty(beliefs),
        upper=np.empty(beliefs),
        guess_lower=np.empty((beliefs, n_guesses)),
        first_child=np.empty((beliefs, n_guesses), dtype=np.int64),
        children=np.empty((children, 2), dtype=np.int64),
        masses=np.empty(children),
        slots=np.full(4 * beliefs, -1, dtype=np.int64),
        vectors=np.empty((policies, n_codes)),
        guesses=np.empty(policies, dtype=np.int64),
        counts=np.zeros(4, dtype=np.int64),
    )


def grown(pool: Pool, room: int) -> Pool:
    """Return the pool with room for at least so many further beliefs, children and policies.

    The hash table, if it had to grow, is empty: fill it again.
    """
    counts = pool.counts
    beliefs = _longer(len(pool.weights), int(counts[BELIEFS]) + room)
    children = _longer(len(pool.children), int(counts[CHILDREN]) + room)
    policies = _longer(len(pool.vectors), int(counts[POLICIES]) + room)
    slots = pool.slots
    if len(pool.weights) < beliefs:
        slots = np.full(4 * beliefs, -1, dtype=np.int64)
    return Pool(
        weights=_extended(pool.weights, beliefs),
        lower=_extended(pool.lower, beliefs),
        upper=_extended(pool.upper, beliefs),
        guess_lower=_extended(pool.guess_lower, beliefs),
        first_child=_extended(pool.first_child, beliefs),
        children=_extended(pool.children, children),
        masses=_extended(pool.masses, children),
        slots=slots,
        vectors=_extended(pool.vectors, policies),
        guesses=_extended(pool.guesses, policies),
        counts=counts,
    )


def _longer(length: int, needed: int) -> int:
    while length < needed:
        length *= 2
    return length


def _extended(array: NDArray[_Number], length: int) -> NDArray[_Number]:
    if len(array) == length:
        return array
    longer = np.empty((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
