"""A function of a belief and item names selects in live tests and in simulations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bnmind.adaptive import (
    MISSING,
    BatchBelief,
    Design,
    Enemies,
    Examinees,
    Item,
    ItemBank,
    MaximalItems,
    PerCost,
    Randomesque,
    ScoredBy,
    Selector,
    Session,
    SimulationOptions,
    SkillBelief,
    SympsonHetter,
    TableBatch,
    TableBelief,
    TreeBatch,
    TreeBelief,
    simulate,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

ITEMS = [Item(f"i{n}", cost=1.0 + n % 3, enemies=("i5",) if n == 2 else ()) for n in range(6)]
BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]],
    guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3],
    slip=0.1,
    items=ITEMS,
)
PEOPLE = Examinees.drawn(BANK, 12, seed=4)


def nearest(belief: SkillBelief, items: Sequence[str]) -> list[float]:
    """Prefer items that are solved with a chance of one half."""
    assert all(isinstance(name, str) for name in items)
    assert not set(items) & set(belief.responses)
    return [-abs(float(belief.predict(name)[1]) - 0.5) for name in items]


def all_nearest(beliefs: BatchBelief, places: object) -> Floats:
    result: Floats = -np.abs(beliefs.predict(np.arange(6))[:, :, 1] - 0.5)
    return result


def live(selector: Selector[SkillBelief], row: int) -> list[int]:
    session = Session.start(Design(BANK, selector, MaximalItems(4), rules=(Enemies(),)))
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(PEOPLE.responses[row, BANK.position(item)]))
    return [BANK.position(name) for name in session.state.asked]


@pytest.mark.parametrize(
    "selector",
    [
        ScoredBy(nearest),
        ScoredBy(nearest, batch_function=all_nearest),
        PerCost(ScoredBy(nearest)),
        PerCost(ScoredBy(nearest, batch_function=all_nearest)),
        Randomesque(ScoredBy(nearest), 1),
        SympsonHetter(ScoredBy(nearest)),
        ScoredBy(lambda belief, items: np.arange(len(items)) % 2),  # by place among the open
    ],
)
def test_one_function_serves_both(selector: Selector[SkillBelief]) -> None:
    run = simulate(
        BANK,
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
        BANK, PEOPLE, {"x": ScoredBy(scores)}, MaximalItems(3), options=SimulationOptions(rules=())
    )
    assert sorted(map(len, calls)) == [4] * 12 + [5] * 12 + [6] * 12


def test_functions_for_batches_are_checked() -> None:
    wrong = ScoredBy(nearest, batch_function=lambda beliefs, places: np.zeros(3))
    with pytest.raises(InvalidArgumentError, match="scores of shape"):
        simulate(BANK, PEOPLE, {"x": wrong}, MaximalItems(2))
    unknown = ScoredBy(nearest, batch_function=lambda beliefs, places: np.full((12, 6), np.nan))
    with pytest.raises(InvalidArgumentError, match="without NaN"):
        simulate(BANK, PEOPLE, {"x": unknown}, MaximalItems(2))


@pytest.mark.parametrize("kind", [(TableBatch, TableBelief), (TreeBatch, TreeBelief)])
def test_the_belief_about_one_of_a_batch_is_that_of_the_same_answers_in_their_order(
    kind: tuple[type[TableBatch | TreeBatch], type[TableBelief | TreeBelief]],
) -> None:
    many, single = kind
    beliefs = many.start(BANK, 2).update([3, 0], [1, 0]).update([1, MISSING], [0, 0])
    beliefs = beliefs.update([0, 5], [1, 1]).take([1, 0])
    for number, answers in enumerate(([(0, 0), (5, 1)], [(3, 1), (1, 0), (0, 1)])):
        expected: SkillBelief = single.start(BANK)
        for place, response in answers:
            expected = expected.update(ITEMS[place].name, response)
        found = beliefs.alone(number)
        assert list(found.responses.items()) == list(expected.responses.items())
        assert found.log_evidence == pytest.approx(expected.log_evidence)
        np.testing.assert_allclose(found.information(), expected.information(), atol=1e-12)
