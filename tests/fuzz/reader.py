"""What a reader is to the fuzzer, and which messages of its errors are in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bnmind.adaptive import ItemBank, read_bank

__all__ = ["HERE", "SEEDS", "Reader", "fault_in", "gates", "text_of"]

HERE = Path(__file__).parent
SEEDS = HERE / "seeds"

LONGEST_MESSAGE = 2500

PLACE = re.compile(
    r"line \d+,? column \d+"
    r"|at (potentials|variables)\b"
    r"|got [^ ]+: "
    r"|(at schema|at version|the whole|an empty file|packed by gzip|larger than)"
)
"""A line and a column, or a path in JSON; an empty file has no place."""


@dataclass(frozen=True)
class Reader:
    """A reader, by the name of its seeds' directory."""

    name: str
    read: Callable[[Path], object]
    places: bool = False
    """Whether its errors say where in the file, and name the file."""
    aloud: bool = False
    """Whether it may warn in words of libraries that it rests on."""

    @property
    def seeds(self) -> tuple[Path, ...]:
        """Its valid files, sorted by name."""
        return tuple(sorted((SEEDS / self.name).iterdir()))


def fault_in(reader: Reader, path: Path, error: Exception) -> str:
    """Return what is wrong with the message of an error of ours, or nothing."""
    told = str(error)
    if "\n" in told or "Traceback" in told:
        return "a message of several lines"
    if len(told) > LONGEST_MESSAGE:
        return f"a message of {len(told):,} characters"
    if reader.places and not (PLACE.search(told) and str(path) in told):
        return f"a message without a place: {told}"
    return ""


def text_of(path: Path) -> str:
    """Return a text as a terminal may give it, with what is no UTF-8 in halves of surrogates."""
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


@cache
def gates() -> ItemBank:
    """Return a bank of six items and two skills, with a gate of each kind."""
    return read_bank(SEEDS / "bank" / "gates.json")
