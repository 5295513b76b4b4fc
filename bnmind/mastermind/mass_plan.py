"""Which way to compute the masses of all guesses: planned by cost, then run.

Three ways lead to the same numbers. Brute force adds up the codes that have belief, a
guess at a time; it is best when few codes are left. Representatives do so for one
guess of each kind, where the past guesses leave kinds to speak of: at the first and
the second guess. Color elimination costs the same whatever the belief.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.color_elimination import (
    elimination_additions,
    elimination_bytes,
    masses_by_elimination,
)
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply_table import replies_to, reply_masses
from bnmind.mastermind.symmetry import GuessClasses, guess_classes

__all__ = ["MAX_BYTES", "MassPlan", "Method", "plan_masses"]

MAX_BYTES = 2**32
"""The most memory that an elimination may take."""

_NANOSECONDS = {"table": 0.6, "no table": 6.0, "elimination": 0.3, "start": 1e5}
"""What one operation costs, about; and what an elimination costs however small it is."""

_TABLE_CODES = 2**13
"""Up to so many codes there is a table of all replies."""

_PARALLEL = 10**8
"""From so many additions on an elimination uses two threads."""


class Method(Enum):
    """A way to compute the masses."""

    BRUTE_FORCE = "brute force over the codes that have belief"
    REPRESENTATIVES = "brute force for one guess of each kind"
    ELIMINATION = "color elimination"


@dataclass(frozen=True, eq=False)
class MassPlan:
    """How the masses are computed, and what that takes; made by `plan_masses`."""

    board: Board
    method: Method
    guesses: NDArray[np.intp]
    """The guesses whose masses are computed, indices of codes, ascending."""
    sizes: NDArray[np.intp]
    """How many guesses each of them stands for."""
    survivors: int
    """Codes that have belief."""
    operations: int
    """Additions that the method was planned to take."""
    seconds: float
    """About how long that takes."""
    considered: tuple[tuple[Method, int, float], ...]
    """The methods that were possible, with operations and seconds of each."""

    def __str__(self) -> str:
        others = "; ".join(
            f"{method.value}: {operations:,} operations, about {1e3 * seconds:.2g} ms"
            for method, operations, seconds in self.considered
        )
        return f"{self.method.value} for {len(self.guesses):,} guesses ({others})"

    def run(self, belief: Floats) -> Floats:
        """Return the belief mass of every true reply to each of the plan's guesses.

        Parameters
        ----------
        belief
            ``(n_codes,)``, not negative: the one that the plan was made for.
        """
        if self.method is not Method.ELIMINATION:
            return reply_masses(self.board, belief, self.guesses)
        threads = 2 if self.operations >= _PARALLEL and (os.cpu_count() or 1) > 1 else 1
        return masses_by_elimination(self.board, belief, threads=threads)


def plan_masses(
    board: Board,
    belief: Floats,
    *,
    history: Sequence[Turn] = (),
    method: Method | None = None,
) -> MassPlan:
    """Return the cheapest way to compute the masses of all guesses.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    history
        The turns that the belief comes from: representatives are possible if there
        are none or one, and the belief depends on nothing but the reply to it. That
        is tested here, so that a prior with a preference is safe.
    method
        Forces a method.

    Raises
    ------
    TooLargeError
        If no method fits, or the forced one does not; it says what would be needed.

    Examples
    --------
    >>> uniform = np.full(1296, 1 / 1296)
    >>> plan = plan_masses(Board(4, 6), uniform)
    >>> plan.method.name, plan.guesses.tolist(), plan.sizes.tolist()
    ('REPRESENTATIVES', [0, 1, 7, 8, 51], [6, 120, 90, 720, 360])
    """
    survivors = int(np.count_nonzero(belief))
    each = _NANOSECONDS["table" if board.n_codes <= _TABLE_CODES else "no table"]
    possible: dict[Method, tuple[int, float]] = {}
    everything = board.n_codes * survivors
    possible[Method.BRUTE_FORCE] = (everything, everything * each)
    classes = _classes(board, belief, history)
    if classes is not None:
        some = len(classes.representatives) * survivors
        possible[Method.REPRESENTATIVES] = (some, some * each)
    needed = elimination_bytes(board, threads=2)
    if needed <= MAX_BYTES and (method is Method.ELIMINATION or _worth_it(possible)):
        additions = elimination_additions(board)
        cost = additions * _NANOSECONDS["elimination"] + _NANOSECONDS["start"]
        possible[Method.ELIMINATION] = (additions, cost)
    chosen = method or min(possible, key=lambda one: possible[one][1])
    if chosen not in possible or (
        chosen is Method.BRUTE_FORCE and method is None and everything > _MOST_PAIRS
    ):
        raise TooLargeError(
            f"expected a board whose masses of all guesses fit {MAX_BYTES / 1e9:.1f} GB, got"
            f" {board}, which would need {needed / 1e9:,.1f} GB by color elimination, or"
            f" {everything:,} pairs of guess and code by brute force",
            needed=needed,
            budget=MAX_BYTES,
        )
    if chosen is Method.REPRESENTATIVES and classes is not None:
        guesses, sizes = classes.representatives, classes.sizes
    else:
        guesses, sizes = np.arange(board.n_codes), np.ones(board.n_codes, dtype=np.intp)
    operations, cost = possible[chosen]
    return MassPlan(
        board,
        chosen,
        guesses,
        sizes,
        survivors,
        operations,
        cost / 1e9,
        tuple((one, count, ns / 1e9) for one, (count, ns) in possible.items()),
    )


_MOST_PAIRS = 2**34
"""Pairs of guess and code that brute force is chosen for by itself: a minute or two."""


def _worth_it(possible: dict[Method, tuple[int, float]]) -> bool:
    """Return whether something takes longer than an elimination's start: else no maps are built."""
    return min(cost for _, cost in possible.values()) > _NANOSECONDS["start"]


def _classes(board: Board, belief: Floats, history: Sequence[Turn]) -> GuessClasses | None:
    """Return the kinds of guesses, where there are fewer than guesses and they are alike."""
    if len(history) > 1:
        return None
    guesses = [turn.guess for turn in history]
    kinds = replies_to(board, guesses[0]) if guesses else np.zeros(board.n_codes, dtype=np.uint8)
    # Permutations that leave the past guess as it is leave each code's reply to it; so a
    # belief that depends on this reply alone is invariant. (The code guessed, which may be
    # ruled out, is alone in its cell.)
    for kind in range(int(kinds.max()) + 1):
        cell = belief[kinds == kind]
        if len(cell) and cell.min() != cell.max():
            return None
    return _guess_classes(board, tuple(guesses))


@lru_cache(maxsize=16)
def _guess_classes(board: Board, guesses: tuple[tuple[int, ...], ...]) -> GuessClasses | None:
    """Return the kinds of guesses, None where finding them takes too long; kept for a few."""
    try:
        return guess_classes(board, guesses)
    except TooLargeError:
        return None
