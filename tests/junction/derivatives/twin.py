"""The slow twins of derivatives: the enumerated polynomial of a model, and its differences.

The probability of evidence is a polynomial of the entries of all tables, linear in each of them
(Darwiche 2003). The derivative by an entry is therefore the sum of the terms that contain it,
without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bnmind.pgm import Factor, FactorModel, Network

__all__ = ["indicators", "posterior_derivatives", "products", "table_of", "tables_of"]


def table_of(potential: object) -> np.ndarray:
    """Return the entries of a potential."""
    values = potential.values if isinstance(potential, Factor) else potential.to_factor().values  # type: ignore[attr-defined]
    return np.real(values)


def tables_of(model: Network | FactorModel) -> list[np.ndarray]:
    """Return the entries of all potentials."""
    return [table_of(potential) for potential in model.potentials]


def indicators(model: Network | FactorModel, findings: Mapping[str, object]) -> np.ndarray:
    """Return the likelihood of the findings for each configuration of all variables."""
    shape = tuple(v.n_states for v in model.variables)
    product = np.ones(shape)
    for axis, v in enumerate(model.variables):
        if v.name in findings:
            given = findings[v.name]
            weights = (
                np.eye(v.n_states)[v.index(given)]
                if isinstance(given, str)
                else np.asarray(given, dtype=float)
            )
            product *= weights.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return product


def products(
    model: Network | FactorModel, tables: Sequence[np.ndarray], weights: np.ndarray
) -> tuple[float, list[np.ndarray]]:
    """Return the weighted sum of the model, and its derivatives by the entries of each table."""
    shape = tuple(v.n_states for v in model.variables)
    place = {v.name: axis for axis, v in enumerate(model.variables)}
    grids = np.indices(shape)
    at = [tuple(grids[place[v.name]] for v in p.scope) for p in model.potentials]
    spread = [table[where] for table, where in zip(tables, at, strict=True)]
    total = weights.copy()
    for one in spread:
        total = total * one
    derivatives = []
    for i, (table, where) in enumerate(zip(tables, at, strict=True)):
        others = weights.copy()
        for j, one in enumerate(spread):
            if j != i:
                others = others * one
        sums = np.zeros(table.shape)
        if where:
            np.add.at(sums, where, others)
        else:
            sums += others.sum()
        derivatives.append(sums)
    return float(total.sum()), derivatives


def posterior_derivatives(
    model: Network | FactorModel, target: str, state: str, findings: Mapping[str, object]
) -> tuple[float, list[np.ndarray]]:
    """Return a posterior and its derivatives, by the rule for quotients."""
    tables = tables_of(model)
    evidence = indicators(model, findings)
    whole, by_whole = products(model, tables, evidence)
    part, by_part = products(model, tables, evidence * indicators(model, {target: state}))
    return part / whole, [
        (a * whole - part * b) / whole**2 for a, b in zip(by_part, by_whole, strict=True)
    ]
