"""States as the column of a user has them: text, numbers, truth values or categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.cases.table import CaseTable
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["spelled"]


def spelled(
    table: CaseTable, variable: Variable, positions: NDArray[Any], index: pandas.Index[Any]
) -> pandas.Series[Any]:
    """Return states of a variable as values of its column.

    Parameters
    ----------
    table
        The cases. If they have a column of the variable, the result has its type, with a nullable
        type for whole numbers and truth values if a state is missing. A state that does not occur
        in the column is converted in the same way, if possible. Otherwise, states are text.
    variable
        The variable.
    positions
        State positions, ``(rows,)``; -1 becomes a missing value.
    index
        The index of the result.
    """
    import pandas

    if variable.name not in table.columns:
        values = np.array([*variable.states, None], dtype=object)[positions]
        return pandas.Series(values, index=index, name=variable.name, dtype="str")
    column = table.columns[variable.name]
    of_user = table.frame[column.label]
    known: dict[int, int] = {}
    for number, place in enumerate(column.places):
        known.setdefault(place, number)
    if isinstance(of_user.dtype, pandas.CategoricalDtype):
        values = _categories(of_user.dtype, variable, known, positions)
        return pandas.Series(values, index=index, name=column.label)
    make = _converter(of_user)
    lookup = np.empty(variable.n_states + 1, dtype=object)
    for place, state in enumerate(variable.states):
        lookup[place] = column.values[known[place]] if place in known else make(state)
    lookup[-1] = None
    values = lookup[positions]
    kind: Any = of_user.dtype
    if (positions < 0).any():
        kind = {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(getattr(kind, "kind", ""), kind)
    if getattr(kind, "kind", "") == "b" and not _truth_values(lookup[np.unique(positions)]):
        kind = object  # a cast would turn any text into True
    series: pandas.Series[Any]
    try:
        series = pandas.Series(values, index=index, name=column.label, dtype=kind)
    except (ValueError, TypeError, OverflowError):  # a state that does not fit among numbers
        series = pandas.Series(values, index=index, name=column.label, dtype=object)
    return series


def _truth_values(values: NDArray[Any]) -> bool:
    """Return whether all values are truth values or missing."""
    return all(value is None or isinstance(value, bool | np.bool_) for value in values)


def _categories(
    kind: pandas.CategoricalDtype,
    variable: Variable,
    known: Mapping[int, int],
    positions: NDArray[Any],
) -> pandas.Categorical:
    """Return states as categories, which are extended by states that are not among them."""
    import pandas

    categories = kind.categories.tolist()
    codes = np.full(variable.n_states + 1, -1, dtype=np.intp)
    used = set(np.unique(positions).tolist())
    for place, state in enumerate(variable.states):
        if place in known:
            codes[place] = known[place]
        elif place in used:
            codes[place] = len(categories)
            categories.append(state)
    if len(categories) > len(kind.categories):
        kind = pandas.CategoricalDtype(categories, ordered=kind.ordered)
    return pandas.Categorical.from_codes(codes[positions], dtype=kind)


def _converter(series: pandas.Series[Any]) -> Callable[[str], Any]:
    """Return a function that converts the text of a state to a value of a column."""
    kind = getattr(series.dtype, "kind", "O")
    present = series.dropna()
    if kind == "O" and len(present):
        kinds = {int: "i", float: "f", bool: "b"}
        kind = kinds.get(type(present.iloc[0]), "O")

    def convert(state: str) -> Any:
        try:
            if kind == "b":
                return {"true": True, "false": False, "1": True, "0": False}[state.casefold()]
            if kind in "iu":
                return int(float(state)) if float(state).is_integer() else float(state)
            return float(state) if kind == "f" else state
        except (KeyError, ValueError, OverflowError):
            return state

    return convert
