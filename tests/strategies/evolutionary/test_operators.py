"""Operators compared with the list of everything that they may return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.mastermind import Board
from bnmind.mastermind.random_moves import seeded_state
from bnmind.strategies import Rates
from bnmind.strategies.genetic_operators import (
    Choices,
    all_choices,
    breed,
    choices_of,
    draw_code,
    invert,
    mutate,
    one_point_crossover,
    permute,
    two_point_crossover,
)
from tests.mastermind.generators import boards, codes
from tests.modes import examples

Code = tuple[int, ...]


def state(seed: int) -> NDArray[np.uint64]:
    return seeded_state(np.random.default_rng(seed))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Board, Choices, Code, Code, int]:
    """A board, allowed colors, two codes of allowed colors, and a seed."""
    board = draw(boards())
    mother, father = draw(codes(board)), draw(codes(board))
    allowed = np.zeros((board.pegs, board.colors + 1), dtype=np.bool_)
    if board.repeats:
        extra = draw(st.lists(st.tuples(*[st.integers(0, n - 1) for n in (board.pegs,)])))
        for (position,) in extra:
            allowed[position, draw(st.integers(1, board.colors))] = True
        for i in range(board.pegs):
            allowed[i, [mother[i], father[i]]] = True
    else:
        allowed[:, [*mother, *father]] = True
    return board, choices_of(board, allowed), mother, father, draw(st.integers(0, 2**32))


def changed(code: Code, operator: Callable[..., Any], choices: Choices, seed: int) -> Code:
    result = np.array(code, dtype=np.uint8)
    operator(result, choices, state(seed))
    return tuple(result.tolist())


def child_of(
    mother: Code, father: Code, crossover: Callable[..., Any], choices: Choices, seed: int
) -> Code:
    child = np.zeros(len(mother), dtype=np.uint8)
    crossover(*(np.array(p, dtype=np.uint8) for p in (mother, father)), child, choices, state(seed))
    return tuple(child.tolist())


def is_valid(board: Board, choices: Choices, code: Code) -> bool:
    board.checked(code)
    return all(choices.allowed[i, color] for i, color in enumerate(code))


@settings(max_examples=examples(60))
@given(cases())
def test_random_codes_have_allowed_colors(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, mother, _, seed = case
    assert is_valid(board, choices, changed(mother, draw_code, choices, seed))


@settings(max_examples=examples(60))
@given(cases())
def test_a_permutation_exchanges_two_pegs(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, code, _, seed = case
    possible = {exchanged(code, *pair) for pair in combinations(range(board.pegs), 2)} or {code}
    # Where a color is not allowed in its new position, nothing happens.
    possible = {other if is_valid(board, choices, other) else code for other in possible}
    assert changed(code, permute, choices, seed) in possible


def exchanged(code: Code, i: int, j: int) -> Code:
    """Return the code with the colors of two pegs exchanged."""
    pegs = list(code)
    pegs[i], pegs[j] = code[j], code[i]
    return tuple(pegs)


def test_permutations_exchange_every_pair_of_pegs_equally_often() -> None:
    board, n = Board(4, 6), 3000
    choices, random = all_choices(board), state(2)
    counts: Counter[Code] = Counter()
    for _ in range(n):
        code = np.array([1, 2, 3, 4], dtype=np.uint8)
        permute(code, choices, random)
        counts[tuple(code.tolist())] += 1
    expected = {exchanged((1, 2, 3, 4), i, j) for i, j in combinations(range(4), 2)}
    assert set(counts) == expected
    for count in counts.values():
        assert abs(count / n - 1 / 6) < 4 * np.sqrt(5 / 36 / n)


@settings(max_examples=examples(60))
@given(cases())
def test_an_inversion_reverses_some_pegs(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, code, _, seed = case
    possible = {
        code[:i] + code[i:j][::-1] + code[j:] for j in range(board.pegs + 1) for i in range(j + 1)
    }
    result = changed(code, invert, choices, seed)
    assert result in possible
    assert is_valid(board, choices, result)


@settings(max_examples=examples(60))
@given(cases())
def test_a_mutation_changes_one_peg_or_exchanges_two(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, code, _, seed = case
    result = changed(code, mutate, choices, seed)
    assert is_valid(board, choices, result)
    differing = sum(a != b for a, b in zip(code, result, strict=True))
    assert differing <= (1 if board.repeats else 2)
    assert board.repeats or differing != 2 or sorted(code) == sorted(result)


def crossed(mother: Code, father: Code) -> tuple[set[Code], set[Code]]:
    """Return all children of one cut, and of two."""
    n = len(mother)
    one = {mother[:cut] + father[cut:] for cut in range(1, max(n, 2))}
    two = {mother[:i] + father[i : j + 1] + mother[j + 1 :] for j in range(n) for i in range(j + 1)}
    return one, two


@settings(max_examples=examples(60))
@given(cases())
def test_a_crossover_takes_every_peg_from_a_parent(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, mother, father, seed = case
    kinds = (one_point_crossover, two_point_crossover)
    for crossover, possible in zip(kinds, crossed(mother, father), strict=True):
        child = child_of(mother, father, crossover, choices, seed)
        assert is_valid(board, choices, child)
        if board.repeats:
            assert child in possible
        else:
            # The first peg of each color stays; only later ones are repaired.
            assert any(
                all(
                    made == took or took in raw[:i]
                    for i, (made, took) in enumerate(zip(child, raw, strict=True))
                )
                for raw in possible
            )


@settings(max_examples=examples(60))
@given(cases())
def test_children_are_codes_of_allowed_colors(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, mother, father, seed = case
    rates = Rates(0.5, 0.5, 0.5, 0.5)
    parents = (np.array(mother, dtype=np.uint8), np.array(father, dtype=np.uint8))
    child = np.zeros(board.pegs, dtype=np.uint8)
    breed(parents, child, rates, choices, state(seed))
    assert is_valid(board, choices, tuple(child.tolist()))


def test_rates_are_the_shares_of_the_operators() -> None:
    board = Board(6, 9)
    choices, random = all_choices(board), state(1)
    parent = np.array([1, 2, 3, 4, 5, 6], dtype=np.uint8)
    child = np.zeros(6, dtype=np.uint8)
    n, moved, recolored = 4000, 0, 0
    for _ in range(n):
        breed((parent, parent), child, Rates(0.5, 0.2, 0.1, 0.0), choices, random)
        changed_kind = not np.array_equal(np.sort(child), parent)
        recolored += changed_kind
        moved += not changed_kind and not np.array_equal(child, parent)
    # A mutation leaves the color one time in nine, and a permutation always moves two colors.
    assert abs(recolored / n - 0.2 * 8 / 9) < 4 * np.sqrt(0.16 / n)
    assert abs(moved / n - 0.1 * (1 - 0.2 * 8 / 9)) < 4 * np.sqrt(0.09 / n)
