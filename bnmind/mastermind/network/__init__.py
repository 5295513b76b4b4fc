"""Vomlel's Bayesian network of the game, and its stages."""

from bnmind.mastermind.network.figures import stage_figure, tree_figure
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
    "Stage",
    "code_variables",
    "evidence_of_guess",
    "reduced_to_guess",
    "stage",
    "stage_figure",
    "tree_figure",
    "vomlel_network",
]
