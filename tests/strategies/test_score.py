"""Scores as whole numbers: logarithms to the last bit, and what keys refuse."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError
from bnmind.mastermind import Board
from bnmind.strategies import (
    ClassTerms,
    Combination,
    EntropyLeft,
    Larmouth,
    WorstCase,
    equal_weights,
)
from bnmind.strategies.scores import entropy_terms, fixed_point_bits
from tests.modes import examples


@pytest.mark.parametrize("bits", [20, 32, 40])
def test_logarithms_of_primes_are_rounded_correctly(bits: int) -> None:
    table = entropy_terms(2000, bits)
    with localcontext() as context:
        context.prec = 60
        for p in (2, 3, 5, 7, 11, 13, 97, 101, 641, 997, 1999):
            exact = Decimal(p).ln() / Decimal(2).ln() * 2**bits
            assert table[p] == p * int(exact.to_integral_value())


def test_a_doubtful_logarithm_is_computed_digit_by_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = entropy_terms(300, 38).tolist()
    entropy_terms.cache_clear()
    monkeypatch.setattr("bnmind.strategies.scores.math.ldexp", lambda x, n: 0.5)
    assert entropy_terms(300, 38).tolist() == expected
    monkeypatch.undo()
    entropy_terms.cache_clear()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=14), st.data())
@settings(max_examples=examples(150))
def test_keys_compare_as_the_products_do(classes: list[int], data: st.DataObject) -> None:
    """Π nⁿ as whole numbers, of any two partitions of the same number."""
    left = sum(classes)
    other: list[int] = []
    while left:
        least = max(1, left - 60 * (13 - len(other)))  # the others take 60 at most
        other.append(data.draw(st.integers(least, min(60, left))))
        left -= other[-1]
    table = entropy_terms(60, fixed_point_bits(1296))
    products = [math.prod(n**n for n in each) for each in (classes, other)]
    keys = [int(table[each].sum()) for each in (classes, other)]
    assert (keys[0] < keys[1]) == (products[0] < products[1])
    assert (keys[0] == keys[1]) == (products[0] == products[1])


def test_equal_products_with_different_factors_tie() -> None:
    table = entropy_terms(12, 40)
    assert table[4] == 4 * table[2]  # 4⁴ = (2²)⁴
    # 12¹² = 2²⁴·3¹²: as 2² twelve times and 3³ four times.
    assert table[12] == 12 * table[2] + 4 * table[3]


@pytest.mark.parametrize("codes", [2, 1296, 32768, 2**17, 2**27])
@pytest.mark.parametrize("weight", [1, 9999])
def test_sums_fit_63_bits(codes: int, weight: int) -> None:
    bits = fixed_point_bits(codes, largest_weight=weight)
    assert bits >= 10
    assert codes * math.log2(codes) * weight * 2**bits < 2**62


def test_larmouths_correction_is_a_factor_of_four() -> None:
    board, n = Board(4, 6), len(Board(4, 6).true_replies)
    classes = np.zeros((2, n), dtype=np.int64)
    classes[0, :2], classes[1, [0, 1, -1]] = [2, 3], [2, 2, 1]
    keys = Larmouth().terms(board, 5).keys(classes, 0)
    plain = EntropyLeft().terms(board, 5).keys(classes, 0)
    assert keys[0] == plain[0]
    assert plain[1] - keys[1] == plain[1] // 2  # 2²·2² = 4²
    assert Larmouth().shown(board, int(keys[1]), 5) == 2 / 5


def test_cells_are_compared_one_after_the_other() -> None:
    classes = np.zeros((5, 5), dtype=np.int64)
    classes[:, :3] = [[3, 3, 2], [3, 4, 1], [2, 3, 3], [3, 5, 0], [4, 1, 3]]
    board = Board(2, 3)
    terms = WorstCase(next_largest=True).terms(board, 8)
    assert terms.combination is Combination.SORTED
    assert terms.best(classes, 0).tolist() == [0, 2]
    assert terms.best(classes[[1, 3, 4]], 0).tolist() == [0, 2]
    assert WorstCase().terms(board, 8).best(classes[[1, 4]], 0).tolist() == [0, 1]


def test_uninformative_guesses_are_not_best() -> None:
    board = Board(1, 3)
    terms = ClassTerms(np.zeros(4, dtype=np.int64), equal_weights(board))
    assert terms.best(np.array([[3, 0], [2, 1], [0, 3]]), 0).tolist() == [1]
    assert terms.best(np.array([[3, 0], [0, 3]]), 0).tolist() == [0, 1]


def test_terms_are_values_and_checked() -> None:
    ones = np.ones((1, 3), dtype=np.int64)
    terms = ClassTerms(np.array([0, 0, 2]), ones, -1)
    again = pickle.loads(pickle.dumps(terms))
    assert again.sizes.tolist() == [0, 0, 2]
    with pytest.raises(ValueError, match="read-only"):
        terms.sizes[0] = 1
    with pytest.raises(BnmindError, match=r"weights to be .* of at least 0, got -1 in it"):
        ClassTerms(np.array([0, 1, 0]), -ones)
    with pytest.raises(BnmindError, match=r"by turn and reply.*never decrease"):
        ClassTerms(np.array([0, 1, 0]), ones[0])
