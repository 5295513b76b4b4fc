"""Restricted plans with soft evidence and inputs: the same answers, the same contradictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import compile_plan
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.networks import networks

A, B, C = (Variable(name, ("no", "maybe", "yes")) for name in "ABC")


def _uniform(variable: Variable) -> TabularCPD:
    return TabularCPD(variable, (), np.full(variable.n_states, 1 / variable.n_states))


@given(networks(max_variables=6), st.data())
def test_a_batch_on_a_restricted_plan_says_what_the_whole_plan_says(
    network: Network, data: st.DataObject
) -> None:
    names = [v.name for v in network.variables]
    fixed = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    rest = [name for name in names if name not in fixed]
    soft = data.draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    assume(soft)
    whole = compile_plan(network, evidence=fixed, soft=soft)
    state = {n: data.draw(st.sampled_from(network.variable(n).states)) for n in fixed}
    try:
        smaller = whole.restrict(state)
        expected = [whole.run(state)]
    except ImpossibleEvidenceError:
        reject()
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    likelihoods = {n: 0.1 + rng.random((2, network.variable(n).n_states)) for n in soft}
    likelihoods[soft[0]][0] = 1.0
    expected = [whole.run(state | {n: w[case] for n, w in likelihoods.items()}) for case in (0, 1)]
    batch = smaller.run_batch(likelihoods)
    for case, posterior in enumerate(expected):
        assert batch.log_evidence[case] == pytest.approx(posterior.log_evidence, abs=1e-10)
        for target, joint in enumerate(posterior.joints):
            np.testing.assert_allclose(batch.joints[target][case], joint, atol=1e-12)


def test_a_soft_finding_that_a_plan_was_restricted_to_is_named_in_a_contradiction() -> None:
    same = TabularCPD(B, (A,), np.eye(3))
    plan = compile_plan(Network((_uniform(A), same, _uniform(C))), evidence=["B", "C"], soft=["A"])
    smaller = plan.restrict({"A": "no"})
    with pytest.raises(ImpossibleEvidenceError) as caught:
        smaller.run({"B": "yes", "C": "no"})
    assert caught.value.evidence == {"A": "no", "B": "yes"}
    with pytest.raises(ImpossibleEvidenceError) as caught:
        plan.restrict({"A": "no", "C": "no", "B": "maybe"})
    assert caught.value.evidence == {"A": "no", "B": "maybe"}


def test_tables_with_zeros_may_share_variables() -> None:
    """What became one variable for a table is not taken apart for the next."""
    rng = np.random.default_rng(1)
    model = FactorModel((Factor((A, B), rng.random((3, 3))), Factor((B, C), rng.random((3, 3)))))
    plan = compile_plan(model, inputs={"first": ["A", "B"], "second": ["A", "B", "C"]})
    second = np.zeros((3, 3, 3))
    second[[0, 1, 2], [1, 2, 0], [2, 0, 1]] = 1.0
    tables = {"first": 1.0 - np.eye(3), "second": second}
    restricted = plan.restrict({}, tables)
    assert restricted.total_size == 3
    whole, smaller = plan.run(inputs=tables), restricted.run()
    assert smaller.log_evidence == pytest.approx(whole.log_evidence, abs=1e-12)
    for expected, got in zip(whole.joints, smaller.joints, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_the_last_configurations_may_drop_out_where_a_compound_variable_grows() -> None:
    table = np.zeros((3, 3, 3))
    # Given A = B, their last configuration is impossible, though each state of each is not.
    table[[0, 1, 2, 0], [0, 1, 1, 2], [1, 2, 0, 0]] = [0.2, 0.3, 0.1, 0.4]
    model = FactorModel((Factor((A, B, C), table),))
    plan = compile_plan(model, inputs={"equal": ["A", "B"]})
    got = plan.restrict({}, {"equal": np.eye(3)}).run()
    np.testing.assert_allclose(got.marginals["C"], [0.0, 0.4, 0.6], atol=1e-12)
    np.testing.assert_allclose(got.marginals["A"], [0.4, 0.6, 0.0], atol=1e-12)


def test_tables_with_zeros_may_be_over_the_same_variables() -> None:
    rng = np.random.default_rng(1)
    model = FactorModel((Factor((A, B), rng.random((3, 3))),))
    plan = compile_plan(model, inputs={"first": ["A", "B"], "second": ["A", "B"]})
    tables = {"first": 1.0 - np.eye(3), "second": np.tril(np.ones((3, 3)))}
    whole, smaller = plan.run(inputs=tables), plan.restrict({}, tables).run()
    for expected, got in zip(whole.joints, smaller.joints, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)
