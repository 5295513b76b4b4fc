"""Dialogues on the terminal: questions to the user, who may also enter commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from bnmind._messages import shown
from bnmind.cli.shared.terminal import one_line, printable, tell
from bnmind.errors import BnmindError

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
    CODES = "codes"
    COLORS = "colors"
    EXPLAIN = "x"
    HELP = "h"
    QUIT = "q"
    LEAVE = ""


def ask(
    question: str,
    read: Callable[[str], _T],
    *,
    commands: Mapping[str, Command],
    end: Command = Command.QUIT,
) -> _T | Command:
    """Return the answer of the user, asking again until it is valid.

    Parameters
    ----------
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
            tell("")
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
            tell(f"  {one_line(error)}")


def ask_end(*letters: str) -> Command:
    """Return what the user does at the end of a dialogue: end it, or a command of these letters."""
    about = {"u": "u undoes", "d": "d shows doubtful answers"}
    question = f"{', '.join(['Enter ends', *(about[one] for one in letters)])}: "

    def read(text: str) -> Command:
        if text:
            keys = ["Enter", *letters]
            raise BnmindError(
                f"expected {', '.join(keys[:-1])} or {keys[-1]}, got {shown(text)}",
            )
        return Command.QUIT

    return ask(question, read, commands={one: Command(one) for one in (*letters, "q")})


def converse(ask: Callable[[], _T], act: Callable[[_T], bool], *, fatal: type[BnmindError]) -> bool:
    """Ask and act, again and again; return whether Ctrl-C has ended the dialogue.

    Parameters
    ----------
    ask
        Returns what the user enters.
    act
        Does what it asks for, and returns whether the dialogue goes on. Its errors are shown, and
        the user is asked again.
    fatal
        The errors that end the dialogue instead, since nothing typed later could be saved.
    """
    try:
        going = True
        while going:
            entry = ask()
            try:
                going = act(entry)
            except fatal:
                raise
            except BnmindError as error:
                tell(f"  {one_line(error)}")
    except KeyboardInterrupt:
        tell("")
        return True
    return False
