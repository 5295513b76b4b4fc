"""What compiled code is given from outside: it does not look itself, so this must be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.mastermind import Board, Channel, Turn, reply
from bnmind.mastermind.masses import bayes_rule, guess_masses
from bnmind.mastermind.peg_counts import split_replies
from bnmind.strategies import (
    Breadth,
    ClassTerms,
    ExpectedSize,
    Myopic,
    build_tree,
    find_possible_code,
)
from bnmind.strategies.best_guess import MOST_COLORS, MOST_PEGS, board_arrays
from bnmind.strategies.planning import Endgame


@pytest.mark.parametrize("board", [Board(2, 3), Board(6, 4)], ids=str)
@pytest.mark.parametrize("more", [-1, 1])
def test_beliefs_are_over_the_codes(board: Board, more: int) -> None:
    guess, n_replies = board.code(0), len(board.true_replies)
    good, wrong = np.ones(board.n_codes), np.ones(board.n_codes + more)
    with pytest.raises(InvalidArgumentError, match=f"{board.n_codes} codes"):
        guess_masses(board, wrong, guess)
    with pytest.raises(InvalidArgumentError, match=f"{board.n_codes} codes"):
        bayes_rule(board, wrong, guess, np.ones(n_replies))
    with pytest.raises(InvalidArgumentError, match=f"{n_replies} true replies"):
        bayes_rule(board, good, guess, np.ones(n_replies + more))
    halves = split_replies(board, guess)
    with pytest.raises(InvalidArgumentError, match=f"{board.n_codes} codes"):
        halves.masses(wrong)
    with pytest.raises(InvalidArgumentError, match=f"{board.n_codes} codes"):
        halves.weighted(wrong, np.ones(n_replies))
    with pytest.raises(InvalidArgumentError, match=f"{n_replies} factors"):
        halves.weighted(good, np.ones(n_replies + more))
    assert np.isclose(guess_masses(board, good, guess).sum(), board.n_codes)


def test_boards_of_kernels_fit_bytes_and_words() -> None:
    for board in (Board(MOST_PEGS + 1, 2), Board(1, MOST_COLORS + 1)):
        with pytest.raises(TooLargeError, match="15 pegs and 62 colors"):
            board_arrays(board)
    for board in (Board(MOST_PEGS, 2), Board(1, MOST_COLORS)):
        assert board_arrays(board).digits.shape == (board.n_codes, board.pegs)


def test_endgames_are_sets_of_codes() -> None:
    board, breadth = Board(2, 3), Breadth(20, 5)
    for wrong in ([], [1, 1], [2, 1]):
        with pytest.raises(BnmindError, match="expected a set"):
            Endgame(board, np.array(wrong, dtype=np.int32), breadth)
    for outside in ([-1, 3], [3, 9]):
        with pytest.raises(InvalidArgumentError, match="indices of the 9 codes"):
            Endgame(board, np.array(outside, dtype=np.int32), breadth)
    with pytest.raises(TooLargeError, match="at most 64 replies"):
        Endgame(Board(10, 3), np.arange(5, dtype=np.int32), breadth)
    assert Endgame(board, np.arange(9, dtype=np.int32), breadth).total == 21


@dataclass(frozen=True)
class OwnScore:
    """A score of somebody else, with too many or too few terms."""

    n_sizes: int = 0
    n_weights: int = 0
    n_shares: int = 0
    minimized: bool = True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        return ClassTerms(
            np.arange(largest + 1 + self.n_sizes) // 2 * 2,
            np.ones((1, len(board.true_replies) + self.n_weights), dtype=np.int64),
            per_code=np.zeros(largest + 1 + self.n_shares, dtype=np.int64),
        )

    def shown(self, board: Board, key: int, codes: int) -> float:
        return float(key)


def test_scores_have_terms_for_all_cells() -> None:
    channel = Channel.exact(Board(2, 4))
    assert build_tree(Myopic(OwnScore()), channel).is_complete
    for wrong, match in (
        (OwnScore(n_sizes=-1), r"sizes for 0 to 16 codes, got shape \(16,\)"),
        (OwnScore(n_shares=-1), r"per_code for 0 to 16 codes, got shape \(16,\)"),
        (OwnScore(n_weights=-1), "5 weights, got 4"),
        (OwnScore(n_weights=1), "5 weights, got 6"),
    ):
        with pytest.raises(BnmindError, match=match):
            build_tree(Myopic(wrong), channel)


def test_limits_beyond_any_word_are_no_limits() -> None:
    channel, strategy = Channel.exact(Board(2, 4)), Myopic(ExpectedSize())
    tree = build_tree(strategy, channel)
    assert build_tree(strategy, channel, max_guesses=10**30).total == tree.total
    assert find_possible_code(Board(2, 4), [], max_nodes=10**30).code == (1, 1)


def test_the_last_color_of_a_word_is_searched_like_the_others() -> None:
    board = Board(2, 63)
    for secret in ((63, 63), (1, 63), (63, 62), (62, 62)):
        turns: list[Turn] = []
        for guess in ((62, 63), (63, 1), (1, 1)):
            turns.append(Turn(guess, reply(guess, secret)))
            possible = [
                code
                for code in map(board.code, range(board.n_codes))
                if all(reply(turn.guess, code) == turn.reply for turn in turns)
            ]
            assert find_possible_code(board, turns).code == possible[0]
    impossible = [Turn((63, 63), board.winning), Turn((1, 63), board.winning)]
    assert find_possible_code(board, impossible).code is None
