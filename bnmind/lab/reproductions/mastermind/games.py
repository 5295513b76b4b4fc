"""Games of Mastermind behind the figures of reproductions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.lab.mastermind import Contest
from bnmind.lab.reproductions.base.figures import Estimate
from bnmind.mastermind import Channel
from bnmind.strategies import Strategy

__all__ = ["Games", "difference", "played"]

_LIMIT = 1000


@dataclass(frozen=True, eq=False)
class Games:
    """The games of a strategy, in their order."""

    guesses: NDArray[np.float64]
    """The number of guesses of each game, one more than the limit if it is lost."""
    codes: NDArray[np.float64]
    """The number of codes that the strategy examined in each game; 0 if it does not count them."""
    seconds: NDArray[np.float64]
    """The duration of each game."""

    @property
    def mean(self) -> Estimate:
        """The mean number of guesses."""
        return Estimate.of(self.guesses.tolist())


def played(
    strategies: Sequence[Strategy],
    channel: Channel,
    games: int | None,
    seed: int,
    *,
    limit: int = _LIMIT,
    assumed: Channel | None = None,
) -> Mapping[str, Games]:
    """Return the games of strategies by name, on the same secrets with the same luck.

    Parameters
    ----------
    strategies
        The strategies, with different names.
    channel
        The channel that reports the replies; the code-maker ends the game at the right guess.
    games
        The number of games; None to play every code once.
    seed
        The seed of the games.
    limit
        The limit of guesses in a game.
    assumed
        The channel that the strategies assume; by default the real one.
    """
    contest = Contest(
        tuple(strategies), channel, games=games, seed=seed, max_guesses=limit, assumed=assumed
    )
    comparison = contest.run()
    found = {}
    for name in comparison.strategies:
        rows = comparison.rows_of(name)
        found[name] = Games(
            np.array([row.guesses + (not row.won) for row in rows], dtype=np.float64),
            np.array([row.codes_examined or 0 for row in rows], dtype=np.float64),
            np.array([row.seconds for row in rows]),
        )
    return found


def difference(games: Games, others: Games) -> Estimate:
    """Return the mean difference of the guesses of two strategies, game by game."""
    return Estimate.of((games.guesses - others.guesses).tolist())
