"""How long the gradient of a posterior takes, by bnmind and by differentiating a contraction.

Usage: ``python -m benchmarks.sensitivity [NETWORK ...] [--rounds N] [--draws N]``

Each draw observes a random twentieth of the variables in states of a case sampled from the network,
and asks for the derivatives of the posterior of another variable by all entries of all tables.

The peer is the approach of YODO (Ballester-Ripoll & Leonelli 2022): two contractions of the whole
network, with the tables masked by the evidence, in an order of opt_einsum with
``optimize="auto"``, and reverse automatic differentiation of both. It runs on PyTorch if that is
installed, as YODO does, and otherwise with a backward pass written by hand in NumPy. It is not YODO
itself, whose conversion of the network takes longer. Both programs get the network as arrays, and
both compute the derivatives of the quotient.

"relevant" leaves out the tables that cannot matter while their rows sum to one. The sensitivity
values of YODO, for rows that covary in proportion, are the same with and without these tables. A
call of ours includes the search for an order. The peer is timed without its search, and with it, as
YODO is called. Before anything is timed, all gradients are compared: they must agree to 1e-8 of the
largest derivative of the table. The programs take turns in one process; the best round of each
counts. A round of a program that takes less than two milliseconds is several runs of it.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from bnmind.information import Floats
from bnmind.junction import Gradient, differentiate, posterior
from bnmind.pgm import Network
from tests.wheel import read_wheel, sample, state_names

Path: TypeAlias = list[tuple[int, ...]]
"""Which operands to contract next."""

NETWORKS = (
    *("cancer", "asia", "sachs", "child", "alarm", "insurance", "hailfinder", "hepar2"),
    *("win95pts", "water", "mildew", "andes", "pigs", "diabetes"),
)
CLOSE = 1e-8

ROUND = 0.002
"""The least seconds of a round; short programs run several times in it."""

opt_einsum: Any = importlib.import_module("opt_einsum")

MOST_CELLS = 2**28
"""The largest intermediate array that the peer is asked for: 2 GiB."""


class Contraction:
    """The whole network as one contraction to a number, differentiated in reverse."""

    def __init__(self, network: Network) -> None:
        number = {v.name: i for i, v in enumerate(network.variables)}
        self.tables = [cpd.to_factor().values for cpd in network.cpds]
        self.scopes = [[number[v.name] for v in cpd.scope] for cpd in network.cpds]
        self.number = number

    def path(self) -> Path:
        """Return an order of opt_einsum; raise `MemoryError` if an intermediate is too large."""
        operands: list[Any] = []
        for table, scope in zip(self.tables, self.scopes, strict=True):
            operands += [table, scope]
        path, told = opt_einsum.contract_path(*operands, [], optimize="auto")
        if told.largest_intermediate > MOST_CELLS:
            raise MemoryError
        return list(path)

    def masked(self, findings: dict[str, int]) -> list[Floats]:
        """Return the tables with zeros where they contradict the findings, as YODO masks them."""
        tables = []
        for table, scope in zip(self.tables, self.scopes, strict=True):
            mask = np.ones(table.shape)
            for name, state in findings.items():
                if self.number[name] in scope:
                    axis = scope.index(self.number[name])
                    chosen = np.arange(table.shape[axis]) == state
                    mask *= chosen.reshape([-1 if a == axis else 1 for a in range(table.ndim)])
            tables.append(mask)
        return tables

    def gradient(
        self, findings: dict[str, int], target: dict[str, int], path: Path | None
    ) -> list[Floats]:
        """Return the derivatives of P(target | findings) by the entries of all tables."""
        order = self.path() if path is None else path
        whole, by_whole = self.differentiated(findings, order)
        part, by_part = self.differentiated({**findings, **target}, order)
        return [(a * whole - part * b) / whole**2 for a, b in zip(by_part, by_whole, strict=True)]

    def differentiated(self, findings: dict[str, int], path: Path) -> tuple[float, list[Floats]]:
        """Return P(findings) and its derivatives, by hand in NumPy."""
        masks = self.masked(findings)
        arrays: list[Any] = [t * m for t, m in zip(self.tables, masks, strict=True)]
        scopes = [list(scope) for scope in self.scopes]
        live = list(range(len(arrays)))
        steps = []
        for pair in path:
            taken = [live.pop(i) for i in sorted(pair, reverse=True)]
            rest = {v for i in live for v in scopes[i]}
            union = list(dict.fromkeys(v for i in taken for v in scopes[i]))
            scopes.append([v for v in union if v in rest])
            operands: list[Any] = []
            for i in taken:
                operands += [arrays[i], scopes[i]]
            arrays.append(opt_einsum.contract(*operands, scopes[-1]))
            steps.append(taken)
            live.append(len(arrays) - 1)
        adjoint: dict[int, Any] = {len(arrays) - 1: np.ones(())}
        sizes = {
            v: n
            for t, s in zip(self.tables, self.scopes, strict=True)
            for v, n in zip(s, t.shape, strict=True)
        }
        for number in range(len(steps) - 1, -1, -1):
            out = len(self.tables) + number
            for i in steps[number]:
                others = [j for j in steps[number] if j != i]
                operands = [adjoint[out], scopes[out]]
                for j in others:
                    operands += [arrays[j], scopes[j]]
                known = {v for s in operands[1::2] for v in s}
                missing = [v for v in scopes[i] if v not in known]
                for v in missing:
                    operands += [np.ones(sizes[v]), [v]]
                adjoint[i] = opt_einsum.contract(*operands, scopes[i])
        return float(arrays[-1]), [adjoint[i] * masks[i] for i in range(len(self.tables))]


class TorchContraction(Contraction):
    """The same contraction on PyTorch, which differentiates it, as in YODO."""

    def differentiated(self, findings: dict[str, int], path: Path) -> tuple[float, list[Floats]]:
        """Return P(findings) and its derivatives, by automatic differentiation."""
        torch: Any = importlib.import_module("torch")
        masks = [torch.from_numpy(mask) for mask in self.masked(findings)]
        leaves = [torch.from_numpy(np.array(t)).requires_grad_() for t in self.tables]
        operands: list[Any] = []
        for leaf, mask, scope in zip(leaves, masks, self.scopes, strict=True):
            operands += [leaf * mask, scope]
        total = opt_einsum.contract(*operands, [], optimize=path, backend="torch")
        total.backward()
        return float(total.item()), [leaf.grad.numpy() for leaf in leaves]


def peer_kind() -> type[Contraction]:
    """Return the peer on PyTorch if that is installed, and otherwise that in NumPy."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return Contraction
    torch.set_num_threads(1)
    return TorchContraction


def draws_of(network: Network, n: int) -> list[tuple[str, dict[str, int]]]:
    """Return questions: a target, and the findings."""
    rng = np.random.default_rng(1)
    names = sorted(v.name for v in network.variables)
    draws = []
    for _ in range(n):
        target, *observed = map(str, rng.permutation(names)[: max(1, len(names) // 20) + 1])
        case = sample(network, {name: rng.random(1) for name in names})
        draws.append((target, {name: int(case[name][0]) for name in observed}))
    return draws


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU time of one run, the mean of several that take two milliseconds together."""
    start = time.process_time()
    runs = 0
    while runs == 0 or time.process_time() - start < ROUND:
        work()
        runs += 1
    return (time.process_time() - start) / runs


def works_of(
    network: Network, peer: Contraction, path: Path | None, draw: tuple[str, dict[str, int]]
) -> list[Callable[[], Any]]:
    """Return the programs that answer a question, after comparing their answers."""
    target, findings = draw
    evidence = state_names(network, findings)
    answer = posterior(network, evidence, [target])
    place = int(np.argmax(answer.marginals[target]))
    state = network.variable(target).states[place]

    def whole() -> Gradient:
        return differentiate(network, target, evidence).posterior(state)

    def near() -> Gradient:
        return differentiate(network, target, evidence, relevant_only=True).posterior(state)

    if path is None:
        return [whole, near]
    theirs = peer.gradient(findings, {target: place}, path)
    mine, short = whole(), near()
    for cpd, partial, other in zip(network.cpds, mine.partials, theirs, strict=True):
        assert partial is not None
        most = max(1.0, float(np.abs(other).max()))
        np.testing.assert_allclose(partial, other, rtol=0, atol=CLOSE * most)
        # Effects of tables that are left out are zero.
        name = cpd.variable.name
        np.testing.assert_allclose(short.effect(name), mine.effect(name), rtol=0, atol=1e-6 * most)
    return [
        whole,
        near,
        lambda: peer.gradient(findings, {target: place}, path),
        lambda: peer.gradient(findings, {target: place}, None),
    ]


def measure(name: str, n_draws: int, rounds: int) -> str:
    """Return the line of a network."""
    network = read_wheel(name)
    entries = sum(cpd.n_cells for cpd in network.cpds)
    peer = peer_kind()(network)
    path: Path | None
    try:
        path = peer.path()
    except MemoryError:
        path = None
    best = np.full((n_draws, 4), np.inf)
    for number, draw in enumerate(draws_of(network, n_draws)):
        works = works_of(network, peer, path, draw)
        for _ in range(rounds):
            for place, work in enumerate(works):
                best[number, place] = min(best[number, place], seconds(work))
    numbers = np.median(best, axis=0) * 1e3
    whole, near, bare, ordered = numbers.tolist()
    cells = [f"{entries:,}", f"{whole:.2f}", f"{near:.2f}"]
    if path is None:
        cells += ["too large", *[""] * 5]
    else:
        cells += [f"{bare:.1f}", f"{ordered:.1f}"]
        cells += [f"{theirs / ours:.1f}" for theirs in (bare, ordered) for ours in (whole, near)]
    return f"| {name} | {' | '.join(cells)} |"


def warm_up() -> None:
    """Ask until the kernels are compiled; the first questions of a process go without."""
    network = read_wheel("alarm")
    for _ in range(20):
        differentiate(network, "HYPOVOLEMIA", {"CVP": "LOW"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args(arguments)
    print(
        f"peer: {peer_kind().__name__}; milliseconds of CPU time, medians of {options.draws} draws"
    )
    print(
        "| network | entries | gradient | relevant | peer | peer with search | peer / gradient |"
        " peer / relevant | peer with search / gradient | peer with search / relevant |"
    )
    print(f"|{'---|' * 10}")
    warm_up()
    for name in options.networks:
        print(measure(name, options.draws, options.rounds), flush=True)


if __name__ == "__main__":
    main()
