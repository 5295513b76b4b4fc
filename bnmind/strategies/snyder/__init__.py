"""Snyder's players: exponential scores that are learned, and a random walk over codes."""

from bnmind.strategies.snyder.metropolis_hastings import (
    MetropolisHastings,
    WalkMemory,
    stopping_steps,
)

__all__ = ["MetropolisHastings", "WalkMemory", "stopping_steps"]
