"""EM with missing cells, against pyAgrum's BNLearner: seconds of an iteration, and likelihoods.

    python -m benchmarks.fitting 2000
    python -m benchmarks.fitting 10000 --rounds 1

Cases are drawn from the network alarm, and a share of the cells is hidden at random. Both start
from the tables of alarm. Seconds are processor time of one thread. pyAgrum's iteration is the
difference between a run of four iterations and one of two, as a run also prepares. The two take
turns, and the median of the rounds counts. Then the likelihoods are compared: both networks are
judged by the same function, after --iterations of both and at the end of bnmind's.

pyAgrum refuses hidden variables without a prior: give --smoothing, the pseudo-count of both.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from bnmind.fitting import EM, EMState, Laplace, fit
from bnmind.pgm import Network, TabularCPD
from tests.wheel import pyagrum_network, read_wheel

_T = TypeVar("_T")


def drawn(
    network: Network, n: int, missing: float, hidden: Sequence[str], *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cases with missing cells: as states, and as pyAgrum's copy calls them."""
    rng = np.random.default_rng(seed)
    states: dict[str, Any] = {}
    for cpd in network.cpds:
        table = cpd.to_factor().values.real
        columns = table[(slice(None), *(states[v.name] for v in cpd.parents))].reshape(
            cpd.variable.n_states, -1
        )
        position = (np.cumsum(columns, axis=0) < rng.random(n)).sum(axis=0)
        states[cpd.variable.name] = np.minimum(position, cpd.variable.n_states - 1)
    ours, theirs = {}, {}
    for v in network.variables:
        gone = (rng.random(n) < missing) | (v.name in hidden)
        labels = np.array(v.states, dtype=object)[states[v.name]]
        ours[v.name] = np.where(gone, None, labels)
        theirs[v.name] = np.where(gone, "?", states[v.name].astype(str))
    return pd.DataFrame(ours), pd.DataFrame(theirs)


def by_pyagrum(theirs: pd.DataFrame, model: Any, iterations: int, smoothing: float) -> Any:
    """Return the network that pyAgrum learns from the tables of a model."""
    import pyagrum as gum

    learner = gum.BNLearner(theirs, model, ["?"])
    learner.setNumberOfThreads(1)
    if smoothing:
        learner.useSmoothingPrior(smoothing)
    else:
        learner.useNoPrior()
    learner.useEMWithDiffCriterion(1e-12, 0.0)
    learner.EMdisableEpsilon()  # it stops after one iteration where there is a smoothing prior
    learner.EMsetMaxIter(iterations)
    return learner.learnParameters(model)


def from_pyagrum(model: Any, network: Network) -> Network:
    """Return our copy of what pyAgrum learned."""
    cpds = []
    for cpd in network.cpds:
        table = model.cpt(cpd.variable.name)
        names = list(table.names)
        # The first variable runs fastest in its arrays; the order of the parents is its own.
        values = np.array(table.toarray()).T
        values = values.transpose([names.index(v.name) for v in cpd.scope])
        cpds.append(TabularCPD(cpd.variable, cpd.parents, values))
    return Network(tuple(cpds))


def tables_of(em: EM, network: Network) -> EMState:
    """Return the tables of a network as a state of EM."""
    parts = [cpd.to_factor().values.real.ravel() for cpd in network.cpds]
    return EMState(np.concatenate(parts))


def seconds(work: Callable[[], _T]) -> tuple[float, _T]:
    """Return processor seconds and the result of some work."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int)
    parser.add_argument("--missing", type=float, default=0.15)
    parser.add_argument("--hidden", nargs="*", default=[])
    parser.add_argument("--smoothing", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    network = read_wheel("alarm")
    ours, theirs = drawn(network, asked.cases, asked.missing, asked.hidden, seed=asked.seed)
    model = pyagrum_network(network)
    prior = Laplace(asked.smoothing)
    em = EM.of(network, ours, prior=prior)
    start = tables_of(em, network)
    em.step(start)  # compiles
    times, peers = [], []
    for _ in range(asked.rounds):
        state = start

        def steps(first: EMState = state) -> EMState:
            for _ in range(20):
                first, _ = em.step(first)
            return first

        times.append(seconds(steps)[0] / 20)
        short = seconds(lambda: by_pyagrum(theirs, model, 2, asked.smoothing))[0]
        peers.append(
            (seconds(lambda: by_pyagrum(theirs, model, 4, asked.smoothing))[0] - short) / 2
        )
    ratios = [theirs / ours for theirs, ours in zip(peers, times, strict=True)]
    print(
        f"{asked.cases:,} cases, {asked.missing:.0%} of the cells missing,"
        f" hidden: {', '.join(asked.hidden) or 'none'}"
    )
    print(
        f"seconds of an iteration: bnmind {statistics.median(times):.6f}, pyAgrum"
        f" {statistics.median(peers):.3f}; ratio {statistics.median(ratios):,.0f}"
        f" ({min(ratios):,.0f} to {max(ratios):,.0f}, {asked.rounds} rounds)"
    )
    found = from_pyagrum(by_pyagrum(theirs, model, asked.iterations, asked.smoothing), network)
    state = start
    for _ in range(asked.iterations):
        state, _ = em.step(state)
    judged = [em.step(one)[1].log_likelihood for one in (tables_of(em, found), state)]
    print(
        f"log-likelihood after {asked.iterations} iterations: pyAgrum {judged[0]:.4f},"
        f" bnmind {judged[1]:.4f}"
    )
    whole, fitted = seconds(lambda: fit(network, ours, prior=prior))
    print(
        f"bnmind.fit: log-likelihood {fitted.log_likelihood:.4f} after {fitted.record.steps} steps,"
        f" {whole:.2f} s in all"
    )


if __name__ == "__main__":
    main()
