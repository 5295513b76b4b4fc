"""Our beliefs against pgmpy's VariableElimination, where it can run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bnmind.errors import TooLargeError
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    TreeBelief,
    evidence_of_guess,
    stage,
    vomlel_network,
)
from bnmind.mastermind.network import REPORTS, code_variables
from bnmind.pgm import Network
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy

CASES = [
    (Board(2, 2), (1, 2), Reply(1, 0)),
    (Board(2, 3), (1, 3), Reply(0, 1)),
    (Board(3, 3), (1, 1, 2), Reply(1, 1)),
    (Board(3, 4), (1, 2, 4), Reply(0, 2)),
    (Board(3, 4, repeats=False), (1, 2, 4), Reply(0, 2)),
]


def eliminated(network: Network, board: Board, evidence: dict[str, str]) -> Any:
    """Return the joint over H_1, …, H_n by pgmpy."""
    code = [v.name for v in code_variables(board)]
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")(to_pgmpy(network))
        factor = engine.query(code, evidence=evidence, show_progress=False)
    # pgmpy sorts the states of nothing, but the variables as it likes.
    axes = [factor.variables.index(name) for name in code]
    return np.transpose(factor.values, axes)


@pytest.mark.parametrize("kind", ["exact", "false", "independent"])
@pytest.mark.parametrize(("board", "guess", "heard"), CASES)
def test_one_reply_in_the_full_network(
    board: Board, guess: tuple[int, ...], heard: Reply, kind: str
) -> None:
    channel = {
        "exact": Channel.exact(board),
        "false": Channel.false_reply(board, 0.2),
        "independent": Channel.independent_error(board, 0.1),
    }[kind]
    evidence = evidence_of_guess(guess) | dict(zip(REPORTS, map(str, heard), strict=True))
    theirs = eliminated(vomlel_network(board, channel=channel), board, evidence)
    for start in (TableBelief.start, TreeBelief.start):
        ours = start(channel).update(guess, heard).codes.joint()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_two_replies_and_a_prior_at_2x3() -> None:
    board = Board(2, 3)
    channel = Channel.independent_error(board, 0.2)
    first, second = ((1, 2), Reply(0, 1)), ((3, 1), Reply(1, 1))
    belief = TableBelief.start(channel).update(*first)
    network = vomlel_network(board, channel=channel, prior=belief.codes.joint())
    heard = dict(zip(REPORTS, map(str, second[1]), strict=True))
    theirs = eliminated(network, board, evidence_of_guess(second[0]) | heard)
    ours = TreeBelief.start(channel).update(*first).update(*second).codes.joint()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_stage_2_at_4x6() -> None:
    board = Board(4, 6)
    channel = Channel.independent_error(board, 0.1)
    network = stage(board, 2, guess=(1, 1, 2, 3), channel=channel).model
    assert isinstance(network, Network)
    theirs = eliminated(network, board, dict(zip(REPORTS, ("1", "1"), strict=True)))
    ours = TreeBelief.start(channel).update((1, 1, 2, 3), Reply(1, 1)).codes.joint()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_pgmpy_form_that_does_not_fit_names_its_largest_table() -> None:
    with pytest.raises(TooLargeError, match=r"60,466,176 in the table of C given") as caught:
        to_pgmpy(vomlel_network(Board(5, 8)))
    assert caught.value.needed == 6**10
