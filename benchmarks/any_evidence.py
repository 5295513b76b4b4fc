"""Evidence that no question had before, against the fastest of pyAgrum's engines.

    python -m benchmarks.any_evidence [--networks NAME …] [--page docs/inference-benchmarks.md]

Three tables: all posteriors on the networks of pgmpy's wheel, the same on the networks of bnRep
that `tests.data_sets` finds, and 2,000 cases that observe a fifth of the variables, others in each
case. Both libraries answer the same questions in the same process, one after the other, with one
thread, and their answers are compared before the times are. All times are processor time. pyAgrum
answers each question in four ways: by LazyPropagation and by ShaferShenoyInference, made anew from
a network that it has, or kept from question to question. The fastest of the four counts in each
question. bnmind has compiled the network once, which is a column of its own.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before NumPy is imported
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable, Iterator, Mapping, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from statistics import median  # noqa: E402
from typing import Any, NamedTuple, TypeAlias  # noqa: E402

import numpy as np  # noqa: E402

import bnmind  # noqa: E402
from bnmind.information import Floats  # noqa: E402
from bnmind.junction.circuit import Circuit  # noqa: E402
from bnmind.pgm import Network  # noqa: E402
from bnmind.pgm.files import read_network  # noqa: E402
from tests.data_sets import DATA  # noqa: E402
from tests.wheel import (  # noqa: E402
    NAMES,
    ask,
    pyagrum_network,
    read_wheel,
    sample,
    state_names,
)

START, END = "<!-- any evidence: start -->", "<!-- any evidence: end -->"

CASES = ("hailfinder", "pathfinder", "pigs", "munin2", "diabetes", "munin4")
AIMS = {"hailfinder": 0.1, "pathfinder": 1, "pigs": 5, "munin2": 15, "diabetes": 20, "munin4": 60}
TWICE = ("alarm", "insurance", "hailfinder", "win95pts", "hepar2", "pigs")

DRAWS = 9
N_CASES = 2_000
COMPARED = 5
"""The number of cases that pyAgrum answers too."""


class Draw(NamedTuple):
    """A question to both."""

    ours: float
    """Seconds."""
    theirs: float
    """Seconds of the fastest way."""
    way: str
    """The fastest way."""
    difference: float
    """The largest difference of two probabilities."""


Way: TypeAlias = Callable[[dict[str, int], Sequence[str]], list[Floats]]
"""Returns the posteriors of targets, given findings."""


def timed(answer: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[float, Any]:
    """Return the seconds that an answer took, and the answer."""
    start = time.process_time()
    result = answer(*arguments, **named)
    return time.process_time() - start, result


def ways_of(copy: Any) -> Mapping[str, Way]:
    """Return the ways in which pyAgrum can answer about a network."""
    import pyagrum as gum

    def answer(made: Callable[[], Any]) -> Way:
        def posteriors(findings: dict[str, int], targets: Sequence[str]) -> list[Floats]:
            engine = made()
            engine.setEvidence(findings)
            engine.makeInference()
            return [engine.posterior(name).toarray() for name in targets]

        return posteriors

    lazy, shafer = gum.LazyPropagation(copy), gum.ShaferShenoyInference(copy)
    return {
        "lazy, new": answer(lambda: gum.LazyPropagation(copy)),
        "lazy, kept": answer(lambda: lazy),
        "Shafer, new": answer(lambda: gum.ShaferShenoyInference(copy)),
        "Shafer, kept": answer(lambda: shafer),
    }


def drawn(network: Network, engine: Any, copy: Any, draws: int) -> Iterator[Draw]:
    """Yield the times of both for evidence on a random tenth of the variables."""
    ways = ways_of(copy)
    for seed in range(1, draws + 1):
        question = ask(network, "random", seed=seed)
        findings = dict(question.findings)
        named = state_names(network, findings)
        ours, posterior = timed(engine.posterior, evidence=named)
        times, difference = {}, 0.0
        for way, answer in ways.items():
            times[way], answers = timed(answer, findings, question.targets)
            for name, theirs in zip(question.targets, answers, strict=True):
                difference = max(difference, np.abs(posterior.marginals[name] - theirs).max())
        fastest = min(times, key=times.__getitem__)
        yield Draw(ours, times[fastest], fastest, float(difference))


def compiled(network: Network) -> tuple[float, Any]:
    """Return the seconds until an engine has answered its first question, and the engine."""
    engine = bnmind.compile_model(network)
    return timed(engine.posterior)[0], engine


def ratios_text(draws: Sequence[Draw]) -> str:
    """Return the median of the ratios, with their range."""
    ratios = [draw.theirs / draw.ours for draw in draws]
    return f"{median(ratios):.3g} ({min(ratios):.2g}–{max(ratios):.3g})"


def wheel_rows(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield a line of the first table for each network."""
    for name in names:
        network = read_wheel(name)
        once, engine = compiled(network)
        draws = list(drawn(network, engine, pyagrum_network(network), DRAWS))
        speed = median(draw.theirs / draw.ours for draw in draws)
        aim = 2 if name in TWICE else 1
        yield [
            name,
            f"{1e3 * once:.3g}",
            f"{1e3 * median(draw.ours for draw in draws):.3g}",
            f"{1e3 * median(draw.theirs for draw in draws):.3g}",
            Counter(draw.way for draw in draws).most_common(1)[0][0],
            ratios_text(draws),
            f"{aim}",
            "yes" if speed > aim else "**no**",
            f"{max(draw.difference for draw in draws):.0e}",
        ]


def bnrep_rows() -> Iterator[list[str]]:
    """Yield the lines of the second table."""
    ratios, differences, ours, theirs, slower = [], [], [], [], 0
    paths = sorted((DATA / "bnrep").glob("*.json.gz"))
    for path in paths:
        network = read_network(path, normalize=True)
        _, engine = compiled(network)
        draws = list(drawn(network, engine, pyagrum_network(network), 5))
        ratios.append(median(draw.theirs / draw.ours for draw in draws))
        differences.append(max(draw.difference for draw in draws))
        ours.append(median(draw.ours for draw in draws))
        theirs.append(median(draw.theirs for draw in draws))
        slower += ratios[-1] < 1
    if paths:
        yield ["networks answered", f"{len(ratios)} of {len(paths)}"]
        yield ["largest difference to pyAgrum", f"{max(differences):.0e}"]
        yield ["milliseconds of bnmind, median", f"{1e3 * median(ours):.3g}"]
        yield ["milliseconds of pyAgrum, median", f"{1e3 * median(theirs):.3g}"]
        text = f"{median(ratios):.3g} ({min(ratios):.2g}–{max(ratios):.3g})"
        yield ["times as fast, median and range", text]
        yield ["networks on which bnmind is slower", f"{slower}"]


def case_rows(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield a line of the third table for each network."""
    for name in names:
        network = read_wheel(name)
        rng = np.random.default_rng(1)
        luck = {v.name: rng.random(N_CASES) for v in network.variables}
        columns = sample(network, luck)
        states = np.stack([columns[v.name] for v in network.variables], axis=1)
        states[rng.random(states.shape) >= 0.2] = -1
        names_of = [v.name for v in network.variables]
        once, circuit = timed(Circuit.of, network)
        circuit.answer(states[:1], names_of)
        start = time.process_time()
        marginals = circuit.answer(states, names_of).marginals
        spent = time.process_time() - start
        ways, difference = ways_of(pyagrum_network(network)), 0.0
        taken = dict.fromkeys(ways, 0.0)
        for number in range(COMPARED):
            pairs = zip(network.variables, states[number], strict=True)
            findings = {v.name: int(state) for v, state in pairs if state >= 0}
            places = [i for i, state in enumerate(states[number]) if state < 0]
            targets = [network.variables[i].name for i in places]
            for way, answer in ways.items():
                seconds, answers = timed(answer, findings, targets)
                taken[way] += seconds
                for place, theirs in zip(places, answers, strict=True):
                    difference = max(difference, np.abs(marginals[place][number] - theirs).max())
        aim = AIMS[name]
        of_pyagrum = f"{min(taken.values()) / COMPARED * N_CASES:.3g}"
        verdict = "yes" if spent <= aim else "**no**"
        times = (f"{once:.2g}", f"{spent:.3g}", f"{aim}")
        yield [name, *times, verdict, of_pyagrum, f"{difference:.0e}"]


def table(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    """Return a table in Markdown, and print its lines as they come."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the tables into a page."""
    import pyagrum as gum

    parser = argparse.ArgumentParser("python -m benchmarks.any_evidence", description=__doc__)
    parser.add_argument("--networks", nargs="*", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--page", type=Path, help="a Markdown file with the two marks")
    options = parser.parse_args(arguments)
    gum.setNumberOfThreads(1)
    for network in (read_wheel("asia"), read_wheel("alarm")):  # kernels are compiled here
        list(drawn(network, compiled(network)[1], pyagrum_network(network), DRAWS))
        names = [v.name for v in network.variables]
        Circuit.of(network).answer(np.full((500, len(names)), -1), names)
    times = ["once", "bnmind", "pyAgrum", "its fastest way"]
    head = ["milliseconds", *times, "times as fast", "aim", "reached", "difference"]
    first = table(head, wheel_rows(options.networks))
    second = table(["bnRep", "measured"], bnrep_rows())
    named = [name for name in CASES if name in options.networks]
    head = ["seconds of CPU", "once", "2,000 cases", "aim", "reached", "pyAgrum", "difference"]
    third = table(head, case_rows(named))
    if options.page is not None:
        before, rest = options.page.read_text(encoding="utf-8").split(START)
        text = "\n\n".join([before + START, first, second, third, END + rest.split(END)[1]])
        options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
