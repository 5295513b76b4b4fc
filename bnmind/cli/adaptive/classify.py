"""``bnmind classify``: the profiles and skills of examinees by their responses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind._files import check_writable, write_file
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
from bnmind.cli.shared.command import Json
from bnmind.cli.shared.errors import naming, say
from bnmind.cli.shared.printable import tell_json
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from rich.console import Console

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
    out: Path | None = None
    profiles: Path | None = None
    prior: PriorOption = None
    missing: MissingTexts = None
    id_column: IdColumn = None
    group_column: GroupColumn = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None
    json_output: Json = False


def classify(options: ClassifyOptions) -> None:
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

    if options.out is not None:
        if options.out.suffix.lower() != ".csv":
            raise BnmindError(f"expected a file name ending in .csv for --out, got {options.out}")
        check_writable(options.out)
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
    if options.json_output:
        tell_json(_as_json(found, agreement, options.out))
    else:
        _show(found, agreement, options.out)


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


def _as_json(
    found: Classification, agreement: Agreement | None, out: Path | None
) -> dict[str, Any]:
    from bnmind.adaptive.classification.likelihood_fit import MISFIT

    reliability = found.reliability
    skills = [
        {
            "name": row.skill,
            "mean": mean,
            "accuracy": row.accuracy,
            "consistency": _finite(row.consistency),
            "eap_reliability": _finite(eap),
        }
        for row, mean, eap in zip(
            reliability.skills,
            found.expected.mean(axis=0).tolist(),
            found.eap_reliability.tolist(),
            strict=True,
        )
    ]
    return {
        "examinees": len(found),
        "log_likelihood": float(found.log_evidence.sum()),
        "accuracy": reliability.accuracy,
        "consistency": _finite(reliability.consistency),
        "skills": skills,
        "groups": [
            {
                "name": name,
                "examinees": n,
                "means": dict(zip(found.bank.skills, means, strict=True)),
            }
            for name, n, means in _groups(found)
        ],
        "misfits": int((found.fit < MISFIT).sum()),
        "impossible": int(found.impossible.sum()),
        "agreement": None if agreement is None else _finite_all(asdict(agreement)),
        "out": None if out is None else str(out),
    }


def _groups(found: Classification) -> Iterator[tuple[str, int, list[float]]]:
    """Yield each group, the number of its examinees, and the mean of each skill."""
    import numpy as np

    groups = np.array(found.responses.groups, dtype=object)
    for name in sorted(set(found.responses.groups)):
        rows = groups == name
        yield name, int(rows.sum()), found.expected[rows].mean(axis=0).tolist()


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _finite_all(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite_all(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite_all(value) for value in content]
    return _finite(content) if isinstance(content, float) else content


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _show(found: Classification, agreement: Agreement | None, out: Path | None) -> None:
    from bnmind.adaptive.beliefs.ability_estimates import has_ability
    from bnmind.adaptive.classification.likelihood_fit import MISFIT
    from bnmind.cli.shared.show import counted, terminal

    console = terminal()
    console.print(
        f"{counted(len(found), 'examinee')}, {counted(len(found.bank.items), 'item')},"
        f" {counted(len(found.bank.skills), 'skill')};"
        f" {counted(found.responses.n_missing, 'response')} missing.",
        soft_wrap=True,
    )
    if has_ability(found.bank):
        console.print(
            f"Mean ability {found.expected.mean():.3f}, mean standard error"
            f" {found.deviations.mean():.3f}, reliability {_number(found.eap_reliability[0])}.",
            soft_wrap=True,
        )
    else:
        _show_skills(console, found)
    if found.responses.groups:
        _show_groups(console, found)
    misfits = int((found.fit < MISFIT).sum())
    console.print(
        f"Person fit is bad (below {MISFIT}) for {counted(misfits, 'examinee')}.", soft_wrap=True
    )
    if found.impossible.any():
        console.print(
            f"By the bank, the answers of {counted(int(found.impossible.sum()), 'examinee')} are"
            " impossible together; each of these answers counts as an error with a probability of"
            " 2^-40.",
            soft_wrap=True,
        )
    if agreement is not None:
        _show_agreement(console, agreement)
    if out is not None:
        console.print(f"Written to {out}.", soft_wrap=True)


def _show_skills(console: Console, found: Classification) -> None:
    from bnmind.cli.shared.show import plain_table, show_table

    reliability = found.reliability
    console.print("If the bank holds, the test classifies:")
    table = plain_table("", "mean level", "accuracy", "consistency")
    table.add_row(
        "whole profile", "", _number(reliability.accuracy), _number(reliability.consistency)
    )
    for row, mean in zip(reliability.skills, found.expected.mean(axis=0), strict=True):
        table.add_row(row.skill, f"{mean:.3f}", _number(row.accuracy), _number(row.consistency))
    show_table(console, table)


def _show_groups(console: Console, found: Classification) -> None:
    from bnmind.cli.shared.show import plain_table, show_table

    console.print("Mean level in each group:")
    table = plain_table("group", "examinees", *found.bank.skills)
    for name, n, means in _groups(found):
        table.add_row(name or "–", str(n), *(f"{mean:.3f}" for mean in means))
    show_table(console, table)


def _show_agreement(console: Console, agreement: Agreement) -> None:
    from bnmind.cli.shared.show import counted, plain_table, show_table

    console.print(
        f"Shares of right classifications, for {counted(agreement.n_examinees, 'examinee')} with a"
        " known profile:",
        soft_wrap=True,
    )
    table = plain_table("", "MAP", "EAP")
    table.add_row(
        "whole profile",
        _number(agreement.pattern_accuracy),
        _number(agreement.pattern_accuracy_marginals),
    )
    table.add_row(
        "mean of skills",
        _number(agreement.attribute_accuracy),
        _number(agreement.attribute_accuracy_marginals),
    )
    for row in agreement.skills:
        table.add_row(row.skill, _number(row.most_probable_profile), _number(row.marginals))
    show_table(console, table)
