"""Parts of learning by themselves: blocks of items, M-steps, slopes, link functions, charts."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bnmind.adaptive import (
    IDENTITY,
    LOG,
    LOGIT,
    Acdm,
    Dina,
    Examinees,
    Gdina,
    ItemBank,
    LearningOptions,
    Llm,
    NoisyAnd,
    ParametricModel,
    Responses,
    learn,
    learn_groups,
    reduced_models_by_ratio,
)
from bnmind.adaptive.calibration.calibrate import _best
from bnmind.adaptive.calibration.drift import _chart
from bnmind.adaptive.learning.em import e_step_tree
from bnmind.adaptive.learning.fit.coefficients import _notes
from bnmind.adaptive.learning.fit.slopes import block_slopes
from bnmind.adaptive.learning.model import block_of, item_rules
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.adaptive.response_models import ResponseModel
from bnmind.adaptive.response_models.additive.link import (
    COMPLEMENTARY,
    LinkFunction,
)

Q = [[1, 0], [0, 1], [1, 1]]
OPTIONS = LearningOptions()


def block_of_item(gate: Any, options: LearningOptions = OPTIONS) -> ItemBlock:
    """Return the block of an item of two skills."""
    bank = ItemBank.from_qmatrix([[1, 1]], guess=0.2, slip=0.1, gate=gate)
    block = block_of(item_rules(bank, options)[0], options)
    assert block is not None
    return block


def test_guess_and_slip_of_a_link_sum_to_at_most_one() -> None:
    block = block_of_item(NoisyAnd)
    assert block.valid(np.array([0.3, 0.7]))
    assert not block.valid(np.array([0.6, 0.5]))


def test_new_items_are_learned_until_another_step_changes_nothing() -> None:
    block = block_of_item(NoisyAnd)
    counts = np.array([[[80.0, 20.0], [60.0, 40.0], [50.0, 30.0], [10.0, 90.0]]])
    found = _best(block, block.start(), counts, 0.0)
    assert_allclose(block.maximize(found, counts), found, atol=1e-6)


@pytest.mark.parametrize("gate", [Dina, NoisyAnd, Llm])
def test_slopes_are_those_of_wider_differences(gate: type[ResponseModel]) -> None:
    block = block_of_item(gate)
    values = block.start()
    slopes = block_slopes(block, values)
    for place in range(len(values)):
        found = []
        for step in (0.01, 0.02):
            up, down = values.copy(), values.copy()
            up[place] += step
            down[place] -= step
            change = block.response_parameters(up) - block.response_parameters(down)
            found.append(change.reshape(-1) / (2 * step))
        richardson = (4 * found[0] - found[1]) / 3
        assert_allclose(slopes[:, place], richardson, atol=1e-6)


def test_the_size_of_batches_changes_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
    answers = Examinees.drawn(truth, 12, seed=1).responses
    options = LearningOptions(starts=1, max_iterations=2, max_profiles=0)
    whole = learn(answers, Q, options=options)
    monkeypatch.setattr(e_step_tree, "_BATCH_CELLS", 1)
    parts = learn(answers, Q, options=options)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert_allclose(parts.bank.channels(), whole.bank.channels(), rtol=1e-9)


@pytest.mark.parametrize("link", [IDENTITY, LOGIT, LOG, COMPLEMENTARY], ids=lambda link: link.name)
def test_an_impossible_response_is_very_improbable(link: LinkFunction) -> None:
    with np.errstate(divide="ignore"):
        never = np.array([link.of(np.array(1e-300))])
    found = link.log_likelihood(never, np.array([2.0]), np.array([0.0]))
    assert -100 < found[0] < -40
    assert all(np.isfinite(link.derivatives(never, np.array([2.0]), np.array([0.0]))[0]))


def test_a_parameter_without_an_error_at_a_negative_bound_says_so() -> None:
    block: Any = SimpleNamespace(limits=np.array([[-9.0, 9.0], [-9.0, 9.0], [2.0, 2.0]]))
    values, unknown = np.array([-9.0, 0.5, 2.0]), np.full(3, np.nan)
    ordered = "held by the order of chances, or not identified"
    assert _notes(block, values, unknown) == ["at a bound", ordered, "fixed"]


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
    answers = np.array(Examinees.drawn(truth, 60, seed=1).responses)
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


def test_a_refit_of_an_item_that_skill_makes_harder_learns_the_simpler_model() -> None:
    q = [[1, 0], [0, 1]] * 3 + [[1, 1]]
    truth = ItemBank.from_qmatrix(q, 0.1, 0.1, gate=Acdm)
    codes = np.array(Examinees.drawn(truth, 400, seed=2).responses)
    codes[:, -1] = 1 - codes[:, -1]
    options = LearningOptions(monotone=False, starts=1)
    learned = learn(Responses.of(codes), q, gate=Gdina, options=options)
    (found,) = reduced_models_by_ratio(learned, refit=True)
    assert found["dina"].statistic > 20
