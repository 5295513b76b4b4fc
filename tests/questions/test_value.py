"""The value of information, and doubtful answers, against enumeration and published figures."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    NothingToAskError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.pgm import Network, Variable
from bnmind.questions import doubt_answers, value_of_information
from tests.modes import examples
from tests.networks import enumerate_joint
from tests.questions.enumeration import joint_given, situations, table, table_over
from tests.questions.machine import MACHINE

OIL = Variable("oil", ("dry", "wet", "soaking"))
SOUNDING = Variable("sounding", ("closed", "open", "diffuse"))
FIELD = Network(
    (
        table(OIL, (), [0.5, 0.3, 0.2]),
        table(SOUNDING, (OIL,), [[0.1, 0.3, 0.5], [0.3, 0.4, 0.4], [0.6, 0.3, 0.1]]),
    )
)
DRILLING = {
    "drill": {"dry": -70, "wet": 50, "soaking": 200},
    "leave": {"dry": 0, "wet": 0, "soaking": 0},
}


def test_the_oil_wildcatter() -> None:
    """P. P. Shenoy, "Valuation-based systems for Bayesian decision analysis", Operations Research
    1992, after H. Raiffa, *Decision Analysis*, 1968: drilling at once is worth 20,000 dollars, and
    the best strategy, with a sounding for 10,000, is worth 22,500: drill unless the pattern is
    diffuse."""
    values = value_of_information(FIELD, DRILLING, about="oil", costs={"sounding": 10})
    assert values.action == "drill"
    assert values.expected_utility == pytest.approx(20)
    assert values.expected_utility + values.best.net == pytest.approx(22.5)
    assert values.best.actions == {"closed": "drill", "open": "drill", "diffuse": "leave"}
    assert values.perfect_information == pytest.approx(0.3 * 50 + 0.2 * 200 - 20)
    assert values.worth_asking == (values.best,)
    assert (
        value_of_information(FIELD, DRILLING, about="oil", costs={"sounding": 13}).worth_asking
        == ()
    )


@settings(max_examples=examples(60))
@given(situations(most=2), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_values_equal_those_of_enumeration(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]], seed: int, n_actions: int
) -> None:
    network, about, evidence = situation
    rng = np.random.default_rng(seed)
    keys = list(product(*(network.variable(name).states for name in about)))
    utilities = {
        f"a{i}": {key: float(rng.integers(-5, 6)) for key in keys} for i in range(n_actions)
    }
    values = value_of_information(network, utilities, about=about, evidence=evidence)
    joint = joint_given(network, evidence)

    def best(chances: Any) -> float:
        numbers: list[float] = np.ravel(chances).tolist()
        return max(
            sum(p * row[key] for p, key in zip(numbers, keys, strict=True))
            for row in utilities.values()
        )

    now = best(table_over(joint, about))
    assert values.expected_utility == pytest.approx(now, abs=1e-9)
    perfect = sum(
        p * max(row[key] for row in utilities.values())
        for p, key in zip(np.ravel(table_over(joint, about)), keys, strict=True)
    )
    assert values.perfect_information == pytest.approx(perfect - now, abs=1e-9)
    for row in values:
        after = sum(best(part) for part in table_over(joint, [row.question, *about]))
        assert row.value == pytest.approx(after - now, abs=1e-9)
        assert 0 <= row.value <= values.perfect_information + 1e-9


def test_frames_and_numbers_are_read_as_states() -> None:
    level = Variable("level", ("0", "1"))
    network = Network((*FIELD.cpds, table(level, (), [0.5, 0.5])))
    frame = pd.DataFrame({0: [1.0, 0.0], 1: [-1.0, 0.5]}, index=["go", "stay"])
    values = value_of_information(network, frame, about="level")
    assert (values.action, values.expected_utility) == ("stay", 0.25)
    assert values.perfect_information == 0.5
    columns = pd.MultiIndex.from_product([OIL.states, level.states])
    wide = pd.DataFrame(np.arange(6.0)[None], index=["go"], columns=columns)
    both = value_of_information(network, wide, about=["oil", "level"])
    assert both.action == "go"
    assert both.expected_utility == pytest.approx(0.5 * 0.5 + 0.3 * 2.5 + 0.2 * 4.5)


@pytest.mark.parametrize(
    ("about", "utilities", "text"),
    [
        ([], {"go": {"dry": 1}}, "name at least one target"),
        (["oil", "oil"], {"go": {"dry": 1}}, "the target oil is named twice"),
        ("oil", {}, "expected utilities .*, with one action at least, got"),
        ("oil", {"go": {"dry": math.inf}}, "finite"),
        ("oil", {"go": {"dry": 1, ("dry",): 2}}, "go has two utilities"),
        ("oil", {"go": {"dry": "much"}}, "finite utility of go for 'dry', got 'much'"),
        ("oil", {"go": 3}, "utilities"),
        ("oil", {"go": {("dry", "wet"): 1}}, "a state of each of oil"),
    ],
)
def test_wrong_decisions_are_refused(about: Any, utilities: Any, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        value_of_information(FIELD, utilities, about=about)


def test_each_configuration_needs_one_utility() -> None:
    with pytest.raises(InvalidArgumentError, match="go has no utility for wet; go has no utility"):
        value_of_information(FIELD, {"go": {"dry": 1}}, about="oil")
    with pytest.raises(UnknownNameError, match="did you mean dry"):
        value_of_information(FIELD, {"go": {"dri": 1}}, about="oil")
    with pytest.raises(UnknownNameError, match="did you mean oil"):
        value_of_information(FIELD, {"go": {"dry": 1}}, about="oill")
    with pytest.raises(InvalidArgumentError, match="oil is in the evidence"):
        value_of_information(FIELD, DRILLING, about="oil", evidence={"oil": "dry"})


def test_many_configurations_are_refused() -> None:
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(30)]
    network = Network(tuple(table(v, (), [0.5, 0.5]) for v in variables))
    names = [v.name for v in variables]
    with pytest.raises(TooLargeError, match="1,073,741,824 configurations"):
        value_of_information(network, {"go": {("0",) * 30: 1}}, about=names)


def test_values_are_a_sequence_and_a_frame() -> None:
    values = value_of_information(FIELD, DRILLING, about="oil")
    assert values[:1] == (values[0],)
    assert values.to_frame().to_dict("records") == [
        {"question": "sounding", "value": pytest.approx(12.5), "cost": 0, "net": values.best.net}
    ]
    nothing = value_of_information(FIELD, DRILLING, about="oil", evidence={"sounding": "open"})
    assert nothing.expected_utility == pytest.approx(1.15 / 0.35 * 10)
    with pytest.raises(NothingToAskError):
        _ = nothing.best


def test_a_constant_in_all_utilities_changes_no_decision() -> None:
    def values(constant: float) -> Any:
        drill = {"dry": constant, "wet": constant + 1, "soaking": constant + 20}
        leave = dict.fromkeys(OIL.states, constant + 5)
        return value_of_information(FIELD, {"drill": drill, "leave": leave}, about="oil")

    near, far = values(0), values(-1e10)
    assert (near.action, far.action) == ("leave", "leave")
    assert far.best.actions == near.best.actions
    assert far.best.value == pytest.approx(near.best.value, abs=1e-4)


def test_a_question_that_costs_its_value_is_not_worth_asking() -> None:
    exact = value_of_information(FIELD, DRILLING, about="oil").best.value
    for cost in (exact, math.nextafter(exact, 0), math.nextafter(exact, math.inf)):
        values = value_of_information(FIELD, DRILLING, about="oil", costs={"sounding": cost})
        assert values.best.net == 0
        assert values.worth_asking == ()


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
