"""Learning, cross-validation, simulation and replay: the same results with any workers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    ItemBank,
    Learned,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Responses,
    Selector,
    SimulationOptions,
    SimulationResult,
    cross_validate,
    learn,
    replay,
    simulate,
)
from bnmind.adaptive.learning.comparison import CrossValidation
from bnmind.errors import InvalidArgumentError
from tests.backends import Pickled

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
PEOPLE = Responses.drawn(BANK, 60, seed=3)
ANSWERS = Responses(PEOPLE.codes.astype(np.int8), BANK.item_names)
SELECTORS: dict[str, Selector] = {"entropy": MinimalEntropy(), "random": RandomItem()}

BACKENDS = [
    pytest.param(Pickled(), id="pickled"),
    pytest.param(2, id="2", marks=pytest.mark.slow),
]


def numbers(learned: Learned) -> Any:
    record = learned.record
    tables = [cpd.table.tolist() for cpd in learned.bank.network.cpds if hasattr(cpd, "table")]
    return record, learned.items, tables


def rows(result: SimulationResult) -> list[Any]:
    return [
        [getattr(run, field.name) for field in dataclasses.fields(run)] for run in result.runs
    ] + [[result.responses, result.levels]]


def assert_same(first: list[Any], second: list[Any]) -> None:
    for ours, theirs in zip(first, second, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("max_profiles", [0, 2**14], ids=["tree", "table"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_starts(backend: Any, max_profiles: int) -> None:
    options = LearningOptions(starts=4, seed=5, max_iterations=50, max_profiles=max_profiles)
    told: list[tuple[int, int]] = []
    found = learn(
        ANSWERS,
        Q,
        options=dataclasses.replace(options, workers=backend),
        progress=lambda done, total: told.append((done, total)),
    )
    assert numbers(found) == numbers(learn(ANSWERS, Q, options=options))
    assert len(told) == 4
    assert [total for _, total in told][:3] == [
        4 * told[0][0],
        2 * told[1][0],
        round(told[2][0] * 4 / 3),
    ]
    assert told[3][0] == told[3][1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_folds_of_a_cross_validation(backend: Any) -> None:
    def found(workers: Any, told: list[tuple[int, int]]) -> CrossValidation:
        options = LearningOptions(max_iterations=20, workers=workers)
        return cross_validate(
            ANSWERS,
            Q,
            folds=3,
            options=options,
            progress=lambda done, total: told.append((done, total)),
        )

    told: list[tuple[int, int]] = []
    there, here = found(backend, told), found(1, told)
    assert [numbers(one) for one in there.learned] == [numbers(one) for one in here.learned]
    np.testing.assert_array_equal(there.log_likelihoods, here.log_likelihoods)
    assert told == [(1, 3), (2, 3), (3, 3)] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_simulated_tests(backend: Any) -> None:
    def found(workers: Any) -> list[Any]:
        options = SimulationOptions(batch_size=20, workers=workers)
        return rows(simulate(BANK, PEOPLE, SELECTORS, MaximalItems(3), options=options))

    assert_same(found(backend), found(1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_folds_of_a_replay(backend: Any) -> None:
    guess = 0.15

    def bank_of(others: Responses) -> ItemBank:
        rates = (others.codes == 1).mean(axis=0)
        return ItemBank.from_qmatrix(Q, guess=guess * rates, slip=0.1)

    def found(workers: Any, told: list[tuple[int, int]]) -> list[Any]:
        options = SimulationOptions(batch_size=20, workers=workers)
        return rows(
            replay(
                bank_of,
                ANSWERS,
                SELECTORS,
                MaximalItems(3),
                folds=4,
                options=options,
                progress=lambda done, total: told.append((done, total)),
            )
        )

    told: list[tuple[int, int]] = []
    assert_same(found(backend, told), found(1, told))
    assert told == [(30 * fold, 120) for fold in (1, 2, 3, 4)] * 2


def test_a_number_of_workers_is_checked() -> None:
    for kind in (LearningOptions, SimulationOptions):
        with pytest.raises(InvalidArgumentError, match="at least 1 worker, or -1"):
            kind(workers=0)
        with pytest.raises(InvalidArgumentError, match="expected workers to be"):
            kind(workers="2")  # type: ignore[arg-type]
