"""Runs by compiled code: the numbers of NumPy's, and nothing lost that NumPy would have noticed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.compiled_query as compiled_query
import bnmind.junction.runs as compiled_run
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import Limits, Posterior, compile_plan
from bnmind.pgm import Factor, FactorModel, Network, Variable
from tests.modes import examples
from tests.networks import networks
from tests.wheel import ask, read_wheel, state_names


@pytest.fixture
def _always_compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_query, "should_be_flat", lambda *_: True)
        yield


def chain(n: int, weight: float, *, signs: bool = False) -> FactorModel:
    """Return factors of n + 1 variables that are ``weight`` times numbers from 1 to 5."""
    x = [Variable(f"x{i}", ("0", "1")) for i in range(n + 1)]
    values = weight * np.array([[1.0, 3.0], [5.0, -0.5 if signs else 2.0]])
    return FactorModel(tuple(Factor((x[i], x[i + 1]), values) for i in range(n)))


@settings(max_examples=examples(40))
@given(networks(max_variables=7, max_states=3), st.data())
def test_answers_are_those_in_numpy(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    kinds = data.draw(st.lists(st.integers(0, 2), min_size=len(names), max_size=len(names)))
    hard = [name for name, kind in zip(names, kinds, strict=True) if kind == 0]
    soft = [name for name, kind in zip(names, kinds, strict=True) if kind == 1]
    plan = compile_plan(network, evidence=hard, soft=soft)
    findings = {x: data.draw(st.sampled_from(network.variable(x).states)) for x in hard}
    first: Posterior | None
    try:
        first = plan.run(findings)
    except ImpossibleEvidenceError:
        first = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_query, "should_be_flat", lambda *_: True)
        if first is None:
            with pytest.raises(ImpossibleEvidenceError):
                plan.run(findings)
            return
        second = plan.run(findings)
    assert second.log_evidence == pytest.approx(first.log_evidence, abs=1e-12)
    for mine, other in zip(second.joints, first.joints, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-14)


@pytest.mark.usefixtures("_always_compiled")
@pytest.mark.parametrize("weight", [1.0, 1e-12, 1e-150, 1e150])
@pytest.mark.parametrize("n", [2, 30])
def test_products_out_of_range_are_scaled(n: int, weight: float) -> None:
    """Sums of 1e-4500 or 1e4500: the compiled run says that it cannot, and NumPy scales."""
    found = compile_plan(chain(n, weight), targets=[["x0"], [f"x{n}"]]).run()
    expected = compile_plan(chain(n, 1.0), targets=[["x0"], [f"x{n}"]]).run()
    assert found.log_evidence == pytest.approx(
        expected.log_evidence + n * math.log(weight), rel=1e-13
    )
    for mine, other in zip(found.joints, expected.joints, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "weight", "stays"),
    [
        (3, 1.0, True),
        (300, 1.0, True),
        (1_100, 0.2, True),  # the bounds alone would be 2^-2500
        (5, 1e-100, False),
        (5, 1e100, False),
        (5, 1e200, False),
    ],
)
def test_ranges_are_proven_by_the_numbers(n: int, weight: float, stays: bool) -> None:
    """Where bounds of all operands together would be too wide, the operands themselves decide."""
    plan = compile_plan(chain(n, weight), targets=[["x0"]])
    compiled = plan.compiled
    tables = [table for table in compiled.unchanging if table is not None]
    record = compiled_run.flat_program(compiled.program, tables).run_in_range(tables)
    assert (record is not None) == stays
    if stays:
        _, _, has_lost = compiled.program.run(tables)
        assert not has_lost


@pytest.mark.usefixtures("_always_compiled")
def test_zeros_are_no_underflow() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    model = FactorModel((Factor((a,), np.zeros(2)), Factor((a, b), np.ones((2, 2)))))
    with pytest.raises(ImpossibleEvidenceError):
        compile_plan(model, targets=[["b"]]).run()


@pytest.mark.usefixtures("_always_compiled")
def test_negative_factors_keep_their_digits() -> None:
    model = chain(12, 1.0, signs=True)
    found = compile_plan(model, targets=[["x0"]]).run()
    transfer = np.array([[1.0, 3.0], [5.0, -0.5]])
    sums = np.linalg.matrix_power(transfer, 12).sum(axis=1)
    np.testing.assert_allclose(found.joints[0], sums / sums.sum(), rtol=1e-10)


def test_a_plan_changes_to_compiled_code_and_its_answer_stays() -> None:
    network = read_wheel("alarm")
    question = ask(network, "leaves")
    findings = state_names(network, question.findings)
    plan = compile_plan(network, evidence=findings)
    first = plan.run(findings)
    for _ in range(40):
        again = plan.run(findings)
    assert again.log_evidence == pytest.approx(first.log_evidence, abs=1e-12)
    for mine, other in zip(again.joints, first.joints, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-14)
        assert not mine.flags.writeable


def test_registers_that_do_not_fit_stay_with_numpy() -> None:
    network = read_wheel("alarm")
    plan = compile_plan(network)
    assert plan.compiled._may_be_flat
    narrow = compile_plan(network, limits=Limits(max_bytes=plan.memory))
    assert not narrow.compiled._may_be_flat
