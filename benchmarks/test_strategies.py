"""Whole strategy trees: compiled growth against the same rule in NumPy, node by node.

The NumPy way is given the table of all replies, which is not timed, counts the cells of all
guesses at once, and finishes sets of two codes without looking. See README.md for how to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.mastermind import Board, Channel, reply_table
from bnmind.strategies import (
    Myopic,
    build_tree,
    find_possible_code,
    grow_exactly,
    play_by_search,
    strategy_by_name,
)

BOARDS = {"4x6": Board(4, 6), "4x7": Board(4, 7), "5x8": Board(5, 8)}
NAMES = ("maxmin", "irving", "neuwirth", "larmouth", "kooi")
SECONDS = {"4x6": 0.1, "4x7": 0.3, "5x8": 10.0}
"""How long a tree is to take at most; a C++ engine needs 2.0 to 5.6 s at 5x8."""

Codes = NDArray[np.intp]


class Row(NamedTuple):
    """One way to one tree."""

    board: str
    strategy: str
    way: str
    total: int
    fastest: float
    """Seconds."""


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    rows: list[Row] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.line
        terminalreporter.section("strategy trees, one thread")
        slow = {(row.board, row.strategy): row for row in self.rows if row.way == "NumPy"}
        for row in self.rows:
            bar = slow.get((row.board, row.strategy))
            ratio = f"{bar.fastest / row.fastest:.3g}×" if bar else ""
            aim = "" if row.way == "NumPy" else f"   aim: at most {SECONDS[row.board]:g} s"
            write(
                f"{row.board:5}{row.strategy:18}{row.way:14}{row.total:9,} guesses"
                f"{1e3 * row.fastest:12.1f} ms{ratio:>9}{aim}"
            )
        for line in self.lines:
            write(line)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


def numpy_total(board: Board, judge: Callable[[NDArray[np.int64]], NDArray[Any]]) -> int:
    """Return the total of a rule, given what is to be small for the cells of each guess."""
    table, n_replies = reply_table(board), len(board.true_replies)
    offsets = np.arange(board.n_codes)[:, None] * n_replies

    def total(codes: Codes) -> int:
        if len(codes) < 3:
            return 2 * len(codes) - 1
        pairs = table[:, codes] + offsets
        cells = np.bincount(pairs.ravel(), minlength=board.n_codes * n_replies)
        keys = judge(cells.reshape(board.n_codes, n_replies))
        tied = np.flatnonzero(keys == keys.min())
        preferred = tied[np.isin(tied, codes)]
        guess = int(preferred[0] if len(preferred) else tied[0])
        replies = table[guess][codes]
        below = (total(codes[replies == place]) for place in np.unique(replies[codes != guess]))
        return len(codes) + sum(below)

    return total(np.arange(board.n_codes))


def n_log_n(largest: int) -> NDArray[np.float64]:
    n = np.arange(largest + 1)
    return np.where(n > 0, n * np.log2(np.maximum(n, 1)), 0.0)


@pytest.mark.parametrize("name", ["maxmin", "irving", "neuwirth"])
@pytest.mark.parametrize("board_name", ["4x6", "4x7"])
def test_numpy(benchmark: Any, report: Report, board_name: str, name: str) -> None:
    board = BOARDS[board_name]
    entropies = n_log_n(board.n_codes)
    judge: Callable[[NDArray[np.int64]], NDArray[Any]] = {
        "maxmin": lambda cells: cells.max(axis=1),
        "irving": lambda cells: np.einsum("ij,ij->i", cells, cells),
        "neuwirth": lambda cells: entropies[cells].sum(axis=1).round(9),
    }[name]
    benchmark.group = f"tree of {name}, {board_name}"
    total = benchmark.pedantic(
        lambda: numpy_total(board, judge), rounds=2, iterations=1, warmup_rounds=0
    )
    report.rows.append(Row(board_name, name, "NumPy", total, benchmark.stats.stats.min))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("board_name", BOARDS)
def test_compiled(benchmark: Any, report: Report, board_name: str, name: str) -> None:
    board, strategy = BOARDS[board_name], strategy_by_name(name)
    assert isinstance(strategy, Myopic)
    exact = Channel.exact(board)
    benchmark.group = f"tree of {name}, {board_name}"
    rounds = 2 if board.n_codes > 10_000 else 20
    tree = benchmark.pedantic(
        lambda: build_tree(strategy, exact), rounds=rounds, iterations=1, warmup_rounds=1
    )
    total = grow_exactly(strategy, board, max_guesses=99).total
    assert total == tree.total
    report.rows.append(Row(board_name, name, "compiled", total, benchmark.stats.stats.min))
    benchmark.extra_info.update(total=total)


def test_constraint_search(benchmark: Any, report: Report) -> None:
    """The slowest guess of twenty games at 10x12; colors are tried in random order."""
    board, histories = Board(10, 12), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        secret = tuple(rng.integers(1, 12, size=10, endpoint=True).tolist())
        turns = play_by_search(board, secret, rng=rng)
        histories += [turns[:n] for n in range(1, len(turns))]

    def search(history: Any) -> None:
        find_possible_code(board, history, rng=np.random.default_rng(0))

    benchmark.group = "a possible code, 10x12"
    calls = iter(histories)
    benchmark.pedantic(
        search,
        setup=lambda: ((next(calls),), {}),
        rounds=len(histories),
        iterations=1,
        warmup_rounds=0,
    )
    stats = benchmark.stats.stats
    report.lines.append(
        f"10x12: a possible code by search: median {1e3 * stats.median:.1f} ms, slowest "
        f"{1e3 * stats.max:.0f} ms of {len(histories)} guesses; aim: at most 1 s"
    )
