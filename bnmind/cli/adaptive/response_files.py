"""Options for files of responses, and how a command reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

import typer

from bnmind.cli.shared.terminal import naming, printable, say
from bnmind.errors import BnmindError, ResponseTableError

if TYPE_CHECKING:
    from bnmind.adaptive import ItemBank, QMatrix, Responses
    from bnmind.pgm import CPD

__all__ = [
    "FixedWidth",
    "GroupColumn",
    "IdColumn",
    "IgnoredColumns",
    "KeyFile",
    "Lowest",
    "MissingTexts",
    "QMatrixFile",
    "ResponseFile",
    "TableOptions",
    "as_in_file",
    "read_response_file",
    "say_notes",
]

ResponseFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="The file of the responses, a row for each examinee: CSV, Excel, SPSS, …",
    ),
]
QMatrixFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="The Q-matrix: CSV, Excel, SPSS, …")
]
MissingTexts: TypeAlias = Annotated[
    list[str] | None,
    "TEXT",
    typer.Option(
        help="Another text or number that stands for a missing response, such as -9. Empty cells,"
        " NA, NaN and . always do. Repeat the option for several.",
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None, typer.Option(help="The column with the names of the examinees.")
]
GroupColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The column with the groups of the examinees, not an item. A column named group"
        " is found without this option.",
    ),
]
IgnoredColumns: TypeAlias = Annotated[
    list[str] | None,
    "COLUMN",
    typer.Option(
        help="A column that is not an item. Repeat the option for several.",
    ),
]
FixedWidth: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="The first N characters of each line name the examinee, and each further character"
        " is a response, as in 0110.",
    ),
]
Lowest: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0,
        help="The lowest response in the file, such as 1 on a scale from 1 to 5; it counts as 0.",
    ),
]
KeyFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The right answers, if the file holds answers such as A to D: a table with the columns"
        " item and key. The right answer counts as 1, and every other one as 0.",
    ),
]


class TableOptions(Protocol):
    """What every command that reads responses may be told of their file."""

    @property
    def missing(self) -> Sequence[str] | None:
        """The texts that stand for a missing response."""

    @property
    def id_column(self) -> str | None:
        """The column of the names of the examinees."""

    @property
    def ignore(self) -> Sequence[str] | None:
        """The columns that are not items."""

    @property
    def fixed_width(self) -> int | None:
        """The characters of a line that name the examinee."""

    @property
    def lowest(self) -> int:
        """The lowest response."""

    @property
    def key(self) -> Path | None:
        """The file of the right answers."""


def read_response_file(
    path: Path,
    options: TableOptions,
    *,
    expected: Sequence[str] | None,
    choices: Path | ItemBank | QMatrix | None,
) -> Responses:
    """Return the responses in a file, by the options of a command.

    The lowest response counts as 0. The choices of items score columns of answers, if there is no
    key. The names of items are expected as by `Responses.from_csv`.
    """
    from bnmind.adaptive import ItemBank, Responses
    from bnmind.adaptive.items.descriptions import answer_keys

    key, lowest = options.key, options.lowest
    if key is not None and lowest:
        raise BnmindError("expected --key or --lowest, got both: a right answer counts as 1")
    keys = {}
    if isinstance(choices, Path):
        with naming(choices):
            keys = {} if lowest else answer_keys(choices, is_optional=True)
    elif isinstance(choices, ItemBank) and not lowest:
        keys = answer_keys(choices)
    if key is not None:
        with naming(key):
            keys |= answer_keys(key)

    missing = tuple(text.replace("\N{MINUS SIGN}", "-") for text in options.missing or ())
    for text in missing:
        _check_one(text)
    with naming(path):
        found = Responses.from_csv(
            path,
            expected=expected,
            missing=missing,
            id_column=options.id_column,
            group_column=getattr(options, "group_column", None),
            ignore=tuple(options.ignore or ()),
            fixed_width=options.fixed_width,
            key=keys,
        )
        return found if lowest == 0 else _counted_from(lowest, found)


_SEVERAL = re.compile(r"[-+]?\d+([ ]*[,;][ ]*[-+]?[1-9]\d*)+")
"""Several numbers in one text; a decimal comma with zeros, such as 9,0, is one number."""


def _check_one(missing: str) -> None:
    """Raise `BnmindError` for several numbers where one is expected."""
    if _SEVERAL.fullmatch(missing.strip()):
        options = " ".join(f"--missing {one}" for one in re.findall(r"[-+]?\d+", missing))
        raise BnmindError(
            f"expected one text or number for --missing, got {missing}; use {options}"
        )


def _counted_from(lowest: int, responses: Responses) -> Responses:
    """Return responses with the lowest one as 0."""
    import numpy as np

    from bnmind.adaptive import MISSING

    given = responses.codes != MISSING
    lower = responses.codes[given & (responses.codes < lowest)]
    if len(lower):
        raise ResponseTableError(
            [f"expected responses from {lowest} on, got {lower.min()}; see --lowest"]
        )
    return replace(responses, codes=np.where(given, responses.codes - lowest, MISSING))


def as_in_file(bank: ItemBank, lowest: int) -> ItemBank:
    """Return a bank whose items call their responses as the file does, such as 1 to 5.

    Only items that count their responses from 0 are changed, and of those with choices none.
    """
    from bnmind.pgm import Network, TabularCPD, Variable

    if lowest == 0:
        return bank
    changed: dict[str, CPD] = {}
    for item in bank.items:
        cpd = bank.network.cpd(item.name)
        n = cpd.variable.n_states
        if item.choices or cpd.variable.states != tuple(map(str, range(n))):
            continue
        variable = Variable.of_integers(item.name, range(lowest, lowest + n))
        if item.gate is not None:
            changed[item.name] = item.gate.cpd(variable, cpd.parents)
        elif isinstance(cpd, TabularCPD):
            changed[item.name] = TabularCPD(variable, cpd.parents, cpd.values)
    cpds = (changed.get(cpd.variable.name, cpd) for cpd in bank.network.cpds)
    return replace(bank, network=Network(tuple(cpds)))


def say_notes(responses: Responses) -> None:
    """Report what was guessed or left out when responses were read, a line each."""
    for note in responses.notes:
        say(f"note: {printable(note)}")
