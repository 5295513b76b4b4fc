"""Distributions by the names of states: their answers are those of the array."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, UnknownNameError
from bnmind.pgm import Distribution, Variable
from tests.networks import variable_tuples

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "damp", "yes"))
WEATHER = Distribution((RAIN, WET), np.arange(6).reshape(2, 3) / 15)


@given(variable_tuples(max_size=4), st.integers(0, 2**32 - 1))
def test_labels_give_the_numbers_of_the_array(variables: tuple[Variable, ...], seed: int) -> None:
    values = np.random.default_rng(seed).random([v.n_states for v in variables])
    values /= values.sum()
    found = Distribution(variables, values)
    cells = itertools.product(*(range(v.n_states) for v in variables))
    keys = []
    for cell in cells:
        states = tuple(v.states[i] for v, i in zip(variables, cell, strict=True))
        key = states if len(variables) > 1 else states[0]
        keys.append(key)
        assert found[key] == found.to_dict()[key] == values[cell]
        assert found[dict(zip(found.names, states, strict=True))] == values[cell]
        assert found.to_series()[key] == values[cell]
    assert list(found) == list(found.keys()) == keys
    assert list(found.values()) == values.ravel().tolist()
    assert len(found) == values.size
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert hash(again) == hash(found)
    assert len(repr(found).splitlines()) <= 20


def test_states_are_found_under_numbers_and_truth_values() -> None:
    age = Distribution((Variable("age", (1, 2)),), np.array([0.25, 0.75]))  # type: ignore[arg-type]
    assert age[2] == age["2"] == 0.75
    assert 2 in age
    assert 3 not in age


def test_missing_states_have_defaults() -> None:
    assert WEATHER.get(("no", "damp")) == pytest.approx(1 / 15)
    assert WEATHER.get(("no", "snow")) is None
    assert WEATHER.get("no", 0.5) == 0.5
    assert ("no", "snow") not in WEATHER
    assert "no" not in WEATHER


@pytest.mark.parametrize(
    ("key", "kind", "message"),
    [
        (("no", "dam"), UnknownNameError, "state of wet among no, damp, yes; got 'dam'"),
        ("no", InvalidArgumentError, r"each of rain, wet, such as \('no', 'no'\), got 'no'"),
        (("no",), InvalidArgumentError, "each of rain, wet"),
        ({"rain": "no"}, InvalidArgumentError, "each of rain, wet"),
        (["no", "yes"], InvalidArgumentError, "each of rain, wet"),
    ],
)
def test_a_wrong_key_is_reported(key: object, kind: type[BnmindError], message: str) -> None:
    with pytest.raises(kind, match=message):
        WEATHER[key]


def test_equal_means_the_same_variables_and_numbers() -> None:
    turned = Distribution((WET, RAIN), WEATHER.probabilities.T)
    assert turned != WEATHER
    assert turned.isclose(WEATHER)
    assert Distribution((RAIN, WET), WEATHER.probabilities) == WEATHER
    assert WEATHER.to_dict() != WEATHER


@pytest.mark.parametrize("values", [[0.5, 0.6], [-0.5, 1.5]])
def test_values_that_do_not_sum_to_one_are_rejected(values: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="must sum to one"):
        Distribution((RAIN,), np.array(values))


def test_a_large_distribution_shows_the_largest_and_the_rest() -> None:
    many = Variable.of_integers("n", range(1000))
    values = np.zeros(1000)
    values[[7, 500]] = 0.75, 0.25
    lines = repr(Distribution((many,), values)).splitlines()
    assert len(lines) == 19
    assert lines[:3] == ["P(n)", "7           0.750", "500         0.250"]
    assert lines[-1] == "983 others  0"


def test_a_notebook_gets_a_table_without_live_markup() -> None:
    strange = Distribution((Variable("<b>", ("<i>", "x\x1b[2J")),), np.array([0.5, 0.5]))
    html = strange._repr_html_()
    assert html.startswith("<table>")
    assert "&lt;b&gt;" in html
    assert "<i>" not in html
    assert "\x1b" not in html + repr(strange)


def test_the_series_of_a_joint_has_a_level_for_each_variable() -> None:
    series = WEATHER.to_series()
    assert list(series.index.names) == ["rain", "wet"]
    assert series["yes", "damp"] == pytest.approx(4 / 15)
    assert series.name == "probability"
