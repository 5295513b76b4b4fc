"""How a plan's figures are put in words."""

from __future__ import annotations

from collections.abc import Sequence

from bnmind.junction.tree import JunctionTree

__all__ = ["bytes_text", "listed_text", "separators_text"]


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
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:.3g} {unit}"
        number /= 1024  # type: ignore[assignment]
    return f"{number:.3g} GiB"
