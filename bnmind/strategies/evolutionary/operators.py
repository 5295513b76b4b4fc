"""The operators of the genetic algorithms, compiled: crossover, mutation, permutation, inversion.

Each operator changes a code in place, or writes a child, and takes its random numbers from a state
(`bnmind.mastermind.sampling.seeded_state`). The result is always a code of the board, and each of
its pegs has a color that is allowed in its position (`Choices`):

* *One-point crossover* takes the pegs before a random cut from one parent, the rest from the other.
* *Two-point crossover* takes the pegs between two random cuts from the other parent.
* *Mutation* gives a random peg a random color, or in a second form the next color.
* *Permutation* exchanges the colors of two random pegs.
* *Inversion* reverses the order of the pegs between two random positions.

On a board without repeats, a crossover may leave a color twice. The child is then repaired: the
second peg of the color gets a random color that the child lacks. A mutation exchanges two pegs if
another peg has the new color. A permutation or inversion that would put a color where it is not
allowed is not done.

References
----------
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board
from bnmind.mastermind.sampling import draw_below, draw_uniform

__all__ = [
    "Choices",
    "Rates",
    "all_choices",
    "breed",
    "choices_of",
    "draw_code",
    "invert",
    "mutate",
    "mutate_to_next",
    "one_point_crossover",
    "permute",
    "two_point_crossover",
]

_Code = NDArray[np.uint8]
_State = NDArray[np.uint64]


class Choices(NamedTuple):
    """The colors that a search tries in each position."""

    colors: NDArray[np.uint8]
    """``(pegs, k)``, the allowed colors of each position come first."""
    numbers: NDArray[np.int64]
    """``(pegs,)``, the number of allowed colors."""
    allowed: NDArray[np.bool_]
    """``(pegs, k + 1)``, whether a position may have a color; column 0 is False."""
    repeats: bool
    """Whether a color may occur twice. If not, all positions have the same allowed colors."""


class Rates(NamedTuple):
    """The probabilities of the operators, each from 0 to 1."""

    one_point: float = 0.5
    """Of one-point crossover; otherwise two-point crossover is used."""
    mutation: float = 0.03
    """Of mutation, after the crossover."""
    permutation: float = 0.03
    """Of permutation."""
    inversion: float = 0.02
    """Of inversion."""


def choices_of(board: Board, allowed: NDArray[np.bool_]) -> Choices:
    """Return choices as arrays.

    Parameters
    ----------
    board
        The board.
    allowed
        ``(pegs, k + 1)``, at least one color for each position; without repeats, the same colors
        for all positions, at least as many as pegs.
    """
    colors = np.zeros((board.pegs, board.colors), dtype=np.uint8)
    numbers = np.count_nonzero(allowed, axis=1)
    for position, row in enumerate(allowed):
        colors[position, : numbers[position]] = np.flatnonzero(row)
    return Choices(colors, numbers.astype(np.int64), allowed, board.repeats)


def all_choices(board: Board) -> Choices:
    """Return the choices that allow every color in every position."""
    allowed = np.ones((board.pegs, board.colors + 1), dtype=np.bool_)
    allowed[:, 0] = False
    return choices_of(board, allowed)


@njit
def draw_code(code: _Code, choices: Choices, state: _State) -> None:
    """Fill a code with random allowed colors; all codes of these colors are equally probable."""
    pegs = code.size
    if choices.repeats:
        for i in range(pegs):
            code[i] = choices.colors[i, draw_below(state, choices.numbers[i])]
        return
    unused = choices.colors[0].copy()
    n = choices.numbers[0]
    for i in range(pegs):
        j = i + draw_below(state, n - i)
        color = unused[j]
        unused[j] = unused[i]
        code[i] = color


@njit
def one_point_crossover(
    mother: _Code, father: _Code, child: _Code, choices: Choices, state: _State
) -> None:
    """Write into `child` the first pegs of the mother, at least one, and then the father's."""
    pegs = child.size
    cut = 1 + draw_below(state, pegs - 1) if pegs > 1 else 1
    for i in range(pegs):
        child[i] = mother[i] if i < cut else father[i]
    _repair(child, choices, state)


@njit
def two_point_crossover(
    mother: _Code, father: _Code, child: _Code, choices: Choices, state: _State
) -> None:
    """Write into `child` the mother with the father's pegs between two random positions."""
    pegs = child.size
    first, last = draw_below(state, pegs), draw_below(state, pegs)
    if first > last:
        first, last = last, first
    for i in range(pegs):
        child[i] = father[i] if first <= i <= last else mother[i]
    _repair(child, choices, state)


@njit
def mutate(code: _Code, choices: Choices, state: _State) -> None:
    """Give a random peg a random allowed color, which may be the color that it has."""
    i = draw_below(state, code.size)
    color = choices.colors[i, draw_below(state, choices.numbers[i])]
    if not choices.repeats:
        for j in range(code.size):
            if code[j] == color:
                code[j] = code[i]
    code[i] = color


@njit
def mutate_to_next(code: _Code, choices: Choices, state: _State) -> None:
    """Give a random peg the next allowed color; the first one follows the last."""
    i = draw_below(state, code.size)
    k = choices.allowed.shape[1] - 1
    color = np.int64(code[i]) % k + 1
    while not choices.allowed[i, color]:
        color = color % k + 1
    if not choices.repeats:
        for j in range(code.size):
            if code[j] == color:
                code[j] = code[i]
    code[i] = color


@njit
def permute(code: _Code, choices: Choices, state: _State) -> None:
    """Exchange the colors of two random pegs, if both are allowed there."""
    pegs = code.size
    if pegs == 1:
        return
    i = draw_below(state, pegs)
    j = draw_below(state, pegs - 1)
    if j >= i:
        j += 1
    if choices.allowed[i, code[j]] and choices.allowed[j, code[i]]:
        color = code[i]
        code[i] = code[j]
        code[j] = color


@njit
def invert(code: _Code, choices: Choices, state: _State) -> None:
    """Reverse the order of the pegs between two random positions, if that is allowed."""
    pegs = code.size
    first, last = draw_below(state, pegs), draw_below(state, pegs)
    if first > last:
        first, last = last, first
    for i in range(first, last + 1):
        if not choices.allowed[i, code[first + last - i]]:
            return
    while first < last:
        color = code[first]
        code[first] = code[last]
        code[last] = color
        first += 1
        last -= 1


@njit
def breed(
    parents: tuple[_Code, _Code], child: _Code, rates: Rates, choices: Choices, state: _State
) -> None:
    """Write a child of two parents: a crossover, then each other operator with its probability."""
    if draw_uniform(state) < rates.one_point:
        one_point_crossover(parents[0], parents[1], child, choices, state)
    else:
        two_point_crossover(parents[0], parents[1], child, choices, state)
    if draw_uniform(state) < rates.mutation:
        mutate(child, choices, state)
    if draw_uniform(state) < rates.permutation:
        permute(child, choices, state)
    if draw_uniform(state) < rates.inversion:
        invert(child, choices, state)


@njit
def _repair(code: _Code, choices: Choices, state: _State) -> None:
    """Replace colors that occur again, on a board without repeats."""
    if choices.repeats:
        return
    pegs, n = code.size, choices.numbers[0]
    used = np.zeros(choices.allowed.shape[1], dtype=np.bool_)
    double = np.zeros(pegs, dtype=np.bool_)
    n_double = 0
    for i in range(pegs):
        double[i] = used[code[i]]
        n_double += double[i]
        used[code[i]] = True
    if n_double == 0:
        return
    missing = np.zeros(n, dtype=np.uint8)
    n_missing = 0
    for j in range(n):
        color = choices.colors[0, j]
        if not used[color]:
            missing[n_missing] = color
            n_missing += 1
    for i in range(pegs):
        if double[i]:
            j = draw_below(state, n_missing)
            n_missing -= 1
            code[i] = missing[j]
            missing[j] = missing[n_missing]
