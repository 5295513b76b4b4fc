"""Models with many zeros: circuits list what is possible, where plans do not fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bnmind.errors import TooLargeError
from bnmind.junction import Limits, compile_model, compile_plan
from bnmind.pgm import Factor, FactorModel, Variable


def ranking(n: int, comparisons: int, seed: int = 1) -> tuple[FactorModel, dict[str, str]]:
    """Return items in an unknown order, with noisy comparisons of pairs, and their results."""
    rng = np.random.default_rng(seed)
    places = tuple(map(str, range(n)))
    ranks = [Variable(f"r{i}", places) for i in range(n)]
    factors = [Factor(pair, 1 - np.eye(n)) for pair in itertools.combinations(ranks, 2)]
    better = np.where(np.arange(n)[:, None] < np.arange(n), 0.8, 0.2)
    for k in range(comparisons):
        i, j = rng.choice(n, 2, replace=False)
        result = Variable(f"c{k}", ("no", "yes"))
        factors.append(Factor((ranks[i], ranks[j], result), np.stack([1 - better, better], -1)))
    return FactorModel(tuple(factors)), {f"c{k}": "yes" for k in range(comparisons)}


def by_permutations(model: FactorModel, evidence: dict[str, str], n: int) -> tuple[Any, float]:
    """Return the marginals of the ranks and the logarithm of the sum, by enumeration."""
    orders = np.array(list(itertools.permutations(range(n))))
    weights = np.ones(len(orders))
    for factor in model.potentials:
        if len(factor.scope) == 3:
            i, j = (int(v.name[1:]) for v in factor.scope[:2])
            assert isinstance(factor, Factor)
            state = int(evidence[factor.scope[2].name] == "yes")
            weights *= factor.values[orders[:, i], orders[:, j], state]
    joints = {f"r{i}": np.bincount(orders[:, i], weights, n) / weights.sum() for i in range(n)}
    return joints, float(np.log(weights.sum()))


def test_a_plan_multiplies_its_zeros_and_an_engine_does_not() -> None:
    model, evidence = ranking(7, 12)
    whole = compile_plan(model, evidence=evidence)
    tight = Limits(2**31, whole.multiplications // 2)
    with pytest.raises(TooLargeError, match="a run of this plan would take"):
        compile_plan(model, evidence=evidence, limits=tight)
    expected, log = by_permutations(model, evidence, 7)
    for posterior in (
        whole.run(evidence),
        compile_model(model, limits=tight).posterior("r0", evidence),
    ):
        assert posterior.log_evidence == pytest.approx(log, rel=1e-12)
        np.testing.assert_allclose(posterior.marginals["r0"], expected["r0"], atol=1e-12)
