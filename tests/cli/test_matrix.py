"""Every command where something around it is broken: streams, disk, package, machine code.

Whatever happens, a command ends by itself, with an exit code that says how, at most one line
about an error, and never a traceback.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bnmind.adaptive import ItemBank, write_bank
from bnmind.cli.app import BROKEN_PIPE, GROUPS
from bnmind.cli.shared.terminal import COMPILING
from tests.command_line import ROOT
from tests.command_server import Case, CommandServer, Ended

SMALL = ("--pegs", "2", "--colors", "2")
BANK = str(ROOT / "models" / "banks" / "fractions.json")
ASIA = str(ROOT / "models" / "diagnosis" / "asia.xdsl")
MODEL = str(ROOT / "models" / "mastermind-3x4.bif")
WEATHER = ROOT / "tests" / "fuzz" / "seeds" / "dynamic" / "weather.json"

SHORT: Mapping[str, tuple[tuple[str, ...], str]] = {
    "play": (("play", *SMALL, "--seed", "1"), "11\n12\nq\n"),
    "assist": (("assist", *SMALL), "11\n1b0w\nq\n"),
    "suggest": (("suggest", *SMALL, "--history", "11 1b0w"), ""),
    "network": (("network", *SMALL, "--stage", "2", "--out", "stage.bif"), ""),
    "compare": (("compare", "knuth", "random", *SMALL, "--games", "3", "--out", "games"), ""),
    "strategy": (("strategy", "knuth", *SMALL, "--tree", "tree.json"), ""),
    "regret": (("regret", "11 1b0w, 12 2b0w", *SMALL), ""),
    "fit-weights": (("fit-weights", *SMALL, "--evaluations", "3", "--out", "weights.json"), ""),
    "fit-value": (("fit-value", *SMALL, "--games", "9", "--out", "value.json"), ""),
    "reproduce": (("reproduce", "snyder-table-1", "--quick", "--out", "figures"), ""),
    "run": (("run", "games.toml", "--out", "rows"), ""),
    "query": (
        (
            *("query", MODEL, "--evidence", "T1=1", "--targets", "P", "--svg", "P.svg"),
            *("--max-bytes", "1000"),
        ),
        "",
    ),
    "examples": (("examples", "banks", "--copy", "copies"), ""),
    "explain": (
        ("explain", ASIA, "--target", "lung", "--evidence", "xray=yes", "--svg", "w.svg"),
        "",
    ),
    "fit": (("fit", "coin.bif", "responses.csv", "--out", "fitted.bif"), ""),
    "ask": (("ask", ASIA, "--about", "lung", "--session", "lung.json"), "no\nq\n"),
    "predict": (("predict", MODEL, "cases.csv", "--targets", "P", "--out", "answers.csv"), ""),
    "track": (("track", "weather.json", "days.csv", "--out", "tracked.csv"), ""),
    "learn": (
        ("learn", "responses.csv", "--qmatrix", "q.csv", "--out", "bank.json", "--table", "t.csv"),
        "",
    ),
    "judge": (("judge", "responses.csv", "--qmatrix", "q.csv"), ""),
    "classify": (("classify", "three.json", "responses.csv", "--out", "people.csv"), ""),
    "calibrate": (
        ("calibrate", "three.json", "responses.csv", "--new", "c", "--out", "new.json"),
        "",
    ),
    "simulate": (
        *(("simulate", BANK, "--examinees", "3", "--stop", "items:2", "--out", "tests"),),
        "",
    ),
    "test": (("test", BANK, "--stop", "items:2", "--session", "ann.json"), "1\n0\nq\n"),
}
"""A short run of each command that writes whatever it can write, and what is typed."""

VERBS = [name for group in GROUPS.values() for name in group]
COMMANDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    **{name: SHORT.get(name, ((name, "--help"), "")) for name in VERBS},
    "--help": (("--help",), ""),
    "--version": (("--version",), ""),
}
"""A run of every command; one that is new at least says what it is for."""

FULL = Path("/dev/full")


def case_of(name: str, broken: Mapping[str, object]) -> Case:
    """Return the case of a command with something broken."""
    arguments, typed = COMMANDS[name]
    return Case(arguments, typed, **broken)  # type: ignore[arg-type]


def prepared(directory: Path) -> Path:
    """Return a directory with the files that commands read."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = ("1,1,0", "0,1,0", "1,0,1", "0,0,0", "1,1,1", "0,1,1")
    (directory / "responses.csv").write_text("a,b,c\n" + "\n".join(rows) + "\n")
    (directory / "games.toml").write_text(
        'kind = "games"\ngames = 4\nbatch_games = 2\nboard = "2x2"\nnoise = "exact"\n'
        'strategies = "knuth"\nturns = true\n'
    )
    (directory / "coin.bif").write_text(
        "network coin {}\nvariable a {type discrete [2] {0, 1};}\n"
        "probability (a) {table 0.5, 0.5;}\n"
    )
    (directory / "cases.csv").write_text("T1,P\n1,0\n,1\n")
    (directory / "weather.json").write_bytes(WEATHER.read_bytes())
    (directory / "days.csv").write_text("umbrella\nyes\n\nno\n")
    (directory / "q.csv").write_text("item,x,y\na,1,0\nb,0,1\nc,1,1\n")
    write_bank(ItemBank.from_qmatrix([[1], [1], [1]], items=list("abc")), directory / "three.json")
    return directory


def by_shell(case: Case, directory: Path) -> Ended:
    """Return how a command ends that a shell starts, as only a shell closes streams."""
    signs = ("<&-", ">&-", "2>&-")
    words = ['"$@"', *(signs[number] for number in case.closed)]
    if case.full is not None:
        words.append(f"{case.full}>{FULL}")
    if case.unread:
        words.append("| true; exit ${PIPESTATUS[0]}")
    if case.file_bytes is not None:
        words.insert(0, f"ulimit -f {case.file_bytes};")
    before = {path.name for path in directory.iterdir()}
    done = subprocess.run(
        [
            *("bash", "-c", " ".join(words), "bash"),
            *(sys.executable, "-m", "bnmind", *case.arguments),
        ],
        input=case.typed,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **case.environment},
        check=False,
    )
    new = {path.name for path in directory.iterdir()} - before
    return Ended(done.returncode, done.stdout, done.stderr, 0.0, tuple(sorted(new)))


@dataclass(frozen=True)
class Whole:
    """How a command ends when nothing is broken."""

    ended: Ended
    directory: Path
    """Where it ran, with the files that it read and wrote."""

    @property
    def writes(self) -> bool:
        """Whether it writes a file."""
        return bool(self.ended.files)


def assert_in_order(ended: Ended, *codes: int) -> None:
    """Assert one of the exit codes, no traceback, and one line about an error, if there is one."""
    both = ended.said + ended.complained
    for word in ("Traceback", "Exception ignored", "raise ", "Error:"):
        assert word not in both, both
    assert ended.code in codes, (ended.code, both)
    errors = [line for line in ended.complained.splitlines() if line.startswith("error: ")]
    assert len(errors) <= 1, both
    if ended.code == 2 and ended.complained:
        assert len(errors) == 1, both


def no_input(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 0)


def no_output(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 2)
    assert "standard output" in ended.complained


def no_errors(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 0)
    assert ended.said


def nothing(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 2)
    assert ended.files == ()


def no_reader(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, BROKEN_PIPE, 0)
    told = ended.complained.splitlines()
    assert not [line for line in told if not line.endswith((" …", COMPILING))]


def no_space(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 2 if whole.writes else 0)


def no_change(ended: Ended, whole: Whole) -> None:
    assert_in_order(ended, 0)
    assert ended.files == whole.ended.files


BROKEN: Mapping[str, tuple[Mapping[str, object], Callable[[Ended, Whole], None]]] = {
    "a closed standard input": ({"closed": (0,)}, no_input),
    "a closed standard output": ({"closed": (1,)}, no_output),
    "a closed error stream": ({"closed": (2,)}, no_errors),
    "no stream at all": ({"closed": (0, 1, 2)}, nothing),
    "a full standard output": ({"full": 1}, no_output),
    "a full error stream": ({"full": 2}, no_errors),
    "output that nobody reads": ({"unread": True}, no_reader),
    "a full disk": ({"file_bytes": 0}, no_space),
}
"""What is broken around a command, and how it then ends."""


def try_all(
    server: CommandServer,
    broken: Mapping[str, object],
    check: Callable[[Ended, Whole], None],
    wholes: Mapping[str, Whole],
    directory: Path,
) -> None:
    """Run every command with something broken, and fail with the names of those that go wrong."""
    wrong = []
    for name, whole in wholes.items():
        here = prepared(directory / name.strip("-"))
        ended = server.run(case_of(name, broken), here)
        try:
            check(ended, whole)
            left = [file for file in ended.files if file.startswith(".")]
            assert not left, left
            if "file_bytes" in broken:
                assert not [file for file in ended.files if (here / file).is_file()]
        except AssertionError as error:
            wrong.append(f"{name}: {error}\n{ended}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("kind", BROKEN)
def test_a_command_of_a_shell(kind: str, tmp_path: Path) -> None:
    broken, check = BROKEN[kind]
    arguments = ("query", MODEL, "--evidence", "T1=1", "--targets", "P", "--svg", "P.svg")
    ended = by_shell(Case(arguments, **broken), tmp_path)  # type: ignore[arg-type]
    check(ended, Whole(Ended(0, "", "", 0.0, ("P.svg",)), tmp_path))


@pytest.mark.slow
def test_nothing_is_broken(wholes: Mapping[str, Whole]) -> None:
    for whole in wholes.values():
        assert_in_order(whole.ended, 0)
        assert whole.ended.said
        assert "error" not in whole.ended.complained
    writers = {name for name, whole in wholes.items() if whole.writes}
    assert writers >= {
        "assist",
        "play",
        "network",
        "compare",
        "strategy",
        "fit-weights",
        "query",
        "explain",
        "learn",
        "fit",
    }
    assert writers >= {"simulate", "test", "reproduce", "run"}


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("kind", BROKEN)
def test_every_command(
    kind: str, server: CommandServer, wholes: Mapping[str, Whole], tmp_path: Path
) -> None:
    """All commands where files and pipes break, and a third of them where streams do, in turn."""
    broken, check = BROKEN[kind]
    if kind in ("a full disk", "output that nobody reads"):
        tried = dict(wholes)
    else:
        tried = dict(list(wholes.items())[list(BROKEN).index(kind) % 3 :: 3])
    try_all(server, broken, check, tried, tmp_path)


def _as_everybody_else() -> None:
    """Give up the privilege of the administrator to write where nobody may."""
    drop_from_bounding_set, capabilities = 24, (1, 2, 3)  # of <linux/capability.h>: DAC and owner
    for capability in capabilities:
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """Return a copy of the package, with a directory in it, in which nobody can write."""
    folder = tmp_path / "read_only"
    shutil.copytree(
        ROOT / "bnmind", folder / "bnmind", ignore=shutil.ignore_patterns("__pycache__")
    )
    prepared(folder / "here")
    everything = (folder, *folder.rglob("*"))
    for path in everything:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield folder
    for path in everything:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


@pytest.mark.slow
def test_a_package_a_home_and_a_directory_that_are_read_only(
    read_only: Path, wholes: Mapping[str, Whole]
) -> None:
    """As an administrator installs it, for a user without a home."""
    here = read_only / "here"
    writes = f"open({str(here / 'written')!r}, 'w')"
    trial = subprocess.run(
        [sys.executable, "-c", writes],
        preexec_fn=_as_everybody_else,
        capture_output=True,
        check=False,
    )
    assert b"PermissionError" in trial.stderr
    settings = {
        "HOME": str(here / "home"),
        "XDG_CACHE_HOME": str(here / "home"),
        "TMPDIR": str(here),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": "",
        "NUMBA_DISABLE_JIT": "1",  # tests/test_jit_cache.py compiles where nothing can be kept
    }
    with CommandServer(read_only, environment=settings, prepare=_as_everybody_else) as its_server:
        for name, whole in wholes.items():
            ended = its_server.run(case_of(name, {}), here)
            assert_in_order(ended, 2 if whole.writes else 0)
            assert ended.files == ()


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda code: code[: len(code) // 2],
    lambda code: code[:100] + bytes(len(code) - 100),
    lambda code: b"\x80\x05cos\nsystem\n",
    lambda code: b"",
    lambda code: code[:-1] + bytes([code[-1] ^ 1]),
)


@pytest.mark.slow
@pytest.mark.compiled
def test_machine_code_is_made_ahead_and_made_again_where_it_is_damaged(tmp_path: Path) -> None:
    """Every kernel is damaged, each in another way than the one before."""
    shutil.copytree(ROOT / "bnmind", tmp_path / "bnmind", ignore=shutil.ignore_patterns("*.bnk"))
    shutil.copytree(ROOT / "models", tmp_path / "models")
    settings = {"NUMBA_CACHE_DIR": "", "NUMBA_OPT": "0"}  # compiles faster
    # The example of one command; all take a minute or two.
    command = ("strategy", "irving")
    few = f"[run for run in warm_up.RUNS if run[1] == {command}]"
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            f"from bnmind.cli import main, warm_up; warm_up.RUNS = {few}; main()",
            *("warm-up", "--json"),
        ],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), **settings},
    )
    told = json.loads(done.stdout)
    assert not [one["error"] for one in told["runs"] if one["error"]]
    assert told["new"] == told["files"] > 3
    code = sorted(tmp_path.rglob("*.bnk"))
    with CommandServer(tmp_path, environment=settings) as its_server:
        whole = its_server.run(Case(command), tmp_path)
        assert_in_order(whole, 0)
        assert sorted(tmp_path.rglob("*.bnk")) == code
        for number, path in enumerate(code):
            path.write_bytes(DAMAGES[number % len(DAMAGES)](path.read_bytes()))
        again = its_server.run(Case(command), tmp_path)
        assert_in_order(again, 0)
        assert again.said == whole.said


@pytest.mark.slow
def test_a_file_in_place_of_the_settings_for_pictures(tmp_path: Path) -> None:
    (tmp_path / "no directory").touch()
    settings = {"MPLCONFIGDIR": str(tmp_path / "no directory")}
    ended = by_shell(case_of("simulate", {"environment": settings}), prepared(tmp_path / "here"))
    assert_in_order(ended, 0)
    assert len(ended.files) == 1
