"""Plots of figures that are points of curves, with bands of two standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bnmind.lab.reproductions.base.figures import Figure
from bnmind.strategies.registry import STRATEGIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["Panel", "draw_panels"]

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B")
_MARKERS = "osD^vPX*<>hp"
_LINES = ("-", "--", "-.", ":")
_ERRORS = 2


@dataclass(frozen=True)
class Panel:
    """A part of a plot with axes of its own."""

    title: str
    """The title; empty for none."""
    curves: tuple[str, ...]
    """The curves, in the order of the legend."""
    labels: tuple[str, ...] = ()
    """The name of each curve in the legend; by default the curve."""
    y: str = ""
    """The label of the ordinate; empty if the panels share one."""
    log_y: bool = False
    """Whether the ordinate is logarithmic."""
    levels: tuple[Figure, ...] = ()
    """Figures without an abscissa, one for each of the first curves, drawn as horizontal lines."""


def draw_panels(
    figures: Sequence[Figure],
    panels: Sequence[Panel],
    *,
    x: str,
    y: str = "",
    log_x: bool = False,
) -> Drawing:
    """Return a plot of curves.

    Parameters
    ----------
    figures
        The figures; those with an abscissa are points.
    panels
        The panels, from left to right, each with its curves.
    x, y
        The labels of the axes, with units.
        The ordinate is common to all panels if it has a label.
    log_x
        Whether the abscissa is logarithmic.
    """
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(1.2 + 4.4 * len(panels), 4.2), layout="constrained")
    axes = drawing.subplots(1, len(panels), sharey=bool(y), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        _draw(ax, panel, figures)
        ax.set_title(panel.title)
        ax.set_xlabel(x)
        ax.grid(visible=True, alpha=0.3)
        if log_x:
            ax.set_xscale("log")
        if panel.y:
            ax.set_ylabel(panel.y)
        if panel.log_y:
            ax.set_yscale("log")
    if y:
        axes[0].set_ylabel(y)
    return drawing


def _draw(ax: Axes, panel: Panel, figures: Sequence[Figure]) -> None:
    for number, curve in enumerate(panel.curves):
        points = sorted(
            (figure.at, figure.ours, figure.standard_error or 0.0)
            for figure in figures
            if figure.curve == curve and figure.at is not None and figure.ours is not None
        )
        if not points:
            continue
        at, mean, error = np.array(points, dtype=np.float64).T
        label = panel.labels[number] if panel.labels else curve
        color, marker, line = _style(label, number)
        ax.plot(at, mean, color=color, marker=marker, ls=line, lw=1.3, ms=4.5, label=label)
        low, high = mean - _ERRORS * error, mean + _ERRORS * error
        ax.fill_between(at, low, high, color=color, alpha=0.15, lw=0)
        if number < len(panel.levels) and (level := panel.levels[number].ours) is not None:
            spread = _ERRORS * (panel.levels[number].standard_error or 0.0)
            ax.axhline(level, color=color, ls=":", lw=1.2)
            ax.axhspan(level - spread, level + spread, color=color, alpha=0.08, lw=0)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=7)


def _style(label: str, number: int) -> tuple[str, str, str]:
    """Return the color, the marker and the line of a curve, always the same for a strategy."""
    names = list(STRATEGIES)
    base = label.split(":")[0]
    place = names.index(base) if base in names else number
    return (
        _COLORS[place % len(_COLORS)],
        _MARKERS[place % len(_MARKERS)],
        _LINES[place // len(_COLORS) % len(_LINES)],
    )
