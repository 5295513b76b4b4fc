"""Snyder's players: exponential scores that are learned, and a random walk over codes."""

from bnmind.strategies.snyder.learning import (
    LearnedTheta,
    LengthEstimate,
    ScoredGames,
    estimate_length,
    learn_theta,
    log_probabilities,
    play_scored,
)
from bnmind.strategies.snyder.metropolis_hastings import (
    MetropolisHastings,
    WalkMemory,
    stopping_steps,
)
from bnmind.strategies.snyder.metropolis_kernel import WalkRule, facts_of, run_walk, start_walk
from bnmind.strategies.snyder.scoring import (
    INITIAL_THETA,
    LEARNED_THETA,
    ExponentialScoring,
    Theta,
)

__all__ = [
    "INITIAL_THETA",
    "LEARNED_THETA",
    "ExponentialScoring",
    "LearnedTheta",
    "LengthEstimate",
    "MetropolisHastings",
    "ScoredGames",
    "Theta",
    "WalkMemory",
    "WalkRule",
    "estimate_length",
    "facts_of",
    "learn_theta",
    "log_probabilities",
    "play_scored",
    "run_walk",
    "start_walk",
    "stopping_steps",
]
