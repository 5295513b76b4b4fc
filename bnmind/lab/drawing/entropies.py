"""The entropy of the belief, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.drawing.canvas import finish, line, new_figure
from bnmind.lab.drawing.curves import band, curve_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_entropies"]

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
    figure = new_figure(7.2, 4.6)
    axes = figure.add_subplot()
    for name, played in rows.items():
        table = np.zeros((len(played), max(shown, *map(len, played))))
        for number, row in enumerate(played):
            table[number, : len(row)] = row
        curve = curve_of(name, {turn + 1: table[:, turn] for turn in range(shown)})
        band(axes, curve)
        line(axes, curve.name, curve.x, curve.y)
    axes.set_xlabel("guess")
    axes.set_ylabel("entropy of the belief before it, bits")
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
