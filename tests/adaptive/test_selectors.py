"""Selectors: their scores are their definitions, in batches as one by one, by table and tree."""

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
    MISSING,
    ChosenBy,
    DiscriminationIndex,
    FixedOrder,
    Independent,
    Item,
    ItemBank,
    KullbackLeibler,
    Loss,
    LossGain,
    MaximalFisher,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    PerCost,
    PosteriorWeightedKL,
    RandomItem,
    ScoredBy,
    ScoringSelector,
    SkillBelief,
    SkillEntropy,
    TableBatch,
    TableBelief,
    TargetEntropy,
    TreeBatch,
    TreeBelief,
    expected_ability,
    irt_bank,
    item_time,
    logistic_items,
    most_likely_ability,
    most_probable_ability,
    response_joints,
    start_belief,
    start_beliefs,
)
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    NothingToAskError,
    UnknownNameError,
)
from bnmind.information import Floats, choose_question, entropy
from tests.banks import answer_sets, banks, enumerated
from tests.modes import examples

BANK = ItemBank.from_qmatrix(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
    guess=[0.1, 0.2, 0.15, 0.2, 0.25, 0.1, 0.2],
    slip=[0.1, 0.1, 0.2, 0.05, 0.1, 0.15, 0.1],
    skills=Independent([0.5, 0.6, 0.4]),
)
SCORED: list[ScoringSelector[SkillBelief]] = [
    MinimalEntropy(),
    TargetEntropy(("skill_1", "skill_3")),
    SkillEntropy({"skill_2": 2.0, "skill_3": 1.0}),
    SkillEntropy(),
    DiscriminationIndex(),
    KullbackLeibler(),
    PosteriorWeightedKL(),
    ModifiedPosteriorWeightedKL(),
    LossGain(),
    PerCost(MinimalEntropy(), item_time),
    FixedOrder(("item_3", "item_1")),
    ScoredBy(lambda belief, items: belief.information(items)),
]
named = pytest.mark.parametrize("selector", SCORED, ids=lambda s: type(s).__name__)


def after(belief: SkillBelief, answers: list[tuple[str, int]]) -> SkillBelief:
    for item, response in answers:
        belief = belief.update(item, response)
    return belief


def cells(bank: ItemBank, joint: Floats, item: str) -> list[tuple[tuple[int, ...], float, Floats]]:
    """Return for each profile its levels, its probability, and the chances of the responses."""
    axes = {v.name: axis for axis, v in enumerate(bank.hidden)}
    found = []
    for levels in product(*(range(n) for n in joint.shape)):
        table = bank.network.cpd(item).to_factor()
        chances = np.array(
            [
                np.real(
                    table.select({n: levels[axes[n]] for n in bank.cause(item)} | {item: r}).values
                )
                for r in range(len(bank.responses(item)))
            ],
            dtype=np.float64,
        )
        found.append((levels, float(joint[levels]), chances))
    return found


def divergence(p: Floats, q: Floats, given: Floats) -> float:
    """The divergence of two rows; chances below 1e-4 of what somebody responds count as 1e-4."""
    total = 0.0
    least_p, least_q = (np.maximum(row, 1e-4)[given > 0] for row in (p, q))
    for own, other in zip(least_p / least_p.sum(), least_q / least_q.sum(), strict=True):
        total += float(own * math.log2(own / other))
    return total


def defined(bank: ItemBank, joint: Floats, item: str) -> dict[str, float]:
    """Return the scores by their definitions over all profiles, cell by cell."""
    rows = cells(bank, joint, item)
    skills = len(bank.skills)
    n_responses = len(bank.responses(item))
    most = np.max([chances for _, _, chances in rows], axis=0)
    predicted = np.sum([p * chances for _, p, chances in rows], axis=0)
    expected = 0.0
    for r in range(n_responses):
        weights = np.array([p * chances[r] for _, p, chances in rows])
        if weights.sum() > 0:
            expected += weights.sum() * float(entropy(weights / weights.sum()))
    before = float(entropy([p for _, p, _ in rows]))

    def about(places: tuple[int, ...]) -> Floats:
        table: dict[tuple[int, ...], Floats] = {}
        for levels, p, chances in rows:
            key = tuple(levels[i] for i in places)
            table[key] = table.get(key, np.zeros(n_responses)) + p * chances
        return np.array(list(table.values()))

    def told(places: tuple[int, ...]) -> float:
        table = about(places)
        return float(
            entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel())
        )

    def spared(places: tuple[int, ...]) -> float:
        table = about(places)
        return float(table.max(axis=0).sum() - table.sum(axis=1).max())

    return {
        "entropy": before - expected,
        "first": told((0,)),
        "each": sum(told((k,)) for k in range(skills)),
        "loss": sum(spared((k,)) for k in range(skills)),
        "gdi": sum(
            p * float(((chances - predicted) ** 2).sum()) / 2 for _, p, chances in rows if p > 0
        ),
        "mpwkl": sum(
            p * other * divergence(d, c, most)
            for (_, p, d), (_, other, c) in product(rows, rows)
            if p * other > 0
        ),
    }


@settings(max_examples=examples(40))
@given(st.data())
def test_scores_are_their_definitions_by_table_and_by_tree(data: st.DataObject) -> None:
    bank = data.draw(banks(max_skills=3))
    answers = data.draw(answer_sets(bank))
    joint, total = enumerated(bank, dict(answers))
    assume(total > 1e-6)
    items = [name for name in bank.item_names if name not in dict(answers)]
    assume(items)
    expected = [defined(bank, joint, item) for item in items]
    selectors: dict[str, ScoringSelector[SkillBelief]] = {
        "entropy": MinimalEntropy(),
        "first": TargetEntropy(bank.skills[:1]),
        "each": SkillEntropy(),
        "loss": LossGain(),
        "gdi": DiscriminationIndex(),
        "mpwkl": ModifiedPosteriorWeightedKL(),
    }
    for start in (TableBelief.start(bank), TreeBelief.start(bank)):
        belief = after(start, answers)
        for name, selector in selectors.items():
            scores = selector.scores(belief, items)
            np.testing.assert_allclose(
                scores, [row[name] for row in expected], rtol=1e-7, atol=1e-9, err_msg=name
            )


@settings(max_examples=examples(40))
@given(st.data())
def test_divergences_from_a_profile_are_their_definitions(data: st.DataObject) -> None:
    bank = data.draw(banks(max_skills=3, others=False))
    answers = data.draw(answer_sets(bank))
    joint, total = enumerated(bank, dict(answers))
    assume(total > 1e-6)
    items = [name for name in bank.item_names if name not in dict(answers)]
    assume(items)
    belief = after(TableBelief.start(bank), answers)
    here = belief.profile().levels
    weighted, plain = [], []
    for item in items:
        rows = cells(bank, joint, item)
        own = next(chances for levels, _, chances in rows if levels == here)
        most = np.max([chances for _, _, chances in rows], axis=0)
        weighted.append(sum(p * divergence(own, c, most) for _, p, c in rows if p > 0))
        plain.append(np.mean([divergence(own, c, most) for _, _, c in rows]))
    np.testing.assert_allclose(
        PosteriorWeightedKL().scores(belief, items), weighted, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(KullbackLeibler().scores(belief, items), plain, rtol=1e-7, atol=1e-9)


@named
@pytest.mark.parametrize("kind", [TableBatch, TreeBatch])
def test_a_batch_scores_and_selects_as_one_by_one(
    selector: ScoringSelector[SkillBelief], kind: type[TableBatch | TreeBatch]
) -> None:
    rng = np.random.default_rng(3)
    responses = rng.integers(-1, 2, (6, len(BANK.items)))
    responses[:, 6] = MISSING
    batch = kind.of(BANK, responses)
    allowed = (responses == MISSING) & (rng.random(responses.shape) < 0.8)
    allowed[0] = False
    found = selector.select_batch(batch, allowed)
    assert found.items[0] == MISSING
    for number in range(1, 6):
        belief = start_belief(BANK)
        for place in np.flatnonzero(responses[number] != MISSING):
            belief = belief.update(BANK.item_names[place], int(responses[number, place]))
        items = [BANK.item_names[i] for i in np.flatnonzero(allowed[number])]
        if not items:
            assert found.items[number] == MISSING
            continue
        selection = selector.select(belief, items)
        assert BANK.item_names[found.items[number]] == selection.item
        np.testing.assert_allclose(
            found.scores[number, allowed[number]], selection.scores, rtol=1e-9, atol=1e-12
        )


@named
def test_items_come_in_any_order_and_none_is_an_error(
    selector: ScoringSelector[SkillBelief],
) -> None:
    belief = start_belief(BANK)
    names = list(BANK.item_names)
    first = selector.select(belief, names)
    assert first.item == selector.select(belief, names[::-1]).item
    assert first.items == BANK.item_names
    assert first.score == first.scores.max()
    with pytest.raises(NothingToAskError, match="no item to select"):
        selector.select(belief, [])
    with pytest.raises(UnknownNameError):
        selector.select(belief, ["item_99"])


def test_of_equal_items_the_first_in_the_bank_is_selected_within_a_tolerance() -> None:
    bank = ItemBank.from_qmatrix([[1], [1], [1]], guess=[0.2, 0.2, 0.1999], slip=0.1)
    belief = start_belief(bank)
    assert MinimalEntropy().select(belief, bank.item_names).item == "item_3"
    near = MinimalEntropy(tolerance=0.01).select(belief, bank.item_names[::-1])
    assert (near.item, near.tied) == ("item_1", bank.item_names)
    assert MinimalEntropy().select(belief, ["item_2", "item_1"]).tied == ("item_1", "item_2")


@pytest.mark.parametrize("scorer", [lambda scored: scored, PerCost], ids=["scored", "per cost"])
def test_floating_point_noise_does_not_select_an_item(scorer: Any) -> None:
    """Live and in batches: scores that differ by less than the tolerance are equal."""
    bank = ItemBank.from_qmatrix([[1]] * 6, guess=0.2, slip=0.1)
    noise = [0.1, 0.5, 0.5 + 1e-12, 0.5 - 1e-12, 0.5 + 2e-12, 0.4]
    selector = scorer(
        ScoredBy(
            lambda belief, items: [noise[belief.bank.position(name)] for name in items],
            batch_function=lambda beliefs, _: np.tile(noise, (len(beliefs), 1)),
        )
    )
    live = selector.select(start_belief(bank), bank.item_names)
    assert (live.item, live.tied) == ("item_2", ("item_2", "item_3", "item_4", "item_5"))
    allowed = np.ones((2, 6), dtype=bool)
    allowed[1, 1] = False
    batch = selector.select_batch(start_beliefs(bank, 2), allowed)
    assert batch.items.tolist() == [1, 2]


def test_entropy_selects_what_the_function_that_chooses_guesses_does() -> None:
    belief = start_belief(BANK).update("item_1", 1).update("item_5", 0)
    items = [name for name in BANK.item_names if name not in belief.responses]
    choice = choose_question(belief.masses(items), BANK.channels(items))
    selection = MinimalEntropy().select(belief, items)
    assert selection.item == items[choice.question]
    np.testing.assert_allclose(selection.scores, choice.information, atol=1e-14)


def test_a_loss_may_make_errors_unequally_bad() -> None:
    bank = ItemBank.from_qmatrix([[1], [1]], guess=[0.01, 0.3], slip=[0.5, 0.01])
    belief = start_belief(bank)
    # Passing an examinee without the skill is 10 times as bad as failing one with it.
    strict = Loss(("skill_1",), [[0, 1], [10, 0]])
    lenient = Loss(("skill_1",), [[0, 10], [1, 0]])
    assert strict.risk(belief) == pytest.approx(0.5)
    assert LossGain((strict,)).select(belief, bank.item_names).item == "item_1"
    assert LossGain((lenient,)).select(belief, bank.item_names).item == "item_2"
    whole = Loss.zero_one(BANK, BANK.skills)
    assert whole.risk(start_belief(BANK)) == pytest.approx(1 - 0.5 * 0.6 * 0.6)


def catsim_information(theta: float, a: float, b: float, c: float, d: float) -> float:
    """Magis 2013, equation 6, written as catsim does."""
    p = c + (d - c) / (1 + math.exp(-a * (theta - b)))
    return a**2 * (p - c) ** 2 * (d - p) ** 2 / ((d - c) ** 2 * p * (1 - p))


def test_fisher_selects_what_catsim_does_on_the_same_estimate() -> None:
    rng = np.random.default_rng(8)
    parameters = np.column_stack(
        [
            rng.lognormal(0, 0.3, 60),
            rng.normal(size=60),
            rng.uniform(0, 0.3, 60),
            rng.uniform(0.9, 1, 60),
        ]
    )
    bank = irt_bank(logistic_items(parameters))
    batch = start_beliefs(bank, 1)
    belief = start_belief(bank)
    asked: list[str] = []
    for step in range(12):
        theta = float(expected_ability(belief))
        assert expected_ability(batch)[0] == pytest.approx(theta, abs=1e-12)
        order = sorted(range(60), key=lambda i: -catsim_information(theta, *parameters[i].tolist()))
        wanted = next(i for i in order if bank.item_names[i] not in asked)
        left = [name for name in bank.item_names if name not in asked]
        selection = MaximalFisher().select(belief, left)
        assert selection.item == bank.item_names[wanted]
        allowed = np.array([[name not in asked for name in bank.item_names]])
        assert MaximalFisher().select_batch(batch, allowed).items.tolist() == [wanted]
        asked.append(selection.item)
        belief = belief.update(selection.item, step % 3 % 2)
        batch = batch.update([wanted], [step % 3 % 2])
    assert float(most_probable_ability(belief)) == pytest.approx(theta, abs=0.5)
    assert abs(float(most_likely_ability(belief))) <= 5


def test_fisher_needs_a_bank_of_curves() -> None:
    with pytest.raises(InvalidModelError, match="one ability"):
        MaximalFisher().select(start_belief(BANK), BANK.item_names)


def test_functions_select_and_faulty_ones_are_reported() -> None:
    belief = start_belief(BANK)
    last = ChosenBy(lambda belief, items, rng: items[-1])
    assert last.select(belief, BANK.item_names).item == "item_7"
    allowed = np.ones((2, 7), dtype=bool)
    allowed[1, 6] = False
    assert last.select_batch(start_beliefs(BANK, 2), allowed).items.tolist() == [6, 5]
    with pytest.raises(UnknownNameError):
        ChosenBy(lambda belief, items, rng: "x").select(belief, BANK.item_names)
    with pytest.raises(InvalidArgumentError, match="without NaN"):
        ScoredBy(lambda belief, items: [math.nan] * 7).select(belief, BANK.item_names)
    with pytest.raises(InvalidArgumentError, match="shape"):
        ScoredBy(lambda belief, items: [1.0]).select(belief, BANK.item_names)


def test_any_belief_that_speaks_the_small_protocol_will_do() -> None:
    class Coins:
        """Three coins; each question asks about one of them, the second through noise."""

        def position(self, item: str) -> int:
            return int(item)

        def channels(self, items: Any) -> Floats:
            noisy = [[0.8, 0.2], [0.2, 0.8]]
            return np.array([noisy if item == "1" else np.eye(2) for item in items])

    class Belief:
        bank = Coins()

        def masses(self, items: Any) -> Floats:
            return np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])[[int(item) for item in items]]

        def information(self, items: Any) -> Floats:
            return choose_question(self.masses(items), self.bank.channels(items)).information

    for selector in (MinimalEntropy(), DiscriminationIndex(), ModifiedPosteriorWeightedKL()):
        assert selector.select(Belief(), ["2", "1", "0"]).item == "0"


def test_the_joint_of_levels_and_responses_sums_to_the_margins() -> None:
    belief = start_belief(BANK).update("item_4", 0)
    joint = response_joints(belief, ["skill_3", "skill_1"], ["item_1", "item_7"])
    assert joint.shape == (4, 2, 2)
    np.testing.assert_allclose(joint.sum(axis=(0, 2)), 1)
    np.testing.assert_allclose(joint[:, 1].sum(axis=0), belief.predict("item_7"))
    np.testing.assert_allclose(
        joint[:, 0].sum(axis=1).reshape(2, 2).sum(axis=1), belief.marginal("skill_3")
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MinimalEntropy(-1), "tolerance"),
        (lambda: TargetEntropy(()), "at least one, all different, got"),
        (lambda: TargetEntropy(("a", "a")), "all different, got"),
        (lambda: SkillEntropy({"a": -1.0}), "at least 0"),
        (lambda: SkillEntropy({}), "at least one or None, got {}"),
        (lambda: LossGain(()), "a Loss, at least one or None"),
        (lambda: Loss(("a",), [[math.inf]]), "finite"),
        (lambda: Loss((), [[1.0]]), "skills"),
        (lambda: FixedOrder(("a", "a")), "all different"),
    ],
)
def test_parameters_out_of_range_are_reported(make: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        make()


def test_skills_that_are_none_are_reported() -> None:
    belief = start_belief(BANK)
    with pytest.raises(UnknownNameError, match="skill"):
        TargetEntropy(("skill_9",)).select(belief, BANK.item_names)
    with pytest.raises(UnknownNameError, match="skill"):
        SkillEntropy({"skill_9": 1.0}).select(belief, BANK.item_names)
    with pytest.raises(InvalidArgumentError, match="2 configurations"):
        LossGain((Loss(("skill_1",), [[1.0]]),)).select(belief, BANK.item_names)
    free = PerCost(MinimalEntropy(), lambda item: 0.0)
    with pytest.raises(InvalidModelError, match="cost must be positive"):
        free.select(belief, BANK.item_names)


def test_chance_needs_a_generator_and_is_fair() -> None:
    belief = start_belief(BANK)
    with pytest.raises(InvalidArgumentError, match="luck"):
        RandomItem().select(belief, BANK.item_names)
    rng = np.random.default_rng(1)
    drawn = [RandomItem().select(belief, BANK.item_names, rng=rng).item for _ in range(700)]
    assert min(drawn.count(name) for name in BANK.item_names) > 60


def test_information_per_cost_prefers_cheap_items() -> None:
    items = [Item("dear", cost=2.0), Item("cheap", cost=1.0)]
    bank = ItemBank.from_qmatrix([[1], [1]], guess=[0.1, 0.2], slip=0.1, items=items)
    belief = start_belief(bank)
    assert MinimalEntropy().select(belief, bank.item_names).item == "dear"
    assert PerCost(MinimalEntropy()).select(belief, bank.item_names).item == "cheap"


@pytest.mark.parametrize(
    "selector",
    [one for one in SCORED if not isinstance(one, ScoredBy)],
    ids=lambda one: type(one).__name__,
)
def test_selectors_survive_pickling(selector: ScoringSelector[SkillBelief]) -> None:
    copy = pickle.loads(pickle.dumps(selector))
    belief = start_belief(BANK)
    assert copy.select(belief, BANK.item_names).item == (
        selector.select(belief, BANK.item_names).item
    )


def test_impossible_answers_stay_impossible() -> None:
    bank = ItemBank.from_qmatrix([[1], [1]], guess=0.0, slip=0.0)
    belief = start_belief(bank).update("item_1", 1)
    with pytest.raises(ImpossibleEvidenceError):
        belief.update("item_2", 0)
    assert MinimalEntropy().select(belief, ["item_2"]).scores.tolist() == [0.0]
