"""Comparisons of strategies on the same secrets with the same luck."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, asdict, astuple, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bnmind._arguments import check_fields, checked
from bnmind._messages import many
from bnmind._values import CheckedValue
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.mastermind.code_maker import CodeMaker
from bnmind.lab.mastermind.endings import Revealed
from bnmind.lab.mastermind.games import assumed_channel, play_game
from bnmind.lab.mastermind.transcript import Transcript
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MAX_ROWS", "Comparison", "Contest", "GameRow", "Summary", "compare"]


MAX_ROWS = 2**21
"""The largest number of games of all strategies in a comparison: some 600 MB."""

_REMEMBERED = 2**16
"""The number of choices to cache for a strategy: those of the first games recur most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRow(CheckedValue):
    """One game of a comparison, a row of its CSV file."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel that reported the replies."""
    strategy: str
    """The name of the strategy."""
    game: int
    """The number of the game, from 1; it is the same game for every strategy."""
    seed: int
    """The seed of the secret, the luck and the random choices."""
    secret: str
    """The secret code; if every code is played once, it does not depend on the seed."""
    guesses: int
    """The number of guesses; for a lost game, the limit of guesses."""
    won: bool
    """Whether the code was guessed."""
    seconds: float
    """The duration of the game; cached choices take no time."""
    codes_examined: int | None = None
    """The number of codes that the strategy examined, if it counts them."""


@dataclass(frozen=True, kw_only=True)
class Summary(CheckedValue):
    """The games of one strategy in a comparison."""

    strategy: str
    """The name of the strategy."""
    games: int
    """The number of games."""
    mean: float
    """The mean number of guesses; lost games count as the limit of guesses."""
    standard_error: float
    """The standard error of the mean; nan for a single game."""
    sd: float
    """The standard deviation of the number of guesses; nan for a single game."""
    worst: int
    """The largest number of guesses."""
    won: float
    """The share of games won."""
    within_ten: float
    """The share of games won within ten guesses."""
    seconds_per_game: float
    """The mean duration of a game."""
    codes_examined: float | None = None
    """The mean number of codes that the strategy examined in a game, if it counts them."""

    def as_dict(self) -> dict[str, str | int | float | None]:
        """Return the fields by name, with None for nan, which JSON lacks."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True, kw_only=True)
class Comparison(CheckedValue):
    """The games that several strategies played on one board, through one channel."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel that reported the replies."""
    assumed: str
    """The name of the channel that the strategies assumed."""
    strategies: tuple[str, ...]
    """The names of the strategies, in the given order."""
    games: int
    """The number of games of each strategy."""
    seed: int
    """The seed from which the seeds of the games were drawn."""
    max_guesses: int
    """The limit of guesses in a game."""
    rows: tuple[GameRow, ...]
    """One row for each game and strategy, ordered by game."""

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """One summary for each strategy, in the given order."""
        return tuple(_summary(name, self.rows_of(name)) for name in self.strategies)

    @checked
    def rows_of(self, strategy: str) -> tuple[GameRow, ...]:
        """Return the games of one strategy, ordered by game."""
        return tuple(row for row in self.rows if row.strategy == strategy)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame."""
        import pandas as pd

        columns = [column.name for column in fields(GameRow)]
        return pd.DataFrame([astuple(row) for row in self.rows], columns=columns)


@checked
def compare(
    strategies: Sequence[Strategy],
    channel: Channel,
    *,
    games: int | None = 1000,
    seed: int = 0,
    max_guesses: int = 100,
    assumed: Channel | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare strategies on the same secrets with the same luck.

    Each game has its own seed. The seed and the strategy determine the game, so games do not depend
    on each other or on their order. A game ends when the code is guessed. The comparison caches the
    choices of deterministic strategies, since many games have the same beginning.

    Parameters
    ----------
    strategies
        The strategies, with different names.
    channel
        The channel that reports the replies.
    games
        The number of games of each strategy; None to play every code of the board once.
    seed
        The seed from which the seeds of the games are drawn, not negative.
    max_guesses
        The limit of guesses in a game. A longer game is lost and counts as this number.
    assumed
        The channel that the strategies assume; by default the real one.
    progress
        Called after each game with the number of games played so far, by all strategies
        together, and the total number of games.

    Raises
    ------
    InvalidArgumentError
        If there are no games, no strategies, or two strategies of the same name.
    TooLargeError
        If all strategies together would play more than `MAX_ROWS` games.
    InvalidChannelError
        If the assumed channel excludes a reply that the real one may report.

    Examples
    --------
    >>> from bnmind.strategies import Knuth
    >>> comparison = compare([Knuth()], Channel.exact(Board(2, 3)), games=None)
    >>> [row.guesses for row in comparison.rows]
    [1, 2, 3, 3, 2, 3, 3, 4, 3]
    """
    contest = Contest(
        tuple(strategies),
        channel,
        games=games,
        seed=seed,
        max_guesses=max_guesses,
        assumed=assumed,
    )
    rows: list[GameRow] = []
    for row in contest.play():
        rows.append(row)
        if progress is not None:
            progress(len(rows), contest.n_rows)
    return contest.comparison(rows)


@dataclass(frozen=True, eq=False)
class Contest:
    """A comparison whose games are played one by one, so that an interrupted one can be kept.

    `compare` plays all games. The parameters are those of `compare`.

    Raises
    ------
    InvalidArgumentError, TooLargeError, InvalidChannelError
        See `compare`.

    Examples
    --------
    >>> from itertools import islice
    >>> from bnmind.strategies import Knuth
    >>> contest = Contest((Knuth(),), Channel.exact(Board(2, 3)), games=1000)
    >>> contest.comparison(list(islice(contest.play(), 10))).games
    10
    """

    strategies: tuple[Strategy, ...]
    """The strategies, with different names."""
    channel: Channel
    """The channel that reports the replies."""
    _: KW_ONLY
    games: int | None = 1000
    """The number of games of each strategy; None to play every code of the board once."""
    seed: int = 0
    """The seed from which the seeds of the games are drawn."""
    max_guesses: int = 100
    """The limit of guesses in a game."""
    assumed: Channel | None = None
    """The channel that the strategies assume; by default the real one."""

    def __post_init__(self) -> None:
        check_fields(self)
        strategies = tuple(self.strategies)
        names = [strategy.name for strategy in strategies]
        if not names or len(set(names)) < len(names):
            listed = ", ".join(names) or "none"
            raise InvalidArgumentError(
                f"expected one or more strategies of different names, got {listed}", strategies
            )
        object.__setattr__(self, "strategies", strategies)
        object.__setattr__(self, "max_guesses", Revealed(self.max_guesses).limit)
        _require_possible(self.channel.board, self.games, len(strategies))
        _ = self.believed  # raises if the assumed channel does not match
        if self.seed < 0:
            raise InvalidArgumentError(
                f"expected a seed that is a whole number from 0, got {self.seed}", self.seed
            )

    @cached_property
    def believed(self) -> Channel:
        """The channel that the strategies assume, of a game that ends at the winning guess."""
        return assumed_channel(self.channel.revealed(), self.assumed, Revealed(self.max_guesses))

    @property
    def n_games(self) -> int:
        """The number of games of each strategy."""
        return self.channel.board.n_codes if self.games is None else self.games

    @property
    def n_rows(self) -> int:
        """The total number of games of all strategies."""
        return self.n_games * len(self.strategies)

    def play(self) -> Iterator[GameRow]:
        """Play the first game of each strategy, then the second of each strategy, and so on."""
        board, revealed = self.channel.board, self.channel.revealed()
        ending = Revealed(self.max_guesses)
        players = [_Remembering(one) if one.deterministic else one for one in self.strategies]
        for number, game_seed in enumerate(_game_seeds(self.seed, self.n_games), start=1):
            secret = board.code(number - 1) if self.games is None else None
            maker = CodeMaker.from_seed(revealed, game_seed, secret=secret, turns=ending.limit)
            for player in players:
                started = time.perf_counter()
                game = play_game(player, maker, ending=ending, assumed=self.believed)
                yield GameRow(
                    board=str(board),
                    channel=self.channel.name,
                    strategy=player.name,
                    game=number,
                    seed=game_seed,
                    secret=board.format(maker.secret),
                    guesses=game.guesses,
                    won=game.won,
                    seconds=time.perf_counter() - started,
                    codes_examined=_examined(game),
                )

    @checked
    def comparison(self, rows: Sequence[GameRow]) -> Comparison:
        """Return the comparison of the games played, in the order of `play`.

        Games that only some strategies have played are omitted.

        Raises
        ------
        InvalidArgumentError
            If no game was played by all strategies.
        """
        games = len(rows) // len(self.strategies)
        if games == 0:
            raise InvalidArgumentError("no game was played by all strategies", rows)
        return Comparison(
            board=str(self.channel.board),
            channel=self.channel.name,
            assumed=self.believed.name,
            strategies=tuple(strategy.name for strategy in self.strategies),
            games=games,
            seed=self.seed,
            max_guesses=self.max_guesses,
            rows=tuple(rows[: games * len(self.strategies)]),
        )


@dataclass(frozen=True, eq=False)
class _Remembering:
    """A deterministic strategy whose choices are cached."""

    strategy: Strategy
    remembered: dict[tuple[Turn, ...], tuple[int, GuessInfo]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.strategy.name

    @property
    def deterministic(self) -> bool:
        return True

    @property
    def needs(self) -> Needs:
        return self.strategy.needs

    def start(self, channel: Channel, prior: Prior | None = None) -> Belief:
        return self.strategy.start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        choice = self.remembered.get(belief.history)
        if choice is None:
            choice = self.strategy.choose(belief, rng, situation)
            if len(self.remembered) < _REMEMBERED:
                self.remembered[belief.history] = choice
        return choice


def _require_possible(board: Board, games: int | None, n_strategies: int) -> None:
    number = board.n_codes if games is None else games
    if number < 1:
        raise InvalidArgumentError(f"expected at least one game, got {games}", games)
    if number * n_strategies > MAX_ROWS:
        raise TooLargeError(
            f"a comparison holds at most {MAX_ROWS:,} games, and this one would have"
            f" {many(number * n_strategies)}; play fewer games",
            needed=number * n_strategies,
            budget=MAX_ROWS,
        )


def _game_seeds(seed: int, games: int) -> Iterator[int]:
    """Yield a seed for each game, small enough for a spreadsheet to store without rounding."""
    root = np.random.SeedSequence(seed)
    for _ in range(games):
        (source,) = root.spawn(1)
        yield int(source.generate_state(1, np.uint64)[0]) >> 11


def _examined(game: Transcript) -> int | None:
    """Return the number of codes that a strategy examined in a game, if it counts them."""
    counts = [turn.info.evaluated for turn in game.turns if turn.info.evaluated is not None]
    return sum(counts) if counts else None


def _summary(strategy: str, rows: Sequence[GameRow]) -> Summary:
    guesses = [row.guesses for row in rows]
    sd = statistics.stdev(guesses) if len(guesses) > 1 else math.nan
    examined = [row.codes_examined for row in rows if row.codes_examined is not None]
    return Summary(
        strategy=strategy,
        games=len(rows),
        mean=statistics.fmean(guesses),
        standard_error=sd / math.sqrt(len(rows)),
        sd=sd,
        worst=max(guesses),
        won=sum(row.won for row in rows) / len(rows),
        within_ten=sum(row.won and row.guesses <= 10 for row in rows) / len(rows),
        seconds_per_game=statistics.fmean(row.seconds for row in rows),
        codes_examined=statistics.fmean(examined) if examined else None,
    )
