"""The picture of an explanation: weights of findings, and a tornado of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind.errors import InvalidArgumentError
from bnmind.views.draw import new_figure, plain, polish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_UP, _DOWN = "#0072B2", "#E69F00"
"""Colors for color-blind readers (Okabe and Ito)."""

_LONGEST = 48
"""The most characters of a label."""


def draw_explanation(
    findings: Sequence[Any], rows: Sequence[Any], posterior: float, title: str
) -> Figure:
    """Return a picture of the weights of findings above a tornado; one of them may be missing.

    Parameters
    ----------
    findings
        The findings of the upper part; see `FindingWeight`.
    rows
        The rows of a tornado; see `SensitivityAnalysis.tornado`.
    posterior
        The posterior probability in the network, where the bars of the tornado start.
    title
        A title above the picture; none if empty.

    Raises
    ------
    InvalidArgumentError
        If there is neither a finding nor a row.
    """
    shown = [part for part in (findings, rows) if part]
    if not shown:
        raise InvalidArgumentError("no finding and no parameter matters, so nothing to plot")
    heights = [0.3 * len(part) + 0.9 for part in shown]
    figure = new_figure(8.0, sum(heights) + (0.9 if rows else 0.6))
    axes = figure.subplots(len(shown), squeeze=False, height_ratios=heights)[:, 0]
    if findings:
        _draw_weights(axes[0], findings)
    if rows:
        _draw_tornado(axes[-1], rows, posterior)
    for one in axes:
        polish(one, grid="x")
    axes[0].set_title(plain(title), loc="left")
    return figure


def _draw_tornado(axes: Axes, rows: Sequence[Any], posterior: float) -> None:
    places = np.arange(len(rows))[::-1]
    ends = (("at_low", _DOWN, "", "low"), ("at_high", _UP, "///", "high"))
    for column, color, hatch, name in ends:
        lengths = np.array([getattr(row, column) for row in rows]) - posterior
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
    labels = [f"{short_label(row.parameter)}  ({row.low:.3g} to {row.high:.3g})" for row in rows]
    axes.set_yticks(places, labels)
    axes.axvline(posterior, color="#333333", linewidth=1, zorder=3)
    axes.set_xlabel("posterior probability")
    # Within the axes, it would cover bars.
    handles, names = axes.get_legend_handles_labels()
    axes.figure.legend(handles, names, loc="outside lower right", ncols=2, frameon=False)


def _draw_weights(axes: Axes, findings: Sequence[Any]) -> None:
    given = np.array([one.given_others for one in findings])
    finite = np.abs(given[np.isfinite(given)]).max(initial=0.0)
    lengths = np.clip(given, -1.25 * finite - 1, 1.25 * finite + 1)
    places = np.arange(len(given))[::-1]
    colors = [_UP if one > 0 else _DOWN for one in lengths]
    bars = axes.barh(places, lengths, 0.72, color=colors, zorder=2)
    axes.bar_label(bars, [f"{number:+.2f}" for number in given], padding=4, fontsize="small")
    axes.set_yticks(places, [short_label(one.finding) for one in findings])
    axes.axvline(0.0, color="#333333", linewidth=1, zorder=3)
    axes.margins(x=0.15)
    # Long names of findings leave narrow axes, whose middle has no room for it.
    axes.set_xlabel("weight of evidence given the other findings, bits", loc="right")


def short_label(text: str) -> str:
    """Return a text as a label: not too long, and not a formula."""
    return plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
