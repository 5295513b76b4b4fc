"""``bnmind assist``: the dialogue, undoing, saving and resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bnmind.cli.shared.terminal import INTERRUPTED
from bnmind.lab.mastermind import SavedGame, read_game, write_game
from bnmind.mastermind import Board, Reply, Turn, parse_history
from tests.command_line import assert_one_line_error, cold, run, run_json

SAVE = Path("bnmind-game.json")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _play(*answers: str, options: str = "") -> Result:
    words = [option.replace("_", " ") for option in options.split()]
    result = run("assist", *words, answers="".join(f"{line}\n" for line in answers))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result


def _saved() -> Any:
    return json.loads(SAVE.read_text())


def _turns() -> list[str]:
    return [f"{turn['guess']} {turn['reply']}" for turn in _saved()["turns"]]


def test_enter_accepts_the_proposal_which_is_that_of_suggest() -> None:
    first = run_json("suggest")["guess"]
    history = f"{first} 1b1w"
    second = run_json("suggest", "--history", history)["guess"]
    shown = _play("", "1b1w", "", "0 2", "q").stdout
    assert f"Guess [{first}]: " in shown
    assert f"Reply to {second}: " in shown
    assert _turns() == [history, f"{second} 0b2w"]


def test_a_misspelt_noise_is_told_of_the_unknown_one() -> None:
    assert_one_line_error(run("assist", "--noise", "unknwn"), "got 'unknwn'; or unknown")


def test_a_reply_in_place_of_a_guess_is_that_to_the_proposal() -> None:
    first = run_json("suggest")["guess"]
    shown = _play("1b1w", "9b9w", "q", "q").stdout
    assert _turns() == [f"{first} 1b1w"]
    assert "  expected" in shown


def test_a_guess_and_its_reply_may_be_typed_in_one_line() -> None:
    _play("1123 1b1w", "BCDE  0A2B", "1415 5b0w", "q")
    assert _turns() == ["1123 1b1w", "2345 0b2w"]


def test_any_other_guess_may_be_typed_and_replies_in_every_form() -> None:
    shown = _play("1123", "1,1", "bcde", "02", "q").stdout
    assert _turns() == ["1123 1b1w", "2345 0b2w"]
    _play("q", options="--new --history 1123_11;B,C,D,E_0,2")
    assert _turns() == ["1123 1b1w", "2345 0b2w"]
    assert "1123 should tell 3.04 bits, 1234 would 3.06" in shown


def test_entropy_most_probable_codes_and_doubts_are_shown() -> None:
    shown = _play("1122", "0b0w", "1122", "0b1w", "q").stdout
    assert "10.34 bits unknown" in shown
    assert "Most probable: " in shown
    assert "contradict" in shown
    assert "  1  (A)(A)(B)(B)  1122  0b0w  false: 50.0 %" in shown


def test_every_reply_is_saved_and_the_same_command_resumes() -> None:
    options = "--noise false:0.2 --pegs 3 --colors 4"
    _play("112", "11", options=options)  # and then the input ends
    assert _turns() == ["112 1b1w"]
    assert [path.name for path in Path().iterdir()] == [SAVE.name]
    shown = _play("234", "0b2w", options=options).stdout
    assert "Resumed" in shown
    assert "(A)(A)(B)  112  1b1w" in shown
    assert _turns() == ["112 1b1w", "234 0b2w"]
    # What is not asked for is as saved.
    shown = " ".join(_play("q").stdout.split())
    assert "3x4, colors A to D or 1 to 4. " in shown
    assert "With probability 0.2, a random reply replaces the true one" in shown


def test_turns_are_replayed_as_work_that_can_be_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _play("1123", "11", "q")

    def interrupted(what: str, work: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bnmind.cli.mastermind.play.working", interrupted)
    before = SAVE.read_text()
    result = run("assist", answers="q\n")
    assert (result.exit_code, result.stdout) == (INTERRUPTED, "")
    assert SAVE.read_text() == before


def test_resuming_equals_playing_on() -> None:
    without = _play("1123", "11", "", "02", "q", options="--save a.json").stdout
    _play("1123", "11", "q", options="--save b.json")
    resumed = _play("", "02", "q", options="--save b.json").stdout
    ends = "codes possible"
    assert (
        without[without.rindex(ends) :].replace("a.json", "b.json")
        == (resumed[resumed.rindex(ends) :])
    )
    assert Path("a.json").read_text() == Path("b.json").read_text()
    assert not SAVE.exists()


def test_undo_at_the_guess_takes_the_last_turn_back_and_saves() -> None:
    shown = _play("1123", "11", "2345", "02", "u", "q").stdout
    assert "undone: 2345 0b2w" in shown
    assert _turns() == ["1123 1b1w"]
    _play("u", "q")  # in a resumed game too
    assert _turns() == []
    assert "nothing to undo" in _play("u", "q").stdout


def test_undo_at_the_reply_takes_the_guess_back() -> None:
    _play("1123", "u", "1234", "11", "q")
    assert _turns() == ["1234 1b1w"]


def test_undo_after_the_end_takes_the_win_back() -> None:
    shown = _play("1123", "4b0w", "u", "1145", "20", "q").stdout
    assert "1123 is the code, found in 1 guess." in shown
    assert "undone: 1123 4b0w" in shown
    assert _turns() == ["1145 2b0w"]
    assert _saved()["over"] is False


def test_undo_at_the_limit_of_guesses_takes_the_last_turn_back() -> None:
    options = "--max-guesses 2"
    shown = _play("1123", "11", "2345", "02", "now", "u", "2346", "03", "", options=options).stdout
    assert shown.count("No guess is left: --max-guesses is 2.") == 2
    assert "expected Enter or u, got 'now'" in shown
    assert "undone: 2345 0b2w" in shown
    assert _turns() == ["1123 1b1w", "2346 0b3w"]
    assert _saved()["over"] is False
    _play("u", "q", options=options)  # in a resumed game too
    assert _turns() == ["1123 1b1w"]


def test_a_game_over_is_not_resumed() -> None:
    shown = _play("1123", "11", "2145", "40", "").stdout
    assert "2145 is the code, found in 2 guesses." in shown
    assert _saved()["over"] is True
    shown = _play("1111", "10", "q", options="--pegs 4 --noise false:0.1").stdout
    assert "is over; a new one begins" in shown
    assert (_turns(), _saved()["over"], _saved()["noise"]) == (["1111 1b0w"], False, "false:0.1")


def test_contradictions_are_reported_with_the_code() -> None:
    shown = _play("1122", "0b0w", "1133", "40", "").stdout
    assert "1122  0b0w  false; 2b0w is true" in shown
    assert "1 of 1 reply was false." in shown


def test_all_black_under_independent_noise_may_not_be_the_end() -> None:
    options = "--noise independent:0.1"
    shown = _play("1123", "4b0w", "perhaps", "n", "q", options=options).stdout
    assert shown.count("Is the game over? [y/n] ") == 2
    assert "expected y or n" in shown
    assert "1123  4b0w  false: 100.0 %" in shown
    assert (_turns(), _saved()["over"]) == (["1123 4b0w"], False)
    # The wrong report survives saving and resuming.
    shown = _play("2245", "4b0w", "y", "", options=options).stdout
    assert "1123  4b0w" in shown
    assert "2245 is the code, found in 2 guesses." in shown
    assert (_turns(), _saved()["over"]) == (["1123 4b0w", "2245 4b0w"], True)


def test_undo_and_quit_at_the_question_for_the_end() -> None:
    options = "--noise independent:0.1"
    _play("1123", "4b0w", "u", "1234", "00", "q", options=options)
    assert _turns() == ["1234 0b0w"]
    _play("1123", "4b0w", "q", options=options)
    assert _turns() == ["1234 0b0w"]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (("1127",), "1 to 6"),
        (("112",), "4 pegs"),
        (("what",), "expected"),
        (("1123", "3b1w"), "3b1w"),
        (("1123", "9b0w"), "9b0w"),
        (("1123", ""), "expected a reply"),
        (("1123", "1b"), "1b"),
    ],
)
def test_bad_answers_take_one_line_and_are_asked_again(
    answers: tuple[str, ...], words: str
) -> None:
    shown = _play(*answers, "q").stdout
    question = "Guess [1234]: " if len(answers) == 1 else "Reply to 1123: "
    # Questions do not echo what is typed here: between two of them stands the fault alone.
    _, between, _ = shown.split(question)
    assert words in between
    assert between.startswith(("  expected ", "  3b1w is impossible: "))
    assert between.count("\n") == 1
    assert not SAVE.exists()


def test_replies_that_no_code_explains_are_asked_again() -> None:
    options = "--noise false:0.2"
    shown = _play("1122", "0b0w", "1122", "40", "u", "q", options=options).stdout
    assert "1122 0b0w, 1122 4b0w" in shown
    assert _turns() == ["1122 0b0w"]


def test_a_channel_without_noise_accepts_contradictions_under_any_name() -> None:
    for noise in ("exact", "false:0", "independent:0"):
        shown = _play("1122", "0b0w", "1122", "0b1w", "q", options=f"--new --noise {noise}").stdout
        assert "at least one reply is wrong" in shown
        assert _turns() == ["1122 0b0w", "1122 0b1w"]


def test_the_end_of_the_input_quits() -> None:
    assert run("assist", answers="").exit_code == 0
    assert run("assist", answers="1123").exit_code == 0
    assert not SAVE.exists()


def test_a_history_begins_a_game() -> None:
    assert run("assist", "--history", "AABC 1b1w", answers="q\n").exit_code == 0
    assert _turns() == ["1123 1b1w"]
    result = run("assist", "--history", "1123 1b1w", answers="2345\n02\n")
    assert "Resumed" in result.stdout
    assert _turns() == ["1123 1b1w", "2345 0b2w"]
    assert_one_line_error(run("assist", "--history", "1123 0b0w"), "1123 1b1w", "--new")
    assert run("assist", "--new", "--history", "1123 0b0w", answers="q\n").exit_code == 0
    assert _turns() == ["1123 0b0w"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pegs", "5"], ["--pegs 4", "5"]),
        (["--colors", "7"], ["--colors 6", "7"]),
        (["--no-repeats"], ["--no-repeats"]),
        (["--noise", "false:0.1"], ["--noise exact", "false:0.1"]),
    ],
)
def test_options_of_another_game_are_refused(options: list[str], words: list[str]) -> None:
    _play("1123", "11", "q")
    before = SAVE.read_text()
    assert_one_line_error(run("assist", *options), *words, "--new", "--save")
    assert SAVE.read_text() == before
    assert run("assist", *options, "--new", answers="q\n").exit_code == 0
    assert SAVE.read_text() == before  # until the first reply


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not JSON",
        "[]",
        "{}",
        '{"format": "bnmind assist", "version": 99}',
        '{"format": "bnmind assist", "version": 1, "pegs": 0, "colors": 6, "repeats": true}',
        '{"format": "bnmind assist", "version": 1, "pegs": 4, "colors": 6, "repeats": true, '
        '"noise": "exact", "turns": [{"guess": 1123, "reply": "1b1w"}], "over": false}',
        '{"format": "bnmind assist", "version": 1, "pegs": 4, "colors": 6, "repeats": true, '
        '"noise": "exact", "turns": [{"guess": "1123", "reply": "1b9w"}], "over": false}',
    ],
)
def test_files_that_are_no_games(content: str) -> None:
    SAVE.write_text(content)
    assert_one_line_error(run("assist"), SAVE.name, "--new")
    assert SAVE.read_text() == content


def test_a_saved_game_that_cannot_go_on() -> None:
    turns = (Turn((1, 1, 2, 3), Reply(4, 0)), Turn((1, 1, 2, 4), Reply(0, 0)))
    write_game(SAVE, SavedGame(board=Board(4, 6), noise="exact", turns=turns), before=None)
    assert_one_line_error(run("assist"), "1123 4b0w")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pegs", "0"], ["pegs"]),
        (["--colors", "1"], ["colors"]),
        (["--noise", "false:2"], ["2"]),
        (["--noise", "loud"], ["loud"]),
        (["--history", "1123 3b1w"], ["3b1w"]),
        (["--history", "1123"], ["entry 1"]),
        (["--history", "1123 4b0w"], ["1123 4b0w"]),
        (["--pegs", "100", "--colors", "10"], ["GB"]),
        (["--save", "nowhere/game.json"], ["nowhere"]),
        (["--save", "."], ["cannot write ."]),
    ],
)
def test_bad_input(options: list[str], words: list[str]) -> None:
    assert_one_line_error(run("assist", *options, answers="1111\n00\n"), *words)
    assert list(Path().iterdir()) == []


def test_games_survive_being_saved() -> None:
    board = Board(3, 12, repeats=False)
    turns = parse_history(board, "1 12 3 3b3w; CBA 0b0w")
    game = SavedGame(board=board, noise="independent:0.1", turns=turns, prior="only-colors:1+2+12")
    write_game(SAVE, game, before=None)
    assert read_game(SAVE) == game
    assert [path.name for path in Path().iterdir()] == [SAVE.name]


def test_a_real_process(tmp_path: Path) -> None:
    result = cold("assist", directory=tmp_path, answers="1123\n11\nq\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert _turns() == ["1123 1b1w"]
    assert "\x1b" not in result.stdout


def test_rows_are_edited_ignored_and_dropped_and_undone() -> None:
    options = "--noise false:0.2"
    typed = ("1123", "11", "2345", "02", "edit 2 1b0w", "ignore 1", "u", "drop 1", "q")
    shown = _play(*typed, options=options).stdout
    assert "1123  1b1w  ignored" in shown
    assert _turns() == ["2345 1b0w"]
    _play("1123", "11", "ignore 1", "q")
    assert (_saved()["ignored"], _saved()["version"]) == ([1], 3)
    again = _play("ignore 1", "edit 2 3456 1b1w", "q").stdout
    assert "2345  1b0w  ignored" in again
    assert _turns() == ["2345 1b0w", "3456 1b1w"]
    assert "ignored" not in _saved()


def test_a_row_is_questioned_and_stays_as_it_is() -> None:
    shown = _play("1123", "11", "if 1 0b2w", "if 1", "if 2", "if 1 4b0w", "q").stdout
    assert "now   row 1: 0b2w" in shown
    assert "now   row 1: ignored" in shown
    assert "expected a row from 1 to 1, got 2" in shown
    assert "would end the game" in shown
    assert _turns() == ["1123 1b1w"]


def test_noise_changes_in_mid_game() -> None:
    shown = _play("1122", "00", "noise false:0.1", "1122", "1b1w", "u", "u", "q").stdout
    assert "From now on, bnmind assumes that with probability 0.1, a random" in shown
    assert "1122  1b1w  false: " in shown
    assert "undone: noise false:0.1; it is exact again" in shown
    assert _saved()["noise"] == "exact"
    refused = _play("noise loud", "noise unknown", "q").stdout
    assert "expected" in refused
    assert "Judging by the rows, a reply is replaced with probability" in refused
    assert _saved()["noise"] == "unknown"
    assert ". Resumed" in (resumed := " ".join(_play("q").stdout.split()))
    assert "with an unknown probability, learned from the game (unknown)." in resumed


def test_noise_that_cannot_have_given_the_replies_is_refused() -> None:
    options = "--noise independent:0.1"
    shown = _play("1123", "4b0w", "n", "noise false:0.1", "q", options=options).stdout
    assert "would end the game" in shown
    assert _saved()["noise"] == "independent:0.1"


def test_codes_are_listed_when_they_are_few() -> None:
    shown = _play("1234", "11", "1356", "30", "codes", "x", "q").stdout
    assert "Codes left: 1316, 1351, 1353, 1355, 1366, 1456 (16.7 %)" in shown
    assert "6 codes are left:" in shown
    assert "It cannot be the code, but its reply is the most informative." in shown


def test_codes_that_are_only_probable_are_not_called_all_codes_left() -> None:
    shown = _play("1234", "11", "1356", "30", "x", "q", options="--noise false:0.001").stdout
    assert "1,294 codes possible" in shown
    assert "Most probable: 1316, 1351, 1353, 1355, 1366, 1456 (" in shown
    assert "The most probable codes:" in shown
    assert "odes left" not in shown


def test_an_impossible_reply_and_a_change_of_a_row_are_refused_in_one_sentence() -> None:
    shown = _play("1234", "31", "11", "edit 1 zz", "q").stdout
    assert "3b1w is impossible: if 3 of 4 pegs are at the right place" in " ".join(shown.split())
    assert shown.count("expected a guess and its reply") == 1


def test_a_doubtful_reply_is_never_what_it_should_be() -> None:
    history = "1234 0b2w, 2356 0b3w, 5642 0b2w, 6513 1b1w, 3525 1b1w"
    shown = _play("x", "q", options=f"--noise unknown --history {history.replace(' ', '_')}").stdout
    assert "Row 2, 2356 0b3w, is probably false: 66 %. Most likely it should be 1b1w" in shown
