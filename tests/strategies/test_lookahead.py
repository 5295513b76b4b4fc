"""The best strategies for a few guesses, against a plain recursion over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from bnmind.errors import BnmindError, TooLargeError
from bnmind.mastermind import Board, Channel, parse_noise, reply
from bnmind.strategies import (
    Entropy,
    build_tree,
    most_informative,
    most_wins,
    optimal_on_average,
)
from tests.mastermind.generators import boards, channels
from tests.modes import examples

Joint = list[float]
"""The joint probability of each code and the evidence."""


Chances = list[list[list[float]]]
"""The probability of each outcome of each guess for each code: ``[guess][outcome][code]``."""


def chances_of(channel: Channel) -> Chances:
    board = channel.board
    codes = board.codes.tolist()
    replies = [[board.true_replies.index(reply(guess, code)) for code in codes] for guess in codes]
    columns = channel.matrix.T.tolist()
    return [[[column[place] for place in row] for column in columns] for row in replies]


def after_each_outcome(joint: Joint, outcomes: list[list[float]]) -> list[Joint]:
    return [[p * q for p, q in zip(joint, row, strict=True)] for row in outcomes]


def remaining_entropy(joint: Joint) -> float:
    total = math.fsum(joint)
    return -math.fsum(p * math.log2(p / total) for p in joint if p > 0)


def least_entropy(chances: Chances, joint: Joint, guesses: int) -> float:
    """The smallest expected entropy that so many guesses can leave."""
    if guesses == 0 or not any(joint):
        return remaining_entropy(joint)
    return min(
        math.fsum(
            least_entropy(chances, after, guesses - 1)
            for after in after_each_outcome(joint, outcomes)
        )
        for outcomes in chances
    )


def most_won(chances: Chances, joint: Joint, guesses: int) -> float:
    """The largest probability of winning in so many guesses; the channel is revealed."""
    if guesses == 0 or not any(joint):
        return 0.0
    values = []
    for outcomes in chances:
        *reports, won = after_each_outcome(joint, outcomes)
        values.append(
            math.fsum(won) + math.fsum(most_won(chances, after, guesses - 1) for after in reports)
        )
    return max(values)


def uniform(channel: Channel) -> Joint:
    return [1 / channel.board.n_codes] * channel.board.n_codes


def check(channel: Channel, guesses: int) -> None:
    tree = most_informative(channel, depth=guesses + 1)
    assert tree.depth <= guesses + 1
    left = least_entropy(chances_of(channel), uniform(channel), guesses)
    assert tree.expected_entropy == pytest.approx(left, abs=1e-9)
    assert tree.expected_entropy <= (
        build_tree(Entropy(), channel, max_guesses=guesses).expected_entropy + 1e-9
    )
    won = most_won(chances_of(channel.revealed()), uniform(channel), guesses)
    assert most_wins(channel, guesses=guesses).won_within(guesses) == pytest.approx(won, abs=1e-9)


@given(boards(9).flatmap(channels))
@settings(max_examples=examples(25))
def test_two_guesses_against_a_plain_recursion(channel: Channel) -> None:
    check(channel, 1)
    if channel.board.n_codes < 7:
        check(channel, 2)


@pytest.mark.parametrize("noise", ["exact", "false:0.2", "independent:0.1"])
def test_three_guesses_at_2x2_against_a_plain_recursion(noise: str) -> None:
    check(parse_noise(Board(2, 2), noise), 2)
    if noise != "independent:0.1":
        check(parse_noise(Board(2, 2), noise), 3)


@pytest.mark.slow
@pytest.mark.parametrize("pegs_colors", [(2, 2), (2, 3)])
@pytest.mark.parametrize("noise", ["exact", "false:0.2", "independent:0.1"])
def test_three_guesses_against_a_plain_recursion(pegs_colors: tuple[int, int], noise: str) -> None:
    check(parse_noise(Board(*pegs_colors), noise), 3)


# Found by this library, and at 2x2 and 2x3 by the plain recursion above: the entropy left by
# two and by three guesses, and the probability of having won within two and within three.
FIGURES: list[tuple[str, str, tuple[float, float], tuple[float, float]]] = [
    ("2x2", "exact", (0.0, 0.0), (0.75, 1.0)),
    ("2x2", "false:0.2", (0.091600, 0.0), (0.7, 0.963333)),
    ("2x2", "independent:0.1", (0.315925, 0.125791), (0.723125, 0.992781)),
    ("2x3", "exact", (0.0, 0.0), (0.555556, 1.0)),
    ("2x3", "false:0.2", (0.584940, 0.170322), (0.488889, 0.853333)),
    ("2x3", "independent:0.1", (0.707973, 0.281645), (0.496111, 0.900862)),
    ("3x3", "exact", (0.074074, 0.0), (0.296296, 0.962963)),
    ("3x3", "false:0.2", (1.236533, 0.419308), (0.251852, 0.736296)),
]


@pytest.mark.parametrize(("size", "noise", "left", "won"), FIGURES)
def test_figures(
    size: str, noise: str, left: tuple[float, float], won: tuple[float, float]
) -> None:
    channel = parse_noise(Board(*map(int, size.split("x"))), noise)
    for guesses, entropy, probability in zip((2, 3), left, won, strict=True):
        tree = most_informative(channel, depth=guesses + 1)
        assert tree.expected_entropy == pytest.approx(entropy, abs=1e-6)
        winning = most_wins(channel, guesses=guesses)
        assert winning.won_within(guesses) == pytest.approx(probability, abs=1e-6)


def test_a_tree_of_one_node_asks_nothing() -> None:
    tree = most_informative(Channel.exact(Board(2, 3)), depth=1)
    assert tree.depth == 1
    assert tree.expected_entropy == pytest.approx(math.log2(9))


def test_lookahead_gains_more_than_the_best_next_guess() -> None:
    channel = Channel.independent_error(Board(2, 2), 0.1)
    myopic = build_tree(Entropy(), channel, max_guesses=3).expected_entropy
    assert most_informative(channel, depth=4).expected_entropy < myopic - 0.005


def test_with_guesses_enough_the_optimum_wins_as_often_as_the_optimal_strategy() -> None:
    board = Board(3, 2)
    optimum = optimal_on_average(board).tree
    tree = most_wins(Channel.exact(board), guesses=3)
    assert tree.won_within(3) == pytest.approx(optimum.won_within(3)) == 1.0


@pytest.mark.parametrize(
    "search", [most_wins, lambda c, guesses: most_informative(c, depth=guesses and guesses + 1)]
)
def test_boards_that_cannot_be_searched_raise(search: Callable[..., object]) -> None:
    with pytest.raises(BnmindError, match="at least"):
        search(Channel.exact(Board(2, 2)), guesses=0)
    with pytest.raises(TooLargeError, match="3 guesses on the board 5x8"):
        search(Channel.exact(Board(5, 8)), guesses=3)
