"""Samples of the posterior: support and frequencies against enumeration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.sampling as sampling
import bnmind.junction.walk as walk
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction import Limits, compile_plan, compile_sampling
from bnmind.junction.sampling import Samples
from bnmind.pgm import (
    Addition,
    FunctionalCPD,
    Network,
    NoisyMaximum,
    NoisyMinimum,
    TabularCPD,
    Variable,
    noisy_or,
)
from tests.junction.test_most_probable import chain, coin, questions, weighed
from tests.modes import examples
from tests.networks import networks
from tests.wheel import ask, read_wheel, state_names

COIN, CALL = Variable("coin", ("heads", "tails")), Variable("call", ("heads", "tails"))
CALLS = Network((coin(COIN, 0.5), TabularCPD(CALL, (COIN,), np.array([[0.9, 0.2], [0.1, 0.8]]))))


def assert_drawn_from(samples: Samples, names: list[str], expected: Floats) -> None:
    """Check support, and frequencies by a bound on chi-square that chance hardly ever breaks."""
    counts = samples.frequencies(*names) * len(samples)
    assert not np.any(counts[expected == 0])
    means = len(samples) * expected[expected > 0]
    # Cells that are hardly ever hit are taken together.
    small = means < 5
    seen = counts[expected > 0]
    grouped = [*zip(seen[~small], means[~small], strict=True)]
    if means[small].sum() >= 5:
        grouped.append((seen[small].sum(), means[small].sum()))
    chi_square = sum((o - e) ** 2 / e for o, e in grouped)
    degrees = max(len(grouped) - 1, 1)
    assert chi_square <= degrees + 7 * np.sqrt(2 * degrees) + 30


@settings(max_examples=examples(100))
@given(questions(), st.integers(0, 2**32 - 1))
def test_samples_come_from_the_posterior(
    question: tuple[Network, dict[str, str], dict[str, Floats]], seed: int
) -> None:
    network, hard, soft = question
    joint = weighed(network, hard, soft)
    plan = compile_sampling(network, evidence=hard, soft=soft)
    rng = np.random.default_rng(seed)
    total = float(joint.values.sum())
    if total == 0:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run({**hard, **soft}, n_samples=3, rng=rng)
        return
    samples = plan.run({**hard, **soft}, n_samples=3000, rng=rng)
    assert samples.log_evidence == pytest.approx(np.log(total), rel=1e-9, abs=1e-12)
    assert samples.variables == network.variables
    assert_drawn_from(
        samples,
        [v.name for v in network.variables],
        np.real(joint.transpose(v.name for v in network.variables).values) / total,
    )


def test_the_bound_on_frequencies_would_notice() -> None:
    plan = compile_sampling(CALLS, evidence=["call"])
    samples = plan.run({"call": "heads"}, n_samples=3000, rng=np.random.default_rng(1))
    right, wrong = np.array([9, 2]) / 11, np.array([9, 3]) / 12
    assert_drawn_from(samples, ["coin"], right)
    with pytest.raises(AssertionError):
        assert_drawn_from(samples, ["coin"], wrong)


@settings(max_examples=examples(50))
@given(networks(), st.integers(0, 2**32 - 1))
def test_the_same_seed_gives_the_same_samples(network: Network, seed: int) -> None:
    plan = compile_sampling(network, soft=[network.variables[-1].name])
    first, second = (
        plan.run(n_samples=20, rng=np.random.default_rng(seed)).positions for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert not first.flags.writeable


def test_samples_are_drawn_a_chunk_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    network = chain(4)
    seen = {"O1": "a", "O3": "b"}
    plan = compile_sampling(network, evidence=seen)
    whole = plan.run(seen, n_samples=100, rng=np.random.default_rng(5))
    monkeypatch.setattr(walk, "CHUNK", 7)
    parts = plan.run(seen, n_samples=100, rng=np.random.default_rng(5))
    assert np.array_equal(whole.positions, parts.positions)


def test_samples_as_columns_make_a_frame() -> None:
    samples = compile_sampling(CALLS).run(n_samples=50, rng=np.random.default_rng(2))
    frame = samples.to_frame()
    assert frame.shape == (50, 2)
    assert list(frame["coin"].cat.categories) == ["heads", "tails"]
    assert frame.astype(str).equals(pd.DataFrame(samples.columns).astype(str))
    share = float((frame["coin"] == "heads").mean())
    assert share == samples.frequencies("coin")[0]
    assert samples.frequencies("call", "coin").sum() == pytest.approx(1.0)
    with pytest.raises(UnknownNameError):
        samples.frequencies("dice")
    assert repr(samples) == "Samples(50 of 2 variables)"
    assert len(compile_sampling(CALLS).run(n_samples=0, rng=np.random.default_rng(2))) == 0


def test_nothing_is_triangulated_without_evidence() -> None:
    plan = compile_sampling(read_wheel("insurance"))
    assert plan.plan is None
    assert repr(plan) == "SamplingPlan(27 variables | nothing)"
    told = compile_sampling(CALLS, evidence=["coin"])
    assert [cpd.variable.name for cpd in told.forward] == ["call"]
    assert "drawn forward  call" in str(told)
    assert repr(told).startswith("SamplingPlan(1 variable | coin; ")


def test_noisy_extrema_of_thirty_parents_are_drawn_given_their_effect() -> None:
    """P(cause | no effect) is known: each cause by itself, its chance times 1 - link."""
    causes = [Variable(f"C{i}", ("no", "yes")) for i in range(30)]
    effect = Variable("effect", ("no", "yes"))
    chance, link = 0.3, 0.6
    network = Network(
        (
            *(coin(v, chance) for v in causes),
            noisy_or(effect, causes, [link] * 30, leak=0.1),
        )
    )
    plan = compile_sampling(network, evidence=["effect"])
    assert plan.plan is not None
    assert plan.plan.total_size < 1000
    samples = plan.run({"effect": "no"}, n_samples=5000, rng=np.random.default_rng(6))
    present = chance * (1 - link)
    expected = present / (present + 1 - chance)
    shares = [samples.frequencies(v.name)[1] for v in causes]
    assert np.allclose(shares, expected, atol=6 * np.sqrt(expected / 5000))
    assert samples.log_evidence == pytest.approx(
        np.log(0.9) + 30 * np.log(1 - chance * link), rel=1e-12
    )


@pytest.mark.parametrize("kind", [NoisyMaximum, NoisyMinimum])
def test_noisy_extrema_are_drawn_forward(kind: type[NoisyMaximum | NoisyMinimum]) -> None:
    cause = Variable("cause", ("a", "b"))
    effect = Variable("effect", ("low", "mid", "high"))
    link = np.array([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    noisy = kind(effect, (cause,), (link,), np.array([0.5, 0.3, 0.2]))
    network = Network((coin(cause, 0.6), noisy))
    samples = compile_sampling(network).run(n_samples=20_000, rng=np.random.default_rng(7))
    joint = np.real(noisy.to_factor().values) * [0.4, 0.6]
    assert_drawn_from(samples, ["effect", "cause"], joint)


def test_a_sum_of_thirty_parents_is_drawn_given_itself() -> None:
    bits = [Variable.of_integers(f"B{i}", range(2)) for i in range(30)]
    total = FunctionalCPD(Variable.of_integers("S", range(31)), tuple(bits), Addition.of([2] * 30))
    network = Network((*(coin(v, 0.5) for v in bits), total))
    samples = compile_sampling(network, evidence=["S"]).run(
        {"S": "9"}, n_samples=2000, rng=np.random.default_rng(8)
    )
    assert np.all(samples.positions[:, :-1].sum(axis=1) == 9)
    assert abs(samples.frequencies("B4")[1] - 0.3) < 0.06


def test_a_chain_of_600_reports_is_sampled_without_underflow() -> None:
    n = 600
    network = chain(n)
    rng = np.random.default_rng(9)
    seen = {f"O{i}": str(rng.choice(["a", "b", "c"])) for i in range(n)}
    samples = compile_sampling(network, evidence=seen).run(seen, n_samples=4000, rng=rng)
    posterior = compile_plan(network, evidence=seen).run(seen)
    assert samples.log_evidence == pytest.approx(posterior.log_evidence, rel=1e-12)
    for name in ("H0", "H300", "H599"):
        expected = np.asarray(posterior.marginals[name])
        assert np.allclose(samples.frequencies(name), expected, atol=0.05)


@pytest.mark.parametrize("name", ["alarm", "insurance"])
def test_samples_of_a_wheel_network_have_its_marginals(name: str) -> None:
    network = read_wheel(name)
    findings = state_names(network, ask(network, "random").findings)
    posterior = compile_plan(network, evidence=findings).run(findings)
    samples = compile_sampling(network, evidence=findings).run(
        findings, n_samples=20_000, rng=np.random.default_rng(10)
    )
    assert samples.log_evidence == pytest.approx(posterior.log_evidence, rel=1e-10)
    for variable, expected in posterior.marginals.items():
        assert_drawn_from(samples, [variable], np.asarray(expected))


def test_wrong_questions_are_refused() -> None:
    plan = compile_sampling(CALLS, evidence=["call"])
    rng = np.random.default_rng(11)
    with pytest.raises(InvalidArgumentError, match="got -1"):
        plan.run({"call": "heads"}, n_samples=-1, rng=rng)
    with pytest.raises(InvalidArgumentError):
        plan.run({}, n_samples=1, rng=rng)
    with pytest.raises(InvalidArgumentError):
        compile_sampling(CALLS).run({"call": "heads"}, n_samples=1, rng=rng)
    with pytest.raises(UnknownNameError):
        compile_sampling(CALLS, evidence=["dice"])
    with pytest.raises(InvalidArgumentError):
        compile_sampling(CALLS, evidence=["coin"], soft=["coin"])
    with pytest.raises(TooLargeError):
        compile_sampling(chain(3), evidence=["O2"], limits=Limits(max_multiplications=5))


def test_more_states_than_fit_are_refused_before_any_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "MOST_STATES", 8)
    plan, rng = compile_sampling(CALLS), np.random.default_rng(0)
    assert len(plan.run(n_samples=4, rng=rng)) == 4
    with pytest.raises(TooLargeError) as caught:
        plan.run(n_samples=5, rng=rng)
    assert str(caught.value) == "expected at most 8 states to draw at a time, got 10"
    assert (caught.value.needed, caught.value.budget) == (10, 8)
