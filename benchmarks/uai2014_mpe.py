"""Most probable explanations of the UAI 2014 models: proven by branch and bound, beside toulbar2.

    python -m benchmarks.uai2014_mpe DIRECTORY [NAMES …] [--seconds 60] [--memory 2] [--toulbar2]
    python -m benchmarks.uai2014_mpe DIRECTORY [NAMES …] --explained 0.5

``DIRECTORY`` holds NAME.uai.gz and NAME.uai.evid.gz. Each model is read and searched in a process
of its own. Its time, which ``--seconds`` limits, is that of the processor for the search with its
planning, after a tiny search has loaded the compiled code: other programs do not change it.
toulbar2 (`pip install pytoulbar2`) runs with its default options and one thread in its own process,
which is ended after the same time; its time is the processor's, too. With ``--explained``, the
question is a marginal MAP: a share of the variables, drawn at random, is explained, and the others
are summed out.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import math
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np

from bnmind.errors import TooLargeError
from bnmind.junction import Limits, compile_search
from bnmind.pgm import Factor, FactorModel, Variable
from bnmind.pgm.files import read_model

Row = tuple[float, bool, float]
"""The logarithm of the product, whether it is proven, and seconds of the processor."""


def read(directory: Path, name: str) -> tuple[FactorModel, dict[str, str]]:
    """Return a model and its evidence."""
    model = read_model(directory / f"{name}.uai.gz")
    with gzip.open(directory / f"{name}.uai.evid.gz", "rt") as file:
        words = file.read().split()
    # Some files start with the number of samples.
    if words and len(words) != 1 + 2 * int(words[0]):
        words = words[1:]
    return model, {f"x{v}": s for v, s in zip(words[1::2], words[2::2], strict=True)}


def _load_kernels() -> None:
    """Compile the kernels of a search, or load them from the cache."""
    rng = np.random.default_rng(1)
    variables = [Variable.of_integers(f"x{i}", range(2)) for i in range(12)]
    pairs = itertools.combinations(variables, 2)
    model = FactorModel(tuple(Factor(pair, np.exp(rng.normal(size=(2, 2)))) for pair in pairs))
    compile_search(model, limits=Limits(max_bytes=2**13)).run()


def of_bnmind(
    directory: Path, name: str, seconds: float, memory: float, explained: float | None
) -> Row:
    """Return the result of a search."""
    model, evidence = read(directory, name)
    targets = None
    if explained is not None:
        hidden = [v.name for v in model.variables if v.name not in evidence]
        rng = np.random.default_rng(1)
        chosen = rng.choice(len(hidden), size=max(1, int(explained * len(hidden))), replace=False)
        targets = [hidden[i] for i in sorted(chosen.tolist())]
    _load_kernels()
    start = time.process_time()
    limits = Limits(max_bytes=int(memory * 2**30))
    search = compile_search(model, evidence, targets, limits=limits)
    found = search.run(until=lambda _: time.process_time() - start > seconds)
    return found.log_probability, found.is_proven, time.process_time() - start


def of_toulbar2(directory: Path, name: str, seconds: float, memory: float) -> Row:
    """Return the result of toulbar2, which minimizes sums of costs."""
    import pytoulbar2  # type: ignore[import-untyped]

    model, evidence = read(directory, name)
    factors = [potential for potential in model.potentials if isinstance(potential, Factor)]
    positive = [factor.values.real[factor.values.real > 0] for factor in factors]
    never = 10 + sum(float(np.log(each.max() / each.min())) for each in positive)
    problem: Any = pytoulbar2.CFN(never, resolution=6)
    for v in model.variables:
        problem.AddVariable(v.name, list(v.states))
    for factor, some in zip(factors, positive, strict=True):
        with np.errstate(divide="ignore"):
            costs = np.log(some.max()) - np.log(factor.values.real)
        costs[~np.isfinite(costs)] = never
        problem.AddFunction(list(factor.names), costs.ravel().tolist())
    for seen, state in evidence.items():
        variable = model.variable(seen)
        costs = np.where(np.arange(variable.n_states) == variable.index(state), 0.0, never)
        problem.AddFunction([seen], costs.tolist())
    start = time.process_time()
    solution = problem.Solve(timeLimit=int(seconds))
    taken = time.process_time() - start
    if solution is None:
        return -math.inf, False, taken
    at = {v.name: int(state) for v, state in zip(model.variables, solution[0], strict=True)}
    logs = [math.log(f.values.real[tuple(at[name] for name in f.names)]) for f in factors]
    is_proven = abs(problem.GetDDualBound() - solution[1]) < 1e-5
    return math.fsum(logs), is_proven, taken


def apart(function: Any, *arguments: Any, seconds: float) -> Row | None:
    """Return a result computed in a process of its own; None if it takes too long."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        try:
            # A busy machine needs longer.
            row: Row = pool.apply_async(function, arguments).get(8 * seconds + 30)
        except (multiprocessing.TimeoutError, MemoryError, TooLargeError):
            return None
    return row


def shown(row: Row | None) -> str:
    """Return a result as columns."""
    if row is None:
        return "| – | no | – "
    value, is_proven, seconds = row
    return f"| {value:.4f} | {'yes' if is_proven else 'no'} | {seconds:.2f} "


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--memory", type=float, default=2, help="GiB of a search")
    parser.add_argument("--explained", type=float, help="share of the variables for marginal MAP")
    parser.add_argument("--toulbar2", action="store_true")
    options = parser.parse_args()
    every = sorted(path.name[:-7] for path in options.directory.glob("*[0-9].uai.gz"))
    print(
        "| model | log of the product | proven | s "
        + "| toulbar2 | proven | s " * options.toulbar2
        + "|"
    )
    print("|---" * (4 + 3 * options.toulbar2) + "|")
    for name in options.names or every:
        given = (options.directory, name, options.seconds, options.memory)
        row = apart(of_bnmind, *given, options.explained, seconds=options.seconds)
        line = f"| {name} {shown(row)}"
        if options.toulbar2:
            line += shown(apart(of_toulbar2, *given, seconds=options.seconds))
        print(f"{line}|", flush=True)


if __name__ == "__main__":
    main()
