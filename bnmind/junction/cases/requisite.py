"""The observations that a posterior can depend on, for many patterns of observations at once.

In a Bayesian network, a ball starts at the target and bounces along the arcs. An unobserved
variable passes a ball on: to its children, and if it came from a child, also to its parents. An
observed variable sends a ball that came from a parent back to all of its parents, and stops a ball
that came from a child. The observed variables that the ball reaches are the requisite ones; given
them, the target is independent of all other observations. In a product of factors, the ball passes
through all unobserved neighbors.

The search runs for all patterns in parallel: a variable has a truth value for each pattern.

References
----------
R. D. Shachter, "Bayes-ball: the rational pastime (for determining irrelevance and requisite
information in belief networks and influence diagrams)", UAI 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.pgm.network import FactorModel, Network

__all__ = ["Links", "requisite"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Links:
    """The arcs of a network, or the edges of a product of factors, by the numbers of variables."""

    parents: tuple[tuple[int, ...], ...]
    """The parents of each variable, which have smaller numbers; empty without arcs."""
    children: tuple[tuple[int, ...], ...]
    neighbors: tuple[tuple[int, ...], ...]
    """The variables in a common factor; empty for a network."""

    @classmethod
    def of(cls, model: Network | FactorModel) -> Links:
        """Return the links of a model, in the order of its variables."""
        at = {v.name: number for number, v in enumerate(model.variables)}
        n = len(at)
        if isinstance(model, Network):
            parents = tuple(tuple(at[v.name] for v in cpd.parents) for cpd in model.cpds)
            children: list[list[int]] = [[] for _ in range(n)]
            for child, known in enumerate(parents):
                for parent in known:
                    children[parent].append(child)
            return cls(parents, tuple(map(tuple, children)), ())
        near: list[set[int]] = [set() for _ in range(n)]
        for potential in model.potentials:
            scope = [at[v.name] for v in potential.scope]
            for one in scope:
                near[one].update(scope)
        return cls((), (), tuple(tuple(sorted(found - {v})) for v, found in enumerate(near)))


def requisite(links: Links, target: int, observed: Flags) -> Flags:
    """Return the observed variables that the posterior of a variable can depend on.

    Parameters
    ----------
    links
        The arcs or edges of the model.
    target
        The number of the variable, which is not observed in any pattern.
    observed
        Whether each variable is observed, ``(variables, patterns)``.

    Returns
    -------
    NDArray
        ``(variables, patterns)``; true for the requisite ones among the observed variables.
    """
    reached = _over_arcs if links.parents else _over_edges
    return observed & reached(links, target, observed)


def _over_arcs(links: Links, target: int, observed: Flags) -> Flags:
    hidden = ~observed
    from_child, from_parent = np.zeros_like(observed), np.zeros_like(observed)
    from_child[target] = True
    reached = np.count_nonzero(from_child)
    while True:
        for v in reversed(range(len(links.parents))):
            _spread(
                (from_child[v] & hidden[v]) | (from_parent[v] & observed[v]),
                from_child,
                links.parents[v],
            )
        for v, children in enumerate(links.children):
            _spread((from_child[v] | from_parent[v]) & hidden[v], from_parent, children)
        before, reached = reached, np.count_nonzero(from_child) + np.count_nonzero(from_parent)
        if reached == before:
            return from_child | from_parent


def _over_edges(links: Links, target: int, observed: Flags) -> Flags:
    reached = np.zeros_like(observed)
    reached[target] = True
    count = np.count_nonzero(reached)
    while True:
        for v, neighbors in enumerate(links.neighbors):
            _spread(reached[v] & ~observed[v], reached, neighbors)
        before, count = count, np.count_nonzero(reached)
        if count == before:
            return reached


def _spread(ball: Flags, reached: Flags, others: Sequence[int]) -> None:
    if others and ball.any():
        for other in others:
            reached[other] |= ball
