"""Searches whose effort is limited like that of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bnmind.errors import TooLargeError
from bnmind.junction.branch_and_bound.search import ExplanationSearch
from bnmind.junction.inference.limits import Limits
from bnmind.junction.queries.mpe import Explanation

__all__ = ["best_searched", "searched"]

_MULTIPLICATIONS_OF_NODE = 2**11
"""The multiplications of a plan that take about as long as a node of a search."""


def searched(search: ExplanationSearch, findings: Mapping[str, Any]) -> Explanation:
    """Return the most probable explanation or marginal MAP by a search within its limits.

    Parameters
    ----------
    search
        A search for any evidence. Calls with findings on the same variables share preparations.
    findings
        The evidence.

    Raises
    ------
    TooLargeError
        If there is no proof within the limits.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    return search.given(findings).run(max_nodes=_most_nodes(search.limits)).proven()


def best_searched(
    search: ExplanationSearch, findings: Mapping[str, Any], count: int
) -> tuple[Explanation, ...]:
    """Return the most probable explanations, at most ``count``, in descending order.

    The other parameters and the errors are those of `searched`.
    """
    return search.given(findings).best(count, max_nodes=_most_nodes(search.limits)).proven()


def _most_nodes(limits: Limits) -> int:
    """Return the number of nodes that limits allow."""
    most = limits.max_multiplications // _MULTIPLICATIONS_OF_NODE
    if not most:
        raise TooLargeError(
            f"a search takes as long as {_MULTIPLICATIONS_OF_NODE:,} multiplications or more;"
            f" allowed are max_multiplications={limits.max_multiplications:,}",
            needed=_MULTIPLICATIONS_OF_NODE,
            budget=limits.max_multiplications,
        )
    return most
