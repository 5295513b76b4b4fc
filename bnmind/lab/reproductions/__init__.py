"""Reproductions of published figures, and new experiments, each by one command."""

from bnmind.lab.reproductions.base.figures import (
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    Verdict,
    exact,
    measured,
)
from bnmind.lab.reproductions.base.published import published
from bnmind.lab.reproductions.base.reproduction import (
    DonePart,
    Part,
    Reproduction,
    Setting,
    Size,
    default_data,
)
from bnmind.lab.reproductions.registry import REPRODUCTIONS
from bnmind.lab.reproductions.saved import SavedRun, read_run, reproduce_into

__all__ = [
    "REPRODUCTIONS",
    "Better",
    "DonePart",
    "Estimate",
    "Figure",
    "Part",
    "Reference",
    "Reproduction",
    "SavedRun",
    "Setting",
    "Size",
    "Standing",
    "Verdict",
    "default_data",
    "exact",
    "measured",
    "published",
    "read_run",
    "reproduce_into",
]
