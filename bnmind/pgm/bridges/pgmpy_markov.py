"""Conversion of products of factors from and to the Markov networks of pgmpy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from bnmind._arguments import checked
from bnmind.errors import InvalidModelError
from bnmind.pgm.bridges.factors import factor_model_of, markov_factors
from bnmind.pgm.cpd import DEFAULT_CELLS
from bnmind.pgm.formats.pgmpy_bridge import pgmpy_object, quiet_pgmpy, states_from_pgmpy
from bnmind.pgm.network import FactorModel
from bnmind.pgm.variable import Variable, name_text

__all__ = ["factors_from_pgmpy", "factors_to_pgmpy"]


@checked
def factors_to_pgmpy(model: FactorModel, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the model as a pgmpy ``DiscreteMarkovNetwork``.

    Parameters
    ----------
    model
        A product of factors that are not negative. Distributions in it are expanded to tables, and
        a constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex values.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    factors = markov_factors(model, max_cells=max_cells, merged=False)
    model_type = pgmpy_object("pgmpy.models", "DiscreteMarkovNetwork")
    factor_type = pgmpy_object("pgmpy.factors.discrete", "DiscreteFactor")
    with quiet_pgmpy():
        network = model_type()
        network.add_nodes_from([v.name for v in model.variables])
        for factor in factors:
            network.add_edges_from(combinations(factor.names, 2))
            network.add_factors(
                factor_type(
                    list(factor.names),
                    list(factor.values.shape),
                    factor.values.ravel(),
                    state_names={v.name: list(v.states) for v in factor.scope},
                )
            )
    return network


def factors_from_pgmpy(model: Any) -> FactorModel:
    """Return the factors of a pgmpy ``DiscreteMarkovNetwork``, ``FactorGraph`` or ``JunctionTree``.

    States become text, as in `bnmind.pgm.formats.from_pgmpy`.

    Parameters
    ----------
    model
        The model of pgmpy.

    Raises
    ------
    InvalidModelError
        If it is not such a model, has no factors, a node of a Markov network is in no factor, two
        factors disagree on the states of a variable, or a name is not valid. The error lists all
        faults.
    """
    kinds = ("DiscreteMarkovNetwork", "FactorGraph", "JunctionTree")
    if not any(isinstance(model, pgmpy_object("pgmpy.models", kind)) for kind in kinds):
        raise InvalidModelError(
            [f"expected a pgmpy {', '.join(kinds[:-1])} or {kinds[-1]}, got {type(model).__name__}"]
        )
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    tables = []
    for table in model.get_factors():
        names = []
        for name in table.variables:
            try:
                variable = Variable(name, states_from_pgmpy(table, name))
            except InvalidModelError as fault:
                problems += [problem for problem in fault.problems if problem not in problems]
                continue
            known = variables.setdefault(variable.name, variable)
            if known != variable:
                problems.append(
                    f"expected one set of states of {known.name}, got {known.states} and"
                    f" {variable.states}"
                )
            names.append(variable.name)
        tables.append((names, table.values))
    if not tables:
        problems.append("expected at least one factor, got none")
    elif isinstance(model, pgmpy_object("pgmpy.models", "DiscreteMarkovNetwork")):
        known_names = set(variables)
        problems += [
            f"expected a factor over {node}, got none"
            for node in model.nodes()
            if name_text(node) not in known_names
        ]
    if problems:
        raise InvalidModelError(problems)
    return factor_model_of(variables, tables)
