"""The record of files with dialogues.

This module imports pydantic, so it is itself imported when first needed.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bnmind._records import EXACTLY, FileRecord, LargeRecord, Names
from bnmind.questions.events import AnswerEvent

__all__ = ["DialogueRecord"]


class _NetworkRecord(LargeRecord):
    variables: int
    fingerprint: str


class DialogueRecord(FileRecord):
    """A dialogue."""

    network: _NetworkRecord
    about: Names
    options: dict[str, str] = Field(default_factory=dict)
    events: list[Annotated[AnswerEvent, EXACTLY]]
