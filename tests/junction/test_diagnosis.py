"""Diseases and their noisy-or findings: planned for what is observed, with all digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.assembly as assembly
import bnmind.junction.forms as forms
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction import (
    Limits,
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
)
from bnmind.junction.forms import without_effects
from bnmind.pgm import Factor, FactorModel, Network, NoisyMaximum, TabularCPD, Variable, noisy_or
from bnmind.pgm.files import write_model
from tests.command_line import run_json
from tests.modes import examples
from tests.networks import enumerate_joint, networks, noisy_cpds, tabular_cpds, variable_tuples

YES = ("no", "yes")
POSITIVE = (3, 17, 42, 66, 91)


def diagnosis(
    *,
    n_diseases: int = 40,
    n_findings: int = 100,
    parents: tuple[int, int] = (5, 12),
    priors: tuple[float, float] = (0.005, 0.1),
    leaks: tuple[float, float] = (1e-4, 0.02),
    seed: int = 0,
) -> Network:
    """Return diseases, and findings that any of a few of them may cause."""
    rng = np.random.default_rng(seed)
    diseases = [Variable(f"D{i}", YES) for i in range(n_diseases)]
    cpds: list[Any] = [
        TabularCPD(d, (), np.array([1 - p, p]))
        for d, p in zip(diseases, rng.uniform(*priors, n_diseases), strict=True)
    ]
    for j in range(n_findings):
        size = rng.integers(parents[0], parents[1] + 1)
        causes = [diseases[i] for i in rng.permutation(n_diseases)[:size]]
        chances = rng.uniform(0.2, 0.95, size)
        cpds.append(
            noisy_or(Variable(f"F{j}", YES), causes, chances, leak=float(rng.uniform(*leaks)))
        )
    return Network(tuple(cpds))


def findings_of(network: Network, positive: Iterable[int]) -> dict[str, str]:
    names = [v.name for v in network.variables if v.name.startswith("F")]
    return {name: YES[int(name[1:]) in set(positive)] for name in names}


def quickscore(network: Network, evidence: Mapping[str, str]) -> tuple[float, dict[str, float]]:
    """Return the logarithm of the evidence, and how probable each disease is.

    By inclusion and exclusion of the positive findings (Heckerman 1989), in so many digits that
    nothing is lost: each term is a product over the diseases.
    """
    with localcontext() as context:
        context.prec = 200
        diseases = {
            cpd.variable.name: tuple(map(Decimal, np.asarray(cpd.values).tolist()))
            for cpd in network.cpds
            if isinstance(cpd, TabularCPD)
        }

        def absent(names: Iterable[str]) -> tuple[Decimal, dict[str, list[Decimal]]]:
            """Return the weight that all these findings are false, by the diseases' states."""
            number, weights = Decimal(1), {name: [Decimal(1)] * 2 for name in diseases}
            for name in names:
                cpd = network.cpd(name)
                assert isinstance(cpd, NoisyMaximum)
                leak, *links = cpd.contributions
                number *= 1 - Decimal(float(leak[1, 0]))
                for parent, link in zip(cpd.parents, links, strict=True):
                    for state in (0, 1):
                        weights[parent.name][state] *= 1 - Decimal(float(link[1, state]))
            return number, weights

        positive = [name for name, state in evidence.items() if state == "yes"]
        base, unary = absent(name for name in evidence if name not in positive)
        total = Decimal(0)
        present = dict.fromkeys(diseases, Decimal(0))
        for size in range(len(positive) + 1):
            for chosen in itertools.combinations(positive, size):
                number, more = absent(chosen)
                sums = {
                    name: [p * unary[name][s] * more[name][s] for s, p in enumerate(prior)]
                    for name, prior in diseases.items()
                }
                term = (-1) ** size * base * number
                for pair in sums.values():
                    term *= sum(pair)
                total += term
                for name, pair in sums.items():
                    present[name] += term * pair[1] / sum(pair)
        return float(total.ln()), {name: float(p / total) for name, p in present.items()}


@pytest.fixture(scope="module")
def ordinary() -> Network:
    return diagnosis()


@pytest.fixture(scope="module")
def answer(ordinary: Network) -> tuple[float, dict[str, float]]:
    return quickscore(ordinary, findings_of(ordinary, POSITIVE))


def test_forty_diseases_and_a_hundred_findings_take_a_few_cells(
    ordinary: Network, answer: tuple[float, dict[str, float]]
) -> None:
    evidence = findings_of(ordinary, POSITIVE)
    log, present = answer
    plan = compile_plan(ordinary, evidence=evidence)
    assert plan.by_case is not None
    assert "planned for each case" in repr(plan)
    assert "planned for each case" in str(plan)
    restricted = plan.restrict(evidence)
    assert restricted.by_case is None
    assert restricted.total_size < 10_000
    negative = {name: state for name, state in evidence.items() if state == "no"}
    rest = {name: state for name, state in evidence.items() if state == "yes"}
    for found in (plan.run(evidence), restricted.run(), plan.restrict(negative).run(rest)):
        assert found.log_evidence == pytest.approx(log, rel=1e-12)
        for name, chance in present.items():
            assert found.marginals[name][1] == pytest.approx(chance, rel=1e-9)
    assert plan.is_possible(evidence)


def test_many_cases_are_planned_each(
    ordinary: Network, answer: tuple[float, dict[str, float]]
) -> None:
    first, second = findings_of(ordinary, POSITIVE), findings_of(ordinary, [5])
    cases = {name: [first[name], second[name], first[name]] for name in first}
    plan = compile_plan(ordinary, evidence=first, targets=[["D0"], ["D1", "D2"]])
    found = plan.run_batch(cases)
    assert found.log_evidence[0] == found.log_evidence[2] == pytest.approx(answer[0], rel=1e-12)
    alone = plan.run(second)
    assert found.log_evidence[1] == pytest.approx(alone.log_evidence, rel=1e-12)
    for joint, one in zip(found.joints, alone.joints, strict=True):
        np.testing.assert_allclose(joint[1], one, rtol=0, atol=1e-12)
    assert plan.batch_memory(3) > 0
    with pytest.raises(TooLargeError, match="expected a batch of at most 10 bytes"):
        plan.run_batch(cases, max_bytes=10)


def test_soft_findings_and_explanations(ordinary: Network) -> None:
    evidence = findings_of(ordinary, POSITIVE)
    hard = {name: state for name, state in evidence.items() if name != "F17"}
    plan = compile_plan(ordinary, evidence=hard, soft=["F17"], targets=[["D0"]])
    yes, no = (math.exp(plan.run({**hard, "F17": s}).log_evidence) for s in ("yes", "no"))
    both = plan.run({**hard, "F17": {"no": 0.3, "yes": 0.9}})
    assert math.exp(both.log_evidence) == pytest.approx(0.3 * no + 0.9 * yes, rel=1e-12)
    assert math.exp(plan.run(hard).log_evidence) == pytest.approx(no + yes, rel=1e-12)
    found = compile_model(ordinary).map(["D0", "D1"], evidence)
    joint = compile_plan(ordinary, evidence=evidence, targets=[["D0", "D1"]]).run(evidence)
    best = joint.log_evidence + math.log(float(np.real(joint.joints[0]).max()))
    assert found.log_probability == pytest.approx(best, rel=1e-12)


def test_rare_diseases_without_leaks_keep_their_digits() -> None:
    """The difference of two products would be lost in their rounding errors."""
    network = diagnosis(priors=(1e-9, 1e-7), leaks=(1e-15, 1e-13), seed=3)
    evidence = findings_of(network, POSITIVE)
    log, present = quickscore(network, evidence)
    assert log < -60
    found = compile_plan(network, evidence=evidence).run(evidence)
    assert found.log_evidence == pytest.approx(log, rel=1e-12)
    for name, chance in present.items():
        assert found.marginals[name][1] == pytest.approx(chance, rel=1e-7, abs=1e-300)


def test_a_finding_without_any_cause_is_impossible() -> None:
    network = diagnosis(leaks=(0.0, 0.0))
    diseases = {v.name: "no" for v in network.cpd("F3").parents}
    findings = findings_of(network, POSITIVE)
    plan = compile_plan(network, evidence=[*findings, *diseases])
    assert plan.by_case is not None
    assert not plan.is_possible({**findings, **diseases})
    with pytest.raises(ImpossibleEvidenceError):
        plan.run({**findings, **diseases})
    cases = {name: [state] for name, state in {**findings, **diseases}.items()}
    assert plan.run_batch(cases, allow_impossible=True).impossible.tolist() == [0]


@pytest.mark.slow
def test_a_case_that_is_too_large_is_refused(ordinary: Network) -> None:
    evidence = findings_of(ordinary, range(100))
    plan = compile_plan(ordinary, evidence=evidence)
    with pytest.raises(TooLargeError, match="multiplications"):
        plan.run(evidence)


def test_the_command_line_plans_for_the_evidence(
    ordinary: Network, answer: tuple[float, dict[str, float]], tmp_path: Path
) -> None:
    write_model(ordinary, tmp_path / "diagnosis.json")
    evidence = ",".join(f"{n}={s}" for n, s in findings_of(ordinary, POSITIVE).items())
    found = run_json(
        "query",
        str(tmp_path / "diagnosis.json"),
        "--evidence",
        evidence,
        "--targets",
        "D0",
        "--plan",
    )
    assert found["log_evidence"] == pytest.approx(answer[0], rel=1e-12)
    assert found["marginals"]["D0"]["yes"] == pytest.approx(answer[1]["D0"], rel=1e-9)
    assert found["plan"]["total_size"] < 10_000


@st.composite
def two_layers(draw: st.DrawFn) -> Network:
    """Return causes and noisy extrema of any number of states, whose parents come in any order."""
    causes = draw(variable_tuples(min_size=2, max_size=4, max_states=3))
    cpds: list[Any] = [draw(tabular_cpds(v, ())) for v in causes]
    for j in range(draw(st.integers(1, 3))):
        parents = draw(st.permutations(causes))[: draw(st.integers(1, len(causes)))]
        child = Variable.of_integers(f"Y{j}", range(draw(st.integers(2, 3))))
        cpds.append(draw(noisy_cpds(child, tuple(parents))))
    return Network(tuple(cpds))


@settings(max_examples=examples(120))
@given(two_layers(), st.data(), st.booleans(), st.booleans())
def test_any_form_answers_as_enumeration_does(
    network: Network, data: st.DataObject, by_case: bool, signed: bool
) -> None:
    joint = enumerate_joint(network)
    possible = np.argwhere(joint.values > 0)
    cell = possible[data.draw(st.integers(0, len(possible) - 1))]
    names = data.draw(st.lists(st.sampled_from(joint.names), unique=True))
    at = {name: int(cell[joint.axis(name)]) for name in names}
    evidence = {v.name: v.states[at[v.name]] for v in joint.scope if v.name in at}
    targets = [[v.name] for v in joint.scope if v.name not in at] or [[]]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_SMALL_TABLE", "_SMALL_TREE", *(["_SIGNED_COST"] if signed else [])):
            patch.setattr(forms, name, 0)
        if signed:
            patch.setattr(forms, "_SIGNED_LEAST", 0)
        if by_case:
            patch.setattr(assembly, "_WORTH_PLANNING_AGAIN", 0)
        plan = compile_plan(network, evidence=names, targets=targets)
        answers = [plan.run(evidence), plan.restrict(evidence).run()]
    rest = joint.select(at)
    total = float(rest.values.real.sum())
    for found in answers:
        assert found.log_evidence == pytest.approx(math.log(total), abs=1e-9)
        for target, one in zip(targets, found.targets, strict=True):
            expected = rest.sum_to(target).values / total
            np.testing.assert_allclose(one.values, expected, rtol=0, atol=1e-9)


@settings(max_examples=examples(80))
@given(networks(max_variables=6), st.data())
def test_what_had_no_effect_is_a_factor_for_each_parent(
    network: Network, data: st.DataObject
) -> None:
    domains: dict[str, tuple[int, ...]] = {}
    for v in network.variables:
        states: Sequence[int] = range(v.n_states)
        least = data.draw(st.sampled_from([None, 0, v.n_states - 1]))
        domains[v.name] = tuple(states) if least is None else (least,)
    found = without_effects(network.potentials, domains)
    ones = tuple(Factor((v,), np.ones(v.n_states)) for v in network.variables)
    expected = enumerate_joint(network)
    product = enumerate_joint(FactorModel((*found, *ones))).sum_to(expected.names)
    index = np.ix_(*[domains[name] for name in expected.names])
    np.testing.assert_allclose(
        np.real(product.values[index]), expected.values[index], rtol=1e-12, atol=1e-300
    )


def test_factors_of_one_variable_never_underflow() -> None:
    cause = Variable("cause", YES)
    rare = [noisy_or(Variable(f"Y{i}", YES), [cause], [1 - 1e-12]) for i in range(60)]
    domains = {cause.name: (0, 1), **{cpd.variable.name: (0,) for cpd in rare}}
    parts = [p for p in without_effects(rare, domains) if p.scope == (cause,)]
    assert 1 < len(parts) < 60
    logs = sum(math.log(float(p.values[1].real)) for p in parts if isinstance(p, Factor))
    assert logs == pytest.approx(60 * math.log(1e-12), rel=1e-4)
    # The product of two parts is far from the smallest number, too.
    assert min(float(p.values[1].real) for p in parts if isinstance(p, Factor)) > 1e-150


def test_a_product_of_two_tiny_chances_is_not_impossible() -> None:
    cause = Variable("cause", YES)
    link = np.array([[1, 1e-200], [0, 1 - 1e-200]])
    effects = [NoisyMaximum(Variable(f"Y{i}", YES), (cause,), (link,)) for i in range(3)]
    network = Network((TabularCPD(cause, (), np.array([0.0, 1.0])), *effects))
    seen = {cpd.variable.name: "no" for cpd in effects}
    plan = compile_plan(network, evidence=list(seen)).restrict(seen)
    assert plan.run({}).log_evidence == pytest.approx(3 * math.log(1e-200))


def log_of(network: Network, states: Mapping[str, str]) -> float:
    """Return the logarithm of the probability of states of all variables."""
    at = {v.name: v.index(states[v.name]) for v in network.variables}
    return sum(
        math.log(cpd.table_on([[at[v.name]] for v in cpd.scope]).item()) for cpd in network.cpds
    )


def test_forty_diseases_are_explained(ordinary: Network) -> None:
    evidence = findings_of(ordinary, POSITIVE)
    plan = compile_explanation(ordinary, evidence=list(evidence))
    assert plan.plan.by_case is not None
    assert "planned for each case" in repr(plan)
    assert "planned for each case" in str(plan)
    for case in (evidence, dict.fromkeys(evidence, "no")):
        found = plan.run(case)
        states = {**case, **found.states}
        assert found.log_probability == pytest.approx(log_of(ordinary, states), rel=1e-12)
        for name, state in list(found.states.items())[::5]:
            other = {**states, name: YES[state == "no"]}
            assert log_of(ordinary, other) <= found.log_probability


def test_samples_of_forty_diseases(
    ordinary: Network, answer: tuple[float, dict[str, float]]
) -> None:
    evidence = findings_of(ordinary, POSITIVE)
    plan = compile_sampling(ordinary, evidence=list(evidence))
    assert plan.plan is not None
    assert plan.plan.by_case is not None
    n = 4000
    samples = plan.run(evidence, n_samples=n, rng=np.random.default_rng(0))
    log, marginals = answer
    assert samples.log_evidence == pytest.approx(log, rel=1e-10)
    for name, p in marginals.items():
        within = 5 * math.sqrt(p * (1 - p) / n) + 1e-3
        assert samples.frequencies(name)[1] == pytest.approx(p, abs=within)


def test_each_case_is_explained_and_sampled_as_by_one_plan() -> None:
    network = diagnosis(n_diseases=9, n_findings=12, parents=(3, 7), seed=3)
    names = list(findings_of(network, ()))
    soft = names[:2]
    whole = compile_explanation(network, evidence=names[2:], soft=soft)
    assert whole.plan.by_case is None
    most = whole.plan.multiplications // 2
    own = compile_explanation(
        network, evidence=names[2:], soft=soft, limits=Limits(max_multiplications=most)
    )
    drawn = compile_sampling(network, evidence=names[2:], soft=soft)
    assert drawn.plan is not None
    few = compile_sampling(
        network,
        evidence=names[2:],
        soft=soft,
        limits=Limits(max_multiplications=drawn.plan.multiplications // 2),
    )
    assert own.plan.by_case is not None
    assert few.plan is not None
    assert few.plan.by_case is not None
    rng = np.random.default_rng(0)
    for positive in ((), (4,), (1, 7), (0, 5, 9)):
        evidence: dict[str, Any] = findings_of(network, positive)
        evidence[names[0]] = {"no": 0.3, "yes": 0.9}
        expected, found = whole.run(evidence), own.run(evidence)
        assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-12)
        assert found.states == expected.states
        logs = [p.run(evidence, n_samples=2, rng=rng).log_evidence for p in (drawn, few)]
        assert logs[0] == pytest.approx(logs[1], rel=1e-12)
    with pytest.raises(TooLargeError):
        own.run(dict.fromkeys(names, "yes"))


def test_networks_without_noisy_findings_are_refused_as_before() -> None:
    network = diagnosis(n_diseases=9, n_findings=12, parents=(3, 7), seed=3)
    for compiled in (compile_explanation, compile_sampling):
        with pytest.raises(TooLargeError):
            compiled(network, evidence=["D0"], soft=["D1"], limits=Limits(max_multiplications=3))


def test_impossible_findings_of_a_case_are_named() -> None:
    network = diagnosis(n_diseases=9, n_findings=12, parents=(3, 7), leaks=(0.0, 0.0), seed=3)
    diseases, names = [f"D{i}" for i in range(9)], list(findings_of(network, ()))
    whole = compile_explanation(network, evidence=names, soft=diseases)
    most = whole.plan.multiplications // 2
    plan = compile_explanation(
        network, evidence=names, soft=diseases, limits=Limits(max_multiplications=most)
    )
    assert plan.plan.by_case is not None
    with pytest.raises(ImpossibleEvidenceError) as caught:
        plan.run({**dict.fromkeys(diseases, "no"), **findings_of(network, (2,))})
    assert caught.value.evidence["F2"] == "yes"
