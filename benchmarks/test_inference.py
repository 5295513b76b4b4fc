"""The joint over H_1, …, H_n after one noisy reply, by pgmpy, by pyAgrum and by ours.

All engines get the same guess and the same replies in turn, in one run; each
answer is checked against the table over codes first. See README.md for how to run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import engines
from benchmarks.conftest import MEASURED, Row
from benchmarks.engines import Engine, Question
from bnmind.mastermind import Board, Channel, Reply

SMALL, LARGE = Board(4, 6), Board(5, 8)
QUESTIONS = {
    "4x6": Question(
        SMALL,
        Channel.independent_error(SMALL, 0.1),
        (1, 1, 2, 3),
        (Reply(1, 1), Reply(0, 2)),
    ),
    "5x8": Question(
        LARGE,
        Channel.independent_error(LARGE, 0.1),
        (1, 1, 2, 3, 4),
        (Reply(1, 1), Reply(0, 2)),
    ),
}

CASES: list[tuple[str, Callable[[Question], Engine], float]] = [
    ("4x6", engines.code_table, 0.0),
    ("4x6", engines.plan_of_the_guess, 1e-12),
    ("4x6", engines.plan_of_stage_3, 1e-12),
    ("4x6", engines.pyagrum_stage_3, 1e-5),
    ("4x6", engines.pyagrum_stage_3_changed, 1e-5),
    ("4x6", engines.pyagrum_stage_2, 1e-5),
    ("4x6", engines.pgmpy_compact, 1e-12),
    ("4x6", engines.pgmpy_stage_2, 1e-12),
    ("5x8", engines.code_table, 0.0),
    ("5x8", engines.plan_of_the_guess, 1e-12),
    ("5x8", engines.plan_of_stage_3, 1e-12),
    ("5x8", engines.pyagrum_stage_3, 1e-5),
    ("5x8", engines.pyagrum_stage_3_changed, 1e-5),
    ("5x8", engines.pgmpy_compact, 1e-12),
    # Stage 2 at 5x8 has a table of 60 million cells and no engine that finishes.
]


@pytest.mark.parametrize(
    ("board", "prepare", "tolerance"), CASES, ids=[f"{b}-{e.__name__}" for b, e, _ in CASES]
)
def test_joint_after_one_reply(
    benchmark: Any,
    pytestconfig: pytest.Config,
    board: str,
    prepare: Callable[[Question], Engine],
    tolerance: float,
) -> None:
    if "pyagrum" in prepare.__name__:
        pytest.importorskip("pyagrum")
    question = QUESTIONS[board]
    oracle = engines.code_table(question)
    engine = prepare(question)
    for reply in question.replies:
        np.testing.assert_allclose(
            engine.answer(reply), oracle.answer(reply), rtol=0, atol=tolerance
        )
    benchmark.group = f"joint over the code after one reply, {board}"
    benchmark.extra_info.update(engine.sizes)
    # In turn, so that no engine can give its last answer again.
    turns = itertools.cycle(question.replies)
    benchmark(lambda: engine.answer(next(turns)))
    stats = benchmark.stats.stats
    pytestconfig.stash[MEASURED].append(
        Row(board, prepare.__name__, stats.min, stats.median, engine.sizes)
    )
