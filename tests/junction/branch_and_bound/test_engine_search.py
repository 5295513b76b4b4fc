"""Engines find explanations by branch and bound where the tables of a plan do not fit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction import (
    Limits,
    compile_explanation,
    compile_model,
    complete,
)
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.junction.branch_and_bound.test_search import grid

TIGHT = Limits(max_bytes=2**14)
"""A plan of the grid takes more."""


def test_an_explanation_that_does_not_fit_is_found_by_a_search() -> None:
    model = grid(8, 1)
    with pytest.raises(TooLargeError, match="max_bytes"):
        compile_explanation(model, limits=TIGHT)
    found = compile_model(model, limits=TIGHT).mpe({"X0_0": "1"})
    exact = compile_explanation(model, evidence=["X0_0"]).run({"X0_0": "1"})
    assert dict(found.states) == dict(exact.states)
    assert found.log_probability == pytest.approx(exact.log_probability, rel=1e-9)


def test_a_marginal_map_that_does_not_fit_is_found_by_a_search() -> None:
    model = grid(5, 2)
    names = [f"X{i}_{j}" for i in range(5) for j in range(3)]
    exact = compile_model(model).map(names, {"X4_4": "0"})
    found = compile_model(model).map(names, {"X4_4": "0"}, max_joint=100)
    assert dict(found.states) == dict(exact.states)
    assert found.log_probability == pytest.approx(exact.log_probability, rel=1e-9)


def test_an_answer_without_a_proof_is_an_error() -> None:
    tiny = Limits(max_bytes=2**12, max_multiplications=2**15)
    engine = compile_model(grid(12, 1), limits=tiny)
    for _ in range(2):
        with pytest.raises(TooLargeError, match="without a proof"):
            engine.mpe()
    with pytest.raises(TooLargeError, match="1 explanation, of which 0 are proven"):
        engine.best_explanations(3)


@pytest.mark.parametrize("n", [4, 10])
def test_engines_return_the_best_explanations(n: int) -> None:
    model = grid(n, 3)
    seen = {"X0_0": "1", "X1_1": "0"}
    engine = compile_model(model)
    found = engine.best_explanations(5, seen)
    exact = compile_explanation(model, evidence=seen).best(5, seen)
    assert [dict(each.states) for each in found] == [dict(each.states) for each in exact]
    assert found[0].states == engine.mpe(seen).states


def test_a_search_names_findings_that_contradict_each_other() -> None:
    names = [f"X{i}" for i in range(30)]
    chain = [Variable(name, ("no", "yes")) for name in names]
    same = np.eye(2)
    factors: list[Any] = [Factor(pair, same) for pair in itertools.pairwise(chain)]
    rng = np.random.default_rng(1)
    others = [Variable(f"Y{i}", ("no", "yes")) for i in range(30)]
    factors += [Factor(pair, rng.random((2, 2))) for pair in itertools.combinations(others, 2)]
    engine = compile_model(FactorModel(tuple(factors)), limits=TIGHT)
    with pytest.raises(ImpossibleEvidenceError, match="zero for X3=no, X20=yes"):
        engine.mpe({"Y0": "no", "X3": "no", "Y5": "yes", "X20": "yes"})


def test_many_independent_coins_need_no_search() -> None:
    coins = [Variable(f"coin{i}", ("heads", "tails")) for i in range(60)]
    network = Network(tuple(TabularCPD(coin, (), np.array([0.4, 0.6])) for coin in coins))
    found = compile_model(network).map([coin.name for coin in coins])
    assert set(found.states.values()) == {"tails"}
    assert found.log_probability == pytest.approx(60 * math.log(0.6))


def test_rows_are_completed_by_searches_where_a_plan_does_not_fit() -> None:
    model = grid(8, 1)
    frame = pd.DataFrame({"X0_0": ["1", None], "X8_8": ["0", "1"]})
    found = complete(model, frame, limits=TIGHT).frame
    exact = complete(model, frame).frame
    assert found.equals(exact)
