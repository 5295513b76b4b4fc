"""The possible states of variables given evidence, by arc consistency.

Each table excludes the states of its variables for which all its entries are zero. States excluded
by one table may exclude more states in other tables, until nothing changes (arc consistency). Large
functions find their possible states without their tables.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import ImpossibleEvidenceError
from bnmind.pgm.cpd import FunctionalCPD, TabularCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential

__all__ = [
    "Domains",
    "is_kept_as_function",
    "n_cells",
    "n_numbers",
    "positions",
    "possible_states",
    "table",
]

_SMALL_TABLE = 2**8
"""The most cells of tables of functions that are expanded to find zeros."""

_LARGE_FUNCTION = 2**12
"""The most cells of a table of a function; larger functions are stored by their values."""

Domains = Mapping[str, tuple[int, ...]]
"""The possible state positions of each variable."""


def n_cells(potential: Potential, domains: Domains) -> int:
    """Return the number of cells of a potential's table on the possible states."""
    return math.prod(len(domains[v.name]) for v in potential.scope)


def table(potential: Potential, domains: Domains) -> Values:
    """Return the values of a potential on the possible states, with an axis for each variable."""
    states = [domains[v.name] for v in potential.scope]
    if not isinstance(potential, Factor | TabularCPD):
        return potential.table_on(states)
    values = potential.values
    if values.shape == tuple(map(len, states)):
        return values
    return values[np.ix_(*[list(k) for k in states])]


def is_kept_as_function(potential: Potential, domains: Domains) -> TypeGuard[FunctionalCPD]:
    """Return whether a potential is stored as the child's state in each row."""
    return (
        isinstance(potential, FunctionalCPD)
        and len(domains[potential.variable.name]) > 1
        and n_cells(potential, domains) > _LARGE_FUNCTION
    )


def n_numbers(potential: Potential, domains: Domains) -> int:
    """Return how many numbers a plan stores for a potential: cells, or values of a function."""
    cells = n_cells(potential, domains)
    if is_kept_as_function(potential, domains):
        return cells // len(domains[potential.variable.name])
    return cells


def positions(cpd: FunctionalCPD, domains: Domains) -> NDArray[np.intp]:
    """Return the child's position among its possible states, with an axis for each parent.

    The position is −1 where the function's value is not possible.
    """
    arguments = np.ix_(*[np.asarray(domains[v.name], dtype=np.intp) for v in cpd.parents])
    places = np.full(cpd.variable.n_states, -1, dtype=np.intp)
    child_states = domains[cpd.variable.name]
    places[list(child_states)] = np.arange(len(child_states))
    values = np.broadcast_to(cpd.function(*arguments), [len(domains[v.name]) for v in cpd.parents])
    return places[values]


def possible_states(
    potentials: Sequence[Potential],
    domains: Domains,
    *,
    keep: Iterable[str] = (),
    max_cells: int = 2**22,
) -> dict[str, tuple[int, ...]]:
    """Return the states that no single table excludes.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The initial possible states of every variable; evidence has one state.
    keep
        Variables that keep all their states.
    max_cells
        Larger tables are skipped unless they are functions.

    Raises
    ------
    ImpossibleEvidenceError
        If a variable has no possible state. ``evidence`` names the variables that had a single
        state initially.
    """
    current = dict(domains)
    protected = frozenset(keep)
    holders: dict[str, list[int]] = {}
    for i, potential in enumerate(potentials):
        for variable in potential.scope:
            holders.setdefault(variable.name, []).append(i)
    order = sorted(range(len(potentials)), key=lambda i: _cells(potentials[i]))
    waiting = deque(order)
    queued = set(order)
    while waiting:
        i = waiting.popleft()
        queued.remove(i)
        if not _is_quick(potentials[i], current, max_cells):
            # It is queued again when one of its variables loses a state.
            continue
        potential = potentials[i]
        supported = _supported(potential, current)
        if not all(supported):
            raise _impossible(potentials, domains)
        for variable, states in zip(potential.scope, supported, strict=True):
            name = variable.name
            if name not in protected and len(states) < len(current[name]):
                current[name] = states
                more = [j for j in holders[name] if j != i and j not in queued]
                waiting += more
                queued.update(more)
    return current


def _is_quick(potential: Potential, domains: Domains, max_cells: int) -> bool:
    return (
        not isinstance(potential, Factor | TabularCPD) or n_cells(potential, domains) <= max_cells
    )


def _supported(potential: Potential, domains: Domains) -> tuple[tuple[int, ...], ...]:
    """Return, for each variable of a table, its states with a non-zero entry."""
    states = [domains[v.name] for v in potential.scope]
    small = n_cells(potential, domains) <= _SMALL_TABLE
    if not isinstance(potential, Factor | TabularCPD) and not small:
        return tuple(potential.possible(states))
    positive = table(potential, domains) != 0
    result = []
    for axis, domain in enumerate(states):
        others = tuple(a for a in range(positive.ndim) if a != axis)
        occurs = positive.any(axis=others)
        result.append(tuple(domain) if occurs.all() else tuple(np.asarray(domain)[occurs].tolist()))
    return tuple(result)


def _cells(potential: Potential) -> int:
    return math.prod(v.n_states for v in potential.scope)


def _impossible(potentials: Sequence[Potential], domains: Domains) -> ImpossibleEvidenceError:
    """Return the error that names the variables fixed initially."""
    variables = {v.name: v for potential in potentials for v in potential.scope}
    evidence = {
        name: variables[name].states[states[0]]
        for name, states in domains.items()
        if len(states) == 1 and variables[name].n_states > 1
    }
    shown = ", ".join(f"{name}={state}" for name, state in evidence.items())
    return ImpossibleEvidenceError(
        f"expected evidence of positive probability, got zero for {shown or 'the inputs'}", evidence
    )
