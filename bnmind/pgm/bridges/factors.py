"""Checks that all conversions of products of factors share.

The Markov networks of other libraries hold one real, non-negative factor for each set of variables,
and none over the empty set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.pgmpy_bridge import check_tables_fit
from bnmind.pgm.network import FactorModel
from bnmind.pgm.variable import Variable

__all__ = ["factor_model_of", "markov_factors"]


def markov_factors(model: FactorModel, *, max_cells: int, merged: bool) -> list[Factor]:
    """Return the factors of a model as a Markov network can hold them.

    Parameters
    ----------
    model
        Its distributions are expanded to tables. A constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.
    merged
        Whether factors over the same variables are multiplied.

    Raises
    ------
    TooLargeError
        If the largest table has more cells.
    InvalidModelError
        If a value is negative or complex, or the model has no variable.
    """
    check_tables_fit(model.potentials, max_cells=max_cells)
    constant = 1.0
    factors: list[Factor] = []
    problems: list[str] = []
    for potential in model.potentials:
        table = potential
        if not isinstance(table, Factor):
            table = table.to_factor(max_cells=max_cells)
        if np.iscomplexobj(table.values) or np.any(table.values < 0):
            over = ", ".join(table.names) or "nothing"
            problems.append(
                f"a Markov network needs factors of at least 0, unlike that over {over}"
            )
        elif table.scope:
            factors.append(table)
        else:
            constant *= float(np.real(table.values))
    if not model.variables:
        problems.append("a Markov network must have at least one variable")
    if problems:
        raise InvalidModelError(problems)
    if merged:
        products: dict[frozenset[Variable], Factor] = {}
        for factor in factors:
            scope = frozenset(factor.scope)
            products[scope] = products[scope].product(factor) if scope in products else factor
        factors = list(products.values())
    if constant != 1.0:
        factors[0] = Factor(factors[0].scope, factors[0].values * constant)
    return factors


def factor_model_of(
    variables: Mapping[str, Variable], tables: Sequence[tuple[Sequence[str], Floats | Any]]
) -> FactorModel:
    """Return the product of factors of another library.

    Parameters
    ----------
    variables
        The variables by name, in their order. One without a factor gets a factor of ones.
    tables
        The names of the variables of each factor, and its array with an axis for each.

    Raises
    ------
    InvalidModelError
        If an array does not fit its variables or holds no numbers; all faults at once.
    """
    problems: list[str] = []
    factors: list[Factor] = []
    for names, values in tables:
        try:
            factors.append(Factor(tuple(variables[name] for name in names), values))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    used = {variable for factor in factors for variable in factor.scope}
    lonely = [variable for variable in variables.values() if variable not in used]
    factors += [Factor((variable,), np.ones(variable.n_states)) for variable in lonely]
    return FactorModel(tuple(factors), tuple(variables.values()))
