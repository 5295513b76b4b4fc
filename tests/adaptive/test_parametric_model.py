"""Response models of one's own: learned numerically, saved as tables."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.adaptive import (
    Design,
    Dina,
    Examinees,
    ItemBank,
    Learned,
    LearningOptions,
    Llm,
    MaximalItems,
    MinimalEntropy,
    ParametricModel,
    ResponseModel,
    Session,
    TableCertainty,
    Tabulated,
    learn,
    read_bank,
    simulate,
    standard_errors,
    write_bank,
)
from bnmind.adaptive.items.bank import table_deviations
from bnmind.errors import InvalidModelError

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
    data = Examinees.drawn(truth, 300, seed=3).responses
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
    people = Examinees.drawn(bank, 50, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(2))
    assert result.mean("entropy", "pattern_accuracy")[0][-1] > 0
    session = Session.start(Design(bank))
    session = session.answer(session.next_item(), 1)
    assert 0 < session.belief.marginal("skill_1")[1] < 1
    found = learn(people.responses, bank)
    assert np.diff(found.record.objectives).min(initial=0) >= -1e-8
    names = [p.name for p in standard_errors(found).items]
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
