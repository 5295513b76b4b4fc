"""Scores of guesses, one in each module, and their registry."""

from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms, fixed_point_bits
from bnmind.strategies.scores.larmouth import Larmouth
from bnmind.strategies.scores.mass_scores import expected_sizes, parts, worst_cases
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.registry import SCORES
from bnmind.strategies.scores.score import ClassTerms, Combination, Score, equal_weights
from bnmind.strategies.scores.weighted_entropy import (
    WeightedEntropy,
    parse_weights,
    read_weights,
    shipped_weights,
    write_weights,
)
from bnmind.strategies.scores.worst_case import WorstCase, guaranteed_information

__all__ = [
    "SCORES",
    "ClassTerms",
    "Combination",
    "EntropyLeft",
    "ExpectedSize",
    "Larmouth",
    "MostParts",
    "Score",
    "WeightedEntropy",
    "WorstCase",
    "entropy_terms",
    "equal_weights",
    "expected_sizes",
    "fixed_point_bits",
    "guaranteed_information",
    "parse_weights",
    "parts",
    "read_weights",
    "shipped_weights",
    "worst_cases",
    "write_weights",
]
