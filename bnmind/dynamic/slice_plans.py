"""The compiled plans of the slices of a dynamic network: the steps of the interface algorithm.

A slice is a query of its own tables. The past enters as a table over the interface of the previous
slice, and the future as a table over the interface of the slice itself. Both are inputs of a run,
so that one plan serves all slices, whatever is observed in them.

====================  ==========================================================================
symbol (Murphy 2002)  name here
====================  ==========================================================================
α_t                   the past: P(interface of slice t | findings of slices 0, …, t)
β_t                   the future: P(findings after slice t | interface of slice t), up to a factor
====================  ==========================================================================

References
----------
K. Murphy, "Dynamic Bayesian networks: representation, inference and learning", PhD thesis, Berkeley
2002, section 3.4 (the interface algorithm).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bnmind._messages import many
from bnmind._values import ReadOnlyDict, Sealed
from bnmind.dynamic.network import DynamicNetwork, previous
from bnmind.errors import TooLargeError
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Potential
from bnmind.pgm.variable import Variable

__all__ = ["FUTURE", "PAST", "SliceModel", "SlicePlans", "Two", "check_interface", "table_input"]

PAST = "the past"
"""The input over the interface of the previous slice."""

FUTURE = "the future"
"""The input over the interface of the slice."""

Scope = tuple[Variable, ...]


def table_input(name: str) -> str:
    """Return the name of the input that carries the table of a variable."""
    return f"the table of {name}"


class Two(NamedTuple):
    """A plan for the first slice, and one for all later slices."""

    first: Plan
    later: Plan


class SliceModel(NamedTuple):
    """The tables of a slice: those that every run has, and those that are inputs of a run."""

    model: FactorModel
    inputs: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicePlans(Sealed):
    """The plans of a dynamic network's slices, each compiled when it is first needed."""

    network: DynamicNetwork
    observed: Scope
    """The variables that may have findings."""
    targets: tuple[Scope, ...]
    """The scopes whose distributions are computed in each slice."""
    limits: Limits
    learned: tuple[str, ...] = ()
    """The variables of the first two slices whose tables are inputs of each run; see
    `DynamicNetwork.two_slices`."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The numbers of states of the interface."""
        return tuple(v.n_states for v in self.network.interface)

    @cached_property
    def messages(self) -> Two:
        """The plans of the next past: α_t from α_{t−1}."""
        return self._two([self.network.interface], [self.network.interface])

    @cached_property
    def filters(self) -> Two:
        """The plans of the next past and the targets, given the past."""
        scopes = [self.network.interface, *self.targets]
        return self._two(scopes, scopes)

    @cached_property
    def smoothers(self) -> Two:
        """The plans of the targets, given the past and the future."""
        return self._two(self.targets, self.targets, future=True)

    @cached_property
    def learned_of_first(self) -> tuple[CPD, ...]:
        """The distributions of the first slice whose tables are inputs."""
        cpds = self.network.first.cpds
        return tuple(c for c in cpds if previous(c.variable).name in self.learned)

    @cached_property
    def learned_of_later(self) -> tuple[CPD, ...]:
        """The distributions of later slices whose tables are inputs."""
        return tuple(c for c in self.network.transition if c.variable.name in self.learned)

    @cached_property
    def families(self) -> Two:
        """The plans of the learned families, given the past and the future."""
        first = [cpd.scope for cpd in self.learned_of_first]
        later = [cpd.scope for cpd in self.learned_of_later]
        return self._two(first, later, future=True)

    @cached_property
    def backward(self) -> Plan:
        """The plan of the previous future: β_{t−1} from β_t."""
        before = tuple(map(previous, self.network.interface))
        return self._plan([before], is_first=False, past=False, future=True)

    def varying(self, *, is_first: bool) -> tuple[str, ...]:
        """Return the variables whose table is an input that depends on the slice."""
        if is_first:
            return ()
        return tuple(name for name in self.network.varying if name not in self.learned)

    def slice_model(self, *, is_first: bool) -> SliceModel:
        """Return the tables of a slice."""
        cpds = self.network.first.cpds if is_first else self.network.transition
        learned = self.learned_of_first if is_first else self.learned_of_later
        given = {*self.varying(is_first=is_first), *(cpd.variable.name for cpd in learned)}
        potentials: list[Potential] = []
        inputs = {}
        for cpd in cpds:
            if cpd.variable.name not in given:
                potentials.append(cpd)
                continue
            inputs[table_input(cpd.variable.name)] = tuple(v.name for v in cpd.scope)
            potentials += [Factor((v,), np.ones(v.n_states)) for v in cpd.scope]
        return SliceModel(FactorModel(tuple(potentials)), ReadOnlyDict(inputs))

    def _two(self, first: Sequence[Scope], later: Sequence[Scope], *, future: bool = False) -> Two:
        return Two(
            self._plan(first, is_first=True, past=False, future=future),
            self._plan(later, is_first=False, past=True, future=future),
        )

    def _plan(self, scopes: Sequence[Scope], *, is_first: bool, past: bool, future: bool) -> Plan:
        model, tables = self.slice_model(is_first=is_first)
        inputs = dict(tables)
        interface = self.network.interface
        if interface and past:
            inputs[PAST] = tuple(previous(v).name for v in interface)
        if interface and future:
            inputs[FUTURE] = tuple(v.name for v in interface)
        return compile_plan(
            model,
            soft=[v.name for v in self.observed],
            targets=[[v.name for v in scope] for scope in scopes],
            inputs=inputs,
            limits=self.limits,
        )


def check_interface(interface: Sequence[Variable], limits: Limits) -> None:
    """Raise `TooLargeError` if the joint of the interface surely exceeds the limits."""
    cells = math.prod(v.n_states for v in interface)
    # The past, the next past, and a product of both.
    needed = 3 * 8 * cells
    if needed > limits.max_bytes:
        names = [v.name for v in interface]
        shown = ", ".join(names[:8]) + (f", … {len(names)} variables" if len(names) > 8 else "")
        raise TooLargeError(
            f"the joint distribution of the interface {{{shown}}} would have {many(cells)} cells,"
            f" and a slice would take at least {many(needed)} bytes; allowed are"
            f" max_bytes={limits.max_bytes:,}. Let fewer variables have children in the next"
            " slice, or raise the limit.",
            needed=needed,
            budget=limits.max_bytes,
        )
