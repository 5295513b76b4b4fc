"""Drawing among the best items: the luck alone decides, live as in a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    MISSING,
    ItemBank,
    MinimalEntropy,
    Randomesque,
    ScoredBy,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.selection.selector import TOLERANCE, by_rank
from bnmind.errors import InvalidArgumentError

N = 6
BANK = ItemBank.from_qmatrix([[1]] * N, guess=[0.3, 0.1, 0.2, 0.05, 0.25, 0.15], slip=0.1)
BELIEF, NAMES = start_belief(BANK), BANK.item_names
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
    batch = selector.select_batch(start_beliefs(BANK, 2), mask, luck=given_luck)
    assert batch.items[0] == MISSING
    assert batch.items[1] == BANK.position(selection.item)
    assert not batch.set_aside.any()
    assert np.all(batch.scores[1, ~mask[1]] == -np.inf)
    assert selection.items == tuple(NAMES[i] for i in sorted(allowed))
    assert selection.item in selection.tied
    return BANK.position(selection.item)


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
        selector.select_batch(start_beliefs(BANK, 2), np.ones((2, N), dtype=bool))
    with pytest.raises(InvalidArgumentError, match="got shape"):
        selector.select_batch(start_beliefs(BANK, 2), np.ones((2, N), dtype=bool), luck=[0.5])


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
    assert one(selector, list(range(N)), 0.5) == BANK.position(scored.select(BELIEF, NAMES).item)


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
