"""Simulated and replayed tests of many examinees."""

from bnmind.adaptive.simulation.measures import (
    ABILITY,
    ABILITY_DEVIATION,
    ABILITY_ERROR,
    ABILITY_SQUARED_ERROR,
    ACCURACY,
    ATTRIBUTE_ACCURACY,
    BRIER_SCORE,
    ENTROPY,
    LOG_SCORE,
    PATTERN_ACCURACY,
    PROFILE_PROBABILITY,
    UNASKED_ACCURACY,
    Measure,
    Moment,
    default_measures,
)
from bnmind.adaptive.simulation.replay import replay
from bnmind.adaptive.simulation.results import SelectorRun, SimulationResult
from bnmind.adaptive.simulation.simulate import SimulationOptions, simulate

__all__ = [
    "ABILITY",
    "ABILITY_DEVIATION",
    "ABILITY_ERROR",
    "ABILITY_SQUARED_ERROR",
    "ACCURACY",
    "ATTRIBUTE_ACCURACY",
    "BRIER_SCORE",
    "ENTROPY",
    "LOG_SCORE",
    "PATTERN_ACCURACY",
    "PROFILE_PROBABILITY",
    "UNASKED_ACCURACY",
    "Measure",
    "Moment",
    "SelectorRun",
    "SimulationOptions",
    "SimulationResult",
    "default_measures",
    "replay",
    "simulate",
]
