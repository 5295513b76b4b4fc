"""Adaptive replay of real answers, with banks learned from the other examinees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._workers import results_of
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.responses.examinees import Examinees, fold_numbers
from bnmind.adaptive.responses.responses import Responses
from bnmind.adaptive.selection.selector import Selector
from bnmind.adaptive.simulation.results import SimulationResult, joined_runs
from bnmind.adaptive.simulation.simulate import ProgressOfTests, SimulationOptions, simulate
from bnmind.adaptive.stopping.stopper import Stopper
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    import pandas

__all__ = ["replay"]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Fold:
    """The tests of the members of a fold, as one unit of work."""

    learn: Callable[[Responses], ItemBank]
    responses: Responses
    members: NDArray[np.intp]
    selectors: Mapping[str, Selector[SkillBelief]]
    stopper: Stopper | None
    options: SimulationOptions

    def run(self) -> SimulationResult:
        others = np.ones(len(self.responses), dtype=bool)
        others[self.members] = False
        bank = self.learn(self.responses.take(others))
        members = Examinees.recorded(bank, self.responses).take(self.members)
        return simulate(bank, members, self.selectors, self.stopper, options=self.options)


@checked
def replay(
    learn: Callable[[Responses], ItemBank],
    responses: Responses | pandas.DataFrame | ArrayLike,
    selectors: Mapping[str, Selector[SkillBelief]],
    stopper: Stopper | None = None,
    *,
    folds: int = 10,
    fold_seed: int = 1,
    options: SimulationOptions | None = None,
    progress: ProgressOfTests | None = None,
) -> SimulationResult:
    """Simulate adaptive tests of recorded examinees with cross-validated banks.

    For each fold a bank is learned from the answers of all other examinees, and the
    examinees of the fold are tested with it. The answers to selected items are the recorded
    ones.

    Parameters
    ----------
    learn
        A function of the responses of some examinees that returns a bank, always with the
        same items and skills, such as ``lambda others: learn(others, q_matrix).bank``.
    responses
        The responses of all examinees.
    selectors, stopper, options
        As for `simulate`; the workers of the options get a fold each. After a fold, ``until`` may
        end the replay with the examinees of the folds done.
    folds, fold_seed
        As for `fold_numbers`.
    progress
        Called after every fold with the number of finished tests and of all tests.

    Raises
    ------
    InvalidArgumentError
        If there are more folds than examinees, or the banks have different items or skills.
    TableError
        If the responses are not valid, or nobody outside a fold answered an item.
    """
    table = Responses.of(responses)
    numbers = fold_numbers(len(table), folds=folds, seed=fold_seed)
    asked = options or SimulationOptions()
    members = [np.flatnonzero(numbers == fold) for fold in range(folds)]
    tasks = [
        _Fold(
            learn=learn,
            responses=table,
            members=rows,
            selectors=selectors,
            stopper=stopper,
            # A fold is one task, so its tests are not distributed once more.
            options=replace(asked, workers=1, until=None),
        )
        for rows in members
    ]
    results: list[SimulationResult] = []
    done = 0
    for rows, result in zip(
        members, results_of([t.run for t in tasks], asked.workers), strict=True
    ):
        results.append(result)
        if (result.items, result.skills) != (results[0].items, results[0].skills):
            fold = len(results) - 1
            raise InvalidArgumentError(
                f"the bank of fold {fold} has other items or skills than the bank of fold 0", fold
            )
        done += len(rows)
        if progress is not None:
            progress(done * len(selectors), len(table) * len(selectors))
        if asked.until is not None and asked.until():
            break
    tested = np.concatenate(members[: len(results)])
    order = np.argsort(tested)
    runs = tuple(
        joined_runs(parts, order) for parts in zip(*(r.runs for r in results), strict=True)
    )
    return SimulationResult(
        items=results[0].items,
        skills=results[0].skills,
        measures=results[0].measures,
        responses=np.concatenate([result.responses for result in results])[order],
        levels=np.concatenate([result.levels for result in results])[order],
        runs=runs,
        states=results[0].states,
        examinees=tuple(table.examinees[row] for row in tested[order].tolist()),
    )
