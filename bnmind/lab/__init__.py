"""Experiments: Mastermind games, comparisons of strategies, simulated tests, and their records."""

from bnmind.lab.adaptive.plots import (
    plot_attributes,
    plot_exposure,
    plot_measure,
    plot_measures,
    plot_test_lengths,
)
from bnmind.lab.adaptive.store import save_simulation
from bnmind.lab.experiments import (
    Batch,
    BatchRows,
    Experiment,
    GameBatch,
    GameExperiment,
    Results,
    game_settings,
    run,
)
from bnmind.lab.mastermind.code_maker import CodeMaker, strategy_rng
from bnmind.lab.mastermind.compare import Comparison, Contest, GameRow, Summary, compare
from bnmind.lab.mastermind.comparison import TurnRow
from bnmind.lab.mastermind.ending_names import ENDINGS, parse_ending
from bnmind.lab.mastermind.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.mastermind.games import assumed_channel, play_game, replay
from bnmind.lab.mastermind.groups import RankSumGroups, comparison_groups, rank_sum_groups
from bnmind.lab.mastermind.plots import plot_lengths
from bnmind.lab.mastermind.setting import GameSetting, Player
from bnmind.lab.mastermind.store import comparison_csv, save_comparison
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.lab.mastermind.transcript_json import transcript_from_json, transcript_to_json
from bnmind.lab.result_files import write_files

__all__ = [
    "ENDINGS",
    "Batch",
    "BatchRows",
    "CodeMaker",
    "Comparison",
    "Contest",
    "Declared",
    "Ending",
    "Experiment",
    "GameBatch",
    "GameExperiment",
    "GameRow",
    "GameSetting",
    "Limit",
    "PlayedTurn",
    "Player",
    "RankSumGroups",
    "Results",
    "Revealed",
    "Summary",
    "Transcript",
    "TurnRow",
    "assumed_channel",
    "compare",
    "comparison_csv",
    "comparison_groups",
    "game_settings",
    "parse_ending",
    "play_game",
    "plot_attributes",
    "plot_exposure",
    "plot_lengths",
    "plot_measure",
    "plot_measures",
    "plot_test_lengths",
    "rank_sum_groups",
    "replay",
    "run",
    "save_comparison",
    "save_simulation",
    "strategy_rng",
    "transcript_from_json",
    "transcript_to_json",
    "write_files",
]
