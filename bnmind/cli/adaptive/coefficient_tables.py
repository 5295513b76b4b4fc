"""The parameters of the items with standard errors, as ``bnmind learn`` shows and writes them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import Coefficient, Coefficients, Learned

__all__ = ["coefficient_json", "coefficients_or_reason", "write_tables"]

_MOST_PARAMETERS = 3000
"""With more, standard errors take long, and need --coefficients to be asked for."""


def coefficients_or_reason(found: Learned, *, wanted: bool) -> Coefficients | str:
    """Return the parameters with standard errors, or why there are none.

    Parameters
    ----------
    found
        The learned bank.
    wanted
        Whether they are asked for, however many they are.
    """
    from bnmind.adaptive import coefficients

    if found.n_parameters > _MOST_PARAMETERS and not wanted:
        return f"{found.n_parameters:,} parameters; --coefficients FILE computes them"
    try:
        return coefficients(found)
    except BnmindError as fault:
        if wanted:
            raise
        return str(fault)


def write_tables(
    found: Learned, known: Coefficients | str, *, rows: Path | None, items: Path | None
) -> None:
    """Write the parameters as CSV, with a row for each and with a row for each item."""
    from bnmind._files import write_files
    from bnmind.adaptive.learning.fit.summary import item_frame

    if not isinstance(known, str):
        tables = ((rows, known.to_frame()), (items, item_frame(found, known)))
        texts = {
            path: table.to_csv(index=False, lineterminator="\n") for path, table in tables if path
        }
        write_files(texts)


def coefficient_json(known: Coefficients | str) -> dict[str, list[dict[str, Any]]]:
    """Return the parameters of each item for JSON; nothing if there are none."""
    by_item: dict[str, list[dict[str, Any]]] = {}
    for row in () if isinstance(known, str) else known.rows:
        by_item.setdefault(row.item, []).append(_record(row))
    return by_item


def _record(row: Coefficient) -> dict[str, Any]:
    error = None if math.isnan(row.error) else row.error
    record: dict[str, Any] = {"model": row.model, "name": row.name, "value": row.value}
    return record | {"error": error} | ({"note": row.note} if row.note else {})
