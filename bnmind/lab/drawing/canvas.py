"""Figures that belong to nobody, and what all plots have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind.information import Floats
from bnmind.lab.drawing.style import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bars", "finish", "legend_above", "line", "new_figure", "plain", "polish"]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; it is not registered with pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain(text: str) -> str:
    """Return a name as matplotlib shows it: neither a formula, nor left out of the legend."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


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


def polish(axes: Axes, *, grid: str = "y") -> None:
    """Draw a grid, and no box."""
    axes.grid(axis=grid, color="#dddddd", linewidth=0.8, zorder=0)  # type: ignore[arg-type]
    axes.spines[["top", "right"]].set_visible(False)


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
