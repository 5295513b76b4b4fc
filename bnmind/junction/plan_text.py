"""How a plan's figures are put in words."""

from __future__ import annotations

from collections.abc import Sequence

from bnmind._messages import many
from bnmind.junction.tree import JunctionTree

__all__ = ["bytes_text", "listed_text", "separators_text"]

_UNITS = (("bytes", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30))


def listed_text(names: list[str], comma: str = ", ") -> str:
    """Return the first few names, and how many there are."""
    shown = comma.join(names[:6])
    return f"{shown}, … {len(names)} in all" if len(names) > 6 else shown


def separators_text(trees: Sequence[JunctionTree]) -> str:
    """Return all separators but empty ones."""
    found = {edge.separator for tree in trees for edge in tree.edges if edge.separator}
    return ", ".join("{" + " ".join(separator) + "}" for separator in sorted(found))


def bytes_text(number: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    unit, shift = next((u, s) for u, s in _UNITS if number >> s < 1000 or u == "GiB")
    if not shift:
        return f"{number:,} bytes"
    if number >> shift >= 10**6:
        return f"{many(number >> shift)} {unit}"
    return f"{number / 2**shift:.3g} {unit}"
