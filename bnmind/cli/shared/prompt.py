"""Questions to the player, who may also say something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from bnmind.cli.shared.errors import one_line
from bnmind.cli.shared.printable import printable
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Command", "ask"]

_T = TypeVar("_T")


class Command(Enum):
    """What a player may say instead of an answer."""

    UNDO = "u"
    HINT = "?"
    QUIT = "q"


def ask(
    console: Console,
    question: str,
    read: Callable[[str], _T],
    *,
    commands: Mapping[str, Command],
) -> _T | Command:
    """Return what the player answers, asking again until it is understood.

    Parameters
    ----------
    console
        Where it is said, on one line, that an answer is not understood.
    question
        What stands before the answer.
    read
        Makes the answer of the text; raises `BnmindError` if it cannot.
    commands
        What else may be said, by the letter that says it. The end of the input says
        ``Command.QUIT``.
    """
    while True:
        try:
            text = input(printable(question)).strip()
        except EOFError:
            console.print()
            return Command.QUIT
        except UnicodeDecodeError:
            text = "�"
        except OSError as error:
            error.filename = error.filename or "standard input"
            raise
        if text.lower() in commands:
            return commands[text.lower()]
        try:
            return read(text)
        except BnmindError as error:
            console.print(f"  {one_line(error)}", soft_wrap=True)
