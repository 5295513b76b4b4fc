"""Learning from responses: the E-step is enumeration, no step loses likelihood, ends are optima."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Bounds,
    Dina,
    Dino,
    Gdina,
    Graded,
    Hierarchy,
    Independent,
    ItemBank,
    LearningOptions,
    Logistic,
    NoisyAnd,
    NoisyOr,
    Priors,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    beliefs_given,
    cross_validate,
    irt_bank,
    learn,
    learn_groups,
)
from bnmind.adaptive.learning.em import TableExpectation
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TableError,
    UnknownNameError,
)
from bnmind.pgm import Network, TabularCPD, Variable
from tests.banks import banks, enumerated
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
MAKERS: list[type[ResponseModel]] = [Dina, Dino, NoisyAnd, NoisyOr, Gdina]


def answers(bank: ItemBank, n: int, seed: int, missing: float = 0.0) -> Responses:
    """Return responses drawn from a bank, some of them missing, none of all."""
    codes = Responses.drawn(bank, n, seed=seed).codes
    gone = np.random.default_rng(seed).random(codes.shape) < missing
    gone[:, 0] = gone[0] = False
    return Responses(np.where(gone, -1, codes), bank.item_names)


@st.composite
def models(draw: st.DrawFn) -> tuple[ItemBank, Responses]:
    """Return a bank, and responses that were drawn from it."""
    bank = draw(banks(max_skills=3))
    seed, n = draw(st.integers(0, 99)), draw(st.integers(2, 25))
    return bank, answers(bank, n, seed, draw(st.sampled_from([0.0, 0.3])))


@settings(max_examples=examples(40))
@given(models(), st.sampled_from([0, 2**14]))
def test_what_is_expected_is_what_enumeration_says(
    drawn: tuple[ItemBank, Responses], max_profiles: int
) -> None:
    bank, responses = drawn
    options = LearningOptions(max_profiles=max_profiles)
    model = LearningModel.of(bank, options)
    start = model.start(0, options)
    there = model.bank_of(start, title="", source="")
    response_parameters = model.layout.response_parameters(start.items)
    expected = model.expectation(responses, options)(response_parameters, start.skills)
    names = [v.name for v in bank.hidden]
    shape = tuple(v.n_states for v in bank.hidden)
    profiles, total = np.zeros(shape), 0.0
    counts = np.zeros(len(response_parameters))
    for row in responses.codes:
        found = {n: int(r) for n, r in zip(bank.item_names, row, strict=True) if r >= 0}
        posterior, evidence = enumerated(there, found)
        total += np.log(evidence)
        profiles += posterior
        for number, column in enumerate(model.layout.columns):
            if row[column] < 0:
                continue
            parents = [v.name for v in bank.network.cpd(bank.item_names[column]).parents]
            for place in product(*map(range, shape)):
                sizes = [bank.variable(name).n_states for name in parents]
                at = [place[names.index(name)] for name in parents]
                group = model.layout.groups[number][np.ravel_multi_index(at, sizes)]
                _, n_responses = model.layout.shapes[number]
                cell = model.layout.starts[number] + group * n_responses + row[column]
                counts[cell] += posterior[place]
    assert expected.log_likelihood == pytest.approx(total, abs=1e-8)
    np.testing.assert_allclose(expected.counts, counts, rtol=0, atol=1e-8)
    families = model.skills.counts(profiles.reshape(-1))
    for family, other in zip(expected.families, families, strict=True):
        np.testing.assert_allclose(family, other, rtol=0, atol=1e-8)


@settings(max_examples=examples(15))
@given(
    models(),
    st.booleans(),
    st.sampled_from([Priors(), Priors((2.0, 3.0), (1.5, 4.0), 1.5)]),
    st.sampled_from([Bounds(), Bounds((0.05, 0.4), (0.0, 0.3))]),
)
def test_no_step_loses_likelihood_whatever_the_gates(
    drawn: tuple[ItemBank, Responses], accelerate: bool, priors: Priors, bounds: Bounds
) -> None:
    bank, responses = drawn
    options = LearningOptions(
        accelerate=accelerate, priors=priors, bounds=bounds, max_iterations=40, starts=2
    )
    try:
        found = learn(responses, bank, options=options)
    except ImpossibleEvidenceError:
        reject()  # a profile distribution with zeros, and a start that moved off 0 and 1
    steps = np.diff(found.record.objectives)
    assert steps.min(initial=0.0) >= -1e-7
    best = found.record.starts[found.record.best_start]
    assert best == pytest.approx(max(found.record.starts), abs=1e-4)
    if max(len(bank.responses(name)) for name in bank.item_names) == 2:
        evidence = beliefs_given(found.bank, found.responses.codes).log_evidence.sum()
        assert evidence == pytest.approx(found.log_likelihood, abs=1e-6)


@pytest.mark.parametrize("gate", MAKERS)
@pytest.mark.parametrize("skills", [Saturated(), Independent()])
def test_at_the_end_every_direction_leads_down(
    gate: type[ResponseModel], skills: Saturated | Independent
) -> None:
    truth = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.3, 0.2, 0.1, 0.4]))
    responses = answers(truth, 400, 3, 0.2)
    options = LearningOptions(tolerance=1e-11, starts=2)
    found = learn(responses, Q, gate=gate, skills=skills, options=options)
    assert found.record.converged
    model = found.model
    expectation = model.expectation(found.responses, options)

    def value(items: tuple[np.ndarray, ...], tables: tuple[np.ndarray, ...]) -> float:
        return expectation(model.layout.response_parameters(items), tables).log_likelihood

    items, tables = found.parameters
    best = value(items, tables)
    for number, (block, values) in enumerate(zip(model.layout.blocks, items, strict=True)):
        for place in range(len(values)):
            slopes = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] += sign * 1e-5
                low, high = block.limits[place]
                if low <= moved[place] <= high and block.valid(moved):
                    changed = (*items[:number], moved, *items[number + 1 :])
                    slopes.append((value(changed, tables) - best) / 1e-5)
            assert all(slope < 2e-2 for slope in slopes)
    rng = np.random.default_rng(1)
    for number, table in enumerate(tables):
        other = table * np.exp(1e-4 * rng.normal(size=table.shape))
        other /= other.sum(axis=0)
        assert value(items, (*tables[:number], other, *tables[number + 1 :])) <= best + 1e-7


@pytest.mark.parametrize("gate", MAKERS)
def test_table_and_tree_arrive_at_the_same_end(gate: type[ResponseModel]) -> None:
    truth = ItemBank.from_qmatrix(Q, 0.2, 0.15)
    responses = answers(truth, 200, 5, 0.2)
    ends = [
        learn(
            responses,
            Q,
            gate=gate,
            skills=Independent(),
            options=LearningOptions(max_profiles=most, tolerance=1e-10),
        )
        for most in (2**14, 0)
    ]
    assert ends[0].log_likelihood == pytest.approx(ends[1].log_likelihood, abs=1e-5)
    assert ends[0].n_parameters == ends[1].n_parameters


def test_learning_tells_its_steps() -> None:
    told: list[tuple[int, int]] = []
    answers = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, -1, 1], [0, 0, 0]]
    options = LearningOptions(starts=2, max_iterations=40)
    learned = learn(
        answers,
        [[1, 0], [1, 0], [0, 1]],
        options=options,
        progress=lambda done, total: told.append((done, total)),
    )
    assert (
        learned.log_likelihood
        == learn(answers, [[1, 0], [1, 0], [0, 1]], options=options).log_likelihood
    )
    assert told[0] == (0, 80)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= total <= 80 for done, total in told)
    assert told[-1][0] == told[-1][1] >= learned.record.steps


def test_parameters_of_a_large_sample_are_found_again() -> None:
    rng = np.random.default_rng(2)
    q = np.concatenate([np.eye(3, dtype=int)] * 4 + [[[1, 1, 0], [0, 1, 1]]])
    guess, slip = rng.uniform(0.05, 0.3, (2, len(q)))
    profiles = rng.dirichlet(np.ones(8))
    truth = ItemBank.from_qmatrix(q, guess, slip, skills=Saturated(profiles))
    responses = answers(truth, 20_000, 1, 0.25)
    found = learn(responses, q)
    assert np.abs([i.guess for i in found.items] - guess).mean() < 0.012
    assert np.abs([i.slip for i in found.items] - slip).mean() < 0.012
    assert np.abs(found.profiles.reshape(-1) - profiles).max() < 0.02


def test_missing_by_design_learns_from_every_row() -> None:
    truth = ItemBank.from_qmatrix(Q, 0.1, 0.1)
    codes = np.array(answers(truth, 3000, 7).codes)
    codes[:1500, :2] = -1
    codes[1500:, 4:] = -1
    found = learn(codes, Q)
    assert np.abs([i.guess - 0.1 for i in found.items]).max() < 0.06
    alone = learn(codes[:1500, 2:], Q[2:])
    assert found.log_likelihood < alone.log_likelihood


def test_a_network_of_skills_is_learned_with_its_tables() -> None:
    a, b, c = (Variable.of_integers(name, range(2)) for name in "abc")
    network = Network(
        (
            TabularCPD(a, (), np.array([0.4, 0.6])),
            TabularCPD(b, (a,), np.array([[0.9, 0.2], [0.1, 0.8]])),
            TabularCPD(c, (b,), np.array([[0.7, 0.3], [0.3, 0.7]])),
        )
    )
    q = np.concatenate([np.eye(3, dtype=int)] * 5)
    truth = ItemBank.from_qmatrix(q, 0.1, 0.1, skills=network, skill_names=["a", "b", "c"])
    responses = answers(truth, 6000, 3)
    for most in (2**14, 0):
        found = learn(responses, truth, options=LearningOptions(max_profiles=most, starts=2))
        assert found.n_parameters == 30 + 1 + 2 + 2
        for cpd in network.cpds:
            learned = found.bank.network.cpd(cpd.variable.name).to_factor().values
            np.testing.assert_allclose(learned, cpd.to_factor().values, atol=0.05)


def test_a_hierarchy_stays_one() -> None:
    skills = Hierarchy({"skill_2": ["skill_1"]}, mastery=0.6)
    truth = ItemBank.from_qmatrix(Q, 0.1, 0.1, skills=skills)
    found = learn(answers(truth, 500, 1), Q, skills=skills, options=LearningOptions(starts=3))
    assert found.profiles[0, 1] == 0
    assert found.n_parameters == 12 + 2


def test_what_is_fixed_or_bounded_stays() -> None:
    truth = ItemBank.from_qmatrix(Q, 0.3, 0.3)
    responses = answers(truth, 300, 2)
    options = LearningOptions(
        fixed=frozenset({"item_1"}), bounds={"item_2": Bounds((0.25, 0.25), (0.0, 0.1))}
    )
    found = learn(responses, truth, options=options)
    assert found.bank.item("item_1").gate == truth.item("item_1").gate
    assert found.items[1].guess == 0.25
    assert found.items[1].slip <= 0.1
    assert found.n_parameters == 10 - 1 + 3
    free = learn(responses, truth)
    assert free.log_likelihood >= found.log_likelihood
    fixed = LearningOptions(fixed=frozenset({"skill_1", "skill_2"}))
    prior = learn(responses, truth, options=fixed).profiles
    np.testing.assert_allclose(prior, 0.25)


def test_more_skill_never_harms_unless_that_is_allowed() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (300, 6))
    codes[:, 2] = 1 - codes[:, 0] * codes[:, 1]
    for gate in (Dina, Gdina):
        found = learn(codes, Q, gate=gate, options=LearningOptions(starts=3, monotone=True))
        for name in found.bank.item_names:
            cause = found.bank.cause(name)
            table = found.bank.channel(name)[:, 1].reshape([2] * len(cause))
            assert all(np.all(np.diff(table, axis=a) >= -1e-12) for a in range(table.ndim))
        freed = learn(codes, Q, gate=gate, options=LearningOptions(starts=3))
        assert freed.log_likelihood >= found.log_likelihood - 1e-6


def test_priors_pull_and_are_off_unless_asked_for() -> None:
    codes = [[1, 1, 1, 1, 1, 1]] * 20 + [[0, 0, 0, 0, 0, 0]] * 20
    plain = learn(codes, Q)
    pulled = learn(codes, Q, options=LearningOptions(priors=Priors((3.0, 7.0), (3.0, 7.0))))
    assert max(i.guess for i in plain.items) < 1e-3
    assert min(i.guess for i in pulled.items) > 0.03
    assert plain.record.objectives == plain.record.log_likelihoods


def test_starts_are_repeatable_and_more_of_them_keep_the_first() -> None:
    responses = answers(ItemBank.from_qmatrix(Q, 0.2, 0.2), 100, 4)
    few, many = (
        learn(responses, Q, options=LearningOptions(starts=n, seed=5)).record.starts for n in (3, 5)
    )
    assert many[:3] == few
    assert learn(responses, Q, options=LearningOptions(starts=3, seed=6)).record.starts[1] != few[1]


@pytest.mark.slow
@settings(max_examples=examples(3))
@given(st.integers(0, 999))
def test_steps_and_graded_items_are_learned(seed: int) -> None:
    models: list[ResponseModel] = [
        Sequential((Dina(0.1, 0.1), NoisyAnd(0.3, 0.2))),
        Graded((1.0, 0.5), (-0.5, 1.0)),
        Graded(1.5, (0.5,)),
        Dina(0.2, 0.1),
    ]
    q = [[1, 1], [1, 1], [1, 0], [0, 1]]
    truth = ItemBank.from_response_models(q, models)
    responses = answers(truth, 300, seed, 0.1)
    start = ItemBank.from_response_models(
        q,
        [
            Sequential((Dina(0.2, 0.2), NoisyAnd(0.2, 0.3))),
            Graded((0.5, 0.7), (-0.1, 0.3)),
            Graded(1.0, (0.1,)),
            Dina(0.3, 0.3),
        ],
    )
    found = learn(responses, start, options=LearningOptions(max_iterations=100))
    assert np.diff(found.record.log_likelihoods).min() >= -1e-7
    fixed = LearningOptions(fixed=frozenset({*truth.item_names, *truth.skills}))
    assert found.log_likelihood > learn(responses, truth, options=fixed).log_likelihood
    assert [type(item.gate) for item in found.bank.items] == [type(g) for g in models]


def test_a_bank_of_one_ability_is_calibrated() -> None:
    truth = irt_bank([Logistic(a, b) for a, b in ((1.0, -1.0), (1.5, 0.0), (0.7, 1.0))] * 3)
    responses = answers(truth, 4000, 1)
    start = irt_bank([Logistic(1.0, 0.0)] * 9)
    found = learn(responses, start, options=LearningOptions(fixed=frozenset({"ability"})))
    for item, known in zip(found.bank.items, truth.items, strict=True):
        assert isinstance(item.gate, Logistic)
        assert isinstance(known.gate, Logistic)
        assert item.gate.slope == pytest.approx(known.gate.slope, rel=0.2)
        assert item.gate.difficulty == pytest.approx(known.gate.difficulty, abs=0.15)


def test_criteria_are_what_they_are_called() -> None:
    found = learn(answers(ItemBank.from_qmatrix(Q), 50, 1), Q)
    p, loglik = found.n_parameters, found.log_likelihood
    assert p == 2 * 6 + 3
    assert found.aic == pytest.approx(2 * p - 2 * loglik)
    assert found.bic == pytest.approx(p * np.log(50) - 2 * loglik)


@pytest.mark.slow
def test_thirty_skills_are_learned_by_the_tree() -> None:
    names = [f"s{i}" for i in range(30)]
    skills = [Variable.of_integers(name, range(2)) for name in names]
    cpds = [TabularCPD(skills[0], (), np.array([0.5, 0.5]))] + [
        TabularCPD(b, (a,), np.array([[0.8, 0.2], [0.2, 0.8]])) for a, b in pairwise(skills)
    ]
    q = np.eye(30, dtype=int) + np.eye(30, k=1, dtype=int)
    q = np.concatenate([np.eye(30, dtype=int), q])
    truth = ItemBank.from_qmatrix(q, skills=Network(tuple(cpds)), skill_names=names)
    responses = answers(truth, 200, 1)
    found = learn(responses, truth, options=LearningOptions(max_iterations=15))
    assert np.diff(found.record.log_likelihoods).min() >= -1e-7
    assert found.n_parameters == 120 + 59


def test_bounds_hold_for_curves_too() -> None:
    truth = irt_bank([Logistic(1.5, b, 0.2, 0.9) for b in (-1, -0.5, 0, 0.5, 1)])
    responses = answers(truth, 300, 1)
    bounds = Bounds(guess=(0.25, 0.25), slip=(0.05, 0.2), slope=(1.0, 1.2))
    options = LearningOptions(fixed=frozenset({"ability"}), bounds=bounds)
    found = learn(responses, irt_bank([Logistic()] * 5), options=options)
    assert np.diff(found.record.log_likelihoods).min(initial=0.0) >= -1e-7
    assert found.n_parameters == 15
    for item in found.bank.items:
        gate = item.gate
        assert isinstance(gate, Logistic)
        assert gate.lower == pytest.approx(0.25)
        assert 0.8 - 1e-9 <= gate.upper <= 0.95 + 1e-9
        assert 1.0 - 1e-9 <= gate.slope <= 1.2 + 1e-9


def test_bounds_that_contradict_the_order_are_refused() -> None:
    codes = [[1, 1, 0, 1, 1, 1], [0, 1, 0, 0, 0, 0]]
    bounds = Bounds(guess=(0.8, 0.9), slip=(0.8, 0.9))
    with pytest.raises(InvalidArgumentError, match=r"item_1 must sum to at most 1, got 0\.8"):
        learn(codes, Q, options=LearningOptions(bounds=bounds, monotone=True))
    found = learn(codes, Q, options=LearningOptions(bounds=bounds))
    assert min(item.guess for item in found.items) >= 0.8 - 1e-12


@pytest.mark.parametrize("max_profiles", [2**14, 0])
def test_who_answered_what_is_impossible_is_named(max_profiles: int) -> None:
    bank = ItemBank.from_qmatrix([[1], [1]], 0.0, 0.0)
    responses = Responses.of([[1, 1], [0, 0], [1, 0]], examinees=["ann", "bob", "cid"])
    options = LearningOptions(fixed=frozenset(bank.item_names), max_profiles=max_profiles)
    with pytest.raises(ImpossibleEvidenceError, match="item_1=1, item_2=0 of examinee cid"):
        learn(responses, bank, options=options)


def test_what_cannot_be_learned_is_refused() -> None:
    bank = ItemBank.from_qmatrix(Q, 0.0, 0.0)
    codes = [[1, 1, 0, 1, 1, 1]]
    everything = LearningOptions(fixed=frozenset({*bank.item_names, *bank.skills}))
    with pytest.raises(ImpossibleEvidenceError, match="item_3=0"):
        learn(codes, bank, options=everything)
    with pytest.raises(UnknownNameError, match="skill_9"):
        learn(codes, bank, options=LearningOptions(fixed=frozenset({"skill_9"})))
    with pytest.raises(TableError, match="1 item has no column: item_6"):
        learn(Responses(np.zeros((1, 5), int), tuple(f"item_{i}" for i in range(1, 6))), Q)
    with pytest.raises(InvalidArgumentError, match="Q-matrix"):
        learn(codes, bank, gate=Dino)
    for faulty in (
        lambda: LearningOptions(starts=0),
        lambda: Bounds((0.5, 0.2)),
        lambda: Priors((0.5, 1.0)),
    ):
        with pytest.raises(InvalidArgumentError):
            faulty()


@pytest.mark.parametrize("name", ["gdina", "GDINA", "G-DINA"])
def test_a_gate_may_be_named(name: str) -> None:
    codes = Responses.drawn(ItemBank.from_qmatrix(Q, 0.2, 0.1), 200, seed=1).codes
    options = LearningOptions(starts=1, max_iterations=20)
    named, given = (learn(codes, Q, gate=g, options=options) for g in (name, Gdina))
    assert {type(item.gate) for item in named.bank.items} == {Gdina}
    assert named.log_likelihood == given.log_likelihood
    assert {type(item.gate) for item in ItemBank.from_qmatrix(Q, gate=name).items} == {Gdina}
    folds = cross_validate(codes, Q, gate=name, options=options, folds=2)
    assert {type(item.gate) for item in folds.learned[0].bank.items} == {Gdina}
    groups = learn_groups(codes, Q, ["a", "b"] * 100, gate=name, options=options)
    assert {type(item.gate) for item in groups["a"].items} == {Gdina}


def test_a_named_gate_may_have_steps_and_must_be_known() -> None:
    found = learn([[0, 2], [1, 0], [2, 1], [0, 2]], [[1], [1]], gate="sequential:dina")
    assert {type(item.gate) for item in found.bank.items} == {Sequential}
    with pytest.raises(UnknownNameError, match=r"a response model among .*; did you mean gdina"):
        learn([[0, 1], [1, 0]], [[1], [1]], gate="gdnia")
    with pytest.raises(InvalidArgumentError, match="text or a response model such as Gdina"):
        learn([[0, 1], [1, 0]], [[1], [1]], gate=Gdina([[1, 0], [0, 1]]))  # type: ignore[arg-type]


def test_a_gate_nobody_knows_is_refused_and_its_table_is_not() -> None:
    class Odd(Dina):
        pass

    @dataclasses.dataclass(frozen=True)
    class Own:
        n_responses: int = 2

        def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
            return TabularCPD(item, tuple(parents), np.array([[0.8, 0.3], [0.2, 0.7]]))

    bank = ItemBank.from_response_models([[1], [1]], [Own(), Odd(0.2, 0.1)])
    codes = [[0, 0], [1, 1], [1, 0]]
    with pytest.raises(InvalidModelError, match="item_1"):
        learn(codes, bank)
    plain = ItemBank.from_network(bank.network, ["skill_1"], ["item_1", "item_2"])
    found = learn(codes, plain)
    assert found.bank.item("item_1").gate is None
    assert isinstance(found.model.expectation(found.responses, found.options), TableExpectation)
