"""Rules that decide, while games are played, whether there are enough of them.

A rule looks at intervals. It keeps their promise only if they are those of a confidence sequence,
which hold at all times at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Protocol

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind._values import Positive, Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.statistics.confidence_sequence import ConfidenceSequence
from bnmind.lab.statistics.intervals import IntervalMethod
from bnmind.lab.statistics.moments import Moments
from bnmind.lab.statistics.paired import PairedDifferences

__all__ = ["AllTold", "Enough", "NarrowEnough", "RunningDifferences", "is_enough"]


class Enough(Protocol):
    """A rule that decides from the intervals of all pairs whether the games suffice."""

    def suffices(self, means: Floats, half_widths: Floats) -> bool:
        """Return whether the games suffice.

        Parameters
        ----------
        means
            The mean difference of each pair, shape (pairs,).
        half_widths
            Half the width of its interval, shape (pairs,); inf if nothing is known.
        """


@dataclass(frozen=True)
class NarrowEnough(Value):
    """The games suffice when every difference is known to within ± ``margin``.

    Examples
    --------
    >>> NarrowEnough(0.1).suffices(np.array([0.0, -0.5]), np.array([0.08, 0.1]))
    True
    """

    margin: Positive
    """The largest half-width of an interval, in the unit of the values, above 0."""

    @checked
    def suffices(self, means: Floats, half_widths: Floats) -> bool:
        """Return whether all intervals are narrow enough."""
        return bool((half_widths <= self.margin).all())


@dataclass(frozen=True)
class AllTold:
    """The games suffice when the intervals tell for each pair which is better.

    Strategies that play equally well are never told apart, so limit the number of games.

    Examples
    --------
    >>> AllTold().suffices(np.array([0.3, -0.5]), np.array([0.2, 0.6]))
    False
    """

    @checked
    def suffices(self, means: Floats, half_widths: Floats) -> bool:
        """Return whether no interval contains zero."""
        return bool((np.abs(means) > half_widths).all())


@dataclass(frozen=True, kw_only=True, eq=False)
class RunningDifferences(Value):
    """The differences of all pairs of strategies so far; `plus` returns those after more games.

    Examples
    --------
    >>> looks = ConfidenceSequence(first=2, first_nonzero=1)
    >>> running = RunningDifferences(strategies=2, interval=looks)
    >>> running = running.plus([[4, 5], [3, 5], [4, 6]])
    >>> running.n, running.means.round(2).tolist(), running.half_widths().round(1).tolist()
    (3, [-1.67], [5.4])
    """

    strategies: Annotated[int, Ge(2)]
    """The number of strategies, at least 2."""
    confidence: Annotated[float, Gt(0), Lt(1)] = 0.95
    """The probability that all intervals cover their means, at all times."""
    interval: IntervalMethod = field(default_factory=ConfidenceSequence)
    """The method of the intervals."""
    moments: Moments | None = None
    """The moments of the differences, pair by pair; None before the first game."""

    @property
    def n(self) -> int:
        """The number of games so far."""
        return 0 if self.moments is None else self.moments.n

    @property
    def means(self) -> Floats:
        """The mean difference of each pair in order, (0, 1), (0, 2), …, shape (pairs,)."""
        n_pairs = self.strategies * (self.strategies - 1) // 2
        return sealed(np.full(n_pairs, np.nan)) if self.moments is None else self.moments.means

    def half_widths(self) -> Floats:
        """Return half the widths of the simultaneous intervals, shape (pairs,)."""
        if self.moments is None:
            return np.full(len(self.means), np.inf)
        error = (1 - self.confidence) / len(self.means)
        return self.interval.half_widths(self.moments, error)

    @checked
    def plus(self, values: ArrayLike) -> RunningDifferences:
        """Return the differences after more games, with values of shape (games, strategies).

        Parameters
        ----------
        values
            ``(games, strategies)``: the value of each game for each strategy, such as its
            guesses.

        Raises
        ------
        InvalidArgumentError
            If the values have another shape.
        """
        x = number_array(values, "the values")
        if x.ndim != 2 or x.shape[1] != self.strategies:
            raise InvalidArgumentError(
                f"expected rows of {self.strategies} values, got shape {x.shape}", values
            )
        one, other = np.array(list(combinations(range(self.strategies), 2))).T
        differences = x[:, one] - x[:, other]
        moments = self.moments
        return RunningDifferences(
            strategies=self.strategies,
            confidence=self.confidence,
            interval=self.interval,
            moments=Moments.of(differences) if moments is None else moments.plus(differences),
        )

    @checked
    def suffice(self, rule: Enough) -> bool:
        """Return whether the games so far suffice.

        Parameters
        ----------
        rule
            The rule that says how small the intervals must be.
        """
        return self.moments is not None and rule.suffices(self.means, self.half_widths())


@checked
def is_enough(differences: PairedDifferences, rule: Enough) -> bool:
    """Return whether a rule says that differences are known well enough.

    Parameters
    ----------
    differences
        The differences of strategies on the same games.
    rule
        The rule, such as `NarrowEnough` or `AllTold`.
    """
    pairs = differences.pairs
    halves = [(pair.high - pair.low) / 2 for pair in pairs]
    return rule.suffices(np.array([pair.mean for pair in pairs]), np.array(halves))
