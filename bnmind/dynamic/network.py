"""Dynamic Bayesian networks: the same variables in every slice of time.

A dynamic network is a network of the first slice, and a conditional distribution of each variable
in all later slices. The parents of such a distribution are variables of the same slice and of the
previous one. A variable ``rain`` of the previous slice has the name ``rain[t-1]``.

The *interface* is the set of variables with children in the next slice. Given its states, the past
and the future are independent.

References
----------
T. Dean and K. Kanazawa, "A model for reasoning about persistence and causation", Comput. Intell.
1989; K. Murphy, "Dynamic Bayesian networks: representation, inference and learning", PhD thesis,
Berkeley 2002, chapters 2 and 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, many, shown
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network, parents_first, variable_named, variables_of
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable

PREVIOUS = "[t-1]"
"""The end of the name of a variable of the previous slice."""

SliceTable: TypeAlias = Callable[[int], Any]
"""Maps the number of a slice, at least 1, to the table of a variable in it."""


@checked
def previous(variable: Variable) -> Variable:
    """Return a variable as it is named in the previous slice.

    Parameters
    ----------
    variable
        A variable of the current slice.

    Examples
    --------
    >>> previous(Variable("rain", ("no", "yes"))).name
    'rain[t-1]'
    """
    return Variable(variable.name + PREVIOUS, variable.states)


def renamed(cpd: CPD, names: Mapping[str, str]) -> CPD:
    """Return a distribution of variables with other names, {old: new}."""

    def other(v: Variable) -> Variable:
        return Variable(names.get(v.name, v.name), v.states)

    return replace(cpd, variable=other(cpd.variable), parents=tuple(map(other, cpd.parents)))


@dataclass(frozen=True, eq=False)
class DynamicNetwork(Value):
    """A Bayesian network over time, with two kinds of slices: the first one, and all others.

    Parameters
    ----------
    first
        The network of the first slice, slice 0.
    transition
        The distribution of each variable in every later slice. Its parents are variables of the
        same slice, and variables of the previous slice, which `previous` returns.
    varying
        For variables whose table depends on the slice, {name: function}: a function that returns
        the table for the number of a slice, from 1. The table has the shape of the variable's
        table in ``transition``, which it replaces.

    Raises
    ------
    InvalidModelError
        If the variables of the two kinds of slices differ, a parent is in neither slice, there is
        a cycle, or a varying variable has no table. The error lists all faults.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, umbrella = Variable("rain", ("no", "yes")), Variable("umbrella", ("no", "yes"))
    >>> sensor = TabularCPD(umbrella, (rain,), [[0.8, 0.1], [0.2, 0.9]])
    >>> DynamicNetwork(
    ...     Network((TabularCPD(rain, (), [0.5, 0.5]), sensor)),
    ...     (TabularCPD(rain, (previous(rain),), [[0.7, 0.3], [0.3, 0.7]]), sensor),
    ... )
    DynamicNetwork(rain, umbrella | interface rain)
    """

    first: Network
    transition: tuple[CPD, ...]
    varying: Mapping[str, SliceTable] = field(default_factory=dict)

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(transition=self._ordered[0])

    @cached_property
    def _ordered(self) -> tuple[tuple[CPD, ...], list[str]]:
        return parents_first(self.transition, "transition")

    def _faults(self) -> Iterator[str]:
        inside, before = self.variables, [previous(v) for v in self.variables]
        scopes = [cpd.scope for cpd in self.transition]
        used, problems = variables_of([inside, before, *scopes])
        yield from problems
        children = Counter(cpd.variable.name for cpd in self.transition)
        for name in [v.name for v in inside]:
            if name.endswith(PREVIOUS):
                yield f"a variable of a slice must not have a name ending in {PREVIOUS}, got {name}"
            if (n := children.pop(name, 0)) != 1:
                yield f"expected one distribution of {name} in the transition, got {n}"
        for name in children:
            yield f"expected distributions of variables of the first slice only, got {shown(name)}"
        for name in used.keys() - children - {v.name for v in (*inside, *before)}:
            yield (
                f"the parent {shown(name)} is in no slice; expected a variable of the first"
                f" slice, or its name with {PREVIOUS} for the previous slice"
            )
        tables = {c.variable.name for c in self.transition if isinstance(c, TabularCPD)}
        for name in self.varying.keys() - tables:
            yield f"expected a table of {name} in the transition, since it is varying"
        yield from self._ordered[1]

    @classmethod
    @checked
    def from_networks(
        cls,
        first: Network,
        transition: Network,
        *,
        varying: Mapping[str, Any] | None = None,
    ) -> DynamicNetwork:
        """Return a dynamic network from two networks.

        Parameters
        ----------
        first
            The network of the first slice.
        transition
            A network of two slices. The variables of the previous one have the names that
            `previous` gives them, such as ``rain[t-1]``; their distributions are ignored.
        varying
            As for the constructor.
        """
        own = tuple(c for c in transition.cpds if not c.variable.name.endswith(PREVIOUS))
        return cls(first, own, dict(varying or {}))

    def __repr__(self) -> str:
        names = [v.name for v in self.variables]
        shown_names = ", ".join(names[:8])
        more = f", … {len(names)} variables" if len(names) > 8 else ""
        interface = ", ".join(v.name for v in self.interface[:8]) or "empty"
        more_interface = f", … {len(self.interface)} variables" if len(self.interface) > 8 else ""
        return f"DynamicNetwork({shown_names}{more} | interface {interface}{more_interface})"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of a slice, parents before children as in the first slice."""
        return self.first.variables

    @cached_property
    def interface(self) -> tuple[Variable, ...]:
        """The variables with children in the next slice, in the order of `variables`."""
        parents = {v.name for cpd in self.transition for v in cpd.parents}
        return tuple(v for v in self.variables if previous(v).name in parents)

    @cached_property
    def _transition_by_name(self) -> dict[str, CPD]:
        return {cpd.variable.name: cpd for cpd in self.transition}

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable of a slice by name.

        Parameters
        ----------
        name
            The name of the variable.
        """
        return variable_named({v.name: v for v in self.variables}, name)

    @checked
    def cpd(self, name: str, number: int = 1) -> CPD:
        """Return the distribution of a variable in a slice.

        Parameters
        ----------
        name
            The variable.
        number
            The slice, from 0. The distributions of all slices from 1 are equal, unless the table
            varies.

        Raises
        ------
        UnknownNameError
            If there is no such variable.
        InvalidArgumentError
            If the number is negative, or a varying table is invalid.
        """
        self.variable(name)
        if number < 0:
            raise InvalidArgumentError(f"expected a slice from 0, got {number}", number)
        if number == 0:
            return self.first.cpd(name)
        cpd = self._transition_by_name[name]
        if name not in self.varying:
            return cpd
        values = self.varying[name](number)
        try:
            return TabularCPD(cpd.variable, cpd.parents, np.asarray(values))
        except InvalidModelError as fault:
            raise InvalidArgumentError(f"in slice {number}: {fault}", values) from fault

    @cached_property
    def two_slices(self) -> Network:
        """The first two slices as one network; the variables of slice 0 end in ``[t-1]``."""
        names = {v.name: previous(v).name for v in self.variables}
        first = [renamed(cpd, names) for cpd in self.first.cpds]
        return Network((*first, *self.transition))

    @checked
    def unroll(self, slices: int) -> Network:
        """Return the first slices as one network, in which ``rain[3]`` is rain in slice 3.

        Parameters
        ----------
        slices
            The number of slices, at least 1.

        Raises
        ------
        InvalidArgumentError
            If there is no slice.
        TooLargeError
            If the tables have more than 2²⁵ cells.

        Examples
        --------
        >>> from bnmind.pgm import Network, TabularCPD, Variable
        >>> coin = Variable("coin", ("heads", "tails"))
        >>> toss = TabularCPD(coin, (), [0.5, 0.5])
        >>> DynamicNetwork(Network((toss,)), (toss,)).unroll(3)
        Network(coin[0], coin[1], coin[2])
        """
        if slices < 1:
            raise InvalidArgumentError(f"expected at least one slice, got {slices}", slices)
        needed = slices * sum(cpd.n_cells for cpd in self.transition)
        if needed > DEFAULT_CELLS:
            raise TooLargeError(
                f"expected tables of at most {DEFAULT_CELLS:,} cells, got {many(needed)} in"
                f" {counted(slices, 'slice')}",
                needed=needed,
                budget=DEFAULT_CELLS,
            )
        cpds: list[CPD] = []
        for number in range(slices):
            names = {v.name: f"{v.name}[{number}]" for v in self.variables}
            names |= {previous(v).name: f"{v.name}[{number - 1}]" for v in self.variables}
            own = [self.cpd(v.name, number) for v in self.variables]
            cpds += [renamed(cpd, names) for cpd in own]
        return Network(tuple(cpds))
