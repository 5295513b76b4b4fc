"""The messages of a junction tree as steps of a program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

import bnmind.junction.program.layout_kernel as arrays
from bnmind._jit import PlainWork
from bnmind._values import made
from bnmind.junction.program.contraction import ProgramBuilder, Variables
from bnmind.junction.program.layout_kernel import (
    BROADCAST,
    MATRIX,
    SUM,
    Ints,
    answered,
    empty_sections,
    memory_of,
)
from bnmind.junction.program.program import LookUp, Operation, Product, Scope, Step, Sum

# Stations: auxiliary cliques through which many neighbors of a clique exchange their messages.
#
# A message from a clique to one of k neighbors multiplies those of all others, so that all messages
# take about k² products. A binary tree of stations needs about 3k (Shenoy, *Binary join trees for
# computing marginals in the Shenoy-Shafer architecture*, 1997). A station holds the union of the
# separators below it.
#
# Neighbors with the same separator are connected by stations over that separator. Many neighbors
# with different separators are connected as in bucket elimination: those that share a variable by a
# tree of stations, and all others by a station without that variable, where this is repeated. The
# sizes of these stations sum to a small multiple of that of the clique (Kask, Dechter, Larrosa &
# Dechter, *Unifying tree decompositions for reasoning in graphical models*, Artif. Intell. 166,
# 2005).

_MANY = 12
"""The most separators of a clique without stations between them."""

_LARGEST_HUB = 2**22
"""The most cells of a clique with stations over different separators. They hold tables of half its
size, while a clique holds none."""

_SHRINK = 4
"""How many times smaller than the clique a station over several separators must be."""


class _End(NamedTuple):
    """A clique or a station that is to be connected."""

    separator: frozenset[int]
    clique: int


@dataclass
class StationTree:
    """A tree of cliques with room for stations, while they are being added."""

    scopes: list[frozenset[int]]
    """The variables of each clique and station."""
    neighbors: list[dict[int, frozenset[int]]]
    """For each clique and station, its neighbors with the separators."""
    sizes: Sequence[int]
    """The number of states of each variable."""

    def connect(self, clique: int) -> None:
        """Connect the neighbors of a clique by stations."""
        groups: dict[frozenset[int], list[int]] = {}
        for neighbor, separator in self.neighbors[clique].items():
            groups.setdefault(separator, []).append(neighbor)
        spread = len(groups) > _MANY and self.cells(self.scopes[clique]) <= _LARGEST_HUB
        ends: list[_End] = []
        for separator, group in groups.items():
            if len(group) < 3 and not spread:
                continue
            for neighbor in group:
                del self.neighbors[clique][neighbor], self.neighbors[neighbor][clique]
            ends.append(_End(separator, self._same(group, separator)))
        if spread:
            self._spread(clique, ends)
        else:
            self._attach(clique, ends)

    def _same(self, group: Sequence[int], separator: frozenset[int]) -> int:
        """Return the top of a binary tree over neighbors with the same separator."""
        if len(group) == 1:
            return group[0]
        middle = len(group) // 2
        halves = [self._same(half, separator) for half in (group[:middle], group[middle:])]
        return self._station(separator, [_End(separator, half) for half in halves])

    def _spread(self, hub: int, ends: list[_End]) -> None:
        """Connect ends with different separators to a clique or station that contains them."""
        while len(ends) > 3:
            scope = self.scopes[hub]
            most = self.cells(scope) // _SHRINK
            shared: dict[int, list[_End]] = {}
            for end in ends:
                for variable in end.separator:
                    shared.setdefault(variable, []).append(end)
            if not shared:
                break
            # As in bucket elimination by the fewest neighbors.
            variable = min(shared, key=lambda v: (len(shared[v]), v))
            bucket = sorted(shared[variable], key=lambda end: sorted(end.separator))
            self._attach(hub, self._halves(bucket, most))
            ends = [end for end in ends if variable not in end.separator]
            if len(ends) > 3:
                rest = _union(ends)
                station = self._station(rest, [])
                self._join(hub, station, rest)
                hub = station
        self._attach(hub, ends)

    def _attach(self, hub: int, ends: Sequence[_End]) -> None:
        for end in ends:
            self._join(hub, end.clique, end.separator)

    def _halves(self, ends: Sequence[_End], most: int) -> list[_End]:
        """Return ends connected by stations of at most so many cells, two if possible."""
        if len(ends) <= 1:
            return list(ends)
        middle = len(ends) // 2
        tops = []
        for half in (ends[:middle], ends[middle:]):
            union = _union(half)
            below = self._halves(half, most)
            if len(below) > 1 and self.cells(union) <= most:
                below = [_End(union, self._station(union, below))]
            tops += below
        return tops

    def _station(self, scope: frozenset[int], below: Sequence[_End]) -> int:
        station = len(self.scopes)
        self.scopes.append(scope)
        self.neighbors.append({})
        self._attach(station, below)
        return station

    def _join(self, first: int, second: int, separator: frozenset[int]) -> None:
        self.neighbors[first][second] = separator
        self.neighbors[second][first] = separator

    def cells(self, scope: frozenset[int]) -> int:
        """Return the number of configurations of some variables."""
        return math.prod([self.sizes[v] for v in scope])


def _union(ends: Sequence[_End]) -> frozenset[int]:
    return frozenset().union(*[end.separator for end in ends])


# --- The messages of a junction tree, as steps of a program ---------------------------------------
#
# Every table is assigned to a clique that contains its scope. A message from a clique to a neighbor
# is the product of the tables of the clique and of the messages from its other neighbors, summed to
# the separator. The product of the two messages of an edge is the belief of its separator, and
# answers targets in the separator. Other targets are answered at a clique that contains them. The
# program computes only messages that some target needs, each of them once (Shafer & Shenoy,
# *Probability propagation*, 1990).
#
# Many neighbors of a clique are connected by stations; see
# `bnmind.junction.program.message_passing`.

_SMALL = 2**12
"""The most cells of a joint from which several variables of a single clique are answered."""


@dataclass(frozen=True)
class TreeShape:
    """A junction tree whose cliques and separators are sets of a program's variables."""

    cliques: tuple[Variables, ...]
    edges: tuple[tuple[int, int, Variables], ...]
    """Two cliques and their separator, for each edge."""


class Question(NamedTuple):
    """A question about a tree."""

    clique: int
    neighbor: int
    """The two messages of this edge answer the question; -1 if the clique does."""
    keep: Variables
    """The variables of the messages' or the clique's product that are kept."""
    final: Variables | None
    """The variables to which that product is summed afterwards."""


class Passing:
    """The state of message passing: the tables assigned and the messages sent so far.

    Parameters
    ----------
    shape
        The tree. Some clique contains the scope of every register and of every target.
    builder
        The builder that collects the steps.
    registers
        The registers of the product; their scopes are not empty.
    """

    def __init__(self, shape: TreeShape, builder: ProgramBuilder, registers: Iterable[int]) -> None:
        self.builder = builder
        self.scopes = list(shape.cliques)
        self.neighbors: list[dict[int, Variables]] = [{} for _ in shape.cliques]
        for first, second, separator in shape.edges:
            self.neighbors[first][second] = separator
            self.neighbors[second][first] = separator
        stations = StationTree(self.scopes, self.neighbors, builder.sizes)
        for clique in range(len(shape.cliques)):
            stations.connect(clique)
        self.clique_sizes = [_size(scope, builder.sizes) for scope in self.scopes]
        self.ascending = sorted(range(len(self.scopes)), key=self.clique_sizes.__getitem__)
        self.holders: dict[int, list[int]] = {}
        for clique in self.ascending:
            for variable in self.scopes[clique]:
                self.holders.setdefault(variable, []).append(clique)
        self.smallest = self._smallest_separators()
        self.assigned: list[list[int]] = [[] for _ in self.scopes]
        for register in registers:
            self.assigned[self._host(builder.variables(register))].append(register)
        self.received: list[dict[int, int | None]] = [{} for _ in self.scopes]
        self._beliefs: dict[tuple[int, int], int | None] = {}
        self._private: dict[int, list[int]] = {}
        for variable, cliques in self.holders.items():
            if len(cliques) == 1:
                self._private.setdefault(cliques[0], []).append(variable)

    def answer(self, target: Variables) -> int | None:
        """Return the register of a target's unnormalized joint.

        The result is None if every configuration has weight one. The register's scope may lack
        variables on which the joint does not depend.
        """
        if not self.scopes:
            return None
        clique, neighbor, keep, final = self.question(target)
        if neighbor >= 0:
            if (clique, neighbor) not in self._beliefs:
                self._beliefs[clique, neighbor] = self._at_separator(clique, neighbor)
            belief = self._beliefs[clique, neighbor]
        else:
            belief = self._at_clique(clique, keep)
        return belief if belief is None or final is None else self.builder.contract([belief], final)

    def question(self, target: Variables) -> Question:
        """Return where a target is answered.

        A single variable is answered from the smallest table that the messages provide.
        """
        if len(target) != 1:
            return Question(self._host(target), -1, target, None)
        (variable,) = target
        edge = self.smallest.get(variable)
        if edge is not None:
            _, first, second = edge
            return Question(first, second, self.neighbors[first][second], target)
        clique = self._host(target)
        # Together with the other variables that are only in this clique.
        together = frozenset(self._private[clique])
        if _size(together, self.builder.sizes) > _SMALL:
            return Question(clique, -1, target, None)
        return Question(clique, -1, together, target)

    def _at_separator(self, first: int, second: int) -> int | None:
        both = [self._sent(first, second), self._sent(second, first)]
        separator = self.neighbors[first][second]
        return self.builder.contract([r for r in both if r is not None], separator)

    def _at_clique(self, clique: int, target: Variables) -> int | None:
        for neighbor in self.neighbors[clique]:
            self._sent(neighbor, clique)
        return self._contract(clique, None, target)

    def _smallest_separators(self) -> dict[int, tuple[int, int, int]]:
        """Return the size and ends of a smallest separator of each variable of several cliques."""
        smallest: dict[int, tuple[int, int, int]] = {}
        for clique, around in enumerate(self.neighbors):
            for other, separator in around.items():
                if clique < other:
                    edge = (_size(separator, self.builder.sizes), clique, other)
                    for variable in separator:
                        if variable not in smallest or edge < smallest[variable]:
                            smallest[variable] = edge
        return smallest

    def _host(self, scope: Variables) -> int:
        """Return the smallest clique that contains a scope."""
        if not scope:
            return self.ascending[0]
        candidates = min([self.holders[v] for v in scope], key=len)
        return next(i for i in candidates if scope <= self.scopes[i])

    def _sent(self, sender: int, receiver: int) -> int | None:
        """Return a message; send it, and first the messages it depends on, if necessary."""
        received, neighbors = self.received, self.neighbors
        waiting = [] if sender in received[receiver] else [(sender, receiver)]
        while waiting:
            source, to = waiting[-1]
            messages = received[source]
            missing = [n for n in neighbors[source] if n not in messages and n != to]
            if missing:
                waiting += [(n, source) for n in missing]
                continue
            waiting.pop()
            if source not in received[to]:
                received[to][source] = self._contract(source, to, neighbors[source][to])
        return received[receiver][sender]

    def _contract(self, clique: int, receiver: int | None, keep: Variables) -> int | None:
        """Contract a clique's tables with the messages from all neighbors but the receiver."""
        arrived = self.received[clique].items()
        messages = [r for sender, r in arrived if r is not None and sender != receiver]
        return self.builder.contract(self.assigned[clique] + messages, keep)


def _size(variables: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod([sizes[v] for v in variables])


# --- The messages of a large tree, laid out in compiled code, with the results of Python ----------

_LARGEST_CLIQUE = 2**58
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
    return shape.largest <= _LARGEST_CLIQUE


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
    """Return an operation from its key; see `bnmind.junction.program.layout_kernel`."""
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
