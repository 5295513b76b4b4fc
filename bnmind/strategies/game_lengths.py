"""The number of guesses of a strategy: from its tree, from games if it is random, or by search.

Under noise (`mean_under_noise`), no games are drawn at random. All histories are followed turn by
turn until they are too improbable. Histories that lead to the same probabilities of the codes are
followed as one, so the number of beliefs grows slowly on small boards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted, many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, reply
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.consistent import play_by_search
from bnmind.mastermind.masses import replies_to
from bnmind.mastermind.prior import UniformPrior
from bnmind.strategies.greedy import is_growable
from bnmind.strategies.players import RandomCode, is_shapiro
from bnmind.strategies.strategy import FIRST_TURN, Goal, Situation, Strategy
from bnmind.strategies.tree import StrategyTree

# --- The number of guesses of a strategy: from its tree, or from games if it is random ------------


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

    def play(rng: np.random.Generator) -> int:
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
                return guesses
            if guesses == _MOST_GUESSES:
                raise InvalidArgumentError(
                    f"{strategy.name} did not find a code within {_MOST_GUESSES} guesses", strategy
                )
            belief = belief.update(guess, reply(guess, secret))

    return _measured(strategy.name, board, play, game_rngs(seed, games), games, progress)


def _measured(
    name: str,
    board: Board,
    play: Callable[[np.random.Generator], int],
    rngs: Iterator[np.random.Generator],
    games: int,
    progress: Callable[[int, int], None] | None,
) -> Measured:
    """Return the numbers of guesses of games, each with its own generator."""
    lengths: Counter[int] = Counter()
    for number, rng in enumerate(rngs, start=1):
        lengths[play(rng)] += 1
        if progress is not None:
            progress(number, games)
    distribution = tuple(lengths[guess] for guess in range(1, max(lengths) + 1))
    return Measured(strategy=name, board=board, distribution=distribution, is_exact=False)


def _drawn_code(board: Board, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a code drawn uniformly, peg by peg if its number exceeds 64 bits."""
    if board.n_codes <= np.iinfo(np.int64).max:
        return board.code(int(rng.integers(board.n_codes)))
    (code,) = UniformPrior(board).draw(1, rng).tolist()
    return tuple(code)


# --- Games on boards that are too large for trees: `shapiro` and `random`, by search --------------


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

    def play(rng: np.random.Generator) -> int:
        if board.repeats:
            secret = rng.integers(1, board.colors, size=board.pegs, endpoint=True)
        else:
            secret = 1 + rng.permutation(board.colors)[: board.pegs]
        chosen = rng if is_random else None
        return len(play_by_search(board, tuple(secret.tolist()), rng=chosen, first=first))

    return _measured(strategy.name, board, play, game_rngs(seed, games), games, progress)


# --- The mean number of guesses of a strategy under noise, without games drawn at random ----------


_DIGITS = 10  # probabilities that agree in so many decimals are equal


_MOST_GUESSES_UNDER_NOISE = 10_000


@dataclass(frozen=True, kw_only=True)
class NoisyMean(Value):
    """The mean number of guesses of a strategy under noise."""

    strategy: str
    """The name of the strategy."""
    channel: Channel
    """The channel, in its `revealed` form."""
    lower: float
    """The mean is at least this: every game that was not followed to its end counts one guess
    more."""
    mean: float
    """The mean if these games guess the codes in the order of their probabilities."""
    unfinished: float
    """The probability of a game that was not followed to its end."""
    beliefs: int
    """The number of different beliefs from which the strategy chose a guess."""


@dataclass(frozen=True)
class _Node:
    """A belief that games reach after the same number of turns."""

    belief: Belief
    weights: Floats  # of the codes, times the probability of the histories
    situation: Situation


@checked
def mean_under_noise(
    strategy: Strategy,
    channel: Channel,
    *,
    least_mass: float = 1e-6,
    progress: Callable[[int, float], None] | None = None,
) -> NoisyMean:
    """Return the mean number of guesses of a strategy, from its guesses after all histories.

    Parameters
    ----------
    strategy
        A deterministic strategy, whose guess depends only on the probabilities of the codes and on
        its memory. Histories with the same probabilities are merged; of a strategy that depends on
        more, such as one that trusts replies, the game follows one of the merged histories.
    channel
        The channel; the strategy knows it. All codes are equally likely, and the code-maker
        truthfully ends the game at the right guess.
    least_mass
        Beliefs that games reach with a smaller probability are not followed.
    progress
        Called after each turn with its number and the probability that the game goes on.

    Raises
    ------
    InvalidArgumentError
        If the strategy is not deterministic, or does not find every code within many guesses, or
        ``least_mass`` is not between 0 and 1.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import Entropy
    >>> found = mean_under_noise(Entropy(), Channel.exact(Board(2, 3)))
    >>> round(9 * found.mean), found.unfinished
    (21, 0.0)
    """
    if not strategy.deterministic:
        raise InvalidArgumentError(
            f"expected a deterministic strategy, got {strategy.name}; play games instead", strategy
        )
    if not 0 < least_mass < 1:
        raise InvalidArgumentError(
            f"expected a least mass between 0 and 1, got {least_mass}", least_mass
        )
    played = channel.revealed()
    n = channel.board.n_codes
    nodes = [_Node(strategy.start(played), np.full(n, 1 / n), FIRST_TURN)]
    lower = mean = unfinished = 0.0
    beliefs = turn = 0
    while nodes:
        turn += 1
        if turn > _MOST_GUESSES_UNDER_NOISE:
            raise InvalidArgumentError(
                f"{strategy.name} did not find a code within {_MOST_GUESSES_UNDER_NOISE:,} guesses",
                strategy,
            )
        going_on = sum(float(node.weights.sum()) for node in nodes)
        following: dict[object, _Node] = {}
        for node in nodes:
            mass = float(node.weights.sum())
            lower += mass
            if mass < least_mass:
                unfinished += mass
                mean += float(np.sort(node.weights)[::-1] @ np.arange(1, n + 1))
            else:
                mean += mass
                beliefs += 1
                _add_following(following, strategy, played, node)
        if progress is not None:
            progress(turn, going_on)
        nodes = list(following.values())
    return NoisyMean(
        strategy=strategy.name,
        channel=played,
        lower=lower,
        mean=mean,
        unfinished=unfinished,
        beliefs=beliefs,
    )


def _add_following(
    following: dict[object, _Node], strategy: Strategy, channel: Channel, node: _Node
) -> None:
    """Add the beliefs after the next guess of a strategy to those of the next turn."""
    # A deterministic strategy does not use the generator.
    index, info = strategy.choose(node.belief, np.random.default_rng(0), node.situation)
    guess = channel.board.code(index)
    rows = channel.matrix[replies_to(channel.board, guess)]
    for column, report in enumerate(channel.reports):
        weights = node.weights * rows[:, column]
        mass = float(weights.sum())
        if mass <= 0:
            continue
        key = (np.round(weights / mass, _DIGITS).tobytes(), info.memory)
        same = following.get(key)
        if same is None:
            belief = node.belief.update(guess, report)
            following[key] = _Node(belief, weights, Situation(memory=info.memory))
        else:
            following[key] = _Node(same.belief, same.weights + weights, same.situation)
