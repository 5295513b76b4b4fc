"""Distributions of whole numbers, such as the lengths of games, as bars side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, whole_array
from bnmind.errors import InvalidArgumentError
from bnmind.lab.drawing.canvas import bars, new_figure, polish
from bnmind.lab.drawing.style import style_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_distributions"]

_TAIL = 0.005
"""The largest share of values in the last, open bar."""


@checked
def plot_distributions(
    values: Mapping[str, ArrayLike], *, x_label: str = "guesses", title: str = ""
) -> Figure:
    """Plot the distribution of whole numbers for each strategy.

    The largest values share the last bar. Vertical lines are the means. The figure is not
    registered with pyplot: save it with its ``savefig``, or show it in a notebook.

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
    figure = new_figure(max(7.2, 0.62 * len(places) + 2), 4.4)
    axes = figure.add_subplot()
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
