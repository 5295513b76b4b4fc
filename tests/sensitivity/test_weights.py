"""Weights of evidence against ratios of the enumerated joint."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.sensitivity import weight_of_evidence
from tests.junction.derivatives.twin import indicators, products, tables_of
from tests.sensitivity.test_analysis import GARDEN, RAIN, WET


def odds(findings: dict[str, str]) -> float:
    """Return the odds of rain from the enumerated joint."""
    yes, no = (
        products(GARDEN, tables_of(GARDEN), indicators(GARDEN, {**findings, "rain": state}))[0]
        for state in ("yes", "no")
    )
    return yes / no


def test_weights_are_logarithms_of_likelihood_ratios() -> None:
    findings = {"wet": "yes", "slip": "no"}
    found = weight_of_evidence(GARDEN, "rain", findings, state="yes")
    assert found.total == pytest.approx(math.log2(odds(findings) / odds({})))
    assert found.prior == pytest.approx(0.2)
    by_name = {one.finding: one for one in found.findings}
    wet = by_name["wet=yes"]
    assert wet.alone == pytest.approx(math.log2(odds({"wet": "yes"}) / odds({})))
    assert wet.given_others == pytest.approx(math.log2(odds(findings) / odds({"slip": "no"})))
    assert wet.without == pytest.approx(odds({"slip": "no"}) / (1 + odds({"slip": "no"})))
    # Given that it is wet, slipping says nothing about rain.
    assert by_name["slip=no"].given_others == pytest.approx(0, abs=1e-12)
    assert by_name["slip=no"].alone < 0
    frame = found.to_frame()
    assert frame["finding"].tolist() == ["wet=yes", "slip=no"]
    assert list(frame.columns) == ["finding", "alone", "given_others", "without"]


def test_the_conclusion_is_the_most_probable_state() -> None:
    assert weight_of_evidence(GARDEN, "rain", {"wet": "no"}).state == "no"
    single = weight_of_evidence(GARDEN, "rain", {"wet": "yes"})
    assert single.state == "yes"
    assert single.findings[0].alone == pytest.approx(single.total)
    assert single.findings[0].given_others == pytest.approx(single.total)


def test_a_proof_has_infinite_weight() -> None:
    certain = Network(
        (
            TabularCPD(RAIN, (), np.array([0.8, 0.2])),
            TabularCPD(WET, (RAIN,), np.array([[1.0, 0.1], [0.0, 0.9]])),
        )
    )
    found = weight_of_evidence(certain, "rain", {"wet": "yes"})
    assert found.total == math.inf
    assert len(found.plot().axes) == 1
    known = TabularCPD(RAIN, (), np.array([0.0, 1.0]))
    nothing = weight_of_evidence(Network((known, certain.cpds[1])), "rain", {"wet": "yes"})
    assert nothing.total == 0


def test_weights_are_finite_where_a_posterior_underflows() -> None:
    clues = [Variable(f"clue {i}", ("no", "yes")) for i in range(20)]
    rates = np.array([[1 - 1e-20, 1e-20], [1e-20, 1 - 1e-20]])
    network = Network(
        (
            TabularCPD(RAIN, (), np.array([0.5, 0.5])),
            *(TabularCPD(clue, (RAIN,), rates) for clue in clues),
        )
    )
    evidence = {clue.name: "yes" for clue in clues}
    for state, sign in (("yes", 1), ("no", -1)):
        found = weight_of_evidence(network, "rain", evidence, state=state)
        one = sign * 20 * math.log2(10)
        assert found.total == pytest.approx(20 * one)
        assert [clue.given_others for clue in found.findings] == pytest.approx([one] * 20)


def test_soft_findings_have_weights() -> None:
    found = weight_of_evidence(GARDEN, "rain", {"wet": {"no": 0.2, "yes": 0.8}}, state="yes")
    ratio = (0.1 * 0.2 + 0.9 * 0.8) / (0.9 * 0.2 + 0.1 * 0.8)
    assert found.total == pytest.approx(math.log2(ratio))
    assert found.findings[0].finding == "wet (likelihood)"


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        weight_of_evidence(GARDEN, "rain", {"rain": "yes"})
    with pytest.raises(UnknownNameError):
        weight_of_evidence(GARDEN, "rain", {"wet": "damp"})
    with pytest.raises(UnknownNameError):
        weight_of_evidence(GARDEN, "rian", {"wet": "yes"})
    with pytest.raises(InvalidArgumentError, match="nothing to plot"):
        weight_of_evidence(GARDEN, "rain", {}).plot()
