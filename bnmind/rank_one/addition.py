r"""Rank-one factorization of sums by an auxiliary variable.

The table of ``S = Σ_i term_i(x_i)`` grows with the product of all state counts.
With an auxiliary variable B of as many states as S has values it falls apart into
small tables, one an argument (Savicky & Vomlel, *Factorized representation of
functional dependence*, 2004; Vomlel, *Bayesian networks in Mastermind*, 2004,
section 4):

.. math:: [S = c] = \sum_b \alpha(c, b) \prod_i x_b^{\,term_i}

==============  =============================================
paper           name here
==============  =============================================
B               ``auxiliary``
x_b             the nodes, see `bnmind.rank_one.nodes`
α(c, b)         the factor over (child, B)
x_b^{M_i}       the factor over (M_i, B)
==============  =============================================

Factors may be negative or complex, and add up to the table only together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.errors import InvalidModelError
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import Addition
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable
from bnmind.rank_one.nodes import Nodes, RootsOfUnity

__all__ = ["RankOne", "factorize", "factorize_addition"]


@dataclass(frozen=True, eq=False)
class RankOne:
    """A distribution written as a sum, over an auxiliary variable, of products of small factors."""

    cpd: FunctionalCPD
    """The distribution that was factorized."""
    auxiliary: Variable
    """B: a state for each term of the sum."""
    factors: tuple[Factor, ...]
    """A factor over (child, B), then one over (parent, B) for each parent."""

    def expand(self) -> Factor:
        """Return the product summed over B: the table of the distribution where it holds."""
        product = self.factors[0]
        for factor in self.factors[1:]:
            product = product.product(factor)
        table = product.sum_to(v.name for v in self.cpd.scope)
        return Factor(table.scope, table.values.real)


def factorize_addition(
    cpd: FunctionalCPD, *, nodes: Nodes | None = None, name: str | None = None
) -> RankOne:
    """Return the rank-one factorization of a sum.

    Parameters
    ----------
    cpd
        A variable that is an `Addition` of its parents.
    nodes
        Where to interpolate; roots of unity unless another choice is given. With
        nodes that are not periodic the factorization holds only where the sum
        lies within 0, …, modulus − 1 before the modulus is taken; elsewhere other
        tables of the model must be zero.
    name
        The name of the auxiliary variable, ``B_<child>`` unless given.

    Raises
    ------
    InvalidModelError
        If the variable is not an addition.
    """
    if not isinstance(cpd.function, Addition):
        raise InvalidModelError(
            [f"expected {cpd.variable.name} to be an addition, got {cpd.function!r}"]
        )
    m = cpd.function.modulus
    x = (nodes or RootsOfUnity())(m)
    auxiliary = Variable.of_integers(name or f"B_{cpd.variable.name}", range(m))
    vandermonde = x[:, None] ** np.arange(m)  # (node, sum)
    inverse = vandermonde.conj().T / m if np.iscomplexobj(x) else np.linalg.inv(vandermonde)
    alpha = np.zeros((cpd.variable.n_states, m), dtype=inverse.dtype)
    rows = min(m, cpd.variable.n_states)
    alpha[:rows] = inverse[:rows] * x**cpd.function.constant
    factors = [Factor((cpd.variable, auxiliary), alpha)]
    for parent, term in zip(cpd.parents, cpd.function.terms, strict=True):
        powers = x[None, :] ** np.asarray(term, dtype=np.float64)[:, None]
        factors.append(Factor((parent, auxiliary), powers))
    return RankOne(cpd, auxiliary, tuple(factors))


def factorize(
    model: Network | FactorModel,
    variable: str,
    *,
    nodes: Nodes | None = None,
    name: str | None = None,
) -> FactorModel:
    """Return the model with one variable's table replaced by its rank-one factorization.

    Parameters
    ----------
    model
        Where the variable is an addition of its parents.
    variable, nodes, name
        As for `factorize_addition`.

    Raises
    ------
    InvalidModelError
        If the variable has no addition as its distribution, or the auxiliary
        variable's name is taken.
    """
    model.variable(variable)
    potentials: list[Potential] = []
    for potential in model.potentials:
        if isinstance(potential, FunctionalCPD) and potential.variable.name == variable:
            result = factorize_addition(potential, nodes=nodes, name=name)
            if any(v.name == result.auxiliary.name for v in model.variables):
                raise InvalidModelError([f"expected a new name, got {result.auxiliary.name!r}"])
            potentials += result.factors
        else:
            potentials.append(potential)
    if len(potentials) == len(model.potentials):
        raise InvalidModelError([f"expected {variable} to be an addition of its parents"])
    return FactorModel(tuple(potentials))
