"""Notes on learned banks, the least chance in every table, and the starts that are the default."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Bounds,
    Dina,
    Gdina,
    Hierarchy,
    Independent,
    ItemBank,
    Learned,
    LearningOptions,
    Logistic,
    NoisyAnd,
    NoisyOr,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    irt_bank,
    learn,
)
from bnmind.adaptive.estimates import has_ability
from bnmind.adaptive.learning.em import MIXTURE_STARTS, usual_starts
from bnmind.adaptive.learning.judgment import LearningNote, item_rest_correlations
from bnmind.adaptive.learning.skill_families import bounded_rows
from bnmind.information import Floats
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1]] * 5
BANK = ItemBank.from_qmatrix(Q, 0.15, 0.15, skills=Saturated([0.3, 0.2, 0.1, 0.4]))
CODES = np.array(Responses.drawn(BANK, 600, seed=3).codes)


def notes(found: Learned) -> dict[str, LearningNote]:
    """Return the notes by their kinds."""
    return {note.kind: note for note in found.notes}


@pytest.mark.parametrize("gate", [Dina, Gdina, NoisyAnd])
@pytest.mark.parametrize("monotone", [False, True])
def test_a_wrong_key_is_named_and_right_ones_are_not(
    gate: type[ResponseModel], monotone: bool
) -> None:
    codes = CODES.copy()
    codes[:, [4, 8]] = 1 - codes[:, [4, 8]]
    found = learn(codes, Q, gate=gate, options=LearningOptions(monotone=monotone))
    said = notes(found)
    assert said["miskeyed"].names == ("item_5", "item_9")
    assert "item-rest correlation -0." in str(said["miskeyed"])
    assert ("no order" in said["order"].text) == (not monotone)
    assert "miskeyed" not in notes(learn(CODES, Q, gate=gate))


def test_what_the_order_pools_is_said() -> None:
    codes = CODES.copy()
    codes[:, 0] = 1 - codes[:, 0]
    pooled = notes(learn(codes, Q, options=LearningOptions(monotone=True)))
    assert pooled["pooled"].names == ("item_1",)
    assert pooled["uninformative"].names == ("item_1",)
    free = notes(learn(codes, Q))
    assert "pooled" not in free
    assert "0.8" in free["miskeyed"].details[0]


def test_bounds_and_boundaries_are_told_apart() -> None:
    bank = ItemBank.from_qmatrix(Q, 0.0, 0.3, skills=Saturated(np.full(4, 0.25)))
    codes = Responses.drawn(bank, 400, seed=1).codes
    found = learn(codes, Q, options=LearningOptions(bounds=Bounds(slip=(0.0, 0.1))))
    said = notes(found)
    assert set(said["bounded"].names) == {f"item_{n + 1}" for n in range(len(Q))}
    assert set(said["bounded"].details) == {"slip"}
    assert "guess" in "".join(said["boundary"].details)
    assert "0.0001 from 0 or 1" in said["boundary"].text


def test_a_response_as_rare_as_it_may_be_is_named_without_a_parameter_at_its_end() -> None:
    q = [[1, 1]] + [[1, 0], [0, 1]] * 4
    truth = ItemBank.from_qmatrix(q, [0.0] + [0.1] * 8, 0.1)
    codes = Responses.drawn(truth, 400, seed=1).codes
    found = learn(codes, q, gate=NoisyAnd, options=LearningOptions(starts=1))
    said = notes(found)["boundary"]
    assert (said.names, said.details) == (("item_1",), ("a response in some configuration",))


def test_constant_items_lone_skills_and_like_profiles_are_named() -> None:
    codes = CODES.copy()
    codes[:, 5] = 1
    codes[:, [1, 4, 7, 10, 13]] = np.random.default_rng(1).integers(0, 2, (600, 5))
    q = np.array(Q)
    q[[2, 5, 8, 11, 14]] = [1, 0]
    found = learn(codes, q, skills=Independent(), options=LearningOptions(max_iterations=200))
    said = notes(found)
    assert said["constant"].names == ("item_6",)
    assert said["independent"].names == ("skill_1", "skill_2")
    few = learn(CODES[:, 2:3], [[1, 1]])
    assert "2 classes of the 4 profiles" in notes(few)["alike"].text
    order = Hierarchy({"skill_2": ["skill_1"]}, saturated=True)
    q = np.array([[1, 0], [1, 1]] * 8)[:15]
    assert "3 classes of the 4 profiles" in notes(learn(CODES, q))["alike"].text
    assert "alike" not in notes(learn(CODES, q, skills=order))
    short = learn(CODES, Q, options=LearningOptions(max_iterations=3))
    assert "had not converged after 3 steps" in notes(short)["convergence"].text


def test_nearly_universal_skills_are_named() -> None:
    codes = np.array(Responses.with_profiles(BANK, [[1, 0], [1, 1]] * 200, seed=1).codes)
    options = LearningOptions(bounds=Bounds((0.0, 0.2), (0.0, 0.2)))
    said = notes(learn(codes, Q, skills=Independent(), options=options))
    assert said["one-sided"].names == ("skill_1",)
    codes = np.array(Responses.with_profiles(BANK, [[0, 0], [0, 1]] * 200, seed=1).codes)
    said = notes(learn(codes, Q, skills=Independent(), options=options))
    assert said["one-sided"].names == ("skill_1",)


def test_correlations_with_the_rest_are_those_of_numpy() -> None:
    codes = np.where(np.random.default_rng(2).random(CODES.shape) < 0.2, -1, CODES)
    found = item_rest_correlations(Responses.of(codes))
    for item in range(codes.shape[1]):
        pairs = []
        for row in codes:
            others = [x for place, x in enumerate(row) if place != item and x >= 0]
            if row[item] >= 0 and others:
                pairs.append((row[item], np.mean(others)))
        assert found[item] == pytest.approx(np.corrcoef(np.array(pairs).T)[0, 1], abs=1e-12)


@settings(max_examples=examples(60))
@given(st.integers(2, 5), st.integers(0, 2**16), st.sampled_from([1e-4, 0.05, 0.19]))
def test_no_rows_with_a_floor_are_more_likely(n: int, seed: int, least: float) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.1, 1.0, n) + 1e-9
    table = (counts / counts.sum())[:, None]
    found = bounded_rows(table, least, np.ones((n, 1), dtype=bool))[:, 0]
    assert found.min() >= least * (1 - 1e-9)
    assert found.sum() == pytest.approx(1)

    def likelihood(p: Floats) -> float:
        return float(counts @ np.log(p))

    for _ in range(200):
        other = np.maximum(found + rng.normal(0, 0.02, n), least)
        other /= other.sum()
        if other.min() >= least:
            assert likelihood(other) <= likelihood(found) + 1e-9


@pytest.mark.parametrize("gate", [Dina, Gdina, NoisyAnd, NoisyOr])
@pytest.mark.parametrize("monotone", [False, True])
def test_no_entry_of_a_learned_table_is_near_zero_or_one(
    gate: type[ResponseModel], monotone: bool
) -> None:
    q = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]] * 3
    truth = ItemBank.from_qmatrix(q, 0.0, 0.05, skills=Saturated([0.4, 0, 0, 0, 0, 0, 0, 0.6]))
    codes = Responses.drawn(truth, 60, seed=1).codes
    for most in (2**14, 0):
        options = LearningOptions(monotone=monotone, max_profiles=most, max_iterations=60, starts=1)
        found = learn(codes, q, gate=gate, options=options)
        for cpd in found.bank.network.cpds:
            table = np.real(cpd.to_factor().values)
            assert table.min() >= 1e-4 * (1 - 1e-6), cpd.variable.name
            assert table.max() <= 1 - 1e-4 * (1 - 1e-6), cpd.variable.name
        assert np.diff(found.record.objectives).min(initial=0.0) >= -1e-7
    free = LearningOptions(least_chance=0.0, starts=1)
    assert learn(codes, q, gate=gate, options=free).profiles.min() < 1e-6


def test_steps_and_tables_with_many_responses_are_kept_off_too() -> None:
    for model in (Sequential((Dina(0.2, 0.2), Dina(0.2, 0.2))), Gdina(np.full((2, 3), 1 / 3))):
        bank = ItemBank.from_response_models([[1]] * 6, [model] * 6)
        codes = np.repeat([[0], [2], [2]], 20, axis=0) * np.ones((1, 6), dtype=int)
        found = learn(Responses(codes, bank.item_names), bank)
        cells = np.concatenate([found.bank.channel(name) for name in bank.item_names])
        assert cells.min() >= 1e-4**2 * (1 - 1e-6)  # of two steps
        # Close to the most likely tables of that kind.
        assert found.log_likelihood > 60 * np.log(1 / 3) * 0.66 - 60 * 6 * 5e-3


def test_a_hierarchy_keeps_its_zeros() -> None:
    skills = Hierarchy({"skill_2": ["skill_1"]})
    found = learn(CODES, Q, skills=skills)
    assert found.profiles[0, 1] == 0
    assert np.sort(found.profiles.reshape(-1))[1] > 0


def test_several_starts_are_the_default_where_there_are_several_maxima() -> None:
    irt = irt_bank([Logistic()] * 4)
    assert (usual_starts(irt), usual_starts(BANK)) == (1, MIXTURE_STARTS)
    assert has_ability(irt)
    assert not has_ability(BANK)
    codes = Responses.drawn(BANK, 60, seed=5).codes
    found, one, all_ = (
        learn(codes, Q, options=LearningOptions(starts=n)) for n in (None, 1, MIXTURE_STARTS)
    )
    assert len(found.record.starts) == MIXTURE_STARTS
    assert found.record.starts[0] == one.record.starts[0]
    assert one.log_likelihood - 1e-4 <= found.log_likelihood <= all_.log_likelihood + 1e-4
    assert found.record.best_start not in found.record.stopped_early
    assert 3 <= len(found.record.stopped_early) <= 4
    assert all_.record.stopped_early == ()
    assert (
        len(learn(CODES[:, :4], irt, options=LearningOptions(max_iterations=2)).record.starts) == 1
    )
