"""Experiments: declared runs of games and of tests, which give the same rows everywhere."""

from bnmind.lab.experiments.adaptive_experiment import (
    StepRow,
    TestBatch,
    TestExperiment,
    TestRow,
)
from bnmind.lab.experiments.experiment import (
    VERSION,
    Batch,
    BatchRows,
    Experiment,
    Results,
    row_frame,
)
from bnmind.lab.experiments.files import (
    EXPERIMENTS,
    ExperimentKind,
    experiment_content,
    experiment_from_text,
    experiment_to_json,
    experiment_to_toml,
    read_experiment,
    write_experiment,
)
from bnmind.lab.experiments.game_experiment import GameBatch, GameExperiment, game_settings
from bnmind.lab.experiments.learning_experiment import (
    LearnedItemRow,
    LearningBatch,
    LearningExperiment,
    StartRow,
)
from bnmind.lab.experiments.run import MOST_ROWS, run

__all__ = [
    "EXPERIMENTS",
    "MOST_ROWS",
    "VERSION",
    "Batch",
    "BatchRows",
    "Experiment",
    "ExperimentKind",
    "GameBatch",
    "GameExperiment",
    "LearnedItemRow",
    "LearningBatch",
    "LearningExperiment",
    "Results",
    "StartRow",
    "StepRow",
    "TestBatch",
    "TestExperiment",
    "TestRow",
    "experiment_content",
    "experiment_from_text",
    "experiment_to_json",
    "experiment_to_toml",
    "game_settings",
    "read_experiment",
    "row_frame",
    "run",
    "write_experiment",
]
