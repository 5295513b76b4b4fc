"""Items of a Q-matrix with more than two responses: a step for each response but the first."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.adaptive import (
    Dina,
    Examinees,
    Gdina,
    ItemBank,
    LearningOptions,
    ResponseModel,
    Responses,
    Rrum,
    Sequential,
    learn,
)
from bnmind.errors import TableError

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
OPTIONS = LearningOptions(tolerance=1e-9)


def drawn(n: int = 300) -> Responses:
    step = Dina(0.3, 0.15)
    models: list[ResponseModel] = [Sequential((step, step))] * 4 + [Dina(0.2, 0.1)] * 2
    bank = ItemBank.from_response_models(Q, models)
    return Responses(np.array(Examinees.drawn(bank, n, seed=1).responses), bank.item_names)


def test_the_number_of_steps_is_that_of_the_responses() -> None:
    found = learn(drawn(), Q, gate=Sequential.of(Dina), options=OPTIONS)
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
    found = learn(data, Q, gate=Sequential, options=OPTIONS)
    assert found.n_parameters == 3 + (2 + 2 + 4 + 2) * 2 + 2 + 4
    rows = [2 ** sum(needs) for needs in Q]
    rising = {
        n: np.stack([np.linspace(0.7, 0.1, n), np.full(n, 0.2), np.linspace(0.1, 0.7, n)], 1)
        for n in (2, 4)
    }
    tables: list[ResponseModel] = [Gdina(rising[n]) for n in rows[:4]]
    tables += [Gdina(np.stack([x := np.linspace(0.8, 0.2, n), 1 - x], 1)) for n in rows[4:]]
    table = learn(data, ItemBank.from_response_models(Q, tables), options=OPTIONS)
    assert found.log_likelihood == pytest.approx(table.log_likelihood, abs=1e-3)
    nested = learn(data, Q, gate=Sequential.of(Rrum), options=OPTIONS)
    assert nested.log_likelihood <= found.log_likelihood + 1e-4


def test_other_gates_still_refuse_more_responses() -> None:
    with pytest.raises(TableError, match="response from 0 to 1"):
        learn(drawn(), Q, gate=Dina)
