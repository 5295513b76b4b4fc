"""Games on boards that are too large for trees: `shapiro` and `random`, by search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.strategies.analysis.game_lengths import Measured, game_rngs
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.kernels.consistent_search import play_by_search
from bnmind.strategies.players.random_possible import RandomCode
from bnmind.strategies.players.shapiro import is_shapiro
from bnmind.strategies.trees.myopic_tree import is_growable

__all__ = ["is_searched", "measure_search"]


@checked_if_it_fails
def is_searched(strategy: Strategy, board: Board) -> bool:
    """Return whether a board is too large for trees and the strategy can play by search.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    """
    return not is_growable(board) and (is_shapiro(strategy) or type(strategy) is RandomCode)


@checked_if_it_fails
def measure_search(
    strategy: Strategy,
    board: Board,
    *,
    games: int,
    seed: int,
    first: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Measured:
    """Play games in which a search finds a possible code, and return the numbers of guesses.

    Parameters
    ----------
    strategy
        `first_possible`, or `RandomCode`. For the latter the search tries colors in random
        order, so possible codes are not all equally likely.
    board
        The board, of any size.
    games
        The number of games against random codes.
    seed
        The seed of the games. Each game has its own generator.
    first
        As for `play_by_search`.
    progress
        Called after each game with the number of games played and the total number of games.

    Raises
    ------
    InvalidArgumentError
        If there are no games, or the strategy cannot play by search.
    TooLargeError
        If a search takes too long, or there are too many games.
    """
    is_random = type(strategy) is RandomCode
    if not is_random and not is_shapiro(strategy):
        raise InvalidArgumentError(
            f"only shapiro and random can play by search, not {strategy.name}", strategy
        )
    lengths: Counter[int] = Counter()
    for number, rng in enumerate(game_rngs(seed, games), start=1):
        if board.repeats:
            secret = rng.integers(1, board.colors, size=board.pegs, endpoint=True)
        else:
            secret = 1 + rng.permutation(board.colors)[: board.pegs]
        game = play_by_search(
            board, tuple(secret.tolist()), rng=rng if is_random else None, first=first
        )
        lengths[len(game)] += 1
        if progress is not None:
            progress(number, games)
    distribution = tuple(lengths[guess] for guess in range(1, max(lengths) + 1))
    return Measured(strategy=strategy.name, board=board, distribution=distribution, is_exact=False)
