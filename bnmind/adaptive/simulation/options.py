"""The options of a simulation: how tests are run, measured and computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._arguments import check_fields
from bnmind._messages import listed
from bnmind.adaptive.selection.rules import Enemies, Rule, Testlets
from bnmind.adaptive.simulation.measures import Measure
from bnmind.errors import InvalidArgumentError

__all__ = ["DEFAULT_RULES", "SimulationOptions"]

DEFAULT_RULES: tuple[Rule, ...] = (Enemies(), Testlets())
"""As those of a live test: no enemies together, and testlets without a break."""


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """How simulated tests are run, measured and computed.

    Parameters
    ----------
    rules
        Which items may be asked, each restricting those before it.
    measures
        What is measured after every answer; `default_measures` unless given.
    seed
        At least 0, for selectors that draw at random. Each examinee has a generator of its own
        for each question, the same for every selector.
    batch_size
        How many examinees are computed at once; as fits the bank unless given.
    workers
        How many processes share the work; −1 for one for each core.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    """

    rules: Sequence[Rule] = DEFAULT_RULES
    measures: Sequence[Measure] | None = None
    seed: int = 0
    batch_size: int | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "rules", tuple(self.rules))
        if self.measures is not None:
            object.__setattr__(self, "measures", tuple(self.measures))
        problems = []
        if not self.seed >= 0:
            problems.append(f"expected a seed of at least 0, got {self.seed}")
        if self.batch_size is not None and not self.batch_size >= 1:
            problems.append(f"expected a batch of at least 1 examinee, got {self.batch_size}")
        if not (self.workers >= 1 or self.workers == -1):
            problems.append(f"expected at least 1 worker, or -1 for all cores, got {self.workers}")
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
