"""What commands about people read: responses, Q-matrices, profiles, priors and designs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bnmind import adaptive
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import naming, printable, say
from bnmind.errors import BnmindError, InvalidModelError, TableError

if TYPE_CHECKING:
    from bnmind.adaptive.classification import KnownProfiles

DEFAULT_SELECTOR = "entropy"

ResponseFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="The file of the responses, a row for each examinee: CSV, Excel, SPSS, …",
    ),
]
GateName: TypeAlias = Annotated[
    str,
    command.OneOf("bnmind.adaptive.models:LEARNABLE", "Response models"),
    command.OneOf("bnmind.adaptive:IRT_MODELS", "Models of one ability without a Q matrix"),
]
SkillsName: TypeAlias = Annotated[
    str, command.OneOf("bnmind.adaptive:SKILL_DISTRIBUTIONS", "Distributions of the skills")
]
SelectorName: TypeAlias = Annotated[
    str,
    "NAME[:ARG]",
    command.OneOf("bnmind.adaptive:SELECTORS", "Selectors"),
    typer.Option(help="The selector, from the list below."),
]
PriorOption: TypeAlias = Annotated[
    str | None,
    "bank|uniform|FILE",
    typer.Option(
        help="The distribution of the skills before the first answer: that of the bank, or all"
        " profiles equally probable (the default of cdcatR), or a CSV file with a column for each"
        " skill and a column probability or count. [default: bank]",
    ),
]


def check_shares(given: Mapping[str, float | None], *, below: float = 1.0) -> None:
    """Raise BnmindError unless the values of options lie between 0 and a number, or are None."""
    for name, value in given.items():
        if value is not None and not 0 <= value <= below:
            raise BnmindError(f"expected {name} between 0 and {below:g}, got {value:g}")


# --- Responses ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a file of responses is read.

    Parameters
    ----------
    missing
        Another text or number that stands for a missing response, such as -9. Empty cells, NA, NaN
        and . always do. Repeat the option for several.
    id_column
        The column with the names of the examinees.
    ignore
        A column that is not an item. Repeat the option for several.
    fixed_width
        The first N characters of each line name the examinee, and each further character is a
        response, as in 0110.
    lowest
        The lowest response in the file, such as 1 on a scale from 1 to 5; it counts as 0.
    key
        The right answers, if the file holds answers such as A to D: a table with the columns item
        and key. The right answer counts as 1, and every other one as 0.
    """

    missing: Annotated[list[str] | None, "TEXT"] = None
    id_column: str | None = None
    ignore: Annotated[list[str] | None, "COLUMN"] = None
    fixed_width: Annotated[int | None, typer.Option(min=0)] = None
    lowest: Annotated[int, typer.Option(min=0)] = 0
    key: Path | None = None

    def read(
        self,
        path: Path,
        *,
        expected: Sequence[str] | None,
        choices: Path | adaptive.ItemBank | adaptive.QMatrix | None,
        group_column: str | None = None,
    ) -> adaptive.Responses:
        """Return the responses in a file.

        The lowest response counts as 0. The choices of items score columns of answers, if there is
        no key. The names of items are expected as by `Responses.from_csv`.
        """
        from bnmind.adaptive.response_tables import answer_keys

        key, lowest = self.key, self.lowest
        if key is not None and lowest:
            raise BnmindError("expected --key or --lowest, got both: a right answer counts as 1")
        keys = {}
        if isinstance(choices, Path):
            with naming(choices):
                keys = {} if lowest else answer_keys(choices, is_optional=True)
        elif isinstance(choices, adaptive.ItemBank) and not lowest:
            keys = answer_keys(choices)
        if key is not None:
            with naming(key):
                keys |= answer_keys(key)
        missing = tuple(text.replace("\N{MINUS SIGN}", "-") for text in self.missing or ())
        for text in missing:
            _check_one(text)
        with naming(path):
            found = adaptive.Responses.from_csv(
                path,
                expected=expected,
                missing=missing,
                id_column=self.id_column,
                group_column=group_column,
                ignore=tuple(self.ignore or ()),
                fixed_width=self.fixed_width,
                key=keys,
            )
            return found if lowest == 0 else _counted_from(lowest, found)

    def answers(
        self, path: Path, bank: adaptive.ItemBank, *, group_column: str | None = None
    ) -> adaptive.Responses:
        """Return the responses in a file to the items of a bank, and report how it was read."""
        found = self.read(path, expected=bank.item_names, choices=bank, group_column=group_column)
        with naming(path):
            found = found.for_bank(bank)
        say_notes(found)
        return found


_SEVERAL = re.compile(r"[-+]?\d+([ ]*[,;][ ]*[-+]?[1-9]\d*)+")
"""Several numbers in one text; a decimal comma with zeros, such as 9,0, is one number."""


def _check_one(missing: str) -> None:
    """Raise `BnmindError` for several numbers where one is expected."""
    if _SEVERAL.fullmatch(missing.strip()):
        options = " ".join(f"--missing {one}" for one in re.findall(r"[-+]?\d+", missing))
        raise BnmindError(
            f"expected one text or number for --missing, got {missing}; use {options}"
        )


def _counted_from(lowest: int, responses: adaptive.Responses) -> adaptive.Responses:
    """Return responses with the lowest one as 0."""
    import numpy as np

    given = responses.codes != adaptive.MISSING
    lower = responses.codes[given & (responses.codes < lowest)]
    if len(lower):
        raise TableError([f"expected responses from {lowest} on, got {lower.min()}; see --lowest"])
    return replace(responses, codes=np.where(given, responses.codes - lowest, adaptive.MISSING))


def say_notes(found: adaptive.Responses | KnownProfiles) -> None:
    """Report what was guessed or left out when a file was read, a line each."""
    for note in found.notes:
        say(f"note: {printable(note)}")


def qmatrix_for(path: Path, responses: Path, fixed_width: int | None) -> adaptive.QMatrix:
    """Return the Q-matrix in a file; the names in the responses may tell where its items are."""
    from bnmind.adaptive.items.text_tables import read_table
    from bnmind.adaptive.responses import names_in

    table = read_table(path)
    expected: tuple[str, ...] = ()
    if "item" not in [name.strip().lower() for name in table.header or ()]:
        with naming(responses):
            expected = names_in(read_table(responses, fixed_width=fixed_width))
    with naming(path):
        return adaptive.QMatrix.of(table, expected=expected)


def profiles_in(path: Path, bank: adaptive.ItemBank, examinees: Sequence[str]) -> KnownProfiles:
    """Return the profiles in the file of ``--profiles``; errors name it."""
    try:
        found = adaptive.read_profiles(path, bank, examinees)
    except TableError as fault:
        first, *others = fault.problems
        raise TableError([f"--profiles {path}: {first}", *others]) from fault
    say_notes(found)
    return found


# --- Tests ----------------------------------------------------------------------------------------


def with_named_prior(bank: adaptive.ItemBank, prior: str | None) -> adaptive.ItemBank:
    """Return a bank with the prior of the option, which names it or its file."""
    from bnmind.adaptive.bank_files import named_prior, prior_of

    if prior is None:
        return bank
    try:
        return prior_of(named_prior(prior), bank)
    except InvalidModelError as fault:
        raise BnmindError(f"--prior {prior}: {fault}") from fault


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """The design of a test.

    Parameters
    ----------
    design
        The design of the test as TOML: start, selector, exposure, content, testlets, enemies, stop.
        Other options may only add what it leaves open.
    stop
        When to stop, from the list below. Join stoppers by + to stop when all of them do. Repeat
        the option to stop when any of them does.
    """

    design: Path | None = None
    stop: Annotated[
        list[str] | None, "NAME:NUMBER", command.OneOf("bnmind.adaptive:STOPPERS", "Stoppers")
    ] = None
    prior: PriorOption = None

    def content(self, selector: str | None = None, seed: int | None = None) -> dict[str, Any]:
        """Return the content of the file, if there is one, with what other options add."""
        from bnmind._records import faults_in
        from bnmind.adaptive.design import design_content, with_options

        with faults_in(self.design):
            return with_options(
                {} if self.design is None else design_content(self.design),
                selector=selector,
                stop=self.stop or (),
                seed=seed,
                prior=self.prior,
            )

    def of(self, content: Mapping[str, Any], bank: adaptive.ItemBank) -> adaptive.Design:
        """Return the design of a content; without a file or a prior it has the default rules."""
        from bnmind._records import faults_in
        from bnmind.adaptive.design import DEFAULT_RULES, design_from

        with_named_prior(bank, self.prior)  # names the option in an error
        with faults_in(self.design):
            design = design_from(content, bank)
        if self.design is None and self.prior is None:
            return replace(design, rules=DEFAULT_RULES, text="")
        return design
