"""``bnmind regret``."""

from __future__ import annotations

import pytest

from bnmind.mastermind import Board, parse_history
from bnmind.strategies import ExpectedSize, exact_regrets, regrets
from tests.command_line import assert_one_line_error, run, run_json

GAME = "1122 0b1w, 3456 1b1w, 3344 0b0w"
CLASSIC = Board(4, 6)


def test_guesses_are_judged_by_the_optimum() -> None:
    answer = run_json("regret", GAME)
    told = exact_regrets(CLASSIC, parse_history(CLASSIC, GAME))
    assert answer["board"] == "4x6"
    assert {row["by"] for row in answer["guesses"]} == {"optimal"}
    assert [row["guess"] for row in answer["guesses"]] == ["1122", "3456", "3344"]
    assert [row["reply"] for row in answer["guesses"]] == ["0b1w", "1b1w", "0b0w"]
    assert [row["regret"] for row in answer["guesses"]] == [row.regret for row in told]
    assert answer["guesses"][0]["best_value"] == 5625 / 1296
    said = run("regret", "11 0b0w, 22 0b0w", "--pegs", "2", "--colors", "3").stdout.splitlines()
    assert said[1].split() == ["11", "0b0w", "9", "optimal", "2.667", "12", "2.333", "0.333"]
    assert said[-1] == "Lost against optimal guesses: 0.333 guesses."


def test_guesses_are_judged_by_a_score() -> None:
    answer = run_json("regret", GAME, "--by", "irving")
    told = regrets(CLASSIC, parse_history(CLASSIC, GAME), ExpectedSize())
    assert {row["by"] for row in answer["guesses"]} == {"irving"}
    assert [row["value"] for row in answer["guesses"]] == [row.value for row in told]


def test_a_score_replaces_an_unreachable_optimum() -> None:
    game = "11234 1b1w, 15626 1b2w, 15267 1b1w, 51716 1b2w, 11111 2b0w"
    answer = run_json("regret", game, "--pegs", "5", "--colors", "8")["guesses"]
    assert [row["by"] for row in answer] == ["neuwirth"] * 3 + ["optimal"] * 2
    assert answer[2]["possible_codes"] > 64 >= answer[3]["possible_codes"]
    assert answer[-1]["regret"] > 0
    said = run("regret", "12345 1b1w", "--pegs", "5", "--colors", "8").stdout.splitlines()
    assert len(said) == 2
    assert "neuwirth" in said[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([""], ["at least one guess"]),
        (["1122 1b0w", "--by", "random"], ["one score as the measure", "random"]),
        (["1122 1b0w", "--by", "nobody"], ["strategy among", "nobody"]),
        (["1122 1b0w, 1122 2b0w, 1234 0b0w"], ["no code agrees", "1122 1b0w, 1122 2b0w"]),
        (["12345 1b1w", "--pegs", "5", "--colors", "8", "--by", "optimal"], ["8,192 codes"]),
        (["1127 1b0w"], ["1127"]),
        (["1111 0b0w, 1111 4b0w"], ["no code agrees", "1111 0b0w, 1111 4b0w"]),
        (["1122 3b1w"], ["no code agrees", "1122 3b1w"]),
        (["1111 0b0w, 1111 4b0w", "--by", "irving"], ["no code agrees"]),
        (["1122 4b0w, 1122 4b0w"], ["entry 1 of the history, 1122 4b0w, ends the game"]),
        (["aabbccddee 1b1w", "--pegs", "10", "--colors", "12"], ["codes for a belief"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str]) -> None:
    assert_one_line_error(run("regret", *arguments), *words)
