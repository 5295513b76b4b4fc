"""Stoppers by probability ratio tests and by the change of the belief."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bnmind.adaptive import (
    MISSING,
    AbilityDecided,
    BatchProgress,
    Design,
    Dina,
    Examinees,
    Independent,
    ItemBank,
    Logistic,
    MinimalEntropy,
    Plateau,
    Progress,
    RandomItem,
    Selector,
    Session,
    SkillBelief,
    SkillsDecided,
    Stopper,
    irt_bank,
    simulate,
    simulate_designs,
    start_belief,
    start_beliefs,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError

ONE = ItemBank.from_qmatrix([[1]] * 12, guess=0.2, slip=0.1)
BANK = ItemBank.from_response_models(
    [[1, 0], [0, 1], [1, 1]] * 5, [Dina(0.1 + 0.01 * n, 0.15) for n in range(15)]
)


def test_a_skill_is_decided_by_the_ratio_of_its_likelihoods() -> None:
    """Four right answers in a row: ratio (.9/.2)^n; A = .95/.05 = 19."""
    belief, stopper = start_belief(ONE), SkillsDecided(0.05)
    for n in range(5):
        expected = 4.5**n >= 19
        assert bool(stopper.stop(Progress(belief))) == expected
        belief = belief.update(f"item_{n + 1}", 1)
    assert "skill_1 is decided with an error of at most 0.05" in SkillsDecided(
        0.05, ("skill_1",)
    ).stop(Progress(belief))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_a_skill_that_is_certain_before_the_test_is_decided(certain: float) -> None:
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1]] * 4, guess=0.2, slip=0.1, skills=Independent([certain, 0.5])
    )
    belief = start_belief(bank)
    both, first = SkillsDecided(0.05), SkillsDecided(0.05, ("skill_1",))
    assert first.stop(Progress(belief))
    assert not both.stop(Progress(belief))
    for item in ("item_2", "item_4", "item_6"):
        belief = belief.update(item, 1)
    assert both.stop(Progress(belief))
    none = np.zeros((2, 8), dtype=bool)
    people = BatchProgress(start_beliefs(bank, 2), none, ~none)
    assert all(first.stop_batch(people))
    assert not any(both.stop_batch(people))


def test_the_errors_of_decisions_are_bounded() -> None:
    """Wald: about at most α of those without the skill are taken to have it, and vice versa."""
    bank = ItemBank.from_qmatrix([[1]] * 60, guess=0.2, slip=0.1)
    people = Examinees.drawn(bank, 1000, seed=2)
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
        assert bool(stopper.stop(Progress(belief))) == (abs(ratio) >= math.log(9) - 1e-6)
        belief, ratio = belief.update(name, 1), ratio + math.log(up / down)
    # Between points of the grid the logarithm of the likelihood is linear.
    between = AbilityDecided(0.025, error=0.1, indifference=0.5)
    assert between.stop(Progress(belief))
    with pytest.raises(InvalidModelError, match="grid"):
        AbilityDecided(99.0).stop(Progress(belief))
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
    stopper: Stopper, selector: Selector[SkillBelief]
) -> None:
    answers = np.random.default_rng(3).integers(0, 2, (4, 15))
    design = Design(BANK, selector, stopper, seed=5)
    run = simulate_designs({"x": design}, Examinees.recorded(BANK, answers)).runs[0]
    session = Session.start(design)
    while not session.stop_reason:
        if isinstance(stopper, Plateau):
            assert not plateau_by_hand(session.belief, stopper.change, stopper.answers)
        item = session.next_item()
        session = session.answer(item, int(answers[0, BANK.position(item)]))
    names = [BANK.item_names[i] for i in run.asked[0] if i != MISSING]
    assert names == list(session.state.asked)
    assert run.reasons[0] == session.stop_reason
    if isinstance(stopper, Plateau) and "changed" in session.stop_reason:
        assert plateau_by_hand(session.belief, stopper.change, stopper.answers)
