"""Plain sentences about a belief and a guess; the command line says the same.

They are loaded when the first one is needed, so that the server answers soon after its start.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bnmind.lab.mastermind.words import (
        chance,
        counted,
        false_replies,
        knowledge,
        noise,
        percent,
        told,
        worth,
    )

__all__ = [
    "chance",
    "counted",
    "false_replies",
    "knowledge",
    "noise",
    "percent",
    "told",
    "worth",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("bnmind.lab.mastermind.words"), name)
