"""Experiments: frozen values that say what is run, and the rows that they give.

An experiment divides its work into numbered batches, each of which can run anywhere. A batch is a
pure function: its rows depend neither on other batches nor on the process, so an experiment gives
the same rows with any number of workers, and after any interruption. Here are those with adaptive
tests and with learning; games are in `game_experiments`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isnan
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, many
from bnmind._values import Count, Natural, Value
from bnmind._workers import results_of
from bnmind.adaptive import (
    ItemBank,
    LearningOptions,
    Responses,
    Selector,
    SelectorRun,
    SimulationOptions,
    SimulationResult,
    Stopper,
    simulate,
)
from bnmind.adaptive.learning.learn import learn_from_start
from bnmind.errors import TooLargeError

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1
"""The version of the rules by which experiments draw their luck.

Another version may give other rows for the same seed."""


def faults_of_version(experiment: Any) -> Iterator[str]:
    """Yield what is wrong with the version of the rules of an experiment."""
    if experiment.version != VERSION:
        yield (
            f"expected an experiment of version {VERSION}, got version {experiment.version}; other"
            " versions of bnmind give other rows"
        )


Row: TypeAlias = Any
"""An instance of a frozen dataclass, whose fields are the columns."""


@dataclass(frozen=True, eq=False)
class BatchRows(Value):
    """The rows of a batch."""

    rows: tuple[Row, ...]
    """One row for each game or examinee."""
    details: tuple[Row, ...] = ()
    """One row for each turn or question, if the experiment asks for them."""


class Batch(Protocol):
    """A part of an experiment that is run at once."""

    @property
    def number(self) -> int:
        """The number of the batch, from 0."""

    @property
    def n_rows(self) -> int:
        """The number of rows, without the details."""

    @property
    def has_details(self) -> bool:
        """Whether there are rows of turns or questions too, at least one."""

    def run(self) -> BatchRows:
        """Do the work, and return its rows; always the same ones."""


class Experiment(Protocol):
    """A frozen value that determines its rows."""

    @property
    def kind(self) -> str:
        """The name of its kind in files, a key of `EXPERIMENTS`."""

    @property
    def row_type(self) -> type[Row]:
        """The dataclass of the rows."""

    @property
    def detail_type(self) -> type[Row]:
        """The dataclass of the rows of turns or questions."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all batches, without the details."""

    def batches(self) -> Sequence[Batch]:
        """Return the batches in the order of their numbers."""


@dataclass(frozen=True, eq=False)
class Results(Value):
    """The rows of an experiment, in the order of its batches."""

    experiment: Experiment
    """The experiment."""
    rows: tuple[Row, ...]
    """One row for each game or examinee."""
    details: tuple[Row, ...] = ()
    """One row for each turn or question, if the experiment asks for them."""

    def __repr__(self) -> str:
        return f"Results({self.experiment.kind}, {counted(len(self.rows), 'row')})"

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame."""
        return row_frame(self.experiment.row_type, self.rows)

    @property
    def detail_frame(self) -> pd.DataFrame:
        """The rows of turns or questions as a new pandas data frame."""
        return row_frame(self.experiment.detail_type, self.details)


def columns_of(row_type: type[Row], rows: Sequence[Row]) -> Mapping[str, list[Any]]:
    """Return the values of rows by column."""
    names = [field.name for field in fields(row_type)]
    return {name: [getattr(row, name) for row in rows] for name in names}


def kinds_of_columns(row_type: type[Row]) -> Iterator[tuple[str, type, bool]]:
    """Yield the name and the type of each column, and whether a value may be missing."""
    hints = typing.get_type_hints(row_type)
    for one in fields(row_type):
        hint = hints[one.name]
        parts = set(typing.get_args(hint)) if isinstance(hint, UnionType) else {hint}
        (kind,) = parts - {type(None)}
        yield one.name, kind, len(parts) > 1


def row_frame(row_type: type[Row], rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a new pandas data frame.

    Parameters
    ----------
    row_type
        The class of the rows, whose fields become columns.
    rows
        The rows.
    """
    import pandas as pd

    return typed_frame(row_type, pd.DataFrame(columns_of(row_type, rows), dtype=object))


def typed_frame(row_type: type[Row], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of rows with the types of its columns, whatever values they hold.

    Numbers that may be missing have the type of floats, and truth values, that of objects.
    """
    import pandas as pd

    text = pd.Series(["text"]).dtype
    kinds: dict[Any, Any] = {bool: bool, int: "int64", float: "float64", str: text}
    optional: dict[Any, Any] = {**kinds, bool: object, int: "float64"}
    types = {
        name: (optional if may_be_missing else kinds)[kind]
        for name, kind, may_be_missing in kinds_of_columns(row_type)
    }
    return frame.astype({name: types[name] for name in frame.columns if name in types})


MOST_ROWS = 2**21
"""The largest number of rows of an experiment in memory, without the details: about 600 MB."""


@checked
def run(
    experiment: Experiment,
    *,
    workers: int | Executor = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Run an experiment, and return its rows.

    The rows depend on the experiment alone, except for measured seconds, which equality of rows
    ignores. For large experiments, and to go on after an interruption, see `run_into`.

    Parameters
    ----------
    experiment
        The experiment.
    workers
        The number of processes; 1 runs in this process, and −1 uses all cores. Or an executor.
    progress
        Called after each batch with the number of rows so far and the total number of rows.

    Raises
    ------
    TooLargeError
        If there are more than `MOST_ROWS` rows.
    """
    if experiment.n_rows > MOST_ROWS:
        raise TooLargeError(
            f"memory holds at most {MOST_ROWS:,} rows of an experiment, and this one has"
            f" {many(experiment.n_rows)}; use run_into, which writes them to a directory",
            needed=experiment.n_rows,
            budget=MOST_ROWS,
        )
    rows: list[Row] = []
    details: list[Row] = []
    for batch in results_of([batch.run for batch in experiment.batches()], workers):
        rows += batch.rows
        details += batch.details
        if progress is not None:
            progress(len(rows), experiment.n_rows)
    return Results(experiment, tuple(rows), tuple(details))


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
    selectors: Annotated[Mapping[str, Selector], MinLen(1)]
    """The selectors, by their names in the rows."""
    stopper: Stopper | None = None
    """The stopper; without one a test ends when no item may be asked."""
    examinees: Count | Responses = 1000
    """The number of examinees to draw; or the recorded responses of real ones."""
    seed: Natural = 0
    """The seed of the examinees, and of selectors that draw at random."""
    steps: bool = False
    """Whether there is a row for each question too."""
    batch_examinees: Count = 500
    """The number of examinees in a batch. Rows depend on it at most by rounding."""
    version: int = VERSION
    """The version of the rules by which examinees are drawn."""

    def _faults(self) -> Iterator[str]:
        if isinstance(self.examinees, Responses):
            self.examinees.for_bank(self.bank)  # raises
        return faults_of_version(self)

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
    def people(self) -> Responses:
        """The examinees with their answers to all items."""
        if isinstance(self.examinees, Responses):
            return self.examinees.for_bank(self.bank)
        return Responses.drawn(self.bank, self.examinees, seed=self.seed)

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
    def _people(self) -> Responses:
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
    number: int, experiment: TestExperiment, selector: str, first: int, people: Responses
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


@dataclass(frozen=True, kw_only=True)
class StartRow(Value):
    """One start of the learning, where it ended."""

    start: int
    """The number of the start, from 0; the first one has the parameters of the given bank."""
    log_likelihood: float
    """The natural logarithm of the probability of all responses."""
    objective: float
    """The log-likelihood plus the logarithm of the prior density; the best start has the
    largest."""
    steps: int
    """The number of EM steps."""
    converged: bool
    """Whether the last step raised the objective by no more than the tolerance."""


@dataclass(frozen=True, kw_only=True)
class LearnedItemRow(Value):
    """One item as it was learned from one start."""

    start: int
    """The number of the start, from 0."""
    item: str
    """The name of the item."""
    guess: float
    """The probability of any but the worst response at the lowest levels."""
    slip: float
    """The probability of any but the best response at the highest levels."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningExperiment(Value):
    """Learning of a bank from responses, with a row for each start.

    `learn` keeps only the best start; the experiment shows how different the others are.

    Raises
    ------
    InvalidArgumentError
        If there are several faults.
    TableError
        If the responses do not fit the bank.

    Examples
    --------
    >>> from bnmind.lab import run
    >>> answers = Responses([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], ("a", "b", "c"))
    >>> bank = ItemBank.from_qmatrix(
    ...     [[1, 0], [1, 0], [0, 1]], guess=0.2, slip=0.2, items=("a", "b", "c")
    ... )
    >>> experiment = LearningExperiment(
    ...     responses=answers, bank=bank, options=LearningOptions(starts=3)
    ... )
    >>> run(experiment).frame["start"].tolist()
    [0, 1, 2]
    """

    kind: ClassVar[str] = "learning"
    row_type: ClassVar[type[StartRow]] = StartRow
    detail_type: ClassVar[type[LearnedItemRow]] = LearnedItemRow

    responses: Responses
    """The responses."""
    bank: ItemBank
    """The structure, the response models, and the parameters of the first start."""
    options: LearningOptions = field(default_factory=LearningOptions)
    """The starts, their seed, bounds, priors and the criterion of convergence."""
    items: bool = False
    """Whether there is a row for each learned item too."""
    version: int = VERSION
    """The version of the rules by which starts are drawn."""

    def _faults(self) -> Iterator[str]:
        self.responses.for_bank(self.bank)  # raises
        return faults_of_version(self)

    def __repr__(self) -> str:
        return (
            f"LearningExperiment({counted(len(self.responses), 'examinee')},"
            f" {counted(self.n_rows, 'start')})"
        )

    @property
    def n_rows(self) -> int:
        """The number of starts."""
        return self.options.starts or 1

    def batches(self) -> tuple[LearningBatch, ...]:
        """Return a batch for each start."""
        return tuple(LearningBatch(self, number) for number in range(self.n_rows))


@dataclass(frozen=True, eq=False)
class LearningBatch(Value):
    """One start, made by `LearningExperiment.batches`."""

    experiment: LearningExperiment
    """The experiment."""
    number: int
    """The number of the start and of the batch, from 0."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return 1

    @property
    def has_details(self) -> bool:
        """Whether there are rows of items too."""
        return self.experiment.items

    def run(self) -> BatchRows:
        """Learn from the start, and return its rows."""
        experiment = self.experiment
        learned = learn_from_start(
            experiment.responses, experiment.bank, self.number, experiment.options
        )
        row = StartRow(
            start=self.number,
            log_likelihood=learned.log_likelihood,
            objective=learned.record.objectives[-1],
            steps=learned.record.steps,
            converged=learned.record.converged,
        )
        items = [
            LearnedItemRow(start=self.number, item=item.name, guess=item.guess, slip=item.slip)
            for item in (learned.items if experiment.items else ())
        ]
        return BatchRows((row,), tuple(items))
