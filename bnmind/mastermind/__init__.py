"""Mastermind: boards, codes, replies, the noise they pass through, and what to believe."""

from bnmind.mastermind.belief import Belief, impossible_history, misreport_probabilities
from bnmind.mastermind.belief_table import TableBelief
from bnmind.mastermind.belief_vanishing import VanishingBelief
from bnmind.mastermind.board import MAX_CODES, Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.history import Turn, format_history, parse_history
from bnmind.mastermind.noise_text import parse_noise
from bnmind.mastermind.reply import Reply, reply
from bnmind.mastermind.reply_table import replies_to, reply_masses, reply_table

__all__ = [
    "MAX_CODES",
    "Belief",
    "Board",
    "Channel",
    "CodeDistribution",
    "Reply",
    "TableBelief",
    "Turn",
    "VanishingBelief",
    "format_history",
    "impossible_history",
    "misreport_probabilities",
    "parse_history",
    "parse_noise",
    "replies_to",
    "reply",
    "reply_masses",
    "reply_table",
]
