"""The memory of compiled code: a tree of cliques and the steps of its messages in one array.

Compiled code counts the references to each array that a function passes on, which takes longer than
a step of the layout. So there is one array with sections. It begins with their places: the section
``S`` is ``memory[memory[S]]``, ``memory[memory[S] + 1]``, … Lists of lists are two sections: list i
begins at ``memory[memory[STARTS] + i]`` of the other section, and ends where the next one begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_LOCAL", "MOST_OPERANDS", "Ints", "empty_sections", "memory_of"]

Ints: TypeAlias = NDArray[np.int64]

MOST_LOCAL = 60
"""The most variables of a contraction in compiled code, which are bits of a mask."""

MOST_OPERANDS = 32
"""The most operands of a contraction in compiled code."""

# The tree and the questions, which do not change.
SIZES = 0
"""The number of states of each variable."""
STARTS, REVERSE, OWNERS, SEPARATORS = range(1, 5)
"""Directed edges, listed by the cliques they leave: the first of each clique, the opposite of each,
the clique it leaves, and the set of variables of its separator."""
ASSIGNED_STARTS, ASSIGNED = range(5, 7)
"""The registers of the tables of each clique."""
SET_STARTS, SET_MEMBERS = range(7, 9)
"""Sets of variables."""
QUESTIONS = 9
"""Four numbers each: the clique; the directed edge whose two messages answer, or -1; the set that
is kept; and the set to which the result is summed afterwards, or -1."""
CHILDREN = 10
"""The child of each input that is a function, or -1."""

# The steps so far.
STEPS = 11
"""Four numbers for each register: the operation, the left and the right register, and the cells."""
SCOPE_STARTS, SCOPES = range(12, 14)
"""The variables of each register."""
KEY_STARTS, KEYS, KEY_SLOTS = range(14, 17)
"""The operations, each once; and their hash table."""
DONE_STARTS, DONE, DONE_SLOTS = range(17, 20)
"""The operands, the set and the register of each contraction; and their hash table."""
MESSAGES = 20
"""The register of each message; -1 if it is one everywhere, -2 if it is not sent."""
ANSWERS = 21
"""The register of each question, or -1."""

# The present contraction. Its variables and registers have local numbers.
LOCAL_OF = 22
"""The local number of each variable, or -1."""
VARIABLES, LOCAL_SIZES = range(23, 25)
"""The variable of each local number, and its number of states."""
MASKS, REGISTERS = range(25, 27)
"""The variables of each local register, as bits of a mask, and its number."""
OPERANDS = 27
"""The operands, and then what remains of them."""
KEY = 28
"""The key of the next operation. Its first number is its length."""
WAITING = 29
"""Directed edges whose messages are waited for."""

_N_SECTIONS = 30

# Single numbers, after the places of the sections.
N_INPUTS, N_QUESTIONS, N_REGISTERS, N_KEYS, N_DONE = range(31, 36)
N_VARIABLES, N_LOCAL = range(36, 38)
"""The numbers of local variables and registers."""
FAILED = 38
"""Whether there was no room."""
_BEGIN = 40
"""The place of the first section, behind the place where the last one ends."""


def empty_sections(
    scopes: list[tuple[int, ...]], counts: tuple[int, int, int], most: int
) -> dict[int, Ints | int]:
    """Return the sections that compiled code fills, or their lengths.

    Parameters
    ----------
    scopes
        The variables of the inputs.
    counts
        The number of variables, of directed edges, and of questions.
    most
        The most steps.
    """
    n = len(scopes)
    n_variables, n_edges, n_questions = counts
    starts = np.cumsum([0, *map(len, scopes)], dtype=np.int64)
    members = np.array([v for scope in scopes for v in scope], dtype=np.int64)
    slots = np.full(1 << most.bit_length(), -1, np.int64)
    return {
        STEPS: 4 * (n + most),
        SCOPE_STARTS: _followed(starts, most),
        SCOPES: _followed(members, 12 * most + 8 * MOST_LOCAL * MOST_OPERANDS),
        KEY_STARTS: _followed(np.zeros(1, np.int64), most),
        KEYS: 12 * most + 16 * MOST_LOCAL * MOST_OPERANDS,
        KEY_SLOTS: slots,
        DONE_STARTS: _followed(np.zeros(1, np.int64), most),
        DONE: 8 * most + 4 * MOST_OPERANDS,
        DONE_SLOTS: slots,
        MESSAGES: np.full(n_edges, -2, np.int64),
        ANSWERS: n_questions,
        LOCAL_OF: np.full(n_variables, -1, np.int64),
        VARIABLES: MOST_LOCAL,
        LOCAL_SIZES: MOST_LOCAL,
        MASKS: 5 * MOST_OPERANDS,
        REGISTERS: 5 * MOST_OPERANDS,
        OPERANDS: 2 * MOST_OPERANDS,
        KEY: 8 * MOST_LOCAL,
        WAITING: n_edges + 1,
    }


def _followed(numbers: Ints, more: int) -> Ints:
    """Return numbers, with room for more of them."""
    roomy = np.empty(len(numbers) + more, np.int64)
    roomy[: len(numbers)] = numbers
    return roomy


def memory_of(sections: Mapping[int, Ints | int], n_inputs: int, n_questions: int) -> Ints:
    """Return the memory with these sections, given by their contents or their lengths."""
    lengths = [sections[i] for i in range(_N_SECTIONS)]
    places = np.cumsum([_BEGIN, *(n if isinstance(n, int) else n.size for n in lengths)])
    memory = np.empty(int(places[-1]), np.int64)
    memory[:_BEGIN] = 0
    memory[: _N_SECTIONS + 1] = places
    memory[[N_INPUTS, N_QUESTIONS, N_REGISTERS]] = n_inputs, n_questions, n_inputs
    for i, contents in sections.items():
        if not isinstance(contents, int):
            memory[places[i] : places[i + 1]] = contents.ravel()
    return memory
