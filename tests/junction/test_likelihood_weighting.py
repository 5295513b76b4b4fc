"""Likelihood weighting against exact posteriors, and its standard errors against repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bnmind.junction.sampling as weighting
from bnmind.errors import (
    InvalidArgumentError,
    TooFewSamplesError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import likelihood_weighting, posterior
from bnmind.junction.sampling import pick
from bnmind.pgm import CPD, FunctionalCPD, Network, TabularCPD, Variable, noisy_and, noisy_or
from tests.junction.slicing.test_sliced_plan import small_network


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_estimates_are_within_five_standard_errors(seed: int) -> None:
    network = small_network(seed)
    evidence: dict[str, Any] = {"v5": network.variable("v5").states[0]}
    evidence["v6"] = {s: float(i == 0) for i, s in enumerate(network.variable("v6").states)}
    exact = posterior(network, evidence)
    found = likelihood_weighting(
        network, evidence, n_samples=20_000, rng=np.random.default_rng(seed)
    )
    assume(found.effective_samples >= 500)
    for name, p in found.marginals.items():
        position = [v.name for v in found.variables].index(name)
        error = found.standard_errors[position]
        assert np.all(np.abs(p - exact.marginals[name]) <= 5 * error + 1e-3)
    assert abs(np.expm1(found.log_evidence - exact.log_evidence)) <= 5 * found.evidence_error + 1e-9


def sums() -> Network:
    """Return a network with tables, a noisy-or and a sum."""
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    c = Variable("c", ("0", "1"))
    return Network(
        (
            TabularCPD(a, (), np.array([0.7, 0.3])),
            TabularCPD(b, (a,), np.array([[0.6, 0.2], [0.4, 0.8]])),
            noisy_or(c, (a, b), [0.5, 0.3], leak=0.1),
            FunctionalCPD.sum_of("n", (a, b, c)),
        )
    )


def test_standard_errors_are_those_of_repetitions() -> None:
    network, evidence = sums(), {"n": "1"}
    rng = np.random.default_rng(3)
    found = [
        likelihood_weighting(network, evidence, ["a"], n_samples=500, rng=rng) for _ in range(300)
    ]
    estimates = np.array([one.estimates[0][1] for one in found])
    errors = np.array([one.standard_errors[0][1] for one in found])
    assert estimates.std() == pytest.approx(errors.mean(), rel=0.15)
    logs = np.exp([one.log_evidence for one in found])
    mean = np.mean([one.evidence_error for one in found])
    assert logs.std() / logs.mean() == pytest.approx(mean, rel=0.15)
    exact = posterior(network, evidence).marginals["a"][1]
    assert abs(estimates.mean() - exact) < 5 * errors.mean() / np.sqrt(300)


def test_without_evidence_all_samples_count_equally() -> None:
    seen: list[int] = []
    found = likelihood_weighting(
        sums(),
        n_samples=20_000,
        rng=np.random.default_rng(1),
        progress=lambda done, total: seen.append(done),
    )
    assert found.effective_samples == pytest.approx(20_000)
    assert found.log_evidence == 0
    p = found.marginals["a"][1]
    assert found.standard_errors[0][1] == pytest.approx(np.sqrt(p * (1 - p) / 20_000))
    assert seen[-1] == 20_000
    assert "worth 20,000" in repr(found)


def test_equal_generators_give_equal_estimates() -> None:
    one, two = (
        likelihood_weighting(sums(), {"c": "1"}, n_samples=50, rng=np.random.default_rng(7))
        for _ in range(2)
    )
    assert one.estimates[0].tolist() == two.estimates[0].tolist()


def test_faults_are_named() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        likelihood_weighting(sums(), n_samples=0, rng=rng)
    with pytest.raises(TooFewSamplesError, match="all disagree"):
        likelihood_weighting(sums(), {"n": "3", "c": "0"}, n_samples=10, rng=rng)
    with pytest.raises(TooLargeError, match="fewer samples"):
        likelihood_weighting(sums(), n_samples=10**12, rng=rng)
    with pytest.raises(UnknownNameError):
        likelihood_weighting(sums(), {"z": "0"}, n_samples=10, rng=rng)


def two_causes(wet: float, n_states: int = 2) -> Network:
    """Return a network in which the evidence of wet grass has a small probability."""
    rain = Variable("rain", ("no", "yes"))
    probabilities = np.array([[1 - wet, 1 - wet], [wet, wet]])
    seen = [Variable(f"wet{i}", ("no", "yes")) for i in range(n_states)]
    hidden = Variable("hidden", ("no", "yes"))
    return Network(
        (
            TabularCPD(rain, (), np.array([0.7, 0.3])),
            TabularCPD(hidden, (), np.array([1 - wet, wet])),
            *(TabularCPD(v, (hidden,), np.array([[1, 0], [0, 1]])) for v in seen[:1]),
            *(TabularCPD(v, (rain,), probabilities) for v in seen[1:]),
        )
    )


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_few_effective_samples_give_no_estimates(seed: int) -> None:
    with pytest.raises(TooFewSamplesError, match="Draw more samples") as caught:
        likelihood_weighting(
            two_causes(1e-4),
            {"wet0": "yes"},
            ["rain"],
            n_samples=10_000,
            rng=np.random.default_rng(seed),
        )
    assert caught.value.n_samples == 10_000
    assert caught.value.effective_samples < 10


def test_states_that_never_or_always_occurred_have_an_error() -> None:
    found = likelihood_weighting(
        two_causes(1e-6),
        {"wet1": "yes"},
        ["hidden", "wet1"],
        n_samples=100,
        rng=np.random.default_rng(1),
    )
    assert found.estimates[0].tolist() == [1.0, 0.0]
    assert found.standard_errors[0] == pytest.approx(3 / 100)
    assert found.standard_errors[1].tolist() == [0.0, 0.0]
    assert "hidden  no 1.000 ± 0.03  yes 0.000 ± 0.03" in repr(found)


def test_noisy_effects_of_many_causes_are_sampled() -> None:
    causes = [Variable(f"c{i}", ("no", "yes")) for i in range(40)]
    cpds: list[CPD] = [TabularCPD(c, (), np.array([0.9, 0.1])) for c in causes]
    cpds.append(noisy_or(Variable("any", ("no", "yes")), causes, [0.3] * 40, leak=0.05))
    found = likelihood_weighting(
        Network(tuple(cpds)), {"any": "no"}, ["c0"], n_samples=2_000, rng=np.random.default_rng(1)
    )
    absent = 0.9 + 0.1 * 0.7
    error = found.standard_errors[0][0]
    assert abs(found.estimates[0][0] - 0.9 / absent) <= 5 * error
    log_evidence = np.log(0.95) + 40 * np.log(absent)
    assert abs(np.expm1(found.log_evidence - log_evidence)) <= 5 * found.evidence_error


def test_noisy_effects_are_sampled_as_from_their_tables() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    roots = [TabularCPD(v, (), np.array([0.7, 0.3])) for v in (a, b)]
    for effect in (noisy_or(a, (b,), [0.5], 0.1), noisy_and(a, (b,), [0.5], 0.1)):
        networks = [Network((roots[1], cpd)) for cpd in (effect, effect.to_tabular())]
        one, two = (
            likelihood_weighting(net, {"a": "1"}, n_samples=50, rng=np.random.default_rng(7))
            for net in networks
        )
        assert one.estimates[0] == pytest.approx(two.estimates[0], abs=1e-12)


def test_all_errors_are_those_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow twin weighs each sample; chunks of other scales make no difference."""
    monkeypatch.setattr(weighting, "_CHUNK", 4)
    rain = Variable("rain", ("no", "drizzle", "storm", "snow", "hail"))
    chances = np.array([0.45, 0.45, 0.06, 0.04 - 1e-6, 1e-6])
    network = Network((TabularCPD(rain, (), chances),))
    likelihood = np.array([0.5, 0.35, 0.001, 1.0, 1.0])
    found = likelihood_weighting(
        network, {"rain": likelihood}, n_samples=80, rng=np.random.default_rng(5)
    )
    rng, rows = np.random.default_rng(5), np.tile(chances, (4, 1))
    states = np.concatenate([pick(rows, rng.random(4)) for _ in range(20)])
    w = likelihood[states]
    assert set(states.tolist()) == {0, 1, 2, 3}
    assert w[:4].max() < w.max()
    assert found.effective_samples == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert found.log_evidence == pytest.approx(np.log(w.mean()))
    assert found.evidence_error == pytest.approx(w.std() / w.mean() / np.sqrt(80))
    for state, error in enumerate(found.standard_errors[0]):
        is_there = states == state
        p = w[is_there].sum() / w.sum()
        assert found.estimates[0][state] == pytest.approx(p)
        own = np.sqrt((w**2 * (is_there - p) ** 2).sum()) / w.sum()
        # A state of little weight is at least as uncertain as one sample.
        least = (1 if is_there.any() else 3) / found.effective_samples
        assert error == pytest.approx(max(own, least))
    assert found.standard_errors[0][2] == pytest.approx(1 / found.effective_samples)
