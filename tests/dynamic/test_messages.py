"""States that look impossible for long are right in the end: compared with exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.dynamic import DynamicNetwork, compile_dynamic, fit_dynamic, previous
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.junction import Limits
from bnmind.pgm import Network, TabularCPD, Variable
from tests.modes import examples

Rows = list[list[Fraction]]
STATES = ("a", "b", "c")
HIDDEN, SEEN = Variable("hidden", STATES), Variable("seen", STATES)


def network_of(start: Floats, change: Floats, sensor: Floats) -> DynamicNetwork:
    """Return a hidden Markov model of three states."""
    report = TabularCPD(SEEN, (HIDDEN,), sensor)
    return DynamicNetwork(
        Network((TabularCPD(HIDDEN, (), start), report)),
        (TabularCPD(HIDDEN, (previous(HIDDEN),), change), report),
    )


def exact(network: DynamicNetwork, seen: list[int]) -> tuple[Rows, Rows, float]:
    """Return the filtered and smoothed distributions, and the log-likelihood."""

    def of(name: str, number: int) -> NDArray[Any]:
        table = network.cpd(name, number).to_tabular().values
        return np.array([Fraction(cell) for cell in table.ravel()], dtype=object).reshape(
            table.shape
        )

    start, change, sensor = of("hidden", 0), of("hidden", 1), of("seen", 1)
    ahead = [start * sensor[seen[0]]]
    for s in seen[1:]:
        ahead.append(change.dot(ahead[-1]) * sensor[s])
    back = [np.array([Fraction(1)] * 3, dtype=object)]
    for s in reversed(seen[1:]):
        back.append((back[-1] * sensor[s]).dot(change))
    both = [a * b for a, b in zip(ahead, reversed(back), strict=True)]
    total = sum(ahead[-1])
    log = math.log(total.numerator) - math.log(total.denominator)
    return [list(a / sum(a)) for a in ahead], [list(j / sum(j)) for j in both], log


def floats(rows: Rows) -> Floats:
    """Return fractions as doubles."""
    return np.array([[float(cell) for cell in row] for row in rows])


@settings(max_examples=examples(15))
@given(st.data())
def test_near_impossible_states_are_those_of_exact_fractions(data: st.DataObject) -> None:
    tiny = st.sampled_from([0.0, 1e-150, 1e-90, 1e-3, 0.25])
    columns = []
    for state in range(3):
        column = np.array([data.draw(tiny) for _ in STATES])
        column[state] = 0.0
        column[state] = 1.0 - column.sum()
        columns.append(column)
    sensor = np.array(columns).T
    stays = np.eye(3)
    leak = data.draw(st.sampled_from([0.0, 1e-120]))
    stays[:, 0] = [1.0, leak, 0.0]
    network = network_of(np.array([0.5, 0.25, 0.25]), stays, sensor)
    parts = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 6)), max_size=4))
    # The first state gives all of these reports, so that nothing is impossible.
    seen = [0] + [report for report, times in parts if sensor[report, 0] > 0 for _ in range(times)]
    filtered, smoothed, log = exact(network, seen)
    plan = compile_dynamic(network, observed=["seen"], targets=["hidden"])
    frame = {"seen": [STATES[s] for s in seen]}
    near = plan.filter(frame)
    far = plan.smooth(frame)
    np.testing.assert_allclose(near.marginals["hidden"], floats(filtered), atol=1e-12)
    np.testing.assert_allclose(far.marginals["hidden"], floats(smoothed), atol=1e-12)
    for found in (near.log_likelihood, far.log_likelihood, plan.log_likelihood(frame)):
        assert found == pytest.approx(log, rel=1e-12)


@pytest.mark.parametrize("phases", [(0, 1), (0, 1, 1, 0)])
def test_states_that_are_as_probable_in_the_end_are_told(phases: tuple[int, ...]) -> None:
    sensor = np.array([[1.0, 1e-30, 1.0], [1e-30, 1.0, 0.0], [0.0, 0.0, 0.0]])
    network = network_of(np.array([0.5, 0.5, 0.0]), np.eye(3), sensor)
    plan = compile_dynamic(network, observed=["seen"], targets=["hidden"])
    frame = {"seen": [STATES[phase] for phase in phases for _ in range(12)]}
    smoothed = plan.smooth(frame).marginals["hidden"]
    np.testing.assert_allclose(smoothed, np.tile([0.5, 0.5, 0.0], (len(smoothed), 1)))
    assert plan.filter(frame).marginals["hidden"][-1] == pytest.approx([0.5, 0.5, 0.0])
    if len(phases) == 2:
        fitted = fit_dynamic(network, frame, fixed=["seen", "seen[t-1]", "hidden"])
        assert fitted.network.cpd("hidden", 0).to_tabular().values == pytest.approx([0.5, 0.5, 0.0])


def test_messages_that_exceed_the_limits_are_refused() -> None:
    network = network_of(np.full(3, 1 / 3), np.eye(3), np.full((3, 3), 1 / 3))
    plan = compile_dynamic(network, limits=Limits(max_bytes=3_000))
    long = {"seen": ["a"] * 10_000}
    for ask in (plan.smooth, plan.most_probable):
        with pytest.raises(TooLargeError, match=r"10,000 slices would take 4\.69 KiB") as caught:
            ask(long)
        assert (caught.value.needed, caught.value.budget) == (4_800, 3_000)
    assert plan.log_likelihood({"seen": ["a"] * 10}) == pytest.approx(-10 * math.log(3))
