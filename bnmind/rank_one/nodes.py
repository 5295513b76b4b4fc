"""Nodes of interpolation, at which the generating polynomial of a sum is evaluated.

A sum S in 0, …, m − 1 equals c if and only if ``Σ_b α(c, b) x_b^S = 1``, for any m distinct nodes
x_b and the inverse α of their Vandermonde matrix. For roots of unity the condition number of this
matrix is 1. Real nodes lose digits as m grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind.pgm.factor import Values

__all__ = ["Chebyshev", "Integers", "Nodes", "RootsOfMinusOne", "RootsOfUnity", "interpolation"]


class Nodes(Protocol):
    """A choice of m distinct, non-zero nodes."""

    @property
    def is_periodic(self) -> bool:
        """Whether x^m = 1 at every node, so that sums are taken modulo m."""
        ...

    def __call__(self, m: int) -> Values:
        """Return the nodes, ``(m,)``."""
        ...


@dataclass(frozen=True)
class RootsOfUnity:
    """The m-th roots of one: exact sums modulo m with condition number 1; real for m ≤ 2."""

    @property
    def is_periodic(self) -> bool:
        """True."""
        return True

    def __call__(self, m: int) -> Values:
        """Return exp(2πi b/m), b = 0, …, m − 1, in pairs of exact conjugates."""
        turns = np.arange(m // 2 + 1)
        half = np.exp(2j * np.pi * turns / m)
        half[4 * turns == m] = 1j
        half[2 * turns == m] = -1
        nodes: Values = np.concatenate([half, half[1 : (m + 1) // 2][::-1].conj()])
        return nodes if m > 2 else np.real(nodes)


@dataclass(frozen=True)
class RootsOfMinusOne:
    """The m-th roots of minus one: x^m = −1, condition number 1; real for m = 1.

    They form ⌈m/2⌉ conjugate pairs, for even m one fewer than the roots of one.
    """

    @property
    def is_periodic(self) -> bool:
        """False: the sign changes after m."""
        return False

    def __call__(self, m: int) -> Values:
        """Return exp(πi (2b + 1)/m), b = 0, …, m − 1, in pairs of exact conjugates."""
        if m == 1:
            return np.array([-1.0])
        turns = 2 * np.arange((m + 1) // 2) + 1
        half = np.exp(1j * np.pi * turns / m)
        half[2 * turns == m] = 1j
        half[turns == m] = -1
        nodes: Values = np.concatenate([half, half[: m // 2][::-1].conj()])
        return nodes


@dataclass(frozen=True)
class Chebyshev:
    """Real nodes in ± pairs, from the Chebyshev points of the next even degree.

    For odd m only the positive node of the smallest pair is kept. Zero cannot be a node, because
    differences need negative powers.
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
    """The integers 1, −1, 2, −2, …: exact for short sums, but ill-conditioned for long ones."""

    @property
    def is_periodic(self) -> bool:
        """False."""
        return False

    def __call__(self, m: int) -> Values:
        """Return the first m of 1, −1, 2, −2, …."""
        b = np.arange(m)
        return ((b // 2 + 1) * np.where(b % 2, -1, 1)).astype(np.float64)


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
