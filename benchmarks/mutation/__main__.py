"""Draw mutants of some rooms, and write for each whether a test finds it.

First run the tests with coverage by test, then this command, which can be resumed::

    pytest -n auto --cov=bnmind --cov-context=test --cov-report= --junitxml=times.xml
    python -m benchmarks.mutation rank_one --mutants 100 --times times.xml --out trials.jsonl

Each mutant is given the quickest tests that execute its line first, and all such tests, up to a
limit of seconds, if it survives these. The files in `equivalent` list mutants that no test could
tell from the module; the second share leaves out those of them that survived. Only `main` prints.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.mutation.covering import Covering
from benchmarks.mutation.mutants import Mutant, drawn_mutants, mutated_source
from benchmarks.mutation.trials import preload, trial

ROOMS = ("information", "rank_one", "junction", "mastermind", "adaptive")
_NOTICED = ("killed", "timeout")
_ROOT = Path(__file__).resolve().parents[2]
_EQUIVALENT = Path(__file__).parent / "equivalent"


def main() -> None:
    """Run trials and print the share of mutants that the tests find, by room."""
    parser = argparse.ArgumentParser("python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS, help="bnmind's rooms; default: five")
    parser.add_argument("--mutants", type=int, default=100, help="mutants a room; default 100")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", type=Path, default=_ROOT / ".coverage")
    parser.add_argument("--times", type=Path, required=True, help="the file of --junitxml")
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for each mutant")
    parser.add_argument("--seconds", type=float, default=10, help="of tests in the first trial")
    parser.add_argument("--part", default="0/1", help="k/n: only every nth mutant, from the kth")
    parser.add_argument(
        "--again",
        action="store_true",
        help="try again what survived before and is not in `equivalent`",
    )
    options = parser.parse_args()
    first, of = map(int, options.part.split("/"))
    covering = Covering(_ROOT, options.coverage, options.times)
    done = {line["key"]: line for line in _lines(options.out)}
    equivalents = _equivalents()
    preload()
    if options.again:
        mutants = [
            Mutant.of(line["key"], int(line["line"]))
            for line in done.values()
            if line["verdict"] not in _NOTICED and not _is_listed(line, equivalents)
        ]
    else:
        mutants = [
            mutant
            for room in options.rooms
            for mutant in _drawn(room, options.mutants, options.seed)
            if mutant.key not in done
        ]
    for mutant in mutants[first::of]:
        line = _tried(mutant, covering, options.seconds, options.out.with_suffix(f".{first}"))
        done[mutant.key] = line
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{line['verdict']:9} {mutant.key} line {mutant.line}", flush=True)
    _print_shares(list(done.values()), equivalents)


def _drawn(room: str, number: int, seed: int) -> list[Mutant]:
    rng = np.random.default_rng([seed, sum(room.encode())])
    return drawn_mutants(_modules(room), number, rng, root=_ROOT)


def _lines(out: Path) -> list[dict[str, str]]:
    if not out.exists():
        return []
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def _modules(room: str) -> list[Path]:
    place = _ROOT / "bnmind" / room
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _tried(mutant: Mutant, covering: Covering, seconds: float, log: Path) -> dict[str, str]:
    """Return what became of a mutant, as a line of the file."""
    source = mutated_source(mutant, _ROOT)
    tests = covering.tests_of(mutant.module, mutant.line)
    verdict = "no test"
    begin = 0
    for most in (seconds, 3 * seconds):
        end, total = begin, 0.0
        while end < len(tests) and total < most and end - begin < 400:
            total += tests[end][1]
            end += 1
        if end == begin:
            break
        names = [name for name, _ in tests[begin:end]]
        path = _ROOT / mutant.module
        verdict = trial(path, source, names, log, limit=90 + 4 * total)
        if verdict != "survived":
            break
        begin = end
    lines = (_ROOT / mutant.module).read_text(encoding="utf-8").splitlines()
    return {
        "key": mutant.key,
        "room": mutant.module.split("/")[1].removesuffix(".py"),
        "verdict": verdict,
        "line": str(mutant.line),
        "before": lines[mutant.line - 1].strip(),
        "after": _changed(lines, source.splitlines()),
    }


def _changed(before: list[str], after: list[str]) -> str:
    """Return the first line in which two sources differ."""
    differ = (new.strip() for old, new in zip(before, after, strict=False) if old != new)
    return next(differ, "")


def _equivalents() -> set[tuple[str, str, str]]:
    """Return the module of each listed mutant, its line before and its line after the fault."""
    listed = [tomllib.loads(file.read_text("utf-8")) for file in _EQUIVALENT.glob("*.toml")]
    return {
        (one["module"], one["before"], one["after"])
        for file in listed
        for one in file.get("mutant", ())
    }


def _is_listed(line: dict[str, str], equivalents: set[tuple[str, str, str]]) -> bool:
    place = (line["key"].partition(":")[0], line["before"], line["after"])
    return line["verdict"] not in _NOTICED and place in equivalents


def _print_shares(lines: list[dict[str, str]], equivalents: set[tuple[str, str, str]]) -> None:
    for room in sorted({line["room"] for line in lines}):
        counts = Counter(line["verdict"] for line in lines if line["room"] == room)
        killed = sum(counts[verdict] for verdict in _NOTICED)
        total = counts.total()
        print(f"{room:12} {killed} of {total} killed, {killed / total:.0%}  {dict(counts)}")
        of_room = [line for line in lines if line["room"] == room]
        left = total - sum(_is_listed(line, equivalents) for line in of_room)
        print(f"{'':12} {killed} of the {left} that a test could tell, {killed / left:.0%}")


if __name__ == "__main__":
    main()
