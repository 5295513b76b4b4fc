"""The lower bound of the mean under noise, against recursions over all sets and exact values."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, reply_table
from bnmind.strategies import mean_lower_bound, solve_belief_game
from bnmind.strategies.noise_bound import (
    EmptyReplies,
    Memo,
    empty_reply_probability,
    one_reply,
    size_bounds,
    two_replies,
)

NINE = Board(2, 3)
LEVELS = (0.0, 0.2, 0.5)


@cache
def games(p: float) -> tuple[EmptyReplies, Memo]:
    channel = Channel.false_reply(NINE, p)
    game = EmptyReplies(
        replies=np.ascontiguousarray(reply_table(NINE)),
        winning=len(NINE.true_replies) - 1,
        empty=empty_reply_probability(channel),
        sizes=size_bounds(channel),
        missing=4,
    )
    return game, Memo(np.zeros(64, dtype=np.int64), np.zeros((64, 5)))


@cache
def value(p: float, members: frozenset[int]) -> float:
    """Return the least total of guesses for a set if empty replies are known to be empty."""
    table = games(p)[0].replies
    if len(members) < 2:
        return float(len(members))
    best = np.inf
    for guess in range(len(table)):
        rest = members - {guess}
        parts: dict[int, set[int]] = {}
        for code in rest:
            parts.setdefault(int(table[guess, code]), set()).add(code)
        if rest == members and len(parts) == 1:
            continue
        cost = len(members) + (1 - p) * sum(value(p, frozenset(x)) for x in parts.values())
        cost = cost + p * value(p, rest) if rest != members else cost / (1 - p)
        best = min(best, cost)
    return best


@pytest.mark.slow
@given(
    p=st.sampled_from(LEVELS),
    codes=st.sets(st.integers(0, 8), min_size=1),
    missing=st.sets(st.integers(0, 8), max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_the_kernels_bound_every_set_and_its_subsets(
    p: float, codes: set[int], missing: set[int]
) -> None:
    game, memo = games(p)
    members = np.array(sorted(codes))
    removed = codes & missing
    expected = value(p, frozenset(codes - missing))
    by_size = game.sizes[np.maximum(0, len(codes) - np.arange(5))]
    once, twice = np.empty(5), np.empty(5)
    one_reply(game, memo, members, once)
    two_replies(game, memo, members, twice)
    for bounds in (once, twice):
        assert bounds[len(removed)] <= expected + 1e-9
        assert (np.diff(bounds) <= 1e-12).all()
        assert (bounds >= by_size - 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "channel",
    [
        *(Channel.false_reply(NINE, p) for p in (0.0, 0.1, 0.2, 0.5, 1.0)),
        Channel.false_reply(Board(3, 2), 0.3),
        Channel.false_reply(Board(2, 2), 0.2),
        Channel.independent_error(NINE, 0.1),
    ],
    ids=lambda channel: f"{channel.board} {channel.name}",
)
def test_the_bound_is_below_the_exact_value(channel: Channel) -> None:
    solution = solve_belief_game(channel, gap=1e-4)
    rough, fine = (mean_lower_bound(channel, partitions=n) for n in (3, 4))
    assert rough.mean <= fine.mean + 1e-12
    assert fine.mean <= solution.upper
    assert fine.mean == min(fine.openings.values())
    assert fine.mean >= size_bounds(channel)[-1] / channel.board.n_codes - 1e-9


@pytest.mark.slow
def test_without_noise_the_bound_is_the_mean_of_the_optimal_tree() -> None:
    assert mean_lower_bound(Channel.exact(NINE)).mean == pytest.approx(21 / 9)


@pytest.mark.slow
def test_the_bound_beats_our_earlier_one_and_no_player_beats_it() -> None:
    figures = published("noisy_means_4x6")
    seen: list[float] = []
    bound = mean_lower_bound(
        Channel.false_reply(Board(4, 6), 0.2),
        partitions=3,
        progress=lambda first, mean: seen.append(mean),
    )
    assert bound.mean == min(seen)
    assert bound.mean > 5.06 > figures["lower_bound"]["0.2"]
    for name, means in figures.items():
        if name not in ("lower_bound", "standing"):
            assert bound.mean < means["0.2"]
    assert str(bound).startswith("4x6 false:0.2: at least 5.06")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="3 or 4 partitions"):
        mean_lower_bound(Channel.exact(NINE), partitions=2)
    with pytest.raises(TooLargeError, match="at most 4,096 codes"):
        mean_lower_bound(Channel.exact(Board(5, 6)))


def test_replies_without_information_leave_any_order_of_the_codes() -> None:
    bound = mean_lower_bound(Channel.false_reply(NINE, 1.0))
    assert set(bound.openings.values()) == {5.0}
