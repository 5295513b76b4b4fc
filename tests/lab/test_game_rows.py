"""Rows that are edited and ignored, saved games of players, and games in retrospect."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.lab.mastermind import SavedGame, read_game, write_game
from bnmind.lab.mastermind.advice import few_codes, learned_noise, start, start_learning
from bnmind.lab.mastermind.review import review_guesses
from bnmind.lab.mastermind.saved_games import GameRows, SavedPlay, read_play, write_play
from bnmind.mastermind import Board, Channel, Posterior, Reply, TableBelief, Turn, parse_history
from bnmind.strategies import describe_guess

BOARD = Board(3, 4)
TURNS = parse_history(BOARD, "112 1b0w, 123 1b1w, 234 0b2w")
ROWS = GameRows(TURNS)


def test_ignored_rows_stay_with_their_turns() -> None:
    rows = ROWS.toggled(3).toggled(1)
    assert rows.ignored == (1, 3)
    assert rows.trusted == TURNS[1:2]
    assert rows.without(2).ignored == (1, 2)
    assert rows.without(1).ignored == (2,)
    assert rows.first(2).ignored == (1,)
    assert rows.ignoring(1) == rows
    assert rows.toggled(1).ignored == (3,)


def test_an_edited_row_is_trusted() -> None:
    turn = Turn((1, 1, 1), Reply(0, 0))
    rows = ROWS.toggled(2).edited(2, turn)
    assert (rows.turns, rows.ignored) == ((TURNS[0], turn, TURNS[2]), ())


@pytest.mark.parametrize("row", [0, 4, -1])
def test_rows_that_there_are_not(row: int) -> None:
    for wrong in (ROWS.toggled, ROWS.without, ROWS.ignoring, ROWS.turn):
        with pytest.raises(InvalidArgumentError, match="expected a row from 1 to 3"):
            wrong(row)
    with pytest.raises(InvalidArgumentError, match="no row yet"):
        GameRows().toggled(1)


def test_what_is_ignored_is_saved(tmp_path: Path) -> None:
    place = tmp_path / "game.json"
    game = SavedGame(board=BOARD, noise="exact", turns=TURNS, ignored=(2,))
    write_game(place, game, before=None)
    assert read_game(place) == game
    record = json.loads(place.read_text())
    place.write_text(json.dumps(record | {"ignored": [9]}))
    with pytest.raises(InvalidArgumentError, match=r"rows \[9\] of 3"):
        read_game(place)


def test_a_played_game_is_saved_without_its_code(tmp_path: Path) -> None:
    place = tmp_path / "play.json"
    game = SavedPlay(
        board=BOARD,
        noise="false:0.2",
        prior="uniform",
        ending="revealed",
        max_guesses=9,
        seed=3,
        guesses=((1, 1, 2), (1, 2, 3)),
        ignored=(1,),
        undone=1,
        hints=2,
    )
    content = write_play(place, game, before=None)
    assert read_play(place) == game
    write_play(place, replace(game, over=True), before=content)
    with pytest.raises(ModelFileError, match="another program"):
        write_play(place, game, before=content)
    with pytest.raises(InvalidArgumentError, match="expected a saved game"):
        read_game(place)


@pytest.mark.parametrize(
    "change", [{"version": 9}, {"guesses": ["9"]}, {"seed": "x"}, {"ignored": 1}, {"pegs": None}]
)
def test_files_that_are_no_games(change: dict[str, object], tmp_path: Path) -> None:
    place = tmp_path / "play.json"
    game = SavedPlay(
        board=BOARD, noise="exact", prior="uniform", ending="revealed", max_guesses=None, seed=3
    )
    write_play(place, game, before=None)
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    with pytest.raises(InvalidArgumentError):
        read_play(place)


def _naive(belief: Posterior) -> float:
    return max(describe_guess(belief, code).information for code in map(tuple, BOARD.codes))


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_regret_is_what_no_guess_exceeds(noise: float) -> None:
    belief: Posterior = start(Channel.false_reply(BOARD, noise))
    for turn, one in zip(
        TURNS, review_guesses(belief, TURNS, np.random.default_rng(0)).guesses, strict=True
    ):
        own = describe_guess(belief, turn.guess).information
        assert one.best_information == pytest.approx(_naive(belief))
        assert one.regret == pytest.approx(_naive(belief) - own)
        after = belief.update(turn.guess, turn.reply)
        assert one.told == pytest.approx(belief.entropy() - after.entropy())
        belief = after


def test_a_win_tells_all_that_is_unknown() -> None:
    belief = start(Channel.false_reply(BOARD, 0.2))
    won = parse_history(BOARD, "123 3b0w")
    (one,) = review_guesses(belief, won, np.random.default_rng(0), won=True).guesses
    assert one.told == pytest.approx(6.0)
    assert one.chance == pytest.approx(1 / 64)


def test_few_codes_have_the_share_together_and_equals_stay_together() -> None:
    belief = TableBelief.start(Channel.exact(BOARD))
    assert few_codes(belief) is None
    few = few_codes(belief, 64)
    assert few is not None
    assert len(few) == 64  # all are equally probable
    noisy = TableBelief.start(Channel.false_reply(BOARD, 0.1))
    for turn in TURNS:
        noisy = noisy.update(turn.guess, turn.reply)
    listed = few_codes(noisy, 64, share=0.5)
    assert listed is not None
    assert sum(p for _, p in listed) >= 0.5 > sum(p for _, p in listed[:-2]) - listed[0][1]


def test_noise_is_learned() -> None:
    belief = start_learning(Channel.false_reply(BOARD, 0.2))
    before = learned_noise(belief)
    assert before is not None
    for reply in ("0b0w", "1b1w", "0b2w"):
        belief = belief.update((1, 1, 2), Reply.parse(reply, pegs=3))
    after = learned_noise(belief)
    assert after is not None
    assert after > before
    assert learned_noise(start(Channel.exact(BOARD))) is None
