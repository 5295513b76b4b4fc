"""``bnmind strategy`` and ``bnmind fit-weights``."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel
from bnmind.strategies import build_tree, read_tree, read_weights, strategy_by_name
from tests.command_line import assert_one_line_error, run, run_json

REFERENCE = published("mastermind_totals")


@pytest.mark.parametrize("name", [*REFERENCE["heuristics"], "weighted-entropy"])
def test_published_totals(name: str) -> None:
    answer = run_json("strategy", name)
    published = REFERENCE["heuristics"].get(name)
    if published is not None:
        assert answer["total"] == published["total"]
        assert tuple(answer["distribution"]) == published["distribution"]
    assert (answer["strategy"], answer["codes"], answer["games"]) == (name, 1296, None)
    assert answer["mean"] == answer["total"] / 1296 == answer["lengths"]["revealing"]
    assert answer["max"] == len(answer["distribution"])
    assert sum(answer["distribution"]) == 1296


def test_text() -> None:
    said = run("strategy", "knuth", "--max-guesses", "4").stdout.splitlines()
    assert said[0] == "knuth on 4x6: 5,801 guesses for 1,296 codes, mean 4.4761, at most 5"
    assert said[1] == "  1 guess            1"
    assert said[5] == "  5 guesses        694"
    assert said[6] == "Until one code is left: mean 3.7415 guesses (4.7415 nodes)."
    assert said[7] == "Found within 4 guesses: 602 (46.5 %)."


def test_options_change_the_strategy(tmp_path: Path) -> None:
    answer = run_json("strategy", "irving", "--first", "AABB", "--max-guesses", "5")
    assert answer["first"] == "1122"
    assert answer["found_within"] == sum(answer["distribution"][:5])
    consistent = run_json("strategy", "kooi", "--consistent", "--first", "1123")
    assert consistent["total"] >= 5660
    board = ("--pegs", "3", "--colors", "4", "--no-repeats")
    for ending in ("json", "txt", "dot", "svg"):
        path = tmp_path / f"tree.{ending}"
        told = run_json("strategy", "knuth", *board, "--tree", str(path))
        if ending in ("json", "txt"):
            assert read_tree(path).total == told["total"]
    assert path.read_text().startswith("<svg")
    own = build_tree(strategy_by_name("knuth"), Channel.exact(Board(3, 4, repeats=False)))
    assert told["total"] == own.total


def test_the_determining_game_is_over_when_the_code_is_known() -> None:
    published = REFERENCE["heuristics"]["neuwirth"]
    answer = run_json("strategy", "neuwirth", "--determining")
    assert (answer["goal"], answer["total"]) == ("determining", published["determining"])
    assert sum(answer["distribution"]) == 1296
    assert run_json("strategy", "neuwirth")["goal"] == "revealing"


def test_games_where_chance_has_a_say() -> None:
    options = ("--pegs", "3", "--colors", "4", "--games", "40", "--seed", "3")
    answer = run_json("strategy", "random", *options)
    assert answer == run_json("strategy", "random", *options)
    assert answer["games"] == sum(answer["distribution"]) == 40
    assert answer["codes"] == 64
    ties = run_json("strategy", "knuth", "--random-ties", *options)
    assert ties["games"] == 40
    played = run_json("strategy", "shapiro", "--first", "123", *options)
    assert played["games"] == 40
    first = run_json("strategy", "random", "--first", "112", *options)
    assert first["games"] == 40


def test_boards_too_large_to_list() -> None:
    board = ("--pegs", "10", "--colors", "12", "--games", "2", "--seed", "1")
    answer = run_json("strategy", "random", *board)
    assert answer["codes"] == 12**10
    assert answer["max"] < 20


def test_optimal_strategies_come_with_a_certificate(tmp_path: Path) -> None:
    answer = run_json("strategy", "optimal")
    assert (answer["total"], answer["codes"], answer["max"]) == (5625, 1296, 6)
    certificate = answer["certificate"]
    assert certificate["bound"] == 5625 == min(certificate["openings"].values())
    assert list(certificate["openings"]) == ["1111", "1112", "1122", "1123", "1234"]
    assert 0 < certificate["sets_searched"] < certificate["guesses_tried"]
    path = tmp_path / "optimal.json"
    board = ("--pegs", "3", "--colors", "4", "--no-repeats", "--tree", str(path))
    answer = run_json("strategy", "optimal-worst", *board)
    assert (answer["total"], answer["max"], read_tree(path).total) == (72, 4, 72)
    assert "certificate" not in run_json("strategy", "knuth", *board[:-2])
    said = run("strategy", "optimal", "--pegs", "2", "--colors", "3").stdout.splitlines()
    assert said[-5] == "Proven: no strategy by these rules takes fewer."
    assert said[-3:] == ["At least, by first guess:", "  11           23", "  12           21"]


@pytest.mark.parametrize(
    ("options", "total"),
    [
        (["--max-guesses", "5"], 5626),
        (["--consistent"], 5660),
        (["--consistent", "--first", "1122"], 5752),
        (["--consistent", "--first", "AABB", "--max-guesses", "6"], 5752),
        (["--first", "1122", "--max-guesses", "5"], 5702),
        (["--determining"], 4596),
    ],
)
def test_optimal_strategies_do_as_the_options_say(options: list[str], total: int) -> None:
    answer = run_json("strategy", "optimal", *options)
    assert answer["total"] == answer["certificate"]["bound"] == total
    if "--first" in options:
        assert list(answer["certificate"]["openings"]) == ["1122"] == [answer["first"]]
    if "--max-guesses" in options:
        assert answer["max"] <= answer["max_guesses"]
        assert answer["found_within"] == 1296


def test_optimal_strategies_play_games_too() -> None:
    board = ("--pegs", "3", "--colors", "4", "--games", "20")
    answer = run_json("strategy", "optimal", *board, "--first", "112")
    assert answer["games"] == 20
    assert "certificate" not in answer


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["optimal", "--max-guesses", "4"], ["at most 4 guesses on 4x6", "complete"]),
        (["optimal-worst", "--max-guesses", "4"], ["at most 4 guesses on 4x6", "complete"]),
        (["optimal", "--consistent", "--max-guesses", "5"], ["no strategy", "at most 5 guesses"]),
        (["optimal", "--random-ties"], ["--random-ties needs a strategy of one score", "optimal"]),
        (["optimal", "--first", "1127"], ["1127"]),
        (["optimal", "--pegs", "5", "--colors", "8"], ["8,192 codes", "32,768"]),
        (["optimal-worst", "--pegs", "10", "--colors", "12"], ["8,192 codes", "10x12"]),
        (["optimal", "--weights", "w.json"], ["weighted-entropy", "optimal"]),
        (["optimal", "--games", "2", "--determining", "--pegs", "2"], ["has a tree", "optimal"]),
        (["nobody"], ["strategy among", "'nobody'"]),
        (["entropy", "--consistent"], ["need a strategy of one score", "entropy"]),
        (["map", "--first", "1122"], ["need a strategy of one score", "map"]),
        (["knuth", "--first", "1127"], ["1127"]),
        (["knuth", "--tree", "tree.xml"], [".json, .txt, .dot", "tree.xml"]),
        (["random", "--games", "2", "--tree", "tree.json"], ["that has a tree", "random"]),
        (["random", "--determining", "--games", "2"], ["that has a tree", "random"]),
        (["knuth", "--weights", "w.json"], ["weighted-entropy", "knuth"]),
        (["weighted-entropy", "--weights", "none.json"], ["none.json"]),
        (["knuth", "--max-guesses", "0"], ["--max-guesses"]),
        (["random", "--games", str(10**30)], ["at most 1,000,000,000 games", "10^30"]),
        (["random", "--pegs", "10", "--colors", "12", "--games", str(10**30)], ["10^30"]),
        (["knuth", "--pegs", "10", "--colors", "12"], ["10x12"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str]) -> None:
    assert_one_line_error(run("strategy", *arguments), *words)


def test_weights_are_fitted_and_used(tmp_path: Path) -> None:
    path = str(tmp_path / "weights.json")
    board = ("--pegs", "3", "--colors", "5")
    fitted = run_json("fit-weights", *board, "--evaluations", "30", "--seed", "2", "--out", path)
    assert fitted["total"] <= fitted["start"]
    assert read_weights(Path(path)).weights == tuple(map(tuple, fitted["weights"]))
    used = run_json("strategy", "weighted-entropy", *board, "--weights", path)
    assert used["total"] == fitted["total"]
    said = run(
        *("fit-weights", *board, "--turns", "2", "--start", path, "--evaluations", "1"),
        *("--out", path),
    )
    assert said.stdout.startswith(f"{fitted['total']:,} guesses in all, from")
    assert_one_line_error(run("fit-weights"), "--out")
    many = run("fit-weights", *board, "--turns", str(10**30), "--out", path)
    assert_one_line_error(many, "at most 200 turns", "10^30")


def test_numbers_beyond_64_bits_count_like_others() -> None:
    board = ("--pegs", "2", "--colors", "3")
    few = run_json("strategy", "knuth", *board, "--max-guesses", "4")
    many = run_json("strategy", "knuth", *board, "--max-guesses", str(10**30))
    assert many == few | {"max_guesses": 10**30}
    assert run_json("strategy", "random", *board, "--games", "3", "--seed", str(10**30))


def test_compare_takes_every_name(tmp_path: Path) -> None:
    names = ["irving", "neuwirth", "larmouth", "kooi", "maxmin", "weighted-entropy", "shapiro"]
    names += ["optimal", "optimal-worst"]
    board = ("--pegs", "3", "--colors", "4", "--noise", "false:0.1", "--games", "10")
    answer = run_json("compare", *names, *board, "--out", str(tmp_path / "out"))
    assert [row["strategy"] for row in answer["strategies"]] == names


def test_the_exact_mean_of_random_choices() -> None:
    board = ("--pegs", "2", "--colors", "3")
    said = run("strategy", "random", *board, "--exact").stdout.splitlines()
    assert said[0] == (
        "random on 2x3: mean 2.4815 guesses over all codes and all random choices, at most 4"
    )
    assert said[1:] == [
        "  1 guess            1.00",
        "  2 guesses          3.33",
        "  3 guesses          4.00",
        "  4 guesses          0.67",
    ]
    options = ("--first", "11", "--consistent", "--random-ties", "--exact")
    answer = run_json("strategy", "kooi", *board, *options)
    assert answer["mean"] == pytest.approx(
        sum(guess * codes / 9 for guess, codes in enumerate(answer["distribution"], start=1))
    )
    assert_one_line_error(run("strategy", "knuth", "--exact"), "at random among the best possible")
    assert_one_line_error(run("strategy", "random", "--exact", "--games", "3"), "--games")
    large = run("strategy", "random", "--pegs", "5", "--colors", "8", "--exact")
    assert_one_line_error(large, "at most 2,401 codes")
