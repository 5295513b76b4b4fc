"""The messages of a large tree of factors, laid out in compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit

# --- The memory of compiled code: a tree of cliques and the steps of its messages in one array ----
#
# Compiled code counts the references to each array that a function passes on, which takes longer
# than a step of the layout. So there is one array with sections. It begins with their places: the
# section ``S`` is ``memory[memory[S]]``, ``memory[memory[S] + 1]``, … Lists of lists are two
# sections: list i begins at ``memory[memory[STARTS] + i]`` of the other section, and ends where the
# next one begins.

Ints: TypeAlias = NDArray[np.int64]

MOST_LOCAL = 60
"""The most variables of a contraction in compiled code, which are bits of a mask."""

MOST_OPERANDS = 32
"""The most operands of a contraction in compiled code."""

# The tree and the questions, which do not change.
SIZES = 0
"""The number of states of each variable."""
STARTS, REVERSE, OWNERS, SEPARATORS = range(1, 5)
"""Directed edges, listed by the cliques they leave: the first of each clique, the opposite of each,
the clique it leaves, and the set of variables of its separator."""
ASSIGNED_STARTS, ASSIGNED = range(5, 7)
"""The registers of the tables of each clique."""
SET_STARTS, SET_MEMBERS = range(7, 9)
"""Sets of variables."""
QUESTIONS = 9
"""Four numbers each: the clique; the directed edge whose two messages answer, or -1; the set that
is kept; and the set to which the result is summed afterwards, or -1."""
CHILDREN = 10
"""The child of each input that is a function, or -1."""

# The steps so far.
STEPS = 11
"""Four numbers for each register: the operation, the left and the right register, and the cells."""
SCOPE_STARTS, SCOPES = range(12, 14)
"""The variables of each register."""
KEY_STARTS, KEYS, KEY_SLOTS = range(14, 17)
"""The operations, each once; and their hash table."""
DONE_STARTS, DONE, DONE_SLOTS = range(17, 20)
"""The operands, the set and the register of each contraction; and their hash table."""
MESSAGES = 20
"""The register of each message; -1 if it is one everywhere, -2 if it is not sent."""
ANSWERS = 21
"""The register of each question, or -1."""

# The present contraction. Its variables and registers have local numbers.
LOCAL_OF = 22
"""The local number of each variable, or -1."""
VARIABLES, LOCAL_SIZES = range(23, 25)
"""The variable of each local number, and its number of states."""
MASKS, REGISTERS = range(25, 27)
"""The variables of each local register, as bits of a mask, and its number."""
OPERANDS = 27
"""The operands, and then what remains of them."""
KEY = 28
"""The key of the next operation. Its first number is its length."""
WAITING = 29
"""Directed edges whose messages are waited for."""

_N_SECTIONS = 30

# Single numbers, after the places of the sections.
N_INPUTS, N_QUESTIONS, N_REGISTERS, N_KEYS, N_DONE = range(31, 36)
N_VARIABLES, N_LOCAL = range(36, 38)
"""The numbers of local variables and registers."""
FAILED = 38
"""Whether there was no room."""
_BEGIN = 40
"""The place of the first section, behind the place where the last one ends."""


def empty_sections(
    scopes: list[tuple[int, ...]], counts: tuple[int, int, int], most: int
) -> dict[int, Ints | int]:
    """Return the sections that compiled code fills, or their lengths.

    Parameters
    ----------
    scopes
        The variables of the inputs.
    counts
        The number of variables, of directed edges, and of questions.
    most
        The most steps.
    """
    n = len(scopes)
    n_variables, n_edges, n_questions = counts
    starts = np.cumsum([0, *map(len, scopes)], dtype=np.int64)
    members = np.array([v for scope in scopes for v in scope], dtype=np.int64)
    slots = np.full(1 << most.bit_length(), -1, np.int64)
    return {
        STEPS: 4 * (n + most),
        SCOPE_STARTS: _followed(starts, most),
        SCOPES: _followed(members, 12 * most + 8 * MOST_LOCAL * MOST_OPERANDS),
        KEY_STARTS: _followed(np.zeros(1, np.int64), most),
        KEYS: 12 * most + 16 * MOST_LOCAL * MOST_OPERANDS,
        KEY_SLOTS: slots,
        DONE_STARTS: _followed(np.zeros(1, np.int64), most),
        DONE: 8 * most + 4 * MOST_OPERANDS,
        DONE_SLOTS: slots,
        MESSAGES: np.full(n_edges, -2, np.int64),
        ANSWERS: n_questions,
        LOCAL_OF: np.full(n_variables, -1, np.int64),
        VARIABLES: MOST_LOCAL,
        LOCAL_SIZES: MOST_LOCAL,
        MASKS: 5 * MOST_OPERANDS,
        REGISTERS: 5 * MOST_OPERANDS,
        OPERANDS: 2 * MOST_OPERANDS,
        KEY: 8 * MOST_LOCAL,
        WAITING: n_edges + 1,
    }


def _followed(numbers: Ints, more: int) -> Ints:
    """Return numbers, with room for more of them."""
    roomy = np.empty(len(numbers) + more, np.int64)
    roomy[: len(numbers)] = numbers
    return roomy


def memory_of(sections: Mapping[int, Ints | int], n_inputs: int, n_questions: int) -> Ints:
    """Return the memory with these sections, given by their contents or their lengths."""
    lengths = [sections[i] for i in range(_N_SECTIONS)]
    places = np.cumsum([_BEGIN, *(n if isinstance(n, int) else n.size for n in lengths)])
    memory = np.empty(int(places[-1]), np.int64)
    memory[:_BEGIN] = 0
    memory[: _N_SECTIONS + 1] = places
    memory[[N_INPUTS, N_QUESTIONS, N_REGISTERS]] = n_inputs, n_questions, n_inputs
    for i, contents in sections.items():
        if not isinstance(contents, int):
            memory[places[i] : places[i + 1]] = contents.ravel()
    return memory


# --- The steps of contractions; twin of `bnmind.junction.program.contraction` ---------------------
#
# An operation is a row of numbers, its *key*: its length, the kind (`SUM`, `MATRIX`, `BROADCAST`,
# `LOOK_UP`), and numbers that `bnmind.junction.program.message_passing` reads. Equal
# operations have one number.

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


# Contractions in compiled code; twin of `bnmind.junction.program.contraction` and its recipes.

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


# --- Messages in compiled code; twin of `bnmind.junction.program.message_passing.Passing` ---------


@njit
def _at_clique(m: Ints, clique: int, receiver: int, kept: int) -> int:
    """Contract a clique's tables with all messages but that along the edge to the receiver."""
    n = 0
    starts = m[ASSIGNED_STARTS] + clique
    for i in range(m[starts], m[starts + 1]):
        if n <= MOST_OPERANDS:
            m[m[OPERANDS] + n] = m[m[ASSIGNED] + i]
            n += 1
    for edge in range(m[m[STARTS] + clique], m[m[STARTS] + clique + 1]):
        message = m[m[MESSAGES] + m[m[REVERSE] + edge]]
        if edge != receiver and message >= 0 and n <= MOST_OPERANDS:
            m[m[OPERANDS] + n] = message
            n += 1
    return contract(m, n, kept)


@njit
def _sent(m: Ints, edge: int) -> int:
    """Return the message along a directed edge; send it, and first those it depends on."""
    messages, waiting = m[MESSAGES], m[WAITING]
    n = 0
    if m[messages + edge] == -2:
        m[waiting] = edge
        n = 1
    while n:
        last = m[waiting + n - 1]
        source = m[m[OWNERS] + last]
        before = n
        for other in range(m[m[STARTS] + source], m[m[STARTS] + source + 1]):
            missing = m[m[REVERSE] + other]
            if other != last and m[messages + missing] == -2:
                m[waiting + n] = missing
                n += 1
        if n == before:
            n -= 1
            m[messages + last] = _at_clique(m, source, last, m[m[SEPARATORS] + last])
    return int(m[messages + edge])


@njit
def answered(m: Ints) -> bool:
    """Answer all questions; return whether there was room."""
    for number in range(m[N_QUESTIONS]):
        question = m[QUESTIONS] + 4 * number
        edge = m[question + 1]
        if edge >= 0:
            first, second = _sent(m, edge), _sent(m, m[m[REVERSE] + edge])
            n = 0
            if first >= 0:
                m[m[OPERANDS]] = first
                n = 1
            if second >= 0:
                m[m[OPERANDS] + n] = second
                n += 1
            register = contract(m, n, m[question + 2])
        else:
            clique = m[question]
            for other in range(m[m[STARTS] + clique], m[m[STARTS] + clique + 1]):
                _sent(m, m[m[REVERSE] + other])
            register = _at_clique(m, clique, -1, m[question + 2])
        if m[question + 3] >= 0 and register >= 0:
            m[m[OPERANDS]] = register
            register = contract(m, 1, m[question + 3])
        m[m[ANSWERS] + number] = register
        if m[FAILED]:
            return False
    return True
