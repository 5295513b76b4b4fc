"""Pilot items: new items that are asked in live tests to learn their parameters."""

from bnmind.adaptive.pilot.pilot_items import PilotItems
from bnmind.adaptive.pilot.rules import (
    PILOT_RULES,
    LeastCalibrated,
    MostInformativePilot,
    PilotRule,
    RandomPilot,
)

__all__ = [
    "PILOT_RULES",
    "LeastCalibrated",
    "MostInformativePilot",
    "PilotItems",
    "PilotRule",
    "RandomPilot",
]
