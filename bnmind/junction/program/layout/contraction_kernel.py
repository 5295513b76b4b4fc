"""Contractions in compiled code; twin of `bnmind.junction.program.contraction` and its recipes."""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    DONE_END,
    FAILED,
    KEYS_END,
    MOST_LOCAL,
    MOST_OPERANDS,
    N_DONE,
    N_REGISTERS,
    Ints,
    Scratch,
    Steps,
    TreeArrays,
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

_VARIABLES, _REGISTERS = range(2)

_MOST_DIRECT = 4
"""The most tables contracted without a recipe; as in `bnmind.junction.program.contraction`."""


@njit
def _has_room(done: Steps, n: int) -> bool:
    """Return whether there is room for a contraction of n operands."""
    counts = done.counts
    most = 3 * n + 2
    registers = counts[N_REGISTERS]
    return bool(
        n <= MOST_OPERANDS
        and registers + most < done.steps.shape[0]
        and done.scope_starts[registers] + (most + 4) * MOST_LOCAL < done.scopes.size
        and counts[KEYS_END] + most * 4 * MOST_LOCAL < done.keys.size
        and counts[DONE_END] + n + 3 < done.done.size
        and counts[N_DONE] + 2 < done.done_starts.size
    )


@njit
def _numbered(tree: TreeArrays, done: Steps, work: Scratch, n: int, kept: int) -> int:
    """Give local numbers to variables and operands; return the mask of what is kept, or -1."""
    local_of = work.local_of
    n_variables = 0
    for i in range(n):
        register = work.operands[i]
        mask = 0
        for j in range(done.scope_starts[register], done.scope_starts[register + 1]):
            v = done.scopes[j]
            if local_of[v] < 0:
                if n_variables == MOST_LOCAL:
                    return -1
                local_of[v] = n_variables
                work.variables[n_variables] = v
                work.sizes[n_variables] = tree.sizes[v]
                n_variables += 1
            mask |= 1 << local_of[v]
        work.masks[i] = mask
        work.registers[i] = register
    work.counts[_VARIABLES] = n_variables
    work.counts[_REGISTERS] = n
    keep = 0
    for j in range(tree.set_starts[kept], tree.set_starts[kept + 1]):
        local = local_of[tree.set_members[j]]
        if local >= 0:
            keep |= 1 << local
    return keep


@njit
def _needed(work: Scratch, left: Ints, n: int, pair: tuple[int, int], keep: int) -> int:
    """Return what is kept, or is in other operands than the pair of these places."""
    needed = keep
    for i in range(n):
        if i != pair[0] and i != pair[1]:
            needed |= work.masks[left[i]]
    return needed


@njit
def _cheapest(work: Scratch, left: Ints, n: int, keep: int, is_direct: bool) -> tuple[int, int]:
    """Return the places of the pair to multiply next: least growth of memory, then least work.

    Ties are broken on the local numbers of the registers or, if ``is_direct``, on their places.
    """
    masks, local_sizes = work.masks, work.sizes
    if is_direct:
        for j in range(1, n):
            for i in range(j):
                if masks[left[i]] == masks[left[j]]:
                    return i, j
    best = (0, 0)
    least = (0, 0, 0, 0)
    for j in range(1, n):
        for i in range(j):
            first, second = masks[left[i]], masks[left[j]]
            needed = keep
            for other in range(n):
                if other != i and other != j:
                    needed |= masks[left[other]]
            before = size_of(first, local_sizes) + size_of(second, local_sizes)
            union = first | second
            growth = size_of(union & needed, local_sizes) - before
            names = (i, j) if is_direct else (int(left[i]), int(left[j]))
            score = (growth, size_of(union, local_sizes), names[0], names[1])
            if best[1] == 0 or score < least:
                best, least = (i, j), score
    return best


@njit
def _directly(done: Steps, work: Scratch, sizes: Ints, pair: tuple[int, int], keep: int) -> int:
    """Add the steps that multiply two of a few tables and sum the product to ``keep``."""
    first, second = pair
    masks = work.masks
    own, others = masks[first], masks[second]
    if own == others:
        product = broadcast(done, work, sizes, first, second)
        return reduce(done, work, sizes, product, keep)
    gone = (own | others) & ~keep
    summed = own & others & gone
    if summed != gone:
        first = reduce(done, work, sizes, first, keep | others)
        second = reduce(done, work, sizes, second, keep | own)
    if size_of(masks[first], work.sizes) < size_of(masks[second], work.sizes):
        first, second = second, first
    if summed:
        return matrix_product(done, work, sizes, (first, second), summed)
    return broadcast(done, work, sizes, first, second)


@njit
def _by_recipe(done: Steps, work: Scratch, sizes: Ints, pair: tuple[int, int], keep: int) -> int:
    """Add the product of two of many operands, or of functions, summed to ``keep``."""
    masks = work.masks
    first = reduce(done, work, sizes, pair[0], keep | masks[pair[1]])
    second = reduce(done, work, sizes, pair[1], keep | masks[first])
    if size_of(masks[first], work.sizes) < size_of(masks[second], work.sizes):
        first, second = second, first
    both = masks[first] & masks[second]
    summed = both & ~keep
    if not summed:
        return broadcast(done, work, sizes, first, second)
    for table, other in ((first, second), (second, first)):
        register = work.registers[table]
        child = done.children[register] if register < done.children.size else -1
        if child >= 0 and both == 1 << work.local_of[child]:
            return look_up(done, work, sizes, table, other)
    return matrix_product(done, work, sizes, (first, second), summed)


@njit
def _merged_twins(done: Steps, work: Scratch, sizes: Ints, left: Ints, n: int) -> int:
    """Multiply the operands over the same variables; return how many operands remain."""
    kept = 0
    for i in range(n):
        twin = -1
        for j in range(kept):
            if work.masks[left[j]] == work.masks[i]:
                twin = j
                break
        if twin >= 0:
            left[twin] = broadcast(done, work, sizes, int(left[twin]), i)
        else:
            left[kept] = i
            kept += 1
    return kept


@njit
def _carry_out(done: Steps, work: Scratch, sizes: Ints, n: int, keep: int) -> int:
    """Add the steps of a contraction; return its register."""
    left = work.operands
    is_direct = n <= _MOST_DIRECT
    for i in range(n):
        register = work.registers[i]
        left[i] = i
        if register < done.children.size and done.children[register] >= 0:
            is_direct = False
    if n == 1:
        return int(work.registers[reduce(done, work, sizes, 0, keep)])
    if not is_direct:
        n = _merged_twins(done, work, sizes, left, n)
    while n > 1:
        i, j = 0, 1
        if n > 2:
            i, j = _cheapest(work, left, n, keep, is_direct)
        needed = _needed(work, left, n, (i, j), keep)
        pair = (int(left[i]), int(left[j]))
        if is_direct:
            product = _directly(done, work, sizes, pair, needed)
        else:
            product = _by_recipe(done, work, sizes, pair, needed)
        kept = 0
        for place in range(n):
            if place != i and place != j:
                left[kept] = left[place]
                kept += 1
        left[kept] = product
        n -= 1
    last = int(left[0])
    return int(work.registers[last if is_direct else reduce(done, work, sizes, last, keep)])


@njit
def contract(tree: TreeArrays, done: Steps, work: Scratch, n: int, kept: int) -> int:
    """Add the steps that contract n operands to a set of variables; return the register.

    The result is -1 if there are no operands. The count `FAILED` is set if there is no room.
    """
    counts, operands = done.counts, work.operands
    if n == 0 or counts[FAILED]:
        return -1
    if not _has_room(done, n):
        counts[FAILED] = 1
        return -1
    for i in range(1, n):
        register = operands[i]
        j = i
        while j and operands[j - 1] > register:
            operands[j] = operands[j - 1]
            j -= 1
        operands[j] = register
    end = counts[DONE_END]
    row = done.done[end : end + n + 2]
    row[0] = n
    row[1] = kept
    row[2:] = operands[:n]
    table = (done.done_starts, done.done, done.done_slots)
    known, slot = find(row, n + 2, table)
    if known >= 0:
        return int(done.done[done.done_starts[known] + n + 2])
    keep = _numbered(tree, done, work, n, kept)
    result = -1
    if keep < 0:
        counts[FAILED] = 1
    else:
        result = _carry_out(done, work, tree.sizes, n, keep)
        number = counts[N_DONE]
        done.done[end + n + 2] = result
        counts[DONE_END] = end + n + 3
        counts[N_DONE] = number + 1
        done.done_starts[number + 1] = end + n + 3
        done.done_slots[slot] = number
        for i in range(work.counts[_VARIABLES]):
            work.local_of[work.variables[i]] = -1
    return result
