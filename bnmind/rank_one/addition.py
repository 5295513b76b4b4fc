r"""Rank-one factorization of sums by an auxiliary variable.

The table of ``S = Σ_i term_i(x_i)`` grows with the product of all state counts. An auxiliary
variable B, with a state for each value of S, factorizes the table into small tables, one for each
argument (Savicky & Vomlel, *Factorized representation of functional dependence*, 2004; Vomlel,
*Bayesian networks in Mastermind*, 2004, section 4):

.. math:: [S = c] = \sum_b \alpha(c, b) \prod_i x_b^{\,term_i}

==============  =============================================
paper           name here
==============  =============================================
B               ``auxiliary``
x_b             the nodes, see `bnmind.rank_one.nodes`
α(c, b)         the factor over (child, B)
x_b^{M_i}       the factor over (M_i, B)
==============  =============================================

Number of terms: let S take the values l, l + g, …, l + g·s before the modulus m is applied. Then
s + 1 nodes suffice, or m/gcd(g, m) roots of one if this is less. If only S = c is needed, and c is
the t-th of these values, roots of one of order R > max(t, s − t) suffice, because S takes no other
value that is congruent to c modulo R.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.functions import Addition
from bnmind.rank_one.nodes import Nodes, RootsOfUnity, interpolation
from bnmind.rank_one.terms import RankOne, Terms

__all__ = ["addition_terms", "factorize_addition"]


def addition_terms(
    function: Addition,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: Nodes | None,
) -> Terms:
    """Return the terms of a sum.

    Parameters
    ----------
    function
        The sum.
    states
        The positions that each argument may take.
    results
        The positions of the sum that are needed.
    nodes
        The nodes of the interpolation; by default roots of unity.
    """
    nodes = nodes or RootsOfUnity()
    values = [
        np.asarray(term, dtype=np.intp)[list(positions)]
        for term, positions in zip(function.terms, states, strict=True)
    ]
    step = math.gcd(*(int(v) for value in values for v in value - value.min())) or 1
    places = [(value - value.min()) // step for value in values]
    least = function.constant + sum(int(value.min()) for value in values)
    last = sum(int(place.max()) for place in places)
    m = function.modulus
    period = m // math.gcd(step, m)
    first = 0
    if last < period:
        count = last + 1
    elif nodes.is_periodic:
        count = period
    else:
        # The places t for which 0 ≤ least + step·t < m.
        first = -(least // step)
        count = max((m - 1 - least) // step - first + 1, 1)
    reached = (least + step * (first + np.arange(count))) % m
    place_of = [np.flatnonzero(reached == c) for c in results]
    if nodes.is_periodic and len(results) == 1 and last < period and len(place_of[0]):
        place = int(place_of[0][0])
        count = max(place, last - place) + 1
        place_of = [np.array([place % count])]
    x = nodes(count)
    inverse = interpolation(x)
    child = np.array([inverse[where].sum(axis=0) for where in place_of])
    if first:
        child = child * x ** float(-first)
    return Terms(child, tuple(x[None, :] ** place[:, None] for place in places))


@checked
def factorize_addition(
    cpd: FunctionalCPD, *, nodes: Nodes | None = None, name: str | None = None
) -> RankOne:
    """Return the rank-one factorization of a sum.

    Parameters
    ----------
    cpd
        A variable that is an `Addition` of its parents.
    nodes
        The nodes of the interpolation; by default roots of unity. With nodes that are not
        periodic, the factorization holds only where the sum lies within 0, …, modulus − 1 before
        the modulus is applied; elsewhere, other tables of the model must be zero.
    name
        The name of the auxiliary variable; by default ``B_<child>``.

    Raises
    ------
    InvalidArgumentError
        If the variable is not an addition.
    """
    if not isinstance(cpd.function, Addition):
        raise InvalidArgumentError(
            f"expected {cpd.variable.name} to be an addition, got {cpd.function!r}", cpd
        )
    states = [tuple(range(v.n_states)) for v in cpd.scope]
    terms = addition_terms(cpd.function, states[1:], states[0], nodes)
    return RankOne.of(cpd, terms, states, name=name)
