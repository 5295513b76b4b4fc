"""Beliefs about skills: what enumeration says, by table and by tree, one by one and in batches."""

from __future__ import annotations

import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    BatchBelief,
    Dina,
    Independent,
    Item,
    ItemBank,
    ScoringSelector,
    SkillBelief,
    beliefs_given,
    irt_bank,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.belief_tables import ProfileSpace, SubsetSums
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats, entropy
from bnmind.pgm import Network, TabularCPD, Variable
from tests.banks import answer_sets, banks, enumerated
from tests.modes import examples

KINDS = (2**16, 0)
"""The most profiles of a table: for beliefs held by a table, and by a junction tree."""
BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
CERTAIN = ItemBank.from_qmatrix([[1], [1]], guess=0.0, slip=0.0)

both = pytest.mark.parametrize("most", KINDS, ids=["table", "tree"])


def after(belief: SkillBelief, answers: list[tuple[str, int]]) -> SkillBelief:
    for item, response in answers:
        belief = belief.update(item, response)
    return belief


@settings(max_examples=examples(80))
@given(st.data())
def test_beliefs_are_what_enumeration_says(data: st.DataObject) -> None:
    bank = data.draw(banks())
    answers = data.draw(answer_sets(bank))
    posterior, total = enumerated(bank, dict(answers))
    for most in KINDS:
        start = start_belief(bank, max_profiles=most)
        if total < 1e-12:
            continue
        belief = after(start, answers)
        assert belief.responses == dict(answers)
        assert belief.log_evidence == pytest.approx(math.log(total), abs=1e-9)
        assert belief.entropy == pytest.approx(float(entropy(posterior.ravel())), abs=1e-12)
        for axis, variable in enumerate(bank.hidden):
            others = tuple(a for a in range(posterior.ndim) if a != axis)
            np.testing.assert_allclose(
                belief.marginal(variable.name), posterior.sum(axis=others), rtol=0, atol=1e-12
            )
        for name in bank.item_names:
            place = [v.name for v in bank.hidden]
            kept = [place.index(v) for v in bank.cause(name)]
            mass = posterior.sum(axis=tuple(set(range(posterior.ndim)) - set(kept))).ravel()
            np.testing.assert_allclose(belief.masses([name])[0], mass, rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                belief.predict(name), mass @ bank.channel(name), rtol=0, atol=1e-12
            )
        others = tuple(range(len(bank.skills), posterior.ndim))
        skills = posterior.sum(axis=others)
        profile = belief.profile()
        assert profile.probability == pytest.approx(skills.max(), abs=1e-12)
        assert skills[profile.levels] == pytest.approx(skills.max(), abs=1e-12)


@settings(max_examples=examples(25))
@given(st.data())
def test_information_is_the_entropy_expected_to_go(data: st.DataObject) -> None:
    bank = data.draw(banks())
    answers = data.draw(answer_sets(bank))
    assume(enumerated(bank, dict(answers))[1] > 1e-9)
    for most in KINDS:
        belief: SkillBelief = after(start_belief(bank, max_profiles=most), answers)
        left = [name for name in bank.item_names if name not in belief.responses]
        for name, promised in zip(left, belief.information(left), strict=True):
            expected = sum(
                p * belief.update(name, response).entropy
                for response, p in enumerate(belief.predict(name))
                if p > 1e-12
            )
            assert promised == pytest.approx(belief.entropy - expected, abs=1e-9)
        assert belief.information().shape == (len(bank.items),)


@settings(max_examples=examples(25))
@given(st.data())
def test_the_order_of_answers_leaves_no_trace(data: st.DataObject) -> None:
    bank = data.draw(banks())
    answers = data.draw(answer_sets(bank))
    assume(enumerated(bank, dict(answers))[1] > 1e-12)
    for most in KINDS:
        one = after(start_belief(bank, max_profiles=most), answers)
        other = after(start_belief(bank, max_profiles=most), data.draw(st.permutations(answers)))
        items = bank.item_names
        np.testing.assert_allclose(one.masses(items), other.masses(items), rtol=0, atol=1e-12)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-12)


@settings(max_examples=examples(25))
@given(st.data())
def test_taking_an_answer_away_is_not_having_had_it(data: st.DataObject) -> None:
    bank = data.draw(banks())
    answers = data.draw(answer_sets(bank))
    assume(answers and enumerated(bank, dict(answers))[1] > 1e-9)
    gone = data.draw(st.sampled_from(answers))
    kept = [answer for answer in answers if answer != gone]
    for most in KINDS:
        found = after(start_belief(bank, max_profiles=most), answers).without(gone[0])
        expected = after(start_belief(bank, max_profiles=most), kept)
        assert found.responses == expected.responses
        assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)
        np.testing.assert_allclose(
            found.masses(bank.item_names), expected.masses(bank.item_names), rtol=0, atol=1e-12
        )


@settings(max_examples=examples(30))
@given(st.data())
def test_batches_are_single_beliefs_side_by_side(data: st.DataObject) -> None:
    bank = data.draw(banks())
    rows = [dict(answers) for answers in data.draw(st.lists(answer_sets(bank), max_size=4))]
    rows = [row for row in rows if enumerated(bank, row)[1] > 1e-9]
    table = np.array([[row.get(name, -1) for name in bank.item_names] for row in rows])
    table = table.reshape(-1, len(bank.items)).astype(int)
    everything = range(len(bank.items))
    for most in KINDS:
        batch = beliefs_given(bank, table, max_profiles=most)
        stepwise = start_beliefs(bank, len(rows), max_profiles=most)
        for item in everything:
            stepwise = stepwise.update(np.full(len(rows), item), table[:, item])
        for found in (batch, stepwise, pickle.loads(pickle.dumps(batch))):
            assert len(found) == len(rows)
            np.testing.assert_array_equal(found.responses, table)
            for number, row in enumerate(rows):
                one = after(start_belief(bank), list(row.items()))
                assert found.log_evidence[number] == pytest.approx(one.log_evidence, abs=1e-9)
                assert found.entropy[number] == pytest.approx(one.entropy, abs=1e-12)
                np.testing.assert_allclose(
                    found.masses(everything)[number],
                    one.masses(bank.item_names),
                    rtol=0,
                    atol=1e-12,
                )
                np.testing.assert_allclose(
                    found.information()[number], one.information(), rtol=0, atol=1e-12
                )
                for item, name in enumerate(bank.item_names):
                    np.testing.assert_allclose(
                        found.predict([item])[number, 0], one.predict(name), rtol=0, atol=1e-12
                    )
                for skill in bank.skills:
                    np.testing.assert_allclose(
                        found.marginal(skill)[number], one.marginal(skill), rtol=0, atol=1e-12
                    )
                assert found.profile().probabilities[number] == pytest.approx(
                    one.profile().probability, abs=1e-12
                )
        part = batch.take(np.arange(0, len(rows), 2))
        np.testing.assert_allclose(part.entropy, batch.entropy[::2], rtol=0, atol=1e-12)


@both
def test_responses_have_names_and_positions(most: int) -> None:
    start = start_belief(BANK, max_profiles=most)
    assert start.update("item_1", "1").responses == start.update("item_1", 1).responses


@both
def test_bad_responses_are_refused(most: int) -> None:
    belief = start_belief(BANK, max_profiles=most).update("item_1", 1)
    with pytest.raises(InvalidArgumentError, match="item_1 was answered already, with 1"):
        belief.update("item_1", 0)
    for wrong in (2, -1, "yes", True):
        with pytest.raises(InvalidArgumentError, match=r"response to (item_2 among|be text or)"):
            belief.update("item_2", wrong)
    with pytest.raises(UnknownNameError, match="expected an item among"):
        belief.update("item_9", 0)
    with pytest.raises(InvalidArgumentError, match="item_2 was not answered"):
        belief.without("item_2")
    with pytest.raises(UnknownNameError):
        belief.without("item_9")
    with pytest.raises(UnknownNameError):
        belief.marginal("item_1")


@both
def test_responses_that_exclude_each_other_are_named(
    most: int,
) -> None:
    belief = start_belief(CERTAIN, max_profiles=most).update("item_1", 1)
    with pytest.raises(ImpossibleEvidenceError, match="item_1=1, item_2=0") as caught:
        belief.update("item_2", 0)
    assert caught.value.evidence == {"item_1": "1", "item_2": "0"}


@both
def test_bad_batches_are_refused(most: int) -> None:
    with pytest.raises(InvalidArgumentError, match="in row 1, item item_3, got 7"):
        beliefs_given(BANK, [[0, 1, -1], [0, 1, 7]], max_profiles=most)
    with pytest.raises(InvalidArgumentError, match="shape"):
        beliefs_given(BANK, [[0, 1]], max_profiles=most)
    batch = beliefs_given(BANK, [[0, -1, -1], [-1, -1, -1]], max_profiles=most)
    with pytest.raises(InvalidArgumentError, match="examinee 0 has answered item_1 already"):
        batch.update([0, 0], [1, 1])
    with pytest.raises(InvalidArgumentError, match="got 3 for examinee 1"):
        batch.update([1, 3], [1, 1])
    with pytest.raises(InvalidArgumentError, match="item item_2, got 5"):
        batch.update([1, 1], [0, 5])
    with pytest.raises(ImpossibleEvidenceError, match="examinee 1"):
        beliefs_given(CERTAIN, [[1, 1], [1, 0]], max_profiles=most)
    with pytest.raises(TooLargeError, match="in parts"):
        start_beliefs(BANK, 1000, max_cells=100, max_profiles=most)


@both
def test_who_is_not_asked_learns_nothing(most: int) -> None:
    batch = start_beliefs(BANK, 2, max_profiles=most).update([0, -1], [1, 1])
    assert batch.responses.tolist() == [[1, -1, -1], [-1, -1, -1]]
    assert batch.entropy[1] == pytest.approx(2.0)


@both
def test_many_surprising_answers_do_not_vanish(most: int) -> None:
    rng = np.random.default_rng(0)
    n = 300
    parameters = np.column_stack([rng.uniform(4, 9, n), rng.normal(0, 1, n)])
    bank = irt_bank(parameters)
    answers = rng.integers(0, 2, n)
    belief = start_belief(bank, max_profiles=most)
    table = [(name, int(r)) for name, r in zip(bank.item_names, answers, strict=True)]
    for name, r in table:
        belief = belief.update(name, r)
    logs = np.log([bank.channel(name)[:, r] for name, r in table]).sum(axis=0)
    prior = np.log(np.real(bank.network.cpd("ability").to_factor().values))
    expected = float(np.logaddexp.reduce(logs + prior))
    assert expected < -745  # less than the least float
    assert belief.log_evidence == pytest.approx(expected, rel=1e-12)
    batch = beliefs_given(bank, answers[None], max_profiles=most)
    assert batch.log_evidence[0] == pytest.approx(expected, rel=1e-12)


def test_a_tree_that_is_too_large_says_how_large() -> None:
    everything = ItemBank.from_qmatrix(np.ones((1, 20), dtype=int), skills=Independent())
    with pytest.raises(
        TooLargeError, match=r"of 20 hidden variables and the causes of 1 items has 1,048,576 cells"
    ) as caught:
        start_belief(everything, max_profiles=0, max_cells=2**19)
    assert caught.value.needed == 2**20
    with pytest.raises(TooLargeError, match="profiles"):
        ProfileSpace.table(everything, 1000)


def test_small_banks_start_with_tables_and_large_ones_with_trees() -> None:
    chain = np.eye(20, dtype=int) + np.eye(20, k=1, dtype=int)
    large = ItemBank.from_qmatrix(chain, skills=Independent(0.5))
    assert start_belief(BANK).table is not None
    assert start_beliefs(BANK, 3).table is not None
    assert start_belief(large).table is None
    assert start_beliefs(large, 3).table is None
    assert beliefs_given(large, np.full((2, 20), -1)).table is None
    assert start_belief(large).entropy == pytest.approx(20.0)


@both
def test_beliefs_are_pickled_by_their_responses(most: int) -> None:
    belief = start_belief(BANK, max_profiles=most).update("item_3", 1).update("item_1", 0)
    copy = pickle.loads(pickle.dumps(belief))
    assert copy.responses == belief.responses
    assert list(copy.responses) == ["item_3", "item_1"]
    np.testing.assert_array_equal(copy.masses(BANK.item_names), belief.masses(BANK.item_names))


@both
def test_other_hidden_variables_are_summed_out_of_profiles(
    most: int,
) -> None:
    # Every skill depends on one ability; the best pair is not part of the best triple.
    z = Variable.of_integers("z", range(3))
    a, b = Variable.of_integers("a", range(2)), Variable.of_integers("b", range(2))
    items = [Variable.of_integers(name, range(2)) for name in ("x", "y")]
    network = Network(
        (
            TabularCPD(z, (), np.array([0.4, 0.3, 0.3])),
            TabularCPD(a, (z,), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])),
            TabularCPD(b, (z,), np.array([[1.0, 0.1, 0.1], [0.0, 0.9, 0.9]])),
            *(
                Dina(0.3, 0.3).cpd(item, (skill,))
                for item, skill in zip(items, (a, b), strict=True)
            ),
        )
    )
    bank = ItemBank(network, ("a", "b"), (Item("x"), Item("y")))
    profile = start_belief(bank, max_profiles=most).profile()
    assert profile.levels == (1, 1)
    assert profile.probability == pytest.approx(0.54)


def test_marginals_of_many_sets_are_sums() -> None:
    rng = np.random.default_rng(3)
    for shape in ((2,) * 12, (3, 2, 4, 2, 3, 2), (61,), (5, 300)):
        table = rng.random((3, *shape))
        n = len(shape)
        sets = [s for s in product(range(n), repeat=3) if len(set(s)) == len(s)][:60]
        wanted = [tuple(sorted(s)) for s in sets] + [(i,) for i in range(n)] + [tuple(range(n))]
        sums = SubsetSums(shape, wanted)
        for front in (table, table[:1]):
            row = sums(front.reshape(len(front), -1))
            assert row.shape == (len(front), sums.n_cells)
            for axes, start, size in zip(wanted, sums.starts, sums.sizes, strict=True):
                gone = tuple(a + 1 for a in range(n) if a not in axes)
                expected = front.sum(axis=gone).reshape(len(front), -1)
                np.testing.assert_allclose(row[:, start : start + size], expected, rtol=1e-12)


def test_arrays_of_beliefs_and_selections_belong_to_them() -> None:
    """Neither is copied by a constructor, so nobody else may hold an array that can be changed."""

    class Own(ScoringSelector):
        tolerance = 1e-9
        kept = np.array([0.1, 0.3, 0.2])

        def batch_scores(self, beliefs: BatchBelief) -> Floats:
            return self.kept[None]

    belief = start_belief(BANK).update(np.str_("item_1"), 1)
    selection = Own().select(belief, list(BANK.item_names))
    Own.kept[:] = 0.0
    assert selection.scores.tolist() == [0.1, 0.3, 0.2]
    assert [type(item) for item in belief.responses] == [str]
    for array in (belief.joints[0], selection.scores):
        base: Any = array
        while isinstance(base, np.ndarray):
            assert not base.flags.writeable
            base = base.base
