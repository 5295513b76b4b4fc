"""Color elimination against brute force, and against a readable elimination."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.information import Floats
from bnmind.mastermind import Board, Reply, replies_to, reply
from bnmind.mastermind.color_elimination import (
    LANES,
    elimination,
    elimination_additions,
    elimination_bytes,
    masses_by_elimination,
)
from tests.modes import examples


def readable(board: Board, belief: Floats) -> Floats:
    """Return the masses by transforming one axis after another with truncated polynomials.

    For each set of exactly d colors, each composition a of the pegs into d parts and each
    S, codes with Σ min(a_c, #c) = S are kept; on each axis the code's symbol becomes the
    guess's color: those that differ add up, the one that agrees is multiplied by x. The
    power of x is P.
    """
    n, k = board.pegs, board.colors
    joint = belief.reshape((k,) * n)
    masses = np.zeros((board.n_codes, len(board.true_replies)))
    for d in range(1, min(n, k) + 1):
        for colors in combinations(range(k), d):
            symbol = np.zeros(k, dtype=int)
            symbol[list(colors)] = range(1, d + 1)
            collapsed = np.zeros((d + 1,) * n)
            np.add.at(collapsed, np.ix_(*[symbol] * n), joint)
            words = np.indices(collapsed.shape)
            for counts in product(range(1, n + 1), repeat=d):
                if sum(counts) != n:
                    continue
                both = sum(np.minimum(a, (words == c).sum(axis=0)) for c, a in enumerate(counts, 1))
                for total in range(n + 1):
                    table = np.where(both == total, collapsed, 0.0)[..., None]  # last axis: P
                    for axis in range(n):
                        front = np.moveaxis(table, axis, 0)
                        other = front.sum(axis=0) - front[1:]
                        grown = np.pad(other, [(0, 0)] * (other.ndim - 1) + [(0, 1)])
                        grown[..., 1:] += front[1:]
                        table = np.moveaxis(grown, 0, axis)
                    for word in product(range(d), repeat=n):
                        if all(word.count(c) == a for c, a in enumerate(counts)):
                            guess = board.index([colors[c] + 1 for c in word])
                            for black, mass in enumerate(table[word][: total + 1]):
                                heard = Reply(black, total - black)
                                if heard in board.true_replies:
                                    masses[guess, board.true_replies.index(heard)] += mass
    return masses


def brute(board: Board, belief: Floats, guesses: list[int]) -> Floats:
    """Return the masses by counting replies."""
    n_replies = len(board.true_replies)
    rows = [
        np.bincount(replies_to(board, board.code(g)), weights=belief, minlength=n_replies)
        for g in guesses
    ]
    return np.array(rows)


def dense(board: Board, seed: int) -> Floats:
    belief = np.random.default_rng(seed).random(board.n_codes)
    return np.asarray(belief / belief.sum(), dtype=np.float64)


SMALL = [
    *(Board(n, k) for n in (1, 2, 3, 4) for k in (2, 3, 4)),
    Board(2, 6),
    Board(3, 6),
    Board(4, 6),
    Board(5, 2),
    Board(6, 3),
    *(Board(n, k, repeats=False) for n, k in ((1, 2), (2, 2), (2, 4), (3, 5), (4, 6), (5, 5))),
]


@pytest.mark.parametrize(
    "board",
    [pytest.param(b, marks=[pytest.mark.compiled] if b.pegs > 4 else []) for b in SMALL],
    ids=str,
)
def test_every_guess_of_small_boards(board: Board) -> None:
    for seed in range(3):
        belief = dense(board, seed)
        if seed == 2:  # a belief with zeros
            belief[np.random.default_rng(9).random(board.n_codes) < 0.7] = 0.0
        expected = brute(board, belief, list(range(board.n_codes)))
        found = masses_by_elimination(board, belief)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert found.min() >= 0


@pytest.mark.parametrize("board", [Board(2, 3), Board(3, 3), Board(4, 2), Board(3, 4)], ids=str)
def test_the_readable_elimination_agrees(board: Board) -> None:
    belief = dense(board, 1)
    expected = readable(board, belief)
    np.testing.assert_allclose(masses_by_elimination(board, belief), expected, rtol=0, atol=1e-12)
    everything = list(range(board.n_codes))
    np.testing.assert_allclose(brute(board, belief, everything), expected, rtol=0, atol=1e-12)


@pytest.mark.compiled
@settings(max_examples=examples(30))
@given(st.sampled_from(SMALL), st.integers(0, 2**32 - 1))
def test_counts_are_exact(board: Board, seed: int) -> None:
    # The counting scores (worst case, expected size, parts) rest on this.
    counts = (np.random.default_rng(seed).random(board.n_codes) < 0.4).astype(np.float64)
    found = masses_by_elimination(board, counts)
    assert np.array_equal(found, brute(board, counts, list(range(board.n_codes))))


def sampled(board: Board, guesses: int) -> None:
    belief = dense(board, 4)
    chosen = np.random.default_rng(5).integers(board.n_codes, size=guesses).tolist()
    found = masses_by_elimination(board, belief)
    np.testing.assert_allclose(found[chosen], brute(board, belief, chosen), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.compiled
def test_sampled_guesses_at_5x8() -> None:
    sampled(Board(5, 8), 2000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "guesses"), [(Board(6, 9), 300), (Board(6, 6), 300), (Board(7, 5), 80)], ids=str
)
def test_sampled_guesses_of_larger_boards(board: Board, guesses: int) -> None:
    sampled(board, guesses)


@pytest.mark.parametrize(
    "board",
    [
        Board(4, 6),
        pytest.param(Board(5, 6), marks=pytest.mark.compiled),
        Board(4, 6, repeats=False),
    ],
    ids=str,
)
def test_threads_change_nothing(board: Board) -> None:
    belief = dense(board, 3)
    one = masses_by_elimination(board, belief)
    for threads in (2, 3):
        assert np.array_equal(masses_by_elimination(board, belief, threads=threads), one)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_patterns_use_an_exact_number_of_colors(n: int) -> None:
    for d in range(1, n + 1):
        found = sorted(map(tuple, elimination(n, d).places.tolist()))
        assert found == [w for w in product(range(d), repeat=n) if set(w) == set(range(d))]


def test_additions_a_guess() -> None:
    # DESIGN: 310 / 1322 / 4853 additions a guess with rows reached forward; these are fewer.
    per_guess = [elimination_additions(b) / b.n_codes for b in (Board(4, 6), Board(5, 8))]
    assert [round(x) for x in per_guess] == [303, 1295]


def test_without_repeats_only_guesses_of_different_colors_cost() -> None:
    board = Board(4, 6, repeats=False)
    assert elimination_additions(board) == elimination(4, 4).additions * comb(6, 4)


def test_memory_is_known_before_allocation() -> None:
    assert elimination_bytes(Board(4, 6)) < 2**21
    assert elimination_bytes(Board(8, 10)) > 2**33
    assert elimination_bytes(Board(5, 8), threads=2) > elimination_bytes(Board(5, 8))


@pytest.mark.compiled
@pytest.mark.parametrize("board", [Board(4, 6), Board(5, 8), Board(6, 4)], ids=str)
def test_the_reported_memory_is_that_of_the_arrays(board: Board) -> None:
    # Each thread fills a buffer for the number of colors whose levels have the most rows.
    most_colors = min(board.pegs, board.colors)
    rows = max(
        int(elimination(board.pegs, d).contractions.offsets[-1]) for d in range(1, most_colors + 1)
    )
    of_thread = elimination_bytes(board, threads=2) - elimination_bytes(board)
    assert 0.95 <= of_thread / (8 * LANES * rows) <= 1.25
    assert elimination_bytes(board, threads=5) == elimination_bytes(board) + 4 * of_thread
    belief = dense(board, 1)
    masses_by_elimination(board, belief)  # makes the maps, which are not in it
    tracemalloc.start()
    masses_by_elimination(board, belief)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.6 <= peak / elimination_bytes(board) <= 1.05


def test_the_oracle_itself_on_one_pair() -> None:
    board = Board(3, 3)
    belief = np.zeros(27)
    belief[board.index((3, 1, 1))] = 1.0
    true = reply((1, 1, 2), (3, 1, 1))
    row = readable(board, belief)[board.index((1, 1, 2))]
    assert row[board.true_replies.index(true)] == 1.0
    assert row.sum() == 1.0
