"""The fit of the value of a belief: approximate policy iteration on simulated games.

A round plays games with `LookAhead` on the value of the round before, and records each belief with
the number of guesses that the game then took. Least squares on the features of the beliefs gives
the next value. Games with the same history share the belief and the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import ExactBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_of
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.belief_game.lookahead import LookAhead
from bnmind.strategies.belief_game.value import (
    FEATURES,
    INITIAL,
    BeliefValue,
    ValueOrigin,
    belief_features,
)

__all__ = ["FittedValue", "Positions", "fit_value", "play_positions"]

_LONGEST = 100  # guesses; a longer game is cut off
_RIDGE = 1e-3  # the penalty on coefficients of features scaled to a mean square of one


@dataclass(frozen=True, kw_only=True, eq=False)
class Positions(Value):
    """The beliefs of simulated games, and the number of guesses that the games then took."""

    features: Floats
    """``(positions, len(FEATURES))``."""
    remaining: Floats
    """The mean number of guesses from the belief on, ``(positions,)``."""
    games: NDArray[np.intp]
    """The number of games that reached the belief, ``(positions,)``."""
    mean: float
    """The mean number of guesses of a game."""
    standard_error: float
    """The standard error of the mean."""


@dataclass(frozen=True, kw_only=True)
class FittedValue(Result, Value):
    """A fitted value, and the games of the rounds."""

    value: BeliefValue
    """The value after the last round."""
    means: tuple[float, ...]
    """The mean number of guesses in each round, played with the value of the round before."""
    standard_errors: tuple[float, ...]
    """The standard errors of the means."""

    def to_dict(self) -> dict[str, Any]:
        """Return the rounds and the coefficients as a record."""
        return {
            "means": list(self.means),
            "standard_errors": list(self.standard_errors),
            "coefficients": list(self.value.coefficients),
        }

    def _shown(self) -> Iterator[str | Table]:
        rounds = zip(self.means, self.standard_errors, strict=True)
        shown = ", ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in rounds)
        yield f"Guesses a game, by round: {shown}."


@checked_if_it_fails
def fit_value(
    channel: Channel,
    *,
    games: int = 4000,
    rounds: int = 2,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> FittedValue:
    """Fit the value of a belief to simulated games.

    Parameters
    ----------
    channel
        The channel that reports the replies. The games end at the winning guess.
    games
        The number of games in each round. At 4x6 a thousand games take some 5 seconds.
    rounds
        The number of rounds. The first one plays with the value `INITIAL`.
    seed
        The seed of the secrets and the luck, not negative.
    progress
        Called after each turn with the number of games that ended, of all rounds, and the total.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than two games, no rounds, or the seed is negative.
    TooLargeError
        If the board has too many codes for a belief.
    """
    if games < 2 or rounds < 1 or seed < 0:
        raise InvalidArgumentError(
            "expected at least two games, one round, and a seed that is not negative, got "
            f"{games}, {rounds} and {seed}",
            (games, rounds, seed),
        )
    value = BeliefValue(coefficients=INITIAL)
    played: list[Positions] = []
    for number in range(rounds):

        def ended(count: int, number: int = number) -> None:
            if progress is not None:
                progress(number * games + count, rounds * games)

        rng = np.random.default_rng([seed, number])
        played.append(play_positions(LookAhead(value=value), channel, games, rng, ended))
        value = BeliefValue(
            coefficients=_least_squares(played[-1]),
            origin=ValueOrigin(
                board=str(channel.board),
                channel=channel.name,
                games=games,
                rounds=rounds,
                seed=seed,
            ),
        )
    return FittedValue(
        value=value,
        means=tuple(positions.mean for positions in played),
        standard_errors=tuple(positions.standard_error for positions in played),
    )


def play_positions(
    strategy: Strategy,
    channel: Channel,
    games: int,
    rng: np.random.Generator,
    ended: Callable[[int], None] = lambda count: None,
) -> Positions:
    """Play games of a deterministic strategy, all of them one turn at a time.

    Parameters
    ----------
    strategy
        The strategy; it is asked once for each history.
    channel
        The channel that reports the replies.
    games
        The number of games.
    rng
        The generator of the secrets and the luck.
    ended
        Called after each turn with the number of games that ended.
    """
    board, revealed = channel.board, channel.revealed()
    secrets = rng.integers(board.n_codes, size=games)
    cumulative = np.cumsum(revealed.matrix, axis=1)
    lengths = np.full(games, _LONGEST)
    reached: list[tuple[Floats, NDArray[np.intp], int]] = []
    going: list[tuple[NDArray[np.intp], ExactBelief]] = [
        (np.arange(games), _exact(strategy, revealed))
    ]
    for turn in range(_LONGEST):
        luck = rng.random(games)
        following: list[tuple[NDArray[np.intp], ExactBelief]] = []
        for group, belief in going:
            reached.append((belief_features(belief.codes.probabilities), group, turn))
            guess, _ = strategy.choose(belief, rng)
            true = replies_of(board, guess)[secrets[group]]
            outcomes = (luck[group, None] >= cumulative[true]).sum(axis=1)
            won = true == len(board.true_replies) - 1
            # Rounding may leave the last sum below one; only a winning guess has the last outcome.
            outcomes = np.minimum(outcomes, cumulative.shape[1] - 2 + won)
            lengths[group[won]] = turn + 1
            for outcome in np.unique(outcomes[~won]).tolist():
                members = group[~won & (outcomes == outcome)]
                report = revealed.reports[outcome]
                following.append((members, belief.update(board.code(guess), report)))
        going = following
        ended(games - sum(len(group) for group, _ in going))
        if not going:
            break
    return Positions(
        features=np.array([features for features, _, _ in reached]),
        remaining=np.array([lengths[group].mean() - turn for _, group, turn in reached]),
        games=np.array([len(group) for _, group, _ in reached]),
        mean=float(lengths.mean()),
        standard_error=float(lengths.std(ddof=1) / np.sqrt(games)),
    )


def _exact(strategy: Strategy, channel: Channel) -> ExactBelief:
    """Return the belief before the first guess."""
    belief: ExactBelief = strategy.start(channel)  # type: ignore[assignment]
    return belief


def _least_squares(positions: Positions) -> tuple[float, ...]:
    """Return the coefficients with the least weighted squared error."""
    weights = positions.games / positions.games.sum()
    scale = np.sqrt(weights @ positions.features**2)
    scaled = positions.features / np.where(scale > 0, scale, 1.0)
    normal = (scaled * weights[:, None]).T @ scaled + _RIDGE * np.eye(len(FEATURES))
    right = (scaled * weights[:, None]).T @ (positions.remaining - 1)
    solved = np.linalg.solve(normal, right) / np.where(scale > 0, scale, 1.0)
    # Five decimals suffice, and the file is the same on machines that round differently.
    return tuple(round(float(coefficient), 5) for coefficient in solved)
