"""Statistics of paired results: intervals, tests, corrections, and when to stop.

Student's and the normal interval hold for a number of observations that was chosen in advance. A
confidence sequence holds at all times at once, so a rule such as `NarrowEnough` may look at it
while games are played, and decide whether there are enough of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, pairwise
from typing import Annotated, ClassVar, Protocol

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._display import finite
from bnmind._values import Count, Positive, Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats


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
        shapes = {self.means.shape, self.squares.shape, self.nonzero.shape}
        if len(shapes) > 1 or self.means.ndim != 1:
            yield f"expected moments of one shape (series,), got {sorted(shapes)}"

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


_ROUNDING = 1e-12
"""Observations with a smaller standard deviation, relative to their mean, are taken as equal."""


class IntervalMethod(Protocol):
    """A way to compute confidence intervals of a mean."""

    @property
    def name(self) -> str:
        """The name of the method, as in a report."""

    @property
    def in_advance(self) -> bool:
        """Whether the method holds for a number of observations chosen in advance.

        Otherwise a test of ranks beside it would not hold, or is not needed.
        """

    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals, shape (series,); inf if nothing is known.

        Parameters
        ----------
        moments
            The moments of the observations.
        error
            The probability that an interval misses its mean, in (0, 1).
        """


class ScaledInterval(Value):
    """An interval of a number of standard deviations, given by each class for itself."""

    def _factor(self, n: int, error: float) -> float:
        raise NotImplementedError

    @checked
    def factor(self, n: int, error: float) -> float:
        """Return half the width in standard deviations; infinite for too few observations.

        Parameters
        ----------
        n
            The number of observations, at least 1.
        error
            The probability that the interval misses the mean, above 0 and below 1.
        """
        require_error(n, error)
        return self._factor(n, error)

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals; infinite where all observations are equal."""
        # Equal observations tell nothing about the spread, so their interval is not a point.
        # Neither do observations that differ by rounding alone, as means of several games may.
        factor, sds = self.factor(moments.n, error), moments.sds
        vary = sds > _ROUNDING * np.maximum(1.0, np.abs(moments.means))  # False for nan
        return np.where(vary, np.where(vary, sds, 1.0) * factor, np.inf)


@dataclass(frozen=True)
class StudentInterval(ScaledInterval):
    """The interval of Student's t distribution.

    It holds for a number of observations chosen in advance, exactly for normal ones and
    approximately for others.

    References
    ----------
    Student, *The probable error of a mean*, Biometrika 6 (1908), 1-25.

    Examples
    --------
    >>> round(StudentInterval().factor(25, 0.05), 4)  # 2.064 / 5
    0.4128
    """

    name: ClassVar[str] = "Student's t"
    in_advance: ClassVar[bool] = True

    def _factor(self, n: int, error: float) -> float:
        from scipy.special import stdtrit

        return math.inf if n == 1 else float(-stdtrit(n - 1, error / 2)) / math.sqrt(n)


@dataclass(frozen=True)
class NormalInterval(ScaledInterval):
    """The interval of the normal distribution.

    It holds for a large number of observations, chosen in advance.

    Examples
    --------
    >>> round(NormalInterval().factor(25, 0.05), 4)  # 1.96 / 5
    0.392
    """

    name: ClassVar[str] = "normal"
    in_advance: ClassVar[bool] = True

    def _factor(self, n: int, error: float) -> float:
        from scipy.special import ndtri

        return math.inf if n == 1 else float(-ndtri(error / 2)) / math.sqrt(n)


@dataclass(frozen=True)
class ConfidenceSequence(ScaledInterval):
    """An interval that may be looked at after every observation: a normal mixture bounds it.

    Student's interval is wrong more often than it says if somebody looks at it repeatedly and stops
    when it looks good. A confidence sequence covers the mean at all times at once with the stated
    probability, so any rule may decide when to stop. It is 1.3 to 2 times as wide.

    The half-width is σ̂ₜ √(2(tρ²+1)/(t²ρ²) · log(√(tρ²+1)/α)): Ville's inequality for the
    martingale that mixes exp(λSₜ - tλ²/2) over λ ~ N(0, ρ²), where t is the number of observations
    and α the probability of error. The sample's standard deviation stands for the true one.

    The guarantee is asymptotic: it holds the better, the later the first look. The paper leaves it
    open; ours waits for a number of observations and, as many games of good players are of equal
    length, for a number that are not zero. It cannot foresee an event that has not happened yet,
    such as a lost game that counts as a hundred guesses.

    References
    ----------
    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, *Time-uniform central limit
    theory and asymptotic confidence sequences*, Annals of Statistics 52 (2024), 2613-2640;
    theorem 2.2, with ρ as in their appendix.
    H. Robbins, *Statistical methods related to the law of the iterated logarithm*, Annals of
    Mathematical Statistics 41 (1970), 1397-1409.

    Examples
    --------
    >>> looks = ConfidenceSequence()
    >>> round(looks.factor(1000, 0.05) * 1000**0.5, 2)  # Student: 1.96
    3.04
    >>> looks.factor(looks.first - 1, 0.05)
    inf
    """

    narrowest_at: Count = 1000
    """The number of observations for which the interval is about as narrow as it can be."""
    first: Annotated[int, Ge(2)] = 100
    """The number of observations before the first look; earlier intervals are infinite."""
    first_nonzero: Count = 30
    """The number of observations other than zero before the first look."""

    name: ClassVar[str] = "confidence sequence"
    in_advance: ClassVar[bool] = False

    def _factor(self, n: int, error: float) -> float:
        if n < self.first:
            return math.inf
        twice = -2 * math.log(error)
        rho_squared = (twice + math.log(twice + 1)) / self.narrowest_at
        scaled = n * rho_squared + 1
        square = 2 * scaled / (n * n * rho_squared) * math.log(math.sqrt(scaled) / error)
        return math.sqrt(square)

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals; infinite before the first look."""
        widths = super().half_widths(moments, error)
        return np.where(moments.nonzero < self.first_nonzero, np.inf, widths)


class _SameWidth(Value):
    """Intervals of one width, whatever the observations are."""

    in_advance: ClassVar[bool] = False  # no test is needed, or none applies
    _width: ClassVar[float]

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return the width for each series."""
        require_error(moments.n, error)
        return np.full(len(moments.means), self._width)


@dataclass(frozen=True)
class ExactMean(_SameWidth):
    """The mean itself, if the observations are all that there are, not a sample."""

    name: ClassVar[str] = "exact"
    _width: ClassVar[float] = 0.0


@dataclass(frozen=True)
class UnknownInterval(_SameWidth):
    """The whole line, if the observations are no sample and so tell nothing about the mean."""

    name: ClassVar[str] = "unknown"
    _width: ClassVar[float] = math.inf


def require_error(n: int, error: float) -> None:
    """Raise unless there are observations and the probability of error is in (0, 1)."""
    if n < 1:
        raise InvalidArgumentError(f"expected at least one observation, got {n}", n)
    if not 0 < error < 1:
        raise InvalidArgumentError(
            f"expected a probability of error between 0 and 1, got {error}", error
        )


@checked
def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for the number of tests.

    If each corrected value below α counts as a discovery, the probability of any false discovery
    is at most α, however the tests depend on each other. The correction is never stricter than
    Bonferroni's.

    Parameters
    ----------
    p_values
        The p-values of all tests, shape (tests,).

    Returns
    -------
    Floats
        The corrected p-values, in the same order.

    Raises
    ------
    InvalidArgumentError
        If they are not a list of numbers in [0, 1].

    References
    ----------
    S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
    Statistics 6 (1979), 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = number_array(p_values, "the p-values")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InvalidArgumentError("expected a list of p-values in [0, 1]", p_values)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return corrected


@checked
def signed_rank_p_value(differences: ArrayLike) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test.

    The test asks whether the differences are distributed symmetrically around zero. It uses the
    normal approximation with corrections for ties and for continuity, and ranks zeros as Pratt
    does, since games of equal length are frequent. With fewer than ten differences, it is rough.

    Parameters
    ----------
    differences
        The difference of each pair, shape (pairs,), finite.

    Returns
    -------
    float
        The p-value; 1 if all differences are zero.

    Raises
    ------
    InvalidArgumentError
        If there are no differences, or one is not finite.

    References
    ----------
    F. Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1 (1945), 80-83.
    J. W. Pratt, *Remarks on zeros and ties in the Wilcoxon signed rank procedures*, Journal of the
    American Statistical Association 54 (1959), 655-667.

    Examples
    --------
    >>> round(signed_rank_p_value([-1, -1, 0, -2, -1, 0, -3, 1, -1, -2]), 3)
    0.033
    """
    from scipy.stats import wilcoxon  # takes half a second to import

    d = number_array(differences, "the differences")
    if d.ndim != 1 or not len(d) or not np.isfinite(d).all():
        raise InvalidArgumentError("expected one or more finite differences", differences)
    if not d.any():
        return 1.0
    found = wilcoxon(d, zero_method="pratt", correction=True, method="approx")
    return min(1.0, float(found.pvalue))


@dataclass(frozen=True, kw_only=True)
class Ranking(Value):
    """Strategies ranked by their mean, of which a test says which ones differ."""

    ranking: tuple[str, ...]
    """The names of the strategies; the smallest mean comes first."""
    means: tuple[float, ...]
    """Their means."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The ranking, the best first, cut between neighbors that differ; see `differ`."""
        groups = [[self.ranking[0]]]
        for better, worse in pairwise(self.ranking):
            if self.differ(better, worse):
                groups.append([])
            groups[-1].append(worse)
        return tuple(map(tuple, groups))

    @checked
    def differ(self, one: str, other: str) -> bool:
        """Return whether the test finds a difference between two strategies.

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
        return self._are_told(*self._in_order(one, other))

    def _are_told(self, better: str, worse: str) -> bool:
        raise NotImplementedError

    def _in_order(self, one: str, other: str) -> tuple[str, str]:
        """Return two strategies in the order of the ranking; raise unless they are in it."""
        if one == other or not {one, other} <= set(self.ranking):
            raise InvalidArgumentError(
                f"expected two strategies among {', '.join(self.ranking)}, got {one} and {other}",
                (one, other),
            )
        better, worse = sorted((one, other), key=self.ranking.index)
        return better, worse


@dataclass(frozen=True, kw_only=True)
class RankSumGroups(Ranking):
    """Strategies ranked by their mean, in groups of neighbors that a test cannot tell apart.

    The Wilcoxon rank-sum test (Mann and Whitney's U, corrected for ties) is made for each pair of
    neighbors in the ranking. A new group starts where it finds a difference. Strategies of one
    group that are not neighbors may differ nevertheless; `differences` lists these.

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010): the horizontal lines of their tables.
    """

    p_values: Mapping[tuple[str, str], float]
    """The p-value of each pair, the better-ranked strategy first, corrected if so asked."""
    significance: float = 0.05
    """Two strategies differ if their p-value is below this."""

    @property
    def differences(self) -> tuple[tuple[str, str], ...]:
        """The pairs within a group that differ."""
        pairs = (pair for group in self.groups for pair in combinations(group, 2))
        return tuple(pair for pair in pairs if self.differ(*pair))

    def _are_told(self, better: str, worse: str) -> bool:
        return self.p_values[better, worse] < self.significance

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
    ranking = sorted(samples, key=means.__getitem__)
    pairs = list(combinations(ranking, 2))
    p_values = [_rank_sum(samples[better], samples[worse]) for better, worse in pairs]
    if corrected:
        p_values = holm(p_values).tolist()
    return RankSumGroups(
        ranking=tuple(ranking),
        means=tuple(means[name] for name in ranking),
        p_values=dict(zip(pairs, p_values, strict=True)),
        significance=float(significance),
    )


def _rank_sum(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p-value of the rank-sum test; 1 if all values are equal."""
    from scipy.stats import mannwhitneyu  # takes half a second to import

    if len({*one, *other}) == 1:
        return 1.0
    return float(mannwhitneyu(one, other, method="asymptotic").pvalue)


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
        mean, low, high = 0.0 - self.mean, 0.0 - self.high, 0.0 - self.low
        return replace(self, first=self.second, second=self.first, mean=mean, low=low, high=high)

    def to_dict(self) -> dict[str, str | int | float | bool | None]:
        """Return the fields by name, with None for numbers that JSON lacks."""
        return {**finite(asdict(self)), "can_be_told": self.can_be_told}

    def __str__(self) -> str:
        """Return the difference in one line, such as ``map - knuth: -0.50 (-0.75 to -0.25)``."""
        return f"{self.first} - {self.second}: {self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True, kw_only=True)
class PairedDifferences(Ranking):
    """The differences of all pairs of strategies, with simultaneous intervals.

    Two strategies differ if the corrected signed-rank test says so; where it does not apply, the
    interval decides.
    """

    pairs: tuple[PairedDifference, ...]
    """The difference of each pair, the better-ranked strategy first."""
    confidence: float
    """The probability that all intervals together cover their means."""
    interval: str
    """The name of the method of the intervals."""

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
        ordered = self._in_order(first, second)
        (pair,) = (one for one in self.pairs if (one.first, one.second) == ordered)
        return pair if pair.first == first else pair.swapped()

    def _are_told(self, better: str, worse: str) -> bool:
        pair = self.between(better, worse)
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
    pairs = list(combinations(order, 2))
    found: list[PairedDifference] = []
    columns = [table[:, one] - table[:, other] for one, other in pairs]
    p_values = [signed_rank_p_value(one) if method.in_advance else math.nan for one in columns]
    adjusted = holm(p_values) if method.in_advance else p_values
    for i, (one, other) in enumerate(pairs):
        moments = Moments.of(columns[i][:, None])
        mean = float(moments.means[0])
        half = float(method.half_widths(moments, (1 - confidence) / len(pairs))[0])
        found.append(
            PairedDifference(
                first=names[one],
                second=names[other],
                n=len(table),
                mean=mean,
                standard_error=float(moments.sds[0]) / math.sqrt(len(table)),
                low=mean - half,
                high=mean + half,
                p_value=p_values[i],
                adjusted_p_value=float(adjusted[i]),
            )
        )
    return PairedDifferences(
        ranking=tuple(names[place] for place in order),
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
        if self.moments is not None:
            return self.moments.means
        return sealed(np.full(math.comb(self.strategies, 2), np.nan))

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
        one, other = np.triu_indices(self.strategies, 1)
        add = Moments.of if self.moments is None else self.moments.plus
        return replace(self, moments=add(x[:, one] - x[:, other]))

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
    halves = [(pair.high - pair.low) / 2 for pair in differences.pairs]
    return rule.suffices(np.array([pair.mean for pair in differences.pairs]), np.array(halves))
