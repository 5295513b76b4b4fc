"""Games against biased code-makers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.lab import (
    CodeMaker,
    Contest,
    Declared,
    compare,
    play_game,
    replay,
    transcript_from_json,
    transcript_to_json,
)
from bnmind.mastermind import (
    Board,
    Channel,
    HistoryBelief,
    SampledBelief,
    UniformPrior,
    parse_prior,
)
from bnmind.strategies import STRATEGIES, Entropy, MapCode, distribution_of, strategy_by_name

BOARD = Board(4, 6)
SMALL = Board(3, 4)


def test_a_code_maker_draws_the_secret_from_its_prior() -> None:
    prior, channel = parse_prior(BOARD, "alternating"), Channel.exact(BOARD)
    for seed in range(20):
        maker = CodeMaker.from_seed(channel, seed, prior=prior)
        a, b, c, d = maker.secret
        assert (a, b) == (c, d)
        assert a != b
        plain = CodeMaker.from_seed(channel, seed)
        assert np.array_equal(maker.noise, plain.noise)
    assert CodeMaker.from_seed(channel, 8).secret == (6, 4, 5, 2)


def test_the_strategy_assumes_the_prior_of_the_code_maker_unless_told_otherwise() -> None:
    prior = parse_prior(BOARD, "only-colors:1+2")
    maker = CodeMaker.from_seed(Channel.exact(BOARD), 1, prior=prior)
    knowing = play_game(Entropy(), maker)
    ignorant = play_game(Entropy(), maker, assumed_prior=UniformPrior(BOARD))
    assert knowing.prior is knowing.assumed_prior is ignorant.prior is prior
    assert {color for turn in ignorant.turns for color in turn.guess} > {1, 2}
    assert ignorant.turns[0].info.information > knowing.turns[0].info.information


def test_an_assumed_prior_must_allow_the_secret() -> None:
    maker = CodeMaker.from_seed(Channel.exact(BOARD), 0, secret=(1, 1, 2, 3))
    with pytest.raises(InvalidArgumentError, match="only-once excludes the secret 1123"):
        play_game(Entropy(), maker, assumed_prior=parse_prior(BOARD, "only-once"))
    with pytest.raises(InvalidArgumentError, match="a prior of the board 4x6"):
        play_game(Entropy(), maker, assumed_prior=UniformPrior(SMALL))


@pytest.mark.parametrize("name", ["two-color", "fewer-colors:0.5", "fixed:4,3,2,1", "learned"])
def test_transcripts_keep_the_priors(name: str) -> None:
    prior = parse_prior(SMALL, name).observe((1, 1, 1))
    maker = CodeMaker.from_seed(Channel.false_reply(SMALL, 0.2), 3, prior=prior)
    game = play_game(Entropy(), maker)
    again = transcript_from_json(transcript_to_json(game))
    assert again.prior is not None
    assert again.prior.name == prior.name
    assert again.prior.distribution().probabilities == pytest.approx(
        prior.distribution().probabilities, abs=1e-12
    )
    replay(again, Entropy())


def test_transcripts_without_a_prior_have_the_keys_of_earlier_versions() -> None:
    plain, prior = CodeMaker.from_seed(Channel.exact(SMALL), 3), parse_prior(SMALL, "two-color")
    keys = json.loads(transcript_to_json(play_game(Entropy(), plain))).keys()
    assert not keys & {"prior", "assumed_prior"}
    uniform = CodeMaker.from_seed(Channel.exact(SMALL), 3, prior=UniformPrior(SMALL))
    assert json.loads(transcript_to_json(play_game(Entropy(), uniform))).keys() == keys
    biased = CodeMaker.from_seed(Channel.exact(SMALL), 3, prior=prior)
    ignorant = play_game(Entropy(), biased, assumed_prior=UniformPrior(SMALL))
    text = transcript_to_json(ignorant)
    assert json.loads(text).keys() == keys | {"prior"}
    again = transcript_from_json(text)
    assert (again.prior, again.assumed_prior) == (prior, None)
    assert transcript_to_json(replay(again, Entropy())) == text


def test_numbers_of_examined_codes_are_written_if_known() -> None:
    maker = CodeMaker.from_seed(Channel.exact(SMALL), 3)
    for strategy, known in ((Entropy(), False), (strategy_by_name("metropolis-hastings"), True)):
        text = transcript_to_json(play_game(strategy, maker))
        assert all(("evaluated" in turn) == known for turn in json.loads(text)["turns"])
        assert transcript_to_json(transcript_from_json(text)) == text


def test_knowing_the_prior_saves_guesses() -> None:
    prior = parse_prior(BOARD, "alternating")
    channel = Channel.exact(BOARD)
    knowing = compare([Entropy()], channel, games=40, prior=prior)
    ignorant = Contest(
        (Entropy(),), channel, games=40, prior=prior, assumed_prior=UniformPrior(BOARD)
    ).run()
    assert (knowing.prior, knowing.assumed_prior) == ("alternating", "alternating")
    assert (ignorant.prior, ignorant.assumed_prior) == ("alternating", "uniform")
    assert [row.secret for row in knowing.rows] == [row.secret for row in ignorant.rows]
    assert knowing.summaries[0].mean < ignorant.summaries[0].mean - 1


def test_a_learned_prior_adapts_within_a_match_and_forgets_between_matches() -> None:
    prior, channel = parse_prior(SMALL, "alternating"), Channel.exact(SMALL)
    learned = parse_prior(SMALL, "learned")
    contest = Contest((Entropy(),), channel, games=30, prior=prior, assumed_prior=learned, match=10)
    adapting = contest.run().rows
    assumed = learned
    for number, row in enumerate(adapting):
        if number % 10 == 0:
            assumed = learned
        maker = CodeMaker.from_seed(channel, row.seed, prior=prior)
        assert row.secret == SMALL.format(maker.secret)
        assert row.guesses == play_game(Entropy(), maker, assumed_prior=assumed).guesses
        assumed = assumed.observe(maker.secret)


def test_comparisons_check_the_prior_and_the_match() -> None:
    channel = Channel.exact(SMALL)
    with pytest.raises(InvalidArgumentError, match="expected a number of games with the prior"):
        Contest((Entropy(),), channel, games=None, prior=parse_prior(SMALL, "two-color"))
    with pytest.raises(InvalidArgumentError, match="a prior of the board 3x4"):
        Contest((Entropy(),), channel, prior=UniformPrior(BOARD))
    with pytest.raises(InvalidArgumentError, match="only-once excludes 111, which"):
        Contest((Entropy(),), channel, assumed_prior=parse_prior(SMALL, "only-once"))
    with pytest.raises(InvalidArgumentError, match="a match of at least one game"):
        Contest((Entropy(),), channel, match=0)


def test_strategies_can_be_compared_under_other_endings() -> None:
    channel = Channel.false_reply(SMALL, 0.2)
    ending = Declared(0.9, limit=12)
    comparison = Contest((Entropy(), MapCode()), channel, games=10, ending=ending).run()
    assert (comparison.ending, comparison.max_guesses) == ("declared:0.9", 12)
    for row in comparison.rows_of("entropy"):
        game = play_game(Entropy(), CodeMaker.from_seed(channel, row.seed), ending=ending)
        assert (row.guesses, row.won) == (game.guesses, game.won)


@pytest.mark.parametrize("name", [name for name, one in STRATEGIES.items() if one.plain])
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_every_strategy_that_knows_probabilities_starts_from_the_prior(name: str, p: float) -> None:
    prior = parse_prior(SMALL, "two-color")
    belief = strategy_by_name(name).start(Channel.false_reply(SMALL, p).revealed(), prior)
    if isinstance(belief, HistoryBelief | SampledBelief):
        return
    possible = distribution_of(belief).probabilities > 0
    assert np.array_equal(possible, prior.distribution().probabilities > 0)


@pytest.mark.slow
def test_knowing_and_learning_a_prior_save_guesses_under_noise() -> None:
    prior, channel = parse_prior(BOARD, "alternating"), Channel.false_reply(BOARD, 0.2)
    guesses = []
    for assumed in (UniformPrior(BOARD), parse_prior(BOARD, "learned"), prior):
        contest = Contest(
            (Entropy(),), channel, games=60, prior=prior, assumed_prior=assumed, match=10
        )
        guesses.append(np.array([row.guesses for row in contest.run().rows]))
    for informed in guesses[1:]:
        saved = guesses[0] - informed
        # About 1.8 guesses, with a standard error of 0.2.
        assert saved.mean() > 3 * saved.std(ddof=1) / np.sqrt(len(saved))
