"""The registry of reproductions: the name of each, in the order in which they run.

To add a reproduction, write it in a module of its own, or beside the others of its source, and add
one line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind.lab.reproductions.base.reproduction import Reproduction
from bnmind.lab.reproductions.mastermind.totals import (
    CONSISTENT_ONLY,
    FIRST_GUESSES,
    HEURISTICS,
    OPTIMAL_TOTALS,
)
from bnmind.lab.reproductions.mastermind.vomlel import VOMLEL_BOUNDS, VOMLEL_SIZES

__all__ = ["REPRODUCTIONS"]

REPRODUCTIONS: Mapping[str, Reproduction] = MappingProxyType(
    {
        "vomlel-sizes": VOMLEL_SIZES,
        "vomlel-bounds": VOMLEL_BOUNDS,
        "optimal-totals": OPTIMAL_TOTALS,
        "consistent-only": CONSISTENT_ONLY,
        "heuristics": HEURISTICS,
        "first-guesses": FIRST_GUESSES,
    }
)
"""The reproduction of each name."""
