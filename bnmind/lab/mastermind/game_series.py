"""Series of games: the engine of comparisons and experiments.

A seed determines the seed of each game, and that the secret, the luck and the random choices. A
game therefore depends neither on the games before it nor on where it is played, except for what a
prior learns within a match.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bnmind._values import Value
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.mastermind.code_maker import CodeMaker
from bnmind.lab.mastermind.comparison import GameRow
from bnmind.lab.mastermind.games import play_game
from bnmind.lab.mastermind.setting import GameSetting, Player, ending_text, prior_text
from bnmind.lab.mastermind.transcript import Transcript
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.priors.prior import Prior, observed
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy

__all__ = ["GameSeries", "game_seed", "remembering", "series_faults"]

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
            prior=prior_text(setting.prior),
            assumed_prior=prior_text(setting.believed_priors[seat]),
            ending=ending_text(setting.ending),
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
