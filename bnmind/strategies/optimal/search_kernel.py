"""The smallest total of a set of codes, by depth-first branch and bound, compiled.

==========================  ======================================================
the search saves work by    which is correct because
==========================  ======================================================
codes that separate all     one guess finds the code, and the next one finds any
                            other: no set takes less
one scan of each set        a guess takes at least the bounds of its classes, and a
                            class at least the bound of its own scan
early ends                  the bounds of the classes add up; a guess that reaches
                            the best total so far is not better
a table of sets             the total of a set does not depend on the history
equivalent guesses          of `symmetry_kernel`
equal partitions            guesses with the same partition of a set have the same
                            total; the keys of the classes identify a partition
==========================  ======================================================

For each set, the search returns the total if it is less than a limit, or else a lower bound that is
at least the limit. The stack of recursive calls is an array of frames, since numba does not cache
recursive functions on disk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.optimal.partition_kernel import (
    KNOWN,
    close_guess,
    key_of_left,
    one_less,
    open_guess,
    total_of_three,
)
from bnmind.strategies.optimal.scan_kernel import SCANNED_CODES, count_classes, parting_code, scan
from bnmind.strategies.optimal.search_arrays import INFINITE, Game, Memo, Symmetry, Task, Work
from bnmind.strategies.optimal.search_frames import (
    BEST,
    BEST_GUESS,
    FLOOR,
    GUESS,
    IS_MARKED,
    IS_OPEN,
    LEFT,
    LIMIT,
    N_ORDER,
    N_SETS,
    NEXT,
    OPERATIONS,
    PICKED,
    RESUMED,
    SIZE,
    STOPPED,
    TOTAL,
    TRIED,
    VALUE,
)
from bnmind.strategies.optimal.symmetry_kernel import mark_kinds
from bnmind.strategies.optimal.transposition_table import BOUNDED, find, keep

__all__ = ["GIVEN_UP", "PAUSED", "search_slice"]

Integers = NDArray[np.int64]

_NUMBER = 1 << 20  # more than the number of guesses, which are packed into sort keys

GIVEN_UP = -1
"""The budget is used up, or the search is too deep."""

PAUSED = -2
"""The search has paused; call it again to resume."""

_FINISHED, _ENTERS, _PAUSES = 0, 1, 2


@njit
def search_slice(
    game: Game,
    symmetry: Symmetry,
    memo: Memo,
    work: Work,
    task: Task,
    most: int,
) -> int:
    """Return the total of a set if it is less than a limit, or else a bound not less than it.

    Ctrl-C has no effect while compiled code runs. A long search therefore pauses: it returns
    `PAUSED`, and resumes when it is called again with the same arguments. It starts anew if
    ``work.counts[RESUMED]`` is 0.

    Parameters
    ----------
    game, symmetry, memo, work
        The game, its symmetry, the table and the state. The table can be used again for the same
        game only.
    task
        The set, the guesses made before, and the limit.
    most
        The approximate number of operations until it pauses.

    Returns
    -------
    int
        The total or the bound, `PAUSED`, or `GIVEN_UP`.
    """
    codes, guesses, limit, guesses_left = task.codes, task.guesses, task.limit, task.left
    is_given = guesses.size == 1 and guesses[0] < 0
    first = 0 if is_given else guesses.size
    depth = first
    work.counts[OPERATIONS] = 0
    if work.counts[RESUMED]:
        depth = work.counts[RESUMED] - 1
        work.counts[RESUMED] = 0
    else:
        for above in range(first):
            work.frames[above, GUESS] = guesses[above]
        key, check = np.uint64(0), np.uint64(0)
        for i in range(codes.size):
            work.sets[first, 0, i] = codes[i]
            key ^= game.keys[codes[i], 0]
            check ^= game.keys[codes[i], 1]
        if guesses_left < INFINITE:
            key ^= key_of_left(guesses_left)
        if is_given:
            key = ~key  # the best of the given guesses is not the best of all
        else:
            mark_kinds(symmetry, work, first)
        work.openings[:] = -1
        frame = work.frames[first]
        frame[SIZE], frame[LEFT], frame[LIMIT] = codes.size, guesses_left, limit
        work.frame_keys[first, 0], work.frame_keys[first, 1] = key, check
        value = _enter(game, memo, work, first)
        if value >= 0:
            return value
    while True:
        step = _advance(game, symmetry, memo, work, depth, most)
        if step == _PAUSES:
            work.counts[RESUMED] = depth + 1
            return PAUSED
        if step == _ENTERS:
            if depth + 1 >= work.frames.shape[0] - 1:
                work.counts[STOPPED] = 2
            if work.counts[STOPPED]:
                return GIVEN_UP
            value = _enter(game, memo, work, depth + 1)
            if value < 0:
                depth += 1
                continue
        else:
            value = int(work.frames[depth, VALUE])
            if depth == first:
                return value
            depth -= 1
        frame, bounds, known = work.frames[depth], work.classes[depth, 1], work.classes[depth, 2]
        picked = frame[PICKED]
        frame[TOTAL] += value - bounds[picked]
        bounds[picked], known[picked] = value, KNOWN


@njit
def _enter(game: Game, memo: Memo, work: Work, depth: int) -> int:
    """Return the value of a set if it is known, or else list the guesses to try and return −1."""
    frame = work.frames[depth]
    n, guesses_left, limit, last = frame[SIZE], frame[LEFT], frame[LIMIT], game.last
    if guesses_left < INFINITE and n > game.room[guesses_left]:
        return INFINITE
    if n == 1:
        return int(last)
    codes = work.sets[depth, 0, :n]
    if n == 2 and depth > 0:
        return int(2 + last)
    if n == 3 and last == 1 and guesses_left >= 3 and depth > 0:
        return total_of_three(game, codes)
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
    work.counts[N_SETS] += 1
    masked = work.masks[depth, -1] == 1
    if last == 1 and n <= game.winning + 1 and not is_scanned and not masked:
        guess = parting_code(game, codes)
        if guess >= 0:
            keep(memo, work, key, check, 2 * n - 1, guess)
            return int(2 * n - 1)
    return _list_guesses(game, memo, work, depth)


@njit
def _list_guesses(game: Game, memo: Memo, work: Work, depth: int) -> int:
    """List the guesses to try, best first; return −1, or a bound if there is none."""
    frame = work.frames[depth]
    n, guesses_left, limit, last = frame[SIZE], frame[LEFT], frame[LIMIT], game.last
    codes, bounds, order = work.sets[depth, 0, :n], work.sets[depth, 2], work.order[depth]
    mask = work.masks[depth]
    masked = mask[-1] == 1
    is_large = n > SCANNED_CODES
    ranks = work.order[work.order.shape[0] - 1]
    if is_large:
        work.counts[OPERATIONS] += n * game.places.shape[0]
        count_classes(game, codes, bounds, ranks)
    else:
        work.counts[OPERATIONS] += n * game.places.shape[0] // 4
        scan(game, work, codes, bounds)
    # The last guess but one must leave only classes of one code.
    top = n + n * last + 1 if guesses_left == 1 + last else INFINITE
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
    counts = work.classes[work.classes.shape[0] - 1, 0]
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
    frame[BEST], frame[BEST_GUESS], frame[FLOOR] = most, -1, floor
    frame[N_ORDER], frame[NEXT], frame[IS_OPEN], frame[TRIED] = m, 0, 0, 0
    work.seen[depth, :] = 0
    return -1


@njit
def _keep_best(order: Integers, m: int, values: Integers, wanted: int) -> int:
    """Keep the wanted number of guesses with the smallest values, and ties; return their number.

    If few guesses are tried, sorting all of them would take longer than trying these.
    """
    if m <= wanted:
        return m
    last = np.partition(values[order[:m]], wanted)[wanted]
    n_kept = 0
    for i in range(m):
        if values[order[i]] <= last:
            order[n_kept] = order[i]
            n_kept += 1
    return n_kept


@njit
def _advance(game: Game, symmetry: Symmetry, memo: Memo, work: Work, depth: int, most: int) -> int:
    """Continue with a set until it is finished, a class must be entered, or the search pauses."""
    frame = work.frames[depth]
    n, starts = frame[SIZE], work.classes[depth, 0]
    bounds, known = work.classes[depth, 1], work.classes[depth, 2]
    while True:
        if not frame[IS_OPEN]:
            if frame[NEXT] >= frame[N_ORDER] or frame[TRIED] >= game.tables[2, n]:
                _finish(game, memo, work, depth)
                return _FINISHED
            if work.counts[OPERATIONS] > most:
                return _PAUSES
            guess = work.order[depth, frame[NEXT]]
            frame[NEXT] += 1
            if work.sets[depth, 2, guess] >= frame[BEST]:
                frame[FLOOR] = min(frame[FLOOR], work.sets[depth, 2, guess])
            else:
                open_guess(game, memo, work, depth, guess)
            continue
        picked, size = -1, INFINITE
        if frame[TOTAL] < frame[BEST]:
            for j in range(game.winning + 1):
                if known[j] != KNOWN and starts[j + 1] - starts[j] < size:
                    picked, size = j, starts[j + 1] - starts[j]
        if picked < 0:
            close_guess(work, depth)
            continue
        if not frame[IS_MARKED]:
            frame[IS_MARKED] = 1
            mark_kinds(symmetry, work, depth + 1)
        frame[PICKED] = picked
        work.sets[depth + 1, 0, :size] = work.sets[depth, 1, starts[picked] : starts[picked] + size]
        work.frame_keys[depth + 1] = work.class_keys[depth, picked]
        below = work.frames[depth + 1]
        below[SIZE], below[LEFT] = size, one_less(frame[LEFT])
        below[LIMIT] = frame[BEST] - frame[TOTAL] + bounds[picked]
        return _ENTERS


@njit
def _finish(game: Game, memo: Memo, work: Work, depth: int) -> None:
    """Finish a set, and store its value."""
    frame = work.frames[depth]
    guess = frame[BEST_GUESS]
    if guess >= 0:
        value = frame[BEST]
    else:
        value = max(frame[FLOOR], game.tables[0, frame[SIZE]], frame[LIMIT])
        guess = BOUNDED
    frame[VALUE] = value
    keep(memo, work, work.frame_keys[depth, 0], work.frame_keys[depth, 1], value, guess)
