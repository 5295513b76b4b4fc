"""Probability distributions over the secret code, given the replies so far."""

from bnmind.mastermind.beliefs.belief import (
    Belief,
    ExactBelief,
    Posterior,
    StandardErrors,
    impossible_history,
    misreport_probabilities,
)
from bnmind.mastermind.beliefs.history_belief import HistoryBelief
from bnmind.mastermind.beliefs.sampled_belief import SampledBelief
from bnmind.mastermind.beliefs.table_belief import TableBelief
from bnmind.mastermind.beliefs.tree_belief import TreeBelief, belief_plan
from bnmind.mastermind.beliefs.unknown_noise import UnknownNoiseBelief
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief
from bnmind.mastermind.masses.distribution import CodeDistribution

__all__ = [
    "Belief",
    "CodeDistribution",
    "ExactBelief",
    "HistoryBelief",
    "Posterior",
    "SampledBelief",
    "StandardErrors",
    "TableBelief",
    "TreeBelief",
    "UnknownNoiseBelief",
    "VanishingBelief",
    "belief_plan",
    "impossible_history",
    "misreport_probabilities",
]
