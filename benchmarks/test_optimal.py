"""Optimal strategies, searched and proven from nothing, beside the trees of one-ply entropy.

The board's table of replies is made beforehand, and not timed. See README.md for how to run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from bnmind.mastermind import Board, Channel
from bnmind.strategies import build_tree, optimal_on_average, strategy_by_name

BOARDS = {
    "4x6": Board(4, 6),
    "4x7": Board(4, 7),
    "5x4": Board(5, 4),
    "4x7 without repeats": Board(4, 7, repeats=False),
}
TOTALS = {"4x6": 5625, "4x7": 11228, "5x4": 3954, "4x7 without repeats": 3639}
SECONDS = {"4x6": 1.0, "4x7": 120.0, "5x4": 10.0, "4x7 without repeats": 10.0}
"""The aims: how long a proof may take."""


class Row(NamedTuple):
    """One way to one tree."""

    board: str
    strategy: str
    total: int
    fastest: float
    """Seconds."""


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    rows: list[Row] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.line
        terminalreporter.section("optimal strategies, one thread")
        one_ply = {row.board: row for row in self.rows if row.strategy == "neuwirth"}
        for row in self.rows:
            text = f"{row.board:21}{row.strategy:10}{row.total:8,} guesses"
            text += f"{1e3 * row.fastest:11.1f} ms"
            bar = one_ply.get(row.board)
            if bar is not None and row is not bar:
                text += (
                    f" {row.fastest / bar.fastest:7.3g} times as long, "
                    f"{100 * (1 - row.total / bar.total):.2f} % fewer guesses; "
                    f"aim: at most {SECONDS[row.board]:g} s"
                )
            write(text)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@pytest.mark.parametrize("board_name", BOARDS)
def test_one_ply_entropy(benchmark: Any, report: Report, board_name: str) -> None:
    board, strategy = BOARDS[board_name], strategy_by_name("neuwirth")
    benchmark.group = f"optimal, {board_name}"
    tree = benchmark.pedantic(
        lambda: build_tree(strategy, Channel.exact(board)),
        rounds=10,
        iterations=1,
        warmup_rounds=1,
    )
    report.rows.append(Row(board_name, "neuwirth", int(tree.total), benchmark.stats.stats.min))


@pytest.mark.parametrize("board_name", BOARDS)
def test_optimal(benchmark: Any, report: Report, board_name: str) -> None:
    board = BOARDS[board_name]
    optimal_on_average(Board(2, 3))  # compiles
    benchmark.group = f"optimal, {board_name}"
    rounds = 2 if board.n_codes > 2000 else 5
    optimum = benchmark.pedantic(
        lambda: optimal_on_average(board), rounds=rounds, iterations=1, warmup_rounds=0
    )
    assert optimum.total == optimum.bound == TOTALS[board_name]
    report.rows.append(Row(board_name, "optimal", optimum.total, benchmark.stats.stats.min))
    benchmark.extra_info.update(
        total=optimum.total, sets_searched=optimum.solved, guesses_tried=optimum.tried
    )
