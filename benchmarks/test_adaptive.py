"""Selection by minimal expected entropy over all skills: bnmind beside pyAgrum and plain NumPy.

Networks are random: binary skills with up to two parents, binary items with one to three.
A step takes the belief to the next item, with the last answer new: one propagation and the
information of every item left. pyAgrum has the joint of each item's parents as a target, all items'
answers as evidence, of which only the new one is changed, and the information comes from the
conditional tables, by the very function that bnmind uses. The faster of its LazyPropagation and
ShaferShenoyInference is the bar. Both are given the same answers
and must promise the same bits. Two answers take turns, so that none is a cached one.

    python -m pytest benchmarks/test_adaptive.py --benchmark-only --benchmark-columns=min,median
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    ItemBank,
    MinimalEntropy,
    SkillBelief,
    start_belief,
)
from bnmind.information import Floats, information
from bnmind.pgm import CPD, Network, TabularCPD, Variable

SIZES = {"5x20": (5, 20), "10x60": (10, 60), "16x100": (16, 100)}
PYAGRUM = {"lazy": "LazyPropagation", "shafer": "ShaferShenoyInference"}
"""The faster of the two is the bar; both are kept from question to question."""
ANSWERED = ("2", "10", "all but one")
KINDS: dict[str, Callable[[ItemBank], SkillBelief]] = {
    "start_belief": start_belief,
    "table": partial(start_belief, max_profiles=2**22),
    "tree": partial(start_belief, max_profiles=0),
}


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    seconds: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """By network, number of answers, and engine."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("selection by minimal expected entropy, fastest rounds")
        terminalreporter.line(f"{'milliseconds':30}{'engine':>16}{'fastest':>12}{'ratio':>10}")
        bars: dict[tuple[str, str], float] = {}
        for (*question, engine), found in self.seconds.items():
            if engine in (*PYAGRUM, "numpy"):
                key = (question[0], question[1])
                bars[key] = min(found, bars.get(key, found))
        for (name, answered, engine), found in self.seconds.items():
            bar = bars.get((name, answered))
            ratio = f"{bar / found:.3g}×" if bar and engine not in (*PYAGRUM, "numpy") else ""
            terminalreporter.line(
                f"{name:10}{answered + ' answers':20}{engine:>16}{1e3 * found:12.3f}{ratio:>10}"
            )
        terminalreporter.line(
            "(ratio: how many times as fast as the faster of pyAgrum's engines, or as NumPy)"
        )


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    pytestconfig.pluginmanager.register(made)  # stays: the summary comes after the module
    return made


@lru_cache(maxsize=8)
def random_bank(n_skills: int, n_items: int) -> ItemBank:
    """Return binary skills with up to two parents and binary items with one to three."""
    rng = np.random.default_rng([n_skills, n_items])
    skills: list[Variable] = []
    cpds: list[CPD] = []
    for number in range(n_skills):
        chosen = rng.choice(number, size=min(number, int(rng.integers(0, 3))), replace=False)
        parents = tuple(skills[i] for i in sorted(chosen))
        skills.append(Variable(f"S{number}", ("0", "1")))
        cpds.append(_random_cpd(skills[-1], parents, rng))
    for number in range(n_items):
        size = int(rng.integers(1, min(3, n_skills) + 1))
        parents = tuple(skills[i] for i in sorted(rng.choice(n_skills, size=size, replace=False)))
        cpds.append(_random_cpd(Variable(f"X{number}", ("0", "1")), parents, rng))
    return ItemBank.from_network(Network(tuple(cpds)), [v.name for v in skills])


@lru_cache(maxsize=1)
def tree_bank() -> ItemBank:
    """Return 30 skills in a tree and 500 items whose parents are within three neighbors."""
    rng = np.random.default_rng(30)
    skills = [Variable(f"S{number}", ("0", "1")) for number in range(30)]
    above = [None if i == 0 else int(rng.integers(max(0, i - 4), i)) for i in range(30)]
    near = [{i} for i in range(30)]
    for child, parent in enumerate(above):
        if parent is not None:
            near[child].add(parent)
            near[parent].add(child)
    cpds: list[CPD] = [
        _random_cpd(skill, () if parent is None else (skills[parent],), rng)
        for skill, parent in zip(skills, above, strict=True)
    ]
    for number in range(500):
        middle = int(rng.integers(30))
        among = [middle, *sorted(near[middle] - {middle})]
        size = int(rng.integers(1, min(3, len(among)) + 1))
        # The middle one and neighbors of it are connected in the tree.
        others = rng.choice(among[1:], size=size - 1, replace=False).tolist() if size > 1 else []
        parents = tuple(skills[i] for i in sorted([middle, *others]))
        cpds.append(_random_cpd(Variable(f"X{number}", ("0", "1")), parents, rng))
    return ItemBank.from_network(Network(tuple(cpds)), [v.name for v in skills])


def _random_cpd(
    variable: Variable, parents: tuple[Variable, ...], rng: np.random.Generator
) -> TabularCPD:
    chance = rng.uniform(0.1, 0.9, size=(2,) * len(parents))
    return TabularCPD(variable, parents, np.stack([1 - chance, chance]))


def answers(bank: ItemBank, n_answers: int) -> dict[str, int]:
    """Return the same random answers to the same random items every time."""
    rng = np.random.default_rng(n_answers)
    items = rng.permutation(len(bank.items))[:n_answers]
    return {bank.item_names[i]: int(rng.integers(2)) for i in items.tolist()}


def counted(bank: ItemBank, answered: str) -> int:
    return len(bank.items) - 1 if answered == "all but one" else int(answered)


class PyAgrum:
    """One of pyAgrum's engines with the joint of the parents of each item left as a target."""

    def __init__(self, bank: ItemBank, items: list[str], engine: str = "LazyPropagation") -> None:
        gum = pytest.importorskip("pyagrum")
        net = gum.BayesNet()
        for variable in bank.network.variables:
            net.add(gum.LabelizedVariable(variable.name, "", list(variable.states)))
        for cpd in bank.network.cpds:
            for parent in cpd.parents:
                net.addArc(parent.name, cpd.variable.name)
        for cpd in bank.network.cpds:
            tensor = net.cpt(cpd.variable.name)
            names = list(tensor.names)  # the first changes fastest in what fills it
            factor = cpd.to_factor().transpose(names)
            tensor.fillWith(np.real(factor.values).ravel(order="F").tolist())
        self.bank = bank
        self.given: dict[str, int] = {}
        self.engine = getattr(gum, engine)(net)
        self.engine.setNumberOfThreads(1)
        self.engine.eraseAllTargets()
        for cause in {bank.cause(name) for name in items}:
            if len(cause) == 1:
                self.engine.addTarget(cause[0])
            else:
                self.engine.addJointTarget(set(cause))

    def masses(self, given: dict[str, int], items: list[str]) -> Floats:
        if self.given.keys() == given.keys():
            for item, response in given.items() - self.given.items():
                self.engine.chgEvidence(item, response)
        else:
            self.engine.setEvidence(given)
        self.given = dict(given)
        self.engine.makeInference()
        width = max(self.bank.n_configurations(self.bank.cause(name)) for name in items)
        rows, joints = np.zeros((len(items), width)), {}
        for row, name in zip(rows, items, strict=True):
            cause = self.bank.cause(name)
            if cause not in joints:
                posterior = (
                    self.engine.posterior(cause[0])
                    if len(cause) == 1
                    else self.engine.jointPosterior(set(cause))
                )
                table = posterior.toarray()  # its axes are reversed
                axes = list(posterior.names)[::-1]
                joints[cause] = np.transpose(table, [axes.index(v) for v in cause]).ravel()
            row[: joints[cause].size] = joints[cause]
        return rows

    def select(self, given: dict[str, int], items: list[str]) -> Floats:
        found: Floats = information(self.masses(given, items), self.bank.channels(items))
        return found


class PlainNumpy:
    """The belief as an array over all profiles, as few lines as it takes."""

    def __init__(self, bank: ItemBank) -> None:
        self.bank = bank
        space = start_belief(bank).space
        states = np.indices(space.shape).reshape(len(space.shape), -1)
        self.prior = space.prior[0]
        self.chances = np.empty((len(bank.items), states.shape[1], 2))
        for row, name in zip(self.chances, bank.item_names, strict=True):
            axes = [space.place[v] for v in bank.cause(name)]
            row[:] = bank.channel(name)[np.ravel_multi_index(states[axes], (2,) * len(axes))]
        chances = self.chances
        self.noise: Floats = -(chances * np.log2(chances)).sum(axis=2)

    def update(self, belief: Floats, item: int, response: int) -> Floats:
        after: Floats = belief * self.chances[item, :, response]
        after /= after.sum()
        return after

    def select(self, belief: Floats, items: list[int]) -> Floats:
        predicted = np.einsum("s,isr->ir", belief, self.chances[items])
        gained = -(predicted * np.log2(predicted)).sum(axis=1)
        result: Floats = gained - self.noise[items] @ belief
        return result


def measured(benchmark: Any, step: Callable[[], object], *, seconds: float = 1.0) -> float:
    """Return the seconds of the fastest round, of about so many seconds of rounds."""
    start = time.perf_counter()
    for _ in range(3):
        step()
    once = (time.perf_counter() - start) / 3
    rounds = int(np.clip(seconds / max(once, 1e-7), 20, 2000))
    benchmark.pedantic(step, rounds=rounds, iterations=1, warmup_rounds=5)
    return float(benchmark.stats.stats.min)


def our_step(start: SkillBelief, given: dict[str, int]) -> tuple[Callable[[], Floats], list[str]]:
    """Return a selection with the last answer new, and the items selected among."""
    *before, last = given
    belief = start
    for item in before:
        belief = belief.update(item, given[item])
    items = [name for name in start.bank.item_names if name not in given]
    turns = cycle([1 - given[last], given[last]])
    selector = MinimalEntropy()

    def step() -> Floats:
        return selector.select(belief.update(last, next(turns)), items).scores

    return step, items


@pytest.mark.parametrize("answered", ANSWERED)
@pytest.mark.parametrize("engine", [*PYAGRUM, *KINDS])
@pytest.mark.parametrize("name", SIZES)
def test_selection(benchmark: Any, report: Report, name: str, engine: str, answered: str) -> None:
    bank = random_bank(*SIZES[name])
    given = answers(bank, counted(bank, answered))
    ours, items = our_step(KINDS.get(engine, start_belief)(bank), given)
    theirs = PyAgrum(bank, items, PYAGRUM.get(engine, "LazyPropagation"))
    ours()
    np.testing.assert_allclose(ours(), theirs.select(given, items), atol=1e-6)
    step: Callable[[], object] = ours
    if engine in PYAGRUM:
        last = list(given)[-1]
        turns = cycle([{**given, last: 1 - given[last]}, given])
        step = lambda: theirs.select(next(turns), items)  # noqa: E731
    report.seconds[name, answered, engine] = measured(benchmark, step)


@pytest.mark.parametrize("answered", ["2", "10", "100", "all but one"])
def test_thirty_skills_in_a_tree(benchmark: Any, report: Report, answered: str) -> None:
    bank = tree_bank()
    step, _ = our_step(start_belief(bank), answers(bank, counted(bank, answered)))
    report.seconds["30x500", answered, "start_belief"] = measured(benchmark, step)


@pytest.mark.parametrize("engine", ["numpy", "start_belief"])
@pytest.mark.parametrize("name", ["3x10", "5x20", "8x40", "10x60"])
def test_small_banks(benchmark: Any, report: Report, name: str, engine: str) -> None:
    n_skills, n_items = map(int, name.split("x"))
    bank = random_bank(n_skills, n_items)
    given = answers(bank, 2)
    ours, items = our_step(start_belief(bank), given)
    plain, belief = PlainNumpy(bank), start_belief(bank).space.prior[0]
    (first, response), (last, other) = given.items()
    belief = plain.update(belief, bank.position(first), response)
    positions, turns = [bank.position(item) for item in items], cycle([1 - other, other])

    def theirs() -> Floats:
        after = plain.update(belief, bank.position(last), next(turns))
        scores = plain.select(after, positions)
        np.argmax(scores)
        return scores

    np.testing.assert_allclose(ours(), theirs(), atol=1e-12)
    step = theirs if engine == "numpy" else ours
    report.seconds[f"{name} ", "2", engine] = measured(benchmark, step)
