"""Reordering of the parents of a distribution, which is the order of its chain of partial results.

Chains over the same parents should use the same order. Otherwise the partial results of one chain
must be kept until the other chain has reached the same parent.
"""

from __future__ import annotations

from collections.abc import Mapping

from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.function_registry import with_arguments_in_order
from bnmind.pgm.functions import Function
from bnmind.pgm.listed import Listed

__all__ = ["with_parents_in_order"]


def with_parents_in_order(cpd: CPD, place: Mapping[str, int]) -> CPD:
    """Return the same distribution with its parents in another order, if this is possible.

    Parameters
    ----------
    cpd
        The distribution. Tables, restricted functions, and functions that are not in
        `bnmind.pgm.functions` are returned unchanged.
    place
        The place of each parent in the new order; other parents come last.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> a, b = (Variable.of_integers(name, range(2)) for name in "ab")
    >>> lead = FunctionalCPD.sum_of("lead", (b, a), signs=(1, -1))
    >>> with_parents_in_order(lead, {"a": 0, "b": 1}).function.terms
    ((0, -1), (0, 1))
    """
    n = len(cpd.parents)
    order = sorted(range(n), key=lambda i: (place.get(cpd.parents[i].name, len(place)), i))
    if order == list(range(n)) or isinstance(cpd, TabularCPD):
        return cpd
    parents = tuple(cpd.parents[i] for i in order)
    if not isinstance(cpd, FunctionalCPD):
        return type(cpd)(cpd.variable, parents, tuple(cpd.links[i] for i in order), cpd.leak)
    function = _permuted(cpd.function, order)
    return cpd if function is None else FunctionalCPD(cpd.variable, parents, function)


def _permuted(function: Function, order: list[int]) -> Function | None:
    """Return the function with its arguments in another order; None if its kind is unknown."""
    if isinstance(function, Listed):
        return Listed(function.results.transpose(order))
    return with_arguments_in_order(function, order)
