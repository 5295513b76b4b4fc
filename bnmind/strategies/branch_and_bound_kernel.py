"""Compiled: the least total of a set of codes, by depth-first branch and bound.

==========================  ======================================================
what saves work             why it is right
==========================  ======================================================
a code that parts all       one guess finds it, and all others are found at the
                            next one: no set does better
one scan of a set           each guess takes at least what its cells take, and
                            each cell at least what its own scan says
early end                   the bounds of the cells of a guess add up; as soon as
                            they reach the best total so far, it is not better
memo                        a set takes what it takes however one gets there
kinds of guesses            `branch_and_bound_symmetry`
ways of parting             of guesses that part a set alike one is tried; it is
                            told by the keys of the cells that go on
==========================  ======================================================

A set is asked for its total, if that is less than a limit; else for a bound that is not less
than the limit. Calls are kept as frames on a stack of arrays, not as calls: numba does not
keep recursive functions on disk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.branch_and_bound_arrays import INFINITE, Game, Memo, Symmetry, Work
from bnmind.strategies.branch_and_bound_memo import BOUNDED, find, keep
from bnmind.strategies.branch_and_bound_scan import count_cells, parting_code, scan
from bnmind.strategies.branch_and_bound_symmetry import mark_kinds

__all__ = ["search"]

Integers = NDArray[np.int64]

_GUESS, _SIZE, _LEFT, _BEST, _BEST_GUESS, _FLOOR = 0, 1, 2, 3, 4, 5
_N_ORDER, _NEXT, _TOTAL, _PICKED, _LIMIT, _IS_OPEN = 6, 7, 8, 9, 10, 11
_TRIED, _VALUE, _IS_MARKED = 12, 13, 14

_UNKNOWN, _KNOWN, _SCANNED = 0, 1, 2  # what is known of a cell
_SCANNED_CODES = 64  # up to so many codes sets are scanned by bits; beyond, cells are counted
_NUMBER = 1 << 20  # guesses are fewer: they are packed behind what orders them


@njit
def search(
    game: Game,
    symmetry: Symmetry,
    memo: Memo,
    work: Work,
    codes: Integers,
    guesses: Integers,
    limit: int,
    left: int,
) -> int:
    """Return the total of a set if it is less than a limit, else a bound not less than it.

    Parameters
    ----------
    game, symmetry, memo, work
        The game, and what is worked with. The memo may be used again for the same game, and
        for no other.
    codes
        The set, ascending.
    guesses
        The guesses made before; a first guess that is negative says that those to try are
        marked in ``work.masks[0]``.
    limit
        The limit.
    left
        How many guesses may still be made; `INFINITE` if any number.

    Returns
    -------
    int
        −1 if the budget is used up, or the search is too deep.
    """
    is_given = guesses.size == 1 and guesses[0] < 0
    first = 0 if is_given else guesses.size
    for above in range(first):
        work.frames[above, _GUESS] = guesses[above]
    key, check = np.uint64(0), np.uint64(0)
    for i in range(codes.size):
        work.sets[first, 0, i] = codes[i]
        key ^= game.keys[codes[i], 0]
        check ^= game.keys[codes[i], 1]
    if left < INFINITE:
        key ^= _key_of_left(left)
    if is_given:
        key = ~key  # what is best among some guesses is nothing to remember
    else:
        mark_kinds(symmetry, work, first)
    work.openings[:] = -1
    frame = work.frames[first]
    frame[_SIZE], frame[_LEFT], frame[_LIMIT] = codes.size, left, limit
    work.frame_keys[first, 0], work.frame_keys[first, 1] = key, check
    value = _enter(game, memo, work, first)
    if value >= 0:
        return value
    depth = first
    while True:
        if _advance(game, symmetry, memo, work, depth):
            if depth + 1 >= work.frames.shape[0] - 1:
                work.counts[6] = 2
            if work.counts[6]:
                return -1
            value = _enter(game, memo, work, depth + 1)
            if value < 0:
                depth += 1
                continue
        else:
            value = int(work.frames[depth, _VALUE])
            if depth == first:
                return value
            depth -= 1
        frame, bounds, known = work.frames[depth], work.cells[depth, 1], work.cells[depth, 2]
        picked = frame[_PICKED]
        frame[_TOTAL] += value - bounds[picked]
        bounds[picked], known[picked] = value, _KNOWN


@njit
def _key_of_left(left: int) -> np.uint64:
    return np.uint64(left + 1) * np.uint64(0x9E3779B97F4A7C15)


@njit
def _enter(game: Game, memo: Memo, work: Work, depth: int) -> int:
    """Return the value of a set if it is known at once, or −1 with guesses ready to be tried."""
    frame = work.frames[depth]
    n, left, limit, last = frame[_SIZE], frame[_LEFT], frame[_LIMIT], game.last
    if left < INFINITE and n > game.room[left]:
        return INFINITE
    if n == 1:
        return int(last)
    codes = work.sets[depth, 0, :n]
    if n == 2 and depth > 0:
        return int(2 + last)
    if n == 3 and last == 1 and left >= 3 and depth > 0:
        return _three(game, codes)
    if game.tables[0, n] >= limit:
        return int(game.tables[0, n])
    key, check = work.frame_keys[depth, 0], work.frame_keys[depth, 1]
    is_scanned = False
    entry = find(memo, key, check)
    if entry >= 0:
        value = int(memo.values[entry, 0])
        if memo.values[entry, 1] != BOUNDED or value >= limit:
            return value
        is_scanned = True
    work.counts[0] += 1
    masked = work.masks[depth, -1] == 1
    if last == 1 and n <= game.winning + 1 and not is_scanned and not masked:
        guess = parting_code(game, codes)
        if guess >= 0:
            keep(memo, work, key, check, 2 * n - 1, guess)
            return int(2 * n - 1)
    return _list_guesses(game, memo, work, depth)


@njit
def _three(game: Game, codes: Integers) -> int:
    """Return the total of three codes, three guesses being left: 5 if one of them parts them."""
    for i in range(3):
        row = game.places[game.own[codes[i]]]
        if row[codes[(i + 1) % 3]] != row[codes[(i + 2) % 3]]:
            return 5
    return 6


@njit
def _list_guesses(game: Game, memo: Memo, work: Work, depth: int) -> int:
    """List the guesses to be tried, best first; return −1, or a bound if there is none."""
    frame = work.frames[depth]
    n, left, limit, last = frame[_SIZE], frame[_LEFT], frame[_LIMIT], game.last
    codes, bounds, order = work.sets[depth, 0, :n], work.sets[depth, 2], work.order[depth]
    mask = work.masks[depth]
    masked = mask[-1] == 1
    is_large = n > _SCANNED_CODES
    ranks = work.order[work.order.shape[0] - 1]
    if is_large:
        count_cells(game, codes, bounds, ranks)
    else:
        scan(game, work, codes, bounds)
    # With the last guess but one every cell must be a single code.
    top = n + n * last + 1 if left == 1 + last else INFINITE
    most = min(limit, top)
    floor, m = INFINITE, 0
    n_guesses = n if game.possible_only else game.places.shape[0]
    for i in range(n_guesses):
        x = game.own[codes[i]] if game.possible_only else i
        if masked and not mask[x]:
            continue
        if bounds[x] < most:
            order[m] = x
            m += 1
        elif bounds[x] < top:
            floor = min(floor, bounds[x])
    m = _keep_best(order, m, ranks if is_large else bounds, 8 * game.tables[2, n])
    counts = work.cells[work.cells.shape[0] - 1, 0]
    for i in range(m):
        x = order[i]
        if is_large:
            order[i] = ranks[x] * _NUMBER + x
        else:
            counts[:] = 0
            row, pairs = game.places[x], np.int64(0)
            for j in range(n):
                place = row[codes[j]]
                pairs += counts[place]
                counts[place] += 1
            order[i] = ((bounds[x] << 13) + pairs) * _NUMBER + x
    order[:m].sort()
    for i in range(m):
        order[i] &= _NUMBER - 1
    if m == 0:
        value = int(max(floor, game.tables[0, n], limit))
        keep(memo, work, work.frame_keys[depth, 0], work.frame_keys[depth, 1], value, BOUNDED)
        return value
    frame[_BEST], frame[_BEST_GUESS], frame[_FLOOR] = most, -1, floor
    frame[_N_ORDER], frame[_NEXT], frame[_IS_OPEN], frame[_TRIED] = m, 0, 0, 0
    work.seen[depth, :] = 0
    return -1


@njit
def _keep_best(order: Integers, m: int, values: Integers, wanted: int) -> int:
    """Keep of guesses so many of the least values, and what is as good; return how many.

    Where few guesses are tried, it takes longer to sort all of them than to try those.
    """
    if m <= wanted:
        return m
    last = np.partition(values[order[:m]], wanted)[wanted]
    kept = 0
    for i in range(m):
        if values[order[i]] <= last:
            order[kept] = order[i]
            kept += 1
    return kept


@njit
def _advance(game: Game, symmetry: Symmetry, memo: Memo, work: Work, depth: int) -> bool:
    """Go on with a set until a cell must be entered, and return whether one must."""
    frame = work.frames[depth]
    n, starts = frame[_SIZE], work.cells[depth, 0]
    bounds, known = work.cells[depth, 1], work.cells[depth, 2]
    while True:
        if not frame[_IS_OPEN]:
            if frame[_NEXT] >= frame[_N_ORDER] or frame[_TRIED] >= game.tables[2, n]:
                _finish(game, memo, work, depth)
                return False
            guess = work.order[depth, frame[_NEXT]]
            frame[_NEXT] += 1
            if work.sets[depth, 2, guess] >= frame[_BEST]:
                frame[_FLOOR] = min(frame[_FLOOR], work.sets[depth, 2, guess])
            else:
                _open(game, memo, work, depth, guess)
            continue
        picked, size = -1, INFINITE
        if frame[_TOTAL] < frame[_BEST]:
            for j in range(game.winning + 1):
                if known[j] != _KNOWN and starts[j + 1] - starts[j] < size:
                    picked, size = j, starts[j + 1] - starts[j]
        if picked < 0:
            _close(work, depth)
            continue
        if not frame[_IS_MARKED]:
            frame[_IS_MARKED] = 1
            mark_kinds(symmetry, work, depth + 1)
        frame[_PICKED] = picked
        work.sets[depth + 1, 0, :size] = work.sets[depth, 1, starts[picked] : starts[picked] + size]
        work.frame_keys[depth + 1] = work.cell_keys[depth, picked]
        below = work.frames[depth + 1]
        below[_SIZE], below[_LEFT] = size, _one_less(frame[_LEFT])
        below[_LIMIT] = frame[_BEST] - frame[_TOTAL] + bounds[picked]
        return True


@njit
def _one_less(left: int) -> int:
    return left if left >= INFINITE else left - 1


@njit
def _close(work: Work, depth: int) -> None:
    """Be done with a guess: it is the best one so far, or its bound is put down."""
    frame = work.frames[depth]
    frame[_IS_OPEN] = 0
    if frame[_TOTAL] < frame[_BEST]:
        frame[_BEST], frame[_BEST_GUESS] = frame[_TOTAL], frame[_GUESS]
    else:
        frame[_FLOOR] = min(frame[_FLOOR], frame[_TOTAL])
    if depth == 0:
        work.openings[frame[_GUESS]] = frame[_TOTAL]


@njit
def _finish(game: Game, memo: Memo, work: Work, depth: int) -> None:
    """Be done with a set."""
    frame = work.frames[depth]
    guess = frame[_BEST_GUESS]
    if guess >= 0:
        value = frame[_BEST]
    else:
        value = max(frame[_FLOOR], game.tables[0, frame[_SIZE]], frame[_LIMIT])
        guess = BOUNDED
    frame[_VALUE] = value
    keep(memo, work, work.frame_keys[depth, 0], work.frame_keys[depth, 1], value, guess)


@njit
def _open(game: Game, memo: Memo, work: Work, depth: int, guess: int) -> None:
    """Part a set by a guess and bound the cells; nothing is open if it cannot be better."""
    frame = work.frames[depth]
    n, last, best = frame[_SIZE], game.last, frame[_BEST]
    codes, row = work.sets[depth, 0, :n], game.places[guess]
    starts, bounds, known = work.cells[depth, 0], work.cells[depth, 1], work.cells[depth, 2]
    keys = work.cell_keys[depth]
    n_replies = game.winning + 1
    starts[:] = 0
    keys[:] = 0
    for i in range(n):
        place = row[codes[i]]
        starts[place + 1] += 1
        keys[place, 0] ^= game.keys[codes[i], 0]
        keys[place, 1] ^= game.keys[codes[i], 1]
    goes_on = n_replies - last
    way = np.uint64(0)
    for j in range(n_replies):
        if starts[j + 1] == n:
            return  # it tells nothing
        if j < goes_on:
            word = (keys[j, 0] ^ (keys[j, 0] >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
            way += word ^ (word >> np.uint64(29))
    if _is_seen(work, depth, way):
        return
    work.counts[1] += 1
    frame[_TRIED] += 1
    if work.counts[1] > work.counts[5]:
        work.counts[6] = 1
    left = _one_less(frame[_LEFT])
    total = n
    for j in range(n_replies):
        size, known[j], bounds[j] = starts[j + 1], _KNOWN, 0
        if size == 0 or j >= goes_on:
            continue
        if left < INFINITE:
            keys[j, 0] ^= _key_of_left(left)
            if size > game.room[left]:
                bounds[j] = INFINITE
                total += INFINITE
                continue
        if size <= 2:
            bounds[j] = last if size == 1 else 2 + last
        else:
            bounds[j], known[j] = game.tables[0, size], _UNKNOWN
            if size > 3 or last == 0 or left < 3:
                entry = find(memo, keys[j, 0], keys[j, 1])
                if entry >= 0:
                    bounds[j] = memo.values[entry, 0]
                    known[j] = _SCANNED if memo.values[entry, 1] == BOUNDED else _KNOWN
        total += bounds[j]
    frame[_GUESS], frame[_TOTAL], frame[_IS_OPEN], frame[_IS_MARKED] = guess, total, 1, 0
    if total < best:
        parted = work.sets[depth, 1]
        for j in range(n_replies):
            starts[j + 1] += starts[j]
        for i in range(n - 1, -1, -1):
            place = row[codes[i]]
            starts[place + 1] -= 1
            parted[starts[place + 1]] = codes[i]
        # What was the end of each cell is its start now.
        for j in range(n_replies):
            starts[j] = starts[j + 1]
        starts[n_replies] = n
        _scan_cells(game, memo, work, depth)
    if frame[_TOTAL] >= best:
        _close(work, depth)


@njit
def _is_seen(work: Work, depth: int, way: np.uint64) -> bool:
    """Return whether a way of parting a set was met before; from now on it was."""
    seen = work.seen[depth]
    way |= np.uint64(1)
    for t in range(16):
        place = np.int64((way >> np.uint64(20)) + np.uint64(t)) & (seen.size - 1)
        if seen[place] == way:
            return True
        if seen[place] == 0:
            seen[place] = way
            return False
    return False


@njit
def _scan_cells(game: Game, memo: Memo, work: Work, depth: int) -> None:
    """Bound each cell by a scan of its own, until the guess cannot be the best."""
    frame = work.frames[depth]
    starts, bounds, known = work.cells[depth, 0], work.cells[depth, 1], work.cells[depth, 2]
    left, last = _one_less(frame[_LEFT]), game.last
    parted, scratch = work.sets[depth, 1], work.sets[work.sets.shape[0] - 1, 2]
    for turn in range(2):
        for j in range(game.winning + 1):
            if frame[_TOTAL] >= frame[_BEST]:
                return
            size = starts[j + 1] - starts[j]
            if known[j] != _UNKNOWN or size > _SCANNED_CODES:
                continue
            codes = parted[starts[j] : starts[j + 1]]
            value = bounds[j]
            if size == 3 and last == 1 and left >= 3:
                value = _three(game, codes)
                known[j] = _KNOWN
            elif turn == 1:
                value = _bound_by_scan(game, memo, work, codes, work.cell_keys[depth, j], scratch)
                known[j] = _KNOWN if value == 2 * size - 1 and last == 1 else _SCANNED
            frame[_TOTAL] += value - bounds[j]
            bounds[j] = value


@njit
def _bound_by_scan(
    game: Game,
    memo: Memo,
    work: Work,
    codes: Integers,
    keys: NDArray[np.uint64],
    scratch: Integers,
) -> int:
    """Return a bound of a set; where codes are to be revealed, 2n − 1 is the total."""
    n, value, guess = codes.size, 2 * codes.size - 1, -1
    work.counts[2] += 1
    if game.last == 1 and n <= game.winning + 1:
        guess = parting_code(game, codes)
    if guess < 0:
        guess = BOUNDED
        scan(game, work, codes, scratch)
        value = INFINITE
        for x in range(game.places.shape[0]):
            value = min(value, int(scratch[x]))
        value = max(value, int(game.tables[0, n]))
    keep(memo, work, keys[0], keys[1], value, guess)
    return value
