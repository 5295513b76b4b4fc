"""Steps on registers that hold only the cells that may be other than zero.

A *packed* register is a vector: the numbers of a list of cells of a table, which the plan knows, in
ascending order. A packed step knows the terms of its result. Term t is the product of the numbers
``first[t]`` of the left and ``second[t]`` of the right register, and each number of the result is
the sum of some consecutive terms:

    result[i] = Σ left[first[t]] · right[second[t]],  starts[i] ≤ t < starts[i + 1]

So zeros are neither stored nor multiplied. Registers that are not packed are numbered like their
cells. `bnmind.junction.program.packing` makes these steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.pgm.factor import Values

__all__ = ["PackedStep", "Places"]

Places = NDArray[Any]
"""Positions in a register, as the smallest unsigned whole numbers that hold them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PackedStep:
    """A product of two registers, or a sum of one, over a list of terms."""

    first: Places
    """``(terms,)`` the factor of each term in the left register."""
    second: Places | None
    """``(terms,)`` the other factor, in the right register; None for a sum."""
    starts: Places | None
    """``(numbers,)`` the first term of each number; None if each number is one term."""
    cells: Places | None
    """``(numbers,)`` the cell of each number in a result that is not packed; None if it is."""
    shape: tuple[int, ...]
    """The shape of a result that is not packed."""
    whole_cost: int
    """The multiplications of the step over all cells."""

    @property
    def cost(self) -> int:
        """The number of terms."""
        return len(self.first)

    @property
    def gathered(self) -> int:
        """The numbers that a run takes for a moment: terms, factors, and wider positions."""
        return 3 * len(self.first)

    @property
    def arrays(self) -> list[Places]:
        """The lists of the step."""
        lists = (self.first, self.second, self.starts, self.cells)
        return [values for values in lists if values is not None]

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the result."""
        terms = left.reshape(-1)[self.first]
        if self.second is not None:
            terms = terms * right.reshape(-1)[self.second]
        return self._gathered(terms, np.add, 0.0)

    def of_logarithms(self, left: Values, right: Values, add: np.ufunc) -> Values:
        """Return the result for logarithms, with another operation in place of the sum."""
        terms = left.reshape(-1)[self.first]
        if self.second is not None:
            terms = terms + right.reshape(-1)[self.second]
        return self._gathered(terms, add, -np.inf)

    def _gathered(self, terms: Values, add: np.ufunc, zero: float) -> Values:
        """Return the result of some terms."""
        if self.starts is not None and len(terms):
            terms = add.reduceat(terms, self.starts)
        if self.cells is None:
            return terms
        whole: Values = np.full(math.prod(self.shape), zero, dtype=terms.dtype)
        whole[self.cells] = terms
        return whole.reshape(self.shape)
