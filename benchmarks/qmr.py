"""Diagnosis with networks of the kind of QMR-DT, whose findings are noisy-or of diseases.

    python -m benchmarks.qmr [--page docs/inference-benchmarks.md]

The networks and the evidence are random, see `tests.qmr`. A line shows the medians over several
sets of findings, with their range, for the first question of an engine and for a question that
follows it, in time of the processor: the posteriors of all diseases, where some findings are
positive and all others negative. Each answer is compared with Quickscore in numbers of three
hundred digits: the probability of the evidence, and the posterior of the most probable
disease.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

import bnmind
from bnmind.pgm import Network
from tests.qmr import qmr_evidence, qmr_network, quickscore

START, END = "<!-- qmr: start -->", "<!-- qmr: end -->"

DRAWS = 5


class Size(NamedTuple):
    """A kind of network and evidence."""

    n_diseases: int
    n_findings: int
    n_positive: int
    per_disease: int | None
    """The positive findings that share a disease; None for independent ones."""


SIZES = (
    Size(40, 100, 5, None),
    Size(40, 100, 15, None),
    Size(40, 100, 15, 5),
    Size(600, 4_000, 20, None),
    Size(600, 4_000, 20, 5),
)


class Draw(NamedTuple):
    """One set of findings."""

    first: float
    """Seconds of the first question of an engine."""
    again: float
    """Seconds of the same question without the plan's compilation."""
    cells: int
    """The multiplications that were predicted."""
    difference: float
    """The largest relative difference from Quickscore."""


def drawn(network: Network, size: Size, seed: int) -> Draw:
    """Return the times of a set of findings."""
    rng = np.random.default_rng(seed)
    evidence = qmr_evidence(network, size.n_positive, rng, per_disease=size.per_disease)
    diseases = [f"d{i}" for i in range(size.n_diseases)]
    engine = bnmind.compile_model(network)
    start = time.process_time()
    engine.posterior(diseases, evidence)
    first = time.process_time() - start
    start = time.process_time()
    posterior = engine.posterior(diseases, evidence)
    again = time.process_time() - start
    likely = max(diseases, key=lambda name: posterior[name]["yes"])
    total = quickscore(network, evidence)
    both = quickscore(network, evidence, [likely])
    log = math.log(total.numerator) - math.log(total.denominator)
    difference = max(
        abs(posterior.log_evidence - log), abs(posterior[likely]["yes"] / float(both / total) - 1)
    )
    plan = engine.plan([[name] for name in diseases], evidence=list(evidence)).restrict(evidence)
    return Draw(first, again, plan.multiplications, difference)


def rows() -> Iterator[list[str]]:
    """Yield a line of the table for each size."""
    for size in SIZES:
        network = qmr_network(size.n_diseases, size.n_findings, np.random.default_rng(0))
        draws = [drawn(network, size, seed) for seed in range(1, DRAWS + 1)]
        shared = (
            "independent" if size.per_disease is None else f"{size.per_disease} share a disease"
        )
        yield [
            f"{size.n_diseases} × {size.n_findings:,}",
            f"{size.n_positive}, {shared}",
            _times([draw.first for draw in draws]),
            _times([draw.again for draw in draws]),
            f"{median(draw.cells for draw in draws):,.0f}",
            f"{max(draw.difference for draw in draws):.0e}",
        ]


def _times(seconds: Sequence[float]) -> str:
    milliseconds = [1e3 * s for s in seconds]
    low, high = min(milliseconds), max(milliseconds)
    return f"{median(milliseconds):.3g} ({low:.2g}–{high:.3g})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the table into a page."""
    parser = argparse.ArgumentParser("python -m benchmarks.qmr", description=__doc__)
    parser.add_argument("--page", type=Path, help="a Markdown file with the two marks")
    options = parser.parse_args(arguments)
    head = ["diseases × findings", "positive findings", "first question, ms", "next, ms"]
    head += ["multiplications", "difference"]
    lines = [f"| {' | '.join(head)} |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for row in rows():
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    if options.page is not None:
        before, rest = options.page.read_text(encoding="utf-8").split(START)
        text = "\n\n".join([before + START, "\n".join(lines), END + rest.split(END)[1]])
        options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
