"""Uncertain tables of items: their means, their deviations, and draws; see ``items.certainty``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from bnmind.adaptive.items.certainty import Certainty, ParameterCertainty, TableCertainty
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import (
    model_near,
    model_table,
    parameter_vector,
)
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.guess_slip import GuessSlip
from bnmind.information import Floats
from bnmind.pgm import Network, TabularCPD, Variable

__all__ = [
    "averaged_items",
    "deviations",
    "drawn_table",
    "mean_table",
    "table_certainty",
    "with_table",
]

_NODES = 7
"""The nodes of the quadrature for each dimension."""

_MOST_DIMENSIONS = 3
"""Up to this number of dimensions the nodes form a grid; above it they lie on the axes."""

_STEP = 1e-4
_NONE = 1e-12
"""Directions with a smaller variance are certain."""


_LEAST = 1e-6
_MOST_COUNTS = 1e6


def mean_table(
    certainty: Certainty, item: Variable, parents: Sequence[Variable], model: ResponseModel | None
) -> Floats:
    """Return the expected table of an item, ``(parent configurations, responses)``.

    Parameters
    ----------
    certainty
        The distribution of its parameters.
    item, parents
        Its variable, and its parents in the network.
    model
        Its response model, if there is one.
    """
    if isinstance(certainty, TableCertainty):
        return certainty.means[list(certainty.rows)]
    known = _known(certainty, model)
    roots = _roots(certainty.covariance)
    if not len(roots):
        return model_table(known, item, parents)
    nodes, weights = _quadrature(len(roots))
    tables = [model_table(model_near(known, node @ roots), item, parents) for node in nodes]
    mean: Floats = np.tensordot(weights, tables, axes=1)
    return mean


def deviations(
    certainty: Certainty, item: Variable, parents: Sequence[Variable], model: ResponseModel | None
) -> Floats:
    """Return the deviations of a table, ``(directions, parent configurations, responses)``.

    The covariance of the cells is the sum over the directions of the products of their entries.
    Those of a curve are derivatives. The parameters are those of `mean_table`.
    """
    shape = (-1, math.prod(v.n_states for v in parents), item.n_states)
    directions = []
    if isinstance(certainty, TableCertainty):
        rows, totals = np.array(certainty.rows), certainty.counts.sum(axis=1)
        for row, mean in enumerate(certainty.means):
            for root in _roots((np.diag(mean) - np.outer(mean, mean)) / (totals[row] + 1)):
                directions.append(np.where((rows == row)[:, None], root, 0.0))
        return np.array(directions).reshape(shape)
    known = _known(certainty, model)
    for root in _roots(certainty.covariance):
        up, down = (model_near(known, sign * _STEP * root) for sign in (1, -1))
        moved = parameter_vector(up) - parameter_vector(down)
        width = float(moved @ root) / float(root @ root)
        change = model_table(up, item, parents) - model_table(down, item, parents)
        directions.append(change / width if width else np.zeros_like(change))
    return np.array(directions).reshape(shape)


def table_certainty(
    certainty: Certainty, item: Variable, parents: Sequence[Variable], model: ResponseModel | None
) -> TableCertainty:
    """Return about the same certainty for the rows of the table by themselves.

    Each row has the mean of the table, and so many counts that its variances are met, by their
    median over the responses. Equal rows are one. Other rows that have parameters in common depend
    on each other, which the result does not know.
    """
    if isinstance(certainty, TableCertainty):
        return certainty
    mean = np.maximum(mean_table(certainty, item, parents, model), _LEAST)
    mean /= mean.sum(axis=1, keepdims=True)
    variances = (deviations(certainty, item, parents, model) ** 2).sum(axis=0)
    totals = np.median(mean * (1 - mean) / np.maximum(variances, 1 / _MOST_COUNTS) - 1, axis=1)
    counts = mean * np.clip(totals, 1.0, _MOST_COUNTS)[:, None]
    # Equal rows are those that the model does not distinguish.
    _, first, rows = np.unique(counts.round(6), axis=0, return_index=True, return_inverse=True)
    return TableCertainty(counts[first], tuple(rows.reshape(-1).tolist()), certainty.answers)


def drawn_table(
    certainty: Certainty,
    item: Variable,
    parents: Sequence[Variable],
    model: ResponseModel | None,
    *,
    rng: np.random.Generator,
) -> Floats:
    """Return a drawn table, ``(parent configurations, responses)``; as `mean_table`."""
    if isinstance(certainty, TableCertainty):
        shares = np.maximum(rng.standard_gamma(certainty.counts), 1e-300)
        drawn: Floats = (shares / shares.sum(axis=1, keepdims=True))[list(certainty.rows)]
        return drawn
    known = _known(certainty, model)
    roots = _roots(certainty.covariance)
    if not len(roots):
        return model_table(known, item, parents)
    return model_table(model_near(known, rng.standard_normal(len(roots)) @ roots), item, parents)


def _known(certainty: ParameterCertainty, model: ResponseModel | None) -> ResponseModel:
    known = certainty.model or model
    assert known is not None  # as `certainty_faults` checks
    return known


def _roots(covariance: Floats) -> Floats:
    """Return vectors whose outer products sum to a covariance, ``(directions, size)``."""
    variances, vectors = np.linalg.eigh(covariance)
    large = variances > _NONE
    roots: Floats = (vectors[:, large] * np.sqrt(variances[large])).T
    return roots


def _quadrature(n: int) -> tuple[Floats, Floats]:
    """Return nodes ``(nodes, n)`` and weights for the mean under a standard normal distribution.

    A grid of Gauss and Hermite for few dimensions. For many, the nodes ± √n on each axis, which
    are exact for polynomials of degree three.
    """
    if n > _MOST_DIMENSIONS:
        far = np.sqrt(n) * np.eye(n)
        return np.concatenate([far, -far]), np.full(2 * n, 0.5 / n)
    from numpy.polynomial.hermite_e import hermegauss

    places, weights = hermegauss(_NODES)
    weights = weights / weights.sum()
    nodes = np.array(list(product(places, repeat=n)))
    return nodes, np.array([math.prod(row) for row in product(weights, repeat=n)])


def averaged_items(network: Network, items: tuple[Item, ...]) -> tuple[Network, tuple[Item, ...]]:
    """Return a network and items with mean tables; those of certain items do not change."""
    cpds = {cpd.variable.name: cpd for cpd in network.cpds}
    averaged = []
    for item in items:
        cpd = cpds[item.name]
        if item.certainty is not None:
            table = mean_table(item.certainty, cpd.variable, cpd.parents, item.gate)
            item, cpds[item.name] = with_table(item, cpd.variable, cpd.parents, table)
        averaged.append(item)
    return Network(tuple(cpds[cpd.variable.name] for cpd in network.cpds)), tuple(averaged)


def with_table(
    item: Item, variable: Variable, parents: tuple[Variable, ...], table: Floats
) -> tuple[Item, TabularCPD]:
    """Return an item with another table ``(parent configurations, responses)``.

    Its response model stays one of a guess and a slip if the table allows it, and is a `Gdina`
    otherwise. The certainty of the parameters stays the same.
    """
    certainty = item.certainty
    if isinstance(certainty, ParameterCertainty) and certainty.model is None:
        # The parameters are those of the model before.
        certainty = dataclasses.replace(certainty, model=item.gate)
    gate = item.gate
    if isinstance(gate, GuessSlip) and table[0, 1] <= table[-1, 1]:
        gate = dataclasses.replace(gate, guess=float(table[0, 1]), slip=float(table[-1, 0]))
    elif gate is not None:
        gate = Gdina(table)
    if gate is not None:
        cpd = gate.cpd(variable, parents)
        return dataclasses.replace(item, gate=gate, certainty=certainty), cpd  # type: ignore[return-value]
    shape = (variable.n_states, *(v.n_states for v in parents))
    plain = TabularCPD(variable, parents, table.T.reshape(shape))
    return dataclasses.replace(item, certainty=certainty), plain
