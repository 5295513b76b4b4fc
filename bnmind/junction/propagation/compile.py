"""Compilation of a model to the tree of a propagation."""

from __future__ import annotations

import math

import numpy as np

from bnmind._messages import bytes_text
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    OrderFinder,
    elimination,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import graph_of_scopes
from bnmind.junction.inference.limits import Limits
from bnmind.junction.propagation.arrays import TreeArrays
from bnmind.junction.propagation.buckets import eliminated
from bnmind.junction.propagation.layout import tree_arrays
from bnmind.junction.reduction.cpd_forms import choose_forms
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential

__all__ = ["compiled_tree"]

_BYTES_OF_A_CELL = 16
"""The memory of compilation and of a run for each cell of a dense bucket, roughly."""


def compiled_tree(
    model: Network | FactorModel, order: OrderFinder, limits: Limits
) -> tuple[TreeArrays, float, EliminationOrder]:
    """Return a model as a tree, the log of its sum over all configurations, and the order.

    The variables of the model come first in the tree, followed by auxiliary variables.

    Raises
    ------
    TooLargeError
        If the tree would need more memory than ``limits.max_bytes``.
    InvalidModelError
        If a table has negative or complex numbers, or the model is zero everywhere.
    """
    domains = {v.name: tuple(range(v.n_states)) for v in model.variables}
    most = limits.table_cells
    potentials = choose_forms(model.potentials, domains, signed=False, max_cells=min(most, 2**22))
    sizes = {v.name: v.n_states for v in model.variables}
    for potential in potentials:
        for v in potential.scope:
            sizes.setdefault(v.name, v.n_states)
    graph = graph_of_scopes(sizes, [[v.name for v in p.scope] for p in potentials])
    found = order(graph)
    parts = elimination(graph, vertices_in_order(graph, found.variables))
    sizes_in_order = list(graph.sizes)
    cells = sum(math.prod([sizes_in_order[v] for v in clique]) for clique in parts.cliques)
    if _BYTES_OF_A_CELL * cells > limits.max_bytes:
        raise TooLargeError(
            f"the tree for any evidence would take about {bytes_text(_BYTES_OF_A_CELL * cells)},"
            f" allowed are max_bytes={limits.max_bytes:,}. Compile a plan for the evidence"
            " variables instead, or raise the limit.",
            needed=_BYTES_OF_A_CELL * cells,
            budget=limits.max_bytes,
        )
    number = {name: i for i, name in enumerate(graph.names)}
    tables = [
        (tuple([number[v.name] for v in potential.scope]), _positive(potential, most))
        for potential in potentials
    ]
    buckets, logarithm = eliminated(tables, sizes_in_order, parts)
    return tree_arrays(buckets, sizes_in_order), logarithm, found


def _positive(potential: Potential, max_cells: int) -> Floats:
    """Return the table of a potential."""
    factor = (
        potential if isinstance(potential, Factor) else potential.to_factor(max_cells=max_cells)
    )
    values = factor.values
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(factor.names) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)
