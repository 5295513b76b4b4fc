"""Breaks files and reads them, and tells what should not have come of it.

A finding is an error that is none of ours, a warning that is none of ours, a message that is
too long or has several lines, a file that takes more than `SECONDS` of processor time, or one
that takes more than `MOST_MEMORY`. `tests.fuzz.guided` looks for the same, led by coverage.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from random import Random

from bnmind.errors import BnmindError
from bnmind.junction.case_tables import CaseTableWarning
from bnmind.pgm.formats.declared import ModelFileWarning
from tests.fuzz.mutators import broken
from tests.fuzz.reader import HERE, Reader, fault_in
from tests.fuzz.readers import READERS

__all__ = ["FINDINGS", "Finding", "cases", "kind_of", "read_one", "search", "told_aloud"]

FINDINGS = HERE / "findings"

SECONDS = 2.0
"""Processor time that a file of some kilobytes may take."""

OURS = (ModelFileWarning, CaseTableWarning)
"""Warnings that readers give on purpose."""

MOST_MEMORY = 500 * 2**20
"""Bytes that reading one may add to the most that the process ever had."""

ADDRESS_SPACE = 6 * 2**30
"""Bytes of addresses that the process of a runner may have: a bomb ends in an error."""


class TookTooLongError(BaseException):
    """Reading has taken `SECONDS`; no error that a reader might catch."""


@dataclass(frozen=True)
class Finding:
    """A file that came out wrong."""

    reader: str
    suffix: str
    data: bytes
    what: str

    @property
    def name(self) -> str:
        """The name of its file: always the same for the same content."""
        return f"{hashlib.sha256(self.data).hexdigest()[:12]}{self.suffix}"

    def __str__(self) -> str:
        shown = self.data if len(self.data) < 300 else self.data[:300] + b"..."
        return f"{self.reader}: {self.what}\n  {shown!r}"


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def told_aloud(reader: Reader) -> Iterator[None]:
    """Make errors of warnings, but for our own, and for those of libraries where they may be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if reader.aloud else "error")
        for kind in OURS:
            warnings.simplefilter("ignore", kind)
        yield


@cache
def _warmed(name: str) -> None:
    """Import what a reader imports when it first reads."""
    seed = READERS[name].seeds[0]
    with tempfile.TemporaryDirectory() as folder, suppress(BnmindError):
        path = Path(folder, seed.name)
        path.write_bytes(seed.read_bytes())
        with told_aloud(READERS[name]):
            READERS[name].read(path)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def read_one(reader: Reader, data: bytes, name: str) -> str:
    """Return what is wrong with how a reader takes a content; nothing if nothing is.

    Parameters
    ----------
    reader
        The reader.
    data
        The content of the file.
    name
        The name of the file, whose ending may say its format.
    """
    _warmed(reader.name)
    before = _peak()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            with _within(SECONDS), told_aloud(reader):
                reader.read(path)
        except BnmindError as error:
            if fault := fault_in(reader, path, error):
                return fault
        except TookTooLongError:
            return f"more than {SECONDS} seconds"
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in frames if "/bnmind/" in frame.filename]
            at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "the test"
            return f"{type(error).__name__} at {at}: {str(error)[:200]}"
    grown = _peak() - before
    return f"{grown / 2**20:.0f} MiB of memory" if grown > MOST_MEMORY else ""


def cases(reader: Reader, seed: int) -> Iterator[tuple[bytes, str]]:
    """Yield broken contents and the names of the files, without end, the same for a seed."""
    seeds = [(path.read_bytes(), path.name) for path in reader.seeds]
    for number in count():
        rng = Random(f"{reader.name} {seed} {number}")
        data, name = rng.choice(seeds)
        others = [other for other, at in seeds if Path(at).suffix == Path(name).suffix]
        yield broken(data, others, rng), name


def kind_of(what: str) -> str:
    """Return what findings that count as one have in common."""
    return re.sub("[0-9,]+ ", "", what.split(": ")[0])


def search(reader: Reader, *, seed: int, seconds: float, most: int = 20) -> Iterator[Finding | int]:
    """Yield findings as they come, at most so many kinds of them, and at last the number of cases.

    Findings that say the same are one.
    """
    told: set[str] = set()
    end = time.monotonic() + seconds
    tried = 0
    for data, name in cases(reader, seed):
        what = read_one(reader, data, name)
        kind = kind_of(what)
        if what and kind not in told:
            told.add(kind)
            yield Finding(reader.name, "".join(Path(name).suffixes), data, what)
        tried += 1
        if time.monotonic() > end or len(told) >= most:
            break
    yield tried


def main() -> int:
    """Search at the command line; exit code 1 if anything is found."""
    parser = argparse.ArgumentParser(description="Break files and read them.")
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--seconds", type=float, default=20.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=FINDINGS, help="where findings are written")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    found = 0
    for name in given.readers or READERS:
        for told in search(READERS[name], seed=given.seed, seconds=given.seconds):
            if isinstance(told, int):
                sys.stdout.write(f"{name}: {told:,} cases\n")
                continue
            found += 1
            place = given.keep / told.reader / told.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(told.data)
            sys.stdout.write(f"{told}\n  written to {place}\n")
            sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
