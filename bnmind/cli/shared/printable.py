"""Safe output of text to the terminal.

Titles, names and states come from files, and file names from the command line. A terminal would
obey escape sequences in them, and move the cursor, clear the screen or set its title.
"""

from __future__ import annotations

import json

import typer

from bnmind._messages import visible

__all__ = ["printable", "tell", "tell_json"]


def printable(text: str) -> str:
    r"""Return a printable text of any number of lines; see `visible`.

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
    # The only ASCII control character that JSON does not escape.
    typer.echo(json.dumps(record, indent=2).replace("\x7f", r"\u007f"))
