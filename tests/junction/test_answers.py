"""Every way to an answer about a network agrees with the enumeration of all configurations.

The contract of the whole room, through public names alone: generated networks × ways × questions.
A way takes a network, evidence (states and likelihoods) and the scopes of interest. Whatever
computes the answers, this test stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind
import bnmind.junction.compiled_query as compiled_query
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import (
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
    compile_search,
    compile_sliced,
    differentiate,
)
from bnmind.pgm import Network
from tests.modes import examples
from tests.networks import enumerate_joint, networks

Evidence: TypeAlias = Mapping[str, Any]
Scopes: TypeAlias = Sequence[tuple[str, ...]]
Answer: TypeAlias = tuple[float, Sequence[Floats]]
"""The natural logarithm of the probability of the evidence, and the joint of each scope."""


class Question:
    """A network with evidence and scopes, and what the enumeration says."""

    def __init__(self, network: Network, evidence: Evidence, scopes: Scopes) -> None:
        self.network, self.evidence, self.scopes = network, evidence, scopes
        values = enumerate_joint(network).values.real.copy()
        for axis, v in enumerate(network.variables):
            if v.name in evidence:
                finding = evidence[v.name]
                weights = [
                    finding[s] if isinstance(finding, Mapping) else float(s == finding)
                    for s in v.states
                ]
                values *= np.reshape(weights, [-1 if a == axis else 1 for a in range(values.ndim)])
        self.joint: Floats = values
        """``(states of X0, states of X1, …)``, the probability with the evidence."""

    def __repr__(self) -> str:
        return f"Question({self.network!r}, {self.evidence!r}, {self.scopes!r})"

    def hard(self) -> list[str]:
        return [n for n, finding in self.evidence.items() if not isinstance(finding, Mapping)]

    def soft(self) -> list[str]:
        return [n for n, finding in self.evidence.items() if isinstance(finding, Mapping)]

    def expected(self, scope: Sequence[str]) -> Floats:
        """Return the joint distribution of a scope, by summing cells one by one."""
        names = [v.name for v in self.network.variables]
        places = [names.index(name) for name in scope]
        found = np.zeros([self.joint.shape[place] for place in places])
        for cell, value in np.ndenumerate(self.joint):
            found[tuple(cell[place] for place in places)] += value
        whole: Floats = found / self.joint.sum()
        return whole


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Return a question of one to three scopes about variables without a state."""
    network = draw(networks(max_variables=6, max_states=3))
    evidence: dict[str, Any] = {}
    for v in network.variables:
        kind = draw(st.sampled_from(["nothing", "nothing", "state", "likelihood"]))
        if kind == "state":
            evidence[v.name] = draw(st.sampled_from(v.states))
        elif kind == "likelihood":
            evidence[v.name] = {s: draw(st.sampled_from([0.0, 0.25, 1.0])) for s in v.states}
    free = [
        v.name
        for v in network.variables
        if v.name not in evidence or isinstance(evidence[v.name], dict)
    ]
    scopes: list[list[str]] = []
    if free:
        scope = st.lists(st.sampled_from(free), unique=True, min_size=1, max_size=3)
        scopes = draw(st.lists(scope, min_size=1, max_size=3))
    return Question(network, evidence, [tuple(scope) for scope in scopes])


# --- Ways -----------------------------------------------------------------------------------------


def of(posterior: Any) -> Answer:
    return posterior.log_evidence, posterior.joints


def by_one_call(q: Question) -> Answer:
    return of(bnmind.posterior(q.network, q.evidence, list(q.scopes)))


def by_a_new_engine(q: Question) -> Answer:
    return of(compile_model(q.network).posterior(list(q.scopes), q.evidence))


def by_a_used_engine(q: Question) -> Answer:
    """After questions about everything, so that the engine has compiled all that it will."""
    engine = compile_model(q.network)
    for _ in range(3):
        engine.posterior()
    return of(engine.posterior(list(q.scopes), q.evidence))


def by_a_plan(q: Question) -> Answer:
    plan = compile_plan(q.network, evidence=q.hard(), soft=q.soft(), targets=q.scopes)
    return of(plan.run(q.evidence))


def by_compiled_code(q: Question) -> Answer:
    """As plans run after their first runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_query, "should_be_flat", lambda *_: True)
        return by_a_plan(q)


def by_a_plan_for_any_evidence(q: Question) -> Answer:
    plan = compile_plan(q.network, soft=q.evidence, targets=q.scopes)
    return of(plan.run(q.evidence))


def by_a_restricted_plan(q: Question) -> Answer:
    plan = compile_plan(q.network, evidence=q.hard(), soft=q.soft(), targets=q.scopes)
    hard = {name: q.evidence[name] for name in q.hard()}
    return of(plan.restrict(hard).run({name: q.evidence[name] for name in q.soft()}))


def by_a_batch(q: Question) -> Answer:
    """The second of three equal cases."""
    plan = compile_plan(q.network, evidence=q.hard(), soft=q.soft(), targets=q.scopes)
    cases: dict[str, Any] = {name: [q.evidence[name]] * 3 for name in q.hard()}
    for name in q.soft():
        states = q.network.variable(name).states
        cases[name] = np.array([[q.evidence[name][s] for s in states]] * 3)
    if not cases:
        return of(plan.run())
    found = plan.run_batch(cases)
    return float(found.log_evidence[1]), [joint[1] for joint in found.joints]


def by_slices(q: Question) -> Answer:
    plan = compile_sliced(q.network, evidence=q.hard(), soft=q.soft(), targets=q.scopes)
    return of(plan.run(q.evidence))


WAYS: Mapping[str, Callable[[Question], Answer]] = {
    way.__name__: way
    for way in (
        by_one_call,
        by_a_new_engine,
        by_a_used_engine,
        by_a_plan,
        by_compiled_code,
        by_a_plan_for_any_evidence,
        by_a_restricted_plan,
        by_a_batch,
        by_slices,
    )
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(25))
@given(questions())
def test_posteriors_and_joints(way: str, question: Question) -> None:
    if not question.scopes:
        return
    if not question.joint.sum() > 0:
        with pytest.raises(ImpossibleEvidenceError):
            WAYS[way](question)
        return
    log_evidence, joints = WAYS[way](question)
    assert log_evidence == pytest.approx(math.log(question.joint.sum()), abs=1e-9)
    assert len(joints) == len(question.scopes)
    for scope, joint in zip(question.scopes, joints, strict=True):
        np.testing.assert_allclose(joint, question.expected(scope), atol=1e-12)


# --- Other questions ------------------------------------------------------------------------------


def possible(question: Question) -> bool:
    return bool(question.joint.sum() > 0)


def cell_of(question: Question, states: Mapping[str, Any]) -> float:
    """Return the probability of a configuration with the evidence."""
    place = []
    for v in question.network.variables:
        finding = question.evidence.get(v.name)
        state = finding if v.name in question.hard() else states[v.name]
        place.append(v.states.index(state))
    return float(question.joint[tuple(place)])


@settings(max_examples=examples(25))
@given(questions())
def test_best_explanations(question: Question) -> None:
    """Plan, engine and branch and bound find the best, and in the order of their probability."""
    if not possible(question):
        return
    best = sorted(question.joint[question.joint > 0].ravel().tolist(), reverse=True)[:3]
    plan = compile_explanation(question.network, evidence=question.hard(), soft=question.soft())
    found: list[Sequence[Any]] = [
        plan.best(3, question.evidence),
        compile_model(question.network).best_explanations(3, question.evidence),
        (compile_search(question.network, question.evidence).run(),),
    ]
    for explanations in found:
        expected = best[: len(explanations)]
        cells = [cell_of(question, one.states) for one in explanations]
        assert cells == pytest.approx(expected, rel=1e-9)
        for cell, one in zip(cells, explanations, strict=True):
            assert one.log_probability == pytest.approx(math.log(cell), abs=1e-9)
        assert len({tuple(one.states.items()) for one in explanations}) == len(explanations)


@settings(max_examples=examples(25))
@given(questions())
def test_derivatives_are_ratios_of_sums(question: Question) -> None:
    """P(e) is linear in each entry: the sum of the entries times their derivatives is 1 (of ln P).

    An entry's derivative times the entry is the probability of its configuration.
    """
    if not possible(question):
        return
    gradient = differentiate(question.network, evidence=question.evidence).log_evidence
    assert gradient.value == pytest.approx(math.log(question.joint.sum()), abs=1e-9)
    for cpd in question.network.cpds:
        values = getattr(cpd, "values", None)
        if values is None:  # functions have no entries
            continue
        scope = [v.name for v in cpd.scope]
        np.testing.assert_allclose(
            values * gradient[cpd.variable.name], question.expected(scope), atol=1e-9
        )


@settings(max_examples=examples(10))
@given(questions())
def test_samples_have_the_frequencies(question: Question) -> None:
    if not possible(question):
        return
    plan = compile_sampling(question.network, evidence=question.hard(), soft=question.soft())
    n = 2_000
    samples = plan.run(question.evidence, n_samples=n, rng=np.random.default_rng(1))
    for scope in question.scopes[:1]:
        expected = question.expected(scope[:1])
        found = samples.frequencies(scope[0])
        errors = np.sqrt(expected * (1 - expected) / n)
        assert (abs(found - expected) <= 6 * errors + 1e-12).all()
