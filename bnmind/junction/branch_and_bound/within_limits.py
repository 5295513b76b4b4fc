"""Searches whose effort is limited like that of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bnmind.errors import TooLargeError
from bnmind.junction.branch_and_bound.search import compile_search
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.limits import Limits
from bnmind.junction.queries.mpe import Explanation
from bnmind.pgm.network import FactorModel, Network

__all__ = ["searched"]

_MULTIPLICATIONS_OF_NODE = 2**11
"""The multiplications of a plan that take about as long as a node of a search."""


def searched(
    model: Network | FactorModel,
    evidence: Mapping[str, Any],
    targets: tuple[str, ...] | None = None,
    *,
    order: OrderFinder | None,
    limits: Limits,
) -> Explanation:
    """Return the most probable explanation or marginal MAP by a search within limits.

    The parameters and errors are those of `compile_search`.

    Raises
    ------
    TooLargeError
        If there is no proof within the limits.
    """
    most = limits.max_multiplications // _MULTIPLICATIONS_OF_NODE
    if not most:
        raise TooLargeError(
            f"a search takes as long as {_MULTIPLICATIONS_OF_NODE:,} multiplications or more;"
            f" allowed are max_multiplications={limits.max_multiplications:,}",
            needed=_MULTIPLICATIONS_OF_NODE,
            budget=limits.max_multiplications,
        )
    search = compile_search(model, evidence, targets, order=order, limits=limits)
    return search.run(max_nodes=most).proven()
