"""The lab: games, comparisons, and what is kept of them."""

from bnmind.lab.code_maker import CodeMaker, strategy_rng
from bnmind.lab.compare import Comparison, GameRow, Summary, compare
from bnmind.lab.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.games import assumed_channel, play_game, replay
from bnmind.lab.transcript import PlayedTurn, Transcript

__all__ = [
    "CodeMaker",
    "Comparison",
    "Declared",
    "Ending",
    "GameRow",
    "Limit",
    "PlayedTurn",
    "Revealed",
    "Summary",
    "Transcript",
    "assumed_channel",
    "compare",
    "play_game",
    "replay",
    "strategy_rng",
]
