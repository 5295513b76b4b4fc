"""Improbable evidence on sums, counts and noisy extrema: possible, and with all its digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bnmind.errors import CancellationError, ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import (
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
)
from bnmind.pgm import (
    Addition,
    Exactly,
    FactorModel,
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    Parity,
    TabularCPD,
    Threshold,
    Variable,
)
from bnmind.rank_one import factorize
from tests.modes import examples

YES = ("no", "yes")


@dataclass(frozen=True)
class Question:
    """Independent parents and what is made of them, one parent at a time."""

    network: Network
    priors: list[Floats]
    contributions: list[Floats]
    """``(contributions, states)`` of each parent: how probable each is given the state."""
    start: int
    combine: Callable[[int, int], int]
    """From what the parents so far have made and the next contribution to what is made then."""
    finish: Callable[[int], int]
    """From what all have made to the position of the result."""

    def chances(
        self, fixed: Mapping[str, int] | None = None, *, best: bool = False
    ) -> dict[int, Decimal]:
        """Return the probability of each result together with states of some parents.

        If ``best``, of the most probable states of the parents instead of all.
        """
        fixed = fixed or {}
        with localcontext() as context:
            context.prec = 60
            made = {self.start: Decimal(1)}
            for i, (prior, links) in enumerate(zip(self.priors, self.contributions, strict=True)):
                after: dict[int, Decimal] = {}
                for state, p in enumerate(prior):
                    if fixed.get(f"X{i}", state) != state or p == 0:
                        continue
                    for z, link in enumerate(links[:, state]):
                        if link == 0:
                            continue
                        weight = Decimal(float(p)) * Decimal(float(link))
                        for so_far, chance in made.items():
                            key = self.combine(so_far, z)
                            term = chance * weight
                            old = after.get(key, Decimal(0))
                            after[key] = max(old, term) if best else old + term
                made = after
            results: dict[int, Decimal] = {}
            for so_far, chance in made.items():
                key = self.finish(so_far)
                old = results.get(key, Decimal(0))
                results[key] = max(old, chance) if best else old + chance
            return results


def functional(
    parents: Sequence[Variable], priors: list[Floats], function: Any, n_results: int, how: Any
) -> Question:
    """Return the question about a function whose contributions are the states themselves."""
    start, combine, finish = how
    child = FunctionalCPD(Variable.of_integers("S", range(n_results)), tuple(parents), function)
    cpds = [TabularCPD(v, (), p) for v, p in zip(parents, priors, strict=True)]
    links = [np.eye(v.n_states) for v in parents]
    return Question(Network((*cpds, child)), priors, links, start, combine, finish)


@st.composite
def questions(draw: st.DrawFn, *, most: int = 12) -> Question:
    """Return any function of up to so many parents with extreme chances."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_states = draw(st.sampled_from([2, 2, 3]))
    parents = [Variable.of_integers(f"X{i}", range(n_states)) for i in range(n)]
    depth = draw(st.sampled_from([1, 4, 12, 30]))
    priors = [extreme(rng, n_states, depth, zeros=draw(st.booleans())) for _ in parents]
    kind = draw(
        st.sampled_from(
            ["sum", "difference", "threshold", "exactly", "parity", "extremum", "noisy"]
        )
    )
    if kind in ("sum", "difference"):
        signs = rng.choice([1, -1, 2], n) if kind == "difference" else np.ones(n, dtype=int)
        function = Addition.of([n_states] * n, signs=signs.tolist())
        # What each contributes is told apart by its place.
        cpds = [TabularCPD(v, (), p) for v, p in zip(parents, priors, strict=True)]
        child = Variable.of_integers("S", range(function.modulus))
        network = Network((*cpds, FunctionalCPD(child, tuple(parents), function)))
        width = 2 * (n_states - 1) + 1
        links = []
        for sign in signs:
            link = np.zeros((2 * width, n_states))
            for state in range(n_states):
                link[sign * state + width, state] = 1
            links.append(link)
        return Question(
            network, priors, links, function.constant, lambda a, z: a + z - width, lambda a: a
        )
    if kind in ("threshold", "exactly"):
        wanted = draw(st.integers(0, n + 1))
        count = (0, lambda a, z: a + (z > 0))
        of: Any = Threshold(wanted) if kind == "threshold" else Exactly(wanted)
        done = (lambda a: int(a >= wanted)) if kind == "threshold" else (lambda a: int(a == wanted))
        return functional(parents, priors, of, 2, (*count, done))
    if kind == "parity":
        return functional(parents, priors, Parity(), 2, (0, lambda a, z: (a + z) % 2, lambda a: a))
    if kind == "extremum":
        least = draw(st.booleans())
        how = (n_states - 1, min, lambda a: a) if least else (0, max, lambda a: a)
        return functional(parents, priors, Minimum() if least else Maximum(), n_states, how)
    child = Variable.of_integers("S", range(draw(st.integers(2, 3))))
    links = [
        np.stack([extreme(rng, child.n_states, depth) for _ in range(n_states)], axis=1)
        for _ in parents
    ]
    cpds = [TabularCPD(v, (), p) for v, p in zip(parents, priors, strict=True)]
    noisy = NoisyMaximum(child, tuple(parents), tuple(links))
    return Question(Network((*cpds, noisy)), priors, [*noisy.links], 0, max, lambda a: a)


def extreme(rng: np.random.Generator, n: int, depth: int, *, zeros: bool = False) -> Floats:
    """Return a distribution whose entries are of very different sizes."""
    weights = 10.0 ** -(depth * rng.random(n))
    weights[rng.integers(n)] = 1.0
    if zeros and rng.random() < 0.3:
        weights[rng.integers(n)] = 0.0
    whole = weights.sum()
    found: Floats = weights / whole if whole else np.eye(n)[0]
    return found


def logarithm(chance: Decimal) -> float:
    return float(chance.ln()) if chance else -math.inf


def check(question: Question, model: Network | FactorModel, s: int) -> None:
    """Compare all that may be asked with the oracle, for one result."""
    network = question.network
    child = network.variable("S")
    evidence = {"S": child.states[s]}
    chances = question.chances()
    chance = chances.get(s, Decimal(0))
    plan = compile_plan(model, evidence=["S"], targets=[["X0"], ["X1"], ["X0", "X1"]])
    soft = compile_plan(model, soft=["S"], targets=[["X0"]])
    assert plan.is_possible(evidence) is bool(chance)
    batch = plan.run_batch({"S": np.arange(child.n_states)}, allow_impossible=True)
    logs = [logarithm(chances.get(i, Decimal(0))) for i in range(child.n_states)]
    np.testing.assert_allclose(batch.log_evidence, logs, rtol=1e-10, atol=1e-9)
    if not chance:
        for one in (plan, soft):
            with pytest.raises(ImpossibleEvidenceError):
                one.run(evidence)
            with pytest.raises(ImpossibleEvidenceError):
                one.restrict(evidence).run()
        return
    both = [
        [
            float(question.chances({"X0": i, "X1": j}).get(s, Decimal(0)) / chance)
            for j in range(network.variable("X1").n_states)
        ]
        for i in range(network.variable("X0").n_states)
    ]
    answers = [plan.run(evidence), plan.restrict(evidence).run()]
    for found in answers:
        assert found.log_evidence == pytest.approx(logs[s], rel=1e-10, abs=1e-9)
        np.testing.assert_allclose(found.joints[2], both, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.joints[0], np.sum(both, axis=1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(batch.joints[2][s], both, rtol=0, atol=1e-9)
    other = (s + 1) % child.n_states
    weights = np.zeros(child.n_states)
    weights[[s, other]] = 1e-3, 1e-5
    mixed = Decimal("1e-3") * chance + Decimal("1e-5") * chances.get(other, Decimal(0))
    assert soft.run({"S": weights}).log_evidence == pytest.approx(
        logarithm(mixed), rel=1e-10, abs=1e-9
    )


def check_decisions(question: Question, s: int) -> None:
    """Compare what is decided about the parents with the oracle, for one possible result."""
    network = question.network
    child = network.variable("S")
    evidence = {"S": child.states[s]}
    log = logarithm(question.chances()[s])
    # Under maxima, a noisy extremum is its whole table.
    if isinstance(network.cpd("S"), FunctionalCPD):
        explained = compile_explanation(network, evidence=["S"]).run(evidence)
        best = logarithm(question.chances(best=True)[s])
        assert explained.log_probability == pytest.approx(best, rel=1e-10, abs=1e-9)
        at = [
            network.variable(f"X{i}").index(explained.states[f"X{i}"])
            for i in range(len(question.priors))
        ]
        chance = sum(math.log(p[i]) for p, i in zip(question.priors, at, strict=True))
        assert chance == pytest.approx(best, rel=1e-10, abs=1e-9)
    found = compile_model(network).map(["X0", "X1"], evidence)
    states = {n: network.variable(n).index(found.states[n]) for n in ("X0", "X1")}
    together = logarithm(question.chances(states)[s])
    assert found.log_probability == pytest.approx(together, rel=1e-10, abs=1e-9)
    samples = compile_sampling(network, evidence=["S"]).run(
        evidence, n_samples=20, rng=np.random.default_rng(1)
    )
    assert samples.log_evidence == pytest.approx(log, rel=1e-10, abs=1e-9)
    cpd = network.cpd("S")
    columns = {v.name: samples.positions[:, i] for i, v in enumerate(samples.variables)}
    assert set(columns["S"].tolist()) == {s}
    if isinstance(cpd, FunctionalCPD):
        made = cpd.function(*[columns[v.name] for v in cpd.parents])
        assert set(np.atleast_1d(made).tolist()) == {s}


@settings(max_examples=examples(150))
@given(questions(), st.data())
def test_improbable_evidence_is_answered(question: Question, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, question.network.variable("S").n_states - 1))
    check(question, question.network, s)
    if question.chances().get(s):
        check_decisions(question, s)


@settings(max_examples=examples(100))
@given(questions(most=8), st.data())
def test_so_it_is_where_the_factors_have_signs(question: Question, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, question.network.variable("S").n_states - 1))
    check(question, factorize(question.network, "S"), s)


@pytest.mark.slow
@settings(max_examples=examples(16))
@given(questions(most=60), st.data())
def test_many_parents_with_improbable_evidence(question: Question, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, question.network.variable("S").n_states - 1))
    check(question, question.network, s)
    if question.chances().get(s):
        check_decisions(question, s)


def votes(n: int, p: float) -> Network:
    parents = tuple(Variable(f"X{i}", YES) for i in range(n))
    cpds = [TabularCPD(v, (), np.array([1 - p, p])) for v in parents]
    return Network((*cpds, FunctionalCPD.sum_of("S", parents)))


def test_sixty_of_two_hundred_rare_events() -> None:
    """Their logarithm is −67.54; factors of both signs keep no digit of it."""
    network = votes(200, 0.05)
    log = float(binom.logpmf(60, 200, 0.05))
    assert log == pytest.approx(-67.54, abs=0.005)
    for model in (network, factorize(network, "S")):
        plan = compile_plan(model, evidence=["S"], targets=[["X0"], ["X199"]])
        assert plan.is_possible({"S": "60"})
        for found in (plan.run({"S": "60"}), plan.restrict({"S": "60"}).run()):
            assert found.log_evidence == pytest.approx(log, rel=1e-12)
            for marginal in found.marginals.values():
                np.testing.assert_allclose(marginal, [0.7, 0.3], rtol=0, atol=1e-12)
    given = FactorModel(factorize(network, "S").potentials)
    lost = compile_plan(given, evidence=["S"], targets=[["X0"]])
    with pytest.raises(CancellationError):
        lost.run({"S": "60"})
    with pytest.raises(CancellationError):
        lost.is_possible({"S": "60"})
    assert (
        compile_sampling(network, evidence=["S"])
        .run({"S": "60"}, n_samples=5, rng=np.random.default_rng(0))
        .positions[:, :200]
        .sum(axis=1)
        .tolist()
        == [60] * 5
    )


def test_four_hundred_of_a_thousand_votes_take_no_search() -> None:
    """Chains have a small plan, and a run of it counts a few million products."""
    network = votes(1000, 0.1)
    plan = compile_plan(network, evidence=["S"])
    assert plan.multiplications < 10**7
    assert plan.memory < 2**26
    for total in (0, 1, 100, 400, 999, 1000):
        found = plan.run({"S": str(total)})
        expected = float(binom.logpmf(total, 1000, 0.1))
        assert found.log_evidence == pytest.approx(expected, rel=1e-10)
        for name in ("X0", "X500", "X999"):
            assert found.marginals[name][1] == pytest.approx(total / 1000, abs=1e-10)


@pytest.mark.parametrize("kind", ["difference", "threshold", "exactly", "count"])
def test_other_functions_of_many_parents_are_as_quick(kind: str) -> None:
    n, p = 600, 0.1
    parents = tuple(Variable(f"X{i}", YES) for i in range(n))
    cpds = [TabularCPD(v, (), np.array([1 - p, p])) for v in parents]
    logs = binom.logpmf(np.arange(n + 1), n, p)
    if kind == "difference":
        child = FunctionalCPD.sum_of("S", parents, signs=[1] * 300 + [-1] * 300)
        half = binom.logpmf(np.arange(301), 300, p)
        state, expected = "200", float(np.logaddexp.reduce(half[200:] + half[:101]))
    elif kind == "threshold":
        child = FunctionalCPD(Variable("S", YES), parents, Threshold(240))
        state, expected = "yes", float(np.logaddexp.reduce(logs[240:]))
    elif kind == "exactly":
        child = FunctionalCPD(Variable("S", YES), parents, Exactly(240))
        state, expected = "yes", float(logs[240])
    else:
        counting = Addition.counting([2] * n, [[0]] * n)
        child = FunctionalCPD(Variable.of_integers("S", range(n + 1)), parents, counting)
        state, expected = "360", float(logs[240])
    network = Network((*cpds, child))
    plan = compile_plan(network, evidence=["S"], targets=[["X0"], ["X599"]])
    assert plan.multiplications < 10**7
    assert plan.run({"S": state}).log_evidence == pytest.approx(expected, rel=1e-10)
    explained = compile_explanation(network, evidence=["S"]).run({"S": state})
    n_yes = sum(explained.states[v.name] == "yes" for v in parents)
    assert n_yes == {"difference": 200}.get(kind, 240)


def test_improbable_states_of_a_hidden_sum_are_not_zero() -> None:
    """Their terms cancel, while the evidence has all its digits."""
    expected = binom.pmf(np.arange(41), 40, 0.05)
    network = votes(40, 0.05)
    plan = compile_plan(factorize(network, "S"), soft=["X39"], targets=[["S"], ["S", "X0"]])
    assert plan.is_signed
    batch = plan.run_batch({"X39": np.array([-1, -1])})
    for s, both in ((plan.run({}).joints), [joint[1] for joint in batch.joints]):
        np.testing.assert_allclose(s, expected, rtol=1e-9)
        np.testing.assert_allclose(both.sum(axis=1), expected, rtol=1e-9)
        # No vote for it and all forty votes: impossible, and known to be.
        assert both[40, 0] == both[0, 1] == 0
        assert np.count_nonzero(both) == 80
