"""Rank-one factorizations of functional and noisy distributions, by an auxiliary variable."""

from bnmind.rank_one.addition import factorize_addition
from bnmind.rank_one.chain import chain_form
from bnmind.rank_one.factorize import factorize, rank_one_form
from bnmind.rank_one.nodes import Chebyshev, Integers, Nodes, RootsOfMinusOne, RootsOfUnity
from bnmind.rank_one.observed_chain import observed_chain
from bnmind.rank_one.registry import RANK_ONE_TERMS
from bnmind.rank_one.terms import RankOne, Terms

__all__ = [
    "RANK_ONE_TERMS",
    "Chebyshev",
    "Integers",
    "Nodes",
    "RankOne",
    "RootsOfMinusOne",
    "RootsOfUnity",
    "Terms",
    "chain_form",
    "factorize",
    "factorize_addition",
    "observed_chain",
    "rank_one_form",
]
