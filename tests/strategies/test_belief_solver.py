"""The value of Mastermind under noise, and lower bounds of it, by independent computations."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, reply_table
from bnmind.strategies import SolvedPlayer, mean_lower_bound, optimal_on_average, solve_belief_game
from bnmind.strategies.noise_bound import (
    EmptyReplies,
    Memo,
    empty_reply_probability,
    layered_bound,
    make_set_bounds,
    one_reply,
    size_bounds,
    two_replies,
)

# --- The exact solver of the game under noise, against exhaustive search and special cases --------


SMALL = Board(2, 2)
NINE = Board(2, 3)


def exhaustive(channel: Channel, depth: int, *, upper: bool) -> float:
    """Return a bound of the least mean, by all guesses and all reports down to a depth.

    Below, a code costs one more guess at least, and its rank by weight at most.
    """
    board, played = channel.board, channel.revealed()
    table = reply_table(board)

    @cache
    def value(weights: tuple[float, ...], left: int) -> float:
        w = np.array(weights)
        if left == 0:
            ranks = np.arange(1, len(w) + 1) if upper else np.ones(len(w))
            return float(np.sort(w)[::-1] @ ranks)
        best = np.inf
        for guess in range(board.n_codes):
            total = float(w.sum())
            for report in range(len(played.reports)):
                after = w * played.matrix[table[guess], report]
                if after.any():
                    total += value(tuple(np.round(after, 15).tolist()), left - 1)
            best = min(best, total)
        return best

    return value((1 / board.n_codes,) * board.n_codes, depth)


def least_of_a_set(channel: Channel, codes: frozenset[int]) -> float:
    """Return the value of the game in which empty replies are known to be empty, for a set."""
    empty = empty_reply_probability(channel)
    table = reply_table(channel.board).tolist()

    @cache
    def value(members: frozenset[int]) -> float:
        if len(members) < 2:
            return float(len(members))
        best = np.inf
        for guess in range(len(table)):
            rest = members - {guess}
            parts: dict[int, set[int]] = {}
            for code in rest:
                parts.setdefault(table[guess][code], set()).add(code)
            if rest == members and (len(parts) == 1 or empty == 1):
                continue
            split = sum(value(frozenset(part)) for part in parts.values())
            cost = len(members) + (1 - empty) * split
            cost = cost + empty * value(rest) if rest != members else cost / (1 - empty)
            best = min(best, cost)
        return best

    return value(codes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "channel",
    [Channel.false_reply(SMALL, 0.2), Channel.independent_error(SMALL, 0.1)],
    ids=["false", "independent"],
)
def test_the_bounds_lie_between_those_of_an_exhaustive_search(channel: Channel) -> None:
    solution = solve_belief_game(channel, gap=1e-7)
    assert 0 <= solution.gap <= 1e-7
    lower, upper = (exhaustive(channel, 6, upper=upper) for upper in (False, True))
    assert upper - lower < 0.02
    assert lower - 1e-9 <= solution.upper
    assert solution.lower <= upper + 1e-9


@pytest.mark.slow
def test_the_search_agrees_with_an_exhaustive_search_where_all_guesses_are_made() -> None:
    # After four guesses all codes of the board are known to be right or wrong.
    channel = Channel.false_reply(SMALL, 1.0)
    assert solve_belief_game(channel).upper == pytest.approx(2.5)
    assert exhaustive(channel, 4, upper=True) == pytest.approx(2.5)


@pytest.mark.slow
@pytest.mark.parametrize("board", [NINE, Board(3, 2), Board(2, 4)], ids=str)
def test_without_noise_the_value_is_that_of_the_optimal_tree(board: Board) -> None:
    solution = solve_belief_game(Channel.exact(board), gap=1e-6)
    assert solution.upper == pytest.approx(optimal_on_average(board).value, abs=2e-6)
    assert solution.gap <= 1e-6


@pytest.mark.slow
def test_the_solution_on_nine_codes() -> None:
    seen: list[tuple[float, float]] = []
    channel = Channel.false_reply(NINE, 0.2)
    solution = solve_belief_game(
        channel, gap=1e-6, progress=lambda low, high: seen.append((low, high))
    )
    assert solution.lower <= solution.upper <= solution.lower + 1e-6
    assert 2.60996 < solution.lower < 2.60998
    # Both bounds only ever improve.
    lows, highs = zip(*seen, strict=True)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs, reverse=True)
    assert solution.channel.ends
    assert solve_belief_game(channel.revealed(), gap=1e-6).upper == solution.upper
    # A search that ends early still has valid bounds.
    short = solve_belief_game(channel, gap=1e-6, max_beliefs=1)
    assert short.gap > 1e-6
    assert short.lower <= solution.upper
    assert short.upper >= solution.lower
    again = pickle.loads(pickle.dumps(SolvedPlayer(solution)))
    assert again.solution.upper == solution.upper
    assert "2x3 false:0.2: 2.6100 to 2.6100" in str(solution)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 0.2, 0.6, 1.0])
def test_the_bounds_of_sets_are_the_recursion(p: float) -> None:
    channel = Channel.false_reply(NINE, p)
    bounds, sizes = make_set_bounds(channel), size_bounds(channel)
    rng = np.random.default_rng(0)
    for _ in range(25):
        weights = (rng.random(9) < rng.random()).astype(np.float64)
        order = np.argsort(-weights, kind="stable")
        members = frozenset(np.flatnonzero(weights).tolist())
        expected = least_of_a_set(channel, members)
        assert layered_bound(bounds, weights, order) == pytest.approx(expected, abs=1e-9)
        assert sizes[len(members)] <= expected + 1e-9


@pytest.mark.slow
def test_a_bound_of_layers_is_concave_and_homogeneous() -> None:
    bounds = make_set_bounds(Channel.false_reply(NINE, 0.2))
    heavy = np.array([4.0, 4, 1, 1, 1, 0, 0, 0, 0])
    order = np.arange(9)
    parts = 3 * layered_bound(bounds, (heavy > 3).astype(np.float64), order)
    parts += layered_bound(bounds, (heavy > 0).astype(np.float64), order)
    assert layered_bound(bounds, heavy, order) == pytest.approx(parts)
    assert layered_bound(bounds, 2 * heavy, order) == pytest.approx(2 * parts)


def test_the_probability_of_an_empty_reply() -> None:
    assert empty_reply_probability(Channel.exact(NINE)) == 0
    assert empty_reply_probability(Channel.false_reply(NINE, 0.3)) == pytest.approx(0.3)
    revealed = Channel.false_reply(NINE, 0.3).revealed()
    assert empty_reply_probability(revealed) == pytest.approx(0.3)
    flat = Channel.independent(NINE, np.full((3, 3), 1 / 3), np.full((3, 3), 1 / 3))
    assert empty_reply_probability(flat) == pytest.approx(1)


@pytest.mark.parametrize("p", [0.0, 0.2, 1.0])
def test_the_bounds_by_size_are_convex_and_increasing(p: float) -> None:
    bounds = size_bounds(Channel.false_reply(Board(3, 3), p))
    assert bounds[:3].tolist() == pytest.approx([0, 1, 3])
    steps = np.diff(bounds)
    assert (np.diff(steps) >= -1e-12).all()
    if p == 1:
        assert bounds.tolist() == pytest.approx([m * (m + 1) / 2 for m in range(28)])


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(TooLargeError, match="at most 128 codes"):
        solve_belief_game(Channel.exact(Board(4, 4)))
    with pytest.raises(TooLargeError, match="at most 4,096 codes"):
        size_bounds(Channel.exact(Board(5, 6)))
    with pytest.raises(InvalidArgumentError, match="positive gap"):
        solve_belief_game(Channel.exact(SMALL), gap=0)
    with pytest.raises(InvalidArgumentError, match="at least one belief"):
        solve_belief_game(Channel.exact(SMALL), max_beliefs=0)


@pytest.mark.slow
def test_a_player_refuses_another_board() -> None:
    player = SolvedPlayer(solve_belief_game(Channel.false_reply(SMALL, 0.2)))
    belief = player.start(Channel.false_reply(NINE, 0.2).revealed())
    with pytest.raises(InvalidArgumentError, match="2x2"):
        player.choose(belief, np.random.default_rng(0))


@pytest.mark.parametrize("board", [Board(1, 12), Board(2, 11)])
def test_boards_of_too_many_symmetries_are_refused(board: Board) -> None:
    with pytest.raises(TooLargeError, match="permutations of pegs and colors"):
        solve_belief_game(Channel.false_reply(board, 0.2))


# --- The lower bound of the mean under noise, against recursions over all sets and exact values ---


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


def test_bad_arguments_of_the_bound_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="3 or 4 partitions"):
        mean_lower_bound(Channel.exact(NINE), partitions=2)
    with pytest.raises(TooLargeError, match="at most 4,096 codes"):
        mean_lower_bound(Channel.exact(Board(5, 6)))


def test_replies_without_information_leave_any_order_of_the_codes() -> None:
    bound = mean_lower_bound(Channel.false_reply(NINE, 1.0))
    assert set(bound.openings.values()) == {5.0}
