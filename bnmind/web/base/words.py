"""Plain sentences about a belief and a guess; the command line says the same."""

from __future__ import annotations

from bnmind.lab.mastermind.live.words import (
    chance,
    counted,
    knowledge,
    noise,
    percent,
    told,
    worth,
)

__all__ = ["chance", "counted", "knowledge", "noise", "percent", "told", "worth"]
