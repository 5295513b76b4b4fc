"""Plans for the reply masses of all guesses: the cheapest of three algorithms.

All three algorithms give the same numbers. Brute force sums over the codes of positive belief,
one guess at a time; it is best when few codes are left. Representatives apply brute force to one
guess of each equivalence class; this pays at the first and the second guess, where symmetry is
large. Color elimination has the same cost whatever the belief.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, number_array
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.color_elimination import (
    elimination_additions,
    elimination_bytes,
    least_additions,
    map_bytes,
    map_entries,
    masses_by_elimination,
)
from bnmind.mastermind.masses.guess_symmetry import GuessClasses, guess_classes
from bnmind.mastermind.masses.reply_table import replies_to, reply_masses, reply_rows

__all__ = ["MAX_BYTES", "MassPlan", "Method", "Way", "plan_masses"]

MAX_BYTES = 2**32
"""The largest memory of an elimination, in bytes."""

_SECONDS = {
    "table": 0.6e-9,
    "no table": 0.65e-9,
    "no table guess": 5e-8,
    "map entry": 2.5e-7,
    "elimination": 0.18e-9,
    "plain": 3e-9,
    "plain guess": 3e-5,
}
"""Approximate seconds for one operation, or for one guess without compiled code."""

_START = 1e-4
"""Minimal seconds of an elimination."""

_LOADING = 0.8
"""Seconds for a new process to load compiled code."""

_MOST_OPERATIONS = 2**34
"""The largest number of operations, a minute or two, unless the caller forces a method."""

_TABLE_CODES = 2**11
"""Up to this number of codes, a table of all replies is used."""

_PARALLEL = 10**8
"""From this number of additions on, an elimination uses two threads."""


class Method(Enum):
    """An algorithm for the masses."""

    BRUTE_FORCE = "brute force over the codes that have belief"
    REPRESENTATIVES = "brute force for one guess of each kind"
    ELIMINATION = "color elimination"


@dataclass(frozen=True)
class Way:
    """A method that the planner considered, and its cost."""

    method: Method
    compiled: bool
    """Whether the method uses compiled code."""
    operations: int
    """Number of additions."""
    seconds: float
    """Approximate duration."""

    def __str__(self) -> str:
        plain = "" if self.compiled else ", not compiled"
        return (
            f"{self.method.value}{plain}: {counted(self.operations, 'operation')}, about"
            f" {1e3 * self.seconds:.2g} ms"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MassPlan(Value):
    """The method for the masses and its cost; made by `plan_masses`."""

    board: Board
    """The board."""
    way: Way
    """The method chosen."""
    guesses: NDArray[np.intp]
    """The guesses whose masses are computed, indices of codes, ascending."""
    sizes: NDArray[np.intp]
    """The number of guesses that each of them represents."""
    survivors: int
    """Number of codes of positive belief."""
    considered: tuple[Way, ...]
    """All methods that the planner considered."""

    def __str__(self) -> str:
        lines = [f"{len(self.guesses):,} guesses, {counted(self.survivors, 'code')} with belief"]
        return "\n".join(lines + [f"{'*' if w == self.way else ' '} {w}" for w in self.considered])

    @property
    def method(self) -> Method:
        """The method chosen."""
        return self.way.method

    @property
    def operations(self) -> int:
        """The planned number of additions."""
        return self.way.operations

    @property
    def actual_operations(self) -> int:
        """The actual number of additions: an elimination also fills unused lanes."""
        if self.method is Method.ELIMINATION:
            return elimination_additions(self.board, padded=True)
        return self.operations

    def run(self, belief: Floats) -> Floats:
        """Return the belief mass of each true reply to each guess of the plan.

        Parameters
        ----------
        belief
            ``(n_codes,)``, not negative; the belief that the plan was made for.
        """
        if not self.way.compiled:
            return _plain_masses(self.board, belief, self.guesses)
        if self.method is not Method.ELIMINATION:
            return reply_masses(self.board, belief, self.guesses)
        threads = 2 if self.operations >= _PARALLEL and (os.cpu_count() or 1) > 1 else 1
        return masses_by_elimination(self.board, belief, threads=threads)


@checked
def plan_masses(
    board: Board,
    belief: Floats,
    *,
    history: Sequence[Turn] = (),
    method: Method | None = None,
    once: bool = False,
    every_guess: bool = False,
) -> MassPlan:
    """Return the cheapest way to compute the masses of all guesses.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    history
        The turns so far. Representatives are possible for at most one turn, and only if the
        belief depends on nothing but its reply. The function checks this, so any prior is safe.
    method
        Force this method.
    once
        Whether the process has no other use for compiled code and index maps. The cost then
        includes the time to load and to build them, and small tasks avoid them.
    every_guess
        Whether to return all guesses rather than representatives of equivalent guesses.

    Raises
    ------
    TooLargeError
        If no method fits the limits, or the forced one does not; the error says what would be
        needed.

    Examples
    --------
    >>> uniform = np.full(1296, 1 / 1296)
    >>> plan = plan_masses(Board(4, 6), uniform)
    >>> plan.method.name, plan.guesses.tolist(), plan.sizes.tolist()
    ('REPRESENTATIVES', [0, 1, 7, 8, 51], [6, 120, 90, 720, 360])
    """
    belief = number_array(belief, "the belief")
    survivors = int(np.count_nonzero(belief))
    classes = None if every_guess else _classes(board, belief, history)
    ways = _brute_force(board, Method.BRUTE_FORCE, board.n_codes, survivors, once)
    if classes is not None:
        n_guesses = len(classes.representatives)
        ways += _brute_force(board, Method.REPRESENTATIVES, n_guesses, survivors, once)
    needed = elimination_bytes(board, threads=2) + map_bytes(board)
    # Index maps are not built where brute force is known to be faster without them.
    is_worthwhile = method is Method.ELIMINATION or (
        min(way.seconds for way in ways)
        > _elimination_seconds(board, least_additions(board), once=once)
    )
    # The exact number of additions needs the index maps, which take half a minute at seven pegs.
    least = least_additions(board) * (board.pegs if board.repeats else 1)
    fits = method is Method.ELIMINATION or least <= _MOST_OPERATIONS
    if needed <= MAX_BYTES and is_worthwhile and fits:
        padded = elimination_additions(board, padded=True)
        seconds = _elimination_seconds(board, padded, once=once)
        ways.append(Way(Method.ELIMINATION, True, elimination_additions(board), seconds))
    possible = [
        way
        for way in ways
        if way.method is method or (method is None and way.operations <= _MOST_OPERATIONS)
    ]
    if not possible:
        raise _too_large(board, needed, board.n_codes * survivors)
    way = min(possible, key=lambda one: one.seconds)
    if way.method is Method.REPRESENTATIVES and classes is not None:
        guesses, sizes = classes.representatives, classes.sizes
    else:
        guesses, sizes = np.arange(board.n_codes), np.ones(board.n_codes, dtype=np.intp)
    return MassPlan(
        board=board,
        way=way,
        guesses=guesses,
        sizes=sizes,
        survivors=survivors,
        considered=tuple(ways),
    )


def _too_large(board: Board, needed: int, pairs: int) -> TooLargeError:
    """Return the error for a board whose guesses no method can evaluate."""
    is_memory = needed > MAX_BYTES
    elimination = (
        f"{needed / 1e9:,.1f} GB of at most {MAX_BYTES / 1e9:.1f} GB"
        if is_memory
        else f"more than {_MOST_OPERATIONS:,} additions"
    )
    return TooLargeError(
        f"the board {board} is too large to evaluate all guesses: color elimination would need"
        f" {elimination}, and brute force {pairs:,} of at most {_MOST_OPERATIONS:,} pairs of guess"
        " and code; use a strategy with samples, such as entropy-sampled, or evaluate guesses when"
        " fewer codes are left",
        needed=needed if is_memory else pairs,
        budget=MAX_BYTES if is_memory else _MOST_OPERATIONS,
    )


def _elimination_seconds(board: Board, padded_additions: int, *, once: bool) -> float:
    """Return the approximate seconds of an elimination; unused lanes cost as much as used ones.

    With `once`, they include the time to build the index maps.
    """
    before = _LOADING + map_entries(board) * _SECONDS["map entry"] if once else 0.0
    return padded_additions * _SECONDS["elimination"] + _START + before


def _brute_force(
    board: Board, method: Method, n_guesses: int, survivors: int, once: bool
) -> list[Way]:
    operations = n_guesses * survivors
    if board.n_codes <= _TABLE_CODES:
        seconds = operations * _SECONDS["table"]
    else:
        seconds = operations * _SECONDS["no table"] + n_guesses * _SECONDS["no table guess"]
    ways = [Way(method, True, operations, seconds + once * _LOADING)]
    if once:
        plain = seconds + n_guesses * _SECONDS["plain guess"] + operations * _SECONDS["plain"]
        ways.append(Way(method, False, operations, plain))
    return ways


def _plain_masses(board: Board, belief: Floats, guesses: NDArray[np.intp]) -> Floats:
    """Return the masses of some guesses, computed with NumPy only."""
    n_replies = len(board.true_replies)
    codes = np.flatnonzero(belief)
    weights = belief[codes]
    masses = np.empty((len(guesses), n_replies))
    for row, replies in zip(masses, reply_rows(board, guesses), strict=True):
        row[:] = np.bincount(replies[codes], weights=weights, minlength=n_replies)
    return masses


def _classes(board: Board, belief: Floats, history: Sequence[Turn]) -> GuessClasses | None:
    """Return the classes of equivalent guesses, or None if the belief is not symmetric."""
    if len(history) > 1:
        return None
    guesses = [turn.guess for turn in history]
    kinds = replies_to(board, guesses[0]) if guesses else np.zeros(board.n_codes, dtype=np.uint8)
    # Permutations that fix the previous guess also fix each code's reply to it. A belief that
    # depends only on this reply is therefore invariant. (The guessed code, which may be excluded,
    # is the only code of its reply.)
    for kind in range(int(kinds.max()) + 1):
        cell = belief[kinds == kind]
        if len(cell) and cell.min() != cell.max():
            return None
    return _guess_classes(board, tuple(guesses))


@lru_cache(maxsize=16)
def _guess_classes(board: Board, guesses: tuple[tuple[int, ...], ...]) -> GuessClasses | None:
    """Return the classes of equivalent guesses (cached), or None if the search takes too long."""
    try:
        return guess_classes(board, guesses)
    except TooLargeError:
        return None
