"""Measure engines on the networks of pgmpy's wheel, and keep the raw figures as JSON.

    python -m benchmarks.run_networks --out FILE.json

Each engine has its own process for each network and kind of evidence, one thread, and a
limit of memory and time. `benchmarks.network_table` makes the page of the documentation.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from benchmarks.network_engines import ENGINES, MORE_ENGINES
from benchmarks.network_extras import TASKS
from benchmarks.network_worker import Task, Watch
from bnmind.information import Floats
from bnmind.pgm import Network
from tests.wheel import EVIDENCE, ask, read_wheel

__all__ = ["NETWORKS", "SMALL", "measure", "median_of"]

Record: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parents[1]
SMALL = ("alarm", "hailfinder", "win95pts", "insurance")
NETWORKS = (
    *SMALL,
    *("water", "mildew", "barley", "munin1", "link", "diabetes", "pigs", "munin"),
)
DRAWN = ("bnmind", "pyagrum-lazy", "pyagrum-shafer")
"""Engines that answer every draw of the evidence; the others answer the first alone."""

_PATIENCE = 3.0
"""The cut-offs after which a process is killed, by the wall clock, whatever it is doing."""


class Tables:
    """Pickled networks in a folder, read from the wheel when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str) -> Path:
        """Return the file of a network's pickle."""
        path = self._folder / f"{name}.pkl"
        if not path.exists():
            path.write_bytes(pickle.dumps(read_wheel(name)))
        return path

    def network(self, name: str) -> Network:
        """Return a network."""
        found: Network = pickle.loads(self.file(name).read_bytes())
        return found


def _warm(engine: str, network: str) -> list[str]:
    """Return the networks to warm up with: ours compiles kernels for large trees only."""
    small = "hailfinder" if network == "alarm" else "alarm"
    large = "mildew" if network == "water" else "water"
    return [small, large] if engine == "bnmind" else [small]


def _start(task: Task, folder: Path, watch: Watch, cache: Path | None) -> str:
    """Run a worker, and return what ended it if it did not end by itself."""
    order = folder / "task.json"
    order.write_text(json.dumps(asdict(task)), encoding="utf-8")
    place = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "benchmarks.network_worker", str(order)]
    environment = {**_environment(), **place}
    said = folder / "said"
    with (
        said.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors
        ) as process,
    ):
        while True:
            try:
                code = process.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if watch.seconds > task.cut_off * _PATIENCE:
                    process.kill()
                    return "cut off"
    return _failure(said.read_text(encoding="utf-8").strip(), code) if code else ""


def _environment() -> dict[str, str]:
    """Return the environment of a worker: one thread, and the same hashes each time."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    return {**os.environ, **threads, "PYTHONHASHSEED": "0"}


def measure_extras(engines: Sequence[str], *, cut_off: float = 120.0) -> Iterator[Record]:
    """Yield what `benchmarks.network_extras` finds for each of its tasks, a fault if it fails."""
    for name in TASKS:
        question, engine = name.rsplit(", ", 1)
        if engine not in engines:
            continue
        record: Record = {"question": question, "engine": engine, "seconds": [], "fault": ""}
        with TemporaryDirectory() as folder:
            out = Path(folder, "extra.json")
            try:
                done = subprocess.run(
                    [sys.executable, "-m", "benchmarks.network_extras", name, str(out)],
                    cwd=ROOT,
                    env=_environment(),
                    timeout=cut_off,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if out.exists():
                    record |= json.loads(out.read_text(encoding="utf-8"))
                else:
                    record["fault"] = _failure(done.stderr.strip(), done.returncode)
            except subprocess.TimeoutExpired:
                record["fault"] = "cut off"
        yield record


def _failure(text: str, code: int) -> str:
    """Return why a process did not end well."""
    if any(sign in text for sign in ("bad_alloc", "MemoryError")) or code == -9:
        return "out of memory"
    last = text.splitlines()[-1] if text else ""
    return f"exit code {code}: {last[:120]}"


def _runs(task: Task, folder: Path, cache: Path | None = None) -> tuple[Record, Floats | None]:
    """Return what a worker wrote, its runs side by side, and its answer."""
    out, answer = Path(task.out), Path(f"{task.out}.npy")
    for left in (out, answer, Path(f"{task.out}.watch")):
        left.unlink(missing_ok=True)
    watch = Watch(Path(f"{task.out}.watch"))
    end = _start(task, folder, watch, cache)
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    # The last line of a run holds.
    runs = list({run["number"]: run for run in map(json.loads, lines)}.values())
    faults = [run["fault"] for run in runs if run["fault"]] + ([end] if end else [])
    return {
        "first": [run["first"] for run in runs if run["first"] is not None],
        "again": [run["again"] for run in runs if run["again"] is not None],
        "memory": runs[0]["memory"] if runs else None,
        "finished": runs[0]["finished"] if runs else watch.finished,
        "cells": runs[0]["cells"] if runs else None,
        "fault": faults[0] if faults else "",
    }, np.load(answer) if answer.exists() else None


def measure(
    networks: Sequence[str],
    engines: Sequence[str],
    evidence: Sequence[str] = EVIDENCE,
    *,
    tables: Path,
    runs: int = 5,
    draws: int = 5,
    cut_off: float = 120.0,
    cold: bool = True,
) -> Iterator[tuple[Record, Floats | None]]:
    """Yield a record and an answer for each network, draw of the evidence and engine.

    Parameters
    ----------
    tables
        A folder for the pickled networks.
    runs
        Of each; only one where both queries together take over 20 s.
    draws
        How often the evidence is drawn anew, for the engines in `DRAWN`.
    cut_off
        Seconds for a query.
    cold
        Whether ours is also asked in fresh processes without any compiled code.
    """
    store = Tables(tables)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for network in networks:
            model = store.network(network)
            for kind, draw in _draws(evidence, draws):
                question = ask(model, kind, seed=draw)
                for engine in engines if draw == 1 else [e for e in engines if e in DRAWN]:
                    task = Task(
                        engine,
                        str(store.file(network)),
                        kind,
                        draw,
                        str(folder / "runs"),
                        tuple(str(store.file(warm)) for warm in _warm(engine, network)),
                        runs=runs,
                        cut_off=cut_off,
                    )
                    record, answer = _runs(task, folder)
                    record = {
                        "network": network,
                        "evidence": kind,
                        "draw": draw,
                        "engine": engine,
                        "variables": len(model.variables),
                        "findings": len(question.findings),
                        "targets": len(question.targets),
                        "cut_off": cut_off,
                        **record,
                    }
                    if cold and engine == "bnmind" and network in SMALL and draw == 1:
                        record["cold"] = _cold(task, folder, runs)
                    yield record, answer


def _draws(evidence: Sequence[str], draws: int) -> Iterator[tuple[str, int]]:
    """Yield kinds of evidence and numbers of draws; without evidence there is nothing to draw."""
    for kind in evidence:
        for draw in range(1, 2 if kind == "none" else draws + 1):
            yield kind, draw


def _cold(task: Task, folder: Path, runs: int) -> list[float]:
    """Return the seconds of first queries in fresh processes, the compiler's cache being empty."""
    seconds: list[float] = []
    for number in range(runs):
        once = Task(task.engine, task.tables, task.evidence, task.draw, task.out, runs=1)
        record, _ = _runs(once, folder, folder / f"cache{number}-{len(os.listdir(folder))}")
        seconds += record["first"]
    return seconds


def median_of(seconds: Sequence[float]) -> float | None:
    """Return the median, or None of nothing."""
    return median(seconds) if seconds else None


def with_differences(
    records: Sequence[Record], answers: dict[str, Floats], *, of: str = "bnmind"
) -> list[Record]:
    """Return the records with the largest difference of their answer from ours."""
    told = []
    for record in records:
        ours = answers.get(key(record, engine=of))
        theirs = answers.get(key(record))
        difference = None
        if ours is not None and theirs is not None and not np.isnan(theirs).all():
            difference = float(np.nanmax(np.abs(ours - theirs)))
        told.append({**record, "difference": difference})
    return told


def key(record: Record, *, engine: str = "") -> str:
    """Return the name under which an answer is kept."""
    draw = record["draw"]
    return f"{record['network']}|{record['evidence']}|{draw}|{engine or record['engine']}"


def _names(known: Sequence[str], text: str) -> list[str]:
    chosen = text.split(",")
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, got {unknown}")
    return [name for name in known if name in chosen]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.run_networks", description=__doc__)
    engines = (*ENGINES, *MORE_ENGINES)
    for option, known, usual in (
        ("--networks", NETWORKS, NETWORKS),
        ("--engines", engines, tuple(ENGINES)),
        ("--queries", EVIDENCE, EVIDENCE),
    ):
        parser.add_argument(
            option, type=partial(_names, known), default=list(usual), help=", ".join(known)
        )
    parser.add_argument("--no-extras", action="store_true", help="no batch, no functional nodes")
    parser.add_argument("--runs", type=int, default=5, help="of each question, the median counts")
    parser.add_argument("--draws", type=int, default=5, help="of the evidence")
    parser.add_argument("--cut-off", type=float, default=120.0, help="seconds for a query")
    parser.add_argument("--tables", type=Path, help="a folder that keeps the pickled networks")
    parser.add_argument(
        "--take-over", type=Path, help="earlier results, for what is not measured now"
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON; answers go beside it (.npz)")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    start = time.perf_counter()
    records: list[Record] = []
    extras: list[Record] = []
    answers: dict[str, Floats] = {}
    if options.take_over:
        earlier = json.loads(options.take_over.read_text(encoding="utf-8"))
        records = [
            record
            for record in earlier["records"]
            if record["network"] not in options.networks
            or record["evidence"] not in options.queries
            or record["engine"] not in options.engines
        ]
        extras = [
            extra
            for extra in earlier.get("extras", [])
            if options.no_extras or extra["engine"] not in options.engines
        ]
        with np.load(options.take_over.with_suffix(".npz")) as kept:
            answers = {name: kept[name] for name in kept.files}
    about = {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "numba", "pgmpy", "pyagrum")},
        "cores": os.cpu_count(),
        "runs": options.runs,
        "draws": options.draws,
        "cut_off": options.cut_off,
        "measured": options.engines,
    }

    def write() -> None:
        about["seconds"] = round(time.perf_counter() - start)
        told = with_differences(records, answers)
        result = {"about": about, "records": told, "extras": extras}
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        np.savez_compressed(options.out.with_suffix(".npz"), allow_pickle=False, **answers)

    with TemporaryDirectory() as folder:
        measured = measure(
            options.networks,
            options.engines,
            options.queries,
            tables=options.tables or Path(folder),
            runs=options.runs,
            draws=options.draws,
            cut_off=options.cut_off,
        )
        for record, answer in measured:
            records.append(record)
            if answer is not None:
                answers[key(record)] = answer
            times = [median_of(record[which]) for which in ("first", "again")]
            print(key(record), *(_shown(t) for t in times), record["fault"], flush=True)
            # Written each time: what was measured is kept if the rest is not.
            write()
    if not options.no_extras:
        for extra in measure_extras(options.engines, cut_off=options.cut_off):
            extras.append(extra)
            shown = _shown(median_of(extra["seconds"]))
            print(extra["question"], extra["engine"], shown, extra["fault"], flush=True)
            write()


def _shown(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.4g} s"


if __name__ == "__main__":
    main()
