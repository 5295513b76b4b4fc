"""How long the posterior of one variable takes, with evidence on other variables in each question.

Usage: ``python -m benchmarks.single_target [NETWORK ...] [--draws N] [--rounds N]``

Each draw observes a random tenth of the variables in states of a case sampled from the network, and
asks for another random variable. bnmind answers by `Engine.posterior`, which also computes the
probability of the evidence; pyAgrum by LazyPropagation, ShaferShenoyInference and
VariableElimination with this one target. All objects are made once for each network. The draws are
asked in turn, round after round, so no engine gets the same evidence twice in a row; the best time
of each draw counts, for pyAgrum that of the fastest engine. Times are the processor's, of one
thread. Before anything is timed, all answers are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import bnmind
from bnmind.information import Floats
from bnmind.junction.circuit import Circuit
from bnmind.pgm import Network
from tests.wheel import pyagrum_network, read_wheel, sample, state_names

NETWORKS = ("alarm", "hepar2", "win95pts", "andes", "pathfinder", "munin2")
CLOSE = 1e-10


class Draw(NamedTuple):
    """One question."""

    target: str
    positions: Mapping[str, int]
    states: Mapping[str, str]


def draws_of(network: Network, n: int, *, seed: int = 1) -> list[Draw]:
    """Return questions, each with its own target and evidence variables."""
    rng = np.random.default_rng(seed)
    names = sorted(v.name for v in network.variables)
    draws = []
    for _ in range(n):
        target, *observed = map(str, rng.permutation(names)[: max(1, len(names) // 10) + 1])
        case = sample(network, {name: rng.random(1) for name in names})
        positions = {name: int(case[name][0]) for name in observed}
        draws.append(Draw(target, positions, state_names(network, positions)))
    return draws


def engines(network: Network) -> dict[str, Callable[[Draw], Floats]]:
    """Return what answers a question, by the name of the engine."""
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    ours, copy = bnmind.compile_model(network), pyagrum_network(network)

    def theirs(kind: Any) -> Callable[[Draw], Floats]:
        engine = kind(copy)

        def answer(draw: Draw) -> Floats:
            engine.setTargets({draw.target})
            engine.setEvidence(dict(draw.positions))
            engine.makeInference()
            found: Floats = engine.posterior(draw.target).toarray()
            return found

        return answer

    return {
        "bnmind": lambda draw: ours.posterior(draw.target, draw.states)[draw.target].probabilities,
        "lazy": theirs(gum.LazyPropagation),
        "shafer": theirs(gum.ShaferShenoyInference),
        "elimination": theirs(gum.VariableElimination),
    }


def measured(name: str, n_draws: int, rounds: int) -> str:
    """Return the row of a network."""
    network = read_wheel(name)
    draws = draws_of(network, n_draws)
    answering = engines(network)
    difference = max(
        float(np.abs(answer(draw) - answering["bnmind"](draw)).max())
        for draw in draws
        for answer in answering.values()
    )
    if not difference < CLOSE:
        raise SystemExit(f"{name}: answers differ by {difference}")
    best = {engine: np.full(n_draws, np.inf) for engine in answering}
    for _ in range(rounds):
        for number, draw in enumerate(draws):
            for engine, answer in answering.items():
                started = time.process_time()
                answer(draw)
                took = time.process_time() - started
                best[engine][number] = min(best[engine][number], took)
    fastest = np.min([best["lazy"], best["shafer"], best["elimination"]], axis=0)
    ratios = fastest / best["bnmind"]
    circuit = Circuit.of(network)
    products = []
    for draw in draws:
        case = np.full((1, len(network.variables)), -1)
        for observed, place in draw.positions.items():
            case[0, circuit.columns[observed]] = place
        products.append(circuit.answer(case, [draw.target]).multiplications[0])
    cells = (
        name,
        _spread(1e3 * best["bnmind"]),
        _spread(1e3 * fastest),
        f"{_spread(ratios)}",
        f"{(ratios >= 1).sum()} of {n_draws}",
        f"{int(np.median(products)):,}",
        f"{difference:.0e}",
    )
    return f"| {' | '.join(cells)} |"


def _spread(numbers: Floats) -> str:
    low, middle, high = (f"{x:.3g}" for x in np.quantile(numbers, [0, 0.5, 1]))
    return f"{middle} ({low}–{high})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print("| network | bnmind, ms | pyAgrum, ms | times faster | no slower | products | differ |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.networks:
        print(measured(name, options.draws, options.rounds), flush=True)


if __name__ == "__main__":
    main()
