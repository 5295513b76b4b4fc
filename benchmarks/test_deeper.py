"""One guess ahead against deeper: totals and times, in one run. See README.md for how to run.

Smaller boards come first, so that everything is compiled before 5x8.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from bnmind.mastermind import Board, Channel
from bnmind.strategies import Deeper, StrategyTree, build_tree, strategy_by_name

BOARDS = {"4x6": Board(4, 6), "4x7": Board(4, 7), "5x8": Board(5, 8)}
KNOWN = {"4x6": 5625, "4x7": 11_228, "5x8": 179_274}
"""The optimum; at 5x8 the best total known elsewhere."""


@dataclass
class Report:
    """What was measured, printed at the end of the run; a plugin while the module runs."""

    rows: list[tuple[str, str, int, float]] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("deeper than one guess ahead, one thread")
        for board, name, total, seconds in self.rows:
            terminalreporter.line(
                f"{board:5}{name:10}{total:9,} guesses{total - KNOWN[board]:+6,}{seconds:9.2f} s"
            )


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@pytest.mark.parametrize("name", ["neuwirth", "kooi", "deeper"])
@pytest.mark.parametrize("board_name", BOARDS)
def test_total(benchmark: Any, report: Report, board_name: str, name: str) -> None:
    board = BOARDS[board_name]
    benchmark.group = f"tree, {board_name}"
    is_large = board_name == "5x8"

    def tree() -> StrategyTree:
        if name == "deeper":
            return Deeper()(board)
        return build_tree(strategy_by_name(name), Channel.exact(board))

    found = benchmark.pedantic(
        tree, rounds=1 if is_large else 5, iterations=1, warmup_rounds=0 if is_large else 1
    )
    report.rows.append((board_name, name, round(found.total), benchmark.stats.stats.min))
    benchmark.extra_info.update(total=found.total)
