"""Mastermind: boards, codes, replies, noise channels, and beliefs about the secret code."""

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
from bnmind.mastermind.board import MAX_CODES, Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history, parse_history
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.guess_symmetry import GuessClasses, guess_classes
from bnmind.mastermind.masses.mass_plan import MassPlan, Method, plan_masses
from bnmind.mastermind.masses.reply_table import replies_to, reply_masses, reply_table
from bnmind.mastermind.network.vomlel import (
    Stage,
    evidence_of_guess,
    stage,
    vomlel_network,
)
from bnmind.mastermind.noise_parser import parse_noise
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.registry import PRIORS, parse_prior
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import Reply, reply
from bnmind.mastermind.sampling.sampler import SamplerInfo, SamplerOptions

__all__ = [
    "MAX_CODES",
    "PRIORS",
    "Belief",
    "Board",
    "Channel",
    "CodeDistribution",
    "ExactBelief",
    "GuessClasses",
    "HistoryBelief",
    "MassPlan",
    "Method",
    "Posterior",
    "Prior",
    "Reply",
    "SampledBelief",
    "SamplerInfo",
    "SamplerOptions",
    "Stage",
    "StandardErrors",
    "TableBelief",
    "TreeBelief",
    "Turn",
    "UniformPrior",
    "UnknownNoiseBelief",
    "VanishingBelief",
    "belief_plan",
    "evidence_of_guess",
    "format_history",
    "guess_classes",
    "impossible_history",
    "misreport_probabilities",
    "parse_history",
    "parse_noise",
    "parse_prior",
    "plan_masses",
    "replies_to",
    "reply",
    "reply_masses",
    "reply_table",
    "stage",
    "vomlel_network",
]
