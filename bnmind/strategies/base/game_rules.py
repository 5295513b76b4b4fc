"""The end of a game."""

from __future__ import annotations

from enum import Enum

__all__ = ["Goal"]


class Goal(Enum):
    """The end of a game."""

    REVEALING = "revealing"
    """The game ends when the code has been guessed."""
    DETERMINING = "determining"
    """The game ends when only one code is left, guessed or not."""
