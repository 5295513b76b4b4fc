"""Bounds and values of all states of all nodes beside one configuration, in array operations."""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats
from bnmind.junction.branch_and_bound.search_tree import Ints, TreeArrays

__all__ = ["NodeValues"]


class NodeValues:
    """The bounds and values of the states of all nodes of a tree, given all other states.

    Parameters
    ----------
    tree
        The tree; its cells may change afterwards.
    """

    def __init__(self, tree: TreeArrays) -> None:
        self.tree = tree
        self._table_of = np.repeat(np.arange(len(tree.firsts)), np.diff(tree.scope_starts))
        self._bucket = _Sums(tree, tree.bucket_starts, tree.bucket, np.ones_like(tree.bucket))
        self._uses = _Sums(tree, tree.use_starts, tree.uses, tree.use_strides)
        self._owner = np.repeat(np.arange(len(tree.sizes)), np.diff(tree.own_starts))

    def bounds(self, states: Ints) -> Floats:
        """Return the bounds of all states relative to those of the nodes, as the search computes.

        Their sum over the nodes of a subtree, in the states of the configuration, is the value of
        the subtree relative to its bound; over all nodes it is the value of the configuration.

        Parameters
        ----------
        states
            A possible configuration of the nodes.
        """
        tree, cells = self.tree, self._cells_at(states)
        own = tree.cells[cells[tree.own]]
        base = -_added(self._owner, own, len(tree.sizes))
        base[0] += tree.constant[0]
        return self._bucket.at(states, cells) + np.repeat(base, tree.sizes)

    def exact(self, states: Ints) -> Floats:
        """Return the sum of the exact tables of each node, for all its states."""
        return self._uses.at(states, self._cells_at(states))

    def _cells_at(self, states: Ints) -> Ints:
        """Return the cell of each table in a configuration."""
        tree = self.tree
        steps = np.concatenate([[0], np.cumsum(tree.strides * states[tree.scopes])])
        cells: Ints = tree.firsts + steps[tree.scope_starts[1:]] - steps[tree.scope_starts[:-1]]
        return cells


class _Sums:
    """Sums of tables of each node for all its states."""

    def __init__(self, tree: TreeArrays, starts: Ints, tables: Ints, strides: Ints) -> None:
        self.tree = tree
        self.tables = tables
        self.strides = strides
        self.nodes = np.repeat(np.arange(len(tree.sizes)), np.diff(starts))
        sizes = tree.sizes[self.nodes]
        self.sizes = sizes
        state = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.steps = np.repeat(strides, sizes) * state
        self.choices = np.repeat(tree.choice_starts[self.nodes], sizes) + state

    def at(self, states: Ints, cells: Ints) -> Floats:
        """Return the sums; ``cells`` are those of all tables in the configuration."""
        first = cells[self.tables] - self.strides * states[self.nodes]
        values = self.tree.cells[np.repeat(first, self.sizes) + self.steps]
        n_choices = int(self.tree.choice_starts[-1])
        return _added(self.choices, values, n_choices)


def _added(places: Ints, values: Floats, size: int) -> Floats:
    """Return the sums of the values at each place."""
    # Without any value, the result of NumPy would be whole numbers.
    sums: Floats = np.bincount(places, weights=values, minlength=size).astype(np.float64)
    return sums
