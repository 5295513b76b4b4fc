"""Answers of engines to rare questions: the competitions, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError
from bnmind.junction import COMPETITION_TASKS, compile_model
from bnmind.pgm import Factor, FactorModel, Variable

FIRST, SECOND = (Variable(name, ("0", "1", "2")) for name in ("first", "second"))
PAIR = FactorModel(
    (Factor((FIRST, SECOND), np.array([[1.0, 5.0, 2.0], [7.0, 3.0, 0.0], [4.0, 6.0, 9.0]])),)
)


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
