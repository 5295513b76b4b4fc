"""The tables of docs/inference-benchmarks.md, from what `benchmarks.run_networks` measured.

    python -m benchmarks.network_table FILE.json [--page docs/inference-benchmarks.md]

prints them, or puts them into the page between its two marks.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.network_aims import AIMS, LAZY, SHAFER, Record, Results
from benchmarks.network_engines import ENGINES
from tests.wheel import EVIDENCE

__all__ = ["tables"]

EXTRA_AIMS = {"batch": "0.002", "sum of 30": "some", "noisy-or of 30": "some"}
"""Milliseconds."""

START, END = "<!-- measured: start -->", "<!-- measured: end -->"
TOLERANCE = 1e-10
"""Answers that differ from ours by more are marked."""


def tables(result: dict[str, Any]) -> str:
    """Return all the tables as Markdown."""
    results = Results(result["records"])
    about = result["about"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    parts = [
        f"Python {about['python']}, {versions}; one run of {about['seconds'] / 60:.0f} minutes, "
        f"with {about['runs']} runs of each question and {about['draws']} draws of the evidence; "
        f"a query was stopped after {about['cut_off']:.0f} seconds.",
        "## Seconds\n\n" + _times(results),
        "## Memory\n\n" + _memory(results),
        "## Many cases, many parents\n\n" + _extras(result.get("extras", [])),
        "## Aims\n\n" + _aims(results),
    ]
    return "\n\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _seconds(value: float) -> str:
    """Return three digits without exponents."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def _cell(results: Results, network: str, evidence: str, engine: str, which: str) -> str:
    record = results.record(network, evidence, engine)
    if record is None:
        return ""
    time = results.seconds(network, evidence, engine, which)
    marks = _marks(record)
    if time is None:
        failed = which == "first" and record["fault"]
        return f"failed: {record['fault']}" if failed else "–"
    if math.isinf(time.at_least):
        return "memory" if which == "first" else "–"
    if not time.exact:
        return f"> {time.at_least:.0f} ({record['finished']} of {record['targets']}){marks}"
    few = f" ({len(record[which])})" if 0 < len(record[which]) < 3 else ""
    return _seconds(time.at_least) + few + marks


def _marks(record: Record) -> str:
    difference = record.get("difference")
    return "†" if difference is not None and difference > TOLERANCE else ""


def _times(results: Results) -> str:
    head = [
        "network, evidence",
        "cells",
        "bnmind",
        "again",
        "Lazy",
        "again",
        "Shafer",
        "again",
        "pyAgrum VE",
        "pgmpy VE",
    ]
    whichs = ("first", "again")
    columns = [(engine, which) for engine in ("bnmind", LAZY, SHAFER) for which in whichs]
    columns += [("pyagrum-elimination", "first"), ("pgmpy-elimination", "first")]
    rows = []
    for network in results.networks():
        for evidence in EVIDENCE:
            ours = results.record(network, evidence, "bnmind")
            cells = f"{ours['cells']:,}" if ours and ours["cells"] else ""
            told = [_cell(results, network, evidence, *column) for column in columns]
            if any(told):
                rows.append([f"{network}, {evidence}", cells, *told])
    return _table(head, rows)


def _memory(results: Results) -> str:
    rows = []
    for network in results.networks():
        for evidence in EVIDENCE:
            found = [results.record(network, evidence, engine) for engine in ENGINES]
            if any(found):
                rows.append([f"{network}, {evidence}", *(_megabytes(record) for record in found)])
    ours = [
        results.record(network, evidence, "bnmind")
        for network in results.networks()
        for evidence in EVIDENCE
    ]
    most = max((record["memory"] for record in ours if record and record["memory"]), default=0)
    table = _table(["MB", "bnmind", "Lazy", "Shafer", "pyAgrum VE", "pgmpy VE"], rows)
    return f"bnmind takes at most {most:,.0f} MB for a network.\n\n{table}"


def _megabytes(record: Record | None) -> str:
    if record is None:
        return ""
    if record["memory"] is None or record["fault"] == "out of memory":
        return "memory" if record["fault"] == "out of memory" else "–"
    more = "> " if record["fault"] == "cut off" else ""
    return f"{more}{record['memory']:,.0f}"


def _extras(extras: Sequence[Record]) -> str:
    by_key = {(extra["question"], extra["engine"]): extra for extra in extras}
    engines = ("bnmind", LAZY)
    rows = []
    for question in dict.fromkeys(extra["question"] for extra in extras):
        told = [by_key.get((question, engine)) for engine in engines]
        ours, theirs = (extra["answer"] if extra and extra["seconds"] else None for extra in told)
        cells = []
        for extra in told:
            if extra is None:
                cells.append("")
            elif extra["seconds"]:
                cells.append(f"{1e3 * median(extra['seconds']):.3g}")
            else:
                known = extra["fault"] in ("out of memory", "cut off")
                cells.append(extra["fault"] if known else "fails")
        if ours and theirs and max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) > 1e-8:
            cells[1] += "†"
        title = "one of 10,000 cases on alarm" if question == "batch" else question
        rows.append([title, EXTRA_AIMS.get(question, ""), *cells])
    return _table(["milliseconds", "aim", "bnmind", "Lazy"], rows)


def _aims(results: Results) -> str:
    """Return how many aims are reached, which are missed, and all of them."""
    verdicts = {True: "yes", False: "**no**", None: "unknown"}
    few, all_ = [], []
    for aim in AIMS:
        findings = list(aim.findings(results))
        if not findings:
            continue
        reached = sum(found.reached is True for found in findings)
        missed = [found.network for found in findings if found.reached is False]
        few.append([aim.title, f"{reached} of {len(findings)}", ", ".join(missed)])
        for found in findings:
            told = ", ".join(found.measured)
            all_.append([aim.title, found.network, found.aim, told, verdicts[found.reached]])
    reached = sum(row[-1] == verdicts[True] for row in all_)
    return "\n\n".join(
        [
            f"{reached} of {len(all_)} aims are reached.",
            _table(["figure of bnmind", "reached", "missed"], few),
            "These are all aims, with the median ratio of the draws and its range in brackets:",
            _table(["figure of bnmind", "network", "aim", "measured", "reached"], all_),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.network_table", description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--page", type=Path, help="a Markdown file with the two marks")
    options = parser.parse_args(arguments)
    text = tables(json.loads(options.result.read_text(encoding="utf-8")))
    if options.page is None:
        print(text)
        return
    before, rest = options.page.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    page = f"{before}{START}\n\n{text}\n\n{END}{after}"
    options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
