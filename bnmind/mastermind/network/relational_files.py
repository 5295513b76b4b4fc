"""Games on the relational network as files in the format of the UAI competitions.

========================  ====================================================================
file                      content
========================  ====================================================================
``game.uai``              the network; its names are in ``game.uai.json``
``game.uai.evid``         the guesses and replies
``game.uai.MAR``          the answer: the distribution of every variable given the evidence
``game.uai.PR``           the answer: log₁₀ of the probability of the evidence
========================  ====================================================================
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bnmind._arguments import checked
from bnmind.junction import compile_model
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.network.relational import relational_network
from bnmind.mastermind.network.relational_game import relational_evidence
from bnmind.pgm.files import model_contents
from bnmind.pgm.formats.uai import evidence_to_uai, log_evidence_to_uai, marginals_to_uai

__all__ = ["relational_contents"]


@checked
def relational_contents(
    board: Board, turns: Sequence[Turn], path: str | os.PathLike[str]
) -> dict[Path, str]:
    """Return the files of a game: the network, the evidence, and the exact answers.

    Parameters
    ----------
    board
        A board with repeats and at least two pegs.
    turns
        The guesses with their replies, at least one.
    path
        The file of the network, which ends in ``.uai``. The other names add to this name.

    Raises
    ------
    ImpossibleEvidenceError
        If no code fits all replies.
    """
    network = relational_network(board, len(turns))
    evidence = relational_evidence(board, turns)
    free = [v.name for v in network.variables if v.name not in evidence]
    posterior = compile_model(network).posterior(free, evidence)
    marginals = {
        v.name: posterior[v.name].probabilities
        if v.name not in evidence
        else np.eye(v.n_states)[v.index(evidence[v.name])]
        for v in network.variables
    }
    place = Path(path)
    return {
        **model_contents(network, place),
        Path(f"{place}.evid"): evidence_to_uai(evidence, network.variables),
        Path(f"{place}.MAR"): marginals_to_uai(marginals, network.variables),
        Path(f"{place}.PR"): log_evidence_to_uai(posterior.log_evidence),
    }
