"""Tests go on after answers that the bank holds for impossible, and say so."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.adaptive.estimates as beliefs_module
from bnmind.adaptive import (
    Design,
    DiscriminationIndex,
    FixedOrder,
    Independent,
    ItemBank,
    KullbackLeibler,
    MaximalItems,
    MinimalEntropy,
    Responses,
    ScoringSelector,
    Session,
    SkillBelief,
    beliefs_given,
    read_bank,
    simulate,
    start_belief,
    start_beliefs,
    write_bank,
)
from bnmind.adaptive.beliefs import (
    ERROR_CHANCE,
    checked_error_chances,
    updated_anyway,
)
from bnmind.adaptive.scores import LEAST_CHANCE, floored, rank_items
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from tests.banks import answer_sets, banks, enumerated
from tests.command_line import run

CERTAIN = ItemBank.from_qmatrix([[1, 0], [1, 0], [1, 0], [0, 1]], guess=0.0, slip=0.0)
DIVERGENCES = (
    KullbackLeibler(),
    KullbackLeibler("pwkl"),
    KullbackLeibler("mpwkl"),
)
both = pytest.mark.parametrize("most", [2**16, 0], ids=["table", "tree"])
tables_and_trees = pytest.mark.parametrize("most", [0, 2**16], ids=["tree", "table"])


def softened(bank: ItemBank, answers: list[tuple[str, int]], chance: float) -> tuple[Floats, float]:
    """Return the posterior over the hidden variables and its evidence, profile by profile."""
    joint, _ = enumerated(bank, {})
    names = [v.name for v in bank.hidden]
    found = joint.copy()
    for levels in np.ndindex(joint.shape):
        for item, response in answers:
            own = [levels[names.index(name)] for name in bank.cause(item)]
            sizes = [bank.variable(name).n_states for name in bank.cause(item)]
            row = bank.channel(item)[np.ravel_multi_index(own, sizes)]
            found[levels] *= (1 - chance) * row[response] + chance / len(row)
    total = float(found.sum())
    return found / total, total


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([ERROR_CHANCE, 0.1]))
def test_a_belief_with_errors_is_bayes_rule_for_responses_that_may_err(
    data: st.DataObject, chance: float
) -> None:
    bank = data.draw(banks(max_skills=3))
    answers = data.draw(answer_sets(bank))
    joint, total = softened(bank, answers, chance)
    row = np.full((1, len(bank.items)), -1)
    for item, response in answers:
        row[0, bank.position(item)] = response
    nothing = np.full_like(row, -1)
    for start in (start_belief(bank), start_belief(bank, max_profiles=0)):
        belief: SkillBelief = start.with_errors(chance)
        for item, response in answers:
            belief = belief.update(item, response)
        _compare(belief, joint, total)
        for item, _ in answers:
            belief = belief.without(item)
        assert belief.error_chance == chance
    for most in (2**16, 0):
        batch = beliefs_given(bank, nothing, max_profiles=most)
        beliefs = batch.with_errors(chance)
        for item, response in answers:
            beliefs = beliefs.update([bank.position(item)], [response])
        _compare(beliefs.alone(0), joint, total)
        assert beliefs.log_evidence[0] == pytest.approx(np.log(total), abs=1e-9)
        assert list(beliefs.alone(0).responses.items()) == answers
        again = pickle.loads(pickle.dumps(beliefs))
        _compare(again.alone(0), joint, total)


def _compare(belief: SkillBelief, joint: Floats, total: float) -> None:
    for axis, variable in enumerate(belief.bank.hidden):
        others = tuple(i for i in range(joint.ndim) if i != axis)
        np.testing.assert_allclose(
            belief.marginal(variable.name), joint.sum(axis=others), rtol=1e-9, atol=1e-12
        )
    assert belief.log_evidence == pytest.approx(np.log(total), abs=1e-9)


@both
def test_a_hundred_contradictions_do_not_vanish(most: int) -> None:
    bank = ItemBank.from_qmatrix([[1]] * 120, guess=0.0, slip=0.0)
    belief: SkillBelief = start_belief(bank, max_profiles=most).with_errors(ERROR_CHANCE)
    codes = (np.arange(120) % 2)[None]
    for item, response in zip(bank.item_names, codes[0].tolist(), strict=True):
        belief = belief.update(item, response)
    np.testing.assert_allclose(belief.marginal("skill_1"), 0.5)
    beliefs = start_beliefs(bank, 1, max_profiles=most).with_errors(ERROR_CHANCE)
    for place, response in enumerate(codes[0].tolist()):
        beliefs = beliefs.update([place], [response])
    np.testing.assert_allclose(beliefs.marginal("skill_1")[0], 0.5)
    assert beliefs.log_evidence[0] == pytest.approx(belief.log_evidence)


@pytest.mark.parametrize("chance", [-0.1, 1.0, np.nan])
def test_a_chance_of_errors_is_checked(chance: float) -> None:
    for belief in (start_belief(CERTAIN), start_beliefs(CERTAIN, 2)):
        with pytest.raises(InvalidArgumentError, match=r"\[0, 1\)"):
            belief.with_errors(chance)


def test_chances_of_errors_are_one_for_all_or_one_for_each() -> None:
    assert checked_error_chances(0.1, 3) == 0.1
    assert checked_error_chances([0.1, 0.2], 2).tolist() == [0.1, 0.2]
    assert checked_error_chances([0.1, 0.2]).tolist() == [0.1, 0.2]
    with pytest.raises(InvalidArgumentError, match=r"chances of shape \(3,\), got shape \(2,\)"):
        checked_error_chances([0.1, 0.2], 3)


@both
def test_a_session_outlives_an_impossible_answer_and_says_so(most: int, tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    session = Session.start(CERTAIN, belief=start_belief(CERTAIN, max_profiles=most), path=path)
    session = session.answer("item_1", 1).answer("item_4", 1)
    assert not session.impossible
    assert session.report().to_dict()["impossible"] is False
    wrong = session.answer("item_2", 0)
    assert wrong.impossible
    assert wrong.report().to_dict()["impossible"] is True
    # One answer against one: nobody knows which of them was the error.
    assert wrong.posterior["skill_1"]["1"] == pytest.approx(0.5)
    assert wrong.posterior["skill_2"]["1"] == pytest.approx(1, abs=1e-5)
    assert wrong.next_item() == "item_3"
    third = wrong.answer("item_3", 1)
    assert third.posterior["skill_1"]["1"] == pytest.approx(1, abs=1e-5)
    assert third.stop_reason == "every item was asked"
    suspect = min(third.person_fit(), key=lambda answer: answer.p_value)
    assert suspect.item == "item_2"
    assert suspect.probability == pytest.approx(0, abs=1e-5)
    loaded = Session.load(path, CERTAIN, belief=start_belief(CERTAIN, max_profiles=most))
    assert loaded.impossible
    assert loaded.posterior == third.posterior


def test_answers_that_become_possible_are_taken_at_their_word_again() -> None:
    session = Session.start(CERTAIN).answer("item_1", 1).answer("item_2", 0)
    assert session.impossible
    for mended in (session.undo(), session.change("item_2", 1), session.change("item_1", 0)):
        assert not mended.impossible
        assert mended.belief.error_chance == 0
        assert set(mended.posterior["skill_1"].values()) == {0.0, 1.0}
    assert session.answer("item_3", 0).change("item_2", 1).impossible


def test_a_session_that_expects_errors_keeps_its_own_chance() -> None:
    careful = start_belief(CERTAIN).with_errors(0.1)
    session = Session.start(CERTAIN, belief=careful).answer("item_1", 1).answer("item_2", 0)
    assert not session.impossible
    assert session.change("item_2", 1).belief.error_chance == 0.1


@tables_and_trees
def test_an_impossible_answer_ends_no_simulated_test(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beliefs_module, "TABLE_PROFILES", most)
    codes = [[1, 0, 1, 1], [1, 1, 1, 0], [0, 0, 0, 1], [0, 1, 1, 0]]
    people = Responses.of(codes, items=CERTAIN.item_names)
    result = simulate(CERTAIN, people, {"order": FixedOrder()})
    run_of = result.runs[0]
    assert run_of.impossible.tolist() == [True, False, False, True]
    assert result.lengths["impossible"].tolist() == [True, False, False, True]
    assert set(run_of.reasons) == {"every item was asked"}
    assert run_of.classified.tolist() == [[1, 1], [1, 0], [0, 1], [1, 0]]
    for row in range(4):
        session = Session.start(Design(CERTAIN, FixedOrder()), belief=start_belief(CERTAIN))
        for step in range(5):
            shown = result.values("order", "entropy")[row, step]
            assert shown == pytest.approx(session.belief.entropy, abs=1e-9)
            if step < 4:
                session = session.answer(session.next_item(), codes[row][step])
        assert session.impossible == run_of.impossible[row]
    # Who contradicts nobody is not touched by who does.
    alone = simulate(CERTAIN, people.take([1, 2]), {"order": FixedOrder()}).runs[0]
    np.testing.assert_array_equal(alone.values, run_of.values[:, 1:3])


Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] * 3


def test_a_bank_of_a_file_with_zeros_serves_everybody(tmp_path: Path) -> None:
    """The poorest items hold a guess for impossible, as if learned from few examinees."""
    rng = np.random.default_rng(1)
    guess, slip = rng.uniform(0.02, 0.3, (2, len(Q)))
    people = Responses.drawn(ItemBank.from_qmatrix(Q, guess, slip), 400, seed=3)
    poor = np.argsort(-(guess + slip))[:6]
    guess[poor] = 0.0
    slip[poor[:3]] = 0.0
    write_bank(ItemBank.from_qmatrix(Q, guess, slip), tmp_path / "bank.json")
    bank = read_bank(tmp_path / "bank.json")
    every: list[ScoringSelector] = [*DIVERGENCES, MinimalEntropy(), FixedOrder()]
    selectors = {repr(selector): selector for selector in every}
    result = simulate(bank, people, selectors)
    for run_of in result.runs:
        assert 100 < run_of.impossible.sum() < 400
        assert set(run_of.reasons) == {"every item was asked"}
        assert np.isfinite(result.values(run_of.selector, "entropy")).all()


def test_infinite_scores_no_longer_spoil_the_choice() -> None:
    """With six zeros MPWKL classified .352 of 400 patterns after six items, entropy .525."""
    rng = np.random.default_rng(1)
    guess, slip = (rng.uniform(0.02, 0.3, len(Q)).round(2) for _ in range(2))
    people = Responses.drawn(ItemBank.from_qmatrix(Q, guess, slip), 400, seed=3)
    guess[np.argsort(-(guess + slip))[:6]] = 0.0
    bank = ItemBank.from_qmatrix(Q, guess, slip)
    selectors = {"mpwkl": KullbackLeibler("mpwkl"), "entropy": MinimalEntropy()}
    result = simulate(bank, people, selectors, MaximalItems(6))
    shares = {
        run_of.selector: float((run_of.classified == people.levels).all(axis=1).mean())
        for run_of in result.runs
    }
    assert shares["mpwkl"] > shares["entropy"] - 0.05


@pytest.mark.parametrize("selector", DIVERGENCES, ids=lambda s: s.index)
def test_an_item_with_a_zero_that_tells_little_is_not_preferred(
    selector: ScoringSelector,
) -> None:
    """Nobody without the skill solves the first item, and hardly anybody with it."""
    bank = ItemBank.from_qmatrix([[1], [1]], guess=[0.0, 0.1], slip=[0.98, 0.1])
    belief = start_belief(bank)
    scores = selector.scores(belief, bank.item_names)
    assert np.isfinite(scores).all()
    assert selector.select(belief, bank.item_names).item == "item_2"
    assert MinimalEntropy().select(belief, bank.item_names).item == "item_2"
    # A certain item is worth most, by far.
    sure = ItemBank.from_qmatrix([[1], [1]], guess=[0.2, 0.0], slip=[0.1, 0.0])
    assert selector.select(start_belief(sure), sure.item_names).item == "item_2"
    unlikely = start_belief(
        ItemBank.from_qmatrix(
            [[1, 0], [0, 1]], guess=[0.0, 0.3], slip=[0.4, 0.3], skills=Independent([0.999, 0.5])
        )
    )
    if selector != KullbackLeibler():  # which does not weigh profiles
        assert selector.select(unlikely, unlikely.bank.item_names).item == "item_2"
    assert DiscriminationIndex().select(unlikely, unlikely.bank.item_names).item == "item_2"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_divergence_is_infinite_or_negative(data: st.DataObject) -> None:
    bank = data.draw(banks(max_skills=3, others=False))
    belief = start_belief(bank)
    for selector in DIVERGENCES:
        scores = selector.scores(belief, bank.item_names)
        assert np.isfinite(scores).all()
        assert scores.min() >= 0
    rows = floored(bank.channels())
    np.testing.assert_allclose(rows.sum(axis=-1), 1)
    assert rows[rows > 0].min() > LEAST_CHANCE / (1 + 4 * LEAST_CHANCE)


def test_the_command_line_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bnmind.lab.simulations.png", lambda figure: b"")
    write_bank(CERTAIN, "bank.json")
    shown = run("test", "bank.json", "--selector", "order", answers="1\n0\n1\n1\n\n")
    assert shown.exit_code == 0
    assert shown.output.count("No examinee gives all these answers, by the bank") == 2
    assert "3. item_3" in shown.output
    Path("people.csv").write_text("item_1,item_2,item_3,item_4\n1,0,1,1\n1,1,1,0\n")
    arguments = ("--responses", "people.csv", "--selector", "order")
    shown = run("simulate", "bank.json", *arguments)
    assert shown.exit_code == 0
    words = "order: by the bank, the answers of 1 examinee are impossible together;"
    assert words in " ".join(shown.output.split())


def limit(bank: ItemBank, answers: list[tuple[str, int]]) -> Floats:
    """Return the profiles that the fewest answers contradict, by their probability given others."""
    joint, _ = enumerated(bank, {})
    names = [v.name for v in bank.hidden]
    contradicted = np.zeros(joint.shape, dtype=int)
    for levels in np.ndindex(joint.shape):
        for item, response in answers:
            chance = float(chances(bank, item, names, levels)[response])
            contradicted[levels] += chance == 0
            joint[levels] *= chance or 1.0
    fewest = contradicted[joint > 0].min()
    joint = np.where(contradicted == fewest, joint, 0.0)
    normal: Floats = joint / joint.sum()
    return normal


def chances(bank: ItemBank, item: str, names: list[str], levels: tuple[int, ...]) -> Floats:
    own = [levels[names.index(name)] for name in bank.cause(item)]
    sizes = [bank.variable(name).n_states for name in bank.cause(item)]
    row: Floats = bank.channel(item)[np.ravel_multi_index(own, sizes)]
    return row


def entropy_of(masses: Floats) -> float:
    positive = masses[masses > 0]
    return float(-(positive * np.log2(positive)).sum())


@both
def test_impossible_answers_are_believed_as_in_the_limit_of_vanishing_errors(
    most: int,
) -> None:
    contradictory = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        q = np.concatenate([np.eye(3, dtype=int), rng.integers(0, 2, (6, 3))])
        q[q.sum(axis=1) == 0, 0] = 1
        guess, slip = np.where(rng.random((2, 9)) < 0.7, 0.0, rng.uniform(0.05, 0.4, (2, 9)))
        skills = Independent(rng.uniform(0.1, 0.9, 3).tolist())
        bank = ItemBank.from_qmatrix(q, guess.tolist(), slip.tolist(), skills=skills)
        answers = [(name, int(rng.integers(2))) for name in bank.item_names[:7]]
        belief: SkillBelief = start_belief(bank, max_profiles=most)
        for item, response in answers:
            belief = updated_anyway(belief, item, response)
        if not belief.error_chance:
            continue
        contradictory += 1
        expected = limit(bank, answers)
        names = [v.name for v in bank.hidden]
        for axis, name in enumerate(names):
            rest = tuple(k for k in range(3) if k != axis)
            np.testing.assert_allclose(
                belief.marginal(name), expected.sum(axis=rest), rtol=0, atol=1e-5
            )
        assert belief.entropy == pytest.approx(entropy_of(expected), abs=1e-5)
        ranked = rank_items(belief, bank.item_names[7:])
        for row in ranked:
            after = 0.0
            for response in (0, 1):
                joint = expected.copy()
                for levels in np.ndindex(joint.shape):
                    joint[levels] *= chances(bank, row.item, names, levels)[response]
                if joint.sum() > 0:
                    after += joint.sum() * entropy_of(joint / joint.sum())
            assert row.expected_entropy == pytest.approx(after, abs=1e-5)
    assert contradictory > 10
