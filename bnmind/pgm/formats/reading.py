"""How readers treat tables whose rows do not sum to one, and what they report about a file.

Files print few digits, so the probabilities of a row may miss one. A row of n numbers that were
rounded to d decimals misses one by at most n/2 units of the last decimal. Programs that print
s significant digits round each number to a unit of its own. `rounding_bound` takes the more
generous of the two, with d and s read off the numbers of the whole table. A printed zero is taken
for a true one, so only the other numbers count. Rows that miss one by more than 0.1 are refused,
however few their digits are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm.tabular import ROW_TOLERANCE, TabularCPD, is_rounding_of_floats
from bnmind.pgm.variable import Variable

__all__ = [
    "DROP_HINT",
    "NORMALIZE_HINT",
    "PLAIN_READING",
    "REVERSED_PARENTS",
    "ModelFileWarning",
    "NormalizedTable",
    "Reading",
    "rounding_bound",
]

REVERSED_PARENTS = (
    "this file seems to be written by pyAgrum, which lists the parents of a table in reversed order"
    " in XDSL and UAI files, so tables of several parents may be wrong; save the network as BIF in"
    " pyAgrum, or convert it by Network.from_pyagrum"
)
"""The note about networks that pyAgrum (up to version 3.3.1) wrote to XDSL and UAI files."""

NORMALIZE_HINT = "(normalize=True corrects rounding)"
"""The remedy in errors about rows that miss one by rounding. The command line names its option."""

_EMPTY_HINT = "(normalize=True makes rows of NaN or null uniform)"

DROP_HINT = "(drop_decisions=True reads its chance nodes)"
"""The remedy in errors about influence diagrams. The command line names its option."""

_MOST_DIGITS = 17

_MOST_MISSING = 0.1 + 1e-9
"""The largest deviation of a row from one that counts as rounding."""


class ModelFileWarning(UserWarning):
    """A file can be read, but may not mean what its author thinks."""


@dataclass(frozen=True)
class NormalizedTable(Value):
    """A table of a file whose rows were normalized, because they did not sum to one.

    Rows without probabilities are reported apart from the others of the same table.
    """

    variable: str
    """The variable whose distribution the table is."""
    rows: int
    """The number of rows that did not sum to one."""
    total: float
    """The sum of the worst of these rows; NaN if a row holds no probabilities."""
    given: Mapping[str, str]
    """The states of the parents in the worst row."""

    def __str__(self) -> str:
        states = ", ".join(f"{name}={state}" for name, state in self.given.items())
        rows = "a row" if self.rows == 1 else f"{self.rows:,} rows"
        worst = f" (given {states})" if states else ""
        if np.isnan(self.total):
            return f"{self.variable}: {rows} without probabilities{worst}, now uniform"
        of = "" if self.rows == 1 else ", the worst"
        return f"{self.variable}: {rows}{of} of sum {self.total:.9g}{worst}"


def _warn(message: str) -> None:
    warnings.warn(message, ModelFileWarning, stacklevel=2)


def _ignore(_: NormalizedTable) -> None:
    pass


@dataclass(frozen=True)
class Reading:
    """How a reader treats rows that do not sum to one, and whom it tells about the file."""

    normalize: bool = False
    """Whether rows that miss one by no more than rounding are normalized. Rows within 1e-6 of one
    always are. Rows that hold only NaN, as R writes them for configurations of the parents without
    data, become uniform."""
    drop_decisions: bool = False
    """Whether the chance nodes of an influence diagram are read as a network. A decision on which
    they depend becomes a variable with a uniform distribution."""
    on_table: Callable[[NormalizedTable], None] = _ignore
    """Called for each table with rows that were normalized."""
    on_note: Callable[[str], None] = _warn
    """Called with whatever a reader should know about the file."""

    def corrected(self, scope: Sequence[Variable], values: Floats) -> Floats:
        """Return a table with those rows normalized that may be, for the checks of `TabularCPD`.

        Parameters
        ----------
        scope
            The child, then its parents.
        values
            An array with an axis for each variable of ``scope``.

        Raises
        ------
        InvalidModelError
            If rows miss one by rounding, and are not to be normalized.
        """
        values = np.asarray(values)
        if values.dtype.kind != "f" or values.shape != tuple(v.n_states for v in scope):
            return values  # refused by TabularCPD, too
        blank = np.isnan(values).all(axis=0)
        empty = blank if self.normalize else np.zeros((), dtype=bool)
        good = (values >= 0) & np.isfinite(values)
        if not np.all(good | empty):
            if np.all(good | blank):
                return _refused(scope, values, _EMPTY_HINT)
            return values  # refused by TabularCPD
        values = np.where(empty, 1 / len(values), values)
        sums = values.sum(axis=0)
        away = np.abs(sums - 1)
        off = ~is_rounding_of_floats(away, len(values)) | empty
        if not off.any():
            return values
        far = away > ROW_TOLERANCE
        if far.any():
            # The bound holds for the numbers of the file, so not for rows that are new.
            if np.any(away[far] > _bounds(values, empty)[far]):
                return values
            if not self.normalize:
                return _refused(scope, values, NORMALIZE_HINT)
            values = np.where(far, values / np.where(far, sums, 1.0), values)
        missing = np.broadcast_to(empty, sums.shape)
        if missing.any():
            self._report(scope, missing, missing.astype(np.float64), np.full(sums.shape, np.nan))
        if (off & ~missing).any():
            self._report(scope, off & ~missing, np.where(missing, 0.0, away), sums)
        return values

    def _report(
        self, scope: Sequence[Variable], rows: NDArray[np.bool_], badness: Floats, sums: Floats
    ) -> None:
        """Report some rows of a table, and the first of the worst of them."""
        at = np.unravel_index(int(np.argmax(badness)), sums.shape)
        states = {v.name: v.states[i] for v, i in zip(scope[1:], at, strict=True)}
        self.on_table(NormalizedTable(scope[0].name, int(rows.sum()), float(sums[at]), states))


PLAIN_READING = Reading()
"""Only rows within 1e-6 of one are normalized; notes become warnings."""


def _refused(scope: Sequence[Variable], values: Floats, hint: str) -> Floats:
    """Refuse a table as `TabularCPD` does, and name the remedy."""
    try:
        return TabularCPD(scope[0], tuple(scope[1:]), values).values
    except InvalidModelError as fault:
        raise InvalidModelError([f"{problem} {hint}" for problem in fault.problems]) from None


def _bounds(values: Floats, empty: object) -> Floats:
    printed = values[:, ~np.broadcast_to(np.asarray(empty), values.shape[1:])]
    bounds: Floats = np.zeros(values.shape[1:])
    bounds[~np.broadcast_to(np.asarray(empty), values.shape[1:])] = rounding_bound(printed)
    return np.minimum(bounds, _MOST_MISSING)


def rounding_bound(values: Floats) -> Floats:
    """Return by how much each column of numbers from 0 to 1 may miss one if they were rounded.

    Zeros count as exact.

    Parameters
    ----------
    values
        ``(states of the child, …)``: a table as printed.

    Examples
    --------
    >>> rounding_bound(np.array([[0.33, 0.5], [0.33, 0.25], [0.33, 0.25]])).round(4)
    array([0.015, 0.015])
    """
    positive = np.maximum(values[(values > 0) & (values < 1)], 1e-300)
    if not positive.size:
        return np.zeros(values.shape[1:])
    decimals = next(
        (d for d in range(1, _MOST_DIGITS) if np.array_equal(np.round(positive, d), positive)),
        _MOST_DIGITS,
    )
    exponents = np.floor(np.log10(positive))
    scaled = positive / 10.0**exponents
    digits = next(
        (
            d
            for d in range(_MOST_DIGITS - 4)
            if np.all(np.abs(np.round(scaled, d) - scaled) < 1e-12)
        ),
        _MOST_DIGITS,
    )
    by_decimals = (values > 0).sum(axis=0) * 0.5 * 10.0**-decimals
    # A number that was rounded to 1 was below 1, so its unit is that of 0.9.
    inside = np.clip(values, 1e-300, np.nextafter(1.0, 0.0))
    units = np.where(values > 0, 10.0 ** (np.floor(np.log10(inside)) - digits), 0.0)
    slack = 1e-9 * 10.0**-decimals
    bound: Floats = np.maximum(by_decimals, 0.5 * units.sum(axis=0)) + slack
    return bound
