"""Chains, stars and trees: time and memory grow about as the number of variables does."""

from __future__ import annotations

import gc
import math
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bnmind.junction.assembly as parts
from bnmind.junction import (
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
    families,
    junction_tree,
)
from bnmind.junction.assembly import closure
from bnmind.pgm import CPD, Network, TabularCPD, Variable, noisy_or
from tests.command_line import ROOT

MOST = 1.3
"""The power of the number of variables that memory and time may grow with."""

_STEP = np.array([[0.7, 0.2], [0.3, 0.8]])
_PARENTS: dict[str, Callable[[int], list[int]]] = {
    "chain": lambda i: [i - 1],
    "star": lambda i: [0],
    "tree": lambda i: [(i - 1) // 2],
    "hidden chain": lambda i: [i - 2 if i % 2 == 0 else i - 1],
    "second order": lambda i: [i - 2, i - 1] if i > 1 else [i - 1],
}


def network_of(shape: str, n: int) -> Network:
    """Return a network of n binary variables ``X0``, ``X1``, … of one of the shapes."""
    variables = [Variable(f"X{i}", ("0", "1")) for i in range(n)]
    cpds: list[CPD] = [TabularCPD(variables[0], (), np.array([0.4, 0.6]))]
    for i in range(1, n):
        parents = tuple(variables[j] for j in _PARENTS[shape](i))
        if len(parents) == 1:
            cpds.append(TabularCPD(variables[i], parents, _STEP))
        else:
            cpds.append(noisy_or(variables[i], parents, [0.3, 0.6], leak=0.1))
    return Network(tuple(cpds))


def _plan(network: Network) -> object:
    last = network.variables[-1].name
    return compile_plan(network, evidence=[last]).run({last: "1"})


def _families(network: Network) -> object:
    return compile_plan(network, targets=families(network)).run()


def _restriction(network: Network) -> object:
    last = network.variables[-1].name
    return compile_plan(network, evidence=[last]).restrict({last: "1"}).run()


def _soft(network: Network) -> object:
    names = [v.name for v in network.variables][::2]
    return compile_plan(network, soft=names).run(dict.fromkeys(names[::3], "1"))


def _marginal_map(network: Network) -> object:
    names = [v.name for v in network.variables]
    return compile_model(network).map([names[0], names[len(names) // 2]], {names[-1]: "1"})


def _explanation(network: Network) -> object:
    last = network.variables[-1].name
    return compile_explanation(network, evidence=[last]).run({last: "1"})


def _samples(network: Network) -> object:
    last = network.variables[-1].name
    plan = compile_sampling(network, evidence=[last])
    return plan.run({last: "1"}, n_samples=3, rng=np.random.default_rng(0))


def _one_target(network: Network) -> object:
    """Ask twice, since an engine may answer a second question in another way."""
    engine, last = compile_model(network), network.variables[-1].name
    return [engine.posterior("X1", {last: state}) for state in "01"]


def _many_targets(network: Network) -> object:
    engine, last = compile_model(network), network.variables[-1].name
    targets = [v.name for v in network.variables[:20]]
    return [engine.posterior(targets, {last: state}) for state in "010"]


def _all_targets(network: Network) -> object:
    engine, last = compile_model(network), network.variables[-1].name
    return [engine.posterior(None, {last: state}) for state in "01"]


ASKED: dict[str, Callable[[Network], object]] = {
    "plan": _plan,
    "families": _families,
    "restriction": _restriction,
    "soft evidence": _soft,
    "marginal map": _marginal_map,
    "explanation": _explanation,
    "samples": _samples,
    "junction tree": junction_tree,
    "one target": _one_target,
    "many targets": _many_targets,
    "all targets": _all_targets,
}


def peak_of(ask: Callable[[Network], object], network: Network) -> int:
    """Return the most bytes held at the same time beside the network."""
    gc.collect()
    tracemalloc.start()
    try:
        ask(network)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


EVERY_DAY = ("plan",)


@pytest.mark.parametrize(
    "asked",
    [name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in ASKED],
)
def test_memory_grows_as_a_chain_does(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the query may be divided and where a core is large: for less, that is."""
    monkeypatch.setattr(parts, "_WORTH_DIVIDING", 500)
    monkeypatch.setattr("bnmind.junction.greedy_order.MOST_SEARCHED", 50)
    ASKED[asked](network_of("chain", 210))
    few, many = (peak_of(ASKED[asked], network_of("chain", n)) for n in (210, 840))
    assert math.log(many / few, 4) < MOST


@pytest.mark.slow
def test_two_explained_variables_far_apart_take_little_memory() -> None:
    """They close a chain to a cycle, in which no vertex is simplicial."""
    _marginal_map(network_of("chain", 600))
    few, many = (peak_of(_marginal_map, network_of("chain", n)) for n in (1_200, 4_800))
    assert math.log(many / few, 4) < MOST


@pytest.mark.parametrize(("shape", "walks"), [("chain", 1), ("star", 1_999), ("tree", 1_000)])
def test_ancestors_are_walked_once_for_each_end(
    shape: str, walks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others lie among those of an end; those of the evidence are walked besides."""
    network = network_of(shape, 2_000)
    parents = {c.variable.name: [p.name for p in c.parents] for c in network.cpds}
    calls = []

    def counted(*arguments: Any) -> frozenset[str]:
        calls.append(arguments)
        return closure(*arguments)

    monkeypatch.setattr(parts, "closure", counted)
    found = parts.closures(parents, [], [[name] for name in parents])
    assert found is not None
    assert (len(found), len(calls)) == (walks, walks + 1)
    calls.clear()
    assert parts.closures(parents, [], [[name] for name in parents], most=1_000) is None
    assert len(calls) <= 1 + 2 * 1_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("shape", [shape for shape in _PARENTS if shape != "chain"])
def test_queries_of_ten_thousand_variables(shape: str) -> None:
    """In a process of its own, where nothing else takes memory; a hidden chain holds a chain."""
    code = f"from tests.junction.test_growth import faults_of; faults_of({shape!r})"
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 6000000; exec "$0" -c "$1"', sys.executable, code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["one target", "many targets", "all targets"])
def test_a_chain_takes_linear_time_where_a_square_would_show(
    asked: str,
) -> None:
    few, many = (network_of("chain", n) for n in (4_000, 16_000))
    ASKED[asked](network_of("chain", 50))
    exponents: list[float] = []
    while len(exponents) < 3 and (not exponents or min(exponents) >= MOST):
        ratio = _seconds(ASKED[asked], many) / _seconds(ASKED[asked], few)
        exponents.append(math.log(ratio, 4))
    assert min(exponents) < MOST


def faults_of(shape: str) -> None:
    """Print which queries grow too fast on networks of a shape, and memory over 1 GiB."""
    sizes = (2_500, 10_000)
    small, large = (network_of(shape, n) for n in sizes)
    gc.freeze()  # none of this is garbage
    for name, ask in ASKED.items():
        ask(network_of(shape, 50))
        # The least of several measurements counts, since other programs disturb each.
        exponents: list[float] = []
        while len(exponents) < 3 and (not exponents or min(exponents) >= MOST):
            many = _seconds(ask, large)
            few = _seconds(ask, small) if many > 0.5 else many
            exponents.append(math.log(many / few, sizes[1] / sizes[0]))
        if min(exponents) >= MOST:
            sys.stdout.write(f"{shape}, {name}: {exponents}\n")
    # Not `resource.getrusage`: that counts the program that started this one.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])
    if peak > 2**20:
        sys.stdout.write(f"{shape}: {peak / 1024:.0f} MiB\n")


def _seconds(ask: Callable[[Network], object], network: Network) -> float:
    gc.collect()
    gc.disable()
    started = time.process_time()
    try:
        ask(network)
        return time.process_time() - started
    finally:
        gc.enable()


def test_shapes_are_what_they_say() -> None:
    chain = network_of("chain", 4)
    pairs = [(p.name, c.variable.name) for c in chain.cpds for p in c.parents]
    assert pairs == list(pairwise([v.name for v in chain.variables]))
    hidden = {
        c.variable.name: [p.name for p in c.parents] for c in network_of("hidden chain", 5).cpds
    }
    assert hidden == {"X0": [], "X1": ["X0"], "X2": ["X0"], "X3": ["X2"], "X4": ["X2"]}
