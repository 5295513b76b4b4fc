"""Bounds against the corners of one table, and against random choices of several tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.sensitivity import posterior_bounds
from bnmind.sensitivity.analysis import greedy_rows
from tests.sensitivity.test_analysis import GARDEN, posterior_of


def changed(tables: dict[str, np.ndarray]) -> Network:
    """Return the garden with other tables."""
    return Network(
        tuple(
            TabularCPD(cpd.variable, cpd.parents, tables[cpd.variable.name])
            if cpd.variable.name in tables
            else cpd
            for cpd in GARDEN.cpds
        )
    )


def rain_given(network: Network, findings: dict[str, Any]) -> float:
    """Return P(rain=yes | findings) from the enumerated joint."""
    posterior = posterior_of(network, "rain", findings)
    assert posterior is not None
    return float(posterior[1])


def corners(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """Return the corners of the distributions within intervals: at most one entry is inside."""
    found = []
    for free in range(len(low)):
        others = [i for i in range(len(low)) if i != free]
        for ends in itertools.product(*[(low[i], high[i]) for i in others]):
            row = np.zeros(len(low))
            row[others] = ends
            row[free] = 1 - sum(ends)
            if low[free] - 1e-12 <= row[free] <= high[free] + 1e-12:
                found.append(row)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_one_row_are_those_of_its_corners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = GARDEN.cpd("slip").to_factor().values
    low, high = table.copy(), table.copy()
    low[:, 1] = np.maximum(table[:, 1] - rng.uniform(0, 0.3, 3), 0)
    high[:, 1] = np.minimum(table[:, 1] + rng.uniform(0, 0.3, 3), 1)
    findings = {"slip": "maybe"}
    found = posterior_bounds(GARDEN, "rain", "yes", findings, intervals={"slip": (low, high)})
    values = []
    for row in corners(low[:, 1], high[:, 1]):
        moved = table.copy()
        moved[:, 1] = row
        values.append(rain_given(changed({"slip": moved}), findings))
    assert found.is_exact
    assert (found.low, found.high) == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_one_table_are_those_of_the_corners_of_its_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = GARDEN.cpd("slip").to_factor().values
    low = np.maximum(table - rng.uniform(0, 0.3, table.shape), 0)
    high = np.minimum(table + rng.uniform(0, 0.3, table.shape), 1)
    found = posterior_bounds(
        GARDEN, "rain", "yes", {"slip": "maybe"}, intervals={"slip": (low, high)}
    )
    rows = [corners(low[:, i], high[:, i]) for i in range(2)]
    values = [
        rain_given(changed({"slip": np.stack(choice, axis=1)}), {"slip": "maybe"})
        for choice in itertools.product(*rows)
    ]
    assert found.is_exact
    assert (found.low, found.high) == pytest.approx((min(values), max(values)), abs=1e-12)


def test_bounds_of_several_tables_contain_every_choice() -> None:
    intervals = {}
    for cpd in GARDEN.cpds:
        values = cpd.to_factor().values
        intervals[cpd.variable.name] = (np.maximum(values - 0.05, 0), np.minimum(values + 0.05, 1))
    findings = {"slip": "maybe"}
    found = posterior_bounds(GARDEN, "rain", "yes", findings, intervals=intervals)
    assert not found.is_exact
    assert found.low <= found.attained_low < found.attained_high <= found.high
    rng = np.random.default_rng(0)
    found_values: list[float] = []
    for _ in range(200):
        tables: dict[str, np.ndarray] = {}
        for name, (low, high) in intervals.items():
            tables[name] = np.clip(greedy_rows(rng.normal(size=low.shape), low, high), 0, 1)
        found_values.append(rain_given(changed(tables), findings))
    assert found.low <= min(found_values)
    assert max(found_values) <= found.high
    # These corners attain the bounds that were found table by table.
    assert min(found_values) == pytest.approx(found.attained_low, abs=1e-9)
    assert max(found_values) == pytest.approx(found.attained_high, abs=1e-9)


def test_certain_and_irrelevant_tables_leave_the_posterior_as_it_is() -> None:
    values = GARDEN.cpd("slip").to_factor().values
    wide = (np.zeros(values.shape), np.ones(values.shape))
    found = posterior_bounds(GARDEN, "rain", "yes", {"wet": "yes"}, intervals={"slip": wide})
    exact = rain_given(GARDEN, {"wet": "yes"})
    assert found.is_exact
    assert (found.low, found.high) == pytest.approx((exact, exact))
    known = posterior_bounds(
        GARDEN, "rain", "yes", {"slip": "no"}, intervals={"slip": (values, values)}
    )
    assert known.low == known.high


def test_rows_outside_of_their_intervals_are_moved_into_them() -> None:
    low, high = np.array([0.1, 0.5]), np.array([0.5, 0.9])
    found = posterior_bounds(GARDEN, "rain", "yes", {"wet": "yes"}, intervals={"rain": (low, high)})
    ends = [rain_given(changed({"rain": np.array([1 - p, p])}), {"wet": "yes"}) for p in (0.5, 0.9)]
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert str(found).startswith("exactly from")


def test_improbable_evidence_has_bounds() -> None:
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(170)]
    rare = Variable("rare", ("no", "yes"))
    network = Network(
        (
            TabularCPD(rare, (), np.array([0.75, 0.25])),
            *(TabularCPD(v, (rare,), np.array([[0.9, 0.9], [0.1, 0.1]])) for v in signs),
        )
    )
    ranges = {
        "rare": (np.array([0.7, 0.2]), np.array([0.8, 0.3])),
        "sign0": (np.array([[0.85, 0.85], [0.05, 0.05]]), np.array([[0.95, 0.95], [0.15, 0.15]])),
    }
    findings = {v.name: "yes" for v in signs}
    found = posterior_bounds(network, "rare", "yes", findings, intervals=ranges)
    least = 0.2 * 0.05 / (0.2 * 0.05 + 0.8 * 0.15)
    assert found.attained_low == pytest.approx(least, abs=1e-9)
    assert 0 < found.low <= found.attained_low
    assert found.attained_high <= found.high < 1


def test_intervals_that_hold_no_distribution_are_refused() -> None:
    two = np.array([0.5, 0.5])
    for low, high, message in (
        (two + 0.1, two + 0.2, "no distribution"),
        (two, two - 0.1, "least number first"),
        (np.zeros(3), np.ones(3), "shape"),
        (["a", "b"], two, "numbers"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            posterior_bounds(GARDEN, "rain", "yes", intervals={"rain": (low, high)})
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        posterior_bounds(GARDEN, "rain", "yes", {"rain": "no"}, intervals={})


@pytest.mark.parametrize("prior", [0.0, 0.1234, 0.377])
def test_bounds_hold_where_the_evidence_becomes_impossible(prior: float) -> None:
    # The findings prove a, so that only the row of c counts, whatever the prior of a.
    a, b, c = (Variable(name, ("no", "yes")) for name in "abc")
    network = Network(
        (
            TabularCPD(a, (), np.array([1 - prior, prior])),
            TabularCPD(b, (a,), np.array([[1.0, 0.1], [0.0, 0.9]])),
            TabularCPD(c, (a,), np.array([[0.5, 0.7], [0.5, 0.3]])),
        )
    )
    ranges = {"a": (np.array([0.5, 0.0]), np.array([1.0, 0.5]))}
    found = posterior_bounds(network, "c", "yes", {"b": "yes"}, intervals=ranges)
    assert (found.low, found.high) == pytest.approx((0.3, 0.3), abs=1e-12)


def test_outer_bounds_hold_where_the_largest_entries_make_a_state_too_improbable() -> None:
    fault = Variable("fault", ("no", "yes"))
    clues = [Variable(f"clue {i}", ("no", "yes")) for i in range(130)]
    network = Network(
        (
            TabularCPD(fault, (), np.array([0.5, 0.5])),
            *(TabularCPD(v, (fault,), np.array([[0.9991, 0.6], [0.0009, 0.4]])) for v in clues),
        )
    )
    ranges = {v.name: ([[0.999, 0.5], [0, 1e-6]], [[1, 1 - 1e-6], [1e-3, 0.5]]) for v in clues}
    evidence = {v.name: "yes" for v in clues}
    found = posterior_bounds(network, "fault", "no", evidence, intervals=ranges)
    # The odds of no are 1000**130 if each clue is seen with the chances .001 and .000001.
    assert found.high == pytest.approx(1)
