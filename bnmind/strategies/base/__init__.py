"""The strategy protocol and the rules of the game."""

from bnmind.strategies.base.beginnings import ModelsNoise, TrustsReplies, UsesHistory, UsesSamples
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.base.needs import Needs, distribution_of, posterior_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    start_belief,
    start_posterior,
    trusting_channel,
)

__all__ = [
    "FIRST_TURN",
    "Goal",
    "GuessInfo",
    "ModelsNoise",
    "Needs",
    "Situation",
    "Strategy",
    "TrustsReplies",
    "UsesHistory",
    "UsesSamples",
    "describe_guess",
    "distribution_of",
    "posterior_of",
    "start_belief",
    "start_posterior",
    "trusting_channel",
]
