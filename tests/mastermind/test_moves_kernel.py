"""Random moves on a code: they stay on the board, and have the stated probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.mastermind import Board, reply
from bnmind.mastermind.random_moves import (
    compare_codes,
    draw_below,
    draw_color_change,
    draw_pair_swap,
    draw_subset_permutation,
    draw_uniform,
    random_code,
    seeded_state,
)
from tests.mastermind.generators import boards, codes
from tests.modes import UNCOMPILED, examples

Code = tuple[int, ...]
N_DRAWS = 500 if UNCOMPILED else 10_000
DEVIATION = 4.5
"""Standard errors; one in 150,000 counts is further off by chance. Seeds are fixed."""


def state_of(seed: int) -> NDArray[np.uint64]:
    return seeded_state(np.random.default_rng(seed))


def array_of(code: Code) -> NDArray[np.uint8]:
    return np.array(code, dtype=np.uint8)


def splitmix64(seed: int) -> int:
    """The first word of SplitMix64, with the integers of Python."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@given(st.integers(0, 2**64 - 1), st.integers(1, 300))
@settings(max_examples=examples(50))
def test_random_numbers_are_those_of_splitmix64(seed: int, n: int) -> None:
    state = np.array([seed], dtype=np.uint64)
    word = splitmix64(seed)
    assert draw_uniform(state.copy()) == (word >> 11) / 2**53
    assert draw_below(state.copy(), n) == ((word >> 32) * n) >> 32
    draw_below(state, n)
    assert int(state[0]) == (seed + 0x9E3779B97F4A7C15) % 2**64


@given(st.data(), boards())
@settings(max_examples=examples(100))
def test_comparisons_are_replies(data: st.DataObject, board: Board) -> None:
    guess, code = data.draw(codes(board)), data.draw(codes(board))
    counts = np.zeros(board.colors + 1, dtype=np.int64)
    black, both = compare_codes(array_of(guess), array_of(code), counts)
    assert reply(guess, code) == (black, both - black)
    assert not counts.any()


def swaps(board: Board, code: Code) -> Counter[Code]:
    """All swaps of two pegs, one by one."""
    outcomes: Counter[Code] = Counter()
    for first, second in combinations(range(board.pegs), 2):
        changed = list(code)
        changed[first], changed[second] = code[second], code[first]
        outcomes[tuple(changed)] += 1
    return outcomes


def color_changes(board: Board, code: Code) -> Counter[Code]:
    """All changes of one color, one by one."""
    outcomes: Counter[Code] = Counter()
    for position in range(board.pegs):
        for color in {*range(1, board.colors + 1)} - {code[position]}:
            changed = list(code)
            if not board.repeats and color in code:
                changed[code.index(color)] = code[position]
            changed[position] = color
            outcomes[tuple(changed)] += 1
    return outcomes


def subset_permutations(board: Board, code: Code) -> Counter[Code]:
    """All permutations of three or more pegs, each size with the same total weight."""
    outcomes: Counter[Code] = Counter()
    for size in range(3, board.pegs + 1):
        found: Counter[Code] = Counter()
        for subset in combinations(range(board.pegs), size):
            for order in permutations(subset):
                changed = list(code)
                for position, source in zip(subset, order, strict=True):
                    changed[position] = code[source]
                found[tuple(changed)] += 1
        weight = 5040 // found.total()  # sizes of at most 6 pegs divide it, up to 4 pegs
        for outcome, count in found.items():
            outcomes[outcome] += count * weight
    return outcomes


def drawn_swap(board: Board, code: Code, state: NDArray[np.uint64]) -> Code:
    digits = array_of(code)
    first, second, color_first, color_second = draw_pair_swap(digits, state)
    assert tuple(digits) == code
    digits[first], digits[second] = color_first, color_second
    return tuple(digits.tolist())


def drawn_color_change(board: Board, code: Code, state: NDArray[np.uint64]) -> Code:
    digits = array_of(code)
    move = draw_color_change(digits, board.colors, board.repeats, state)
    assert tuple(digits) == code
    digits[move[0]], digits[move[1]] = move[2], move[3]
    return tuple(digits.tolist())


def drawn_subset_permutation(board: Board, code: Code, state: NDArray[np.uint64]) -> Code:
    digits, proposal = array_of(code), np.zeros(board.pegs, dtype=np.uint8)
    draw_subset_permutation(digits, proposal, state)
    assert tuple(digits) == code
    return tuple(proposal.tolist())


MOVES = [
    (drawn_swap, swaps),
    (drawn_color_change, color_changes),
    (drawn_subset_permutation, subset_permutations),
]
BOARDS = [Board(3, 3), Board(4, 2), Board(3, 4, repeats=False), Board(3, 3, repeats=False)]


@pytest.mark.parametrize("board", BOARDS, ids=str)
@pytest.mark.parametrize(("draw", "outcomes"), MOVES)
def test_moves_have_the_stated_probabilities(
    board: Board,
    draw: Callable[[Board, Code, NDArray[np.uint64]], Code],
    outcomes: Callable[[Board, Code], Counter[Code]],
) -> None:
    code = board.code(board.n_codes // 3)
    expected, state = outcomes(board, code), state_of(5)
    drawn = Counter(draw(board, code, state) for _ in range(N_DRAWS))
    assert set(drawn) <= set(expected)
    for outcome, weight in expected.items():
        p = weight / expected.total()
        error = (p * (1 - p) * drawn.total()) ** 0.5
        assert abs(drawn[outcome] - p * drawn.total()) <= DEVIATION * error


@given(board=boards(60))
@settings(max_examples=examples(25))
@pytest.mark.parametrize("outcomes", [swaps, color_changes])
def test_moves_are_symmetric(
    outcomes: Callable[[Board, Code], Counter[Code]], board: Board
) -> None:
    table = {board.code(i): outcomes(board, board.code(i)) for i in range(board.n_codes)}
    assert all(table[y][x] == n for x, row in table.items() for y, n in row.items())


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_random_codes_are_uniform(board: Board) -> None:
    state, digits = state_of(2), np.zeros(board.pegs, dtype=np.uint8)
    drawn: Counter[int] = Counter()
    n = N_DRAWS
    for _ in range(n):
        random_code(digits, board.colors, board.repeats, state)
        drawn[board.index(digits.tolist())] += 1
    p = 1 / board.n_codes
    error = (p * (1 - p) * n) ** 0.5
    assert all(abs(drawn[i] - n * p) <= DEVIATION * error for i in range(board.n_codes))


@given(st.data(), boards(), st.integers(0, 2**32))
@settings(max_examples=examples(60))
def test_the_state_determines_a_move_within_the_board(
    data: st.DataObject, board: Board, seed: int
) -> None:
    code = data.draw(codes(board))
    for draw, _ in MOVES:
        moved = draw(board, code, state_of(seed))
        board.checked(moved)
        assert draw(board, code, state_of(seed)) == moved
    assert sorted(drawn_swap(board, code, state_of(seed))) == sorted(code)


def test_codes_of_one_peg_only_change_color() -> None:
    board = Board(1, 4)
    assert drawn_swap(board, (3,), state_of(1)) == (3,)
    assert drawn_subset_permutation(board, (3,), state_of(1)) == (3,)
    assert {drawn_color_change(board, (3,), state_of(seed)) for seed in range(30)} == {
        (1,),
        (2,),
        (4,),
    }
