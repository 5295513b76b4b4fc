"""Parts of adaptive testing by themselves: blocks of items, M-steps, slopes, charts, programs."""

from __future__ import annotations

import dataclasses
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import bnmind.adaptive.learning.em as em_module
from bnmind.adaptive import (
    Dina,
    Independent,
    ItemBank,
    LearningOptions,
    Llm,
    NoisyAnd,
    ParametricModel,
    Priors,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    learn,
    learn_groups,
    start_belief,
)
from bnmind.adaptive.blueprint import Program, possible_classes
from bnmind.adaptive.calibration import _best, _chart
from bnmind.adaptive.formulas import COMPLEMENTARY, IDENTITY, LOG, LOGIT, LinkFunction, binary
from bnmind.adaptive.learning.blocks import ItemBlock
from bnmind.adaptive.learning.comparison import CrossValidation
from bnmind.adaptive.learning.forms import Form, Polytope, objective
from bnmind.adaptive.learning.item_tests import _reasons
from bnmind.adaptive.learning.learn import block_of, item_rules
from bnmind.adaptive.learning.model_fit import _pooled_statistic
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1]]
OPTIONS = LearningOptions()


def block_of_item(gate: Any, options: LearningOptions = OPTIONS) -> ItemBlock:
    """Return the block of an item of two skills."""
    bank = ItemBank.from_qmatrix([[1, 1]], guess=0.2, slip=0.1, gate=gate)
    block = block_of(item_rules(bank, options)[:1], options)
    assert block is not None
    return block


def test_guess_and_slip_of_a_link_sum_to_at_most_one() -> None:
    block = block_of_item(NoisyAnd)
    # The logarithms of the chance that a skill works without it and with it.
    assert block.valid(np.log([0.3, 0.3]))
    assert not block.valid(np.log([0.6, 0.5]))


def test_new_items_are_learned_until_another_step_changes_nothing() -> None:
    block = block_of_item(NoisyAnd)
    counts = np.array([[[80.0, 20.0], [60.0, 40.0], [50.0, 30.0], [10.0, 90.0]]])
    found = _best(block, block.start(), counts)
    assert_allclose(block.maximize(found, counts), found, atol=1e-6)


@pytest.mark.parametrize("gate", [Dina, NoisyAnd, Llm])
def test_slopes_are_those_of_wider_differences(gate: type[ResponseModel]) -> None:
    block = block_of_item(gate)
    values = block.start()
    slopes = block.slopes(values)
    for place in range(len(values)):
        found = []
        for step in (0.01, 0.02):
            up, down = values.copy(), values.copy()
            up[place] += step
            down[place] -= step
            change = block.response_parameters(up) - block.response_parameters(down)
            found.append(change / (2 * step))
        richardson = (4 * found[0] - found[1]) / 3
        assert_allclose(slopes[:, place], richardson, atol=1e-6)


def test_the_size_of_batches_changes_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
    answers = Responses.drawn(truth, 12, seed=1).codes
    options = LearningOptions(starts=1, max_iterations=2, max_profiles=0)
    whole = learn(answers, Q, options=options)
    monkeypatch.setattr(em_module, "_BATCH_CELLS", 1)
    parts = learn(answers, Q, options=options)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert_allclose(parts.bank.channels(), whole.bank.channels(), rtol=1e-9)


@pytest.mark.parametrize(
    "link",
    [IDENTITY, LOGIT, LOG, COMPLEMENTARY],
    ids=["identity", "logit", "log", "complementary log"],
)
def test_an_impossible_response_is_very_improbable(link: LinkFunction) -> None:
    with np.errstate(divide="ignore"):
        never = np.array([link.of(np.array(1e-300))])
    form = Form(binary(link), np.ones((1, 1, 1)), Polytope.of(np.array([[[-700.0, 700.0]]])))
    assert -100 < objective(form, never[None], np.array([[[0.0, 2.0]]]))[0][0] < -40
    assert np.isfinite(form.slopes(never[None])).all()


def test_a_parameter_without_an_error_at_a_negative_bound_says_so() -> None:
    block = SimpleNamespace(limits=np.array([[-9.0, 9.0], [-9.0, 9.0], [2.0, 2.0]]))
    item: Any = SimpleNamespace(block=block, values=np.array([-9.0, 0.5, 2.0]))
    ordered = "held by the order of chances, or not identified"
    assert _reasons(item, np.full(3, np.nan)) == ["at a bound", ordered, "fixed"]


@dataclasses.dataclass(frozen=True)
class Doubled(ParametricModel):
    """A chance that is half of its parameter."""

    twice: float = 1.0
    limits: ClassVar = {"twice": (0.0, 1.5)}

    def chances(self, levels: Any) -> Any:
        return np.where((levels >= 1).all(axis=1), self.twice / 2, 0.1)

    @classmethod
    def for_skills(cls, required: Any, sizes: Any, *, guess: float, slip: float) -> Doubled:
        return cls()


def test_only_limits_of_probabilities_are_kept_off_zero_and_one() -> None:
    options = LearningOptions(least_chance=0.01)
    assert block_of_item(Doubled, options).limits.tolist() == [[0.0, 1.5]]


def test_the_log_likelihood_of_groups_is_that_of_the_last_iteration() -> None:
    truth = ItemBank.from_qmatrix(Q * 2, guess=0.2, slip=0.1)
    answers = np.array(Responses.drawn(truth, 60, seed=1).codes)
    options = LearningOptions(starts=1, max_iterations=3)
    found = learn_groups(answers, Q * 2, ["a", "b"] * 30, options=options)
    assert len(set(found.record.log_likelihoods)) > 1
    assert found.log_likelihood == max(found.record.log_likelihoods)


def test_drift_that_ends_and_returns_began_before_it_was_first_noticed() -> None:
    answers = np.array([0, 1] * 20 + [1] * 40 + [0] * 150 + [1] * 60)
    rows = 1000 + np.arange(len(answers))
    chances = np.full((len(answers), 2), 0.5)
    chart = _chart(chances, answers, rows, 0.5, 0.05, np.random.default_rng(1))
    # The slow twin: a sum that starts again at zero whenever it would be negative.
    total, zero = 0.0, 0
    for place, answer in enumerate(answers.tolist()):
        total += 0.5 * answer - np.log((1 + np.exp(0.5)) / 2)
        if total <= 1e-12:
            total, zero = 0.0, place + 1
        if total > chart.limit + 1e-9:
            break
    assert (chart.noticed, chart.began) == (rows[place], rows[zero])
    assert 0 < chart.p_value <= 0.05  # the chance of a false alarm


@given(st.integers(0, 2**16), st.integers(2, 30))
@settings(max_examples=examples(30))
def test_small_groups_of_scores_are_pooled_with_the_next_and_the_rest_with_the_last(
    seed: int, n_scores: int
) -> None:
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 8, n_scores).astype(float)
    observed, expected = np.floor(n * rng.random(n_scores)), rng.uniform(0.05, 0.95, n_scores)
    groups: list[list[int]] = [[]]
    for score in range(n_scores):
        groups[-1].append(score)
        right = float((n * expected)[groups[-1]].sum())
        if min(right, n[groups[-1]].sum() - right) >= 1:
            groups.append([])
    rest = groups.pop()
    if groups:
        groups[-1] += rest
    total = 0.0
    for group in groups:
        size, seen = n[group].sum(), observed[group].sum()
        right = (n * expected)[group].sum()
        total += (seen - right) ** 2 / right + (seen - right) ** 2 / (size - right)
    statistic, number = _pooled_statistic(n, observed, expected)
    assert number == len(groups)
    assert statistic == pytest.approx(total)


def test_responses_that_a_bank_excludes_have_no_probability() -> None:
    bank = ItemBank.from_qmatrix([[1], [1]], guess=0.0, slip=0.0)
    codes = np.array([[1, 1], [1, 0], [0, 0], [0, 1]])
    data, fixed = Responses(codes, bank.item_names), frozenset(bank.item_names)
    learned = learn(data.take([0, 2]), bank, options=LearningOptions(fixed=fixed))
    found = CrossValidation(data, np.zeros(4, dtype=np.intp), (learned,))
    assert_allclose(found.log_likelihoods, [np.log(0.5), -np.inf, np.log(0.5), -np.inf])


def test_items_of_all_kinds_but_fixed_ones_have_a_certainty() -> None:
    curved = Llm(-1.4, (1.8, 1.8)), Llm(-1.4, (3.6,)), Llm(-1.4, (3.6,))
    models: list[ResponseModel] = [Dina(0.2, 0.1), Dina(0.2, 0.1), *curved, Dina(0.2, 0.1)]
    truth = ItemBank.from_response_models([[1, 0], [0, 1], [1, 1], *Q], models)
    answers = Responses.drawn(truth, 200, seed=1).codes
    options = LearningOptions(starts=1, max_iterations=3, fixed={"item_1"})
    learned = learn(answers, truth, options=options).bank
    known = [item.name for item in learned.items if item.certainty is not None]
    assert known == ["item_2", "item_3", "item_4", "item_5", "item_6"]


def test_the_parameters_of_a_table_are_chances_of_steps() -> None:
    steps = ItemBank.from_response_models([[1]], [Sequential((Dina(0.2, 0.1),) * 2)])
    bank = dataclasses.replace(steps, items=(dataclasses.replace(steps.items[0], gate=None),))
    (rule,) = item_rules(bank, OPTIONS)
    block = block_of((rule,), OPTIONS)
    assert block is not None
    assert [name for _, name in block.parameters] == [
        "P(≥1 | 0)",
        "P(≥1 | 1)",
        "P(≥2 | ≥1, 0)",
        "P(≥2 | ≥1, 1)",
    ]


def test_a_belief_is_shown_with_the_chance_of_the_best_level() -> None:
    bank = ItemBank.from_qmatrix([[1]], 0.2, 0.1, skills=Saturated([0.75, 0.25]))
    assert "75.0 %" in start_belief(bank)._repr_html_()


def drawn_program(seed: int) -> Program:
    """Return the constraints of a small test with groups that overlap."""
    rng = np.random.default_rng(seed)
    n, n_groups = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    need = rng.integers(0, 4, n_groups)
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < 0.3]
    return Program(
        available=rng.integers(1, 3, n),
        sizes=np.where(rng.random(n) < 0.8, 1, 2),
        vectors=rng.integers(0, 2, (n, n_groups)),
        need=need,
        room=need + rng.integers(0, 3, n_groups),
        length=int(rng.integers(2, 7)),
        begun=np.zeros(n, dtype=bool),
        enemies=np.array([[place in pair for place in range(n)] for pair in pairs]).reshape(-1, n),
    )


def completes(program: Program, parts: NDArray[np.intp]) -> bool:
    """Return whether parts ``(classes,)`` meet all constraints."""
    counts = parts @ program.vectors
    return bool(
        np.all((counts >= program.need) & (counts <= program.room))
        and parts @ program.sizes <= program.length
        and np.all(program.enemies @ parts <= 1)
    )


@given(st.integers(0, 2**16))
@settings(max_examples=examples(40))
@example(2710)  # an item that is in two groups helps both
def test_classes_of_complete_tests_are_those_of_all_tests(seed: int) -> None:
    program = drawn_program(seed)
    whole = [
        parts
        for some in product(*(range(n + 1) for n in program.available.tolist()))
        if completes(program, parts := np.array(some))
    ]
    found = possible_classes(program)
    if found is None:
        assert not whole
    else:
        assert found.tolist() == (np.array(whole) > 0).any(axis=0).tolist()


@pytest.mark.parametrize("fixed", [(), ("skill_1",)])
def test_the_prior_counts_the_skills_that_are_learned(fixed: tuple[str, ...]) -> None:
    truth = ItemBank.from_qmatrix(Q * 2, guess=0.2, slip=0.1, skills=Independent([0.3, 0.6]))
    answers = Responses.drawn(truth, 100, seed=1).codes
    options = LearningOptions(starts=1, max_iterations=5, priors=Priors(skills=3.0), fixed={*fixed})
    found = learn(answers, truth, options=options)
    prior = found.record.objectives[-1] - found.record.log_likelihoods[-1]
    shares = [start_belief(found.bank).marginal(skill) for skill in found.bank.skills]
    learned = [
        np.log(share).sum()
        for share, name in zip(shares, found.bank.skills, strict=True)
        if name not in fixed
    ]
    assert prior == pytest.approx(2 * sum(learned))


def test_an_option_as_an_argument_is_answered_with_the_options() -> None:
    with pytest.raises(TypeError, match=r"'starts'; it is an option, options=LearningOptions\(st"):
        learn([[1, 0]], [[1], [1]], starts=3)  # type: ignore[call-arg]
