"""The report of a test, as a dataclass and as plain data for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.person_fit import AnswerFit

__all__ = ["SessionReport", "SkillReport"]


@dataclass(frozen=True, kw_only=True)
class SkillReport(CheckedValue):
    """The result of a test for one skill."""

    skill: str
    """The name of the skill."""
    label: str
    """The full name of the skill."""
    level: str
    """The most probable level."""
    probability: float
    """The probability of that level."""
    levels: Mapping[str, float]
    """The probability of every level."""


@dataclass(frozen=True, kw_only=True)
class SessionReport(CheckedValue):
    """The result of a test."""

    title: str
    """The title of the bank."""
    asked: tuple[str, ...]
    """The items asked, in order."""
    skipped: tuple[str, ...]
    """The items asked and not answered."""
    answers: tuple[AnswerFit, ...]
    """The answers, in order, with the person fit of each."""
    skills: tuple[SkillReport, ...]
    """The skills, in the order of the bank."""
    profile: Mapping[str, str]
    """The most probable levels of all skills together."""
    profile_probability: float
    """The probability of that profile as a whole."""
    entropy_before: float
    """The entropy of all skills before the test, in bits."""
    entropy: float
    """The entropy of all skills now, in bits."""
    log_evidence: float
    """Natural logarithm of the probability of all answers."""
    cost: float
    """The total cost of the items asked."""
    time: float
    """The total time of the items asked, as stated in the bank."""
    stop_reason: str
    """The reason why the test is over; empty if it continues."""
    impossible: bool = False
    """Whether no profile of the skills explains all answers; see `Session.impossible`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return dataclasses.asdict(self)
