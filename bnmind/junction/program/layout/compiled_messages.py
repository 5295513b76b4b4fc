"""The messages of a large tree, laid out in compiled code, with the results of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from bnmind._jit import PlainWork
from bnmind._values import made
from bnmind.junction.program.layout.arrays import (
    N_KEYS,
    N_REGISTERS,
    Ints,
    TreeArrays,
    capacity,
    empty_steps,
    scratch,
)
from bnmind.junction.program.layout.messages_kernel import answered
from bnmind.junction.program.layout.steps_kernel import BROADCAST, MATRIX, SUM
from bnmind.junction.program.message_passing import Passing, Question
from bnmind.junction.program.program import LookUp, Operation, Product, Scope, Step, Sum

__all__ = ["answers"]

_LARGEST = 2**58
"""The most cells of a clique: all numbers must fit 64 bits."""

_WORK_OF_A_QUESTION = 150
"""The operations in Python for each clique and question, see `PlainWork`."""

_plain_work = PlainWork(answered, 20_000_000, if_cached=150_000)
"""The work that is done in Python before the kernels are loaded or compiled."""


class _Shape(NamedTuple):
    """A tree with its tables."""

    sizes: Sequence[int]
    neighbors: Sequence[Mapping[int, frozenset[int]]]
    assigned: Sequence[Sequence[int]]
    largest: int
    """The cells of the largest clique."""


class _LaidOut(NamedTuple):
    """The steps of all messages."""

    steps: list[Step]
    scopes: list[Scope]
    cells: list[int]
    """The scopes and the cells of the registers that the steps fill."""
    answers: list[int | None]
    """The register of each question."""


def answers(passing: Passing, targets: Sequence[frozenset[int]]) -> list[int | None]:
    """Return the register of each target's unnormalized joint, see `Passing.answer`.

    The messages of large trees are laid out in compiled code, with the same results. Afterwards, no
    steps may be added.
    """
    builder = passing.builder
    if passing.scopes and builder.is_plain:
        largest = passing.clique_sizes[passing.ascending[-1]]
        shape = _Shape(builder.sizes, passing.neighbors, passing.assigned, largest)
        if _pays(shape, len(targets)):
            questions = [passing.question(target) for target in targets]
            children = {r: (f.child, f.positions) for r, f in builder.functions.items()}
            found = _laid_out(shape, questions, builder.scopes, children)
            if found is not None:
                builder.fill(found.steps, found.scopes, found.cells)
                return found.answers
    return [passing.answer(target) for target in targets]


def _pays(shape: _Shape, n_questions: int) -> bool:
    """Return whether to lay out the messages of a tree in compiled code."""
    work = _WORK_OF_A_QUESTION * (len(shape.neighbors) + n_questions)
    left = _plain_work.left
    if work <= left:
        _plain_work.spend(work)
        return False
    return shape.largest <= _LARGEST


def _laid_out(
    shape: _Shape,
    questions: Sequence[Question],
    scopes: list[Scope],
    children: Mapping[int, tuple[int, int]],
) -> _LaidOut | None:
    """Return the steps that answer questions; None if there is no room.

    Parameters
    ----------
    shape
        The tree.
    questions
        The questions.
    scopes
        The variables of the first registers.
    children
        For registers that are functions, the child and the register of its positions.
    """
    tree, owner = _tree_arrays(shape, questions)
    n, n_edges = len(scopes), len(owner)
    steps = empty_steps(scopes, capacity(len(shape.neighbors), n_edges, len(questions)), n_edges)
    for register, (child, _) in children.items():
        steps.children[register] = child
    answers = np.empty(len(questions), np.int64)
    work = scratch(len(shape.sizes), n_edges)
    if not answered(tree, steps, work, owner, answers):
        return None
    keys = _rows(steps.key_starts[: steps.counts[N_KEYS] + 1], steps.keys)
    operations = [_operation(key) for key in keys]
    last = int(steps.counts[N_REGISTERS])
    numbers = steps.steps[n:last].T.tolist()
    made_steps = list(map(Step, map(operations.__getitem__, numbers[0]), numbers[1], numbers[2]))
    if children:
        made_steps = [
            s._replace(left=children[s.left][1]) if isinstance(s.operation, LookUp) else s
            for s in made_steps
        ]
    return _LaidOut(
        made_steps,
        list(map(tuple, _rows(steps.scope_starts[n : last + 1], steps.scopes))),
        numbers[3],
        [register if register >= 0 else None for register in answers.tolist()],
    )


def _rows(starts: Ints, members: Ints) -> list[list[int]]:
    """Return the rows of a list of lists."""
    first, *ends = starts.tolist()
    flat = members[first : starts[-1]].tolist()
    return [flat[i - first : j - first] for i, j in zip([first, *ends], ends, strict=False)]


def _tree_arrays(shape: _Shape, questions: Sequence[Question]) -> tuple[TreeArrays, Ints]:
    """Return a tree and questions as arrays, and the clique of each directed edge."""
    neighbors = shape.neighbors
    sets: dict[frozenset[int], int] = {}
    edges: dict[tuple[int, int], int] = {}
    separators = []
    for clique, around in enumerate(neighbors):
        for other, separator in around.items():
            edges[clique, other] = len(edges)
            separators.append(sets.setdefault(separator, len(sets)))
    asked = [
        (
            q.clique,
            edges[q.clique, q.neighbor] if q.neighbor >= 0 else -1,
            sets.setdefault(q.keep, len(sets)),
            -1 if q.final is None else sets.setdefault(q.final, len(sets)),
        )
        for q in questions
    ]
    tree = TreeArrays(
        sizes=np.array(shape.sizes, np.int64),
        starts=_starts(neighbors),
        neighbors=_array([other for _, other in edges]),
        reverse=_array([edges[other, clique] for clique, other in edges]),
        separators=_array(separators),
        assigned_starts=_starts(shape.assigned),
        assigned=_array(list(chain.from_iterable(shape.assigned))),
        set_starts=_starts(list(sets)),
        set_members=_array(list(chain.from_iterable(sets))),
        questions=np.array(asked, np.int64).reshape(-1, 4),
    )
    return tree, _array([clique for clique, _ in edges])


def _array(numbers: list[int]) -> Ints:
    return np.array(numbers, np.int64)


def _starts(rows: Sequence[Any]) -> Ints:
    return _array([0, *accumulate(map(len, rows))])


def _operation(key: list[int]) -> Operation:
    """Return an operation from its key; see `bnmind.junction.program.layout.steps_kernel`."""
    kind = key[1]
    if kind == MATRIX:
        return _matrix(key)
    if kind == BROADCAST:
        return _broadcast(key)
    if kind == SUM:
        return Sum(tuple(key[3:]), key[2])
    n_shared = key[3]
    return LookUp(tuple(key[4 + n_shared :]), key[2], tuple(key[4 : 4 + n_shared]))


def _axes(key: list[int], place: int) -> tuple[tuple[int, ...] | None, int]:
    """Return the axes at a place of a key, or None, and the place behind them."""
    end = place + 1 + key[place]
    return (tuple(key[place + 1 : end]) or None), end


def _matrix(key: list[int]) -> Product:
    _, _, b, m, k, n, single, *_ = key
    left_axes, place = _axes(key, 7)
    right_axes, place = _axes(key, place)
    return made(
        Product,
        left_axes=left_axes,
        right_axes=right_axes,
        left_shape=(b, m, k) if b > 1 else (m, k),
        right_shape=(b, k, n) if b > 1 else (k, n),
        shape=tuple(key[place:]),
        cost=b * m * k * n,
        sums=True,
        overwrites=False,
        same_shapes=(bool(single),) * 3,
    )


def _broadcast(key: list[int]) -> Product:
    n_left, n_right = key[2], key[3]
    right_axes, place = _axes(key, 4)
    n = (len(key) - place) // 2
    shape = tuple(key[place : place + n])
    n_columns = n - n_left
    cost = 1
    for size in shape:
        cost *= size
    return made(
        Product,
        left_axes=None,
        right_axes=right_axes,
        left_shape=shape[:n_left] + (1,) * n_columns,
        right_shape=tuple(key[place + n :]),
        shape=shape,
        cost=cost,
        sums=False,
        overwrites=False,
        same_shapes=(n_columns == 0, n_right == n, True),
    )
