"""Messages laid out in compiled code: the very steps that Python makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.program.message_passing as compiled_messages
import bnmind.junction.program.program_inputs as program_inputs
from bnmind._jit import run_plainly
from bnmind.junction import compile_plan
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.program.layout_kernel import answered
from bnmind.junction.program.program import LookUp
from bnmind.pgm import Factor, FactorModel, Variable
from tests.large_networks import competition_model
from tests.modes import examples


def _compiled(
    model: FactorModel, *, pays: bool, run: Callable[..., Any], **asked: Any
) -> CompiledQuery:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_messages, "_pays", lambda *_: pays)
        patch.setattr(compiled_messages, "answered", run)
        patch.setattr(program_inputs, "_WORTH_LOOKING_UP", 4)
        return compile_plan(model, **asked).compiled


def _plainly(*arguments: Any) -> Any:
    return run_plainly(answered, *arguments)


def _require_equal(ours: CompiledQuery, theirs: CompiledQuery) -> None:
    assert ours.program.scopes == theirs.program.scopes
    assert ours.program.steps == theirs.program.steps
    assert ours.program.held == theirs.program.held
    assert ours.program.spent == theirs.program.spent
    assert [a.register for a in ours.answers] == [a.register for a in theirs.answers]


@st.composite
def models(draw: st.DrawFn) -> FactorModel:
    """Return a product of tables, some of which are functions."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=9))
    variables = [Variable(f"x{i}", tuple(map(str, range(n)))) for i, n in enumerate(sizes)]
    scopes = st.lists(st.sampled_from(variables), unique=True, min_size=1, max_size=4)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    factors = []
    for scope in draw(st.lists(scopes, min_size=1, max_size=16)):
        shape = [v.n_states for v in scope]
        values = rng.random(shape) + 0.1
        if draw(st.booleans()):
            values = np.moveaxis(np.eye(shape[0])[rng.integers(shape[0], size=shape[1:])], -1, 0)
        factors.append(Factor(tuple(scope), values))
    return FactorModel((*factors, *(Factor((v,), rng.random(v.n_states) + 0.1) for v in variables)))


@settings(max_examples=examples(60))
@given(models(), st.data())
def test_compiled_code_makes_the_steps_of_python(model: FactorModel, data: st.DataObject) -> None:
    names = [v.name for v in model.variables]
    observed = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    hidden = [name for name in names if name not in observed]
    targets: list[list[str]] | None = None
    if hidden and data.draw(st.sampled_from([False, True])):
        target = st.lists(st.sampled_from(hidden), unique=True, min_size=1, max_size=3)
        targets = data.draw(st.lists(target, min_size=1, max_size=4))
    asked = {"evidence": observed, "targets": targets}
    theirs = _compiled(model, pays=False, run=answered, **asked)
    _require_equal(_compiled(model, pays=True, run=_plainly, **asked), theirs)


def test_compiled_code_looks_rows_of_functions_up() -> None:
    a, b, c, d = (Variable(name, ("0", "1", "2")) for name in "abcd")
    rng = np.random.default_rng(0)
    function = np.moveaxis(np.eye(3)[rng.integers(3, size=(3, 3))], -1, 0)
    model = FactorModel(
        (
            *(Factor((a, b, c), function), Factor((a, d), rng.random((3, 3)))),
            *(Factor((v,), rng.random(3)) for v in (b, c, d)),
        )
    )
    theirs = _compiled(model, pays=False, run=answered)
    assert any(isinstance(step.operation, LookUp) for step in theirs.program.steps)
    had_room = []

    def watched(*arguments: Any) -> Any:
        had_room.append(_plainly(*arguments))
        return had_room[-1]

    _require_equal(_compiled(model, pays=True, run=watched), theirs)
    assert had_room == [True]


def test_python_makes_the_steps_if_there_is_no_room() -> None:
    a = Variable("a", ("0", "1"))
    others = [Variable(f"b{i}", ("0", "1")) for i in range(40)]
    # More operands than fit.
    tables = [Factor((a, b), np.array([[0.9, 0.2], [0.1, 0.8]])) for b in others]
    model = FactorModel((Factor((a, *others[:3]), np.full((2,) * 4, 0.5)), *tables, *tables))
    theirs = _compiled(model, pays=False, run=answered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_messages, "_STEPS", 0)
        _require_equal(_compiled(model, pays=True, run=_plainly), theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linkage_17", "Grids_11", "Segmentation_11"])
def test_competition_models_get_the_steps_of_python(name: str) -> None:
    model, evidence = competition_model(name)
    theirs = _compiled(model, pays=False, run=answered, evidence=evidence)
    _require_equal(_compiled(model, pays=True, run=answered, evidence=evidence), theirs)
