"""Experiments with adaptive tests of simulated or recorded examinees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive import (
    Examinees,
    ItemBank,
    Responses,
    Selector,
    SelectorRun,
    SimulationOptions,
    SimulationResult,
    SkillBelief,
    Stopper,
    simulate,
)
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.experiments.experiment import VERSION, BatchRows
from bnmind.lab.mastermind.setting import raise_together

__all__ = ["MEASURES", "StepRow", "TestBatch", "TestExperiment", "TestRow"]

_BATCH = 500
"""The number of examinees in a batch, by default."""


@dataclass(frozen=True, kw_only=True)
class _Measured(Value):
    """The measures of a test; None where they are unknown, or do not belong to the bank."""

    accuracy: float | None = None
    """The share of all answers, asked or not, that are predicted."""
    brier_score: float | None = None
    """The mean Brier score over all answers."""
    log_score: float | None = None
    """The mean natural logarithm of the probability of the answers."""
    entropy: float | None = None
    """The entropy of all skills jointly, in bits."""
    pattern_accuracy: float | None = None
    """1 if the most probable profile is the true one, otherwise 0."""
    attribute_accuracy: float | None = None
    """The share of skills whose most probable level is the true one."""
    ability: float | None = None
    """The expected ability."""
    ability_deviation: float | None = None
    """The standard deviation of the ability."""
    ability_error: float | None = None
    """The expected ability minus the true one."""
    ability_squared_error: float | None = None
    """The square of the error."""


MEASURES = tuple(_Measured.__dataclass_fields__)
"""The names of the measures."""


@dataclass(frozen=True, kw_only=True)
class TestRow(_Measured):
    """One test of an experiment, with its measures at the end."""

    __test__ = False  # pytest should not collect it

    selector: str
    """The name of the selector."""
    examinee: int
    """The number of the examinee, from 0; it is the same examinee for every selector."""
    length: int
    """The number of items asked."""
    reason: str
    """The reason why the test ended."""
    impossible: bool
    """Whether no profile of the bank's skills explains all answers."""


@dataclass(frozen=True, kw_only=True)
class StepRow(_Measured):
    """One moment of a test of an experiment: before the first question, or after an answer."""

    selector: str
    """The name of the selector."""
    examinee: int
    """The number of the examinee, from 0."""
    step: int
    """The number of items asked so far."""
    item: str | None
    """The item asked last; None before the first one."""
    response: int | None
    """The answer to it; None before the first one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TestExperiment(Value):
    """Adaptive tests of the same examinees with one or more selectors.

    Raises
    ------
    InvalidArgumentError
        If there is no selector, a number is out of range, or there are several faults.
    TableError
        If recorded responses do not fit the bank.

    Examples
    --------
    >>> from bnmind.adaptive import MaximalItems, MinimalEntropy, RandomItem
    >>> from bnmind.lab import run
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> experiment = TestExperiment(
    ...     bank=bank,
    ...     selectors={"entropy": MinimalEntropy(), "random": RandomItem()},
    ...     stopper=MaximalItems(2),
    ...     examinees=100,
    ... )
    >>> frame = run(experiment).frame
    >>> frame.groupby("selector")["length"].mean().to_dict()
    {'entropy': 2.0, 'random': 2.0}
    """

    __test__ = False  # pytest should not collect it

    kind: ClassVar[str] = "tests"
    row_type: ClassVar[type[TestRow]] = TestRow
    detail_type: ClassVar[type[StepRow]] = StepRow

    bank: ItemBank
    """The bank that the tests use, and from which examinees are drawn."""
    selectors: Mapping[str, Selector[SkillBelief]]
    """The selectors, by their names in the rows."""
    stopper: Stopper | None = None
    """The stopper; without one a test ends when no item may be asked."""
    examinees: int | Responses = 1000
    """The number of examinees to draw; or the recorded responses of real ones."""
    seed: int = 0
    """The seed of the examinees, and of selectors that draw at random."""
    steps: bool = False
    """Whether there is a row for each question too."""
    batch_examinees: int = field(default=_BATCH)
    """The number of examinees in a batch. Rows depend on it at most by rounding."""
    version: int = VERSION
    """The version of the rules by which examinees are drawn."""

    def __post_init__(self) -> None:
        self._convert()
        faults: list[BnmindError] = []
        for ok, text, value in (
            (bool(self.selectors), "expected at least one selector", self.selectors),
            (self.seed >= 0, f"expected a seed of at least 0, got {self.seed}", self.seed),
            (
                not isinstance(self.examinees, int) or self.examinees >= 1,
                f"expected at least 1 examinee, got {self.examinees}",
                self.examinees,
            ),
            (
                self.batch_examinees >= 1,
                f"expected at least 1 examinee in a batch, got {self.batch_examinees}",
                self.batch_examinees,
            ),
            (
                self.version == VERSION,
                f"expected an experiment of version {VERSION}, got version {self.version}",
                self.version,
            ),
        ):
            if not ok:
                faults.append(InvalidArgumentError(text, value))
        if isinstance(self.examinees, Responses):
            try:
                self.examinees.for_bank(self.bank)
            except BnmindError as fault:
                faults.append(fault)
        raise_together(faults)

    def __repr__(self) -> str:
        return (
            f"TestExperiment({', '.join(self.selectors)}, {counted(self.n_examinees, 'examinee')})"
        )

    @property
    def n_examinees(self) -> int:
        """The number of examinees."""
        return self.examinees if isinstance(self.examinees, int) else len(self.examinees)

    @property
    def n_rows(self) -> int:
        """The number of tests of all examinees with all selectors."""
        return self.n_examinees * len(self.selectors)

    @cached_property
    def people(self) -> Examinees:
        """The examinees with their answers to all items."""
        if isinstance(self.examinees, Responses):
            return Examinees.recorded(self.bank, self.examinees)
        return Examinees.drawn(self.bank, self.examinees, seed=self.seed)

    def batches(self) -> tuple[TestBatch, ...]:
        """Return the batches, one selector after another."""
        starts = range(0, self.n_examinees, self.batch_examinees)
        parts = [(name, start) for name in self.selectors for start in starts]
        return tuple(
            TestBatch(
                number=number,
                experiment=self,
                selector=name,
                first=start,
                stop=min(start + self.batch_examinees, self.n_examinees),
            )
            for number, (name, start) in enumerate(parts)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TestBatch(Value):
    """The tests of some examinees with one selector, made by `TestExperiment.batches`."""

    __test__ = False  # pytest should not collect it

    number: int
    """The number of the batch, from 0."""
    experiment: TestExperiment
    """The experiment."""
    selector: str
    """The name of the selector."""
    first: int
    """The position of the first examinee."""
    stop: int
    """The position behind the last examinee."""

    @property
    def n_rows(self) -> int:
        """The number of tests."""
        return self.stop - self.first

    @property
    def has_details(self) -> bool:
        """Whether there are rows of questions too."""
        return self.experiment.steps

    def __reduce__(self) -> tuple[Any, ...]:
        # Only its own examinees travel with it.
        experiment, people = self.experiment, vars(self).get("_people")
        if people is None:
            people = experiment.people.take(np.arange(self.first, self.stop))
        if isinstance(experiment.examinees, Responses):
            experiment = replace(experiment, examinees=len(people))
        return _sent, (self.number, experiment, self.selector, self.first, people)

    @cached_property
    def _people(self) -> Examinees:
        return self.experiment.people.take(np.arange(self.first, self.stop))

    def run(self) -> BatchRows:
        """Simulate the tests, and return their rows."""
        experiment = self.experiment
        result = simulate(
            experiment.bank,
            self._people,
            {self.selector: experiment.selectors[self.selector]},
            experiment.stopper,
            options=SimulationOptions(seed=experiment.seed),
        )
        numbers = self._people.numbers
        details = tuple(_step_rows(result, numbers)) if experiment.steps else ()
        return BatchRows(tuple(_test_rows(result, numbers)), details)


def _sent(
    number: int, experiment: TestExperiment, selector: str, first: int, people: Examinees
) -> TestBatch:
    """Return a batch in another process, with its examinees."""
    batch = TestBatch(
        number=number,
        experiment=experiment,
        selector=selector,
        first=first,
        stop=first + len(people),
    )
    vars(batch)["_people"] = people  # where the cached property keeps them
    return batch


def _test_rows(result: SimulationResult, numbers: NDArray[np.intp]) -> Iterator[TestRow]:
    (run,) = result.runs
    for row, number in enumerate(numbers.tolist()):
        yield TestRow(
            selector=run.selector,
            examinee=number,
            length=int(run.lengths[row]),
            reason=str(run.reasons[row]),
            impossible=bool(run.impossible[row]),
            **_measures(result, run, row, int(run.lengths[row])),
        )


def _step_rows(result: SimulationResult, numbers: NDArray[np.intp]) -> Iterator[StepRow]:
    (run,) = result.runs
    for row, number in enumerate(numbers.tolist()):
        for step in range(int(run.lengths[row]) + 1):
            place = int(run.asked[row, step - 1]) if step else None
            yield StepRow(
                selector=run.selector,
                examinee=number,
                step=step,
                item=None if place is None else result.items[place],
                response=None if place is None else int(result.responses[row, place]),
                **_measures(result, run, row, step),
            )


def _measures(
    result: SimulationResult, run: SelectorRun, row: int, step: int
) -> dict[str, float | None]:
    """Return the measures of a test after some questions; None for those that are undefined."""
    values = zip(result.measures, run.values[:, row, step].tolist(), strict=True)
    return {measure.name: None if isnan(value) else value for measure, value in values}
