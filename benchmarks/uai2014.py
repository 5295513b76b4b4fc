"""Marginals of the models of the UAI 2014 inference competition, compared with their answers.

    python -m benchmarks.uai2014 FOLDER --out RESULTS [--only NAME …] [--page docs/competitions.md]

answers each ``NAME.uai.gz`` of a folder, given ``NAME.uai.evid.gz``, and compares the marginals
with those of ``NAME.uai.MAR.gz``. Each file has a process of its own, with limits of memory and of
time, and one thread. Times are seconds of the processor. Results are written as soon as they are
known; a file that has one is not run again. With ``--page``, the table goes into the page between
its two marks.

A plan in the default order comes first. If it does not fit, contraction trees are annealed for a
better order, then the plan runs in slices. The reason of a refusal is the last one. The seconds of
planning start with the first of these ways, after a small model has loaded the compiled code.

The files are in the public collection ``mroavi/uai`` of M. Roa-Villescas.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bnmind.errors import BnmindError, TooLargeError
from bnmind.pgm import FactorModel, Variable

__all__ = ["PUBLISHED", "main", "table"]

PUBLISHED = {
    "Promedus_14": 0.033,
    "Grids_11": 0.155,
    "Pedigree_11": 0.021,
    "Segmentation_11": 0.028,
    "Alchemy_11": 0.046,
    "CSP_11": 7.84,
}
"""Seconds of a run of TensorInference.jl, without its search for an order (Roa-Villescas & Liu,
*Journal of Open Source Software* 8, 2023, and its documentation)."""

EXACT = 1e-6
"""The largest difference of equal answers; the published ones have six significant digits."""

SECONDS = 2.0
"""No further run starts after so many seconds of runs."""

HOPELESS = 2**40
"""How many times larger than allowed a plan is that neither another order nor slices help."""

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""The variables of the environment that limit the threads of a process."""

START, END = "<!-- measured: start -->", "<!-- measured: end -->"

Record = dict[str, Any]


def measure(path: Path, *, memory: float) -> Record:
    """Return the measurements of one file."""
    from bnmind.junction import Limits
    from bnmind.pgm.competition import read_evidence, read_marginals
    from bnmind.pgm.files import read_model

    stem = path.name.removesuffix(".gz")
    model = read_model(path)
    findings = read_evidence(path.with_name(f"{stem}.evid.gz"), model)
    answers = read_marginals(path.with_name(f"{stem}.MAR.gz"), model)
    record: Record = {"name": stem.removesuffix(".uai"), "variables": len(model.variables)}
    _warm_up()
    limits = Limits(int(memory * 2**30 / 2), 2**39)
    began = time.process_time()
    for way in (_planned, _annealed, _sliced):
        try:
            found, run = way(model, findings, limits)
            record |= {"way": way.__name__.strip("_"), "planning": time.process_time() - began}
            record |= found
            times: list[float] = []
            while not times or (len(times) < 5 and sum(times) < SECONDS):
                start = time.process_time()
                posterior = run()
                times.append(time.process_time() - start)
        except TooLargeError as fault:
            record |= {"fault": f"refused: {fault}"}
            if (fault.needed or 0) > HOPELESS * (fault.budget or 1):
                return record
            continue
        except BnmindError as fault:
            return record | {"fault": f"failed: {fault}"}
        record |= {"fault": "", "run": min(times)}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return record | {"peak": peak} | compared(model, findings, posterior.marginals, answers)
    return record


def compared(
    model: FactorModel,
    findings: Mapping[str, str],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
) -> Record:
    """Return the largest difference from the published marginals."""

    def of(variable: Variable) -> Any:
        if variable.name in findings:
            seen = variable.index(findings[variable.name])
            return np.arange(variable.n_states) == seen
        return np.asarray(ours[variable.name])

    return {"difference": max(float(np.abs(of(v) - theirs[v.name]).max()) for v in model.variables)}


def _planned(
    model: FactorModel, findings: Mapping[str, str], limits: Any, order: Any = None
) -> Any:
    from bnmind.junction import compile_plan

    plan = compile_plan(model, evidence=findings, limits=limits, order=order)
    found = {"size": plan.total_size, "memory": plan.memory, "predicted": plan.seconds}
    return found, lambda: plan.run(findings)


def _annealed(model: FactorModel, findings: Mapping[str, str], limits: Any) -> Any:
    from bnmind.junction import TreeAnnealing

    return _planned(model, findings, limits, TreeAnnealing(rounds=8))


def _sliced(model: FactorModel, findings: Mapping[str, str], limits: Any) -> Any:
    from bnmind.junction import TreeAnnealing, compile_sliced

    order = TreeAnnealing(rounds=8)
    sliced = compile_sliced(model, known=findings, limits=limits, order=order)
    found = {"size": sliced.plan.total_size, "memory": sliced.memory, "slices": sliced.n_slices}
    return found | {"predicted": sliced.n_slices * sliced.plan.seconds}, sliced.run


def _warm_up() -> None:
    """Load the compiled kernels: the searches, the annealing too, and the runs."""
    from bnmind.junction import RandomizedGreedy, TreeAnnealing, compile_plan
    from bnmind.pgm import Factor

    rng = np.random.default_rng(1)
    grid = [[Variable(f"x{i},{j}", ("0", "1")) for j in range(14)] for i in range(14)]
    pairs = [(grid[i][j], grid[i + 1][j]) for i in range(13) for j in range(14)]
    pairs += [(grid[i][j], grid[i][j + 1]) for i in range(14) for j in range(13)]
    model = FactorModel(tuple(Factor(pair, rng.random((2, 2))) for pair in pairs))
    compile_plan(model).run()
    compile_plan(model, order=TreeAnnealing(RandomizedGreedy(restarts=50), rounds=1))


def table(records: Sequence[Record]) -> str:
    """Return the results as Markdown."""
    exact = [r for r in records if r.get("difference", 1) <= EXACT]
    quick = [r for r in exact if r["planning"] + r["run"] <= 2]
    predicted = [r for r in exact if 0.5 < r.get("predicted", 0) / r["run"] < 2]
    timed = [r for r in exact if r["name"] in PUBLISHED]
    faster = [r for r in timed if r["run"] <= PUBLISHED[r["name"]]]
    lines = [
        f"{len(exact)} of {len(records)} files are exact to 1e-6, {len(quick)} of them with"
        f" planning and run within 2 s; {len(faster)} of {len(timed)} runs take no longer than the"
        f" published ones, which are of another machine. {len(predicted)} plans predict the time of"
        " their run within a factor of two.",
        "",
        "| file | variables | largest difference | planning s | run s | published s | total size |"
        " predicted MB | way |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for r in sorted(records, key=lambda r: str(r["name"])):
        published = f"{PUBLISHED[r['name']]:.3g}" if r["name"] in PUBLISHED else ""
        if r.get("fault") or "difference" not in r:
            why = r.get("fault", "failed").split(".")[0][:160]
            number = f"{r.get('variables', '')}"
            lines.append(f"| {r['name']} | {number} | – | – | – | {published} | | | {why} |")
            continue
        size, memory = r.get("size"), r.get("memory")
        cells = [
            *(r["name"], f"{r['variables']:,}", f"{r['difference']:.1e}"),
            *(_seconds(r["planning"]), _seconds(r["run"]), published),
            "" if size is None else f"{size:,}",
            "" if memory is None else f"{memory / 2**20:,.0f}",
            f"{r['slices']} slices" if "slices" in r else r["way"],
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _seconds(value: float) -> str:
    """Return two digits or more without exponents."""
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def _records(path: Path) -> list[Record]:
    """Return the last result of each file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return list({r["name"]: r for r in map(json.loads, lines)}.values())


def _run_one(path: Path, options: argparse.Namespace) -> Record:
    name = path.name.removesuffix(".uai.gz")
    command = [sys.executable, "-m", "benchmarks.uai2014", str(path), "--worker"]
    command += ["--memory", str(options.memory)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=options.time,
            check=False,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "fault": f"more than {options.time:.0f} s"}
    if done.returncode:
        return {"name": name, "fault": f"failed: {done.stderr.strip().splitlines()[-1:]}"}
    record: Record = json.loads(done.stdout)
    return record


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.uai2014", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("uai2014.jsonl"),
        help="the file of results, a line of JSON each",
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--page", type=Path, help="a Markdown file with the two marks")
    parser.add_argument("--memory", type=float, default=12.0, help="GB of a process")
    parser.add_argument("--time", type=float, default=600.0, help="seconds of a process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        limit = int(options.memory * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        print(json.dumps(measure(options.folder, memory=options.memory)))
        return
    out: Path = options.out
    known = {r["name"] for r in _records(out)}
    for path in sorted(options.folder.glob("*.uai.gz")):
        name = path.name.removesuffix(".uai.gz")
        if name in known or (options.only and name not in options.only):
            continue
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(_run_one(path, options)) + "\n")
    text = table(_records(out))
    if options.page is None:
        print(text)
        return
    before, rest = options.page.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    options.page.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
