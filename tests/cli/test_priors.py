"""``--prior``, ``--ending`` and ``--max-guesses`` of compare, play, assist and suggest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bnmind.lab import CodeMaker
from bnmind.mastermind import Board, Channel, parse_noise, parse_prior
from tests.command_line import assert_one_line_error, run, run_json

SMALL = ("--pegs", "3", "--colors", "4")


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_suggest_knows_the_prior() -> None:
    result = run("suggest", "--prior", "only-colors:1+2", "--json")
    advice = json.loads(result.stdout)
    assert (advice["prior"], advice["possible_codes"]) == ("only-colors:1+2", 16)
    shown = run("suggest", "--prior", "alternating", "--history", "1122 1b1w").stdout
    assert "Board 4x6, prior alternating." in shown
    shown = run("suggest", "--prior", "alternating", "--history", "1212 4b0w").stdout
    assert "The code is 1212" in shown


def test_suggest_asks_a_strategy_about_the_prior_and_the_guesses_left() -> None:
    options = ("--prior", "only-colors:5+6", "--strategy", "random", "--max-guesses", "3")
    code = json.loads(run("suggest", *options, "--json").stdout)["guess"]
    assert set(code) <= {"5", "6"}
    history = ("--history", "1122 0b0w, 3344 0b0w, 5555 2b0w")
    assert_one_line_error(run("suggest", *options, *history), "expected --max-guesses above 3")


@pytest.mark.parametrize("command", ["suggest", "play", "assist", "compare"])
def test_a_faulty_prior_is_refused_in_one_line(command: str) -> None:
    assert_one_line_error(run(command, "--prior", "two-colour"), "did you mean two-color")
    assert_one_line_error(run(command, "--prior", "only-once", "--pegs", "7"), "only-once needs")


def test_compare_plays_against_a_biased_code_maker() -> None:
    options = ("--games", "10", "--noise", "exact", "--prior", "alternating", "--match", "5")
    result = run("compare", "entropy", *options, "--assume-prior", "learned", *SMALL, "--json")
    summary = json.loads(result.stdout)
    assert (summary["prior"], summary["assumed_prior"]) == ("alternating", "learned")
    shown = run("compare", "entropy", *options, *SMALL).stdout
    assert (
        "Board 3x4, prior alternating, matches of 5 games, seed 0.\nEvery reply is true.\n" in shown
    )
    secrets = [line.split(",")[5] for line in Path("results/games.csv").read_text().splitlines()]
    assert all(code[0] == code[2] != code[1] for code in secrets[1:])


def test_compare_plays_to_other_endings() -> None:
    options = ("--games", "10", "--ending", "declared:0.9", "--max-guesses", "12", *SMALL)
    result = run("compare", "entropy", "map", *options)
    assert "Named the right code, ending declared:0.9: entropy" in result.stdout
    fixed = run("compare", "entropy", "--games", "5", "--ending", "limit", "--max-guesses", "3")
    assert "ending limit" in fixed.stdout
    assert_one_line_error(run("compare", "--ending", "limit"), "needs --max-guesses N")
    assert_one_line_error(run("compare", "--ending", "declard"), "did you mean declared?")
    told = "certainty to be a number in (0, 1]"
    assert_one_line_error(run("compare", "--ending", "declared:2"), told)
    everything = run("compare", "--games", "all", "--prior", "two-color")
    assert_one_line_error(everything, "expected a number of games with the prior two-color")


def test_strategies_that_ignore_the_prior_say_so() -> None:
    options = ("--prior", "two-color", "--history", "1122 1b1w", "--seed", "1")
    said = "annealing does not use the prior."
    assert run_json("suggest", *options, "--strategy", "annealing")["note"] == said
    assert said in run("suggest", *options, "--strategy", "annealing").stdout
    assert run_json("suggest", *options, "--strategy", "map")["note"] == ""
    plain = ("--history", "1122 1b1w", "--strategy", "annealing")
    assert run_json("suggest", *plain)["note"] == ""
    players = ("entropy", "optimal", "annealing", "--games", "2", *SMALL, "--noise", "exact")
    shown = run("compare", *players, "--prior", "two-color").stdout
    assert "optimal and annealing do not use the prior." in shown
    assert "use the prior" not in run("compare", *players).stdout


def test_play_hides_a_code_of_the_prior() -> None:
    board = Board(4, 6)
    maker = CodeMaker.from_seed(Channel.exact(board), 3, prior=parse_prior(board, "two-color"))
    secret = board.format(maker.secret)
    result = run("play", "--prior", "two-color", "--seed", "3", answers=f"?\n{secret}\n")
    assert "prior two-color," in result.stdout
    # 6 codes of one color, and 14 codes of each of 15 pairs.
    assert "216 codes possible" in result.stdout
    assert f"{secret} is the code, found in 1 guess." in result.stdout


def test_play_ends_after_the_last_guess() -> None:
    result = run("play", "--seed", "7", "--max-guesses", "2", answers="1111\n2222\n3333\n")
    assert "You have 2 guesses." in result.stdout
    assert "That was the last guess." in result.stdout
    assert "Guess 3" not in result.stdout


def test_play_lets_the_player_name_the_code() -> None:
    options = ("--ending", "declared", "--noise", "false:0.2", "--seed", "7")
    board = Board(4, 6)
    maker = CodeMaker.from_seed(parse_noise(board, "false:0.2"), 7)
    secret = board.format(maker.secret)
    result = run("play", *options, answers=f"{secret}\n?\n={secret}\n")
    assert f"{secret} is right." in result.stdout
    assert "found in" not in result.stdout
    limit = run("play", "--ending", "limit", "--max-guesses", "1", answers="1111\n1112\n")
    assert "That was the last guess. The code:" in limit.stdout
    assert_one_line_error(run("play", "--ending", "limit"), "needs --max-guesses N")


def test_play_refuses_settings_that_it_would_not_keep() -> None:
    many = run("play", "--max-guesses", "10001")
    assert_one_line_error(many, "--max-guesses of at most 10,000, got 10,001")
    assert_one_line_error(
        run("play", "--max-guesses", str(10**30)), "at most 10,000, got about 10^30"
    )
    assert run("play", "--max-guesses", "10000", answers="q\n").exit_code == 0
    certain = run("play", "--ending", "declared:0.9")
    assert_one_line_error(certain, "declared without a number", "you decide when to name the code")


def test_assist_saves_the_prior_with_the_game() -> None:
    options = ("--prior", "only-colors:1+2", "--max-guesses", "9")
    first = run("assist", *options, answers="1111\n2b0w\nq\n")
    assert "prior only-colors:1+2." in first.stdout
    saved = json.loads(Path("bnmind-game.json").read_text())
    assert (saved["prior"], saved["version"]) == ("only-colors:1+2", 2)
    again = run("assist", answers="q\n")
    assert "prior only-colors:1+2. Resumed" in again.stdout
    assert "6 codes possible" in again.stdout
    other = run("assist", "--prior", "two-color")
    assert_one_line_error(other, "expected --prior only-colors:1+2 of the game saved")
    last = run("assist", "--max-guesses", "1", answers="")
    assert "No guess is left: --max-guesses is 1." in last.stdout


def test_a_game_without_a_prior_is_saved_as_before() -> None:
    run("assist", answers="1122\n1b0w\nq\n")
    saved = json.loads(Path("bnmind-game.json").read_text())
    assert saved["version"] == 1
    assert "prior" not in saved
