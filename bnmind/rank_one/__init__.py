"""Rank-one factorizations of functional distributions, by an auxiliary variable."""

from bnmind.rank_one.addition import RankOne, factorize, factorize_addition
from bnmind.rank_one.nodes import Chebyshev, Integers, Nodes, RootsOfUnity

__all__ = [
    "Chebyshev",
    "Integers",
    "Nodes",
    "RankOne",
    "RootsOfUnity",
    "factorize",
    "factorize_addition",
]
