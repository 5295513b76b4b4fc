"""How the time and the memory of reading grow with the file, measured in a process of its own.

``python -m tests.fuzz.growth bif uai`` prints a table.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bnmind.errors import BnmindError
from tests.fuzz.large_files import Large, kinds_of, name_of
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS

__all__ = ["Growth", "grown", "is_refused_in_time", "peak_of"]

ENOUGH = 0.03
"""Seconds of processor time that are measured well."""

LONGEST = 2**18
"""Bytes of a file: what is still fast at this size grows slowly enough. At the command line,
``--bytes`` takes another size."""


@dataclass(frozen=True)
class Growth:
    """How reading grows with the file."""

    sizes: tuple[int, ...]
    """Bytes of the files."""
    seconds: tuple[float, ...]
    """Processor time of each."""
    peak: int
    """Bytes of memory that reading the last of them adds at most."""

    @property
    def exponent(self) -> float:
        """The power of the size that the time grows with; 0 where even the largest takes none."""
        if self.seconds[-1] < ENOUGH / 2 or self.sizes[0] == self.sizes[-1]:
            return 0.0
        return math.log(self.seconds[-1] / max(self.seconds[0], 1e-6)) / math.log(
            self.sizes[-1] / self.sizes[0]
        )


def grown(
    reader: Reader, large: Large, *, thorough: bool = False, longest: int = LONGEST
) -> Growth:
    """Return how reading grows over two or three doublings, up to a size that takes a while.

    Where even the largest file takes no time, it alone is measured.

    Parameters
    ----------
    reader
        The reader.
    large
        Makes the files.
    thorough
        Whether each size is read several times, and the smallest is an eighth of the largest
        instead of a quarter. Takes twice as long, and is disturbed less by other programs.
    longest
        The bytes of a file at which growing ends.
    """
    _read(reader, reader.seeds[-1].read_bytes())  # imports what it needs
    n = 500
    while True:
        data = large(n)
        took = _read(reader, data)
        if took > ENOUGH or len(data) > longest:
            break
        n *= 2 if took > ENOUGH / 4 else 4
    if took <= ENOUGH:
        return Growth((len(data),), (took,), peak_of(reader, data))
    if thorough:
        files = [large(max(1, n // part)) for part in (8, 4, 2, 1)]
        sizes, seconds = tuple(map(len, files)), tuple(_seconds(reader, file) for file in files)
    else:
        quarter = large(max(1, n // 4))
        sizes, seconds = (len(quarter), len(data)), (_read(reader, quarter), took)
    return Growth(sizes, seconds, peak_of(reader, data))


def is_refused_in_time(reader: Reader, large: Large) -> bool:
    """Return whether no file up to `LONGEST` takes two seconds: larger ones are refused early."""
    n = 500
    while len(large(n)) <= LONGEST:
        n *= 2
        if _read(reader, large(n)) > 2:
            return False
    return True


def _read(reader: Reader, data: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name_of(reader))
        path.write_bytes(data)
        # Python looks for garbage more often when there is more of everything: in jumps.
        gc.collect()
        gc.disable()
        started = time.process_time()
        try:
            with contextlib.suppress(BnmindError):
                reader.read(path)
            return time.process_time() - started
        finally:
            gc.enable()


def _seconds(reader: Reader, data: bytes) -> float:
    """Return the least processor time of several readings, of fewer if they are long."""
    found = [_read(reader, data)]
    while len(found) < 3 and sum(found) < 2:
        found.append(_read(reader, data))
    return min(found)


def peak_of(reader: Reader, data: bytes) -> int:
    """Return how much more memory a process has at most that reads a file."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the parent
            before = _memory("VmRSS")
            _read(reader, data)
            os.write(sink, str(_memory("VmHWM") - before).encode())
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return int(told) if told else sys.maxsize


def _memory(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def main() -> None:
    """Print a table at the command line."""
    parser = argparse.ArgumentParser(description="Measure how reading grows.")
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--bytes", type=int, default=LONGEST, help="of the largest files")
    given = parser.parse_args()
    for name in given.readers or READERS:
        for kind, large in kinds_of(READERS[name]).items():
            growth = grown(READERS[name], large, thorough=True, longest=given.bytes)
            sys.stdout.write(
                f"{name:14} {kind:28} {growth.sizes[-1]:9,} B {growth.seconds[-1]:7.3f} s"
                f" {growth.exponent:5.2f}"
                f" {growth.peak / 2**20:6.0f} MiB\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
