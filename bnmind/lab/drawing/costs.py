"""Costs against sizes, both on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.lab.drawing.canvas import finish, line, new_figure
from bnmind.lab.drawing.curves import Curve, band, require_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_costs"]


@checked
def plot_costs(
    curves: Sequence[Curve],
    *,
    x_label: str = "codes of the board",
    y_label: str = "seconds a guess",
    title: str = "",
) -> Figure:
    """Plot how costs grow with sizes, on logarithmic axes.

    A power of the size is a straight line there; its slope is the exponent.

    Parameters
    ----------
    curves
        The curves, with sizes above 0 as places and costs above 0 as values.
    x_label, y_label
        The labels of the axes, with their units.
    title
        The title.

    Raises
    ------
    InvalidArgumentError
        If there are no curves, or a size or a cost is not above 0.
    """
    require_curves(curves)
    for curve in curves:
        if not (curve.x > 0).all() or not (curve.y > 0).all():
            raise InvalidArgumentError(
                f"expected sizes and costs above 0 on logarithmic axes; {curve.name} has others",
                curve,
            )
    figure = new_figure(7.2, 4.6)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    for curve in curves:
        if curve.low is None or (curve.low > 0).all():
            band(axes, curve)
        line(axes, curve.name, curve.x, curve.y)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    finish(axes, title)
    axes.grid(which="major", axis="both", color="#dddddd", linewidth=0.8, zorder=0)
    return figure
