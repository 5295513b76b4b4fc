"""Masses of the parent configurations of all items in one row, and the items' information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats, unchecked_entropy, unchecked_information

__all__ = ["CauseIndex"]

_STACKED_CELLS = 2**16
"""Up to this many cells all channels are padded and evaluated together, else shape by shape."""


class _Group(NamedTuple):
    """Items that are evaluated together."""

    items: NDArray[np.intp]
    places: NDArray[np.intp]
    """``(items, configurations)``, the places of their masses in the row."""
    channels: Floats
    noise: Floats


@dataclass(frozen=True, eq=False)
class CauseIndex(Sealed):
    """The places of each item's parent configurations in a row of masses.

    Created by `of`. Rows may have further axes in front, such as one of examinees.
    """

    first: NDArray[np.intp]
    """The place of each item's first parent configuration in the row, ``(items,)``."""
    sizes: NDArray[np.intp]
    """The number of each item's parent configurations, ``(items,)``."""
    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, bank: ItemBank, starts: Sequence[int]) -> CauseIndex:
        """Return the index for rows in which ``bank.causes[i]`` begins at ``starts[i]``."""
        counts = np.array([bank.n_configurations(cause) for cause in bank.causes], dtype=np.intp)
        first = np.asarray(starts, dtype=np.intp)[bank.cause_numbers]
        sizes = counts[bank.cause_numbers]
        shapes = np.array([bank.channel(name).shape for name in bank.item_names])
        everything = np.arange(len(bank.items))
        if len(shapes) * int(np.prod(shapes.max(axis=0))) <= _STACKED_CELLS:
            alike = [everything]
        else:
            alike = [
                np.flatnonzero(np.all(shapes == shape, axis=1))
                for shape in np.unique(shapes, axis=0)
            ]
        groups = []
        for items in alike:
            channels = bank.channels([bank.item_names[i] for i in items])
            places, _ = _places(first[items], sizes[items])
            groups.append(_Group(items, places, channels, unchecked_entropy(channels)))
        return cls(first, sizes, tuple(groups))

    def masses(self, row: Floats, positions: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of items, ``(…, items, configurations)``, from a row ``(…, cells)``."""
        places, is_valid = _places(self.first[positions], self.sizes[positions])
        return np.where(is_valid, row[..., places], 0.0)

    def information(self, row: Floats) -> Floats:
        """Return the information of every item, in bits, ``(…, items)``."""
        # The channel is zero beyond the end of a cause, so any mass will do there.
        parts = [
            unchecked_information(row.take(group.places, axis=-1), group.channels, group.noise)
            for group in self.groups
        ]
        if len(parts) == 1:
            return parts[0]
        result = np.empty((*row.shape[:-1], len(self.first)))
        for group, part in zip(self.groups, parts, strict=True):
            result[..., group.items] = part
        return result


def _places(
    first: NDArray[np.intp], sizes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the places of items' masses in the row, and a mask of the valid ones."""
    columns = np.arange(sizes.max(initial=1))
    is_valid = columns < sizes[:, None]
    # Invalid places refer to the start of the cause.
    return first[:, None] + np.where(is_valid, columns, 0), is_valid
