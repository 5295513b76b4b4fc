"""Reproductions of published figures, and new experiments, each by one command.

To add a reproduction, describe it in ``catalog.toml``, and add its program to `PROGRAMS` in the
module of its source. The contract tests run over every member.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from bnmind.lab.reproductions import learned, mastermind, new_experiments
from bnmind.lab.reproductions.figures import (
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    Verdict,
    exact,
    measured,
    published,
    toml,
)
from bnmind.lab.reproductions.reproduction import (
    DonePart,
    Part,
    Reproduction,
    Setting,
    Size,
    default_data,
    parts_of,
)
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

_PROGRAMS = {**mastermind.PROGRAMS, **learned.PROGRAMS, **new_experiments.PROGRAMS}

REPRODUCTIONS: Mapping[str, Reproduction] = MappingProxyType(
    {
        name: Reproduction(
            **about,
            parts=partial(parts_of, _PROGRAMS[name]),
            draw=new_experiments.DRAWN.get(name),
        )
        for name, about in toml("catalog").items()
    }
)
"""The reproduction of each name, in the order in which they run."""
