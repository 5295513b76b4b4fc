"""Paper tests: adaptive tests that a teacher can give without a computer.

Every box has a number. A box with an item says to which box to go after each response, and the last
box on a path reports the profile of the skills.
"""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import Sealed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.trees.item_tree import ItemNode, ItemTree

__all__ = [
    "PaperItem",
    "PaperResult",
    "PaperSkill",
    "PaperTest",
    "level_word",
    "paper_test",
    "response_word",
]

SURE = 0.8
"""A level of a skill with a smaller probability is reported as not sure."""


@dataclass(frozen=True, kw_only=True)
class PaperItem(Sealed):
    """A box with an item."""

    number: int
    item: str
    """The name of the item."""
    text: str
    """The wording; the name if the bank has none."""
    ways: tuple[tuple[str, int], ...]
    """Each response in a word, and the number of the box to go to."""


@dataclass(frozen=True, kw_only=True)
class PaperSkill(Sealed):
    """What is reported about a skill."""

    skill: str
    """The label of the skill."""
    level: str
    """The most probable level, in words."""
    probability: float
    """The probability of the level."""

    @property
    def is_sure(self) -> bool:
        """Whether the level is probable enough to be reported as a fact."""
        return self.probability >= SURE

    @property
    def text(self) -> str:
        """The level and its probability."""
        chance = f"{100 * self.probability:.0f} %"
        if self.is_sure:
            return f"{self.level} ({chance})"
        return f"not sure (most likely {self.level}, {chance})"


@dataclass(frozen=True, kw_only=True)
class PaperResult(Sealed):
    """A box with a result."""

    number: int
    skills: tuple[PaperSkill, ...]
    """What is reported about each skill."""


@dataclass(frozen=True, kw_only=True)
class PaperTest(Sealed):
    """The boxes of a paper test."""

    title: str
    items: tuple[PaperItem, ...]
    results: tuple[PaperResult, ...]
    longest: int
    """The largest number of items asked of anybody."""
    mean_length: float
    """The expected number of items asked."""
    accuracy: float
    """The expected share of skills that are reported right."""


def paper_test(tree: ItemTree) -> PaperTest:
    """Return the boxes of a test: items level by level, then the results."""
    bank = tree.bank
    rows = [tree.root]
    questions: list[ItemNode] = []
    ends: list[ItemNode] = []
    while rows:
        questions += [node for node in rows if node.item is not None]
        ends += [node for node in rows if node.item is None]
        rows = [child for node in rows for _, child in node.children]
    number = {id(node): place for place, node in enumerate([*questions, *ends], start=1)}
    return PaperTest(
        title=bank.title or "Adaptive test",
        items=tuple(_item(bank, node, number) for node in questions),
        results=tuple(_result(bank, node, number[id(node)]) for node in ends),
        longest=tree.depth,
        mean_length=tree.length,
        accuracy=tree.attribute_accuracy,
    )


def _item(bank: ItemBank, node: ItemNode, number: dict[int, int]) -> PaperItem:
    assert node.item is not None
    # The best response first: "if right" is what a reader expects.
    ways = [(response_word(bank, node.item, n), number[id(c)]) for n, c in node.children]
    return PaperItem(
        number=number[id(node)],
        item=node.item,
        text=bank.item(node.item).text or node.item,
        ways=tuple(reversed(ways)),
    )


def _result(bank: ItemBank, node: ItemNode, number: int) -> PaperResult:
    rows = []
    for skill, label, chances in zip(bank.skills, bank.labels, node.skills, strict=True):
        chance = max(chances)
        word = level_word(bank, skill, chances.index(chance))
        rows.append(PaperSkill(skill=label, level=word, probability=chance))
    return PaperResult(number=number, skills=tuple(rows))


def response_word(bank: ItemBank, item: str, response: str) -> str:
    """Return a response in a word: right or wrong for 1 and 0, else its name."""
    states = bank.responses(item)
    if len(states) == 2 and states in (("0", "1"), ("no", "yes"), ("wrong", "right")):
        return ("wrong", "right")[states.index(response)]
    return response


def level_word(bank: ItemBank, skill: str, level: int) -> str:
    """Return a level of a skill in words: mastered or not for two levels, else its name."""
    states = bank.variable(skill).states
    if len(states) == 2 and states in (("0", "1"), ("no", "yes")):
        return ("not mastered", "mastered")[level]
    return states[level]
