"""Beliefs about the variables of Vomlel's network, compared with exact inference in it."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.junction import compile_model
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    evidence_of_guess,
    node_beliefs,
    stage,
    stage_figure,
    vomlel_network,
)
from tests.views.test_views import SVG, parsed

BOARD = Board(3, 3)


@pytest.mark.parametrize(
    "channel",
    [
        Channel.exact(BOARD),
        Channel.false_reply(BOARD, 0.2),
        Channel.independent_error(BOARD, 0.1),
        Channel.false_reply(BOARD, 0.3).revealed(),
    ],
    ids=lambda channel: channel.name + "!" * channel.ends,
)
def test_beliefs_are_those_of_the_network(channel: Channel) -> None:
    belief = TableBelief.start(channel).update((1, 1, 2), Reply(1, 1))
    joint = belief.codes.probabilities
    guess = (2, 1, 1)
    network = vomlel_network(BOARD, channel=channel, prior=joint.reshape(3, 3, 3))
    evidence = evidence_of_guess(guess)
    names = [v.name for v in network.variables if v.name not in evidence]
    found = compile_model(network).posterior(names, evidence)
    told = node_beliefs(channel, guess, codes=BOARD.codes, weights=joint)
    assert set(told) == {v.name for v in network.variables}
    for v in network.variables:
        if v.name in evidence:
            assert told[v.name][v.states.index(evidence[v.name])] == 1
        else:
            expected = [float(found[v.name][state]) for state in v.states]
            assert told[v.name] == pytest.approx(expected, abs=1e-9), v.name


def test_weights_may_be_those_of_a_sample() -> None:
    codes = np.array([[1, 2, 3], [1, 2, 3], [3, 3, 3]], dtype=np.uint8)
    told = node_beliefs(Channel.exact(BOARD), (3, 3, 3), codes=codes, weights=np.ones(3))
    assert told["H1"] == pytest.approx([2 / 3, 0, 1 / 3])
    assert told["P"] == pytest.approx([0, 2 / 3, 0, 1 / 3])


@pytest.mark.parametrize("weights", [np.ones(3), np.zeros(27), -np.ones(27)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(InvalidArgumentError):
        node_beliefs(Channel.exact(BOARD), (1, 1, 1), codes=BOARD.codes, weights=weights)
    with pytest.raises(BnmindError):
        node_beliefs(Channel.exact(BOARD), (9, 1, 1), codes=BOARD.codes, weights=np.ones(27))


def test_figures_show_beliefs_as_bars() -> None:
    told = node_beliefs(Channel.exact(BOARD), (1, 2, 3), codes=BOARD.codes, weights=np.ones(27))
    drawn = stage_figure(stage(BOARD, 3), beliefs=told)
    boxes = {
        group.attrib["data-variable"]: group
        for group in parsed(drawn).iter(f"{SVG}g")
        if "data-variable" in group.attrib
    }
    shares = [
        float(bar.attrib["data-share"])
        for bar in boxes["H1"].iter(f"{SVG}rect")
        if "data-share" in bar.attrib
    ]
    assert shares == pytest.approx([1 / 3] * 3, rel=1e-5)
    assert "33" in "".join(boxes["H1"].itertext())
    assert not [bar for bar in boxes["B"].iter() if "data-share" in bar.attrib]
