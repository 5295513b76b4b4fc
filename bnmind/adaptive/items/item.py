"""Items: the questions of a test, with their wording, cost and constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

from bnmind._values import Value
from bnmind.adaptive.items.certainty import Certainty
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.errors import InvalidModelError
from bnmind.pgm.variable import name_text

__all__ = ["Item"]


@dataclass(frozen=True)
class Item(Value):
    """A question of a test.

    The required skills and the probabilities of the responses are part of the network of
    the `ItemBank`, in the variable of the same name.

    Parameters
    ----------
    name
        The name of its variable: any text in one line. A whole number is stored as text.
    content
        A code for the content area, used to balance tests; empty if none.
    text
        The wording.
    picture
        The name of a picture's file beside that of the bank, or a ``data:image/`` address; empty
        if there is none.
    choices
        The answers that an examinee may choose, each with the response that it counts as, such
        as ``(("4/5", "1"), ("2 1/5", "0"))``; empty if the responses themselves are chosen.
    shuffle
        Whether each examinee may see the choices in another order.
    cost
        The cost of asking it, positive, in any unit.
    time
        The time that it takes, at least zero, in any unit.
    enemies
        Names of items that must not be asked in the same test.
    testlet
        The name of the group of items to be asked together; empty if none.
    gate
        The response model of its distribution, if there is one.
    certainty
        How sure its parameters are, if that is known; see `ItemBank.averaged`.

    Raises
    ------
    InvalidModelError
        If a cost or a time is out of range, or the item is its own enemy. All faults are
        reported at once.

    Examples
    --------
    >>> Item("item_7", text="3 - 2 1/5", content="mixed numbers").cost
    1.0
    """

    name: str
    _: KW_ONLY
    content: str = ""
    text: str = ""
    picture: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    shuffle: bool = True
    cost: float = 1.0
    time: float = 1.0
    enemies: tuple[str, ...] = ()
    testlet: str = ""
    gate: ResponseModel | None = None
    certainty: Certainty | None = None

    _error = InvalidModelError

    def __post_init__(self) -> None:
        self._set(name=name_text(self.name))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        if not 0 < self.cost < math.inf:
            yield f"the cost of item {self.name} must be positive, got {self.cost:g}"
        if not 0 <= self.time < math.inf:
            yield f"the time of item {self.name} must be at least 0, got {self.time:g}"
        if len({text for text, _ in self.choices}) < len(self.choices):
            yield (
                f"the choices of item {self.name} must be pairs of a text and a response, each"
                " text once"
            )
        if self.name in self.enemies:
            yield f"item {self.name} cannot be its own enemy"
