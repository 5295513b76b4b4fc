"""Learning the 2PL, compared with a plain EM in NumPy with Newton's method, in one run.

Both have the same quadrature, tolerance and start. Set OPENBLAS_NUM_THREADS=1, as conftest.py does:
the plain EM takes several times longer with more threads.

    python -m pytest benchmarks/test_learning_curves.py --benchmark-only
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import AbilityGrid, LearningOptions, Logistic, Responses, irt_bank, learn
from tests.newton_em import drawn_responses, newton_em

GRID = AbilityGrid.normal()


@dataclass
class Report:
    """The ratios, printed at the end of the run."""

    lines: list[str] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.lines:
            terminalreporter.section("2PL, time here / time of a plain EM in NumPy")
            for line in self.lines:
                terminalreporter.line(line)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@pytest.mark.parametrize(("n_examinees", "n_items", "seed"), [(451, 95, 1), (272, 57, 2)])
def test_2pl(benchmark: Any, report: Report, n_examinees: int, n_items: int, seed: int) -> None:
    drawn = drawn_responses(n_examinees, n_items, seed)
    start = irt_bank([Logistic()] * n_items, GRID)
    responses = Responses.of(drawn, items=start.item_names)
    options = LearningOptions(fixed=frozenset({"ability"}))
    points, weights = np.array(GRID.points), np.array(GRID.weights)
    times = []
    for _ in range(10):
        began = time.perf_counter()
        plain = newton_em(drawn, points, weights, tolerance=options.tolerance)
        times.append(time.perf_counter() - began)
    found = benchmark.pedantic(
        lambda: learn(responses, start, options=options), rounds=10, iterations=1, warmup_rounds=1
    )
    assert found.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-5)
    ratio = benchmark.stats.stats.min / min(times)
    benchmark.extra_info["ratio"] = ratio
    report.lines.append(
        f"{n_examinees}x{n_items}: {ratio:.2f}; log-likelihood {found.log_likelihood:.4f} and"
        f" {plain.log_likelihood:.4f}; steps {found.record.steps} and {plain.steps}"
    )
