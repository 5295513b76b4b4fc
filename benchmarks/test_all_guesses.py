"""The expected entropy of every guess: color elimination against brute force.

The belief is what is left after three replies, one in five of them false: every code but
those guessed is still possible. A step takes the belief to the best guess: the masses of
the replies to all guesses, the information that each guess promises, the best of them.
Brute force is given the reply table, which is not timed. See README.md for how to run.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.information import Floats, information
from bnmind.mastermind import Board, Channel, TableBelief, replies_to, reply_masses, reply_table
from bnmind.mastermind.color_elimination import elimination_additions, masses_by_elimination

BOARDS = {
    "4x6": Board(4, 6),
    "5x8": Board(5, 8),
    "6x9": Board(6, 9),
    "5x16": Board(5, 16),
}

AT_LEAST = {"4x6": 10, "5x8": 100, "6x9": 400}
"""How many times as fast as NumPy's brute force elimination is to be."""
SECONDS = {"4x6": 0.4e-3, "5x8": 20e-3, "6x9": 1.0, "5x16": 1.0}
"""How long a step by elimination is to take, about."""

SAMPLED = 256
"""Guesses of 6x9 that brute force is timed on."""

_ELIMINATE = """
import numpy as np
from bnmind.mastermind import Board
from bnmind.mastermind import masses_by_elimination
masses_by_elimination(Board(4, 6), np.full(1296, 1 / 1296))
"""
COMMANDS = {
    "bnmind suggest": (
        *("-m", "bnmind", "suggest", "--noise", "false:0.2"),
        *("--history", "1123 1b1w, 2345 0b2w"),
    ),
    "one elimination": ("-c", _ELIMINATE),
}


class Row(NamedTuple):
    """One way on one board."""

    board: str
    way: str
    operations: int
    """Numbers added up for the masses."""
    fastest: float
    """Seconds, of the fastest round."""
    median: float
    """Seconds, of the median round."""


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    rows: list[Row] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.line
        if self.rows:
            terminalreporter.section("expected entropy of all guesses, one thread")
            write(
                f"{'milliseconds':34}{'additions':>16}{'fastest':>12}{'median':>12}"
                f"{'NumPy':>11}{'compiled':>11}"
            )
        slow, compiled = (
            {row.board: row for row in self.rows if row.way.startswith(way)}
            for way in ("NumPy", "reply_masses")
        )
        for row in self.rows:
            ratios, aims = "", ""
            for others in (slow, compiled):
                other = others.get(row.board)
                ratios += f"{f'{other.fastest / row.fastest:.3g}×' if other else '':>11}"
            if row.way == "color elimination":
                aims = f"   aims: about {1e3 * SECONDS[row.board]:g} ms"
                aims += f", {AT_LEAST[row.board]}×" if row.board in AT_LEAST else ""
            write(
                f"{row.board:5}{row.way:29}{row.operations:16,}{1e3 * row.fastest:12.3f}"
                f"{1e3 * row.median:12.3f}{ratios}{aims}"
            )
        if any(row.way.endswith("*") for row in self.rows):
            write(f"* timed on {SAMPLED} random guesses, and extrapolated to all")
        if self.lines:
            terminalreporter.section("crossover and cold start")
            for line in self.lines:
                write(line)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@lru_cache(maxsize=1)
def noisy_belief(name: str) -> TableBelief:
    """Return the belief after the replies to three random guesses."""
    board, rng = BOARDS[name], np.random.default_rng(4)
    channel = Channel.false_reply(board, 0.2).revealed()
    belief = TableBelief.start(channel)
    secret = int(rng.integers(board.n_codes))
    for guess in (board.code(int(g)) for g in rng.integers(board.n_codes, size=3)):
        heard = channel.draw(int(replies_to(board, guess)[secret]), rng.random())
        belief = belief.update(guess, channel.reports[heard])
    assert belief.codes.possible_codes() == board.n_codes - 3
    return belief


def best(masses: Floats, belief: TableBelief) -> int:
    """Return the guess of minimal expected entropy, H(belief) − information."""
    return int(np.argmin(belief.codes.entropy() - information(masses, belief.channel.matrix)))


def counted(rows: Sequence[NDArray[np.uint8]], weights: Floats, n_replies: int) -> Floats:
    """Return the masses of the guesses whose replies are given, by NumPy."""
    masses = np.empty((len(rows), n_replies))
    for guess, row in enumerate(rows):
        masses[guess] = np.bincount(row, weights=weights, minlength=n_replies)
    return masses


def timed(benchmark: Any, step: Callable[[], int], *, long: bool) -> None:
    if long:
        benchmark.pedantic(step, rounds=5, iterations=1, warmup_rounds=1)
    else:
        benchmark.pedantic(step, rounds=300, iterations=1, warmup_rounds=20)


@pytest.mark.parametrize("name", ["4x6", "5x8", "6x9"])
def test_numpy(benchmark: Any, report: Report, name: str) -> None:
    board, belief = BOARDS[name], noisy_belief(name)
    n_replies, weights = len(board.true_replies), belief.codes.probabilities
    if name == "6x9":  # The table would take 282 GB.
        some = np.random.default_rng(0).choice(board.n_codes, SAMPLED, replace=False)
        rows = [replies_to(board, board.code(int(guess))) for guess in some]
    else:
        rows = list(reply_table(board))
    benchmark.group = f"expected entropy of all guesses, {name}"
    timed(benchmark, lambda: best(counted(rows, weights, n_replies), belief), long=board.pegs > 4)
    whole = board.n_codes / len(rows)
    way = "NumPy bincount" if whole == 1 else f"NumPy bincount, {SAMPLED} guesses*"
    stats = benchmark.stats.stats
    pairs = board.n_codes * belief.codes.possible_codes()
    report.rows.append(Row(name, way, pairs, whole * stats.min, whole * stats.median))
    benchmark.extra_info.update(additions=pairs, times=whole)


@pytest.mark.parametrize("name", ["4x6", "5x8", "6x9"])
def test_compiled_brute_force(benchmark: Any, report: Report, name: str) -> None:
    board, belief = BOARDS[name], noisy_belief(name)
    weights, guesses = belief.codes.probabilities, None
    if name == "6x9":
        guesses = np.random.default_rng(0).choice(board.n_codes, SAMPLED, replace=False)
    whole = 1 if guesses is None else board.n_codes / len(guesses)
    way = "reply_masses" if whole == 1 else f"reply_masses, {SAMPLED} guesses*"
    benchmark.group = f"expected entropy of all guesses, {name}"
    timed(
        benchmark, lambda: best(reply_masses(board, weights, guesses), belief), long=board.pegs > 4
    )
    stats = benchmark.stats.stats
    pairs = board.n_codes * belief.codes.possible_codes()
    report.rows.append(Row(name, way, pairs, whole * stats.min, whole * stats.median))
    benchmark.extra_info.update(additions=pairs, times=whole)


@pytest.mark.parametrize("name", BOARDS)
def test_elimination(benchmark: Any, report: Report, name: str) -> None:
    board, belief = BOARDS[name], noisy_belief(name)
    weights = belief.codes.probabilities
    found = masses_by_elimination(board, weights)
    some = np.random.default_rng(1).choice(board.n_codes, 50, replace=False)
    rows = [replies_to(board, board.code(int(guess))) for guess in some]
    # Sums in pairs: bincount adds up one by one, and is wrong by 1e-12 at a million codes.
    places = range(len(board.true_replies))
    expected = np.array([[weights[row == place].sum() for place in places] for row in rows])
    np.testing.assert_allclose(found[some], expected, rtol=0, atol=1e-14)
    benchmark.group = f"expected entropy of all guesses, {name}"
    timed(
        benchmark,
        lambda: best(masses_by_elimination(board, weights), belief),
        long=board.n_codes > 10**5,
    )
    stats, additions = benchmark.stats.stats, elimination_additions(board)
    report.rows.append(Row(name, "color elimination", additions, stats.min, stats.median))
    benchmark.extra_info.update(additions=additions)


@pytest.mark.parametrize("name", ["4x6", "5x8"])
def test_crossover(benchmark: Any, report: Report, name: str) -> None:
    """How many codes must have belief for elimination to be as fast as brute force."""
    board, rng = BOARDS[name], np.random.default_rng(2)

    def fastest(run: Callable[[Board, Floats], Floats], survivors: int) -> float:
        belief = np.zeros(board.n_codes)
        belief[rng.choice(board.n_codes, survivors, replace=False)] = 1 / survivors
        seconds = []
        for _ in range(15):
            start = time.perf_counter()
            run(board, belief)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    def crossover() -> float:
        bar = fastest(masses_by_elimination, board.n_codes // 2)
        before, slower = 1, fastest(reply_masses, 1)
        for power in itertools.count(2):
            survivors = round(2 ** (power / 2))
            faster, slower = slower, fastest(reply_masses, survivors)
            if slower >= bar or survivors * 2 > board.n_codes:
                break
            before = survivors
        # Between the two a straight line in logarithms.
        part = np.log(bar / faster) / np.log(slower / faster)
        return float(before * (survivors / before) ** part)

    benchmark.group = "crossover"
    codes = benchmark.pedantic(crossover, rounds=1, iterations=1)
    benchmark.extra_info.update(codes=codes)
    report.lines.append(f"{name}: brute force (reply_masses) is faster below {codes:.0f} codes")


@pytest.mark.parametrize("cache", ["empty", "filled"])
@pytest.mark.parametrize("command", COMMANDS)
def test_first_answer(
    benchmark: Any, report: Report, tmp_path: Path, command: str, cache: str
) -> None:
    """A fresh process at 4x6, the compiler's cache being empty or filled."""
    numbers = itertools.count()

    def ask() -> None:
        where = tmp_path / (str(next(numbers)) if cache == "empty" else "kept")
        subprocess.run(
            [sys.executable, *COMMANDS[command]],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "NUMBA_CACHE_DIR": str(where)},
        )

    benchmark.group = "first answer of a fresh process"
    benchmark.pedantic(ask, rounds=5, iterations=1, warmup_rounds=int(cache == "filled"))
    stats = benchmark.stats.stats
    aim = "a few seconds" if cache == "empty" else "one second"
    report.lines.append(
        f"{command}, a fresh process, compiler's cache {cache}: fastest {stats.min:.2f} s, "
        f"median {stats.median:.2f} s; aim: {aim}"
    )
