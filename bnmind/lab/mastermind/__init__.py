"""Mastermind games, comparisons of strategies, and their records."""

from bnmind.lab.mastermind.advice import Advice, Doubt, advise
from bnmind.lab.mastermind.belief_entropies import belief_entropies
from bnmind.lab.mastermind.code_maker import CodeMaker, strategy_rng
from bnmind.lab.mastermind.compare import MAX_ROWS, Comparison, Contest, GameRow, Summary, compare
from bnmind.lab.mastermind.comparison import TurnRow, comparison_groups
from bnmind.lab.mastermind.ending_names import ENDINGS, parse_ending
from bnmind.lab.mastermind.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.mastermind.games import assumed_channel, play_game, replay
from bnmind.lab.mastermind.plots import plot_lengths
from bnmind.lab.mastermind.saved_game import SavedGame, content_of, read_game, write_game
from bnmind.lab.mastermind.sequential import compare_until, play_until, sequential_comparison
from bnmind.lab.mastermind.setting import GameSetting, Player
from bnmind.lab.mastermind.store import comparison_csv, save_comparison
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.lab.mastermind.transcript_json import transcript_from_json, transcript_to_json

__all__ = [
    "ENDINGS",
    "MAX_ROWS",
    "Advice",
    "CodeMaker",
    "Comparison",
    "Contest",
    "Declared",
    "Doubt",
    "Ending",
    "GameRow",
    "GameSetting",
    "Limit",
    "PlayedTurn",
    "Player",
    "Revealed",
    "SavedGame",
    "Summary",
    "Transcript",
    "TurnRow",
    "advise",
    "assumed_channel",
    "belief_entropies",
    "compare",
    "compare_until",
    "comparison_csv",
    "comparison_groups",
    "content_of",
    "parse_ending",
    "play_game",
    "play_until",
    "plot_lengths",
    "read_game",
    "replay",
    "save_comparison",
    "sequential_comparison",
    "strategy_rng",
    "transcript_from_json",
    "transcript_to_json",
    "write_game",
]
