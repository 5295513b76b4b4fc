"""Tables of cases against one query a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TableError,
    TooLargeError,
)
from bnmind.junction import (
    Limits,
    compile_plan,
    complete,
    impute,
    log_likelihood,
    predict,
    predict_proba,
)
from bnmind.junction.case_answers import CaseAnswers
from bnmind.junction.case_solver import requisite
from bnmind.junction.case_tables import CaseTableWarning
from bnmind.pgm import FactorModel, Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import networks

RAIN = Variable("rain", ("no", "yes"))
WET = Variable("wet", ("no", "damp", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 0.4], [0.0, 0.6]])),
    )
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Network, pd.DataFrame]:
    """Return a network and a few cases, repeated, with missing cells and missing columns."""
    network = draw(networks(max_variables=6, max_states=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = 12 - draw(st.integers(0, 12))  # the simplest table has cases, too
    missing = draw(st.sampled_from([0.0, 0.3, 0.8]))
    shown = [v for v in network.variables if draw(st.booleans())] or [network.variables[0]]
    columns = {}
    for v in shown:
        cells = np.array(v.states, dtype=object)[rng.integers(v.n_states, size=n)]
        cells[rng.random(n) < missing] = None
        columns[v.name] = cells
    frame = pd.DataFrame(columns)
    return network, pd.concat([frame, frame.iloc[: n // 2]], ignore_index=True)


def by_row(network: Network, row: dict[str, Any], targets: list[str]) -> dict[str, Any] | None:
    """Return the marginals of targets by a query for one row; None if it is impossible."""
    try:
        answer = bnmind.posterior(
            network, {name: state for name, state in row.items() if name not in targets}, targets
        )
    except ImpossibleEvidenceError:
        return None
    return {**answer.marginals, "": answer.log_evidence}


WAYS: dict[str, dict[str, Any]] = {
    "plans": {},
    "a tree": {"MOST_PLANS": 0, "_SMALL": 0},
    "one plan": {"MOST_PLANS": 0, "_SMALL": 2**40},
    "each alone": {},
}
"""What is patched so that all cases are computed in one of the ways."""


def too_large(*model: Any, **options: Any) -> Any:
    """Return a plan that must be restricted."""
    plan = compile_plan(*model, **options)
    if options["evidence"]:
        plan.compiled.__dict__["refusal"] = TooLargeError("too large", needed=2, budget=1)
    return plan


@contextmanager
def forced(way: str) -> Iterator[None]:
    """Compute all cases in one of the ways."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "each alone":
            patch.setattr("bnmind.junction.engine_planning.compile_plan", too_large)
        for name, value in WAYS[way].items():
            patch.setattr(f"bnmind.junction.case_solver.{name}", value)
        if way != "plans":
            patch.setattr("bnmind.junction.case_solver.FEW_TARGETS", 1)
        yield


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(10))
@given(made=tables(), data=st.data())
def test_distributions_are_those_of_one_query_a_row(
    way: str, made: tuple[Network, pd.DataFrame], data: st.DataObject
) -> None:
    network, frame = made
    names = [v.name for v in network.variables]
    targets = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    product = FactorModel(network.potentials)
    model: Network | FactorModel = product if data.draw(st.booleans()) else network
    with forced(way):
        answers = predict_proba(model, frame, targets)
        likely = predict(model, frame, targets).frame
    found = answers.frame
    rows = frame.to_dict("records")
    for number, row in enumerate(rows):
        expected = by_row(network, {str(k): v for k, v in row.items()}, targets)
        if expected is None:
            assert number in answers.impossible
            assert found.iloc[number].isna().all()
            assert likely.iloc[number].isna().all()
            continue
        assert number not in answers.impossible
        for name in targets:
            got = found.iloc[number][name].to_numpy()
            np.testing.assert_allclose(got, expected[name], atol=1e-12)
            place = network.variable(name).index(likely.iloc[number][name])
            assert got[place] >= got.max() - 1e-8


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(8))
@given(made=tables())
def test_likelihoods_and_imputed_cells_are_those_of_one_query_a_row(
    way: str,
    made: tuple[Network, pd.DataFrame],
) -> None:
    network, frame = made
    with forced(way):
        logs = log_likelihood(network, frame)
        filled = impute(network, frame).frame
    assert list(filled.columns) == list(frame.columns)
    for number, row in enumerate(frame.to_dict("records")):
        cells = {str(k): v for k, v in row.items()}
        expected = by_row(network, cells, [])
        log = logs.to_series().iloc[number]
        if expected is None:
            assert math.isnan(log)
            assert number in logs.impossible
            continue
        assert log == pytest.approx(expected[""], abs=1e-9)
        posterior = bnmind.posterior(network, cells)
        for name, state in cells.items():
            if pd.notna(state):
                assert filled[name].iloc[number] == state
            else:
                p = posterior.marginals[name]
                assert p[network.variable(name).index(filled[name].iloc[number])] > p.max() - 1e-8


@settings(max_examples=examples(25))
@given(networks(functional=False), st.data())
def test_dropping_observations_that_are_not_requisite_changes_no_posterior(
    network: Network, data: st.DataObject
) -> None:
    n = len(network.variables)
    target = data.draw(st.integers(0, n - 1))
    observed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    observed[target] = False
    name = network.variables[target].name
    states = {
        v.name: data.draw(st.sampled_from(v.states))
        for v, flag in zip(network.variables, observed, strict=True)
        if flag
    }
    for model in (network, FactorModel(network.potentials, network.variables)):
        needed = requisite(model.potentials, name, states)
        kept = {other: states[other] for other in needed}
        try:
            whole = bnmind.posterior(network, states, [name])
        except ImpossibleEvidenceError:
            return
        part = bnmind.posterior(network, kept, [name])
        np.testing.assert_allclose(part.marginals[name], whole.marginals[name], atol=1e-10)


def test_the_index_and_the_kinds_of_values_are_those_of_the_user() -> None:
    number = Variable.of_integers("number", (0, 1))
    light = Variable("light", ("False", "True"))
    network = Network(
        (
            TabularCPD(number, (), np.array([0.4, 0.6])),
            TabularCPD(light, (number,), np.array([[0.9, 0.2], [0.1, 0.8]])),
            TabularCPD(RAIN, (light,), np.array([[0.9, 0.2], [0.1, 0.8]])),
        )
    )
    frame = pd.DataFrame(
        {
            "number": [1, 0, 0],
            "light": [True, False, True],
            "rain": pd.Categorical(["yes", None, "no"], categories=["yes", "no", "maybe"]),
        },
        index=["a", "b", "a"],
    )
    for name in ("number", "light", "rain"):
        found = predict(network, frame, name).frame
        assert list(found.index) == ["a", "b", "a"]
        assert found[name].dtype == frame[name].dtype
    assert predict(network, frame, "number").frame["number"].tolist() == [1, 0, 1]
    assert predict(network, frame, "light").frame["light"].tolist() == [True, False, False]
    assert impute(network, frame).frame["rain"].tolist() == ["yes", "no", "no"]
    unseen = pd.DataFrame({"rain": ["yes"], "number": pd.array([0], dtype="Int64")})
    assert predict(network, unseen, ["number", "light"]).frame.to_dict("list") == {
        "number": [1],
        "light": ["True"],
    }


def test_an_impossible_row_is_reported_and_the_others_are_answered() -> None:
    cases = pd.DataFrame({"rain": ["yes", "no", None], "wet": ["no", None, "yes"]}, index=[7, 8, 9])
    answers = log_likelihood(GARDEN, cases)
    assert answers.impossible == (7,)
    assert answers.to_series().round(3).tolist()[1:] == [-0.223, -2.12]
    assert answers.to_series().isna().tolist() == [True, False, False]
    assert "1 row of 3 has probability zero and no answer: 7" in str(answers)
    filled = impute(GARDEN, cases)
    assert filled.impossible == (7,)
    assert filled.frame.iloc[1].tolist() == ["no", "no"]
    # The target's own column is not evidence, so nothing contradicts it.
    assert predict(GARDEN, cases, "rain").frame["rain"].tolist() == ["no", "no", "yes"]


def test_impossible_rows_of_numbers_are_missing_whole_numbers() -> None:
    one, two, three = (Variable.of_integers(name, (0, 1)) for name in ("one", "two", "three"))
    network = Network(
        (
            TabularCPD(one, (), np.array([0.5, 0.5])),
            TabularCPD(two, (one,), np.eye(2)),
            TabularCPD(three, (), np.array([0.5, 0.5])),
        )
    )
    frame = pd.DataFrame({"one": [0, 1], "two": [1, 1], "three": [1, 1]})
    found = predict(network, frame, "three")
    assert found.frame["three"].isna().tolist() == [True, False]
    assert str(found.frame["three"].dtype) == "Int64"


def test_other_columns_are_reported_and_similar_names_are_suggested() -> None:
    frame = pd.DataFrame({"wett": ["no"], "rain": ["no"], "id": [4]})
    answers = predict(GARDEN, frame)
    assert answers.unused == ("wett", "id")
    assert dict(answers.close) == {"wett": ("wet",)}
    assert "2 columns are not in the model: wett, id" in answers.notes
    assert "the column wett is not a variable; did you mean wet?" in answers.notes
    with pytest.raises(TableError, match=r"no column .* wett.* did you mean wet by wett\?"):
        predict(GARDEN, frame[["wett"]], "rain")


def test_unknown_states_are_named_with_their_rows_and_columns() -> None:
    frame = pd.DataFrame({"rain": ["no", "yess"] * 8, "wet": ["no", "sodden"] * 8})
    with pytest.raises(TableError) as caught:
        predict(GARDEN, frame, "rain")
    assert caught.value.count == 16
    assert len(caught.value.problems) == 2
    assert str(caught.value).startswith("row 1, column rain: expected a state among no, yes; got")
    assert "did you mean yes?; row 1, column wet: " in str(caught.value)
    assert str(caught.value).endswith("; and 14 more")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([["no", "no"]], columns=["rain", "rain"]), "two columns"),
        (pd.DataFrame({"rain": [["no"]]}), "row 0, column rain"),
        (pd.DataFrame({"rain": [1.5]}), "row 0, column rain"),
    ],
)
def test_faulty_tables_are_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        predict(GARDEN, frame, "wet")


def test_targets_are_checked() -> None:
    frame = pd.DataFrame({"rain": ["no"], "wet": ["no"]})
    with pytest.raises(bnmind.BnmindError, match="name the targets"):
        predict(GARDEN, frame)
    with pytest.raises(bnmind.BnmindError, match="did you mean rain"):
        predict(GARDEN, frame, ["rian"])
    with pytest.raises(bnmind.BnmindError, match="each variable once"):
        predict(GARDEN, frame, ["rain", "rain"])


def test_an_empty_table_has_empty_answers() -> None:
    empty = pd.DataFrame({"wet": pd.Series([], dtype="str")})
    for answers in (
        predict(GARDEN, empty),
        predict_proba(GARDEN, empty),
        log_likelihood(GARDEN, empty),
        impute(GARDEN, empty),
    ):
        assert isinstance(answers, CaseAnswers)
        assert len(answers.frame) == 0


def test_progress_ends_at_its_total() -> None:
    frame = pd.DataFrame({"rain": ["no", None], "wet": ["no", None]})
    for function in (predict_proba, log_likelihood, impute):
        told: list[tuple[int, int | None]] = []
        options: dict[str, Any] = {"targets": ["rain"]} if function is predict_proba else {}
        function(GARDEN, frame, progress=lambda *step, told=told: told.append(step), **options)
        assert told
        assert told[-1][0] == told[-1][1]


def of_states(*states: Any) -> Network:
    """A target whose states are equally likely but for the last, which is certain if on is yes."""
    on, last = Variable("on", ("no", "yes")), np.eye(len(states))[-1]
    table = np.stack([np.full(len(states), 1 / len(states)), last], axis=1)
    target = Variable("target", tuple(map(str, states)))
    return Network((TabularCPD(on, (), np.array([0.5, 0.5])), TabularCPD(target, (on,), table)))


@pytest.mark.parametrize(
    ("states", "kind", "likely"),
    [((False, True, "unknown"), "bool", "unknown"), ((0, 1, 300), "int8", 300)],
)
def test_a_state_that_does_not_fit_the_type_of_its_column_is_kept(
    states: tuple[Any, ...], kind: str, likely: Any
) -> None:
    cases = pd.DataFrame({"on": ["yes", "yes"], "target": np.array([0, 1], dtype=kind)})
    assert predict(of_states(*states), cases, "target").frame["target"].tolist() == [likely] * 2


@pytest.mark.parametrize("kind", ["float32", "float16", "Float32", "category", object])
def test_numbers_of_low_precision_match_their_states(kind: Any) -> None:
    column = pd.Series(np.array([0.1, 0.2], dtype="float32"))
    values = pd.Series(list(column.array), dtype=object) if kind is object else column.astype(kind)
    cases = pd.DataFrame({"target": values})
    answers = predict_proba(of_states(0.1, 0.2), cases, "on").frame
    assert answers["on", "no"].round(9).tolist() == [1.0, round(1 / 3, 9)]


def test_targets_may_be_whole_numbers_as_columns_are() -> None:
    one, two = Variable("1", ("no", "yes")), Variable("2", ("no", "yes"))
    network = Network(
        (
            TabularCPD(one, (), np.array([0.8, 0.2])),
            TabularCPD(two, (one,), np.array([[0.9, 0.1], [0.1, 0.9]])),
        )
    )
    cases = pd.DataFrame({1: ["no"], 2: ["yes"]})
    assert predict(network, cases, [1]).frame[1].tolist() == ["yes"]


def test_limits_hold_for_cases_that_observe_many_sets_of_variables() -> None:
    root = Variable("root", ("no", "yes"))
    signs = [Variable(f"sign{n}", ("no", "yes")) for n in range(4)]
    rows = np.array([[0.9, 0.2], [0.1, 0.8]])
    network = Network(
        (TabularCPD(root, (), np.array([0.5, 0.5])), *(TabularCPD(s, (root,), rows) for s in signs))
    )
    cases = pd.DataFrame(
        {v.name: ["yes" if i >> n & 1 else None for i in range(16)] for n, v in enumerate(signs)}
    )
    limits = Limits(max_multiplications=1)
    with pytest.raises(TooLargeError):
        predict(network, cases, "root", limits=limits)
    with pytest.raises(TooLargeError):
        complete(network, cases, limits=limits)


def test_a_target_is_answered_alone_where_the_whole_model_is_too_large() -> None:
    roots = [Variable(f"root{n}", ("no", "yes")) for n in range(10)]
    child = Variable("child", ("no", "yes"))
    yes = np.random.default_rng(1).uniform(0.1, 0.9, size=(2,) * 10)
    network = Network(
        (
            TabularCPD(RAIN, (), np.array([0.8, 0.2])),
            TabularCPD(WET, (RAIN,), np.array([[0.8, 0.1], [0.1, 0.3], [0.1, 0.6]])),
            *(TabularCPD(root, (), np.array([0.5, 0.5])) for root in roots),
            TabularCPD(child, tuple(roots), np.array([1 - yes, yes])),
        )
    )
    cells = [["no" if i == n else None for i in range(10)] for n in range(10)]
    cases = pd.DataFrame(cells, columns=[root.name for root in roots])
    cases["child"], cases["wet"] = "yes", ["yes", "no"] * 5
    limits = Limits(max_multiplications=500)
    with pytest.raises(TooLargeError):
        log_likelihood(network, cases, limits=limits)
    found = predict_proba(network, cases, "rain", limits=limits).frame["rain", "yes"]
    np.testing.assert_allclose(found, [0.12 / 0.2, 0.02 / 0.66] * 5)


@pytest.mark.parametrize("text", ["TRUE,low", "True,low", "true,low", "FALSE,high"])
def test_truth_values_of_a_file_match_states_in_any_case(text: str) -> None:
    smoke = Variable("smoke", ("TRUE", "FALSE"))
    risk = Variable("risk", ("low", "high"))
    network = Network(
        (
            TabularCPD(smoke, (), np.array([0.3, 0.7])),
            TabularCPD(risk, (smoke,), np.array([[0.1, 0.8], [0.9, 0.2]])),
        )
    )
    frame = pd.read_csv(StringIO(f"smoke,risk\n{text}\n{text}\n"))
    states = {"smoke": text.split(",")[0].upper(), "risk": text.split(",")[1]}
    expected = bnmind.compile_model(network).log_probability(states)
    assert log_likelihood(network, frame).frame.iloc[0, 0] == pytest.approx(expected)


def test_states_that_pandas_reads_as_missing_are_suspected() -> None:
    damage = Variable("damage", ("None", "Severe"))
    network = Network((TabularCPD(damage, (), np.array([0.8, 0.2])),))
    table = "damage\nNone\nSevere\nNone\n"
    with pytest.warns(CaseTableWarning, match=r"missing: damage \(None\); if the cells held"):
        impute(network, pd.read_csv(StringIO(table)))
    whole = pd.read_csv(StringIO(table), keep_default_na=False)
    assert log_likelihood(network, whole).to_series().tolist() == pytest.approx(
        [math.log(0.8), math.log(0.2), math.log(0.8)]
    )
    known = pd.DataFrame({"damage": pd.Categorical([None, "Severe"], categories=damage.states)})
    assert impute(network, known).frame["damage"].tolist() == ["None", "Severe"]


class Columns:
    """A table of another library, which only knows how to become a data frame."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def to_pandas(self) -> Any:
        return self.table


def test_tables_of_other_libraries_and_mappings_are_read_as_data_frames() -> None:
    columns = {"rain": ["no", None], "wet": ["no", "yes"]}
    frame = pd.DataFrame(columns)
    expected = impute(GARDEN, frame).frame
    for cases in (Columns(frame), columns, Columns(columns)):
        assert impute(GARDEN, cases).frame.equals(expected)


@pytest.mark.parametrize(
    "cases", [Columns, Columns("rain"), pd.DataFrame, pd.Series(["no"], name="rain"), [["no"]], 3]
)
def test_what_is_no_table_is_refused(cases: Any) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        predict(GARDEN, cases)
    assert str(caught.value).startswith(
        "expected the cases as a pandas.DataFrame with a column for each observed variable, got "
    )


def test_columns_of_different_lengths_are_no_table() -> None:
    with pytest.raises(InvalidArgumentError, match=r"the cases are not a table: .*same length"):
        predict(GARDEN, {"rain": ["no", "yes"], "wet": ["no"]})
