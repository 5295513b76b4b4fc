"""Pictures of simulated tests: measures by step, exposure, lengths, skills."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive import SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bnmind.information import Floats

__all__ = ["plot_attributes", "plot_exposure", "plot_measure", "plot_measures", "plot_test_lengths"]

# Distinguishable for most eyes, in print too (Okabe and Ito).
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Of curves that lie on each other, the lower ones show in the gaps.
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

_NAMED_ITEMS = 32
"""Up to so many items have bars with their names; more are curves from the most exposed."""

_BARS = 24
"""Up to so many different lengths have a bar each; more are put together."""


@checked
def plot_measure(result: SimulationResult, measure: str) -> Figure:
    """Return the curves of a measure by the number of items asked, one for each selector.

    The bands are pointwise 95 % confidence intervals of the means. Tests that are over count
    as they ended. The figure belongs to nobody: save it with its ``savefig``.
    """
    figure = _figure(7.2, 4.6)
    _draw_measure(figure.add_subplot(), result, measure)
    return figure


@checked
def plot_measures(result: SimulationResult) -> Figure:
    """Return the curves of all measures side by side."""
    n = len(result.measures)
    columns = min(2 if n <= 4 else 3, n)
    rows = -(-n // columns)
    figure = _figure(4.6 * columns, 3.5 * rows)
    for number, measure in enumerate(result.measures):
        axes = figure.add_subplot(rows, columns, number + 1)
        _draw_measure(axes, result, measure.name, with_values=False)
    if result.measures:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        _legend(figure, handles, labels, _title(result))
    return figure


@checked
def plot_exposure(result: SimulationResult) -> Figure:
    """Return how many of the examinees were asked each item, for each selector.

    A small bank has a bar for each item; of a large one the items are sorted by their
    exposure, for each selector anew. The legend says what share of a test two examinees
    have in common.
    """
    n_items = len(result.items)
    few = n_items <= _NAMED_ITEMS
    figure = _figure(max(7.2, 0.4 * n_items + 1.5) if few else 7.2, 4.6)
    axes = figure.add_subplot()
    labels = [f"{run.selector}  overlap {_percent(run.overlap)}" for run in result.runs]
    shares = [100 * run.exposure for run in result.runs]
    if few:
        _bars(axes, shares, labels)
        upright = max(map(len, result.items)) <= 4
        axes.set_xticks(
            range(n_items),
            list(result.items),
            rotation=0 if upright else 60,
            ha="center" if upright else "right",
            rotation_mode="anchor",
        )
        axes.set_xlim(-0.7, n_items - 0.3)
    else:
        for number, (share, label) in enumerate(zip(shares, labels, strict=True)):
            axes.plot(
                np.arange(1, n_items + 1),
                np.sort(share)[::-1],
                color=_color(number),
                label=_plain(label),
                linewidth=1.8,
            )
        axes.set_xlabel("items, from the most exposed")
        axes.set_xlim(0, n_items + 1)
    axes.set_ylabel("examinees asked, %")
    axes.set_ylim(0, 105)
    _finish(axes)
    _legend(figure, *axes.get_legend_handles_labels(), f"Exposure of items, {_title(result)}")
    return figure


@checked
def plot_test_lengths(result: SimulationResult) -> Figure:
    """Return how many of the tests had which length, for each selector."""
    figure = _figure(7.2, 4.6)
    axes = figure.add_subplot()
    lengths = [run.lengths for run in result.runs]
    first, last = min(map(np.min, lengths)), max(map(np.max, lengths))
    width = -(-int(last - first + 1) // _BARS)
    edges = np.arange(first, last + width + 1, width)
    shares = [100 * np.histogram(one, edges)[0] / len(one) for one in lengths]
    _bars(axes, shares, [f"{r.selector}  mean {r.lengths.mean():.2f}" for r in result.runs])
    names = [str(e) if width == 1 else f"{e}–{e + width - 1}" for e in edges[:-1].tolist()]
    crowded = width > 1 and len(names) > 8
    axes.set_xticks(
        range(len(names)),
        names,
        rotation=60 if crowded else 0,
        ha="right" if crowded else "center",
        rotation_mode="anchor",
    )
    axes.set_xlabel("items asked")
    axes.set_ylabel("tests, %")
    axes.set_xlim(-0.9, len(names) - 0.1)
    _finish(axes)
    _legend(figure, *axes.get_legend_handles_labels(), f"Test length, {_title(result)}")
    return figure


@checked
def plot_attributes(result: SimulationResult) -> Figure:
    """Return how many examinees were classified right in each skill, for each selector.

    The lines on the bars are 95 % confidence intervals. Skills whose true levels are not
    known are left out.
    """
    frame = result.attributes
    skills = list(dict.fromkeys(frame["skill"]))
    figure = _figure(max(7.2, 0.8 * len(skills) + 2), 4.6)
    axes = figure.add_subplot()
    shares, errors = [], []
    for selector in result.selectors:
        own = frame[frame["selector"] == selector]
        share = own["accuracy"].to_numpy(dtype=np.float64)
        shares.append(100 * share)
        n = own["examinees"].to_numpy(dtype=np.float64)
        errors.append(100 * 1.96 * np.sqrt(share * (1 - share) / n))
    _bars(axes, shares, list(result.selectors), errors)
    crowded = max(map(len, skills), default=0) * len(skills) > 60
    axes.set_xticks(
        range(len(skills)),
        list(map(_plain, skills)),
        rotation=30 if crowded else 0,
        ha="right" if crowded else "center",
        rotation_mode="anchor",
    )
    axes.set_ylabel("examinees classified right, %")
    axes.set_ylim(0, 105)
    _finish(axes)
    _legend(
        figure,
        *axes.get_legend_handles_labels(),
        f"Skills at the end of the test, {_title(result)}",
    )
    return figure


def _draw_measure(
    axes: Axes, result: SimulationResult, measure: str, *, with_values: bool = True
) -> None:
    from matplotlib.ticker import MaxNLocator

    steps = np.arange(1 + result.n_steps)
    every = max(1, len(steps) // 12)
    for number, selector in enumerate(result.selectors):
        mean, error = result.mean(selector, measure)
        color = _color(number)
        axes.fill_between(
            steps, mean - 1.96 * error, mean + 1.96 * error, color=color, alpha=0.2, linewidth=0
        )
        axes.plot(
            steps,
            mean,
            color=color,
            label=_plain(f"{selector}  {mean[-1]:.3f}" if with_values else selector),
            linewidth=1.8,
            linestyle=_DASHES[number % len(_DASHES)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            markevery=every,
        )
    axes.set_xlabel("items asked")
    axes.set_ylabel(_plain(result.measure(measure).label))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _finish(axes)
    if with_values:
        axes.set_title(_plain(_title(result)), loc="left")
        axes.legend(loc="best", framealpha=0.9, edgecolor="none", alignment="left")


def _bars(
    axes: Axes,
    shares: Sequence[Floats],
    labels: Sequence[str],
    errors: Sequence[Floats] | None = None,
) -> None:
    """Draw bars side by side, those of a place around its number."""
    width = 0.84 / len(shares)
    for number, (share, label) in enumerate(zip(shares, labels, strict=True)):
        edges = np.arange(len(share)) - 0.42 + number * width
        axes.bar(
            edges,
            share,
            0.94 * width,
            align="edge",
            color=_color(number),
            label=_plain(label),
            yerr=None if errors is None else errors[number],
            error_kw={"linewidth": 1, "ecolor": "#333333"},
            zorder=2,
        )


def _finish(axes: Axes) -> None:
    axes.grid(axis="y", color="#dddddd", linewidth=0.8, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], title: str) -> None:
    """Put the legend above everything, where it hides nothing, and all of it fits."""
    inches = 0.7 + 0.085 * max(map(len, labels), default=0)  # of a column
    columns = int(figure.get_figwidth() / inches)
    figure.legend(
        handles,
        labels,
        title=_plain(title),
        title_fontsize="large",
        loc="outside upper left",
        ncols=min(4, max(1, columns)),
        frameon=False,
        alignment="left",
    )


def _plain(text: str) -> str:
    """Return a name as matplotlib shows it: neither a formula, nor left out of the legend."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _color(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def _title(result: SimulationResult) -> str:
    n = len(result)
    return f"{n:,} examinee{'' if n == 1 else 's'}"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"
