"""Answers of engines to rare questions: counts of look-alikes, the competitions, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError
from bnmind.junction import COMPETITION_TASKS, Limits, compile_model
from bnmind.pgm import Factor, FactorModel, Variable

FIRST, SECOND = (Variable(name, ("0", "1", "2")) for name in ("first", "second"))
PAIR = FactorModel(
    (Factor((FIRST, SECOND), np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 0.0], [4.0, 6.0, 9.0]])),)
)


def test_look_alikes_are_answered_by_counts_where_every_tree_is_too_large() -> None:
    # k of the x and m of the y are in state 1, each pair of these with a factor 1.1.
    n, both = 16, np.array([[1.0, 1.0], [1.0, 1.1]])
    xs, ys = ([Variable.of_integers(f"{c}{i}", range(2)) for i in range(n)] for c in "xy")
    pairs = FactorModel(tuple([Factor((x, y), both) for x in xs for y in ys]))
    engine = compile_model(pairs, limits=Limits(max_bytes=2**17, max_multiplications=2**12))
    ways = np.array([math.comb(n, k) for k in range(n + 1)])
    k, m = np.ogrid[: n + 1, : n + 1]
    weights = ways[:, None] * ways * 1.1 ** (k * m)
    chance = float((weights * k).sum() / n / weights.sum())
    found = engine.posterior([(), "x0", "y7"])
    assert found.log_evidence == pytest.approx(math.log(weights.sum()), rel=1e-12)
    assert [tuple(v.name for v in scope) for scope in found.scopes] == [(), ("x0",), ("y7",)]
    assert found.joints[0] == 1
    for joint in found.joints[1:]:
        np.testing.assert_allclose(joint, [1 - chance, chance], rtol=1e-10)
    # Once x1 is in state 1, k of the other x are.
    ways_of_others = np.array([math.comb(n - 1, k) for k in range(n)])
    weights = ways_of_others[:, None] * ways * 1.1 ** ((k[:n] + 1) * m)
    found = engine.posterior(["x0"], {"x1": "1"})
    given = float((weights * k[:n]).sum() / (n - 1) / weights.sum())
    assert found["x0"].probabilities[1] == pytest.approx(given, rel=1e-10)
    assert found.log_evidence == pytest.approx(math.log(weights.sum()), rel=1e-12)


def test_answers_to_the_competitions_where_the_evidence_says_it_all() -> None:
    engine, everything = compile_model(PAIR), {"first": "0", "second": "1"}
    tasks = COMPETITION_TASKS
    head, text = tasks["PR"].answer(engine, everything).split()
    assert head == "PR"
    assert float(text) == pytest.approx(math.log10(5))
    never = {"first": "1", "second": "2"}
    assert float(tasks["PR"].answer(engine, never).split()[1]) == -math.inf
    marginals = tasks["MAR"].answer(engine, everything).split()
    assert list(map(float, marginals[1:])) == [2, 3, 1, 0, 0, 3, 0, 1, 0]
    assert tasks["MPE"].answer(engine, everything) == "MPE\n2 0 1\n"
    assert tasks["MMAP"].answer(engine, everything, ["second"]) == "MMAP\n1 1 1\n"
    assert tasks["MMAP"].answer(engine, {"first": "0"}, ["first", "second"]) == "MMAP\n2 0 0 1 1\n"
    # The sums of the columns are 12, 14 and 11.
    assert tasks["MMAP"].answer(engine, {}, ["second"], count=3) == "MMAP\n1 1 1\n1 1 0\n1 1 2\n"
    for name, query in (("MAR", ()), ("MMAP", ("first",))):
        with pytest.raises(ImpossibleEvidenceError):
            tasks[name].answer(engine, never, query)


def test_the_entropy_of_negative_factors_is_refused() -> None:
    signed = Factor((FIRST,), np.array([2.0, -1.0, 1.0]))
    with pytest.raises(InvalidModelError) as refused:
        compile_model(FactorModel((signed, *PAIR.potentials))).entropy()
    assert str(refused.value) == (
        "the entropy needs factors without negative or complex numbers; that of first has some"
    )
