"""The options of a simulation: how tests are run, measured and computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bnmind._values import Count, Natural, Value
from bnmind._workers import Executor, faults_of_workers
from bnmind.adaptive.pilot.pilot_items import PilotItems
from bnmind.adaptive.selection.rules import Enemies, Rule, Testlets
from bnmind.adaptive.simulation.measures import Measure

__all__ = ["DEFAULT_RULES", "SimulationOptions"]

DEFAULT_RULES: tuple[Rule, ...] = (Enemies(), Testlets())
"""The default rules, as in a live test: no enemies together, testlets without interruption."""


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Value):
    """How simulated tests are run, measured and computed.

    Parameters
    ----------
    rules
        The rules, in the order of application.
    measures
        The measures taken after every answer; default `default_measures`.
    seed
        At least 0, for selectors that draw at random; the same seed gives the same tests.
        Each examinee has a separate generator for each question, equal for all selectors.
    batch_size
        The number of examinees computed at once; default chosen for the bank.
    posteriors
        Whether to keep the probability of each level of each skill after every answer, and not
        only at the end; see `SimulationResult.posteriors`.
    workers
        The number of processes; −1 for one process for each core. Or an executor, such as
        `bnmind.lab.Cluster`.
    until
        Asked after each batch of examinees; if it returns true, the simulation ends with the
        first examinees, whose tests are finished. `replay` asks it after each fold.
    pilot
        New items that are asked in each test to learn their parameters.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    """

    rules: Sequence[Rule] = DEFAULT_RULES
    measures: Sequence[Measure] | None = None
    seed: Natural = 0
    batch_size: Count | None = None
    posteriors: bool = False
    workers: int | Executor = 1
    until: Callable[[], bool] | None = None
    pilot: PilotItems | None = None

    def _faults(self) -> list[str]:
        return faults_of_workers(self.workers)
