"""The steps of contractions in compiled code; twin of `bnmind.junction.program.products`.

An operation is a row of numbers, its *key*: the kind (`SUM`, `MATRIX`, `BROADCAST`, `LOOK_UP`), and
what `bnmind.junction.program.layout.operations` reads. Equal operations have one number.
"""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    KEYS_END,
    N_KEYS,
    N_REGISTERS,
    Ints,
    Scratch,
    Steps,
)

__all__ = [
    "BROADCAST",
    "LOOK_UP",
    "MATRIX",
    "SUM",
    "broadcast",
    "find",
    "look_up",
    "matrix_product",
    "reduce",
    "size_of",
]

SUM, MATRIX, BROADCAST, LOOK_UP = range(4)
"""The kinds of operations."""

_REGISTERS = 1
"""The place of the number of registers in the counts of `Scratch`."""


@njit
def size_of(mask: int, sizes: Ints) -> int:
    """Return the number of configurations of the variables in a mask, from their local sizes."""
    size = 1
    local = 0
    while mask:
        if mask & 1:
            size *= sizes[local]
        mask >>= 1
        local += 1
    return size


@njit
def find(row: Ints, length: int, table: tuple[Ints, Ints, Ints]) -> tuple[int, int]:
    """Return the number of a row in a table of rows, or -1, and its slot in the hash table."""
    starts, rows, slots = table
    code = length
    for i in range(length):
        code = ((code ^ row[i]) * 1000003) & 0x3FFFFFFFFF
    slot = (code ^ (code >> 17)) & (slots.size - 1)
    while slots[slot] >= 0:
        number = int(slots[slot])
        start = starts[number]
        if starts[number + 1] - start >= length:
            same = True
            for i in range(length):
                if rows[start + i] != row[i]:
                    same = False
                    break
            if same:
                return number, slot
        slot = (slot + 1) & (slots.size - 1)
    return -1, slot


@njit
def _begin(key: Ints, kind: int) -> None:
    """Begin a key. Its first number is its length."""
    key[0] = 2
    key[1] = kind


@njit
def _put(key: Ints, number: int) -> None:
    key[key[0]] = number
    key[0] += 1


@njit
def _add(
    done: Steps, work: Scratch, left: int, right: int, scope: tuple[int, int], cells: int
) -> int:
    """Add a step; return the local number of the register that it fills.

    ``scope`` holds the mask of the register, and the number of its variables, which are at the end
    of the list of scopes.
    """
    counts = done.counts
    key = work.key
    length = key[0]
    table = (done.key_starts, done.keys, done.key_slots)
    operation, slot = find(key, length, table)
    if operation < 0:
        operation = int(counts[N_KEYS])
        end = counts[KEYS_END]
        done.keys[end : end + length] = key[:length]
        counts[KEYS_END] = end + length
        counts[N_KEYS] = operation + 1
        done.key_starts[operation + 1] = end + length
        done.key_slots[slot] = operation
    register = counts[N_REGISTERS]
    counts[N_REGISTERS] = register + 1
    done.scope_starts[register + 1] = done.scope_starts[register] + scope[1]
    row = done.steps[register]
    row[0], row[1], row[2], row[3] = operation, work.registers[left], work.registers[right], cells
    local = work.counts[_REGISTERS]
    work.counts[_REGISTERS] = local + 1
    work.masks[local] = scope[0]
    work.registers[local] = register
    return int(local)


@njit
def _span(starts: Ints, register: int) -> tuple[int, int]:
    return int(starts[register]), int(starts[register + 1])


@njit
def _put_axes(scopes: Ints, key: Ints, span: tuple[int, int], order: tuple[int, int]) -> None:
    """Write the axes that bring a scope into an order, which is a part of the list of scopes.

    Variables that the scope lacks are skipped. There are no axes if the scope has that order.
    """
    place = key[0]
    _put(key, 0)
    same = True
    n = 0
    for i in range(order[0], order[1]):
        for axis in range(span[0], span[1]):
            if scopes[axis] == scopes[i]:
                same = same and axis - span[0] == n
                _put(key, axis - span[0])
                n += 1
                break
    if same:
        key[0] = place + 1
    else:
        key[place] = n


@njit
def reduce(done: Steps, work: Scratch, sizes: Ints, local: int, needed: int) -> int:
    """Add the step that sums a register to variables, if it has others."""
    mask = work.masks[local]
    if not mask & ~needed:
        return local
    first, last = _span(done.scope_starts, work.registers[local])
    end = done.scope_starts[done.counts[N_REGISTERS]]
    key = work.key
    _begin(key, SUM)
    cells = size_of(mask, work.sizes)
    _put(key, cells)
    n = 0
    for i in range(first, last):
        v = done.scopes[i]
        if needed >> work.local_of[v] & 1:
            done.scopes[end + n] = v
            n += 1
        else:
            _put(key, i - first)
    kept = mask & needed
    return _add(done, work, local, local, (kept, n), size_of(kept, work.sizes))


@njit
def matrix_product(
    done: Steps, work: Scratch, sizes: Ints, pair: tuple[int, int], summed: int
) -> int:
    """Add the product of two registers, summed over shared variables."""
    left, right = pair
    left_mask, right_mask = work.masks[left], work.masks[right]
    batch = left_mask & right_mask & ~summed
    rows, columns = left_mask & ~right_mask, right_mask & ~left_mask
    scopes, local_of = done.scopes, work.local_of
    left_span, right_span = (
        _span(done.scope_starts, work.registers[left]),
        _span(done.scope_starts, work.registers[right]),
    )
    # The scope is: batch, rows, columns. Behind it, the orders of the operands are written.
    end = done.scope_starts[done.counts[N_REGISTERS]]
    to = end
    n_batch = n_rows = n_columns = n_middle = 0
    for i in range(left_span[0], left_span[1]):
        if batch >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
            n_batch += 1
    for i in range(left_span[0], left_span[1]):
        if rows >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
            n_rows += 1
    for i in range(right_span[0], right_span[1]):
        if columns >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
            n_columns += 1
    last = to
    for i in range(left_span[0], left_span[1]):
        if summed >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
            n_middle += 1
    # Left: batch, rows, summed. Right: batch, summed, columns.
    left_order = to
    for i in range(end, end + n_batch + n_rows):
        scopes[to] = scopes[i]
        to += 1
    for i in range(last, last + n_middle):
        scopes[to] = scopes[i]
        to += 1
    right_order = to
    for i in range(end, end + n_batch):
        scopes[to] = scopes[i]
        to += 1
    for i in range(last, last + n_middle):
        scopes[to] = scopes[i]
        to += 1
    for i in range(last - n_columns, last):
        scopes[to] = scopes[i]
        to += 1
    b, m = size_of(batch, work.sizes), size_of(rows, work.sizes)
    k, n = size_of(summed, work.sizes), size_of(columns, work.sizes)
    single = n_rows == 1 and n_middle == 1 and n_columns == 1 and n_batch == int(b > 1)
    key = work.key
    _begin(key, MATRIX)
    _put(key, b)
    _put(key, m)
    _put(key, k)
    _put(key, n)
    _put(key, int(single))
    _put_axes(scopes, key, left_span, (left_order, right_order))
    _put_axes(scopes, key, right_span, (right_order, to))
    for i in range(end, last):
        _put(key, sizes[scopes[i]])
    return _add(done, work, left, right, (batch | rows | columns, last - end), b * m * n)


@njit
def broadcast(done: Steps, work: Scratch, sizes: Ints, left: int, right: int) -> int:
    """Add the product without sums, over the left variables and then the right's others."""
    left_mask, right_mask = work.masks[left], work.masks[right]
    scopes, local_of = done.scopes, work.local_of
    left_span, right_span = (
        _span(done.scope_starts, work.registers[left]),
        _span(done.scope_starts, work.registers[right]),
    )
    end = done.scope_starts[done.counts[N_REGISTERS]]
    to = end
    for i in range(left_span[0], left_span[1]):
        scopes[to] = scopes[i]
        to += 1
    for i in range(right_span[0], right_span[1]):
        if not left_mask >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
    key = work.key
    _begin(key, BROADCAST)
    _put(key, left_span[1] - left_span[0])
    _put(key, right_span[1] - right_span[0])
    _put_axes(scopes, key, right_span, (end, to))
    for i in range(end, to):
        _put(key, sizes[scopes[i]])
    for i in range(end, to):
        _put(key, sizes[scopes[i]] if right_mask >> local_of[scopes[i]] & 1 else 1)
    union = left_mask | right_mask
    return _add(done, work, left, right, (union, to - end), size_of(union, work.sizes))


@njit
def look_up(done: Steps, work: Scratch, sizes: Ints, table: int, other: int) -> int:
    """Add the product with a deterministic table, summed over its child."""
    child = done.children[work.registers[table]]
    scopes, local_of = done.scopes, work.local_of
    span, others = (
        _span(done.scope_starts, work.registers[table]),
        _span(done.scope_starts, work.registers[other]),
    )
    mask = work.masks[other]
    end = done.scope_starts[done.counts[N_REGISTERS]]
    to = end
    for i in range(span[0], span[1]):
        if scopes[i] != child:
            scopes[to] = scopes[i]
            to += 1
    n_parents = to - end
    parents = work.masks[table] & ~(1 << local_of[child])
    for i in range(others[0], others[1]):
        if scopes[i] != child and not parents >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
    last = to
    # The order of the other: the child, the shared variables, the rest.
    scopes[to] = child
    to += 1
    n_shared = 0
    for i in range(end, last):
        if i >= end + n_parents or mask >> local_of[scopes[i]] & 1:
            scopes[to] = scopes[i]
            to += 1
            n_shared += int(i < end + n_parents)
    key = work.key
    _begin(key, LOOK_UP)
    union = parents | (mask & ~(1 << local_of[child]))
    cells = size_of(union, work.sizes)
    _put(key, cells)
    _put(key, n_shared)
    for i in range(end, end + n_parents):
        if mask >> local_of[scopes[i]] & 1:
            _put(key, i - end)
    for i in range(last, to):
        for axis in range(others[0], others[1]):
            if scopes[axis] == scopes[i]:
                _put(key, axis - others[0])
                break
    return _add(done, work, table, other, (union, last - end), cells)
