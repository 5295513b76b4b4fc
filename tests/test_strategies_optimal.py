"""Optimal strategies: published totals, and a plain recursion for the smallest boards."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bnmind.errors import TooLargeError
from bnmind.mastermind import Board, reply
from bnmind.strategies import (
    Goal,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)

FILE = Path(__file__).parent / "reference" / "mastermind_totals.toml"
OPTIMAL: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["optimal"]
Code = tuple[int, ...]


def board_of(name: str) -> Board:
    pegs, colors = map(int, name[:-1].split("x"))
    return Board(pegs, colors, repeats=name.endswith("r"))


def marked(entry: dict[str, Any]) -> Any:
    return pytest.param(entry, id=entry["board"])


@pytest.mark.parametrize("entry", [marked(entry) for entry in OPTIMAL])
def test_published_minima(entry: dict[str, Any]) -> None:
    board = board_of(entry["board"])
    optimum = optimal_on_average(board)
    assert round(optimum.value * board.n_codes, 6) == entry["published"]
    assert optimum.tree.lengths.revealing == pytest.approx(optimum.value)
    if "determining" in entry:
        optimum = optimal_on_average(board, Goal.DETERMINING)
        assert round(optimum.value * board.n_codes, 6) == entry["determining"]
        assert optimum.tree.lengths.determining == pytest.approx(optimum.value)
    if "worst" in entry:
        optimum = optimal_in_worst_case(board)
        assert optimum.value == entry["worst"] == len(optimum.tree.distribution)
        optimum = optimal_in_worst_case(board, Goal.DETERMINING)
        assert optimum.tree.depth == optimum.value + 1


def plainly(board: Board, goal: Goal, *, worst: bool) -> int:
    """Try every guess after every reply, by the rules of the game."""
    every = tuple(tuple(code) for code in board.codes.tolist())

    @cache
    def solved(left: frozenset[Code]) -> int:
        if len(left) == 1:
            return 1 if goal is Goal.REVEALING else 0
        values = []
        for guess in every:
            cells: dict[object, set[Code]] = {}
            for code in left:
                cells.setdefault(reply(guess, code), set()).add(code)
            if len(cells) == 1:
                continue
            after = [
                0 if goal is Goal.REVEALING and answer == board.winning else solved(frozenset(cell))
                for answer, cell in cells.items()
            ]
            values.append(1 + max(after) if worst else len(left) + sum(after))
        return min(values)

    return solved(frozenset(every))


@pytest.mark.parametrize("name", ["2x2r", "2x3r", "3x2r", "2x3n", "2x4n", "3x3n", "1x4r"])
@pytest.mark.parametrize("goal", Goal)
def test_the_search_finds_what_a_plain_recursion_finds(name: str, goal: Goal) -> None:
    board = board_of(name)
    average = plainly(board, goal, worst=False)
    assert optimal_on_average(board, goal).value * board.n_codes == pytest.approx(average)
    assert optimal_in_worst_case(board, goal).value == plainly(board, goal, worst=True)


@pytest.mark.parametrize("name", ["2x4r", "3x3r", "3x4n"])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.slow
def test_the_search_finds_what_a_plain_recursion_finds_in_time(name: str, goal: Goal) -> None:
    board = board_of(name)
    average = plainly(board, goal, worst=False)
    assert optimal_on_average(board, goal).value * board.n_codes == pytest.approx(average)


def test_one_first_guess_of_each_kind() -> None:
    for board, count in ((Board(5, 8), 7), (Board(3, 3), 3), (Board(4, 6, repeats=False), 1)):
        assert len(first_guesses(board)) == count
        assert first_guesses(board)[0] == 0


def test_large_boards_are_refused() -> None:
    with pytest.raises(TooLargeError, match="32,768"):
        optimal_on_average(Board(5, 8))
    with pytest.raises(TooLargeError, match="at most 8,192"):
        optimal_in_worst_case(Board(12, 20))
