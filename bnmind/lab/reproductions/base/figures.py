"""Figures beside published ones, and the verdict on each.

A simulated figure agrees with a published one if the two differ by at most three standard errors of
their difference. An exact figure agrees only if it is equal to the digits that are published, or,
against a simulated figure, within three of its standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import InvalidArgumentError

__all__ = [
    "Better",
    "Estimate",
    "Figure",
    "Verdict",
    "counted",
    "exact",
    "measured",
    "new",
    "quoted",
]

_ERRORS = 3.0
"""The number of standard errors within which two figures agree."""


class Verdict(Enum):
    """The comparison of a figure with a published one."""

    AGREES = "agrees"
    """Equal, or within three standard errors."""
    BETTER = "better"
    """Different, in the direction that is preferred."""
    DIFFERS = "differs"
    """Different, and not better."""
    NEW = "new"
    """There is no published figure."""
    QUOTED = "quoted"
    """There is only a published figure, such as one of human players."""


class Better(Enum):
    """The direction in which a figure is better than another."""

    LOWER = "lower"
    """As with guesses."""
    HIGHER = "higher"
    """As with accuracies and lower bounds."""
    NEITHER = "neither"
    """As with a size that follows from a definition."""


@dataclass(frozen=True, kw_only=True)
class Figure(CheckedValue):
    """A figure of a reproduction, beside the published one."""

    name: str
    """The figure, such as "4x6, guesses"."""
    published: float | None = None
    """The published figure; None if there is none."""
    published_error: float | None = None
    """The standard error of the published figure, as far as it is known."""
    ours: float | None = None
    """Our figure; None if the published one is only quoted."""
    standard_error: float | None = None
    """The standard error of our figure; None if the figure is exact."""
    games: int | None = None
    """The number of games, tests or examinees behind our figure; None if the figure is exact."""
    verdict: Verdict
    """The comparison of the two figures."""
    why: str = ""
    """A known reason for a difference, or a remark."""
    curve: str = ""
    """The curve of a plot that the figure belongs to."""
    at: float | None = None
    """The abscissa of the figure in the plot."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, the verdict as text."""
        return {**asdict(self), "verdict": self.verdict.value}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Figure:
        """Return the figure of `as_dict`.

        Parameters
        ----------
        values
            The fields by name, as `as_dict` returns them.

        Raises
        ------
        InvalidArgumentError
            If a field is missing, unknown, or of the wrong type.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or set(values) != names:
            raise InvalidArgumentError("expected the fields of a figure", values)
        try:
            verdict = Verdict(values["verdict"])
        except ValueError:
            raise InvalidArgumentError(
                f"expected a verdict, got {values['verdict']!r}", values
            ) from None
        return cls(**{**values, "verdict": verdict})


@dataclass(frozen=True)
class Estimate(CheckedValue):
    """A mean of games, tests or examinees.

    Examples
    --------
    >>> Estimate.of([4, 5, 6, 5])
    Estimate(mean=5.0, standard_error=0.408248290463863, games=4)
    """

    mean: float
    """The mean."""
    standard_error: float
    """Its standard error."""
    games: int
    """The number of values."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Return the mean of values, and its standard error.

        Parameters
        ----------
        values
            Independent values, at least two.

        Raises
        ------
        InvalidArgumentError
            If there are fewer than two values.
        """
        array = np.array(list(values), dtype=np.float64)
        if array.size < 2:
            raise InvalidArgumentError("expected at least two values for a standard error", values)
        error = float(array.std(ddof=1)) / math.sqrt(array.size)
        return cls(float(array.mean()), error, int(array.size))

    @classmethod
    def share(cls, hits: int, games: int) -> Estimate:
        """Return a share, and its standard error by Agresti and Coull, which is never 0.

        Parameters
        ----------
        hits
            The number of games counted, from 0 to ``games``.
        games
            The number of all games, at least 1.

        Raises
        ------
        InvalidArgumentError
            If there are no games, or not 0 to ``games`` hits.

        Examples
        --------
        >>> share = Estimate.share(150, 150)
        >>> share.mean, round(share.standard_error, 4)
        (1.0, 0.0091)
        """
        if not 0 <= hits <= games or games < 1:
            raise InvalidArgumentError(f"expected 0 to {games} hits, got {hits}", hits)
        shrunk = (hits + 2) / (games + 4)
        return cls(hits / games, math.sqrt(shrunk * (1 - shrunk) / (games + 4)), games)

    @classmethod
    def deviation(cls, values: Iterable[float]) -> Estimate:
        """Return a standard deviation, and its standard error from the fourth moment.

        >>> estimate = Estimate.deviation([4, 5, 6, 5])
        >>> round(estimate.mean, 3), round(estimate.standard_error, 3)
        (0.816, 0.153)

        Parameters
        ----------
        values
            Independent values, at least two.

        Raises
        ------
        InvalidArgumentError
            If there are fewer than two values.
        """
        array = np.array(list(values), dtype=np.float64)
        mean = cls.of(array.tolist())
        fourth = float(((array - mean.mean) ** 4).mean())
        spread = math.sqrt(max(0.0, fourth - float(array.var()) ** 2) / array.size)
        error = spread / (2 * mean.sd) if mean.sd else 0.0
        return cls(mean.sd, error, mean.games)

    @property
    def sd(self) -> float:
        """The standard deviation of the values."""
        return self.standard_error * math.sqrt(self.games)


@checked
def exact(
    name: str,
    ours: float,
    published: float | None,
    published_error: float | None = None,
    *,
    digits: int | None = None,
    better: Better = Better.NEITHER,
    why: str = "",
    note: str = "",
) -> Figure:
    """Return an exact figure, which agrees only if it is equal to the published one.

    If the published figure is simulated, three of its standard errors are agreement.

    Parameters
    ----------
    name
        The figure.
    ours
        Our figure.
    published
        The published figure; None if there is none.
    published_error
        The standard error of the published figure; None if it is exact.
    digits
        The number of digits after the point to which the published figure is rounded; None if it
        is not rounded.
    better
        The direction in which a different figure is better.
    why
        A known reason for a difference, stated only if there is one.
    note
        A remark that is always stated, such as the source of this figure alone.

    Examples
    --------
    >>> exact("total", 5625, 5625).verdict.value, exact("mean", 4.34028, 4.340, digits=3).why
    ('agrees', '')
    """
    if published is None:
        return new(name, ours, why=note)
    off = (ours if digits is None else round(ours, digits)) - published
    agrees = abs(off) <= _ERRORS * (published_error or 0.0)
    verdict = Verdict.AGREES if agrees else _different(ours - published, better)
    return Figure(
        name=name,
        published=published,
        published_error=published_error,
        ours=ours,
        verdict=verdict,
        why=note if agrees else "; ".join(filter(None, (note, why))),
    )


@checked
def measured(
    name: str,
    ours: Estimate,
    published: float | None,
    published_error: float | None = None,
    *,
    better: Better = Better.NEITHER,
    why: str = "",
    note: str = "",
) -> Figure:
    """Return a simulated figure, which agrees within three standard errors of the difference.

    Parameters
    ----------
    name
        The figure.
    ours
        Our mean.
    published
        The published mean; None if there is none.
    published_error
        The standard error of the published mean, as far as it is known.
    better
        The direction in which a different figure is better. A program that plays as the
        published one did has none: a mean below the published one is a difference, too.
    why
        A known reason for a difference, stated only if there is one.
    note
        A remark that is always stated, such as the source of this figure alone.

    Examples
    --------
    >>> measured("guesses", Estimate(4.65, 0.01, 9), 4.64, 0.01).verdict
    <Verdict.AGREES: 'agrees'>
    """
    if published is None:
        return counted(name, ours, why=note)
    off = ours.mean - published
    agrees = abs(off) <= _ERRORS * math.hypot(ours.standard_error, published_error or 0.0)
    return Figure(
        name=name,
        published=published,
        published_error=published_error,
        ours=ours.mean,
        standard_error=ours.standard_error,
        games=ours.games,
        verdict=Verdict.AGREES if agrees else _different(off, better),
        why=note if agrees else "; ".join(filter(None, (note, why))),
    )


@checked
def new(
    name: str, ours: float, *, curve: str = "", at: float | None = None, why: str = ""
) -> Figure:
    """Return an exact figure that nobody has published, a point of a curve if one is given."""
    return Figure(name=name, ours=ours, verdict=Verdict.NEW, why=why, curve=curve, at=at)


@checked
def counted(
    name: str, ours: Estimate, *, curve: str = "", at: float | None = None, why: str = ""
) -> Figure:
    """Return a simulated figure that nobody has published, a point of a curve if one is given."""
    return Figure(
        name=name,
        ours=ours.mean,
        standard_error=ours.standard_error,
        games=ours.games,
        verdict=Verdict.NEW,
        why=why,
        curve=curve,
        at=at,
    )


@checked
def quoted(name: str, published: float, *, why: str = "") -> Figure:
    """Return a published figure that no program can reproduce, such as one of human players."""
    return Figure(name=name, published=published, verdict=Verdict.QUOTED, why=why)


def _different(off: float, better: Better) -> Verdict:
    preferred = {Better.LOWER: off < 0, Better.HIGHER: off > 0, Better.NEITHER: False}[better]
    return Verdict.BETTER if preferred else Verdict.DIFFERS
