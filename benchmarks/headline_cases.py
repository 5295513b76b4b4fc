"""The headline ratios: bnmind beside a peer at its best, or beside the same thing in plain NumPy.

Of pyAgrum, the faster of LazyPropagation and ShaferShenoyInference counts, kept from question to
question where it can be. Both sides do the same work, preparation included or not.

A case prepares a question and returns two functions that answer it: ours and the other one's.
Preparation is not timed. To add a case, write a function, and add one line to `CASES`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

__all__ = ["CASES", "Case", "Pair"]

Step = Callable[[], object]
Pair = tuple[Step, Step]
"""A step of bnmind, and a step of what it is compared with, that do the same."""


@dataclass(frozen=True)
class Case:
    """One headline figure: how many times as fast as something else."""

    about: str
    peer: str
    """The library beside which bnmind is measured: its version is recorded."""
    prepare: Callable[[], Pair]
    in_processes: bool = False
    """Whether a step is a process of its own, so that the clock counts and not the processor."""


def _fastest(steps: Sequence[Step]) -> Step:
    """Return the fastest of the ways in which a peer does the same."""

    def seconds(step: Step) -> float:
        step()
        began = time.process_time()
        for _ in range(3):
            step()
        return time.process_time() - began

    return min(steps, key=seconds)


def _joint(board: str) -> Pair:
    from benchmarks.engines import plan_of_stage_3, pyagrum_stage_3_changed
    from benchmarks.test_inference import QUESTIONS

    question = QUESTIONS[board]
    engines = (plan_of_stage_3(question), pyagrum_stage_3_changed(question))
    for reply in question.replies:
        ours, theirs = (engine.answer(reply) for engine in engines)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)

    def step(number: int) -> Step:
        turns = cycle(question.replies)
        return lambda: engines[number].answer(next(turns))

    return step(0), step(1)


def _posteriors(name: str, *, first: bool) -> Pair:
    from benchmarks.network_engines import ENGINES
    from tests.wheel import ask, read_wheel

    network = read_wheel(name)
    question = ask(network, "leaves")
    names = ("bnmind", "pyagrum-lazy", "pyagrum-shafer")
    engines = [ENGINES[name](network) for name in names]
    answers = [list(one.first(question.findings, question.targets)) for one in engines]
    for ours, *theirs in zip(*answers, strict=True):
        for one in theirs:
            np.testing.assert_allclose(ours, one, rtol=0, atol=1e-9)

    def step(number: int) -> Step:
        turns = cycle((question.others, question.findings))
        if first:
            return lambda: list(engines[number].first(question.findings, question.targets))
        return lambda: list(engines[number].again(next(turns), question.targets))

    return step(0), _fastest([step(1), step(2)])


def _entropy_of_guesses() -> Pair:
    from benchmarks.test_all_guesses import BOARDS, best, counted, noisy_belief
    from bnmind.mastermind import reply_table
    from bnmind.mastermind.color_elimination import masses_by_elimination

    board, belief = BOARDS["4x6"], noisy_belief("4x6")
    rows, weights = list(reply_table(board)), belief.codes.probabilities
    n_replies = len(board.true_replies)

    def ours() -> int:
        return best(masses_by_elimination(board, weights), belief)

    def theirs() -> int:
        return best(counted(rows, weights, n_replies), belief)

    return ours, theirs


def _tree() -> Pair:
    from benchmarks.test_strategies import BOARDS, numpy_total
    from bnmind.mastermind import Channel
    from bnmind.strategies import build_tree, strategy_by_name

    board, strategy = BOARDS["4x6"], strategy_by_name("irving")
    exact = Channel.exact(board)

    def theirs() -> int:
        return numpy_total(board, lambda cells: np.einsum("ij,ij->i", cells, cells))

    assert build_tree(strategy, exact).total == theirs()
    return lambda: build_tree(strategy, exact).total, theirs


def _optimum() -> Pair:
    from benchmarks.test_strategies import BOARDS, numpy_total
    from bnmind.strategies import optimal_on_average

    board = BOARDS["4x6"]
    assert optimal_on_average(board).total == 5625
    return (
        lambda: optimal_on_average(board),
        lambda: numpy_total(board, lambda cells: np.einsum("ij,ij->i", cells, cells)),
    )


def _select(
    engine: Any, given: Mapping[str, int], last: str, turns: Iterator[int], items: Sequence[str]
) -> object:
    return engine.select({**given, last: next(turns)}, items)


def _next_item(peer: str, name: str) -> Pair:
    from benchmarks.test_adaptive import PlainNumpy, PyAgrum, answers, our_step, random_bank
    from bnmind.adaptive import start_belief

    n_skills, n_items = map(int, name.split("x"))
    bank = random_bank(n_skills, n_items)
    given = answers(bank, 2 if peer == "numpy" else 10)
    ours, items = our_step(start_belief(bank), given)
    *_, last = given
    turns = cycle((given[last], 1 - given[last]))
    if peer == "pyagrum":
        steps = []
        for kind in ("LazyPropagation", "ShaferShenoyInference"):
            engine = PyAgrum(bank, items, kind)
            ours()
            np.testing.assert_allclose(ours(), engine.select(given, items), atol=1e-6)
            steps.append(partial(_select, engine, given, last, turns, items))
        return ours, _fastest(steps)
    plain, belief = PlainNumpy(bank), start_belief(bank).space.prior[0]
    first = next(iter(given))
    belief = plain.update(belief, bank.position(first), given[first])
    places = [bank.position(item) for item in items]

    def theirs() -> object:
        after = plain.update(belief, bank.position(last), next(turns))
        return plain.select(after, places)

    return ours, theirs


def _simulation() -> Pair:
    from benchmarks.test_adaptive import PlainNumpy
    from benchmarks.test_simulation import skills_bank
    from bnmind.adaptive import MaximalItems, MinimalEntropy, Responses, simulate, start_belief

    bank = skills_bank()
    people = Responses.drawn(bank, 200, seed=1)
    plain, prior = PlainNumpy(bank), start_belief(bank).space.prior[0]
    responses = np.random.default_rng(1).integers(2, size=(200, len(bank.items)))

    def theirs() -> None:
        for person in responses:  # one after the other
            belief, left = prior, list(range(len(bank.items)))
            for _ in range(10):
                item = left.pop(int(np.argmax(plain.select(belief, left))))
                belief = plain.update(belief, item, int(person[item]))

    def ours() -> object:
        return simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(10))

    return ours, theirs


def _em() -> Pair:
    from benchmarks.fitting import by_pyagrum, drawn, tables_of
    from bnmind.fitting import EM, Laplace
    from tests.wheel import pyagrum_network, read_wheel

    network = read_wheel("alarm")
    cases, theirs = drawn(network, 500, 0.15, (), seed=1)
    model = pyagrum_network(network)

    def ours() -> object:
        em = EM.of(network, cases, prior=Laplace(1.0))
        state = tables_of(em, network)
        for _ in range(2):
            state, _ = em.step(state)
        return state

    return ours, lambda: by_pyagrum(theirs, model, 2, 1.0)


def _reading() -> Pair:
    import pyagrum as gum

    import bnmind
    from tests.wheel import bif_text

    text = bif_text("hailfinder")

    def in_a_file(read: Callable[[str], object]) -> None:
        """Write the file, which takes a thousandth of the time, and read it."""
        with TemporaryDirectory() as folder:
            file = Path(folder, "hailfinder.bif")
            file.write_text(text, encoding="utf-8")
            read(str(file))

    return lambda: in_a_file(bnmind.read), lambda: in_a_file(gum.loadBN)


def _process(*arguments: str) -> Step:
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return lambda: subprocess.run(command, check=True, capture_output=True, env=environment)


def _help() -> Pair:
    return _process("-m", "bnmind", "--help"), _process("-c", "import typer, rich.console")


def _query() -> Pair:
    file = str(Path(__file__).parents[1] / "models" / "diagnosis" / "asia.xdsl")
    ours = _process("-m", "bnmind", "query", file, "--targets", "lung")
    return ours, _process("-c", "import numpy, scipy.stats, pandas")


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "joint-4x6": Case(
            "the joint of a code after another reply, 4×6", "pyagrum", lambda: _joint("4x6")
        ),
        "joint-5x8": Case(
            "the joint of a code after another reply, 5×8", "pyagrum", lambda: _joint("5x8")
        ),
        "posteriors-alarm": Case(
            "all posteriors of alarm, other evidence",
            "pyagrum",
            lambda: _posteriors("alarm", first=False),
        ),
        "posteriors-andes": Case(
            "all posteriors of andes, other evidence",
            "pyagrum",
            lambda: _posteriors("andes", first=False),
        ),
        "first-posteriors-alarm": Case(
            "the first posteriors of alarm, with planning",
            "pyagrum",
            lambda: _posteriors("alarm", first=True),
        ),
        "read-bif": Case("reading the BIF file of hailfinder", "pyagrum", _reading),
        "em": Case("two iterations of EM, with preparation", "pyagrum", _em),
        "next-item-10x60": Case(
            "the next item, 10 skills, 60 items", "pyagrum", lambda: _next_item("pyagrum", "10x60")
        ),
        "next-item-5x20": Case(
            "the next item, 5 skills, 20 items", "numpy", lambda: _next_item("numpy", "5x20")
        ),
        "simulation": Case("200 simulated tests, beside a loop", "numpy", _simulation),
        "entropy-of-guesses": Case(
            "the expected entropy of all guesses, 4×6", "numpy", _entropy_of_guesses
        ),
        "strategy-tree": Case("a whole strategy, 4×6", "numpy", _tree),
        "optimal-strategy": Case("the optimal strategy, beside a one-ply one", "numpy", _optimum),
        "help": Case("bnmind --help, beside imports of its libraries", "typer", _help, True),
        "query-command": Case("bnmind query, beside imports of libraries", "pandas", _query, True),
    }
)
"""All cases by their names."""
