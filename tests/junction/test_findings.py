"""Evidence as people have it: numbers, missing values, rows and columns of data frames."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
)
from bnmind.junction import (
    Plan,
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
)
from bnmind.junction.compiled_query import starting_registers
from bnmind.junction.evidence import label_of, likelihood
from bnmind.pgm import Network, TabularCPD, Variable

LEVEL = Variable("level", ("1", "2", "3"))
SOLVED = Variable("solved", ("False", "True"))
NETWORK = Network(
    (
        TabularCPD(LEVEL, (), np.array([0.5, 0.3, 0.2])),
        TabularCPD(SOLVED, (LEVEL,), np.array([[1.0, 0.5, 0.1], [0.0, 0.5, 0.9]])),
    )
)
MISSING: list[Any] = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT]


def solved_plan() -> Plan:
    return compile_plan(NETWORK, evidence=["level"], soft=["solved"], targets=[["solved"]])


@pytest.mark.parametrize("state", ["2", 2, 2.0, np.int8(2), np.float64(2)])
def test_a_state_may_be_a_number(state: Any) -> None:
    assert solved_plan().run({"level": state}).marginals["solved"].tolist() == [0.5, 0.5]
    plan = compile_plan(NETWORK, evidence=["level"]).restrict({"level": state})
    assert plan.run({}).marginals["solved"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("state", [True, np.True_, 1, "True"])
def test_a_state_may_be_a_truth_value(state: Any) -> None:
    for options in ({"evidence": ["solved"]}, {"soft": ["solved"]}):
        plan = compile_plan(NETWORK, targets=[["level"]], **options)  # type: ignore[arg-type]
        assert plan.run({"solved": state}).marginals["level"][0] == 0
        assert plan.is_possible({"solved": state})
        weights = plan.run({"solved": {state: 1.0, False: 0.0} if plan.soft else state})
        assert weights.marginals["level"][0] == 0


def test_a_likelihood_has_a_number_for_each_state() -> None:
    with pytest.raises(InvalidArgumentError, match="no number for False"):
        solved_plan().run({"level": "2", "solved": {"True": 0.2}})


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
def test_what_is_missing_of_a_soft_variable_is_nothing(nothing: Any) -> None:
    plan = solved_plan()
    found = plan.run({"level": "3", "solved": nothing})
    assert found.marginals["solved"].tolist() == pytest.approx([0.1, 0.9])
    with pytest.raises(
        InvalidArgumentError, match=r"may be missing must be soft.*soft=\['level'\]"
    ):
        plan.run({"level": nothing})
    soft = {"solved": nothing}
    assert compile_explanation(NETWORK, soft=["solved"]).run(soft).states["level"] == "1"
    assert compile_model(NETWORK).map("level", soft).states == {"level": "1"}
    sampling = compile_sampling(NETWORK, soft=["solved"])
    assert len(sampling.run(soft, n_samples=3, rng=np.random.default_rng(1))) == 3


def test_a_row_of_a_data_frame_is_evidence() -> None:
    frame = pd.DataFrame({"level": [3, 1], "solved": [True, None]})
    plan = solved_plan()
    assert plan.run(frame.iloc[0]).marginals["solved"].tolist() == [0.0, 1.0]
    assert plan.run(frame.iloc[1]).marginals["solved"].tolist() == [1.0, 0.0]
    assert plan.is_possible(frame.iloc[0])
    explained = compile_explanation(NETWORK, evidence=["level"])
    assert explained.run(frame.iloc[0][["level"]]).states == {"solved": "True"}


def test_names_may_be_whole_numbers() -> None:
    one, two = Variable("1", ("a", "b")), Variable("2", ("a", "b"))
    network = Network(
        (TabularCPD(one, (), np.array([0.5, 0.5])), TabularCPD(two, (one,), np.eye(2)))
    )
    plan = compile_plan(network, evidence=["1"])
    assert plan.run({1: "b"}).marginals["2"].tolist() == [0.0, 1.0]  # type: ignore[dict-item]
    assert plan.run(pd.Series(["b"], index=[1])).marginals["2"].tolist() == [0.0, 1.0]
    batch = plan.run_batch(pd.DataFrame({1: ["a", "b"]}))
    assert batch.marginals["2"].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InvalidArgumentError, match="the evidence names the variable '1' twice"):
        plan.run({1: "a", "1": "b"})  # type: ignore[dict-item]


def test_a_data_frame_is_a_batch_of_states() -> None:
    frame = pd.DataFrame({"level": [3, 1, 2], "solved": [True, None, False]})
    plan = solved_plan()
    found = plan.run_batch(frame).marginals["solved"]
    assert found.tolist() == [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    # In arrays, numbers are positions.
    positions = {"level": np.array([2, 0, 1]), "solved": np.array([1, -1, 0])}
    assert plan.run_batch(positions).marginals["solved"].tolist() == found.tolist()
    nothing = {"level": [2.0, 0.0, 1.0], "solved": [1, None, 0]}
    assert plan.run_batch(nothing).marginals["solved"].tolist() == found.tolist()
    texts = {"level": ["3", "1", "2"], "solved": [True, math.nan, False]}
    assert plan.run_batch(texts).marginals["solved"].tolist() == found.tolist()
    frame["level"] = frame["level"].astype("category")
    assert plan.run_batch(frame).marginals["solved"].tolist() == found.tolist()
    frame["solved"] = frame["solved"].astype("boolean")
    assert plan.run_batch(frame).marginals["solved"].tolist() == found.tolist()
    assert plan.run_batch(frame[["level"]]).marginals["solved"][0].tolist() == [0.1, 0.9]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.Series([0, 1]), "state of level in case 0 among 1, 2, 3; got 0"),
        (["1", 2], "a column of positions or a column of states for level, got '1' in case 0"),
        (["1", math.nan], "no state in case 1"),
        (["1", "4"], "state of level in case 1 among"),
        ([1, None], "no state in case 1"),
        ([[1], [2, 3]], "expected a column of states of level, one for each case, got"),
        ([object()], "a column of positions or a column of states"),
        (pd.Series([1, None]), "no state in case 1"),
        (3, "a column of states or positions for level"),
    ],
)
def test_faulty_columns_are_reported_with_the_case(column: Any, words: str) -> None:
    with pytest.raises(BnmindError, match=words):
        solved_plan().run_batch({"level": column})


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (3, "expected the evidence as a mapping"),
        ("level", "expected the evidence as a mapping"),
        (["level"], "expected the evidence as a mapping"),
        ({("level",): "1"}, r"names of variables in the evidence, got \('level',\)"),
        ({"level": [["1"]]}, "one state of level, such as '1', got"),
        ({"level": {"1": 1.0}}, "only soft evidence can be a likelihood"),
        ({"level": "1", "solved": {"True": "much"}}, "array of numbers in the likelihood"),
        ({"level": "1", "solved": {"True": 0.5, True: 0.5}}, "names a state twice"),
        ({"level": "1", "solved": {"True": [1, 2]}}, "one number for each state"),
        ({"level": "1", "solved": b"no"}, "likelihood of"),
        ({"level": "4"}, "state of level among 1, 2, 3; got '4'"),
        ({"level": 1j}, "state of level among"),
        (pd.DataFrame({"level": ["4"]}), "one state of level"),
    ],
)
def test_faulty_evidence_is_reported(evidence: Any, words: str) -> None:
    plan = solved_plan()
    for run in (plan.run, plan.is_possible, partial(starting_registers, plan.compiled)):
        with pytest.raises(BnmindError, match=words):
            run(evidence)
    with pytest.raises(BnmindError):
        plan.run_batch(evidence)
    with pytest.raises(BnmindError):
        plan.restrict(evidence)


def test_a_likelihood_may_be_a_series() -> None:
    weights = pd.Series([0.25, 1.0], index=[True, False])
    assert likelihood(SOLVED, weights).tolist() == [1.0, 0.25]


def test_impossible_cases_of_a_batch_are_nan_where_that_is_allowed() -> None:
    plan = compile_plan(NETWORK, evidence=["level", "solved"], targets=[["level"], []])
    cases = {"level": [0, 1, 0], "solved": [1, 1, 0]}
    with pytest.raises(ImpossibleEvidenceError, match="in case 0"):
        plan.run_batch(cases)
    found = plan.run_batch(cases, allow_impossible=True)
    assert found.impossible.tolist() == [0]
    assert found.log_evidence.tolist() == [-math.inf, math.log(0.15), math.log(0.5)]
    assert np.isnan(found.marginals["level"][0]).all()
    assert found.marginals["level"][1:].tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    possible = {name: column[1:] for name, column in cases.items()}
    assert plan.run_batch(possible, allow_impossible=True).impossible.size == 0


def test_an_input_must_not_have_the_name_of_soft_evidence() -> None:
    name = label_of("solved")
    with pytest.raises(
        InvalidArgumentError, match=r"name of soft evidence, got 'likelihood of solved'"
    ):
        compile_plan(NETWORK, soft=["solved"], inputs={name: ["level"]})


def test_names_like_those_of_merged_variables_do_not_mix_with_them() -> None:
    """Zero compression names a merged variable after its parts, and a variable may be called so."""
    a, b, both = (Variable(name, ("0", "1")) for name in ("a", "b", "a+b"))
    network = Network(
        (
            TabularCPD(a, (), np.array([0.5, 0.5])),
            TabularCPD(b, (a,), np.eye(2)),
            TabularCPD(both, (a, b), np.array([[[1, 0.3], [0.4, 0.1]], [[0, 0.7], [0.6, 0.9]]])),
        )
    )
    plan = compile_plan(network, targets=[["a", "b", "a+b"]], inputs={"kept": ["a", "b"]})
    kept = {"kept": np.array([[0.0, 2.0], [1.0, 3.0]])}
    small = plan.restrict({}, kept)
    np.testing.assert_allclose(small.run().joints[0], plan.run({}, kept).joints[0], atol=1e-12)


def test_unknown_variables_are_reported() -> None:
    with pytest.raises(InvalidArgumentError, match="unknown: 'rain'"):
        solved_plan().run(pd.Series({"level": 1, "rain": 2}))
