"""Evidence and names of variables, as they are typed: ``A=x,B=y`` and ``A,B``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from bnmind._messages import one_line, shown
from bnmind._registry import listed_names
from bnmind.errors import BnmindError

__all__ = ["evidence_of", "names_of"]


def evidence_of(texts: Sequence[str], states: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the findings; a state may contain ``=`` and commas if only one reading is possible."""
    findings: dict[str, str] = {}
    for text in texts:
        readings = _readings(text.split(","), states)
        if len(readings) > 1:
            both = " or ".join(" and ".join(map("=".join, reading)) for reading in readings)
            raise BnmindError(f"the evidence {shown(text)} can be read in two ways: {both}")
        for name, state in readings[0] if readings else map(_entry, text.split(",")):
            if not (name and state):
                raise BnmindError(f"expected evidence as VARIABLE=STATE, got {shown(text)}")
            if name in findings:
                raise BnmindError(f"the evidence on {one_line(name)} is given twice")
            findings[name] = state
    return findings


def names_of(texts: Sequence[str], known: Set[str]) -> list[str]:
    """Return the names in texts; a text that is the name of a variable stands for that variable."""
    found: list[str] = []
    for text in texts:
        names = (text,) if text in known else listed_names(text, ",")
        found += [name for name in names if name]
    return found


def _entry(text: str) -> tuple[str, str]:
    """Return a variable and its state, separated by the first ``=``."""
    name, _, state = text.partition("=")
    return name.strip(), state.strip()


def _entries(text: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield the variables and states that a text may mean, one for each ``=`` in it.

    The function tries only the first ``most`` signs.
    """
    place = -1
    for _ in range(most):
        place = text.find("=", place + 1)
        if place < 0:
            return
        yield text[:place].strip(), text[place + 1 :].strip()


def _readings(
    parts: Sequence[str], states: Mapping[str, Sequence[str]]
) -> list[tuple[tuple[str, str], ...]]:
    """Return up to two ways to read parts between commas as states of known variables."""
    # The readings of the first n parts, for each n. A reading is its last entry and the
    # reading before it, so that long readings need not be copied.
    readings: list[list[_Reading | None]] = [[None]]
    of_states = max((state.count(",") for known in states.values() for state in known), default=0)
    most = 1 + of_states + max((name.count(",") for name in states), default=0)
    signs = 1 + max((name.count("=") for name in states), default=0)
    for end in range(1, len(parts) + 1):
        current: list[_Reading | None] = []
        for start in range(max(0, end - most), end):
            for name, state in _entries(",".join(parts[start:end]), signs):
                if state in states.get(name, ()):
                    current += [_Reading((name, state), before) for before in readings[start]]
        readings.append(current[:2])
    return [_unrolled(reading) for reading in readings[-1]]


class _Reading(NamedTuple):
    last: tuple[str, str]
    before: _Reading | None


def _unrolled(reading: _Reading | None) -> tuple[tuple[str, str], ...]:
    entries = []
    while reading is not None:
        entries.append(reading.last)
        reading = reading.before
    return tuple(reversed(entries))
