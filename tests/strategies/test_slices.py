"""Long work of compiled code is done in slices: Python hears Ctrl-C between them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import bnmind.junction.exact_order as exact_order
import bnmind.mastermind.color_elimination as color_elimination
import bnmind.mastermind.consistent as consistent_search
import bnmind.mastermind.peg_counts as brute_force
import bnmind.strategies.greedy as grow_kernel
import bnmind.strategies.planning as endgame
import bnmind.strategies.tree_search as branch_and_bound_run
from bnmind.errors import TooLargeError
from bnmind.junction import ExactOrder
from bnmind.mastermind import Board, Reply, Turn, reply
from bnmind.mastermind.color_elimination import masses_by_elimination
from bnmind.mastermind.peg_counts import masses_by_pairs
from bnmind.strategies import (
    ExpectedSize,
    Goal,
    Myopic,
    Optimal,
    find_possible_code,
    first_guesses,
    grow_exactly,
    optimal_on_average,
)
from bnmind.strategies.best_guess import board_arrays
from bnmind.strategies.greedy import GrownTree
from bnmind.strategies.optimum import BoardSearch, SearchRules
from bnmind.strategies.planning import estimate_all, set_estimates
from bnmind.strategies.tree_search import PAUSED, search_slice
from tests.graphs import graphs
from tests.mastermind.generators import boards, codes
from tests.modes import examples


def all_of(search: BoardSearch) -> tuple[object, ...]:
    """Return what a search of a whole board finds and counts."""
    solved = search.solve(np.arange(search.board.n_codes))
    return solved, search.n_sets, search.n_tried, search.openings()


@pytest.mark.parametrize("board", [Board(2, 4), Board(3, 3), Board(3, 4, repeats=False)], ids=str)
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("limit", [None, 3])
def test_a_search_in_slices_is_the_search(board: Board, goal: Goal, limit: int | None) -> None:
    rules = SearchRules(goal, max_guesses=limit)
    at_once = all_of(BoardSearch(board, rules))
    with mock.patch.object(branch_and_bound_run, "SLICE", 0), counted_slices() as slices:
        assert all_of(BoardSearch(board, rules)) == at_once
        assert len(slices) > 1
        assert set(slices[:-1]) == {PAUSED}


@contextmanager
def counted_slices(most: int = 10**9) -> Iterator[list[int]]:
    """Count the slices of searches, and interrupt them after so many."""
    slices: list[int] = []
    run = search_slice

    def counted(*arguments: Any) -> int:
        slices.append(run(*arguments))
        if len(slices) >= most:
            raise KeyboardInterrupt
        return slices[-1]

    with mock.patch.object(branch_and_bound_run, "search_slice", counted):
        yield slices


@pytest.mark.parametrize("most", [1, 7, 20])
def test_a_search_that_was_interrupted_can_begin_anew(most: int) -> None:
    board = Board(3, 4)
    search, every = BoardSearch(board), np.arange(board.n_codes)
    with (
        mock.patch.object(branch_and_bound_run, "SLICE", 0),
        counted_slices(most),
        pytest.raises(KeyboardInterrupt),
    ):
        search.solve(every)
    again = search.solve(every)
    assert again is not None
    assert again.total == 206
    first = search.solve_from(again.guess)
    assert first is not None
    assert first.total == 206
    assert search.tree().total == 206


def columns(tree: GrownTree) -> list[list[int]]:
    return [column.tolist() for column in (tree.parents, tree.possible, tree.guesses, tree.replies)]


@pytest.mark.parametrize("board", [Board(2, 4), Board(3, 4), Board(3, 5, repeats=False)], ids=str)
def test_a_tree_that_grows_in_slices_is_the_tree(board: Board) -> None:
    strategy = Myopic(ExpectedSize())
    at_once = columns(grow_exactly(strategy, board, max_guesses=99))
    told: list[int] = []

    def progress(done: int, total: int) -> None:
        assert total == board.n_codes
        told.append(done)

    with mock.patch.object(grow_kernel, "SLICE", 0):
        tree = grow_exactly(strategy, board, max_guesses=99, progress=progress)
    assert columns(tree) == at_once
    assert told == sorted(told)
    assert told[-1] == board.n_codes
    assert len(set(told)) > 5


@given(boards(100), st.data())
@settings(max_examples=examples(25))
def test_a_search_for_a_possible_code_in_slices_is_the_search(
    board: Board, data: st.DataObject
) -> None:
    guesses = data.draw(st.lists(codes(board), max_size=4))
    secrets = [data.draw(codes(board)) for _ in guesses]
    turns = [Turn(g, reply(g, s)) for g, s in zip(guesses, secrets, strict=True)]
    at_once = find_possible_code(board, turns)
    shuffled = find_possible_code(board, turns, rng=np.random.default_rng(1))
    with mock.patch.object(consistent_search, "_SLICE", 0):
        assert find_possible_code(board, turns) == at_once
        assert find_possible_code(board, turns, rng=np.random.default_rng(1)) == shuffled


@pytest.mark.compiled
def test_ways_that_take_long_to_list_are_not_listed() -> None:
    # Two replies to one guess contradict each other, but no part of a way does.
    guess = tuple(range(1, 41))
    turns = [Turn(guess, Reply(0, 20)), Turn(guess[::-1], Reply(0, 21))]
    with pytest.raises(TooLargeError, match="1,000 pegs placed"):
        find_possible_code(Board(40, 60), turns, max_nodes=1000)


def test_estimates_in_parts_are_the_estimates() -> None:
    board = Board(3, 4)
    arrays, every = board_arrays(board), np.arange(board.n_codes, dtype=np.int32)

    def found(candidates: NDArray[np.int32]) -> list[int]:
        free, estimates = arrays.all_colors, set_estimates(board)
        sums = estimate_all(arrays, every[::3], candidates, free=free, estimates=estimates)
        return [int(total) for total in sums]

    at_once = found(every)
    with mock.patch.object(endgame, "_PAIRS_AT_ONCE", 100):
        assert found(every) == at_once
    assert found(every[:0]) == []


@pytest.mark.parametrize("board", [Board(3, 4), Board(4, 5, repeats=False)], ids=str)
def test_masses_in_parts_are_the_masses(board: Board) -> None:
    weights = np.random.default_rng(1).random(board.n_codes)
    every = np.arange(board.n_codes)
    pairs, eliminated = masses_by_pairs(board, None, every, weights), None
    eliminated = masses_by_elimination(board, weights)
    with (
        mock.patch.object(brute_force, "_PAIRS_AT_ONCE", 1000),
        mock.patch.object(color_elimination, "_ADDITIONS_AT_ONCE", 1),
    ):
        assert np.array_equal(masses_by_pairs(board, None, every, weights), pairs)
        assert np.array_equal(masses_by_elimination(board, weights), eliminated)


@pytest.mark.slow
@given(graphs(most=8))
@settings(max_examples=examples(10))
def test_the_sets_of_an_exact_search_are_expanded_in_parts(graph: Any) -> None:
    whole = ExactOrder()(graph)
    with mock.patch.object(exact_order, "_SETS_AT_ONCE", 5):
        assert ExactOrder()(graph) == whole


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize(
    "work",
    [
        "optimal_on_average(Board(4, 9))",
        "build_tree(Myopic(ExpectedSize()), Channel.exact(Board(6, 7)))",
        "deeper().tree(Board(5, 8))",
        "[find_possible_code(Board(40, 60), hard) for _ in range(999)]",
    ],
)
def test_python_hears_ctrl_c_while_compiled_code_works(work: str) -> None:
    script = f"""
import sys, threading
from bnmind.mastermind import Board, Channel, Reply, Turn
from bnmind.strategies import *
# No code has all these replies, but that is hard to see.
hard = [Turn(tuple(1 + (i * k) % 60 for i in range(40)), Reply(3, 15)) for k in range(1, 9)]
optimal_on_average(Board(2, 3)), build_tree(Myopic(ExpectedSize()), Channel.exact(Board(2, 3)))
deeper().tree(Board(2, 3)), find_possible_code(Board(2, 3), [])
threading.Timer(3.0, lambda: print("working", flush=True)).start()
try:
    {work}
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == "interrupted\n"
    finally:
        process.kill()


def test_a_search_reports_its_first_guesses() -> None:
    board = Board(3, 4)
    told: list[tuple[int, int | None]] = []
    with mock.patch.object(branch_and_bound_run, "SLICE", 0):
        silent = optimal_on_average(board)
        optimum = optimal_on_average(board, progress=lambda *done: told.append(done))
        assert (optimum.total, optimum.tried) == (silent.total, silent.tried)
        kinds = len(first_guesses(board))
        assert told[0] == (0, kinds)
        assert told == sorted(told, key=lambda done: done[0])
        assert {total for _, total in told} == {kinds}
        told.clear()
        optimal_on_average(board, first=board.code(1), progress=lambda *done: told.append(done))
    assert {total for _, total in told} == {None}
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_who_is_told_of_the_progress_makes_no_other_optimum() -> None:
    board = Board(2, 3)
    told: list[tuple[int, int | None]] = []
    first = Optimal().optimum(board)
    assert Optimal().optimum(board, progress=lambda *done: told.append(done)) is first
    assert told == []
