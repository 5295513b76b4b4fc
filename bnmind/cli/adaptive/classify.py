"""``bnmind classify``: the profiles and skills of examinees by their responses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bnmind._display.results import Result, parts_of
from bnmind._files import write_file
from bnmind.cli.adaptive.designs import PriorOption, with_named_prior
from bnmind.cli.adaptive.response_files import (
    FixedWidth,
    GroupColumn,
    IdColumn,
    IgnoredColumns,
    KeyFile,
    Lowest,
    MissingTexts,
    ResponseFile,
    read_response_file,
    say_notes,
)
from bnmind.cli.adaptive.true_profiles import profiles_in
from bnmind.cli.shared.command import Outcome, Place
from bnmind.cli.shared.terminal import naming, say, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import Agreement, Classification

__all__ = ["classify"]

_FAR = 0.25
"""A share of right profiles so far below the expected one deserves a note."""


@dataclass(frozen=True)
class ClassifyOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        The file of the item bank.
    out
        The CSV file for the classification.
    profiles
        The known profiles, as CSV.
    """

    bank: Path
    responses: ResponseFile
    _: KW_ONLY
    out: Annotated[Path | None, Place("classification", (".csv",))] = None
    profiles: Path | None = None
    prior: PriorOption = None
    missing: MissingTexts = None
    id_column: IdColumn = None
    group_column: GroupColumn = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None


def classify(options: ClassifyOptions) -> Result:
    """Classify examinees by their responses to the items of a bank.

    RESPONSES is a CSV file as for learn. The file of --out has a row for each examinee: the most
    probable profile (map_SKILL) with its probability, the expected level of each skill (eap_SKILL;
    for two levels the probability of having the skill), its most probable level by itself
    (level_SKILL), the entropy in bits, the log-likelihood, and person fit, which is bad below
    -1.645. The command prints how accurately and how consistently the test classifies, if the bank
    holds. With --profiles, a CSV file with a column for each skill, it compares the classification
    with known profiles.

    Examples
    --------
    bnmind classify BANK.json RESPONSES.csv --out people.csv
    bnmind classify BANK.json RESPONSES.csv --group-column class
    bnmind classify BANK.json RESPONSES.csv --profiles TRUTH.csv --json
    """
    from bnmind.adaptive import classify as classified
    from bnmind.adaptive import read_bank

    _check_order(options.bank, options.responses)
    bank = with_named_prior(read_bank(options.bank), options.prior)
    data = read_response_file(options.responses, options, expected=bank.item_names, choices=bank)
    with naming(options.responses):
        data = data.for_bank(bank)
    say_notes(data)
    known = None
    if options.profiles is not None:
        known = profiles_in(options.profiles, bank, data.examinees).levels
    found = working("classifying", lambda report: classified(bank, data, progress=report))
    agreement = None if known is None else found.agreement_with(known)
    if agreement is not None:
        _warn(found, agreement)
    if options.out is not None:
        frame = found.to_frame()
        write_file(options.out, frame.to_csv(index=False, lineterminator="\n"))
    parts, record = parts_of(found), found.to_dict()
    if agreement is not None:
        parts += parts_of(agreement)
    if options.out is not None:
        parts += (f"Written to {options.out}.",)
    record["agreement"] = None if agreement is None else agreement.to_dict()
    return Outcome({**record, "out": None if options.out is None else str(options.out)}, parts)


def _check_order(bank: Path, responses: Path) -> None:
    """Raise BnmindError if the bank seems to stand behind the responses."""
    from bnmind.pgm.files import NETWORK_SUFFIXES

    kinds = [path.suffix.lower() in NETWORK_SUFFIXES for path in (bank, responses)]
    if kinds == [False, True]:
        raise BnmindError(f"expected the bank before the responses, got {bank} before {responses}")


def _warn(found: Classification, agreement: Agreement) -> None:
    """Say so if profiles seem to be those of other examinees."""
    expected = found.reliability.accuracy
    if agreement.pattern_accuracy < expected - _FAR:
        say(
            f"note: {agreement.pattern_accuracy:.3f} of the profiles are right, and"
            f" {expected:.3f} were expected; the rows of the two files may be in different orders,"
            " or the bank does not hold for these examinees"
        )
