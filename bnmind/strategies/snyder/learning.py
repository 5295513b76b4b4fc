"""Learning the weights of the exponential scores by importance sampling.

=========  ================================================================================
Snyder     name here
=========  ================================================================================
X_i        game i of `ScoredGames`; h(X_i) is its ``lengths[i]``
P_θ(X)     exp of `log_probabilities`, equation (27)
w_i        P_θ(X_i) / P_θ₀(X_i), equation (5); θ₀ are the weights of the games
μ̂(θ)       Σ w_i h(X_i) / Σ w_i, equation (6)
g'(θ)      `LengthEstimate.gradient`
=========  ================================================================================

The gradient is exact: g'(θ) = Σ w_i (h(X_i) − μ̂) ∇log P_θ(X_i) / Σ w_i, with

* ∂/∂θ_j log P_θ(X) = [the first guess has j colors] − k_j exp(θ_j) / Σ_c k_c exp(θ_c),
* ∂/∂θ_4 log P_θ(X) = Σ_turns [the guess is consistent] − m exp(θ_4) / (m exp(θ_4) + m̄),

from equations (28) to (30), where k_c codes have c colors, m codes are consistent, and m̄ are not.

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, sections 3.1 and 4.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Sealed, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.reply_table import reply_table
from bnmind.mastermind.sampling import seeded_state
from bnmind.strategies.snyder.games_kernel import (
    GameRecords,
    ScoringBoard,
    TurnRecords,
    play_scored_games,
)
from bnmind.strategies.snyder.scoring import INITIAL_THETA, Theta, color_classes

__all__ = [
    "LearnedTheta",
    "LengthEstimate",
    "ScoredGames",
    "estimate_length",
    "learn_theta",
    "log_probabilities",
    "play_scored",
]

MAX_TURNS = 2**20
"""The largest number of turns of a game to learn from."""


@dataclass(frozen=True, eq=False)
class ScoredGames(Sealed):
    """Games of `ExponentialScoring` without noise."""

    board: Board
    """The board."""
    theta: Theta
    """The weights that played the games, θ₀."""
    secrets: NDArray[np.int64]
    """``(games,)``, the indices of the secret codes."""
    ends: NDArray[np.int64]
    """``(games,)``, the place after the last turn of each game."""
    guesses: NDArray[np.int64]
    """``(turns,)``, the indices of the guesses, game after game."""
    n_consistent: NDArray[np.int64]
    """``(turns,)``, the number of codes that were consistent before the guess, m."""
    is_consistent: NDArray[np.bool_]
    """``(turns,)``, whether the guess was one of them."""

    @property
    def begins(self) -> NDArray[np.int64]:
        """``(games,)``, the place of the first turn of each game."""
        return np.concatenate([[0], self.ends[:-1]]).astype(np.int64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(games,)``, the number of guesses of each game."""
        return self.ends - self.begins


@checked
def play_scored(board: Board, theta: Theta, games: int, rng: np.random.Generator) -> ScoredGames:
    """Play games of `ExponentialScoring` against uniformly random codes, without noise.

    Parameters
    ----------
    board
        The board.
    theta
        The weights of the four features; see `bnmind.strategies.snyder.scoring`.
    games
        The number of games, at least 1.
    rng
        The source of random numbers.

    Raises
    ------
    InvalidArgumentError
        If the number of games is not positive, or a game takes more than `MAX_TURNS` turns.
    TooLargeError
        If the board has too many codes for a reply table.
    """
    if games < 1:
        raise InvalidArgumentError(f"expected at least 1 game, got {games}", games)
    classes = color_classes(board)
    scoring_board = ScoringBoard(
        np.asarray(reply_table(board)),
        np.argsort(classes, kind="stable"),
        np.cumsum(np.bincount(classes, minlength=4)),
    )
    weights = np.exp(np.array([0.0, *theta[:3]]) - max(0.0, *theta[:3]))
    records = GameRecords(np.zeros(games, dtype=np.int64), np.zeros(games, dtype=np.int64))
    state, chunks, begin = seeded_state(rng), [], 0
    while begin < games:
        turns = TurnRecords(
            np.zeros(MAX_TURNS, dtype=np.int64),
            np.zeros(MAX_TURNS, dtype=np.int64),
            np.zeros(MAX_TURNS, dtype=np.bool_),
        )
        end = play_scored_games(scoring_board, weights, theta[3], records, turns, begin, state)
        if end == begin:
            raise InvalidArgumentError(
                f"expected weights that win within {MAX_TURNS:,} guesses, got {theta}", theta
            )
        used = int(records.ends[end - 1])
        chunks.append(
            TurnRecords(turns.guesses[:used], turns.n_consistent[:used], turns.is_consistent[:used])
        )
        records.ends[begin:end] += int(records.ends[begin - 1]) if begin else 0
        begin = end
    return ScoredGames(
        board,
        theta,
        records.secrets,
        ends=records.ends,
        guesses=np.concatenate([chunk.guesses for chunk in chunks]),
        n_consistent=np.concatenate([chunk.n_consistent for chunk in chunks]),
        is_consistent=np.concatenate([chunk.is_consistent for chunk in chunks]),
    )


@checked
def log_probabilities(games: ScoredGames, theta: Theta) -> Floats:
    """Return the natural logarithm of P_θ(X) for each game, ``(games,)``; equations (27)-(30).

    Parameters
    ----------
    games
        The games.
    theta
        The weights of the four features; see `bnmind.strategies.snyder.scoring`.
    """
    return _log_probabilities(games, theta)[0]


def _log_probabilities(games: ScoredGames, theta: Theta) -> tuple[Floats, Floats]:
    """Return log P_θ(X), and its derivatives by the weights, ``(games, 4)``."""
    classes, begins = color_classes(games.board), games.begins
    exponents = np.array([0.0, *theta[:3]])
    sizes = np.bincount(classes, minlength=4)
    largest = exponents[sizes > 0].max()
    scores = np.where(sizes > 0, sizes * np.exp(np.minimum(exponents - largest, 0.0)), 0.0)
    first = classes[games.guesses[begins]]
    gradients = np.zeros((len(begins), 4))
    gradients[:, :3] = (first[:, None] == np.arange(1, 4)) - scores[1:] / scores.sum()
    # The consistent share after the first guess: 1 / (1 + odds), odds = m̄ / m · exp(−θ4).
    m = games.n_consistent
    with np.errstate(divide="ignore"):  # at a first guess, no code is inconsistent
        log_odds = np.log((games.board.n_codes - m) / m) - theta[3]
    log_share, log_rest = -np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)
    terms = np.where(games.is_consistent, log_share, log_rest)
    terms -= np.where(
        games.is_consistent, np.log(m), np.log(np.maximum(games.board.n_codes - m, 1))
    )
    slopes: Floats = games.is_consistent - np.exp(log_share)
    terms[begins] = exponents[first] - largest - np.log(scores.sum())
    slopes[begins] = 0.0
    gradients[:, 3] = np.add.reduceat(slopes, begins)
    return np.asarray(np.add.reduceat(terms, begins)), gradients


@dataclass(frozen=True)
class LengthEstimate(Value):
    """An importance sampling estimate of the mean number of guesses under other weights."""

    mean: float
    """The estimate, μ̂(θ)."""
    gradient: tuple[float, float, float, float]
    """Its derivatives by the weights."""
    effective_games: float
    """The effective sample size, (Σ w)² / Σ w²; the estimate is poor if it is small."""


@checked
def estimate_length(games: ScoredGames, theta: Theta) -> LengthEstimate:
    """Return the mean number of guesses under `theta`, estimated from games under other weights.

    Parameters
    ----------
    games
        The games.
    theta
        The weights of the four features; see `bnmind.strategies.snyder.scoring`.
    """
    before = _log_probabilities(games, games.theta)[0]
    after, gradients = _log_probabilities(games, theta)
    logs = after - before
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = float(weights @ games.lengths)
    gradient = (weights * (games.lengths - mean)) @ gradients
    one, two, three, four = gradient.tolist()
    return LengthEstimate(mean, (one, two, three, four), float(1 / (weights @ weights)))


@dataclass(frozen=True, eq=False)
class LearnedTheta(Sealed):
    """The result of `learn_theta`."""

    theta: Theta
    """The last weights."""
    path: Floats
    """``(steps + 1, 4)``, the weights before the first step and after each step."""
    means: Floats
    """``(steps,)``, the mean number of guesses of the games of each step."""


@checked
def learn_theta(
    board: Board,
    rng: np.random.Generator,
    *,
    start: Theta = INITIAL_THETA,
    steps: int = 1000,
    games: int = 1000,
    rate: float = 1.0,
) -> LearnedTheta:
    """Learn the weights by sequential importance sampling.

    Each step plays new games under the current weights θ_k, and takes
    θ_{k+1} = θ_k − rate · g'(θ_k), equation (31).

    Parameters
    ----------
    board
        The board.
    rng
        The random generator.
    start
        The first weights.
    steps, games
        The number of steps, and of games for each; Snyder takes 25,000 steps of 1,000 games.
    rate
        The size of a step; 1 in Snyder's thesis.

    Raises
    ------
    InvalidArgumentError
        If `steps` or `games` is not positive, or a game takes too many turns.
    TooLargeError
        If the board has too many codes for a reply table.
    """
    if steps < 1:
        raise InvalidArgumentError(f"expected at least 1 step, got {steps}", steps)
    path, means = np.empty((steps + 1, 4)), np.empty(steps)
    path[0], theta = start, start
    for step in range(steps):
        estimate = estimate_length(play_scored(board, theta, games, rng), theta)
        means[step] = estimate.mean
        path[step + 1] = path[step] - rate * np.array(estimate.gradient)
        one, two, three, four = path[step + 1].tolist()
        theta = (one, two, three, four)
    return LearnedTheta(theta, path, means)
