"""Pictures and files of simulated tests."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bnmind.adaptive import (
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    ProfileCertain,
    RandomItem,
    Responses,
    SimulationOptions,
    SimulationResult,
    irt_bank,
    simulate,
)
from bnmind.errors import BnmindError, UnknownNameError
from bnmind.lab import (
    plot_attributes,
    plot_exposure,
    plot_measure,
    plot_measures,
    plot_test_lengths,
    save_simulation,
)

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]], guess=0.2, slip=0.1)
RESULT = simulate(
    BANK,
    Responses.drawn(BANK, 60, seed=1),
    {"entropy": MinimalEntropy(), "random": RandomItem()},
    MaximalItems(4) | ProfileCertain(0.8),
)


def drawn(figure: Figure) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def heights_of(figure: Figure) -> list[float]:
    """Return the heights of all bars."""
    return [bar.get_height() for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]


Z = 1.959963984540054


def test_a_curve_and_its_band_are_those_of_the_result() -> None:
    axes = plot_measure(RESULT, "entropy").axes[0]
    assert axes.get_ylabel() == "entropy of the skills, bits"
    lines = [line for line in axes.lines if line.get_marker() != "None"]  # not edges of bands
    for name, line, band in zip(RESULT.selectors, lines, axes.collections, strict=True):
        mean, error = RESULT.mean(name, "entropy")
        assert np.allclose(np.asarray(line.get_ydata(), dtype=float), mean)
        edges = np.asarray(band.get_paths()[0].vertices)
        for step in range(5):
            there = edges[edges[:, 0] == step, 1]
            assert there.min() == pytest.approx(mean[step] - Z * error[step])
            assert there.max() == pytest.approx(mean[step] + Z * error[step])
    with pytest.raises(UnknownNameError):
        plot_measure(RESULT, "nothing")


def test_bars_are_those_of_the_result() -> None:
    heights = heights_of(plot_exposure(RESULT))
    expected = np.concatenate([100 * run.exposure for run in RESULT.runs])
    assert np.allclose(heights, expected)
    heights = heights_of(plot_test_lengths(RESULT))
    assert sum(heights) == pytest.approx(200)
    heights = heights_of(plot_attributes(RESULT))
    assert np.allclose(heights, 100 * RESULT.attributes["accuracy"].to_numpy())


def test_error_bars_of_skills_have_a_width_and_end_at_100() -> None:
    levels = np.zeros_like(RESULT.levels)
    runs = tuple(replace(run, classified=levels) for run in RESULT.runs)
    axes = plot_attributes(replace(RESULT, levels=levels, runs=runs)).axes[0]
    (bars, *_) = (one for one in axes.containers if isinstance(one, ErrorbarContainer))
    ends = np.array(bars.lines[2][0].get_segments())[:, :, 1]
    n = len(RESULT)
    assert np.allclose(ends, [100 * n / (n + Z**2), 100])


def test_all_measures_are_in_one_picture() -> None:
    figure = plot_measures(RESULT)
    assert [axes.get_ylabel() for axes in figure.axes] == [m.label for m in RESULT.measures]
    assert drawn(figure).startswith(b"\x89PNG")


def test_large_banks_and_long_tests_are_drawn_too() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1]] * 40, guess=0.4, slip=0.4)
    people = Responses.drawn(bank, 30, seed=1)
    result = simulate(bank, people, {"x": RandomItem()}, ProfileCertain(0.95))
    curve = np.asarray(plot_exposure(result).axes[0].lines[0].get_ydata(), dtype=float)
    assert np.all(np.diff(curve) <= 0)
    assert len(curve) == 80
    heights = heights_of(plot_test_lengths(result))
    assert len(heights) <= 24
    assert sum(heights) == pytest.approx(100)


@pytest.mark.parametrize("plot", [plot_exposure, plot_test_lengths, plot_attributes])
def test_the_whole_legend_is_in_the_picture(plot: Callable[[SimulationResult], Figure]) -> None:
    names = ["entropy", "entropy:skill_1+skill_2", "randomesque:10", "random"]
    runs = tuple(replace(RESULT.runs[0], selector=name) for name in names)
    figure = plot(replace(RESULT, runs=runs))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_files_hold_the_frames(tmp_path: Path) -> None:
    runs = tuple(replace(run, values=run.values[:1]) for run in RESULT.runs)
    result = replace(RESULT, measures=RESULT.measures[:1], runs=runs)  # fewer pictures
    written = save_simulation(result, tmp_path / "out")
    assert {path.name for path in written} == {path.name for path in (tmp_path / "out").iterdir()}
    for name in ("summary", "curves", "steps", "exposure", "lengths", "attributes"):
        frame = getattr(result, name)
        there = pd.read_csv(tmp_path / "out" / f"{name}.csv")
        assert list(there.columns) == list(frame.columns)
        assert len(there) == len(frame)
    pictures = [path for path in written if path.suffix == ".png"]
    assert len(pictures) == 4 + 1
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    bank = irt_bank([[1.0, 0.0], [1.0, 1.0]])
    people = Responses.drawn(bank, 5)
    of_ability = simulate(
        bank, people, {"x": RandomItem()}, options=SimulationOptions(measures=["ability"])
    )
    names = {path.name for path in save_simulation(of_ability, tmp_path / "ability")}
    assert "measure-ability.png" in names
    assert not names & {"attributes.csv", "attributes.png"}
    (tmp_path / "file").write_text("x")
    with pytest.raises(BnmindError, match="file"):
        save_simulation(result, tmp_path / "file")
