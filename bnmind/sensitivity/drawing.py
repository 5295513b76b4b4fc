"""Plots of sensitivity: tornadoes, weights of evidence, and sensitivity functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError
from bnmind.sensitivity.functions import SensitivityFunction
from bnmind.sensitivity.weights import WeightOfEvidence

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_explanation", "plot_function", "plot_tornado", "plot_weights"]

_UP, _DOWN = "#0072B2", "#E69F00"
"""Colors for color-blind readers (Okabe and Ito)."""

_LONGEST = 48
"""The most characters of a label."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; it is not registered with pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


@checked
def plot_tornado(tornado: Any, *, posterior: float, title: str = "", n: int = 15) -> Figure:
    """Plot the parameters with the largest influence as a tornado.

    Parameters
    ----------
    tornado
        The data frame of `SensitivityAnalysis.tornado`.
    posterior
        The posterior probability in the network, where the bars start.
    title
        The title.
    n
        The most bars.

    Raises
    ------
    InvalidArgumentError
        If the posterior is no probability.
    """
    rows = _first_rows(tornado, n)
    if not 0 <= posterior <= 1:
        raise InvalidArgumentError(f"expected a probability from 0 to 1, got {posterior}")
    figure = new_figure(8.0, 1.6 + 0.3 * max(1, len(rows)))
    draw_tornado(figure.add_subplot(), rows, posterior, title)
    return figure


def _first_rows(tornado: Any, n: int) -> pandas.DataFrame:
    """Return the first rows of the data frame of a tornado."""
    import pandas

    needed = {"parameter", "low", "high", "at_low", "at_high"}
    if not isinstance(tornado, pandas.DataFrame) or not needed <= set(tornado.columns):
        raise InvalidArgumentError(
            f"expected the data frame of SensitivityAnalysis.tornado, got {shown(tornado)}", tornado
        )
    if n < 1:
        raise InvalidArgumentError(f"n must be at least 1, got {n}", n)
    return tornado.head(n)


def draw_tornado(axes: Axes, rows: pandas.DataFrame, posterior: float, title: str) -> None:
    """Draw a tornado of the rows of a data frame."""
    if not len(rows):
        raise InvalidArgumentError("there is no parameter that matters, so nothing to plot")
    places = np.arange(len(rows))[::-1]
    ends = (("at_low", _DOWN, "", "low"), ("at_high", _UP, "///", "high"))
    for column, color, hatch, name in ends:
        lengths = rows[column].to_numpy(dtype=float) - posterior
        axes.barh(
            places,
            np.nan_to_num(lengths),
            0.72,
            left=posterior,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=f"parameter {name}",
            zorder=2,
        )
        impossible = places[np.isnan(lengths)]
        if len(impossible):
            marks = np.full(len(impossible), posterior)
            axes.scatter(
                marks, impossible, marker="x", color=color, zorder=4, label=f"{name}: impossible"
            )
    labels = [
        f"{_short(str(row.parameter))}  ({row.low:.3g} to {row.high:.3g})"
        for row in rows.itertuples(index=False)
    ]
    axes.set_yticks(places, [_plain(label) for label in labels])
    axes.axvline(posterior, color="#333333", linewidth=1, zorder=3)
    axes.set_xlabel("posterior probability")
    _polish(axes, title)
    # Within the axes, it would cover bars.
    handles, names = axes.get_legend_handles_labels()
    axes.figure.legend(handles, names, loc="outside lower right", ncols=2, frameon=False)


@checked
def plot_weights(weights: WeightOfEvidence, *, title: str = "") -> Figure:
    """Plot the weight of each finding for a conclusion, given the others, in bits.

    Parameters
    ----------
    weights
        The weights of evidence, in bits.
    title
        A title above the picture; none if empty.
    """
    figure = new_figure(8.0, 1.3 + 0.3 * max(1, len(weights.findings)))
    draw_weights(figure.add_subplot(), weights, title)
    return figure


def draw_weights(axes: Axes, weights: WeightOfEvidence, title: str) -> None:
    """Draw the weight of each finding."""
    if not weights.findings:
        raise InvalidArgumentError("there are no findings, so nothing to plot")
    given = np.array([one.given_others for one in weights.findings])
    finite = np.abs(given[np.isfinite(given)]).max(initial=0.0)
    lengths = np.clip(given, -1.25 * finite - 1, 1.25 * finite + 1)
    places = np.arange(len(given))[::-1]
    axes.barh(
        places,
        lengths,
        0.72,
        color=[_UP if one > 0 else _DOWN for one in lengths],
        zorder=2,
    )
    for place, length, number in zip(places, lengths, given, strict=True):
        axes.annotate(
            f"{number:+.2f}",
            (length, place),
            xytext=(4 if length >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if length >= 0 else "right",
            va="center",
            fontsize="small",
        )
    axes.set_yticks(places, [_plain(_short(one.finding)) for one in weights.findings])
    axes.axvline(0.0, color="#333333", linewidth=1, zorder=3)
    axes.margins(x=0.15)
    # Long names of findings leave narrow axes, whose middle has no room for it.
    axes.set_xlabel("weight of evidence given the other findings, bits", loc="right")
    _polish(axes, title)


@checked
def plot_function(function: SensitivityFunction, *, title: str = "") -> Figure:
    """Plot the posterior of every state as a function of a parameter.

    Parameters
    ----------
    function
        The posteriors as functions of one parameter.
    title
        A title above the picture; none if empty.
    """
    figure = new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    x = np.linspace(0.0, 1.0, 201)
    y = np.array([function(t) for t in x])
    dashes: Sequence[Any] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
    for number, state in enumerate(function.target.states):
        axes.plot(
            x,
            y[:, number],
            linestyle=dashes[number % len(dashes)],
            label=_plain(f"{function.target.name}={state}"),
            linewidth=1.8,
        )
    axes.axvline(function.value, color="#333333", linewidth=1)
    axes.set_xlabel(_plain(_short(str(function.parameter))))
    axes.set_ylabel("posterior probability")
    _polish(axes, title, grid="both")
    axes.legend(loc="best", framealpha=0.9, edgecolor="none")
    return figure


def _polish(axes: Axes, title: str, *, grid: str = "x") -> None:
    axes.grid(axis=grid, color="#dddddd", linewidth=0.8, zorder=0)  # type: ignore[arg-type]
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        axes.set_title(_plain(title), loc="left")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _plain(text: str) -> str:
    """Return a text as matplotlib shows it: not as a formula."""
    return text.replace("$", r"\$")


@checked
def plot_explanation(
    weights: WeightOfEvidence, tornado: Any, *, title: str = "", n: int = 10
) -> Figure:
    """Plot the weights of the findings above the tornado of the parameters.

    Parameters
    ----------
    weights
        The weights of the findings, from `weight_of_evidence`.
    tornado
        The data frame of `SensitivityAnalysis.tornado` for the same state.
    title
        The title.
    n
        The most parameters.

    Raises
    ------
    InvalidArgumentError
        If there is neither a finding nor a parameter to draw.
    """
    rows = _first_rows(tornado, n)
    heights = [0.3 * max(1, len(part)) + 0.9 for part in (weights.findings, rows)]
    parts = [bool(weights.findings), bool(len(rows))]
    if not any(parts):
        raise InvalidArgumentError("no finding and no parameter matters, so nothing to plot")
    chosen = [height for height, part in zip(heights, parts, strict=True) if part]
    figure = new_figure(8.0, sum(chosen) + (0.9 if parts[1] else 0.6))
    grid = figure.add_gridspec(len(chosen), 1, height_ratios=chosen)
    row = 0
    if parts[0]:
        draw_weights(figure.add_subplot(grid[row]), weights, title)
        row += 1
    if parts[1]:
        axes = figure.add_subplot(grid[row])
        draw_tornado(axes, rows, weights.posterior, "" if parts[0] else title)
    return figure
