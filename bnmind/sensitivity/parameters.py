"""Parameters: single entries of the tables of a network, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

__all__ = ["Parameter", "cd_distance", "distances", "moved_row", "row_of", "table_of", "with_row"]


@dataclass(frozen=True)
class Parameter(Value):
    """An entry P(variable = state | given) of a table of a network.

    Parameters
    ----------
    variable, state
        The child of the table, and one of its states.
    given
        A state of each parent.

    Examples
    --------
    >>> print(Parameter("wet", "yes", {"rain": "no"}))
    wet=yes | rain=no
    """

    variable: str
    state: Any
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        behind = ", ".join(f"{name}={state}" for name, state in self.given.items())
        return f"{self.variable}={self.state}" + (f" | {behind}" if behind else "")

    def place(self, network: Network) -> tuple[int, ...]:
        """Return the position of the entry in the table of its variable.

        Parameters
        ----------
        network
            The network that has the parameter.

        Raises
        ------
        UnknownNameError
            If the network has no such variable, or a variable no such state.
        InvalidArgumentError
            If the variable has no table, or ``given`` does not name its parents.
        """
        cpd = table_of(network, self.variable)
        parents = [v.name for v in cpd.parents]
        if set(self.given) != set(parents):
            needed = ", ".join(parents) or "none"
            raise InvalidArgumentError(
                f"expected a state of each parent of {self.variable} (parents: {needed}), got"
                f" {dict(self.given)!r}",
                self.given,
            )
        return (
            cpd.variable.index(self.state),
            *[v.index(self.given[v.name]) for v in cpd.parents],
        )

    @classmethod
    def at(cls, cpd: TabularCPD, place: tuple[int, ...]) -> Parameter:
        """Return the parameter at a position of a table.

        Parameters
        ----------
        cpd
            The distribution with the table.
        place
            The position of the state of the child, then of each parent, from 0.
        """
        return cls(
            cpd.variable.name,
            cpd.variable.states[place[0]],
            {v.name: v.states[i] for v, i in zip(cpd.parents, place[1:], strict=True)},
        )


def table_of(network: Network, name: str) -> TabularCPD:
    """Return the table of a variable.

    Raises
    ------
    UnknownNameError
        If the network has no such variable.
    InvalidArgumentError
        If its distribution is a function or noisy.
    """
    cpd = network.cpd(name)
    if not isinstance(cpd, TabularCPD):
        raise InvalidArgumentError(
            f"{name} has no table whose entries may change: it is a {type(cpd).__name__};"
            " replace it by its to_tabular() to vary entries of its table",
            name,
        )
    return cpd


def row_of(entries: Floats, place: tuple[int, ...]) -> Floats:
    """Return the row of a table that an entry is in, ``(states,)``."""
    at: Any = (slice(None), *place[1:])
    row: Floats = entries[at]
    return row


def moved_row(row: Floats, state: int, value: float) -> Floats:
    """Return a row with another number for one state, and the others scaled in proportion.

    If the others are all zero, they share equally.
    """
    others = np.delete(row, state)
    total = float(others.sum())
    if len(row) == 1:
        return np.ones(1)
    shares = others / total if total > 0 else np.full(len(others), 1 / len(others))
    return np.insert(shares * (1.0 - value), state, value)


@checked
def with_row(network: Network, parameter: Parameter, value: float) -> Network:
    """Return the network with another number for a parameter; its row covaries in proportion.

    Parameters
    ----------
    network
        The network.
    parameter
        The entry of a table.
    value
        Its new probability, from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If the value is no probability, or the variable has no table.
    """
    place: Any = parameter.place(network)
    cpd = table_of(network, parameter.variable)
    if not 0 <= value <= 1:
        raise InvalidArgumentError(f"expected a probability from 0 to 1, got {value}", value)
    table = cpd.values.copy()
    table[(slice(None), *place[1:])] = moved_row(row_of(cpd.values, place), place[0], value)
    other = TabularCPD(cpd.variable, cpd.parents, table)
    return Network(tuple(other if one is cpd else one for one in network.cpds))


@checked
def cd_distance(before: float, after: float) -> float:
    """Return the distance of Chan and Darwiche between a network and one with a changed entry.

    It is the logarithm of the factor by which the odds of the entry change. No query's odds change
    by a larger factor (H. Chan and A. Darwiche, "A distance measure for bounding probabilistic
    belief change", Int. J. Approx. Reasoning 38, 2005). The other entries of the row change in
    proportion.

    Parameters
    ----------
    before
        The probability of the entry before, from 0 to 1.
    after
        The probability after the change, from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If a number is no probability.

    Examples
    --------
    >>> round(cd_distance(0.2, 0.5), 3), cd_distance(0.2, 0.2), cd_distance(0.2, 1)
    (1.386, 0.0, inf)
    """
    for value in (before, after):
        if not 0 <= value <= 1:
            raise InvalidArgumentError(f"expected a probability from 0 to 1, got {value}", value)
    return float(distances(np.array(before), np.array(after)))


def distances(before: Floats, after: Floats) -> Floats:
    """Return `cd_distance` for arrays of entries."""
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(after) - np.log1p(-after) - np.log(before) + np.log1p(-before)
    found: Floats = np.where(before == after, 0.0, np.abs(changes))
    return found
