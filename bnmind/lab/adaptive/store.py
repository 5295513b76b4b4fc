"""Simulated tests as files: tables and pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind.adaptive import ABILITY, SimulationResult
from bnmind.lab.adaptive.plots import (
    plot_attributes,
    plot_exposure,
    plot_measure,
    plot_measures,
    plot_test_lengths,
)
from bnmind.lab.result_files import png, svg, write_files

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["save_simulation"]


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
    FileWriteError
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
    if len(attributes) and ABILITY not in result.measures:
        frames["attributes"] = attributes
        figures["attributes"] = plot_attributes(result)
    if result.measures:
        figures["measures"] = plot_measures(result)
    for measure in result.measures:
        figures[f"measure-{_file_name(measure.name)}"] = plot_measure(result, measure.name)
    contents = {f"{name}.csv": _csv(frame) for name, frame in frames.items()}
    contents |= {f"{name}.png": png(figure) for name, figure in figures.items()}
    if vector:
        contents |= {f"{name}.svg": svg(figure) for name, figure in figures.items()}
    return write_files(directory, contents)


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)
