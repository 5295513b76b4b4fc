"""The parameters of the items with standard errors, as ``bnmind learn`` shows and writes them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind.cli.adaptive.irt_models import curve_estimates
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import Coefficient, Coefficients, Learned

__all__ = ["coefficient_json", "coefficients_or_reason", "item_table", "write_coefficients"]

_MOST_PARAMETERS = 3000
"""With more, standard errors take long, and need --coefficients to be asked for."""

_NONE = "–"
_ALONE = " of each item by itself, as the responses have fewer patterns than there are parameters"


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


def write_coefficients(found: Coefficients, path: Path) -> None:
    """Write the parameters as CSV."""
    from bnmind._text_files import write_file

    write_file(path, found.to_frame().to_csv(index=False, lineterminator="\n"))


def item_table(found: Learned, known: Coefficients | str) -> tuple[list[str], list[list[str]], str]:
    """Return the columns and a row of texts for each item, and a line below the table."""
    curves = curve_estimates(found)
    if isinstance(known, str):
        below = f"No standard errors: {known}."
    else:
        below = f"error is the standard error{_ALONE * known.item_by_item}; {_NONE} stands for a"
        below += " parameter that is fixed, at a bound, held by an order, or not identified."
    if len(curves) < len(found.items):
        names = ["guess", "slip"]
        values = {item.name: {"guess": item.guess, "slip": item.slip} for item in found.items}
    else:
        names = list(dict.fromkeys(name for row in curves.values() for name in row))
        values = curves
    errors: dict[tuple[str, str], float] = {}
    if not isinstance(known, str):
        rows = known.chances if values is not curves else known.rows
        errors = {(row.item, row.name): row.error for row in rows}
    columns = [title for name in names for title in (name, *["error"] * bool(errors))]
    texts = []
    for item, row in values.items():
        cells = [item]
        for name in names:
            cells.append(f"{row[name]:.3f}" if name in row else "")
            if errors:
                error = errors.get((item, name), math.nan)
                cells.append("" if name not in row else _text(error))
        texts.append(cells)
    return columns, texts, below


def _text(error: float) -> str:
    return _NONE if math.isnan(error) else f"{error:.3f}"


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
