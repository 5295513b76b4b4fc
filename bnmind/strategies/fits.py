"""The weights of `WeightedEntropy` and the value of a belief, fitted.

**Weights** are fitted to the total number of guesses by random search. The total of a tree is a
step function of the weights, so gradients are useless. The search changes a few random weights at a
time and keeps the change if the total is not worse. Sometimes it accepts a total that is worse by
one guess, and after a while it returns to the best weights.

**The value of a belief** is fitted by approximate policy iteration on simulated games. A round
plays games with `LookAhead` on the value of the round before, and records each belief with the
number of guesses that the game then took. Least squares on the features of the beliefs gives the
next value. Games with the same history share the belief and the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import ExactBelief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import replies_of
from bnmind.strategies.belief_search import LookAhead
from bnmind.strategies.belief_value import (
    FEATURES,
    INITIAL,
    BeliefValue,
    ValueOrigin,
    belief_features,
)
from bnmind.strategies.greedy import grow_exactly
from bnmind.strategies.players import Myopic
from bnmind.strategies.scores import MAX_WEIGHT, UNIT, Integers, WeightedEntropy
from bnmind.strategies.strategy import Strategy

# --- Weights for `WeightedEntropy`, fitted to the total number of guesses by random search --------


_STEPS = (20.0, 100.0, 400.0)
"""Standard deviations of changes, in thousandths."""
_PASSED = 0.03
"""The probability of accepting a total that is worse by one."""
_RETURN = 0.01
"""The probability that a worse search returns to the best weights."""
_DEEPEST = 200


@dataclass(frozen=True)
class FittedWeights(Result):
    """The best weights of a search."""

    score: WeightedEntropy
    """The weights."""
    total: int
    """The number of guesses to find every code once, with these weights."""
    start: int
    """The number of guesses with the initial weights."""
    evaluations: int
    """The number of trees that were grown."""

    def to_dict(self) -> dict[str, Any]:
        """Return the totals and the weights as a record."""
        return {
            "board": str(self.score.board),
            "total": self.total,
            "start": self.start,
            "evaluations": self.evaluations,
            "weights": [list(turn) for turn in self.score.weights],
        }

    def _shown(self) -> Iterator[str | Table]:
        yield (
            f"{self.total:,} guesses in all, from {self.start:,}, after {self.evaluations:,}"
            " evaluations."
        )


@checked_if_it_fails
def fit_weights(
    board: Board,
    *,
    turns: int = 1,
    evaluations: int = 2000,
    seed: int = 0,
    start: WeightedEntropy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FittedWeights:
    """Return weights with a small total number of guesses.

    Parameters
    ----------
    board
        The board. At 4x6 an evaluation takes about a hundredth of a second.
    turns
        The number of turns with separate weights.
    evaluations
        The number of trees to grow. This is the only limit, so the seed determines the weights.
    seed
        Not negative.
    start
        The initial weights, by default equal. The last turn also applies to later turns.
    progress
        Called after each evaluation with the number of evaluations and the best total.

    Raises
    ------
    InvalidArgumentError
        If there are no turns or evaluations, more than 200 turns, or `start` is for another board.
    TooLargeError
        If the board is too large for compiled trees.

    Examples
    --------
    >>> fit_weights(Board(3, 3), evaluations=10, seed=1).start
    73
    """
    if turns < 1 or evaluations < 1:
        raise InvalidArgumentError(
            f"expected at least one turn and one evaluation, got {turns} and {evaluations}",
            (turns, evaluations),
        )
    if turns > _DEEPEST:
        raise InvalidArgumentError(f"expected at most {_DEEPEST} turns, got {many(turns)}", turns)
    if start is not None and start.board != board:
        raise InvalidArgumentError(
            f"expected initial weights for the board {board}, got weights for {start.board}", start
        )
    rng = np.random.default_rng(seed)
    initial = ((UNIT,) * len(board.true_replies),) if start is None else start.weights
    rows = [initial[min(turn, len(initial) - 1)] for turn in range(turns)]
    best = current = np.array(rows, dtype=np.int64)
    best_total = total = first = _total(board, current)
    for number in range(2, evaluations + 1):
        changed = _changed(current, rng)
        changed_total = _total(board, changed)
        if changed_total <= total + (rng.random() < _PASSED):
            current, total = changed, changed_total
        elif total > best_total and rng.random() < _RETURN:
            current, total = best, best_total
        if changed_total < best_total:
            best, best_total = changed, changed_total
        if progress is not None:
            progress(number, best_total)
    return FittedWeights(_score(board, best), best_total, first, evaluations)


def _changed(weights: Integers, rng: np.random.Generator) -> Integers:
    changed = weights.copy()
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(changed.size))
        step = float(rng.normal(scale=_STEPS[int(rng.integers(len(_STEPS)))]))
        changed.flat[place] = min(MAX_WEIGHT, max(0, int(changed.flat[place]) + round(step)))
    return changed


def _total(board: Board, weights: Integers) -> int:
    strategy = Myopic(_score(board, weights))
    return grow_exactly(strategy, board, max_guesses=_DEEPEST).total


def _score(board: Board, weights: Integers) -> WeightedEntropy:
    return WeightedEntropy(board, tuple(map(tuple, weights.tolist())))


# --- The fit of the value of a belief: approximate policy iteration on simulated games ------------


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
