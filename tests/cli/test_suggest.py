"""``bnmind suggest`` against beliefs and strategies asked directly."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bnmind.lab.mastermind.advice import start, winning_report_ends
from bnmind.lab.mastermind.words import noise_in_words
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    VanishingBelief,
    parse_history,
    parse_noise,
    reply,
)
from bnmind.strategies import Entropy
from tests.command_line import assert_one_line_error, run, run_json

KEYS = {
    "board",
    "noise",
    "prior",
    "guess",
    "information",
    "expected_entropy",
    "entropy",
    "entropy_error",
    "possible_codes",
    "most_probable",
    "doubts",
    "contradictions",
    "found",
    "note",
}


def test_first_guess_with_all_defaults() -> None:
    advice = run_json("suggest")
    assert set(advice) == KEYS
    assert (advice["board"], advice["noise"]) == ("4x6", "exact")
    assert advice["guess"] == "1234"
    assert advice["information"] == pytest.approx(3.0567, abs=5e-5)
    assert advice["entropy"] == pytest.approx(math.log2(1296), abs=1e-12)
    assert advice["expected_entropy"] == advice["entropy"] - advice["information"]
    assert advice["possible_codes"] == 1296
    assert [row["code"] for row in advice["most_probable"]] == [
        *("1111", "1112", "1113", "1114", "1115", "1116", "1121", "1122", "1123", "1124")
    ]
    assert all(row["probability"] == 1 / 1296 for row in advice["most_probable"])
    assert (advice["doubts"], advice["found"], advice["contradictions"]) == ([], False, 0)


@pytest.mark.parametrize(
    ("noise", "history"),
    [
        ("exact", "1123 1b1w, 2345 0b2w"),
        ("false:0.2", "1123 1b1w, 2345 0b2w, 1123 0b0w"),
        ("independent:0.1", "1123 3b2w; AABC 4b0w; 4456 1b1w"),
    ],
)
def test_numbers_are_those_of_belief_and_strategy_in_full(noise: str, history: str) -> None:
    board = Board(4, 6)
    channel = parse_noise(board, noise)
    turns = parse_history(board, history)
    belief: TableBelief | VanishingBelief = TableBelief.start(channel.revealed())
    if noise == "exact":
        belief = VanishingBelief.start(board)
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    guess, info = Entropy(once=True).choose(belief, np.random.default_rng(0))

    advice = run_json("suggest", "--noise", noise, "--history", history)
    assert advice["guess"] == board.format(board.code(guess))
    assert advice["information"] == info.information
    assert advice["expected_entropy"] == info.expected_entropy
    assert advice["entropy"] == belief.codes.entropy()
    assert advice["possible_codes"] == belief.codes.possible_codes()
    assert advice["most_probable"] == [
        {"code": board.format(board.code(index)), "probability": probability}
        for index, probability in belief.codes.most_probable(10)
    ]
    assert advice["doubts"] == [
        {"guess": board.format(turn.guess), "reply": str(turn.reply), "probability_wrong": wrong}
        for turn, wrong in zip(turns, belief.misreport_probabilities(), strict=True)
    ]


def test_truthful_replies_leave_the_codes_that_agree_with_them() -> None:
    board = Board(4, 6)
    agree = [
        board.format(code)
        for code in map(board.code, range(board.n_codes))
        if reply((1, 1, 2, 3), code) == (1, 1) and reply((2, 3, 4, 5), code) == (0, 2)
    ]
    advice = run_json("suggest", "--history", "1123 1b1w, 2345 0b2w")
    assert advice["possible_codes"] == len(agree)
    assert [row["code"] for row in advice["most_probable"]] == agree[:10]
    assert [row["probability_wrong"] for row in advice["doubts"]] == [0.0, 0.0]


def test_letters_digits_and_separated_numbers_are_read() -> None:
    digits = run_json("suggest", "--history", "1123 1b1w, 2345 0b2w")
    assert run_json("suggest", "--history", "aabc 1b1w; BCDE 0b2w;") == digits
    wide = run_json(*["suggest", "--pegs", "2", "--colors", "12", "--history"], "1 12 1b0w")
    assert wide["doubts"][0]["guess"] == "1 12"
    assert wide["guess"].count(" ") == 1


def test_boards_without_repeats() -> None:
    advice = run_json("suggest", "--no-repeats", "--history", "1234 1b1w")
    assert len(set(advice["guess"])) == 4
    assert all(len(set(row["code"])) == 4 for row in advice["most_probable"])
    assert_one_line_error(run("suggest", "--no-repeats", "--history", "1123 1b1w"), "1123")


def test_repeats_are_allowed_unless_forbidden() -> None:
    assert run_json("suggest", "--repeats") == run_json("suggest")
    assert run_json("suggest", "--no-repeats", "--repeats") == run_json("suggest")


def test_contradictions_under_exact_noise_are_reported_and_advice_continues() -> None:
    arguments = ("suggest", "--history", "1122 0b0w, 1122 0b0w, 1122 0b1w")
    advice = run_json(*arguments)
    assert advice["contradictions"] == 1
    assert [row["probability_wrong"] for row in advice["doubts"]] == [0.0, 0.0, 1.0]
    assert advice["possible_codes"] == 256
    shown = run(*arguments)
    assert shown.exit_code == 0
    assert "contradict" in shown.stdout
    assert "as few false replies as possible; noise false:0.1 weighs them." in shown.stdout
    assert "100.0 %" in shown.stdout


def test_a_last_reply_that_wins_has_found_the_code() -> None:
    advice = run_json("suggest", "--history", "1123 1b1w, 1456 4b0w")
    assert advice == {
        "board": "4x6",
        "noise": "exact",
        "prior": "uniform",
        "guess": "1456",
        "information": 0.0,
        "expected_entropy": 0.0,
        "entropy": 0.0,
        "entropy_error": 0.0,
        "possible_codes": 1,
        "most_probable": [{"code": "1456", "probability": 1.0}],
        "doubts": [
            # 1456 has one black peg and no white one.
            {"guess": "1123", "reply": "1b1w", "probability_wrong": 1.0},
            {"guess": "1456", "reply": "4b0w", "probability_wrong": 0.0},
        ],
        "contradictions": 1,
        "found": True,
        "note": "",
    }
    shown = run("suggest", "--history", "1456 4b0w").stdout
    assert shown == "Board 4x6.\nEvery reply is true.\nThe code is 1456, found in 1 guess.\n"


def test_unknown_noise_names_the_command_that_learns_it() -> None:
    assert_one_line_error(run("suggest", "--noise", "unknown"), "bnmind assist --noise unknown")


def test_a_found_code_is_certain_under_noise_too() -> None:
    history = "1123 1b1w, 2345 0b2w, 1256 4b0w"
    advice = run_json("suggest", "--noise", "false:0.2", "--history", history)
    assert (advice["found"], advice["guess"], advice["contradictions"]) == (True, "1256", None)
    assert [row["probability_wrong"] for row in advice["doubts"]] == [0.0, 0.0, 0.0]


def test_under_independent_noise_all_black_in_an_unfinished_game_is_wrong() -> None:
    noise = ("--noise", "independent:0.1")
    followed = run_json("suggest", *noise, "--history", "1123 4b0w, 2345 0b2w")
    assert followed["doubts"][0]["probability_wrong"] == 1.0
    assert all(row["code"] != "1123" for row in followed["most_probable"])
    assert not followed["found"]
    assert run_json("suggest", *noise, "--history", "1123 4b0w")["found"]
    on = run_json("suggest", *noise, "--goes-on", "--history", "1123 4b0w")
    assert not on["found"]
    assert on["doubts"][0]["probability_wrong"] == 1.0


@pytest.mark.parametrize("noise", ["exact", "false:0.2"])
def test_truthful_endings_end_the_game(noise: str) -> None:
    later = run("suggest", "--noise", noise, "--history", "1123 4b0w, 2345 0b2w")
    assert_one_line_error(later, "1123 4b0w", "entry 1")
    on = run("suggest", "--noise", noise, "--goes-on", "--history", "1123 4b0w")
    assert_one_line_error(on, "1123 4b0w")


def test_meaning_of_an_all_black_report_depends_on_the_channel() -> None:
    board = Board(2, 3)
    assert winning_report_ends(Channel.exact(board))
    assert winning_report_ends(Channel.false_reply(board, 0.5))
    assert winning_report_ends(Channel.independent_error(board, 0.0))
    assert not winning_report_ends(Channel.independent_error(board, 0.1))
    assert not winning_report_ends(Channel.from_counts(board, {}))
    silent = {(true, Reply(0, 0)): 1.0 for true in board.true_replies}
    assert winning_report_ends(Channel.from_probabilities(board, silent))


def _noise_free(board: Board, directory: Path) -> list[str]:
    """Return every way to say that replies are true."""
    path = directory / "true.csv"
    rows = [f"{true},{true},1" for true in map(str, board.true_replies)]
    path.write_text("\n".join(["true,reported,probability", *rows]))
    return ["exact", "false:0", "false:0.0", "independent:0", f"file:{path}"]


def test_channels_without_noise_are_equal_under_any_name(tmp_path: Path) -> None:
    board = Board(4, 6)
    contradiction = "1122 0b0w, 1122 0b1w"
    answers, refusals = [], []
    for noise in _noise_free(board, tmp_path):
        belief = start(parse_noise(board, noise))
        assert isinstance(belief, VanishingBelief)
        assert belief.reports == board.true_replies
        arguments = ("suggest", "--noise", noise, "--history")
        found = run_json(*arguments, contradiction)
        assert found.pop("noise") == parse_noise(board, noise).name
        shown = run(*arguments, contradiction).stdout
        words = " ".join(shown.split())
        assert words.startswith(f"Board 4x6. {noise_in_words(parse_noise(board, noise).name)} ")
        answers.append(found)
        refusals.append(run(*arguments, "1123 3b1w").stderr)
    assert answers[0]["contradictions"] == 1
    assert all(answer == answers[0] for answer in answers)
    assert all(refusal == refusals[0] for refusal in refusals)
    assert isinstance(start(Channel.false_reply(board, 1e-9)), TableBelief)


def test_noise_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    rows = [f"{true},{true},10" for true in map(str, Board(4, 6).true_replies)]
    path.write_text("\n".join(["true,reported,count", *rows]))
    advice = run_json("suggest", "--noise", f"file:{path}", "--history", "1123 1b1w")
    # Fourteen reports, a prior of one half on each.
    assert 0 < advice["doubts"][0]["probability_wrong"] < 1
    assert advice["possible_codes"] == 1295


def test_text_ends_with_the_guess() -> None:
    shown = run("suggest", "--noise", "false:0.2", "--history", "1123 1b1w").stdout
    assert shown.splitlines()[-1].startswith("Guess ")
    assert "bits unknown" in shown
    assert "chance of being wrong" in shown
    assert not any(line.endswith(" ") for line in shown.splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pegs", "0"], ["pegs", "0"]),
        (["--pegs", "-4"], ["pegs", "-4"]),
        (["--colors", "1"], ["colors", "1"]),
        (["--no-repeats", "--colors", "3"], ["without repeats"]),
        (["--pegs", "100", "--colors", "10"], ["GB", "100x10"]),
        (["--history", "1127 1b1w"], ["1 to 6", "7"]),
        (["--history", "1120 1b1w"], ["1 to 6", "0"]),
        (["--history", "112 1b1w"], ["4 pegs", "3"]),
        (["--history", "1123 3b1w"], ["3b1w"]),
        (["--history", "1123 3b1w", "--noise", "false:0.2"], ["3b1w"]),
        (["--history", "1123 9b0w"], ["9b0w"]),
        (["--history", "1123 9b0w", "--noise", "independent:0.1"], ["9b0w"]),
        (["--history", "1123"], ["entry 1"]),
        (["--history", "1123 1b1w,, 2345 0b2w"], ["entry 2"]),
        (["--history", "1123 1b1w; what?"], ["what?"]),
        (["--noise", "false:1.5"], ["1.5"]),
        (["--noise", "false:-0.1"], ["-0.1"]),
        (["--noise", "independent:nan"], ["nan"]),
        (["--noise", "false:x"], ["x"]),
        (["--noise", "false"], ["false"]),
        (["--noise", "loud"], ["loud"]),
        (["--noise", "file:missing.csv"], ["missing.csv"]),
        (["--noise", "false:0.2", "--history", "1122 0b0w, 1122 4b0w"], ["1122 4b0w"]),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_bad_input(
    arguments: list[str],
    words: list[str],
    form: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line_error(run("suggest", *arguments, *form), *words)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_file_that_do_not_sum_to_one(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    path.write_text("true,reported,probability\n0b0w,0b0w,0.5\n")
    assert_one_line_error(run("suggest", "--noise", f"file:{path}"), "sum of 1", "0b0w", "0.5")


def test_another_strategy_proposes_the_guess() -> None:
    advice = run_json("suggest", "--strategy", "knuth")
    assert advice["guess"] == "1122"
    assert advice["information"] == pytest.approx(2.885, abs=1e-3)
    followed = run_json("suggest", "--strategy", "shapiro", "--history", "1122 0b1w")
    assert followed["guess"] == "2333"


def test_a_strategy_that_nobody_knows_is_refused() -> None:
    result = run("suggest", "--strategy", "knut")
    assert_one_line_error(result, "knut", "did you mean")


@pytest.mark.slow
def test_a_board_too_large_to_evaluate_is_answered_by_samples() -> None:
    said = run_json("suggest", "--pegs", "7", "--colors", "9", "--history", HARD, "--seed", "1")
    assert "too large to evaluate all guesses" in said["note"]
    assert said["information"] > 3


HARD = "1122334 2b1w, 2233415 0b3w"
