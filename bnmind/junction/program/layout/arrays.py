"""A tree of cliques and the steps of its messages as arrays, for compiled code.

Lists of lists are two arrays: ``members[starts[i]:starts[i + 1]]`` is list i.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DONE_END",
    "FAILED",
    "KEYS_END",
    "MOST_LOCAL",
    "MOST_OPERANDS",
    "N_DONE",
    "N_KEYS",
    "N_REGISTERS",
    "Ints",
    "Scratch",
    "Steps",
    "TreeArrays",
    "capacity",
    "empty_steps",
    "scratch",
]

Ints: TypeAlias = NDArray[np.int64]

MOST_LOCAL = 60
"""The most variables of a contraction in compiled code, which are bits of a mask."""

MOST_OPERANDS = 32
"""The most operands of a contraction in compiled code."""

N_REGISTERS, N_KEYS, KEYS_END, N_DONE, DONE_END, FAILED = range(6)
"""Places of the counts of `Steps`."""


class TreeArrays(NamedTuple):
    """A tree and the questions about it, which the kernel does not change."""

    sizes: Ints
    """The number of states of each variable."""
    starts: Ints
    neighbors: Ints
    """The neighbors of each clique; the places in this list are the directed edges."""
    reverse: Ints
    """The opposite of each directed edge."""
    separators: Ints
    """The set of variables that is the separator of each directed edge."""
    assigned_starts: Ints
    assigned: Ints
    """The registers of the tables of each clique."""
    set_starts: Ints
    set_members: Ints
    """Sets of variables."""
    questions: Ints
    """(questions, 4) the clique; the directed edge whose two messages answer, or -1; the set that
    is kept; and the set to which the result is summed afterwards, or -1."""


class Steps(NamedTuple):
    """The steps so far."""

    counts: Ints
    steps: Ints
    """(registers, 4) for each register that a step fills, the operation, the left and the right
    register, and the cells."""
    scope_starts: Ints
    scopes: Ints
    """The variables of each register."""
    children: Ints
    """The child of each register that is a function, or -1."""
    key_starts: Ints
    keys: Ints
    """The operations as numbers, each once."""
    key_slots: Ints
    done_starts: Ints
    done: Ints
    """The operands and the set of each contraction, and its register."""
    done_slots: Ints
    messages: Ints
    """The register of each message; -1 if it is one everywhere, -2 if it is not sent."""


class Scratch(NamedTuple):
    """The present contraction. Its variables and registers are numbered locally."""

    local_of: Ints
    """The local number of each variable, or -1."""
    variables: Ints
    """The variable of each local number."""
    sizes: Ints
    """The number of states of each local number."""
    counts: Ints
    """How many variables and how many registers there are."""
    masks: Ints
    registers: Ints
    operands: Ints
    """The operands, and then what remains of them."""
    key: Ints
    waiting: Ints
    """Directed edges whose messages are waited for."""


def capacity(n_cliques: int, n_edges: int, n_questions: int) -> int:
    """Return the most steps of a tree in compiled code.

    There are three steps in a contraction of two operands, and few have many.
    """
    return 64 + 16 * (n_cliques + n_edges + 2 * n_questions)


def empty_steps(scopes: list[tuple[int, ...]], most: int, n_edges: int) -> Steps:
    """Return no steps after the registers of the inputs, with room for some."""
    n = len(scopes)
    lengths = np.fromiter(map(len, scopes), np.int64, n)
    scope_starts = np.empty(n + most + 1, np.int64)
    scope_starts[0] = 0
    np.cumsum(lengths, out=scope_starts[1 : n + 1])
    total = int(scope_starts[n])
    members = np.empty(total + 24 * most + 4096, np.int64)
    members[:total] = [v for scope in scopes for v in scope]
    slots = 1 << (2 * most).bit_length()
    counts = np.zeros(6, np.int64)
    counts[N_REGISTERS] = n
    zeros = np.zeros(1, np.int64)
    return Steps(
        counts=counts,
        steps=np.empty((n + most, 4), np.int64),
        scope_starts=scope_starts,
        scopes=members,
        children=np.full(n, -1, np.int64),
        key_starts=np.concatenate([zeros, np.empty(most, np.int64)]),
        keys=np.empty(64 * most + 4096, np.int64),
        key_slots=np.full(slots, -1, np.int64),
        done_starts=np.concatenate([zeros, np.empty(most, np.int64)]),
        done=np.empty(16 * most + 4096, np.int64),
        done_slots=np.full(slots, -1, np.int64),
        messages=np.full(n_edges, -2, np.int64),
    )


def scratch(n_variables: int, n_edges: int) -> Scratch:
    """Return the place for one contraction."""
    return Scratch(
        local_of=np.full(n_variables, -1, np.int64),
        variables=np.empty(MOST_LOCAL, np.int64),
        sizes=np.empty(MOST_LOCAL, np.int64),
        counts=np.zeros(2, np.int64),
        masks=np.empty(5 * MOST_OPERANDS, np.int64),
        registers=np.empty(5 * MOST_OPERANDS, np.int64),
        operands=np.empty(2 * MOST_OPERANDS, np.int64),
        key=np.empty(8 * MOST_LOCAL, np.int64),
        waiting=np.empty(n_edges + 1, np.int64),
    )
