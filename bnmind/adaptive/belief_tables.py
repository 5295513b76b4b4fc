"""The tables that hold beliefs: one over all profiles, or those of a calibrated junction tree.

Items are leaves, so they are in no table: a response is a column of the item's channel, which is
multiplied into a table that holds the item's parents. The cliques are therefore the same after any
number of responses. A table over all profiles is a junction tree of one clique.

=========  ==================================================================
symbol     name here
=========  ==================================================================
P(C)       ``joints[c]``, the joint of a clique given the responses
P(S)       the joint of a separator
H          Σ_C H(P(C)) − Σ_S H(P(S)), as P = Π P(C) / Π P(S)
=========  ==================================================================

The joints are calibrated: they agree on the separators. After one of them is multiplied by a
likelihood, the ratio of the new separator to the old one is multiplied into its neighbor, and so on
outwards. If several are multiplied, ratios first travel inwards to one of them. The most probable
profile is found by ratios with maxima instead of sums that travel inwards, and read off on the way
back: max Π P(C) / Π P(S).

All functions take tables with further axes in front, such as one of examinees.

References
----------
S. Lauritzen and D. Spiegelhalter, "Local computations with probabilities on graphical
structures", J. R. Stat. Soc. B 1988; F. V. Jensen, S. Lauritzen and K. Olesen, "Bayesian updating
in causal probabilistic networks by local computations", Comput. Stat. Q. 1990; A. P. Dawid,
"Applications of a general propagation algorithm for probabilistic expert systems", Stat. Comput.
1992.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import ReadOnlyDict, Value, remembered, sealed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError, UnknownNameError
from bnmind.information import Floats, unchecked_entropy, unchecked_information
from bnmind.junction import InteractionGraph, JunctionTree
from bnmind.junction.randomized_order import RandomizedGreedy

_SMALL = 256
"""Tables of at most this many cells are summed by a matrix."""

_INDEXED = 2**12
"""Functions are spread over tables of at most this many cells by an index."""


class View:
    """How a table is seen by some of its axes: neighboring axes that it treats alike are merged.

    Parameters
    ----------
    sizes
        The sizes of the axes of the table.
    axes
        Some of the axes.
    """

    def __init__(self, sizes: Sequence[int], axes: Collection[int]) -> None:
        shape: list[int] = []
        chosen: list[bool] = []
        for axis, size in enumerate(sizes):
            if chosen and chosen[-1] == (axis in axes):
                shape[-1] *= size
            else:
                shape.append(size)
                chosen.append(axis in axes)
        self._shape = tuple(shape)
        self._factor = tuple([n if own else 1 for n, own in zip(shape, chosen, strict=True)])
        self._others = tuple([i - len(shape) for i, own in enumerate(chosen) if not own])
        self.n_cells = math.prod(self._factor)
        """The number of cells over the chosen axes."""

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """The place of each cell of the table among those over the chosen axes."""
        own = np.arange(self.n_cells).reshape(self._factor)
        return np.broadcast_to(own, self._shape).reshape(-1)

    @cached_property
    def matrix(self) -> Floats:
        """The matrix ``(cells, n_cells)`` of zeros and ones that sums a table."""
        matrix: Floats = np.eye(self.n_cells)[self._places]
        return matrix

    def sums(self, table: Floats) -> Floats:
        """Return the sums over the other axes of a table ``(…, cells)``, ``(…, n_cells)``."""
        if table.shape[-1] <= _SMALL:
            return table @ self.matrix
        return self._reduced(table, np.add)

    def maxima(self, table: Floats) -> Floats:
        """Return the maxima over the other axes of a table; see `sums`."""
        return self._reduced(table, np.maximum)

    def _reduced(self, table: Floats, by: np.ufunc) -> Floats:
        front = table.shape[:-1]
        reduced: Floats = by.reduce(table.reshape(front + self._shape), axis=self._others)
        return reduced.reshape((*front, self.n_cells))

    def times(self, table: Floats, values: Floats) -> Floats:
        """Return a table ``(…, cells)`` times a function of the axes, ``(…, n_cells)``."""
        if table.shape[-1] <= _INDEXED:
            return table * values.take(self._places, axis=-1)
        wide = values.reshape(values.shape[:-1] + self._factor)
        product: Floats = table.reshape(table.shape[:-1] + self._shape) * wide
        return product.reshape(table.shape)


_GROUPS = 4
"""The axes of a large table are split into this many groups; each sum leaves out one."""


class SubsetSums:
    """A plan to sum a table to several marginals, whose sums share their work.

    A table is first summed to a few tables that together cover all requested sets, and these are
    summed in the same way. A small table is multiplied by a matrix of zeros and ones that gives all
    its sets at once. Nothing is subtracted, so small probabilities keep their digits.
    ``sums(table)`` returns all marginals end to end, and set i begins at ``starts[i]``.

    Parameters
    ----------
    shape
        The number of states along each axis.
    sets
        The axes of each marginal, ascending.
    """

    def __init__(self, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> None:
        self.shape = tuple(shape)
        self.starts = [0] * len(sets)
        self.sizes = [self._cells(axes) for axes in sets]
        self._steps: list[tuple[int, View]] = []
        self._parts: list[tuple[int, Floats | None]] = []
        self._end = 0
        self._cover(0, tuple(range(len(shape))), {i: tuple(axes) for i, axes in enumerate(sets)})

    @property
    def n_cells(self) -> int:
        """The number of cells of all marginals together."""
        return self._end

    def __call__(self, table: Floats) -> Floats:
        """Return all the marginals end to end, ``(…, n_cells)``, of a table ``(…, cells)``."""
        tables = [table]
        for source, view in self._steps:
            tables.append(view.sums(tables[source]))
        marginals = [
            tables[source] if matrix is None else tables[source] @ matrix
            for source, matrix in self._parts
        ]
        return marginals[0] if len(marginals) == 1 else np.concatenate(marginals, axis=-1)

    def _cells(self, axes: Iterable[int]) -> int:
        return math.prod([self.shape[axis] for axis in axes])

    def _cover(self, source: int, axes: tuple[int, ...], sets: dict[int, tuple[int, ...]]) -> None:
        """Plan the marginals on these sets of axes of a table."""
        if self._cells(axes) <= _SMALL and len(sets) > 1:
            self._add(source, self._indicator(axes, sets.values()), sets)
            return
        groups = self._groups(axes)
        alone: dict[int, tuple[int, ...]] = {}
        without: list[dict[int, tuple[int, ...]]] = [{} for _ in groups]
        for number, marginal in sets.items():
            free = [i for i, group in enumerate(groups) if not set(group) & set(marginal)]
            (without[free[0]] if free and len(groups) > 1 else alone)[number] = marginal
        for group, inside in zip(groups, without, strict=True):
            if len(inside) < 2:
                alone |= inside
            else:
                left = tuple([axis for axis in axes if axis not in group])
                self._cover(self._summed(source, axes, left), left, inside)
        for number, marginal in alone.items():
            self._add(self._summed(source, axes, marginal), None, {number: marginal})

    def _add(self, source: int, matrix: Floats | None, sets: Collection[int]) -> None:
        self._parts.append((source, matrix))
        for number in sets:
            self.starts[number] = self._end
            self._end += self.sizes[number]

    def _summed(self, source: int, axes: tuple[int, ...], left: tuple[int, ...]) -> int:
        """Plan the sum of a table to some axes; return the number of the new table."""
        if left == axes:
            return source
        view = View([self.shape[axis] for axis in axes], [axes.index(axis) for axis in left])
        self._steps.append((source, view))
        return len(self._steps)

    def _groups(self, axes: tuple[int, ...]) -> list[list[int]]:
        """Return the axes in a few groups of about equal size."""
        share = math.log(max(self._cells(axes), 2)) / min(_GROUPS, len(axes))
        groups: list[list[int]] = [[]]
        so_far = 0.0
        for axis in axes:
            if groups[-1] and so_far >= share * len(groups) - 1e-9:
                groups.append([])
            groups[-1].append(axis)
            so_far += math.log(self.shape[axis])
        return groups

    def _indicator(self, axes: tuple[int, ...], sets: Iterable[tuple[int, ...]]) -> Floats:
        """Return the matrix ``(cells, cells of all the sets)`` that sums a small table."""
        sizes = [self.shape[axis] for axis in axes]
        views = [View(sizes, [axes.index(axis) for axis in marginal]) for marginal in sets]
        return np.concatenate([view.matrix for view in views], axis=1)


_STACKED_CELLS = 2**16
"""Up to this many cells all channels are padded and evaluated together, else shape by shape."""


class _Group(NamedTuple):
    """Items that are evaluated together."""

    items: NDArray[np.intp]
    places: NDArray[np.intp]
    """``(items, configurations)``, the places of their masses in the row."""
    channels: Floats
    noise: Floats


class CauseIndex:
    """The places of each item's parent configurations in a row of masses.

    Parameters
    ----------
    bank
        The item bank.
    starts
        The place in the row of the first configuration of each of ``bank.causes``.
    """

    def __init__(self, bank: ItemBank, starts: Sequence[int]) -> None:
        shapes = np.array([channel.shape for channel in bank.item_channels])
        self._first = np.asarray(starts, dtype=np.intp)[bank.cause_numbers]
        self._sizes = shapes[:, 0]
        kinds = shapes
        if len(shapes) * int(np.prod(shapes.max(axis=0))) <= _STACKED_CELLS:
            kinds = np.zeros_like(shapes)
        self.groups: list[_Group] = []
        for kind in np.unique(kinds, axis=0):
            items = np.flatnonzero((kinds == kind).all(axis=1))
            channels = bank.channels([bank.item_names[i] for i in items])
            self.groups.append(
                _Group(items, self._places(items)[0], channels, unchecked_entropy(channels))
            )

    def masses(self, row: Floats, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of items, ``(…, items, configurations)``, from a row ``(…, cells)``."""
        places, is_valid = self._places(items)
        return np.where(is_valid, row.take(places, axis=-1), 0.0)

    def information(self, row: Floats) -> Floats:
        """Return the information of every item, in bits, ``(…, items)``."""
        # The channel is zero beyond the end of a cause, so any mass will do there.
        parts = [
            unchecked_information(row.take(group.places, axis=-1), group.channels, group.noise)
            for group in self.groups
        ]
        if len(parts) == 1:
            return parts[0]
        result = np.empty((*row.shape[:-1], len(self._first)))
        for group, part in zip(self.groups, parts, strict=True):
            result[..., group.items] = part
        return result

    def _places(
        self, items: Sequence[int] | NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the places of items' masses in the row, and a mask of the valid ones."""
        first, sizes = self._first[items], self._sizes[items]
        columns = np.arange(sizes.max(initial=1))
        is_valid = columns < sizes[:, None]
        # Invalid places refer to the start of the cause.
        return first[:, None] + np.where(is_valid, columns, 0), is_valid


DEFAULT_PROFILES = 2**22
"""The default limit of profiles in a table."""

DEFAULT_TREE_CELLS = 2**24
"""The default limit of cells in a tree."""

_TIE = 1e-12
"""Probabilities closer than this, relative to the largest, count as equal."""


def n_profiles(bank: ItemBank) -> int:
    """Return the number of configurations of all hidden variables of a bank."""
    return math.prod(v.n_states for v in bank.hidden)


class _Edge(NamedTuple):
    """An edge of a junction tree, and how the tables of its cliques are seen by the separator."""

    inner: int
    outer: int
    inner_view: View
    outer_view: View


@dataclass(frozen=True, eq=False)
class ProfileSpace(Value):
    """The cliques of a bank's hidden variables; one belief has a table for each, ``(…, cells)``.

    Created by `table` or `tree`. The axes of a table are the variables of its clique in the order
    of ``bank.hidden``. It is compiled when first needed, and shared by all beliefs.
    """

    bank: ItemBank
    """The item bank."""
    cliques: tuple[tuple[str, ...], ...]
    """The variables of each clique, in the order of ``bank.hidden``."""
    edges: tuple[tuple[int, int], ...] = ()
    """The pairs of neighboring cliques, one fewer than cliques."""

    @classmethod
    def table(cls, bank: ItemBank, max_profiles: int = DEFAULT_PROFILES) -> ProfileSpace:
        """Return the space of one table over all profiles.

        Raises
        ------
        TooLargeError
            If there are more profiles than ``max_profiles``. No table is allocated.
        """
        if (needed := n_profiles(bank)) > max_profiles:
            told = f"the {len(bank.hidden)} hidden variables have {needed:,} profiles"
            limit = f"the limit of a table is {max_profiles:,}: use a belief by a junction tree"
            raise TooLargeError(f"{told}; {limit}", needed=needed, budget=max_profiles)
        return cls(bank, (tuple([v.name for v in bank.hidden]),))

    @classmethod
    def tree(
        cls,
        bank: ItemBank,
        max_cells: int = DEFAULT_TREE_CELLS,
        more: Sequence[Sequence[str]] = (),
    ) -> ProfileSpace:
        """Return the space of a junction tree, in which some clique holds each of ``more`` sets.

        Raises
        ------
        TooLargeError
            If the cliques have more cells than ``max_cells``. No table is allocated.
        """
        scopes = [[v.name for v in cpd.scope] for cpd in bank.hidden_network().cpds]
        n, n_items = len(bank.hidden), len(bank.items)
        told = f"{n} hidden variables and the causes of {n_items} items"
        return cls._of_scopes(bank, [*scopes, *bank.causes, *more], told, max_cells)

    @classmethod
    def _of_scopes(
        cls, bank: ItemBank, scopes: Iterable[Iterable[str]], told: str, max_cells: int
    ) -> ProfileSpace:
        scopes = [*map(tuple, scopes)]
        needed = {name for scope in scopes for name in scope}
        sizes = {v.name: v.n_states for v in bank.hidden if v.name in needed}
        graph = InteractionGraph.from_scopes(sizes, scopes)
        tree = JunctionTree.from_order(graph, RandomizedGreedy()(graph))
        if tree.total_size > max_cells:
            raise TooLargeError(
                f"the junction tree of {told} has {tree.total_size:,} cells; the limit is"
                f" {max_cells:,}",
                needed=tree.total_size,
                budget=max_cells,
            )
        edges = tuple([(first, second) for first, second, _ in tree.edges])
        return cls(bank, tuple([clique.variables for clique in tree.cliques]), edges)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each hidden variable: the skills, then the others."""
        return tuple([v.n_states for v in self.bank.hidden])

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each hidden variable in ``shape``."""
        return ReadOnlyDict({v.name: place for place, v in enumerate(self.bank.hidden)})

    @cached_property
    def n_cells(self) -> int:
        """The number of cells of all tables of one belief."""
        return sum(map(math.prod, self._shapes))

    @cached_property
    def _shapes(self) -> list[list[int]]:
        return [[self.shape[self.place[name]] for name in clique] for clique in self.cliques]

    def view(self, names: Iterable[str]) -> tuple[int, View]:
        """Return the smallest clique that holds some variables, and how they see its table."""
        wanted = set(names)
        holding = [number for number, clique in enumerate(self.cliques) if wanted.issubset(clique)]
        home = min(holding, key=lambda number: math.prod(self._shapes[number]))
        return home, View(self._shapes[home], [*map(self.cliques[home].index, wanted)])

    @cached_property
    def _item_views(self) -> list[tuple[int, View]]:
        views = [self.view(cause) for cause in self.bank.causes]
        return [views[number] for number in self.bank.cause_numbers]

    def item_view(self, item: int) -> tuple[int, View]:
        """Return the clique of the parents of an item, and how they see its table."""
        return self._item_views[item]

    @cached_property
    def _variable_views(self) -> dict[str, tuple[int, View]]:
        return {name: self.view([name]) for name in self.place}

    def variable_view(self, name: str) -> tuple[int, View]:
        """Return the clique of a hidden variable, and how it sees the table.

        Raises
        ------
        UnknownNameError
            If the bank has no such hidden variable.
        """
        if name not in self.place:
            raise UnknownNameError("skill", name, self.place)
        return self._variable_views[name]

    @cached_property
    def prior(self) -> tuple[Floats, ...]:
        """The table of each clique before any response."""
        uniform = [np.full(n, 1 / n) for n in map(math.prod, self._shapes)]
        joints = list(uniform)
        for cpd in self.bank.hidden_network().cpds:
            factor = cpd.to_factor()
            names = sorted(factor.names, key=self.place.__getitem__)
            home, view = self.view(names)
            values = np.real(factor.transpose(names).values).reshape(-1)
            joints[home] = view.times(joints[home], values)
        root = self.collect(joints, uniform, range(len(joints)))
        joints[root] /= joints[root].sum()
        self.distribute(joints, root)
        return tuple([sealed(joint) for joint in joints])

    def collect(
        self, joints: list[Floats], before: Sequence[Floats], touched: Iterable[int]
    ) -> int:
        """Carry the ratios of changed tables inwards to one of them, in place.

        Parameters
        ----------
        joints
            The tables, some multiplied by likelihoods.
        before
            The calibrated tables before.
        touched
            The cliques whose tables are changed.

        Returns
        -------
        int
            The clique that now knows all changes.
        """
        root, *others = touched
        changed = {root, *others}
        outwards = self._outwards(root) if others else []
        for inner, outer, inner_view, outer_view in reversed(outwards):
            if outer in changed:
                now, then = outer_view.sums(joints[outer]), outer_view.sums(before[outer])
                joints[inner] = inner_view.times(joints[inner], _ratio(now, then))
                changed.add(inner)
        return root

    def distribute(self, joints: list[Floats], root: int) -> None:
        """Carry ratios outwards from the root, in place, so that all tables agree with its."""
        for inner, outer, inner_view, outer_view in self._outwards(root):
            now, then = inner_view.sums(joints[inner]), outer_view.sums(joints[outer])
            joints[outer] = outer_view.times(joints[outer], _ratio(now, then))

    @cached_property
    def _edges(self) -> list[list[_Edge]]:
        """The edges from each clique."""
        edges: list[list[_Edge]] = [[] for _ in self.cliques]
        for pair in self.edges:
            shared = set.intersection(*[{*self.cliques[one]} for one in pair])
            first, second = pair
            one, other = (
                View(self._shapes[c], [*map(self.cliques[c].index, shared)]) for c in pair
            )
            edges[first].append(_Edge(first, second, one, other))
            edges[second].append(_Edge(second, first, other, one))
        return edges

    def _outwards(self, root: int) -> list[_Edge]:
        """Return the edges outwards from a clique, those near it first."""
        if not self.edges:
            return []
        return remembered(self, f"_outwards_{root}", lambda: self._found_outwards(root))

    def _found_outwards(self, root: int) -> list[_Edge]:
        found = [*self._edges[root]]
        for edge in found:  # which grows
            found += [further for further in self._edges[edge.outer] if further.outer != edge.inner]
        return found

    @cached_property
    def _sums(self) -> tuple[list[tuple[int, SubsetSums]], list[int]]:
        """The sums of each clique that is the home of causes, and where each cause starts."""
        sets: dict[int, list[int]] = {}
        for number, cause in enumerate(self.bank.causes):
            sets.setdefault(self.view(cause)[0], []).append(number)
        sums, starts, end = [], [0] * len(self.bank.causes), 0
        for home, numbers in sets.items():
            axes = [[*map(self.cliques[home].index, self.bank.causes[i])] for i in numbers]
            of_home = SubsetSums(self._shapes[home], axes)
            for number, start in zip(numbers, of_home.starts, strict=True):
                starts[number] = end + start
            sums.append((home, of_home))
            end += of_home.n_cells
        return sums, starts

    @cached_property
    def _index(self) -> CauseIndex:
        return CauseIndex(self.bank, self._sums[1])

    def masses(self, row: Floats, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of the parent configurations of items, ``(…, items, configurations)``.

        Items with fewer configurations than others have zeros at the end.
        """
        return self._index.masses(row, items)

    def information(self, row: Floats) -> Floats:
        """Return the information of every item, in bits, ``(…, items)``."""
        return self._index.information(row)

    def row(self, joints: Sequence[Floats]) -> Floats:
        """Return the masses of all parent configurations end to end, ``(…, cells)``."""
        parts = [sums(joints[home]) for home, sums in self._sums[0]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    def marginal(self, joints: Sequence[Floats], name: str) -> Floats:
        """Return the distribution of a hidden variable, ``(…, states)``."""
        home, view = self.variable_view(name)
        return view.sums(joints[home])

    def entropy(self, joints: Sequence[Floats]) -> Floats:
        """Return the entropy of all hidden variables jointly, in bits, ``(…)``."""
        total: Any = sum(map(unchecked_entropy, joints))
        for _, outer, _, view in self._outwards(0):
            total = total - unchecked_entropy(view.sums(joints[outer]))
        entropy: Floats = np.maximum(total, 0.0)
        return entropy

    @cached_property
    def _of_skills(self) -> tuple[ProfileSpace, ProfileSpace]:
        """A space of the skills alone, and one of all variables whose cliques hold its cliques."""
        scopes = [set(clique) for clique in self.cliques]
        others = [v.name for v in self.bank.hidden[len(self.bank.skills) :]]
        for other in others:
            joined = set().union(*[scope for scope in scopes if other in scope]) - {other}
            scopes = [joined, *[scope for scope in scopes if other not in scope]]
        if not others:
            return self, self
        told, most = "the skills alone", DEFAULT_TREE_CELLS
        ordered = [sorted(scope, key=self.place.__getitem__) for scope in scopes]
        alone = self._of_scopes(self.bank, ordered, told, most)
        if all(any({*one}.issubset(own) for own in self.cliques) for one in alone.cliques):
            return alone, self
        return alone, self.tree(self.bank, most, alone.cliques)

    @property
    def wide(self) -> ProfileSpace:
        """The space whose tables `most_probable` needs, mostly this one."""
        return self._of_skills[1]

    def most_probable(self, joints: Sequence[Floats]) -> tuple[NDArray[np.intp], Floats]:
        """Return the most probable profile of the skills, and its probability.

        Of equal profiles the lowest counts in each clique; with one table, the lowest of all.

        Parameters
        ----------
        joints
            The tables in the `wide` space.

        Returns
        -------
        levels, probabilities
            ``(…, skills)`` positions of levels, and ``(…)``.
        """
        alone, wide = self._of_skills
        if alone is not wide:
            views = [wide.view(clique) for clique in alone.cliques]
            joints = [view.sums(joints[home]) for home, view in views]
        tables, root = list(joints), len(joints) - 1
        for inner, outer, inner_view, outer_view in reversed(alone._outwards(root)):
            best = outer_view.maxima(tables[outer])
            ratio = _ratio(best, outer_view.sums(joints[outer]))
            tables[inner] = inner_view.times(tables[inner], ratio)
        levels = np.zeros((*joints[0].shape[:-1], len(self.bank.skills)), dtype=np.intp)
        known: set[str] = set()
        for clique in [root, *[edge.outer for edge in alone._outwards(root)]]:
            names, shape, table = alone.cliques[clique], alone._shapes[clique], tables[clique]
            states = np.indices(shape).reshape(len(shape), -1)
            for name, own in zip(names, states, strict=True):
                if name in known:
                    table = np.where(own == levels[..., self.place[name], None], table, -1.0)
            largest = table.max(axis=-1, keepdims=True)
            first = np.argmax(table >= largest * (1 - _TIE), axis=-1)
            for name, own in zip(names, states, strict=True):
                levels[..., self.place[name]] = own[first]
            known.update(names)
        return levels, tables[root].max(axis=-1)


def _ratio(now: Floats, then: Floats) -> Floats:
    """Return by what a separator has changed; 0 where it was and stays impossible."""
    return np.divide(now, then, out=np.zeros_like(now), where=then > 0)
