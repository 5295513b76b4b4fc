"""Independent causes of observed effects: the sweep against enumeration in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.causes as causes_module
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import Limits, compile_model, compile_plan
from bnmind.junction.causes import _moved, independent_causes
from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    Exactly,
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    NoisyMinimum,
    Parity,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from tests.modes import examples
from tests.qmr import qmr_evidence, qmr_network, quickscore


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return distributions along the first axis, some with very small or zero probabilities."""
    powers = rng.choice([0.0, 0.0, -1.0, -3.0, -9.0], shape)
    values = np.where(rng.random(shape) < 0.15, 0.0, rng.random(shape) * 10.0**powers)
    values[0] += values.sum(axis=0) == 0
    result: Floats = values / values.sum(axis=0)
    return result


@st.composite
def models(draw: st.DrawFn) -> Network:
    """Return a network of causes, and of effects of several kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    causes = [
        Variable.of_integers(f"c{i}", range(n))
        for i, n in enumerate(draw(st.lists(st.integers(2, 3), min_size=2, max_size=5)))
    ]
    cpds: list[CPD] = [TabularCPD(v, (), numbers(rng, (v.n_states,))) for v in causes]
    kinds = ("maximum", "minimum", "sum", "count", "threshold", "exactly", "parity", "equality")
    for j, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))):
        size = int(rng.integers(1, len(causes) + 1))
        parents = tuple(causes[i] for i in rng.choice(len(causes), size, replace=False))
        n = int(rng.integers(2, 4))
        child = Variable.of_integers(f"e{j}", range(n))
        if kind in ("maximum", "minimum") and rng.random() < 0.7:
            links = tuple(numbers(rng, (n, v.n_states)) for v in parents)
            noisy = NoisyMaximum if kind == "maximum" else NoisyMinimum
            cpds.append(noisy(child, parents, links, numbers(rng, (n,))))
            continue
        two, three = (Variable.of_integers(f"e{j}", range(k)) for k in (2, 3))
        values = tuple(tuple(rng.integers(0, 3, v.n_states).tolist()) for v in parents)
        cpds.append(
            {
                "maximum": FunctionalCPD(three, parents, Maximum()),
                "minimum": FunctionalCPD(three, parents, Minimum()),
                "sum": FunctionalCPD(
                    Variable.of_integers(f"e{j}", range(5)), parents, Addition(values, 5)
                ),
                "count": FunctionalCPD(
                    Variable.of_integers(f"e{j}", range(12)), parents, Addition(values, 12)
                ),
                "threshold": FunctionalCPD(two, parents, Threshold(int(rng.integers(0, 4)))),
                "exactly": FunctionalCPD(two, parents, Exactly(int(rng.integers(0, 4)))),
                "parity": FunctionalCPD(two, parents, Parity()),
                "equality": FunctionalCPD(two, parents, Equality()),
            }[kind]
        )
    return Network(tuple(cpds))


def enumerated(
    network: Network, states: dict[str, int]
) -> tuple[Fraction, dict[str, list[Fraction]]]:
    """Return the probability of evidence, and of each state of each cause with it."""
    hidden = [v for v in network.variables if v.name not in states]
    tables = [([v.name for v in c.scope], c.to_factor().values) for c in network.cpds]
    total = Fraction(0)
    sums = {v.name: [Fraction(0)] * v.n_states for v in hidden}
    for chosen in itertools.product(*(range(v.n_states) for v in hidden)):
        at = states | {v.name: x for v, x in zip(hidden, chosen, strict=True)}
        p = Fraction(1)
        for names, values in tables:
            p *= Fraction(float(np.real(values[tuple(at[name] for name in names)])))
        total += p
        for v, x in zip(hidden, chosen, strict=True):
            sums[v.name][x] += p
    return total, sums


@settings(max_examples=examples(30))
@given(st.data())
def test_a_sweep_has_all_digits(data: st.DataObject) -> None:
    network = data.draw(models())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    states = {v.name: int(rng.integers(v.n_states)) for v in network.variables if v.name[0] == "e"}
    observed_cause = data.draw(st.booleans())
    if observed_cause:
        states["c0"] = int(rng.integers(network.variable("c0").n_states))
    hidden = [v for v in network.variables if v.name not in states]
    total, sums = enumerated(network, states)
    causes = independent_causes(network.potentials, states, [(v,) for v in hidden])
    assert causes is not None
    kept = data.draw(st.sampled_from([1, 50, 2**25]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes_module, "KEPT_CELLS", kept)
        case = causes.at(states)
        swept = None if case is None else case.run()
    if swept is None:
        assert total == 0
        return
    log = math.log(total.numerator) - math.log(total.denominator)
    assert swept[1] == pytest.approx(log, rel=1e-12, abs=1e-12)
    for v in hidden:
        expected = [float(p / total) for p in sums[v.name]]
        # Relative, so that improbable states have all their digits too.
        np.testing.assert_allclose(swept[0][causes.number[v.name]], expected, rtol=1e-11)


@settings(max_examples=examples(8))
@given(models(), st.integers(0, 2**32 - 1))
def test_plans_and_engines_sweep(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = {v.name: int(rng.integers(v.n_states)) for v in network.variables if v.name[0] == "e"}
    evidence = {name: str(state) for name, state in states.items()}
    total, sums = enumerated(network, states)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes_module, "_LARGE", 0)
        patch.setattr(causes_module, "_MANY", 0)
        engine = compile_model(network)
        plan = compile_plan(network, evidence=list(evidence))
        if not total:
            for answer in (engine.posterior, lambda evidence: plan.run(evidence)):
                with pytest.raises(ImpossibleEvidenceError):
                    answer(evidence=evidence)
            return
        restricted = plan.restrict(evidence)
        assert "sweep" in repr(restricted)
        joint = engine.posterior([("c0", "e0")], evidence).joints[0]
        for posterior in (engine.posterior(evidence=evidence), plan.run(evidence)):
            for name, weights in sums.items():
                expected = [float(p / total) for p in weights]
                np.testing.assert_allclose(posterior.marginals[name], expected, rtol=1e-10)
    whole = np.zeros(joint.shape)
    whole[:, states["e0"]] = [float(p / total) for p in sums["c0"]]
    np.testing.assert_allclose(joint, whole, rtol=1e-10)


def test_soft_evidence_on_causes_is_swept() -> None:
    network = qmr_network(5, 8, np.random.default_rng(1), n_arcs=30)
    evidence = qmr_evidence(network, 3, np.random.default_rng(2))
    weights = {"no": 0.3, "yes": 0.9}
    expected = compile_plan(network, evidence=list(evidence), soft=["d0"]).run(
        {**evidence, "d0": weights}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causes_module, "_LARGE", 0)
        patch.setattr(causes_module, "_MANY", 0)
        plan = compile_plan(network, evidence=list(evidence), soft=["d0"])
        assert plan.compiled.query.causes is not None
        found = plan.run({**evidence, "d0": weights})
        engine = compile_model(network).posterior(evidence={**evidence, "d0": weights})
    for posterior in (found, engine):
        assert posterior.log_evidence == pytest.approx(expected.log_evidence, abs=1e-12)
        for name, marginal in expected.marginals.items():
            np.testing.assert_allclose(posterior.marginals[name], marginal, atol=1e-13)


def test_hidden_effects_and_dependent_causes_are_not_swept() -> None:
    a, b, c = (Variable(name, ("no", "yes")) for name in "abc")
    prior = TabularCPD(a, (), np.array([0.9, 0.1]))
    linked = TabularCPD(b, (a,), np.array([[0.9, 0.1], [0.1, 0.9]]))
    free = TabularCPD(b, (), np.array([0.9, 0.1]))
    effect = noisy_or(c, (a, b), [0.5, 0.6])
    assert independent_causes([prior, free, effect], ["c"], [(a,)]) is not None
    assert independent_causes([prior, free, effect], ["c"], [(a, b)]) is None
    assert independent_causes([prior, free, effect], [], [(a,)]) is None
    assert independent_causes([prior, linked, effect], ["c"], [(a,)]) is None
    assert independent_causes([prior, linked, effect], ["b", "c"], [(a,)]) is not None


def test_qmr_takes_few_cells() -> None:
    """The tree for any evidence is hopeless; the evidence at hand needs few cells."""
    rng = np.random.default_rng(0)
    network = qmr_network(40, 100, rng)
    evidence = qmr_evidence(network, 8, rng)
    plan = compile_plan(network, evidence=list(evidence))
    assert plan.by_case is not None
    restricted = plan.restrict(evidence)
    assert "sweep" in str(restricted)
    assert restricted.multiplications < 2**23
    assert not restricted.is_signed
    posterior = compile_model(network).posterior(evidence=evidence)
    total = quickscore(network, evidence)
    log = math.log(total.numerator) - math.log(total.denominator)
    assert posterior.log_evidence == pytest.approx(log, abs=1e-11)
    expected = float(quickscore(network, evidence, ["d3"]) / total)
    assert posterior["d3"]["yes"] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("prior", [0.5, 1e-9, 1.0])
def test_thousands_of_findings_do_not_underflow(prior: float) -> None:
    """Each finding is absent with probability .001 or .5: far below the smallest float."""
    cause, other = Variable("c", ("no", "yes")), Variable("d", ("no", "yes"))
    links = (np.array([[1e-3, 0.5], [0.999, 0.5]]), np.array([[1.0, 0.9], [0.0, 0.1]]))
    effects = [Variable(f"e{i}", ("no", "yes")) for i in range(2_000)]
    chances = np.array([1 - prior, prior])
    network: list[CPD] = [TabularCPD(v, (), chances) for v in (cause, other)]
    network += [NoisyMaximum(v, (cause, other), links) for v in effects]
    states = {v.name: 0 for v in effects} | {"e7": 1}
    causes = independent_causes(network, states, [])
    assert causes is not None
    case = causes.at(states)
    assert case is not None
    swept = case.run()
    assert swept is not None
    n = len(effects) - 1
    logs = []
    for x, y in itertools.product(range(2), range(2)):
        absent = links[0][0, x] * links[1][0, y]
        weight = chances[x] * chances[y]
        if weight:
            logs.append(math.log(weight) + n * math.log(absent) + math.log1p(-absent))
    expected = max(logs) + math.log(math.fsum(math.exp(one - max(logs)) for one in logs))
    assert swept[1] == pytest.approx(expected, rel=1e-12)


def two_parities(n: int) -> Network:
    """Return n coins, and whether the number of heads is even, among all and all but one."""
    coins = [Variable.of_integers(f"c{i}", range(2)) for i in range(n)]
    two = [Variable.of_integers(f"e{j}", range(2)) for j in range(2)]
    return Network(
        (
            *(TabularCPD(coin, (), np.array([0.4, 0.6])) for coin in coins),
            *(FunctionalCPD(e, tuple(coins[j:]), Parity()) for j, e in enumerate(two)),
        )
    )


def test_a_long_sweep_keeps_few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    forward = causes_module._Run.forward

    def watched(run: Any) -> Any:
        found = forward(run)
        kept.append(sum(table.size for table in run.kept.values()))
        return found

    monkeypatch.setattr(causes_module._Run, "forward", watched)
    for module in (causes_module, causes_module):
        monkeypatch.setattr(module, "KEPT_CELLS", 20)
    network, states = two_parities(200), {"e0": 0, "e1": 1}
    causes = independent_causes(network.potentials, states, [])
    assert causes is not None
    case = causes.at(states)
    assert case is not None
    swept = case.run()
    assert swept is not None
    assert swept[1] == pytest.approx(math.log(0.6 * 0.5))
    assert 20 < max(kept) < case.peak_cells < 200


def test_a_sweep_fits_in_the_memory_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes_module, "_LARGE", 0)
    monkeypatch.setattr(causes_module, "_MANY", 0)
    network, evidence = two_parities(12), {"e0": "0", "e1": "1"}
    causes = independent_causes(network.potentials, evidence, [(v,) for v in network.variables])
    assert causes is not None
    case = causes.at({"e0": 0, "e1": 1})
    assert case is not None
    needed = 8 * int(case.peak_cells)
    for max_bytes in (needed, needed - 1):
        limits = Limits(max_bytes=max_bytes, only_restrictions=True)
        plan = compile_plan(network, evidence=list(evidence), limits=limits)
        try:
            is_swept = "sweep" in repr(plan.restrict(evidence))
        except TooLargeError:
            is_swept = False
        assert is_swept == (max_bytes == needed)


def test_a_matrix_moves_one_axis_of_a_table() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((2, 3, 4, 2))
    for axis, n in enumerate(table.shape):
        matrix = rng.random((5, n)) * (rng.random((5, n)) < 0.5)
        matrix[2] = 0.0
        expected = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
        np.testing.assert_allclose(_moved(table, axis, matrix), expected, rtol=1e-14)
        found = _moved(table, axis, np.ascontiguousarray(matrix.T), transposed=True)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert _moved(table, 0, None) is table
