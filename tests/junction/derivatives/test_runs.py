"""Derivatives beside special evidence and tables, beyond floating point, and refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bnmind.errors import CancellationError, InvalidArgumentError, TooLargeError
from bnmind.junction import Limits, differentiate
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable
from tests.junction.derivatives.test_derivatives import GARDEN
from tests.networks import enumerate_joint

A, B = Variable("a", ("0", "1")), Variable("b", ("0", "1"))


def test_probabilities_are_those_of_the_enumerated_joint() -> None:
    joint = enumerate_joint(GARDEN).values[:, 1] @ np.array([0.5, 1.0, 0.25])
    findings = {"wet": "yes", "slip": {"no": 0.5, "maybe": 1.0, "yes": 0.25}}
    found = differentiate(GARDEN, "rain", findings)
    posterior = [one.value for one in found.joints]
    np.testing.assert_allclose(posterior, joint / joint.sum(), rtol=1e-12)
    assert {one.log_evidence for one in found.joints} == {found.log_evidence.value}
    assert found.log_evidence.value == pytest.approx(math.log(joint.sum()), rel=1e-12)


def test_a_target_beside_the_evidence_alone_has_its_own_table() -> None:
    network = Network(
        (TabularCPD(A, (), np.array([0.3, 0.7])), TabularCPD(B, (), np.array([0.9, 0.1])))
    )
    found = differentiate(network, "a", {"b": "1"})
    np.testing.assert_allclose([one.value for one in found.joints], [0.3, 0.7])
    assert found.log_evidence.value == pytest.approx(math.log(0.1))
    gradient = differentiate(network, evidence={"a": "0", "b": "1"}).log_evidence
    assert gradient.value == pytest.approx(math.log(0.3 * 0.1))
    np.testing.assert_allclose(gradient["a"], [1 / 0.3, 0])
    np.testing.assert_allclose(gradient["b"], [0, 1 / 0.1])


def test_evidence_too_improbable_for_a_run_is_not_called_impossible() -> None:
    # Only a=1 is possible. Its weight is 1e-400 of that of a=0 before the last table is known.
    apart = [Factor((A,), np.array([1.0, 1e-200])) for _ in range(2)]
    last = Factor((A, B), np.array([[0.0, 1.0], [1.0, 0.0]]))
    model = FactorModel((*apart, last))
    with pytest.raises(CancellationError) as caught:
        differentiate(model, evidence={"b": "0"})
    assert str(caught.value) == (
        "the probabilities in a run are too far apart for floating point, so that their"
        " derivatives have no correct digits; the evidence is b=0"
    )
    assert differentiate(model, evidence={"b": "1"}).log_evidence.value == pytest.approx(0.0)


def test_tables_without_entries_have_no_derivatives_and_say_so() -> None:
    total = FunctionalCPD.sum_of("total", (Variable.of_integers("x", range(2)),) * 1)
    (x,) = total.parents
    network = Network((TabularCPD(x, (), np.array([0.4, 0.6])), total))
    gradient = differentiate(network, "x", {"total": "1"}).posterior("1")
    with pytest.raises(InvalidArgumentError) as caught:
        gradient.effect("total")
    assert str(caught.value) == (
        "total has no table whose entries may change: it is a FunctionalCPD"
    )
    with pytest.raises(InvalidArgumentError) as caught:
        gradient["total"]
    assert str(caught.value) == (
        "the table of total has no partial derivatives: it is a function, it was written as"
        " smaller tables, or it was left out as irrelevant"
    )
    factors = FactorModel((Factor((A,), np.array([1.0, 3.0])),))
    of_factors = differentiate(factors).log_evidence
    with pytest.raises(InvalidArgumentError) as caught:
        of_factors["a"]
    assert str(caught.value) == "a product of factors has no table of a variable; see `partials`"
    frame = of_factors.to_frame()
    assert frame["partial"].tolist() == pytest.approx([1 / 4, 1 / 4])
    assert frame["entry"].tolist() == ["a=0", "a=1"]
    nothing = replace(gradient, partials=(None, None)).to_frame()
    assert list(nothing.columns) == list(gradient.to_frame().columns)
    assert len(nothing) == 0


def test_a_tree_that_does_not_fit_is_refused_before_the_run() -> None:
    rng = np.random.default_rng(0)
    variables = [Variable.of_integers(f"x{i}", range(4)) for i in range(6)]
    pairs = [(a, b) for i, a in enumerate(variables) for b in variables[:i]]
    model = FactorModel(tuple(Factor(pair, rng.random((4, 4))) for pair in pairs))
    with pytest.raises(TooLargeError) as caught:
        differentiate(model, limits=Limits(max_bytes=2**13))
    assert caught.value.budget == 2**13
    assert caught.value.needed >= 8 * 4**6
