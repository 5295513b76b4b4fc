"""Looks for broken files as `tests.fuzz.runner` does, led by the lines that they reach.

``python -m tests.fuzz.guided --seconds 60 bif design`` needs atheris (``pip install atheris``,
which is on no list of ours). Each reader runs in a fork, whose corpus of files that
reach something new is kept from run to run. Half of the files are made by the mutators of
`tests.fuzz.mutators`, half by those of libFuzzer. A line of JSON for each reader goes to
``runs.jsonl`` in the folder of the findings; ``--report`` sums it up.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.reader import Reader

ROOT = Path(__file__).parent.parent.parent
MEGABYTES = 4096
LONGEST = 2**16


def _without_kernels() -> list[str]:
    """Return the modules whose code is compiled, which must stay as it is."""
    found = []
    for path in (ROOT / "bnmind").rglob("*.py"):
        if re.search(r"_jit\b|numba", path.read_text("utf-8")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found.append(name.removesuffix(".__init__"))
    return found


def _readers() -> Mapping[str, Reader]:
    """Return the readers, with everything that they import instrumented, once for all of them."""
    import atheris

    kernels = _without_kernels()
    quiet = contextlib.redirect_stderr(io.StringIO())  # a line for each of hundreds of modules
    with quiet, atheris.instrument_imports(include=["bnmind"], exclude=kernels):
        from tests.fuzz.readers import READERS
        from tests.fuzz.runner import read_one

        for reader in READERS.values():
            if reader.name != "web_request":  # whose threads a fork would lack
                read_one(reader, reader.seeds[0].read_bytes(), reader.seeds[0].name)
    return READERS


def _fuzz(reader: Reader, keep: Path, seconds: float) -> None:
    """Look for findings of a reader; libFuzzer ends the process."""
    import atheris

    from tests.fuzz.mutators import broken
    from tests.fuzz.runner import Finding, kind_of, read_one

    seeds = [(seed.read_bytes(), seed.name) for seed in reader.seeds]
    names = list({"".join(Path(file).suffixes): file for _, file in seeds}.values())
    corpus = keep / "corpus" / reader.name
    corpus.mkdir(parents=True, exist_ok=True)
    for data, file in seeds:
        place = names.index(next(n for n in names if Path(n).suffixes == Path(file).suffixes))
        (corpus / f"seed-{file}").write_bytes(bytes([place]) + data)
    valid = [data for data, _ in seeds]
    told: set[str] = set()

    def one(data: bytes) -> None:
        file, content = names[(data[0] if data else 0) % len(names)], data[1:]
        what = read_one(reader, content, file)
        kind = kind_of(what)
        if what and kind not in told:
            told.add(kind)
            found = Finding(reader.name, "".join(Path(file).suffixes), content, what)
            place = keep / reader.name / found.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            sys.stderr.write(f"FOUND {found}\n  written to {place}\n")
            sys.stderr.flush()

    def changed(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2:
            return bytes(atheris.Mutate(data, most))
        new = broken(data[1:], valid, Random(seed))
        return (data[:1] + new)[:most]

    options = [
        *("-verbosity=1", "-print_final_stats=1", f"-max_len={LONGEST}", "-timeout=60"),
        *(f"-rss_limit_mb={MEGABYTES}", f"-max_total_time={int(seconds)}", "-len_control=0"),
        f"-artifact_prefix={keep}/crash-{reader.name}-",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=changed)
    atheris.Fuzz()


def _run(
    reader: Reader, keep: Path, seconds: float, say: Callable[[str], object]
) -> dict[str, Any]:
    """Run a reader in a fork, and return what came of it."""
    started = time.monotonic()
    log = keep / f"{reader.name}.log"
    child = os.fork()
    if child == 0:
        heard = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(heard, 1)
        os.dup2(heard, 2)
        try:
            _fuzz(reader, keep, seconds)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = log.read_text("utf-8", errors="replace")
    found = re.findall(r"^FOUND .*\n.*\n.*", told, re.MULTILINE)
    units = re.findall(r"number_of_executed_units: (\d+)", told)
    coverage = re.findall(r" cov: (\d+) ", told)
    run = {
        "reader": reader.name,
        "seconds": round(time.monotonic() - started),
        "cases": int(units[-1]) if units else 0,
        "coverage": int(coverage[-1]) if coverage else 0,
        "findings": len(found),
        "code": code,
    }
    say(json.dumps(run) + "\n")
    for finding in found:
        say(f"{finding}\n")
    if code:
        say(told[-3000:] + "\n")
    return run


def _report(keep: Path) -> str:
    """Return a table of all runs, a line for each reader."""
    runs = [json.loads(line) for line in (keep / "runs.jsonl").read_text("utf-8").splitlines()]
    lines = [f"{'reader':16} {'minutes':>8} {'cases':>10} {'coverage':>9} {'findings':>9}"]
    for name in dict.fromkeys(run["reader"] for run in runs):
        own = [run for run in runs if run["reader"] == name]
        minutes, cases, found = (sum(run[key] for run in own) for key in KEYS)
        most = max(run["coverage"] for run in own)
        lines.append(f"{name:16} {minutes / 60:8.1f} {cases:10,} {most:9,} {found:9}")
    minutes, cases, found = (sum(run[key] for run in runs) for key in KEYS)
    lines.append(f"{'all':16} {minutes / 60:8.1f} {cases:10,} {'':9} {found:9}")
    return "\n".join(lines) + "\n"


KEYS = ("seconds", "cases", "findings")


def main() -> int:
    """Fuzz at the command line; exit code 1 if anything is found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readers", nargs="*", metavar="READER")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzzing"), help="where all is written")
    parser.add_argument("--report", action="store_true", help="only sum up the runs so far")
    given = parser.parse_args()
    if given.report:
        sys.stdout.write(_report(given.keep))
        return 0
    readers = _readers()
    keep = given.keep.absolute()
    keep.mkdir(parents=True, exist_ok=True)
    found = 0
    for _ in range(given.rounds):
        for name in given.readers or readers:
            run = _run(readers[name], keep, given.seconds, sys.stdout.write)
            sys.stdout.flush()
            with open(keep / "runs.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps(run) + "\n")
            found += run["findings"] + (run["code"] != 0)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
