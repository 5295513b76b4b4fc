"""How long the first answers of a process take if the compiler's cache is empty.

Usage: ``python -m benchmarks.cold_start [NETWORK ...] [--runs N]``

Each run is a process with an empty cache. It imports bnmind, reads a network of the wheel as a BIF
file, and asks for all posteriors given a tenth of the variables, then for one posterior. The
seconds are medians by the clock and by the processor; the largest is in brackets.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.wheel import bif_text

SCRIPT = """
import json, sys, time
def now():
    return time.perf_counter(), time.process_time()
times = [now()]
import bnmind
network = bnmind.read(sys.argv[1])
seen = {v.name: v.states[0] for v in network.variables[5::10]}
times.append(now())
bnmind.posterior(network, seen)
times.append(now())
bnmind.posterior(network, seen, [network.variables[-1].name])
times.append(now())
steps = [[b - a for a, b in zip(*pair)] for pair in zip(times, times[1:])]
print(json.dumps({"steps": steps, "numba": "numba" in sys.modules}))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", default=("asia", "alarm", "andes", "pigs"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(arguments)
    print(
        "| network | clock | import and read, s | all posteriors, s | one posterior, s | compiled |"
    )
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for name in options.networks:
        with TemporaryDirectory() as folder:
            file = Path(folder, f"{name}.bif")
            file.write_text(bif_text(name), encoding="utf-8")
            runs = [_run(file) for _ in range(options.runs)]
        compiled = "something" if any(run["numba"] for run in runs) else "nothing"
        seconds = np.array([run["steps"] for run in runs])  # (runs, steps, clocks)
        for clock, kind in enumerate(("wall", "processor")):
            cells = [f"{np.median(s):.3f} ({s.max():.3f})" for s in seconds[:, :, clock].T]
            print(f"| {name} | {kind} | {' | '.join(cells)} | {compiled} |", flush=True)


def _run(file: Path) -> dict[str, list[list[float]]]:
    with TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(file)],
            capture_output=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
        )
    result: dict[str, list[list[float]]] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
