"""Nodes of interpolation: where a sum's generating polynomial is evaluated.

A sum S in 0, …, m − 1 equals c exactly when ``Σ_b α(c, b) x_b^S = 1``, for any m
distinct nodes x_b and α the inverse of their Vandermonde matrix. Roots of unity
keep the condition number at 1; real nodes lose digits as m grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind.pgm.factor import Values

__all__ = ["Chebyshev", "Integers", "Nodes", "RootsOfUnity"]


class Nodes(Protocol):
    """A choice of m distinct, non-zero nodes."""

    @property
    def is_periodic(self) -> bool:
        """Whether x^m = 1 at every node, so that the sum counts modulo m."""
        ...

    def __call__(self, m: int) -> Values:
        """Return the nodes, ``(m,)``."""
        ...


@dataclass(frozen=True)
class RootsOfUnity:
    """The m-th roots of one: exact sums modulo m, condition number 1."""

    @property
    def is_periodic(self) -> bool:
        """True."""
        return True

    def __call__(self, m: int) -> Values:
        """Return exp(2πi b/m), b = 0, …, m − 1."""
        nodes: Values = np.exp(2j * np.pi * np.arange(m) / m)
        return nodes


@dataclass(frozen=True)
class Chebyshev:
    """Real nodes in ± pairs, from the Chebyshev points of the next even degree.

    For odd m the smallest pair keeps only its positive node: zero itself could
    not carry the negative powers of a difference.
    """

    @property
    def is_periodic(self) -> bool:
        """False."""
        return False

    def __call__(self, m: int) -> Values:
        """Return m distinct points of (−1, 1), none zero."""
        even = m + m % 2
        points = np.cos(np.pi * (2 * np.arange(even) + 1) / (2 * even))
        return np.delete(points, even // 2) if m % 2 else points


@dataclass(frozen=True)
class Integers:
    """The integers 1, −1, 2, −2, …: simple, exact in short sums, ill-conditioned in long ones."""

    @property
    def is_periodic(self) -> bool:
        """False."""
        return False

    def __call__(self, m: int) -> Values:
        """Return the first m of 1, −1, 2, −2, …."""
        b = np.arange(m)
        return ((b // 2 + 1) * np.where(b % 2, -1, 1)).astype(np.float64)
