"""The option ``--profiles``: the true levels of the skills of recorded examinees."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind.cli.shared.terminal import printable, say
from bnmind.errors import ResponseTableError

if TYPE_CHECKING:
    from bnmind.adaptive import Examinees, ItemBank, KnownProfiles

__all__ = ["profiles_in", "with_profiles"]


def profiles_in(path: Path, bank: ItemBank, examinees: Sequence[str]) -> KnownProfiles:
    """Return the profiles in a file; errors name it, and notes say how it was read."""
    from bnmind.adaptive import read_profiles

    try:
        found = read_profiles(path, bank, examinees)
    except ResponseTableError as fault:
        first, *others = fault.problems
        raise ResponseTableError([f"--profiles {path}: {first}", *others]) from fault
    for note in found.notes:
        say(f"note: {printable(note)}")
    return found


def with_profiles(
    people: Examinees, bank: ItemBank, path: Path, examinees: Sequence[str]
) -> Examinees:
    """Return examinees with the true levels in a file; the rows are matched as by `read_profiles`.

    Raises
    ------
    ResponseTableError
        If a skill has no column, a level is unknown, or rows and examinees do not match.
    """
    levels = profiles_in(path, bank, examinees).levels
    skills = tuple(bank.variable(name) for name in bank.skills)
    return dataclasses.replace(people, skills=skills, levels=levels)
