"""Selectors and stoppers against slow and obvious twins, in batches as one by one."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    MISSING,
    AbilityDecided,
    AStratified,
    Design,
    Dina,
    DiscriminationIndex,
    Enemies,
    FixedOrder,
    GradedResponse,
    Independent,
    Item,
    ItemBank,
    KullbackLeibler,
    Logistic,
    LossGain,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    MinimalPosteriorVariance,
    PerCost,
    Plateau,
    Progress,
    Progressive,
    Randomesque,
    RandomItem,
    Responses,
    ScoredBy,
    ScoringSelector,
    Selector,
    Session,
    SimulationOptions,
    SkillBelief,
    SkillEntropy,
    SkillsDecided,
    Stopper,
    SympsonHetter,
    ability_deviation,
    beliefs_given,
    expected_ability,
    irt_bank,
    most_likely_ability,
    most_probable_ability,
    simulate,
    simulate_designs,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.estimates import response_joints
from bnmind.adaptive.scores import TOLERANCE
from bnmind.adaptive.selectors import by_rank
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
SCORED: list[ScoringSelector] = [
    MinimalEntropy(),
    MinimalEntropy(("skill_1", "skill_3")),
    SkillEntropy({"skill_2": 2.0, "skill_3": 1.0}),
    SkillEntropy(),
    DiscriminationIndex(),
    KullbackLeibler(),
    KullbackLeibler("pwkl"),
    KullbackLeibler("mpwkl"),
    LossGain(),
    PerCost(MinimalEntropy(), "time"),
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
    selectors: dict[str, ScoringSelector] = {
        "entropy": MinimalEntropy(),
        "first": MinimalEntropy(bank.skills[:1]),
        "each": SkillEntropy(),
        "loss": LossGain(),
        "gdi": DiscriminationIndex(),
        "mpwkl": KullbackLeibler("mpwkl"),
    }
    for start in (start_belief(bank), start_belief(bank, max_profiles=0)):
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
    belief = after(start_belief(bank), answers)
    here = belief.profile().levels
    weighted, plain = [], []
    for item in items:
        rows = cells(bank, joint, item)
        own = next(chances for levels, _, chances in rows if levels == here)
        most = np.max([chances for _, _, chances in rows], axis=0)
        weighted.append(sum(p * divergence(own, c, most) for _, p, c in rows if p > 0))
        plain.append(np.mean([divergence(own, c, most) for _, _, c in rows]))
    np.testing.assert_allclose(
        KullbackLeibler("pwkl").scores(belief, items), weighted, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(KullbackLeibler().scores(belief, items), plain, rtol=1e-7, atol=1e-9)


@named
@pytest.mark.parametrize("most", [2**16, 0], ids=["table", "tree"])
def test_a_batch_scores_and_selects_as_one_by_one(selector: ScoringSelector, most: int) -> None:
    rng = np.random.default_rng(3)
    responses = rng.integers(-1, 2, (6, len(BANK.items)))
    responses[:, 6] = MISSING
    batch = beliefs_given(BANK, responses, max_profiles=most)
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
    selector: ScoringSelector,
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
        ScoredBy(lambda belief, items: [noise[belief.bank.position(name)] for name in items])
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
    strict = LossGain({"skill_1": [[0, 1], [10, 0]]})
    lenient = LossGain({("skill_1",): [[0, 10], [1, 0]]})
    assert strict.select(belief, bank.item_names).item == "item_1"
    assert lenient.select(belief, bank.item_names).item == "item_2"
    # The risk of a decision about all skills falls as that of the most probable profile.
    whole = LossGain({BANK.skills: 1.0 - np.eye(BANK.n_configurations(BANK.skills))})
    start = start_belief(BANK)
    chances = start.predict("item_1")
    after = [start.update("item_1", r).profile().probability for r in (0, 1)]
    gain = float(chances @ after) - start.profile().probability
    assert whole.scores(start, ["item_1"])[0] == pytest.approx(gain)


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
    bank = irt_bank(parameters)
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
    last = ScoredBy(lambda belief, items: range(len(items)))
    assert last.select(belief, BANK.item_names).item == "item_7"
    allowed = np.ones((2, 7), dtype=bool)
    allowed[1, 6] = False
    assert last.select_batch(start_beliefs(BANK, 2), allowed).items.tolist() == [6, 5]
    with pytest.raises(InvalidArgumentError, match="without NaN"):
        ScoredBy(lambda belief, items: [math.nan] * 7).select(belief, BANK.item_names)
    with pytest.raises(InvalidArgumentError, match="shape"):
        ScoredBy(lambda belief, items: [1.0]).select(belief, BANK.item_names)


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
        (lambda: MinimalEntropy(tolerance=-1), "tolerance"),
        (lambda: MinimalEntropy(()), "at least one, all different or None, got"),
        (lambda: MinimalEntropy(("a", "a")), "all different or None, got"),
        (lambda: KullbackLeibler("pw"), "index to be text: kl, pwkl or mpwkl, got 'pw'"),
        (lambda: SkillEntropy({"a": -1.0}), "at least 0"),
        (lambda: SkillEntropy({}), "at least one or None, got {}"),
        (lambda: LossGain({}), "at least one or None"),
        (lambda: LossGain({"a": [[math.inf]]}), "finite"),
        (lambda: FixedOrder(("a", "a")), "all different"),
    ],
)
def test_parameters_out_of_range_are_reported(make: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        make()


def test_skills_that_are_none_are_reported() -> None:
    belief = start_belief(BANK)
    with pytest.raises(UnknownNameError, match="skill"):
        MinimalEntropy(("skill_9",)).select(belief, BANK.item_names)
    with pytest.raises(UnknownNameError, match="skill"):
        SkillEntropy({"skill_9": 1.0}).select(belief, BANK.item_names)
    with pytest.raises(InvalidArgumentError, match="2 configurations"):
        LossGain({"skill_1": [[1.0]]}).select(belief, BANK.item_names)
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
def test_selectors_survive_pickling(selector: ScoringSelector) -> None:
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


CURVES = irt_bank(
    [
        *(Logistic(slope, at) for slope, at in ((0.5, 0.0), (2.0, 0.1), (1.0, -1.0), (0.6, 2.0))),
        GradedResponse(1.5, (-1.0, 1.0)),
    ]
)


def test_the_expected_posterior_variance_is_that_of_all_responses() -> None:
    belief = start_belief(CURVES).update("item_3", 1)
    names = ("item_1", "item_2", "item_5")
    now = float(ability_deviation(belief)) ** 2
    for name, score in zip(names, MinimalPosteriorVariance().scores(belief, names), strict=True):
        chances = belief.predict(name)
        after = [float(ability_deviation(belief.update(name, r))) for r in range(len(chances))]
        assert now - score == pytest.approx(float(chances @ np.square(after)), abs=1e-12)
    two = ItemBank.from_qmatrix([[1, 0], [0, 1]])
    with pytest.raises(InvalidModelError, match="one ability"):
        MinimalPosteriorVariance().select(start_belief(two), two.item_names)


def test_flat_items_near_the_ability_come_first() -> None:
    selector, belief = AStratified(length=4, strata=2), start_belief(CURVES)
    # The flatter half: items 1, 4 and 3; of these, the difficulty nearest to 0.
    assert selector.select(belief, CURVES.item_names).item == "item_1"
    belief = belief.update("item_1", 0)
    assert selector.select(belief, CURVES.item_names[1:]).item == "item_3"
    belief = belief.update("item_3", 0)  # the second half of the test: the steeper items
    assert selector.select(belief, ("item_2", "item_4", "item_5")).item in ("item_2", "item_5")
    assert selector.select(belief, ("item_4",)).item == "item_4"
    # With blocks of similar difficulty, each stratum has easy and hard items.
    # A test that is longer goes on with the steepest items.
    short, last = AStratified(length=1, strata=2), selector.scores(belief, CURVES.item_names)
    assert short.scores(belief, CURVES.item_names).tolist() == last.tolist()
    blocked = AStratified(length=4, strata=2, blocked=True)
    easy = [Logistic(slope, -2.0) for slope in (1.0, 2.0)]
    hard = [Logistic(slope, 2.0) for slope in (3.0, 4.0)]
    bank = irt_bank([*easy, *hard])
    scores = blocked.scores(start_belief(bank), bank.item_names)
    assert (scores > -10).tolist() == [True, False, True, False]
    assert (AStratified(4, 2).scores(start_belief(bank), bank.item_names) > -10).tolist() == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(InvalidArgumentError, match=r"length .* 0; expected strata"):
        AStratified(0, 0)


def test_steep_items_that_fall_are_steep() -> None:
    bank = irt_bank([Logistic(slope, 0.0) for slope in (-2.0, 1.0, -0.5, 0.3)])
    selector = AStratified(4, 2)
    first = selector.select(start_belief(bank), bank.item_names).item
    assert first == "item_3"


def test_a_stratified_tests_use_items_more_evenly_than_maximal_information() -> None:
    rng = np.random.default_rng(1)
    bank = irt_bank(
        [
            Logistic(float(a), float(b))
            for a, b in zip(rng.lognormal(0, 0.5, 60), rng.normal(0, 1, 60), strict=True)
        ]
    )
    people = Responses.drawn(bank, 200, seed=1)
    selectors = {"a": AStratified(12), "fisher": MaximalFisher()}
    result = simulate(bank, people, selectors, MaximalItems(12))
    overlap = {run.selector: run.overlap for run in result.runs}
    assert overlap["a"] < overlap["fisher"] - 0.05


def test_the_weight_of_the_score_grows_from_zero_to_one() -> None:
    assert Progressive(5).weights().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    # The sums of Barrada et al. (2008) for b = 1 and b = 2.
    assert Progressive(4, acceleration=1).weights() == pytest.approx([0, 1 / 6, 3 / 6, 1])
    assert Progressive(4, acceleration=2).weights() == pytest.approx([0, 1 / 14, 5 / 14, 1])
    assert Progressive(1).weights().tolist() == [1.0]
    late, early = (Progressive(6, acceleration=b).weights() for b in (3, -0.9))
    assert np.all(late[1:-1] < early[1:-1])
    for b in (400.0, 1e308):
        assert Progressive(10, acceleration=-b).weights().tolist() == [0.0, *[1.0] * 9]
        last = Progressive(10, acceleration=b).weights()
        assert last == pytest.approx([*[0.0] * 9, 1.0], abs=1e-15)
    with pytest.raises(InvalidArgumentError, match="length"):
        Progressive(0)
    with pytest.raises(InvalidArgumentError, match="acceleration"):
        Progressive(3, acceleration=np.inf)


def test_the_progressive_method_is_random_first_and_sure_last() -> None:
    bank = ItemBank.from_qmatrix([[1]] * 6, guess=np.linspace(0.05, 0.4, 6), slip=0.1)
    selector, n = Progressive(4), 3000
    luck = np.random.default_rng(1).random((n, 6))
    batch = selector.select_batch(start_beliefs(bank, n), np.ones((n, 6), dtype=bool), luck=luck)
    shares = np.bincount(batch.items, minlength=6) / n
    assert shares == pytest.approx(np.full(6, 1 / 6), abs=0.03)
    belief = start_belief(bank)
    for name in bank.item_names[:3]:
        belief = belief.update(name, 1)
    rest = bank.item_names[3:]
    best = MinimalEntropy().select(belief, rest).item
    for seed in range(5):
        assert selector.select(belief, rest, rng=np.random.default_rng(seed)).item == best
    # Scores below 0 are as random as others.
    negative = Progressive(4, FixedOrder())
    found = negative.select_batch(start_beliefs(bank, n), np.ones((n, 6), bool), luck=luck)
    assert len(set(found.items.tolist())) == 6


def test_the_progressive_method_lowers_the_largest_exposure() -> None:
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1], [1, 1]] * 6, guess=np.linspace(0.05, 0.3, 18), slip=0.1
    )
    people = Responses.drawn(bank, 300, seed=1)
    selectors: dict[str, Selector] = {
        "plain": MinimalEntropy(),
        "progressive": Progressive(6),
    }
    runs = {run.selector: run for run in simulate(bank, people, selectors, MaximalItems(6)).runs}
    assert runs["progressive"].exposure.max() < runs["plain"].exposure.max() - 0.1
    assert runs["progressive"].overlap < runs["plain"].overlap - 0.1


ONE = ItemBank.from_qmatrix([[1]] * 12, guess=0.2, slip=0.1)
LOSS_BANK = ItemBank.from_response_models(
    [[1, 0], [0, 1], [1, 1]] * 5, [Dina(0.1 + 0.01 * n, 0.15) for n in range(15)]
)


def test_a_skill_is_decided_by_the_ratio_of_its_likelihoods() -> None:
    """Four right answers in a row: ratio (.9/.2)^n; A = .95/.05 = 19."""
    belief, stopper = start_belief(ONE), SkillsDecided(0.05)
    for n in range(5):
        expected = 4.5**n >= 19
        assert bool(stopper.stop(belief)) == expected
        belief = belief.update(f"item_{n + 1}", 1)
    assert "skill_1 is decided with an error of at most 0.05" in SkillsDecided(
        0.05, ("skill_1",)
    ).stop(belief)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_a_skill_that_is_certain_before_the_test_is_decided(certain: float) -> None:
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1]] * 4, guess=0.2, slip=0.1, skills=Independent([certain, 0.5])
    )
    belief = start_belief(bank)
    both, first = SkillsDecided(0.05), SkillsDecided(0.05, ("skill_1",))
    assert first.stop(belief)
    assert not both.stop(belief)
    for item in ("item_2", "item_4", "item_6"):
        belief = belief.update(item, 1)
    assert both.stop(belief)
    nothing, every = np.zeros((2, 0), dtype=int), np.ones((2, 8), dtype=bool)
    people = Progress(start_beliefs(bank, 2), nothing, every)
    assert all(first.stop_batch(people))
    assert not any(both.stop_batch(people))


def test_the_errors_of_decisions_are_bounded() -> None:
    """Wald: about at most α of those without the skill are taken to have it, and vice versa."""
    bank = ItemBank.from_qmatrix([[1]] * 60, guess=0.2, slip=0.1)
    people = Responses.drawn(bank, 1000, seed=2)
    result = simulate(bank, people, {"x": RandomItem()}, SkillsDecided(0.1))
    accuracy = float(result.attributes.accuracy.iloc[0])
    assert accuracy > 0.9
    assert result.runs[0].lengths.mean() < 8


def test_an_ability_is_decided_at_a_cut() -> None:
    bank = irt_bank([Logistic(1.5, 0.0)] * 12)
    stopper, belief = AbilityDecided(0.0, error=0.1, indifference=0.5), start_belief(bank)
    ratio = 0.0
    up, down = (1 / (1 + math.exp(-1.5 * t)) for t in (0.5, -0.5))
    for name in bank.item_names:
        assert bool(stopper.stop(belief)) == (abs(ratio) >= math.log(9) - 1e-6)
        belief, ratio = belief.update(name, 1), ratio + math.log(up / down)
    # Between points of the grid the logarithm of the likelihood is linear.
    between = AbilityDecided(0.025, error=0.1, indifference=0.5)
    assert between.stop(belief)
    with pytest.raises(InvalidModelError, match="grid"):
        AbilityDecided(99.0).stop(belief)
    for wrong in (
        lambda: AbilityDecided(0.0, 0.5),
        lambda: AbilityDecided(math.nan),
        lambda: AbilityDecided(0.0, indifference=0),
        lambda: SkillsDecided(0.0),
        lambda: Plateau(1.0),
        lambda: Plateau(0.1, 0),
    ):
        with pytest.raises(InvalidArgumentError):
            wrong()


def plateau_by_hand(belief: SkillBelief, change: float, answers: int) -> bool:
    given = list(belief.responses.items())
    if len(given) < answers:
        return False
    before = start_belief(belief.bank)
    for item, response in given[:-answers]:
        before = before.update(item, response)
    return all(
        abs(before.marginal(s)[1] - belief.marginal(s)[1]) <= change for s in belief.bank.skills
    )


@pytest.mark.parametrize("stopper", [Plateau(0.05, 2), Plateau(0.02), SkillsDecided(0.1)])
@pytest.mark.parametrize("selector", [MinimalEntropy(), RandomItem()])
def test_live_and_simulated_tests_stop_at_the_same_point(
    stopper: Stopper, selector: Selector
) -> None:
    answers = np.random.default_rng(3).integers(0, 2, (4, 15))
    design = Design(LOSS_BANK, selector, stopper, seed=5)
    run = simulate_designs({"x": design}, Responses.of(answers, items=LOSS_BANK.item_names)).runs[0]
    session = Session.start(design)
    while not session.stop_reason:
        if isinstance(stopper, Plateau):
            assert not plateau_by_hand(session.belief, stopper.change, stopper.answers)
        item = session.next_item()
        session = session.answer(item, int(answers[0, LOSS_BANK.position(item)]))
    names = [LOSS_BANK.item_names[i] for i in run.asked[0] if i != MISSING]
    assert names == list(session.state.asked)
    assert run.reasons[0] == session.stop_reason
    if isinstance(stopper, Plateau) and "changed" in session.stop_reason:
        assert plateau_by_hand(session.belief, stopper.change, stopper.answers)


N = 6
EXPOSED_BANK = ItemBank.from_qmatrix([[1]] * N, guess=[0.3, 0.1, 0.2, 0.05, 0.25, 0.15], slip=0.1)
BELIEF, NAMES = start_belief(EXPOSED_BANK), EXPOSED_BANK.item_names
BEST_FIRST = [3, 1, 5, 2, 4, 0]
"""The fewer guesses, the better an item is."""


class Luck(np.random.Generator):
    """A generator whose numbers are known; it counts how many were drawn."""

    def __init__(self, first: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.first, self.n_drawn = first, 0

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        self.n_drawn += size
        # The others would lead elsewhere.
        return np.array([self.first, *[1 - self.first] * (size - 1)])[:size]


def one(selector: Randomesque, allowed: list[int], first: float) -> int:
    """Return the place of the item selected, live and in a batch: it must be the same."""
    luck: Any = Luck(first)
    selection = selector.select(BELIEF, [NAMES[i] for i in reversed(allowed)], rng=luck)
    assert luck.n_drawn == N  # however many items may be asked
    mask = np.zeros((2, N), dtype=bool)
    mask[1, allowed] = True
    given_luck = np.array([[0.0] * N, Luck(first).random(N)])
    batch = selector.select_batch(start_beliefs(EXPOSED_BANK, 2), mask, luck=given_luck)
    assert batch.items[0] == MISSING
    assert batch.items[1] == EXPOSED_BANK.position(selection.item)
    assert not batch.set_aside.any()
    assert np.all(batch.scores[1, ~mask[1]] == -np.inf)
    assert selection.items == tuple(NAMES[i] for i in sorted(allowed))
    assert selection.item in selection.tied
    return EXPOSED_BANK.position(selection.item)


@pytest.mark.parametrize("first", [0.0, 0.3, 0.5, 0.999999])
def test_among_one_item_it_is_the_best(first: float) -> None:
    selector = Randomesque(MinimalEntropy(), best=1)
    assert one(selector, list(range(N)), first) == BEST_FIRST[0]
    assert one(selector, [0, 2, 4], first) == 2
    assert Randomesque(MinimalEntropy()).best == 5


@pytest.mark.parametrize("best", [2, 3, 5, 6, 9, 10**30])
def test_the_first_number_says_which_of_the_best_it_is(best: int) -> None:
    selector = Randomesque(MinimalEntropy(), best)
    among = BEST_FIRST[: min(best, N)]
    for place, expected in enumerate(among):
        for part in (0.01, 0.5, 0.99):
            assert one(selector, list(range(N)), (place + part) / len(among)) == expected
    tied = selector.select(BELIEF, NAMES, rng=np.random.default_rng(0)).tied
    assert tied == tuple(NAMES[i] for i in sorted(among))


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.integers(0, N - 1), min_size=1),
    st.integers(1, N + 2),
    st.floats(0, 1, exclude_max=True),
)
def test_of_the_items_allowed_alone_the_best_are_drawn(
    allowed: set[int], best: int, first: float
) -> None:
    among = [place for place in BEST_FIRST if place in allowed][:best]
    found = one(Randomesque(MinimalEntropy(), best), sorted(allowed), first)
    assert found == among[int(first * len(among))]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_only_items_with_nearly_the_best_score_are_drawn(share: float) -> None:
    scores = MinimalEntropy().scores(BELIEF, NAMES)
    near = {i for i in range(N) if scores[i] >= (1 - share) * scores.max()}
    selector = Randomesque(MinimalEntropy(), N, share)
    drawn = {one(selector, list(range(N)), first) for first in np.linspace(0, 0.999, 50)}
    assert drawn == near
    assert one(selector, [0], 0.7) == 0
    for wrong in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(InvalidArgumentError, match="within to be a number between 0 and 1"):
            Randomesque(MinimalEntropy(), within=wrong)


@pytest.mark.parametrize("best", [1, 3])
def test_a_missing_generator_is_reported(best: int) -> None:
    selector = Randomesque(MinimalEntropy(), best)
    with pytest.raises(InvalidArgumentError, match=r"expected luck of shape .* got none"):
        selector.select(BELIEF, NAMES)
    with pytest.raises(InvalidArgumentError, match=r"expected luck of shape .* got none"):
        selector.select_batch(start_beliefs(EXPOSED_BANK, 2), np.ones((2, N), dtype=bool))
    with pytest.raises(InvalidArgumentError, match="got shape"):
        selector.select_batch(
            start_beliefs(EXPOSED_BANK, 2), np.ones((2, N), dtype=bool), luck=[0.5]
        )


@pytest.mark.parametrize(
    ("best", "words"),
    [(0, "at least 1"), (-1, "at least 1"), (2.5, "whole number"), (float("nan"), "whole number")],
)
def test_among_how_many_is_a_whole_number_of_at_least_one(best: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        Randomesque(MinimalEntropy(), best)


def test_scores_that_differ_by_rounding_alone_are_equal_wherever_they_lie() -> None:
    """Multiples of 2**-10 lie half way between two multiples of the tolerance."""
    near = np.nextafter(2.0**-10, 1)
    for scores in ([near, 2.0**-10, 0.5], [2.0**-10, near, 0.5]):
        assert by_rank(np.array(scores), TOLERANCE).tolist() == [2, 0, 1]
    scored = ScoredBy(lambda belief, items: [2.0**-10, near, 0, 0, 0, 0][: len(items)])
    selector = Randomesque(scored, 1)
    assert one(selector, list(range(N)), 0.5) == EXPOSED_BANK.position(
        scored.select(BELIEF, NAMES).item
    )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.1, 0.15, 0.2, 1.0, -np.inf]), min_size=4, max_size=4),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([0.0, 1e-9, 0.1]),
)
def test_ranks_are_those_of_taking_the_best_again_and_again(
    rows: list[list[float]], tolerance: float
) -> None:
    expected = []
    for row in rows:
        left, order = list(range(len(row))), []
        while left:
            largest = max(row[i] for i in left)
            best = [i for i in left if row[i] >= largest - tolerance]
            order += best
            left = [i for i in left if i not in best]
        expected.append(order)
    assert by_rank(np.array(rows), tolerance).tolist() == expected


ITEMS = [Item(f"i{n}", cost=1.0 + n % 3, enemies=("i5",) if n == 2 else ()) for n in range(6)]
SCORED_BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]],
    guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3],
    slip=0.1,
    items=ITEMS,
)
PEOPLE = Responses.drawn(SCORED_BANK, 12, seed=4)


def nearest(belief: SkillBelief, items: Sequence[str]) -> list[float]:
    """Prefer items that are solved with a chance of one half."""
    assert all(isinstance(name, str) for name in items)
    assert not set(items) & set(belief.responses)
    return [-abs(float(belief.predict(name)[1]) - 0.5) for name in items]


def live(selector: Selector, row: int) -> list[int]:
    session = Session.start(Design(SCORED_BANK, selector, MaximalItems(4), rules=(Enemies(),)))
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(PEOPLE.codes[row, SCORED_BANK.position(item)]))
    return [SCORED_BANK.position(name) for name in session.state.asked]


@pytest.mark.parametrize(
    "selector",
    [
        ScoredBy(nearest),
        PerCost(ScoredBy(nearest)),
        Randomesque(ScoredBy(nearest), 1),
        SympsonHetter(ScoredBy(nearest)),
        ScoredBy(lambda belief, items: np.arange(len(items)) % 2),  # by place among the open
    ],
)
def test_one_function_serves_both(selector: Selector) -> None:
    run = simulate(
        SCORED_BANK,
        PEOPLE,
        {"x": selector},
        MaximalItems(4),
        options=SimulationOptions(rules=(Enemies(),), batch_size=5),
    ).runs[0]
    for row in range(len(PEOPLE)):
        assert [place for place in run.asked[row] if place != MISSING] == live(selector, row)


def test_it_is_called_once_for_each_examinee_and_question() -> None:
    calls: list[tuple[str, ...]] = []

    def scores(belief: SkillBelief, items: tuple[str, ...]) -> list[float]:
        calls.append(items)
        return nearest(belief, items)

    simulate(
        SCORED_BANK,
        PEOPLE,
        {"x": ScoredBy(scores)},
        MaximalItems(3),
        options=SimulationOptions(rules=()),
    )
    assert sorted(map(len, calls)) == [4] * 12 + [5] * 12 + [6] * 12


@pytest.mark.parametrize("most", [2**16, 0], ids=["table", "tree"])
def test_the_belief_about_one_of_a_batch_is_that_of_the_same_answers_in_their_order(
    most: int,
) -> None:
    beliefs = (
        start_beliefs(SCORED_BANK, 2, max_profiles=most)
        .update([3, 0], [1, 0])
        .update([1, MISSING], [0, 0])
    )
    beliefs = beliefs.update([0, 5], [1, 1]).take([1, 0])
    for number, answers in enumerate(([(0, 0), (5, 1)], [(3, 1), (1, 0), (0, 1)])):
        expected = start_belief(SCORED_BANK, max_profiles=most)
        for place, response in answers:
            expected = expected.update(ITEMS[place].name, response)
        found = beliefs.alone(number)
        assert list(found.responses.items()) == list(expected.responses.items())
        assert found.log_evidence == pytest.approx(expected.log_evidence)
        np.testing.assert_allclose(found.information(), expected.information(), atol=1e-12)
        again = expected.batch.alone(0)
        assert list(again.responses.items()) == list(expected.responses.items())
        assert again.log_evidence == expected.log_evidence
        np.testing.assert_array_equal(expected.batch.information()[0], expected.information())
