"""Bounds for the number of items of a group: a content code, a skill, or any items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Natural, Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import named_codes
from bnmind.errors import UnknownNameError

__all__ = ["Bound", "CodeBound", "ItemsBound", "SkillBound"]


class Bound(Protocol):
    """The interface of bounds. A bound is immutable and hashable."""

    @property
    def least(self) -> int:
        """The least number of items of the group in a test."""

    @property
    def most(self) -> int | None:
        """The largest number of items of the group in a test; None without a limit."""

    @property
    def label(self) -> str:
        """The group, for messages, such as "skill addition"."""

    def members(self, bank: ItemBank) -> NDArray[np.bool_]:
        """Return a mask of the items of the group, ``(items,)``; raises `UnknownNameError`.

        Parameters
        ----------
        bank
            The bank whose items are meant.
        """


class _Bounded(Value):
    """A bound, of which the least number is at most the largest one."""

    def _faults(self: Bound) -> Iterator[str]:
        if self.most is not None and self.least > self.most:
            yield (
                f"{self.label}: the least number of items, {self.least}, is above the largest,"
                f" {self.most}"
            )


@dataclass(frozen=True)
class CodeBound(_Bounded):
    """Bounds for the number of items with a content code.

    Parameters
    ----------
    code
        The content code.
    least, most
        The least and the largest number of items in a test; no largest by default.
    """

    code: str
    least: Natural = 0
    most: Natural | None = None

    @property
    def label(self) -> str:
        """The group, for messages."""
        return f"content code {self.code}"

    @checked
    def members(self, bank: ItemBank) -> NDArray[np.bool_]:
        """Return a mask of the items with the code, ``(items,)``."""
        mask: NDArray[np.bool_] = named_codes(bank, [self.code])[0]
        return mask


@dataclass(frozen=True)
class SkillBound(_Bounded):
    """Bounds for the number of items that depend on a skill directly.

    An item that needs several skills counts for each of them.

    Parameters
    ----------
    skill
        The name of the skill.
    least, most
        The least and the largest number of items in a test; no largest by default.
    """

    skill: str
    least: Natural = 0
    most: Natural | None = None

    @property
    def label(self) -> str:
        """The group, for messages."""
        return f"skill {self.skill}"

    @checked
    def members(self, bank: ItemBank) -> NDArray[np.bool_]:
        """Return a mask of the items that measure the skill, ``(items,)``.

        Raises
        ------
        UnknownNameError
            If the bank has no such skill.
        """
        if self.skill not in bank.skills:
            raise UnknownNameError("skill", self.skill, bank.skills)
        mask: NDArray[np.bool_] = bank.q_matrix[:, bank.skills.index(self.skill)]
        return mask


@dataclass(frozen=True)
class ItemsBound(_Bounded):
    """Bounds for the number of items among some.

    Parameters
    ----------
    items
        The names of the items.
    least, most
        The least and the largest number of them in a test; no largest by default.
    name
        The group, for messages.
    """

    items: tuple[str, ...]
    least: Natural = 0
    most: Natural | None = None
    name: str = ""

    @property
    def label(self) -> str:
        """The group, for messages."""
        few = ", ".join(self.items[:3]) + (", …" if len(self.items) > 3 else "")
        return f"items {self.name or few}"

    @checked
    def members(self, bank: ItemBank) -> NDArray[np.bool_]:
        """Return a mask of the items, ``(items,)``."""
        mask = np.zeros(len(bank.items), dtype=bool)
        mask[[bank.position(name) for name in self.items]] = True
        return mask
