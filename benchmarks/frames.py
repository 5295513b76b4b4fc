"""How long a data frame of cases takes, beside pgmpy on some of its rows.

Usage: ``python -m benchmarks.frames [ROWS]``

The cases are sampled from the network alarm of pgmpy's wheel. ``one column`` hides one variable in
all rows; ``cells`` also hides 15 percent of the other cells at random. Five draws of the target and
of the missing cells. Each time is by the clock, in one process; pgmpy has one job. Reading the
network, compiling kernels and sampling are excluded, planning is not. The answers to the rows that
pgmpy gets are compared before the times: they agree, except where several states are equally
probable. pgmpy too computes identical rows once; its time is that of a distinct row, multiplied by
the number of distinct rows.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bnmind.junction import (
    compile_sampling,
    complete,
    impute,
    log_likelihood,
    predict,
    predict_proba,
    sample_missing,
)
from bnmind.pgm import Network
from bnmind.pgm.files import read_network
from bnmind.pgm.formats import quiet_pgmpy

DRAWS = 5
OF_PGMPY = 1000
OF_PGMPY_CELLS = 100
MISSING = 0.15


def alarm() -> Network:
    """Return the network of pgmpy's wheel."""
    packed = files("pgmpy") / "utils" / "example_models" / "alarm.bif.gz"
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "alarm.bif"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        return read_network(path)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of some work, and its result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def agree(network: Network, cases: pd.DataFrame, target: str, theirs: pd.Series[Any]) -> None:
    """Assert that states are the most probable ones, up to ties."""
    chances = predict_proba(network, cases, target).frame[target]
    for (_, row), state in zip(chances.iterrows(), theirs, strict=True):
        assert row[state] > row.max() - 1e-9


def median_and_range(values: list[float], form: str = ".3g") -> str:
    """Return the median of some values, with the smallest and the largest in brackets."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    network = alarm()
    samples = compile_sampling(network).run(n_samples=n_rows, rng=np.random.default_rng(1))
    whole = pd.DataFrame(dict(samples.columns))
    model = network.to_pgmpy()
    rng = np.random.default_rng(2)
    targets = rng.choice([v.name for v in network.variables], size=DRAWS, replace=False).tolist()
    predict(network, whole.head(10), targets[0])
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    with quiet_pgmpy(), contextlib.redirect_stderr(io.StringIO()):  # pgmpy shows bars
        from pgmpy.inference import VariableElimination

        engine = VariableElimination(model)
        for target in targets:
            known = whole.drop(columns=target)
            holes = known.mask(rng.random(known.shape) < MISSING)
            few = known.head(OF_PGMPY)
            spent, answers = seconds(partial(model.predict, few, n_jobs=1))
            agree(network, few, target, answers[target])
            distinct = len(known.drop_duplicates())
            theirs.setdefault("one column", []).append(
                spent / len(few.drop_duplicates()) * distinct
            )
            some = holes.head(OF_PGMPY_CELLS)

            def by_row(some: pd.DataFrame = some, target: str = target) -> pd.Series[Any]:
                return pd.Series(
                    [
                        engine.map_query([target], row.dropna().to_dict(), show_progress=False)[
                            target
                        ]
                        for _, row in some.iterrows()
                    ]
                )

            spent, answers = seconds(by_row)
            agree(network, some, target, answers)
            distinct = len(holes.drop_duplicates())
            theirs.setdefault("cells", []).append(spent / len(some.drop_duplicates()) * distinct)
            for name, work in (
                ("one column", partial(predict, network, known, target)),
                ("cells", partial(predict, network, holes, target)),
                ("cells: impute", partial(impute, network, holes)),
                ("cells: complete", partial(complete, network, holes)),
                ("cells: sample", partial(sample_missing, network, holes, rng=rng)),
                ("cells: log-likelihood", partial(log_likelihood, network, holes)),
            ):
                ours.setdefault(name, []).append(seconds(work)[0])
    print(f"alarm, {n_rows:,} rows, {DRAWS} draws; seconds, median and range\n")
    print("| cases | bnmind | pgmpy | ratio |\n| --- | ---: | ---: | ---: |")
    for name, times in ours.items():
        other, ratio = "–", "–"
        if name in theirs:
            other = median_and_range(theirs[name])
            ratios = [b / a for a, b in zip(times, theirs[name], strict=True)]
            ratio = median_and_range(ratios, ",.0f")
        print(f"| {name} | {median_and_range(times)} | {other} | {ratio} |")


if __name__ == "__main__":
    main()
