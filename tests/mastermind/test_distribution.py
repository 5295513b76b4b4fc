"""Distributions over codes, against sums over codes one by one."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind import Board, CodeDistribution, reply_masses
from tests.mastermind.generators import boards, code_weights, codes


@given(st.data(), boards(max_codes=400))
def test_against_sums_over_codes(data: st.DataObject, board: Board) -> None:
    weights = data.draw(code_weights(board))
    belief = CodeDistribution(board, weights)
    pairs = [(board.code(i), p) for i, p in enumerate(weights.tolist())]
    assert belief.possible_codes() == sum(p > 0 for _, p in pairs)
    assert belief.entropy() == pytest.approx(
        -sum(p * math.log2(p) for _, p in pairs if p > 0), abs=1e-10
    )
    marginals = np.zeros((board.pegs, board.colors))
    for code, p in pairs:
        for position, color in enumerate(code):
            marginals[position, color - 1] += p
    np.testing.assert_allclose(belief.marginals(), marginals, rtol=0, atol=1e-12)
    joint = belief.joint()
    assert joint.shape == (board.colors,) * board.pegs
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    for code, p in pairs:
        assert joint[tuple(color - 1 for color in code)] == pytest.approx(p, abs=1e-15)
    code = data.draw(codes(board))
    assert belief.probability(code) == pytest.approx(weights[board.index(code)], abs=1e-15)
    assert np.array_equal(belief.masses(), reply_masses(board, belief.probabilities))


@given(st.data(), boards(), st.integers(0, 30))
def test_most_probable(data: st.DataObject, board: Board, n: int) -> None:
    belief = CodeDistribution(board, data.draw(code_weights(board)))
    got = belief.most_probable(n)
    # Rounding to nine places makes the ties of these beliefs equal.
    expected = sorted(
        range(board.n_codes), key=lambda i: (-round(float(belief.probabilities[i]), 12), i)
    )
    expected = [i for i in expected if belief.probabilities[i] > 0][:n]
    assert [index for index, _ in got] == expected
    assert [p for _, p in got] == [float(belief.probabilities[i]) for i in expected]


@pytest.mark.parametrize("kind", ["ties", "none", "uniform", "few", "rising"])
def test_boards_of_many_blocks(kind: str) -> None:
    board = Board(6, 8)
    rng = np.random.default_rng(11)
    weights = {
        "ties": rng.integers(0, 5, board.n_codes) ** 6.0,
        "none": rng.random(board.n_codes),
        "uniform": np.ones(board.n_codes),
        "few": (rng.random(board.n_codes) < 2e-5) * rng.integers(1, 3, board.n_codes),
        "rising": np.arange(board.n_codes, dtype=np.float64),
    }[kind]
    belief = CodeDistribution(board, weights / weights.sum())
    p = belief.probabilities
    # The first of equals is the first code.
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0]
    for n in (0, 1, 10, 3000):
        expected = [(int(index), float(p[index])) for index in order[:n]]
        assert list(belief.most_probable(n)) == expected
    positive = p[p > 0]
    assert belief.possible_codes() == len(positive)
    assert belief.entropy() == pytest.approx(-(positive * np.log2(positive)).sum(), rel=1e-12)
    marginals = [np.bincount(pegs, weights=p, minlength=9)[1:] for pegs in board.codes.T]
    np.testing.assert_allclose(belief.marginals(), marginals, rtol=0, atol=1e-12)


def test_many_groups_of_ties() -> None:
    board = Board(2, 3)
    belief = CodeDistribution(board, np.array([1, 3, 2, 3, 1, 0, 2, 1, 3]) / 16)
    expected = [1, 3, 8, 2, 6, 0, 4, 7]
    for n in range(12):
        assert [index for index, _ in belief.most_probable(n)] == expected[:n]


def test_an_array_that_cannot_change_is_kept() -> None:
    board = Board(4, 6)
    weights = np.full(1296, 1 / 1296)
    assert CodeDistribution(board, weights).probabilities is not weights
    weights.setflags(write=False)
    assert CodeDistribution(board, weights).probabilities is weights
    # Not a view, behind which the numbers may change; nor what has to be normalized.
    assert CodeDistribution(board, weights[:]).probabilities is not weights
    rough = np.full(1296, (1 + 1e-10) / 1296)
    rough.setflags(write=False)
    assert CodeDistribution(board, rough).probabilities.sum() == pytest.approx(1, abs=1e-14)
    belief = CodeDistribution(board, weights)
    assert CodeDistribution(board, belief.probabilities).probabilities is belief.probabilities


def test_ties_do_not_depend_on_rounding() -> None:
    board = Board(1, 4)
    third = np.array([1 - 3e-16, 1, 1 + 3e-16, 0]) / 3
    assert [i for i, _ in CodeDistribution(board, third).most_probable()] == [0, 1, 2]
    assert [i for i, _ in CodeDistribution(board, third).most_probable(1)] == [0]
    assert [i for i, _ in CodeDistribution(board, third).most_probable(2)] == [0, 1]
    apart = np.array([1 - 3e-9, 1, 1 + 3e-9, 0]) / 3
    assert [i for i, _ in CodeDistribution(board, apart).most_probable()] == [2, 1, 0]


def test_uniform() -> None:
    belief = CodeDistribution.uniform(Board(4, 6))
    assert belief.entropy() == pytest.approx(4 * math.log2(6), abs=1e-12)
    assert belief.most_probable(3) == tuple((i, belief.probabilities[0]) for i in range(3))
    np.testing.assert_allclose(belief.marginals(), np.full((4, 6), 1 / 6), rtol=1e-12)


def test_distributions_do_not_change() -> None:
    weights = np.full(4, 0.25)
    belief = CodeDistribution(Board(2, 2), weights)
    weights[0] = 1.0
    belief.joint()[0, 0] = 1.0
    assert belief.probabilities.tolist() == [0.25] * 4
    for twin in (belief, pickle.loads(pickle.dumps(belief)), copy.deepcopy(belief)):
        with pytest.raises(ValueError, match="read-only"):
            twin.probabilities[0] = 1.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [0.5, 0.5],
            "CodeDistribution: expected 4 values in probabilities, as many as board.n_codes, got 2",
        ),
        (
            [0.5, 0.5, 0.5, 0.5],
            "expected probabilities of at least 0 that sum to 1, got a sum of 2",
        ),
        ([1.5, -0.5, 0, 0], "expected probabilities of at least 0 that sum to 1, got -0.5"),
        ([np.nan, 0.5, 0.5, 0], "probabilities of at least 0 that sum to 1, got a sum of nan"),
        ([0.5, 0.5, 0.5, np.nan], "probabilities of at least 0 that sum to 1, got a sum of nan"),
        ([np.inf, 0, 0, 0], "probabilities of at least 0 that sum to 1, got a sum of inf"),
    ],
)
def test_invalid_distributions_raise(weights: list[float], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        CodeDistribution(Board(2, 2), np.array(weights))
    assert message in str(caught.value)


def test_errors() -> None:
    belief = CodeDistribution.uniform(Board(2, 2))
    with pytest.raises(InvalidArgumentError):
        belief.probability((1, 3))
    with pytest.raises(TooLargeError):
        CodeDistribution.uniform(Board(10, 12))
    permutations = Board(9, 9, repeats=False)
    with pytest.raises(TooLargeError, match="9x9 without repeats, whose joint would need 387,420"):
        CodeDistribution.uniform(permutations).joint()
