"""Comparisons of strategies on the same secrets with the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from bnmind._arguments import checked
from bnmind._messages import in_words, many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.mastermind.comparison import Comparison, GameRow, Summary
from bnmind.lab.mastermind.endings import Ending, Guesses, Revealed
from bnmind.lab.mastermind.game_series import GameSeries, series_faults
from bnmind.lab.mastermind.setting import (
    GameSetting,
    Player,
    are_all_games,
    ending_text,
    learns,
    prior_text,
)
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.strategy import Strategy

__all__ = ["MAX_ROWS", "Comparison", "Contest", "GameRow", "Summary", "compare"]


MAX_ROWS = 2**21
"""The largest number of games of all strategies in a comparison: about 600 MB."""


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
        If the assumed channel excludes a reply that the real one may report.
        If the prior belongs to another board.
    TooLargeError
        If all strategies together would play more than `MAX_ROWS` games.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
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
class Contest(Value):
    """A comparison whose games are played one by one, so that an interrupted one can be kept.

    It also has options that `compare` lacks.

    Raises
    ------
    InvalidArgumentError, TooLargeError
        See `compare`.

    Examples
    --------
    >>> from itertools import islice
    >>> from bnmind.mastermind import Board, Channel
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
    max_guesses: Guesses = 100
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
        super().__post_init__()
        self._set(max_guesses=self.rule.limit)
        if self.n_rows > MAX_ROWS:
            raise TooLargeError(
                f"a comparison holds at most {MAX_ROWS:,} games, and this one would have"
                f" {many(self.n_rows)}; play fewer games",
                needed=self.n_rows,
                budget=MAX_ROWS,
            )

    def _faults(self) -> list[str]:
        # The setting raises if the players do not fit the board, the noise or the prior.
        settings = (self.setting,)
        faults = series_faults(settings, games=self.games, seed=self.seed, match=self.match)
        return [str(fault) for fault in faults]

    @cached_property
    def setting(self) -> GameSetting:
        """The channel, the prior, the ending and the players."""
        return GameSetting(
            channel=self.channel,
            players=tuple(
                Player(strategy, self.assumed, self.assumed_prior) for strategy in self.strategies
            ),
            prior=self.prior,
            ending=self.rule,
        )

    @property
    def believed(self) -> Channel:
        """The channel that the strategies assume."""
        return self.setting.believed[0]

    @cached_property
    def rule(self) -> Ending:
        """The rule that ends a game."""
        return Revealed(self.max_guesses) if self.ending is None else self.ending

    @property
    def reporting(self) -> Channel:
        """The channel that reports the replies, ending the game at the winning guess if it does."""
        return self.setting.reporting

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

    @property
    def learns(self) -> bool:
        """Whether the assumed prior learns from the earlier codes of a match."""
        return learns(self.setting, self.match)

    @property
    def notes(self) -> tuple[str, ...]:
        """What `best` stands for, and what changes nothing: a strategy, a prior, a match."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        from bnmind.mastermind import UniformPrior
        from bnmind.strategies import Best, MapCode, RandomCode, ignores_prior, trust_suffices
        from bnmind.strategies.belief_game.best import best_player

        assumed = self.prior if self.assumed_prior is None else self.assumed_prior
        uniform = assumed is None or isinstance(assumed, UniformPrior)
        for one in self.strategies:
            if isinstance(one, Best):
                player = best_player(self.believed, uniform=uniform)
                yield f"{one.name} plays as {player.name} here."
        if self.match > 1 and not self.learns:
            name = prior_text(assumed)
            yield (
                f"Matches of {self.match} games change nothing: the assumed prior {name} does not"
                " learn."
            )
        unbiased = self.prior is None and self.assumed_prior is None
        alike = [one.name for one in self.strategies if isinstance(one, MapCode | RandomCode)]
        if len(alike) > 1 and unbiased and trust_suffices(self.believed):
            yield (
                f"{' and '.join(alike)} play the same games here: under {self.believed.name} the"
                " most probable codes are those that contradict the fewest replies."
            )
        ignorant = [one.name for one in self.strategies if ignores_prior(one)]
        if ignorant and not unbiased:
            does = "do" if len(ignorant) > 1 else "does"
            yield f"{in_words(ignorant)} {does} not use the prior."

    def play(self) -> Iterator[GameRow]:
        """Play the first game of each strategy, then the second of each strategy, and so on."""
        series = GameSeries(
            setting=self.setting,
            numbers=range(1, self.n_games + 1),
            seed=self.seed,
            every_code=self.games is None,
            match=self.match,
        )
        for row, _ in series.play():
            yield row

    @checked
    def comparison(self, rows: Sequence[GameRow]) -> Comparison:
        """Return the comparison of the games played, in the order of `play`.

        Games that only some strategies have played are omitted.

        Parameters
        ----------
        rows
            The games of `play`, in their order.

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
            ending=ending_text(self.rule),
            prior=prior_text(self.prior),
            assumed_prior=prior_text(self.setting.believed_priors[0]),
            match=self.match,
            exhaustive=self.games is None
            and games == self.n_games
            and are_all_games(self.setting, self.match),
            first_codes=self.games is None and games < self.n_games,
            rows=tuple(rows[: games * len(self.strategies)]),
        )
