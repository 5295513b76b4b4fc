"""Questions ranked by information, against enumeration of the joint distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import ItemBank, start_belief
from bnmind.adaptive.scores import rank_items
from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    NothingToAskError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import Limits, compile_model
from bnmind.pgm import Factor, FactorModel, Network, Variable
from bnmind.questions import (
    QUESTION_SCORES,
    TARGET_MEASURES,
    rank_questions,
)
from bnmind.questions.ranking import causes_of, ranked_order
from tests.modes import examples
from tests.questions.enumeration import bits, joint_given, situations, table, table_over

FAULT = Variable("fault", ("none", "pump", "valve"))
NOISE, LEAK = Variable("noise", ("no", "yes")), Variable("leak", ("no", "yes"))
MACHINE = Network(
    (
        table(FAULT, (), [0.6, 0.3, 0.1]),
        table(NOISE, (FAULT,), [[0.9, 0.2, 0.8], [0.1, 0.8, 0.2]]),
        table(LEAK, (FAULT,), [[0.99, 0.95, 0.2], [0.01, 0.05, 0.8]]),
    )
)


def expected_entropy(joint: Factor, about: tuple[str, ...], question: str) -> float:
    """Return Σ_x P(x) H(T | x), answer by answer."""
    targets = [name for name in about if name != question]
    cells = table_over(joint, [question, *targets])
    total = 0.0
    for row in cells:
        if row.sum() > 0:
            total += row.sum() * bits(row / row.sum())
    return total


@settings(max_examples=examples(60))
@given(situations(), st.booleans())
def test_information_is_the_expected_loss_of_entropy(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]], also_targets: bool
) -> None:
    network, about, evidence = situation
    states = {name for name, finding in evidence.items() if isinstance(finding, str)}
    among = [v.name for v in network.variables if v.name not in states] if also_targets else None
    ranking = rank_questions(network, about=about, among=among, evidence=evidence)
    joint = joint_given(network, evidence)
    before = bits(table_over(joint, about))
    assert ranking.entropy == pytest.approx(before, abs=1e-9)
    expected = set(among) if among else {v.name for v in network.variables} - {*about, *evidence}
    assert {row.question for row in ranking} == expected
    for row in ranking:
        left = expected_entropy(joint, about, row.question)
        assert row.expected_entropy == pytest.approx(left, abs=1e-9)
        assert row.information == pytest.approx(before - left, abs=1e-9)
        chances = list(row.predicted.values())
        assert chances == pytest.approx(table_over(joint, [row.question]).tolist(), abs=1e-9)


@settings(max_examples=examples(50))
@given(situations())
def test_marginal_entropies_add_the_information_about_each_target(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]],
) -> None:
    network, about, evidence = situation
    ranking = rank_questions(network, about=about, evidence=evidence, measure="marginals")
    joint = joint_given(network, evidence)
    assert ranking.entropy == pytest.approx(
        sum(bits(table_over(joint, [name])) for name in about), abs=1e-9
    )
    for row in ranking:
        left = sum(expected_entropy(joint, (name,), row.question) for name in about)
        assert row.expected_entropy == pytest.approx(left, abs=1e-9)


@settings(max_examples=examples(50))
@given(situations())
def test_a_plan_for_the_evidence_gives_the_same_channels(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]],
) -> None:
    network, about, evidence = situation
    among = [v.name for v in network.variables if v.name not in {*about, *evidence}]
    findings = {k: f if isinstance(f, str) else np.array(f) for k, f in evidence.items()}
    whole = causes_of(compile_model(network), [about], among, findings)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bnmind.questions.ranking._QUICK", 0)
        small = causes_of(compile_model(network), [about], among, findings)[0]
    assert whole.masses == pytest.approx(small.masses, abs=1e-9)
    possible = whole.masses > 0
    for name in among:
        assert whole.channels[name][possible] == pytest.approx(
            small.channels[name][possible], abs=1e-9
        )


def test_a_product_of_factors_is_asked_as_well() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    model = FactorModel((Factor((a, b), np.array([[3.0, 1.0], [1.0, 3.0]])),))
    (row,) = rank_questions(model, about="a")
    assert row.information == pytest.approx(1 - bits(np.array([0.75, 0.25])))


def test_a_product_that_is_no_distribution_is_refused() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    model = FactorModel((Factor((a, b), np.array([[3.0, -1.0], [1.0, 3.0]])),))
    with pytest.raises(BnmindError):
        rank_questions(model, about="a")


def test_items_of_a_test_are_ranked_as_by_its_own_belief() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [1, 1], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    skills = [v.name for v in bank.hidden]
    belief = start_belief(bank).update("item_1", 1)
    ranking = rank_questions(
        bank.network, about=skills, among=bank.item_names, evidence={"item_1": "1"}
    )
    for row in rank_items(belief, bank.item_names[1:]):
        ours = ranking.named(row.item)
        assert ours.information == pytest.approx(row.information, abs=1e-9)
        assert ours.predicted == pytest.approx(dict(row.predicted), abs=1e-9)


def test_an_engine_is_asked_within_its_limits() -> None:
    assert rank_questions(compile_model(MACHINE), about="fault") == rank_questions(
        MACHINE, about="fault"
    )
    small = compile_model(MACHINE, limits=Limits(max_bytes=50))
    with pytest.raises(TooLargeError, match="max_bytes=50"):
        rank_questions(small, about="fault")
    assert rank_questions(small, about="fault", limits=Limits()).best.question == "noise"


def test_an_engine_remembers_the_plan_of_a_question() -> None:
    engine = compile_model(MACHINE)
    first = rank_questions(engine, about="fault", evidence={"noise": "no"})
    text = str(engine)
    second = rank_questions(engine, about="fault", evidence={"noise": "yes"})
    assert "1 plan" in text
    assert str(engine) == text
    assert first != second


def test_costs_change_the_order() -> None:
    costs = {"noise": 4.0, "leak": 1.0}
    assert rank_questions(MACHINE, about="fault", costs=costs).best.question == "noise"
    dear = rank_questions(MACHINE, about="fault", costs=costs, score="per-cost")
    assert [(row.question, row.cost) for row in dear] == [("leak", 1.0), ("noise", 4.0)]
    less = rank_questions(MACHINE, about="fault", costs=costs, score="less-cost:0.05")
    assert less[0].score == pytest.approx(less[0].information - 0.05)
    assert less == rank_questions(
        MACHINE, about="fault", costs=pd.Series(costs), score="less-cost:0.05"
    )
    assert "cost" in repr(less)
    assert "score" in repr(less)


def test_costs_per_bit_need_a_cost_for_each_question() -> None:
    with pytest.raises(InvalidArgumentError, match="cost above 0 for every question"):
        rank_questions(MACHINE, about="fault", costs={"noise": 1}, score="per-cost")


def test_ties_are_in_the_order_of_the_network() -> None:
    root = Variable("root", ("0", "1"))
    children = [Variable(name, ("0", "1")) for name in "zmab"]
    chances = [[0.9, 0.3], [0.1, 0.7]]
    network = Network(
        (
            table(root, (), [0.5, 0.5]),
            *(table(child, (root,), chances) for child in children),
        )
    )
    order = [v.name for v in network.variables if v.name != "root"]
    ranking = rank_questions(network, about="root")
    assert [row.question for row in ranking] == order
    assert len({round(row.information, 12) for row in ranking}) == 1


def test_scores_tie_with_the_best_of_their_group() -> None:
    scores = np.array([1.0 - 1.5e-9, 1.0 - 0.7e-9, 1.0, 0.0])
    assert ranked_order(scores, 1e-9) == [1, 2, 0, 3]


def test_a_question_without_influence_has_no_information() -> None:
    apart = Variable("apart", ("0", "1", "2"))
    network = Network((*MACHINE.cpds, table(apart, (), [0.1, 0.2, 0.7])))
    row = rank_questions(network, about="fault").named("apart")
    assert (row.information, row.score) == (0.0, 0.0)


def test_the_ranking_is_a_sequence_and_a_frame() -> None:
    ranking = rank_questions(MACHINE, about=["fault"])
    frame = ranking.to_frame()
    assert frame["question"].tolist() == ["noise", "leak"]
    assert list(frame) == ["question", "information", "expected_entropy", "cost", "score"]
    assert ranking[1:] == (ranking[1],)
    assert len(ranking) == 2
    with pytest.raises(InvalidArgumentError, match="not among the ranked"):
        ranking.named("fault")


def test_questions_answered_already_are_left_out() -> None:
    among = ["noise", "leak"]
    ranking = rank_questions(MACHINE, about="fault", among=among, evidence={"noise": "no"})
    assert [row.question for row in ranking] == ["leak"]


def test_nothing_is_left_to_ask() -> None:
    ranking = rank_questions(MACHINE, about="fault", evidence={"noise": "no", "leak": "no"})
    assert len(ranking) == 0
    assert repr(ranking).startswith("0 questions about fault")
    assert ranking.to_frame().empty
    with pytest.raises(NothingToAskError):
        _ = ranking.best


def test_a_target_with_soft_evidence_is_still_unknown() -> None:
    ranking = rank_questions(MACHINE, about="fault", evidence={"fault": [1.0, 1.0, 0.0]})
    assert ranking.entropy == pytest.approx(bits(np.array([2 / 3, 1 / 3])))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"about": []}, InvalidArgumentError, "at least one target"),
        ({"about": "falt"}, UnknownNameError, "did you mean fault"),
        ({"about": ["fault", "fault"]}, InvalidArgumentError, "fault is named twice"),
        ({"about": [3]}, InvalidArgumentError, "about"),
        ({"among": ["noise", "noise"]}, InvalidArgumentError, "noise is named twice"),
        ({"among": ["nois"]}, UnknownNameError, "did you mean noise"),
        ({"evidence": {"fault": "pump"}}, InvalidArgumentError, "fault is in the evidence"),
        ({"evidence": {"noise": "loud"}}, UnknownNameError, "loud"),
        ({"costs": {"nose": 1}}, UnknownNameError, "did you mean noise"),
        ({"costs": {"noise": -1}}, InvalidArgumentError, "cost of noise must be"),
        ({"costs": {"noise": "dear"}}, InvalidArgumentError, "numbers in the costs"),
        ({"costs": {"noise": math.nan, "leak": -2}}, InvalidArgumentError, "cost of leak"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        rank_questions(MACHINE, **{"about": "fault", **arguments})


def test_impossible_evidence_names_the_conflict() -> None:
    sure = table(LEAK, (NOISE,), [[1.0, 0.0], [0.0, 1.0]])
    network = Network((*MACHINE.cpds[:2], sure))
    with pytest.raises(ImpossibleEvidenceError, match="noise"):
        rank_questions(network, about="fault", evidence={"noise": "no", "leak": "yes"})


def test_too_many_configurations_are_refused_before_any_work() -> None:
    targets = [Variable(f"t{i}", ("0", "1")) for i in range(40)]
    network = Network((*MACHINE.cpds, *(table(v, (), [0.5, 0.5]) for v in targets)))
    names = [v.name for v in targets]
    with pytest.raises(TooLargeError, match=r"1,099,511,627,776 .*marginals") as caught:
        rank_questions(network, about=names)
    assert caught.value.needed > caught.value.budget
    assert rank_questions(network, about=names, measure="marginals").entropy == 40
    few = Limits(max_multiplications=10)
    with pytest.raises(TooLargeError, match="max_multiplications=10"):
        rank_questions(network, about=["t0"], limits=few)


@pytest.mark.parametrize("name", QUESTION_SCORES)
def test_scores_contract(name: str) -> None:
    member = QUESTION_SCORES[name]
    if member.argument is None or member.given is None:
        score = member()
    else:
        score = member.given(member.argument.read(member.argument.example))
    information, costs = np.array([0.5, 0.5, 0.1]), np.array([1.0, 2.0, 2.0])
    scores = score(information, costs)
    assert scores.shape == (3,)
    assert scores[0] >= scores[1] > scores[2]
    assert score(information[:0], costs[:0]).shape == (0,)


@pytest.mark.parametrize("name", TARGET_MEASURES)
def test_measures_contract(name: str) -> None:
    groups = TARGET_MEASURES[name]()(("a", "b", "c"))
    assert [target for group in groups for target in group] == ["a", "b", "c"]
    ranking = rank_questions(MACHINE, about="fault", measure=name)
    assert ranking.best.information == pytest.approx(0.3343, abs=1e-4)


def test_alpha_is_not_negative() -> None:
    with pytest.raises(
        InvalidArgumentError, match="in 'less-cost:-1': expected at least 0 bits for each"
    ):
        rank_questions(MACHINE, about="fault", score="less-cost:-1")


def test_an_argument_without_its_name_is_answered_with_the_name() -> None:
    for _ in range(2):  # at the first call, and after one whose types are known
        with pytest.raises(TypeError, match=r"1 positional argument, got 2; .* as in about=…"):
            rank_questions(MACHINE, "fault")  # type: ignore[call-arg]
        assert len(rank_questions(MACHINE, about="fault")) == 2
