"""Plots: the same style for the same name everywhere, and what is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib import colors
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from bnmind.adaptive import SELECTORS
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab import (
    Curve,
    ExactMean,
    curve_of,
    paired_differences,
    plot_costs,
    plot_curves,
    plot_differences,
    plot_distributions,
    plot_entropies,
    png,
    style_of,
    svg,
)
from bnmind.lab.plots import _KNOWN
from bnmind.strategies import STRATEGIES
from tests.registries import check_value

VALUES = {"map": [5, 6, 7, 6, 5, 8], "entropy": [4, 5, 6, 5, 4, 5], "mine": [4, 4, 6, 7, 4, 4]}
CURVES = [curve_of(name, {0.0: one[:3], 0.2: one[3:]}) for name, one in VALUES.items()]
PLOTS: dict[str, Callable[[], Figure]] = {
    "costs": lambda: plot_costs(
        [Curve(name=name, x=[64, 1296], y=[0.001, 0.1]) for name in VALUES]  # type: ignore[arg-type]
    ),
    "curves": lambda: plot_curves(CURVES),
    "differences": lambda: plot_differences(paired_differences(VALUES)),
    "distributions": lambda: plot_distributions(VALUES),
    "entropies": lambda: plot_entropies({name: [[6, 3, 1], [6, 2]] for name in VALUES}),
}


def test_registered_names_can_be_told_apart_even_in_black_and_white() -> None:
    styles = [style_of(name) for name in dict.fromkeys((*STRATEGIES, *SELECTORS))]
    assert len({(style.marker, style.dashes) for style in styles}) == len(styles)
    assert len({(style.color, style.hatch) for style in styles}) == len(styles)
    assert len({(style.color, style.marker) for style in styles}) == len(styles)
    assert len(set(_KNOWN)) == len(_KNOWN)
    neighbors = [style_of(name) for name in _KNOWN[:8]]
    lightness = [sum(np.array([0.21, 0.72, 0.07]) * colors.to_rgb(s.color)) for s in neighbors]
    assert min(abs(np.diff(lightness))) > 0.03
    check_value(styles[0])


def test_a_style_depends_on_the_name_alone() -> None:
    # Pictures of different versions can be compared.
    assert style_of("entropy").color == "#0072B2"
    assert style_of("subset:5:entropy") == style_of("subset:5:entropy")
    others = [style_of(f"player {number}") for number in range(100)]
    assert len({(one.color, one.marker, one.dashes) for one in others}) > 80


@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_has_labels_and_the_same_styles(name: str) -> None:
    figure = PLOTS[name]()
    axes = figure.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "differences"
    drawn = {one.get_label(): one for one in axes.get_lines() if one.get_marker() != "None"}
    if name in ("costs", "curves", "entropies"):
        assert set(VALUES) <= set(drawn)
        for strategy in VALUES:
            style = style_of(strategy)
            assert drawn[strategy].get_color() == style.color
            assert drawn[strategy].get_marker() == style.marker
    if name == "distributions":
        for container, strategy in zip(axes.containers, VALUES, strict=True):
            bar = container[0]
            assert colors.to_hex(bar.get_facecolor()).upper() == style_of(strategy).color
            assert (bar.get_hatch() or "") == style_of(strategy).hatch
    assert png(figure).startswith(b"\x89PNG")


def test_the_same_plot_has_the_same_svg() -> None:
    picture = svg(PLOTS["differences"]())
    assert picture == svg(PLOTS["differences"]())
    assert b"<svg" in picture


def test_curves_are_drawn_with_their_bands() -> None:
    axes = plot_curves(CURVES).axes[0]
    (line,) = [one for one in axes.get_lines() if one.get_label() == "map"]
    assert np.array(line.get_ydata()).tolist() == pytest.approx([6.0, 19 / 3])
    curve = CURVES[0]
    assert curve.low is not None
    assert curve.high is not None
    found = paired_differences({"a": [5, 6, 7], "b": [0, 0, 0]}).pairs[0].swapped()
    assert (curve.low[0], curve.high[0]) == pytest.approx((found.low, found.high))
    assert len(axes.collections) == 3
    bound = Curve(name="lower bound", x=[0, 0.2], y=[4, 5])  # type: ignore[arg-type]
    assert not plot_curves([bound]).axes[0].collections


def test_a_difference_is_filled_if_it_can_be_told() -> None:
    values = {"a": [1.0, 2.0, 3.0, 2.0], "b": [3.0, 5.0, 5.0, 5.0], "c": [1.0, 1.0, 4.0, 2.0]}
    found = paired_differences(values)
    axes = plot_differences(found, unit="guesses").axes[0]
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
    assert len(bars) == 3
    for pair, bar in zip(found.pairs, bars, strict=True):
        line = bar.lines[0]
        assert line is not None
        assert float(np.array(line.get_xdata())[0]) == pair.mean
        assert (line.get_markerfacecolor() != "white") == pair.can_be_told
    assert {pair.can_be_told for pair in found.pairs} == {True, False}
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"{pair.first} − {pair.second}" for pair in found.pairs]
    many = paired_differences({f"player {n}": [n, n + 1.0] for n in range(12)})
    assert len(plot_differences(many).axes[0].get_yticks()) == 11
    exact = plot_differences(paired_differences(values, interval=ExactMean()))
    assert "interval" not in exact.axes[0].get_xlabel()


def test_games_that_are_over_have_no_entropy() -> None:
    axes = plot_entropies({"map": [[6.0, 3.0], [6.0]]}, turns=3).axes[0]
    (line,) = [one for one in axes.get_lines() if one.get_label() == "map"]
    assert np.array(line.get_ydata()).tolist() == [6.0, 1.5, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_curves([]), "at least one curve"),
        (lambda: plot_costs([Curve(name="a", x=[0], y=[1])]), "above 0 on logarithmic"),  # type: ignore[arg-type]
        (lambda: plot_differences(paired_differences({"a": [1]})), "at least two"),
        (lambda: plot_distributions({}), "whole numbers of each strategy"),
        (lambda: plot_distributions({"a": [1.5]}), "whole numbers"),
        (lambda: plot_entropies({"a": []}), "games of at least one strategy"),
        (lambda: plot_entropies({"a": [[-1.0]]}), "entropies from 0"),
        (lambda: plot_entropies({"a": [[1.0]]}, turns=0), "expected 1 to 1,000 turns, got 0"),
        (lambda: curve_of("a", {0.1: [math.nan]}), "finite"),
        (lambda: curve_of("a", {0.1: [1.0]}, confidence=2.0), "probability"),
    ],
)
def test_wrong_values_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BnmindError, match=message):
        call()


def test_an_infinite_value_is_a_gap() -> None:
    y = np.array([1.0, math.inf, 2.0])
    axes = plot_curves([Curve(name="a", x=np.arange(3.0), y=y, low=y - 1, high=y + 1)]).axes[0]
    assert all(np.isfinite(axes.get_ylim()))


def test_wrong_curves_are_refused() -> None:
    for x, y, low in (([1, 0], [1, 1], None), ([math.inf], [1], None), ([0], [1], [1, 2])):
        with pytest.raises(InvalidArgumentError, match="of the curve a"):
            Curve(name="a", x=x, y=y, low=low, high=low)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="both edges"):
        Curve(name="a", x=[0], y=[1], low=[1])  # type: ignore[arg-type]
