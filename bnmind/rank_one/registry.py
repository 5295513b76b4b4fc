"""The registry of rank-one forms: the terms of each kind of function that has them.

A new form is a file in this folder and a line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Threshold,
)
from bnmind.rank_one.addition import addition_terms
from bnmind.rank_one.equality import equality_terms
from bnmind.rank_one.extremum import extremum_terms
from bnmind.rank_one.nodes import Nodes
from bnmind.rank_one.parity import parity_terms
from bnmind.rank_one.terms import Terms
from bnmind.rank_one.threshold import count_terms

__all__ = ["RANK_ONE_TERMS", "MakesTerms"]

MakesTerms: TypeAlias = Callable[[Any, Sequence[Sequence[int]], Sequence[int], Nodes | None], Terms]
"""(function, positions of each argument, results that are needed, nodes) → terms."""

RANK_ONE_TERMS: Mapping[type[Function], MakesTerms] = MappingProxyType(
    {
        Addition: addition_terms,
        Maximum: lambda function, states, results, _: extremum_terms(function, states, results),
        Minimum: lambda function, states, results, _: extremum_terms(function, states, results),
        Parity: lambda _, states, results, __: parity_terms(states, results),
        Threshold: count_terms,
        Exactly: count_terms,
        Equality: lambda _, states, results, __: equality_terms(states, results),
    }
)
"""The function that makes the terms of each kind of function."""
