"""``bnmind warm-up``: compile ahead what commands need, once per machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from bnmind._files import check_writable_directory
from bnmind._messages import counted
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import EXIT_CODE, Report, say, tell, tell_record, working
from bnmind.errors import BnmindError

_LARGE = "relational_03_08_03.uai"

RUNS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("comparisons of strategies", ("compare", "entropy", "map", "knuth", "--games", "50")),
    # Scores of guesses are compiled one by one.
    *((f"the strategy {name}", ("strategy", name)) for name in ("neuwirth", "irving", "kooi")),
    ("optimal strategies", ("strategy", "optimal", "--pegs", "3", "--colors", "5")),
    (
        "large networks",
        (
            *("query", f"models/{_LARGE}.gz", "--evidence-file", f"models/{_LARGE}.evid.gz"),
            *("--task", "MAR", "--out", "answers.MAR"),
        ),
    ),
)
"""A small example of each kind of command, which compiles what the kind needs."""


def warm_up(*, as_json: command.Json = False) -> None:
    """Compile ahead what commands need, once per machine.

    bnmind compiles parts of itself to machine code when they are first used, and keeps the code on
    disk. A first command may wait for this some seconds, or a minute. This command does it now: it
    runs a small example of commands that compile much, and throws away what they print. Do it
    after an installation, before a class begins, or while an image of a container is built.

    The code is kept beside bnmind, or in the user's cache directory where bnmind cannot be
    written. NUMBA_CACHE_DIR names another directory. Users who may only read these directories use
    the code, too. If code cannot be saved, the command says why, and exits with 2. After an update
    of bnmind, NumPy or numba, do it again.

    Examples
    --------
    bnmind warm-up
    NUMBA_CACHE_DIR=/srv/cache bnmind warm-up --json
    """
    from bnmind._jit import NO_DIRECTORY, cached_code

    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen and not os.path.isdir(chosen):
        check_writable_directory(chosen)
    folders, before = cached_code()
    if not folders:
        raise BnmindError(NO_DIRECTORY)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        runs = working("compiling, once per machine", lambda report: _run_all(report, place))
    seconds = time.monotonic() - began
    folders, after = cached_code()
    where, new = " and ".join(map(str, folders)), len(set(after) - set(before))
    failed = [run for run in runs if run["error"]]
    size = sum(file.stat().st_size for file in after)
    if as_json:
        content = {"directory": where, "files": len(after), "new": new, "bytes": size}
        tell_record({**content, "seconds": round(seconds, 1), "runs": runs})
    else:
        for run in failed:
            say(f"note: the example of {run['about']} failed: {run['error']}")
        told = f"{counted(new, 'new file')}" if new else "nothing was left to compile"
        if failed:
            told = f"{len(failed)} of {counted(len(runs), 'example')} failed"
        tell(f"{'Not ready' if failed else 'Ready'} after {seconds:.0f} s: {told}.")
        tell(f"Machine code: {counted(len(after), 'file')}, {size / 2**20:.0f} MiB, in {where}")
    if failed:
        raise typer.Exit(EXIT_CODE)


def _run_all(report: Report, place: str) -> list[dict[str, object]]:
    """Run all examples in an empty directory; return what came of each."""
    from bnmind.datasets import example_path

    done: list[dict[str, object]] = []
    models = Path(place, "models")
    models.mkdir()
    for name in (f"{_LARGE}.gz", f"{_LARGE}.evid.gz"):
        file = example_path(f"relational-mastermind/{name}")
        shutil.copy(file, models / file.name)
    for number, (about, arguments) in enumerate(RUNS):
        report(number, len(RUNS))
        began = time.monotonic()
        error = _error_of(arguments, place)
        seconds = round(time.monotonic() - began, 1)
        done.append({"about": about, "seconds": seconds, "error": error})
    report(len(RUNS), len(RUNS))
    return done


def _error_of(arguments: Sequence[str], place: str) -> str:
    """Run a command in a process of its own; return what is wrong, or nothing."""
    from bnmind._jit import MUST_SAVE

    chosen = os.environ.get("NUMBA_CACHE_DIR")
    ended = subprocess.run(
        [sys.executable, "-m", "bnmind", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        cwd=place,
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": os.path.abspath(chosen) if chosen else "",
            MUST_SAVE: "1",
        },
        check=False,
    )
    if ended.returncode == 0:
        return ""
    return (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
