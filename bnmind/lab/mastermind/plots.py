"""Plots of comparisons."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind.lab.mastermind.compare import Comparison, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_lengths"]

# Colors for color-blind readers and for print (Okabe and Ito).
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999")

_TAIL = 0.005  # the largest share of games in the last, open bar


@checked
def plot_lengths(comparison: Comparison) -> Figure:
    """Plot the distribution of the numbers of guesses, as a bar chart for each strategy.

    The longest games share the last bar. The figure is not registered with pyplot: save it with its
    ``savefig``, or show it in a notebook.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lengths = {
        name: [row.guesses for row in comparison.rows_of(name)] for name in comparison.strategies
    }
    first = min(min(guesses) for guesses in lengths.values())
    last = max(_last_bar(guesses) for guesses in lengths.values())
    is_open = any(max(guesses) > last for guesses in lengths.values())
    places = range(first, last + 1)
    width = 0.84 / len(lengths)

    figure = Figure(figsize=(max(7.2, 0.62 * len(places) + 2), 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, (name, summary) in enumerate(
        zip(comparison.strategies, comparison.summaries, strict=True)
    ):
        counts = Counter(min(guesses, last) for guesses in lengths[name])
        shares = [100 * counts[place] / summary.games for place in places]
        edges = [place - 0.42 + number * width for place in places]
        color = _COLORS[number % len(_COLORS)]
        axes.bar(
            edges, shares, 0.94 * width, align="edge", color=color, label=_label(summary), zorder=2
        )
        axes.axvline(summary.mean, color=color, linewidth=1.3, linestyle=(0, (4, 2)), zorder=1)
    ticks = [str(place) for place in places]
    if is_open:
        ticks[-1] += "+"
    axes.set_xticks(list(places), ticks)
    axes.set_xlim(first - 0.6, last + 0.6)
    axes.set_xlabel("guesses")
    axes.set_ylabel("games, %")
    axes.set_title(
        f"Mastermind {comparison.board}, {comparison.channel}, "
        f"{comparison.games:,} game{'s' if comparison.games > 1 else ''}",
        loc="left",
    )
    axes.grid(axis="y", color="#dddddd", linewidth=0.8, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        title="dashed: mean ± standard error",
        alignment="left",
        loc="upper right",
        framealpha=1,
        edgecolor="none",
    )
    return figure


def _last_bar(guesses: list[int]) -> int:
    """Return the length from which on all games share a bar."""
    rare = int(_TAIL * len(guesses))
    return sorted(guesses, reverse=True)[rare]


def _label(summary: Summary) -> str:
    error = "" if math.isnan(summary.standard_error) else f" ± {summary.standard_error:.2f}"
    return f"{summary.strategy}  {summary.mean:.2f}{error}"
