"""The probability of each reply to each guess: several algorithms, and a plan that chooses."""

from bnmind.mastermind.masses.color_elimination import (
    elimination_additions,
    elimination_bytes,
    least_additions,
    masses_by_elimination,
)
from bnmind.mastermind.masses.color_elimination_maps import Elimination, elimination
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.guess_symmetry import GuessClasses, guess_classes
from bnmind.mastermind.masses.history_group import HistoryGroup, history_group
from bnmind.mastermind.masses.mass_plan import MassPlan, Method, plan_masses
from bnmind.mastermind.masses.pair_kernel import masses_by_pairs
from bnmind.mastermind.masses.reply_table import (
    bayes_rule,
    guess_masses,
    replies_to,
    reply_masses,
    reply_table,
)

__all__ = [
    "CodeDistribution",
    "Elimination",
    "GuessClasses",
    "HistoryGroup",
    "MassPlan",
    "Method",
    "bayes_rule",
    "elimination",
    "elimination_additions",
    "elimination_bytes",
    "guess_classes",
    "guess_masses",
    "history_group",
    "least_additions",
    "masses_by_elimination",
    "masses_by_pairs",
    "plan_masses",
    "replies_to",
    "reply_masses",
    "reply_table",
]
