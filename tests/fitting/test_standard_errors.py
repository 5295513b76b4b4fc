"""Standard errors: multinomial for complete cases, the curvature of the likelihood otherwise."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bnmind.errors import TooLargeError
from bnmind.fitting import EM, BDeu, Fit, FitOptions, fit, network_of_structure
from bnmind.fitting.expectation import Expectation
from bnmind.information import Floats
from bnmind.pgm import Network, TabularCPD, Variable, noisy_or
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
    frame = drawn(60, 0.0, seed=4)[["c"]]
    options = FitOptions(starts=2, seed=1)
    errors = fit([("h", "c")], frame, hidden={"h": 2}, options=options).standard_errors()
    assert np.isnan(errors["c"]).all()


def test_noisy_nodes_have_no_errors_and_others_do() -> None:
    a, b, c = (Variable(name, ("False", "True")) for name in "abc")
    half = np.array([0.5, 0.5])
    cpds: Any = (TabularCPD(a, (), half), TabularCPD(b, (), half), noisy_or(c, (a, b), [0.5, 0.5]))
    frame = drawn(60, 0.1, seed=5)
    frame["b"] = frame["b"].map({"y": True, "x": False, "z": False}, na_action="ignore")
    frame.loc[(frame["a"] != True) & (frame["b"] != True), "c"] = None  # noqa: E712
    errors = fit(Network(cpds), frame).standard_errors()
    assert np.isnan(errors["c"]).all()
    assert np.isfinite(errors["a"]).all()


def test_errors_are_refused_where_a_junction_tree_completes_cases() -> None:
    fitted = fit(EDGES, drawn(30, 0.3, seed=6))
    layout, cases = fitted.em.layout, fitted.em.expectation.cases
    by_tree = EM(layout, Expectation.of(layout, cases, small=1, together=0))
    with pytest.raises(TooLargeError, match="depend on each other"):
        replace(fitted, em=by_tree).standard_errors()
