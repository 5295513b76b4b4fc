"""Priors that learn from earlier codes, against Bayes' rule code by code."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.mastermind import (
    Alternating,
    Board,
    LearnedColors,
    LearnedNumber,
    MixturePrior,
    OnlyOnce,
    UniformPrior,
    parse_prior,
)
from bnmind.mastermind.priors import learned
from tests.mastermind.generators import codes

BOARD = Board(3, 4)
some_codes = st.lists(codes(BOARD), max_size=5)


@settings(max_examples=25)
@given(some_codes)
def test_weights_are_the_posterior_of_the_members(seen: list[tuple[int, ...]]) -> None:
    names = ("uniform", "two-color", "first-last-equal", "fixed:4,3,2,1")
    members = tuple(parse_prior(BOARD, name) for name in names)
    prior = MixturePrior(members, (0.4, 0.3, 0.2, 0.1))
    for code in seen:
        prior = prior.observe(code)
    tables = [member.distribution() for member in members]
    likelihoods = [
        weight * math.prod(table.probability(code) for code in seen)
        for weight, table in zip((0.4, 0.3, 0.2, 0.1), tables, strict=True)
    ]
    posterior = [likelihood / sum(likelihoods) for likelihood in likelihoods]
    assert prior.weights == pytest.approx(posterior, abs=1e-9)
    mixed = sum(w * table.probabilities for w, table in zip(posterior, tables, strict=True))
    assert prior.distribution().probabilities == pytest.approx(mixed, abs=1e-9)


@settings(max_examples=25)
@given(some_codes, codes(BOARD))
def test_favorite_colors_are_counted(seen: list[tuple[int, ...]], last: tuple[int, ...]) -> None:
    prior = LearnedColors.start(BOARD)
    for code in seen:
        prior = prior.observe(code)
    expected = Fraction(1)
    for position, color in enumerate(last):
        count = sum(code[position] == color for code in seen)
        expected *= Fraction(count + 1, len(seen) + BOARD.colors)
    assert prior.distribution().probability(last) == pytest.approx(float(expected), rel=1e-9)


@settings(max_examples=25)
@given(some_codes, codes(BOARD))
def test_numbers_of_colors_are_counted(seen: list[tuple[int, ...]], last: tuple[int, ...]) -> None:
    prior = LearnedNumber.start(BOARD)
    for code in seen:
        prior = prior.observe(code)
    alike = [code for code in BOARD.codes.tolist() if len(set(code)) == len(set(last))]
    count = sum(len(set(code)) == len(set(last)) for code in seen)
    chance = (count + len(alike) / BOARD.n_codes) / (len(seen) + 1)
    got = prior.distribution().probability(last)
    assert got == pytest.approx(chance / len(alike), rel=1e-9)


def test_numbers_of_colors_are_learned_on_the_largest_board() -> None:
    # 255 of 255^255 codes have one color: a frequency of 1e-611.
    board = Board(255, 255)
    prior = LearnedNumber.start(board)
    one_color = np.ones((1, 255), dtype=np.uint8)
    expected = -255 * math.log(255)
    assert prior.log_probabilities(one_color)[0] == pytest.approx(expected, rel=1e-12)
    prior = prior.observe((1,) * 255)
    assert prior.log_probabilities(one_color)[0] == pytest.approx(math.log(0.5 / 255), rel=1e-9)


def test_a_long_match_excludes_no_member_that_is_possible() -> None:
    # After 300 codes, the probability of the uniform prior is too small for a number.
    board = Board(4, 6)
    prior = MixturePrior((UniformPrior(board), Alternating(board)), (0.5, 0.5))
    for _ in range(300):
        prior = prior.observe((1, 2, 1, 2))
    assert prior.weights == (0.0, 1.0)
    assert prior.observe((1, 2, 3, 4)).weights == (1.0, 0.0)


@given(st.permutations([(1, 1, 2), (3, 2, 3), (4, 4, 4)]))
def test_the_order_of_the_codes_does_not_matter(order: list[tuple[int, ...]]) -> None:
    def total(seen: list[tuple[int, ...]]) -> float:
        prior, log = learned(BOARD), 0.0
        for code in seen:
            log += float(prior.log_probabilities(np.array([code]))[0])
            prior = prior.observe(code)
        return log

    assert total(order) == pytest.approx(total([(1, 1, 2), (3, 2, 3), (4, 4, 4)]), abs=1e-9)


def test_the_code_maker_is_recognized_after_a_few_codes() -> None:
    board, rng = Board(4, 6), np.random.default_rng(0)
    prior = learned(board)
    for code in Alternating(board).draw(6, rng).tolist():
        prior = prior.observe(code)
    best = max(zip(prior.weights, (member.name for member in prior.members), strict=True))
    assert best[1] == "alternating"
    assert best[0] > 0.99


def test_members_that_do_not_fit_the_board_are_left_out() -> None:
    names = {member.name for member in learned(Board(4, 3)).members}
    assert "only-once" not in names
    assert "two-color" in names
    assert {member.name for member in learned(Board(3, 4, repeats=False)).members} == {
        "uniform",
        "only-once",
    }


def test_a_code_that_no_member_makes_is_refused() -> None:
    prior = MixturePrior((OnlyOnce(BOARD), Alternating(BOARD)), (0.5, 0.5))
    with pytest.raises(ImpossibleEvidenceError, match="no member of the prior mixture makes"):
        prior.observe((1, 1, 1))


def test_learned_numbers_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match=r"of 1 to 3 colors, got \(1, 2\)"):
        LearnedNumber(BOARD, (1, 2), 1.0)
    with pytest.raises(InvalidArgumentError, match=r"seen .* at least 0, .*; expected alpha .* 0"):
        LearnedNumber(BOARD, (1, 2, -1), 0.0)


def test_mixtures_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match="the logarithms of"):
        MixturePrior((UniformPrior(BOARD),), (1.0,), logs=(-1.0,))
    with pytest.raises(InvalidArgumentError, match="at least one prior"):
        MixturePrior((), ())
    with pytest.raises(InvalidArgumentError, match="2 weights that sum to 1"):
        MixturePrior((OnlyOnce(BOARD), UniformPrior(BOARD)), (0.5, 0.6))
    with pytest.raises(InvalidArgumentError, match="of the same board"):
        MixturePrior((OnlyOnce(BOARD), UniformPrior(Board(4, 6))), (0.5, 0.5))
