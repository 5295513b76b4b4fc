"""Networks: valid from birth, immutable, and conditioned as enumeration says."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, UnknownNameError
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from tests.networks import enumerate_joint, factor_models, networks

A = Variable("A", ("x", "y"))
B = Variable("B", ("0", "1"))
C = Variable("C", ("0", "1", "2"))
ON_A = TabularCPD(A, (), np.array([0.25, 0.75]))
ON_B = TabularCPD(B, (A,), np.array([[0.9, 0.0], [0.1, 1.0]]))
ON_C = FunctionalCPD(C, (A, B), Addition(((0, 1), (0, 1)), 3))
NETWORK = Network((ON_C, ON_B, ON_A))


def test_parents_come_before_children() -> None:
    assert [v.name for v in NETWORK.variables] == ["A", "B", "C"]
    assert NETWORK.potentials == (ON_A, ON_B, ON_C)
    assert NETWORK.cpd("B") is ON_B
    assert NETWORK.variable("C") is C
    assert repr(NETWORK) == "Network(A, B, C)"


@given(networks())
def test_the_joint_of_a_network_sums_to_one(network: Network) -> None:
    joint = enumerate_joint(network)
    assert joint.sum_to(()).values == pytest.approx(1)
    product = network.potentials[0].to_factor()
    for cpd in network.potentials[1:]:
        product = product.product(cpd.to_factor())
    assert product.isclose(joint)


@given(factor_models(complex_values=True))
def test_enumeration_is_the_product_of_factors(model: FactorModel) -> None:
    product = Factor((), np.array(1.0))
    for factor in model.potentials:
        assert isinstance(factor, Factor)
        product = product.product(factor)
    assert product.isclose(enumerate_joint(model))


def test_all_faults_are_reported_together() -> None:
    other = Variable("B", ("no", "yes"))
    with pytest.raises(InvalidModelError) as caught:
        Network(
            (
                ON_C,
                ON_C,
                TabularCPD(B, (C,), np.full((2, 3), 0.5)),
                TabularCPD(Variable("D", ("0",)), (other,), np.ones((1, 2))),
            )
        )
    assert [problem.split(",")[0] for problem in caught.value.problems] == [
        "expected one set of states of B",
        "expected one distribution of C",
        "expected one distribution of A",
        "the network has a cycle: C → B → C",
    ]
    assert "expected one distribution of A, got 0; A is a parent of C" in str(caught.value)


def test_there_is_no_empty_model() -> None:
    with pytest.raises(InvalidModelError, match=r"expected cpds .*, at least one, got"):
        Network(())
    with pytest.raises(InvalidModelError, match=r"expected potentials .*, at least one, got"):
        FactorModel(())


def test_factors_agree_on_states() -> None:
    other = Variable("B", ("no", "yes"))
    with pytest.raises(InvalidModelError, match="one set of states of B"):
        FactorModel((Factor((B,), np.ones(2)), Factor((other,), np.ones(2))))


def test_unknown_names_are_reported() -> None:
    for ask in (NETWORK.variable, NETWORK.cpd, lambda name: NETWORK.without([name])):
        with pytest.raises(UnknownNameError, match="variable among A, B, C; got 'D'"):
            ask("D")
    with pytest.raises(UnknownNameError, match="state of A among x, y; got 'z'"):
        NETWORK.given({"A": "z"})


@given(networks())
def test_copies_keep_their_arrays_read_only(network: Network) -> None:
    assert network.variables
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert again.variables == network.variables
        for cpd in again.cpds:
            if isinstance(cpd, TabularCPD):
                assert not cpd.values.flags.writeable
        assert enumerate_joint(again).isclose(enumerate_joint(network), atol=0)


@given(networks(), st.data())
def test_leaves_are_removed_exactly(network: Network, data: st.DataObject) -> None:
    if len(network.variables) == 1:
        return
    parents = {v.name for cpd in network.cpds for v in cpd.parents}
    leaves = [v.name for v in network.variables if v.name not in parents]
    gone = data.draw(st.sets(st.sampled_from(leaves), max_size=len(network.variables) - 1))
    rest = network.without(gone)
    expected = enumerate_joint(network).sum_to([v.name for v in rest.variables])
    assert enumerate_joint(rest).isclose(expected)


def test_variables_with_other_children_cannot_be_removed() -> None:
    with pytest.raises(InvalidModelError, match="one distribution of A, got 0"):
        NETWORK.without(["A"])
    assert [v.name for v in NETWORK.without(["B", "C"]).variables] == ["A"]


@given(networks(), st.data())
def test_given_is_conditioning_by_enumeration(network: Network, data: st.DataObject) -> None:
    observed = [v.name for v in network.variables[: data.draw(st.integers(0, 3))]]
    joint = enumerate_joint(network)
    # Any configuration of the first variables that has a positive probability.
    marginal = joint.sum_to(observed)
    possible = np.argwhere(np.real(marginal.values) > 0)
    cell = possible[data.draw(st.integers(0, len(possible) - 1))]
    evidence = {
        name: network.variable(name).states[i] for name, i in zip(observed, cell, strict=True)
    }
    certain = {name: int(i) for name, i in zip(observed, cell, strict=True)}
    conditioned = joint.select(certain)
    certain_too = _certain(network, certain)
    if len(certain_too) == len(network.variables):
        with pytest.raises(InvalidModelError, match=r"expected cpds .*, at least one, got"):
            network.given(evidence)
        return
    rest = network.given(evidence)
    assert {v.name for v in rest.variables} == {
        v.name for v in network.variables if v.name not in certain_too
    }
    expected = conditioned.sum_to([v.name for v in rest.variables])
    scale = np.real(marginal.select(certain).values)
    assert enumerate_joint(rest).isclose(Factor(expected.scope, expected.values / scale))


def _certain(network: Network, known: dict[str, int]) -> set[str]:
    """Return what is known, and every function of it."""
    names = set(known)
    for cpd in network.cpds:
        if isinstance(cpd, FunctionalCPD) and all(v.name in names for v in cpd.parents):
            names.add(cpd.variable.name)
    return names


def test_functions_of_the_evidence_are_removed_too() -> None:
    longer = Network((*NETWORK.cpds, TabularCPD(Variable("D", ("0",)), (C,), np.ones((1, 3)))))
    rest = longer.given({"A": "x", "B": "1"})
    assert [v.name for v in rest.variables] == ["D"]
    assert rest.cpd("D").parents == ()


def test_evidence_needs_its_ancestors() -> None:
    with pytest.raises(
        InvalidModelError, match="evidence on B needs evidence on its ancestor A too"
    ):
        NETWORK.given({"B": "0"})
    with pytest.raises(InvalidModelError) as caught:
        NETWORK.given({"C": "0"})
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    "evidence", [{"A": "y", "B": "0"}, {"A": "x", "B": "1", "C": "2"}], ids=["table", "function"]
)
def test_impossible_evidence_is_refused(evidence: dict[str, str]) -> None:
    last = [*evidence.items()][-1]
    with pytest.raises(ImpossibleEvidenceError, match=f"excludes {last[0]}={last[1]}") as caught:
        Network((*NETWORK.cpds, TabularCPD(Variable("D", ("0",)), (), np.ones(1)))).given(evidence)
    assert caught.value.evidence == evidence


@given(networks())
def test_restricting_to_possible_states_changes_nothing(network: Network) -> None:
    joint = enumerate_joint(network)
    states = {
        name: np.flatnonzero(np.real(joint.sum_to([name]).values) > 0).tolist()
        for name in joint.names
    }
    if all(len(kept) == 1 for kept in states.values()):
        return
    smaller = network.restrict(states)
    for variable in smaller.variables:
        kept = [network.variable(variable.name).states[i] for i in states[variable.name]]
        assert list(variable.states) == kept
    cut = Factor(
        tuple(v.keep(states[v.name]) for v in joint.scope),
        joint.values[np.ix_(*[states[name] for name in joint.names])],
    )
    single = {name: 0 for name, kept in states.items() if len(kept) == 1}
    assert enumerate_joint(smaller).isclose(cut.select(single))
