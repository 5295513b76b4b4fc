"""Sampled beliefs: they agree with the exact ones within their own standard errors."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    SampledBelief,
    SamplerOptions,
    TableBelief,
    Turn,
    UniformPrior,
    VanishingBelief,
    parse_noise,
    parse_prior,
    reply,
)
from tests.modes import UNCOMPILED

SMALL = SamplerOptions(size=32)
FEW = SamplerOptions(islands=4, size=8) if UNCOMPILED else SMALL
BEYOND_TWO = 0.064
"""The share of values of Student's t with 15 degrees of freedom that are beyond ±2."""
BEYOND_THREE = 0.009


def random_turns(channel: Channel, n: int, rng: np.random.Generator) -> list[Turn]:
    """Return random guesses and their reports, for a random code that is not guessed."""
    board = channel.board
    secret = int(rng.integers(board.n_codes))
    turns: list[Turn] = []
    while len(turns) < n:
        guess = int(rng.integers(board.n_codes))
        if guess == secret:
            continue
        true = board.true_replies.index(reply(board.code(guess), board.code(secret)))
        turns.append(Turn(board.code(guess), channel.reports[channel.draw(true, rng.random())]))
    return turns


def deviations(channel: Channel, seed: int, options: SamplerOptions) -> list[float]:
    """Return the errors of some estimates of one history, in standard errors."""
    rng = np.random.default_rng(seed)
    turns = random_turns(channel, int(rng.integers(1, 6)), rng)
    board, exact = channel.board, TableBelief.start(channel)
    belief = SampledBelief.start(channel, options=options, rng=rng)
    for turn in turns:
        exact = exact.update(turn.guess, turn.reply)
        belief = belief.update(turn.guess, turn.reply)
    errors = belief.standard_errors
    guess, turn_number = rng.integers(board.n_codes, size=1), int(rng.integers(len(turns)))
    right = exact.masses(guess)[0]
    place = int(rng.choice(len(right), p=right / right.sum()))
    peg, color = int(rng.integers(board.pegs)), int(rng.integers(board.colors))
    pairs = [
        (belief.entropy() - exact.entropy(), errors.entropy()),
        (float(belief.masses(guess)[0, place] - right[place]), errors.masses(guess)[0, place]),
        (
            belief.misreport_probabilities()[turn_number]
            - exact.misreport_probabilities()[turn_number],
            errors.misreport_probabilities()[turn_number],
        ),
        (
            float(belief.marginals()[peg, color] - exact.codes.marginals()[peg, color]),
            errors.marginals()[peg, color],
        ),
    ]
    return [difference / error for difference, error in pairs]


def require_calibrated(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Raise unless the shares beyond 2 and 3 standard errors are within binomial limits."""
    for limit, share in ((2, BEYOND_TWO), (3, BEYOND_THREE)):
        beyond = int((abs(values) > limit).sum())
        allowed = share * len(values) + 3.5 * math.sqrt(share * len(values)) + 1
        assert beyond <= allowed, f"{beyond} of {len(values)} beyond {limit}"
    # Nor are the errors exaggerated: 62 % of all values are beyond 0.5. Some numbers are exact,
    # such as certain misreports.
    n = int((abs(values) > 1e-9).sum())
    assert int((abs(values) > 0.5).sum()) >= 0.62 * n - 3.5 * math.sqrt(0.62 * 0.38 * n)


@pytest.mark.skipif(UNCOMPILED, reason="the walks take minutes")
def test_estimates_agree_with_the_exact_belief_within_their_standard_errors() -> None:
    channel = Channel.false_reply(Board(4, 6), 0.2).revealed()
    values = np.array([deviations(channel, seed, SMALL) for seed in range(16)])
    for estimates in values.T:
        require_calibrated(estimates)


@pytest.mark.slow
@pytest.mark.skipif(UNCOMPILED, reason="the walks take hours")
@pytest.mark.parametrize(
    ("board", "noise", "n"),
    [
        (Board(4, 6), "false:0.2", 30),
        (Board(4, 6, repeats=False), "independent:0.2", 30),
        (Board(5, 8), "independent:0.1", 18),
        (Board(6, 9), "false:0.2", 12),
    ],
    ids=str,
)
def test_alarms_are_as_frequent_as_chance_allows(board: Board, noise: str, n: int) -> None:
    channel = parse_noise(board, noise).revealed()
    values = np.array([deviations(channel, seed, SamplerOptions()) for seed in range(n)])
    for estimates in values.T:
        require_calibrated(estimates)


@pytest.mark.parametrize("text", ["uniform", "fewer-colors"])
def test_the_most_probable_codes_have_their_exact_probabilities(text: str) -> None:
    board = Board(4, 6)
    channel, prior = Channel.false_reply(board, 0.2).revealed(), parse_prior(board, text)
    exact = TableBelief.start(channel, prior)
    belief = SampledBelief.start(channel, prior, options=SamplerOptions(size=256))
    for guess, report in (((1, 1, 2, 3), Reply(1, 1)), ((2, 1, 4, 4), Reply(0, 1))):
        exact, belief = exact.update(guess, report), belief.update(guess, report)
    for index, probability in belief.most_probable(20):
        assert probability == pytest.approx(exact.codes.probabilities[index], rel=0.1)
    assert belief.most_probable(1)[0][0] == exact.most_probable(1)[0][0]


def test_wrong_standard_errors_would_raise_an_alarm() -> None:
    values = np.random.default_rng(0).standard_t(15, size=160)
    require_calibrated(values)
    with pytest.raises(AssertionError):
        require_calibrated(2 * values)
    with pytest.raises(AssertionError):
        require_calibrated(values / 4)


@pytest.mark.parametrize("seed", range(6))
def test_true_replies_are_followed_exactly_as_soon_as_codes_are_listed(seed: int) -> None:
    board = Board(4, 6)
    channel, rng = Channel.exact(board).revealed(), np.random.default_rng(seed)
    exact = VanishingBelief.start(board)
    belief = SampledBelief.start(channel, options=FEW)
    for turn in random_turns(channel, 5, rng):
        exact, belief = exact.update(turn.guess, turn.reply), belief.update(turn.guess, turn.reply)
        assert belief.info.listed
        assert belief.entropy() == pytest.approx(exact.entropy(), abs=1e-9)
        assert belief.marginals() == pytest.approx(exact.codes.marginals(), abs=1e-9)
        probable, wanted = np.array(belief.most_probable(5)), np.array(exact.most_probable(5))
        assert probable == pytest.approx(wanted)
        guesses = rng.integers(board.n_codes, size=3)
        assert belief.masses(guesses) == pytest.approx(exact.masses(guesses), abs=1e-9)
        errors = belief.standard_errors
        assert errors.entropy() == errors.masses(guesses).max() == errors.marginals().max() == 0
        assert errors.misreport_probabilities() == (0.0,) * len(belief.history)


@pytest.mark.parametrize("ends", [True, False])
def test_contradictory_replies_leave_the_codes_that_contradict_the_fewest(ends: bool) -> None:
    board = Board(4, 6)
    channel = Channel.exact(board).revealed() if ends else Channel.exact(board)
    exact = VanishingBelief.start(board, ends=ends)
    belief = SampledBelief.start(channel, options=FEW)
    for guess, answer in [((1, 1, 2, 2), (0, 0)), ((1, 1, 2, 2), (0, 1)), ((3, 3, 4, 4), (4, 0))]:
        if ends and answer == (4, 0):
            answer = (3, 0)
        exact, belief = exact.update(guess, Reply(*answer)), belief.update(guess, Reply(*answer))
        assert belief.contradictions == exact.contradictions
        assert belief.entropy() == pytest.approx(exact.entropy())
        assert belief.misreport_probabilities() == pytest.approx(exact.misreport_probabilities())


def test_a_code_that_was_guessed_is_possible_if_the_game_goes_on() -> None:
    belief = SampledBelief.start(Channel.exact(Board(4, 6)), options=FEW)
    for guess in [(1, 1, 2, 2)] * 4 + [(3, 3, 3, 3)] * 3:
        belief = belief.update(guess, Reply(4, 0))
    assert not belief.info.listed  # codes that contradict up to two replies would be
    assert belief.contradictions == 3
    assert belief.misreport_probabilities() == pytest.approx((0,) * 4 + (1,) * 3)
    assert belief.entropy() == pytest.approx(0, abs=1e-9)


@pytest.mark.skipif(UNCOMPILED, reason="the walks take minutes")
def test_contradictory_replies_on_a_board_beyond_enumeration_are_sampled() -> None:
    belief = SampledBelief.start(Channel.exact(Board(10, 12)).revealed(), options=SMALL)
    guess = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    belief = belief.update(guess, Reply(2, 3)).update(guess, Reply(2, 4))
    assert belief.contradictions == 1
    assert sum(belief.misreport_probabilities()) == pytest.approx(1)
    assert not belief.info.listed


@pytest.mark.skipif(UNCOMPILED, reason="the walks take minutes")
@pytest.mark.parametrize("board", [Board(10, 12), Board(20, 20), Board(8, 12, repeats=False)])
def test_samples_of_a_large_board_agree_with_true_replies(board: Board) -> None:
    rng = np.random.default_rng(3)
    secret = tuple((rng.permutation(board.colors)[: board.pegs] + 1).tolist())
    belief = SampledBelief.start(Channel.exact(board).revealed(), options=SMALL)
    before = belief.entropy()
    for _ in range(2):
        guess = tuple(belief.draw(1, rng)[0].tolist())
        belief = belief.update(guess, reply(guess, secret))
    for code in belief.draw(20, rng).tolist():
        assert all(reply(turn.guess, code) == turn.reply for turn in belief.history)
    assert belief.entropy() < before == pytest.approx(math.log2(board.n_codes))
    index, probability = belief.most_probable(1)[0]
    assert 0 <= index < board.n_codes
    assert 0 < probability < 1


def test_the_same_history_gives_the_same_samples() -> None:
    channel = Channel.false_reply(Board(4, 6), 0.2)
    first, other = (
        SampledBelief.start(channel, options=SamplerOptions(islands=4, size=8, seed=seed))
        for seed in (0, 1)
    )
    turn = Turn((1, 1, 2, 3), Reply(1, 1))
    after = first.update(turn.guess, turn.reply)
    assert (after.population.codes == first.update(*vars(turn).values()).population.codes).all()
    assert (pickle.loads(pickle.dumps(after)).population.codes == after.population.codes).all()
    assert (first.population.codes != other.population.codes).any()
    assert first.history == ()
    with pytest.raises(ValueError, match="read-only"):
        after.population.codes[0, 0, 0] = 1


@pytest.mark.skipif(UNCOMPILED, reason="the walks take minutes")
@pytest.mark.parametrize("text", ["two-color", "fewer-colors"])
def test_a_prior_is_sampled(text: str) -> None:
    board = Board(4, 6)
    prior, channel = parse_prior(board, text), Channel.false_reply(board, 0.2).revealed()
    belief = SampledBelief.start(channel, prior)
    exact = TableBelief.start(channel, prior.distribution().probabilities)
    assert belief.entropy() == pytest.approx(exact.entropy(), abs=0.2)
    for turn in (Turn((1, 1, 2, 2), Reply(1, 0)), Turn((1, 3, 3, 3), Reply(0, 1))):
        belief = belief.update(turn.guess, turn.reply)
        exact = exact.update(turn.guess, turn.reply)
    z = (belief.entropy() - exact.entropy()) / belief.standard_errors.entropy()
    assert abs(z) < 4
    errors = belief.standard_errors.marginals()
    assert (abs(belief.marginals() - exact.codes.marginals()) / errors).max() < 4.5


@pytest.mark.parametrize("board", [Board(4, 6), Board(16, 16), Board(20, 20)], ids=str)
def test_guesses_may_be_given_by_large_indices(board: Board) -> None:
    belief = SampledBelief.start(Channel.exact(board), options=SamplerOptions(islands=2, size=8))
    last = np.array([board.n_codes - 1])
    assert belief.masses(last).sum() == pytest.approx(1)
    assert belief.standard_errors.masses(last).shape == (1, len(board.true_replies))
    with pytest.raises(InvalidArgumentError):
        belief.masses(np.array([board.n_codes]))


def test_islands_that_disagree_give_a_warning() -> None:
    board = Board(8, 10)
    options = SamplerOptions(islands=8, size=2, steps=1)
    belief = SampledBelief.start(Channel.false_reply(board, 0.2), options=options)
    rng, secret = np.random.default_rng(0), (1, 2, 3, 4, 5, 6, 7, 8)
    for _ in range(6):
        guess = tuple(belief.draw(1, rng)[0].tolist())
        belief = belief.update(guess, reply(guess, secret))
    assert belief.info.warning is not None
    assert "disagree" in belief.info.warning
    assert belief.info.effective_islands < 2


def test_replies_that_no_code_explains_are_rejected() -> None:
    board = Board(2, 2)
    likely = np.eye(len(board.true_replies))
    channel = Channel(board, board.true_replies, likely[::-1].copy(), "reversed")
    belief = SampledBelief.start(channel, options=SamplerOptions(islands=2, size=8))
    with pytest.raises(ImpossibleEvidenceError, match=r"11 0b0w, 11 1b0w"):
        belief.update((1, 1), Reply(0, 0)).update((1, 1), Reply(1, 0))
    with pytest.raises(InvalidArgumentError):
        belief.update((1, 1), Reply(2, 2))


def test_bad_options_are_rejected_together() -> None:
    with pytest.raises(InvalidArgumentError, match=r"islands.*size.*steps"):
        SamplerOptions(islands=1, size=0, steps=0)
    with pytest.raises(InvalidArgumentError, match=r"codes on all islands, got 17,?592,?186,?044"):
        SamplerOptions(size=2**40)
    with pytest.raises(InvalidArgumentError):
        SamplerOptions(size="many")  # type: ignore[arg-type]


def test_a_report_that_no_true_reply_explains_is_a_contradiction() -> None:
    board = Board(6, 9)
    reports = (*board.true_replies, Reply(5, 1))
    matrix = np.eye(len(board.true_replies), len(reports))
    trusting = Channel(board=board, reports=reports, matrix=matrix, name="exact").revealed()
    options = SamplerOptions(islands=2, size=64, steps=10)
    belief = SampledBelief.start(trusting, options=options).update((1, 1, 2, 2, 3, 3), Reply(5, 1))
    assert belief.contradictions == 1
    assert belief.misreport_probabilities() == pytest.approx((1.0,))


def test_a_prior_of_another_board_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="a prior of the board 4x6"):
        SampledBelief.start(Channel.exact(Board(4, 6)), UniformPrior(Board(4, 9)))
