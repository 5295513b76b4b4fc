"""Cases to learn from, read from a data frame or from columns by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed
from bnmind._values import Sealed
from bnmind.errors import BnmindError, InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.inference.cases import case_positions
from bnmind.junction.inference.evidence import by_name
from bnmind.pgm.network import Network

if TYPE_CHECKING:
    import pandas

__all__ = ["CaseTable", "Cases"]

Cases: TypeAlias = "Mapping[str, Any] | pandas.DataFrame"
"""Cases, with a column for each variable: a data frame of states, or a mapping from names to
columns of states as text or of state positions. None, NaN and -1 (as a position) are missing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseTable(Sealed):
    """The distinct cases, as state positions."""

    states: NDArray[np.signedinteger[Any]]
    """``(rows, variables)`` in the order of the network; -1 for missing cells."""
    weights: Floats
    """``(rows,)``: how many cases there are of each row."""
    numbers: NDArray[np.intp]
    """``(rows,)``: the number of the first case of each row, from 0."""
    ignored: tuple[str, ...]
    """The columns that are no variables of the network."""

    @classmethod
    def of(cls, network: Network, cases: Cases, hidden: Iterable[str] = ()) -> CaseTable:
        """Read cases.

        Parameters
        ----------
        network
            The variables.
        cases
            The columns.
        hidden
            The variables that may have no column, and are missing in all cases then.

        Raises
        ------
        InvalidArgumentError
            If a column is missing, the columns differ in length, a state is unknown, or there are
            no cases. The error lists all faults, with row and column.
        """
        columns = by_name(cases, "the cases")
        without = frozenset(hidden)
        known = {v.name: v for v in network.variables}
        problems = [
            str(UnknownNameError("hidden variable", name, known))
            for name in sorted(without - set(known))
        ]
        read: dict[str, NDArray[np.intp]] = {}
        for v in network.variables:
            if v.name not in columns:
                if v.name not in without:
                    problems.append(
                        f"expected a column {v.name} in the cases, got none; name it as hidden if"
                        " it is never observed"
                    )
                continue
            try:
                read[v.name] = case_positions(v, columns[v.name])
            except BnmindError as fault:
                problems.append(f"in column {v.name}: {fault}")
        lengths = {len(column) for column in read.values()}
        if len(lengths) > 1:
            problems.append(f"expected columns of one length, got {sorted(lengths)}")
        if not problems and not max(lengths, default=0):
            problems.append("expected at least one case, got none")
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
        n = lengths.pop()
        most = max(v.n_states for v in network.variables)
        kind = np.int8 if most < 128 else np.int16 if most < 2**15 else np.int32
        table = np.full((n, len(known)), -1, dtype=kind)
        for number, name in enumerate(known):
            if name in read:
                table[:, number] = read[name]
        ignored = tuple(name for name in columns if name not in known)
        return cls.of_positions(table, ignored)

    @classmethod
    def of_positions(
        cls, table: NDArray[np.signedinteger[Any]], ignored: tuple[str, ...] = ()
    ) -> CaseTable:
        """Return the distinct rows of a table ``(cases, variables)`` of state positions."""
        table = np.ascontiguousarray(table)
        rows = table.view(np.dtype((np.void, table.shape[1] * table.dtype.itemsize))).reshape(-1)
        _, first, counts = np.unique(rows, return_index=True, return_counts=True)
        order = np.argsort(first)
        numbers = first[order]
        weights = counts[order].astype(np.float64)
        return cls(states=table[numbers], weights=weights, numbers=numbers, ignored=ignored)

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return int(self.weights.sum())
