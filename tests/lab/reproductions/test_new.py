"""The new experiments: their figures mean what their names say, and their plots can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bnmind.lab.reproductions import (
    REPRODUCTIONS,
    DonePart,
    Estimate,
    Figure,
    SavedRun,
    Setting,
    Size,
    Verdict,
)
from bnmind.lab.reproductions import new_experiments as experiments
from bnmind.lab.reproductions.figures import new
from bnmind.lab.reproductions.new_experiments import Panel, draw_panels
from bnmind.lab.reproductions.page import small_picture
from bnmind.lab.reproductions.saved import _outputs
from tests.data_sets import data_set


def at(figures: Sequence[Figure], name: str) -> Figure:
    (figure,) = (figure for figure in figures if figure.name == name)
    return figure


@pytest.mark.compiled
def test_nothing_is_lost_by_the_right_assumption() -> None:
    figures = tuple(experiments._assumption("false", 0.2, 5, 1))
    right = at(figures, "false:0.2 is real, 0.2 assumed, guesses lost")
    assert (right.ours, right.standard_error, right.at) == (0.0, 0.0, 0.2)
    wrong = at(figures, "false:0.2 is real, 0.5 assumed, guesses lost")
    assert wrong.ours is not None
    assert wrong.ours > -4
    (learned,) = experiments._learning("false", 0.2, 2, 1)
    assert learned.curve == "false:0.2 is real, learned"


@pytest.mark.compiled
def test_saved_guesses_are_the_difference_of_the_means() -> None:
    (saved,) = experiments._looking("kooi", 0.1, 9, 1)
    means = [next(experiments._level(name, 0.1, 9, 1)).ours for name in ("entropy", "kooi")]
    assert None not in means
    assert saved.ours == pytest.approx(means[0] - means[1])  # type: ignore[operator]


@pytest.mark.slow
def test_to_know_a_code_takes_fewer_guesses_than_to_guess_it() -> None:
    figures = tuple(experiments._determining())
    for name in ("best for this goal", "kooi", "neuwirth"):
        known = at(figures, f"{name}, total until the code is known").ours
        guessed = at(figures, f"{name}, total until the code is guessed").ours
        assert known is not None
        assert guessed is not None
        assert known < guessed < known + 1296
    guesses, right = experiments._declaring("map", 0.1, 0.9, 60, 1)
    assert right.at == guesses.ours
    assert right.ours is not None
    assert right.ours > 0.7


@pytest.mark.compiled
def test_cost_and_guesses_of_a_board() -> None:
    guesses, cost = experiments._size("annealing", "3x5", 5, 1)
    assert guesses.at == cost.at == 125
    assert cost.ours is not None
    assert cost.ours > 0


@pytest.mark.slow
def test_the_best_selector_loses_nothing() -> None:
    figures = tuple(experiments._loss(data_set("fraction_subtraction")))
    for step in experiments._STEPS:
        lost = [figure.ours for figure in figures if figure.at == step]
        assert len(lost) == len(experiments._SELECTORS)
        assert min(value for value in lost if value is not None) == 0


def points(name: str) -> list[Figure]:
    """Return figures for every curve of a plot."""
    rng = np.random.default_rng(1)
    curves = {
        "new-noise-modeling": (*experiments._MODELING, "lower bound"),
        "new-noise-trusting": experiments._TRUSTING,
        "new-noise-searching": experiments._SEARCHING,
        "new-assumed-noise": tuple(
            f"{experiments._assumed_curve(kind, real)}{end}"
            for kind in experiments._KINDS
            for real in (0.1, 0.2, 0.3)
            for end in ("", ", learned")
        ),
        "new-look-ahead": experiments._LOOKING,
        "new-declaring": tuple(
            f"{one}, p = {p:g}"
            for one in experiments._DECLARING
            for p in experiments._DECLARED_LEVELS
        ),
        "new-selector-loss": tuple(f"ACED: {one}" for one in experiments._SELECTORS),
        "new-growing-boards": tuple(
            f"{one} {what}" for one in experiments._GROWING for what in ("guesses", "ms a guess")
        ),
    }[name]
    return [
        new(
            "x",
            Estimate(float(rng.random()), 0.1, 9),
            curve=curve,
            at=None if curve.endswith("learned") else 0.1 + step,
        )
        for curve in curves
        for step in range(1 if curve.endswith("learned") else 3)
    ]


DRAWN = [name for name, one in REPRODUCTIONS.items() if one.draw is not None]


@pytest.mark.parametrize("name", DRAWN)
def test_every_curve_is_drawn_and_labeled(name: str) -> None:
    draw = REPRODUCTIONS[name].draw
    assert draw is not None
    figures = points(name)
    labels = set()
    for ax in draw(figures).axes:
        assert ax.get_xlabel()
        labels |= {text.get_text() for text in ax.get_legend().get_texts()}
    curves = {figure.curve for figure in figures if figure.at is not None}
    assert all(any(label in curve for label in labels) for curve in curves)
    assert draw([]).axes


def test_plots_are_written_beside_the_figures(tmp_path: Path) -> None:
    name = "new-look-ahead"
    part = DonePart("all", 0.0, tuple(points(name)))
    run = SavedRun(name=name, version="0", size=Size.QUICK, seed=0, complete=True, parts=(part,))
    contents = _outputs(tmp_path, REPRODUCTIONS[name], run)
    png, svg = contents[tmp_path / f"{name}.png"], contents[tmp_path / f"{name}.svg"]
    assert isinstance(png, bytes)
    assert isinstance(svg, bytes)
    assert png.startswith(b"\x89PNG")
    assert small_picture(png).startswith(b"\x89PNG")
    assert len(small_picture(png)) < len(png) / 2
    assert b"<svg" in svg
    assert Setting(Size.QUICK, 0, tmp_path).of(1, 2) == 1


def test_the_band_of_games_that_were_all_won_has_a_width() -> None:
    won = [
        Figure(
            name=str(step),
            ours=1.0,
            standard_error=0.0,
            games=20,
            verdict=Verdict.NEW,
            curve="map",
            at=float(step),
        )
        for step in range(3)
    ]
    (axes,) = draw_panels(won, [Panel(curves=("map",), is_share=True)], x="step").axes
    (band,) = axes.collections
    ordinates = np.asarray(band.get_paths()[0].vertices)[:, 1]
    # Wilson's interval of 20 of 20 begins at 20 / (20 + 1.96²).
    assert (ordinates.min(), ordinates.max()) == pytest.approx((20 / 23.8415, 1.0), abs=1e-4)
