"""Queries about a few targets without a plan, against enumeration and plans."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._jit import run_plainly
from bnmind.errors import (
    ImpossibleEvidenceError,
    TooLargeError,
)
from bnmind.junction import Limits, Posterior, compile_model, posterior
from bnmind.junction.engine_planning import Reader
from bnmind.junction.inference.limits import DEFAULT_LIMITS
from bnmind.junction.light import LightModel, LightQuery, query_at
from bnmind.junction.light_kernel import Case, Steps, Work, steps_of, sums_of
from bnmind.pgm import FunctionalCPD, Listed, Network, TabularCPD, Variable, noisy_or
from tests.modes import examples
from tests.networks import enumerate_joint, networks
from tests.wheel import ask, read_wheel, state_names


def light_query(
    model: LightModel, targets: Any, evidence: Any = None, limits: Limits = DEFAULT_LIMITS
) -> LightQuery:
    """Return a query, as an engine makes it."""
    reader = Reader(model.network)
    seen = reader.evidence(evidence)
    scopes = reader.named(reader.scopes(targets, seen))
    return query_at(model, scopes, (seen.positions, seen.soft), limits)


def light_posterior(network: Network, targets: Any, evidence: Any = None) -> Posterior:
    """Return the answer of a query, which needs no plan."""
    found = light_query(LightModel.of(network), targets, evidence).run()
    assert found is not None
    return found


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, list[tuple[str, ...]], dict[str, Any]]:
    """Return a network, targets, and evidence: states and likelihoods."""
    network = draw(networks())
    names = [v.name for v in network.variables]
    evidence: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        states = network.variable(name).states
        finding = st.sampled_from([0.0, 0.25, 1.0, 3.0])
        evidence[name] = draw(
            st.sampled_from(states)
            | st.lists(finding, min_size=len(states), max_size=len(states))
            | st.none()
        )
    target = st.lists(st.sampled_from(names), unique=True, max_size=3).map(tuple)
    return network, draw(st.lists(target, min_size=1, max_size=3)), evidence


@given(questions())
@settings(max_examples=examples(60))
def test_answers_are_those_of_enumeration(
    question: tuple[Network, list[tuple[str, ...]], dict[str, Any]],
) -> None:
    network, targets, evidence = question
    joint = enumerate_joint(network)
    values = joint.values.copy()
    for axis, v in enumerate(joint.scope):
        finding = evidence.get(v.name)
        if finding is not None:
            weights = finding if isinstance(finding, list) else np.eye(v.n_states)[v.index(finding)]
            values *= np.reshape(weights, [-1 if a == axis else 1 for a in range(values.ndim)])
    if not values.sum() > 0:
        assert light_query(LightModel.of(network), targets, evidence).run() is None
        with pytest.raises(ImpossibleEvidenceError):
            compile_model(network).posterior(targets, evidence)
        return
    found = light_posterior(network, targets, evidence)
    assert found.log_evidence == pytest.approx(math.log(values.sum()), abs=1e-12)
    for target, scope, got in zip(targets, found.scopes, found.joints, strict=True):
        assert tuple(v.name for v in scope) == target
        axes = [joint.names.index(name) for name in target]
        rest = tuple(a for a in range(values.ndim) if a not in axes)
        expected = np.transpose(values.sum(axis=rest), np.argsort(np.argsort(axes)))
        assert not got.flags.writeable
        np.testing.assert_allclose(got, expected / expected.sum(), atol=1e-12, strict=True)


@given(questions())
@settings(max_examples=examples(40))
def test_steps_are_those_of_the_plain_greedy_order(
    question: tuple[Network, list[tuple[str, ...]], dict[str, Any]],
) -> None:
    network, targets, evidence = question
    model = LightModel.of(network)
    query = light_query(model, targets, evidence)
    for case, steps in query.parts:
        order, cells = plain_steps(model, case)
        assert [int(i) for i in steps.order] == order
        assert steps.cells.tolist() == cells
        check_buckets(model, case, steps)
    costs = [steps.cells @ np.diff(steps.bucket_starts) for _, steps in query.parts]
    assert query.multiplications == sum(costs)


def plain_steps(model: LightModel, case: Case) -> tuple[list[int], list[float]]:
    """Return the order of elimination and the sizes of its cliques, by sets of numbers."""
    arrays = model.arrays
    n = arrays.n_states.size
    families = [
        {i, *arrays.parents[arrays.starts[i] : arrays.starts[i + 1]].tolist()} for i in range(n)
    ]
    targets = case.targets.tolist()
    matters = {i for i in range(n) if case.states[i] >= 0 or case.soft[i] >= 0} | set(targets)
    while any(not families[i] <= matters for i in matters):
        matters = set().union(*(families[i] for i in matters))
    hidden = {i for i in matters if case.states[i] < 0}
    scopes = [families[i] & hidden for i in matters] + [set(targets)]
    near = {i: set().union(*(s for s in scopes if i in s)) - {i} for i in hidden}
    if not case.whole:
        kept = set(targets)
        while any(not near[i] <= kept for i in kept):
            kept = kept.union(*(near[i] for i in kept))
        hidden = kept

    def size(members: set[int]) -> int:
        return math.prod(int(arrays.n_states[i]) for i in members)

    left, order, cells = hidden - set(targets), [], []
    while left:
        first = min(left, key=lambda i: (size({i} | near[i]), i))
        order.append(first)
        cells.append(float(size({first} | near[first])))
        left.remove(first)
        for other in near[first]:
            near[other] = (near[other] | near[first]) - {first, other}
    return [*order, *targets], [*cells, float(size(set(targets)))]


def check_buckets(model: LightModel, case: Case, steps: Steps) -> None:
    """Check that every factor is in one bucket, whose clique holds it."""
    n, last = model.arrays.n_states.size, steps.cells.size - 1
    factors = steps.buckets.tolist()
    assert len(set(factors)) == len(factors)
    assert {f - 2 * n for f in factors if f >= 2 * n} == set(range(last))
    for place in range(last + 1):
        clique = set(range(last, steps.order.size))
        if place < last:
            starts = steps.scope_starts
            clique = {place, *steps.scopes[starts[place] : starts[place + 1]].tolist()}
        for factor in steps.buckets[steps.bucket_starts[place] : steps.bucket_starts[place + 1]]:
            if factor < n:
                first, end = model.arrays.starts[factor : factor + 2]
                family = [factor, *model.arrays.parents[first:end]]
                hidden = {int(steps.places[i]) for i in family if case.states[i] < 0}
                assert hidden <= clique
                assert min(hidden, default=last) >= min(place, last)


@given(questions())
@settings(max_examples=examples(20))
def test_compiled_results_are_those_of_python_to_the_last_bit(
    question: tuple[Network, list[tuple[str, ...]], dict[str, Any]],
) -> None:
    network, targets, evidence = question
    query = light_query(LightModel.of(network), targets, evidence)
    arrays = query.model.arrays
    for case, steps in query.parts:
        most = 2**62
        plain = run_plainly(steps_of, arrays, case, query.likelihoods.size, most)
        compiled = steps_of(arrays, case, query.likelihoods.size, most)
        for mine, theirs in zip(plain, compiled, strict=True):
            assert np.asarray(mine).tolist() == np.asarray(theirs).tolist()
        refused = steps_of(arrays, case, query.likelihoods.size, max(steps.work // 3, 0))
        assert refused.work in (-1, steps.work)
        results = []
        for run in (sums_of, partial(run_plainly, sums_of)):
            messages = np.zeros(int(steps.message_starts[-1]))
            messages[: query.likelihoods.size] = query.likelihoods
            read = messages.view()
            read.flags.writeable = False
            work = Work(messages, read, np.zeros(int(steps.cells.max())))
            for careful in (False, True):
                results.append((*run(arrays, case, steps, work, careful), *work.product))
        assert results[0] == results[2]
        assert results[1] == results[3]


RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 1.0]])),
    )
)


def test_a_query_that_is_too_large_is_refused_before_it_runs() -> None:
    causes = [Variable.of_integers(f"cause{i}", range(10)) for i in range(40)]
    effects = [Variable.of_integers(f"effect{i}", range(2)) for i in range(39)]
    rng = np.random.default_rng(1)
    cpds = [TabularCPD(v, (), rng.dirichlet(np.ones(10))) for v in causes]
    for i, effect in enumerate(effects):
        for_parents = (causes[i], causes[(7 * i + 3) % 40])
        cpds.append(
            TabularCPD(effect, for_parents, rng.dirichlet([1, 1], (10, 10)).transpose(2, 0, 1))
        )
    model = LightModel.of(Network(tuple(cpds)))
    seen = {v.name: "1" for v in effects}
    with pytest.raises(TooLargeError, match="largest clique") as refused:
        light_query(model, ["cause0"], seen, limits=Limits(max_bytes=1_000))
    assert refused.value.needed > 1_000


def test_large_functions_are_chains_or_refused() -> None:
    votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(40))
    priors = [TabularCPD(v, (), np.array([0.9, 0.1])) for v in votes]
    total = FunctionalCPD.sum_of("total", votes)
    network = Network((*priors, total))
    found = light_posterior(network, ["vote3", ("total",)], {"vote0": "yes"})
    plan = posterior(network, {"vote0": "yes"}, ["vote3", ("total",)])
    for mine, theirs in zip(found.joints, plan.joints, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    wheel = tuple(Variable.of_integers(f"wheel{i}", range(10)) for i in range(6))
    table = np.random.default_rng(1).integers(2, size=(10,) * 6)
    lock = FunctionalCPD(Variable("open", ("no", "yes")), wheel, Listed(table))
    turns = [TabularCPD(v, (), np.full(10, 0.1)) for v in wheel]
    network = Network((*turns, lock))
    assert light_posterior(network, ["wheel2"])["wheel2"]["3"] == pytest.approx(0.1)
    with pytest.raises(TooLargeError, match="table of open"):
        light_query(LightModel.of(network), ["wheel2"], {"open": "yes"})


def test_noisy_distributions_of_many_causes() -> None:
    causes = [Variable(f"cause{i}", ("no", "yes")) for i in range(20)]
    rng = np.random.default_rng(1)
    network = Network(
        (
            *(TabularCPD(v, (), np.array([0.9, 0.1])) for v in causes),
            noisy_or(Variable("effect", ("no", "yes")), causes, rng.uniform(0.2, 0.9, 20)),
        )
    )
    found = light_posterior(network, ["cause3"], {"effect": "yes"})
    plan = posterior(network, {"effect": "yes"}, ["cause3"])
    np.testing.assert_allclose(found.joints[0], plan.joints[0], atol=1e-12)
    assert found.log_evidence == pytest.approx(plan.log_evidence, abs=1e-12)


def test_a_thousand_findings_do_not_underflow() -> None:
    kind = Variable("kind", ("a", "b"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(1_000)]
    rows = np.array([[0.999, 0.998], [0.001, 0.002]])
    network = Network(
        (TabularCPD(kind, (), np.array([0.7, 0.3])), *(TabularCPD(v, (kind,), rows) for v in signs))
    )
    seen: dict[str, Any] = {v.name: "yes" if i % 2 else "no" for i, v in enumerate(signs)}
    found = light_posterior(network, ["kind"], seen)
    logs = [
        math.log(0.7) + 500 * math.log(0.999e-3),
        math.log(0.3) + 500 * math.log(0.998 * 0.002),
    ]
    assert found.log_evidence == pytest.approx(float(np.logaddexp(logs[0], logs[1])), rel=1e-13)
    assert found["kind"]["a"] == pytest.approx(math.exp(logs[0] - logs[1]), rel=1e-10)
    extreme = {**seen, "sign0": {"no": 1e-300, "yes": 2e-300}, "sign1": {"no": 1e300, "yes": 1e299}}
    mine = light_posterior(network, ["kind"], extreme)
    plan = posterior(network, extreme, ["kind"])
    assert mine.log_evidence == pytest.approx(plan.log_evidence, rel=1e-13)
    np.testing.assert_allclose(mine.joints[0], plan.joints[0], rtol=1e-10)


def test_numbers_may_be_far_apart() -> None:
    kind = Variable("kind", ("a", "b", "c"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(6)]
    tiny = 1e-200
    rows = np.array([[1.0, 1 - tiny, 1.0], [tiny, 0.5, 1.0]])
    rows[0] = 1 - rows[1]
    other = rows[:, [2, 1, 0]]
    network = Network(
        (
            TabularCPD(kind, (), np.array([0.5, 0.0, 0.5])),
            *(TabularCPD(v, (kind,), rows if i % 2 else other) for i, v in enumerate(signs)),
        )
    )
    seen = {v.name: "yes" for v in signs}
    found = compile_model(network).posterior(["kind"], seen)
    assert found["kind"].to_dict() == pytest.approx({"a": 0.5, "b": 0.0, "c": 0.5})
    assert found.log_evidence == pytest.approx(3 * math.log(tiny), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "win95pts", "andes", "pathfinder", "munin2"])
def test_answers_are_those_of_plans(name: str) -> None:
    network = read_wheel(name)
    for seed in range(2):
        question = ask(network, "random", seed=seed)
        seen = state_names(network, question.findings)
        targets = question.targets[seed::50][:3]
        found = light_posterior(network, targets, seen)
        plan = posterior(network, seen, targets)
        assert found.log_evidence == pytest.approx(plan.log_evidence, abs=1e-11)
        for mine, theirs in zip(found.joints, plan.joints, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
