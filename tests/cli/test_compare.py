"""``bnmind compare``: what it prints and writes, and what is left when it fails: nothing."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

from bnmind.cli.experiments import DEFAULT_STRATEGIES
from bnmind.cli.mastermind.setting import UNIFORM
from bnmind.lab import paired_differences
from bnmind.mastermind import Board, UniformPrior
from tests.command_line import assert_one_line_error, cold, run, run_json

COLUMNS = ["board", "channel", "strategy", "game", "seed", "secret", "guesses", "won", "seconds"]
COLUMNS += ["codes_examined", "assumed", "prior", "assumed_prior", "ending", "max_guesses", "match"]
SMALL = ("--pegs", "2", "--colors", "3")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if request.function is not test_plots_are_written:
        # Drawing takes longer than everything else here.
        monkeypatch.setattr("bnmind.lab.mastermind.compare.png", lambda figure: b"")


def test_plots_are_written(tmp_path: Path) -> None:
    arguments = ("compare", "entropy", "map", *SMALL, "--games", "20", "--out", "out", "--svg")
    kinds = ("game-lengths.png", "differences.png", "game-lengths.svg", "differences.svg")
    names = ("games.csv", *kinds)
    assert run_json(*arguments)["files"] == [str(Path("out", name)) for name in names]
    for name in names[1:3]:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    for name in names[3:]:
        assert "<svg" in (tmp_path / "out" / name).read_text(encoding="utf-8")
    run_json("compare", "map", *SMALL, "--games", "2", "--out", "alone")
    assert sorted(path.name for path in Path("alone").iterdir()) == [
        "game-lengths.png",
        "games.csv",
    ]


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
    assert shown[:4] == list(DEFAULT_STRATEGIES)
    assert "No game was lost; the limit is 50 guesses." in result.stdout
    assert sorted(path.name for path in Path("results").iterdir()) == [
        "differences.png",
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
    assert "Lost games count as the limit of 1 guess: random lost" in run(*arguments).stdout


def test_a_comparison_that_replaces_another_says_so(tmp_path: Path) -> None:
    options = ("compare", "shapiro", "--pegs", "2", "--colors", "2", "--out", str(tmp_path))
    said = [run(*options, "--games", games).stdout for games in ("3", "3", "2")]
    assert ["They replace another comparison" in one for one in said] == [False, False, True]


def test_one_game_has_no_standard_error() -> None:
    arguments = ("compare", "map", *SMALL, "--games", "1")
    assert run_json(*arguments)["strategies"][0]["standard_error"] is None
    assert " - " in run(*arguments).stdout


def test_strategies_may_assume_another_noise() -> None:
    options = ("compare", "map", *SMALL, "--games", "2", "--assume", "false:0.4")
    summary = run_json(*options)
    assert (summary["channel"], summary["assumed"]) == ("false:0.2", "false:0.4")
    shown = " ".join(run(*options).stdout.split())
    assert (
        "one (false:0.2). The strategies assume that with probability 0.4, a random reply" in shown
    )


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


@pytest.mark.slow
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


@pytest.mark.parametrize("form", [[], ["--json"], ["--until", "0.01"]])
def test_an_interrupt_keeps_the_games_that_all_have_played(tmp_path: Path, form: list[str]) -> None:
    (tmp_path / "interrupting_after_3.py").write_text(INTERRUPTING.format(games=3))
    arguments = ("compare", "knuth", "interrupting_after_3:Interrupting", *SMALL, "--games", "9")
    result = run(*arguments, *form)
    assert result.exit_code == 130
    assert result.stderr == "interrupted after 3 of 9 games; their rows are in results\n"
    rows = _rows(Path("results", "games.csv"))
    assert [row["strategy"] for row in rows] == ["knuth", "map"] * 3
    whole = run_json("compare", "knuth", "map", *SMALL, "--games", "9", "--out", "whole")
    assert whole["games"] == 9
    kept = [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
    played = [
        {k: v for k, v in r.items() if k != "seconds"} for r in _rows(Path("whole/games.csv"))
    ]
    assert kept == played[:6]
    if form == ["--json"]:
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


def test_differences_are_those_of_the_same_games(tmp_path: Path) -> None:
    arguments = (
        "compare",
        "shapiro",
        "entropy",
        "map",
        "--pegs",
        "3",
        "--colors",
        "4",
        "--games",
        "60",
    )
    told = run_json(*arguments, "--out", "out")
    rows = _rows(tmp_path / "out" / "games.csv")
    names = ("shapiro", "entropy", "map")
    guesses = {n: [int(r["guesses"]) for r in rows if r["strategy"] == n] for n in names}
    found = paired_differences(guesses)
    assert told["differences"]["guesses"] == {
        "confidence": 0.95,
        "interval": "Student's t",
        "pairs": [pair.to_dict() for pair in found.pairs],
    }
    assert told["groups"] == [list(group) for group in found.groups]
    assert (told["match"], told["until"], told["reached"]) == (1, None, None)
    best, _, worst = found.ranking
    assert found.between(best, worst).can_be_told
    lines = [line.split() for line in run(*arguments).stdout.splitlines()]
    pair = found.between(worst, best)
    shown = f"{best} {worst} {pair.mean:.3f} {pair.low:.3f} to {pair.high:.3f} yes"
    assert shown.split() in lines
    assert [best, "needs", "fewer", "guesses", "than"] in [line[:5] for line in lines]


def test_a_pair_that_cannot_be_told_apart_says_so() -> None:
    said = run("compare", "entropy", "knuth", *SMALL, "--games", "30").stdout
    assert "not yet" in said
    assert "It is not clear yet whether " in said
    assert run("compare", "map", "random", *SMALL, "--games", "9").stdout.count("equal in all") == 2


def test_no_name_is_cut_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    names = ("metropolis-hastings", "random-consistent")
    said = run("compare", *names, *SMALL, "--games", "3").stdout
    assert "…" not in said
    assert all(said.count(name) >= 3 for name in names)


def test_many_strategies_are_shown_against_the_best() -> None:
    names = ("entropy", "map", "kooi", "knuth", "irving", "neuwirth")
    lines = run("compare", *names, *SMALL, "--games", "5").stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Differences on"))
    rows = [line.split() for line in lines[start + 2 : start + 7]]
    assert len({row[0] for row in rows}) == 1
    assert {row[0] for row in rows} | {row[1] for row in rows} == set(names)


def test_other_endings_compare_the_right_codes_too() -> None:
    arguments = (
        "compare",
        "entropy",
        "map",
        *SMALL,
        "--games",
        "40",
        "--ending",
        "limit",
        "--max-guesses",
        "3",
    )
    told = run_json(*arguments)["differences"]
    assert list(told) == ["guesses", "won"]
    (pair,) = told["won"]["pairs"]
    shares = {s["strategy"]: s["won"] for s in run_json(*arguments)["strategies"]}
    assert pair["mean"] == pytest.approx(shares[pair["first"]] - shares[pair["second"]])
    assert "in percentage points" in run(*arguments).stdout


def test_all_codes_without_noise_have_exact_differences() -> None:
    arguments = ("compare", "entropy", "shapiro", *SMALL, "--noise", "exact", "--games", "all")
    said = run(*arguments).stdout
    assert "Exact differences over all codes" in said
    assert "interval" not in said
    assert "test" not in said
    (pair,) = run_json(*arguments)["differences"]["guesses"]["pairs"]
    assert pair["low"] == pair["high"] == pair["mean"]
    assert pair["p_value"] is None


def test_games_until_the_better_one_can_be_told(tmp_path: Path) -> None:
    arguments = ("compare", "shapiro", "entropy", "--pegs", "2", "--colors", "5", "--games", "900")
    told = run_json(*arguments, "--until", "told", "--out", "some")
    assert (told["until"], told["reached"]) == ("told", True)
    assert 100 <= told["games"] < 900
    found = told["differences"]["guesses"]
    assert found["interval"] == "confidence sequence"
    assert found["pairs"][0]["can_be_told"]
    # They are the first games of those that would be played without the option.
    run_json(*arguments[:-1], str(told["games"]), "--out", "all")
    first, same = (
        [row["guesses"] for row in _rows(tmp_path / name / "games.csv")] for name in ("some", "all")
    )
    assert first == same


def test_games_until_the_intervals_are_narrow() -> None:
    arguments = ("compare", "shapiro", "map", "--pegs", "2", "--colors", "5", "--games", "300")
    result = run(*arguments, "--until", "0.6")
    assert " of at most 300 games, every difference is known to within ±0.6 guesses." in (
        result.stdout
    )
    assert "Signed-rank" not in result.stdout  # which is for a number of games chosen in advance
    result = run(*arguments, "--until", "0.001")
    assert result.exit_code == 0
    assert "After 300 of at most 300 games, not every difference is known" in result.stdout
    result = run(*arguments[:-1], "101", "--until", "told")
    assert "After 101 of at most 101 games, not every pair can be told apart." in result.stdout


def test_a_match_in_which_nothing_is_learned_is_reported() -> None:
    arguments = ("compare", "knuth", *SMALL, "--games", "4", "--match", "2")
    said = "Matches of 2 games change nothing: the assumed prior"
    assert f"{said} uniform does not learn." in run(*arguments).stdout
    assert f"{said} uniform does" in run(*arguments, "--assume-prior", "uniform").stdout
    assert said not in run(*arguments, "--assume-prior", "learned-colors").stdout
    assert run_json(*arguments)["match"] == 2
    assert "matches of 2 games" in run(*arguments).stdout


def test_the_uniform_prior_has_one_name() -> None:
    assert UniformPrior(Board(2, 3)).name == UNIFORM


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
        (["knuth", "--until", "told"], ["at least two strategies"]),
        (["--until", "0"], ["margin to be a finite number above 0"]),
        (["--until", "soon"], ["a number of guesses or told", "soon"]),
        (["--until", "told", "--games", "all"], ["codes in order are no random sample"]),
        (["nonsense"], ["nonsense", "entropy"]),
        (["no_such_module:Strategy"], ["no_such_module"]),
        (["eda:3"], ["the strategy eda takes no argument", "eda:3"]),
        (["bnmind.errors:BnmindError"], ["BnmindError"]),
        (["map", "map"], ["map, map"]),
        (["--games", "0"], ["0"]),
        (["--games", "-3"], ["-3"]),
        (["--games", "many"], ["many", "all"]),
        (["--max-guesses", "0"], ["0"]),
        (
            ["--max-guesses", str(10**30)],
            ["limit to be a whole number from 1 to 1,000,000, got 1000"],
        ),
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


FAILING_AFTER = """
from bnmind.strategies import MapCode

class Failing(MapCode):
    def start(self, channel, prior=None):
        from pathlib import Path
        if Path("fail").exists() and len(list(Path().rglob("part-*.parquet"))) == 2:
            raise RuntimeError("killed")
        return super().start(channel, prior)
"""


@pytest.mark.parametrize(
    "more", [[], pytest.param(["--until", "0.01"], marks=pytest.mark.slow)], ids=["all", "until"]
)
def test_a_comparison_goes_on_from_its_last_batch(tmp_path: Path, more: list[str]) -> None:
    module = f"failing_{len(more)}"
    (tmp_path / f"{module}.py").write_text(FAILING_AFTER)
    (tmp_path / "fail").touch()
    arguments = ("compare", "knuth", f"{module}:Failing", *SMALL, "--games", "330", *more)
    assert_one_line_error(run(*arguments), "RuntimeError: killed")
    assert [path.name for path in Path("results").iterdir()] == [
        path.name for path in Path("results").glob("unfinished-*")
    ]
    kept = sorted(Path("results").rglob("part-*.parquet"))
    before = [path.read_bytes() for path in kept]
    (tmp_path / "fail").unlink()
    assert len(before) == 2
    # The kept games are read rather than played.
    told = run_json(*arguments)
    assert told["kept"] == 200
    whole = run_json("compare", "knuth", "map", *SMALL, "--games", "330", *more, "--out", "whole")
    assert told["strategies"][0]["mean"] == whole["strategies"][0]["mean"]
    assert told["games"] == whole["games"]
    for name in ("results", "whole"):
        assert sorted(path.name for path in Path(name).iterdir()) == [
            "differences.png",
            "game-lengths.png",
            "games.csv",
        ]
    tables = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in _rows(Path(name, "games.csv"))]
        for name in ("results", "whole")
    ]
    assert tables[0] == tables[1]


def test_games_of_edited_strategies_are_not_mixed(tmp_path: Path) -> None:
    source = tmp_path / "failing_helper.py"
    source.write_text(FAILING_AFTER)
    (tmp_path / "failing_edited.py").write_text("from failing_helper import Failing\n")
    (tmp_path / "fail").touch()
    arguments = ("compare", "knuth", "failing_edited:Failing", *SMALL, "--games", "330")
    assert_one_line_error(run(*arguments), "RuntimeError: killed")
    (tmp_path / "fail").unlink()
    source.write_text(FAILING_AFTER + "# edited\n")
    again = run(*arguments)
    assert_one_line_error(again, "holds rows of failing_edited:Failing with other source code")
    assert "undo the change to go on" in again.stderr
    assert "name another one to begin anew" in again.stderr
    anew = run(*arguments, "--out", "anew")
    assert anew.exit_code == 0
    assert "kept" not in anew.stdout
    source.write_text(FAILING_AFTER)
    assert run(*arguments).stdout.startswith("200 games kept from an earlier run\n")


def test_a_shorter_run_leaves_the_games_that_a_longer_one_kept(tmp_path: Path) -> None:
    (tmp_path / "failing_longer.py").write_text(FAILING_AFTER)
    (tmp_path / "fail").touch()
    arguments = ("compare", "knuth", "failing_longer:Failing", *SMALL, "--games", "330")
    assert_one_line_error(run(*arguments), "RuntimeError: killed")
    (tmp_path / "fail").unlink()
    assert run_json(*arguments, "--until", "3")["games"] < 330
    assert len(list(Path("results").rglob("part-*.parquet"))) == 2
    assert run_json(*arguments)["games"] == 330
    assert not list(Path("results").glob("*unfinished-*"))


def test_a_rule_that_ends_a_resumed_run_leaves_no_kept_games(tmp_path: Path) -> None:
    (tmp_path / "failing_until.py").write_text(FAILING_AFTER)
    (tmp_path / "fail").touch()
    arguments = ("compare", "knuth", "failing_until:Failing", *SMALL, "--games", "330", "--until")
    assert_one_line_error(run(*arguments, "0.01"), "RuntimeError: killed")
    assert len(list(Path("results").rglob("part-*.parquet"))) == 2
    (tmp_path / "fail").unlink()
    assert run_json(*arguments, "3")["games"] < 330
    assert not list(Path("results").glob("*unfinished-*"))


@pytest.mark.slow
def test_workers_change_no_row(tmp_path: Path) -> None:
    (tmp_path / "own_module.py").write_text(
        "from bnmind.strategies import MapCode\nclass Own(MapCode):\n    pass\n"
    )
    arguments = ("compare", "knuth", "own_module:Own", *SMALL, "--games", "220")
    run_json(*arguments, "--workers", "2", "--out", "two")
    run_json(*arguments, "--out", "one")
    tables = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in _rows(Path(name, "games.csv"))]
        for name in ("one", "two")
    ]
    assert tables[0] == tables[1]
