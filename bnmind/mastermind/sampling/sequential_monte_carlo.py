"""Sequential Monte Carlo over codes: weighted samples of a sequence of target distributions.

A population of codes follows a path of targets, from one that is easy to draw from to the one that
is wanted. At each stage it is *reweighted* by the ratio of the new target to the old one,
*resampled*, which repeats likely codes and drops unlikely ones, and *moved* by random walks that
leave the new target unchanged, so that repeated codes become different again. The means of the
weights estimate the normalizing constants of the targets. The stages are chosen so that the
effective sample size falls by a set factor from one to the next.

The population consists of islands that never exchange codes. They are independent estimates of
the same numbers, so their spread gives standard errors that hold however well the walks mix.

References
----------
Del Moral, Doucet and Jasra, *Sequential Monte Carlo samplers*, JRSS B 68 (2006) 411-436.
Zhou, Johansen and Aston, *Toward automatic model comparison: an adaptive sequential Monte Carlo
approach*, JCGS 25 (2016) 701-726: adaptive stages. Douc and Cappé, *Comparison of resampling
schemes for particle filtering* (2005): systematic resampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.information import Floats
from bnmind.mastermind.sampling.moves_kernel import seeded_state
from bnmind.mastermind.sampling.soft_replies import SHARP
from bnmind.mastermind.sampling.walk_kernel import Target, reply_places, walk

__all__ = ["Codes", "FreshCodes", "LogPrior", "Path", "Population", "Work", "follow", "target_logs"]

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
