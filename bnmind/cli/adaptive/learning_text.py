"""How ``bnmind learn`` names what it learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bnmind._messages import counted

if TYPE_CHECKING:
    from bnmind.adaptive import ItemBank, LearningOptions

__all__ = ["LearnedModel"]


@dataclass(frozen=True)
class LearnedModel:
    """The names of the response models, and of the distribution of the skills.

    The learned bank does not tell them all: the learned table of a `Dina` item may be `Gdina`.
    """

    items: dict[str, int]
    """The response models, with the number of their items."""
    skills: str
    """The distribution of the skills, such as saturated; or what is kept of the ability."""
    hidden: str = "skills"
    """The word for the hidden variables."""

    @classmethod
    def of(
        cls, start: ItemBank, options: LearningOptions, gate: str | None, skills: str | None
    ) -> LearnedModel:
        """Return the names for a first bank.

        Parameters
        ----------
        start, options
            The bank of the first start, and the options of learning.
        gate, skills
            The names that the user gave, or the default ones; None for those of the bank.
        """
        items = Counter(_models(start)) if gate is None else {gate: len(start.items)}
        if options.scaled >= set(start.skills):
            return cls(dict(items), "with a learned deviation", "ability")
        if options.fixed >= set(start.skills):
            return cls(dict(items), "fixed", "ability")
        return cls(dict(items), skills or "as in the bank")

    def __str__(self) -> str:
        each = [f"{name} ({counted(n, 'item')})" for name, n in self.items.items()]
        names = f"s {', '.join(each)}" if len(each) > 1 else f" {next(iter(self.items))}"
        return f"Response model{names}, {self.hidden} {self.skills}."


def _models(bank: ItemBank) -> list[str]:
    """Return the name of the response model of each item."""
    from bnmind.adaptive import RESPONSE_MODELS

    names = {model.make: name for name, model in RESPONSE_MODELS.items()}
    gates = [item.gate for item in bank.items]
    return ["table" if g is None else names.get(type(g), type(g).__name__) for g in gates]
