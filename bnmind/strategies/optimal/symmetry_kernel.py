"""One guess of each equivalence class after a history, compiled.

Two guesses are equivalent if a permutation of the positions and a renaming of the colors maps
one to the other and every guess of the history to itself. Colors that the history does not use
can be renamed into each other. The kernel marks the smallest guess of each class, for each of
thousands of histories; `bnmind.mastermind.masses.guess_symmetry` does the same for boards of any
size, one history at a time.

If there are too many positions to list their permutations, or the history is long and there are
many colors, the kernel permutes only positions at which all guesses so far agree. The smallest
guess of a class does not decrease along them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.optimal.search_arrays import Symmetry, Work

__all__ = ["mark_kinds"]

_PERMUTED_DEPTH = 2  # after more guesses, little symmetry is left,
_SORTED_DEPTH = 5  # unless there are many positions,
_MANY_FREE = 3  # or colors


@njit
def mark_kinds(symmetry: Symmetry, work: Work, depth: int) -> None:
    """Mark the guesses to try at a depth, after the guesses above it."""
    n, pegs = symmetry.digits.shape
    mask = work.masks[depth]
    mask[-1] = 0
    if symmetry.permutations.shape[0] == 0:
        return
    colors = symmetry.colors
    is_used = np.zeros(colors + 1, dtype=np.uint8)
    for above in range(depth):
        for position in range(pegs):
            is_used[symmetry.digits[work.frames[above, 0], position]] = 1
    free = np.zeros(colors + 1, dtype=np.uint8)
    n_free = 0
    for color in range(1, colors + 1):
        if not is_used[color]:
            free[n_free] = color
            n_free += 1
    n_orders = symmetry.permutations.shape[0]
    is_long = depth > _PERMUTED_DEPTH
    if is_long and n_free < _MANY_FREE and not (n_orders == 1 and depth <= _SORTED_DEPTH):
        return
    if is_long or (n_orders == 1 and pegs > 1):
        mask[-1] = 1
        _mark_sorted(symmetry, work, depth, is_used, free, mask)
        return
    images = np.zeros((n_orders, colors + 1), dtype=np.uint8)
    orders = np.zeros(n_orders, dtype=np.int64)
    n_fixing = 0
    for order in range(n_orders):
        if _fixes(symmetry, work, depth, order, images[n_fixing]):
            orders[n_fixing] = order
            n_fixing += 1
    if n_fixing == 1 and n_free < 2:
        return
    mask[-1] = 1
    renamed = np.zeros(colors + 1, dtype=np.uint8)
    for guess in range(n):
        mask[guess] = 1
        for i in range(n_fixing):
            renamed[:] = 0
            n_met, image = 0, 0
            for position in range(pegs):
                color = symmetry.digits[guess, symmetry.permutations[orders[i], position]]
                if is_used[color]:
                    new = images[i, color]
                else:
                    if renamed[color] == 0:
                        renamed[color] = free[n_met]
                        n_met += 1
                    new = renamed[color]
                image = image * colors + int(new) - 1
            if symmetry.ranks[image] < guess:
                mask[guess] = 0
                break


@njit
def _fixes(
    symmetry: Symmetry, work: Work, depth: int, order: int, image: NDArray[np.uint8]
) -> bool:
    """Return whether an order of positions maps each guess to itself; write its renaming."""
    image[:] = 0
    is_taken = np.zeros(image.size, dtype=np.uint8)
    for above in range(depth):
        guess = symmetry.digits[work.frames[above, 0]]
        for position in range(guess.size):
            before = guess[symmetry.permutations[order, position]]
            after = guess[position]
            if image[before] == 0:
                if is_taken[after]:
                    return False
                is_taken[after] = 1
                image[before] = after
            elif image[before] != after:
                return False
    return True


@njit
def _mark_sorted(
    symmetry: Symmetry,
    work: Work,
    depth: int,
    is_used: NDArray[np.uint8],
    free: NDArray[np.uint8],
    mask: NDArray[np.uint8],
) -> None:
    """Mark guesses that do not decrease where all guesses agree, with free colors ascending."""
    n, pegs = symmetry.digits.shape
    # The last position before each one at which all guesses agree, or −1.
    before = np.full(pegs, -1, dtype=np.int64)
    for position in range(pegs):
        for other in range(position):
            agree = True
            for above in range(depth):
                guess = symmetry.digits[work.frames[above, 0]]
                agree = agree and guess[position] == guess[other]
            if agree:
                before[position] = other
    is_met = np.zeros(symmetry.colors + 1, dtype=np.uint8)
    for guess in range(n):
        mask[guess] = 1
        is_met[:] = 0
        n_met = 0
        for position in range(pegs):
            color = symmetry.digits[guess, position]
            if before[position] >= 0 and color < symmetry.digits[guess, before[position]]:
                mask[guess] = 0
                break
            if not is_used[color] and not is_met[color]:
                if color != free[n_met]:
                    mask[guess] = 0
                    break
                is_met[color] = 1
                n_met += 1
