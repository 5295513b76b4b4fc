"""Mastermind: boards, codes, replies, the noise they pass through, and what to believe."""

from bnmind.mastermind.board import MAX_CODES, Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history, parse_history
from bnmind.mastermind.noise_text import parse_noise
from bnmind.mastermind.reply import Reply, reply
from bnmind.mastermind.reply_table import replies_to, reply_masses, reply_table

__all__ = [
    "MAX_CODES",
    "Board",
    "Channel",
    "Reply",
    "Turn",
    "format_history",
    "parse_history",
    "parse_noise",
    "replies_to",
    "reply",
    "reply_masses",
    "reply_table",
]
