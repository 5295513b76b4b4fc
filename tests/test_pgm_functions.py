"""Functions of states: values by hand, and restriction equal to slicing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidModelError
from bnmind.pgm import Addition, Equality, Function, Maximum, Minimum, Restricted
from tests.networks import functions


def evaluate(function: Function, positions: tuple[int, ...]) -> int:
    return int(function(*[np.asarray(position) for position in positions]))


def test_addition_is_a_sum_modulo() -> None:
    difference = Addition(((0, 1, 2), (0, -1)), 5, constant=1)
    assert evaluate(difference, (2, 0)) == 3
    assert evaluate(difference, (0, 1)) == 0
    assert evaluate(Addition(((0, -1),), 5), (1,)) == 4


def test_addition_counts_a_state() -> None:
    twos = Addition(((0, 1, 0), (0, 1, 0)), 3)
    counts = [evaluate(twos, pair) for pair in itertools.product(range(3), repeat=2)]
    assert counts == [0, 1, 0, 1, 2, 1, 0, 1, 0]


def test_a_modulus_is_positive() -> None:
    with pytest.raises(InvalidModelError, match="positive modulus"):
        Addition(((0, 1),), 0)


@pytest.mark.parametrize(
    ("function", "expected"), [(Minimum(), 1), (Maximum(), 3), (Equality(), 0)]
)
def test_extrema_and_delta(function: Function, expected: int) -> None:
    assert evaluate(function, (2, 1, 3)) == expected
    assert evaluate(Equality(), (2, 2, 2)) == 1


@st.composite
def restrictions(draw: st.DrawFn) -> tuple[Function, tuple[tuple[int, ...], ...]]:
    """Return a function and the states that remain of each argument."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    function, _ = draw(functions(sizes))
    kept = tuple(
        tuple(draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))) for size in sizes
    )
    return function, kept


@given(restrictions())
def test_functions_broadcast(case: tuple[Function, tuple[tuple[int, ...], ...]]) -> None:
    function, kept = case
    table = np.broadcast_to(function(*np.ix_(*kept)), [len(states) for states in kept])
    for cell in np.ndindex(table.shape):
        positions = tuple(states[i] for states, i in zip(kept, cell, strict=True))
        assert table[cell] == evaluate(function, positions)


@given(restrictions(), st.data())
def test_restricting_is_slicing(
    case: tuple[Function, tuple[tuple[int, ...], ...]], data: st.DataObject
) -> None:
    """Once, and again on what remains."""
    function, kept = case
    for restricted in (function.restrict(kept), Restricted.of(function, kept)):
        places = [tuple(range(len(states))) for states in kept if len(states) > 1]
        further = [
            tuple(data.draw(st.lists(st.sampled_from(states), min_size=1, unique=True)))
            for states in places
        ]
        twice = restricted.restrict(further)
        for cell in itertools.product(*further):
            given_places = iter(cell)
            full = tuple(
                states[next(given_places)] if len(states) > 1 else states[0] for states in kept
            )
            again = tuple(
                states.index(place)
                for states, place in zip(further, cell, strict=True)
                if len(states) > 1
            )
            assert evaluate(restricted, cell) == evaluate(function, full)
            assert evaluate(twice, again) == evaluate(function, full)


@given(restrictions(), st.data())
def test_results_that_remain_are_renumbered(
    case: tuple[Function, tuple[tuple[int, ...], ...]], data: st.DataObject
) -> None:
    function, kept = case
    seen = sorted({evaluate(function, cell) for cell in itertools.product(*kept)})
    results = tuple(data.draw(st.lists(st.sampled_from(seen), min_size=1, unique=True)))
    everything = tuple(tuple(range(max(states) + 1)) for states in kept)
    restricted = Restricted(function, everything, results)
    for cell in itertools.product(*kept):
        value = evaluate(function, cell)
        full = tuple(i for i, states in zip(cell, everything, strict=True) if len(states) > 1)
        place = evaluate(restricted, full)
        assert 0 <= place < len(results)
        if value in results:
            assert results[place] == value
