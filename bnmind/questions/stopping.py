"""When a dialogue is over: reasons to ask no further question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from annotated_types import Gt, Le

from bnmind._arguments import checked
from bnmind._registry import COUNT, NUMBER, Registered, made_by_name
from bnmind._values import Natural, NonNegative, ReadOnlyDict, Value

__all__ = [
    "DIALOGUE_STOPPERS",
    "Certain",
    "DialogueProgress",
    "DialogueStopper",
    "EntropyAtMost",
    "GainAtMost",
    "MostCost",
    "MostQuestions",
    "dialogue_stoppers_by_names",
]


@dataclass(frozen=True, kw_only=True)
class DialogueProgress(Value):
    """The progress of a dialogue, as input to a stopper."""

    entropy: float
    """The entropy of the targets, in bits."""
    certainty: float
    """The probability of the most probable state, the smallest of all targets."""
    n_asked: int
    """The number of questions answered or skipped."""
    cost: float
    """The cost of the questions answered."""
    gain: float
    """The largest information of an open question, in bits; 0 if there is none."""


class DialogueStopper(Protocol):
    """A rule that ends dialogues."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop; an empty text to go on.

        Parameters
        ----------
        progress
            The questions, answers and beliefs so far.
        """
        ...


@dataclass(frozen=True)
class EntropyAtMost(Value):
    """Stop once the entropy of the targets is at most this many bits."""

    bits: NonNegative
    """The entropy, at least 0."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.entropy <= self.bits
        return f"at most {self.bits:g} bits are unknown" if reached else ""


@dataclass(frozen=True)
class Certain(Value):
    """Stop once one state of each target has at least this probability."""

    probability: Annotated[float, Gt(0), Le(1)]
    """The probability, above 0 and at most 1."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.certainty >= self.probability
        return f"each target is {self.probability:g} certain or more" if reached else ""


@dataclass(frozen=True)
class GainAtMost(Value):
    """Stop once no open question has more information than this, in bits."""

    bits: NonNegative
    """The information, at least 0."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.gain <= self.bits
        return f"no question tells more than {self.bits:g} bits" if reached else ""


@dataclass(frozen=True)
class MostQuestions(Value):
    """Stop once this many questions were asked."""

    number: Natural
    """The number of questions."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        if progress.n_asked < self.number:
            return ""
        return "1 question was asked" if self.number == 1 else f"{self.number} questions were asked"


@dataclass(frozen=True)
class MostCost(Value):
    """Stop once the questions answered cost this much together."""

    cost: NonNegative
    """The sum of the costs, in their unit."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.cost >= self.cost
        return f"the questions cost {progress.cost:g} together" if reached else ""


DIALOGUE_STOPPERS: Mapping[str, Registered[DialogueStopper]] = ReadOnlyDict(
    {
        "entropy": Registered("at most this many bits are unknown", None, NUMBER, EntropyAtMost),
        "certainty": Registered("one state of each target is this probable", None, NUMBER, Certain),
        "gain": Registered(
            "no question has more information than this, in bits", None, NUMBER, GainAtMost
        ),
        "questions": Registered("N questions were asked", None, COUNT, MostQuestions),
        "cost": Registered("the answers cost this much together", None, NUMBER, MostCost),
    }
)
"""The stoppers by name."""


@checked
def dialogue_stoppers_by_names(texts: Sequence[str]) -> tuple[DialogueStopper, ...]:
    """Return the stoppers of texts such as ``certainty:0.95``; any of them ends a dialogue.

    Parameters
    ----------
    texts
        Names, each with an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no stopper has a name.
    InvalidArgumentError
        If an argument is missing or of another kind.
    """
    return tuple(made_by_name("stopper", DIALOGUE_STOPPERS, text) for text in texts)
