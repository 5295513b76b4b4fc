"""The most probable explanations by branch and bound, against enumeration."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import Limits, compile_explanation, compile_model, compile_search
from bnmind.junction.search import BestExplanations
from bnmind.pgm import FactorModel, Network
from tests.junction.branch_and_bound.test_search import (
    SMALL,
    factor_models,
    grid,
    joint_of,
    product_at,
)
from tests.junction.test_most_probable import probability, questions, weighed
from tests.modes import examples

MEMORY = st.sampled_from([SMALL, Limits(max_bytes=2**13), Limits()])
Question = tuple[Network, dict[str, str], dict[str, Floats]]


@settings(max_examples=examples(50))
@given(factor_models(max_variables=6), st.integers(1, 40), MEMORY)
def test_the_best_configurations_are_the_largest_cells(
    model: FactorModel, count: int, limits: Limits
) -> None:
    cells = joint_of(model).values.ravel()
    largest = np.sort(cells[cells > 0])[::-1]
    search = compile_search(model, limits=limits)
    if not len(largest):
        with pytest.raises(ImpossibleEvidenceError):
            search.best(count)
        return
    found = search.best(count)
    explanations = found.proven()
    assert found.is_proven
    assert found.gap == 0
    assert found.n_proven == len(explanations) == min(count, len(largest))
    reached = [product_at(model, each.states) for each in explanations]
    assert reached == pytest.approx(largest[:count].tolist(), rel=1e-9)
    logs = [each.log_probability for each in explanations]
    assert logs == pytest.approx(np.log(largest[:count]).tolist(), rel=1e-9, abs=1e-9)
    assert len({tuple(each.states.values()) for each in explanations}) == len(explanations)
    others = largest[count:]
    if len(others):
        assert found.upper_bound >= math.log(others[0]) - 1e-9
    assert search.best(count) == found


@settings(max_examples=examples(25))
@given(questions(), st.integers(1, 20), st.sampled_from([SMALL, Limits()]))
def test_the_best_explanations_of_networks(question: Question, count: int, limits: Limits) -> None:
    network, hard, soft = question
    joint = weighed(network, hard, soft)
    largest = np.sort(joint.values[joint.values > 0].ravel())[::-1][:count]
    search = compile_search(network, {**hard, **soft}, limits=limits)
    try:
        found = search.best(count).proven()
    except TooLargeError:
        assert 8 * max(cpd.n_cells for cpd in network.cpds) > limits.max_bytes
        return
    except ImpossibleEvidenceError:
        assert not len(largest)
        return
    reached = [probability(joint, dict(each.states) | hard) for each in found]
    assert reached == pytest.approx(largest.tolist(), rel=1e-9)
    assert len({tuple(each.states.values()) for each in found}) == len(found)


@settings(max_examples=examples(30))
@given(factor_models(max_variables=6), st.integers(1, 12), st.data())
def test_the_best_marginal_maps_are_the_largest_cells_of_the_joint(
    model: FactorModel, count: int, data: st.DataObject
) -> None:
    names = [v.name for v in model.variables]
    targets = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    limits = data.draw(st.sampled_from([Limits(max_bytes=2**13), Limits()]))
    joint = joint_of(model).sum_to(targets)
    largest = np.sort(joint.values[joint.values > 0].ravel())[::-1][:count]
    if not len(largest):
        return
    found = compile_search(model, targets=targets, limits=limits).best(count).proven()
    reached = [
        float(joint.values[tuple(int(each.states[name]) for name in targets)]) for each in found
    ]
    assert reached == pytest.approx(largest.tolist(), rel=1e-9)
    logs = [each.log_probability for each in found]
    assert logs == pytest.approx(np.log(largest).tolist(), rel=1e-9, abs=1e-9)
    assert len({tuple(each.states.values()) for each in found}) == len(found)


@settings(max_examples=examples(12))
@given(factor_models(max_variables=6), st.integers(2, 10))
def test_every_bound_on_the_way_is_valid(model: FactorModel, count: int) -> None:
    largest = np.sort(joint_of(model).values.ravel())[::-1]
    if largest[0] == 0:
        return
    seen: list[BestExplanations] = []

    def until(found: BestExplanations) -> bool:
        seen.append(found)
        return False

    search = compile_search(model, limits=SMALL)
    last = search.best(count, until=until)
    for most in range(1, min(12, last.nodes)):
        seen.append(search.best(count, max_nodes=most))
    for found in seen:
        logs = [each.log_probability for each in found.explanations]
        assert np.all(np.diff(logs) <= 1e-9)
        assert len(logs) <= count
        known = [product_at(model, each.states) for each in found.explanations]
        assert np.exp(logs) == pytest.approx(known, rel=1e-9)
        # The largest value that is not among those known.
        rest = list(largest)
        for value in known:
            rest.remove(min(rest, key=lambda cell: abs(cell - value)))
        if rest and rest[0] > 0:
            assert found.upper_bound >= math.log(rest[0]) - 1e-9
        assert known[: found.n_proven] == pytest.approx(largest[: found.n_proven].tolist())


def test_the_best_of_a_grid_are_those_of_the_exact_plan() -> None:
    model = grid(7, 1)
    exact = compile_explanation(model).best(30)
    found = compile_search(model, limits=Limits(max_bytes=2**14)).best(30)
    assert [dict(each.states) for each in found.explanations] == [
        dict(each.states) for each in exact
    ]


def test_a_search_for_several_ends_with_the_gap() -> None:
    search = compile_search(grid(7, 2), limits=Limits(max_bytes=2**11))
    none = search.best(5, max_nodes=1)
    assert none.gap > 0
    found = search.best(5, max_nodes=50)
    assert not found.is_proven
    assert found.gap == found.upper_bound - found.explanations[-1].log_probability > 0
    with pytest.raises(TooLargeError, match=r"50 nodes without .* 1 explanation, of which 0"):
        found.proven()
    assert search.best(5, seconds=0).explanations == ()
    assert search.best(5, seconds=0).gap == math.inf
    whole = search.best(5).nodes
    first = search.run().nodes
    part = search.best(5, max_nodes=(first + whole) // 2)
    assert part.n_proven >= 1
    assert pickle.loads(pickle.dumps(part)) == part


def test_too_few_and_too_many_explanations_are_refused() -> None:
    search = compile_search(grid(12, 2))
    with pytest.raises(InvalidArgumentError, match="count to be a whole number of at least 1"):
        search.best(0)
    with pytest.raises(TooLargeError, match="ask for fewer"):
        search.best(2**30)


def test_ctrl_c_returns_the_best_known() -> None:
    def until(found: BestExplanations) -> bool:
        raise KeyboardInterrupt

    search = compile_search(grid(12, 3), limits=Limits(max_bytes=2**12))
    assert len(search.best(3, until=until).explanations) >= 1


@settings(max_examples=examples(15))
@given(factor_models(max_variables=6), st.data())
def test_cases_have_the_results_of_single_searches(model: FactorModel, data: st.DataObject) -> None:
    state = {v.name: st.sampled_from(v.states) for v in model.variables}
    cases = data.draw(st.lists(st.fixed_dictionaries({}, optional=state), max_size=5))
    limits = data.draw(MEMORY)
    explained = data.draw(st.booleans())
    targets = None
    if explained:
        targets = [model.variables[0].name]
        cases = [{n: s for n, s in case.items() if n not in targets} for case in cases]
    search = compile_search(model, targets=targets, limits=limits)
    for case in cases:
        try:
            alone = compile_search(model, case, targets, limits=limits).run()
        except ImpossibleEvidenceError:
            with pytest.raises(ImpossibleEvidenceError):
                search.given(case).run()
            continue
        except TooLargeError:  # of a table, or of the sums over what is not explained
            cells = max(math.prod(v.n_states for v in f.scope) for f in model.potentials)
            assert limits == SMALL
            assert explained or 8 * cells > SMALL.max_bytes
            return
        found = search.given(case).run()
        assert found.is_proven
        assert found.log_probability == pytest.approx(alone.log_probability, rel=1e-9, abs=1e-9)
        assert list(found.states) == list(alone.states)


def test_cases_add_to_the_evidence_of_the_search() -> None:
    model = grid(5, 1)
    search = compile_search(model, {"X0_0": "1"}, limits=Limits(max_bytes=2**12))
    cases: list[dict[str, Any]] = [
        *({"X1_1": "0"}, {"X1_1": "1"}, {"X1_1": "0"}, {"X2_2": [0.5, 1.0]})
    ]
    found = [search.given(case).run() for case in cases]
    assert found[0] == found[2]
    for case, each in zip(cases, found, strict=True):
        alone = compile_search(model, {"X0_0": "1", **case}).run()
        assert dict(each.states) == dict(alone.states)
    with pytest.raises(InvalidArgumentError, match="X0_0 is evidence of the search already"):
        search.given({"X0_0": "0"})
    with pytest.raises(InvalidArgumentError, match="both explained and evidence"):
        compile_search(model, targets=["X1_1"]).given({"X1_1": "0"})


def test_engines_search_for_the_best_explanations_where_a_plan_does_not_fit() -> None:
    model = grid(8, 1)
    tight = compile_model(model, limits=Limits(max_bytes=2**14))
    seen = {"X0_0": "1"}
    exact = compile_model(model).best_explanations(4, seen)
    assert [dict(each.states) for each in tight.best_explanations(4, seen)] == [
        dict(each.states) for each in exact
    ]


def test_engines_return_the_best_marginal_maps() -> None:
    model = grid(4, 2)
    names = ["X0_0", "X1_2", "X3_3"]
    found = compile_model(model).best_explanations(5, {"X2_2": "1"}, targets=names)
    joint = compile_model(model).joint(names, {"X2_2": "1"})
    slow = sorted(itertools.product("01", repeat=3), key=lambda states: -joint[states])
    assert [tuple(each.states[name] for name in names) for each in found] == slow[:5]


def test_the_best_one_alone_takes_the_nodes_of_a_single_search() -> None:
    search = compile_search(grid(5, 1), limits=Limits(max_bytes=2**12))
    assert 0 < search.best(1).nodes == search.run().nodes
