"""The one way of text to the terminal, past which nothing that a terminal would obey gets.

Titles, names and states come out of files, and file names from the command line. A terminal
obeys the escape sequences in them: it moves the cursor, clears the screen, sets its title.
"""

from __future__ import annotations

import json

import typer

from bnmind._messages import visible

__all__ = ["printable", "tell", "tell_json"]


def printable(text: str) -> str:
    r"""Return a text of any number of lines as it may be shown; see `visible`.

    Examples
    --------
    >>> printable("Brüche \x1b[2J\nHören")
    'Brüche \ufffd[2J\nHören'
    """
    return "\n".join(map(visible, text.split("\n")))


def tell(text: str, *, err: bool = False) -> None:
    """Print a text and the end of a line on the standard output, or on the error stream."""
    typer.echo(printable(text), err=err)


def tell_json(record: object) -> None:
    """Print a record as JSON, all in ASCII: it reads back as it is, whatever the terminal."""
    # The only character of ASCII that JSON does not escape, and that is not to be shown.
    typer.echo(json.dumps(record, indent=2).replace("\x7f", r"\u007f"))
