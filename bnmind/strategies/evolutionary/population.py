"""Populations of codes: sets without duplicates, and the selection of parents, compiled."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.sampling import draw_uniform
from bnmind.strategies.evolutionary.operators import Choices, draw_code

__all__ = [
    "Selection",
    "add_code",
    "draw_parent",
    "empty_keys",
    "fill_distinct",
    "fill_random",
    "selection_weights",
]

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_S29 = np.uint64(29)
_TRIES = 8


class Selection(Enum):
    """The chance of a code of the population to become a parent."""

    UNIFORM = 0
    """All codes have the same chance."""
    PROPORTIONAL = 1
    """The chance is proportional to b·P·(i − 1) − cost, with the b of the published fitness."""
    RANKED = 2
    """The chance falls linearly with the rank of the cost, from the best code to the worst."""
    BEST_HALF = 3
    """Only the better half of the codes are parents, all with the same chance."""
    INVERSE = 4
    """The chance is proportional to 1 / (1 + cost)."""


@njit
def _code_key(code: NDArray[np.uint8]) -> np.uint64:
    """Return a word for a code; two codes have the same word with a probability of about 2⁻⁶⁴."""
    key = _OFFSET
    for i in range(code.size):
        key = (key ^ np.uint64(code[i])) * _PRIME
        key ^= key >> _S29
    # Zero marks a free place of a set.
    return key | np.uint64(1)


def empty_keys(size: int) -> NDArray[np.uint64]:
    """Return an empty set of keys with room for `size` of them."""
    return np.zeros(1 << (2 * size + 2).bit_length(), dtype=np.uint64)


@njit
def add_code(keys: NDArray[np.uint64], code: NDArray[np.uint8]) -> bool:
    """Add the key of a code to a set; return whether it is new."""
    key = _code_key(code)
    place = np.int64((key >> np.uint64(1)) & np.uint64(keys.size - 1))
    while keys[place] != 0:
        if keys[place] == key:
            return False
        place = (place + 1) & (keys.size - 1)
    keys[place] = key
    return True


@njit
def fill_distinct(
    codes: NDArray[np.uint8],
    start: int,
    keys: NDArray[np.uint64],
    choices: Choices,
    state: NDArray[np.uint64],
) -> None:
    """Fill the rows from `start` on with random codes, distinct unless that takes many tries."""
    for i in range(start, codes.shape[0]):
        for _ in range(_TRIES):
            draw_code(codes[i], choices, state)
            if add_code(keys, codes[i]):
                break


@njit
def fill_random(codes: NDArray[np.uint8], choices: Choices, state: NDArray[np.uint64]) -> None:
    """Fill all rows with random codes, which may be equal."""
    for i in range(codes.shape[0]):
        draw_code(codes[i], choices, state)


@njit
def selection_weights(costs: NDArray[np.int64], selection: int, top: int) -> NDArray[np.float64]:
    """Return the cumulative chances of codes to become parents, not normalized.

    Parameters
    ----------
    costs
        ``(codes,)``, the cost of each code.
    selection
        The value of a `Selection`.
    top
        b·P·(i − 1).
    """
    n = costs.size
    weights = np.ones(n)
    if selection == 1:
        for i in range(n):
            weights[i] = max(top - costs[i], 0) + 1e-9
    elif selection == 4:
        for i in range(n):
            weights[i] = 1.0 / (1.0 + costs[i])
    elif selection > 1:
        order = np.argsort(costs, kind="mergesort")
        for rank in range(n):
            if selection == 2:
                weights[order[rank]] = n - rank
            else:
                weights[order[rank]] = 1.0 if 2 * rank < n else 0.0
    return np.cumsum(weights)


@njit
def draw_parent(weights: NDArray[np.float64], state: NDArray[np.uint64]) -> int:
    """Return the index of a random code, drawn with the chances of `selection_weights`."""
    chosen = np.searchsorted(weights, draw_uniform(state) * weights[-1], side="right")
    return int(min(chosen, weights.size - 1))
