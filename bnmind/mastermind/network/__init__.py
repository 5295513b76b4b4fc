"""Bayesian networks of the game: Vomlel's network with its stages, and the relational network."""

from bnmind.mastermind.network.figures import stage_figure, tree_figure
from bnmind.mastermind.network.node_beliefs import node_beliefs
from bnmind.mastermind.network.relational import (
    RelationalSize,
    relational_network,
    relational_size,
)
from bnmind.mastermind.network.relational_files import relational_contents
from bnmind.mastermind.network.relational_game import (
    code_probabilities,
    code_targets,
    random_turns,
    relational_evidence,
)
from bnmind.mastermind.network.vomlel import (
    REPORTS,
    WON,
    Stage,
    code_variables,
    evidence_of_guess,
    reduced_to_guess,
    stage,
    vomlel_network,
)

__all__ = [
    "REPORTS",
    "WON",
    "RelationalSize",
    "Stage",
    "code_probabilities",
    "code_targets",
    "code_variables",
    "evidence_of_guess",
    "node_beliefs",
    "random_turns",
    "reduced_to_guess",
    "relational_contents",
    "relational_evidence",
    "relational_network",
    "relational_size",
    "stage",
    "stage_figure",
    "tree_figure",
    "vomlel_network",
]
