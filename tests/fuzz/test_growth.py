"""Large files, valid and faulty: time grows about as they do, and memory stays bounded."""

from __future__ import annotations

import gc
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bnmind._files import SMALL_FILE
from bnmind.errors import BnmindError
from bnmind.pgm.formats.model_format import FILE_BYTES
from tests.command_line import ROOT
from tests.fuzz.growth import Growth, grown, is_refused_in_time, peak_of
from tests.fuzz.large_files import LARGE, kinds_of
from tests.fuzz.readers import READERS

MOST = 1.3
"""The power of the size that the time may grow with: sorting has 1.1, chance the rest."""

MEMORY = 500 * 2**20
"""Bytes that reading one of these files may take."""


def test_every_reader_has_large_files() -> None:
    for reader in READERS.values():
        assert len(kinds_of(reader)) > 10


@pytest.mark.parametrize("kind", ["one byte", "b'\"' at the end"])
@pytest.mark.parametrize("name", READERS)
def test_large_files_are_what_they_say(name: str, kind: str) -> None:
    large = kinds_of(READERS[name])[kind]
    assert large(3000) == large(3000)
    assert 1.5 * len(large(3000)) < len(large(8000)) < 4 * len(large(3000))


PARTS = [list(READERS)[part::4] for part in range(4)]
"""Readers that share a process: its imports take longer than most of them."""


@pytest.mark.slow
@pytest.mark.parametrize("names", PARTS, ids=" ".join)
def test_time_grows_as_the_file_does(names: list[str]) -> None:
    """In a process of their own, where nothing else takes memory."""
    code = f"from tests.fuzz.test_growth import faults_of\nfor name in {names}: faults_of(name)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def faults_of(name: str) -> None:
    """Print the kinds of files with which a reader grows too fast, each tried up to four times.

    Every other kind; ``python -m tests.fuzz.growth`` tries all.
    """
    gc.freeze()  # what the imports made is never garbage, and looking for it takes most of the time
    kinds = list(kinds_of(READERS[name]).items())
    for kind, large in (kinds if name in LARGE else kinds[-18:-14] + kinds[:-18])[::2]:
        told: list[Growth] = []
        while len(told) < 4 and (not told or not fits(told[-1])):
            told.append(grown(READERS[name], large, thorough=bool(told)))
        if not fits(told[-1]) and not is_refused_in_time(READERS[name], large):
            sys.stdout.write(f"{name}, {kind}: {[(g.exponent, g) for g in told]}\n")


def fits(growth: Growth) -> bool:
    return growth.exponent < MOST and growth.peak < MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("name", ["session", "noise", "game", "weights"])
def test_memory_is_bounded_at_the_limit_of_small_files(name: str) -> None:
    """Measured with files of an eighth of the limit, as memory grows with the file."""
    for kind, large in list(kinds_of(READERS[name]).items())[:3]:
        n = SMALL_FILE // 8 * 1000 // len(large(1000))
        data = large(n)
        most = MEMORY * len(data) / SMALL_FILE + 2**24
        assert peak_of(READERS[name], data) < most, kind


def test_the_exponent_is_that_of_the_time() -> None:
    sizes = (1000, 2000, 4000, 8000)
    square = Growth(sizes, tuple(1e-8 * size**2 for size in sizes), 0)
    assert square.exponent == pytest.approx(2)
    assert not fits(square)
    assert fits(Growth(sizes, tuple(1e-4 * size for size in sizes), 0))
    assert not fits(Growth((1000,), (0.01,), MEMORY))


@pytest.mark.parametrize("make", [bytes, lambda n: b" " * n, lambda n: b"x" * n])
def test_packed_files_grow_to_a_bound(
    make: Callable[[int], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bnmind.pgm.formats.model_format.FILE_BYTES", 10**6)
    assert FILE_BYTES >= 2**24
    path = tmp_path / "network.bif.gz"
    path.write_bytes(gzip.compress(make(10**6 + 1)))
    assert path.stat().st_size < 3000
    with pytest.raises(BnmindError, match="is larger than 1,000,000 bytes"):
        READERS["packed"].read(path)
