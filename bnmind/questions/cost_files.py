"""Costs of questions in a CSV file with the columns ``question`` and ``cost``."""

from __future__ import annotations

import csv
import math
import os

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text
from bnmind._messages import first_faults, listed, shown
from bnmind.errors import ModelFileError

__all__ = ["read_costs"]

_HEADER = ["question", "cost"]


@checked
def read_costs(path: str | os.PathLike[str]) -> dict[str, float]:
    """Return the costs in a CSV file, {question: cost}.

    Parameters
    ----------
    path
        The file. Its first line is ``question,cost``.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or is not of this form. The error lists all faulty lines.
    """
    place = os.fspath(path)
    try:
        rows = list(csv.reader(read_text(path, most=SMALL_FILE).splitlines(), strict=True))
    except csv.Error as fault:
        raise ModelFileError(f"{place} is not a CSV file: {fault}", place) from fault
    if not rows or [cell.strip() for cell in rows[0]] != _HEADER:
        raise ModelFileError(
            f"expected a CSV file with the first line question,cost in {place}, got"
            f" {shown(','.join(rows[0]) if rows else '')}",
            place,
        )
    costs: dict[str, float] = {}
    faults = []
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        name, cost = row[0].strip(), _number(row[1]) if len(row) == 2 else math.nan
        if not (name and cost >= 0 and math.isfinite(cost)):
            faults.append(f"line {line} must be a question and a cost of at least 0, got {row}")
        elif name in costs:
            faults.append(f"line {line} names {name} again")
        costs[name] = cost
    if faults:
        raise ModelFileError(f"{listed(first_faults(faults))}, in {place}", place)
    return costs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
