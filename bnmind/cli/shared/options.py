"""Options that several commands share."""

from __future__ import annotations

import csv
from typing import Annotated, TypeAlias

import typer

from bnmind._messages import shown
from bnmind.errors import BnmindError

__all__ = [
    "DEFAULT_COLORS",
    "DEFAULT_PEGS",
    "Colors",
    "History",
    "Json",
    "NoRepeats",
    "Noise",
    "Pegs",
    "Seed",
    "listed_names",
]

DEFAULT_PEGS = 4
DEFAULT_COLORS = 6

_NOISE = "exact, false:P, independent:P or file:PATH."

Pegs: TypeAlias = Annotated[int, typer.Option("--pegs", help="Positions of a code.")]
Colors: TypeAlias = Annotated[int, typer.Option("--colors", help="Colors that a peg can have.")]
NoRepeats: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-repeats/--repeats",
        help="Whether a color may occur twice, in codes and in guesses. [default: it may]",
        show_default=False,
    ),
]
Noise: TypeAlias = Annotated[
    str, typer.Option("--noise", metavar="NOISE", help=f"How replies are falsified: {_NOISE}")
]
History: TypeAlias = Annotated[
    str,
    typer.Option(
        "--history",
        metavar="TEXT",
        help='Guesses and the replies to them, like "1123 1b1w, 2345 0b2w".',
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N", help="Makes all that is random repeatable."),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, numbers in full precision, entropies in bits.")
]


def listed_names(text: str, separator: str) -> tuple[str, ...]:
    """Return the names between separators; one that holds a separator stands in double quotes.

    Raises
    ------
    BnmindError
        If a quote is not closed.

    Examples
    --------
    >>> listed_names('No of people,"a, b"', ",")
    ('No of people', 'a, b')
    """
    try:
        rows = list(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        raise BnmindError(
            f"expected names between {separator}, those with quotes or {separator} in them in"
            f' double quotes ("" for a quote), got {shown(text)}'
        ) from None
    return tuple(name.strip() for name in rows[0]) if rows else ()
