"""Experiments: Mastermind games, comparisons of strategies, simulated tests, and their records."""

from bnmind._cluster import Cluster
from bnmind._workers import Backend, Processes
from bnmind.lab.adaptive.plots import (
    plot_attributes,
    plot_exposure,
    plot_measure,
    plot_measures,
    plot_test_lengths,
)
from bnmind.lab.adaptive.store import save_simulation
from bnmind.lab.experiments import (
    EXPERIMENTS,
    Batch,
    BatchRows,
    Experiment,
    GameBatch,
    GameExperiment,
    Results,
    experiment_from_text,
    experiment_to_json,
    experiment_to_toml,
    game_settings,
    read_experiment,
    run,
    write_experiment,
)
from bnmind.lab.mastermind.code_maker import CodeMaker, strategy_rng
from bnmind.lab.mastermind.compare import Comparison, Contest, GameRow, Summary, compare
from bnmind.lab.mastermind.comparison import TurnRow, comparison_groups
from bnmind.lab.mastermind.ending_names import ENDINGS, parse_ending
from bnmind.lab.mastermind.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.mastermind.games import assumed_channel, play_game, replay
from bnmind.lab.mastermind.plots import plot_lengths
from bnmind.lab.mastermind.sequential import compare_until
from bnmind.lab.mastermind.setting import GameSetting, Player
from bnmind.lab.mastermind.store import comparison_csv, save_comparison
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.lab.mastermind.transcript_json import transcript_from_json, transcript_to_json
from bnmind.lab.result_files import write_files
from bnmind.lab.statistics import (
    AllTold,
    ConfidenceSequence,
    Enough,
    ExactMean,
    IntervalMethod,
    Moments,
    NarrowEnough,
    NormalInterval,
    PairedDifference,
    PairedDifferences,
    RankSumGroups,
    RunningDifferences,
    StudentInterval,
    holm,
    is_enough,
    paired_differences,
    rank_sum_groups,
    signed_rank_p_value,
)
from bnmind.lab.stores import Store, read_store, run_into

__all__ = [
    "ENDINGS",
    "EXPERIMENTS",
    "AllTold",
    "Backend",
    "Batch",
    "BatchRows",
    "Cluster",
    "CodeMaker",
    "Comparison",
    "ConfidenceSequence",
    "Contest",
    "Declared",
    "Ending",
    "Enough",
    "ExactMean",
    "Experiment",
    "GameBatch",
    "GameExperiment",
    "GameRow",
    "GameSetting",
    "IntervalMethod",
    "Limit",
    "Moments",
    "NarrowEnough",
    "NormalInterval",
    "PairedDifference",
    "PairedDifferences",
    "PlayedTurn",
    "Player",
    "Processes",
    "RankSumGroups",
    "Results",
    "Revealed",
    "RunningDifferences",
    "Store",
    "StudentInterval",
    "Summary",
    "Transcript",
    "TurnRow",
    "assumed_channel",
    "compare",
    "compare_until",
    "comparison_csv",
    "comparison_groups",
    "experiment_from_text",
    "experiment_to_json",
    "experiment_to_toml",
    "game_settings",
    "holm",
    "is_enough",
    "paired_differences",
    "parse_ending",
    "play_game",
    "plot_attributes",
    "plot_exposure",
    "plot_lengths",
    "plot_measure",
    "plot_measures",
    "plot_test_lengths",
    "rank_sum_groups",
    "read_experiment",
    "read_store",
    "replay",
    "run",
    "run_into",
    "save_comparison",
    "save_simulation",
    "signed_rank_p_value",
    "strategy_rng",
    "transcript_from_json",
    "transcript_to_json",
    "write_experiment",
    "write_files",
]
