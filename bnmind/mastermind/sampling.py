"""Samples of the codes that are possible after a history, on boards of any size.

After a reply, the population first follows the path that brings in the factor of this reply alone.
If the islands then disagree, the population starts again from the prior, and follows a path on
which all replies of the history become sharp together. Restarts cost more, but they forget the
errors of earlier turns.

**Sequential Monte Carlo.** A population of codes follows a path of targets, from one that is easy
to draw from to the one that is wanted. At each stage it is *reweighted* by the ratio of the new
target to the old one, *resampled*, which repeats likely codes and drops unlikely ones, and *moved*
by random walks that leave the new target unchanged, so that repeated codes become different again.
The means of the weights estimate the normalizing constants of the targets. The stages are chosen so
that the effective sample size falls by a set factor from one to the next.

The population consists of islands that never exchange codes. They are independent estimates of
the same numbers, so their spread gives standard errors that hold however well the walks mix.

**Islands.** Estimates come with standard errors:

=========  ==================================================================
symbol     name here
=========  ==================================================================
R          the number of islands
Z_r        the estimated normalizing constant of island r
w_r        Z_r / Σ Z_r, the share of island r
f_r        the estimate of island r
=========  ==================================================================

Each Z_r and each Z_r·f_r has the right expectation, so the joint estimate is Σ w_r f_r, a ratio of
two sums of independent terms. Its standard error is √(R/(R − 1)·Σ w_r²·(f_r − f)²).

**Walks** of Metropolis and Hastings. A walk visits the codes of a board so that, in the long run,
it stands on each code as often as the target distribution says. A step proposes one of Snyder's
moves, the exchange of two pegs or another color for one peg, each with probability ½, and accepts
it with probability min(1, π(new)/π(old)), since both moves are symmetric.

=========  ==================================================================
symbol     name here
=========  ==================================================================
π          the target, known up to a constant: ln π(s) = Σ_t logs[t, B_t, S_t]
t          a turn; g_t is ``guesses[t]``
B_t, S_t   black pegs of the code for guess t; black and white pegs together
G_ti       ``standing[t, i]``, how often color i occurs in guess t
=========  ==================================================================

**Softened replies.** A reported reply o multiplies the probability of a code with the true reply c
by N[c, o]. This factor may be zero for most codes, and then gives a random walk no direction. It is
*softened* by pretending that the true reply c' was misread as c with a probability that falls with
their distance:

    f_β(c) = Σ_c' exp(−β·d(c, c'))·N[c', o],    d = |ΔP| + |ΔC| + 2·|Δ(P + C)|

At β = 0 the factor is constant; for β → ∞ it becomes N[c, o]. The distance is Snyder's cost.

References
----------
Del Moral, Doucet and Jasra, *Sequential Monte Carlo samplers*, JRSS B 68 (2006) 411-436.
Zhou, Johansen and Aston, *Toward automatic model comparison: an adaptive sequential Monte Carlo
approach*, JCGS 25 (2016) 701-726: adaptive stages. Douc and Cappé, *Comparison of resampling
schemes for particle filtering* (2005): systematic resampling.
Cochran, *Sampling techniques* (1977), section 6.4: the variance of a ratio estimate. Whiteley, Lee
and Heine, *On the role of interaction in sequential Monte Carlo algorithms*, Bernoulli 22 (2016).
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.3.2: the moves.
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.3.2: the cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._messages import shown
from bnmind._values import Count, Natural, Sealed, Value, sealed
from bnmind.information import Floats
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.random_moves import (
    compare_codes,
    draw_color_change,
    draw_pair_swap,
    draw_uniform,
    seeded_state,
)

# --- The turns of a game as arrays, for compiled searches -----------------------------------------


class TurnArrays(NamedTuple):
    """The turns of a game."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``, colors 1..k."""
    black: NDArray[np.int64]
    """``(turns,)``, the black pegs of the replies."""
    both: NDArray[np.int64]
    """``(turns,)``, the black and white pegs of the replies together."""
    standing: NDArray[np.int64]
    """``(turns, k + 1)``, how often each color occurs in the guess."""


def turn_arrays(board: Board, turns: Sequence[Turn]) -> TurnArrays:
    """Return the turns of a game as arrays.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    rows = [board.checked(turn.guess) for turn in turns]
    guesses = np.array(rows, dtype=np.int64).reshape(-1, board.pegs)
    standing = np.zeros((len(guesses), board.colors + 1), dtype=np.int64)
    for row, guess in zip(standing, guesses, strict=True):
        row += np.bincount(guess, minlength=board.colors + 1)
    return TurnArrays(
        guesses,
        np.array([turn.reply.black for turn in turns], dtype=np.int64),
        np.array([sum(turn.reply) for turn in turns], dtype=np.int64),
        standing,
    )


# --- Estimates from independent islands of samples, with standard errors --------------------------


def island_shares(log_constants: Floats) -> Floats:
    """Return w_r, ``(islands,)``; at least one island must be alive."""
    shares = np.exp(log_constants - log_constants.max())
    total: Floats = shares / shares.sum()
    return total


def log_mean(log_constants: Floats) -> float:
    """Return the logarithm of the mean of Z_r; at least one island must be alive."""
    largest = float(log_constants.max())
    return largest + math.log(float(np.exp(log_constants - largest).mean()))


def effective_islands(log_constants: Floats) -> float:
    """Return 1/Σ w_r², from 1 to R; R if all islands have the same constant.

    It is 0 if no island is alive.
    """
    if log_constants.max() == -math.inf:
        return 0.0
    return float(1 / (island_shares(log_constants) ** 2).sum())


def joint_estimate(estimates: Floats, shares: Floats) -> Floats:
    """Return Σ w_r f_r, for estimates ``(islands, ...)``."""
    joint: Floats = np.tensordot(shares, estimates, axes=1)
    return joint


def joint_error(estimates: Floats, shares: Floats) -> Floats:
    """Return the standard error of Σ w_r f_r, for estimates ``(islands, ...)``."""
    n_islands = len(shares)
    if n_islands == 1:
        return np.full(estimates.shape[1:], math.nan)
    deviations = estimates - joint_estimate(estimates, shares)
    variance = np.tensordot(shares**2, deviations**2, axes=1) * n_islands / (n_islands - 1)
    error: Floats = np.sqrt(variance)
    return error


def jackknife_error(estimates: Floats) -> float:
    """Return the standard error, given the estimates that each leave out one island."""
    n_islands = len(estimates)
    if n_islands == 1:
        return math.nan
    return math.sqrt((n_islands - 1) * float(estimates.var()))


# --- Random walks of Metropolis and Hastings over codes, compiled ---------------------------------


class Target(NamedTuple):
    """A distribution over codes, known up to a constant: a product of one factor a turn."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``, colors 1..k."""
    standing: NDArray[np.int64]
    """``(turns, colors + 1)``, the number of pegs of each color in the guess."""
    logs: Floats
    """``(turns, pegs + 1, pegs + 1)``, the natural logarithm of the factor, by black pegs and by
    black and white pegs together; −∞ for replies that are excluded."""
    repeats: bool
    """Whether a color may occur twice in a code."""


@njit
def reply_places(codes: NDArray[np.uint8], target: Target, places: NDArray[np.int64]) -> None:
    """Write the place of each reply into `places`, ``(codes, turns)``: (pegs + 1)·B_t + S_t."""
    counts = np.zeros(target.standing.shape[1], dtype=np.int64)
    width = target.guesses.shape[1] + 1
    for row in range(codes.shape[0]):
        for t in range(target.guesses.shape[0]):
            black, both = compare_codes(target.guesses[t], codes[row], counts)
            places[row, t] = width * black + both


@njit
def walk(codes: NDArray[np.uint8], target: Target, steps: int, state: NDArray[np.uint64]) -> int:
    """Walk from each code; the codes are overwritten by those where the walks end.

    Parameters
    ----------
    codes
        ``(walks, pegs)``, colors 1..k.
    target
        The target distribution.
    steps
        The number of steps of each walk.
    state
        The state of the random numbers.

    Returns
    -------
    int
        The number of accepted steps that changed a code, of all walks together.
    """
    guesses, standing, logs = target.guesses, target.standing, target.logs
    (turns, pegs), colors = guesses.shape, standing.shape[1] - 1
    blacks, boths = np.zeros(turns, dtype=np.int64), np.zeros(turns, dtype=np.int64)
    new_blacks, new_boths = np.zeros(turns, dtype=np.int64), np.zeros(turns, dtype=np.int64)
    counts = np.zeros(colors + 1, dtype=np.int64)
    placed = np.zeros(colors + 1, dtype=np.int64)
    accepted = 0
    for row in range(codes.shape[0]):
        code = codes[row]
        placed[:] = 0
        for i in range(pegs):
            placed[code[i]] += 1
        now = 0.0
        for t in range(turns):
            blacks[t], boths[t] = compare_codes(guesses[t], code, counts)
            now += logs[t, blacks[t], boths[t]]
        for _ in range(steps):
            if draw_uniform(state) < 0.5:
                first, second, color, other = draw_pair_swap(code, state)
            else:
                first, second, color, other = draw_color_change(code, colors, target.repeats, state)
            old, old_other = int(np.int64(code[first])), int(np.int64(code[second]))
            if color == old:
                continue
            new = 0.0
            for t in range(turns):
                black = blacks[t] + (guesses[t, first] == color) - (guesses[t, first] == old)
                both = boths[t]
                if first != second:
                    black = (
                        black + (guesses[t, second] == other) - (guesses[t, second] == old_other)
                    )
                else:
                    # The peg of the old color counted unless there were more than in the guess.
                    both -= placed[old] <= standing[t, old]
                    both += placed[color] < standing[t, color]
                new += logs[t, black, both]
                if new == -math.inf:
                    break
                new_blacks[t], new_boths[t] = black, both
            # A walk may start at an excluded code, of weight zero. It never moves to one: the
            # replies after the turn that excludes it are not counted.
            if new == -math.inf:
                continue
            if new < now and math.log1p(-draw_uniform(state)) >= new - now:
                continue
            accepted += 1
            now = new
            blacks[:], boths[:] = new_blacks, new_boths
            if first == second:
                placed[old] -= 1
                placed[color] += 1
            else:
                code[second] = other
            code[first] = color
    return accepted


# --- Reported replies as factors of a distribution over codes, sharp or softened ------------------


SHARP = math.inf
"""The β of factors that are not softened."""


@lru_cache(maxsize=8)
def _distances(board: Board) -> Floats:
    """Return d between all true replies, ``(replies, replies)``."""
    black, white = np.array(board.true_replies, dtype=np.float64).T
    both = black + white
    distances: Floats = abs(black[:, None] - black) + abs(white[:, None] - white)
    distances += 2 * abs(both[:, None] - both)
    return sealed(distances)


def factor_logs(board: Board, likelihoods: Floats, beta: float) -> Floats:
    """Return the natural logarithms of f_β, ``(turns, pegs + 1, pegs + 1)``.

    Parameters
    ----------
    board
        The board.
    likelihoods
        ``(turns, true replies)``, the probability of each report given each true reply.
    beta
        β, from 0 to `SHARP`.

    Returns
    -------
    Floats
        By turn, black pegs, and black and white pegs together; −∞ where there is no such reply.
    """
    factors = likelihoods
    if beta != SHARP:
        factors = likelihoods @ np.exp(-beta * _distances(board))
    black, white = np.array(board.true_replies).T
    logs = np.full((len(likelihoods), board.pegs + 1, board.pegs + 1), -math.inf)
    with np.errstate(divide="ignore"):
        logs[:, black, black + white] = np.log(factors)
    return logs


def turn_target(board: Board, turns: Sequence[Turn], logs: Floats) -> Target:
    """Return the target with one factor a turn."""
    arrays = turn_arrays(board, turns)
    return Target(arrays.guesses, arrays.standing, logs, board.repeats)


# --- Sequential Monte Carlo over codes: weighted samples of a sequence of target distributions ----


Codes: TypeAlias = NDArray[np.uint8]
"""Codes as colors 1..k; the last axis is the position."""

LogPrior: TypeAlias = Callable[[Codes], Floats]
"""The logarithm of the prior probability of each code, up to a constant."""

FreshCodes: TypeAlias = Callable[[int, np.random.Generator], Codes]
"""Independent draws from a distribution over codes, ``(n, pegs)``."""

_OPERATIONS = 2 * 10**8  # factors evaluated in one call of compiled code, about half a second
_MOST_BETA = 40.0  # softer factors than this are practically sharp
_RESAMPLED = 0.9  # islands are resampled if their effective sample size falls below this share
_BISECTIONS = 12
_FRESH = 5  # steps from one new draw of the prior to the next


@dataclass(frozen=True, kw_only=True, eq=False)
class Population(Sealed):
    """Weighted codes in independent islands."""

    codes: Codes
    """``(islands, size, pegs)``."""
    log_weights: Floats
    """``(islands, size)``, natural logarithms; the weights of each island sum to one."""
    log_constants: Floats
    """``(islands,)``, natural logarithms of the estimated normalizing constants; −∞ for an island
    that has lost all its codes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """The targets between two distributions over codes."""

    target_at: Callable[[float], Target]
    """The target by β. At β = 0 its varying factors are constant; at `SHARP` it is the end."""
    varying: int
    """The number of factors that vary with β: the last ones."""
    log_prior: LogPrior | None = None
    """A further factor of all targets; None for a constant."""
    fresh: FreshCodes | None = None
    """Independent draws from the further factor, as proposals; None to propose only moves."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The work done on a path."""

    stages: int = 0
    """The number of targets on the path."""
    proposed: int = 0
    """The number of steps of the random walks."""
    accepted: int = 0
    """The number of steps that changed a code, at the last stage and before."""
    accepted_last: float = math.nan
    """The share of steps that changed a code at the last stage."""


def follow(
    population: Population,
    path: Path,
    rng: np.random.Generator,
    *,
    steps: int,
    kept: float = 0.5,
) -> tuple[Population, Work]:
    """Return the population at the end of a path, and the work done.

    Parameters
    ----------
    population
        Weighted samples of the target without its varying factors.
    path
        The targets on the way.
    rng
        The random generator.
    steps
        The number of steps of each random walk at each stage; twice as many at the last one.
    kept
        The share of the effective sample size that a stage may leave.
    """
    islands, size, pegs = population.codes.shape
    codes = population.codes.reshape(-1, pegs).copy()
    weights, constants = population.log_weights, population.log_constants
    state = seeded_state(rng)
    beta, stages, proposed, accepted, share = 0.0, 0, 0, 0, math.nan
    before = np.zeros((islands, size))
    while beta != SHARP:
        varying = _varying(path, codes)
        beta, after = _next_stage(path, varying, weights, before, beta, kept)
        weights, constants = _reweighted(weights + (after - before), constants)
        stages += 1
        if not (constants > -math.inf).any():
            break  # no code explains the replies
        chosen = _resampled(weights, rng)
        if chosen is not None:
            codes = codes[chosen]
            after = after.ravel()[chosen].reshape(islands, size)
            weights = np.full((islands, size), -math.log(size))
        n_steps = 2 * steps if beta == SHARP else steps
        alive = np.repeat(constants > -math.inf, size)
        moved = _walked(codes[alive], path, path.target_at(beta), n_steps, state, rng)
        codes[alive], n_accepted = moved
        proposed += n_steps * int(alive.sum())
        accepted += n_accepted
        share = n_accepted / max(1, n_steps * int(alive.sum()))
        before = _factors(path, _varying(path, codes), beta).reshape(islands, size)
    end = Population(
        codes=codes.reshape(islands, size, pegs), log_weights=weights, log_constants=constants
    )
    return end, Work(stages=stages, proposed=proposed, accepted=accepted, accepted_last=share)


def target_logs(codes: Codes, target: Target) -> Floats:
    """Return the natural logarithm of a target at each code, ``(codes,)``."""
    places = np.empty((len(codes), len(target.guesses)), dtype=np.int64)
    reply_places(codes, target, places)
    rows = target.logs.reshape(len(target.logs), math.prod(target.logs.shape[1:]))
    sums: Floats = np.take_along_axis(rows, places.T, axis=1).sum(axis=0)
    return sums


def _varying(path: Path, codes: Codes) -> NDArray[np.int64]:
    """Return the replies of each code in the turns whose factors vary; see `reply_places`."""
    target = path.target_at(SHARP)
    some = slice(len(target.guesses) - path.varying, None)
    part = Target(target.guesses[some], target.standing[some], target.logs[some], target.repeats)
    places = np.empty((len(codes), path.varying), dtype=np.int64)
    reply_places(codes, part, places)
    return places


def _factors(path: Path, places: NDArray[np.int64], beta: float) -> Floats:
    """Return the logarithm of the product of the varying factors, ``(codes,)``."""
    logs = path.target_at(beta).logs
    rows = logs[len(logs) - path.varying :].reshape(path.varying, -1)
    sums: Floats = np.take_along_axis(rows, places.T, axis=1).sum(axis=0)
    return sums


def _next_stage(
    path: Path,
    places: NDArray[np.int64],
    weights: Floats,
    before: Floats,
    beta: float,
    kept: float,
) -> tuple[float, Floats]:
    """Return the next β, and the logarithms of the varying factors there."""

    def at(value: float) -> tuple[float, Floats]:
        after = _factors(path, places, value).reshape(weights.shape)
        return _kept_share(weights, after - before), after

    share, after = at(SHARP)
    if share >= kept or beta >= _MOST_BETA:
        return SHARP, after
    low, high = beta, _MOST_BETA
    share, after = at(high)
    if share >= kept:
        return high, after
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2 if low else high / 4
        share, after = at(middle)
        low, high = (middle, high) if share >= kept else (low, middle)
    return high, at(high)[1]


def _kept_share(weights: Floats, increments: Floats) -> float:
    """Return the conditional effective sample size of a reweighting as a share, over all islands.

    (Σ w·v)² / Σ w·v² for the weights w and the ratios v of the targets.
    """
    largest = float(increments.max())
    if largest == -math.inf:
        return 0.0
    ratios = np.exp(increments - largest)
    plain = np.exp(weights)
    total = float((plain * ratios).sum())
    return total * total / (float((plain * ratios * ratios).sum()) * len(weights))


def _reweighted(weights: Floats, constants: Floats) -> tuple[Floats, Floats]:
    """Return normalized weights, and the constants times the sums of the given weights."""
    largest = weights.max(axis=1, keepdims=True)
    dead = largest == -math.inf
    sums = np.exp(np.where(dead, -math.inf, weights - np.where(dead, 0.0, largest)))
    with np.errstate(divide="ignore"):
        logs = np.log(sums.sum(axis=1, keepdims=True)) + np.where(dead, 0.0, largest)
    flat = np.full_like(weights, -math.log(weights.shape[1]))
    normalized = np.where(dead, flat, weights - np.where(dead, 0.0, logs))
    return normalized, constants + logs[:, 0]


def _resampled(weights: Floats, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Return the places of resampled codes; None if all islands are good enough as they are."""
    islands, size = weights.shape
    plain = np.exp(weights)
    effective = 1 / (plain**2).sum(axis=1)
    if effective.min() >= _RESAMPLED * size:
        return None
    sums = plain.cumsum(axis=1)
    sums /= sums[:, -1:]
    points = (np.arange(size) + rng.random((islands, 1))) / size
    places = [
        island * size + np.searchsorted(row, some, side="right").clip(max=size - 1)
        for island, (row, some) in enumerate(zip(sums, points, strict=True))
    ]
    return np.concatenate(places)


def _walked(
    codes: Codes,
    path: Path,
    target: Target,
    steps: int,
    state: NDArray[np.uint64],
    rng: np.random.Generator,
) -> tuple[Codes, int]:
    """Return the codes after random walks on a target, and the number of accepted steps."""
    if path.log_prior is None:
        rows = max(1, _OPERATIONS // (steps * max(1, len(target.guesses))))
        accepted = 0
        for start in range(0, len(codes), rows):  # Ctrl-C works between two calls
            accepted += walk(codes[start : start + rows], target, steps, state)
        return codes, accepted
    return _walked_under_prior(codes, path.log_prior, path.fresh, target, steps, state, rng)


def _walked_under_prior(
    codes: Codes,
    log_prior: LogPrior,
    fresh: FreshCodes | None,
    target: Target,
    steps: int,
    state: NDArray[np.uint64],
    rng: np.random.Generator,
) -> tuple[Codes, int]:
    """Return the codes after random walks on the product of a target and a prior.

    A step that leaves the target unchanged is a proposal for the product; only the ratio of the
    prior decides (Liu, *Monte Carlo strategies in scientific computing*, section 9.4.3). Now and
    then, the proposal is a new draw from the prior; only the ratio of the target decides then.
    """
    logs = np.array(log_prior(codes))
    accepted = 0
    for step in range(steps):
        if fresh is not None and step % _FRESH == 0:
            proposals = fresh(len(codes), rng)
            new = log_prior(proposals)
            ratios = target_logs(proposals, target) - target_logs(codes, target)
        else:
            proposals = codes.copy()
            walk(proposals, target, 1, state)
            new = log_prior(proposals)
            ratios = new - logs
        taken = (proposals != codes).any(axis=1) & (np.log1p(-rng.random(len(codes))) < ratios)
        codes[taken], logs[taken] = proposals[taken], new[taken]
        accepted += int(taken.sum())
    return codes, accepted


# --- The sampler of a posterior: the options, the run for a history, and what to report about it --


_AGREEING = 0.96  # share of effective islands below which a population starts again
_DOUBTFUL = 0.5  # share of effective islands below which a restart is repeated with longer walks
_UNMIXED = 0.25  # share of effective islands below which a warning is due
_LONGER = 4
_MOST_PARTICLES = 2**24


@dataclass(frozen=True, kw_only=True)
class SamplerOptions(Value):
    """The options of the sampler.

    Raises
    ------
    InvalidArgumentError
        If a number is too small, or there would be more than 16 million codes.
    """

    islands: Annotated[int, Ge(2)] = 16
    """The number of independent populations, at least 2: their spread gives standard errors."""
    size: Annotated[int, Ge(2)] = 128
    """The number of codes on each island, at least 2."""
    steps: Count | None = None
    """The number of steps of a random walk at each stage; by default ten for each peg."""
    seed: Natural = 0
    """The seed of all random numbers, not negative."""

    def _faults(self) -> Iterator[str]:
        if (codes := self.islands * self.size) > _MOST_PARTICLES:
            yield f"expected at most {_MOST_PARTICLES:,} codes on all islands, got {shown(codes)}"


@dataclass(frozen=True, kw_only=True)
class SamplerInfo:
    """A report on the sampler's last run, for people and for tests of its quality."""

    codes: int
    """The number of codes on all islands."""
    distinct: int
    """The number of different codes."""
    effective_size: float
    """The number of independent draws that would be as precise, by the weights alone."""
    effective_islands: float
    """The number of islands that would be as precise if all agreed on the evidence."""
    stages: int
    """The number of targets on the path to the posterior."""
    steps: int
    """The number of steps of the random walks, of all codes together."""
    acceptance: float
    """The share of steps that changed a code."""
    final_acceptance: float
    """The share of steps that changed a code when the replies were sharp."""
    restarted: bool
    """Whether the population started again from the prior."""
    listed: bool
    """Whether the belief lists all possible codes instead, so that its numbers are exact."""
    warning: str | None = None
    """A warning if the islands disagree so much that the numbers are not reliable."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Start(Sealed):
    """The prior, as the sampler needs it."""

    board: Board
    """The board."""
    log_prior: LogPrior | None
    """The logarithm of the weight of each code; None if the prior is uniform."""
    fresh: FreshCodes
    """Independent draws from the prior."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Replies(Sealed):
    """A history as factors of the posterior."""

    board: Board
    """The board."""
    turns: tuple[Turn, ...]
    """The turns."""
    likelihoods: Floats
    """``(turns, true replies)``, the probability of each report given each true reply."""

    def target(self, beta: float = SHARP, *, varying: int = 0) -> Target:
        """Return the posterior whose last factors are softened."""
        logs = factor_logs(self.board, self.likelihoods, SHARP)
        if varying and beta != SHARP:
            logs[-varying:] = factor_logs(self.board, self.likelihoods[-varying:], beta)
        return turn_target(self.board, self.turns, logs)

    def logs(self, codes: Codes) -> Floats:
        """Return the natural logarithm of the likelihood of codes, ``(..., pegs)``."""
        return target_logs(codes.reshape(-1, self.board.pegs), self.target()).reshape(
            codes.shape[:-1]
        )

    def path(self, start: Start, *, varying: int) -> Path:
        """Return the path on which the last factors become sharp."""
        return Path(
            target_at=lambda beta: self.target(beta, varying=varying),
            varying=varying,
            log_prior=start.log_prior,
            fresh=start.fresh,
        )


def first_population(start: Start, options: SamplerOptions, *, attempt: int = 0) -> Population:
    """Return independent draws from the prior; each attempt draws others."""
    rng = _rng(options, 0, attempt)
    islands, size = options.islands, options.size
    codes: Codes = start.fresh(islands * size, rng)
    return Population(
        codes=codes.reshape(islands, size, start.board.pegs),
        log_weights=np.full((islands, size), -math.log(size)),
        log_constants=np.zeros(islands),
    )


def sample_update(
    population: Population, replies: Replies, start: Start, options: SamplerOptions
) -> tuple[Population, Work, bool]:
    """Return the population after the last reply, the work, and whether it started again.

    Parameters
    ----------
    population
        Samples of the posterior before the last reply.
    replies
        The history with the last reply.
    start
        The prior.
    options
        The options of the sampler.
    """
    rng = _rng(options, len(replies.turns), 0)
    path = replies.path(start, varying=1)
    after, work = follow(population, path, rng, steps=_steps(options, replies.board))
    if effective_islands(after.log_constants) >= _AGREEING * options.islands:
        return after, work, False
    again, more = restart(replies, start, options)
    return again, _together(work, more), True


def restart(replies: Replies, start: Start, options: SamplerOptions) -> tuple[Population, Work]:
    """Return samples of the posterior from new draws of the prior, and the work.

    If the islands disagree, it tries once more with longer walks.
    """
    steps = _steps(options, replies.board)
    path = replies.path(start, varying=len(replies.turns))
    works: list[Work] = []
    for attempt, factor in ((1, 1), (2, _LONGER)):
        rng = _rng(options, len(replies.turns), attempt)
        population, work = follow(
            first_population(start, options, attempt=attempt), path, rng, steps=factor * steps
        )
        works.append(work)
        if effective_islands(population.log_constants) >= _DOUBTFUL * options.islands:
            break
    return population, works[0] if len(works) == 1 else _together(*works)


def warning_of(population: Population) -> str | None:
    """Return a warning if the islands disagree too much."""
    effective = effective_islands(population.log_constants)
    n_islands = len(population.log_constants)
    if effective >= _UNMIXED * n_islands:
        return None
    return (
        f"the {n_islands} independent samples disagree, as if there were only {effective:.1f} of"
        f" them; the estimates are rough, use more codes or longer walks"
    )


def _steps(options: SamplerOptions, board: Board) -> int:
    return 10 * board.pegs if options.steps is None else options.steps


def _rng(options: SamplerOptions, turn: int, attempt: int) -> np.random.Generator:
    """Return the generator of a run; the same history has the same luck."""
    return np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=(turn, attempt)))


def _together(first: Work, second: Work) -> Work:
    return replace(
        second,
        stages=first.stages + second.stages,
        proposed=first.proposed + second.proposed,
        accepted=first.accepted + second.accepted,
    )
