"""The myopic scores of all guesses at once, against their definitions on cells of codes."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.information import information
from bnmind.mastermind import Board, Method, plan_masses, reply
from bnmind.strategies.scores import expected_sizes, parts, worst_cases
from tests.modes import examples


@settings(max_examples=examples(25))
@given(
    st.sampled_from([Board(2, 3), Board(3, 3), Board(3, 4, repeats=False)]),
    st.sampled_from([Method.BRUTE_FORCE, Method.ELIMINATION]),
    st.integers(0, 2**32 - 1),
)
def test_scores_are_those_of_the_cells(board: Board, method: Method, seed: int) -> None:
    possible = np.random.default_rng(seed).random(board.n_codes) < 0.5
    possible[0] = True
    counts = possible.astype(np.float64)
    masses = plan_masses(board, counts, method=method).run(counts)
    n = int(possible.sum())
    codes = [board.code(int(i)) for i in np.flatnonzero(possible)]
    told = information(masses / n, np.eye(masses.shape[1]))
    for guess in range(board.n_codes):
        cells = Counter(reply(board.code(guess), code) for code in codes).values()
        # Whole numbers, exact whatever the method.
        assert worst_cases(masses)[guess] == max(cells)
        assert expected_sizes(masses)[guess] == sum(size**2 for size in cells)
        assert parts(masses)[guess] == len(cells)
        entropy = -sum(size / n * math.log2(size / n) for size in cells)
        assert told[guess] == pytest.approx(entropy, abs=1e-12)
