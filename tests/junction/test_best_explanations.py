"""The k most probable explanations, against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import compile_explanation
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.junction.test_most_probable import probability, questions, weighed
from tests.modes import examples

Question = tuple[Network, dict[str, str], dict[str, Floats]]


@settings(max_examples=examples(100))
@given(questions(), st.integers(1, 30))
def test_the_best_explanations_are_the_largest_cells_of_the_joint(
    question: Question, count: int
) -> None:
    network, hard, soft = question
    joint = weighed(network, hard, soft)
    plan = compile_explanation(network, evidence=hard, soft=soft)
    largest = np.sort(joint.values[joint.values > 0].ravel())[::-1][:count]
    if len(largest) == 0:
        with pytest.raises(ImpossibleEvidenceError):
            plan.best(count, {**hard, **soft})
        return
    found = plan.best(count, {**hard, **soft})
    reached = [probability(joint, dict(each.states) | hard) for each in found]
    assert reached == pytest.approx(largest.tolist(), rel=1e-9)
    logs = [each.log_probability for each in found]
    assert logs == pytest.approx(np.log(largest).tolist(), rel=1e-9, abs=1e-9)
    assert len({tuple(each.states.values()) for each in found}) == len(found)
    assert plan.best(count, {**hard, **soft}) == found


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_equally_probable_explanations_stand_in_the_order_of_their_states(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    variables = tuple(Variable.of_integers(f"X{i}", range(n)) for i, n in enumerate([2, 3, 2, 3]))
    factors = []
    for scope in ((0, 1), (1, 2), (3, 2), (3, 0)):
        shape = tuple(variables[i].n_states for i in scope)
        values = rng.choice([0.0, 1.0, 2.0, 4.0], size=shape)
        factors.append(Factor(tuple(variables[i] for i in scope), values))
    model = FactorModel(tuple(factors))
    names = [v.name for v in variables]
    cells: dict[tuple[int, ...], float] = {}
    for states in itertools.product(*(range(v.n_states) for v in variables)):
        at = dict(zip(names, states, strict=True))
        cells[states] = math.prod([float(f.select(at).values) for f in factors])
    slow = sorted((c for c in cells if cells[c] > 0), key=lambda c: (-cells[c], c))
    if not slow:
        with pytest.raises(ImpossibleEvidenceError):
            compile_explanation(model).best(count)
        return
    found = compile_explanation(model).best(count)
    assert len(found) == min(count, len(slow))
    reached = [tuple(int(each.states[name]) for name in names) for each in found]
    assert [cells[c] for c in reached] == [cells[c] for c in slow[: len(found)]]
    assert reached == sorted(reached, key=lambda c: (-cells[c], c))


def test_the_first_of_the_best_explanations_is_the_explanation() -> None:
    rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    network = Network(
        (
            TabularCPD(rain, (), np.array([0.8, 0.2])),
            TabularCPD(wet, (rain,), np.array([[0.9, 0.3], [0.1, 0.7]])),
        )
    )
    plan = compile_explanation(network, evidence=["wet"])
    first, second = plan.best(5, {"wet": "yes"})
    assert first == plan.run({"wet": "yes"})
    assert (dict(first.states), dict(second.states)) == ({"rain": "yes"}, {"rain": "no"})


def test_a_long_chain_has_thousands_of_best_explanations() -> None:
    rng = np.random.default_rng(2)
    variables = [Variable.of_integers(f"X{i}", range(3)) for i in range(60)]
    factors = [Factor(pair, rng.random((3, 3))) for pair in itertools.pairwise(variables)]
    found = compile_explanation(FactorModel(tuple(factors))).best(2_000)
    logs = [
        sum(math.log(f.values[tuple(int(each.states[v.name]) for v in f.scope)]) for f in factors)
        for each in found
    ]
    assert [each.log_probability for each in found] == pytest.approx(logs, abs=1e-9)
    assert np.all(np.diff(logs) <= 1e-9)
    assert len({tuple(each.states.values()) for each in found}) == 2_000


def test_a_plan_refuses_no_explanations_and_too_many() -> None:
    variables = [Variable.of_integers(f"X{i}", range(2)) for i in range(40)]
    factors = [
        Factor(pair, np.array([[1.0, 2.0], [3.0, 4.0]])) for pair in itertools.pairwise(variables)
    ]
    plan = compile_explanation(FactorModel(tuple(factors)))
    with pytest.raises(InvalidArgumentError, match="at least 1, got 0"):
        plan.best(0)
    with pytest.raises(TooLargeError, match="ask for fewer"):
        plan.best(10**9)
