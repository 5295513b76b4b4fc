"""The order of multiplications in contractions with many operands.

Comparing all pairs takes cubic time in the number of operands, and a clique may hold a thousand
small tables. Here, the smallest operand is multiplied first, with a partner that shares a variable
and gives the smallest result. A table whose variables are a subset of those of another table is
multiplied into that table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush

__all__ = ["FEW_OPERANDS", "multiplied_to_few"]

FEW_OPERANDS = 32
"""The most operands for which all pairs are compared."""


def multiplied_to_few(
    registers: Sequence[int],
    masks: Sequence[int],
    keep: int,
    how: tuple[Callable[[int], int], Callable[[int, int, int], int]],
    *,
    apart: Collection[int] = (),
) -> list[int]:
    """Return at most `FEW_OPERANDS` operands, which are products of the given ones.

    Parameters
    ----------
    registers
        The operands.
    masks
        The variables of each register, including future ones.
    keep
        The variables of the result of the whole contraction.
    how
        A function that returns the number of cells over the variables of a mask; and one
        that multiplies two registers, sums to the variables of a mask, and returns the
        register of the product.
    apart
        Operands that are not multiplied here. They do not count toward `FEW_OPERANDS`.
    """
    size, multiply = how
    holders: dict[int, set[int]] = {}
    for register in registers:
        for bit in _bits(masks[register]):
            holders.setdefault(bit, set()).add(register)
    # Variables in at most two operands, which a product of two may sum out.
    rare = sum(bit for bit, users in holders.items() if len(users) < 3) & ~keep
    remaining = {register for register in registers if register not in apart}
    queue = [(size(masks[register]), register) for register in remaining]
    heapify(queue)

    def needed(first: int, second: int) -> int:
        union = masks[first] | masks[second]
        for bit in _bits(union & rare):
            if holders[bit] <= {first, second}:
                union ^= bit
        return union

    while len(remaining) > FEW_OPERANDS:
        own, first = heappop(queue)
        if first not in remaining:
            continue
        remaining.remove(first)
        near = set().union(*[holders[bit] for bit in _bits(masks[first])]) & remaining
        # If it shares no variable with the others, take the smallest.
        partners = near or {min(remaining, key=lambda r: (size(masks[r]), r))}
        _, _, second = min(
            (size(needed(first, r)) - size(masks[r]) - own, size(masks[first] | masks[r]), r)
            for r in partners
        )
        remaining.remove(second)
        product = multiply(first, second, needed(first, second))
        for bit in _bits(masks[first] | masks[second]):
            holders[bit] -= {first, second}
        for bit in _bits(masks[product]):
            holders[bit].add(product)
            if len(holders[bit]) < 3 and not bit & keep:
                rare |= bit
        remaining.add(product)
        heappush(queue, (size(masks[product]), product))
    return sorted({*remaining, *(r for r in registers if r in apart)})


def _bits(mask: int) -> list[int]:
    """Return each member of a bit mask as a mask of one bit."""
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low)
        mask ^= low
    return bits
