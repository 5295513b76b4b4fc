"""What evidence makes impossible: states that no configuration of some table allows.

Each table rules out the states of its variables for which all its entries are
zero; what one table rules out may rule out more in the next, until nothing
changes (arc consistency). Functional tables are looked at only once what remains
of them is small enough to be written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bnmind.errors import ImpossibleEvidenceError
from bnmind.pgm.cpd import TabularCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential

__all__ = ["Domains", "possible_states", "table"]

Domains = Mapping[str, tuple[int, ...]]
"""The state positions that each variable may still take."""


def n_cells(potential: Potential, domains: Domains) -> int:
    """Return the cells of a potential's table on what remains."""
    return math.prod(len(domains[v.name]) for v in potential.scope)


def table(potential: Potential, domains: Domains) -> Values:
    """Return the values of a potential on what remains, an axis for each variable in scope."""
    kept = [domains[v.name] for v in potential.scope]
    if not isinstance(potential, Factor | TabularCPD):
        return potential.table_on(kept)
    values = potential.values
    if all(len(k) == v.n_states for k, v in zip(kept, potential.scope, strict=True)):
        return values
    return values[np.ix_(*[list(k) for k in kept])]


def possible_states(
    potentials: Sequence[Potential],
    domains: Domains,
    *,
    keep: Iterable[str] = (),
    max_cells: int = 2**22,
) -> dict[str, tuple[int, ...]]:
    """Return the states that no single table rules out.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        What is possible to begin with, for every variable; evidence has one state.
    keep
        Variables whose states are all kept.
    max_cells
        Tables that are still larger are not looked at.

    Raises
    ------
    ImpossibleEvidenceError
        If a variable is left without states; ``evidence`` names the variables
        that had a single state to begin with.
    """
    current = dict(domains)
    kept = frozenset(keep)
    holders: dict[str, list[int]] = {}
    for i, potential in enumerate(potentials):
        for variable in potential.scope:
            holders.setdefault(variable.name, []).append(i)
    waiting = dict.fromkeys(sorted(range(len(potentials)), key=lambda i: _cells(potentials[i])))
    while waiting:
        small = [i for i in waiting if n_cells(potentials[i], current) <= max_cells]
        if not small:
            break
        i = small[0]
        del waiting[i]
        potential = potentials[i]
        positive = table(potential, current) != 0
        for axis, variable in enumerate(potential.scope):
            name = variable.name
            if name in kept or (len(current[name]) == 1 and positive.any()):
                continue
            others = tuple(a for a in range(positive.ndim) if a != axis)
            possible = positive.any(axis=others)
            if not possible.any():
                raise _impossible(potentials, domains)
            if not possible.all():
                current[name] = tuple(np.asarray(current[name])[possible].tolist())
                positive = positive.compress(possible, axis=axis)
                waiting.update(dict.fromkeys(j for j in holders[name] if j != i))
    return current


def _cells(potential: Potential) -> int:
    return math.prod(v.n_states for v in potential.scope)


def _impossible(potentials: Sequence[Potential], domains: Domains) -> ImpossibleEvidenceError:
    """Return the error that names what had a single state to begin with, of several."""
    variables = {v.name: v for potential in potentials for v in potential.scope}
    given = {
        name: variables[name].states[kept[0]]
        for name, kept in domains.items()
        if len(kept) == 1 and variables[name].n_states > 1
    }
    shown = ", ".join(f"{name}={state}" for name, state in given.items())
    return ImpossibleEvidenceError(
        f"expected evidence of positive probability, got zero for {shown or 'the inputs'}", given
    )
