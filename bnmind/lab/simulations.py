"""Simulated tests as pictures and files: measures by step, exposure, lengths, skills."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind.adaptive import SimulationResult
from bnmind.lab.plots import (
    Curve,
    band,
    bars,
    finish,
    legend_above,
    line,
    name_bars,
    new_axes,
)
from bnmind.lab.result_files import png, svg, write_files
from bnmind.views.draw import new_figure, plain, polish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED_ITEMS = 32
"""Up to so many items have bars with their names; more are curves from the most exposed."""

_BARS = 24
"""Up to so many different lengths have a bar each; more are put together."""


@checked
def plot_measure(result: SimulationResult, measure: str) -> Figure:
    """Return the curves of a measure by the number of items asked, one for each selector.

    The bands are pointwise 95 % confidence intervals of the means; see `SimulationResult.band`.
    Tests that are over count as they ended.

    Parameters
    ----------
    result
        The results of simulated tests.
    measure
        The name of the measure, such as ``entropy``.
    """
    figure, axes = new_axes()
    _draw_measure(axes, result, measure)
    return figure


@checked
def plot_measures(result: SimulationResult) -> Figure:
    """Return the curves of all measures side by side.

    Parameters
    ----------
    result
        The results of simulated tests.
    """
    n = len(result.measures)
    columns = min(2 if n <= 4 else 3, n)
    rows = -(-n // columns)
    figure = new_figure(4.6 * columns, 3.5 * rows)
    for number, measure in enumerate(result.measures):
        axes = figure.add_subplot(rows, columns, number + 1)
        _draw_measure(axes, result, measure.name, with_values=False)
    if result.measures:
        legend_above(figure, _title(result))
    return figure


@checked
def plot_exposure(result: SimulationResult) -> Figure:
    """Return how many of the examinees were asked each item, for each selector.

    A small bank has a bar for each item; of a large one the items are sorted by their
    exposure, for each selector anew. The legend says what share of a test two examinees
    have in common.

    Parameters
    ----------
    result
        The results of simulated tests.
    """
    n_items = len(result.items)
    few = n_items <= _NAMED_ITEMS
    figure, axes = new_axes(max(7.2, 0.4 * n_items + 1.5) if few else 7.2)
    labels = [f"{run.selector}  overlap {_percent(run.overlap)}" for run in result.runs]
    shares = [100 * run.exposure for run in result.runs]
    if few:
        bars(axes, list(result.selectors), shares, labels)
        name_bars(axes, result.items, 0 if max(map(len, result.items)) <= 4 else 60)
        axes.set_xlim(-0.7, n_items - 0.3)
    else:
        every = max(1, n_items // 12)
        for name, share, label in zip(result.selectors, shares, labels, strict=True):
            places = np.arange(1.0, n_items + 1)
            line(axes, name, places, np.sort(share)[::-1], label=plain(label), markevery=every)
        axes.set_xlabel("items, from the most exposed")
        axes.set_xlim(0, n_items + 1)
    axes.set_ylabel("examinees asked, %")
    axes.set_ylim(0, 105)
    polish(axes)
    legend_above(figure, f"Exposure of items, {_title(result)}")
    return figure


@checked
def plot_test_lengths(result: SimulationResult) -> Figure:
    """Return how many of the tests had which length, for each selector.

    Parameters
    ----------
    result
        The results of simulated tests.
    """
    figure, axes = new_axes()
    lengths = [run.lengths for run in result.runs]
    first, last = min(map(np.min, lengths)), max(map(np.max, lengths))
    width = -(-int(last - first + 1) // _BARS)
    edges = np.arange(first, last + width + 1, width)
    shares = [100 * np.histogram(one, edges)[0] / len(one) for one in lengths]
    labels = [f"{run.selector}  mean {run.lengths.mean():.2f}" for run in result.runs]
    bars(axes, list(result.selectors), shares, labels)
    names = [str(e) if width == 1 else f"{e}–{e + width - 1}" for e in edges[:-1].tolist()]
    name_bars(axes, names, 60 if width > 1 and len(names) > 8 else 0)
    axes.set_xlabel("items asked")
    axes.set_ylabel("tests, %")
    axes.set_xlim(-0.9, len(names) - 0.1)
    polish(axes)
    legend_above(figure, f"Test length, {_title(result)}")
    return figure


@checked
def plot_attributes(result: SimulationResult) -> Figure:
    """Return how many examinees were classified right in each skill, for each selector.

    The lines on the bars are Wilson's 95 % confidence intervals. Skills whose true levels are not
    known are left out.

    Parameters
    ----------
    result
        The results of simulated tests.
    """
    frame = result.attributes
    skills = list(dict.fromkeys(frame["skill"]))
    figure, axes = new_axes(max(7.2, 0.8 * len(skills) + 2))
    shares, errors = [], []
    for selector in result.selectors:
        own = frame[frame["selector"] == selector]
        low, share, high = 100 * own[["low", "accuracy", "high"]].to_numpy(dtype=np.float64).T
        shares.append(share)
        errors.append(np.stack([share - low, high - share]))
    names = list(result.selectors)
    bars(axes, names, shares, names, errors=errors)
    crowded = max(map(len, skills), default=0) * len(skills) > 60
    name_bars(axes, skills, 30 if crowded else 0)
    axes.set_ylabel("examinees classified right, %")
    axes.set_ylim(0, 105)
    polish(axes)
    legend_above(figure, f"Skills at the end of the test, {_title(result)}")
    return figure


def _draw_measure(
    axes: Axes, result: SimulationResult, measure: str, *, with_values: bool = True
) -> None:
    from matplotlib.ticker import MaxNLocator

    steps = np.arange(1.0 + result.n_steps)
    every = max(1, len(steps) // 12)
    for selector in result.selectors:
        mean, _ = result.mean(selector, measure)
        low, high = result.band(selector, measure)
        band(axes, Curve(name=selector, x=steps, y=mean, low=low, high=high))
        label = plain(f"{selector}  {mean[-1]:.3f}" if with_values else selector)
        line(axes, selector, steps, mean, label=label, markevery=every)
    axes.set_xlabel("items asked")
    shown = result.measure(measure)
    axes.set_ylabel(plain(shown.label or shown.name))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    polish(axes)
    if with_values:
        finish(axes, _title(result))


def _title(result: SimulationResult) -> str:
    return counted(len(result), "examinee")


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


@checked
def save_simulation(
    result: SimulationResult, directory: Path, *, vector: bool = False
) -> tuple[Path, ...]:
    """Write the data frames of a simulation and its pictures into a directory.

    ``steps.csv``, ``curves.csv``, ``exposure.csv``, ``lengths.csv``, ``people.csv``,
    ``posteriors.csv`` if posteriors were kept, ``attributes.csv`` where the true levels of skills
    are known, ``summary.csv``; a picture for each measure,
    ``measures.png`` with all of them, ``exposure.png``, ``test-lengths.png`` and
    ``attributes.png``.

    Parameters
    ----------
    result
        The simulated tests.
    directory
        The directory; it is created if it is missing.
    vector
        Whether to write the pictures as SVG files, too.

    Returns
    -------
    tuple[Path, ...]
        The files that were written.

    Raises
    ------
    ModelFileError
        If the files cannot be written; the directory is then as it was.
    """
    attributes = result.attributes
    frames = {
        "summary": result.summary,
        "curves": result.curves,
        "steps": result.steps,
        "exposure": result.exposure,
        "lengths": result.lengths,
        "people": result.people,
    }
    if any(run.posteriors.shape[1] > 1 for run in result.runs):
        frames["posteriors"] = result.posteriors
    figures = {
        "exposure": plot_exposure(result),
        "test-lengths": plot_test_lengths(result),
    }
    # Whether the very point of a grid is found says nothing of an ability.
    if len(attributes) and all(measure.name != "ability" for measure in result.measures):
        frames["attributes"] = attributes
        figures["attributes"] = plot_attributes(result)
    if result.measures:
        figures["measures"] = plot_measures(result)
    for measure in result.measures:
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", measure.name)
        figures[f"measure-{name}"] = plot_measure(result, measure.name)
    contents = {
        f"{name}.csv": frame.to_csv(index=False, lineterminator="\n").encode()
        for name, frame in frames.items()
    }
    contents |= {f"{name}.png": png(figure) for name, figure in figures.items()}
    if vector:
        contents |= {f"{name}.svg": svg(figure) for name, figure in figures.items()}
    return write_files(directory, contents)
