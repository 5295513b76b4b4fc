"""The sampler of a posterior: the options, the run for a history, and what to report about it.

After a reply, the population first follows the path that brings in the factor of this reply alone.
If the islands then disagree, the population starts again from the prior, and follows a path on
which all replies of the history become sharp together. Restarts cost more, but they forget the
errors of earlier turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._messages import shown
from bnmind._values import Count, Natural, Sealed, Value
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling.island_estimates import effective_islands
from bnmind.mastermind.sampling.sequential_monte_carlo import (
    Codes,
    FreshCodes,
    LogPrior,
    Path,
    Population,
    Work,
    follow,
    target_logs,
)
from bnmind.mastermind.sampling.soft_replies import SHARP, factor_logs, turn_target
from bnmind.mastermind.sampling.walk_kernel import Target

__all__ = [
    "Replies",
    "SamplerInfo",
    "SamplerOptions",
    "Start",
    "first_population",
    "restart",
    "sample_update",
    "warning_of",
]

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
        if self.islands * self.size > _MOST_PARTICLES:
            yield (
                f"expected at most {_MOST_PARTICLES:,} codes on all islands, got"
                f" {shown(self.islands * self.size)}"
            )


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
