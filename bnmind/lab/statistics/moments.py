"""Means and spreads of many series, updated by one batch of observations after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._values import Count, Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["Moments"]


@dataclass(frozen=True, eq=False)
class Moments(Value):
    """The means and the sums of squared deviations of several series of the same length.

    References
    ----------
    T. F. Chan, G. H. Golub and R. J. LeVeque, *Updating formulae and a pairwise algorithm for
    computing sample variances*, COMPSTAT (1982), 30-41.

    Examples
    --------
    >>> moments = Moments.of([[1, 5], [3, 5]]).plus([[2, 5]])
    >>> moments.n, moments.means.tolist(), moments.sds.tolist()
    (3, [2.0, 5.0], [1.0, 0.0])
    """

    n: Count
    """The number of observations of each series."""
    means: Floats
    """Their means, shape (series,)."""
    squares: Floats
    """Their sums of squared deviations from the means, shape (series,)."""
    nonzero: NDArray[np.intp]
    """The number of observations that are not zero, shape (series,)."""

    def _faults(self) -> Iterator[str]:
        if self.means.ndim != 1 or not self.means.shape == self.squares.shape == self.nonzero.shape:
            yield (
                "expected a mean, a sum of squares and a number for each series, got shapes"
                f" {self.means.shape}, {self.squares.shape} and {self.nonzero.shape}"
            )

    @staticmethod
    @checked
    def of(observations: ArrayLike) -> Moments:
        """Return the moments of observations of shape (observations, series).

        Parameters
        ----------
        observations
            ``(observations, series)``, finite numbers.

        Raises
        ------
        InvalidArgumentError
            If there are none, or one is not finite.
        """
        x = number_array(observations, "the observations")
        if x.ndim != 2 or not len(x) or not np.isfinite(x).all():
            raise InvalidArgumentError(
                "expected one or more rows of finite observations", observations
            )
        means = x.mean(axis=0)
        squares = ((x - means) ** 2).sum(axis=0)
        return Moments(len(x), means, squares, np.count_nonzero(x, axis=0))

    @checked
    def plus(self, observations: ArrayLike) -> Moments:
        """Return the moments after further observations; see `of`.

        Raises
        ------
        InvalidArgumentError
            If the observations are of another number of series.
        """
        other = Moments.of(observations)
        if other.means.shape != self.means.shape:
            raise InvalidArgumentError(
                f"expected observations of {len(self.means)} series, got {len(other.means)}",
                observations,
            )
        n = self.n + other.n
        apart = other.means - self.means
        return Moments(
            n,
            self.means + apart * (other.n / n),
            self.squares + other.squares + apart**2 * (self.n * other.n / n),
            self.nonzero + other.nonzero,
        )

    @property
    def sds(self) -> Floats:
        """The standard deviations, shape (series,); nan for a single observation."""
        if self.n == 1:
            return sealed(np.full_like(self.squares, np.nan))
        return sealed(np.sqrt(self.squares / (self.n - 1)))
