"""Engines choose the cheapest way by its predicted cost, and every way gives the same answer."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import bnmind
import bnmind.junction.circuit as circuit_module
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction import (
    Engine,
    Limits,
    MinFill,
    compile_explanation,
    compile_model,
    compile_plan,
)
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, Parity, TabularCPD, Variable
from bnmind.pgm import noisy_or as noisy
from tests.wheel import ask, read_wheel, state_names


class OnePlan:
    """What a process may do before it loads machine code: make one plan."""

    left = math.inf

    def spend(self, work: float) -> None:
        """Allow nothing more."""
        self.left = 0.0


@pytest.fixture(autouse=True)
def _one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_module, "plain_plans", OnePlan())


def kinds(engine: Engine) -> list[str]:
    """Return the kinds of what an engine remembers, the latest first."""
    return [
        key[0] if isinstance(key, tuple) else str(key)
        for key in reversed(engine._planner.store.held())
    ]


def same(engine: Engine, targets: Any, evidence: dict[str, Any]) -> None:
    """Compare an answer with that of a plan for this evidence alone."""
    hard = {name: finding for name, finding in evidence.items() if isinstance(finding, str)}
    soft = [name for name in evidence if name not in hard]
    scopes = None if targets is None else [[name] for name in targets]
    plan = compile_plan(engine.model, evidence=hard, soft=soft, targets=scopes)
    expected, found = plan.run(evidence), engine.posterior(targets, evidence)
    assert list(found) == list(expected)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-10)
    for name in expected:
        p, q = found[name].probabilities, expected[name].probabilities
        np.testing.assert_allclose(p, q, atol=1e-12)


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_the_first_question_takes_a_plan_and_then_one_circuit_all_others(name: str) -> None:
    network = read_wheel(name)
    engine = compile_model(network)
    for seed in range(3):
        evidence: dict[str, Any] = dict(
            state_names(network, ask(network, "random", seed=seed).findings)
        )
        same(engine, None, evidence)
        if seed == 0:
            assert kinds(engine) == ["posterior"]
        else:
            assert kinds(engine)[0] == "any evidence"
            assert len(kinds(engine)) == 2
    evidence[network.variables[0].name] = [0.3, 0.8, 0.1][: network.variables[0].n_states]
    same(engine, None, evidence)
    same(engine, [v.name for v in network.variables[:5]], evidence)
    assert len(kinds(engine)) == 2


def test_the_first_question_takes_the_circuit_if_its_code_is_loaded() -> None:
    circuit_module.plain_plans.spend(1)
    engine = compile_model(read_wheel("asia"))
    same(engine, None, {"xray": "yes"})
    same(engine, ["lung"], {})
    assert kinds(engine) == ["any evidence"]


def test_few_targets_take_the_same_circuit() -> None:
    network = read_wheel("alarm")
    engine = compile_model(network)
    evidence = state_names(network, ask(network, "leaves").findings)
    for v in network.variables[:6]:
        same(engine, [v.name], evidence)
    same(engine, [v.name for v in network.variables[3:6]], {})
    assert kinds(engine) == ["any evidence", "posterior"]


def test_an_order_of_the_user_is_used() -> None:
    network = read_wheel("asia")
    engine = compile_model(network, order=MinFill())
    for _ in range(3):
        same(engine, ["lung"], {"xray": "yes"})
        same(engine, None, {"dysp": "yes"})
    assert "any evidence" in kinds(engine)


def test_a_circuit_that_exceeds_the_memory_is_never_made() -> None:
    network = read_wheel("alarm")
    engine = compile_model(network, memory=50_000)
    for seed in range(3):
        same(engine, None, state_names(network, ask(network, "random", seed=seed).findings))
    assert engine._planner.store.held()["any evidence"].plan is None
    none = compile_model(network, memory=0)
    for seed in range(3):
        same(none, None, state_names(network, ask(network, "random", seed=seed).findings))
    assert kinds(none) == []


def test_the_limit_of_multiplications_holds_however_often_a_question_is_asked() -> None:
    engine = compile_model(read_wheel("asia"), limits=Limits(max_multiplications=3))
    for _ in range(4):
        with pytest.raises(TooLargeError, match="max_multiplications=3"):
            engine.posterior()


def test_products_of_factors_are_answered() -> None:
    a, b, c = (Variable(name, ("no", "yes")) for name in "abc")
    for signed in (False, True):
        first = np.array([[0.5, 0.7], [0.4, -0.05 if signed else 0.05]])
        second = np.array([[0.9, 0.8], [0.3, 0.6]])
        model = FactorModel((Factor((a, b), first), Factor((b, c), second)))
        engine = compile_model(model)
        for evidence in ({}, {"a": "no"}, {"c": [0.25, 0.5]}, {"b": "no"}):
            same(engine, None, evidence)
            same(engine, ["c"], evidence)
        assert (engine._planner.store.held()["any evidence"].plan is None) == signed


def test_functions_and_noisy_distributions_are_answered() -> None:
    causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(12))
    effect, odd = Variable("effect", ("no", "yes")), Variable("odd", ("0", "1"))
    rng = np.random.default_rng(1)
    network = Network(
        (
            *(TabularCPD(v, (), np.array([0.9, 0.1])) for v in causes),
            noisy(effect, causes, rng.uniform(0.2, 0.9, 12), leak=0.01),
            FunctionalCPD(odd, causes, Parity()),
        )
    )
    engine = compile_model(network)
    for evidence in ({"effect": "yes"}, {"odd": "1"}, {"effect": "yes", "odd": "0"}, {}):
        same(engine, None, evidence)
        same(engine, ["cause0", "odd"], evidence)
    impossible = {**dict.fromkeys([v.name for v in causes], "no"), "odd": "1"}
    for targets in (None, "effect"):
        with pytest.raises(ImpossibleEvidenceError, match="odd=1"):
            engine.posterior(targets, impossible)


def test_one_plan_explains_any_evidence_of_a_small_model() -> None:
    network = read_wheel("alarm")
    engine = compile_model(network)
    for seed in range(3):
        evidence: dict[str, Any] = dict(
            state_names(network, ask(network, "random", seed=seed).findings)
        )
        found = engine.mpe(evidence)
        expected = compile_explanation(network, evidence=evidence).run(evidence)
        assert found.states.keys() == expected.states.keys()
        assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-10)
    assert kinds(engine) == ["mpe"]


def test_a_model_keeps_its_engine_to_itself() -> None:
    network = read_wheel("asia")
    before = pickle.dumps(network)
    network.query("lung")
    first = network.query("lung", evidence={"xray": "yes"})
    assert bnmind.posterior(network, {"xray": "yes"}, ["lung"]) == first
    assert pickle.dumps(network) == before
    again = pickle.loads(before).query("lung", evidence={"xray": "yes"})
    assert again["lung"].to_dict() == pytest.approx(first["lung"].to_dict())
    engine = network.__dict__["_engine"]
    assert len(kinds(engine)) == 2
    with pytest.raises(TooLargeError):
        bnmind.posterior(network, {"xray": "yes"}, limits=Limits(max_multiplications=1))
