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
from bnmind.lab.experiments.game_experiment import GameBatch, GameExperiment, game_settings
from bnmind.lab.experiments.learning_experiment import (
    LearnedItemRow,
    LearningBatch,
    LearningExperiment,
    StartRow,
)
from bnmind.lab.experiments.run import MOST_ROWS, run

__all__ = [
    "MOST_ROWS",
    "VERSION",
    "Batch",
    "BatchRows",
    "Experiment",
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
    "game_settings",
    "row_frame",
    "run",
]
