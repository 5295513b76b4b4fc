"""Gradients of the log-likelihood of cases against differences and expected counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TableError
from bnmind.junction import log_likelihood
from bnmind.junction.propagation import Propagation
from bnmind.pgm import Network, TabularCPD
from bnmind.sensitivity import Parameter, log_likelihood_gradient, with_row
from tests.sensitivity.test_analysis import GARDEN, RAIN, SLIP, WET

CASES = pd.DataFrame(
    {
        "rain": ["no", "no", None, "yes", None, "no"],
        "slip": ["no", "no", "maybe", None, "maybe", "no"],
    }
)
ZEROS = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 1.0]])),
        TabularCPD(SLIP, (WET,), np.array([[0.9, 0.2], [0.1, 0.3], [0.0, 0.5]])),
    )
)
POSITIVE = Network(
    (*GARDEN.cpds[:2], TabularCPD(SLIP, (WET,), np.array([[0.8, 0.2], [0.1, 0.3], [0.1, 0.5]])))
)


@pytest.mark.parametrize("network", [POSITIVE, ZEROS])
def test_gradients_are_sums_over_cases(network: Network) -> None:
    gradient = log_likelihood_gradient(network, CASES)
    logs = log_likelihood(network, CASES).frame.to_numpy().ravel()
    assert gradient.value == pytest.approx(logs.sum())
    for parameter in (Parameter("rain", "yes"), Parameter("slip", "no", {"wet": "yes"})):
        place = parameter.place(network)
        cpd = network.cpd(parameter.variable)
        value = float(cpd.to_factor().values[place])
        ends = [
            log_likelihood(with_row(network, parameter, value + step), CASES).frame.to_numpy().sum()
            for step in (-1e-6, 1e-6)
        ]
        slope = (ends[1] - ends[0]) / 2e-6
        assert gradient.effect(parameter.variable)[place] == pytest.approx(slope, rel=1e-6)


def test_derivatives_are_expected_counts_divided_by_entries_where_these_are_positive() -> None:
    states = np.array([[0, -1, 0], [0, -1, 0], [-1, -1, 1], [1, -1, -1], [-1, -1, 1], [0, -1, 0]])
    sums, _ = Propagation.of(ZEROS).family_sums(states)
    gradient = log_likelihood_gradient(ZEROS, CASES)
    for cpd, counts, partial in zip(ZEROS.cpds, sums, gradient.partials, strict=True):
        values = cpd.to_factor().values
        assert counts is not None
        assert partial is not None
        positive = values > 0
        assert partial[positive] == pytest.approx(counts[positive] / values[positive])
    # The derivative by the entry P(wet=no | rain=yes) = 0 is not zero.
    assert gradient["wet"][0, 1] > 0


def test_weights_count_cases_several_times() -> None:
    weights = np.array([2.0, 0.0, 1.0, 0.5, 1.0, 1.0])
    weighted = log_likelihood_gradient(POSITIVE, CASES, weights=weights)
    logs = log_likelihood(POSITIVE, CASES).frame.to_numpy().ravel()
    assert weighted.value == pytest.approx(float(weights @ logs))
    other = log_likelihood_gradient(ZEROS, CASES, weights=np.zeros(6))
    assert other.value == 0


def test_impossible_cases_and_wrong_weights_are_refused() -> None:
    impossible = pd.DataFrame({"wet": ["yes", "no"], "rain": ["no", "yes"]}, index=["a", "b"])
    with pytest.raises(ImpossibleEvidenceError, match="row b"):
        log_likelihood_gradient(ZEROS, impossible)
    certain = Network((TabularCPD(RAIN, (), np.array([1.0, 0.0])), *POSITIVE.cpds[1:]))
    with pytest.raises(ImpossibleEvidenceError, match="row b"):
        log_likelihood_gradient(certain, impossible)
    with pytest.raises(InvalidArgumentError, match="weight"):
        log_likelihood_gradient(POSITIVE, CASES, weights=[1.0])
    with pytest.raises(TableError):
        log_likelihood_gradient(POSITIVE, pd.DataFrame({"rain": ["perhaps"]}))
