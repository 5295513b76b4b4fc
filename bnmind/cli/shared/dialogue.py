"""Questions to the user, who may also enter commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from bnmind.cli.shared.terminal import one_line, printable
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["WORDS", "Command", "ask"]

_T = TypeVar("_T")

WORDS = {
    **{"undo": "u", "why": "?", "hint": "?", "doubt": "d", "doubts": "d"},
    **{"help": "h", "quit": "q", "exit": "q"},
}
"""The letters of commands, by the words that mean the same."""


class Command(Enum):
    """A command that the user may enter instead of an answer."""

    UNDO = "u"
    HINT = "?"
    DOUBT = "d"
    HELP = "h"
    QUIT = "q"
    LEAVE = ""


def ask(
    console: Console,
    question: str,
    read: Callable[[str], _T],
    *,
    commands: Mapping[str, Command],
    end: Command = Command.QUIT,
) -> _T | Command:
    """Return the answer of the user, asking again until it is valid.

    Parameters
    ----------
    console
        The console for messages about invalid answers.
    question
        The prompt.
    read
        Converts the text to the answer, or raises `BnmindError`.
    commands
        The commands by their letters. Their `WORDS` mean the same where they are no answers.
    end
        The command that the end of the input means.
    """
    while True:
        try:
            text = input(printable(question)).strip()
        except EOFError:
            console.print()
            return end
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
            if (letter := WORDS.get(text.lower(), "")) in commands:
                return commands[letter]
            console.print(f"  {one_line(error)}", soft_wrap=True)
