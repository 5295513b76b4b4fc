"""The strategy protocol and the rules of the game."""

from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.base.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    start_belief,
    trusting_channel,
)

__all__ = [
    "Goal",
    "GuessInfo",
    "Strategy",
    "describe_guess",
    "start_belief",
    "trusting_channel",
]
