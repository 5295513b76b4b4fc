"""Live sessions: one examinee, saved after every answer."""

from bnmind.adaptive.sessions.design import Design, Outlook
from bnmind.adaptive.sessions.events import Event, EventKind
from bnmind.adaptive.sessions.report import SessionReport, SkillReport
from bnmind.adaptive.sessions.session import Session

__all__ = ["Design", "Event", "EventKind", "Outlook", "Session", "SessionReport", "SkillReport"]
