"""The ways to compute the masses of all guesses, and the choice among them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import TooLargeError
from bnmind.information import information
from bnmind.mastermind import (
    Board,
    Channel,
    ExactBelief,
    Method,
    TableBelief,
    VanishingBelief,
    elimination_additions,
    plan_masses,
    reply,
)
from bnmind.mastermind.color_elimination import least_additions
from bnmind.strategies import Entropy
from tests.modes import examples

BOARDS = [Board(2, 3), Board(3, 4), Board(4, 3), Board(4, 4), Board(3, 5, repeats=False)]


def played(board: Board, belief: ExactBelief, turns: int, seed: int) -> ExactBelief:
    """Return the belief after truthful replies to random guesses, the secret left out."""
    rng = np.random.default_rng(seed)
    secret = board.code(int(rng.integers(board.n_codes)))
    while len(belief.history) < turns:
        guess = board.code(int(rng.integers(board.n_codes)))
        if guess != secret:
            belief = belief.update(guess, reply(guess, secret))
    return belief


@settings(max_examples=examples(60))
@given(st.sampled_from(BOARDS), st.booleans(), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_all_methods_say_the_same(board: Board, noisy: bool, turns: int, seed: int) -> None:
    start: ExactBelief = VanishingBelief.start(board)
    if noisy:
        start = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
    belief = played(board, start, turns, seed)
    q = belief.codes.probabilities
    brute = plan_masses(board, q, method=Method.BRUTE_FORCE).run(q)
    fast = plan_masses(board, q, method=Method.ELIMINATION).run(q)
    np.testing.assert_allclose(fast, brute, rtol=0, atol=1e-12)
    # Representatives stand for guesses that promise as much.
    if turns < 2:
        plan = plan_masses(board, q, history=belief.history, method=Method.REPRESENTATIVES)
        assert plan.sizes.sum() == board.n_codes
        np.testing.assert_allclose(plan.run(q), brute[plan.guesses], rtol=0, atol=1e-12)
        matrix = belief.channel.matrix
        every, some = information(brute, matrix), information(plan.run(q), matrix)
        assert every.max() == pytest.approx(some.max(), abs=1e-12)
        np.testing.assert_allclose(
            np.sort(np.repeat(some, plan.sizes)), np.sort(every), rtol=0, atol=1e-12
        )


@settings(max_examples=examples(30))
@given(st.sampled_from(BOARDS), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_the_choice_does_not_depend_on_the_method(board: Board, turns: int, seed: int) -> None:
    belief = played(
        board, TableBelief.start(Channel.false_reply(board, 0.2).revealed()), turns, seed
    )
    guess, info = Entropy().choose(belief, np.random.default_rng(0))
    q = belief.codes.probabilities
    scores = information(
        plan_masses(board, q, method=Method.BRUTE_FORCE).run(q), belief.channel.matrix
    )
    tied = np.flatnonzero(scores >= scores.max() - 1e-9)
    likely = tied[q[tied] >= q[tied].max() * (1 - 1e-9)]
    assert guess == likely[0]
    assert info.tied == len(tied)


def test_representatives_need_an_invariant_belief() -> None:
    board = Board(3, 4)
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(board.n_codes))
    with pytest.raises(TooLargeError):
        plan_masses(board, prior, method=Method.REPRESENTATIVES)
    assert plan_masses(board, prior).method is not Method.REPRESENTATIVES
    belief = TableBelief.start(Channel.false_reply(board, 0.2), prior).update(
        (1, 1, 2), reply((1, 1, 2), (3, 1, 1))
    )
    q = belief.codes.probabilities
    assert plan_masses(board, q, history=belief.history).method is not Method.REPRESENTATIVES


def test_the_cheapest_method_is_chosen() -> None:
    board = Board(4, 6)
    uniform = np.full(1296, 1 / 1296)
    first = plan_masses(board, uniform)
    assert (first.method, len(first.guesses), first.operations) == (Method.REPRESENTATIVES, 5, 6480)
    dense = np.random.default_rng(1).dirichlet(np.ones(1296))
    assert plan_masses(board, dense).method is Method.ELIMINATION
    sparse = np.zeros(1296)
    sparse[:20] = 0.05
    plan = plan_masses(board, sparse)
    assert (plan.method, plan.operations, plan.survivors) == (Method.BRUTE_FORCE, 20 * 1296, 20)
    assert "* brute force over the codes that have belief: 25,920 operations" in str(plan)
    assert plan.actual_operations == plan.operations
    full = plan_masses(board, dense)
    assert full.actual_operations >= full.operations == full.way.operations


def test_the_second_guess_of_the_entropy_line() -> None:
    # DESIGN: 57 at 4x6, 579 at 5x8.
    for board, count in ((Board(4, 6), 57), (Board(5, 8), 579)):
        belief: ExactBelief = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
        guess, _ = Entropy().choose(belief, np.random.default_rng(0))
        belief = played_once(belief, guess)
        q = belief.codes.probabilities
        plan = plan_masses(board, q, history=belief.history, method=Method.REPRESENTATIVES)
        assert len(plan.guesses) == count


def played_once(belief: ExactBelief, guess: int) -> ExactBelief:
    code = belief.board.code(guess)
    return belief.update(code, belief.board.true_replies[2])


@settings(max_examples=examples(30))
@given(st.sampled_from(BOARDS), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_a_single_guess_needs_no_compiled_code(board: Board, turns: int, seed: int) -> None:
    belief = played(
        board, TableBelief.start(Channel.false_reply(board, 0.2).revealed()), turns, seed
    )
    q = belief.codes.probabilities
    plan = plan_masses(board, q, history=belief.history, once=True)
    assert not plan.way.compiled
    expected = plan_masses(board, q, method=Method.BRUTE_FORCE).run(q)[plan.guesses]
    np.testing.assert_allclose(plan.run(q), expected, rtol=0, atol=1e-14)
    assert (
        Entropy(once=True).choose(belief, np.random.default_rng(0))[0]
        == (Entropy().choose(belief, np.random.default_rng(0))[0])
    )


def test_error_for_large_boards_names_the_needed_memory() -> None:
    board = Board(8, 7)
    belief = np.zeros(board.n_codes)
    belief[::20] = 1.0
    with pytest.raises(TooLargeError, match=r"would need .* GB .* pairs of guess") as caught:
        plan_masses(board, belief)
    assert caught.value.needed > caught.value.budget
    with pytest.raises(TooLargeError):
        plan_masses(board, belief, method=Method.ELIMINATION)


def test_boards_that_need_too_many_additions_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To count the additions exactly, half a minute of index maps would be built."""
    board = Board(7, 9)
    for name in ("elimination_additions", "elimination_maps"):
        monkeypatch.setattr(f"bnmind.mastermind.color_elimination.{name}", None, raising=False)
        monkeypatch.setattr(f"bnmind.mastermind.masses.{name}", None, raising=False)
    belief = np.full(board.n_codes, 1 / board.n_codes)
    with pytest.raises(TooLargeError, match="additions, and brute force") as caught:
        plan_masses(board, belief, every_guess=True)
    assert caught.value.needed > caught.value.budget


@pytest.mark.parametrize(
    "board", [Board(4, 2), Board(8, 2), Board(10, 2), Board(3, 4), Board(7, 3)]
)
def test_brute_force_is_chosen_where_colors_are_few(board: Board) -> None:
    """Index maps cost more than they save there, and at 10x2 took 13 seconds to build."""
    plan = plan_masses(board, np.full(board.n_codes, 1 / board.n_codes), every_guess=True)
    assert plan.method is Method.BRUTE_FORCE
    assert all(way.method is Method.BRUTE_FORCE for way in plan.considered)


@pytest.mark.parametrize("board", [Board(4, 6), Board(5, 8), Board(3, 8), Board(6, 6)])
def test_elimination_is_chosen_where_colors_are_many(board: Board) -> None:
    plan = plan_masses(board, np.full(board.n_codes, 1 / board.n_codes), every_guess=True)
    assert plan.method is Method.ELIMINATION


@pytest.mark.parametrize("board", [*BOARDS, Board(4, 6), Board(6, 2), Board(5, 8)])
def test_least_additions_bounds_the_additions_from_below(board: Board) -> None:
    assert 0 < least_additions(board) <= elimination_additions(board, padded=True)
