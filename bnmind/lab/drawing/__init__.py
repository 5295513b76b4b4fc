"""Plots of results: the same strategy has the same color and marker in all of them."""

from bnmind.lab.drawing.costs import plot_costs
from bnmind.lab.drawing.curves import Curve, curve_of, plot_curves
from bnmind.lab.drawing.differences import plot_differences
from bnmind.lab.drawing.distributions import plot_distributions
from bnmind.lab.drawing.entropies import plot_entropies
from bnmind.lab.drawing.style import Style, style_of

__all__ = [
    "Curve",
    "Style",
    "curve_of",
    "plot_costs",
    "plot_curves",
    "plot_differences",
    "plot_distributions",
    "plot_entropies",
    "style_of",
]
