"""Numbers of guesses: under noise, by search, and the choices behind them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.mastermind import (
    Belief,
    Board,
    Channel,
    ExactBelief,
    Reply,
    TableBelief,
    Turn,
    VanishingBelief,
    reply,
    reply_table,
)
from bnmind.strategies import (
    Entropy,
    Knuth,
    LookAhead,
    MapCode,
    RandomCode,
    SolvedPlayer,
    Strategy,
    build_tree,
    deeper,
    describe_guess,
    find_possible_code,
    first_possible,
    is_searched,
    mean_lower_bound,
    mean_under_noise,
    measure_games,
    measure_search,
    measure_tree,
    play_by_search,
    solve_belief_game,
    start_belief,
    strategy_tree,
    trust_suffices,
    trusting_channel,
    walk_tree,
)
from bnmind.strategies.greedy import MAX_TREE_CODES
from tests.mastermind.generators import boards, channels, codes, possible_histories
from tests.modes import examples

# --- The mean number of guesses under noise from all histories, against games followed one by one -


NINE = Board(2, 3)


def followed_one_by_one(strategy: Strategy, channel: Channel, turns: int) -> list[float]:
    """Return the probability that a game takes at least 1, 2, 3, … guesses."""
    board, played = channel.board, channel.revealed()
    table = reply_table(board)
    going_on = [0.0] * turns

    def follow(belief: Belief, weights: np.ndarray, turn: int) -> None:
        if turn == turns:
            return
        going_on[turn] += float(weights.sum())
        guess = strategy.choose(belief, np.random.default_rng(0))[0]
        for column, report in enumerate(played.reports):
            after = weights * played.matrix[table[guess], column]
            if after.any():
                follow(belief.update(board.code(guess), report), after, turn + 1)

    follow(strategy.start(played), np.full(board.n_codes, 1 / board.n_codes), 0)
    return going_on


def test_without_noise_the_mean_is_that_of_the_tree() -> None:
    strategy, channel = Entropy(), Channel.exact(Board(3, 3))
    expected = measure_tree("entropy", build_tree(strategy, channel)).mean
    found = mean_under_noise(strategy, channel)
    assert found.mean == pytest.approx(expected)
    assert found.unfinished == 0
    assert found.lower == pytest.approx(found.mean)


def test_the_turns_are_those_of_all_histories() -> None:
    channel = Channel.false_reply(NINE, 0.3)
    seen: list[float] = []
    found = mean_under_noise(
        Entropy(), channel, least_mass=1e-4, progress=lambda turn, mass: seen.append(mass)
    )
    assert seen[:4] == pytest.approx(followed_one_by_one(Entropy(), channel, 4))
    assert found.lower <= found.mean
    assert 0 < found.unfinished < 0.05
    finer = mean_under_noise(Entropy(), channel, least_mass=1e-5)
    assert found.lower <= finer.lower <= finer.mean
    assert finer.beliefs > found.beliefs


@pytest.mark.slow
def test_the_solved_player_is_best() -> None:
    channel = Channel.false_reply(NINE, 0.2)
    solution = solve_belief_game(channel, gap=1e-5)
    solved = mean_under_noise(SolvedPlayer(solution), channel, least_mass=1e-7)
    assert solution.lower - 1e-4 <= solved.lower <= solved.mean <= solution.upper + 1e-5
    for strategy in (Entropy(), LookAhead()):
        assert mean_under_noise(strategy, channel).mean >= solution.lower
    assert mean_lower_bound(channel).mean <= solved.lower


def test_bad_arguments_are_refused() -> None:
    channel = Channel.false_reply(NINE, 0.2)
    with pytest.raises(InvalidArgumentError, match="deterministic strategy, got map"):
        mean_under_noise(MapCode(), channel)
    with pytest.raises(InvalidArgumentError, match="between 0 and 1"):
        mean_under_noise(Entropy(), channel, least_mass=0)


# --- How far growing trees and playing games has come, as it is told ------------------------------


class _Told:
    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.calls.append((done, total))

    def check(self, total: int) -> None:
        assert len(self.calls) > 1
        assert all(one <= other for (one, _), (other, _) in pairwise(self.calls))
        assert {of for _, of in self.calls} == {total}
        assert self.calls[-1] == (total, total)


@pytest.mark.parametrize("strategy", [Entropy(), Knuth()])
def test_progress_of_trees_counts_the_separated_codes(strategy: Strategy) -> None:
    board, told = Board(3, 4), _Told()
    grown = strategy_tree(strategy, board, progress=told)
    assert grown.total == strategy_tree(strategy, board).total
    told.check(board.n_codes)


def test_trees_under_noise_report_progress_too() -> None:
    board, told = Board(2, 3), _Told()
    build_tree(Entropy(), Channel.false_reply(board, 0.2).revealed(), max_guesses=3, progress=told)
    told.check(board.n_codes)


def test_progress_of_a_search_for_a_tree_counts_the_codes() -> None:
    board, told = Board(3, 5), _Told()
    grown = strategy_tree(deeper(), board, progress=told)
    assert grown.total == deeper().tree(board).total
    told.check(3 * board.n_codes)  # for two first guesses, and once more for the better one


@pytest.mark.parametrize("measure", [measure_games, measure_search])
def test_games_are_counted(measure: Callable[..., object]) -> None:
    told = _Told()
    measure(RandomCode(), Board(3, 4), games=5, seed=1, progress=told)
    told.check(5)


def test_complete_trees_of_large_boards_raise_early() -> None:
    board = Board(7, 7)
    assert board.n_codes > MAX_TREE_CODES
    with pytest.raises(TooLargeError, match="823,543 codes; play games instead"):
        strategy_tree(Entropy(), board)


# --- Possible codes by constraint search: against lists of all codes ------------------------------


@st.composite
def games(draw: st.DrawFn, max_codes: int) -> tuple[Board, list[Turn]]:
    """Guesses and replies: of a secret, or of none."""
    board = draw(boards(max_codes))
    guesses = draw(st.lists(codes(board), max_size=5))
    secrets = [draw(codes(board))] * len(guesses)
    if draw(st.booleans()):
        secrets = [draw(codes(board)) for _ in guesses]
    turns = [Turn(g, reply(g, s)) for g, s in zip(guesses, secrets, strict=True)]
    return board, turns


@given(games(1296), st.integers(0, 99))
@settings(max_examples=examples(150))
def test_the_first_possible_code_is_found_or_that_there_is_none(
    game: tuple[Board, list[Turn]], seed: int
) -> None:
    board, turns = game
    possible = [
        code
        for code in map(board.code, range(board.n_codes))
        if all(reply(turn.guess, code) == turn.reply for turn in turns)
    ]
    found = find_possible_code(board, turns)
    assert found.code == (possible[0] if possible else None)
    shuffled = find_possible_code(board, turns, rng=np.random.default_rng(seed)).code
    assert shuffled in possible if possible else shuffled is None


@given(boards(256).filter(lambda board: board.n_codes > 1), st.data())
@settings(max_examples=examples(25))
def test_games_by_search_are_shapiros(board: Board, data: st.DataObject) -> None:
    secret = data.draw(codes(board))
    tree = build_tree(first_possible(), Channel.exact(board))
    assert play_by_search(board, secret) == walk_tree(tree, secret)


@pytest.mark.compiled
@pytest.mark.parametrize("board", [Board(8, 10), Board(10, 12), Board(10, 14, repeats=False)])
def test_boards_of_billions_of_codes(board: Board) -> None:
    measured = measure_search(RandomCode(), board, games=3, seed=2)
    assert measured.games == 3
    assert measured.max < 20
    assert measure_search(RandomCode(), board, games=3, seed=2) == measured


def test_every_guess_of_a_large_game_is_possible() -> None:
    board = Board(10, 12)
    secret = (7, 1, 8, 2, 12, 9, 3, 3, 6, 12)
    turns = play_by_search(board, secret, rng=np.random.default_rng(1), first=[1, 2] * 5)
    assert turns[0].guess == (1, 2) * 5
    assert turns[-1].guess == secret
    for number, turn in enumerate(turns[1:], start=1):
        assert all(reply(past.guess, turn.guess) == past.reply for past in turns[:number])


@pytest.mark.compiled
def test_work_is_counted() -> None:
    board = Board(8, 10)
    turns = list(play_by_search(board, (9, 8, 7, 6, 5, 4, 3, 2)))[:-1]
    nodes = find_possible_code(board, turns).nodes
    assert find_possible_code(board, turns, max_nodes=nodes).nodes == nodes
    for rng in (None, np.random.default_rng(0)):
        with pytest.raises(TooLargeError, match="pegs placed"):
            find_possible_code(board, turns, rng=rng, max_nodes=3)


def test_search_rejects_invalid_arguments() -> None:
    with pytest.raises(TooLargeError, match="63 colors"):
        find_possible_code(Board(3, 64), [])
    with pytest.raises(InvalidArgumentError):
        find_possible_code(Board(3, 4), [Turn((1, 2, 5), Reply(0, 0))])
    with pytest.raises(InvalidArgumentError):
        play_by_search(Board(3, 4), (1, 2))
    with pytest.raises(BnmindError, match="at least one game"):
        measure_search(RandomCode(), Board(3, 4), games=0, seed=0)
    from bnmind.strategies import Knuth

    with pytest.raises(BnmindError, match="shapiro and random"):
        measure_search(Knuth(), Board(3, 4), games=1, seed=0)
    assert is_searched(first_possible(), Board(10, 12))
    assert not is_searched(Knuth(), Board(10, 12))
    assert not is_searched(RandomCode(), Board(4, 6))


# --- What strategies choose: against the paper's procedure, word for word, and against counting ---


RNG = np.random.default_rng(0)


def expected_entropies(belief: TableBelief) -> list[float]:
    """Condition on every t, p′, c′ and average the entropies: the procedure of the paper."""
    board, channel = belief.board, belief.channel
    q = belief.codes.probabilities
    expected = []
    for guess in board.codes.tolist():
        average = 0.0
        for reported in channel.reports:
            joint = [
                float(q[index])
                * float(channel.likelihood(reported)[board.true_replies.index(reply(guess, code))])
                for index, code in enumerate(board.codes.tolist())
            ]
            evidence = math.fsum(joint)
            if evidence > 0:
                posterior = [p / evidence for p in joint]
                average += evidence * -math.fsum(p * math.log2(p) for p in posterior if p > 0)
        expected.append(average)
    return expected


@st.composite
def unrevealed_beliefs(draw: st.DrawFn, max_codes: int) -> TableBelief:
    """Beliefs in the middle of a game that nobody ends, exact or noisy."""
    board = draw(boards(max_codes))
    channel = draw(channels(board, revealed=False))
    _, history = draw(possible_histories(channel, max_turns=2))
    belief = TableBelief.start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    return belief


@given(unrevealed_beliefs(16))
@settings(max_examples=examples(40))
def test_entropy_agrees_with_the_paper(belief: TableBelief) -> None:
    expected = expected_entropies(belief)
    guess, info = Entropy().choose(belief, RNG)
    best = min(expected)
    assert expected[guess] == pytest.approx(best, abs=1e-9)
    assert info.score == info.expected_entropy == pytest.approx(expected[guess], abs=1e-9)
    tied = [t for t, value in enumerate(expected) if value < best + 0.9e-9]
    probability = belief.codes.probabilities
    assert probability[guess] >= max(probability[t] for t in tied) - 1e-8
    for t, code in enumerate(belief.board.codes.tolist()):
        described = describe_guess(belief, code)
        assert described.expected_entropy == pytest.approx(expected[t], abs=1e-9)
        entropy = belief.codes.entropy()
        assert described.information == pytest.approx(entropy - expected[t], abs=1e-9)


def test_entropy_prefers_codes_that_are_possible_then_small_ones() -> None:
    board = Board(4, 6)
    belief = start_belief(Channel.exact(board).revealed())
    assert board.code(Entropy().choose(belief, RNG)[0]) == (1, 2, 3, 4)
    for guess in ((1, 1, 2, 2), (3, 3, 4, 4), (1, 3, 5, 5), (5, 1, 6, 6)):
        belief = belief.update(guess, reply(guess, (6, 6, 6, 5)))
    possible = np.flatnonzero(belief.codes.probabilities)
    assert [board.code(int(index)) for index in possible] == [(6, 6, 5, 6), (6, 6, 6, 5)]
    index, info = Entropy().choose(belief, RNG)
    # Many guesses tell the two apart; of those, only two can win at once.
    assert board.code(index) == (6, 6, 5, 6)
    assert info.information == pytest.approx(1)
    assert info.tied > 2


@given(boards(81).flatmap(lambda board: channels(board, revealed=True)), st.data())
@settings(max_examples=examples(30))
def test_map_guesses_one_of_the_most_probable_codes(channel: Channel, data: st.DataObject) -> None:
    _, history = data.draw(possible_histories(channel, max_turns=3))
    belief: ExactBelief = TableBelief.start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    p = belief.codes.probabilities
    tied = set(np.flatnonzero(p >= p.max() * (1 - 1e-9)).tolist())
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    guesses = {MapCode().choose(belief, rng)[0] for _ in range(20)}
    assert guesses <= tied
    assert MapCode().choose(belief, rng)[1].tied == len(tied)
    assert len(guesses) > 1 or len(tied) < 3


@given(st.data())
@settings(max_examples=examples(30))
def test_knuth_counts(data: st.DataObject) -> None:
    board = data.draw(boards(27))
    channel = Channel.exact(board).revealed()
    _, history = data.draw(possible_histories(channel, max_turns=2))
    belief = Knuth().start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    possible = [board.code(int(i)) for i in np.flatnonzero(belief.codes.probabilities)]

    def judged(index: int) -> tuple[int, bool, int]:
        replies = [reply(board.code(index), code) for code in possible]
        worst = max(replies.count(one) for one in replies)
        return worst, board.code(index) not in possible, index

    worst, _, best = min(judged(index) for index in range(board.n_codes))
    guess, info = Knuth().choose(belief, RNG)
    assert (guess, info.score) == (best, worst)


def test_random_guesses_every_possible_code_equally_often() -> None:
    board = Board(2, 3)
    belief = RandomCode().start(Channel.exact(board).revealed()).update((1, 1), Reply(1, 0))
    rng = np.random.default_rng(5)
    drawn = [RandomCode().choose(belief, rng)[0] for _ in range(4000)]
    possible = np.flatnonzero(belief.codes.probabilities)
    shares = np.bincount(drawn, minlength=board.n_codes)[possible] / 4000
    assert set(drawn) == set(possible.tolist())
    assert shares == pytest.approx(1 / len(possible), abs=0.03)
    assert RandomCode().choose(belief, rng)[1].score == 1 / len(possible)


def test_beliefs_start_with_trust_where_replies_are_truthful() -> None:
    board = Board(2, 3)
    exact, noisy = Channel.exact(board), Channel.independent_error(board, 0.2)
    assert isinstance(start_belief(exact.revealed()), VanishingBelief)
    assert isinstance(start_belief(Channel.false_reply(board, 0).revealed()), VanishingBelief)
    assert isinstance(start_belief(exact), VanishingBelief)
    assert isinstance(start_belief(noisy.revealed()), TableBelief)
    for strategy in (Knuth(), RandomCode()):
        trusting = strategy.start(noisy.revealed())
        assert isinstance(trusting, VanishingBelief)
        assert set(trusting.reports) == set(noisy.reports)


def test_a_trusting_channel_has_the_reports_of_the_noisy_one() -> None:
    noisy = Channel.independent_error(Board(2, 3), 0.2)
    trusting = trusting_channel(noisy)
    assert set(trusting.reports) == set(noisy.reports)
    assert trusting.likelihood(Reply(2, 2)).tolist() == [0.0] * 5
    assert not trusting.ends
    assert trusting_channel(Channel.exact(Board(2, 3)).revealed()).is_exact


@given(st.data())
def test_most_probable_codes_contradict_the_fewest_replies(
    data: st.DataObject,
) -> None:
    board = data.draw(boards(max_codes=30))
    channel = data.draw(
        st.one_of(
            st.floats(0, 0.99).map(lambda p: Channel.false_reply(board, p).revealed()),
            channels(board),
        )
    )
    assume(trust_suffices(channel))
    knowing, trusting = MapCode().start(channel), RandomCode().start(channel)
    _, turns = data.draw(possible_histories(channel))
    for turn in turns:
        knowing = knowing.update(turn.guess, turn.reply)
        trusting = trusting.update(turn.guess, turn.reply)
    p = knowing.codes.probabilities
    best = np.flatnonzero(p >= p.max() * (1 - 1e-6))
    assert best.tolist() == np.flatnonzero(trusting.codes.probabilities).tolist()


def test_trust_suffices_for_exact_and_false_replies() -> None:
    board = Board(2, 3)
    for channel in (
        Channel.exact(board),
        Channel.false_reply(board, 0.2),
        Channel.false_reply(board, 0.9),
        Channel.independent_error(board, 0.0),
        trusting_channel(Channel.independent_error(board, 0.2)),
    ):
        assert trust_suffices(channel.revealed())
    for channel in (
        Channel.false_reply(board, 1.0),
        Channel.independent_error(board, 0.2),
        Channel.from_counts(board, {}),
        Channel.from_counts(board, {(Reply(0, 1), Reply(0, 1)): 9.0}, prior=1.0),
    ):
        assert not trust_suffices(channel.revealed())


@given(st.integers(0, 99))
@settings(max_examples=examples(10))
def test_under_false_replies_trust_is_as_good_as_knowing_the_noise(seed: int) -> None:
    # A false reply is equally likely to be any, so the most probable codes are those that
    # contradict the fewest replies: `map` and `random` are one strategy there.
    board = Board(3, 4)
    channel = Channel.false_reply(board, 0.3).revealed()
    rng = np.random.default_rng(seed)
    knowing, trusting = MapCode().start(channel), RandomCode().start(channel)
    for guess in map(board.code, rng.choice(board.n_codes, 4, replace=False).tolist()):
        report = channel.reports[int(rng.integers(len(channel.reports) - 1))]
        knowing, trusting = knowing.update(guess, report), trusting.update(guess, report)
        p = knowing.codes.probabilities
        tied = np.flatnonzero(p >= p.max() * (1 - 1e-9))
        assert tied.tolist() == np.flatnonzero(trusting.codes.probabilities).tolist()
