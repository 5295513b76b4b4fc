"""All single posteriors of a few networks of pgmpy's wheel, in the form of pytest-benchmark.

A quick look in one process; the whole comparison is `benchmarks.run_networks`. Every
answer is first checked against ours, and ours against pgmpy's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.network_engines import ENGINES
from benchmarks.network_worker import answer_vector
from bnmind.information import Floats
from bnmind.pgm import Network
from tests.wheel import Question, ask, read_wheel

EVIDENCE = ("none", "leaves")
OURS = "bnmind"
QUERIES = [
    *(
        (name, evidence, engine, "first")
        for name in ("alarm", "insurance", "water", "mildew")
        for evidence in EVIDENCE
        for engine in ENGINES
    ),
    *(
        (name, "leaves", engine, "again")
        for name in ("alarm", "insurance", "water", "mildew")
        for engine in ENGINES
        if engine != "pgmpy-elimination"
    ),
]


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    rows: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=dict)
    """The fastest round of each engine, by network, evidence and kind of query."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.rows:
            return
        write = terminalreporter.line
        terminalreporter.section("all single posteriors, one thread, fastest rounds")
        write(f"{'milliseconds':30}" + "".join(f"{engine:>29}" for engine in ENGINES))
        for query, seconds in self.rows.items():
            cells = []
            for engine in ENGINES:
                told = f"{1e3 * seconds[engine]:.3f}" if engine in seconds else ""
                if engine != OURS and engine in seconds and OURS in seconds:
                    told += f" ({seconds[engine] / seconds[OURS]:.3g}×)"
                cells.append(f"{told:>29}")
            write(f"{', '.join(query):30}" + "".join(cells))
        write("(in brackets: how many times as long as ours)")


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@cache
def asked(name: str, evidence: str) -> tuple[Network, Question]:
    network = read_wheel(name)
    return network, ask(network, evidence)


@cache
def expected(name: str, evidence: str, which: str) -> Floats:
    """Return our answer; of a first query one that pgmpy gives too."""
    network, question = asked(name, evidence)
    engine = ENGINES[OURS](network)
    ours = answer_vector(list(engine.first(question.findings, question.targets)), question, network)
    if which == "again":
        found = list(engine.again(question.others, question.targets))
        return answer_vector(found, question, network)
    other = ENGINES["pgmpy-elimination"](network)
    theirs = list(other.first(question.findings, question.targets))
    np.testing.assert_allclose(ours, answer_vector(theirs, question, network), rtol=0, atol=1e-10)
    return ours


@pytest.mark.parametrize(("name", "evidence", "engine", "which"), QUERIES)
def test_all_posteriors(
    benchmark: Any, report: Report, name: str, evidence: str, engine: str, which: str
) -> None:
    if engine.startswith("pyagrum"):
        pytest.importorskip("pyagrum")
    network, question = asked(name, evidence)
    made = ENGINES[engine](network)

    def first() -> list[Floats]:
        return list(made.first(question.findings, question.targets))

    # In turn, so that no engine can give its last answer again.
    turns = [question.others, question.findings]

    def again() -> list[Floats]:
        turns.reverse()
        return list(made.again(turns[0], question.targets))

    step: Callable[[], list[Floats]] = first
    if which == "again":
        first()
        again()
        step = again
    found = step()
    np.testing.assert_allclose(
        answer_vector(found, question, network), expected(name, evidence, which), rtol=0, atol=1e-10
    )
    benchmark.group = f"all posteriors, {name}, {evidence}, {which}"
    benchmark.pedantic(step, rounds=5, iterations=1, warmup_rounds=0)
    benchmark.extra_info.update(made.sizes())
    report.rows.setdefault((name, evidence, which), {})[engine] = benchmark.stats.stats.min
