"""Bayesian networks and, more generally, products of factors; immutable and valid from birth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, UnknownNameError
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import DEFAULT_CELLS
from bnmind.pgm.variable import Variable

__all__ = ["FactorModel", "Network", "Potential", "Replacement"]

Potential: TypeAlias = Factor | CPD
"""Anything with a scope that a model may be a product of."""


def _collect(potentials: Iterable[Potential]) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables by name, and the faults found on the way."""
    variables: dict[str, Variable] = {}
    problems = []
    for potential in potentials:
        for variable in potential.scope:
            known = variables.setdefault(variable.name, variable)
            if known != variable:
                problems.append(
                    f"expected one set of states of {variable.name},"
                    f" got {known.states} and {variable.states}"
                )
    return variables, problems


@dataclass(frozen=True, eq=False)
class Replacement(CheckedValue):
    """Factors that stand for a conditional distribution: it is their product, summed.

    The sum is over the variables that the distribution does not have.
    """

    cpd: CPD
    """What the factors stand for."""
    factors: tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class FactorModel(CheckedValue):
    """A product of factors, which need not be probabilities: what a junction tree is made of.

    Parameters
    ----------
    potentials
        Factors and conditional distributions; the model is their product.
    variables
        All the variables, in the order wanted; unless given, in the order in which the
        potentials name them. A model that was read has them in the order of its file.
    replacements
        Distributions that some of the potentials stand for, if they do. Where terms of the
        potentials cancel, a query uses the distribution in their place.

    Raises
    ------
    InvalidModelError
        If it is empty, two potentials disagree on a variable's states, or the variables are
        not those of the potentials; all faults at once.
    """

    potentials: tuple[Potential, ...]
    variables: tuple[Variable, ...] = ()
    replacements: tuple[Replacement, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        found, problems = _collect(self.potentials)
        if not self.potentials:
            problems.append("expected at least one factor, got none")
        wanted = tuple(self.variables) or tuple(found.values())
        if not problems and (len(wanted) != len(found) or set(wanted) != set(found.values())):
            problems.append(
                f"expected the variables {', '.join(found)} of the potentials, each once, got"
                f" {', '.join(v.name for v in wanted)}"
            )
        if problems:
            raise InvalidModelError(problems)
        object.__setattr__(self, "variables", wanted)

    @cached_property
    def _variables_by_name(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable by name."""
        return _named(self._variables_by_name, name)

    def __repr__(self) -> str:
        return f"FactorModel({len(self.variables)} variables, {len(self.potentials)} factors)"


@dataclass(frozen=True, eq=False)
class Network(CheckedValue):
    """A Bayesian network: one conditional distribution for each variable, without cycles.

    Parameters
    ----------
    cpds
        In any order; they are kept with parents before children.

    Raises
    ------
    InvalidModelError
        If it is empty, a variable has no or several distributions or differing
        states, or there is a cycle; all faults at once.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> Network((TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]]),
    ...          TabularCPD(coin, (), [0.5, 0.5])))
    Network(coin, call)
    """

    cpds: tuple[CPD, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        cpds = tuple(self.cpds)
        variables, problems = _collect(cpds)
        children = Counter(cpd.variable.name for cpd in cpds)
        if not cpds:
            problems.append("expected at least one variable, got none")
        problems += [
            f"expected one distribution of {name}, got {children[name]}"
            for name in variables
            if children[name] != 1
        ]
        order: tuple[str, ...] = ()
        graph = {cpd.variable.name: [v.name for v in cpd.parents] for cpd in cpds}
        try:
            order = tuple(TopologicalSorter(graph).static_order())
        except CycleError as fault:
            problems.append(f"expected no cycle, got {' → '.join(fault.args[1])}")
        if problems:
            raise InvalidModelError(problems)
        by_name = {cpd.variable.name: cpd for cpd in cpds}
        object.__setattr__(self, "cpds", tuple(by_name[name] for name in order))

    def __repr__(self) -> str:
        names = [cpd.variable.name for cpd in self.cpds]
        shown = ", ".join(names[:8])
        return f"Network({shown}{f', … {len(names)} variables' if len(names) > 8 else ''})"

    def _repr_svg_(self) -> str:
        """Return what a notebook shows: the structure, or a summary if it is large."""
        from bnmind.views.view import notebook_svg

        return notebook_svg(self)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, parents before children."""
        return tuple(cpd.variable for cpd in self.cpds)

    @cached_property
    def _variables_by_name(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @cached_property
    def _by_name(self) -> dict[str, CPD]:
        return {cpd.variable.name: cpd for cpd in self.cpds}

    @property
    def potentials(self) -> tuple[CPD, ...]:
        """The conditional distributions, as the factors of the joint."""
        return self.cpds

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable by name."""
        return _named(self._variables_by_name, name)

    @checked
    def cpd(self, name: str) -> CPD:
        """Return the conditional distribution of a variable."""
        self.variable(name)
        return self._by_name[name]

    @classmethod
    def from_pgmpy(cls, model: Any) -> Network:
        """Return a pgmpy ``DiscreteBayesianNetwork`` as a network of ours.

        States become strings; tables within 1e-6 of summing to one are normalized.

        Raises
        ------
        InvalidModelError
            If it is none, or not valid; all faults at once, see
            `bnmind.pgm.formats.pgmpy_bridge.from_pgmpy`.
        """
        from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy

        return from_pgmpy(model)

    @checked
    def to_pgmpy(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the network as a pgmpy ``DiscreteBayesianNetwork``.

        Parameters
        ----------
        max_cells
            Cells that the largest table may have; functions are expanded.

        Raises
        ------
        TooLargeError
            If the largest table has more cells; it is named, and nothing is allocated.
        """
        from bnmind.pgm.formats.pgmpy_bridge import to_pgmpy

        return to_pgmpy(self, max_cells=max_cells)

    @checked
    def without(self, names: Iterable[str]) -> Network:
        """Return the network without variables that have no other children.

        Leaves are taken away exactly: the distribution of the rest stays the same.
        """
        gone = frozenset(names)
        for name in gone:
            self.variable(name)
        return Network(tuple(cpd for cpd in self.cpds if cpd.variable.name not in gone))

    @checked
    def given(self, evidence: Mapping[str, str]) -> Network:
        """Return the network of the rest given evidence on its first variables.

        The observed variables must be such that all ancestors of each are
        observed too (the guess T_1, …, T_n in Vomlel's network). What becomes
        certain by a function of observed variables (his G_i) goes with them.

        Raises
        ------
        InvalidModelError
            If an ancestor of an observed variable is not observed.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        fixed = {name: self.variable(name).index(state) for name, state in evidence.items()}
        problems = [
            f"expected evidence on {parent.name} too, an ancestor of {name}"
            for name in fixed
            for parent in self.cpd(name).parents
            if parent.name not in fixed
        ]
        if problems:
            raise InvalidModelError(problems)
        for cpd in self.cpds:
            name = cpd.variable.name
            at = [fixed[v.name] for v in cpd.parents if v.name in fixed]
            if isinstance(cpd, FunctionalCPD) and len(at) == len(cpd.parents):
                possible = fixed.setdefault(name, cpd.value(at)) == cpd.value(at)
            elif not isinstance(cpd, FunctionalCPD) and name in fixed:
                possible = bool(cpd.table_on([(fixed[name],), *((i,) for i in at)]).item() > 0)
            else:
                continue
            if not possible:
                raise ImpossibleEvidenceError(
                    f"expected evidence of positive probability, got {name}={evidence[name]},"
                    " which the rest of it excludes",
                    evidence,
                )
        return self.restrict({name: (position,) for name, position in fixed.items()})

    @checked
    def restrict(self, states: Mapping[str, Sequence[int]]) -> Network:
        """Return the network on fewer states; variables with a single one are taken away.

        Parameters
        ----------
        states
            The state positions that remain, for the variables named. What is cut
            away must be impossible given what remains.
        """
        single = {name for name, kept in states.items() if len(kept) == 1}
        return Network(
            tuple(cpd.restrict(states) for cpd in self.cpds if cpd.variable.name not in single)
        )


def _named(variables: Mapping[str, Variable], name: str) -> Variable:
    if name in variables:
        return variables[name]
    raise UnknownNameError("variable", name, variables)
