"""Posteriors by the names of variables and states: their answers are those of the arrays."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, UnknownNameError
from bnmind.junction import Posterior, compile_plan
from bnmind.pgm import Factor, Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import networks

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)


def garden() -> Posterior:
    return compile_plan(GARDEN, targets=[["rain", "wet"], ["rain"]]).run()


@settings(max_examples=examples(30))
@given(networks(max_variables=5), st.data())
def test_labels_give_the_numbers_of_the_arrays(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    target = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3))
    posterior = compile_plan(network, targets=[target, *[[name] for name in names]]).run()
    assert set(posterior) == set(names)
    assert len(posterior) == len(names)
    for name, distribution in posterior.items():
        assert distribution is not None
        assert [distribution[state] for state in network.variable(name).states] == (
            posterior.marginals[name].tolist()
        )
    some = data.draw(st.permutations(target))
    some = some[: data.draw(st.integers(1, len(some)))]
    joint = posterior.joint(*some)
    found = posterior[tuple(some)]
    assert found.names == tuple(some)
    np.testing.assert_allclose(found.probabilities, joint.values, atol=1e-12)
    for cell in itertools.product(*(range(v.n_states) for v in joint.scope)):
        states = {v.name: v.states[i] for v, i in zip(joint.scope, cell, strict=True)}
        assert found[states] == pytest.approx(float(joint.values[cell].real), abs=1e-12)
    assert len(repr(posterior).splitlines()) <= 20


def test_a_variable_of_a_joint_target_has_a_distribution_too() -> None:
    posterior = garden()
    assert posterior["wet"]["yes"] == pytest.approx(0.26)
    assert posterior["wet", "rain"]["yes", "no"] == pytest.approx(0.08)
    assert posterior["rain"].to_dict() == pytest.approx({"no": 0.8, "yes": 0.2})
    assert list(posterior) == ["rain", "wet"]


def test_the_arrays_are_one_attribute_away() -> None:
    posterior = garden()
    np.testing.assert_array_equal(posterior["rain"].probabilities, posterior.marginals["rain"])
    np.testing.assert_array_equal(posterior["rain", "wet"].probabilities, posterior.joints[0])
    with pytest.raises(ValueError, match="read-only"):
        posterior["wet"].probabilities[0] = 1.0


def test_variables_named_by_numbers_are_found_under_them() -> None:
    network = Network((TabularCPD(Variable("7", (0, 1)), (), np.array([0.5, 0.5])),))  # type: ignore[arg-type]
    posterior = compile_plan(network).run()
    assert posterior[7][1] == 0.5  # type: ignore[index]


@pytest.mark.parametrize(
    ("key", "kind", "message"),
    [
        ("rian", UnknownNameError, "variable among rain, wet; got 'rian'"),
        (("rain", "wett"), UnknownNameError, "variable among rain, wet; got 'wett'"),
        (("rain", "rain"), InvalidArgumentError, "each variable once, got rain, rain"),
        (["rain", "wet"], InvalidArgumentError, "a tuple of names, got"),
        (None, InvalidArgumentError, "a tuple of names, got None"),
    ],
)
def test_a_wrong_name_is_reported(key: str, kind: type[BnmindError], message: str) -> None:
    with pytest.raises(kind, match=message):
        garden()[key]
    assert key not in garden()
    assert garden().get(key) is None


def test_variables_of_different_targets_have_no_joint() -> None:
    posterior = compile_plan(GARDEN).run()
    with pytest.raises(UnknownNameError, match="within one target"):
        posterior["rain", "wet"]
    assert ("rain", "wet") not in posterior


def test_equal_means_the_same_answer() -> None:
    first, second = garden(), garden()
    assert first == second == pickle.loads(pickle.dumps(first))
    assert hash(first) == hash(second)
    assert first != compile_plan(GARDEN).run()
    assert first != first.to_dict()


def test_a_terminal_shows_a_line_for_each_target() -> None:
    assert repr(garden()).splitlines() == [
        "Posterior(2 targets, log_evidence=0)",
        "rain, wet  no,no 0.720  no,yes 0.080  yes,no 0.020  yes,yes 0.180",
        "rain       no 0.800     yes 0.200",
    ]


def test_a_large_posterior_shows_its_first_targets() -> None:
    variables = [Variable(f"x{i}", [f"state {j}" for j in range(50)]) for i in range(99)]  # type: ignore[arg-type]
    posterior = Posterior(
        tuple((v,) for v in variables), tuple(np.full(50, 0.02) for _ in variables), 0.0
    )
    lines = repr(posterior).splitlines()
    assert len(lines) == 19
    assert max(map(len, lines)) < 80
    assert lines[1].endswith("…")
    assert lines[-1] == "… and 82 more"
    assert posterior._repr_html_().count("<tr>") == 51


def test_a_notebook_gets_a_table_without_live_markup() -> None:
    strange = Variable("<b>", ("<i>", "x\x1b[2J"))
    posterior = Posterior(((strange,),), (np.array([0.5, 0.5]),), 0.0)
    html = posterior._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<i>" not in html
    assert "\x1b" not in html + repr(posterior)


def test_tables_of_pandas_hold_the_same_numbers() -> None:
    posterior = garden()
    series = posterior.to_series()
    assert series["wet", "yes"] == posterior["wet"]["yes"]
    frame = posterior.to_frame()
    assert list(frame.columns) == ["variable", "state", "probability"]
    assert frame.loc[frame.state == "yes", "variable"].tolist() == ["rain", "wet"]
    assert frame.probability.tolist() == series.tolist()


def test_a_batch_has_a_frame_of_cases_and_states() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"], targets=[["rain"]])
    batch = plan.run_batch({"wet": ["yes", "no", "yes"]})
    frame = batch.to_frame("rain")
    assert list(frame.columns) == ["no", "yes"]
    assert frame.columns.name == "rain"
    np.testing.assert_array_equal(frame.to_numpy(), batch.marginals["rain"])
    with pytest.raises(UnknownNameError, match="rain; got 'rian'"):
        batch.to_frame("rian")


def test_complex_numbers_of_rounding_are_left_out() -> None:
    posterior = Posterior(((RAIN,),), (np.array([0.25 + 1e-17j, 0.75]),), 0.0)
    assert posterior["rain"]["no"] == 0.25
    assert Factor((RAIN,), posterior["rain"].probabilities).values.dtype == np.float64
