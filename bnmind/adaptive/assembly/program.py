"""The integer program of the items that complete a test.

=========  ====================================================================
symbol     name here
=========  ====================================================================
c          a class of interchangeable parts: items that belong to the same groups,
           or a testlet, of which all items are asked or none
n_c        ``available``: the parts of class c that can still be asked
y_c        the parts of class c that complete the test
s_c        ``sizes``: the items of a part
V_cg       ``vectors``: the items of a part that belong to group g
need, room the items of each group that the test still needs, and may still hold
R          ``length``: the items that may still be asked
K          ``cliques``: classes that exclude each other
=========  ====================================================================

    0 ≤ y_c ≤ n_c,  y_c = 1 for a testlet that has begun,
    need ≤ V'y ≤ room,  s'y ≤ R,  Σ_{c in K} y_c ≤ 1

References
----------
W. van der Linden, *Linear Models for Optimal Test Design*, Springer 2005, chapters 3 and 5.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.information import Floats

__all__ = ["Program", "best_completion", "possible_classes", "shortage"]

Counts = NDArray[np.intp]

_MISSES = 4
"""Greedy completions that may fail before the integer program is solved."""


@dataclass(frozen=True, eq=False)
class Program(Value):
    """The constraints on the rest of a test; see the head of this module."""

    _: KW_ONLY
    available: Counts
    """``(classes,)``"""
    sizes: Counts
    """``(classes,)``"""
    vectors: Counts
    """``(classes, groups)``"""
    need: Counts
    """``(groups,)``, at least 0."""
    room: Counts
    """``(groups,)``, at least 0."""
    length: int
    begun: NDArray[np.bool_]
    """``(classes,)``, the testlets to be finished."""
    cliques: NDArray[np.bool_]
    """``(cliques, classes)``"""

    def meets(self, parts: Counts) -> bool:
        """Return whether parts ``(classes,)`` complete the test."""
        counts = parts @ self.vectors
        return bool(
            self.fits(parts) and np.all(counts >= self.need) and np.all(parts[self.begun] >= 1)
        )

    def fits(self, parts: Counts) -> bool:
        """Return whether parts are within all upper limits."""
        return bool(
            np.all(parts <= self.available)
            and np.all(parts @ self.vectors <= self.room)
            and parts @ self.sizes <= self.length
            and np.all(self.cliques @ parts <= 1)
        )


def possible_classes(program: Program) -> NDArray[np.bool_] | None:
    """Return the classes that some completion of the test holds, ``(classes,)``.

    They are found exactly: by small changes of completions that are known, and for classes
    that these do not reach, by solving the integer program.

    Returns
    -------
    NDArray or None
        None if nothing completes the test.
    """
    parts = _greedy(program)
    if parts is None:
        parts = best_completion(program, -program.sizes.astype(np.float64))
    if parts is None:
        return None
    found = _near(program, parts)
    open_classes = (program.available > 0) & (found | ~_hopeless(program))
    misses = 0
    while misses < _MISSES and (rest := np.flatnonzero(open_classes & ~found)).size > misses:
        parts = _greedy(program, int(rest[misses]))
        if parts is None:
            misses += 1
        else:
            found |= _near(program, parts)
    while (left := open_classes & ~found).any():
        parts = best_completion(program, left.astype(np.float64), at_least_one=left)
        if parts is None:
            break
        found |= _near(program, parts)
    return found & (program.available > 0)


def _hopeless(program: Program) -> NDArray[np.bool_]:
    """Return classes that no completion holds, by bounds that are quick, ``(classes,)``.

    A class is too much for a group, or leaves too few items for the minima of groups that have
    no item in common.
    """
    vectors = program.vectors
    over = np.asarray((vectors > program.room).any(axis=1), dtype=bool)
    n_groups = len(program.need)
    if not program.need.any():
        return over
    inside = (vectors[program.available > 0] > 0).astype(np.intp)
    is_apart = inside.T @ inside == 0
    apart = np.zeros((n_groups, n_groups), dtype=bool)  # a family of such groups in each row
    for family in range(n_groups):
        free = np.arange(n_groups) != family
        free &= is_apart[family]
        apart[family, family] = True
        for group in np.argsort(-program.need, kind="stable").tolist():
            if free[group] and program.need[group]:
                apart[family, group] = True
                free &= is_apart[group]
    still = np.maximum(program.need - vectors, 0) @ apart.T.astype(np.intp)
    short = still.max(axis=1) > program.length - program.sizes
    return np.asarray(over | short, dtype=bool)


def _greedy(program: Program, first: int | None = None) -> Counts | None:
    """Return a completion by the class that helps most, again and again; None if stuck.

    It holds the class ``first``, if given.
    """
    parts = np.where(program.begun, 1, 0).astype(np.intp)
    if first is not None:
        parts[first] += not program.begun[first]
    if not program.fits(parts):
        return None
    while True:
        short = np.maximum(program.need - parts @ program.vectors, 0)
        if not short.any():
            return parts
        may = _addable(program, parts)
        helps = np.minimum(program.vectors, short).sum(axis=1)
        worth = np.where(may & (helps > 0), helps / program.sizes, -1.0)
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            return None
        parts[best] += 1


def _addable(program: Program, parts: Counts) -> NDArray[np.bool_]:
    """Return the classes of which a completion may hold one more part, ``(classes,)``."""
    used = parts @ program.vectors
    may: NDArray[np.bool_] = (
        (parts < program.available)
        & (used + program.vectors <= program.room).all(axis=1)
        & (parts @ program.sizes + program.sizes <= program.length)
    )
    if len(program.cliques):
        full = program.cliques @ parts >= 1
        may &= ~program.cliques[full].any(axis=0)
    return may


def _near(program: Program, parts: Counts) -> NDArray[np.bool_]:
    """Return the classes of a completion, and of those that differ by one part."""
    found = (parts > 0) | _addable(program, parts)
    if found[program.available > 0].all():
        return found
    for own in np.flatnonzero((parts > 0) & ~program.begun).tolist():
        fewer = parts.copy()
        fewer[own] -= 1
        counts = fewer @ program.vectors
        meets = (counts + program.vectors >= program.need).all(axis=1)
        found |= _addable(program, fewer) & meets
    return found


def best_completion(
    program: Program, worth: Floats, *, at_least_one: NDArray[np.bool_] | None = None
) -> Counts | None:
    """Return the parts of largest total worth that complete the test, ``(classes,)``.

    Parameters
    ----------
    program
        The constraints.
    worth
        ``(classes,)``, the worth of a part.
    at_least_one
        ``(classes,)``, classes of which at least one part must be in it.

    Returns
    -------
    NDArray or None
        None if nothing completes the test.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    open_classes = np.flatnonzero(program.available > 0)
    if not len(open_classes):
        nothing = np.zeros(len(program.available), dtype=np.intp)
        return nothing if program.meets(nothing) and at_least_one is None else None
    rows, low, high = _rows(program, open_classes)
    if at_least_one is not None:
        rows.append(at_least_one[open_classes].astype(np.float64)[None])
        low.append(np.ones(1))
        high.append(np.full(1, np.inf))
    found = milp(
        -worth[open_classes],
        integrality=np.ones(len(open_classes), dtype=np.intp),
        bounds=Bounds(
            program.begun[open_classes].astype(np.float64),
            program.available[open_classes].astype(np.float64),
        ),
        constraints=LinearConstraint(
            np.concatenate(rows), np.concatenate(low), np.concatenate(high)
        ),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    parts = np.zeros(len(program.available), dtype=np.intp)
    parts[open_classes] = np.rint(found.x).astype(np.intp)
    return parts


def _rows(
    program: Program, classes: NDArray[np.intp]
) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Return the constraints as rows with their lower and upper limits."""
    vectors = program.vectors[classes].T.astype(np.float64)
    binds = (program.need > 0) | (program.room < vectors @ program.available[classes])
    rows = [program.sizes[classes].astype(np.float64)[None], vectors[binds]]
    low = [np.full(1, -np.inf), program.need[binds].astype(np.float64)]
    high = [np.full(1, float(program.length)), program.room[binds].astype(np.float64)]
    cliques = program.cliques[:, classes]
    cliques = cliques[cliques.sum(axis=1) > 1]
    rows.append(cliques.astype(np.float64))
    low.append(np.full(len(cliques), -np.inf))
    high.append(np.ones(len(cliques)))
    return rows, low, high


def shortage(program: Program) -> Counts:
    """Return by how many items each group misses its minimum at best, ``(groups,)``.

    The total is as small as possible; all other constraints are met.
    """
    n_classes, n_groups = program.vectors.shape
    # A missing item is a part of a class of its own: it belongs to a group, and takes no place.
    relaxed = Program(
        available=np.concatenate([program.available, program.need]),
        sizes=np.concatenate([program.sizes, np.zeros(n_groups, dtype=np.intp)]),
        vectors=np.concatenate([program.vectors, np.eye(n_groups, dtype=np.intp)]),
        need=program.need,
        room=np.maximum(program.room, program.need),
        length=program.length,
        begun=np.concatenate([program.begun, np.zeros(n_groups, dtype=bool)]),
        cliques=np.concatenate(
            [program.cliques, np.zeros((len(program.cliques), n_groups), dtype=bool)], axis=1
        ),
    )
    worth = np.concatenate([np.zeros(n_classes), -np.ones(n_groups)])
    parts = best_completion(relaxed, worth)
    return program.need.copy() if parts is None else parts[n_classes:]
