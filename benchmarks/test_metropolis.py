"""Steps of Snyder's walk: updated replies against replies compared anew, in one run.

The replies contradict each other, so no walk ends before its last step. The seconds of the summary
are those of the fastest round; the ratio of the two walks is what a busy machine leaves standing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind import Board, Reply, Turn, reply
from bnmind.mastermind.random_moves import (
    compare_codes,
    draw_color_change,
    draw_pair_swap,
    draw_uniform,
    seeded_state,
)
from bnmind.mastermind.sampling import turn_arrays
from bnmind.strategies.metropolis import WalkRule, run_walk, start_walk

STEPS = 1_000_000
BOARDS = {"4x6": Board(4, 6), "8x10": Board(8, 10), "10x12": Board(10, 12)}


def contradiction(board: Board) -> tuple[Turn, ...]:
    """Return five turns that no code explains."""
    rng = np.random.default_rng(1)
    codes = [board.code(int(rng.integers(board.n_codes))) for _ in range(5)]
    turns = [Turn(code, reply(code, codes[0])) for code in codes[1:]]
    return (*turns, Turn(codes[1], Reply(board.pegs, 0)))


@njit
def compared_walk(
    guesses: NDArray[np.uint8],
    replies: NDArray[np.int64],
    code: NDArray[np.uint8],
    colors: int,
    steps: int,
    state: NDArray[np.uint64],
) -> int:
    """Walk, and compare each proposal with all guesses."""
    counts = np.zeros(colors + 1, dtype=np.int64)
    cost = 1_000_000
    for _ in range(steps):
        if draw_uniform(state) < 0.5:
            i, j, color_i, color_j = draw_pair_swap(code, state)
        else:
            i, j, color_i, color_j = draw_color_change(code, colors, True, state)
        old_i, old_j = code[i], code[j]
        code[i], code[j] = color_i, color_j
        new = 0
        for t in range(len(guesses)):
            black, both = compare_codes(guesses[t], code, counts)
            b, s = black - replies[t, 0], both - replies[t, 1]
            new += abs(b) + abs(s - b) + 2 * abs(s)
        if new <= cost or draw_uniform(state) < math.exp(cost - new):
            cost = new
        else:
            code[i], code[j] = old_i, old_j
    return cost


@pytest.mark.parametrize("way", ["updated", "compared"])
@pytest.mark.parametrize("name", BOARDS)
def test_steps(benchmark: Any, name: str, way: str) -> None:
    board = BOARDS[name]
    benchmark.group = f"{STEPS:,} steps of a walk, {name}"
    facts, state = turn_arrays(board, contradiction(board)), seeded_state(np.random.default_rng(2))
    guesses = facts.guesses.astype(np.uint8)
    start = guesses[0]
    rule = WalkRule(1.0, 0.5, 0.0, False, False, board.colors, board.repeats)
    replies = np.stack([facts.black, facts.both], axis=1)

    def updated() -> int:
        return run_walk(facts, start_walk(facts, start), rule, 0, False, STEPS, state)[1]

    def compared() -> int:
        compared_walk(guesses, replies, start.copy(), board.colors, STEPS, state)
        return STEPS

    steps = benchmark.pedantic(
        updated if way == "updated" else compared, rounds=7, iterations=1, warmup_rounds=1
    )
    assert steps == STEPS
    rate = STEPS / benchmark.stats.stats.min
    benchmark.extra_info.update(million_steps_a_second=round(rate / 1e6, 1))
