"""Times and memory of dynamic networks: 10,000 slices of ten binary variables.

Run it with ``python -m benchmarks.dynamic``. A slice has a chain of five hidden variables, each
with its own variable and the next one of the slice before as parents, and a noisy report of each of
them; a tenth of the reports is missing. Times are CPU time on one core.
"""

from __future__ import annotations

import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from bnmind.dynamic import DynamicNetwork, DynamicPlan, compile_dynamic, previous
from bnmind.pgm import CPD, Network, TabularCPD, Variable

N_HIDDEN = 5


def network_of_ten(seed: int = 1) -> DynamicNetwork:
    """Return a dynamic network of five hidden variables and five reports."""
    rng = np.random.default_rng(seed)
    hidden = [Variable(f"state {i}", ("off", "on")) for i in range(N_HIDDEN)]
    reports = [Variable(f"report {i}", ("off", "on")) for i in range(N_HIDDEN)]

    def table(variable: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
        values = rng.uniform(0.05, 1.0, size=(2,) * (1 + len(parents)))
        return TabularCPD(variable, parents, values / values.sum(axis=0))

    sensors = [table(r, (h,)) for r, h in zip(reports, hidden, strict=True)]
    first: list[CPD] = [table(h, ()) for h in hidden]
    later: list[CPD] = [
        table(h, (previous(h), previous(hidden[(i + 1) % N_HIDDEN]))) for i, h in enumerate(hidden)
    ]
    return DynamicNetwork(Network((*first, *sensors)), (*later, *sensors))


def findings(n: int, seed: int = 2) -> dict[str, list[Any]]:
    """Return reports of so many slices, a tenth of them missing."""
    rng = np.random.default_rng(seed)
    values = np.array(["off", "on", None], dtype=object)
    chances = [0.45, 0.45, 0.1]
    return {
        f"report {i}": values[rng.choice(3, size=n, p=chances)].tolist() for i in range(N_HIDDEN)
    }


def stepped(plan: DynamicPlan, columns: dict[str, list[Any]], n: int) -> float:
    """Filter step by step; return the log-likelihood."""
    state = plan.start()
    for number in range(n):
        state, _ = plan.step(state, {name: column[number] for name, column in columns.items()})
    return state.log_likelihood


def measured(what: str, n: int, run: Callable[[], Any]) -> None:
    """Print the time of a slice."""
    start = time.process_time()
    run()
    seconds = time.process_time() - start
    print(f"{what:38} {n:6,} slices {1000 * seconds / n:7.3f} ms a slice")


def memory(what: str, run: Callable[[], Any]) -> None:
    """Print the most memory that Python and NumPy allocate."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{what:38} {peak / 1024:10,.0f} KiB at most")


def main() -> None:
    """Print all figures."""
    network = network_of_ten()
    start = time.process_time()
    plan = compile_dynamic(network, observed=[f"report {i}" for i in range(N_HIDDEN)])
    hidden = compile_dynamic(
        network,
        observed=[f"report {i}" for i in range(N_HIDDEN)],
        targets=[f"state {i}" for i in range(N_HIDDEN)],
    )
    print(f"planning {time.process_time() - start:.3f} s; {plan!r}")
    columns = findings(10_000)
    short = {name: column[:1000] for name, column in columns.items()}
    stepped(hidden, short, 10)
    measured("step by step, ten marginals", 10_000, lambda: stepped(plan, columns, 10_000))
    measured("step by step, five marginals", 10_000, lambda: stepped(hidden, columns, 10_000))
    measured("filter a data frame, ten marginals", 10_000, lambda: plan.filter(columns))
    measured("log-likelihood", 10_000, lambda: plan.log_likelihood(columns))
    measured("smooth, ten marginals", 10_000, lambda: plan.smooth(columns))
    measured("most probable path", 1_000, lambda: plan.most_probable(short))
    for n in (1_000, 10_000):
        memory(f"step by step, {n:,} slices", lambda n=n: stepped(hidden, columns, n))  # type: ignore[misc]
    part = {n: {name: column[:n] for name, column in columns.items()} for n in (1_000, 10_000)}
    one = compile_dynamic(
        network, observed=[f"report {i}" for i in range(N_HIDDEN)], targets=["state 0"]
    )
    for n, cases in part.items():
        memory(f"smooth one variable, {n:,} slices", lambda cases=cases: one.smooth(cases))  # type: ignore[misc]
    unit = 1024 if sys.platform != "darwin" else 1024**2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(f"the whole process took at most {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
