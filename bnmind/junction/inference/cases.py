"""The cases of a batch, with a column for each evidence variable.

A column of numbers holds state positions; a column of text or truth values, and every column
of a data frame, holds states. Which of the two a column means is never guessed from its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.inference.evidence import by_name, check_names, is_missing, real_numbers
from bnmind.pgm.variable import Variable

__all__ = ["case_findings", "case_likelihoods", "case_positions", "read_cases"]


def read_cases(
    given: Any, required: Sequence[Variable], soft: Sequence[Variable]
) -> dict[str, NDArray[Any]]:
    """Return the positions or likelihoods of the cases for each variable.

    Parameters
    ----------
    given
        A mapping from names to columns, or a `pandas.DataFrame`; see `case_positions` for a
        column. For soft variables, likelihoods ``(cases, states)`` are allowed too.
    required, soft
        The variables that need a state in every case, and those with soft evidence.

    Returns
    -------
    dict
        Positions ``(cases,)``, with -1 for missing values, or likelihoods ``(cases, states)``.

    Raises
    ------
    InvalidArgumentError
        If a required variable is not given, or a variable is unknown.
    UnknownNameError
        If a variable has no such state.
    InvalidArgumentError
        If a column holds anything else. The error names the case.
    """
    columns = by_name(given, "the cases")
    check_names(columns, required, soft)
    read: dict[str, NDArray[Any]] = {v.name: case_positions(v, columns[v.name]) for v in required}
    for v in soft:
        if v.name in columns and columns[v.name] is not None:
            column = columns[v.name]
            if _array(v, column).ndim == 1:
                read[v.name] = case_positions(v, column)
            else:
                read[v.name] = case_likelihoods(v, column).T
    return read


def case_positions(variable: Variable, column: Any) -> NDArray[np.intp]:
    """Return the state positions of many cases, ``(cases,)``, with -1 for missing values.

    Parameters
    ----------
    variable
        The variable of the column.
    column
        State positions as whole numbers, with -1, NaN or None for missing values; or states as
        text or truth values; or a column of a data frame, whose values are states of any type.

    Raises
    ------
    InvalidArgumentError
        If a position is out of range, or the argument is not a column. The error names the case.
    UnknownNameError
        If the variable does not have a state.
    """
    positions = _array(variable, column)
    if positions.ndim != 1:
        raise InvalidArgumentError(
            f"expected a column of states or positions for {variable.name}, got an array of shape"
            f" {positions.shape} of {positions.dtype}",
            column,
        )
    if not isinstance(column, np.ndarray) and hasattr(column, "to_numpy"):
        return _positions_of_states(variable, positions)
    if positions.dtype.kind not in "iu":
        values = positions.tolist()
        present = [value for value in values if not is_missing(value)]
        if present and all(isinstance(value, str | bool) for value in present):
            return _positions_of_states(variable, positions)
        positions = _whole_numbers(variable, values)
    wrong = np.flatnonzero((positions < -1) | (positions >= variable.n_states))
    if wrong.size:
        raise InvalidArgumentError(
            f"expected positions from 0 to {variable.n_states - 1}, or -1 where missing, for"
            f" {variable.name}, got {positions[wrong[0]]} in case {wrong[0]}",
            column,
        )
    return positions.astype(np.intp)


def _array(variable: Variable, column: Any) -> NDArray[Any]:
    try:
        array = np.asarray(column)
        if array.dtype.kind in "USb" and isinstance(column, Sequence):
            # NumPy converts mixed lists to text: None to "None", NaN to "nan".
            array = np.asarray(column, dtype=object)
        return array
    except (ValueError, TypeError) as fault:
        raise InvalidArgumentError(
            f"expected a column of states of {variable.name}, one for each case, got"
            f" {shown(column)}",
            column,
        ) from fault


def _positions_of_states(variable: Variable, states: NDArray[Any]) -> NDArray[np.intp]:
    """Return the positions of states as text, numbers or truth values."""
    known: dict[Any, int] = {}
    positions = np.empty(len(states), dtype=np.intp)
    for case, state in enumerate(states.tolist()):
        # Equal values of different types may be different states.
        key = (type(state), state)
        place = known.get(key) if isinstance(state, str | bool | int | float) else None
        if place is None:
            place = -1 if is_missing(state) else _position(variable, state, case)
            if isinstance(state, str | bool | int | float):
                known[key] = place
        positions[case] = place
    return positions


def _position(variable: Variable, state: Any, case: int) -> int:
    try:
        return variable.index(state)
    except UnknownNameError as fault:
        raise UnknownNameError(
            f"state of {variable.name} in case {case}", fault.name, fault.known
        ) from None


def _whole_numbers(variable: Variable, values: Sequence[Any]) -> NDArray[np.intp]:
    """Return whole numbers as an array, with -1 for missing values."""
    positions = np.full(len(values), -1, dtype=np.intp)
    for case, value in enumerate(values):
        if is_missing(value):
            continue
        if isinstance(value, bool) or not (
            isinstance(value, int | float | np.number) and float(value).is_integer()
        ):
            raise InvalidArgumentError(
                f"expected a column of positions or a column of states for {variable.name}, got"
                f" {shown(value)} in case {case}",
                value,
            )
        positions[case] = max(min(int(value), variable.n_states), -2)
    return positions


def case_likelihoods(variable: Variable, cases: Any) -> Floats:
    """Return the likelihoods of many cases, ``(states, cases)``.

    Parameters
    ----------
    variable
        The variable of the cases.
    cases
        Likelihoods ``(cases, states)``, or a column as for `case_positions`; a missing value has
        the likelihood one for every state.
    """
    array = _array(variable, cases)
    if array.ndim == 1:
        columns = np.column_stack([np.eye(variable.n_states), np.ones(variable.n_states)])
        likelihoods: Floats = columns.take(case_positions(variable, cases), axis=1)
        return likelihoods
    weights: Floats = real_numbers(array, f"the likelihoods of {variable.name}")
    if weights.ndim != 2 or weights.shape[1] != variable.n_states:
        raise InvalidArgumentError(
            f"expected likelihoods of shape (cases, {variable.n_states}) for {variable.name}, got"
            f" {weights.shape}",
            cases,
        )
    wrong = np.flatnonzero(~np.all((weights >= 0) & np.isfinite(weights), axis=1))
    if wrong.size:
        raise InvalidArgumentError(
            f"likelihoods of {variable.name} must be finite and not negative, got"
            f" {weights[wrong[0]].tolist()} in case {wrong[0]}",
            cases,
        )
    return np.ascontiguousarray(weights.T)


def case_findings(
    variables: Iterable[Variable], cases: Mapping[str, NDArray[Any]], number: int
) -> dict[str, Any]:
    """Return the findings of one of many cases, as for a single run.

    Parameters
    ----------
    variables
        The evidence variables.
    cases
        For some of them, the positions or likelihoods of all cases, as returned by `read_cases`.
    number
        The number of the case. Missing values are omitted.
    """
    findings: dict[str, Any] = {}
    for v in variables:
        if v.name in cases:
            finding = cases[v.name][number]
            if finding.ndim or finding >= 0:
                findings[v.name] = finding if finding.ndim else v.states[int(finding)]
    return findings
