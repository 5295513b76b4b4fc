"""Comparisons of strategies on the same secrets with the same luck."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np

from bnmind._arguments import check_fields, checked
from bnmind._messages import many
from bnmind.errors import InvalidArgumentError, InvalidPriorError, TooLargeError
from bnmind.lab.mastermind.code_maker import CodeMaker
from bnmind.lab.mastermind.comparison import Comparison, GameRow, Summary
from bnmind.lab.mastermind.endings import Declared, Ending, Revealed
from bnmind.lab.mastermind.games import assumed_channel, play_game
from bnmind.lab.mastermind.transcript import Transcript
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.priors.prior import Prior, observed, require_same_board
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy

__all__ = ["MAX_ROWS", "Comparison", "Contest", "GameRow", "Summary", "compare"]


MAX_ROWS = 2**21
"""The largest number of games of all strategies in a comparison: some 600 MB."""

_LISTED = 2**17  # up to this number of codes, an assumed prior is checked before the games

_REMEMBERED = 2**16
"""The number of choices to cache for a strategy: those of the first games recur most."""


@checked
def compare(
    strategies: Sequence[Strategy],
    channel: Channel,
    *,
    games: int | None = 1000,
    seed: int = 0,
    max_guesses: int = 100,
    assumed: Channel | None = None,
    prior: Prior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare strategies on the same secrets with the same luck.

    Each game has its own seed. The seed and the strategy determine the game, so games do not depend
    on each other or on their order. A game ends when the code is guessed. The comparison caches the
    choices of deterministic strategies, since many games have the same beginning. A `Contest` has
    further options: other endings, a prior that the strategies assume wrongly, and matches.

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
    prior
        The distribution from which the secrets are drawn, which the strategies know; uniform if
        None. Not together with games of every code.
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
    InvalidPriorError
        If the prior belongs to another board.

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
        prior=prior,
    )
    return contest.run(progress)


@dataclass(frozen=True, eq=False)
class Contest:
    """A comparison whose games are played one by one, so that an interrupted one can be kept.

    It also has options that `compare` lacks.

    Raises
    ------
    InvalidArgumentError, TooLargeError, InvalidChannelError, InvalidPriorError
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
    ending: Ending | None = None
    """The rule that ends a game, with its own limit; ``Revealed(max_guesses)`` by default."""
    prior: Prior | None = None
    """The distribution from which the secrets are drawn; uniform if None."""
    assumed_prior: Prior | None = None
    """The prior that the strategies assume; by default the real one."""
    match: int = 1
    """The number of games in a match. Within a match the assumed prior learns from the codes of
    the earlier games, if it can (`ClosedFormPrior.observe`); the next match begins afresh."""

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
        object.__setattr__(self, "max_guesses", self.rule.limit)
        for prior in (self.prior, self.assumed_prior):
            if prior is not None:
                require_same_board(self.channel.board, prior)
        _require_all_allowed(self.channel.board, self.prior, self.assumed_prior)
        if self.match < 1:
            raise InvalidArgumentError(
                f"expected a match of at least one game, got {self.match}", self.match
            )
        if self.prior is not None and self.games is None:
            raise InvalidArgumentError(
                f"expected a number of games with the prior {self.prior.name}, since playing every"
                " code once gives all codes the same weight",
                self.games,
            )
        _require_possible(self.channel.board, self.games, len(strategies))
        _ = self.believed  # raises if the assumed channel does not match
        if self.seed < 0:
            raise InvalidArgumentError(
                f"expected a seed that is a whole number from 0, got {self.seed}", self.seed
            )

    @cached_property
    def believed(self) -> Channel:
        """The channel that the strategies assume."""
        return assumed_channel(self.reporting, self.assumed, self.rule)

    @cached_property
    def rule(self) -> Ending:
        """The rule that ends a game."""
        return Revealed(self.max_guesses) if self.ending is None else self.ending

    @property
    def reporting(self) -> Channel:
        """The channel that reports the replies, ending the game at the winning guess if it does."""
        return self.channel.revealed() if self.rule.reveals else self.channel

    @property
    def n_games(self) -> int:
        """The number of games of each strategy."""
        return self.channel.board.n_codes if self.games is None else self.games

    @property
    def n_rows(self) -> int:
        """The total number of games of all strategies."""
        return self.n_games * len(self.strategies)

    @checked
    def run(self, progress: Callable[[int, int], None] | None = None) -> Comparison:
        """Play all games; `progress` as in `compare`."""
        rows: list[GameRow] = []
        for row in self.play():
            rows.append(row)
            if progress is not None:
                progress(len(rows), self.n_rows)
        return self.comparison(rows)

    def play(self) -> Iterator[GameRow]:
        """Play the first game of each strategy, then the second of each strategy, and so on."""
        board, ending = self.channel.board, self.rule
        prior = before = self.prior if self.assumed_prior is None else self.assumed_prior
        players = _remembering(self.strategies)
        for number, game_seed in enumerate(_game_seeds(self.seed, self.n_games), start=1):
            secret = board.code(number - 1) if self.games is None else None
            maker = CodeMaker.from_seed(
                self.reporting, game_seed, secret=secret, turns=ending.limit, prior=self.prior
            )
            for player in players:
                started = time.perf_counter()
                game = play_game(
                    player,
                    maker,
                    ending=ending,
                    assumed=self.believed,
                    assumed_prior=prior,
                )
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
            if self.match > 1 and prior is not None:
                learned = observed(prior, maker.secret) if number % self.match else before
                if learned is not prior:
                    prior, players = learned, _remembering(self.strategies)

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
            ending=_text(self.rule),
            prior=_name(self.prior),
            assumed_prior=_name(self.prior if self.assumed_prior is None else self.assumed_prior),
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


def _remembering(strategies: Sequence[Strategy]) -> list[Strategy]:
    """Return the strategies; the choices of deterministic ones are cached from now on."""
    return [_Remembering(one) if one.deterministic else one for one in strategies]


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


def _require_all_allowed(board: Board, prior: Prior | None, assumed: Prior | None) -> None:
    """Raise if the assumed prior excludes a code that the code-maker may choose.

    On large boards, the games check only their own secrets.
    """
    if assumed is None or board.n_codes > _LISTED:
        return
    logs = np.zeros(board.n_codes) if prior is None else prior.log_weights(board.codes)
    excluded = (logs > -np.inf) & (assumed.log_weights(board.codes) == -np.inf)
    if excluded.any():
        code = board.code_text(int(np.argmax(excluded)))
        raise InvalidPriorError(
            f"the assumed prior {assumed.name} excludes {code}, which the code-maker may choose",
            assumed,
        )


def _text(ending: Ending) -> str:
    """Return an ending as at the command line; the limit is stated elsewhere."""
    if isinstance(ending, Declared):
        return f"declared:{ending.certainty:g}"
    return type(ending).__name__.lower()


def _name(prior: Prior | None) -> str:
    return "uniform" if prior is None else prior.name


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
