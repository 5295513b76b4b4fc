"""Experiments with games of Mastermind."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from math import isnan
from typing import Annotated, ClassVar

from annotated_types import MinLen

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Count, Value
from bnmind.errors import InvalidArgumentError
from bnmind.lab.experiments import VERSION, BatchRows, faults_of_version
from bnmind.lab.mastermind.comparison import Comparison, GameRow, TurnRow
from bnmind.lab.mastermind.games import Ending, PlayedTurn, Revealed, Transcript
from bnmind.lab.mastermind.setting import (
    GameSeries,
    GameSetting,
    Player,
    are_all_games,
    format_ending,
    format_prior,
    game_seed,
    remembering,
    series_faults,
)
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.prior import Prior
from bnmind.strategies.strategy import Strategy

_MOST_GAMES = 500
"""The most games of each player in a batch: a few seconds on 4x6."""

_BATCH_CODES = 2**21
"""The number of codes times games in a batch on boards with many codes."""

_FEWEST_GAMES = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class GameExperiment(Value):
    """Games of players in one or more settings, with the same seeds in every setting.

    The first game of every player in every setting has the same luck, so that players and settings
    can be compared game by game. With the same board and prior, it also has the same secret.

    Raises
    ------
    InvalidArgumentError
        If there are no settings or two equal ones, a number is out of range, or there are
        several faults.

    Examples
    --------
    >>> from bnmind.lab import run
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import Entropy, Knuth
    >>> channels = [Channel.exact(Board(2, 3)), Channel.false_reply(Board(2, 3), 0.2)]
    >>> settings = game_settings(channels, [Player(Entropy()), Player(Knuth())])
    >>> experiment = GameExperiment(settings=settings, games=50)
    >>> run(experiment)
    Results(games, 200 rows)
    """

    kind: ClassVar[str] = "games"
    row_type: ClassVar[type[GameRow]] = GameRow
    detail_type: ClassVar[type[TurnRow]] = TurnRow

    settings: Annotated[tuple[GameSetting, ...], MinLen(1)]
    """The settings; see `game_settings` for many of them."""
    games: int | None = 1000
    """The number of games of each player in each setting; None to play every code once."""
    seed: int = 0
    """The seed from which the seeds of the games are drawn."""
    match: int = 1
    """The number of games in a match. Within a match an assumed prior learns, if it can."""
    turns: bool = False
    """Whether there is a row for each turn too."""
    batch_games: Count | None = None
    """The number of games of each player in a batch; by default it depends on the board.

    Rows do not depend on it."""
    version: int = VERSION
    """The version of the rules by which the luck is drawn."""

    def _faults(self) -> Iterator[str]:
        faults = series_faults(self.settings, games=self.games, seed=self.seed, match=self.match)
        yield from map(str, faults)
        names = [_identity(setting) for setting in self.settings]
        for number, name in enumerate(names, start=1):
            if (first := names.index(name) + 1) < number:
                yield f"settings {first} and {number} are named alike; rename a part, or join them"
        yield from faults_of_version(self)

    def __repr__(self) -> str:
        return (
            f"GameExperiment({counted(len(self.settings), 'setting')},"
            f" {counted(self.n_rows, 'game')})"
        )

    @cached_property
    def n_rows(self) -> int:
        """The number of games of all players in all settings."""
        return sum(self._games(setting) * len(setting.players) for setting in self.settings)

    def batches(self) -> tuple[GameBatch, ...]:
        """Return the batches, one setting after another."""
        return tuple(
            GameBatch(number=number, series=series, turns=self.turns, key=f"{self._key} {setting}")
            for number, (setting, series) in enumerate(self._series())
        )

    @checked
    def comparisons(self, rows: Sequence[GameRow]) -> tuple[Comparison, ...]:
        """Return a comparison of the players in each setting.

        Parameters
        ----------
        rows
            All rows of the experiment, in their order.

        Raises
        ------
        InvalidArgumentError
            If these are not all rows of the experiment.
        """
        if len(rows) != self.n_rows:
            raise InvalidArgumentError(
                f"expected all {self.n_rows:,} rows of the experiment, got {len(rows):,}", rows
            )
        comparisons = []
        start = 0
        for setting in self.settings:
            games = self._games(setting)
            stop = start + games * len(setting.players)
            self._check(setting, start, rows[start:stop])
            comparisons.append(self._comparison(setting, games, rows[start:stop]))
            start = stop
        return tuple(comparisons)

    def _check(self, setting: GameSetting, start: int, rows: Sequence[GameRow]) -> None:
        """Raise unless these are the rows of a setting, of which the first has a position."""
        board, *others = _identity(setting)
        players = [
            (player.strategy.name, believed.name, format_prior(prior))
            for player, believed, prior in zip(
                setting.players, setting.believed, setting.believed_priors, strict=True
            )
        ]
        seed = 0
        for number, row in enumerate(rows):
            game, seat = divmod(number, len(players))
            if seat == 0:
                seed = game_seed(self.seed, game + 1)
            expected = (str(board), *others, *players[seat], game + 1, seed)
            found = (
                *(row.board, row.channel, row.prior, row.ending, row.max_guesses),
                *(row.strategy, row.assumed, row.assumed_prior, row.game, row.seed),
            )
            if found != expected:
                raise InvalidArgumentError(
                    f"expected the rows of the experiment in their order; row {start + number + 1}"
                    f" is one of {row.strategy}, game {row.game:,}, {row.board}, {row.channel},"
                    " and not the one that belongs there",
                    row,
                )

    def _comparison(self, setting: GameSetting, games: int, rows: Sequence[GameRow]) -> Comparison:
        names = [player.strategy.name for player in setting.players]
        if len(set(names)) < len(names):
            names = [player.name for player in setting.players]
            rows = [
                replace(row, strategy=names[number % len(names)]) for number, row in enumerate(rows)
            ]
        return Comparison(
            board=str(setting.board),
            channel=setting.channel.name,
            assumed=" or ".join(dict.fromkeys(one.name for one in setting.believed)),
            strategies=tuple(names),
            games=games,
            seed=self.seed,
            max_guesses=setting.ending.limit,
            ending=format_ending(setting.ending),
            prior=format_prior(setting.prior),
            assumed_prior=" or ".join(dict.fromkeys(map(format_prior, setting.believed_priors))),
            match=self.match,
            exhaustive=self.games is None and are_all_games(setting, self.match),
            rows=tuple(rows),
        )

    @cached_property
    def _key(self) -> str:
        """A text that no other experiment has; workers find their caches by it."""
        return uuid.uuid4().hex

    def _games(self, setting: GameSetting) -> int:
        return setting.board.n_codes if self.games is None else self.games

    def _series(self) -> Iterator[tuple[int, GameSeries]]:
        """Yield the games of each batch, with the position of their setting."""
        for place, setting in enumerate(self.settings):
            games = self._games(setting)
            size = self.batch_games or batch_games_of(setting)
            size = self.match * -(-size // self.match)
            for start in range(0, games, size):
                yield (
                    place,
                    GameSeries(
                        setting=setting,
                        numbers=range(start + 1, min(start + size, games) + 1),
                        seed=self.seed,
                        every_code=self.games is None,
                        match=self.match,
                    ),
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class GameBatch(Value):
    """A batch of games in one setting, made by `GameExperiment.batches`."""

    number: int
    """The number of the batch, from 0."""
    series: GameSeries
    """The games."""
    turns: bool
    """Whether there is a row for each turn too."""
    key: str
    """A text that only batches with the same players and the same setting share."""

    @property
    def n_rows(self) -> int:
        """The number of games of all players."""
        return len(self.series.numbers) * len(self.series.setting.players)

    @property
    def has_details(self) -> bool:
        """Whether there are rows of turns too; with a certainty that needs none, there are not."""
        return self.turns and self.series.setting.ending.reveals

    def rows(self) -> tuple[GameRow, ...]:
        """Play the games, and return a row for each."""
        return self.run().rows

    def play(self) -> Iterator[GameRow]:
        """Play the games one by one, for games that may be interrupted."""
        return (row for row, _ in self._games())

    def run(self) -> BatchRows:
        """Play the games, and return their rows."""
        rows: list[GameRow] = []
        turns: list[TurnRow] = []
        for row, game in self._games():
            rows.append(row)
            if self.turns:
                turns += _turn_rows(row, game)
        return BatchRows(tuple(rows), tuple(turns))

    def _games(self) -> Iterator[tuple[GameRow, Transcript]]:
        return self.series.play(_players(_Seats(self.key, self.series.setting.players)))


@dataclass(frozen=True)
class _Seats:
    """The players of a setting, told from others by a key alone."""

    key: str
    players: tuple[Player, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Seats) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1)
def _players(seats: _Seats) -> tuple[Strategy, ...]:
    """Return the players of a setting, who remember their choices from batch to batch.

    Each process remembers one setting, the last.
    """
    return remembering(seats.players)


@checked
def game_settings(
    channels: Iterable[Channel],
    players: Iterable[Player],
    *,
    priors: Iterable[Prior | None] = (None,),
    endings: Iterable[Ending] | None = None,
) -> tuple[GameSetting, ...]:
    """Return a setting for each channel, prior and ending, all with the same players.

    Channels, priors and assumptions meet only those of the same board.

    Parameters
    ----------
    channels
        The real channels, of one or several boards.
    players
        The players. Those who assume a channel or a prior play on its board.
    priors
        The priors; None for the uniform one of every board.
    endings
        The endings; ``Revealed()`` by default.

    Raises
    ------
    InvalidArgumentError
        If the players do not fit a setting; see `GameSetting`.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import Knuth
    >>> noise = [Channel.false_reply(Board(4, 6), p) for p in (0.0, 0.1, 0.2)]
    >>> len(game_settings(noise, [Player(Knuth())]))
    3
    """
    seats, sources = tuple(players), tuple(priors)
    rules = (Revealed(),) if endings is None else tuple(endings)
    return tuple(
        GameSetting(
            channel=channel,
            players=tuple(player for player in seats if _plays(player, channel)),
            prior=prior,
            ending=ending,
        )
        for channel, prior, ending in product(channels, sources, rules)
        if prior is None or prior.board == channel.board
    )


def _plays(player: Player, channel: Channel) -> bool:
    """Return whether the assumptions of a player belong to the board of a channel."""
    assumptions = (player.assumed, player.assumed_prior)
    return all(one is None or one.board == channel.board for one in assumptions)


def _identity(setting: GameSetting) -> tuple[object, ...]:
    """Return by what the rows of a setting are told from those of others."""
    return (
        setting.board,
        setting.channel.name,
        format_prior(setting.prior),
        format_ending(setting.ending),
        setting.ending.limit,
    )


def batch_games_of(setting: GameSetting) -> int:
    """Return the number of games in a batch, which depends on the board alone."""
    return max(_FEWEST_GAMES, min(_MOST_GAMES, _BATCH_CODES // setting.board.n_codes))


def _turn_rows(row: GameRow, game: Transcript) -> Iterator[TurnRow]:
    """Yield a row for each turn of a game."""
    for number, turn in enumerate(game.turns, start=1):
        yield TurnRow(
            board=row.board,
            channel=row.channel,
            prior=row.prior,
            ending=row.ending,
            max_guesses=row.max_guesses,
            strategy=row.strategy,
            assumed=row.assumed,
            assumed_prior=row.assumed_prior,
            game=row.game,
            turn=number,
            guess=game.board.format(turn.guess),
            true_reply=str(turn.true_reply),
            report=None if turn.report is None else str(turn.report),
            entropy=_entropy(turn),
            information=_known(turn.info.information),
        )


def _entropy(turn: PlayedTurn) -> float | None:
    """Return the entropy before a guess, which is that expected after it and its information."""
    return _known(turn.info.expected_entropy + turn.info.information)


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
