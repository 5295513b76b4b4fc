"""Breaks files and reads them, and tells what should not have come of it.

A finding is an error that is none of ours, a message that is too long or has several
lines, a file that takes more than five seconds of processor time, or one that takes more
than `MOST_MEMORY`.
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from bnmind.errors import BnmindError
from tests.fuzz.mutators import broken
from tests.fuzz.readers import HERE, READERS, Reader, fault_in

__all__ = ["FINDINGS", "Finding", "cases", "read_one", "search"]

FINDINGS = HERE / "findings"

SECONDS = 5.0
"""Processor time that a file of some kilobytes may take."""

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
    before = _peak()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            with _within(SECONDS):
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


def search(reader: Reader, *, seed: int, seconds: float, most: int = 20) -> Iterator[Finding | int]:
    """Yield findings as they come, at most so many kinds of them, and at last the number of cases.

    Findings that say the same are one.
    """
    told: set[str] = set()
    end = time.monotonic() + seconds
    tried = 0
    for data, name in cases(reader, seed):
        what = read_one(reader, data, name)
        kind = re.sub("[0-9,]+ ", "", what.split(": ")[0])
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
