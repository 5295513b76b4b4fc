"""Products of many small numbers, group by group, without underflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats

__all__ = ["products_by_group"]

_BLOCK = 512
"""The most mantissas, of at least 1/2 each, that are multiplied without scaling."""


def products_by_group(
    values: Floats, groups: NDArray[np.intp], n_groups: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the product of the values of each group, as mantissas and powers of two.

    Parameters
    ----------
    values
        Numbers that are not negative.
    groups
        The group of each of them. Empty groups have the product one.
    n_groups
        The number of groups.
    """
    order = np.argsort(groups, kind="stable")
    members, mantissas = groups[order], values[order]
    powers = np.zeros(n_groups, dtype=np.int64)
    while True:
        mantissas, more = np.frexp(mantissas)
        np.add.at(powers, members, more)
        firsts = np.flatnonzero(np.diff(members, prepend=-1))
        if len(firsts) == len(members):
            break
        lengths = np.diff(firsts, append=len(members))
        within = np.arange(len(members)) - np.repeat(firsts, lengths)
        starts = np.flatnonzero(within % _BLOCK == 0)
        mantissas = np.multiply.reduceat(mantissas, starts)
        members = members[starts]
    result = np.ones(n_groups)
    result[members] = mantissas
    return result, powers
