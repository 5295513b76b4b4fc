"""Plots of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind.lab.mastermind.comparison import Comparison
from bnmind.lab.mastermind.words import noise_in_words
from bnmind.lab.plots import plot_distributions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_lengths"]


@checked
def plot_lengths(comparison: Comparison) -> Figure:
    """Plot the distribution of the numbers of guesses, as a bar chart for each strategy.

    The longest games share the last bar. The figure is not registered with pyplot: save it with its
    ``savefig``, or show it in a notebook.

    Parameters
    ----------
    comparison
        The games of a comparison.
    """
    lengths = {
        name: [row.guesses for row in comparison.rows_of(name)] for name in comparison.strategies
    }
    return plot_distributions(lengths, title=comparison_title(comparison))


def comparison_title(comparison: Comparison) -> str:
    """Return the title of a plot of a comparison."""
    noise = noise_in_words(comparison.channel).removesuffix(".")
    return (
        f"Mastermind {comparison.board}, {counted(comparison.games, 'game')}\n"
        f"{noise.removesuffix(f' ({comparison.channel})')}"
    )
