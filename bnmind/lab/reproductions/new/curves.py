"""Plots of figures that are points of curves, with bands or bars of two standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bnmind.adaptive.simulation.results import share_interval
from bnmind.information import Floats
from bnmind.lab.plots import Curve, band, line, new_figure, plain, polish, style_of
from bnmind.lab.reproductions.base.figures import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["Panel", "draw_panels"]

_ERRORS = 2
_MOST_BANDS = 3
"""More bands than this hide each other: each point then has an error bar."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A part of a plot with axes of its own."""

    title: str = ""
    """The title; empty for none."""
    curves: tuple[str, ...]
    """The curves, in the order of the legend."""
    names: tuple[str, ...] = ()
    """The name of each curve in the legend; by default the curve."""
    styles: tuple[str, ...] = ()
    """The strategy in whose style each curve is drawn; by default its name."""
    levels: tuple[Figure, ...] = ()
    """Figures without an abscissa, one for each of the first curves, drawn to their right."""
    y: str = ""
    """The label of the ordinate; empty if the panels share one."""
    log_y: bool = False
    """Whether the ordinate is logarithmic."""
    is_share: bool = False
    """Whether the ordinates are shares of games; the bands are then Wilson's 95 % intervals."""


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
        The labels of the axes, with units. The ordinate is common to all panels if it has a label.
    log_x
        Whether the abscissa is logarithmic.
    """
    drawing = new_figure(1.4 + 4.6 * len(panels), 4.6)
    axes = drawing.subplots(1, len(panels), sharey=bool(y), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        if log_x:
            ax.set_xscale("log")
        if panel.log_y:
            ax.set_yscale("log")
        _draw(ax, panel, figures)
        ax.set_title(panel.title, loc="left")
        ax.set_xlabel(x)
        ax.set_ylabel(panel.y)
        polish(ax)
    if y:
        axes[0].set_ylabel(y)
    return drawing


def _draw(ax: Axes, panel: Panel, figures: Sequence[Figure]) -> None:
    for number, curve in enumerate(panel.curves):
        label = panel.names[number] if panel.names else curve
        name = panel.styles[number] if panel.styles else label
        points = sorted(
            (figure.at, figure.ours, figure.standard_error or 0.0, figure.games or np.inf)
            for figure in figures
            if figure.curve == curve and figure.at is not None and figure.ours is not None
        )
        if not points:
            continue
        at, mean, error, games = np.array(points, dtype=np.float64).T
        low, high = mean - _ERRORS * error, mean + _ERRORS * error
        if panel.is_share:
            low, high = share_interval(mean, games)
        if len(panel.curves) > _MOST_BANDS:
            at = _shifted(ax, at, number, len(panel.curves))
            sides = (mean - low, high - mean)
            ax.errorbar(at, mean, sides, fmt="none", ecolor=style_of(name).color, elinewidth=0.9)
        elif (high > low).any():
            band(ax, Curve(name=name, x=at, y=mean, low=low, high=high))
        line(ax, name, at, mean, label=plain(label), linewidth=1.4, markersize=5)
        if number < len(panel.levels) and (level := panel.levels[number].ours) is not None:
            style, step = style_of(name), (at[-1] - at[0]) / 30
            ax.errorbar(
                at[-1] + (number + 2) * step,
                level,
                yerr=_ERRORS * (panel.levels[number].standard_error or 0.0),
                fmt=style.marker,
                color=style.color,
                capsize=3,
            )
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            handles,
            [plain(label) for label in labels],
            fontsize=7,
            framealpha=0.9,
            handlelength=3.5,
        )


def _shifted(ax: Axes, at: Floats, number: int, n: int) -> Floats:
    """Return the abscissas moved sideways a little, so that the bars of n curves stand apart."""
    part = (number - (n - 1) / 2) / n
    if ax.get_xscale() == "log":
        shifted: Floats = at * 1.5**part
    else:
        step = float(np.diff(at).min()) if len(at) > 1 else 1.0
        shifted = at + 0.35 * step * part
    return shifted
