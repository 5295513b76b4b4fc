"""Functions of states: values by hand, and restriction equal to slicing."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.pgm import (
    Addition,
    Equality,
    Exactly,
    Function,
    Listed,
    Maximum,
    Minimum,
    Parity,
    Restricted,
    Threshold,
)
from bnmind.pgm.functions import Positions, Stepwise, is_stepwise
from tests.networks import functions


def evaluate(function: Function, positions: tuple[int, ...]) -> int:
    return int(function(*[np.asarray(position) for position in positions]))


@st.composite
def restrictions(draw: st.DrawFn) -> tuple[Function, tuple[tuple[int, ...], ...]]:
    """Return a function and the states that remain of each argument."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    function, _ = draw(functions(sizes))
    kept = tuple(
        tuple(draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))) for size in sizes
    )
    return function, kept


def test_addition_is_a_sum_modulo() -> None:
    difference = Addition(((0, 1, 2), (0, -1)), 5, constant=1)
    assert evaluate(difference, (2, 0)) == 3
    assert evaluate(difference, (0, 1)) == 0
    assert evaluate(Addition(((0, -1),), 5), (1,)) == 4


def test_addition_counts_a_state() -> None:
    twos = Addition(((0, 1, 0), (0, 1, 0)), 3)
    counts = [evaluate(twos, pair) for pair in itertools.product(range(3), repeat=2)]
    assert counts == [0, 1, 0, 1, 2, 1, 0, 1, 0]


@pytest.mark.parametrize("signs", [None, (1, -1, 1), (-2, 3, 0)])
def test_a_sum_of_positions_starts_at_zero(signs: tuple[int, ...] | None) -> None:
    sizes = (2, 3, 4)
    function = Addition.of(sizes, signs=signs)
    values = {
        cell: sum(s * i for s, i in zip(signs or (1, 1, 1), cell, strict=True))
        for cell in itertools.product(*map(range, sizes))
    }
    least = min(values.values())
    assert function.modulus == max(values.values()) - least + 1
    assert all(evaluate(function, cell) == value - least for cell, value in values.items())


def test_a_sign_for_each_argument() -> None:
    with pytest.raises(InvalidModelError, match="expected 2 signs, got 1"):
        Addition.of([2, 2], signs=[1])


@given(restrictions())
def test_counts(case: tuple[Function, tuple[tuple[int, ...], ...]]) -> None:
    _, kept = case
    sizes = [max(states) + 1 for states in kept]
    counting = Addition.counting(sizes, kept)
    for cell in itertools.product(*map(range, sizes)):
        number = sum(i in states for i, states in zip(cell, kept, strict=True))
        assert evaluate(counting, cell) == number
        for wanted in range(-1, len(kept) + 2):
            assert evaluate(Threshold(wanted, kept), cell) == (number >= wanted)
            assert evaluate(Exactly(wanted, kept), cell) == (number == wanted)
        assert evaluate(Parity(), cell) == sum(cell) % 2
        present = sum(i > 0 for i in cell)
        assert evaluate(Threshold(2), cell) == (present >= 2)
        assert evaluate(Exactly(2), cell) == (present == 2)


def test_positions_that_count_are_given_for_each_argument() -> None:
    with pytest.raises(InvalidModelError, match="expected 1 arguments, got 2"):
        evaluate(Threshold(1, ((1,),)), (0, 1))


@given(restrictions(), st.data())
def test_steps_lead_to_the_result(
    case: tuple[Function, tuple[tuple[int, ...], ...]], data: st.DataObject
) -> None:
    """For the function on some states, and for what a restriction leaves of it."""
    function, kept = case
    smaller = function.restrict(kept)
    rest = [range(len(states)) for states in kept if len(states) > 1]
    for one, states in ((function, kept), (smaller, rest), (Restricted.of(function, kept), rest)):
        assert is_stepwise(one)
        assert isinstance(one, Stepwise)
        steps = one.steps(states)
        cells = list(itertools.product(*map(range, map(len, states))))
        found = {}
        for cell in cells:
            state = 0
            for move, place in zip(steps.moves, cell, strict=True):
                state = move[state, place]
            positions = tuple(kept[i] for kept, i in zip(states, cell, strict=True))
            found[cell] = int(steps.results[state]) if cell else evaluate(one, ())
            assert found[cell] == evaluate(one, positions)
        assert steps.possible_results() == tuple(sorted(set(found.values())))
        wanted = data.draw(st.sets(st.sampled_from(sorted(set(found.values())))))
        for axis, there in enumerate(steps.supports(wanted)):
            for place, possible in enumerate(there):
                cells = [c for c, r in found.items() if c[axis] == place and r in wanted]
                assert possible == bool(cells)


def test_custom_functions_need_no_steps() -> None:
    class Own:
        def __call__(self, *arguments: Positions) -> Positions:
            return arguments[0]

        def restrict(self, states: Sequence[Sequence[int]]) -> Function:
            return Restricted.of(self, states)

    own = Own().restrict([(0, 2)])
    assert not is_stepwise(own)
    with pytest.raises(InvalidModelError, match="computed in steps"):
        Restricted.of(Own(), [(0, 2)]).steps([(0, 1)])


@pytest.mark.parametrize("results", [[0.5], [-1], True, []])
def test_listed_results_are_positions(results: object) -> None:
    with pytest.raises(InvalidModelError, match=r"Listed: expected .*result"):
        Listed(results)  # type: ignore[arg-type]


def test_a_listed_function_keeps_its_own_results() -> None:
    given = np.array([[0, 1], [2, 0]])
    function = Listed(given)
    given[0, 0] = 5
    assert evaluate(function, (0, 0)) == 0
    for one in (function, pickle.loads(pickle.dumps(function))):
        assert one == function
        assert hash(one) == hash(function)
        assert not one.results.flags.writeable
    assert function != Listed([[0, 1], [2, 1]])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="expected 2 arguments, got 1"):
        evaluate(function, (0,))


def test_a_modulus_is_positive() -> None:
    with pytest.raises(InvalidArgumentError, match="modulus to be a whole number of at least 1"):
        Addition(((0, 1),), 0)


@pytest.mark.parametrize(
    ("function", "expected"), [(Minimum(), 1), (Maximum(), 3), (Equality(), 0)]
)
def test_extrema_and_delta(function: Function, expected: int) -> None:
    assert evaluate(function, (2, 1, 3)) == expected
    assert evaluate(Equality(), (2, 2, 2)) == 1


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
