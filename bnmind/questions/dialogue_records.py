"""The records of files with dialogues.

This module imports pydantic, so it is itself imported when first needed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bnmind.pgm.formats.json_records import Strict, validated

__all__ = ["DialogueRecord", "EventRecord", "dialogue_record"]

SCHEMA, VERSION = "bnmind-dialogue", 1


class _NetworkRecord(Strict):
    variables: int
    fingerprint: str


class EventRecord(Strict):
    """An event."""

    kind: Literal["answer", "skip", "change", "undo"]
    question: str = ""
    answer: str = ""
    at: str = ""


class DialogueRecord(Strict):
    """A dialogue."""

    schema_name: Literal["bnmind-dialogue"] = Field(alias="schema")
    version: Literal[1]
    network: _NetworkRecord
    about: Annotated[list[str], Field(fail_fast=True)]
    options: dict[str, str] = Field(default_factory=dict)
    events: Annotated[list[EventRecord], Field(fail_fast=True)]


def dialogue_record(text: str) -> DialogueRecord:
    """Return the record in a text; raise `ModelFileError` with all faults if it is none."""
    return validated(text, SCHEMA, {VERSION: DialogueRecord})
