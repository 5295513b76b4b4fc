"""Doubtful answers, against enumeration of the joint distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.pgm import Network, Variable
from bnmind.questions import doubt_answers
from tests.modes import examples
from tests.networks import enumerate_joint
from tests.questions.enumeration import joint_given, situations, table, table_over
from tests.questions.machine import MACHINE


def probability(network: Network, states: dict[str, str]) -> float:
    """Return the probability of some states, by summing the joint."""
    joint = enumerate_joint(network)
    at = tuple(v.index(states[v.name]) if v.name in states else slice(None) for v in joint.scope)
    return float(np.real(joint.values[at]).sum())


@settings(max_examples=examples(60))
@given(situations(max_variables=6, most=2), st.integers(0, 2**32 - 1))
def test_doubts_equal_those_of_enumeration(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]], seed: int
) -> None:
    network, about, _ = situation
    joint = enumerate_joint(network)
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(np.real(joint.values).ravel() > 0)
    cell = np.unravel_index(int(rng.choice(cells)), joint.values.shape)
    answers = {
        v.name: v.states[int(i)]
        for v, i in zip(joint.scope, cell, strict=True)
        if v.name not in about
    }
    doubts = doubt_answers(network, answers, about=about)
    together = probability(network, answers)
    alone = {name: probability(network, {name: state}) for name, state in answers.items()}
    assert doubts.conflict == pytest.approx(
        sum(map(math.log2, alone.values())) - math.log2(together), abs=1e-7
    )
    whole = joint_given(network, answers)
    for doubt in doubts.answers:
        others = {name: state for name, state in answers.items() if name != doubt.question}
        there = joint_given(network, others)
        chances = table_over(there, [doubt.question])
        own = chances[network.variable(doubt.question).index(doubt.answer)]
        assert doubt.probability == pytest.approx(own, abs=1e-9)
        assert doubt.alone == pytest.approx(alone[doubt.question], abs=1e-9)
        assert doubt.conflict == pytest.approx(
            math.log2(doubt.alone / probability(network, answers) * probability(network, others)),
            abs=1e-7,
        )
        tail = chances[chances <= own * (1 + 1e-9)].sum()
        assert doubt.p_value == pytest.approx(tail, abs=1e-9)
        moved = 0.0
        for name in about:
            expected = table_over(there, [name])
            assert list(doubt.without[name].values()) == pytest.approx(expected.tolist(), abs=1e-9)
            moved = max(moved, float(abs(expected - table_over(whole, [name])).max()))
        assert doubt.shift == pytest.approx(moved, abs=1e-9)


def test_the_odd_one_out_is_doubted() -> None:
    fault = Variable("fault", ("no", "yes"))
    tests = [Variable(f"test {i}", ("ok", "bad")) for i in range(5)]
    rates = [[0.9, 0.2], [0.1, 0.8]]
    network = Network((table(fault, (), [0.5, 0.5]), *(table(v, (fault,), rates) for v in tests)))
    answers = {v.name: "bad" for v in tests} | {"test 3": "ok"}
    doubts = doubt_answers(network, answers, about="fault")
    assert doubts.most_doubtful is not None
    assert doubts.most_doubtful.question == "test 3"
    assert doubts.conflict < 0  # most of them agree
    assert min(doubts.answers, key=lambda doubt: doubt.p_value).question == "test 3"


@pytest.mark.parametrize("n", [160, 170])
def test_the_conflict_of_many_answers_is_finite(n: int) -> None:
    fault, proof = Variable("fault", ("no", "yes")), Variable("proof", ("no", "yes"))
    tests = [Variable(f"test {i}", ("ok", "bad")) for i in range(n)]
    rates = [[0.99, 0.01], [0.01, 0.99]]
    network = Network(
        (
            table(fault, (), [0.5, 0.5]),
            table(proof, (fault,), [[1.0, 0.0], [0.0, 1.0]]),
            *(table(test, (fault,), rates) for test in tests),
        )
    )
    answers = {"proof": "no"} | {test.name: "bad" for test in tests}
    doubts = doubt_answers(network, answers, about="fault")
    # Each answer is a fair coin alone; the proof excludes the other fault.
    assert doubts.conflict == pytest.approx(-n - n * math.log2(0.01))
    proved, test = doubts.answers[:2]
    assert proved.conflict == pytest.approx(n * math.log2(99) - 1)
    assert test.conflict == pytest.approx(-1 - math.log2(0.01))
    assert doubts.most_doubtful == proved


def test_answers_that_are_nearly_impossible_alone_have_a_conflict() -> None:
    first, second, third = (Variable(name, ("no", "yes")) for name in ("first", "second", "third"))
    rare = [[1.0, 1.0], [1e-200, 1e-200]]
    network = Network(
        (
            table(first, (), [0.5, 0.5]),
            table(second, (first,), rare),
            table(third, (second,), [[1.0, 1.0], [0.0, 1e-200]]),
        )
    )
    (doubt,) = doubt_answers(network, {"third": "yes"}, about="first").answers
    assert doubt.conflict == 0.0
    both = doubt_answers(network, {"second": "yes", "third": "yes"}, about="first")
    bits = -400 * math.log2(10)
    assert both.conflict == pytest.approx(bits / 2)
    assert [doubt.conflict for doubt in both.answers] == pytest.approx([bits / 2, bits / 2])


def test_answers_that_agree_are_not_doubted() -> None:
    doubts = doubt_answers(MACHINE, {"noise": "yes", "heat": "high"}, about="fault")
    assert doubts.most_doubtful is None
    assert doubts.conflict < 0
    empty = doubt_answers(MACHINE, {}, about="fault")
    assert (empty.conflict, empty.answers) == (0.0, ())


def test_evidence_is_not_in_doubt() -> None:
    doubts = doubt_answers(
        MACHINE, {"noise": "no"}, about="fault", evidence={"leak": "yes", "heat": [0.2, 0.9]}
    )
    (doubt,) = doubts.answers
    assert doubt.conflict == doubts.conflict == 0.0
    assert doubt.probability == doubt.alone


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidArgumentError, match="fault is in the evidence"):
        doubt_answers(MACHINE, {"fault": "pump"}, about="fault")
    network = Network(
        (
            *MACHINE.cpds,
            table(
                Variable("echo", ("no", "yes")),
                (MACHINE.variable("noise"),),
                [[1.0, 0.0], [0.0, 1.0]],
            ),
        )
    )
    with pytest.raises(ImpossibleEvidenceError, match="echo"):
        doubt_answers(network, {"noise": "no", "echo": "yes"}, about="fault")
