"""The messages of a large tree, laid out in compiled code, with the results of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from bnmind._jit import PlainWork
from bnmind._values import made
from bnmind.junction.program.layout import arrays
from bnmind.junction.program.layout.arrays import Ints, empty_sections, memory_of
from bnmind.junction.program.layout.messages_kernel import answered
from bnmind.junction.program.layout.steps_kernel import BROADCAST, MATRIX, SUM
from bnmind.junction.program.message_passing import Passing, Question
from bnmind.junction.program.program import LookUp, Operation, Product, Scope, Step, Sum

__all__ = ["answers", "plain_layouts"]

_LARGEST = 2**58
"""The most cells of a clique: all numbers must fit 64 bits."""

_STEPS = 6
"""The most steps for each clique, directed edge, and half a question. A contraction of two operands
has at most three steps, and few contractions have many operands."""

_MOST_MEMORY = 2**27
"""The most numbers in the memory of compiled code: one gigabyte."""

_WORK_OF_A_QUESTION = 150
"""The operations in Python for each clique and question, see `PlainWork`."""

_FEW = 12
"""The most cliques and questions of a tree that Python lays out as quickly."""

plain_layouts = PlainWork(answered, 4_000_000, if_cached=150_000)
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
    n = len(shape.neighbors) + n_questions
    if n <= _FEW:
        return False
    work = _WORK_OF_A_QUESTION * n
    left = plain_layouts.left
    if work <= left:
        plain_layouts.spend(work)
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
    sections = _tree_sections(shape, questions)
    n, n_edges, n_questions = len(scopes), _length(sections[arrays.REVERSE]), len(questions)
    most = _STEPS * (len(shape.neighbors) + n_edges + 2 * n_questions) + 64
    sections |= empty_sections(scopes, (len(shape.sizes), n_edges, n_questions), most)
    sections[arrays.CHILDREN] = _array([children.get(i, (-1, 0))[0] for i in range(n)])
    if sum(map(_length, sections.values())) > _MOST_MEMORY:
        return None
    memory = memory_of(sections, n, n_questions)
    if not answered(memory):
        return None

    def section(number: int) -> Ints:
        return memory[memory[number] : memory[number + 1]]

    n_keys, last = int(memory[arrays.N_KEYS]), int(memory[arrays.N_REGISTERS])
    keys = _rows(section(arrays.KEY_STARTS)[: n_keys + 1], section(arrays.KEYS))
    operations = [_operation(key) for key in keys]
    numbers = section(arrays.STEPS)[4 * n : 4 * last].reshape(-1, 4).T.tolist()
    steps = list(map(Step, map(operations.__getitem__, numbers[0]), numbers[1], numbers[2]))
    if children:
        steps = [
            s._replace(left=children[s.left][1]) if isinstance(s.operation, LookUp) else s
            for s in steps
        ]
    filled = _rows(section(arrays.SCOPE_STARTS)[n : last + 1], section(arrays.SCOPES))
    found = [register if register >= 0 else None for register in section(arrays.ANSWERS).tolist()]
    return _LaidOut(steps, list(map(tuple, filled)), numbers[3], found)


def _length(contents: Ints | int) -> int:
    return contents if isinstance(contents, int) else contents.size


def _rows(starts: Ints, members: Ints) -> list[list[int]]:
    """Return the rows of a list of lists."""
    first, *ends = starts.tolist()
    flat = members[first : starts[-1]].tolist()
    return [flat[i - first : j - first] for i, j in zip([first, *ends], ends, strict=False)]


def _tree_sections(shape: _Shape, questions: Sequence[Question]) -> dict[int, Ints | int]:
    """Return a tree and questions as sections of the memory of compiled code."""
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
    return {
        arrays.SIZES: _array(shape.sizes),
        arrays.STARTS: _starts(neighbors),
        arrays.REVERSE: _array([edges[other, clique] for clique, other in edges]),
        arrays.OWNERS: _array([clique for clique, _ in edges]),
        arrays.SEPARATORS: _array(separators),
        arrays.ASSIGNED_STARTS: _starts(shape.assigned),
        arrays.ASSIGNED: _array(list(chain.from_iterable(shape.assigned))),
        arrays.SET_STARTS: _starts(list(sets)),
        arrays.SET_MEMBERS: _array(list(chain.from_iterable(sets))),
        arrays.QUESTIONS: np.array(asked, np.int64),
    }


def _array(numbers: Sequence[int]) -> Ints:
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
