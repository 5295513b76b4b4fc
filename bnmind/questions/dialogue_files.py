"""Dialogues as JSON files, with one event on each line.

::

    {"schema": "bnmind-dialogue", "version": 1,
     "network": {"variables": 8, "fingerprint": "…"}, "about": ["fault"],
     "options": {"--among": "noise,leak"},
     "events": [
      {"kind": "answer", "question": "noise", "answer": "yes", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, OvertakenError, locked, read_text, write_file
from bnmind._messages import one_line
from bnmind._records import (
    EXACTLY,
    FileRecord,
    LargeRecord,
    Names,
    fields_given,
    record_from_json,
)
from bnmind._values import Value
from bnmind.errors import BnmindError, ModelFileError
from bnmind.questions.dialogue import AnswerEvent, Dialogue, Inquiry, fingerprint


class _NetworkRecord(LargeRecord):
    variables: int
    fingerprint: str


class DialogueRecord(FileRecord):
    """A dialogue."""

    network: _NetworkRecord
    about: Names
    options: dict[str, str] = Field(default_factory=dict)
    events: list[Annotated[AnswerEvent, EXACTLY]]


_SCHEMA, _VERSION = "bnmind-dialogue", 1


@dataclass(frozen=True, kw_only=True)
class SavedDialogue(Value):
    """The content of a file with a dialogue."""

    fingerprint: str
    """That of the network."""
    about: tuple[str, ...]
    """The targets."""
    events: tuple[AnswerEvent, ...]
    """All events, undone ones and undos too."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Other texts saved with the dialogue, such as the options of a command."""
    text: str = ""
    """The text of the file."""


@checked
def dialogue_to_json(dialogue: Dialogue, *, options: Mapping[str, str] | None = None) -> str:
    """Return a dialogue as JSON text, with one event on each line.

    Parameters
    ----------
    dialogue
        The dialogue.
    options
        Other texts to save with it.
    """
    engine = dialogue.inquiry.engine
    head = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "network": {"variables": len(engine.model.variables), "fingerprint": fingerprint(engine)},
        "about": list(dialogue.inquiry.about),
        "options": dict(options or {}),
    }
    events = ",\n".join(
        f"  {json.dumps(fields_given(e), ensure_ascii=False)}" for e in dialogue.events
    )
    start = json.dumps(head, ensure_ascii=False)[:-1]
    return f'{start},\n "events": [\n{events}{chr(10) if events else ""} ]}}\n'


@checked
def write_dialogue(
    path: str | os.PathLike[str],
    dialogue: Dialogue,
    *,
    options: Mapping[str, str] | None = None,
    before: str | None = None,
) -> str:
    """Write a dialogue to a file, unless another program has written to it; return the text.

    Parameters
    ----------
    path
        The file.
    dialogue, options
        As for `dialogue_to_json`.
    before
        The text that the file has if this program was the last to write it; None if the file must
        not exist. A file that was removed in the meantime is written again.

    Raises
    ------
    OvertakenError
        If the file holds something else.
    ModelFileError
        If it cannot be written. An existing file is then unchanged.
    """
    text = dialogue_to_json(dialogue, options=options)
    place = Path(path)
    with locked(place):
        if place.exists() and (before is None or read_text(place, most=SMALL_FILE) != before):
            raise OvertakenError(
                f"another program has written to {place}, so this dialogue is not saved there; the"
                " same command resumes what is there",
                str(place),
            )
        write_file(place, text)
    return text


@checked
def read_dialogue(path: str | os.PathLike[str]) -> SavedDialogue:
    """Return the content of a file with a dialogue.

    Parameters
    ----------
    path
        The file, which `write_dialogue` wrote.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not such a file, is damaged or from a newer version.
    """
    place = os.fspath(path)
    try:
        text = read_text(place, most=SMALL_FILE)
        record = record_from_json(text, _SCHEMA, {_VERSION: DialogueRecord})
    except ModelFileError as fault:
        told = f"expected a dialogue in {place}: {fault}"
        raise ModelFileError(told, place, line=fault.line, column=fault.column) from fault
    return SavedDialogue(
        fingerprint=record.network.fingerprint,
        about=tuple(record.about),
        events=tuple(record.events),
        options=record.options,
        text=text,
    )


@checked
def resumed_dialogue(
    saved: SavedDialogue, inquiry: Inquiry, *, path: str | os.PathLike[str] = ""
) -> Dialogue:
    """Return the dialogue of a file, as it was after its last event.

    Parameters
    ----------
    saved
        The content of the file.
    inquiry
        The network, the targets and the options.
    path
        The file, for messages.

    Raises
    ------
    ModelFileError
        If it is a dialogue about another network or other targets, or an event is not valid.
    """
    place = os.fspath(path) or "the file"
    if saved.fingerprint != fingerprint(inquiry.engine):
        raise ModelFileError(
            f"the dialogue in {place} is about a network with other variables, states or tables",
            place,
        )
    if saved.about != inquiry.about:
        raise ModelFileError(
            f"the dialogue in {place} is about {one_line(', '.join(saved.about))}, not about"
            f" {', '.join(inquiry.about)}",
            place,
        )
    try:
        dialogue = Dialogue(inquiry, saved.events)
        _ = dialogue.belief  # raises if the answers are impossible
    except BnmindError as fault:
        raise ModelFileError(f"{fault}, in {place}", place) from fault
    return dialogue
