"""Simulated tests of 1000 examinees: bnmind alone, and beside catsim on its own ground.

The first is minimal expected entropy over all skills, 10 items, on five skills and twenty items
of one to three parents; a loop over pyAgrum takes 23 s with its InformationTheory. The second is
catsim's: 500 items of the 2PL, 20 items by maximal Fisher information at the most likely
ability, from −6 to 6, with Dodd's step while all answers are alike. catsim's answers are
drawn as it goes; its own items and answers are then given to bnmind's beliefs, which must
estimate the same abilities as far as the grid resolves them. Without catsim its row is left out.

    python -m pytest benchmarks/test_simulation.py --benchmark-only --benchmark-columns=min,median
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from benchmarks.test_adaptive import tree_bank
from bnmind.adaptive import (
    AbilityGrid,
    BatchBelief,
    ItemBank,
    MaximalFisher,
    MaximalItems,
    Measure,
    MinimalEntropy,
    RandomItem,
    Responses,
    Selector,
    SimulationOptions,
    SkillBelief,
    irt_bank,
    most_likely_ability,
    simulate,
    start_beliefs,
)
from bnmind.information import Floats
from bnmind.pgm import CPD, Network, TabularCPD, Variable

N_EXAMINEES, N_IRT, LENGTH = 1000, 500, 20
POINTS = 121
SKILLS_SECONDS = 1.0
"""How long the tests on five skills are to take at most."""


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    lines: list[str] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("simulated tests of 1000 examinees, fastest rounds")
        for line in self.lines:
            terminalreporter.line(line)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@lru_cache
def skills_bank() -> ItemBank:
    """Return five skills with up to two parents, twenty items with one to three."""
    rng = np.random.default_rng(1)
    skills = [Variable.of_integers(f"S{i}", range(2)) for i in range(5)]
    cpds: list[CPD] = []
    for number, skill in enumerate(skills):
        parents = [skills[i] for i in rng.permutation(number)[:2]]
        cpds.append(_table(rng, skill, parents))
    for number in range(20):
        parents = [skills[i] for i in rng.permutation(5)[: rng.integers(1, 4)]]
        cpds.append(_table(rng, Variable.of_integers(f"X{number}", range(2)), parents))
    return ItemBank.from_network(Network(tuple(cpds)), [v.name for v in skills])


def _table(rng: np.random.Generator, child: Variable, parents: list[Variable]) -> CPD:
    up = rng.uniform(0.05, 0.95, [2] * len(parents))
    return TabularCPD(child, tuple(parents), np.stack([1 - up, up]))


@lru_cache
def parameters() -> Floats:
    """Return a 2PL bank as catsim has it: a, b, c = 0, d = 1."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(1.2, 0.25, N_IRT).clip(0.3), rng.normal(size=N_IRT)
    return np.stack([a, b, np.zeros(N_IRT), np.ones(N_IRT)], axis=1)


@lru_cache
def abilities() -> Floats:
    return np.random.default_rng(8).normal(size=N_EXAMINEES)


@lru_cache
def ability_bank() -> ItemBank:
    points = np.linspace(-6, 6, POINTS)
    grid = AbilityGrid(tuple(points), tuple(np.full(POINTS, 1 / POINTS)))
    return irt_bank(parameters(), grid)


def with_dodd(belief: SkillBelief | BatchBelief) -> Floats:
    """Return the most likely ability, and Dodd's steps from 0 while all answers are alike."""
    assert not isinstance(belief.responses, dict)
    codes = np.asarray(belief.responses)
    there, right = np.sum(codes >= 0, axis=1), np.sum(codes == 1, axis=1)
    far = 1 - 0.5**there
    difficulties = parameters()[:, 1]
    alike = np.where(right > 0, difficulties.max() * far, difficulties.min() * far)
    found: Floats = np.where((right == 0) | (right == there), alike, most_likely_ability(belief))
    return found


@pytest.mark.parametrize("name", ["entropy", "random"])
def test_skills(benchmark: Any, report: Report, name: str) -> None:
    bank = skills_bank()
    people = Responses.drawn(bank, N_EXAMINEES, seed=1)
    selector: Selector = MinimalEntropy() if name == "entropy" else RandomItem()
    benchmark.group = "1000 examinees, 10 items, 5x20"
    result = benchmark.pedantic(
        lambda: simulate(bank, people, {name: selector}, MaximalItems(10)),
        rounds=5,
        iterations=1,
        warmup_rounds=1,
    )
    seconds = benchmark.stats.stats.min
    found = ", ".join(f"{m.label} {result.mean(name, m.name)[0][-1]:.3f}" for m in result.measures)
    report.lines.append(
        f"5x20, 10 items, {name}: {seconds:.3f} s; aim: at most {SKILLS_SECONDS:g} s\n   {found}"
    )


def test_thirty_skills_in_a_tree(benchmark: Any, report: Report) -> None:
    bank = tree_bank()
    people = Responses.drawn(bank, 200, seed=1)
    benchmark.group = "200 examinees, 20 items, 30x500"
    benchmark.pedantic(
        lambda: simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(20)),
        rounds=3,
        iterations=1,
        warmup_rounds=1,
    )
    seconds = benchmark.stats.stats.min
    report.lines.append(f"30x500, 200 examinees, 20 items, all measures: {seconds:.2f} s")


@pytest.mark.parametrize("measured", ["the estimate", "everything"])
def test_catsims_benchmark(benchmark: Any, report: Report, measured: str) -> None:
    bank, theta = ability_bank(), abilities()
    rng = np.random.default_rng(9)
    a, b, _, _ = parameters().T
    chances = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    people = Responses.of(
        (rng.random(chances.shape) < chances).astype(np.int8), items=bank.item_names
    )
    estimate = (Measure("estimate", lambda moment: with_dodd(moment.beliefs)),)
    benchmark.group = f"1000 examinees, {LENGTH} items, 2PL of {N_IRT} items"
    result = benchmark.pedantic(
        lambda: simulate(
            bank,
            people,
            {"fisher": MaximalFisher(estimate=with_dodd)},
            MaximalItems(LENGTH),
            options=SimulationOptions(measures=estimate if measured == "the estimate" else None),
        ),
        rounds=3,
        iterations=1,
        warmup_rounds=1,
    )
    error = ""
    if measured == "the estimate":
        last = result.values("fisher", "estimate")[:, -1]
        error = f"; root mean squared error {np.sqrt(np.mean((last - theta) ** 2)):.3f}"
    report.lines.append(
        f"2PL, {N_IRT} items, {LENGTH} asked, measuring {measured}, {POINTS} abilities:"
        f" {benchmark.stats.stats.min:.2f} s{error}"
    )


def test_catsim(benchmark: Any, report: Report) -> None:
    pytest.importorskip("catsim")
    parts = {
        name: importlib.import_module(f"catsim.{name}")
        for name in ("estimation", "initialization", "item_bank", "selection", "simulation")
    }
    stopping: Any = importlib.import_module("catsim.stopping")

    def run() -> Any:
        simulator = parts["simulation"].Simulator(
            parts["item_bank"].ItemBank(parameters().copy()), abilities().copy(), seed=3
        )
        simulator.simulate(
            parts["initialization"].FixedPointInitializer(0),
            parts["selection"].MaxInfoSelector(),
            parts["estimation"].NumericalSearchEstimator(),
            stopping.TestLengthStopper(max_items=LENGTH),
        )
        return simulator

    benchmark.group = f"1000 examinees, {LENGTH} items, 2PL of {N_IRT} items"
    simulator = benchmark.pedantic(run, rounds=2, iterations=1, warmup_rounds=0)
    asked = np.array(simulator.administered_items)
    given = np.array(simulator.response_vectors).astype(np.intp)
    theirs = np.array(simulator.estimations)
    beliefs: BatchBelief = start_beliefs(ability_bank(), N_EXAMINEES)
    worst = 0.0
    for step in range(LENGTH):
        beliefs = beliefs.update(asked[:, step], given[:, step])
        apart = np.abs(with_dodd(beliefs) - theirs[:, step + 1])
        worst = max(worst, float(apart.max()))
    half = 6 / (POINTS - 1)
    assert worst < half + 1e-3  # the likelihood need not be symmetric around its maximum
    error = np.sqrt(np.mean((theirs[:, -1] - abilities()) ** 2))
    report.lines.append(
        f"2PL, {N_IRT} items, {LENGTH} asked, catsim: {benchmark.stats.stats.min:.2f} s; root mean"
        f" squared error {error:.3f}; on its items and answers the estimates differ by at most"
        f" {worst:.4f}, half a step being {half:.4f}"
    )
