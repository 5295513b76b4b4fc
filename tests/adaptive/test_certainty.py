"""How sure parameters are: in banks, in files, after learning, and in averaged banks."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import softmax

from bnmind.adaptive import (
    IRT_MODELS,
    Acdm,
    Design,
    Gdina,
    Item,
    ItemBank,
    LearningOptions,
    Logistic,
    ParameterCertainty,
    PartialCredit,
    Priors,
    ReportOptions,
    Responses,
    Session,
    TableCertainty,
    coefficients,
    irt_bank,
    learn,
    learn_irt,
    read_bank,
    skill_intervals,
    start_belief,
    write_bank,
)
from bnmind.adaptive.estimates import probability_errors
from bnmind.adaptive.formulas import (
    model_near,
    parameter_names,
    parameter_vector,
    response_channel,
    with_parameters,
)
from bnmind.adaptive.items.bank import cause_order, table_deviations, with_tables
from bnmind.adaptive.items.item import with_table
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.information import Floats
from bnmind.pgm import CPD

Q = [[1, 0], [0, 1], [1, 1]] * 3


def uncertain_bank(seed: int, n_responses: int = 2) -> ItemBank:
    """Return a bank of tables of which little is known."""
    rng = np.random.default_rng(seed)
    models, known = [], {}
    for number, row in enumerate(Q[:3]):
        n = 2 ** sum(row)
        counts = rng.uniform(0.7, 6, (n, n_responses))
        mean = counts / counts.sum(axis=1, keepdims=True)
        models.append(Gdina(rng.permuted(mean, axis=1)))
        known[f"item_{number + 1}"] = TableCertainty(counts, tuple(range(n)))
    return ItemBank.from_response_models(Q[:3], models).with_certainties(known)


@given(st.integers(0, 10**6), st.integers(2, 3))
@settings(max_examples=5, deadline=None)
def test_an_averaged_bank_is_the_average_over_draws_weighted_by_likelihood(
    seed: int, n_responses: int
) -> None:
    bank = uncertain_bank(seed, n_responses)
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, n_responses, 3)
    total, total_squares = np.zeros(4), np.zeros(4)
    n = 40_000
    likely = np.full((n, 4), 0.25)
    for item, response in zip(bank.items, answers.tolist(), strict=True):
        assert isinstance(item.certainty, TableCertainty)
        gamma = rng.standard_gamma(item.certainty.counts, (n, *item.certainty.counts.shape))
        drawn = gamma / gamma.sum(axis=-1, keepdims=True)
        place = [bank.skills.index(name) for name in bank.cause(item.name)]
        levels = np.indices((2, 2)).reshape(2, -1)[place]
        rows = np.ravel_multi_index(list(levels), (2,) * len(place))
        likely *= drawn[:, rows, response]
    total, total_squares = likely.sum(axis=0), (likely**2).sum(axis=0)
    belief = start_belief(bank.averaged())
    for name, response in zip(bank.item_names, answers.tolist(), strict=True):
        belief = belief.update(name, response)
    joint = np.exp(belief.log_evidence) * np.asarray(belief.table)
    error = np.sqrt(total_squares) / n
    assert np.all(np.abs(total / n - joint) < 5 * error + 1e-12)


def drawn_table(item: Item, cpd: CPD, rng: np.random.Generator) -> Floats:
    """Return a table of an item, drawn from the distribution of its parameters."""
    certainty = item.certainty
    if isinstance(certainty, TableCertainty):
        rows = np.array([rng.dirichlet(counts) for counts in certainty.counts])
        return rows[list(certainty.rows)]
    assert isinstance(certainty, ParameterCertainty)
    model = certainty.model or item.gate
    assert model is not None
    step = rng.multivariate_normal(np.zeros(len(certainty.covariance)), certainty.covariance)
    return response_channel(model_near(model, step), cpd.parents)


def drawn_tables(bank: ItemBank, item: str, n: int) -> Floats:
    rng = np.random.default_rng(3)
    drawn = [drawn_table(bank.item(item), bank.network.cpd(item), rng) for _ in range(n)]
    return np.array(drawn)[:, cause_order(bank, item)]


def drawn_bank(bank: ItemBank, rng: np.random.Generator) -> ItemBank:
    """Return a bank whose uncertain parameters are drawn from their distributions."""
    changed = {}
    for item in bank.items:
        cpd = bank.network.cpd(item.name)
        table = drawn_table(item, cpd, rng)
        changed[item.name] = with_table(item, cpd, table)
    return with_tables(bank, changed)


@pytest.mark.parametrize("kind", ["table", "curve", "effects"])
def test_means_and_deviations_agree_with_draws(kind: str) -> None:
    if kind == "table":
        bank = uncertain_bank(4, 3)
    elif kind == "curve":
        bank = irt_bank([[1.2, 0.3, 0.2]], items=["item_3"])
        covariance = np.diag([0.02, 0.01, 0.0, 0.0])
        covariance[0, 1] = covariance[1, 0] = 0.006
        bank = bank.with_certainties({"item_3": ParameterCertainty(covariance)})
    else:
        # The parents stand in the network in another order than the skills.
        bank = ItemBank.from_response_models(
            Q[:3], [Gdina(np.array([[0.8, 0.2], [0.1, 0.9]]))] * 2 + [Acdm(0.2, (0.3, 0.4))]
        )
        covariance = np.array([[2.0, -1.0, 0.0], [-1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]) / 2000
        bank = bank.with_certainties({"item_3": ParameterCertainty(covariance)})
    drawn = drawn_tables(bank, "item_3", 1500)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(bank.averaged().channel("item_3") - drawn.mean(axis=0)) < 5 * error + 1e-9)
    variances = (table_deviations(bank, "item_3") ** 2).sum(axis=0)
    assert_allclose(np.sqrt(variances), drawn.std(axis=0), rtol=0.15, atol=1e-3)
    again = bank.averaged().averaged()
    assert_allclose(again.channel("item_3"), bank.averaged().channel("item_3"), atol=1e-12)
    averaged = table_deviations(bank.averaged(), "item_3")
    assert_allclose((averaged**2).sum(axis=0), variances, rtol=1e-6, atol=1e-12)


def test_certainties_are_saved(tmp_path: pathlib.Path) -> None:
    bank = irt_bank([[1.2, 0.3], [1.0, 0.0]])
    bank = bank.with_certainties({"item_1": ParameterCertainty(np.diag([0.1, 0.2, 0, 0]), 50.0)})
    for one in (uncertain_bank(1), bank, bank.averaged(), uncertain_bank(1).averaged()):
        write_bank(one, tmp_path / "bank.json")
        again = read_bank(tmp_path / "bank.json")
        assert_allclose(again.averaged().channels(), one.averaged().channels(), atol=1e-15)
        for old, new in zip(one.items, again.items, strict=True):
            assert type(old.certainty) is type(new.certainty)
            if old.certainty is not None and new.certainty is not None:
                assert old.certainty.answers == new.certainty.answers


def test_files_without_certainties_are_read() -> None:
    old = read_bank("models/banks/fraction-subtraction.json")
    assert all(item.certainty is None for item in old.items)
    assert old.averaged() is old


@pytest.mark.parametrize(
    "record",
    [
        '{"counts": [[1, -1]], "rows": [0, 0]}',
        '{"counts": [[1, 1]], "rows": [0]}',
        '{"counts": [[1, 1]], "rows": "ab"}',
        '{"covariance": [[1]]}',
        '{"covariance": [[1, 2], [0, 1]]}',
        '{"covariance": [[1, 0], [0, 1]], "model": {"kind": "dino"}}',
        '{"other": 1}',
    ],
)
def test_a_file_with_a_wrong_certainty_is_refused(tmp_path: pathlib.Path, record: str) -> None:
    path = tmp_path / "bank.json"
    write_bank(ItemBank.from_qmatrix([[1]], 0.2, 0.1), path)
    text = path.read_text().replace('"gate"', f'"certainty": {record}, "gate"', 1)
    path.write_text(text)
    with pytest.raises(ModelFileError, match=r"(?i)item_1|counts|covariance|configurations"):
        read_bank(path)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: TableCertainty(np.array([[1, 0]]), (0, 0)), "above 0, got 0"),
        (lambda: TableCertainty(np.array([[1, 1]]), (0, 1)), "rows 0 to 0"),
        (lambda: TableCertainty(np.array([[1, 1]]), (0,), -1.0), "answers"),
        (lambda: ParameterCertainty(np.array([[1, 2], [2, 1]])), "negative variances"),
        (lambda: ParameterCertainty(np.array([[1, 2]])), "symmetric"),
    ],
)
def test_wrong_certainties_are_refused(wrong: Any, what: str) -> None:
    with pytest.raises(InvalidModelError, match=what):
        wrong()


def test_a_certainty_must_fit_its_item() -> None:
    item = Item("a", certainty=TableCertainty(np.array([[1, 1]]), (0, 0, 0)))
    with pytest.raises(
        InvalidModelError, match="with 2 parent configurations and 2 responses, got 3 and 2"
    ):
        ItemBank.from_qmatrix([[1]], 0.2, 0.1, items=[item])
    item = Item("a", certainty=TableCertainty(np.ones((1, 3)), (0, 0, 0, 0)))
    with pytest.raises(
        InvalidModelError, match="with 4 parent configurations and 2 responses, got 4 and 3"
    ):
        ItemBank.from_qmatrix([[1, 1]], 0.2, 0.1, items=[item])


def test_a_covariance_is_symmetric_up_to_rounding() -> None:
    almost = np.array([[4.0, 1.0 + 1e-12], [1.0, 9.0]])
    assert ParameterCertainty(almost).errors.tolist() == [2.0, 3.0]
    with pytest.raises(InvalidModelError, match="symmetric"):
        ParameterCertainty(np.array([[4.0, 1.0 + 1e-6], [1.0, 9.0]]))


@pytest.fixture(scope="module")
def answers() -> Floats:
    bank = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
    return np.asarray(Responses.drawn(bank, 400, seed=1).codes)


def test_learned_counts_agree_with_standard_errors(answers: Floats) -> None:
    learned = learn(answers, Q)
    errors = coefficients(learned)
    for item in learned.bank.items:
        assert isinstance(item.certainty, TableCertainty)
        means, totals = item.certainty.means, item.certainty.counts.sum(axis=1)
        mine = np.sqrt(means[:, 0] * means[:, 1] / (totals + 1))
        theirs = [errors.of(item.name)[name].error for name in ("guess", "slip")]
        # Those of the standard errors count the parameters of the skills and other items too.
        assert np.all(mine < 1.1 * np.array(theirs))
        assert np.all(mine > 0.6 * np.array(theirs))
        mode = (item.certainty.counts - 1) / (totals - 2)[:, None]
        assert_allclose(mode[0, 1], learned.bank.channel(item.name)[0, 1], atol=1e-3)
        assert item.certainty.answers == 400


def test_the_tree_and_the_table_know_the_same(answers: Floats) -> None:
    options = LearningOptions(starts=1, tolerance=1e-9)
    by_table = learn(answers, Q, options=options).bank
    by_tree = learn(answers, Q, options=dataclasses.replace(options, max_profiles=0)).bank
    for one, other in zip(by_table.items, by_tree.items, strict=True):
        assert isinstance(one.certainty, TableCertainty)
        assert isinstance(other.certainty, TableCertainty)
        assert_allclose(one.certainty.counts, other.certainty.counts, rtol=1e-4)


def test_fixed_items_keep_their_certainty(answers: Floats) -> None:
    first = learn(answers, Q, options=LearningOptions(starts=1)).bank
    fixed = LearningOptions(starts=1, fixed={"item_1"})
    again = learn(answers[:100], first, options=fixed).bank
    assert again.item("item_1").certainty is first.item("item_1").certainty
    certainty = again.item("item_2").certainty
    assert certainty is not None
    assert certainty.answers == 100


def test_priors_count_as_answers(answers: Floats) -> None:
    options = LearningOptions(starts=1, max_iterations=1)
    prior = dataclasses.replace(options, priors=Priors(guess=(5, 17)))
    plain = learn(answers, Q, options=options).bank.item("item_1").certainty
    strong = learn(answers, Q, options=prior).bank.item("item_1").certainty
    assert isinstance(plain, TableCertainty)
    assert isinstance(strong, TableCertainty)
    assert strong.counts[0].sum() > plain.counts[0].sum() + 10


def test_learned_curves_have_the_errors_of_the_information() -> None:
    truth = irt_bank(np.c_[np.linspace(0.8, 1.5, 8), np.linspace(-1, 1, 8)])
    people = Responses.drawn(truth, 300, seed=2)
    learned = learn_irt(people.codes, IRT_MODELS["2PL"])
    found = coefficients(learned)
    for place, item in enumerate(learned.bank.items):
        assert isinstance(item.certainty, ParameterCertainty)
        slope, difficulty = found.of(item.name).values()
        own = found.covariance[2 * place : 2 * place + 2, 2 * place : 2 * place + 2]
        by_both = np.array([[1.0, 0.0], [-difficulty.value, -slope.value]])  # slope, intercept
        theirs = np.sqrt(np.diag(by_both @ own @ by_both.T))
        assert_allclose(item.certainty.errors[:2], theirs, rtol=0.35)
        assert np.all(item.certainty.errors[2:] == 0)  # the asymptotes are not learned
    flat = learned.bank.averaged()
    assert np.abs(flat.channels() - learned.bank.channels()).max() < 0.1


def test_parameters_as_a_vector() -> None:
    assert parameter_names(Acdm(0.2, (0.3, 0.4))) == ("intercept", "effects 1", "effects 2")
    assert parameter_vector(Logistic(1.5, 2.0)).tolist() == [1.5, -3.0, 0.0, 1.0]
    assert with_parameters(Logistic(), [-1.5, 3.0, 0.2, 0.9]) == Logistic(-1.5, 2.0, 0.2, 0.9)
    flat: Any = with_parameters(PartialCredit(1.0, (0.0, 0.0)), [0.0, 1.0, -2.0])
    assert_allclose(flat.probabilities([-9.0, 9.0]), [softmax([0.0, 1.0, -1.0])] * 2, rtol=1e-9)


def test_the_certainty_of_a_flat_curve_is_that_of_its_intercept() -> None:
    rng = np.random.default_rng(5)
    answers = np.column_stack(
        [
            np.array(Responses.drawn(irt_bank([Logistic(1.5, 0.0)] * 8), 400, seed=5).codes),
            rng.random(400) < 0.3,
        ]
    )
    found = learn_irt(answers.astype(int), IRT_MODELS["2PL"]).bank
    flat: Any = found.item("item_9")
    assert abs(flat.gate.slope) < 0.2
    assert flat.certainty.errors[1] < 0.2
    # On average the item is as flat as it is learned.
    assert np.ptp(found.averaged().channel("item_9")[20:61, 1]) < 0.25


def test_the_covariance_of_difficulties_in_an_old_file_becomes_one_of_intercepts() -> None:
    bank = read_bank(pathlib.Path(__file__).parents[1] / "old_files" / "bank-of-curves.json")
    errors = {
        item.name: item.certainty.errors
        for item in bank.items
        if isinstance(item.certainty, ParameterCertainty)
    }
    assert_allclose(errors["item_1"], [np.sqrt(0.3079993597636798), 0.22316, 0, 0], rtol=1e-4)
    assert_allclose(errors["item_2"], [0.1816, 0.13878, 0.12568], rtol=1e-3)
    new = read_bank(pathlib.Path(__file__).parents[1] / "old_files" / "bank-2.json")
    for item in new.items[:3]:  # learned from the same responses
        assert isinstance(item.certainty, ParameterCertainty)
        assert_allclose(errors[item.name], item.certainty.errors, rtol=0.01)


@pytest.mark.parametrize("tree", [False, True])
def test_intervals_agree_with_draws_of_the_parameters(*, tree: bool) -> None:
    rng = np.random.default_rng(1)
    bank = ItemBank.from_qmatrix(Q, guess=0.25, slip=0.15)
    known = {}
    for name, row in zip(bank.item_names, Q, strict=True):
        rows = (0, 1) if sum(row) == 1 else (0, 0, 0, 1)
        known[name] = TableCertainty(np.array([[60.0, 20.0], [14.0, 80.0]]), rows, 180)
    bank = bank.with_certainties(known).averaged()
    answers = dict(zip(bank.item_names[:6], (1, 0, 0, 1, 1, 0), strict=True))

    def believed(one: ItemBank) -> Any:
        belief = start_belief(one, max_profiles=0 if tree else None)
        for name, response in answers.items():
            belief = belief.update(name, response)
        return belief

    drawn = [
        believed(drawn_bank(bank, rng)).marginal("skill_1")[1] for _ in range(60 if tree else 400)
    ]
    error = probability_errors(believed(bank), "skill_1")
    assert_allclose(error[0], error[1])
    assert_allclose(error[1], np.std(drawn), rtol=0.3 if tree else 0.12)
    levels = skill_intervals(believed(bank), confidence=0.9)["skill_1"]
    inside = np.mean([levels["1"][0] <= p <= levels["1"][1] for p in drawn])
    assert abs(inside - 0.9) < (0.12 if tree else 0.06)
    assert levels["0"][0] == pytest.approx(1 - levels["1"][1])


def test_a_report_shows_intervals_when_asked_for() -> None:
    known = {"item_1": TableCertainty(np.array([[8.0, 2.0], [2.0, 8.0]]), (0, 1))}
    bank = ItemBank.from_qmatrix([[1]] * 2).with_certainties(known)
    plain = Session.start(bank).answer("item_1", 1).report()
    assert plain.skills[0].interval is None
    design = Design(bank.averaged(), report=ReportOptions(parameters=True))
    report = Session.start(design).answer("item_1", 1).report()
    assert report.skills[0].interval is not None
    low, high = report.skills[0].interval
    assert low < report.skills[0].probability < high
    assert json.dumps(report.to_dict())
    # Without an answer to an uncertain item there is nothing uncertain.
    sure = Session.start(design).answer("item_2", 1).report().skills[0]
    assert sure.interval == pytest.approx((sure.probability, sure.probability))
