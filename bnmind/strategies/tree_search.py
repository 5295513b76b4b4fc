r"""The smallest total of a set of codes, by depth-first branch and bound, compiled.

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
equivalent guesses          see below
equal partitions            guesses with the same partition of a set have the same
                            total; the keys of the classes identify a partition
==========================  ======================================================

For each set, the search returns the total if it is less than a limit, or else a lower bound that is
at least the limit. The stack of recursive calls is an array of frames, since numba does not cache
recursive functions on disk.

**Bounds.** For a set of n codes, a guess that leaves k classes, one of which wins if w = 1, takes
at least

.. math:: n + \sum_{\text{classes that go on}} (2 n_j - 1) = 3n - k - w

if the code must be revealed, since no class takes less than 2n_j − 1. If it must only be
determined, a class of one code takes 0 and a larger class at least n_j, so the guess takes at
least 2n less the number of classes of one code.

The replies of one code to all guesses are a row of words with one bit each (`Game.planes`). The
scan joins the rows of all codes and counts the bits, 32 guesses at a time if the processor allows
it. For large sets, it counts the codes of each class, and bounds the classes by their sizes.

**Equivalent guesses.** Two guesses are equivalent if a permutation of the positions and a renaming
of the colors maps one to the other and every guess of the history to itself. Colors that the
history does not use can be renamed into each other. The kernel marks the smallest guess of each
class, for each of thousands of histories; `bnmind.mastermind.symmetry` does the same for boards of
any size, one history at a time.

If there are too many positions to list their permutations, or the history is long and there are
many colors, the kernel permutes only positions at which all guesses so far agree. The smallest
guess of a class does not decrease along them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.search_arrays import (
    BEST,
    BEST_GUESS,
    BOUNDED,
    BUDGET,
    FLOOR,
    GUESS,
    INFINITE,
    IS_MARKED,
    IS_OPEN,
    LANE,
    LEFT,
    LIMIT,
    N_ORDER,
    N_SCANS,
    N_SETS,
    N_TRIED,
    NEXT,
    OPERATIONS,
    PICKED,
    RESUMED,
    SIZE,
    STOPPED,
    TOTAL,
    TRIED,
    VALUE,
    Game,
    Memo,
    Symmetry,
    Task,
    Work,
    find,
    keep,
)

# --- Lower bounds of all guesses for one set, from the classes that they leave, compiled ----------


Integers = NDArray[np.int64]

SCANNED_CODES = 64
"""The largest number of codes of a set that is scanned by bits."""


@njit
def _bits(word: int) -> int:
    """Return the number of bits of a word of 16."""
    x = np.uint32(word)
    x = x - ((x >> np.uint32(1)) & np.uint32(0x5555))
    x = (x & np.uint32(0x3333)) + ((x >> np.uint32(2)) & np.uint32(0x3333))
    x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F)
    return int(np.int64((x + (x >> np.uint32(8))) & np.uint32(0x1F)))


@njit
def scan(game: Game, work: Work, codes: Integers, bounds: Integers) -> None:
    """Write a lower bound of each guess, from the number of classes that it leaves."""
    n, n_guesses = codes.size, game.places.shape[0]
    once, twice = work.lanes[0], work.lanes[1]
    start = 3 * n if game.last == 1 else 2 * n
    for x in range(n_guesses):
        bounds[x] = start
    winning = np.uint32(game.winning % LANE)
    for plane in range(game.planes.shape[0]):
        rows = game.planes[plane]
        for x in range(n_guesses):
            once[x] = 0
        if game.last == 1:
            whole = n - n % 4
            for i in range(0, whole, 4):
                a, b, c, d = (
                    rows[codes[i]],
                    rows[codes[i + 1]],
                    rows[codes[i + 2]],
                    rows[codes[i + 3]],
                )
                for x in range(n_guesses):
                    once[x] |= a[x] | b[x] | c[x] | d[x]
            for i in range(whole, n):
                a = rows[codes[i]]
                for x in range(n_guesses):
                    once[x] |= a[x]
            if plane == game.winning // LANE:
                for x in range(n_guesses):
                    bounds[x] -= np.int64((np.uint32(once[x]) >> winning) & np.uint32(1))
            for x in range(n_guesses):
                bounds[x] -= _bits(once[x])
        else:
            for x in range(n_guesses):
                twice[x] = 0
            for i in range(n):
                a = rows[codes[i]]
                for x in range(n_guesses):
                    twice[x] |= once[x] & a[x]
                    once[x] |= a[x]
            for x in range(n_guesses):
                bounds[x] -= _bits(once[x] & ~twice[x])


@njit
def count_classes(game: Game, codes: Integers, bounds: Integers, ranks: Integers) -> None:
    """Write a lower bound and an estimate of each guess, from the sizes of its classes.

    The bound of an uninformative guess is infinite.
    """
    n, n_replies = codes.size, game.winning + 1
    lower, estimate = game.tables[0], game.tables[1]
    counts = np.zeros((4, n_replies), dtype=np.int64)
    goes_on = n_replies - 1 if game.last == 1 else n_replies
    whole = n - n % 4
    for x in range(game.places.shape[0]):
        row = game.places[x]
        counts[:] = 0
        for i in range(0, whole, 4):
            counts[0, row[codes[i]]] += 1
            counts[1, row[codes[i + 1]]] += 1
            counts[2, row[codes[i + 2]]] += 1
            counts[3, row[codes[i + 3]]] += 1
        for i in range(whole, n):
            counts[0, row[codes[i]]] += 1
        bound, rank = n, 0
        for j in range(goes_on):
            size = counts[0, j] + counts[1, j] + counts[2, j] + counts[3, j]
            bound += lower[size]
            rank += estimate[size]
            if size == n:
                bound = INFINITE
        bounds[x] = bound
        ranks[x] = rank


@njit
def parting_code(game: Game, codes: Integers) -> int:
    """Return a possible guess that leaves only classes of one code, or −1."""
    n = codes.size
    for i in range(n):
        row = game.places[game.own[codes[i]]]
        met = np.uint64(0)
        parts = True
        for j in range(n):
            bit = np.uint64(1) << np.uint64(row[codes[j]])
            if met & bit:
                parts = False
                break
            met |= bit
        if parts:
            return int(game.own[codes[i]])
    return -1


# --- One guess of each equivalence class after a history, compiled --------------------------------


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


# --- The classes of a set under a guess, and lower bounds of their totals, compiled ---------------


KNOWN = 1
"""The state of a class whose total is known."""

_UNKNOWN, _SCANNED = 0, 2


@njit
def open_guess(game: Game, memo: Memo, work: Work, depth: int, guess: int) -> None:
    """Partition a set by a guess and bound the classes; open no guess that cannot be better."""
    frame = work.frames[depth]
    n, last, best = frame[SIZE], game.last, frame[BEST]
    codes, row = work.sets[depth, 0, :n], game.places[guess]
    starts, bounds, known = work.classes[depth, 0], work.classes[depth, 1], work.classes[depth, 2]
    keys = work.class_keys[depth]
    n_replies = game.winning + 1
    work.counts[OPERATIONS] += 2 * n + 32 * n_replies
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
            return  # the guess is uninformative
        if j < goes_on:
            word = (keys[j, 0] ^ (keys[j, 0] >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
            way += word ^ (word >> np.uint64(29))
    if _is_seen(work, depth, way):
        return
    work.counts[N_TRIED] += 1
    frame[TRIED] += 1
    if work.counts[N_TRIED] > work.counts[BUDGET]:
        work.counts[STOPPED] = 1
    guesses_left = one_less(frame[LEFT])
    total = n
    for j in range(n_replies):
        size, known[j], bounds[j] = starts[j + 1], KNOWN, 0
        if size == 0 or j >= goes_on:
            continue
        if guesses_left < INFINITE:
            keys[j, 0] ^= key_of_left(guesses_left)
            if size > game.room[guesses_left]:
                bounds[j] = INFINITE
                total += INFINITE
                continue
        if size <= 2:
            bounds[j] = last if size == 1 else 2 + last
        else:
            bounds[j], known[j] = game.tables[0, size], _UNKNOWN
            if size > 3 or last == 0 or guesses_left < 3:
                entry = find(memo, keys[j, 0], keys[j, 1])
                if entry >= 0:
                    bounds[j] = memo.values[entry, 0]
                    known[j] = _SCANNED if memo.values[entry, 1] == BOUNDED else KNOWN
        total += bounds[j]
    frame[GUESS], frame[TOTAL], frame[IS_OPEN], frame[IS_MARKED] = guess, total, 1, 0
    if total < best:
        parted = work.sets[depth, 1]
        for j in range(n_replies):
            starts[j + 1] += starts[j]
        for i in range(n - 1, -1, -1):
            place = row[codes[i]]
            starts[place + 1] -= 1
            parted[starts[place + 1]] = codes[i]
        # The end of each class has become its start.
        for j in range(n_replies):
            starts[j] = starts[j + 1]
        starts[n_replies] = n
        _scan_classes(game, memo, work, depth)
    if frame[TOTAL] >= best:
        close_guess(work, depth)


@njit
def close_guess(work: Work, depth: int) -> None:
    """Close a guess: record it as the best one so far, or record its bound."""
    frame = work.frames[depth]
    frame[IS_OPEN] = 0
    if frame[TOTAL] < frame[BEST]:
        frame[BEST], frame[BEST_GUESS] = frame[TOTAL], frame[GUESS]
    else:
        frame[FLOOR] = min(frame[FLOOR], frame[TOTAL])
    if depth == 0:
        work.openings[frame[GUESS]] = frame[TOTAL]


@njit
def _is_seen(work: Work, depth: int, way: np.uint64) -> bool:
    """Return whether a partition of a set was tried before, and record it."""
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
def _scan_classes(game: Game, memo: Memo, work: Work, depth: int) -> None:
    """Bound each class by a scan of its own, until the guess cannot be the best one."""
    frame = work.frames[depth]
    starts, bounds, known = work.classes[depth, 0], work.classes[depth, 1], work.classes[depth, 2]
    guesses_left, last = one_less(frame[LEFT]), game.last
    parted, scratch = work.sets[depth, 1], work.sets[work.sets.shape[0] - 1, 2]
    for turn in range(2):
        for j in range(game.winning + 1):
            if frame[TOTAL] >= frame[BEST]:
                return
            size = starts[j + 1] - starts[j]
            if known[j] != _UNKNOWN or size > SCANNED_CODES:
                continue
            codes = parted[starts[j] : starts[j + 1]]
            value = bounds[j]
            if size == 3 and last == 1 and guesses_left >= 3:
                value = total_of_three(game, codes)
                known[j] = KNOWN
            elif turn == 1:
                value = _bound_by_scan(game, memo, work, codes, work.class_keys[depth, j], scratch)
                known[j] = KNOWN if value == 2 * size - 1 and last == 1 else _SCANNED
            frame[TOTAL] += value - bounds[j]
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
    """Return a lower bound of a set. If codes must be revealed, a bound of 2n − 1 is the total."""
    n, value, guess = codes.size, 2 * codes.size - 1, -1
    work.counts[N_SCANS] += 1
    if game.last == 1 and n <= game.winning + 1:
        guess = parting_code(game, codes)
    if guess < 0:
        guess = BOUNDED
        work.counts[OPERATIONS] += n * game.places.shape[0] // 4
        scan(game, work, codes, scratch)
        value = INFINITE
        for x in range(game.places.shape[0]):
            value = min(value, int(scratch[x]))
        value = max(value, int(game.tables[0, n]))
    keep(memo, work, keys[0], keys[1], value, guess)
    return value


@njit
def total_of_three(game: Game, codes: Integers) -> int:
    """Return the total of three codes with three guesses left: 5 if one of them separates them."""
    for i in range(3):
        row = game.places[game.own[codes[i]]]
        if row[codes[(i + 1) % 3]] != row[codes[(i + 2) % 3]]:
            return 5
    return 6


@njit
def one_less(left: int) -> int:
    """Return the number of guesses left after one more guess."""
    return left if left >= INFINITE else left - 1


@njit
def key_of_left(left: int) -> np.uint64:
    """Return the word that stands for the number of guesses left in the key of a set."""
    return np.uint64(left + 1) * np.uint64(0x9E3779B97F4A7C15)


# --- The smallest total of a set of codes, by depth-first branch and bound, compiled --------------


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


# --- The compiled search, run in slices, so that Ctrl-C works between two slices ------------------


SLICE = 50_000_000
"""Operations of one slice: at most a tenth of a second."""


def search(
    game: Game,
    symmetry: Symmetry,
    memo: Memo,
    work: Work,
    task: Task,
    *,
    paused: Callable[[], None] | None = None,
) -> int:
    """Run `search_slice` until it is done; see there for the parameters.

    ``paused`` is called after each slice but the last one.
    """
    work.counts[RESUMED] = 0
    total = PAUSED
    while total == PAUSED:
        total = search_slice(game, symmetry, memo, work, task, SLICE)
        if total == PAUSED and paused is not None:
            paused()
    return int(total)
