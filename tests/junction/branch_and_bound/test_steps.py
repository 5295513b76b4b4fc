"""Searches of few nodes, under little memory, and for many cases."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import bnmind.junction.search_bounds as bounds_module
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import (
    Limits,
    compile_explanation,
    compile_model,
    compile_search,
)
from bnmind.pgm import Factor, FactorModel, Variable
from tests.junction.branch_and_bound.test_search import SMALL, grid, joint_of

LITTLE = Limits(max_bytes=2**11)


def test_a_longer_search_goes_on_where_a_shorter_one_ended() -> None:
    model = grid(5, 4)
    best = compile_explanation(model).run().log_probability
    search = compile_search(model, limits=SMALL)
    other = pickle.loads(pickle.dumps(search))
    known = [search.run(max_nodes=50)]
    while not known[-1].is_proven:
        known.append(search.run(max_nodes=50 * (len(known) + 1)))
        assert known[-1].log_probability <= best + 1e-9
        assert known[-1].upper_bound >= best - 1e-9
        assert known[-1].nodes == 50 * len(known) or known[-1].is_proven
    assert len(known) > 5
    assert [other.run(max_nodes=50 * n) for n in (2, 4)] == [known[1], known[3]]
    assert known[-1].log_probability == pytest.approx(best, rel=1e-12)
    assert search.run().states == known[-1].states


def test_cases_get_the_explanations_that_they_would_get_alone() -> None:
    model = grid(3, 2)
    never = Factor((model.variables[0],), np.array([1.0, 0.0]))
    search = compile_search(FactorModel((*model.potentials, never)), {"X2_2": "1"})
    cases = [{"X1_1": "0"}, {"X1_1": "1"}, {"X1_1": "0"}]
    first, other, again = (search.given(case).run() for case in cases)
    assert first == again == compile_search(search.model, {"X2_2": "1", **cases[0]}).run()
    assert other == compile_search(search.model, {"X2_2": "1", **cases[1]}).run() != first
    with pytest.raises(ImpossibleEvidenceError):
        search.given({"X0_0": "1"}).run()


@pytest.mark.parametrize("limits", [SMALL, LITTLE, Limits(max_bytes=2**13)])
@pytest.mark.parametrize("seed", [3, 4])
def test_the_best_marginal_maps_of_a_grid_are_the_largest_sums(limits: Limits, seed: int) -> None:
    model = grid(3, seed)
    targets = ["X0_0", "X1_1", "X0_2", "X2_1", "X2_2"]
    sums = joint_of(model).sum_to(targets)
    largest = np.sort(sums.values.ravel())[::-1]
    found = compile_search(model, targets=targets, limits=limits).best(7).proven()
    values = [sums.values[tuple(int(each.states[v]) for v in targets)] for each in found]
    assert values == pytest.approx(largest[:7].tolist(), rel=1e-9)
    logs = [each.log_probability for each in found]
    assert logs == pytest.approx(np.log(largest[:7]).tolist(), rel=1e-9, abs=1e-9)


def test_a_variable_without_influence_counts_with_all_its_states() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1", "2"))
    model = FactorModel((Factor((a,), np.array([1.0, 4.0])), Factor((b,), np.ones(3))))
    found = compile_search(model, targets=["a"]).run()
    assert dict(found.states) == {"a": "1"}
    assert found.log_probability == pytest.approx(math.log(4 * 3), rel=1e-12)


def test_ctrl_c_before_anything_is_found_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bnmind.junction.search.Progress.advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compile_search(grid(2, 1)).run()


@pytest.mark.parametrize("targets", [None, ["x0", "x1", "x2"]])
def test_where_the_bounds_are_exact_no_node_is_visited(targets: list[str] | None) -> None:
    # With enough memory no bucket of a chain is divided, so that the first dive has a proof.
    rng = np.random.default_rng(2)
    chain = [Variable.of_integers(f"x{i}", range(3)) for i in range(12)]
    model = FactorModel(tuple([Factor(p, rng.random((3, 3))) for p in itertools.pairwise(chain)]))
    found = compile_search(model, targets=targets).run()
    assert found.is_proven
    assert found.nodes == 0
    assert found.upper_bound == found.log_probability
    if targets is None:
        best = compile_explanation(model).run().log_probability
    else:
        best = compile_model(model).map(targets).log_probability
    assert found.log_probability == pytest.approx(best, rel=1e-12)


@pytest.mark.compiled
def test_a_hard_search_goes_on_with_tighter_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first bounds take little memory, and few nodes are visited before the next ones.
    for name, value in (("_FIRST_CELLS", 2**5), ("_GROWTH", 4), ("_THOROUGH", 1)):
        monkeypatch.setattr(bounds_module, name, value)
    model = grid(8, 2)
    exact = compile_explanation(model).best(60)
    search = compile_search(model, limits=Limits(max_bytes=2**18))
    known, bounds = search.run(max_nodes=20), set()
    while not known.is_proven:
        before, known = known, search.run(max_nodes=known.nodes + 20)
        assert known.upper_bound <= before.upper_bound
        assert known.log_probability >= before.log_probability
        bounds.add(known.upper_bound)
    assert len(bounds) > 2
    assert dict(known.states) == dict(exact[0].states)
    assert known.log_probability == pytest.approx(exact[0].log_probability, rel=1e-12)
    found = search.best(60)
    assert found.is_proven
    for one, other in zip(found.proven(), exact, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, rel=1e-12)
    # Questions with evidence on the same variable share the orders.
    for state_of in ("0", "1"):
        case = search.given({"X4_4": state_of}).run()
        whole = compile_explanation(model, evidence=["X4_4"]).run({"X4_4": state_of})
        assert case.log_probability == pytest.approx(whole.log_probability, rel=1e-12)
