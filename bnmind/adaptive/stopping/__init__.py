"""Rules that end a test."""

from bnmind.adaptive.stopping.certainty import (
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    ProfileCertain,
    SkillsCertain,
)
from bnmind.adaptive.stopping.length import MaximalCost, MaximalItems, MaximalTime
from bnmind.adaptive.stopping.plateau import Plateau
from bnmind.adaptive.stopping.probability_ratio import AbilityDecided, SkillsDecided
from bnmind.adaptive.stopping.registry import STOPPERS, stopper_by_names
from bnmind.adaptive.stopping.stopper import AllOf, AnyOf, BatchProgress, Progress, StopBy, Stopper

__all__ = [
    "STOPPERS",
    "AbilityDecided",
    "AllOf",
    "AnyOf",
    "BatchProgress",
    "DeviationBelow",
    "EntropyBelow",
    "GainBelow",
    "MaximalCost",
    "MaximalItems",
    "MaximalTime",
    "Plateau",
    "ProfileCertain",
    "Progress",
    "SkillsCertain",
    "SkillsDecided",
    "StopBy",
    "Stopper",
    "stopper_by_names",
]
