"""Differences between strategies on the same games, with simultaneous confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.statistics.groups import neighbor_groups, pair_of
from bnmind.lab.statistics.holm import holm
from bnmind.lab.statistics.intervals import IntervalMethod, StudentInterval
from bnmind.lab.statistics.moments import Moments
from bnmind.lab.statistics.signed_rank import signed_rank_p_value

__all__ = ["PairedDifference", "PairedDifferences", "paired_differences"]


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Value):
    """The mean difference of two strategies on the same games: first minus second."""

    first: str
    """The name of the strategy that is counted positively."""
    second: str
    """The name of the strategy that is subtracted."""
    n: int
    """The number of games that both have played."""
    mean: float
    """The mean of the differences, in the unit of the values."""
    standard_error: float
    """The standard error of the mean; nan for a single game."""
    low: float
    """The lower end of the confidence interval; -inf if nothing is known."""
    high: float
    """The upper end of the confidence interval; inf if nothing is known."""
    p_value: float
    """The p-value of the signed-rank test, for this pair alone; nan if the test does not apply."""
    adjusted_p_value: float
    """The same, corrected for all pairs by Holm's procedure."""

    @property
    def can_be_told(self) -> bool:
        """Whether the interval says which of the two has the smaller mean."""
        return self.low > 0 or self.high < 0

    @property
    def games_to_tell(self) -> int | None:
        """The number of games that would tell, if the mean stays; None if that is unknown.

        The width of an interval shrinks with the square root of the number of games.
        """
        half = (self.high - self.low) / 2
        if self.mean == 0 or not math.isfinite(half):
            return None
        return max(self.n, math.ceil(self.n * (half / self.mean) ** 2))

    def swapped(self) -> PairedDifference:
        """Return the difference of the second strategy minus the first."""
        return PairedDifference(
            first=self.second,
            second=self.first,
            n=self.n,
            mean=0.0 - self.mean,
            standard_error=self.standard_error,
            low=0.0 - self.high,
            high=0.0 - self.low,
            p_value=self.p_value,
            adjusted_p_value=self.adjusted_p_value,
        )

    def as_dict(self) -> dict[str, str | int | float | bool | None]:
        """Return the fields by name, with None for numbers that JSON lacks."""
        plain = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }
        return {**plain, "can_be_told": self.can_be_told}

    def __str__(self) -> str:
        """Return the difference in one line, such as ``map - knuth: -0.50 (-0.75 to -0.25)``."""
        return f"{self.first} - {self.second}: {self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True, kw_only=True)
class PairedDifferences(Value):
    """The differences of all pairs of strategies, with simultaneous intervals."""

    ranking: tuple[str, ...]
    """The names of the strategies; the smallest mean comes first."""
    means: tuple[float, ...]
    """Their means."""
    pairs: tuple[PairedDifference, ...]
    """The difference of each pair, the better-ranked strategy first."""
    confidence: float
    """The probability that all intervals together cover their means."""
    interval: str
    """The name of the method of the intervals."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The ranking, cut between neighbors that differ; see `differ`."""
        return neighbor_groups(self.ranking, self.differ)

    @checked
    def between(self, first: str, second: str) -> PairedDifference:
        """Return the difference of two strategies, first minus second.

        Parameters
        ----------
        first
            The name of a strategy.
        second
            The name of another one.

        Raises
        ------
        InvalidArgumentError
            If one of them is not in the ranking.
        """
        pairs = {(one.first, one.second): one for one in self.pairs}
        pair = pair_of(pairs, self.ranking, first, second)
        return pair if pair.first == first else pair.swapped()

    @checked
    def differ(self, one: str, other: str) -> bool:
        """Return whether the corrected signed-rank test finds a difference.

        If the test does not apply, the interval decides.

        Parameters
        ----------
        one
            The name of a strategy.
        other
            The name of another one.

        Raises
        ------
        InvalidArgumentError
            If one of them is not in the ranking.
        """
        pair = self.between(one, other)
        if math.isnan(pair.adjusted_p_value):
            return pair.can_be_told
        return pair.adjusted_p_value < 1 - self.confidence

    def __str__(self) -> str:
        """Return one line for each pair."""
        return "\n".join(map(str, self.pairs))


@checked
def paired_differences(
    values: Mapping[str, ArrayLike],
    *,
    confidence: float = 0.95,
    interval: IntervalMethod | None = None,
) -> PairedDifferences:
    """Return the differences of all pairs of strategies on the same games.

    The intervals are simultaneous: with the stated probability all of them cover the true mean
    differences (Bonferroni's inequality). The p-values are those of the Wilcoxon signed-rank test,
    corrected by Holm's procedure. The interval is about the mean, and the test about the
    symmetry of the differences, so in rare cases only one of them finds a difference. The test
    applies only to a number of games that was chosen in advance (`IntervalMethod.in_advance`).

    Parameters
    ----------
    values
        The values of each strategy, such as its numbers of guesses, shape (games,). The same
        position is the same game.
    confidence
        The probability that all intervals cover their means, in (0, 1).
    interval
        The method of the intervals; `StudentInterval` by default. If you look at the results before
        you decide how many games to play, use a `ConfidenceSequence`.

    Raises
    ------
    InvalidArgumentError
        If there are no values, their numbers differ, or one is not finite.
        If the confidence is out of range.

    References
    ----------
    O. J. Dunn, *Multiple comparisons among means*, Journal of the American Statistical Association
    56 (1961), 52-64: simultaneous intervals by Bonferroni's inequality.

    Examples
    --------
    >>> found = paired_differences({"slow": [5, 6, 5, 7, 6, 5], "fast": [4, 4, 4, 4, 4, 5]})
    >>> found.ranking
    ('fast', 'slow')
    >>> print(found)
    fast - slow: -1.5 (-2.601 to -0.3993)
    >>> found.between("slow", "fast").can_be_told
    True
    """
    table = _table(values)
    if not 0 < confidence < 1:
        raise InvalidArgumentError(
            f"expected a confidence between 0 and 1, got {confidence}", confidence
        )
    method = StudentInterval() if interval is None else interval
    names = list(values)
    means = table.mean(axis=0)
    order = np.argsort(means, kind="stable")
    ranking = tuple(names[place] for place in order)
    pairs = list(combinations(order, 2))
    found: list[PairedDifference] = []
    if pairs:
        differences = [table[:, one] - table[:, other] for one, other in pairs]
        parts = [Moments.of(one[:, None]) for one in differences]
        error = (1 - confidence) / len(pairs)
        centers = [float(one.means[0]) for one in parts]
        sds = [float(one.sds[0]) for one in parts]
        halves = [float(method.half_widths(one, error)[0]) for one in parts]
        p_values = adjusted = np.full(len(pairs), np.nan)
        if method.in_advance:
            p_values = np.array([signed_rank_p_value(one) for one in differences])
            adjusted = holm(p_values)
        found = [
            PairedDifference(
                first=names[one],
                second=names[other],
                n=len(table),
                mean=centers[i],
                standard_error=sds[i] / math.sqrt(len(table)),
                low=centers[i] - halves[i],
                high=centers[i] + halves[i],
                p_value=float(p_values[i]),
                adjusted_p_value=float(adjusted[i]),
            )
            for i, (one, other) in enumerate(pairs)
        ]
    return PairedDifferences(
        ranking=ranking,
        means=tuple(means[order].tolist()),
        pairs=tuple(found),
        confidence=float(confidence),
        interval=method.name,
    )


def _table(values: Mapping[str, ArrayLike]) -> Floats:
    """Return the values as an array of shape (games, strategies)."""
    problems = [] if values else ["expected the values of at least one strategy"]
    columns = {name: number_array(value, f"the values of {name}") for name, value in values.items()}
    for name, column in columns.items():
        if column.ndim != 1 or not len(column) or not np.isfinite(column).all():
            problems.append(f"expected one or more finite numbers of {name}")
    lengths = {name: len(column) for name, column in columns.items() if column.ndim == 1}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        problems.append(f"expected values of the same games, got {listed}")
    if problems:
        raise InvalidArgumentError("; ".join(problems), values)
    return np.column_stack(list(columns.values()))
