"""The junction tree of a bank's hidden variables, and results computed from its cliques.

Items are leaves, so they are not in the tree: a response is a column of the item's
channel, multiplied into a clique that holds the cause. The tree is therefore the same
after any number of responses, and compiled once.

=========  ==================================================================
symbol     name here
=========  ==================================================================
P(C)       ``joints[c]``, the joint of a clique given the responses
P(S)       the joint of a separator
H          Σ_C H(P(C)) − Σ_S H(P(S)), as P = Π P(C) / Π P(S)
=========  ==================================================================

References
----------
S. Lauritzen and D. Spiegelhalter, "Local computations with probabilities on graphical
structures", J. R. Stat. Soc. B 1988.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind.adaptive.beliefs.belief import Profile
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.marginal_sums import SubsetSums
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError, UnknownNameError
from bnmind.information import Floats, unchecked_entropy
from bnmind.junction import InteractionGraph, JunctionTree, Limits, OrderFinder, Plan, compile_plan
from bnmind.junction.inference.limits import DEFAULT_PLAN_BYTES, DEFAULT_PLAN_MULTIPLICATIONS
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = ["DEFAULT_TREE_CELLS", "SkillTree"]

# --- The most probable states of all variables of a junction tree, from its cliques' joints -------
#
# Messages are passed inward with maxima instead of sums, each divided by the separator's
# joint, and the maximizing states are read off on the way back: max Π P(C) / Π P(S).
#
# References
# ----------
# A. P. Dawid, "Applications of a general propagation algorithm for probabilistic expert
# systems", Stat. Comput. 1992.

_TIE = 1e-12
"""Products closer than this, relative to the largest, count as equal."""


def most_probable_states(
    tree: JunctionTree, joints: Sequence[Floats]
) -> tuple[dict[str, int], float]:
    """Return the most probable joint state of all variables, and its probability.

    Parameters
    ----------
    tree
        A junction tree.
    joints
        The normalized joint of each clique, with an axis for each of its variables; they
        agree on the separators.
    """
    scopes = [clique.variables for clique in tree.cliques]
    outward = _outward(tree)
    tables = [np.array(joint) for joint in joints]
    for inner, outer, separator in reversed(outward):
        scope = scopes[outer]
        summed = tuple(i for i, name in enumerate(scope) if name not in separator)
        share = joints[outer].sum(axis=summed)
        best = tables[outer].max(axis=summed)
        ratio = np.divide(best, share, out=np.zeros(share.shape), where=share > 0)
        shared = [name for name in scope if name in separator]
        tables[inner] *= _fitted(ratio, shared, scopes[inner])
    states: dict[str, int] = {}
    root = len(scopes) - 1
    for clique in [root, *(outer for _, outer, _ in outward)]:
        known = tuple(states.get(name, slice(None)) for name in scopes[clique])
        free = [name for name in scopes[clique] if name not in states]
        remaining = tables[clique][known]
        first = int(np.flatnonzero(remaining >= remaining.max() * (1 - _TIE))[0])
        indices = np.unravel_index(first, remaining.shape)
        states.update((name, int(i)) for name, i in zip(free, indices, strict=True))
    return states, float(tables[root].max())


def _outward(tree: JunctionTree) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the edges as (inner, outer, separator), those near the last clique first."""
    neighbors: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in tree.cliques]
    for first, second, separator in tree.edges:
        neighbors[first].append((second, separator))
        neighbors[second].append((first, separator))
    edges = []
    waiting = [len(tree.cliques) - 1]
    seen = set(waiting)
    while waiting:
        inner = waiting.pop()
        for outer, separator in neighbors[inner]:
            if outer not in seen:
                seen.add(outer)
                waiting.append(outer)
                edges.append((inner, outer, separator))
    return edges


def _fitted(values: Floats, names: Sequence[str], scope: Sequence[str]) -> Floats:
    """Return a table over ``names`` that broadcasts over the axes of ``scope``."""
    order = sorted(range(len(names)), key=lambda i: scope.index(names[i]))
    sizes = dict(zip(names, values.shape, strict=True))
    return np.transpose(values, order).reshape([sizes.get(name, 1) for name in scope])


# --- The junction tree of a bank's hidden variables, and results computed from its cliques --------
#
#

DEFAULT_TREE_CELLS = 2**24
"""The default limit of cells in a tree."""

_BYTES_OF_A_CELL, _WORK_OF_A_CELL = 256, 256
"""Limits of a plan for each cell that the tree may have; no plan needs as much."""


@dataclass(frozen=True, eq=False)
class SkillTree:
    """A bank's junction tree, compiled; shared by all beliefs about its examinees.

    Parameters
    ----------
    bank
        The item bank.
    max_cells
        The limit of cells in all cliques together.
    order
        The method that finds an elimination order.

    Raises
    ------
    TooLargeError
        If the tree has more cells; the message says how many. No table is allocated.
    """

    bank: ItemBank
    max_cells: int = DEFAULT_TREE_CELLS
    order: OrderFinder | None = None

    def __post_init__(self) -> None:
        if self.total_size > self.max_cells:
            largest = max(self.tree.cliques, key=lambda clique: clique.size)
            raise TooLargeError(
                f"the junction tree of {len(self.bank.hidden)} hidden variables and the causes of"
                f" {len(self.bank.items)} items has {self.total_size:,} cells; the limit is"
                f" {self.max_cells:,}. The largest clique is {{{', '.join(largest.variables)}}}"
                f" with {largest.size:,} cells",
                needed=self.total_size,
                budget=self.max_cells,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return (SkillTree, (self.bank, self.max_cells, self.order))

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree over the hidden variables."""
        sizes = {v.name: v.n_states for v in self.bank.hidden}
        scopes = [[v.name for v in cpd.scope] for cpd in self.bank.hidden_network().cpds]
        graph = InteractionGraph.from_scopes(sizes, [*scopes, *self.bank.causes])
        return JunctionTree.from_order(graph, (self.order or RandomizedGreedy())(graph))

    @property
    def total_size(self) -> int:
        """The number of cells of all cliques together, known before any table is made."""
        return self.tree.total_size

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The variables of each clique."""
        return tuple(clique.variables for clique in self.tree.cliques)

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The number of states of the variables of each clique."""
        n_states = {v.name: v.n_states for v in self.bank.hidden}
        return tuple(tuple(n_states[name] for name in scope) for scope in self.scopes)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The name of the plan's input for each clique: the likelihood of its responses."""
        return tuple(f"responses {number}" for number in range(len(self.scopes)))

    @property
    def _limits(self) -> Limits:
        return Limits(
            max_bytes=max(DEFAULT_PLAN_BYTES, _BYTES_OF_A_CELL * self.max_cells),
            max_multiplications=max(DEFAULT_PLAN_MULTIPLICATIONS, _WORK_OF_A_CELL * self.max_cells),
            max_seconds=math.inf,
        )

    @cached_property
    def plan(self) -> Plan:
        """The plan from the likelihoods of all cliques to their joint distributions."""
        return compile_plan(
            self.bank.hidden_network(),
            targets=self.scopes,
            inputs=dict(zip(self.input_names, self.scopes, strict=True)),
            limits=self._limits,
        )

    def home(self, names: Sequence[str]) -> int:
        """Return the smallest clique that holds all of these variables."""
        needed = set(names)
        sizes = [
            (clique.size, number)
            for number, clique in enumerate(self.tree.cliques)
            if needed <= set(clique.variables)
        ]
        return min(sizes)[1]

    @cached_property
    def homes(self) -> tuple[int, ...]:
        """The clique of each of the bank's causes."""
        return tuple(self.home(cause) for cause in self.bank.causes)

    @cached_property
    def _inside(self) -> tuple[tuple[SubsetSums, ...], tuple[int, ...], tuple[slice, ...]]:
        """The sums in each clique, the start of each cause and the slice of each separator."""
        sets_of_clique: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in self.scopes]
        for number, cause in enumerate(self.bank.causes):
            sets_of_clique[self.homes[number]].append((number, cause))
        n_causes = len(self.bank.causes)
        for number, edge in enumerate(self.tree.edges):
            if not edge.separator:
                continue
            smaller = min(edge[:2], key=lambda c: self.tree.cliques[c].size)
            sets_of_clique[smaller].append((n_causes + number, edge.separator))
        starts: dict[int, int] = {}
        lengths: dict[int, int] = {}
        sums, end = [], 0
        for scope, shape, sets in zip(self.scopes, self.shapes, sets_of_clique, strict=True):
            axes = [sorted(scope.index(name) for name in names) for _, names in sets]
            clique_sums = SubsetSums.compile(shape, axes)
            places = zip(sets, clique_sums.starts, clique_sums.sizes, strict=True)
            for (number, _), start, size in places:
                starts[number], lengths[number] = end + start, size
            sums.append(clique_sums)
            end += clique_sums.n_cells
        causes = tuple(starts[i] for i in range(n_causes))
        separators = tuple(
            slice(starts[i], starts[i] + lengths[i]) for i in starts if i >= n_causes
        )
        return tuple(sums), causes, separators

    @cached_property
    def index(self) -> CauseIndex:
        """The places of each item's masses in the row of `marginals`."""
        return CauseIndex.of(self.bank, self._inside[1])

    def marginals(self, joints: Sequence[Floats]) -> Floats:
        """Return the masses of all parent configurations and separators end to end, ``(…, cells)``.

        Parameters
        ----------
        joints
            The joint of each clique, ``(…, *states)``.
        """
        rows = [
            sums(_flat(joint, shape))
            for sums, joint, shape in zip(self._inside[0], joints, self.shapes, strict=True)
            if sums.sizes
        ]
        return np.concatenate(rows, axis=-1)

    def entropy(self, joints: Sequence[Floats], row: Floats) -> Floats:
        """Return the entropy of all hidden variables jointly, in bits, ``(…,)``.

        Parameters
        ----------
        joints
            As for `marginals`.
        row
            The result of `marginals`.
        """
        total: Any = 0.0
        for joint, shape in zip(joints, self.shapes, strict=True):
            total = total + unchecked_entropy(_flat(joint, shape))
        for place in self._inside[2]:
            total = total - unchecked_entropy(row[..., place])
        result: Floats = np.maximum(total, 0.0)
        return result

    def marginal(self, joints: Sequence[Floats], name: str) -> Floats:
        """Return the distribution of a hidden variable, ``(…, states)``."""
        if name not in self._places:
            raise UnknownNameError("skill", name, self._places)
        clique = self._places[name]
        joint, scope = joints[clique], self.scopes[clique]
        axes = tuple(i - len(scope) for i, other in enumerate(scope) if other != name)
        summed: Floats = joint.sum(axis=axes)
        return summed

    @cached_property
    def _places(self) -> dict[str, int]:
        return {v.name: self.home([v.name]) for v in self.bank.hidden}

    def spread(self, cause: int, column: Floats) -> Floats:
        """Return a function of a cause as a table that broadcasts over the clique of that cause."""
        clique = self.homes[cause]
        names = self.bank.causes[cause]
        n_states = dict(zip(self.scopes[clique], self.shapes[clique], strict=True))
        values = column.reshape([n_states[name] for name in names])
        order = sorted(range(len(names)), key=lambda i: self.scopes[clique].index(names[i]))
        wide = [n_states[name] if name in names else 1 for name in self.scopes[clique]]
        return np.transpose(values, order).reshape(wide)

    def profile(self, joints: Sequence[Floats], inputs: Mapping[str, Floats]) -> Profile:
        """Return the most probable profile of the skills.

        Parameters
        ----------
        joints
            The joint of each clique.
        inputs
            The plan's inputs that led to these joints. Hidden variables other than the skills
            are summed out first, by a plan of their own.

        Raises
        ------
        TooLargeError
            If the tree over the skills alone is too large.
        """
        tree = self.tree
        if len(self.bank.hidden) > len(self.bank.skills):
            tree = self.skills_tree
            joints = [np.real(joint) for joint in self._skills_plan.run({}, inputs).joints]
        states, probability = most_probable_states(tree, joints)
        return Profile(tuple(states[name] for name in self.bank.skills), probability)

    @cached_property
    def skills_tree(self) -> JunctionTree:
        """The junction tree over the skills alone, after all other variables are summed out."""
        near: dict[str, set[str]] = {v.name: set() for v in self.bank.hidden}
        for scope in self.scopes:
            for name in scope:
                near[name] |= set(scope) - {name}
        sizes = {v.name: v.n_states for v in self.bank.hidden}
        others = set(near) - set(self.bank.skills)
        while others:
            name = min(others, key=lambda o: (math.prod(sizes[n] for n in near[o]), o))
            others.remove(name)
            around = near.pop(name)
            for other in around:
                near[other] |= around
                near[other] -= {name, other}
        pairs = [(a, b) for a, around in near.items() for b in around if a < b]
        graph = InteractionGraph.from_scopes(
            {name: sizes[name] for name in self.bank.skills}, sorted(pairs)
        )
        tree = JunctionTree.from_order(graph, (self.order or RandomizedGreedy())(graph))
        if tree.total_size > self.max_cells:
            raise TooLargeError(
                f"the junction tree of the skills alone has {tree.total_size:,} cells; the limit"
                f" is {self.max_cells:,}",
                needed=tree.total_size,
                budget=self.max_cells,
            )
        return tree

    @cached_property
    def _skills_plan(self) -> Plan:
        return compile_plan(
            self.bank.hidden_network(),
            targets=[clique.variables for clique in self.skills_tree.cliques],
            inputs=dict(zip(self.input_names, self.scopes, strict=True)),
            limits=self._limits,
        )


def _flat(joint: Floats, shape: tuple[int, ...]) -> Floats:
    """Return joints ``(…, *shape)`` as ``(…, cells)``."""
    return joint.reshape(*joint.shape[: joint.ndim - len(shape)], math.prod(shape))
