"""The report of a test, as a dataclass and as plain data for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.estimates import AnswerFit, skill_intervals
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.sessions.events import SessionState

__all__ = ["SessionReport", "SkillReport", "report_of"]


@dataclass(frozen=True, kw_only=True)
class SkillReport(Value):
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
    interval: tuple[float, float] | None = None
    """How far the probability of the most probable level is uncertain because the parameters are:
    an interval of 90 %; see `skill_intervals`. None unless the design asks for it."""


@dataclass(frozen=True, kw_only=True)
class SessionReport(Value):
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
    pilot: tuple[str, ...] = ()
    """The items asked whose answers do not count; see `PilotItems`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return dataclasses.asdict(self)


def report_of(
    design: Design,
    state: SessionState,
    prior: SkillBelief,
    belief: SkillBelief,
    *,
    answers: tuple[AnswerFit, ...],
    stop_reason: str,
) -> SessionReport:
    """Return the report of a test.

    Parameters
    ----------
    design, state
        The design of the test, and its state.
    prior, belief
        The belief before the first answer, and now.
    answers
        The person fit of the answers that count.
    stop_reason
        The reason why the test is over; empty if it continues.
    """
    bank, profile = design.bank, belief.profile()
    intervals = skill_intervals(belief) if design.report.parameters else None
    skills = []
    for name, label in zip(bank.skills, bank.labels, strict=True):
        marginal = belief.marginal(name).tolist()
        levels = dict(zip(bank.variable(name).states, marginal, strict=True))
        level = max(levels, key=lambda state: levels[state])
        skills.append(
            SkillReport(
                skill=name,
                label=label,
                level=level,
                probability=levels[level],
                levels=levels,
                interval=None if intervals is None else intervals[name][level],
            )
        )
    asked = [bank.item(name) for name in state.asked]
    return SessionReport(
        title=bank.title,
        asked=state.asked,
        skipped=state.skipped,
        answers=answers,
        skills=tuple(skills),
        profile={
            skill: bank.variable(skill).states[level]
            for skill, level in zip(bank.skills, profile.levels, strict=True)
        },
        profile_probability=profile.probability,
        entropy_before=prior.entropy,
        entropy=belief.entropy,
        log_evidence=belief.log_evidence,
        cost=sum(item.cost for item in asked),
        time=sum(item.time for item in asked),
        stop_reason=stop_reason,
        impossible=belief.error_chance != prior.error_chance,
        pilot=design.pilots_among(state.asked),
    )
