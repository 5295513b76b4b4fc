"""The networks in pgmpy's wheel: read, normalized, and answered as two other programs do.

They are the ones of bnlearn's repository (https://www.bnlearn.com/bnrepository/). The
others get the tables that we have after normalization, number by number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from bnmind.information import Floats
from bnmind.junction import InteractionGraph, Portfolio, Posterior, compile_plan
from bnmind.pgm import Network
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy
from tests.wheel import (
    EVIDENCE,
    NAMES,
    SMALL,
    Question,
    ask,
    bif_text,
    pyagrum_network,
    read_wheel,
    state_names,
)

LARGE = tuple(name for name in NAMES if name not in SMALL)


def asked(*kinds: str) -> list[Any]:
    """Return the networks and kinds of evidence to ask about: of the large ones, only some."""
    every_day: list[Any] = [(name, kind) for name in SMALL for kind in EVIDENCE]
    slow = pytest.mark.slow
    return every_day + [
        pytest.param(name, kind, marks=slow)
        for name in LARGE
        for kind in kinds
        if (name, kind) not in LONG_IN_PYAGRUM
    ]


LONG_IN_PYAGRUM = {(name, "leaves") for name in ("munin2", "munin3", "munin4", "link")}
"""Ten seconds each; it answers about others like them, and about these given other evidence."""


OFF_BY_ROUNDING = {
    *("sachs", "alarm", "hepar2", "water", "munin1", "munin2", "munin3", "munin4", "munin"),
    *("pathfinder", "barley", "mildew", "diabetes"),
}
"""A row of the file misses one by more than 1e-9, and by less than 4e-7."""

TARGETS = {
    **dict.fromkeys(LARGE, 10),
    **dict.fromkeys(("win95pts", "hepar2", "hailfinder", "andes"), 20),
    **dict.fromkeys(("munin1", "munin2", "munin3", "munin4", "munin", "diabetes"), 3),
    "link": 2,
}
"""How many posteriors pgmpy is asked for, where all take it long."""

TOO_LARGE_FOR_PYAGRUM = {(name, kind) for name in ("munin1", "link") for kind in EVIDENCE[:2]}
"""All posteriors take it gigabytes; few one by one do not."""

PROBABILITY = re.compile(r"probability\s*\(\s*(\S+)\s*(?:\|([^)]*))?\)\s*\{(.*?)\}", re.DOTALL)
ROW = re.compile(r"(?:\(([^)]*)\)|table)\s*([-+0-9.eE,\s]+);")


@cache
def network_of(name: str) -> Network:
    return read_wheel(name)


@cache
def answered(name: str, evidence: str) -> tuple[Question, Posterior]:
    """Return a question and our answer, for both of the others."""
    network = network_of(name)
    question = ask(network, evidence)
    plan = compile_plan(
        network, evidence=list(question.findings), targets=[[x] for x in question.targets]
    )
    return question, plan.run(state_names(network, question.findings))


def rows(text: str) -> Iterator[tuple[str, list[str], list[str], Floats]]:
    """Yield each row of a BIF file: child, parents, their states, the numbers as they stand."""
    for child, parents, body in PROBABILITY.findall(text):
        for states, numbers in ROW.findall(body):
            yield (
                child,
                [x.strip() for x in parents.split(",")] if parents else [],
                [x.strip() for x in states.split(",")] if states else [],
                np.array([float(x) for x in numbers.split(",")]),
            )


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]
)
def test_rows_are_those_of_the_file_normalized(name: str) -> None:
    network, worst, farthest = network_of(name), 0.0, 0.0
    # The child's axis last here.
    tables = {
        cpd.variable.name: np.moveaxis(np.real(cpd.to_factor().values), 0, -1)
        for cpd in network.cpds
    }
    states = {v.name: {s: i for i, s in enumerate(v.states)} for v in network.variables}
    axes = {cpd.variable.name: [v.name for v in cpd.parents] for cpd in network.cpds}
    seen = 0
    for child, parents, at, numbers in rows(bif_text(name)):
        place = dict(zip(parents, at, strict=True))
        assert list(place) == axes[child]
        row = tables[child][tuple(states[p][s] for p, s in place.items())]
        farthest = max(farthest, float(np.abs(row - numbers / numbers.sum()).max()))
        worst = max(worst, abs(math.fsum(numbers) - 1))
        seen += len(numbers)
    assert seen == sum(table.size for table in tables.values())
    for table in tables.values():
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=0, atol=2e-14)
    assert farthest <= 1e-15
    assert worst < 4e-7
    assert (worst > 1e-9) == (name in OFF_BY_ROUNDING)


def test_13_of_24_need_normalizing() -> None:
    assert len(OFF_BY_ROUNDING) == 13
    assert set(NAMES) >= OFF_BY_ROUNDING
    assert len(set(NAMES)) == 24


@pytest.mark.parametrize(("name", "evidence"), asked("random"))
def test_marginals_are_those_of_pgmpy(name: str, evidence: str) -> None:
    network = network_of(name)
    question, ours = answered(name, evidence)
    assert [joint.names for joint in ours.targets] == [(x,) for x in question.targets]
    # pgmpy's own order follows the hashes of names: with one seed in fifty, a posterior of munin3
    # takes it minutes, or 12 gigabytes.
    unseen = [[v.name for v in cpd.scope if v.name in question.targets] for cpd in network.cpds]
    sizes = {x: network.variable(x).n_states for x in question.targets}
    order = Portfolio()(InteractionGraph.from_scopes(sizes, unseen)).variables
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")(to_pgmpy(network))
        for place in some(question, TARGETS.get(name, len(question.targets))):
            found = engine.query(
                [question.targets[place]],
                evidence=state_names(network, question.findings),
                elimination_order=[x for x in order if x != question.targets[place]],
                show_progress=False,
            )
            np.testing.assert_allclose(ours.targets[place].values, found.values, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "evidence"), asked("leaves", "random"))
def test_marginals_and_the_evidence_are_those_of_pyagrum(name: str, evidence: str) -> None:
    gum = pytest.importorskip("pyagrum")
    question, ours = answered(name, evidence)
    all_at_once = (name, evidence) not in TOO_LARGE_FOR_PYAGRUM
    engine_type = gum.LazyPropagation if all_at_once else gum.VariableElimination
    engine = engine_type(pyagrum_network(network_of(name)))
    engine.setEvidence(dict(question.findings))
    engine.makeInference()
    for place in some(question, len(question.targets) if all_at_once else 3):
        np.testing.assert_allclose(
            ours.targets[place].values,
            engine.posterior(question.targets[place]).toarray(),
            rtol=0,
            atol=1e-10,
        )
    if all_at_once:
        logarithm = math.log(engine.evidenceProbability())
        assert ours.log_evidence == pytest.approx(logarithm, abs=1e-10)


def some(question: Question, number: int) -> list[int]:
    """Return the places of so many targets, always the same ones."""
    chosen = np.random.default_rng(2).permutation(len(question.targets))[:number]
    return sorted(int(place) for place in chosen)
