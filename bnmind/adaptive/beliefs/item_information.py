"""Probabilities and information of items, from the masses of all parent configurations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails, whole_array
from bnmind._messages import shown
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["BatchItemMasses", "ItemMasses"]


class _Causes(ABC):
    @property
    @abstractmethod
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    @abstractmethod
    def _index(self) -> CauseIndex:
        """The places of each item's parent configurations in a row of masses."""

    @property
    @abstractmethod
    def _row(self) -> Floats:
        """The masses of all parent configurations, along the last axis."""

    @cached_property
    def _information(self) -> Floats:
        result = self._index.information(self._row)
        result.setflags(write=False)
        return result


class ItemMasses(_Causes):
    """Predictions and information of items, from a belief about one examinee."""

    @checked_if_it_fails
    def masses(self, items: Sequence[str]) -> Floats:
        """Return the mass of each parent configuration of each item; see `SkillBelief`."""
        return self._index.masses(self._row, [self.bank.position(name) for name in items])

    @checked_if_it_fails
    def predict(self, item: str) -> Floats:
        """Return the probability of each response to an item given the responses so far."""
        predicted: Floats = self.masses([item])[0] @ self.bank.channel(item)
        return predicted

    @checked_if_it_fails
    def information(self, items: Sequence[str] | None = None) -> Floats:
        """Return the expected information of each item, in bits; see `SkillBelief`."""
        result, position = self._information, self.bank.position
        return result if items is None else result.take([position(name) for name in items])


class BatchItemMasses(_Causes):
    """Predictions and information of items, from beliefs about many examinees."""

    @checked_if_it_fails
    def masses(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of parent configurations, ``(examinees, items, configurations)``."""
        return self._index.masses(self._row, self._places(items))

    @checked_if_it_fails
    def predict(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``."""
        channels = self.bank.channels([self.bank.item_names[i] for i in self._places(items)])
        predicted: Floats = np.einsum("nic,icr->nir", self.masses(items), channels)
        return predicted

    @checked_if_it_fails
    def information(self, items: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Return the expected information of items, in bits, ``(examinees, items)``."""
        result = self._information
        return result if items is None else result[:, self._places(items)]

    def _places(self, items: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of items, checked."""
        places = whole_array(items, "items")
        if places.ndim != 1 or np.any((places < 0) | (places >= len(self.bank.items))):
            raise InvalidArgumentError(
                f"expected items as positions from 0 to {len(self.bank.items) - 1}, got"
                f" {shown(items)}",
                items,
            )
        return places
