"""Standard errors: multinomial for complete cases, the curvature of the likelihood otherwise."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnmind
import bnmind.fitting.expectation as expectation_module
from bnmind.fitting import BDeu, Fit, FitOptions, fit, network_of_structure
from bnmind.information import Floats
from bnmind.pgm import Network, NoisyMaximum, NoisyMinimum, TabularCPD, Variable
from tests.fitting.twin import expected_counts

EDGES = [("a", "b"), ("b", "c"), ("a", "c")]


def drawn(n: int, missing: float, *, seed: int) -> pd.DataFrame:
    """Return cases of three dependent variables."""
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.4
    b = np.where(
        rng.random(n) < np.where(a, 0.7, 0.3), "y", np.where(rng.random(n) < 0.5, "x", "z")
    )
    c = rng.random(n) < np.where(b == "y", 0.8, 0.2) * np.where(a, 0.9, 0.6)
    frame = pd.DataFrame({"a": a, "b": b, "c": c}).astype(object)
    return frame.mask(rng.random(frame.shape) < missing)


def likelihood(
    network: Network, tables: dict[str, Floats], cases: Counter[tuple[tuple[str, int], ...]]
) -> float:
    """Return the log-likelihood of tables."""
    cpds = [TabularCPD(c.variable, c.parents, tables[c.variable.name]) for c in network.cpds]
    changed = Network(tuple(cpds))
    return sum(n * expected_counts(changed, [dict(case)])[0] for case, n in cases.items())


def twin(fitted: Fit, frame: pd.DataFrame) -> dict[str, Floats]:
    """Return standard errors from differences of the log-likelihood."""
    network = fitted.network
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    cases = Counter(
        tuple(
            (str(name), network.variable(str(name)).index(state))
            for name, state in row.items()
            if state is not None
        )
        for row in rows
    )
    tables = {c.variable.name: np.array(c.to_factor().values.real) for c in network.cpds}
    moves = []
    for name, table in tables.items():
        for at in np.ndindex(table.shape[1:]):
            moves += [(name, (state, *at), (0, *at)) for state in range(1, len(table))]

    def moved(steps: dict[int, float]) -> float:
        changed = {name: table.copy() for name, table in tables.items()}
        for number, step in steps.items():
            name, up, down = moves[number]
            changed[name][up] += step
            changed[name][down] -= step
        return likelihood(network, changed, cases)

    h, n = 1e-4, len(moves)
    hessian = np.zeros((n, n))
    middle = moved({})
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        if i == j:
            value = (moved({i: h}) - 2 * middle + moved({i: -h})) / h**2
        else:
            corners = [moved({i: s * h, j: t * h}) * s * t for s in (1, -1) for t in (1, -1)]
            value = sum(corners) / (4 * h * h)
        hessian[i, j] = hessian[j, i] = value
    covariance = np.linalg.inv(-hessian)
    errors = {}
    for name, table in tables.items():
        errors[name] = np.zeros(table.shape)
        for at in np.ndindex(table.shape):
            slope = np.array(
                [float(m[:2] == (name, at)) - float(m[::2] == (name, at)) for m in moves]
            )
            errors[name][at] = math.sqrt(slope @ covariance @ slope)
    return errors


def test_complete_cases_have_multinomial_errors() -> None:
    frame = drawn(80, 0.0, seed=1)
    fitted = fit(EDGES, frame)
    errors = fitted.standard_errors()
    for cpd in fitted.network.cpds:
        values = cpd.to_factor().values.real
        total = fitted.counts[cpd.variable.name].values.real.sum(axis=0)
        expected = np.sqrt(values * (1 - values) / total)
        inner = (values > 0) & (values < 1)
        np.testing.assert_allclose(errors[cpd.variable.name][inner], expected[inner], rtol=1e-10)
        assert np.isnan(errors[cpd.variable.name][~inner]).all()


def test_missing_cells_widen_errors_as_the_curvature_says() -> None:
    frame = drawn(60, 0.25, seed=2)
    frame["b"] = frame["b"].replace("z", "x")
    fitted = fit(EDGES[:2], frame, options=FitOptions(tolerance=1e-12, max_iterations=5000))
    errors = fitted.standard_errors()
    for name, expected in twin(fitted, frame).items():
        np.testing.assert_allclose(errors[name], expected, rtol=1e-3)


def test_priors_count_as_cases_and_fixed_tables_have_no_errors() -> None:
    frame = drawn(50, 0.0, seed=3)
    fitted = fit(network_of_structure(EDGES, frame), frame, prior=BDeu(12), fixed=["b"])
    errors = fitted.standard_errors()
    share = fitted.network.cpd("a").to_factor().values.real
    np.testing.assert_allclose(errors["a"], np.sqrt(share * (1 - share) / 62), rtol=1e-10)
    assert np.isnan(errors["b"]).all()


def test_parameters_that_cases_do_not_identify_have_no_errors() -> None:
    frame = drawn(60, 0.0, seed=4)
    options = FitOptions(starts=2, seed=1)
    edges = [("h", "c"), ("a", "b")]
    fitted = fit(edges, frame, hidden={"h": 2}, options=options)
    errors = fitted.standard_errors()
    assert np.isnan(errors["c"]).all()
    # The others have theirs.
    share = fitted.network.cpd("a").to_factor().values.real
    np.testing.assert_allclose(errors["a"], np.sqrt(share * (1 - share) / 60), rtol=1e-10)


def noisy_network(leak: float, model: Any) -> Network:
    """Return a noisy node of three states with two parents, one of them of three states."""
    a, b = Variable("a", ("False", "True")), Variable("b", ("x", "y", "z"))
    c = Variable("c", ("0", "1", "2"))
    tables = (TabularCPD(a, (), np.array([0.4, 0.6])), TabularCPD(b, (), np.array([0.5, 0.3, 0.2])))
    links = (
        np.array([[1.0, 0.5], [0.0, 0.3], [0.0, 0.2]]),
        np.array([[1.0, 0.6, 0.3], [0.0, 0.2, 0.4], [0.0, 0.2, 0.3]]),
    )
    return Network((*tables, model(c, (a, b), links, np.array([1 - leak, leak, 0.0]))))


def noisy_likelihood(
    fitted: Fit, values: Floats, cases: Counter[tuple[tuple[str, int], ...]]
) -> float:
    """Return the log-likelihood of parameters, as an obvious sum over all completions."""
    joint = np.ones((1, 1, 1))
    cells = fitted.em.layout.cells(values)
    for family, axes in enumerate(("a", "b", "cab")):
        table = fitted.em.layout.table(cells, family)
        joint = (
            joint
            * np.einsum(f"{axes}->{''.join(sorted(axes))}", table)[
                tuple(slice(None) if axis in axes else None for axis in "abc")
            ]
        )
    total = 0.0
    for case, n in cases.items():
        seen = dict(case)
        total += n * math.log(np.sum(joint[tuple(seen.get(axis, slice(None)) for axis in "abc")]))
    return total


@pytest.mark.parametrize("model", [NoisyMaximum, NoisyMinimum])
def test_noisy_nodes_have_the_errors_that_the_curvature_says(model: Any) -> None:
    network = noisy_network(0.15, model)
    if model is NoisyMinimum:
        # The least contribution: links that leave a cause without effect stand at the top.
        *tables, node = network.cpds
        assert isinstance(node, NoisyMaximum | NoisyMinimum)
        links = tuple(link[::-1] for link in node.links)
        leak = node.contributions[0][::-1, 0]
        network = Network((*tables, model(node.variable, node.parents, links, leak)))
    rng = np.random.default_rng(3)
    rows = bnmind.compile_model(network).sample(600, rng=rng).to_frame()
    frame = rows.astype(object).mask(rng.random(rows.shape) < 0.15)
    options = FitOptions(tolerance=1e-13, max_iterations=50_000)
    fitted = fit(network, frame, options=options)
    cases = Counter(
        tuple(
            (str(name), network.variable(str(name)).index(state))
            for name, state in row.items()
            if isinstance(state, str)
        )
        for row in frame.to_dict("records")
    )
    layout, values = fitted.em.layout, fitted.state.parameters
    # Free directions: every distribution, in tables and links, against its largest member.
    groups = [[0, 1], [2, 3, 4]]
    end = 5
    for part in layout.noisy[0].split(values[end:]):
        places = np.arange(part.size).reshape(part.shape) + end
        groups += [list(column) for column in places.T]
        end += part.size
    moves = []
    for group in groups:
        free = [place for place in group if 1e-6 < values[place] < 1 - 1e-6]
        top = max(free, key=lambda place: values[place], default=-1)
        moves += [
            np.eye(len(values))[place] - np.eye(len(values))[top] for place in free if place != top
        ]
    h = 1e-4
    n = len(moves)
    hessian = np.zeros((n, n))
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        corners = [
            s * t * noisy_likelihood(fitted, values + h * (s * moves[i] + t * moves[j]), cases)
            for s in (1, -1)
            for t in (1, -1)
        ]
        hessian[i, j] = hessian[j, i] = sum(corners) / (4 * h * h)
    covariance = np.linalg.inv(-hessian)
    slopes = np.array(
        [(layout.cells(values + h * m) - layout.cells(values - h * m)) / (2 * h) for m in moves]
    )
    expected = np.sqrt(np.einsum("ic,ij,jc->c", slopes, covariance, slopes))
    errors = fitted.standard_errors()
    for family, name in enumerate("abc"):
        found = errors[name]
        seen = ~np.isnan(found)
        assert seen.any()
        np.testing.assert_allclose(found[seen], layout.table(expected, family)[seen], rtol=2e-3)


def test_a_circuit_completes_cases_for_the_same_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = drawn(60, 0.25, seed=5)
    options = FitOptions(tolerance=1e-12, max_iterations=5000)
    listed = fit(EDGES, frame, prior=BDeu(6), options=options)
    monkeypatch.setattr(expectation_module, "_MOST", 0)
    by_circuit = fit(EDGES, frame, prior=BDeu(6), options=options)
    assert by_circuit.em.expectation.circuit is not None
    expected = listed.standard_errors()
    for name, errors in by_circuit.standard_errors().items():
        np.testing.assert_allclose(errors, expected[name], rtol=1e-8)


def test_no_error_exceeds_what_a_probability_can_have() -> None:
    a, b = Variable("a", ("x", "y")), Variable("b", ("x", "y"))
    half = np.full(2, 0.5)
    network = Network((TabularCPD(a, (), half), TabularCPD(b, (a,), np.full((2, 2), 0.5))))
    rows = [("x", "x")] * 60 + [("x", "y")] * 40 + [("y", None)] * 20 + [(None, "y")] * 30
    frame = pd.DataFrame([*rows, ("y", "x"), ("y", "y")], columns=["a", "b"])
    fitted = fit(network, frame)
    for table in fitted.standard_errors().values():
        assert not np.any(table > 0.5)
