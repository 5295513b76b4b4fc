"""EM for dynamic networks: its counts are those of the joint of all slices."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bnmind.dynamic import DynamicFit, DynamicNetwork, compile_dynamic, fit_dynamic, previous
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.fitting import BDeu, Dirichlet, FitOptions
from bnmind.information import Floats
from bnmind.pgm import CPD, FunctionalCPD, Network, TabularCPD, Variable
from tests.dynamic.test_inference import WEATHER, is_missing_or_likelihood
from tests.dynamic.twin import Slices, dynamic_networks, joint_of, sequences_of
from tests.modes import examples

ONE_STEP = FitOptions(max_iterations=1, tolerance=0.0, accelerate=False)


def counts_of(network: DynamicNetwork, sequences: list[Slices]) -> tuple[dict[str, Floats], ...]:
    """Return the expected counts of the first slice and of later ones, by enumeration."""
    n = len(network.variables)
    place = {v.name: i for i, v in enumerate(network.variables)}
    counts: tuple[dict[str, Floats], ...] = ({}, {})
    for slices in sequences:
        joint = joint_of(network, slices)
        joint = joint / joint.sum()
        for t in range(len(slices)):
            for v in network.variables:
                cpd = network.cpd(v.name, t)
                axes = [
                    (t - 1) * n + place[p.name.removesuffix("[t-1]")]
                    if p.name.endswith("[t-1]")
                    else t * n + place[p.name]
                    for p in cpd.scope
                ]
                rest = tuple(axis for axis in range(joint.ndim) if axis not in axes)
                summed = joint.sum(axis=rest)
                table = np.transpose(summed, np.argsort(np.argsort(axes)))
                kind = counts[t > 0]
                kind[v.name] = kind.get(v.name, 0.0) + table
    return counts


def as_table(cpd: CPD, counts: Floats) -> Floats:
    """Return counts as distributions; where there are none, those before."""
    sums = counts.sum(axis=0)
    before = cpd.to_tabular().values
    return np.asarray(np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), before))


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data())
def test_a_step_is_that_of_enumerated_counts(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    sequences = data.draw(sequences_of(network))
    joints = [joint_of(network, slices) for slices in sequences]
    assume(all(joint.sum() > 0 for joint in joints))
    # Missing leaves are not counted: observe all variables without children.
    leaves = {v.name for v in network.variables} - {v.name for v in network.interface}
    assume(all(name in slice_ for slices in sequences for slice_ in slices for name in leaves))
    given_ = is_missing_or_likelihood(
        compile_dynamic(network), [slice_ for slices in sequences for slice_ in slices]
    )
    who = [i for i, slices in enumerate(sequences) for _ in slices]
    fitted = fit_dynamic(
        network,
        pd.DataFrame({"who": who, **given_["columns"]}),
        sequence="who",
        likelihoods=given_["likelihoods"],
        options=ONE_STEP,
    )
    first, later = counts_of(network, list(sequences))
    total = sum(math.log(joint.sum()) for joint in joints)
    assert fitted.record.log_likelihoods[0] == pytest.approx(total, abs=1e-8)
    assert fitted.log_likelihood >= total - 1e-8
    if fitted.log_likelihood <= total + 1e-8:
        return  # a step that gains nothing is not taken
    for v in network.variables:
        for number, counts in ((0, first), (1, later)):
            cpd = network.cpd(v.name, number)
            own = counts.get(v.name, np.zeros([p.n_states for p in cpd.scope]))
            if v.name in fitted.shared:
                own = first[v.name] + later.get(v.name, 0.0)
            if isinstance(cpd, FunctionalCPD):
                assert fitted.network.cpd(v.name, number) is cpd
                continue
            learned = fitted.network.cpd(v.name, number).to_tabular().values
            assert learned == pytest.approx(as_table(cpd, np.asarray(own)), abs=1e-9)


def weather_of(days: int, seed: int) -> dict[str, list[Any]]:
    """Return two sequences of umbrellas, drawn from the weather."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {"town": [], "umbrella": []}
    for town in "ab":
        rain = bool(rng.random() < 0.5)
        for _ in range(days):
            rain = rain if rng.random() < 0.8 else not rain
            seen = rng.random() < (0.9 if rain else 0.2)
            rows["town"].append(town)
            rows["umbrella"].append("yes" if seen else "no")
    return rows


def test_em_never_lowers_the_likelihood_and_shares_the_sensor() -> None:
    fitted = fit_dynamic(WEATHER, weather_of(30, 1), sequence="town")
    steps = fitted.record.log_likelihoods
    assert all(after >= before for before, after in pairwise(steps))
    assert fitted.shared == ("umbrella",)
    assert fitted.network.cpd("umbrella", 0) is not WEATHER.cpd("umbrella", 0)
    tables = [fitted.network.cpd("umbrella", t).to_tabular().values for t in (0, 1)]
    assert tables[0].tolist() == tables[1].tolist()
    assert (fitted.n_parameters, fitted.n_sequences, fitted.n_slices) == (5, 2, 60)
    likelihood = compile_dynamic(fitted.network).log_likelihood(weather_of(30, 1), sequence="town")
    assert likelihood == pytest.approx(fitted.log_likelihood)
    assert fitted.bic == pytest.approx(5 * math.log(2) - 2 * likelihood)
    assert "rain is never observed" in fitted.warnings[0]


def test_complete_sequences_are_counted() -> None:
    cases = {"rain": ["no", "no", "yes", "yes"], "umbrella": ["no", "yes", "yes", "yes"]}
    fitted = fit_dynamic(WEATHER, cases)
    assert repr(fitted).startswith("DynamicFit(1 sequence, 4 slices: log-likelihood")
    assert fitted.network.cpd("rain").to_tabular().values.tolist() == [[0.5, 0.0], [0.5, 1.0]]
    assert fitted.network.cpd("umbrella").to_tabular().values.tolist() == [[0.5, 0.0], [0.5, 1.0]]


def test_zeros_stay_zero_and_fixed_tables_stay() -> None:
    rain = WEATHER.variable("rain")
    never_ends = TabularCPD(rain, (previous(rain),), np.array([[0.6, 0.0], [0.4, 1.0]]))
    network = DynamicNetwork(WEATHER.first, (never_ends, WEATHER.transition[1]))
    options = FitOptions(starts=2, max_iterations=30)
    fitted = fit_dynamic(
        network, weather_of(20, 2), sequence="town", fixed=["umbrella"], options=options
    )
    assert fitted.network.cpd("rain").to_tabular().values[0, 1] == 0
    assert fitted.n_parameters == 2  # the start, and the end of a dry spell
    for number in (0, 1):
        sensor = fitted.network.cpd("umbrella", number).to_tabular().values
        assert sensor.tolist() == WEATHER.cpd("umbrella").to_tabular().values.tolist()


def test_priors_count_for_each_kind_of_slice() -> None:
    cases = {"rain": ["no", "yes"], "umbrella": ["no", "yes"]}
    prior = Dirichlet({"rain": [[0, 0], [0, 2]], "rain[t-1]": [1, 0], "umbrella[t-1]": 1})
    fitted = fit_dynamic(WEATHER, cases, prior=prior)
    assert fitted.network.cpd("rain", 0).to_tabular().values.tolist() == [1.0, 0.0]
    assert fitted.network.cpd("rain").to_tabular().values[:, 1].tolist() == [0.0, 1.0]
    assert fitted.network.cpd("umbrella").to_tabular().values[0, 0] == pytest.approx(2 / 3)
    assert isinstance(fit_dynamic(WEATHER, cases, prior=BDeu(4)), DynamicFit)


def test_what_cannot_be_learned_is_refused() -> None:
    varying = DynamicNetwork(WEATHER.first, WEATHER.transition, {"rain": lambda number: 0})
    with pytest.raises(InvalidArgumentError, match="vary from slice to slice"):
        fit_dynamic(varying, {"umbrella": ["yes"]})
    with pytest.raises(InvalidArgumentError, match="snow"):
        fit_dynamic(WEATHER, {"umbrella": ["yes"]}, fixed=["snow"])
    rain = Variable("rain", ("no", "yes"))
    start = TabularCPD(rain, (), np.array([1.0, 0.0]))
    stays = TabularCPD(rain, (previous(rain),), np.eye(2))
    with pytest.raises(ImpossibleEvidenceError, match="row 1, slice 1"):
        fit_dynamic(DynamicNetwork(Network((start,)), (stays,)), {"rain": ["no", "yes"]})
