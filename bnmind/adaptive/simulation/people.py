"""The profiles and skills of simulated examinees, at the end of their tests and at each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["examinee_names", "people_frame", "posteriors_frame", "side_by_side"]


class _Run(Protocol):
    """The parts of a `SelectorRun` that the frames show."""

    @property
    def selector(self) -> str: ...
    @property
    def lengths(self) -> NDArray[Any]: ...
    @property
    def profiles(self) -> NDArray[Any]: ...
    @property
    def probabilities(self) -> Floats: ...
    @property
    def classified(self) -> NDArray[Any]: ...
    @property
    def posteriors(self) -> NDArray[Any]: ...


class _Result(Protocol):
    """The parts of a `SimulationResult` that the frames show."""

    @property
    def runs(self) -> Sequence[_Run]: ...
    @property
    def skills(self) -> Sequence[str]: ...
    @property
    def states(self) -> Sequence[Sequence[str]]: ...
    @property
    def levels(self) -> NDArray[Any]: ...
    @property
    def examinees(self) -> Sequence[str]: ...
    def __len__(self) -> int: ...


def side_by_side(beliefs: BatchBelief) -> Floats:
    """Return the probability of each level of each skill, ``(examinees, levels of all skills)``."""
    return np.concatenate([beliefs.marginal(skill) for skill in beliefs.bank.skills], axis=1)


def examinee_names(result: _Result) -> NDArray[Any]:
    """Return the names of the examinees, or their numbers from 0, for data frames."""
    names = result.examinees
    return np.array(names, dtype=object) if names else np.arange(len(result))


def people_frame(result: _Result) -> pd.DataFrame:
    """Return a row for each selector and examinee; see `SimulationResult.people`."""
    import pandas as pd

    names = [np.array(states, dtype=object) for states in result.states]
    parts = []
    for run in result.runs:
        columns: dict[str, Any] = {
            "selector": run.selector,
            "examinee": examinee_names(result),
            "length": run.lengths,
        }
        for k, skill in enumerate(result.skills):
            if np.all(result.levels[:, k] != MISSING):
                columns[f"true_{skill}"] = names[k][result.levels[:, k]]
        for k, skill in enumerate(result.skills):
            columns[f"map_{skill}"] = names[k][run.profiles[:, k]]
        columns["map_probability"] = run.probabilities
        final = _split(run.posteriors[:, -1], result.states)
        for skill, states, table in zip(result.skills, result.states, final, strict=True):
            columns[f"eap_{skill}"] = table @ _values(states)
        for k, skill in enumerate(result.skills):
            columns[f"level_{skill}"] = names[k][run.classified[:, k]]
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def posteriors_frame(result: _Result) -> pd.DataFrame:
    """Return a row for each selector, examinee, step, skill and level."""
    import pandas as pd

    skills = [s for s, states in zip(result.skills, result.states, strict=True) for _ in states]
    levels = [state for states in result.states for state in states]
    parts = []
    for run in result.runs:
        rows, steps = _kept(run)
        n = len(levels)
        columns: dict[str, Any] = {
            "selector": run.selector,
            "examinee": np.repeat(examinee_names(result)[rows], n),
            "step": np.repeat(steps, n),
            "skill": np.tile(np.array(skills, dtype=object), len(rows)),
            "level": np.tile(np.array(levels, dtype=object), len(rows)),
        }
        at = steps if run.posteriors.shape[1] > 1 else np.zeros(len(rows), dtype=np.intp)
        columns["probability"] = run.posteriors[rows, at].reshape(-1)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _kept(run: _Run) -> tuple[Any, Any]:
    """Return the examinees and steps whose posteriors were kept."""
    if run.posteriors.shape[1] == 1:
        return np.arange(len(run.lengths)), run.lengths
    rows, steps = np.nonzero(np.arange(run.posteriors.shape[1]) <= run.lengths[:, None])
    return rows, steps


def _split(table: Floats, states: Sequence[Sequence[str]]) -> list[Floats]:
    return np.split(table, np.cumsum([len(names) for names in states])[:-1], axis=1)


def _values(states: Sequence[str]) -> Floats:
    """Return the points of an ability, else the positions of the levels."""
    try:
        return np.array([float(state) for state in states])
    except ValueError:
        return np.arange(float(len(states)))
