"""Experiments with learning: the same bank from the same responses, from many starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive import ItemBank, Learned, LearningOptions, Responses
from bnmind.adaptive.learning.learn import learn_from_start
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.experiments.experiment import VERSION, BatchRows
from bnmind.lab.mastermind.setting import raise_together

__all__ = ["LearnedItemRow", "LearningBatch", "LearningExperiment", "StartRow"]


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

    def __post_init__(self) -> None:
        self._convert()
        faults: list[BnmindError] = []
        try:
            self.responses.for_bank(self.bank)
        except BnmindError as fault:
            faults.append(fault)
        if self.version != VERSION:
            message = f"expected an experiment of version {VERSION}, got version {self.version}"
            faults.append(InvalidArgumentError(message, self.version))
        raise_together(faults)

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
        return BatchRows((row,), tuple(self._items(learned)) if experiment.items else ())

    def _items(self, learned: Learned) -> Iterator[LearnedItemRow]:
        for item in learned.items:
            yield LearnedItemRow(
                start=self.number, item=item.name, guess=item.guess, slip=item.slip
            )
