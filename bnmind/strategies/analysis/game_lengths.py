"""The number of guesses of a strategy: from its tree, or from games if it is random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted, many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import reply
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.base.situation import Situation
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["MAX_GAMES", "Measured", "game_rngs", "measure_games", "measure_tree"]

MAX_GAMES = 10**9
"""The largest number of games, which would take months."""

_MOST_GUESSES = 1000


@dataclass(frozen=True)
class Measured(Result, Value):
    """The numbers of guesses of a strategy under true replies."""

    strategy: str
    """The name of the strategy."""
    board: Board
    """The board."""
    distribution: tuple[int, ...]
    """The number of codes, or games, that take 1, 2, 3, … guesses."""
    is_exact: bool
    """Whether every code was counted once; otherwise games were played."""
    goal: Goal = Goal.REVEALING
    """The end of a game."""

    @property
    def games(self) -> int:
        """The number of codes or games."""
        return sum(self.distribution)

    @property
    def total(self) -> int:
        """The total number of guesses."""
        return sum(guess * n for guess, n in enumerate(self.distribution, start=1))

    @property
    def mean(self) -> float:
        """The mean number of guesses."""
        return self.total / self.games

    @property
    def max(self) -> int:
        """The largest number of guesses."""
        return len(self.distribution)

    def within(self, guesses: int) -> int:
        """Return the number of codes or games that took at most this number of guesses.

        Parameters
        ----------
        guesses
            The number of guesses, at least 0.
        """
        return sum(self.distribution[:guesses])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of guesses as a record."""
        return {
            "strategy": self.strategy,
            "board": str(self.board),
            "goal": self.goal.value,
            "codes": self.board.n_codes,
            "games": None if self.is_exact else self.games,
            "total": self.total,
            "mean": self.mean,
            "max": self.max,
            "distribution": list(self.distribution),
        }

    def _shown(self) -> Iterator[str | Table]:
        board = self.board
        what = f"{board.n_codes:,} codes" if self.is_exact else counted(self.games, "game")
        yield (
            f"{self.strategy} on {board}: {self.total:,} guesses for {what}, mean {self.mean:.4f},"
            f" at most {self.max}"
        )
        for guess, count in enumerate(self.distribution, start=1):
            yield f"  {counted(guess, 'guess', 'guesses'):<10} {count:>9,}"


@checked_if_it_fails
def measure_tree(name: str, tree: StrategyTree, *, goal: Goal = Goal.REVEALING) -> Measured:
    """Return the numbers of guesses of a strategy, from its tree.

    Parameters
    ----------
    name
        The name of the strategy.
    tree
        Its tree.
    goal
        The end of a game.

    Raises
    ------
    InvalidArgumentError
        If the tree is not complete, or was built for noisy replies.

    Examples
    --------
    >>> from bnmind.strategies import build_tree, first_possible
    >>> tree = build_tree(first_possible(), Channel.exact(Board(2, 3)))
    >>> measure_tree("shapiro", tree).distribution
    (1, 2, 5, 1)
    >>> measure_tree("shapiro", tree, goal=Goal.DETERMINING).distribution
    (1, 6, 2)
    """
    reveals = goal is Goal.REVEALING
    distribution = tree.distribution if reveals else tree.determining_distribution
    if any(not count.is_integer() for count in distribution):
        raise InvalidArgumentError(
            f"expected a tree of truthful replies, got {tree.channel.name}", tree
        )
    counts = tuple(int(count) for count in distribution)
    return Measured(strategy=name, board=tree.board, distribution=counts, is_exact=True, goal=goal)


def game_rngs(seed: int, games: int) -> Iterator[np.random.Generator]:
    """Yield a generator for each game.

    Parameters
    ----------
    seed
        Not negative.
    games
        The number of games, 1 to `MAX_GAMES`.

    Raises
    ------
    InvalidArgumentError
        If there are no games.
        TooLargeError
            If there are more than `MAX_GAMES` games.
    """
    if games < 1:
        raise InvalidArgumentError(f"expected at least one game, got {games}", games)
    if games > MAX_GAMES:
        raise TooLargeError(
            f"expected at most {MAX_GAMES:,} games, got {many(games)}",
            needed=games,
            budget=MAX_GAMES,
        )
    root = np.random.SeedSequence(seed)
    for _ in range(games):
        (source,) = root.spawn(1)
        yield np.random.default_rng(source)


@checked_if_it_fails
def measure_games(
    strategy: Strategy,
    board: Board,
    *,
    games: int,
    seed: int,
    first: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Measured:
    """Play games against random codes and return the numbers of guesses.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    games
        The number of games.
    seed
        The seed of the games. Each game has its own generator.
    first
        The first guess; by default the strategy chooses it.
    progress
        Called after each game with the number of games played and the total number of games.

    Raises
    ------
    InvalidArgumentError
        If there are no games, or the strategy does not find a code.
    TooLargeError
        If the board is too large for a belief, or there are more than `MAX_GAMES` games.
    """
    start = strategy.start(Channel.exact(board).revealed())
    lengths: Counter[int] = Counter()
    for number, rng in enumerate(game_rngs(seed, games), start=1):
        secret = _drawn_code(board, rng)
        belief, guesses = start, 0
        memory: object = None
        while True:
            if first is not None and guesses == 0:
                guess = tuple(first)
            else:
                index, info = strategy.choose(belief, rng, Situation(memory=memory))
                guess, memory = board.code(index), info.memory
            guesses += 1
            if guess == secret:
                break
            if guesses == _MOST_GUESSES:
                raise InvalidArgumentError(
                    f"{strategy.name} did not find a code within {_MOST_GUESSES} guesses", strategy
                )
            belief = belief.update(guess, reply(guess, secret))
        lengths[guesses] += 1
        if progress is not None:
            progress(number, games)
    distribution = tuple(lengths[guess] for guess in range(1, max(lengths) + 1))
    return Measured(strategy=strategy.name, board=board, distribution=distribution, is_exact=False)


def _drawn_code(board: Board, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a code drawn uniformly, peg by peg if its number exceeds 64 bits."""
    if board.n_codes <= np.iinfo(np.int64).max:
        return board.code(int(rng.integers(board.n_codes)))
    (code,) = UniformPrior(board).draw(1, rng).tolist()
    return tuple(code)
