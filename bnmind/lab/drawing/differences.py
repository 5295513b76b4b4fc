"""Paired differences with their confidence intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.lab.drawing.canvas import new_figure, plain, polish
from bnmind.lab.drawing.style import style_of
from bnmind.lab.statistics.paired import PairedDifferences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_differences"]

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
    figure = new_figure(7.2, max(2.2, 1.3 + 0.34 * len(pairs)))
    axes = figure.add_subplot()
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
