"""Curves of means with confidence bands, such as guesses against the level of noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.drawing.canvas import finish, line, new_figure
from bnmind.lab.drawing.style import style_of
from bnmind.lab.statistics.intervals import StudentInterval, require_error
from bnmind.lab.statistics.moments import Moments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curve", "band", "curve_of", "plot_curves", "require_curves"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve(Value):
    """A curve with a band, such as the means of a strategy at several levels of noise.

    Raises
    ------
    InvalidArgumentError
        If the places are not finite and increasing, or the numbers of points differ.
    """

    name: str
    """The name of the strategy; it determines the style."""
    x: Floats
    """The places, increasing, shape (points,)."""
    y: Floats
    """The values, shape (points,); one that is not finite, such as an infinite score, is a gap."""
    low: Floats | None = None
    """The lower edge of the band, shape (points,); None if there is no band."""
    high: Floats | None = None
    """The upper edge of the band, shape (points,); None if there is no band."""

    def _faults(self) -> Iterator[str]:
        increasing = self.x.ndim == 1 and len(self.x) and (np.diff(self.x) > 0).all()
        if not (increasing and np.isfinite(self.x).all()):
            yield f"expected finite, increasing places of the curve {self.name}, got {self.x}"
        if (self.low is None) != (self.high is None):
            yield f"expected both edges of the band of {self.name}, or none"
        for name, array in (("y", self.y), ("low", self.low), ("high", self.high)):
            if array is not None and array.shape != self.x.shape:
                yield (
                    f"expected {name} of the curve {self.name} of shape {self.x.shape}, got shape"
                    f" {array.shape}"
                )


@checked
def curve_of(name: str, samples: Mapping[float, ArrayLike], *, confidence: float = 0.95) -> Curve:
    """Return the curve of the means of samples, with a band of Student's intervals.

    Parameters
    ----------
    name
        The name of the strategy.
    samples
        For each place, such as a level of noise, the values there, such as numbers of guesses.
    confidence
        The probability that an interval covers its mean, in (0, 1), for each place alone.

    Raises
    ------
    InvalidArgumentError
        If there are no samples, one is empty or not finite.
        If the confidence is out of range.

    Examples
    --------
    >>> curve = curve_of("map", {0.0: [4, 5, 4, 5], 0.2: [5, 7, 6, 6]})
    >>> curve.x.tolist(), curve.y.tolist(), curve.high.round(2).tolist()
    ([0.0, 0.2], [4.5, 6.0], [5.42, 7.3])
    """
    require_error(1, confidence)
    places = sorted(samples)
    means, halves = [], []
    for place in places:
        moments = Moments.of(number_array(samples[place], f"the values at {place}")[..., None])
        means.append(float(moments.means[0]))
        halves.append(float(StudentInterval().half_widths(moments, 1 - confidence)[0]))
    y, half = np.array(means), np.nan_to_num(halves, posinf=0.0)
    return Curve(name=name, x=np.array(places), y=y, low=y - half, high=y + half)


@checked
def plot_curves(
    curves: Sequence[Curve],
    *,
    x_label: str = "probability that a reply is replaced",
    y_label: str = "guesses a game",
    title: str = "",
) -> Figure:
    """Plot curves with their bands, such as guesses against noise.

    The figure is not registered with pyplot: save it with its ``savefig``.

    Parameters
    ----------
    curves
        The curves, such as one for each strategy by `curve_of`, and a bound without a band.
    x_label, y_label
        The labels of the axes, with their units.
    title
        The title.

    Raises
    ------
    InvalidArgumentError
        If there are no curves.
    """
    require_curves(curves)
    figure = new_figure(7.2, 4.6)
    axes = figure.add_subplot()
    for curve in curves:
        band(axes, curve)
        line(axes, curve.name, curve.x, curve.y)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    finish(axes, title)
    return figure


def require_curves(curves: Sequence[Curve]) -> None:
    """Raise unless there is a curve to draw."""
    if len(curves) == 0:
        raise InvalidArgumentError("expected at least one curve", curves)


def band(axes: Axes, curve: Curve) -> None:
    """Draw the band of a curve, if it has one, between thin lines that survive copying."""
    if curve.low is not None and curve.high is not None:
        color = style_of(curve.name).color
        axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.15, linewidth=0)
        for edge in (curve.low, curve.high):
            axes.plot(curve.x, edge, color=color, linewidth=0.6, alpha=0.7)
