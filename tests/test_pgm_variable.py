"""Variables: valid from birth, all faults at once."""

from __future__ import annotations

import pickle

import pytest

from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.pgm import Variable


def test_states_have_positions() -> None:
    variable = Variable("H1", ("1", "2", "3"))
    assert variable.n_states == 3
    assert [variable.index(state) for state in variable.states] == [0, 1, 2]


def test_of_integers_writes_them_as_strings() -> None:
    assert Variable.of_integers("C", range(3)) == Variable("C", ("0", "1", "2"))


def test_keep_takes_the_states_in_the_order_given() -> None:
    assert Variable("a", ("x", "y", "z")).keep((2, 0)).states == ("z", "x")


def test_an_unknown_state_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="state of a among x, y; got 'z'") as caught:
        Variable("a", ("x", "y")).index("z")
    assert caught.value.known == ("x", "y")


@pytest.mark.parametrize("name", ["", "a b", "a,b", "a.b", "č", "a\n"])
def test_a_name_that_no_file_could_hold_is_refused(name: str) -> None:
    with pytest.raises(InvalidModelError, match="expected a variable name"):
        Variable(name, ("x",))


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidModelError) as caught:
        Variable("a b", ("x", "x"))
    assert len(caught.value.problems) == 2
    with pytest.raises(InvalidModelError) as caught:
        Variable(1, (0, 1))  # type: ignore[arg-type]
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("states", [(), ["x"], None])
def test_states_are_a_tuple_that_is_not_empty(states: object) -> None:
    with pytest.raises(InvalidModelError, match="expected a tuple of states"):
        Variable("a", states)  # type: ignore[arg-type]


def test_variables_are_values() -> None:
    variable = Variable("a", ("x", "y"))
    assert pickle.loads(pickle.dumps(variable)) == variable
    assert hash(variable) == hash(Variable("a", ("x", "y")))
