"""Mastermind: boards, codes, replies, the noise they pass through, and what to believe."""

from bnmind.mastermind.belief import Belief, impossible_history, misreport_probabilities
from bnmind.mastermind.belief_table import TableBelief
from bnmind.mastermind.belief_tree import TreeBelief, belief_plan
from bnmind.mastermind.belief_vanishing import VanishingBelief
from bnmind.mastermind.board import MAX_CODES, Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.history import Turn, format_history, parse_history
from bnmind.mastermind.mass_plan import MassPlan, Method, plan_masses
from bnmind.mastermind.noise_text import parse_noise
from bnmind.mastermind.reply import Reply, reply
from bnmind.mastermind.reply_table import replies_to, reply_masses, reply_table
from bnmind.mastermind.symmetry import GuessClasses, guess_classes
from bnmind.mastermind.vomlel import Stage, evidence_of_guess, stage, vomlel_network

__all__ = [
    "MAX_CODES",
    "Belief",
    "Board",
    "Channel",
    "CodeDistribution",
    "GuessClasses",
    "MassPlan",
    "Method",
    "Reply",
    "Stage",
    "TableBelief",
    "TreeBelief",
    "Turn",
    "VanishingBelief",
    "belief_plan",
    "evidence_of_guess",
    "format_history",
    "guess_classes",
    "impossible_history",
    "misreport_probabilities",
    "parse_history",
    "parse_noise",
    "plan_masses",
    "replies_to",
    "reply",
    "reply_masses",
    "reply_table",
    "stage",
    "vomlel_network",
]
