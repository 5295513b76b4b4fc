"""Data frames of parameters, sorted by a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm.tabular import TabularCPD
from bnmind.sensitivity.parameters import Parameter

if TYPE_CHECKING:
    import pandas

__all__ = ["Ranked", "frame_of", "ranked"]


class Ranked(NamedTuple):
    """Some entries of a table, with their numbers."""

    cpd: TabularCPD
    places: NDArray[np.intp]
    """``(entries, axes)`` their positions in the table."""
    numbers: Mapping[str, Floats]
    """``(entries,)`` each."""


def ranked(cpd: TabularCPD, numbers: Mapping[str, Floats], chosen: NDArray[np.bool_]) -> Ranked:
    """Return the chosen entries of a table."""
    return Ranked(cpd, np.argwhere(chosen), {key: one[chosen] for key, one in numbers.items()})


def frame_of(
    parts: Sequence[Ranked], *, by: str, descending: bool, n: int | None
) -> pandas.DataFrame:
    """Return the first entries of all tables, sorted by one of their numbers, with their names."""
    import pandas

    if n is not None and n < 0:
        raise InvalidArgumentError(f"the number of parameters must be at least 0, got {n}", n)
    kept = [part for part in parts if len(part.places)] or list(parts[:1])
    if not kept:
        return pandas.DataFrame({"parameter": [], by: []})
    columns = {key: np.concatenate([part.numbers[key] for part in kept]) for key in kept[0].numbers}
    keys = -columns[by] if descending else columns[by]
    order = np.argsort(keys, kind="stable")[: len(keys) if n is None else n]
    starts = np.cumsum([0, *[len(part.places) for part in kept]])
    owners = np.searchsorted(starts, order, side="right") - 1
    # Names take time, so that only the rows of the frame get one.
    names = []
    for owner, number in zip(owners.tolist(), order.tolist(), strict=True):
        part = kept[owner]
        place = tuple(part.places[number - starts[owner]].tolist())
        names.append(str(Parameter.at(part.cpd, place)))
    return pandas.DataFrame(
        {"parameter": names, **{key: column[order] for key, column in columns.items()}}
    )
