"""Items: the questions of a test, and what else than their answers is known of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind._arguments import check_fields
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.errors import InvalidModelError
from bnmind.pgm.variable import name_text

__all__ = ["Item"]


@dataclass(frozen=True)
class Item:
    """A question of a test.

    Which skills it needs, and how likely each response is, are in the network of its
    `ItemBank`, in the variable of the same name.

    Parameters
    ----------
    name
        The name of its variable: any text in one line. A whole number is kept as text.
    content
        The code of what it is about, for the balance of a test; empty if none.
    text
        Its wording.
    cost
        What asking it costs, positive, in whatever unit the test counts in.
    time
        How long it takes, at least zero, in whatever unit the test counts in.
    enemies
        Names of items that must not be asked in the same test.
    testlet
        The name of the group that is asked together, or empty.
    gate
        The response model that its distribution follows, if there is one.

    Raises
    ------
    InvalidModelError
        If a cost or a time is out of range, or the item is its own enemy; all faults
        at once.

    Examples
    --------
    >>> Item("item_7", text="3 - 2 1/5", content="mixed numbers").cost
    1.0
    """

    name: str
    content: str = ""
    text: str = ""
    cost: float = 1.0
    time: float = 1.0
    enemies: tuple[str, ...] = ()
    testlet: str = ""
    gate: ResponseModel | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", name_text(self.name))
        check_fields(self)
        problems = []
        if not (math.isfinite(self.cost) and self.cost > 0):
            problems.append(f"expected a positive cost of item {self.name}, got {self.cost}")
        if not (math.isfinite(self.time) and self.time >= 0):
            problems.append(f"expected a time of at least 0 for item {self.name}, got {self.time}")
        if self.name in self.enemies:
            problems.append(f"expected other items as enemies of {self.name}, got itself")
        if problems:
            raise InvalidModelError(problems)
        object.__setattr__(self, "enemies", tuple(self.enemies))
