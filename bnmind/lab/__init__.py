"""The lab: games, comparisons, and what is kept of them."""

from bnmind.lab.adaptive_plots import (
    plot_attributes,
    plot_exposure,
    plot_measure,
    plot_measures,
    plot_test_lengths,
)
from bnmind.lab.adaptive_store import save_simulation
from bnmind.lab.code_maker import CodeMaker, strategy_rng
from bnmind.lab.compare import Comparison, Contest, GameRow, Summary, compare
from bnmind.lab.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.games import assumed_channel, play_game, replay
from bnmind.lab.plots import plot_lengths
from bnmind.lab.result_files import write_files
from bnmind.lab.store import comparison_csv, save_comparison
from bnmind.lab.transcript import PlayedTurn, Transcript
from bnmind.lab.transcript_json import transcript_from_json, transcript_to_json

__all__ = [
    "CodeMaker",
    "Comparison",
    "Contest",
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
    "comparison_csv",
    "play_game",
    "plot_attributes",
    "plot_exposure",
    "plot_lengths",
    "plot_measure",
    "plot_measures",
    "plot_test_lengths",
    "replay",
    "save_comparison",
    "save_simulation",
    "strategy_rng",
    "transcript_from_json",
    "transcript_to_json",
    "write_files",
]
