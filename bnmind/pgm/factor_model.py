"""Products of factors, of which Bayesian networks are a special case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeAlias

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import DEFAULT_CELLS
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    from bnmind.junction.inference.posterior import Posterior

__all__ = [
    "FactorModel",
    "Potential",
    "Replacement",
    "parents_first",
    "variable_named",
    "variables_of_potentials",
]

Potential: TypeAlias = Factor | CPD
"""A factor or a conditional distribution; a model is a product of potentials."""


def variables_of_potentials(
    potentials: Iterable[Potential],
) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables by name, and a list of faults."""
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


def parents_first(cpds: Sequence[CPD], what: str) -> tuple[tuple[CPD, ...], list[str]]:
    """Return distributions with parents before children; and the fault of a cycle."""
    by_name = {cpd.variable.name: cpd for cpd in cpds}
    graph = {
        name: [v.name for v in cpd.parents if v.name in by_name] for name, cpd in by_name.items()
    }
    try:
        return tuple([by_name[name] for name in TopologicalSorter(graph).static_order()]), []
    except CycleError as fault:
        return (), [f"the {what} has a cycle: {' → '.join(fault.args[1])}"]


@dataclass(frozen=True, eq=False)
class Replacement(Value):
    """Factors that represent a conditional distribution.

    The distribution is the product of the factors, summed over all other variables.
    """

    cpd: CPD
    """The distribution that the factors represent."""
    factors: tuple[Factor, ...]
    """Factors whose product, with the auxiliary variables summed out, is the distribution."""


@dataclass(frozen=True, eq=False)
class FactorModel(Value):
    """A product of factors, which need not be probabilities.

    Parameters
    ----------
    potentials
        Factors and conditional distributions; the model is their product.
    variables
        All variables in the wanted order; by default in the order of the potentials. A model from
        a file has the order of the file.
    replacements
        The distributions that some of the potentials represent. If terms of the potentials
        cancel, a query uses the distributions instead.

    Raises
    ------
    InvalidModelError
        If it is empty, two potentials disagree on a variable's states, or the variables are
        not those of the potentials; all faults at once.
    """

    potentials: tuple[Potential, ...]
    variables: tuple[Variable, ...] = ()
    replacements: tuple[Replacement, ...] = ()

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(variables=self.variables or tuple(self._used[0].values()))

    @cached_property
    def _used(self) -> tuple[dict[str, Variable], list[str]]:
        return variables_of_potentials(self.potentials)

    def _faults(self) -> Iterator[str]:
        used, problems = self._used
        yield from problems
        if not self.potentials:
            yield "a model must have at least one factor"
        if self.variables and Counter(self.variables) != Counter(used.values()):
            yield (
                f"expected the variables {', '.join(used)} of the potentials, each once, got"
                f" {', '.join(v.name for v in self.variables)}"
            )

    @cached_property
    def _variables_by_name(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable by name.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return variable_named(self._variables_by_name, name)

    def query(self, targets: Any = None, evidence: Any = None) -> Posterior:
        """Return the distributions of variables given evidence.

        For other questions, and for options, make an engine with `bnmind.compile_model`. Repeated
        queries reuse plans: the model keeps an engine with at most 64 MiB for them.

        Parameters
        ----------
        targets
            A name or a list of names; a tuple of names inside of a list asks for a joint
            distribution. By default every variable without a state in the evidence.
        evidence
            For each variable a state, a likelihood ``{state: weight}``, or a missing
            value.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
            As in `bnmind.junction.Engine.posterior`.
        """
        from bnmind.junction.engine import engine_of

        return engine_of(self).posterior(targets, evidence)

    @classmethod
    def from_pgmpy(cls, model: Any) -> FactorModel:
        """Return the factors of a pgmpy ``DiscreteMarkovNetwork`` or ``FactorGraph``.

        See `bnmind.pgm.bridges.factors_from_pgmpy`.

        Parameters
        ----------
        model
            The model.
        """
        from bnmind.pgm.bridges import factors_from_pgmpy

        return factors_from_pgmpy(model)

    @checked
    def to_pgmpy(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the model as a pgmpy ``DiscreteMarkovNetwork``.

        See `bnmind.pgm.bridges.factors_to_pgmpy`.

        Parameters
        ----------
        max_cells
            The largest number of cells of a table; a larger one raises `TooLargeError`.
        """
        from bnmind.pgm.bridges import factors_to_pgmpy

        return factors_to_pgmpy(self, max_cells=max_cells)

    @classmethod
    def from_pyagrum(cls, model: Any) -> FactorModel:
        """Return the factors of a pyAgrum ``MarkovRandomField``.

        See `bnmind.pgm.bridges.factors_from_pyagrum`.

        Parameters
        ----------
        model
            The model.
        """
        from bnmind.pgm.bridges import factors_from_pyagrum

        return factors_from_pyagrum(model)

    @checked
    def to_pyagrum(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the model as a pyAgrum ``MarkovRandomField``.

        See `bnmind.pgm.bridges.factors_to_pyagrum`.

        Parameters
        ----------
        max_cells
            The largest number of cells of a table; a larger one raises `TooLargeError`.
        """
        from bnmind.pgm.bridges import factors_to_pyagrum

        return factors_to_pyagrum(self, max_cells=max_cells)

    def __repr__(self) -> str:
        return (
            f"FactorModel({counted(len(self.variables), 'variable')},"
            f" {counted(len(self.potentials), 'factor')})"
        )


def variable_named(variables: Mapping[str, Variable], name: str) -> Variable:
    """Return a variable by name; raise `UnknownNameError` if there is none."""
    if name in variables:
        return variables[name]
    raise UnknownNameError("variable", name, variables)
