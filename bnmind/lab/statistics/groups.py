"""Groups of strategies whose numbers of guesses a rank-sum test cannot tell apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TypeVar

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.lab.statistics.holm import holm

__all__ = ["RankSumGroups", "neighbor_groups", "pair_of", "rank_sum_groups"]

_Found = TypeVar("_Found")


@dataclass(frozen=True, kw_only=True)
class RankSumGroups(Value):
    """Strategies ranked by their mean, in groups of neighbors that a test cannot tell apart.

    The Wilcoxon rank-sum test (Mann and Whitney's U, corrected for ties) is made for each pair of
    neighbors in the ranking. A new group starts where it finds a difference. Strategies of one
    group that are not neighbors may differ nevertheless; `differences` lists these.

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010): the horizontal lines of their tables.
    """

    ranking: tuple[str, ...]
    """The names of the strategies; the smallest mean comes first."""
    means: tuple[float, ...]
    """Their means."""
    p_values: Mapping[tuple[str, str], float]
    """The p-value of each pair, the better-ranked strategy first, corrected if so asked."""
    significance: float = 0.05
    """Two strategies differ if their p-value is below this."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups, the best one first."""
        return neighbor_groups(self.ranking, self.differ)

    @property
    def differences(self) -> tuple[tuple[str, str], ...]:
        """The pairs within a group that differ."""
        pairs = (pair for group in self.groups for pair in combinations(group, 2))
        return tuple(pair for pair in pairs if self.differ(*pair))

    @checked
    def differ(self, one: str, other: str) -> bool:
        """Return whether the test finds a difference between two strategies.

        Parameters
        ----------
        one
            The name of a strategy.
        other
            The name of the other strategy.

        Raises
        ------
        InvalidArgumentError
            If one of them is not in the ranking.
        """
        return pair_of(self.p_values, self.ranking, one, other) < self.significance

    def __str__(self) -> str:
        """Return the groups in one line, such as ``entropy = kooi < knuth``."""
        return " < ".join(" = ".join(group) for group in self.groups)


@checked
def rank_sum_groups(
    samples: Mapping[str, Sequence[float]],
    *,
    significance: float = 0.05,
    corrected: bool = False,
) -> RankSumGroups:
    """Rank samples by their mean, and group neighbors that a rank-sum test cannot tell apart.

    Parameters
    ----------
    samples
        The sample of each strategy, such as the lengths of its games or the means of its runs.
        The test assumes independent samples; of games on common luck it finds fewer differences
        than there are.
    significance
        Two strategies differ if their p-value is below this, from 0 to 1.
    corrected
        Whether to correct the p-values for all pairs by Holm's procedure. Runarsson and Merelo
        do not correct them.

    Raises
    ------
    InvalidArgumentError
        If there are no samples, one is empty or not finite, or the significance is out of range.

    Examples
    --------
    >>> lengths = {"worse": [5, 6, 5, 6, 5, 6], "good": [4, 4, 4, 5, 4, 3], "as good": [4, 4, 3, 5]}
    >>> groups = rank_sum_groups(lengths)
    >>> groups.groups, str(groups)
    ((('good', 'as good'), ('worse',)), 'good = as good < worse')
    """
    problems = [] if samples else ["expected at least one sample"]
    for name, sample in samples.items():
        if not len(sample) or not all(math.isfinite(value) for value in sample):
            problems.append(f"expected finite numbers of {name}, got {list(sample)[:3]}")
    if not 0 < significance < 1:
        problems.append(f"expected a significance between 0 and 1, got {significance}")
    if problems:
        raise InvalidArgumentError("; ".join(problems), samples)
    means = {name: statistics.fmean(sample) for name, sample in samples.items()}
    ranking = sorted(samples, key=lambda name: means[name])
    p_values = {
        (better, worse): _p_value(samples[better], samples[worse])
        for better, worse in combinations(ranking, 2)
    }
    if corrected:
        adjusted = holm(list(p_values.values())).tolist()
        p_values = dict(zip(p_values, adjusted, strict=True))
    return RankSumGroups(
        ranking=tuple(ranking),
        means=tuple(means[name] for name in ranking),
        p_values=p_values,
        significance=float(significance),
    )


def neighbor_groups(
    ranking: Sequence[str], differ: Callable[[str, str], bool]
) -> tuple[tuple[str, ...], ...]:
    """Return a ranking, cut between neighbors that differ."""
    groups = [[ranking[0]]]
    for better, worse in pairwise(ranking):
        if differ(better, worse):
            groups.append([])
        groups[-1].append(worse)
    return tuple(map(tuple, groups))


def pair_of(
    pairs: Mapping[tuple[str, str], _Found], ranking: Sequence[str], one: str, other: str
) -> _Found:
    """Return the entry of a pair of the ranking, in either order.

    Raises
    ------
    InvalidArgumentError
        If one of them is not in the ranking, or they are the same.
    """
    for pair in ((one, other), (other, one)):
        if pair in pairs:
            return pairs[pair]
    raise InvalidArgumentError(
        f"expected two strategies among {', '.join(ranking)}, got {one} and {other}", (one, other)
    )


def _p_value(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p-value of the rank-sum test; 1 if all values are equal."""
    from scipy.stats import mannwhitneyu  # takes half a second to import

    if len({*one, *other}) == 1:
        return 1.0
    return float(mannwhitneyu(one, other, method="asymptotic").pvalue)
