"""Snyder's first player: each code has an exponential score, and is guessed in proportion to it.

=========  ================================================================================
Snyder     name here
=========  ================================================================================
θ          ``theta``, four numbers
f1..f3     whether this is the first guess and the code has 1, 2, 3 colors
f4         whether the code is consistent with all replies
S_θ(x)     exp(Σ_j f_j θ_j), equation (23)
P_θ(x)     S_θ(x) / Σ_y S_θ(y), equation (21)
=========  ================================================================================

**Learning** the weights by importance sampling:

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
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.2.
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, sections 3.1 and 4.2.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import njit
from bnmind._values import Finite, Sealed, Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses import reply_table
from bnmind.mastermind.random_moves import draw_below, draw_uniform, seeded_state
from bnmind.strategies.strategy import (
    FIRST_TURN,
    GuessInfo,
    Situation,
    TrustsReplies,
    distribution_of,
)

# --- Snyder's first player: each code has an exponential score, and is guessed in proportion to it


_Weight = Annotated[float, Finite]
Theta = tuple[_Weight, _Weight, _Weight, _Weight]
"""The weights of the four features."""

INITIAL_THETA: Theta = (0.0, 0.0, 0.0, 5.0)
"""The weights before learning: any first guess, then codes that are mostly consistent."""

LEARNED_THETA: Theta = (-0.488, -1.458, 5.944, 82.371)
"""The weights that Snyder learned at 4×6, equation (32): a first guess of three colors, then only
consistent codes."""


@dataclass(frozen=True)
class ExponentialScoring(TrustsReplies, Value):
    """Guess each code with a probability in proportion to its exponential score.

    The strategy assumes true replies, as `RandomCode` does. If no code is consistent with all
    replies, those that contradict the fewest count as consistent. `GuessInfo.score` is the
    probability of the guess, and `GuessInfo.evaluated` the number of all codes, as Snyder counts.

    Raises
    ------
    InvalidArgumentError
        If `theta` is not four finite numbers.
    """

    name: str = "snyder"
    """The name of the strategy at the command line and in files."""
    theta: Theta = INITIAL_THETA
    """The weights of the features."""

    deterministic = False
    """The choice is random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a code, drawn in proportion to the scores."""
        consistent = distribution_of(belief).probabilities > 0
        exponents = np.where(consistent, self.theta[3], 0.0)
        if not belief.history:
            exponents += _color_exponents(belief.board, self.theta)
        scores = np.exp(exponents - exponents.max())
        sums = np.cumsum(scores)
        # Of equal sums, the first belongs to the code whose score is not 0.
        guess = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        tied = int(np.count_nonzero(exponents == exponents[guess]))
        return guess, GuessInfo(
            guess, float(scores[guess] / sums[-1]), tied=tied, evaluated=len(scores)
        )


@lru_cache(maxsize=4)
def color_classes(board: Board) -> NDArray[np.uint8]:
    """Return the number of colors of each code, or 0 if there are more than three, read-only."""
    digits = np.sort(board.codes, axis=1)
    n_colors = 1 + np.count_nonzero(digits[:, 1:] != digits[:, :-1], axis=1)
    return sealed(np.where(n_colors <= 3, n_colors, 0).astype(np.uint8))


def _color_exponents(board: Board, theta: Theta) -> Floats:
    """Return the first three terms of the exponent of each code, equation (24)."""
    return np.asarray(np.array([0.0, *theta[:3]])[color_classes(board)])


# --- Games of the exponential scoring strategy, compiled: millions of games to learn from ---------


class ScoringBoard(NamedTuple):
    """A board for the kernel."""

    replies: NDArray[np.uint8]
    """``(codes, codes)``, the reply of each code to each guess."""
    sorted_codes: NDArray[np.int64]
    """``(codes,)``, sorted by `color_classes`."""
    ends: NDArray[np.int64]
    """``(4,)``, where the codes of each class end."""


class GameRecords(NamedTuple):
    """What the kernel writes of each game, ``(games,)`` each."""

    secrets: NDArray[np.int64]
    ends: NDArray[np.int64]
    """The number of turns of this game and all games before it."""


class TurnRecords(NamedTuple):
    """What the kernel writes of each turn, game after game."""

    guesses: NDArray[np.int64]
    n_consistent: NDArray[np.int64]
    """The number of codes consistent with the replies before the guess."""
    is_consistent: NDArray[np.bool_]
    """Whether the guess is one of them."""


@njit
def _draw_first(board: ScoringBoard, weights: Floats, state: NDArray[np.uint64]) -> int:
    """Return a first guess; `weights` are the scores of a code of each class."""
    total, start = 0.0, 0
    for c in range(weights.size):
        total += (board.ends[c] - start) * weights[c]
        start = int(board.ends[c])
    place, start, chosen = draw_uniform(state) * total, 0, -1
    for c in range(weights.size):
        size = int(board.ends[c]) - start
        if size > 0:
            chosen = c
            place -= size * weights[c]
            if place < 0:
                break
        start = int(board.ends[c])
    start = int(board.ends[chosen - 1]) if chosen > 0 else 0
    return int(board.sorted_codes[start + draw_below(state, int(board.ends[chosen]) - start)])


@njit
def play_scored_games(
    board: ScoringBoard,
    weights: Floats,
    theta: float,
    games: GameRecords,
    turns: TurnRecords,
    begin: int,
    state: NDArray[np.uint64],
) -> int:
    """Play games from game `begin` on, while there is room for their turns.

    Parameters
    ----------
    board
        The board.
    weights
        ``(4,)``, exp(θ_c) of each color class c; 1 for class 0.
    theta
        The weight of consistency, θ4.
    games, turns
        The records to write.
    begin
        The number of the first game; its turns begin at place 0 of `turns`.
    state
        The state of the random numbers.

    Returns
    -------
    end
        The number of the first game that had no room.
    """
    n, room, used = board.replies.shape[0], turns.guesses.size, 0
    codes = np.empty(n, dtype=np.int64)
    alive = np.empty(n, dtype=np.bool_)
    for game in range(begin, games.secrets.size):
        secret, left, turn = draw_below(state, n), n, used
        alive[:] = True
        while True:
            if turn == room:
                return game
            consistent = True
            if turn == used:
                guess = _draw_first(board, weights, state)
            else:
                odds = (n - left) / left * math.exp(-theta)
                consistent = draw_uniform(state) * (1.0 + odds) < 1.0
                if consistent:
                    guess = int(codes[draw_below(state, left)])
                else:
                    guess = draw_below(state, n)
                    while alive[guess]:
                        guess = draw_below(state, n)
            turns.guesses[turn] = guess
            turns.n_consistent[turn] = left
            turns.is_consistent[turn] = consistent
            turn += 1
            if guess == secret:
                break
            row, kept = board.replies[guess], 0
            for i in range(left):
                code = i if left == n else int(codes[i])
                if row[code] == row[secret]:
                    codes[kept] = code
                    kept += 1
                else:
                    alive[code] = False
            left = kept
        games.secrets[game] = secret
        used = turn
        games.ends[game] = used
    return int(games.secrets.size)


# --- Learning the weights of the exponential scores by importance sampling ------------------------


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
        return sealed(np.concatenate([[0], self.ends[:-1]]).astype(np.int64))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(games,)``, the number of guesses of each game."""
        return sealed(self.ends - self.begins)


@checked
def play_scored(board: Board, theta: Theta, games: int, rng: np.random.Generator) -> ScoredGames:
    """Play games of `ExponentialScoring` against uniformly random codes, without noise.

    Parameters
    ----------
    board
        The board.
    theta
        The weights of the four features; see `bnmind.strategies.snyder`.
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
        The weights of the four features; see `bnmind.strategies.snyder`.
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
        The weights of the four features; see `bnmind.strategies.snyder`.
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
