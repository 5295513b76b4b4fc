"""Every registered response model keeps the contract of `bnmind.testing`; wrong ones break it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from bnmind.adaptive import (
    RESPONSE_MODELS,
    Design,
    Dina,
    Dino,
    Examinees,
    ItemBank,
    LearningOptions,
    Logistic,
    MaximalItems,
    MinimalEntropy,
    ParametricModel,
    ResponseModel,
    Session,
    beliefs_given,
    learn,
    read_bank,
    simulate,
    write_bank,
)
from bnmind.adaptive.response_models.registry import FORMER_NAMES
from bnmind.errors import ContractError
from bnmind.pgm import CPD, Factor, TabularCPD, Variable
from bnmind.testing import check_response_model


@pytest.mark.parametrize("name", RESPONSE_MODELS)
def test_a_registered_response_model_keeps_the_contract(name: str) -> None:
    check_response_model(name)


@pytest.mark.parametrize("name", [n for n, row in RESPONSE_MODELS.items() if row.from_qmatrix])
def test_a_model_for_q_matrices_serves_in_tests_files_and_learning(
    name: str, tmp_path: Path
) -> None:
    q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
    bank = ItemBank.from_qmatrix(q, 0.2, 0.1, gate=RESPONSE_MODELS[name].make)
    people = Examinees.drawn(bank, 40, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(3))
    assert np.all(result.mean("entropy", "pattern_accuracy")[0][-1] > 0.25)
    session = Session.start(Design(bank))
    live = session.answer(session.next_item(), 1)
    live = live.answer(live.next_item(), 0)
    codes = np.full((1, len(q)), -1)
    codes[0, [bank.position(name) for name in live.state.asked]] = [1, 0]
    whole = beliefs_given(bank, codes)
    for skill in bank.skills:
        assert live.belief.marginal(skill)[1] == pytest.approx(whole.marginal(skill)[0, 1])
    short = LearningOptions(starts=1, max_iterations=40)
    learned = learn(people.responses, q, gate=RESPONSE_MODELS[name].make, options=short)
    path = tmp_path / "bank.json"
    write_bank(learned.bank, path)
    again = read_bank(path)
    for item in bank.item_names:
        np.testing.assert_array_equal(again.channel(item), learned.bank.channel(item))
        assert repr(again.item(item).gate) == repr(learned.bank.item(item).gate)
    from_file = learn(people.responses, again, options=short)
    assert from_file.log_likelihood >= learned.log_likelihood - 1e-3
    assert from_file.n_parameters == learned.n_parameters


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_files_may_use_former_names(former: str, tmp_path: Path) -> None:
    now = FORMER_NAMES[former]
    bank = ItemBank.from_response_models([[1]], [RESPONSE_MODELS[now].example])
    path = tmp_path / "bank.json"
    write_bank(bank, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"kind": "{now}"', f'"kind": "{former}"'), encoding="utf-8")
    assert repr(read_bank(path).item("item_1").gate) == repr(bank.item("item_1").gate)


@dataclasses.dataclass(frozen=True)
class Harmful(Dina):
    """A skill that harms."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return a distribution in which the skilled are wrong."""
        table = np.real(super().cpd(item, parents).to_factor().values)[::-1]
        return TabularCPD(item, tuple(parents), table)


class Loose:
    """Is no dataclass, so that files cannot hold it."""

    n_responses = 2

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of DINA."""
        return Dina(0.2, 0.1).cpd(item, parents)


class _AnyTable:
    """A distribution that nobody checked."""

    def __init__(self, item: Variable, parents: tuple[Variable, ...], table: NDArray[np.float64]):
        self.variable, self.parents = item, parents
        self._factor = Factor((item, *parents), table)

    def to_factor(self) -> Factor:
        """Return the table."""
        return self._factor


@dataclasses.dataclass(frozen=True)
class TooProbable(Dina):
    """Has a row that does not sum to one, for two skills only."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return a table with one number too large."""
        table = np.real(super().cpd(item, parents).to_factor().values).copy()
        if len(parents) == 2:
            table[1, 0, 1] += 0.001
        return _AnyTable(item, tuple(parents), table)  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class OtherInformation(Logistic):
    """Forgets the lower asymptote in Fisher's information."""

    def fisher_information(self, abilities: ArrayLike) -> NDArray[np.float64]:
        """Return the information without guesses."""
        return Logistic(self.slope, self.difficulty).fisher_information(abilities)


@dataclasses.dataclass(frozen=True)
class Lenient(Dina):
    """Takes an item of any number of responses for one of two."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item of two responses."""
        return super().cpd(Variable.of_integers(item.name, range(2)), parents)


@dataclasses.dataclass(frozen=True)
class TwoFormulas(ParametricModel):
    """Has another table in banks than in learning."""

    guess: float = 0.2
    slip: float = 0.1

    def chances(self, levels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the chances of DINA, which learning uses."""
        return np.where(levels.min(axis=1) >= 1, 1 - self.slip, self.guess)

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of DINO."""
        return Dino(self.guess, self.slip).cpd(item, parents)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("model", "promise"),
    [
        (Harmful(0.2, 0.1), "more skill never makes a good response less probable"),
        (Loose(), "frozen dataclass"),
        (TooProbable(0.2, 0.1), "the rows of its table sum to 1"),
        (OtherInformation(1.0, 0.0, 0.2), "Fisher information is that of its table"),
        (TwoFormulas(), "the likelihood that learning reports is that of the learned bank"),
        (Lenient(0.2, 0.1), "refuses an item with another number of responses"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_the_contract_notices_a_wrong_response_model(model: ResponseModel, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_response_model(model)


def test_a_misconception_may_harm() -> None:
    check_response_model(Harmful(0.2, 0.1), monotone=False)
