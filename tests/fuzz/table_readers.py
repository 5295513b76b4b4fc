"""Readers of tables: responses, profiles, cases and sequences, as text and as workbooks."""

from __future__ import annotations

import io
import zipfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from bnmind.adaptive import Responses, read_prior, read_profiles
from bnmind.dynamic import DynamicNetwork, read_dynamic
from bnmind.dynamic.passes import read_sequences_for
from bnmind.fitting.expectation import read_cases_for
from bnmind.junction.case_files import read_frames
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import read_network
from tests.fuzz.reader import SEEDS, Reader, gates

__all__ = ["TABLE_READERS"]


@cache
def _coin() -> Network:
    return read_network(SEEDS / "bif" / "small.bif")


@cache
def _items() -> Network:
    """Return a network of the columns that the workbook among the seeds has."""
    names = ("item_1", "item_2")
    half = np.array([0.5, 0.5])
    return Network(tuple(TabularCPD(Variable(name, ("0", "1")), (), half) for name in names))


@cache
def _weather() -> DynamicNetwork:
    return read_dynamic(SEEDS / "dynamic" / "weather.json")


def _data_file(path: Path) -> None:
    """Read a table of a statistics program as responses, and as cases where it is Parquet."""
    if path.suffix == ".parquet":
        for frame in read_frames(path, 1000):
            frame.to_string()
    Responses.from_csv(path).patterns  # noqa: B018


def _excel(path: Path) -> None:
    """Read a workbook of which one part is the file, as responses or as cases."""
    parts = {part.name: part.read_bytes() for part in (SEEDS / "excel").iterdir()}
    broken = parts[path.name] = path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(SEEDS / "data_file" / "small.xlsx") as book:
        parts = {name: parts.get(Path(name).name) or book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    path.write_bytes(packed.getvalue())
    if zlib.crc32(broken) % 2:  # each file is read once: a large one takes a second
        Responses.from_csv(path).patterns  # noqa: B018
    else:
        read_cases_for(_items(), path.rename(path.with_suffix(".xlsx")))


TABLE_READERS = (
    Reader("data_file", _data_file, aloud=True),
    Reader("excel", _excel, aloud=True),
    Reader("long_table", lambda path: Responses.from_csv(path).patterns),
    Reader("prior_table", lambda path: read_prior(path, gates())),
    Reader("profiles", lambda path: read_profiles(path, gates(), ("ann", "bob"))),
    Reader("cases", lambda path: read_cases_for(_coin(), path)),
    Reader("sequences", lambda path: read_sequences_for(_weather(), path)),
)
"""Readers of tables."""
