"""Two more questions: many cases in one batch, and functions of many parents.

    python -m benchmarks.network_extras TASK OUT

measures one of `TASKS` in this process; `benchmarks.run_networks` starts it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.network_engines import Bnmind
from bnmind.pgm import Addition, FunctionalCPD, Network, TabularCPD, Variable, noisy_or
from tests.wheel import ask, pyagrum_network, read_wheel, sample

__all__ = ["TASKS", "Extra"]

CASES = 10_000
FEW = 200
"""Cases that an engine without batches is given."""
RUNS = 5
MEMORY = 12 * 2**30
PRIOR, LINK, LEAK = 0.3, 0.5, 0.1


@dataclass(frozen=True)
class Extra:
    """What one task found."""

    seconds: tuple[float, ...]
    """Of each run; of a batch, per case."""
    answer: tuple[float, ...]
    """Some of the numbers that the engine gave, for comparison."""


# --- a batch --------------------------------------------------------------------------------------


def _alarm() -> tuple[Network, dict[str, Any], tuple[str, ...]]:
    """Return alarm, cases of the variables that `ask` chooses (leaves first), and the targets."""
    network = read_wheel("alarm")
    question = ask(network, "leaves")
    rng = np.random.default_rng(3)
    names = sorted(v.name for v in network.variables)
    cases = sample(network, {name: rng.random(CASES) for name in names})
    return network, {name: cases[name] for name in question.findings}, question.targets


def batch_of_ours() -> Extra:
    from bnmind.junction import compile_plan

    network, cases, targets = _alarm()
    plan = compile_plan(network, evidence=list(cases), targets=[[name] for name in targets])
    seconds, answer = [], np.zeros(0)
    for _ in range(RUNS + 1):
        start = time.process_time()
        found = plan.run_batch(cases)
        seconds.append((time.process_time() - start) / CASES)
        answer = np.concatenate([joint[:FEW].sum(axis=0) for joint in found.joints])
    return Extra(tuple(seconds[1:]), tuple(answer.tolist()))


def batch_of_pyagrum() -> Extra:
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    network, cases, targets = _alarm()
    engine = gum.LazyPropagation(pyagrum_network(network))
    engine.setEvidence({name: int(positions[0]) for name, positions in cases.items()})
    engine.makeInference()
    seconds, answer = [], np.zeros(0)
    for _ in range(RUNS):
        sums = [np.zeros(network.variable(name).n_states) for name in targets]
        start = time.process_time()
        for number in range(FEW):
            for name, positions in cases.items():
                engine.chgEvidence(name, int(positions[number]))
            engine.makeInference()
            for total, name in zip(sums, targets, strict=True):
                total += engine.posterior(name).toarray()
        seconds.append((time.process_time() - start) / FEW)
        answer = np.concatenate(sums)
    return Extra(tuple(seconds), tuple(answer.tolist()))


# --- a function of many parents -------------------------------------------------------------------


def function_of_ours(kind: str, parents: int) -> Extra:
    causes = tuple(Variable(f"X{i}", ("no", "yes")) for i in range(parents))
    priors = [TabularCPD(cause, (), np.array([1 - PRIOR, PRIOR])) for cause in causes]
    if kind == "sum":
        total = Variable.of_integers("S", range(parents + 1))
        network = Network((*priors, FunctionalCPD(total, causes, Addition.of([2] * parents))))
    else:
        effect = noisy_or(Variable("S", ("no", "yes")), causes, [LINK] * parents, LEAK)
        network = Network((*priors, effect))
    seconds, answer = [], np.zeros(0)
    for _ in range(RUNS + 1):
        engine = Bnmind(network)
        start = time.process_time()
        found = list(engine.first(_observed(kind, parents), [cause.name for cause in causes]))
        seconds.append(time.process_time() - start)
        answer = np.concatenate(found)
    return Extra(tuple(seconds[1:]), tuple(answer.tolist()))


def function_of_pyagrum(kind: str, parents: int) -> Extra:
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    network = gum.BayesNet()
    if kind == "sum":
        child = network.addCOUNT(gum.RangeVariable("S", "", 0, parents), 1)
    else:
        child = network.addNoisyORNet(gum.LabelizedVariable("S", "", 2), LEAK)
    names = [f"X{i}" for i in range(parents)]
    for name in names:
        cause = network.add(gum.LabelizedVariable(name, "", 2))
        network.cpt(cause).fillWith([1 - PRIOR, PRIOR])
        if kind == "sum":
            network.addArc(cause, child)
        else:
            network.addWeightedArc(cause, child, LINK)
    start = time.process_time()
    engine = gum.LazyPropagation(network)
    engine.setEvidence(_observed(kind, parents))
    engine.makeInference()
    answer = np.concatenate([engine.posterior(name).toarray() for name in names])
    seconds = time.process_time() - start
    return Extra((seconds,), tuple(answer.tolist()))


def _observed(kind: str, parents: int) -> dict[str, int]:
    return {"S": parents // 3 if kind == "sum" else 1}


TASKS: dict[str, Callable[[], Extra]] = {
    "batch, bnmind": batch_of_ours,
    "batch, pyagrum-lazy": batch_of_pyagrum,
    **{
        f"{kind} of {parents}, bnmind": partial(function_of_ours, kind, parents)
        for kind in ("sum", "noisy-or")
        for parents in (16, 20, 30)
    },
    **{
        f"{kind} of {parents}, pyagrum-lazy": partial(function_of_pyagrum, kind, parents)
        for kind in ("sum", "noisy-or")
        for parents in (16, 20, 30)
    },
}
"""By the name that is given on the command line: the question, and the engine."""


def main(task: str, out: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    Path(out).write_text(json.dumps(asdict(TASKS[task]())), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
