"""Figures beside those of others, and the verdict on each.

A simulated figure differs from another if they are more than three standard errors of the
difference apart. Otherwise it agrees, if a relevant difference would have been found with a
probability of 80 % or more, and else there were too few games to tell. Relevant is 1.5 % of a mean,
a little more than what separates the strategies of Knuth and Neuwirth on 4x6, and 10 % of a
standard deviation. The verdict is that of the longest run there is. An exact figure
agrees only if it is equal to the digits of the other.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value, frozen
from bnmind.errors import InvalidArgumentError, UnknownNameError

_ERRORS = 3.0
"""The number of standard errors beyond which two figures differ."""
_POWER = 0.84
"""The quantile of the normal distribution for a power of 80 %."""
RELEVANT, RELEVANT_DEVIATION = 0.015, 0.1
"""The smallest relevant difference, as a share of a mean and of a standard deviation."""


class Standing(Enum):
    """Where a figure stands that ours is compared with."""

    PUBLICATION = "publication"
    """A publication states it, or published data determine it."""
    PROGRAM = "other program"
    """Another program computes it; we know of no publication."""
    OWN = "our own"
    """We computed it independently: a second simulation, a proof, or a replication."""


class Verdict(Enum):
    """The comparison of a figure with another one."""

    AGREES = "agrees"
    """Equal, or within three standard errors, of games that would show a relevant difference."""
    TOO_FEW = "too few games to tell"
    """Within three standard errors, and a relevant difference would often be within them, too."""
    BETTER = "better"
    """Different, in the direction that is preferred."""
    DIFFERS = "differs"
    """Different, and not better."""
    NEW = "new"
    """There is no other figure."""
    QUOTED = "quoted"
    """There is only the other figure, such as one of human players."""


class Better(Enum):
    """The direction in which a figure is better than another."""

    LOWER = "lower"
    """As with guesses."""
    HIGHER = "higher"
    """As with accuracies and lower bounds."""
    NEITHER = "neither"
    """As with a size that follows from a definition."""


@dataclass(frozen=True, kw_only=True)
class Figure(Value):
    """A figure of a reproduction, beside another one."""

    name: str
    """The figure, such as "4x6, guesses"."""
    reference: float | None = None
    """The figure that ours is compared with; None if there is none."""
    reference_error: float | None = None
    """The standard error of the reference, as far as it is known."""
    standing: Standing | None = None
    """Where the reference stands; None without one, or in files of version 1, which do not say."""
    ours: float | None = None
    """Our figure; None if the reference is only quoted."""
    standard_error: float | None = None
    """The standard error of our figure; None if the figure is exact."""
    games: int | None = None
    """The number of games, tests or examinees behind our figure; None if the figure is exact."""
    verdict: Verdict
    """The comparison of the two figures, by the longest run there is."""
    fitted: bool = False
    """Whether we chose our reading of the description after we knew the reference."""
    why: str = ""
    """A known reason for a difference, or a remark."""
    curve: str = ""
    """The curve of a plot that the figure belongs to."""
    at: float | None = None
    """The abscissa of the figure in the plot."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, the verdict and the standing as text."""
        standing = self.standing and self.standing.value
        content = {**asdict(self), "verdict": self.verdict.value, "standing": standing}
        # Counts are written as such: 6359, not 6359.0.
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in content.items()
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Figure:
        """Return the figure of `to_dict`.

        Parameters
        ----------
        values
            The fields by name, as `to_dict` returns them.

        Raises
        ------
        InvalidArgumentError
            If a field is missing, unknown, or of the wrong type.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or set(values) != names:
            raise InvalidArgumentError("expected the fields of a figure", values)
        kinds: dict[str, type[Enum]] = {"verdict": Verdict, "standing": Standing}
        known = {name: kind for name, kind in kinds.items() if values[name] is not None}
        try:
            named = {name: kind(values[name]) for name, kind in known.items()}
        except ValueError as fault:
            raise InvalidArgumentError(
                f"expected a verdict and a standing: {fault}", values
            ) from None
        return cls(**{**values, **named})


@dataclass(frozen=True)
class Estimate(Value):
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


@dataclass(frozen=True)
class Reference(Value):
    """A figure that ours is compared with.

    Examples
    --------
    >>> Reference(5625, Standing.PUBLICATION).fitted
    False
    """

    value: float
    """The figure."""
    standing: Standing = Standing.OWN
    """Where it stands."""
    error: float | None = None
    """Its standard error, as far as it is known."""
    fitted: bool = False
    """Whether we chose our reading of the description after we knew the figure."""


@checked
def exact(
    name: str,
    ours: float,
    reference: Reference | float | None,
    *,
    digits: int | None = None,
    better: Better = Better.NEITHER,
    why: str = "",
    note: str = "",
) -> Figure:
    """Return an exact figure, which agrees only if it is equal to the reference.

    If the reference is simulated, three of its standard errors are agreement.

    Parameters
    ----------
    name
        The figure.
    ours
        Our figure.
    reference
        The figure that ours is compared with; a number stands for one of our own, and None for
        none.
    digits
        The number of digits after the point to which the reference is rounded; None if it is not
        rounded.
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
    if reference is None:
        return new(name, ours, why=note)
    other = _reference(reference)
    rounded = Estimate(ours if digits is None else round(ours, digits), 0.0, 1)
    verdict = _verdict(rounded, other, RELEVANT, better)
    return _figure(name, other, verdict, _remark(verdict, note, why), ours=ours)


@checked
def measured(
    name: str,
    ours: Estimate,
    reference: Reference | float | None,
    *,
    longest: Estimate | None = None,
    relevant: float = RELEVANT,
    better: Better = Better.NEITHER,
    why: str = "",
    note: str = "",
) -> Figure:
    """Return a simulated figure beside another one.

    Parameters
    ----------
    name
        The figure.
    ours
        Our mean.
    reference
        The mean that ours is compared with; a number stands for one of our own, and None for
        none.
    longest
        The same mean of the longest run that is known. If it has more games than ours, the
        verdict is the one about this run, and the remark names it.
    relevant
        The smallest relevant difference, as a share of the reference.
    better
        The direction in which a different figure is better. A program that plays as the other
        did has none: a mean below the reference is a difference, too.
    why
        A known reason for a difference, stated only if there is one.
    note
        A remark that is always stated, such as the source of this figure alone.

    Examples
    --------
    >>> other = Reference(4.64, error=0.01)
    >>> measured("guesses", Estimate(4.65, 0.01, 9), other).verdict.value
    'agrees'
    >>> measured("guesses", Estimate(4.65, 0.03, 9), other).verdict.value
    'too few games to tell'
    """
    if reference is None:
        return new(name, ours, why=note)
    other, judged = _reference(reference), ours
    if longest is not None and longest.games > ours.games:
        judged, told = longest, f"{longest.mean:.5g} ± {longest.standard_error:.2g}"
        note = _joined(f"judged by {longest.games:,} games, {told}", note)
    verdict = _verdict(judged, other, relevant, better)
    return _figure(name, other, verdict, _remark(verdict, note, why), **_values(ours))


def new(
    name: str, ours: Estimate | float, *, curve: str = "", at: float | None = None, why: str = ""
) -> Figure:
    """Return a figure that nobody else has, exact or simulated; a point of a curve if one is given.

    Parameters
    ----------
    name
        The figure.
    ours
        Our figure.
    curve
        The curve of a plot that it belongs to.
    at
        Its abscissa.
    why
        A remark.
    """
    values = _values(ours) if isinstance(ours, Estimate) else {"ours": ours}
    return Figure(name=name, verdict=Verdict.NEW, why=why, curve=curve, at=at, **values)


def quoted(name: str, published: float, *, why: str = "") -> Figure:
    """Return a published figure that no program can reproduce, such as one of human players."""
    return _figure(name, Reference(published, Standing.PUBLICATION), Verdict.QUOTED, why)


def _values(ours: Estimate) -> dict[str, Any]:
    return {"ours": ours.mean, "standard_error": ours.standard_error, "games": ours.games}


def _reference(reference: Reference | float) -> Reference:
    return reference if isinstance(reference, Reference) else Reference(reference)


def _figure(name: str, other: Reference, verdict: Verdict, why: str, **ours: Any) -> Figure:
    return Figure(
        name=name,
        reference=other.value,
        reference_error=other.error,
        standing=other.standing,
        fitted=other.fitted,
        verdict=verdict,
        why=why,
        **ours,
    )


def _verdict(ours: Estimate, other: Reference, share: float, better: Better) -> Verdict:
    off = ours.mean - other.value
    error = math.hypot(ours.standard_error, other.error or 0.0)
    if abs(off) > _ERRORS * error:
        preferred = {Better.LOWER: off < 0, Better.HIGHER: off > 0, Better.NEITHER: False}[better]
        return Verdict.BETTER if preferred else Verdict.DIFFERS
    is_enough = (_ERRORS + _POWER) * error <= share * abs(other.value)
    return Verdict.AGREES if is_enough else Verdict.TOO_FEW


def _remark(verdict: Verdict, note: str, why: str) -> str:
    """Return the remark on a figure: the reason is stated only if there is a difference."""
    return _joined(note, why if verdict in (Verdict.BETTER, Verdict.DIFFERS) else "")


def _joined(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


_HERE = Path(__file__).parent


@checked
def published(source: str) -> Any:
    """Return the figures of a source, as a read-only mapping.

    Each table says where its figures stand, by a value of `Standing` under ``standing``, or under
    the keys that its comment explains. Not all are published.

    Parameters
    ----------
    source
        The name of a file of figures, such as ``snyder``. The comments of the file name
        the publications.

    Raises
    ------
    UnknownNameError
        If there is no such file.

    Examples
    --------
    >>> published("snyder")["learned"]["mean"]
    4.6066
    """
    return _read(source)


@cache
def _read(source: str) -> Any:
    known = sorted(path.stem for path in (_HERE / "published").glob("*.toml"))
    if source not in known:
        raise UnknownNameError("source of published figures", source, known)
    return frozen(toml(f"published/{source}"))


def longest_runs(reproduction: str) -> Mapping[str, Estimate]:
    """Return the means of the longest runs that are known, by the names of their figures.

    Parameters
    ----------
    reproduction
        The name of a reproduction.
    """
    rows = _longest().get(reproduction, {})
    return {name: Estimate(*row) for name, row in rows.items()}


@cache
def _longest() -> Any:
    return toml("longest_runs")


def toml(name: str) -> Any:
    """Return the content of a TOML file of the reproductions, by its name without the ending."""
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))
