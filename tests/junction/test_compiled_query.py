"""Compiled queries are plain data, and a plan is a thin interface above one."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import pytest

import bnmind.junction.assembly as assembly
import bnmind.junction.plan as answering
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import Plan, compile_plan
from bnmind.junction.compiled_query import CompiledQuery, starting_registers
from bnmind.junction.plan import conflict, without_signs
from bnmind.pgm import FunctionalCPD, Network, TabularCPD, Variable
from bnmind.rank_one import factorize
from tests import examples

FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, partial)
VOTES = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(12))
ELECTION = Network(
    (
        *(TabularCPD(vote, (), np.array([0.98, 0.02])) for vote in VOTES),
        FunctionalCPD.sum_of("total", VOTES),
    )
)


def signed_plan() -> Plan:
    """Return a plan whose terms cancel where the evidence is improbable."""
    return compile_plan(
        factorize(ELECTION, "total"), evidence=["total"], targets=[["vote0"], ["vote1"]]
    )


def parts(value: Any) -> Iterator[Any]:
    """Yield a value and all that it holds: fields, items, keys."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from parts(key)
            yield from parts(item)
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from parts(item)


@pytest.mark.parametrize(
    "plan",
    [examples.plan(), examples.plan().restrict({"count": "1"}, examples.KEPT), signed_plan()],
    ids=repr,
)
def test_a_compiled_query_holds_no_functions(plan: Plan) -> None:
    held = list(parts(plan.compiled))
    assert any(isinstance(part, np.ndarray) for part in held)
    assert [part for part in held if isinstance(part, FUNCTIONS)] == []


def test_a_plan_holds_nothing_but_its_compiled_query() -> None:
    assert [field.name for field in fields(Plan)] == ["compiled"]
    # `to_dict` is a method of every result.
    own = [name for name in dir(examples.plan()) if not name.startswith("_") and name != "to_dict"]
    assert len(own) <= 22


def test_a_copy_from_a_pickle_plans_again() -> None:
    plan = examples.plan()
    copy = pickle.loads(pickle.dumps(plan))
    assert isinstance(copy.compiled, CompiledQuery)
    seen = {"count": "1", "wet": [0.5, 0.5, 1]}
    assert str(plan) == str(copy)
    assert str(plan.restrict({"count": "1"})) == str(copy.restrict({"count": "1"}))
    one, other = plan.for_case(seen, examples.KEPT).run(), copy.for_case(seen, examples.KEPT).run()
    assert one.log_evidence == other.log_evidence


def test_planning_again_leaves_the_compiled_query_as_it_is() -> None:
    plan = signed_plan()
    compiled = plan.compiled
    before = pickle.dumps(compiled)
    small = plan.restrict({"total": "3"}).compiled
    plain = without_signs(compiled, {"total": "3"}, {})
    assert pickle.dumps(compiled) == before
    assert plain is not None
    assert not plain.is_signed
    assert small.savings.total_size_before == compiled.total_size
    assert small.query.fixed == {"total": "3"}


def test_registers_are_a_pure_function_of_the_evidence() -> None:
    compiled = signed_plan().compiled
    first = starting_registers(compiled, {"total": "3"})
    starting_registers(compiled, {"total": "5"})
    for one, other in zip(first, starting_registers(compiled, {"total": "3"}), strict=True):
        np.testing.assert_array_equal(one, other)


def test_impossible_findings_are_named_wherever_they_are_noticed() -> None:
    votes = [vote.name for vote in VOTES[:2]]
    plan = compile_plan(ELECTION, evidence=["total", *votes], targets=[["vote2"]])
    findings = {"total": "0", "vote0": "yes", "vote1": "no"}
    for run in (plan.run, plan.restrict, plan.for_case):
        with pytest.raises(ImpossibleEvidenceError) as caught:
            run(findings)
        assert caught.value.evidence == {"total": "0", "vote0": "yes"}
    assert conflict(plan, findings) == {"total": "0", "vote0": "yes"}


def test_cases_in_doubt_are_planned_one_by_one_where_no_plan_is_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plan without signs may itself be one that is made for each case."""
    plan = signed_plan()
    assert plan.is_signed
    expected = plan.run_batch({"total": [1, 12, 11]})
    monkeypatch.setattr(assembly, "_cells_by_case", lambda *_: 2**40)
    other = Plan(plan.compiled)
    assert other.unsigned is not None
    assert other.unsigned.by_case == 2**40
    monkeypatch.undo()
    found = other.run_batch({"total": [1, 12, 11]})
    np.testing.assert_allclose(found.log_evidence, expected.log_evidence, rtol=1e-9)
    np.testing.assert_allclose(found.joints[0], expected.joints[0], rtol=1e-9)


def test_a_plan_without_signs_has_the_cells_of_a_run_or_of_any_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = signed_plan().compiled
    monkeypatch.setattr(answering, "_UNSIGNED_CELLS", 1)
    assert without_signs(compiled, {}, {}) is None
    assert without_signs(compiled, {"total": "3"}, {}) is not None
