r"""Color elimination: the belief mass of each reply to each guess, for all guesses at once.

Vomlel, *Bayesian networks in Mastermind* (2004), closes with an open question: can the guess of
minimal expected entropy be found more efficiently than by evaluating every combination? It can.
The reply to a guess is a sum over the colors c of the guess,

.. math:: (P, S) = \sum_c (|A_c ∩ B_c|, \min(|A_c|, |B_c|)),

where A_c and B_c are the positions of the color in the guess and in the code. The algorithm sums
the colors out of the belief one after another, and guesses with a common beginning share that
work. For the guesses that use exactly the colors of a set, only the code collapsed to these colors
and "other" matters.

==========  ===============================================================
symbol      name here
==========  ===============================================================
n, k        ``board.pegs``, ``board.colors``
D           a set of exactly the d colors that a guess uses; a *lane*
P, S        black pegs; black and white pegs together
==========  ===============================================================

For a fixed number of pegs, the work is linear in the number of codes: about 300, 1300 and 4750
additions for each guess at 4x6, 5x8 and 6x9, where brute force makes one addition for each code.
With two or three colors brute force is faster; `plan_masses` chooses.

**Index maps.** A guess that uses exactly d colors assigns a non-empty set A of positions to each of
them. The algorithm contracts the colors one after another, from the d-th down to the first. While f
positions are free and r colors remain, the state is a list of *rows*, each with a belief mass:

===========  =================================================================
symbol       meaning
===========  =================================================================
x            the code's symbol on each free position: 1 … r for a color still
             left, 0 for any other
v            how often each color still left stands on used positions, capped
             at f − r + 1, the most positions that a color can still get
P            black pegs so far
S            black and white pegs so far, Σ min(|A|, how often the code has it)
===========  =================================================================

Contracting color r on the set A of free positions maps a row to a row with f − |A| free positions
and r − 1 colors. The symbols on A are counted in v, symbols r become 0, P grows by the number of
symbols r on A, and S by min(|A|, their number on all free positions + v_r). Rows with the same
destination are added. The destination depends only on n, d, f, r and A, not on the belief or on the
choice of the d colors. The maps are therefore computed once, for reachable rows only.

**Loops.** A row of a buffer holds eight numbers, one for each of eight sets of colors: a cache
line, and one or two vector registers. All loops run over rows in the order of the index maps, so
the results do not depend on the number of threads.

The eight numbers are written out, and indices are unsigned: otherwise the compiler checks for
negative indices at each access, and does not use vector registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit_superword
from bnmind.information import Floats
from bnmind.mastermind.board import Board, Reply

# --- Index maps of color elimination: the rows that are added for each guess pattern --------------


Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.uint64]
"""Unsigned indices."""


class Contractions(NamedTuple):
    """Contractions in depth-first order, as arrays.

    A contraction reads the rows of the buffer of its level and fills the buffer of the next level.
    Each destination row is the sum of the source rows ``sources[starts[i]:starts[i + 1]]``.
    """

    offsets: Places
    """``(d + 2,)``: the first row of each level if all levels are stacked, and their end."""
    level: Places
    """For each contraction, the level that it reads."""
    first: Places
    """For each contraction, its first destination row in ``starts``."""
    n_rows: Places
    """For each contraction, its number of destination rows."""
    leaf: Ints
    """For each contraction, the pattern that it completes, or −1."""
    starts: NDArray[np.uint32]
    sources: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Elimination:
    """All eliminations of d colors from n positions."""

    contractions: Contractions
    """The contractions, in the order in which they run."""
    black: Ints
    """P of each row of a leaf."""
    both: Ints
    """S of each row of a leaf."""
    places: Ints
    """``(patterns, n)``: the color, 0 … d − 1, at each position of each pattern."""

    @cached_property
    def additions(self) -> int:
        """Number of rows that one elimination of all patterns adds."""
        maps = self.contractions
        sizes = maps.starts[maps.first + maps.n_rows] - maps.starts[maps.first]
        return int(sizes.sum())


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a state (f, r); keys are their encodings, ascending."""

    x: Ints
    v: Ints
    black: Ints
    both: Ints


@lru_cache(maxsize=64)
def elimination(n: int, d: int) -> Elimination:
    """Return the elimination of d colors from n positions (cached: boards share it).

    Parameters
    ----------
    n
        The number of positions.
    d
        The number of colors to eliminate.
    """
    rows, moves = _reach(n, d)
    maps: list[tuple[Ints, Ints]] = []
    number: dict[tuple[int, int, tuple[int, ...]], int] = {}
    for key, targets in moves.items():
        f, r, chosen = key
        number[key] = len(maps)
        size = len(rows[f - len(chosen), r - 1].x)
        order = np.argsort(targets, kind="stable")
        maps.append((np.bincount(targets, minlength=size), order))
    bases = np.cumsum([0] + [len(counts) + 1 for counts, _ in maps])
    offsets = np.cumsum([0] + [len(order) for _, order in maps])
    starts = np.concatenate(
        [np.cumsum(np.concatenate([[0], c])) + o for (c, _), o in zip(maps, offsets, strict=False)]
    )
    sources = np.concatenate([order for _, order in maps])

    level, first, count, leaf = [], [], [], []
    places: list[tuple[int, ...]] = []
    for depth, key, place in _depth_first(n, d):
        step = number[key]
        level.append(depth)
        first.append(bases[step])
        count.append(len(maps[step][0]))
        leaf.append(len(places) if place is not None else -1)
        if place is not None:
            places.append(place)
    level_rows = [
        max(len(state.x) for (_, r), state in rows.items() if r == d - depth)
        for depth in range(d + 1)
    ]
    last = rows[0, 0]
    contractions = Contractions(
        offsets=np.cumsum([0, *level_rows]).astype(np.uint64),
        level=np.array(level, dtype=np.uint64),
        first=np.array(first, dtype=np.uint64),
        n_rows=np.array(count, dtype=np.uint64),
        leaf=np.array(leaf, dtype=np.int64),
        starts=starts.astype(np.uint32),
        sources=sources.astype(np.uint32),
    )
    return Elimination(contractions, last.black, last.both, np.array(places, dtype=np.int64))


def _subsets(f: int, r: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of free positions for color r; the last color takes all remaining ones."""
    if r == 1:
        yield tuple(range(f))
        return
    for size in range(1, f - r + 2):
        yield from combinations(range(f), size)


def _depth_first(
    n: int, d: int
) -> Iterator[tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...] | None]]:
    """Yield the level of each contraction, its key (f, r, A), and the pattern that it completes."""

    def visit(
        free: tuple[int, ...], r: int, place: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...] | None]]:
        for chosen in _subsets(len(free), r):
            put = list(place)
            for i in chosen:
                put[free[i]] = r - 1
            yield d - r, (len(free), r, chosen), tuple(put) if r == 1 else None
            if r > 1:
                rest = tuple(p for i, p in enumerate(free) if i not in chosen)
                yield from visit(rest, r - 1, tuple(put))

    yield from visit(tuple(range(n)), d, (0,) * n)


def _reach(
    n: int, d: int
) -> tuple[dict[tuple[int, int], _Rows], dict[tuple[int, int, tuple[int, ...]], Ints]]:
    """Return the reachable rows of each state, and their destinations in each contraction."""
    x = np.indices((d + 1,) * n).reshape(n, -1).T.astype(np.int64)
    zero = np.zeros(len(x), dtype=np.int64)
    rows = {(n, d): _Rows(x, np.zeros((len(x), d), dtype=np.int64), zero, zero)}
    moves: dict[tuple[int, int, tuple[int, ...]], Ints] = {}
    for r in range(d, 0, -1):
        arriving: dict[int, list[tuple[tuple[int, int, tuple[int, ...]], Ints]]] = {}
        for f in range(r, n - (d - r) + 1):
            if (f, r) not in rows:
                continue
            for chosen in _subsets(f, r):
                moved = _encoded(_contracted(rows[f, r], f, r, chosen), n)
                arriving.setdefault(f - len(chosen), []).append(((f, r, chosen), moved))
        for f, parts in arriving.items():
            keys = np.unique(np.concatenate([moved for _, moved in parts]))
            rows[f, r - 1] = _decoded(keys, n, f, r - 1)
            for key, moved in parts:
                moves[key] = np.searchsorted(keys, moved)
    return rows, moves


def _contracted(rows: _Rows, f: int, r: int, chosen: tuple[int, ...]) -> _Rows:
    """Return the rows after color r is contracted on the chosen free positions."""
    on = rows.x[:, chosen]
    rest = [p for p in range(f) if p not in chosen]
    cap = (f - len(chosen)) - (r - 1) + 1
    seen = (rows.x == r).sum(axis=1) + rows.v[:, r - 1]
    counted = [rows.v[:, c - 1] + (on == c).sum(axis=1) for c in range(1, r)]
    v = np.minimum(np.stack(counted, axis=1), cap) if r > 1 else rows.v[:, :0]
    x = rows.x[:, rest]
    return _Rows(
        np.where(x == r, 0, x),
        v,
        rows.black + (on == r).sum(axis=1),
        rows.both + np.minimum(len(chosen), seen),
    )


def _encoded(rows: _Rows, n: int) -> Ints:
    """Encode each row as one integer; all digits are at most n."""
    base, key = n + 1, np.zeros(len(rows.black), dtype=np.int64)
    for column in (*rows.x.T, *rows.v.T, rows.black, rows.both):
        key = key * base + column
    return key


def _decoded(keys: Ints, n: int, f: int, r: int) -> _Rows:
    base, columns = n + 1, []
    for _ in range(f + r + 2):
        keys, digit = np.divmod(keys, base)
        columns.append(digit)
    both, black, *rest = columns
    digits = np.stack(rest[::-1], axis=1) if rest else np.zeros((len(both), 0), dtype=np.int64)
    return _Rows(digits[:, :f], digits[:, f:], black, both)


# --- The inner loops of color elimination, for eight sets of colors at a time ---------------------


LANES = 8
"""Number of sets of colors that are eliminated at a time."""


class ColorSets(NamedTuple):
    """All sets of d colors in blocks of `LANES`, with the indices of their guesses and codes."""

    high: Places
    """``(blocks, words, lanes)``: marginal indices of the first halves of collapsed codes."""
    low: Places
    """The same for the second halves."""
    guesses: NDArray[np.int64]
    """``(blocks, patterns, lanes)``: the guess of each pattern, −1 for an unused lane."""
    causes: NDArray[np.int64]
    """The column in the masses of each row of a leaf, or −1 for an impossible reply."""


@njit_superword
def collapse(marginals: Floats, high: Places, low: Places, n: int, out: Floats) -> None:
    """Fill a buffer with the beliefs in codes collapsed to the colors of each lane's set.

    In ``marginals[high[i, lane] + low[j, lane]]`` symbol 0 is "any color"; in row
    ``i * len(low) + j`` of the result it is "any other color". The kernel computes the difference
    one position after another, and clips rounding errors below zero.
    """
    rows = len(high) * len(low)
    for i in range(len(high)):
        for j in range(len(low)):
            row = np.uint64(i * len(low) + j)
            for lane in range(8):
                out[row, lane] = marginals[high[i, lane] + low[j, lane]]
    symbols = round(rows ** (1 / n))
    stride = 1
    for _ in range(n):
        block = stride * symbols
        for start in range(0, rows, block):
            for at in range(start, start + stride):
                a = np.uint64(at)
                s0 = out[a, 0]
                s1 = out[a, 1]
                s2 = out[a, 2]
                s3 = out[a, 3]
                s4 = out[a, 4]
                s5 = out[a, 5]
                s6 = out[a, 6]
                s7 = out[a, 7]
                for symbol in range(1, symbols):
                    b = np.uint64(at + symbol * stride)
                    s0 -= out[b, 0]
                    s1 -= out[b, 1]
                    s2 -= out[b, 2]
                    s3 -= out[b, 3]
                    s4 -= out[b, 4]
                    s5 -= out[b, 5]
                    s6 -= out[b, 6]
                    s7 -= out[b, 7]
                out[a, 0] = max(s0, 0.0)
                out[a, 1] = max(s1, 0.0)
                out[a, 2] = max(s2, 0.0)
                out[a, 3] = max(s3, 0.0)
                out[a, 4] = max(s4, 0.0)
                out[a, 5] = max(s5, 0.0)
                out[a, 6] = max(s6, 0.0)
                out[a, 7] = max(s7, 0.0)
        stride = block


@njit_superword
def contract(
    maps: Contractions,
    guesses: NDArray[np.int64],
    causes: NDArray[np.int64],
    buffer: Floats,
    masses: Floats,
) -> None:
    """Run all contractions of one elimination; leaves write the masses of their guesses.

    ``buffer`` holds the stacked levels, which start at the rows ``maps.offsets``.
    ``guesses[pattern, lane]`` is the guess of a pattern with the colors of a lane, or −1.
    ``causes`` is the column in ``masses`` of each row of a leaf, or −1.
    """
    offsets, level, first, count = maps.offsets, maps.level, maps.first, maps.n_rows
    leaf, starts, sources = maps.leaf, maps.starts, maps.sources
    for step in range(len(level)):
        source = buffer[offsets[level[step]] :]
        result = buffer[offsets[level[step] + np.uint64(1)] :]
        begin = first[step]
        for row in range(count[step]):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for at in range(starts[begin + row], starts[begin + row + np.uint64(1)]):
                a = sources[at]
                s0 += source[a, 0]
                s1 += source[a, 1]
                s2 += source[a, 2]
                s3 += source[a, 3]
                s4 += source[a, 4]
                s5 += source[a, 5]
                s6 += source[a, 6]
                s7 += source[a, 7]
            result[row, 0] = s0
            result[row, 1] = s1
            result[row, 2] = s2
            result[row, 3] = s3
            result[row, 4] = s4
            result[row, 5] = s5
            result[row, 6] = s6
            result[row, 7] = s7
        pattern = leaf[step]
        if pattern >= 0:
            for lane in range(8):
                guess = guesses[pattern, lane]
                if guess >= 0:
                    for row in range(count[step]):
                        if causes[row] >= 0:
                            masses[guess, causes[row]] = result[row, lane]


@njit_superword
def eliminate(
    maps: Contractions,
    sets: ColorSets,
    marginals: Floats,
    n: int,
    begin: int,
    end: int,
    masses: Floats,
) -> None:
    """Eliminate blocks ``begin`` to ``end`` of sets of colors; write the masses of their guesses.

    ``marginals`` and ``n`` are as for `collapse`, ``masses`` is as for `contract`.
    """
    buffer = np.empty((maps.offsets[-1], 8))
    for block in range(begin, end):
        collapse(marginals, sets.high[block], sets.low[block], n, buffer)
        contract(maps, sets.guesses[block], sets.causes, buffer, masses)


# --- Color elimination: the belief mass of each reply to each guess, for all guesses at once ------


_ADDITIONS_AT_ONCE = 300_000_000  # a tenth of a second, unless one block of sets takes longer
_MAP_BYTES = 16
"""Bytes for each addition while the index maps are built."""


@dataclass(frozen=True, eq=False)
class _Sets:
    """All sets of d colors, with the contractions that they share."""

    maps: Elimination
    blocks: ColorSets

    @property
    def n_blocks(self) -> int:
        """Number of blocks of `LANES` sets."""
        return len(self.blocks.guesses)

    @property
    def blocks_at_once(self) -> int:
        """Number of blocks in one call of compiled code, during which Ctrl-C has to wait."""
        return max(1, _ADDITIONS_AT_ONCE // (LANES * max(1, self.maps.additions)))


def _numbers_of_colors(board: Board) -> range:
    most = min(board.pegs, board.colors)
    return range(1 if board.repeats else board.pegs, most + 1)


def elimination_additions(board: Board, *, padded: bool = False) -> int:
    """Return the number of additions of one elimination, which does not depend on the belief.

    Color sets are processed in blocks of `LANES`; ``padded`` also counts the unused lanes.

    Parameters
    ----------
    board
        The board.
    padded
        Whether additions in unused lanes are counted, too.
    """
    return sum(
        elimination(board.pegs, d).additions * _lanes(board, d, padded=padded)
        for d in _numbers_of_colors(board)
    )


def least_additions(board: Board) -> int:
    """Return a lower bound of the padded additions, without building the index maps.

    The bound counts only the first contraction of each set of colors: the d-th color takes one
    of the sets of at most n − d + 1 positions, and sums over all collapsed codes.

    Parameters
    ----------
    board
        The board.
    """
    return sum(
        _first_contractions(board.pegs, d) * _lanes(board, d, padded=True)
        for d in _numbers_of_colors(board)
    )


def map_entries(board: Board) -> int:
    """Return a lower bound of the entries of the index maps, within a factor of two."""
    return sum(_first_contractions(board.pegs, d) for d in _numbers_of_colors(board))


def _lanes(board: Board, d: int, *, padded: bool) -> int:
    """Return the number of sets of d colors, or the number of lanes of their blocks."""
    sets = comb(board.colors, d)
    return -(-sets // LANES) * LANES if padded else sets


def _first_contractions(n: int, d: int) -> int:
    """Return the total number of additions of all first contractions of d colors."""
    ways = 1 if d == 1 else sum(comb(n, size) for size in range(1, n - d + 2))
    return int(ways * (d + 1) ** n)


def elimination_bytes(board: Board, *, threads: int = 1) -> int:
    """Return the memory of an elimination without its index maps, in bytes.

    Parameters
    ----------
    board
        The board.
    threads
        The number of threads, each of which has tables of its own.
    """
    n, k = board.pegs, board.colors
    numbers_of_colors = _numbers_of_colors(board)
    buffers = max((d + 1) ** n for d in numbers_of_colors) * 2 * LANES
    numbers = 3 * (k + 1) ** n + threads * buffers + board.n_codes * len(board.true_replies)
    return int(8 * numbers)


def map_bytes(board: Board) -> int:
    """Return a lower bound of the memory needed to build the index maps, in bytes."""
    return _MAP_BYTES * map_entries(board)


def masses_by_elimination(board: Board, belief: Floats, *, threads: int = 1) -> Floats:
    """Return the belief mass of each true reply to each guess.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    threads
        Number of threads. The result does not depend on it.

    Returns
    -------
    Floats
        ``(n_codes, len(board.true_replies))``. The mass of an impossible reply may be a
        rounding error of at most 1e-15 of the total.
    """
    marginals = _marginals(board, np.asarray(belief, dtype=np.float64))
    masses = np.zeros((board.n_codes, len(board.true_replies)))

    def run(sets: _Sets, begin: int, end: int) -> None:
        maps = sets.maps.contractions
        eliminate(maps, sets.blocks, marginals, board.pegs, begin, end, masses)

    if threads == 1:
        for sets in _sets(board):
            blocks, at_once = sets.n_blocks, sets.blocks_at_once
            for begin in range(0, blocks, at_once):
                run(sets, begin, min(begin + at_once, blocks))
    else:
        single = [
            (sets, block, block + 1)
            for sets in reversed(_sets(board))
            for block in range(sets.n_blocks)
        ]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: run(*part), single))
    return masses


def _marginals(board: Board, belief: Floats) -> Floats:
    """Return the flat belief with an additional symbol "any" before the colors of each peg."""
    n, k = board.pegs, board.colors
    if board.repeats:
        joint = belief.reshape((k,) * n)
    else:
        joint = np.zeros((k,) * n)
        joint[tuple(board.codes.T.astype(np.intp) - 1)] = belief
    for axis in range(n):
        joint = np.concatenate([joint.sum(axis=axis, keepdims=True), joint], axis=axis)
    return np.ascontiguousarray(joint).ravel()


@lru_cache(maxsize=4)
def _sets(board: Board) -> tuple[_Sets, ...]:
    """Return the sets of colors that guesses use (cached: they do not depend on the belief)."""
    return tuple(_sets_of(board, d) for d in _numbers_of_colors(board))


def _sets_of(board: Board, d: int) -> _Sets:
    n, k = board.pegs, board.colors
    maps = elimination(n, d)
    known = {reply: i for i, reply in enumerate(board.true_replies)}
    replies = zip(maps.black.tolist(), (maps.both - maps.black).tolist(), strict=True)
    # Replies that are impossible on a board with few colors have no mass and no index.
    causes = np.array([known.get(Reply.of(reply), -1) for reply in replies], dtype=np.int64)
    sets = np.array(list(combinations(range(k), d)), dtype=np.int64)
    unused = -len(sets) % LANES
    lanes = np.concatenate([sets, np.repeat(sets[:1], unused, axis=0)]).reshape(-1, LANES, d)
    place = k ** np.arange(n - 1, -1, -1)
    guesses = (lanes[..., maps.places] * place).sum(axis=-1)  # (block, lane, pattern)
    if not board.repeats:
        listed = np.full(k**n, -1, dtype=np.int64)
        listed[((board.codes - 1) * place).sum(axis=1)] = np.arange(board.n_codes)
        guesses = listed[guesses]
    guesses[-1, LANES - unused :] = -1
    symbols = np.concatenate([np.zeros((*lanes.shape[:2], 1), dtype=np.int64), lanes + 1], axis=2)
    any_place = (k + 1) ** np.arange(n - 1, -1, -1)
    half = n // 2
    blocks = ColorSets(
        high=_offsets(symbols, any_place[:half]),
        low=_offsets(symbols, any_place[half:]),
        guesses=np.ascontiguousarray(guesses.transpose(0, 2, 1)),
        causes=causes,
    )
    return _Sets(maps, blocks)


def _offsets(symbols: NDArray[np.int64], place: NDArray[np.int64]) -> Places:
    """Return the index of each word of symbols in the marginals, ``(blocks, words, lanes)``."""
    one = symbols.transpose(0, 2, 1)  # (block, symbol, lane)
    words = np.zeros((len(symbols), 1, LANES), dtype=np.int64)
    for weight in place:
        words = words[:, :, None, :] + one[:, None, :, :] * weight
        words = words.reshape(len(symbols), -1, LANES)
    return words.astype(np.uint64)
