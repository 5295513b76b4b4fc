"""The best guess for a set of codes by a score, compiled.

=========================  =======================================================
the kernel saves work by   which is correct because
=========================  =======================================================
possible guesses first     a guess that may win and leaves only classes of one code
                           has the smallest key of all (`ClassTerms`), and ends the
                           search; the key of a guess that cannot win is at least 0
absent colors              colors that occur in no code of the set are equivalent;
                           the smallest guess uses the smallest of them
free colors                colors that occur in no previous guess are equivalent;
                           the smallest guess has them in ascending order
=========================  =======================================================

No table of replies is needed. The reply to a guess is (S, P), with S = P + C. P is a sum over the
two halves of the guess, and S depends only on the number of each color in the guess, so guesses
share most of the work. For the codes of a set, each half and each multiset of colors contributes a
row of bytes, and the replies to a guess are the sum of three rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.peg_counts import distinct_words

# --- Replies to all guesses without a table of them, and equivalent guesses, compiled -------------


MOST_PEGS = 15
"""The most pegs: a reply, S·(n + 1) + P, is a byte."""

MOST_COLORS = 62
"""The most colors: a set of colors is a word of 64 bits, two of which are not used."""

Bytes = NDArray[np.uint8]


class BoardArrays(NamedTuple):
    """A board as arrays for the kernels."""

    digits: Bytes
    """``(codes, pegs)``, colors 1..k."""
    colors_of: NDArray[np.uint64]
    """``(codes,)``, the colors of each code, as bits 1..k."""
    firsts: Bytes
    """The distinct first halves of codes; `seconds` are the distinct second halves."""
    seconds: Bytes
    kinds: Bytes
    """The distinct multisets of colors of codes, each as a sorted code."""
    places: NDArray[np.int64]
    """``(codes, 3)``, the rows of the first half, the second half and the kind of each guess."""
    pairs: NDArray[np.int64]
    """``(replies,)``, S·(n + 1) + P of each true reply."""
    place_of_pair: Bytes
    """The index of each pair among the true replies."""
    all_colors: np.uint64
    """All colors, as bits."""
    colors: int
    repeats: bool


@lru_cache(maxsize=4)
def board_arrays(board: Board) -> BoardArrays:
    """Return a board as arrays; the results for the last four boards are cached.

    Raises
    ------
    TooLargeError
        If the board has more than `MOST_PEGS` pegs, `MOST_COLORS` colors, or too many codes to
        list.
    """
    if board.pegs > MOST_PEGS or board.colors > MOST_COLORS:
        raise TooLargeError(
            f"expected a board of at most {MOST_PEGS} pegs and {MOST_COLORS} colors, got {board}",
            needed=max(board.pegs, board.colors),
            budget=MOST_PEGS if board.pegs > MOST_PEGS else MOST_COLORS,
        )
    codes = board.codes
    half = board.pegs // 2
    sets = np.bitwise_or.reduce(np.uint64(1) << codes.astype(np.uint64), axis=1)
    first, firsts = distinct_words(codes[:, :half], board.colors)
    second, seconds = distinct_words(codes[:, half:], board.colors)
    kind, kinds = distinct_words(np.sort(codes, axis=1), board.colors)
    second += len(firsts)
    kind += len(firsts) + len(seconds)
    n_pairs = (board.pegs + 1) ** 2
    pairs = np.array([(b + w) * (board.pegs + 1) + b for b, w in board.true_replies])
    place_of_pair = np.zeros(n_pairs, dtype=np.uint8)
    place_of_pair[pairs] = np.arange(len(pairs))
    places = np.stack([first, second, kind], axis=1).astype(np.int64)
    arrays = (codes, sets, firsts, seconds, kinds, places, pairs, place_of_pair)
    for array in arrays:
        array.setflags(write=False)
    all_colors = np.uint64((1 << (board.colors + 1)) - 2)
    return BoardArrays(*arrays, all_colors, board.colors, board.repeats)


@njit
def fill_rows(board: BoardArrays, codes: NDArray[np.int32], width: int) -> Bytes:
    """Return the contribution of every half and every kind to the reply of each code of a set.

    The width of the rows is a multiple of the vector length, so that they add without a remainder.
    """
    n_firsts, n_seconds = board.firsts.shape[0], board.seconds.shape[0]
    n_kinds, pegs = board.kinds.shape
    half, n = board.firsts.shape[1], codes.size
    rows = np.zeros((n_firsts + n_seconds + n_kinds, width), dtype=np.uint8)
    # By peg and by color, so that loops over codes vectorize.
    standing = np.zeros((pegs, width), dtype=np.uint8)
    counts = np.zeros((board.colors + 1, width), dtype=np.uint8)
    for c in range(n):
        for position in range(pegs):
            color = board.digits[codes[c], position]
            standing[position, c] = color
            counts[color, c] += np.uint8(1)
    for i in range(n_firsts):
        row = rows[i]
        for position in range(half):
            color, line = board.firsts[i, position], standing[position]
            for c in range(width):
                row[c] += line[c] == color
    for i in range(n_seconds):
        row = rows[n_firsts + i]
        for position in range(pegs - half):
            color, line = board.seconds[i, position], standing[half + position]
            for c in range(width):
                row[c] += line[c] == color
    factor = np.uint8(pegs + 1)
    for i in range(n_kinds):
        row = rows[n_firsts + n_seconds + i]
        position = 0
        while position < pegs:
            color, cap = board.kinds[i, position], np.uint8(0)
            while position < pegs and board.kinds[i, position] == color:
                position += 1
                cap += np.uint8(1)
            line = counts[color]
            for c in range(width):
                row[c] += min(cap, line[c])
        for c in range(width):
            row[c] *= factor
    return rows


@njit
def pair_of(board: BoardArrays, guess: int, code: int) -> int:
    """Return S·(n + 1) + P of one guess and one code."""
    pegs = board.digits.shape[1]
    black, both = 0, 0
    used = 0
    for i in range(pegs):
        color = board.digits[guess, i]
        black += color == board.digits[code, i]
        for j in range(pegs):
            if not (used >> j) & 1 and board.digits[code, j] == color:
                used |= 1 << j
                both += 1
                break
    return int(both * (pegs + 1) + black)


@njit
def is_smallest(
    board: BoardArrays, guess: int, absent: np.uint64, excluded: np.uint64, free: np.uint64
) -> bool:
    """Return whether a guess is the smallest of the guesses that differ only in color names.

    Without repeats, the result may be True for some guesses that are not.
    """
    mask = board.colors_of[guess]
    if board.repeats:
        if mask & excluded:
            return False
    else:
        # The absent colors of the guess must be the first ones, in any order.
        own_absent = mask & absent
        low = absent
        while own_absent:
            lowest = low & (~low + np.uint64(1))
            if not own_absent & lowest:
                return False
            own_absent ^= lowest
            low ^= lowest
    met = mask & free
    if met == 0:
        return True
    unused = free
    seen = np.uint64(0)
    for position in range(board.digits.shape[1]):
        bit = np.uint64(1) << np.uint64(board.digits[guess, position])
        if bit & free and not bit & seen:
            if bit != unused & (~unused + np.uint64(1)):
                return False
            unused ^= bit
            seen |= bit
    return True


# --- The sizes of reply classes within a list of codes, compiled ----------------------------------


def class_sizes(
    board: Board, codes: NDArray[np.uint8], n_guesses: int | None = None
) -> NDArray[np.int64]:
    """Return the sizes of the reply classes within some codes, for the first of them as guesses.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``.
    n_guesses
        The number of codes to try as guesses; all by default.

    Returns
    -------
    NDArray[np.int64]
        ``(n_guesses, replies)``.
    """
    classes = reply_classes(codes, len(codes) if n_guesses is None else n_guesses, board.colors)
    return classes[:, [(b + w) * (board.pegs + 1) + b for b, w in board.true_replies]]


@njit
def reply_classes(codes: NDArray[np.uint8], n_guesses: int, colors: int) -> NDArray[np.int64]:
    """Return the sizes of the reply classes of the first codes of a set as guesses.

    Parameters
    ----------
    codes
        ``(codes, pegs)``, colors 1..k.
    n_guesses
        The number of codes to try as guesses.
    colors
        The number of colors, k.

    Returns
    -------
    array
        ``(n_guesses, (pegs + 1)²)``; column S·(pegs + 1) + P counts the codes with the reply of P
        black pegs and S black and white pegs together.
    """
    n, pegs = codes.shape
    standing = np.zeros((n, colors + 1), dtype=np.uint8)
    for i in range(n):
        for j in range(pegs):
            standing[i, codes[i, j]] += 1
    classes = np.zeros((n_guesses, (pegs + 1) * (pegs + 1)), dtype=np.int64)
    for guess in range(n_guesses):
        for i in range(n):
            black, both = 0, 0
            for j in range(pegs):
                black += codes[guess, j] == codes[i, j]
            for color in range(1, colors + 1):
                both += min(standing[guess, color], standing[i, color])
            classes[guess, both * (pegs + 1) + black] += 1
    return classes


# --- The best guess for a set of codes, compiled --------------------------------------------------


class RuleArrays(NamedTuple):
    """A rule of myopic strategies as arrays for the kernels."""

    sizes: NDArray[np.int64]
    """As in `ClassTerms`."""
    weights: NDArray[np.int64]
    """``(turns, pairs)``: the weights of the last turn hold for all later turns."""
    winning: int
    """As in `ClassTerms`."""
    combination: int
    """As in `Combination`."""
    per_code: NDArray[np.int64]
    """As in `ClassTerms`."""
    settles: bool
    """Whether ``per_code`` is 0, so that no key is less than that of single codes."""
    possible_only: bool
    """Whether only possible codes are guessed."""


class BestGuesses(NamedTuple):
    """The best possible guess so far, and the best other guess."""

    keys: NDArray[np.int64]
    guesses: NDArray[np.int64]
    classes: NDArray[np.int64]
    """``(2, replies)``, sizes in descending order; ``(2, 0)`` if they are not compared."""


_FEW = 24  # for at most this number of codes, keys grow code by code


@njit
def _keep(
    counts: NDArray[np.uint32],
    board: BoardArrays,
    n: int,
    guess: int,
    key: int,
    best: BestGuesses,
    other: int,
) -> None:
    """Keep a guess if it is the best of its kind and informative."""
    pairs = board.pairs
    for j in range(pairs.size):
        if counts[pairs[j]] == n:
            return
    if best.classes.shape[1]:
        classes = best.classes[other]
        if key < best.keys[other]:
            classes[:] = n + 1
        if not _is_finer(counts, pairs, classes):
            return
    best.keys[other] = key
    best.guesses[other] = guess


@njit
def _is_finer(
    counts: NDArray[np.uint32], pairs: NDArray[np.int64], best: NDArray[np.int64]
) -> bool:
    """Return whether classes, largest first, are smaller than `best`, and then replace it."""
    classes = np.empty_like(best)
    for j in range(pairs.size):
        size = np.int64(counts[pairs[j]])
        i = j
        while i > 0 and classes[i - 1] < size:
            classes[i] = classes[i - 1]
            i -= 1
        classes[i] = size
    for j in range(pairs.size):
        if classes[j] != best[j]:
            if classes[j] > best[j]:
                return False
            best[:] = classes
            return True
    return False


@njit
def _key(
    counts: NDArray[np.uint32], board: BoardArrays, rule: RuleArrays, turn: int, n: int
) -> int:
    """Return the key of the counted classes, without the term for winning."""
    key = 0
    for j in range(board.pairs.size):
        pair = board.pairs[j]
        size = np.int64(counts[pair])
        term = rule.weights[turn, pair] * (rule.sizes[size] - size * rule.per_code[n])
        key = key + term if rule.combination == 0 else max(key, term)
    return key


@njit
def _settle(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    guesses: NDArray[np.int32],
    is_possible: Bytes,
    counts: NDArray[np.uint32],
    best: BestGuesses,
) -> bool:
    """Try a few guesses, pair by pair; return whether no guess can be better than the best."""
    bonus = rule.winning
    for guess in guesses:
        other = 1 - is_possible[guess]
        if rule.possible_only and other:
            continue
        for code in codes:
            counts[pair_of(board, guess, code)] += np.uint32(1)
        key = _key(counts, board, rule, turn, codes.size)
        if not other:
            key += bonus
        if key < best.keys[other] or (key == best.keys[other] and rule.combination == 2):
            _keep(counts, board, codes.size, guess, key, best, other)
        for j in range(board.pairs.size):
            counts[board.pairs[j]] = 0
        if rule.settles and not other and best.keys[0] == bonus <= 0:
            return True
    return rule.possible_only


@njit
def best_guess(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    is_possible: Bytes,
    free: np.uint64,
    candidates: NDArray[np.int32],
) -> tuple[int, int]:
    """Return the best guess for a set of two or more codes, and its key.

    Among guesses of equal keys a possible one is preferred, then the smallest.

    Parameters
    ----------
    board, rule, turn
        The board, the rule, and its turn, from 0.
    codes
        The set, ascending.
    is_possible
        ``(n_codes,)``, 1 for the codes of the set.
    free
        The colors that can be renamed into each other, as bits.
    candidates
        The guesses to choose from, ascending; all codes of the board if empty.
    """
    n, n_pairs = codes.size, board.pairs.size
    turn = min(turn, rule.weights.shape[0] - 1)
    lane = np.uintp(board.place_of_pair.size)
    counts = np.zeros(4 * lane, dtype=np.uint32)
    compared = n_pairs if rule.combination == 2 else 0
    best = BestGuesses(
        np.full(2, np.iinfo(np.int64).max), np.full(2, -1), np.zeros((2, compared), dtype=np.int64)
    )
    # One of few codes may separate them all; few candidates do not need rows.
    if n <= n_pairs:
        if _settle(board, rule, turn, codes, codes, is_possible, counts, best) or (
            rule.settles and best.keys[0] <= 0
        ):
            return best.guesses[0], best.keys[0]
    elif 0 < candidates.size <= _FEW:
        _settle(board, rule, turn, codes, candidates, is_possible, counts, best)
        return _better(best)
    _scan(board, rule, turn, codes, is_possible, free, candidates, counts, best)
    return _better(best)


@njit
def _better(best: BestGuesses) -> tuple[int, int]:
    """Return the better guess of both kinds, the possible one if they are equally good."""
    other = 1 if best.keys[1] < best.keys[0] else 0
    if best.keys[1] == best.keys[0]:
        for j in range(best.classes.shape[1]):
            if best.classes[0, j] != best.classes[1, j]:
                other = 1 if best.classes[1, j] < best.classes[0, j] else 0
                break
    return best.guesses[other], best.keys[other]


@njit
def _scan(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    is_possible: Bytes,
    free: np.uint64,
    candidates: NDArray[np.int32],
    counts: NDArray[np.uint32],
    best: BestGuesses,
) -> None:
    """Try all guesses, or all candidates, by rows."""
    n, n_pairs = codes.size, board.pairs.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width).reshape(-1)
    row = np.zeros(width, dtype=np.uint8)
    present = np.uint64(0)
    for code in codes:
        present |= board.colors_of[code]
    absent = board.all_colors & ~present
    excluded = absent & (absent - np.uint64(1))  # all but the lowest
    is_listed = candidates.size > 0
    done = n <= n_pairs  # possible guesses were tried before
    weights, sizes, bonus = rule.weights[turn], rule.sizes, rule.winning
    per_code = rule.per_code[n]
    adds = rule.combination == 0
    keys = best.keys
    one, two = np.uintp(counts.size // 4), np.uintp(counts.size // 2)
    three = one + two
    n_guesses = candidates.size if is_listed else board.digits.shape[0]
    for i in range(n_guesses):
        guess = candidates[i] if is_listed else i
        other = 1 - is_possible[guess]
        if (rule.possible_only and other) or (done and not other):
            continue
        if not is_listed and not is_smallest(board, guess, absent, excluded, free):
            continue
        first = np.uintp(board.places[guess, 0] * width)
        second = np.uintp(board.places[guess, 1] * width)
        kind = np.uintp(board.places[guess, 2] * width)
        for c in range(np.uintp(width)):
            row[c] = rows[first + c] + rows[second + c] + rows[kind + c]
        key = 0
        if n <= _FEW and adds:
            for c in range(np.uintp(n)):
                pair = np.uintp(row[c])
                size = counts[pair]
                key += weights[pair] * (sizes[size + np.uint32(1)] - sizes[size] - per_code)
                counts[pair] = size + np.uint32(1)
        else:
            whole = np.uintp(n - n % 4)
            for c in range(np.uintp(0), whole, np.uintp(4)):
                counts[np.uintp(row[c])] += np.uint32(1)
                counts[one + np.uintp(row[c + np.uintp(1)])] += np.uint32(1)
                counts[two + np.uintp(row[c + np.uintp(2)])] += np.uint32(1)
                counts[three + np.uintp(row[c + np.uintp(3)])] += np.uint32(1)
            for c in range(whole, np.uintp(n)):
                counts[np.uintp(row[c])] += np.uint32(1)
            for j in range(n_pairs):
                pair = np.uintp(board.pairs[j])
                size = counts[pair] + counts[one + pair] + counts[two + pair] + counts[three + pair]
                counts[pair] = size
                term = weights[pair] * (sizes[size] - np.int64(size) * per_code)
                key = key + term if adds else max(key, term)
        if not other:
            key += bonus
        if key < keys[other] or (key == keys[other] and rule.combination == 2):
            _keep(counts, board, n, guess, key, best, other)
            # No guess that may win is better than this one, or this is the best of the others.
            settled = done and key == 0 if other else key == bonus <= 0
            if rule.settles and settled and keys[other] == key:
                return
        if n <= _FEW and adds:
            for c in range(np.uintp(n)):
                counts[np.uintp(row[c])] = 0
        else:
            for j in range(n_pairs):
                pair = np.uintp(board.pairs[j])
                counts[pair] = 0
                counts[one + pair] = counts[two + pair] = counts[three + pair] = 0


# --- Estimates of all guesses for a set of codes, and the replies to some guesses, compiled -------


UNWANTED = 1 << 62
"""The estimate of a guess that is uninformative, or equivalent to a smaller guess."""

_LANE = 16  # replies in a plane, as in `search_arrays`


@njit
def _reply_row(board: BoardArrays, rows: Bytes, guess: int, row: Bytes) -> None:
    """Write the reply of each code to a guess as a pair, from the rows of `fill_rows`."""
    first = rows[board.places[guess, 0]]
    second = rows[board.places[guess, 1]]
    kind = rows[board.places[guess, 2]]
    for c in range(row.size):
        row[c] = first[c] + second[c] + kind[c]


@njit
def estimate_guesses(
    board: BoardArrays,
    codes: NDArray[np.int32],
    candidates: NDArray[np.int32],
    free: np.uint64,
    estimates: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each candidate the sum of the estimates of the classes that do not win.

    Parameters
    ----------
    board
        The board.
    codes
        The set, ascending.
    candidates
        The guesses to estimate.
    free
        The colors that can be renamed into each other, as bits.
    estimates
        The estimate of a class, by its size.

    Returns
    -------
    NDArray[np.int64]
        ``(candidates,)``; some are `UNWANTED`.
    """
    n = codes.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width)
    row = np.zeros(width, dtype=np.uint8)
    present = np.uint64(0)
    for code in codes:
        present |= board.colors_of[code]
    absent = board.all_colors & ~present
    excluded = absent & (absent - np.uint64(1))
    winning = board.pairs[board.pairs.size - 1]
    lane = np.uintp(board.place_of_pair.size)
    counts = np.zeros(4 * board.place_of_pair.size, dtype=np.uint32)
    one, two, three = lane, np.uintp(2) * lane, np.uintp(3) * lane
    sums = np.full(candidates.size, UNWANTED, dtype=np.int64)
    whole = np.uintp(n - n % 4)
    for i in range(candidates.size):
        guess = candidates[i]
        if not is_smallest(board, guess, absent, excluded, free):
            continue
        _reply_row(board, rows, guess, row)
        for c in range(np.uintp(0), whole, np.uintp(4)):
            counts[np.uintp(row[c])] += np.uint32(1)
            counts[one + np.uintp(row[c + np.uintp(1)])] += np.uint32(1)
            counts[two + np.uintp(row[c + np.uintp(2)])] += np.uint32(1)
            counts[three + np.uintp(row[c + np.uintp(3)])] += np.uint32(1)
        for c in range(whole, np.uintp(n)):
            counts[np.uintp(row[c])] += np.uint32(1)
        total, largest = np.int64(0), np.int64(0)
        for pair in board.pairs:
            at = np.uintp(pair)
            size = np.int64(counts[at] + counts[one + at] + counts[two + at] + counts[three + at])
            counts[at] = counts[one + at] = counts[two + at] = counts[three + at] = np.uint32(0)
            if pair != winning:
                total += estimates[size]
                largest = max(largest, size)
        if largest < n:
            sums[i] = total
    return sums


@njit
def replies_of_guesses(
    board: BoardArrays, codes: NDArray[np.int32], guesses: NDArray[np.int32], n_planes: int
) -> tuple[Bytes, NDArray[np.uint16]]:
    """Return the replies of codes to guesses, as `Game.places` and `Game.planes` hold them.

    Parameters
    ----------
    board
        The board.
    codes
        The set, ascending.
    guesses
        The guesses.
    n_planes
        The number of planes that hold all replies.
    """
    n, m = codes.size, guesses.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width)
    row = np.zeros(width, dtype=np.uint8)
    places = np.zeros((m, n), dtype=np.uint8)
    planes = np.zeros((n_planes, n, m), dtype=np.uint16)
    block = 64  # guesses at a time, so that the writes stay in the cache
    for start in range(0, m, block):
        stop = min(start + block, m)
        for x in range(start, stop):
            _reply_row(board, rows, guesses[x], row)
            for c in range(n):
                places[x, c] = board.place_of_pair[row[c]]
        for c in range(n):
            for x in range(start, stop):
                place = places[x, c]
                planes[place // _LANE, c, x] = np.uint16(1) << np.uint16(place % _LANE)
    return places, planes
