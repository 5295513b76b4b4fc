"""Plans in files: read again without a search, and refused for another model."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import bnmind.junction.triangulation.randomized as randomized
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    ModelFileError,
    TooLargeError,
)
from bnmind.junction import Limits, MinWeight, Plan, compile_plan, read_plan, write_plan
from bnmind.junction.inference.compile import fingerprint, has_code
from bnmind.pgm import (
    Factor,
    FactorModel,
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    TabularCPD,
    Variable,
)
from tests.networks import networks
from tests.qmr import qmr_network


def table(variable: Variable, parents: tuple[Variable, ...], values: object) -> TabularCPD:
    """Return a conditional distribution."""
    return TabularCPD(variable, parents, np.array(values))


RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network((table(RAIN, (), [0.8, 0.2]), table(WET, (RAIN,), [[0.9, 0.1], [0.1, 0.9]])))


def through_a_file(plan: Plan, model: Network | FactorModel, path: Path) -> Plan:
    """Return the plan after writing and reading it."""
    write_plan(plan, path)
    return read_plan(path, model)


def answers(plan: Plan) -> str:
    """Return all digits of the answers for the first state of each finding, or the error."""
    states = {v.name: v.states[0] for v in plan.evidence}
    try:
        posterior = plan.run(states)
    except ImpossibleEvidenceError as fault:
        return str(fault)
    return repr([np.asarray(joint).tolist() for joint in posterior.joints])


@settings(max_examples=15)
@given(networks())
def test_a_plan_from_a_file_is_the_plan(
    tmp_path_factory: pytest.TempPathFactory, network: Network
) -> None:
    path = tmp_path_factory.mktemp("plans") / "plan.json"
    names = [v.name for v in network.variables]
    for plan in (
        compile_plan(network),
        compile_plan(network, soft=names[:1], targets=[names[-1:], names[-2:]]),
        compile_plan(network, evidence=names[-1:], order=MinWeight()),
    ):
        again = through_a_file(plan, network, path)
        assert str(again) == str(plan)
        assert answers(again) == answers(plan)


def test_reading_does_not_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    at = {(i, j): Variable(f"x{i}{j}", ("0", "1")) for i in range(8) for j in range(8)}
    pairs = [(v, at[i + 1, j]) for (i, j), v in at.items() if i < 7]
    pairs += [(v, at[i, j + 1]) for (i, j), v in at.items() if j < 7]
    model = FactorModel(tuple(Factor(pair, rng.random((2, 2))) for pair in pairs))
    plan = compile_plan(model, evidence=["x00"])
    write_plan(plan, tmp_path / "plan.json")

    def search(*_: object, **__: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(randomized.RandomizedGreedy, "within", search)
    with pytest.raises(AssertionError, match="searched"):
        compile_plan(model, evidence=["x00"])
    assert str(read_plan(tmp_path / "plan.json", model)) == str(plan)


def test_inputs_are_kept_and_limits_are_those_of_the_reader(tmp_path: Path) -> None:
    limits = Limits(10**6, 10**7, only_restrictions=True)
    plan = compile_plan(GARDEN, evidence=["wet"], inputs={"belief": ["rain"]}, limits=limits)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json", GARDEN).limits == Limits(only_restrictions=True)
    again = read_plan(tmp_path / "plan.json", GARDEN, limits=Limits(10**5, 10**6))
    assert again.limits == Limits(10**5, 10**6, only_restrictions=True)
    assert dict(again.inputs) == {"belief": (RAIN,)}
    found = again.restrict({"wet": "yes"}).run(inputs={"belief": np.array([0.5, 0.5])})
    truth = plan.restrict({"wet": "yes"}).run(inputs={"belief": np.array([0.5, 0.5])})
    np.testing.assert_array_equal(found.marginals["rain"], truth.marginals["rain"])


def test_functions_count(tmp_path: Path) -> None:
    causes = [Variable(f"c{i}", ("no", "yes")) for i in range(3)]
    tops = [table(c, (), [0.9, 0.1]) for c in causes]
    model = Network((*tops, FunctionalCPD(WET, tuple(causes), Maximum())))
    plan = compile_plan(model, evidence=["wet"])
    again = through_a_file(plan, model, tmp_path / "plan.json")
    ours, theirs = plan.run({"wet": "yes"}), again.run({"wet": "yes"})
    np.testing.assert_array_equal(ours.marginals["c0"], theirs.marginals["c0"])
    other = Network((*tops, FunctionalCPD(WET, tuple(causes), Minimum())))
    with pytest.raises(ModelFileError, match="another model"):
        read_plan(tmp_path / "plan.json", other)


class Color(Enum):
    RED = 1
    BLUE = 2


def test_values_that_differ_have_other_fingerprints() -> None:
    values = [
        *(1, 1.0, "1", True, None, Color.RED, Color.BLUE, len, max),
        *([], [1], [[1]], [1, 1], [[1], 1], [1, [1]], ["1"]),
        *({}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, ["a", 1]),
        *(np.zeros(2), np.zeros(2, dtype=np.int64), np.zeros((2, 1)), np.zeros((1, 2)), [0.0, 0.0]),
        *(RAIN, WET, [RAIN, WET], [WET, RAIN], Maximum(), Minimum()),
    ]
    # Most of these are no potentials, but parts of some.
    found = [fingerprint([value]) for value in values]  # type: ignore[list-item]
    assert len(set(found)) == len(values)
    found = [fingerprint([value]) for value in values]  # type: ignore[list-item]
    turned: list[Any] = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    assert fingerprint(turned[:1]) == fingerprint(turned[1:]) == found[values.index(turned[0])]
    big, little = (np.arange(3.0).astype(order + "f8") for order in "><")
    assert fingerprint([big]) == fingerprint([little])  # type: ignore[list-item]


def test_functions_of_the_caller_are_found_anywhere_in_a_model() -> None:
    class Own(Maximum):
        """A function of another module."""

    for value in (Own(), [Own()], (1, {"a": [len]}), {"a": Own()}, len):
        assert has_code(value)
    for known in (Maximum(), RAIN, [GARDEN], {"a": RAIN}, "text", 1.0, None, ()):
        assert not has_code(known)


@pytest.mark.parametrize(
    "other",
    [
        Network((GARDEN.cpds[0], table(WET, (RAIN,), [[0.9, 0.2], [0.1, 0.8]]))),
        Network((table(RAIN, (), [0.8, 0.2]),)),
        Network((table(Variable("wet", ("dry", "wet")), (), [0.5, 0.5]), GARDEN.cpds[0])),
    ],
    ids=["another probability", "a variable less", "other states"],
)
def test_plans_of_another_model_are_refused(other: Network, tmp_path: Path) -> None:
    write_plan(compile_plan(GARDEN, evidence=["wet"]), tmp_path / "plan.json")
    with pytest.raises(ModelFileError, match=r"plan\.json holds a plan for another model"):
        read_plan(tmp_path / "plan.json", other)


def test_restricted_plans_are_refused(tmp_path: Path) -> None:
    plan = compile_plan(GARDEN, evidence=["wet"]).restrict({"wet": "yes"})
    with pytest.raises(InvalidArgumentError, match=r"before they are restricted.*wet"):
        write_plan(plan, tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "plan"}, "expected schema bnmind plan, got 'plan'"),
        ({"version": 2}, "got version 2, made by a newer bnmind"),
        ({"methods": []}, "a method for each order"),
        ({"orders": ["wet"]}, r"orders\.0: expected a list"),
        (
            {"targets": 3, "total_size": "4"},
            "targets: expected a list; total_size: expected a whole number",
        ),
        ({"compress": 3}, "compress: expected true or false"),
        ({"total_size": 1}, r"give .* cells instead of 1: .*another version of bnmind"),
        ({"total_size": 10**9}, "cells instead of 1,000,000,000"),
        ({"orders": [["rain", "rain", "wet"]]}, r"plan\.json is a damaged plan: .*rain"),
        ({"orders": [["zz"]]}, r"plan\.json lacks the order of a junction tree"),
        ({"orders": [], "methods": []}, "lacks the order of a junction tree"),
        ({"evidence": ["wet", "wet"]}, r"plan\.json is a damaged plan: .*wet"),
        ({"targets": [["rain", "rain"], ["wet"]]}, r"plan\.json is a damaged plan: .*rain"),
    ],
)
def test_damaged_files_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_plan(compile_plan(GARDEN), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelFileError, match=message):
        read_plan(path, GARDEN)


def test_other_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text, message in (("[]", "a plan in .*: .*a table"), ("{", "plan in .*JSON")):
        path.write_text(text)
        with pytest.raises(ModelFileError, match=message):
            read_plan(path, GARDEN)


def test_limits_of_the_reader_refuse_a_plan(tmp_path: Path) -> None:
    write_plan(compile_plan(GARDEN), tmp_path / "plan.json")
    with pytest.raises(TooLargeError, match="max_multiplications=1 "):
        read_plan(tmp_path / "plan.json", GARDEN, limits=Limits(max_multiplications=1))


@pytest.mark.parametrize(
    ("n_diseases", "n_findings", "n_trees"),
    [(12, 20, 1), (30, 60, 0)],
    ids=["a tree", "a plan for each case"],
)
def test_plans_keep_their_independent_causes(
    n_diseases: int, n_findings: int, n_trees: int, tmp_path: Path
) -> None:
    network = qmr_network(n_diseases, n_findings, np.random.default_rng(1))
    findings = [cpd.variable.name for cpd in network.cpds if not isinstance(cpd, TabularCPD)]
    plan = compile_plan(
        network, evidence=findings, targets=[["d0"]], limits=Limits(only_restrictions=True)
    )
    again = through_a_file(plan, network, tmp_path / "plan.json")
    assert repr(again) == repr(plan)
    case = dict.fromkeys(findings, "no") | {"f1": "yes"}
    assert plan.compiled.query.causes is not None
    assert len(plan.compiled.trees) == n_trees
    assert repr(again.for_case(case)) == repr(plan.for_case(case))
