"""What a test has found out, as a record and as plain data for JSON."""

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
    """What is known of one skill."""

    skill: str
    """The name of the skill."""
    label: str
    """What it is called at length."""
    level: str
    """The most probable level."""
    probability: float
    """The probability of that level."""
    levels: Mapping[str, float]
    """The probability of every level."""


@dataclass(frozen=True, kw_only=True)
class SessionReport(CheckedValue):
    """What a test has found out."""

    title: str
    """That of the bank."""
    asked: tuple[str, ...]
    """The items asked, in order."""
    skipped: tuple[str, ...]
    """Those of them that were not answered."""
    answers: tuple[AnswerFit, ...]
    """The answers, in order, and how surprising each is, given all the others."""
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
    """Natural logarithm of the probability of all the answers."""
    cost: float
    """What the items asked cost together."""
    time: float
    """How long they take together, as the bank states it."""
    stop_reason: str
    """Why the test is over; empty if it goes on."""
    impossible: bool = False
    """Whether no profile of the skills explains all the answers; see `Session.impossible`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return dataclasses.asdict(self)
