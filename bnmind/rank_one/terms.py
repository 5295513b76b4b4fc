r"""Rank-one factorizations as sums of products of small arrays: the terms of each kind of function.

A new rank-one form is a function here, and a line in `RANK_ONE_TERMS`. The contract tests run over
every member.

**Nodes** are those of interpolation, at which the generating polynomial of a sum is evaluated. A
sum S in 0, …, m − 1 equals c if and only if ``Σ_b α(c, b) x_b^S = 1``, for any m distinct nodes
x_b and the inverse α of their Vandermonde matrix. For roots of unity the condition number of this
matrix is 1. Real nodes lose digits as m grows.

**Terms** are products:

.. math:: [f(x) = y] = \sum_b \alpha(y, b) \prod_i \beta_i(x_i, b)

==============  =============================================
symbol          name here
==============  =============================================
B, its states   ``auxiliary``; a column of every array
α(y, b)         ``Terms.child``
β_i(x_i, b)     ``Terms.arguments[i]``
==============  =============================================

Single factors may be negative or complex; only the sum is the table.

**Sums** are factorized by an auxiliary variable. The table of ``S = Σ_i term_i(x_i)`` grows with
the product of all state counts. An auxiliary variable B, with a state for each value of S,
factorizes the table into small tables, one for each argument (Savicky & Vomlel, *Factorized
representation of functional dependence*, 2004; Vomlel, *Bayesian networks in Mastermind*, 2004,
section 4):

.. math:: [S = c] = \sum_b \alpha(c, b) \prod_i x_b^{\,term_i}

==============  =============================================
paper           name here
==============  =============================================
B               ``auxiliary``
x_b             the nodes, see `bnmind.rank_one.terms`
α(c, b)         the factor over (child, B)
x_b^{M_i}       the factor over (M_i, B)
==============  =============================================

Number of terms: let S take the values l, l + g, …, l + g·s before the modulus m is applied. Then
s + 1 nodes suffice, or m/gcd(g, m) roots of one if this is less. If only S = c is needed, and c is
the t-th of these values, roots of one of order R > max(t, s − t) suffice, because S takes no other
value that is congruent to c modulo R.

**Equality**, Kronecker's delta, has a term for each common state:

.. math:: [x_1 = \dots = x_k] = \sum_v \prod_i [x_i = v]

If the complement is needed too, there is one more term, the constant 1.

==============  ====================================
symbol          name here
==============  ====================================
v               ``shared``: positions common to all arguments
[x_i = v]       ``arguments[i]``
==============  ====================================

**Minimum and maximum:**

.. math:: [\max_i x_i = y] = \prod_i [x_i \le y] - \prod_i [x_i \le y - 1]

The number of terms is the number of states of the maximum, or two once the maximum is observed. The
values are 0 and ±1 (Díez & Galán, *Efficient computation for the noisy MAX*, 2003; Savicky &
Vomlel, *Exploiting tensor rank-one decomposition in probabilistic inference*, 2007, who show that
fewer terms do not suffice). The minimum is the mirror image.

==============  ================================================
symbol          name here
==============  ================================================
b               a bound; bounds that give the same factors are
                one term
[x_i ≤ b]       ``arguments[i]``
α(y, b)         ``child``: 1 for b = y, −1 for b = y − 1
==============  ================================================

**Noisy extrema** are noisy-or, -and, -max and -min. The factors of the parents contain the links,
so the noise adds no cost:

.. math:: P(Y = y \mid x) = F(y, x) - F(y - 1, x), \quad
          F(y, x) = P(Z_0 \le y) \prod_i P(Z_i \le y \mid x_i)

(Díez & Galán, *Efficient computation for the noisy MAX*, 2003; Vomlel & Tichavský,
*Probabilistic inference with noisy-threshold models based on a CP tensor
decomposition*, 2014). The number of terms is the number of states of the child, two once the child
is observed, or one if it is observed in the lowest state of a maximum.

==================  ===========================================
symbol              name here
==================  ===========================================
P(Z_i ≤ y | x_i)    ``arguments[i]``, a column for each bound y
P(Z_0 ≤ y)          ``leak``, in ``child``
==================  ===========================================

**Parity** has two terms for any number of arguments:

.. math:: [\textstyle\sum_i x_i \text{ even}] = \tfrac12 \Bigl(1 + \prod_i (-1)^{x_i}\Bigr)

(Savicky & Vomlel, *Exploiting tensor rank-one decomposition in probabilistic
inference*, 2007). It is the sum modulo 2 with the roots 1 and −1 as nodes.

==============  ===================================
symbol          name here
==============  ===================================
1, (−1)^{x_i}   the two columns of ``arguments[i]``
½, ±½           the rows of ``child``: even, odd
==============  ===================================

**Thresholds**, "exactly l of k" and "at least l of k", are functions of a count S of 0, …, k, hence
of sums of powers:

.. math:: [S = l] = \frac1R \sum_{b} z_b^{S - l}, \quad z_b^R = 1, \quad R = \max(l, k - l) + 1

because no other count is congruent to l modulo R. No factorization with complex numbers has fewer
terms (Carlini, Catalisano & Geramita, *The solution to the Waring problem for monomials and the sum
of coprime monomials*, 2012). For "at least l", use the sign that is −1 below l and 1 from l on. It
extends to an antiperiodic function if R is not smaller than either part:

.. math:: 2[S \ge l] - 1 = \sum_b a_b z_b^S, \quad z_b^R = -1, \quad R = \max(l, k - l + 1)

With other nodes than roots of unity, the factorization uses the k + 1 nodes of a sum.

==============  =====================================================
symbol          name here
==============  =====================================================
k               ``k``: number of undecided arguments
l               ``wanted``, minus arguments that surely count
z_b^{x_i}       ``arguments[i]``
==============  =====================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Restricted,
    Stepwise,
    Threshold,
    which_count,
)
from bnmind.pgm.network import FactorModel, Network, Replacement
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable


def roots(m: int, first: int = 0) -> Values:
    """Return exp(πi t/m) for t = first, first + 2, …: the m-th roots of one, or of minus one.

    The Vandermonde matrix has the condition number 1. Pairs are exact conjugates, and the roots are
    real if all of them are.

    Parameters
    ----------
    m
        The number of roots.
    first
        0 for the roots of one, 1 for those of minus one.
    """
    turns = np.arange(first, m + 1, 2)
    half = np.exp(1j * np.pi * turns / m)
    half[2 * turns == m] = 1j
    half[turns == m] = -1
    nodes: Values = np.concatenate([half, half[(turns > 0) & (turns < m)][::-1].conj()])
    return np.real(nodes) if m + first <= 2 else nodes


def chebyshev(m: int) -> Values:
    """Return m real nodes in ± pairs, from the Chebyshev points of the next even degree.

    For odd m only the positive node of the smallest pair is kept. Zero cannot be a node, because
    differences need negative powers.
    """
    even = m + m % 2
    points = np.cos(np.pi * (2 * np.arange(even) + 1) / (2 * even))
    return np.delete(points, even // 2) if m % 2 else points


def integers(m: int) -> Values:
    """Return the first m of 1, −1, 2, −2, …, which are ill-conditioned for long sums."""
    b = np.arange(m)
    return ((b // 2 + 1) * np.where(b % 2, -1, 1)).astype(np.float64)


NODES: Mapping[str, Callable[[int], Values]] = MappingProxyType(
    {
        "unity": roots,
        "minus-one": lambda m: roots(m, 1),
        "chebyshev": chebyshev,
        "integers": integers,
    }
)
"""Functions from a number m to m distinct nodes, none zero. Sums are taken modulo m at the roots of
one, where every power m is 1; other nodes need sums that stay in their range."""


def interpolation(x: Values) -> Values:
    """Return α, ``(sums, nodes)``, such that ``Σ_b α(c, b) x_b^S = [S = c]`` for S below m."""
    m = len(x)
    vandermonde = x[:, None] ** np.arange(m)
    if np.iscomplexobj(x):
        # For roots of one or of minus one, the matrix divided by √m is unitary.
        unitary: Values = vandermonde.conj().T / m
        return unitary
    inverse: Values = np.linalg.inv(vandermonde)
    return inverse


@dataclass(frozen=True, eq=False)
class Terms(Value):
    """A sum of products over some positions of the child and the arguments."""

    child: Values
    """``(positions of the child, terms)``."""
    arguments: tuple[Values, ...]
    """``(positions of the argument, terms)`` for each argument."""

    @classmethod
    @checked
    def constant(cls, child: Sequence[float], sizes: Sequence[int]) -> Terms:
        """Return the single term of a function that does not depend on the arguments.

        Parameters
        ----------
        child
            The value of each state of the child, ``(states,)``.
        sizes
            The number of states of each argument.
        """
        values = np.asarray(child, dtype=np.float64)[:, None]
        return cls(values, tuple(np.ones((n, 1)) for n in sizes))

    def without_zeros(self) -> Terms:
        """Return the same sum without zero terms; one is kept if all terms are zero."""
        nonzero = np.any(self.child != 0, axis=0, keepdims=True)[0]
        for argument in self.arguments:
            nonzero &= np.any(argument != 0, axis=0, keepdims=True)[0]
        nonzero[0] |= not nonzero.any()
        return Terms(self.child[:, nonzero], tuple(a[:, nonzero] for a in self.arguments))


@dataclass(frozen=True, eq=False)
class RankOne(Value):
    """A distribution written as a sum, over an auxiliary variable, of products of small factors."""

    cpd: CPD
    """The distribution that was factorized."""
    auxiliary: Variable
    """B: a state for each term of the sum."""
    factors: tuple[Factor, ...]
    """A factor over (child, B), then one over (parent, B) for each parent."""

    @classmethod
    def of(
        cls, cpd: CPD, terms: Terms, states: Sequence[Sequence[int]], *, name: str | None = None
    ) -> RankOne:
        """Return the factorization of a distribution, given its terms on some positions.

        The factors are zero at other positions. ``name`` is the name of B; by default
        ``B_<child>``.

        Parameters
        ----------
        cpd
            The distribution.
        terms
            Its terms.
        states
            For each variable of the distribution's ``scope``, the positions that the terms are
            for.
        name
            The name of the auxiliary variable B; ``B_<child>`` if None.
        """
        count = terms.child.shape[1]
        auxiliary = Variable.of_integers(name or f"B_{cpd.variable.name}", range(count))
        parts = (terms.child, *terms.arguments)
        factors = []
        for variable, positions, part in zip(cpd.scope, states, parts, strict=True):
            values: Values = np.zeros((variable.n_states, count), dtype=part.dtype)
            values[list(positions)] = part
            factors.append(Factor((variable, auxiliary), values))
        return cls(cpd, auxiliary, tuple(factors))

    @property
    def n_terms(self) -> int:
        """The number of terms: the rank of the factorization."""
        return self.auxiliary.n_states

    @property
    def is_signed(self) -> bool:
        """Whether some values are negative or complex, so that terms may cancel."""
        return any(
            np.iscomplexobj(factor.values) or bool(np.any(np.real(factor.values) < 0))
            for factor in self.factors
        )

    def expand(self) -> Factor:
        """Return the product summed over B, the table of the distribution."""
        product = reduce(Factor.product, self.factors)
        table = product.sum_to(v.name for v in self.cpd.scope)
        return Factor(table.scope, table.values.real)


def addition_terms(
    function: Addition,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str = "unity",
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
        The nodes of the interpolation.
    """
    is_periodic = nodes == "unity"
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
    elif is_periodic:
        count = period
    else:
        # The places t for which 0 ≤ least + step·t < m.
        first = -(least // step)
        count = max((m - 1 - least) // step - first + 1, 1)
    reached = (least + step * (first + np.arange(count))) % m
    place_of = [np.flatnonzero(reached == c) for c in results]
    if is_periodic and len(results) == 1 and last < period and len(place_of[0]):
        place = int(place_of[0][0])
        count = max(place, last - place) + 1
        place_of = [np.array([place % count])]
    x = NODES[nodes](count)
    inverse = interpolation(x)
    child = np.array([inverse[where].sum(axis=0) for where in place_of])
    if first:
        child = child * x ** float(-first)
    return Terms(child, tuple(x[None, :] ** place[:, None] for place in places))


def equality_terms(states: Sequence[Sequence[int]], results: Sequence[int]) -> Terms:
    """Return the terms of a delta.

    Parameters
    ----------
    states
        The positions that each argument may take.
    results
        The results that are needed: 1 (all equal) or 0 (not all equal). Others are impossible.
    """
    shared = sorted(set.intersection(*(set(positions) for positions in states)))
    equal = np.array([1.0] * len(shared) + [0.0])
    rows = {1: equal, 0: np.append(-equal[:-1], 1.0)}
    child = np.array([rows.get(result, np.zeros(len(equal))) for result in results])
    arguments = (
        np.array([[float(position == v) for v in shared] + [1.0] for position in positions])
        for positions in states
    )
    return Terms(child, tuple(arguments)).without_zeros()


def extremum_terms(
    function: Maximum | Minimum, states: Sequence[Sequence[int]], results: Sequence[int]
) -> Terms:
    """Return the terms of a maximum or minimum.

    Parameters
    ----------
    function
        The maximum or the minimum.
    states
        The positions that each argument may take.
    results
        The positions of the extremum that are needed.
    """
    # With opposite signs, the minimum is a maximum.
    sign = 1 if isinstance(function, Maximum) else -1
    bounds, child = _differences(results, -sign)
    arguments = [
        (sign * np.array(positions)[:, None] <= sign * bounds).astype(np.float64)
        for positions in states
    ]
    # Bounds that give the same factors are one term.
    factors = np.concatenate(arguments)
    _, first, which = np.unique(factors, axis=1, return_index=True, return_inverse=True)
    child = child @ np.eye(len(first))[which.reshape(-1)]
    return Terms(child, tuple(one[:, first] for one in arguments)).without_zeros()


def _differences(results: Sequence[int], before: int) -> tuple[NDArray[np.intp], Floats]:
    """Return the bounds b of some results, and 1 where b is the result, −1 where the one before."""
    bounds = np.array(sorted({b for y in results for b in (y, y + before)}), dtype=np.intp)
    places = np.array(results, dtype=np.intp)[:, None]
    return bounds, (bounds == places).astype(np.float64) - (bounds == places + before)


def noisy_terms(
    cpd: NoisyExtremum, states: Sequence[Sequence[int]], results: Sequence[int]
) -> Terms:
    """Return the terms of a noisy extremum.

    Parameters
    ----------
    cpd
        The distribution.
    states
        The positions that each parent may take.
    results
        The states of the child that are needed.
    """
    bounds, child = _differences(results, -1 if isinstance(cpd, NoisyMaximum) else 1)
    inside = (bounds >= 0) & (bounds < cpd.variable.n_states)
    bounds, child = bounds[inside], child[:, inside]
    leak, *links = cpd.cumulative()
    arguments = tuple(
        link[np.ix_(bounds, np.array(positions, dtype=np.intp))].T
        for link, positions in zip(links, states, strict=True)
    )
    return Terms(child * leak[bounds, 0], arguments).without_zeros()


def count_terms(
    function: Threshold | Exactly,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str = "unity",
) -> Terms:
    """Return the terms of "at least l of k" or "exactly l of k".

    Parameters
    ----------
    function
        The function, `Threshold` or `Exactly`.
    states
        The positions that each argument may take.
    results
        The results that are needed: 1 (true) or 0 (false). Others are impossible.
    nodes
        The nodes of the interpolation; by default roots of one and of minus one.
    """
    counts = [which_count(function.counted, i, np.array(kept)) for i, kept in enumerate(states)]
    certain = sum(int(count.min()) for count in counts)
    open_counts = [count - count.min() for count in counts]
    k = sum(int(count.max()) for count in open_counts)
    exact = isinstance(function, Exactly)
    needed = (function.count if isinstance(function, Exactly) else function.least) - certain
    if (exact and not 0 <= needed <= k) or (not exact and not 0 < needed <= k):
        always = int(not exact and needed <= 0)
        return Terms.constant(
            [float(result == always) for result in results], [len(s) for s in states]
        )
    if nodes != "unity":
        x = NODES[nodes](k + 1)
        true = interpolation(x)[needed : needed + 1 if exact else None].sum(axis=0)
        x, true = np.append(1.0, x), np.append(0.0, true)
    elif exact:
        order = max(needed, k - needed) + 1
        x = roots(order)
        true = x ** float(-needed) / order
    else:
        order = max(needed, k - needed + 1)
        others = roots(order, 1)
        window = np.arange(needed - order, needed)
        sums = -np.sum(others[None, :] ** (-window[:, None].astype(np.float64)), axis=0) / order
        x, true = np.append(1.0, others), np.append(0.5, sums / 2)
    # The first node is 1; its powers give the constant.
    rows = {1: true, 0: np.eye(len(x))[0] - true}
    child = np.array([rows.get(result, np.zeros(len(x))) for result in results])
    arguments = tuple(x[None, :] ** count[:, None] for count in open_counts)
    return Terms(child, arguments).without_zeros()


MakesTerms: TypeAlias = Callable[[Any, Sequence[Sequence[int]], Sequence[int], str], Terms]
"""(function, positions of each argument, results that are needed, nodes) → terms."""

RANK_ONE_TERMS: Mapping[type[Function], MakesTerms] = MappingProxyType(
    {
        Addition: addition_terms,
        Maximum: lambda function, states, results, _: extremum_terms(function, states, results),
        Minimum: lambda function, states, results, _: extremum_terms(function, states, results),
        Parity: lambda _, states, results, __: addition_terms(
            Addition(tuple(tuple(range(max(kept) + 1)) for kept in states), 2), states, results
        ),
        Threshold: count_terms,
        Exactly: count_terms,
        Equality: lambda _, states, results, __: equality_terms(states, results),
    }
)
"""The function that makes the terms of each kind of function."""


@checked
def rank_one_form(
    cpd: CPD,
    *,
    nodes: str = "unity",
    states: Mapping[str, Sequence[int]] | None = None,
    name: str | None = None,
) -> RankOne | None:
    """Return the rank-one factorization of a distribution, or None if none is known.

    Parameters
    ----------
    cpd
        The distribution. Sums, extrema, parities, counts, deltas and noisy extrema have a
        factorization, also when they are restricted to some states.
    nodes
        The nodes of the interpolation of sums and counts: roots of one, roots of minus one, points
        of Chebyshev, or 1, −1, 2, −2, …. Other nodes than roots of one hold only where a sum lies
        within 0, …, modulus − 1 before the modulus is applied; elsewhere, other tables of the model
        must be zero.
    states
        The remaining positions of the variables, as far as known. The factors are zero elsewhere,
        and the number of terms may be smaller: a maximum has two terms once the child is observed.
    name
        The name of the auxiliary variable; by default ``B_<child>``.

    Raises
    ------
    UnknownNameError
        If there are no such nodes.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(30))
    >>> total = FunctionalCPD.sum_of("total", votes)
    >>> rank_one_form(total).n_terms
    31
    >>> rank_one_form(total, states={"total": (15,)}).n_terms
    16
    """
    if nodes not in NODES:
        raise UnknownNameError("choice of nodes", nodes, tuple(NODES))
    positions = [tuple((states or {}).get(v.name, range(v.n_states))) for v in cpd.scope]
    if isinstance(cpd, TabularCPD):
        return None
    if isinstance(cpd, FunctionalCPD):
        terms = _function_terms(cpd.function, positions[1:], positions[0], nodes)
    else:
        terms = noisy_terms(cpd, positions[1:], positions[0])
    return None if terms is None else RankOne.of(cpd, terms, positions, name=name)


@checked
def factorize(
    model: Network | FactorModel,
    variable: str,
    *,
    nodes: str = "unity",
    name: str | None = None,
) -> FactorModel:
    """Return the model with one variable's table replaced by its rank-one factorization.

    Parameters
    ----------
    model
        A model in which the distribution of the variable has a rank-one form.
    variable, nodes, name
        As for `rank_one_form`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or there are no such nodes.
    InvalidArgumentError
        If the variable's distribution has no such form, or the auxiliary variable's
        name is taken.
    """
    model.variable(variable)
    whole = (p for p in model.potentials if not isinstance(p, Factor))
    cpd = next((one for one in whole if one.variable.name == variable), None)
    form = None if cpd is None else rank_one_form(cpd, nodes=nodes, name=name)
    if cpd is None or form is None:
        raise InvalidArgumentError(
            f"{variable} has no rank-one form: it must be a function of its parents, such as a sum,"
            " a maximum or a noisy-or",
            variable,
        )
    if any(v.name == form.auxiliary.name for v in model.variables):
        raise InvalidArgumentError(
            f"the auxiliary variable needs a new name; {form.auxiliary.name!r} is taken",
            form.auxiliary.name,
        )
    potentials = [
        part for one in model.potentials for part in (form.factors if one is cpd else (one,))
    ]
    before = model.replacements if isinstance(model, FactorModel) else ()
    replaced = Replacement(cpd, form.factors)
    return FactorModel(tuple(potentials), replacements=(*before, replaced))


def _function_terms(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms | None:
    """Return the terms of a function, or None if none are known.

    Those of a restricted function are some rows of the terms of the whole function.
    """
    if not isinstance(function, Restricted):
        make = RANK_ONE_TERMS.get(type(function))
        return None if make is None else make(function, states, results, nodes)
    whole = function.function
    if not isinstance(whole, Stepwise):
        return None
    remaining = iter(states)
    full = [
        tuple(old[i] for i in next(remaining)) if len(old) > 1 else old for old in function.states
    ]
    # Removed results count for the remaining results at their places.
    possible = np.array(whole.steps(full).possible_results(), dtype=np.intp)
    place = function.place(possible)
    wanted = np.array(results, dtype=np.intp)
    needed = np.isin(place, wanted)
    if not needed.any():
        return Terms.constant([0.0] * len(results), [len(positions) for positions in states])
    terms = _function_terms(whole, full, possible[needed].tolist(), nodes)
    if terms is None:
        return None
    child = (wanted[:, None] == place[needed]) @ terms.child
    arguments = []
    for old, argument in zip(function.states, terms.arguments, strict=True):
        if len(old) > 1:
            arguments.append(argument)
        else:
            child = child * argument[0]
    return Terms(child, tuple(arguments)).without_zeros()
