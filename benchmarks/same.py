"""Two checkouts side by side: their answers, what their commands print, their speed and their size.

    python -m benchmarks.same OLD                  # another checkout, and this one
    python -m benchmarks.same OLD --only speed --names em help
    python -m benchmarks.same OLD --tests tests/cli/test_query.py

``answers`` are the numbers of `ANSWERS` in each checkout. ``commands`` runs the tests that both
checkouts have and compares each command that they run: output, errors, exit code and files.
``speed`` runs our side of every headline figure and the small steps of `STEPS` in both, in turns.
``size`` counts code lines with the script that ``--measure`` names. The exit code is 1 if
answers or commands differ, or if a step takes more than 10 % longer.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before NumPy is imported
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse  # noqa: E402
import difflib  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

__all__ = ["main"]

HERE = Path(__file__).parents[1]
SLOWER = 0.10
"""By how much longer a step may take."""
RECORD = "BNMIND_RECORD"
"""The variable that names the file for the commands that tests run."""


# --- What a checkout does: `--serve` reads requests, a line each, and answers with a line ---------


def _serve() -> None:
    from benchmarks.headline_cases import CASES
    from benchmarks.same_cases import ANSWERS, STEPS

    steps: dict[str, Callable[[], object]] = {}

    def names() -> list[str]:
        return [*CASES, *STEPS]

    def prepare(name: str) -> float:
        step = steps[name] = STEPS[name]() if name in STEPS else CASES[name].prepare()[0]
        step()
        began = time.process_time()
        while time.process_time() - began < 0.02:
            step()  # loads and compiles what the first calls do without
        return timed(name, 1)

    def timed(name: str, times: int) -> float:
        processes = name in CASES and CASES[name].in_processes
        clock = time.perf_counter if processes else time.process_time
        step, began = steps[name], clock()
        for _ in range(times):
            step()
        return max(clock() - began, 1e-9) / times

    def answers(name: str) -> Any:
        return ANSWERS[name]()

    known = {f.__name__: f for f in (names, prepare, timed, answers)}
    known["listed"] = lambda: list(ANSWERS)
    for line in sys.stdin:
        what, *arguments = json.loads(line)
        try:
            reply = {"value": known[what](*arguments)}
        except Exception as fault:  # whatever it is, the other checkout may do better
            reply = {"fault": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(reply), flush=True)


class _Checkout:
    """A process that answers for one checkout; a context manager."""

    def __init__(self, place: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.same", "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(place)},
        )

    def __enter__(self) -> _Checkout:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def __call__(self, *request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        reply = json.loads(self._process.stdout.readline())
        if "fault" in reply:
            raise RuntimeError(reply["fault"])
        return reply["value"]


# --- Commands: this file is also a plugin of pytest that records them -----------------------------


def pytest_configure() -> None:
    """Record each command that a test runs, if `BNMIND_RECORD` names a file."""
    if RECORD not in os.environ:
        return
    from typer.testing import CliRunner

    invoke = CliRunner.invoke

    def recorded(self: Any, app: Any, arguments: Any = None, *rest: Any, **options: Any) -> Any:
        result = invoke(self, app, arguments, *rest, **options)
        _keep(list(arguments or ()), options.get("input"), result)
        return result

    CliRunner.invoke = recorded  # type: ignore[method-assign, assignment]


def pytest_runtest_setup() -> None:
    """Draw the same random numbers in both checkouts where a test takes NumPy's own generator."""
    import numpy as np

    np.random.seed(1)  # noqa: NPY002


def _keep(arguments: list[str], typed: Any, result: Any) -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    row = {
        "test": test,
        "arguments": [_neutral(one) for one in arguments],
        "typed": typed if isinstance(typed, str | None) else repr(typed),
        "code": result.exit_code,
        "output": _neutral(result.stdout),
        "errors": _neutral(result.stderr),
        "files": {_neutral(str(path)): _content(path) for path in _files(arguments)},
    }
    with open(os.environ[RECORD], "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _files(arguments: Iterable[str]) -> list[Path]:
    """Return the files that arguments name and those in directories, except the checkout's."""
    named = [Path(part) for one in arguments for part in {one, one.partition("=")[2]} if part]
    found: list[Path] = []
    for path in named:
        if len(str(path)) < 1000 and Path.cwd() not in (path.resolve(), *path.resolve().parents):
            found += sorted(path.rglob("*")) if path.is_dir() else [path]
    return [path for path in found if path.is_file()]


def _content(path: Path) -> str:
    data = path.read_bytes()
    try:
        return _neutral(data.decode("utf-8"))
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()


def _neutral(text: str) -> str:
    """Return a text without what differs between two runs: places, times and versions of today."""
    text = re.sub(r"/\S*?pytest-of-\w+/pytest-\d+/(popen-gw\d+/)?", "TMP/", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.+:Z]*", "TIME", text)
    text = re.sub(r'("seconds\w*": )[-\d.e]+', r"\1DURATION", text)
    return re.sub(r"\b\d+(\.\d+)? (s|ms|seconds|minutes)\b", "DURATION", text)


def _commands(place: Path, tests: Sequence[str], workers: str) -> dict[str, list[dict[str, Any]]]:
    """Return the commands that the tests of a checkout run, by test."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "commands")
        file.touch()
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "same", "-n", workers),
                *("-p", "no:cacheprovider", *tests),
            ],
            cwd=place,
            env={
                **os.environ,
                "PYTHONPATH": f"{place}{os.pathsep}{Path(__file__).parent}",
                RECORD: str(file),
            },
            stdout=sys.stderr,
            check=False,
        )
        text = file.read_text(encoding="utf-8").replace(str(place), "CHECKOUT")
        rows = [json.loads(line) for line in text.splitlines()]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.pop("test"), []).append(row)
    return found


# --- The comparison -------------------------------------------------------------------------------


def _compared_commands(old: Path, new: Path, tests: Sequence[str], workers: str) -> bool:
    before, now = (_commands(place, tests, workers) for place in (old, new))
    both = [test for test in before if test in now]
    print(
        f"commands: {sum(len(now[test]) for test in both)} in {len(both)} tests of both checkouts;"
        f" {len(before) - len(both)} tests only in the old one,"
        f" {len(now) - len(both)} in the new"
    )
    same = bool(both)
    for test in both:
        if before[test] != now[test]:
            same = False
            print(f"\ndiffers: {test}")
            texts = [_lines(rows[test]) for rows in (before, now)]
            changes = difflib.unified_diff(texts[0], texts[1], "old", "new", lineterm="", n=1)
            print(*changes, sep="\n")
    return same


def _lines(rows: Sequence[Any]) -> list[str]:
    return json.dumps(rows, indent=1, ensure_ascii=False).replace("\\n", "\n").splitlines()


def _close(one: Any, other: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two answers are equal, numbers up to a relative tolerance."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= tolerance * max(1.0, abs(one)) or (one != one and other != other)
    return bool(one == other)


def _compared_answers(old: _Checkout, new: _Checkout) -> bool:
    same = True
    for name in new("listed"):
        found = []
        for checkout in (old, new):
            try:
                found.append(checkout("answers", name))
            except RuntimeError as fault:
                found.append(str(fault))
        equal = _close(*found) and not isinstance(found[1], str)
        same &= equal
        verdict = "same" if equal else f"DIFFERS: {'; '.join(map(_short, found))}"
        print(f"  {name:28}{verdict}")
    return same


def _short(answer: Any) -> str:
    text = json.dumps(answer)
    return text if len(text) < 200 else f"{text[:200]} …"


def _compared_speed(old: _Checkout, new: _Checkout, names: Sequence[str], rounds: int) -> bool:
    """Print how long each step takes in the new checkout, as a part of the time in the old one."""
    fast = True
    print(f"  {'':24}{'new / old':>10}{'quartiles':>18}{'ms':>10}")
    for name in names or new("names"):
        try:
            once = [checkout("prepare", name) for checkout in (old, new)]
        except RuntimeError as fault:
            print(f"  {name:24}{fault}")
            continue
        times = [max(1, round(0.05 / max(seconds, 1e-7))) for seconds in once]
        rows = [
            [checkout("timed", name, n) for checkout, n in zip((old, new), times, strict=True)]
            for _ in range(rounds)
        ]
        ratios = sorted(now / before for before, now in rows)
        low, middle, high = statistics.quantiles(ratios, n=4)
        slow = middle > 1 + SLOWER
        fast &= not slow
        milliseconds = 1e3 * statistics.median(now for _, now in rows)
        print(
            f"  {name:24}{middle:10.2f}{f'{low:.2f} to {high:.2f}':>18}{milliseconds:10.3g}"
            f"{'  SLOWER' if slow else ''}",
            flush=True,
        )
    return fast


def _size(place: Path, measure: Path) -> str:
    command = [sys.executable, str(measure), "bnmind", "tests", "--rooms"]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two checkouts and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, nargs="?", help="the directory of the other checkout")
    parser.add_argument("new", type=Path, nargs="?", default=HERE, help="default: this checkout")
    parser.add_argument("--only", choices=("answers", "commands", "speed", "size"), action="append")
    parser.add_argument("--names", nargs="+", default=(), help="the steps to time; default: all")
    parser.add_argument("--tests", nargs="+", default=("tests/cli",), help="default: tests/cli")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each step")
    parser.add_argument("--workers", default="auto", help="processes of pytest")
    parser.add_argument(
        "--measure",
        type=Path,
        default=HERE.parent / "shared" / "tools" / "size.py",
        help="the script that counts code lines",
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        _serve()
        return 0
    if options.old is None:
        parser.error("name the directory of the other checkout")
    old, new = options.old.resolve(), options.new.resolve()
    parts = options.only or ("size", "answers", "speed", "commands")
    verdicts: dict[str, bool] = {}
    if "size" in parts:
        if options.measure.is_file():
            print("size", *(_size(place, options.measure) for place in (old, new)), sep="\n")
        else:
            print(f"size: not measured, since there is no {options.measure.name}; see --measure")
    if "answers" in parts or "speed" in parts:
        with _Checkout(old) as before, _Checkout(new) as now:
            if "answers" in parts:
                print("answers")
                verdicts["answers"] = _compared_answers(before, now)
            if "speed" in parts:
                print("speed")
                verdicts["speed"] = _compared_speed(before, now, options.names, options.rounds)
    if "commands" in parts:
        verdicts["commands"] = _compared_commands(old, new, options.tests, options.workers)
    for part, good in verdicts.items():
        print(f"{part}: {'as before' if good else 'NOT as before'}")
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
