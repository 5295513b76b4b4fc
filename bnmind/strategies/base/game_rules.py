"""When a game is over."""

from __future__ import annotations

from enum import Enum

__all__ = ["Goal"]


class Goal(Enum):
    """When a game is over."""

    REVEALING = "revealing"
    """When the code has been guessed."""
    DETERMINING = "determining"
    """When only one code is left, guessed or not."""
