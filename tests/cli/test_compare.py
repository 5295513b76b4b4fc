"""``bnmind compare``: what it prints and writes, and what is left when it fails: nothing."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

from bnmind.cli.mastermind.compare import DEFAULT_STRATEGIES
from tests.command_line import assert_one_line_error, cold, run, run_json

COLUMNS = ["board", "channel", "strategy", "game", "seed", "secret", "guesses", "won", "seconds"]
COLUMNS += ["codes_examined", "assumed", "prior", "assumed_prior", "ending", "max_guesses", "match"]
SMALL = ("--pegs", "2", "--colors", "3")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_summary_is_that_of_the_rows(tmp_path: Path) -> None:
    summary = run_json("compare", "entropy", "map", *SMALL, "--games", "20", "--out", "out")
    rows = _rows(tmp_path / "out" / "games.csv")
    assert list(rows[0]) == COLUMNS
    assert len(rows) == 40
    assert (summary["board"], summary["channel"], summary["games"]) == ("2x3", "false:0.2", 20)
    assert (summary["seed"], summary["max_guesses"]) == (0, 100)
    for one in summary["strategies"]:
        guesses = [int(row["guesses"]) for row in rows if row["strategy"] == one["strategy"]]
        assert one["games"] == len(guesses) == 20
        assert one["mean"] == statistics.fmean(guesses)
        assert one["sd"] == pytest.approx(statistics.stdev(guesses), rel=1e-12)
        assert one["standard_error"] == pytest.approx(one["sd"] / 20**0.5, rel=1e-12)
        assert one["worst"] == max(guesses)
        assert one["within_ten"] == sum(g <= 10 for g in guesses) / 20
        assert one["seconds_per_game"] >= 0
    assert (tmp_path / "out" / "game-lengths.png").read_bytes().startswith(b"\x89PNG")
    assert summary["files"] == [
        str(Path("out", name)) for name in ("games.csv", "game-lengths.png")
    ]


def test_strategies_get_the_same_secrets_and_seeds_repeat(tmp_path: Path) -> None:
    arguments = ("compare", "map", "random", *SMALL, "--games", "10")
    run_json(*arguments, "--seed", "5", "--out", "a")
    run_json(*arguments, "--seed", "5", "--out", "b")
    run_json(*arguments, "--seed", "6", "--out", "c")
    tables = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in _rows(Path(name, "games.csv"))]
        for name in "abc"
    ]
    assert tables[0] == tables[1] != tables[2]
    secrets = {
        name: [row["secret"] for row in tables[0] if row["strategy"] == name]
        for name in ("map", "random")
    }
    assert secrets["map"] == secrets["random"]


def test_table_names_all_strategies_and_states_the_cap() -> None:
    result = run("compare", *SMALL, "--games", "3", "--max-guesses", "50", "--seed", "2")
    assert result.exit_code == 0
    assert result.stderr == ""  # no progress bar where there is no terminal
    lines = result.stdout.splitlines()
    header = next(line for line in lines if "strategy" in line)
    assert header.split("  ")[1].strip() == "strategy"
    assert all(word in header for word in ("games", "mean", "std error", "sd", "worst"))
    assert all(word in header for word in ("within 10", "seconds"))
    shown = [line.split()[0] for line in lines if line.startswith("  ")][1:]
    assert shown == list(DEFAULT_STRATEGIES)
    assert "At most 50 guesses a game" in result.stdout
    assert sorted(path.name for path in Path("results").iterdir()) == [
        "game-lengths.png",
        "games.csv",
    ]


def test_all_codes_once() -> None:
    run_json("compare", "knuth", *SMALL, "--noise", "exact", "--games", "all")
    rows = _rows(Path("results", "games.csv"))
    assert [row["secret"] for row in rows] == [f"{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3)]
    assert {row["won"] for row in rows} == {"True"}


def test_lost_games_count_as_the_cap() -> None:
    arguments = ("compare", "random", *SMALL, "--games", "9", "--max-guesses", "1")
    one = run_json(*arguments)["strategies"][0]
    assert one["mean"] == one["worst"] == 1
    assert one["won"] < 1
    assert "random lost" in run(*arguments).stdout


def test_one_game_has_no_standard_error() -> None:
    arguments = ("compare", "map", *SMALL, "--games", "1")
    assert run_json(*arguments)["strategies"][0]["standard_error"] is None
    assert " - " in run(*arguments).stdout


def test_strategies_may_assume_another_noise() -> None:
    summary = run_json("compare", "map", *SMALL, "--games", "2", "--assume", "false:0.4")
    assert (summary["channel"], summary["assumed"]) == ("false:0.2", "false:0.4")


def test_a_strategy_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "lazy_player.py").write_text(
        "from dataclasses import dataclass, field\n"
        "from bnmind.strategies import MapCode\n"
        "def make():\n"
        "    return MapCode(name='lazy')\n"
    )
    result = cold(
        *("compare", "lazy_player:make", *SMALL, "--games", "2", "--json"), directory=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert '"strategy": "lazy"' in result.stdout
    assert result.stderr == ""


def test_a_strategy_of_the_users_own_that_fails(tmp_path: Path) -> None:
    (tmp_path / "broken_player.py").write_text(
        "from bnmind.strategies import MapCode\n"
        "class Broken(MapCode):\n"
        "    def choose(self, belief, rng, situation=None):\n"
        "        raise KeyError('no idea')\n"
    )
    result = cold("compare", "broken_player:Broken", *SMALL, "--games", "2", directory=tmp_path)
    assert_one_line_error(result, "broken_player:Broken", "KeyError", "no idea")
    assert not (tmp_path / "results").exists()


def test_a_strategy_of_the_users_own_with_too_few_parameters(tmp_path: Path) -> None:
    (tmp_path / "short_player.py").write_text(
        "from bnmind.strategies import MapCode\n"
        "class Short(MapCode):\n"
        "    def choose(self, belief, rng):\n"
        "        return super().choose(belief, rng)\n"
    )
    result = cold("compare", "short_player:Short", *SMALL, "--games", "2", directory=tmp_path)
    assert_one_line_error(result, "expected choose(belief, rng, situation)", "choose(belief, rng)")


INTERRUPTING = """
from _thread import interrupt_main
from time import sleep
from bnmind.strategies import MapCode

class Interrupting(MapCode):
    def start(self, channel, prior=None):
        self.__dict__["games"] = self.__dict__.get("games", 0) + 1
        if self.games > {games}:
            interrupt_main()
            sleep(60)
        return super().start(channel, prior)
"""


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interrupt_keeps_the_games_that_all_have_played(tmp_path: Path, form: list[str]) -> None:
    (tmp_path / "interrupting_after_3.py").write_text(INTERRUPTING.format(games=3))
    arguments = ("compare", "knuth", "interrupting_after_3:Interrupting", *SMALL, "--games", "9")
    result = run(*arguments, *form)
    assert result.exit_code == 130
    assert result.stderr == "interrupted after 3 of 9 games, which are kept\n"
    rows = _rows(Path("results", "games.csv"))
    assert [row["strategy"] for row in rows] == ["knuth", "map"] * 3
    whole = run_json("compare", "knuth", "map", *SMALL, "--games", "9", "--out", "whole")
    assert whole["games"] == 9
    kept = [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
    played = [
        {k: v for k, v in r.items() if k != "seconds"} for r in _rows(Path("whole/games.csv"))
    ]
    assert kept == played[:6]
    if form:
        assert json.loads(result.stdout)["games"] == 3


def test_an_interrupt_before_a_game_of_all_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "interrupting_at_once.py").write_text(INTERRUPTING.format(games=0))
    result = run("compare", "knuth", "interrupting_at_once:Interrupting", *SMALL, "--games", "9")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")
    assert not Path("results").exists()


def test_equal_strategies_under_two_names_are_reported() -> None:
    twins = ("compare", "map", "random", *SMALL, "--games", "3")
    said = "map and random play the same games here: under "
    assert f"{said}false:0.2 the" in run(*twins).stdout
    assert f"{said}exact the" in run(*twins, "--noise", "exact").stdout
    assert said not in run(*twins, "--noise", "independent:0.1").stdout
    assert said not in run(*twins, "--noise", "false:1").stdout
    assert said not in run("compare", "map", *SMALL, "--games", "3").stdout
    assert not {"map", "random"} <= set(DEFAULT_STRATEGIES)


@pytest.mark.parametrize(
    ("arguments", "player"),
    [
        (["--noise", "false:0.2"], "lookahead2"),
        (["--noise", "exact"], "optimal"),
        (["--noise", "exact", "--prior", "only-once"], "entropy"),
        (["--noise", "exact", "--prior", "only-once", "--assume-prior", "uniform"], "optimal"),
    ],
)
def test_the_strategy_that_best_follows_is_named(arguments: list[str], player: str) -> None:
    result = run("compare", "best", "map", *SMALL, "--games", "2", *arguments)
    assert f"best plays as {player} here.\n" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["nonsense", "entropy"]),
        (["no_such_module:Strategy"], ["no_such_module"]),
        (["bnmind.errors:BnmindError"], ["BnmindError"]),
        (["map", "map"], ["map, map"]),
        (["--games", "0"], ["0"]),
        (["--games", "-3"], ["-3"]),
        (["--games", "many"], ["many", "all"]),
        (["--max-guesses", "0"], ["0"]),
        (["--max-guesses", str(10**30)], ["at most 1,000,000 guesses", "10^30"]),
        (["--games", str(10**30)], ["would have about 10^30; play fewer"]),
        (["--noise", "false:7"], ["7"]),
        (["--pegs", "0"], ["pegs"]),
        (["--assume", "loud"], ["loud"]),
        (["--noise", "independent:0.1", "--assume", "false:0.2"], ["independent:0.1", "false:0.2"]),
        (["--pegs", "30", "--colors", "30"], ["GB"]),
        (["--pegs", "30", "--colors", "30", "--games", "all"], ["would have"]),
        (["--games", "1000000000000"], ["would have 4,000,000,000,000; play fewer games"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    assert_one_line_error(run("compare", *arguments, "--json"), *words)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    assert_one_line_error(run("compare", *SMALL, "--games", "1"), "results")
    assert (tmp_path / "results").read_text() == "mine"
    assert_one_line_error(run("compare", *SMALL, "--games", "1", "--out", "results/in"), "results")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
