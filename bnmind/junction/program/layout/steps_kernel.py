"""The steps of contractions in compiled code; twin of `bnmind.junction.program.products`.

An operation is a row of numbers, its *key*: its length, the kind (`SUM`, `MATRIX`, `BROADCAST`,
`LOOK_UP`), and numbers that `bnmind.junction.program.layout.compiled_messages` reads. Equal
operations have one number.
"""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    CHILDREN,
    KEY,
    KEY_SLOTS,
    KEY_STARTS,
    KEYS,
    LOCAL_OF,
    LOCAL_SIZES,
    MASKS,
    N_KEYS,
    N_LOCAL,
    N_REGISTERS,
    REGISTERS,
    SCOPE_STARTS,
    SCOPES,
    SIZES,
    STEPS,
    Ints,
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

SUM = 0
MATRIX = 1
BROADCAST = 2
LOOK_UP = 3
"""The kinds of operations."""


@njit
def size_of(m: Ints, mask: int) -> int:
    """Return the number of configurations of the variables in a mask."""
    size = 1
    place = m[LOCAL_SIZES]
    while mask:
        if mask & 1:
            size *= m[place]
        mask >>= 1
        place += 1
    return size


@njit
def find(m: Ints, row: int, starts: int, slots: int) -> int:
    """Return the slot of a row of numbers in a hash table, which is empty if the row is new.

    The first number of a row is its length; ``row`` is its place in the memory. The sections
    ``starts``, ``starts`` + 1 and ``slots`` hold the known rows and the table.
    """
    length = m[row]
    code = 0
    for i in range(row, row + length):
        code = ((code ^ m[i]) * 1000003) & 0x3FFFFFFFFF
    first = m[slots]
    last = m[slots + 1] - first - 1
    slot = (code ^ (code >> 17)) & last
    while m[first + slot] >= 0:
        other = m[starts + 1] + m[m[starts] + m[first + slot]]
        i = 0
        while i < length and m[other + i] == m[row + i]:
            i += 1
        if i == length:
            break
        slot = (slot + 1) & last
    return int(first + slot)


@njit
def _begin(m: Ints, kind: int) -> None:
    m[m[KEY]] = 2
    m[m[KEY] + 1] = kind


@njit
def _put(m: Ints, number: int) -> None:
    """Add a number to the key."""
    key = m[KEY]
    m[key + m[key]] = number
    m[key] += 1


@njit
def _add(m: Ints, left: int, right: int, mask: int, n: int) -> int:
    """Add a step; return the local number of the register that it fills.

    The mask and the number of the register's variables are given; they are behind the scopes.
    """
    key = m[KEY]
    slot = find(m, key, KEY_STARTS, KEY_SLOTS)
    operation = m[slot]
    if operation < 0:
        operation = m[N_KEYS]
        m[N_KEYS] += 1
        m[slot] = operation
        length = m[key]
        starts = m[KEY_STARTS] + operation
        to = m[KEYS] + m[starts]
        for i in range(length):
            m[to + i] = m[key + i]
        m[starts + 1] = m[starts] + length
    register = m[N_REGISTERS]
    m[N_REGISTERS] += 1
    starts = m[SCOPE_STARTS] + register
    m[starts + 1] = m[starts] + n
    row = m[STEPS] + 4 * register
    m[row] = operation
    m[row + 1] = m[m[REGISTERS] + left]
    m[row + 2] = m[m[REGISTERS] + right]
    m[row + 3] = size_of(m, mask)
    local = m[N_LOCAL]
    m[N_LOCAL] += 1
    m[m[MASKS] + local] = mask
    m[m[REGISTERS] + local] = register
    return int(local)


@njit
def _scope(m: Ints, local: int) -> tuple[int, int]:
    """Return the places of the scope of a local register."""
    starts = m[SCOPE_STARTS] + m[m[REGISTERS] + local]
    return int(m[SCOPES] + m[starts]), int(m[SCOPES] + m[starts + 1])


@njit
def _end(m: Ints) -> int:
    """Return the place behind all scopes."""
    return int(m[SCOPES] + m[m[SCOPE_STARTS] + m[N_REGISTERS]])


@njit
def _copied(m: Ints, first: int, last: int, mask: int, to: int) -> int:
    """Copy the variables in a mask from a range of places; return the place behind the copies."""
    local_of = m[LOCAL_OF]
    for i in range(first, last):
        if mask >> m[local_of + m[i]] & 1:
            m[to] = m[i]
            to += 1
    return to


@njit
def _put_axes(m: Ints, scope: tuple[int, int], order: tuple[int, int]) -> None:
    """Add the axes that bring a scope into an order; none if it has that order.

    Both are given by their places. Variables that the scope lacks are skipped.
    """
    length = m[m[KEY]]
    _put(m, 0)
    same = True
    n = 0
    for i in range(order[0], order[1]):
        for axis in range(scope[1] - scope[0]):
            if m[scope[0] + axis] == m[i]:
                same = same and axis == n
                _put(m, axis)
                n += 1
                break
    if same:
        m[m[KEY]] = length + 1
    else:
        m[m[KEY] + length] = n


@njit
def reduce(m: Ints, local: int, needed: int) -> int:
    """Add the step that sums a register to variables, if it has others."""
    mask = m[m[MASKS] + local]
    if not mask & ~needed:
        return local
    first, last = _scope(m, local)
    _begin(m, SUM)
    _put(m, size_of(m, mask))
    for i in range(first, last):
        if not needed >> m[m[LOCAL_OF] + m[i]] & 1:
            _put(m, i - first)
    end = _end(m)
    return _add(m, local, local, mask & needed, _copied(m, first, last, needed, end) - end)


@njit
def matrix_product(m: Ints, left: int, right: int, summed: int) -> int:
    """Add the product of two registers, summed over shared variables."""
    left_mask, right_mask = m[m[MASKS] + left], m[m[MASKS] + right]
    batch = left_mask & right_mask & ~summed
    rows, columns = left_mask & ~right_mask, right_mask & ~left_mask
    left_scope, right_scope = _scope(m, left), _scope(m, right)
    # The scope: batch, rows, columns. The orders of the operands are written behind it.
    end = _end(m)
    rows_at = _copied(m, left_scope[0], left_scope[1], batch, end)
    columns_at = _copied(m, left_scope[0], left_scope[1], rows, rows_at)
    last = _copied(m, right_scope[0], right_scope[1], columns, columns_at)
    # Left: batch, rows, summed.
    summed_at = _copied(m, end, columns_at, batch | rows, last)
    left_end = _copied(m, left_scope[0], left_scope[1], summed, summed_at)
    # Right: batch, summed, columns.
    right_end = _copied(m, end, rows_at, batch, left_end)
    right_end = _copied(m, summed_at, left_end, summed, right_end)
    right_end = _copied(m, columns_at, last, columns, right_end)
    n_batch, n_rows, n_columns = rows_at - end, columns_at - rows_at, last - columns_at
    b = size_of(m, batch)
    single = n_rows == 1 and left_end - summed_at == 1 and n_columns == 1
    _begin(m, MATRIX)
    _put(m, b)
    _put(m, size_of(m, rows))
    _put(m, size_of(m, summed))
    _put(m, size_of(m, columns))
    _put(m, int(single and n_batch == int(b > 1)))
    _put_axes(m, left_scope, (last, left_end))
    _put_axes(m, right_scope, (left_end, right_end))
    for i in range(end, last):
        _put(m, m[m[SIZES] + m[i]])
    return _add(m, left, right, batch | rows | columns, last - end)


@njit
def broadcast(m: Ints, left: int, right: int) -> int:
    """Add the product without sums, over the left variables and then the right's others."""
    left_mask, right_mask = m[m[MASKS] + left], m[m[MASKS] + right]
    left_scope, right_scope = _scope(m, left), _scope(m, right)
    end = _end(m)
    last = _copied(m, left_scope[0], left_scope[1], left_mask, end)
    last = _copied(m, right_scope[0], right_scope[1], right_mask & ~left_mask, last)
    _begin(m, BROADCAST)
    _put(m, left_scope[1] - left_scope[0])
    _put(m, right_scope[1] - right_scope[0])
    _put_axes(m, right_scope, (end, last))
    for i in range(end, last):
        _put(m, m[m[SIZES] + m[i]])
    for i in range(end, last):
        is_shared = right_mask >> m[m[LOCAL_OF] + m[i]] & 1
        _put(m, m[m[SIZES] + m[i]] if is_shared else 1)
    return _add(m, left, right, left_mask | right_mask, last - end)


@njit
def look_up(m: Ints, table: int, other: int) -> int:
    """Add the product with a deterministic table, summed over its child."""
    child = m[m[CHILDREN] + m[m[REGISTERS] + table]]
    without = ~(1 << m[m[LOCAL_OF] + child])
    parents, mask = m[m[MASKS] + table] & without, m[m[MASKS] + other]
    scope, others = _scope(m, table), _scope(m, other)
    # The scope: the parents, the rest.
    end = _end(m)
    rest_at = _copied(m, scope[0], scope[1], parents, end)
    last = _copied(m, others[0], others[1], mask & ~parents & without, rest_at)
    # The order of the other: the child, the shared variables, the rest.
    m[last] = child
    shared_end = _copied(m, end, rest_at, mask, last + 1)
    order_end = _copied(m, rest_at, last, mask, shared_end)
    _begin(m, LOOK_UP)
    union = parents | (mask & without)
    _put(m, size_of(m, union))
    _put(m, shared_end - last - 1)
    for i in range(end, rest_at):
        if mask >> m[m[LOCAL_OF] + m[i]] & 1:
            _put(m, i - end)
    for i in range(last, order_end):
        for axis in range(others[0], others[1]):
            if m[axis] == m[i]:
                _put(m, axis - others[0])
                break
    return _add(m, table, other, union, last - end)
