"""Products of two registers: matrix products if variables are summed out, otherwise broadcasts."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from bnmind._values import made
from bnmind.junction.program.program import Product, Scope

__all__ = ["Products"]

_SAME, _OTHERS = (True, True, True), (False, False, False)
"""Whether the operands and the product of a matrix product already are matrices."""


@dataclass
class Products:
    """A factory of products; equal products are one object."""

    sizes: Sequence[int]
    """The number of states of every variable."""
    _known: dict[tuple[object, ...], Product] = field(init=False, default_factory=dict)

    def summed(self, left: Scope, right: Scope, out: Container[int]) -> tuple[Product, Scope]:
        """Return the product summed over shared variables, and the variables of the result.

        Parameters
        ----------
        left, right
            The variables of the registers.
        out
            The variables that are summed out.
        """
        sizes = self.sizes
        batch, rows, middle, columns = [], [], [], []
        b = m = k = n = 1
        for v in left:
            if v in out:
                middle.append(v)
                k *= sizes[v]
            elif v in right:
                batch.append(v)
                b *= sizes[v]
            else:
                rows.append(v)
                m *= sizes[v]
        for v in right:
            if v not in left:
                columns.append(v)
                n *= sizes[v]
        groups = batch, rows, middle, columns
        return self._matrix_product(left, right, groups, (b, m, k, n))

    def arranged(self, left: Scope, right: Scope, order: Scope) -> tuple[Product, Scope]:
        """Return the product summed over all variables that an order lacks.

        The groups of variables of the result are those of `summed`, each in the given order.

        Parameters
        ----------
        left, right
            The variables of the registers.
        order
            The variables of the result.
        """
        groups = (
            [v for v in order if v in left and v in right],
            [v for v in order if v not in right],
            [v for v in right if v not in order],
            [v for v in order if v not in left],
        )
        b, m, k, n = (math.prod([self.sizes[v] for v in group]) for group in groups)
        return self._matrix_product(left, right, groups, (b, m, k, n))

    def _matrix_product(
        self,
        left: Scope,
        right: Scope,
        groups: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]],
        lengths: tuple[int, int, int, int],
    ) -> tuple[Product, Scope]:
        """Return the product of matrices.

        Parameters
        ----------
        left, right
            The variables of the registers.
        groups
            The variables of the batch, the rows, the sums and the columns.
        lengths
            The number of configurations of each group.
        """
        sizes = self.sizes
        batch, rows, middle, columns = groups
        b, m, k, n = lengths
        scope = (*batch, *rows, *columns)
        left_axes = _axes(left, (*batch, *rows, *middle))
        right_axes = _axes(right, (*batch, *middle, *columns))
        shape = tuple([sizes[v] for v in scope])
        # Each group has a single axis.
        single = len(rows) == len(middle) == len(columns) == 1 and len(batch) == (b > 1)
        key = (left_axes, right_axes, shape, b, m, k, single)
        product = self._known.get(key)
        if product is None:
            product = self._known[key] = made(
                Product,
                left_axes=left_axes,
                right_axes=right_axes,
                left_shape=(b, m, k) if b > 1 else (m, k),
                right_shape=(b, k, n) if b > 1 else (k, n),
                shape=shape,
                cost=b * m * k * n,
                sums=True,
                overwrites=False,
                same_shapes=_SAME if single else _OTHERS,
            )
        return product, scope

    def broadcast(self, left: Scope, right: Scope) -> tuple[Product, Scope]:
        """Return the product without sums, over the left variables and then the right's others."""
        sizes = self.sizes
        columns = [v for v in right if v not in left]
        scope = (*left, *columns)
        shape = tuple([sizes[v] for v in scope])
        right_axes = _axes(right, tuple([v for v in scope if v in right]))
        right_shape = tuple([sizes[v] if v in right else 1 for v in scope])
        key = (right_axes, shape, right_shape, len(left), len(right))
        product = self._known.get(key)
        if product is None:
            product = self._known[key] = made(
                Product,
                left_axes=None,
                right_axes=right_axes,
                left_shape=shape[: len(left)] + (1,) * len(columns),
                right_shape=right_shape,
                shape=shape,
                cost=math.prod(shape),
                sums=False,
                overwrites=False,
                same_shapes=(not columns, len(right) == len(scope), True),
            )
        return product, scope


def _axes(scope: Scope, order: Scope) -> tuple[int, ...] | None:
    """Return the axes that bring a scope into an order; None if it has that order."""
    return None if scope == order else tuple([scope.index(v) for v in order])
