"""The option ``--profiles``: the true levels of the skills of recorded examinees."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._bounded_files import LARGE_FILE, read_text
from bnmind._messages import shown
from bnmind.errors import ResponseTableError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import Examinees, ItemBank

__all__ = ["with_profiles"]


def with_profiles(people: Examinees, bank: ItemBank, path: Path) -> Examinees:
    """Return examinees with the true levels in a CSV file, a row for each in the same order.

    Raises
    ------
    ResponseTableError
        If a skill has no column, a level is unknown, or there are not as many rows.
    """
    import numpy as np

    rows = [row for row in csv.reader(read_text(path, most=LARGE_FILE).splitlines()) if any(row)]
    head, body = (rows[0], rows[1:]) if rows else ([], [])
    head = [name.strip() for name in head]
    faults = [
        f"{path}: no column for the skill {name}, among {shown(head)}"
        for name in bank.skills
        if name not in head
    ]
    if len(body) != len(people):
        faults.append(
            f"{path}: expected {len(people)} rows, one for each examinee, got {len(body)}"
        )
    if faults:
        raise ResponseTableError(faults)
    levels = np.empty((len(body), len(bank.skills)), dtype=np.intp)
    for column, name in enumerate(bank.skills):
        states = bank.variable(name).states
        place = head.index(name)
        for number, row in enumerate(body):
            text = row[place].strip() if place < len(row) else ""
            if text in states:
                levels[number, column] = states.index(text)
            else:
                known = UnknownNameError("level", text, states)
                faults.append(f"{path}, row {number + 1}, {name}: {known}")
    if faults:
        raise ResponseTableError(faults)
    skills = tuple(bank.variable(name) for name in bank.skills)
    return dataclasses.replace(people, skills=skills, levels=levels)
