"""Models like those of the UAI 2014 competition, from file to answer, against opt_einsum."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import COMPETITION_TASKS, Limits, compile_model, compile_plan
from bnmind.pgm.competition import (
    read_evidence,
    read_explanation,
    read_log_evidence,
    read_marginals,
)
from bnmind.pgm.files import read_model
from tests.look_alikes import FAMILIES, LookAlike, evidence_text, model_text

opt_einsum = pytest.importorskip("opt_einsum")

SEEDS = 5
CLOSE = 1e-9


def _with_evidence(model: LookAlike) -> tuple[list[tuple[tuple[int, ...], Floats]], float]:
    """Return factors with the largest entry one, and the logarithm that they were divided by."""
    factors = [*model.factors]
    factors += [((v,), np.eye(model.sizes[v])[state]) for v, state in model.evidence.items()]
    factors += [((v,), np.ones(size)) for v, size in enumerate(model.sizes)]
    scaled, log = [], 0.0
    for scope, table in factors:
        largest = float(table.max())
        if largest > 0:
            log += math.log(largest)
            table = table / largest
        scaled.append((scope, table))
    return scaled, log


def _contracted(factors: list[tuple[tuple[int, ...], Floats]], keep: list[int]) -> Floats:
    operands: list[object] = []
    for scope, table in factors:
        operands += [table, list(scope)]
    result: Floats = opt_einsum.contract(*operands, keep, optimize="greedy")
    return result


def _largest_product(model: LookAlike) -> float:
    """Return the logarithm of the largest product of the factors, by variable elimination."""
    with np.errstate(divide="ignore"):
        tables = [(scope, np.log(table)) for scope, table in _with_evidence(model)[0]]
    left = set(range(len(model.sizes)))
    total = 0.0
    while left:
        union = {v: set().union(*[s for s, _ in tables if v in s]) for v in left}
        v = min(left, key=lambda u: (math.prod(model.sizes[w] for w in union[u]), u))
        left.remove(v)
        scope = tuple(sorted(union[v]))
        joint = np.zeros([model.sizes[w] for w in scope])
        for own, table in [t for t in tables if v in t[0]]:
            order = sorted(range(len(own)), key=lambda axis: own[axis])
            shape = [model.sizes[w] if w in own else 1 for w in scope]
            joint = joint + table.transpose(order).reshape(shape)
        tables = [t for t in tables if v not in t[0]]
        best = joint.max(axis=scope.index(v))
        rest = tuple(w for w in scope if w != v)
        if rest:
            tables.append((rest, best))
        else:
            total += float(best)
    return total + _with_evidence(model)[1]


def _log_product(model: LookAlike, states: list[int]) -> float:
    entries = [float(table[tuple(states[v] for v in scope)]) for scope, table in model.factors]
    return sum(math.log(entry) if entry > 0 else -math.inf for entry in entries)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("family", FAMILIES)
def test_all_tasks_agree_with_a_contraction(family: str, seed: int, tmp_path: Path) -> None:
    model = FAMILIES[family](np.random.default_rng([seed, len(family)]))
    check(model, tmp_path)


def check(model: LookAlike, folder: Path) -> None:
    """Compare the answers to PR, MAR and MPE."""
    path = folder / "model.uai"
    path.write_text(model_text(model))
    path.with_name("model.uai.evid").write_text(evidence_text(model))
    ours = read_model(path)
    evidence = read_evidence(path.with_name("model.uai.evid"), ours)
    engine = compile_model(ours)
    answers = {"PR": folder / "PR", "MAR": folder / "MAR", "MPE": folder / "MPE"}
    factors, log = _with_evidence(model)
    total = float(_contracted(factors, []))
    expected = math.log(total) + log if total > 0 else -math.inf
    answers["PR"].write_text(COMPETITION_TASKS["PR"].answer(engine, evidence))
    assert read_log_evidence(answers["PR"]) == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
    if total == 0:
        for task in ("MAR", "MPE"):
            with pytest.raises(ImpossibleEvidenceError):
                COMPETITION_TASKS[task].answer(engine, evidence)
        return
    answers["MAR"].write_text(COMPETITION_TASKS["MAR"].answer(engine, evidence))
    found = read_marginals(answers["MAR"], ours)
    plan = compile_plan(ours, evidence=evidence, limits=Limits(2**31, 2**36)).run(evidence)
    for v, variable in enumerate(ours.variables):
        marginal = _contracted(factors, [v]) / total
        np.testing.assert_allclose(found[variable.name], marginal, rtol=0, atol=CLOSE)
        if variable.name not in evidence:
            own = plan.marginals[variable.name]
            np.testing.assert_allclose(own, marginal, rtol=0, atol=CLOSE)
    answers["MPE"].write_text(COMPETITION_TASKS["MPE"].answer(engine, evidence))
    best = read_explanation(answers["MPE"], ours)
    states = [variable.index(best[variable.name]) for variable in ours.variables]
    assert all(states[v] == state for v, state in model.evidence.items())
    expected = _largest_product(model)
    assert _log_product(model, states) == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
