"""The contract of a response model, for every member of the registry."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import (
    RESPONSE_MODELS,
    Design,
    Dina,
    Examinees,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    ResponseModel,
    Session,
    beliefs_given,
    irt_bank,
    learn,
    read_bank,
    simulate,
    write_bank,
)
from bnmind.adaptive.response_models.base import response_channel
from bnmind.adaptive.response_models.registry import FORMER_NAMES
from bnmind.pgm import CPD, Variable
from tests.registries import registry_faults

SKILL = Variable.of_integers("skill_1", range(2))


def contract_faults(model: ResponseModel) -> list[str]:
    """Return how a response model breaks the contract, for one parent of two states."""
    faults = []
    if not isinstance(model, ResponseModel):
        return ["no response model"]
    channel = response_channel(model, [SKILL])
    if channel.shape != (2, model.n_responses):
        faults.append("another number of responses than announced")
    if not np.all(channel >= 0) or not np.allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-12):
        faults.append("not a distribution")
    tails = np.cumsum(channel[:, ::-1], axis=1)
    if np.any(tails[0] > tails[1] + 1e-12):
        faults.append("more skill lowers a response")
    if not np.array_equal(response_channel(pickle.loads(pickle.dumps(model)), [SKILL]), channel):
        faults.append("pickle changes it")
    try:
        dataclasses.replace(model)  # type: ignore[type-var]
    except TypeError:
        faults.append("not a dataclass, so that files cannot hold it")
    return faults


@pytest.mark.parametrize("name", RESPONSE_MODELS)
def test_a_registered_response_model_keeps_the_contract(name: str) -> None:
    assert contract_faults(RESPONSE_MODELS[name].example) == []
    assert RESPONSE_MODELS[name].about


@pytest.mark.parametrize("name", RESPONSE_MODELS)
def test_files_hold_a_registered_response_model(name: str, tmp_path: Path) -> None:
    example = RESPONSE_MODELS[name].example
    if hasattr(example, "fisher_information"):
        bank = irt_bank([example, example])
    else:
        bank = ItemBank.from_response_models([[1], [1]], [example, example])
    path = tmp_path / "bank.json"
    write_bank(bank, path)
    assert f'"kind": "{name}"' in path.read_text(encoding="utf-8")
    assert repr(read_bank(path).item("item_1").gate) == repr(example)


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


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(RESPONSE_MODELS) == []


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
        flipped = Variable.of_integers(parents[0].name, range(2))
        table = super().cpd(item, [flipped]).to_factor().values[:, ::-1]
        from bnmind.pgm import TabularCPD

        return TabularCPD(item, tuple(parents), np.real(table))


class Loose:
    """Has more responses than it announces, and is no dataclass."""

    n_responses = 2

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of DINA."""
        return Dina(0.2, 0.1).cpd(item, parents)


@pytest.mark.parametrize(
    ("model", "fault"),
    [(Harmful(0.2, 0.1), "more skill lowers a response"), (Loose(), "not a dataclass")],
)
def test_the_contract_notices_a_wrong_response_model(model: ResponseModel, fault: str) -> None:
    assert any(fault in found for found in contract_faults(model))
