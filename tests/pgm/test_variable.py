"""Variables: valid from birth, all faults at once."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.pgm import Variable
from bnmind.pgm.variable import name_fault


def test_states_have_positions() -> None:
    variable = Variable("H1", ("1", "2", "3"))
    assert variable.n_states == 3
    assert [variable.index(state) for state in variable.states] == [0, 1, 2]


def test_of_integers_writes_them_as_strings() -> None:
    assert Variable.of_integers("C", range(3)) == Variable("C", ("0", "1", "2"))


def test_keep_takes_the_states_in_the_order_given() -> None:
    variable = Variable("a", ("x", "y", "z"))
    assert variable.keep((2, 0)).states == ("z", "x")
    assert variable.keep(range(3)) is variable


def test_an_unknown_state_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="state of a among x, y; got 'z'") as caught:
        Variable("a", ("x", "y")).index("z")
    assert caught.value.known == ("x", "y")


@pytest.mark.parametrize(
    "name",
    ["a b", "item.1", "Hören", "No. of people", "1", " a ", "(x|y)", "\u00a0", "名前", "👩‍🔬"],
)
def test_any_text_in_one_line_is_a_name(name: str) -> None:
    assert name_fault(name) is None
    assert Variable(name, ("x",)).name == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "must not be empty"),
        ("a\n", r"line breaks, such as '\\n'"),
        ("\x1b[1m", "control characters"),
        ("a\u2028b", "line breaks"),
        ("\ud800", "control characters"),
        (1.5, "must be text, not float"),
        (True, "must be text, not bool"),
        (None, "must be text, not NoneType"),
    ],
)
def test_names_must_fit_on_a_line(name: Any, words: str) -> None:
    assert name_fault(name) is not None
    with pytest.raises(InvalidModelError, match=f"expected a variable name, got .*{words}"):
        Variable(name, ("x",))


def test_whole_numbers_and_truth_values_become_text() -> None:
    variable = Variable(3, [0, True, np.int64(2), np.bool_(False), 0.5])  # type: ignore[arg-type]
    assert variable == Variable("3", ("0", "True", "2", "False", "0.5"))
    assert all(type(text) is str for text in (variable.name, *variable.states))


def test_a_state_is_found_by_an_equal_number() -> None:
    numbers = Variable("a", ("0", "1", "2"))
    assert [numbers.index(s) for s in (1, 1.0, True, np.int8(1), np.True_, "1")] == [1] * 6
    truths = Variable("b", ("False", "True"))
    assert [truths.index(s) for s in (True, 1, 1.0, np.True_, "True")] == [1] * 5
    assert Variable("c", ("1.0", "2.5")).index(1) == 0
    assert Variable("d", ("True", "1")).index(1) == 1


@pytest.mark.parametrize("state", [2, "2", 0.5, None, math.nan, ("0",), [0], 10**400, b"0"])
def test_values_that_equal_no_state_are_rejected(state: object) -> None:
    with pytest.raises(UnknownNameError, match="state of a among 0, 1"):
        Variable("a", ("0", "1")).index(state)


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(InvalidModelError) as caught:
        Variable("a\tb", ("x", "x"))
    assert len(caught.value.problems) == 2
    with pytest.raises(InvalidModelError) as caught:
        Variable(None, (0, None))  # type: ignore[arg-type]
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("states", ["no", None, 2, {"no": 0.5}, b"no"])
def test_states_are_several(states: Any) -> None:
    with pytest.raises(InvalidModelError, match="expected the states of 'a', such as"):
        Variable("a", states)


def test_a_variable_has_at_least_one_state() -> None:
    with pytest.raises(InvalidModelError, match="expected the states of 'a', such as"):
        Variable("a", ())


def test_states_may_be_anything_that_a_file_can_hold() -> None:
    assert Variable("a", ("", "a\nb", "\x1b", "ä")).n_states == 4
    with pytest.raises(InvalidModelError, match=r"whole characters, .* as states of 'a'"):
        Variable("a", ("x", "\ud800"))


def test_a_list_of_states_is_copied() -> None:
    states = ["x", "y"]
    variable = Variable("a", states)  # type: ignore[arg-type]
    states.append("z")
    assert variable.states == ("x", "y")


def test_variables_are_values() -> None:
    variable = Variable("a", ("x", "y"))
    assert pickle.loads(pickle.dumps(variable)) == variable
    assert hash(variable) == hash(Variable("a", ("x", "y")))
