r"""Rank-one factorizations as sums of products of small arrays.

.. math:: [f(x) = y] = \sum_b \alpha(y, b) \prod_i \beta_i(x_i, b)

==============  =============================================
symbol          name here
==============  =============================================
B, its states   ``auxiliary``; a column of every array
α(y, b)         ``Terms.child``
β_i(x_i, b)     ``Terms.arguments[i]``
==============  =============================================

Single factors may be negative or complex; only the sum is the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.variable import Variable

__all__ = ["RankOne", "Terms"]


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
        product = self.factors[0]
        for factor in self.factors[1:]:
            product = product.product(factor)
        table = product.sum_to(v.name for v in self.cpd.scope)
        return Factor(table.scope, table.values.real)
