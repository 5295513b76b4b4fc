"""Contractions in compiled code; twin of `bnmind.junction.program.contraction` and its recipes."""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    CHILDREN,
    DONE,
    DONE_SLOTS,
    DONE_STARTS,
    FAILED,
    KEY_STARTS,
    KEYS,
    LOCAL_OF,
    LOCAL_SIZES,
    MASKS,
    MOST_LOCAL,
    MOST_OPERANDS,
    N_DONE,
    N_INPUTS,
    N_KEYS,
    N_LOCAL,
    N_REGISTERS,
    N_VARIABLES,
    OPERANDS,
    REGISTERS,
    SCOPE_STARTS,
    SCOPES,
    SET_MEMBERS,
    SET_STARTS,
    SIZES,
    STEPS,
    VARIABLES,
    Ints,
)
from bnmind.junction.program.layout.steps_kernel import (
    broadcast,
    find,
    look_up,
    matrix_product,
    reduce,
    size_of,
)

__all__ = ["contract"]

_MOST_DIRECT = 4
"""The most tables contracted without a recipe; as in `bnmind.junction.program.contraction`."""


@njit
def _has_room(m: Ints, n: int) -> bool:
    """Return whether there is room for a contraction of n operands."""
    most = 3 * n + 2
    registers = m[N_REGISTERS]
    scopes = m[SCOPES] + m[m[SCOPE_STARTS] + registers]
    keys = m[KEYS] + m[m[KEY_STARTS] + m[N_KEYS]]
    done = m[DONE] + m[m[DONE_STARTS] + m[N_DONE]]
    return bool(
        n <= MOST_OPERANDS
        and m[STEPS] + 4 * (registers + most) <= m[STEPS + 1]
        and scopes + (most + 4) * MOST_LOCAL <= m[SCOPES + 1]
        and keys + (most + 4) * 4 * MOST_LOCAL <= m[KEYS + 1]
        and done + n + 3 <= m[DONE + 1]
        and m[DONE_STARTS] + m[N_DONE] + 2 <= m[DONE_STARTS + 1]
    )


@njit
def _numbered(m: Ints, n: int, kept: int) -> int:
    """Give local numbers to variables and operands; return the mask of what is kept, or -1."""
    local_of = m[LOCAL_OF]
    m[N_VARIABLES] = 0
    for i in range(n):
        register = m[m[OPERANDS] + i]
        mask = 0
        starts = m[SCOPE_STARTS] + register
        for j in range(m[starts], m[starts + 1]):
            v = m[m[SCOPES] + j]
            local = m[local_of + v]
            if local < 0:
                local = m[N_VARIABLES]
                if local == MOST_LOCAL:
                    return -1
                m[N_VARIABLES] += 1
                m[local_of + v] = local
                m[m[VARIABLES] + local] = v
                m[m[LOCAL_SIZES] + local] = m[m[SIZES] + v]
            mask |= 1 << local
        m[m[MASKS] + i] = mask
        m[m[REGISTERS] + i] = register
    m[N_LOCAL] = n
    keep = 0
    for j in range(m[m[SET_STARTS] + kept], m[m[SET_STARTS] + kept + 1]):
        local = m[local_of + m[m[SET_MEMBERS] + j]]
        if local >= 0:
            keep |= 1 << local
    return keep


@njit
def _needed(m: Ints, n: int, i: int, j: int, keep: int) -> int:
    """Return what is kept, or is in other operands than those at places i and j."""
    needed = keep
    for other in range(n):
        if other != i and other != j:
            needed |= m[m[MASKS] + m[m[OPERANDS] + other]]
    return needed


@njit
def _cheapest(m: Ints, n: int, keep: int, is_direct: bool) -> tuple[int, int]:
    """Return the places of the pair to multiply next: least growth of memory, then least work.

    Ties are broken on the local numbers of the registers or, if ``is_direct``, on their places.
    """
    left, masks = m[OPERANDS], m[MASKS]
    if is_direct:
        for j in range(1, n):
            for i in range(j):
                if m[masks + m[left + i]] == m[masks + m[left + j]]:
                    return i, j
    best = (0, 0)
    least = (0, 0, 0, 0)
    for j in range(1, n):
        for i in range(j):
            first, second = m[masks + m[left + i]], m[masks + m[left + j]]
            before = size_of(m, first) + size_of(m, second)
            union = first | second
            growth = size_of(m, union & _needed(m, n, i, j, keep)) - before
            names = (i, j) if is_direct else (int(m[left + i]), int(m[left + j]))
            score = (growth, size_of(m, union), names[0], names[1])
            if best[1] == 0 or score < least:
                best, least = (i, j), score
    return best


@njit
def _directly(m: Ints, first: int, second: int, keep: int) -> int:
    """Add the steps that multiply two of a few tables and sum the product to ``keep``."""
    masks = m[MASKS]
    own, others = m[masks + first], m[masks + second]
    if own == others:
        return reduce(m, broadcast(m, first, second), keep)
    gone = (own | others) & ~keep
    summed = own & others & gone
    if summed != gone:
        first = reduce(m, first, keep | others)
        second = reduce(m, second, keep | own)
    if size_of(m, m[masks + first]) < size_of(m, m[masks + second]):
        first, second = second, first
    if summed:
        return matrix_product(m, first, second, summed)
    return broadcast(m, first, second)


@njit
def _child(m: Ints, local: int) -> int:
    """Return the child of a local register as a mask; 0 if it is no function."""
    register = m[m[REGISTERS] + local]
    child = m[m[CHILDREN] + register] if register < m[N_INPUTS] else -1
    return 1 << m[m[LOCAL_OF] + child] if child >= 0 else 0


@njit
def _by_recipe(m: Ints, first: int, second: int, keep: int) -> int:
    """Add the product of two of many operands, or of functions, summed to ``keep``."""
    masks = m[MASKS]
    first = reduce(m, first, keep | m[masks + second])
    second = reduce(m, second, keep | m[masks + first])
    if size_of(m, m[masks + first]) < size_of(m, m[masks + second]):
        first, second = second, first
    both = m[masks + first] & m[masks + second]
    summed = both & ~keep
    if not summed:
        return broadcast(m, first, second)
    if both == _child(m, first):
        return look_up(m, first, second)
    if both == _child(m, second):
        return look_up(m, second, first)
    return matrix_product(m, first, second, summed)


@njit
def _merged_twins(m: Ints, n: int) -> int:
    """Multiply the operands over the same variables; return how many operands remain."""
    left, masks = m[OPERANDS], m[MASKS]
    kept = 0
    for i in range(n):
        twin = 0
        while twin < kept and m[masks + m[left + twin]] != m[masks + i]:
            twin += 1
        m[left + twin] = broadcast(m, m[left + twin], i) if twin < kept else i
        kept = max(kept, twin + 1)
    return kept


@njit
def _carry_out(m: Ints, n: int, keep: int) -> int:
    """Add the steps of a contraction; return its register."""
    left = m[OPERANDS]
    is_direct = n <= _MOST_DIRECT
    for i in range(n):
        m[left + i] = i
        is_direct = is_direct and _child(m, i) == 0
    if not is_direct and n > 1:
        n = _merged_twins(m, n)
    while n > 1:
        i, j = 0, 1
        if n > 2:
            i, j = _cheapest(m, n, keep, is_direct)
        needed = _needed(m, n, i, j, keep)
        if is_direct:
            product = _directly(m, m[left + i], m[left + j], needed)
        else:
            product = _by_recipe(m, m[left + i], m[left + j], needed)
        kept = 0
        for place in range(n):
            if place != i and place != j:
                m[left + kept] = m[left + place]
                kept += 1
        m[left + kept] = product
        n -= 1
    return int(m[m[REGISTERS] + reduce(m, m[left], keep)])


@njit
def contract(m: Ints, n: int, kept: int) -> int:
    """Add the steps that contract n operands to a set of variables; return the register.

    The result is -1 if there are no operands. The number `FAILED` is set if there is no room.
    """
    if n == 0 or m[FAILED]:
        return -1
    if not _has_room(m, n):
        m[FAILED] = 1
        return -1
    # The row of the contraction: its length, the set, the operands in order, and the register.
    starts = m[DONE_STARTS] + m[N_DONE]
    row = m[DONE] + m[starts]
    m[row] = n + 2
    m[row + 1] = kept
    for i in range(n):
        register = m[m[OPERANDS] + i]
        place = row + 2 + i
        while place > row + 2 and m[place - 1] > register:
            m[place] = m[place - 1]
            place -= 1
        m[place] = register
    slot = find(m, row, DONE_STARTS, DONE_SLOTS)
    if m[slot] >= 0:
        return int(m[m[DONE] + m[m[DONE_STARTS] + m[slot]] + n + 2])
    for i in range(n):
        m[m[OPERANDS] + i] = m[row + 2 + i]
    keep = _numbered(m, n, kept)
    if keep < 0:
        m[FAILED] = 1
        return -1
    result = _carry_out(m, n, keep)
    m[row + n + 2] = result
    m[starts + 1] = m[starts] + n + 3
    m[slot] = m[N_DONE]
    m[N_DONE] += 1
    for i in range(m[N_VARIABLES]):
        m[m[LOCAL_OF] + m[m[VARIABLES] + i]] = -1
    return result
