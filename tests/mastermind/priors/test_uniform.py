"""The uniform prior."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.errors import TooLargeError
from bnmind.mastermind import Board, UniformPrior
from bnmind.mastermind.prior import listed_distribution


def test_all_codes_are_equally_probable() -> None:
    board = Board(3, 4)
    listed = listed_distribution(UniformPrior(board))
    assert listed.probabilities == pytest.approx(np.full(64, 1 / 64), abs=1e-15)


@pytest.mark.parametrize("board", [Board(3, 4), Board(3, 4, repeats=False)])
def test_draws_are_codes_and_every_code_is_drawn(board: Board) -> None:
    draws = UniformPrior(board).draw(2000, np.random.default_rng(0))
    assert draws.dtype == np.uint8
    assert {board.index(code) for code in draws.tolist()} == set(range(board.n_codes))


def test_large_boards_have_weights_and_draws_but_no_distribution() -> None:
    prior = UniformPrior(Board(10, 12))
    codes = prior.draw(5, np.random.default_rng(0))
    assert prior.log_weights(codes) == pytest.approx(-10 * np.log(12))
    with pytest.raises(TooLargeError, match="at most"):
        prior.distribution()


def test_boards_of_the_most_colors_have_priors() -> None:
    draws = UniformPrior(Board(2, 255)).draw(5000, np.random.default_rng(0))
    assert (draws.min(), draws.max()) == (1, 255)
