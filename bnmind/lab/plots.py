"""Plots of results: the same strategy has the same color and marker in all of them.

The style is a function of the name alone. Registered strategies differ in the pair of marker and
dashes, and in the pair of color and hatching, so they can be told apart in black and white too.
The figures belong to nobody: none is registered with pyplot, so save them with their ``savefig``.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array, whole_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.statistics import Moments, PairedDifferences, StudentInterval, require_error
from bnmind.views.draw import new_figure, plain, polish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Dashes = str | tuple[float, tuple[float, ...]]

# Colors for color-blind readers (Okabe and Ito), without yellow, which is faint on paper; a violet
# instead. Neighbors differ in lightness.
_COLORS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#5D3A9B"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Dashes, ...] = (
    *("solid", (0.0, (5.0, 2.0)), (0.0, (1.5, 1.5)), (0.0, (6.0, 2.0, 1.5, 2.0))),
    *((0.0, (9.0, 2.0)), (0.0, (4.0, 1.5, 1.0, 1.5, 1.0, 1.5)), (0.0, (1.5, 4.0))),
)
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "||")

_PLACES = len(_COLORS) * len(_MARKERS) * len(_DASHES)
"""These numbers have no common divisor, so as many names can have styles of their own."""

_KNOWN = (
    *("entropy", "map", "knuth", "kooi", "random", "optimal", "best", "lookahead"),
    *("irving", "neuwirth", "maxmin", "larmouth", "weighted-entropy", "shapiro", "lookahead2"),
    *("deeper", "optimal-worst", "random-consistent", "subset", "eda", "eda-entropy"),
    *("local-entropy", "snyder", "snyder-learned", "metropolis-hastings"),
    *("entropy-unknown-noise", "map-unknown-noise", "genetic", "genetic-tuned"),
    *("genetic-elitist", "bernier-random", "bernier-genetic", "annealing", "annealing-tuned"),
    *("entropy-sampled", "map-sampled"),
    # Selectors of adaptive tests.
    *("skills", "gdi", "kl", "fisher", "loss", "pwkl", "mpwkl", "order"),
    *("per-cost", "per-time", "lower bound", "randomesque", "mepv", "a-stratified"),
    "progressive",
)
"""Names in the order of their styles. Append others; a change of the order changes pictures."""


@dataclass(frozen=True)
class Style(Value):
    """How a strategy looks, in the words of matplotlib."""

    color: str
    """The color of lines, markers and bars."""
    marker: str
    """The marker of points."""
    dashes: Dashes
    """The dashes of lines."""
    hatch: str
    """The hatching of bars; empty for a plain bar."""


@checked
def style_of(name: str) -> Style:
    """Return the style of a strategy, or of anything else that has a name.

    The same name has the same style in every plot and in every version. Names that are not
    registered get theirs from a checksum, so two of them may look alike, which is rare.

    Parameters
    ----------
    name
        The name of a strategy, a selector, or anything else.

    Examples
    --------
    >>> style_of("entropy").color, style_of("entropy").marker
    ('#0072B2', 'o')
    >>> style_of("my strategy") == style_of("my strategy")
    True
    """
    place = _KNOWN.index(name) if name in _KNOWN else zlib.crc32(name.encode()) % _PLACES
    return Style(
        _COLORS[place % len(_COLORS)],
        _MARKERS[place % len(_MARKERS)],
        _DASHES[place % len(_DASHES)],
        _HATCHES[place % len(_HATCHES)],
    )


def new_axes(width: float = 7.2, height: float = 4.6) -> tuple[Figure, Axes]:
    """Return an empty figure with one pair of axes, and these."""
    figure = new_figure(width, height)
    return figure, figure.add_subplot()


def line(axes: Axes, name: str, x: Floats, y: Floats, **options: Any) -> None:
    """Draw a curve in the style of its name."""
    style = style_of(name)
    axes.plot(
        x,
        y,
        color=style.color,
        linestyle=style.dashes,
        marker=style.marker,
        **{"label": plain(name), "linewidth": 1.8, "markersize": 6, **options},
        markeredgecolor="white",
        markeredgewidth=0.7,
    )


def bars(
    axes: Axes,
    names: Sequence[str],
    shares: Sequence[Floats],
    labels: Sequence[str],
    *,
    first: float = 0.0,
    errors: Sequence[Floats] | None = None,
) -> None:
    """Draw bars side by side in the styles of their names, around first, first + 1 and so on."""
    width = 0.84 / len(shares)
    for number, (name, share, label) in enumerate(zip(names, shares, labels, strict=True)):
        style = style_of(name)
        axes.bar(
            first + np.arange(len(share)) - 0.42 + number * width,
            share,
            0.94 * width,
            align="edge",
            color=style.color,
            hatch=style.hatch,
            edgecolor="white",
            linewidth=0,
            label=plain(label),
            yerr=None if errors is None else errors[number],
            error_kw={"linewidth": 1, "ecolor": "#333333"},
            zorder=2,
        )


def name_bars(axes: Axes, names: Sequence[str], slope: int) -> None:
    """Write names below bars, from below if they have a slope in degrees."""
    axes.set_xticks(
        range(len(names)),
        list(map(plain, names)),
        rotation=slope,
        ha="right" if slope else "center",
        rotation_mode="anchor",
    )


def finish(axes: Axes, title: str) -> None:
    """Draw a grid, the title, and a legend where it hides least."""
    polish(axes)
    axes.set_title(plain(title), loc="left")
    axes.legend(loc="best", framealpha=0.9, edgecolor="none", alignment="left", handlelength=3.5)


def legend_above(figure: Figure, title: str) -> None:
    """Put the legend of the first axes above everything, where it hides nothing."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    inches = 0.9 + 0.085 * max(map(len, labels), default=0)  # of a column
    columns = int(figure.get_figwidth() / inches)
    figure.legend(
        handles,
        labels,
        title=plain(title),
        title_fontsize="large",
        loc="outside upper left",
        ncols=min(4, max(1, columns)),
        frameon=False,
        alignment="left",
        handlelength=3.5,
    )


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
        x = self.x
        if x.ndim != 1 or not (len(x) and (np.diff(x) > 0).all() and np.isfinite(x).all()):
            yield f"expected finite, increasing places of the curve {self.name}, got {x}"
        if (self.low is None) != (self.high is None):
            yield f"expected both edges of the band of {self.name}, or none"
        for name in ("y", "low", "high"):
            array, shape = getattr(self, name), self.x.shape
            if array is not None and (got := array.shape) != shape:
                yield f"expected {name} of the curve {self.name} of shape {shape}, got {got}"


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
    figure, axes = new_axes()
    _draw_curves(axes, curves, x_label, y_label)
    finish(axes, title)
    return figure


def _draw_curves(axes: Axes, curves: Sequence[Curve], x_label: str, y_label: str) -> None:
    if len(curves) == 0:
        raise InvalidArgumentError("expected at least one curve", curves)
    for curve in curves:
        if axes.get_yscale() != "log" or curve.low is None or (curve.low > 0).all():
            band(axes, curve)
        line(axes, curve.name, curve.x, curve.y)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)


def band(axes: Axes, curve: Curve) -> None:
    """Draw the band of a curve, if it has one, between thin lines that survive copying."""
    if curve.low is not None and curve.high is not None:
        color = style_of(curve.name).color
        axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.15, linewidth=0)
        for edge in (curve.low, curve.high):
            axes.plot(curve.x, edge, color=color, linewidth=0.6, alpha=0.7)


@checked
def plot_costs(
    curves: Sequence[Curve],
    *,
    x_label: str = "codes of the board",
    y_label: str = "seconds a guess",
    title: str = "",
) -> Figure:
    """Plot how costs grow with sizes, on logarithmic axes.

    A power of the size is a straight line there; its slope is the exponent.

    Parameters
    ----------
    curves
        The curves, with sizes above 0 as places and costs above 0 as values.
    x_label, y_label
        The labels of the axes, with their units.
    title
        The title.

    Raises
    ------
    InvalidArgumentError
        If there are no curves, or a size or a cost is not above 0.
    """
    for curve in curves:
        if not (curve.x > 0).all() or not (curve.y > 0).all():
            raise InvalidArgumentError(
                f"expected sizes and costs above 0 on logarithmic axes; {curve.name} has others",
                curve,
            )
    figure, axes = new_axes()
    axes.set_xscale("log")
    axes.set_yscale("log")
    _draw_curves(axes, curves, x_label, y_label)
    finish(axes, title)
    axes.grid(which="major", axis="both", color="#dddddd", linewidth=0.8, zorder=0)
    return figure


_MANY = 10
"""Up to this number of strategies, all pairs are shown."""


@checked
def plot_differences(
    differences: PairedDifferences, *, unit: str = "guesses a game", title: str = ""
) -> Figure:
    """Plot the difference of each pair with its interval, the first minus the second.

    A filled marker says that the interval excludes zero: it can be told which of the two is
    smaller. The marker is that of the first strategy of the pair. Differences without a finite
    interval have none. Of more than ten strategies, only the differences from the best are shown.

    Parameters
    ----------
    differences
        The differences, as by `paired_differences`.
    unit
        The unit of the differences.
    title
        The title.

    Raises
    ------
    InvalidArgumentError
        If there is only one strategy.
    """
    pairs = differences.pairs
    if not pairs:
        raise InvalidArgumentError("expected at least two strategies", differences)
    if len(differences.ranking) > _MANY:
        pairs = tuple(pair for pair in pairs if pair.first == differences.ranking[0])
    figure, axes = new_axes(7.2, max(2.2, 1.3 + 0.34 * len(pairs)))
    axes.axvline(0, color="#333333", linewidth=1.0, zorder=1)
    for place, pair in enumerate(pairs):
        style = style_of(pair.first)
        finite = math.isfinite(pair.high - pair.low)
        axes.errorbar(
            pair.mean,
            place,
            xerr=[[pair.mean - pair.low], [pair.high - pair.mean]] if finite else None,
            fmt=style.marker,
            color=style.color,
            markerfacecolor=style.color if pair.can_be_told else "white",
            markersize=7,
            capsize=4,
            linewidth=1.6,
            zorder=2,
        )
    axes.set_yticks(range(len(pairs)), [plain(f"{one.first} − {one.second}") for one in pairs])
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    known = "" if differences.interval in ("exact", "unknown") else _known(differences)
    axes.set_xlabel(f"difference, {unit}{known}")
    axes.set_title(plain(title), loc="left")
    polish(axes, grid="x")
    return figure


def _known(differences: PairedDifferences) -> str:
    return (
        f"\n{100 * differences.confidence:g} % intervals for all pairs together"
        f" ({differences.interval}); filled: significant"
    )


_TAIL = 0.005
"""The largest share of values in the last, open bar."""


@checked
def plot_distributions(
    values: Mapping[str, ArrayLike], *, x_label: str = "guesses", title: str = ""
) -> Figure:
    """Plot the distribution of whole numbers for each strategy.

    The largest values share the last bar. Vertical lines are the means.

    Parameters
    ----------
    values
        The values of each strategy, such as its numbers of guesses, shape (games,).
    x_label
        The label of the values, with their unit.
    title
        The title.

    Raises
    ------
    InvalidArgumentError
        If there are no values, or they are not whole numbers.
    """
    lengths = {name: whole_array(value, f"the values of {name}") for name, value in values.items()}
    if not lengths or not all(one.ndim == 1 and len(one) for one in lengths.values()):
        raise InvalidArgumentError("expected one or more whole numbers of each strategy", values)
    first = min(int(one.min()) for one in lengths.values())
    last = max(int(np.sort(one)[::-1][int(_TAIL * len(one))]) for one in lengths.values())
    shares = [
        100 * np.bincount(np.minimum(one, last) - first, minlength=last - first + 1) / len(one)
        for one in lengths.values()
    ]
    places = range(first, last + 1)
    figure, axes = new_axes(max(7.2, 0.62 * len(places) + 2), 4.4)
    labels = []
    for name, one in lengths.items():
        mean, n = float(one.mean()), len(one)
        error = f" ± {one.std(ddof=1) / n**0.5:.2f}" if n > 1 else ""
        labels.append(f"{name}  {mean:.2f}{error}")
        style = style_of(name)
        axes.axvline(mean, color=style.color, linewidth=1.3, linestyle=style.dashes, zorder=1)
    bars(axes, list(lengths), shares, labels, first=first)
    ticks = [str(place) for place in places]
    if any(int(one.max()) > last for one in lengths.values()):
        ticks[-1] += "+"
    axes.set_xticks(list(places), ticks)
    axes.set_xlim(first - 0.6, last + 0.6)
    axes.set_xlabel(x_label)
    axes.set_ylabel("games, %")
    axes.set_title(title, loc="left")
    polish(axes)
    axes.legend(
        title="lines: mean ± standard error",
        alignment="left",
        loc="upper right",
        framealpha=1,
        edgecolor="none",
    )
    return figure


_MOST_TURNS = 1000
"""The largest number of turns that a plot can show."""


@checked
def plot_entropies(
    games: Mapping[str, Sequence[ArrayLike]], *, title: str = "", turns: int | None = None
) -> Figure:
    """Plot the mean entropy of the belief before each guess, for each strategy.

    A game that is over has the entropy 0 from then on. The bands are 95 % confidence intervals of
    the means, for each turn alone.

    Parameters
    ----------
    games
        For each strategy the entropies of its games, in bits: each a list of the entropies before
        the first guess, before the second, and so on.
    title
        The title.
    turns
        The number of turns to show; by default until 99 % of the games are over.

    Raises
    ------
    InvalidArgumentError
        If there are no games, or an entropy is not a finite number from 0.
    """
    if not games or not all(games.values()):
        raise InvalidArgumentError("expected the games of at least one strategy", games)
    if turns is not None and not 1 <= turns <= _MOST_TURNS:
        raise InvalidArgumentError(f"expected 1 to {_MOST_TURNS:,} turns, got {turns}", turns)
    rows = {name: [_entropies(name, one) for one in played] for name, played in games.items()}
    lengths = np.sort([len(row) for played in rows.values() for row in played])
    usual = min(_MOST_TURNS, int(lengths[int(0.99 * (len(lengths) - 1))]))
    shown = usual if turns is None else turns
    figure, axes = new_axes()
    curves = []
    for name, played in rows.items():
        table = np.zeros((len(played), max(shown, *map(len, played))))
        for number, row in enumerate(played):
            table[number, : len(row)] = row
        curves.append(curve_of(name, {turn + 1: table[:, turn] for turn in range(shown)}))
    _draw_curves(axes, curves, "guess", "entropy of the belief before it, bits")
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(1, shown + 1, -(-shown // 14)))
    finish(axes, title)
    return figure


def _entropies(name: str, game: ArrayLike) -> Floats:
    row = number_array(game, f"the entropies of {name}")
    if row.ndim != 1 or not len(row) or not (np.isfinite(row) & (row >= 0)).all():
        raise InvalidArgumentError(
            f"expected finite entropies from 0 for each guess of {name}, got {game!r}", game
        )
    return row
