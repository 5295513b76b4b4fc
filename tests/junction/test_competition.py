"""The tasks of the competitions against enumeration, on models of factors and of probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.junction import COMPETITION_TASKS, compile_model
from bnmind.pgm import Factor, FactorModel, Variable
from bnmind.pgm.competition import read_explanation, read_log_evidence, read_marginals
from tests.modes import examples
from tests.networks import enumerate_joint, factor_models


def restricted(model: FactorModel, evidence: Mapping[str, str]) -> np.ndarray:
    """Return the product of the factors over all variables, zero where the evidence is not."""
    joint = enumerate_joint(model).values.copy()
    for axis, variable in enumerate(model.variables):
        if variable.name in evidence:
            keep = np.arange(variable.n_states) == variable.index(evidence[variable.name])
            joint *= keep.reshape([-1 if i == axis else 1 for i in range(joint.ndim)])
    return joint


def in_file(text: str) -> Path:
    """Return a file with a text."""
    path = Path(mkdtemp()) / "answer"
    path.write_text(text)
    return path


@settings(max_examples=examples(20))
@given(factor_models(), st.data())
def test_tasks_agree_with_enumeration(signed: FactorModel, data: st.DataObject) -> None:
    tables = [table for table in signed.potentials if isinstance(table, Factor)]
    positive = tuple(Factor(table.scope, np.abs(table.values).round(1)) for table in tables)
    model = FactorModel(positive, signed.variables)
    variables = model.variables
    names = [v.name for v in variables]
    seen = data.draw(st.lists(st.sampled_from(variables), unique=True, max_size=2))
    evidence = {v.name: data.draw(st.sampled_from(v.states)) for v in seen}
    query = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3))
    joint = restricted(model, evidence)
    engine, total = compile_model(model), float(joint.sum())
    if total <= 0:
        with pytest.raises(ImpossibleEvidenceError):
            COMPETITION_TASKS["MAR"].answer(engine, evidence)
        return
    found = read_log_evidence(in_file(COMPETITION_TASKS["PR"].answer(engine, evidence)))
    assert found == pytest.approx(math.log(total), abs=1e-9)
    marginals = read_marginals(in_file(COMPETITION_TASKS["MAR"].answer(engine, evidence)), model)
    for axis, name in enumerate(names):
        others = tuple(i for i in range(len(names)) if i != axis)
        np.testing.assert_allclose(marginals[name], joint.sum(axis=others) / total, atol=1e-9)

    def weight(states: Mapping[str, str], table: np.ndarray) -> float:
        chosen = [v for v in variables if v.name in states]
        return float(table[tuple(v.index(states[v.name]) for v in chosen)])

    best = read_explanation(in_file(COMPETITION_TASKS["MPE"].answer(engine, evidence)), model)
    assert weight(best, joint) == pytest.approx(joint.max(), rel=1e-9)
    text = COMPETITION_TASKS["MMAP"].answer(engine, evidence, query)
    some = read_explanation(in_file(text), model)
    assert list(some) == query
    left = joint.sum(axis=tuple(i for i, name in enumerate(names) if name not in query))
    assert weight(some, left) == pytest.approx(left.max(), rel=1e-9)


def test_a_query_belongs_to_the_task_that_needs_it() -> None:
    coin = Variable("coin", ("heads", "tails"))
    engine = compile_model(FactorModel((Factor((coin,), np.array([1.0, 3.0])),)))
    with pytest.raises(InvalidArgumentError, match="needs variables to explain"):
        COMPETITION_TASKS["MMAP"].answer(engine, {})
    for name in ("PR", "MAR", "MPE"):
        with pytest.raises(InvalidArgumentError, match=r"takes no variables, got \['coin'\]"):
            COMPETITION_TASKS[name].answer(engine, {}, ["coin"])


def test_the_registry_is_read_only() -> None:
    with pytest.raises(TypeError):
        COMPETITION_TASKS["X"] = COMPETITION_TASKS["PR"]  # type: ignore[index]


def test_the_answers_of_several_samples_stand_below_their_number() -> None:
    first, second = (Variable(name, ("0", "1", "2")) for name in ("first", "second"))
    table = np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 1.0], [4.0, 6.0, 9.0]])
    engine = compile_model(FactorModel((Factor((first, second), table),)))
    samples = [{"first": "0"}, {"first": "1"}, {"first": "2"}]
    task = COMPETITION_TASKS["MPE"]
    assert task.answer(engine, samples[:1]) == task.answer(engine, samples[0]) == "MPE\n2 0 1\n"
    assert task.answer(engine, samples) == "MPE\n3\n2 0 1\n2 1 0\n2 2 2\n"
    # The next best ones have lines of their own.
    assert task.answer(engine, {"first": "2"}, count=2) == "MPE\n2 2 2\n2 2 1\n"
    with pytest.raises(InvalidArgumentError, match="a single answer, got count=2"):
        COMPETITION_TASKS["PR"].answer(engine, {}, count=2)
