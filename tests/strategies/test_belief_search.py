"""Look-ahead on a fitted value: by definition, the best known play, and files of values."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from bnmind.cli.app import app
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.information import Floats
from bnmind.mastermind import (
    Board,
    Channel,
    CodeDistribution,
    Reply,
    SampledBelief,
    TableBelief,
    reply,
)
from bnmind.strategies import (
    BeliefValue,
    Best,
    Entropy,
    LookAhead,
    Pruning,
    SampledEntropy,
    fit_value,
    read_value,
    shipped_value,
    strategy_by_name,
    write_value,
)
from bnmind.strategies.belief_search import (
    best_player,
    candidates,
    one_step_values,
    plausible_codes,
    two_step_values,
)
from bnmind.strategies.belief_value import INITIAL, belief_features, shipped_values

# --- One-step look-ahead against a slow computation that conditions on each outcome ---------------


CHANNELS = {
    f"{board} {name}": make(board, p).revealed()
    for board in (Board(2, 3), Board(3, 3))
    for name, make, p in (
        ("false", Channel.false_reply, 0.2),
        ("independent", Channel.independent_error, 0.3),
        ("exact", Channel.false_reply, 0.0),
    )
}


def conditioned(q: Floats, channel: Channel, guess: int) -> list[tuple[float, Floats]]:
    """Return the probability of each report to a guess, and the belief after it."""
    board = channel.board
    true = [reply_place(board, guess, code) for code in range(len(q))]
    after = []
    for outcome in range(len(channel.reports)):
        weights = q * channel.matrix[true, outcome]
        if weights.sum() > 1e-12:
            after.append((float(weights.sum()), weights / weights.sum()))
    return after


@cache
def reply_place(board: Board, guess: int, code: int) -> int:
    """Return the index of the true reply."""
    return board.true_replies.index(_reply(board, guess, code))


def _reply(board: Board, guess: int, code: int) -> Reply:
    return reply(board.code(guess), board.code(code))


@st.composite
def beliefs(draw: st.DrawFn, n: int) -> Floats:
    """Distributions over n codes, some of them of very unequal probabilities."""
    weights = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    weights = np.where(weights > 0, 10.0 ** (-weights / 2), 0.0)
    if not weights.any():
        weights[:] = 1.0
    return np.asarray(weights / weights.sum())


COEFFICIENTS = st.lists(st.floats(0.0, 0.3), min_size=6, max_size=6)


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=20)
@given(data=st.data())
def test_the_scores_are_those_of_conditioning_on_every_outcome(
    name: str, data: st.DataObject
) -> None:
    channel = CHANNELS[name]
    q = data.draw(beliefs(channel.board.n_codes))
    value = BeliefValue(coefficients=tuple(data.draw(COEFFICIENTS)))
    codes = CodeDistribution(channel.board, q)
    considered = candidates(codes, channel, ())
    scores = one_step_values(codes, channel, considered, value)
    for guess, score in zip(considered.guesses.tolist(), scores.tolist(), strict=True):
        after = conditioned(q, channel, guess)
        expected = 1 + sum(chance * value.of(belief) for chance, belief in after)
        assert score == pytest.approx(expected, abs=2e-3)  # implausible codes are left out


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=3)
@given(data=st.data())
def test_two_steps_are_the_best_one_step_after_every_outcome(
    name: str, data: st.DataObject
) -> None:
    channel = CHANNELS[name]
    board = channel.board
    q = data.draw(beliefs(board.n_codes))
    value = BeliefValue(coefficients=tuple(data.draw(COEFFICIENTS)))
    considered = candidates(CodeDistribution(board, q), channel, ())
    guess = data.draw(st.integers(0, board.n_codes - 1))
    everything = Pruning(seconds=board.n_codes, least=0.0)
    score = two_step_values(
        CodeDistribution(board, q),
        channel,
        considered.rows[[guess]],
        considered.rows,
        value,
        pruning=everything,
        share=0.0,
    )
    expected = 1.0
    for chance, belief in conditioned(q, channel, guess):
        scores = (
            1 + sum(p * value.of(after) for p, after in conditioned(belief, channel, following))
            for following in range(board.n_codes)
        )
        expected += chance * min(scores)
    assert score == pytest.approx([expected], abs=1e-6)


@pytest.mark.parametrize("wrong", [{"firsts": 0}, {"seconds": 0}])
def test_pruning_keeps_at_least_one_guess(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="to be a whole number of at least 1, got 0"):
        Pruning(**wrong)


def test_features_of_a_known_code_are_zero() -> None:
    assert belief_features(np.array([0.0, 1.0])).tolist() == [0.0] * 6


def test_features_of_a_uniform_belief() -> None:
    features = belief_features(np.full(16, 1 / 16))
    assert features == pytest.approx([4.0, 4.0, 16.0, 16.0, 16.0, 0.75])


def test_implausible_codes_are_at_most_a_ten_thousandth() -> None:
    q = np.array([0.5, 0.49985, 0.00005, 0.00004, 0.00006, 0.0])
    assert plausible_codes(q).tolist() == [0, 1, 4]


@pytest.mark.parametrize("coefficients", [(1.0,), (float("nan"),) * 6])
def test_coefficients_that_do_not_fit_are_refused(coefficients: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="each a finite number, 6 of them, got"):
        BeliefValue(coefficients=coefficients)


def test_a_probable_code_is_guessed_where_entropy_would_ask_further() -> None:
    board = Board(3, 4)
    belief = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
    for guess, secret in (((1, 1, 2), (2, 4, 1)), ((1, 2, 4), (2, 4, 1)), ((3, 4, 1), (2, 4, 1))):
        belief = belief.update(guess, _reply(board, board.index(guess), board.index(secret)))
    rng = np.random.default_rng(0)
    value = BeliefValue(coefficients=INITIAL)
    curious = belief.codes.probabilities[Entropy().choose(belief, rng)[0]]
    assert belief.codes.probabilities[LookAhead(value=value).choose(belief, rng)[0]] >= curious


# --- The strategy ``best`` and the strategies that it follows -------------------------------------


@pytest.mark.parametrize(
    ("channel", "name"),
    [
        (Channel.exact(Board(4, 6)), "optimal"),
        (Channel.exact(Board(5, 8)), "deeper"),
        (Channel.exact(Board(6, 9)), "entropy"),
        (Channel.exact(Board(7, 10)), "entropy-sampled"),
        (Channel.false_reply(Board(10, 12), 0.2), "entropy-sampled"),
        (Channel.false_reply(Board(4, 6), 0.2), "lookahead2"),
        (Channel.independent_error(Board(4, 6), 0.2), "lookahead2"),
        (Channel.false_reply(Board(5, 8), 0.2), "entropy"),
    ],
    ids=lambda value: value.name + str(value.board) if isinstance(value, Channel) else value,
)
def test_best_is_the_strategy_that_plays_best(channel: Channel, name: str) -> None:
    assert best_player(channel).name == name


def test_without_noise_another_prior_is_played_by_entropy() -> None:
    assert best_player(Channel.exact(Board(4, 6)), uniform=False).name == "entropy"


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_best_makes_the_guess_of_the_strategy_that_it_names(p: float) -> None:
    channel = Channel.false_reply(Board(3, 4), p).revealed()
    belief = Best().start(channel)
    rng = np.random.default_rng(0)
    guess, info = Best().choose(belief, rng)
    named = strategy_by_name(info.note.split()[3])
    assert guess == named.choose(belief, rng)[0]


@pytest.mark.parametrize("p", [0.0, 0.2])
def test_best_plays_from_samples_on_a_board_with_too_many_codes_to_list(p: float) -> None:
    channel = Channel.false_reply(Board(10, 12), p).revealed()
    belief = Best().start(channel)
    assert isinstance(belief, SampledBelief)
    guess, info = Best().choose(belief, np.random.default_rng(0))
    assert info.note == "best plays as entropy-sampled here"
    assert guess == SampledEntropy().choose(belief, np.random.default_rng(0))[0]


# --- Fitted values, their files, and the command that fits them -----------------------------------


CHANNEL = Channel.false_reply(Board(2, 4), 0.2)


def test_a_file_keeps_the_value_and_its_origin(tmp_path: Path) -> None:
    fitted = fit_value(CHANNEL, games=50, rounds=1, seed=3)
    write_value(fitted.value, tmp_path / "value.json")
    assert read_value(tmp_path / "value.json") == fitted.value


def test_the_seed_determines_the_fit() -> None:
    assert fit_value(CHANNEL, games=50, rounds=2) == fit_value(CHANNEL, games=50, rounds=2)


def test_every_shipped_value_names_the_command_that_made_it() -> None:
    assert shipped_values()
    for (board, channel), value in shipped_values().items():
        assert value.origin is not None
        assert (value.origin.board, value.origin.channel) == (board, channel)
        assert f"--noise {channel}" in value.origin.command


def test_another_board_has_the_value_of_the_same_channel() -> None:
    for name, p in (("false:0.2", 0.2), ("false:0.17", 0.17)):
        channel = Channel.false_reply(Board(3, 5), p)
        assert channel.name == name
        assert shipped_value(channel) == shipped_value(Channel.false_reply(Board(4, 6), 0.2))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "bnmind belief value", "version": 1, "coefficients": {}}'],
)
def test_a_file_that_holds_no_value_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match="expected bnmind belief value in"):
        read_value(path)


def test_a_fit_needs_games() -> None:
    with pytest.raises(InvalidArgumentError, match="expected at least two games"):
        fit_value(CHANNEL, games=1)


def test_the_command_writes_the_file_and_prints_the_means(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    options = ["--pegs", "2", "--colors", "3", "--noise", "false:0.2", "--games", "40"]
    result = CliRunner().invoke(app, ["fit-value", *options, "--out", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.output)["means"]) == 2
    origin = read_value(path).origin
    assert origin is not None
    assert origin.command.startswith("bnmind fit-value --pegs 2 --colors 3 --noise false:0.2")
