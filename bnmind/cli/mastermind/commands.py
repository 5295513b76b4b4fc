"""Commands that a player may type instead of a guess, in ``play`` and ``assist``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bnmind._messages import shown
from bnmind.cli.shared.dialogue import WORDS, Command
from bnmind.cli.shared.terminal import plain_table, show_table
from bnmind.errors import BnmindError, InvalidArgumentError

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.mastermind import Board, Reply

__all__ = [
    "COMMAND_LINES",
    "Action",
    "Codes",
    "Colors",
    "Drop",
    "Edit",
    "Explain",
    "Ignore",
    "SetNoise",
    "WhatIf",
    "read_command",
    "show_help",
]


@dataclass(frozen=True)
class WhatIf:
    """Show the game as if a row had another reply, or none."""

    row: int
    reply: Reply | None


@dataclass(frozen=True)
class Ignore:
    """Leave a row out of account, or take it into account again."""

    row: int


@dataclass(frozen=True)
class Edit:
    """Change a row."""

    row: int
    guess: tuple[int, ...] | None
    """None keeps the guess."""
    reply: Reply


@dataclass(frozen=True)
class Drop:
    """Delete a row."""

    row: int


@dataclass(frozen=True)
class SetNoise:
    """Assume another noise."""

    noise: str


@dataclass(frozen=True)
class Codes:
    """List the codes left."""


@dataclass(frozen=True)
class Colors:
    """Show the most probable colors of each place."""


@dataclass(frozen=True)
class Explain:
    """Begin or stop saying everything in plain words."""


Action: TypeAlias = Command | WhatIf | Ignore | Edit | Drop | SetNoise | Codes | Colors | Explain

COMMAND_LINES = {
    "?": ("?", "a hint"),
    "u": ("u", "undo the last step"),
    "codes": ("codes", "list the most probable codes"),
    "colors": ("colors", "the most probable colors of each place"),
    "if": ("if 2 1b1w", "compare: what if the reply of row 2 were 1b1w?"),
    "ignore": ("ignore 2", "leave row 2 out of account; again to use it"),
    "edit": ("edit 2 1b1w", "change row 2; or edit 2 1123 1b1w"),
    "drop": ("drop 2", "delete row 2"),
    "noise": ("noise false:0.1", "assume other noise from now on"),
    "x": ("x", "explain in plain words, or stop to"),
    "h": ("h", "show this list"),
    "q": ("q", "quit"),
}
"""An example of each command and its meaning, by the word that it begins with."""

_PLAIN: dict[str, Action] = {
    "?": Command.HINT,
    "u": Command.UNDO,
    "codes": Codes(),
    "colors": Colors(),
    "x": Explain(),
    "h": Command.HELP,
    "q": Command.QUIT,
}
_LONG = WORDS | {"explain": "x"}


def show_help(
    console: Console, words: Collection[str], others: Mapping[str, str] | None = None
) -> None:
    """Print examples of some commands and their meanings.

    Parameters
    ----------
    console
        The console.
    words
        The commands.
    others
        Other meanings of some of them.
    """
    table = plain_table("", "")
    table.columns[1].justify = "left"
    for word, (example, about) in COMMAND_LINES.items():
        if word in words:
            table.add_row(example, (others or {}).get(word, about))
    console.print("Instead of a guess you can type:")
    show_table(console, table)


def read_command(text: str, board: Board, allowed: Collection[str]) -> Action | None:
    """Return the command that a text spells; None if it is no command, and so may be a guess.

    Parameters
    ----------
    text
        What the player typed.
    board
        The board. A word that is also a code of the board, such as ``codes`` with five pegs and 19
        colors, is the code.
    allowed
        The commands that there are now.

    Raises
    ------
    BnmindError
        If a command lacks its row, or has another argument than it takes.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> read_command("ignore 2", Board(4, 6), ("ignore",))
    Ignore(row=2)
    >>> read_command("1123", Board(4, 6), ("ignore",)) is None
    True
    """
    first, _, rest = text.strip().partition(" ")
    word = _LONG.get(first.lower(), first.lower())
    if word not in COMMAND_LINES or (len(first) > 1 and _is_code(text, board)):
        return None
    if word in _PLAIN:
        if rest:
            return None
    elif word == "if" and not rest[:1].isdigit() and _is_code(text, board):
        return None
    if word not in allowed:
        raise BnmindError(f"there is no {first} here; h lists what you can type")
    return _PLAIN[word] if word in _PLAIN else _with_arguments(word, rest.strip(), board)


def _with_arguments(word: str, rest: str, board: Board) -> Action:
    example = COMMAND_LINES[word][0]
    if word == "noise":
        if not rest:
            raise BnmindError(f"expected a noise, like {example}")
        return SetNoise(rest)
    number, _, more = rest.partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        got = f", got {shown(number)}" if number else ""
        raise BnmindError(f"expected the number of a row, like {example}{got}")
    row = int(number)
    if word == "if":
        return WhatIf(row, _reply(more, board) if more.strip() else None)
    if word == "edit":
        return _edit(row, more, board)
    if more.strip():
        raise BnmindError(f"expected only the number of a row, like {example}")
    return Ignore(row) if word == "ignore" else Drop(row)


def _edit(row: int, text: str, board: Board) -> Edit:
    from bnmind.mastermind import parse_history
    from bnmind.mastermind.reply import spells_reply

    if not text.strip():
        raise BnmindError("expected the reply of the row, like edit 2 1b1w")
    if spells_reply(text, pegs=board.pegs):
        return Edit(row, None, _reply(text, board))
    try:
        (turn,) = parse_history(board, text)
    except ValueError as fault:
        reason = str(fault).removeprefix("entry 1 of the history: ")
        form = "expected a guess and its reply"
        if reason.startswith(form):
            raise BnmindError(reason.replace(", in entry 1 of the history", "")) from fault
        raise BnmindError(f"{form}: {reason}") from fault
    return Edit(row, turn.guess, turn.reply)


def _reply(text: str, board: Board) -> Reply:
    from bnmind.mastermind import Reply

    return Reply.parse(text, pegs=board.pegs)


def _is_code(text: str, board: Board) -> bool:
    try:
        board.parse(text)
    except InvalidArgumentError:
        return False
    return True


_DIGITS = 6
