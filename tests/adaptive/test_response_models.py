"""Response models and distributions of profiles agree with their definitions."""

from __future__ import annotations

import math
import pickle
import runpy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.adaptive import (
    Design,
    Dina,
    Dino,
    Gdina,
    Graded,
    GradedResponse,
    Hierarchy,
    Independent,
    ItemBank,
    Learned,
    LearningOptions,
    Llm,
    Logistic,
    MaximalItems,
    MinimalEntropy,
    NoisyAnd,
    NoisyOr,
    Nominal,
    ParametricModel,
    PartialCredit,
    ResponseModel,
    Responses,
    Rrum,
    Saturated,
    Sequential,
    Session,
    TableCertainty,
    Tabulated,
    coefficients,
    learn,
    read_bank,
    simulate,
    write_bank,
)
from bnmind.adaptive.formulas import response_channel
from bnmind.adaptive.items.bank import table_deviations
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.errors import InvalidModelError, TableError, TooLargeError
from bnmind.pgm import Network, Variable
from tests.banks import response_models
from tests.networks import enumerate_joint

SKILLS = tuple(
    Variable.of_integers(name, range(size)) for name, size in [("a", 2), ("b", 3), ("c", 2)]
)


def right(gate: ResponseModel) -> dict[tuple[int, ...], float]:
    """Return the chance of a right response for each configuration."""
    rows = product(*(range(v.n_states) for v in SKILLS))
    return dict(zip(rows, response_channel(gate, SKILLS)[:, 1].tolist(), strict=True))


def has(levels: tuple[int, ...], required: tuple[int, ...] = (1, 1, 1)) -> list[bool]:
    return [level >= least for level, least in zip(levels, required, strict=True)]


def test_dina_needs_every_skill() -> None:
    for levels, chance in right(Dina(0.2, 0.1, (1, 2, 1))).items():
        assert chance == pytest.approx(0.9 if all(has(levels, (1, 2, 1))) else 0.2)


def test_dino_needs_any_skill() -> None:
    for levels, chance in right(Dino(0.2, 0.1)).items():
        assert chance == pytest.approx(0.9 if any(has(levels)) else 0.2)


def test_noisy_and_multiplies_over_the_skills() -> None:
    guess, slip = (0.2, 0.3, 0.0), (0.1, 0.05, 0.0)
    for levels, chance in right(NoisyAnd(guess, slip, 0.95)).items():
        works = [1 - s if h else g for h, g, s in zip(has(levels), guess, slip, strict=True)]
        assert chance == pytest.approx(0.95 * math.prod(works))


def test_noisy_or_multiplies_what_fails() -> None:
    for levels, chance in right(NoisyOr(0.05, (0.1, 0.2, 0.3), 0.02)).items():
        slips = zip(has(levels), (0.1, 0.2, 0.3), strict=True)
        assert chance == pytest.approx(1 - 0.98 * math.prod(s if h else 0.95 for h, s in slips))


def test_graded_is_a_logistic_curve_of_the_levels() -> None:
    channel = response_channel(Graded((1.0, 0.5, 2.0), (-1.0, 0.5, 3.0)), SKILLS)
    for row, levels in zip(channel, product(range(2), range(3), range(2)), strict=True):
        total = levels[0] + 0.5 * levels[1] + 2 * levels[2]
        for r, threshold in enumerate((-1.0, 0.5, 3.0), start=1):
            assert row[r:].sum() == pytest.approx(1 / (1 + math.exp(threshold - total)))


def test_sequential_takes_steps_in_turn() -> None:
    steps = (Dina(0.2, 0.1, (1, 0, 0)), Dino(0.3, 0.2, (1, 2, 1)))
    first, second = (response_channel(step, SKILLS)[:, 1] for step in steps)
    channel = response_channel(Sequential(steps), SKILLS)
    np.testing.assert_allclose(channel.T, [1 - first, first * (1 - second), first * second])


def test_a_gdina_model_has_the_chances_given() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(3), 12)
    np.testing.assert_allclose(response_channel(Gdina(rows), SKILLS), rows, rtol=0, atol=1e-15)


@given(st.data())
def test_gates_make_distributions(data: st.DataObject) -> None:
    gate = data.draw(response_models(SKILLS))
    channel = response_channel(gate, SKILLS)
    assert channel.shape == (12, gate.n_responses)
    assert np.all(channel >= 0)
    np.testing.assert_allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-12)


@given(st.data())
def test_more_skill_never_hurts(data: st.DataObject) -> None:
    gate = data.draw(response_models(SKILLS, steps=False))
    chances = right(gate)
    for one, other in product(chances, repeat=2):
        if all(x <= y for x, y in zip(one, other, strict=True)):
            assert chances[one] <= chances[other] + 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dina(-0.1, 1.2), r"guess to be a number from 0 to 1, got -0.1; expected slip"),
        (lambda: Dina(0.6, 0.6), r"guess \+ slip of at most 1"),
        (lambda: Dino(float("nan"), 0), "guess to be a number from 0 to 1, got nan"),
        (lambda: NoisyAnd((0.1, 0.2), (0.1,)), "as many guesses as slips"),
        (lambda: NoisyAnd(0.1, 0.1, 1.5), "expected ceiling"),
        (lambda: NoisyOr(0.1, 0.1, -1), "expected floor"),
        (lambda: Graded(1, (2.0, 1.0)), "increasing thresholds"),
        (lambda: Graded(-1, (2.0,)), "slopes"),
        (lambda: Sequential(()), "steps"),
        (lambda: Sequential((Graded(1, (0.0, 1.0)),)), "two responses"),
        (lambda: Gdina(np.array([0.5, 0.5])), "of probabilities in"),
        (lambda: Logistic(0), "slope to be a finite number other than 0"),
        (lambda: GradedResponse(-1, (1.0, 2.0)), "decreasing thresholds with a negative slope"),
        (lambda: Logistic(1, 0, 0.5, 0.4), "asymptotes"),
        (lambda: GradedResponse(0, (1.0,)), "slope to be a finite number other than 0"),
        (lambda: PartialCredit(0, (1.0,)), "slope to be a finite number other than 0"),
        (lambda: PartialCredit(1.0, ()), "thresholds .* at least one"),
        (lambda: Nominal((1.0,), (1.0, 2.0)), "as many slopes as intercepts"),
        (lambda: Nominal((), ()), "at least one"),
        (lambda: response_channel(Dina(0, 0, (1, 3, 1)), SKILLS), "level from 0 to 2 of b"),
        (lambda: response_channel(Dina(0, 0, (1, 1)), SKILLS), "3 levels"),
        (lambda: response_channel(NoisyAnd((0.1, 0.1)), SKILLS), "3 guesses"),
        (lambda: response_channel(Gdina(np.full((2, 2), 0.5)), SKILLS), "12 rows"),
        (lambda: response_channel(Gdina(np.full((12, 2), 0.7)), SKILLS), "sum to one"),
        (lambda: Dina(0, 0).cpd(SKILLS[1], SKILLS[:1]), "2 responses to b, got 3"),
    ],
)
def test_bad_gates_are_refused(make: object, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        make()  # type: ignore[operator]


def joint(distribution: ProfileDistribution) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    network = Network(distribution.cpds(SKILLS))
    return np.real(enumerate_joint(network).sum_to([v.name for v in SKILLS]).values)


@given(st.integers(0, 2**16))
def test_a_saturated_distribution_is_any_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((2, 3, 2)) * (rng.random((2, 3, 2)) < 0.6)
    table[0, 1, 0] += 0.1
    table /= table.sum()
    np.testing.assert_allclose(joint(Saturated(table)), table, rtol=0, atol=1e-15)
    np.testing.assert_allclose(joint(Saturated(table.ravel())), table, rtol=0, atol=1e-15)


def test_a_saturated_distribution_is_uniform_unless_given() -> None:
    np.testing.assert_allclose(joint(Saturated()), np.full((2, 3, 2), 1 / 12))


def test_independent_skills_multiply() -> None:
    rows = ([0.3, 0.7], [0.2, 0.3, 0.5], [0.6, 0.4])
    expected = np.einsum("i,j,k->ijk", *rows)
    np.testing.assert_allclose(joint(Independent(rows)), expected)
    assert Independent(0.4).cpds(SKILLS[:1])[0].to_factor().values.tolist() == [0.6, 0.4]


def test_in_a_hierarchy_nobody_lacks_what_a_skill_builds_on() -> None:
    hierarchy = Hierarchy({"b": ("a",), "c": ("a", "b")})
    table = joint(hierarchy)
    assert table.sum() == pytest.approx(1)
    for a, b, c in product(range(2), range(3), range(2)):
        allowed = (b == 0 or a > 0) and (c == 0 or (a > 0 and b > 0))
        assert (table[a, b, c] > 0) == allowed
    assert table[1, 1:, 1].sum() / table[1, 1:].sum() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        (lambda: Saturated([0.5, 0.6]), "sum to one"),
        (lambda: Saturated([1.5, -0.5]), "probabilities"),
        (lambda: Saturated([0.5, 0.5]), "12 probabilities"),
        (lambda: Independent([0.5, 0.5]), "each of 3 skills, got 2"),
        (lambda: Independent(0.5), "3 levels of b"),
        (lambda: Independent([[-0.5, 1.5], [1.0, 0.0, 0.0], [0.5, 0.5]]), r"in \[0, 1\] for a"),
        (lambda: Hierarchy({"d": ("a",)}), "d in the hierarchy is not"),
        (lambda: Hierarchy({"a": ("b",), "b": ("a",)}), "cycle"),
    ],
)
def test_bad_distributions_are_refused(distribution: object, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        distribution().cpds(SKILLS)  # type: ignore[operator]


def test_too_many_profiles_are_refused() -> None:
    many = [Variable.of_integers(f"s{i}", range(2)) for i in range(30)]
    with pytest.raises(TooLargeError, match="of 30 skills"):
        Saturated().cpds(many)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 0.6]], "sum to one in a G-DINA model, got 1.1 in row 1"),
        ([[0.5, 0.5], [0.5, 0.4]], "got 0.9 in row 2"),
        ([[0.0, 0.0]], "got 0 in row 1"),
        (np.zeros((0, 2)), "at least one row"),
    ],
)
def test_the_rows_of_a_gdina_model_sum_to_one(table: Any, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        Gdina(table)


def test_rows_that_nearly_sum_to_one_are_normalized() -> None:
    found = Gdina(np.array([[0.333333, 0.333333, 0.333333], [0.25, 0.25, 0.5]])).probabilities
    np.testing.assert_allclose(found[0], 1 / 3, rtol=1e-15)
    assert found[1].tolist() == [0.25, 0.25, 0.5]


MODELS = Path(__file__).parents[2] / "models"


def made() -> dict[str, ItemBank]:
    banks: dict[str, ItemBank] = runpy.run_path(str(MODELS / "make_banks.py"))["banks"]()
    return banks


def test_banks_made_by_the_script_are_there_and_described() -> None:
    described = (MODELS / "README.md").read_text(encoding="utf-8")
    for name in made():
        assert (MODELS / "banks" / name).exists()
        assert f"`banks/{name}`" in described


@pytest.mark.parametrize("name", sorted(made()))
def test_files_hold_the_banks_of_the_library(name: str) -> None:
    written, bank = read_bank(MODELS / "banks" / name), made()[name]
    assert (written.skills, written.items) == (bank.skills, bank.items)
    for item in bank.item_names:
        np.testing.assert_allclose(written.channel(item), bank.channel(item), rtol=0, atol=1e-15)


STEPS_Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
OPTIONS = LearningOptions(tolerance=1e-9)


def drawn(n: int = 300) -> Responses:
    step = Dina(0.3, 0.15)
    models: list[ResponseModel] = [Sequential((step, step))] * 4 + [Dina(0.2, 0.1)] * 2
    bank = ItemBank.from_response_models(STEPS_Q, models)
    return Responses(np.array(Responses.drawn(bank, n, seed=1).codes), bank.item_names)


def test_the_number_of_steps_is_that_of_the_responses() -> None:
    found = learn(drawn(), STEPS_Q, gate=Sequential.of(Dina), options=OPTIONS)
    gates = [item.gate for item in found.bank.items]
    assert [type(gate) for gate in gates] == [Sequential] * 4 + [Dina] * 2
    assert found.n_parameters == 3 + 4 * 4 + 2 * 2
    gate = gates[0]
    assert isinstance(gate, Sequential)
    for step in gate.steps:
        assert isinstance(step, Dina)
        assert step.guess == pytest.approx(0.3, abs=0.12)
        assert step.slip == pytest.approx(0.15, abs=0.12)


@pytest.mark.slow
def test_the_plain_gate_is_the_sequential_gdina_model() -> None:
    """Its steps are saturated, so it equals a table of all responses in each configuration."""
    data = drawn()
    found = learn(data, STEPS_Q, gate=Sequential, options=OPTIONS)
    assert found.n_parameters == 3 + (2 + 2 + 4 + 2) * 2 + 2 + 4
    rows = [2 ** sum(needs) for needs in STEPS_Q]
    rising = {
        n: np.stack([np.linspace(0.7, 0.1, n), np.full(n, 0.2), np.linspace(0.1, 0.7, n)], 1)
        for n in (2, 4)
    }
    tables: list[ResponseModel] = [Gdina(rising[n]) for n in rows[:4]]
    tables += [Gdina(np.stack([x := np.linspace(0.8, 0.2, n), 1 - x], 1)) for n in rows[4:]]
    table = learn(data, ItemBank.from_response_models(STEPS_Q, tables), options=OPTIONS)
    assert found.log_likelihood == pytest.approx(table.log_likelihood, abs=1e-3)
    nested = learn(data, STEPS_Q, gate=Sequential.of(Rrum), options=OPTIONS)
    assert nested.log_likelihood <= found.log_likelihood + 1e-4


def test_other_gates_still_refuse_more_responses() -> None:
    with pytest.raises(TableError, match="response from 0 to 1"):
        learn(drawn(), STEPS_Q, gate=Dina)


Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]


@dataclass(frozen=True)
class OwnDina(ParametricModel):
    """DINA, written by a user."""

    guess: float = 0.2
    slip: float = 0.2

    def chances(self, levels: NDArray[np.intp]) -> Any:
        return np.where((levels >= 1).all(axis=1), 1 - self.slip, self.guess)


@dataclass(frozen=True)
class OwnLlm(ParametricModel):
    """LLM, written by a user: a parameter for each skill, and limits beyond [0, 1]."""

    intercept: float
    effects: tuple[float, ...]
    limits: ClassVar = {"intercept": (-9.2, 9.2), "effects": (0.0, 9.2)}

    def chances(self, levels: NDArray[np.intp]) -> Any:
        return 1 / (1 + np.exp(-self.intercept - levels @ np.array(self.effects)))

    @classmethod
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        return cls(-1.0, (1.0,) * len(required))


@dataclass(frozen=True)
class Counted(ParametricModel):
    """Three responses: the number of skills that work, up to 2."""

    works: float = 0.7

    @property
    def n_responses(self) -> int:
        return 3

    def chances(self, levels: NDArray[np.intp]) -> Any:
        p = np.clip(self.works * levels.mean(axis=1), 0.01, 0.99)
        return np.stack([(1 - p) ** 2, 2 * p * (1 - p), p**2], axis=1)


@dataclass(frozen=True)
class Faulty(ParametricModel):
    """Returns no chances."""

    p: float = 0.5

    def chances(self, levels: NDArray[np.intp]) -> Any:
        return self.p + 2.0 * levels.sum(axis=1)


def fitted(gate: type[ResponseModel]) -> Learned:
    truth = ItemBank.from_qmatrix(Q, 0.2, 0.15, gate=Llm)
    data = Responses.drawn(truth, 300, seed=3).codes
    return learn(data, Q, gate=gate, options=LearningOptions(tolerance=1e-9, starts=1))


@pytest.mark.parametrize(("own", "ours"), [(OwnDina, Dina), (OwnLlm, Llm)])
def test_a_model_of_ones_own_ends_where_ours_does(
    own: type[ResponseModel], ours: type[ResponseModel]
) -> None:
    found, known = fitted(own), fitted(ours)
    assert found.record.converged
    assert np.diff(found.record.objectives).min() >= -1e-8
    assert found.log_likelihood == pytest.approx(known.log_likelihood, abs=2e-3)
    assert found.n_parameters == known.n_parameters
    for name in found.bank.item_names:
        channel = found.bank.channel(name)
        np.testing.assert_allclose(channel, known.bank.channel(name), atol=0.01)


def test_a_file_holds_table_name_and_parameters_and_needs_no_code(tmp_path: Path) -> None:
    found = fitted(OwnLlm)
    path = tmp_path / "bank.json"
    write_bank(found.bank, path)
    bank = read_bank(path)
    gate, original = bank.item("item_3").gate, found.bank.item("item_3").gate
    assert isinstance(gate, Tabulated)
    assert isinstance(original, OwnLlm)
    assert gate.name == "OwnLlm"
    assert dict(gate.parameters) == original.parameters
    np.testing.assert_array_equal(bank.channel("item_3"), found.bank.channel("item_3"))
    for name in bank.item_names:
        errors, kept = ((table_deviations(b, name) ** 2).sum(axis=0) for b in (found.bank, bank))
        assert isinstance(bank.item(name).certainty, TableCertainty)
        np.testing.assert_allclose(kept, errors, rtol=1e-4)
    again = tmp_path / "again.json"
    write_bank(bank, again)
    assert again.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    with pytest.raises(InvalidModelError, match="with gate=OwnLlm"):
        learn(found.responses, bank)
    kept = learn(found.responses, bank, options=LearningOptions(fixed=set(bank.item_names)))
    assert kept.log_likelihood >= found.log_likelihood - 1e-6


def test_models_of_ones_own_serve_in_tests_and_simulations() -> None:
    bank = ItemBank.from_response_models(
        [[1, 1]] * 2 + [[1, 0]], [Counted(), Counted(0.6), OwnDina()]
    )
    people = Responses.drawn(bank, 50, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(2))
    assert result.mean("entropy", "pattern_accuracy")[0][-1] > 0
    session = Session.start(Design(bank))
    session = session.answer(session.next_item(), 1)
    assert 0 < session.belief.marginal("skill_1")[1] < 1
    found = learn(people.codes, bank)
    assert np.diff(found.record.objectives).min(initial=0) >= -1e-8
    names = [p.name for p in coefficients(found).rows]
    assert names == ["works", "works", "guess", "slip"]
    assert pickle.loads(pickle.dumps(found.bank.item("item_1").gate)) == found.bank.items[0].gate


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: OwnDina(1.5), "guess of OwnDina in"),
        (lambda: OwnDina("a"), "guess to be a finite number"),  # type: ignore[arg-type]
        (lambda: ItemBank.from_response_models([[1]], [Faulty()]), "chances of Faulty of shape"),
    ],
)
def test_wrong_models_are_refused(wrong: object, says: str) -> None:
    with pytest.raises(InvalidModelError, match=says):
        wrong()  # type: ignore[operator]


def test_a_gate_without_defaults_says_what_it_needs() -> None:
    @dataclass(frozen=True)
    class Bare(ParametricModel):
        p: float

        def chances(self, levels: NDArray[np.intp]) -> Any:
            return np.full(len(levels), self.p)

    with pytest.raises(InvalidModelError, match="needs default values of its parameters"):
        ItemBank.from_qmatrix(Q, gate=Bare)


def test_a_table_knows_where_it_comes_from() -> None:
    table = Tabulated("Mine", np.array([[0.5, 0.5], [0.2, 0.8]]), {"p": [0.1, 0.2]})
    assert table.parameters["p"] == (0.1, 0.2)
    again = pickle.loads(pickle.dumps(table))
    assert repr(again) == repr(table)
