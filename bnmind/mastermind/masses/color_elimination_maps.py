"""Index maps of color elimination: the rows that are added for each guess pattern.

A guess that uses exactly d colors assigns a non-empty set A of positions to each of them. The
algorithm contracts the colors one after another, from the d-th down to the first. While f
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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contractions", "Elimination", "Places", "elimination"]

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
