"""Settings of games, and series of games: the engine of comparisons and experiments.

A seed determines the seed of each game, and that the secret, the luck and the random choices. A
game therefore depends neither on the games before it nor on where it is played, except for what a
prior learns within a match.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from bnmind._messages import listed
from bnmind._registry import leads_to
from bnmind._values import Value
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.mastermind.comparison import GameRow
from bnmind.lab.mastermind.games import (
    CodeMaker,
    Declared,
    Ending,
    Revealed,
    Transcript,
    assumed_channel,
    parse_ending,
    play_game,
)
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.prior import UNIFORM, Prior, UniformPrior, observed, require_same_board
from bnmind.strategies.strategy import FIRST_TURN, GuessInfo, Needs, Situation, Strategy

# --- Settings of games: a channel, a prior, an ending, and the players with their assumptions -----


_LISTED = 2**17  # up to this number of codes, an assumed prior is checked before the games


@dataclass(frozen=True, eq=False)
class Player(Value):
    """A strategy with the noise and the prior that it assumes.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Entropy
    >>> Player(Entropy(), assumed=Channel.false_reply(Board(4, 6), 0.1)).name
    'entropy assuming false:0.1'
    """

    strategy: Strategy
    """The strategy."""
    assumed: Channel | None = None
    """The channel that it assumes; by default the real one."""
    assumed_prior: Prior | None = None
    """The prior that it assumes; by default the real one."""
    source: str | None = None
    """The name by which files find the strategy, such as ``module:name``; by default its name."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes find a strategy of the user's own module by its source, as this one did.
        from bnmind.strategies.registry import is_registered, strategy_by_name

        source = self.source
        is_own = source is not None and not is_registered(source)
        if is_own and leads_to(strategy_by_name, source, self.strategy):
            return _found, (source, self.assumed, self.assumed_prior)
        return Player, (self.strategy, self.assumed, self.assumed_prior, self.source)

    @property
    def name(self) -> str:
        """The name of the strategy, and its assumptions if it has its own."""
        assumptions = [one.name for one in (self.assumed, self.assumed_prior) if one is not None]
        own = f" assuming {' and '.join(assumptions)}" if assumptions else ""
        return f"{self.strategy.name}{own}"


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSetting(Value):
    """The circumstances of games: who plays, against which code-maker, until when.

    Raises
    ------
    InvalidArgumentError
        If there are no players, two players are the same, or there are several faults.
        If an assumed channel excludes a reply that the real one may report.
        If a prior belongs to another board, or an assumed one excludes a code that the
        code-maker may choose.

    Examples
    --------
    >>> from bnmind.strategies import Entropy, Knuth
    >>> channel = Channel.false_reply(Board(4, 6), 0.2)
    >>> GameSetting(channel=channel, players=(Player(Entropy()), Player(Knuth()))).name
    '4x6, false:0.2, prior uniform, revealed, at most 100 guesses'
    """

    channel: Channel
    """The channel that reports the replies; it has the board."""
    players: tuple[Player, ...]
    """The players, who differ in the strategy or in its assumptions."""
    prior: Prior | None = None
    """The distribution from which the secrets are drawn; uniform if None."""
    ending: Ending = field(default_factory=Revealed)
    """The rule that ends a game, with the limit of guesses."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.prior, UniformPrior):
            self._set(prior=None)  # it would draw other secrets

    def _faults(self) -> Iterator[str]:
        keys = [_key(player) for player in self.players]
        if not keys or len(set(keys)) < len(keys):
            names = ", ".join(player.name for player in self.players) or "none"
            yield f"expected one or more strategies of different names, got {names}"
        priors = [self.prior, *(player.assumed_prior for player in self.players)]
        for prior in {id(one): one for one in priors if one is not None}.values():
            yield from _told(_require_fitting, self.board, self.prior, prior)
        channels = dict.fromkeys(player.assumed for player in self.players)
        for channel in channels:
            yield from _told(assumed_channel, self.reporting, channel, self.ending)

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @property
    def name(self) -> str:
        """The board, the noise, the prior and the ending, in words."""
        return (
            f"{self.board}, {self.channel.name}, prior {format_prior(self.prior)},"
            f" {format_ending(self.ending)}, at most {self.ending.limit} guesses"
        )

    @cached_property
    def reporting(self) -> Channel:
        """The channel that reports the replies, ending the game at the winning guess if it does."""
        return self.channel.revealed() if self.ending.reveals else self.channel

    @cached_property
    def believed(self) -> tuple[Channel, ...]:
        """The channel from which each player starts its belief."""
        return tuple(
            assumed_channel(self.reporting, player.assumed, self.ending) for player in self.players
        )

    @cached_property
    def believed_priors(self) -> tuple[Prior | None, ...]:
        """The prior that each player assumes; uniform if None."""
        return tuple(
            self.prior if player.assumed_prior is None else player.assumed_prior
            for player in self.players
        )


def learns(setting: GameSetting, match: int) -> bool:
    """Return whether an assumed prior learns from the earlier codes of a match of games."""
    return match > 1 and any(map(_learns, setting.believed_priors))


def are_all_games(setting: GameSetting, match: int) -> bool:
    """Return whether one game of each code makes all games that there are.

    It does with true replies, and with strategies that make no random choices and do not learn
    from the earlier codes of a match.
    """
    settled = all(player.strategy.deterministic for player in setting.players)
    return setting.channel.is_exact and settled and not learns(setting, match)


def _learns(prior: Prior | None) -> bool:
    if prior is None:
        return False
    code = prior.draw(1, np.random.default_rng(0))[0]
    return observed(prior, code.tolist()) is not prior


def _found(source: str, assumed: Channel | None, assumed_prior: Prior | None) -> Player:
    from bnmind.strategies.registry import strategy_by_name

    return Player(strategy_by_name(source), assumed, assumed_prior, source)


def format_ending(ending: Ending) -> str:
    """Return an ending as at the command line; the limit is stated elsewhere."""
    if isinstance(ending, Declared):
        return f"declared:{ending.certainty:g}"
    return type(ending).__name__.lower()


def name_ending(ending: Ending) -> str:
    """Return the text of which `parse_ending` makes exactly this ending.

    Raises
    ------
    InvalidArgumentError
        If there is none.
    """
    text = format_ending(ending)
    if isinstance(ending, Declared):
        text = f"declared:{float(ending.certainty)!r}"
    if leads_to(partial(parse_ending, limit=ending.limit), text, ending):
        return text
    raise InvalidArgumentError(
        f"expected an ending that a file can name, got {type(ending).__name__}", ending
    )


def format_prior(prior: Prior | None) -> str:
    """Return the name of a prior."""
    return UNIFORM if prior is None else prior.name


def raise_together(faults: Sequence[BnmindError]) -> None:
    """Raise the only fault; or one error that lists them all, if there are several."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InvalidArgumentError(listed([str(fault) for fault in faults]), tuple(faults))


def _key(player: Player) -> tuple[str, str | None, str | None]:
    """Return by what the rows of a player are told from those of others."""
    return (
        player.strategy.name,
        None if player.assumed is None else player.assumed.name,
        None if player.assumed_prior is None else player.assumed_prior.name,
    )


def _told(check: Callable[..., object], *arguments: object) -> Iterator[str]:
    """Yield the error that a function raises, if it does."""
    try:
        check(*arguments)
    except BnmindError as fault:
        yield str(fault)


def _require_fitting(board: Board, prior: Prior | None, assumed: Prior) -> None:
    """Raise if a prior belongs to another board, or excludes a code that may be chosen.

    On large boards, the games check only their own secrets.
    """
    require_same_board(board, assumed)
    if assumed is prior or board.n_codes > _LISTED:
        return
    logs = np.zeros(board.n_codes) if prior is None else prior.log_weights(board.codes)
    excluded = (logs > -np.inf) & (assumed.log_weights(board.codes) == -np.inf)
    if excluded.any():
        code = board.format_index(int(np.argmax(excluded)))
        raise InvalidArgumentError(
            f"the assumed prior {assumed.name} excludes {code}, which the code-maker may choose",
            assumed,
        )


# --- Series of games: the engine of comparisons and experiments -----------------------------------


_REMEMBERED = 2**16
"""The number of choices to cache for a strategy, about 1 KB each: those of the first games recur
most."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSeries(Value):
    """Consecutive games of a setting."""

    setting: GameSetting
    """The setting."""
    numbers: range
    """The numbers of the games, from 1; a series starts at the first game of a match."""
    seed: int
    """The seed from which the seeds of all games are drawn."""
    every_code: bool = False
    """Whether the secrets are the codes of the board in their order."""
    match: int = 1
    """The number of games in a match."""

    def play(
        self, players: Sequence[Strategy] | None = None
    ) -> Iterator[tuple[GameRow, Transcript]]:
        """Play the first game of each player, then the second of each player, and so on.

        Parameters
        ----------
        players
            The strategies of the players, as `remembering` returns them; by default those.
        """
        setting = self.setting
        starting = remembering(setting.players) if players is None else tuple(players)
        believed = setting.believed_priors
        now = list(zip(starting, believed, strict=True))
        for number in self.numbers:
            maker = self._code_maker(number)
            match = (number - 1) // self.match + 1
            if (number - 1) % self.match == 0:
                now = list(zip(starting, believed, strict=True))
            for seat, (strategy, prior) in enumerate(now):
                started = time.perf_counter()
                game = play_game(
                    strategy,
                    maker,
                    ending=setting.ending,
                    assumed=setting.believed[seat],
                    assumed_prior=prior,
                )
                yield self._row(game, seat, (number, match), time.perf_counter() - started), game
                if self.match > 1 and prior is not None:
                    learned = observed(prior, maker.secret)
                    if learned is not prior:
                        # Choices depend on the prior, so those made before are forgotten.
                        own = setting.players[seat].strategy
                        now[seat] = (_remembering(own), learned)

    def _code_maker(self, number: int) -> CodeMaker:
        setting = self.setting
        return CodeMaker.from_seed(
            setting.reporting,
            game_seed(self.seed, number),
            secret=setting.board.code(number - 1) if self.every_code else None,
            turns=setting.ending.limit,
            prior=setting.prior,
        )

    def _row(self, game: Transcript, seat: int, place: tuple[int, int], seconds: float) -> GameRow:
        setting = self.setting
        assert game.seed is not None
        return GameRow(
            board=str(setting.board),
            channel=setting.channel.name,
            strategy=game.strategy,
            game=place[0],
            seed=game.seed,
            secret=setting.board.format(game.secret),
            guesses=game.guesses,
            won=game.won,
            seconds=seconds,
            codes_examined=_examined(game),
            assumed=setting.believed[seat].name,
            prior=format_prior(setting.prior),
            assumed_prior=format_prior(setting.believed_priors[seat]),
            ending=format_ending(setting.ending),
            max_guesses=setting.ending.limit,
            match=place[1],
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
            guess, info = self.strategy.choose(belief, rng, situation)
            # Plans have tables of several KB, and no row needs them.
            choice = guess, replace(info, plan=None)
            if len(self.remembered) < _REMEMBERED:
                self.remembered[belief.history] = choice
        return choice


def remembering(players: Sequence[Player]) -> tuple[Strategy, ...]:
    """Return the strategies of players; the choices of deterministic ones are cached from now on.

    The cache belongs to one setting: choices depend on the assumed channel and prior.
    """
    return tuple(_remembering(player.strategy) for player in players)


def _remembering(strategy: Strategy) -> Strategy:
    return _Remembering(strategy) if strategy.deterministic else strategy


def series_faults(
    settings: Sequence[GameSetting], *, games: int | None, seed: int, match: int
) -> list[BnmindError]:
    """Return what is wrong with the numbers of a series of games.

    Parameters
    ----------
    settings
        The settings in which the games are played.
    games
        The number of games; None to play every code of the board once.
    seed, match
        As for `GameSeries`.
    """
    faults: list[BnmindError] = []
    if match < 1:
        message = f"expected a match of at least one game, got {match}"
        faults.append(InvalidArgumentError(message, match))
    priors = [setting.prior for setting in settings if setting.prior is not None]
    if priors and games is None:
        faults.append(
            InvalidArgumentError(
                f"expected a number of games with the prior {priors[0].name}, since playing every"
                " code once gives all codes the same weight",
                games,
            )
        )
    if games is not None and games < 1:
        faults.append(InvalidArgumentError(f"expected at least one game, got {games}", games))
    if seed < 0:
        message = f"expected a seed that is a whole number from 0, got {seed}"
        faults.append(InvalidArgumentError(message, seed))
    return faults


def game_seed(seed: int, number: int) -> int:
    """Return the seed of a game, small enough for a spreadsheet to store without rounding."""
    source = np.random.SeedSequence(seed, spawn_key=(number - 1,))
    return int(source.generate_state(1, np.uint64)[0]) >> 11


def _examined(game: Transcript) -> int | None:
    """Return the number of codes that a strategy examined in a game, if it counts them."""
    counts = [turn.info.evaluated for turn in game.turns if turn.info.evaluated is not None]
    return sum(counts) if counts else None
