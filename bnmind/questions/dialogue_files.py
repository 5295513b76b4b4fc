"""Dialogues as JSON files, with one event on each line; see `bnmind.questions.event_log`.

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

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bnmind._arguments import checked
from bnmind._messages import one_line
from bnmind._records import EXACTLY, FileRecord, LargeRecord, Names
from bnmind._values import Value
from bnmind.errors import BnmindError, ModelFileError
from bnmind.junction.engine import Engine
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import TabularCPD
from bnmind.questions.dialogue import Dialogue, Inquiry
from bnmind.questions.event_log import Event, log_to_json, read_log, rounded, write_log


class _NetworkRecord(LargeRecord):
    variables: int
    fingerprint: str


class DialogueRecord(FileRecord):
    """A dialogue."""

    network: _NetworkRecord
    about: Names
    options: dict[str, str] = Field(default_factory=dict)
    events: tuple[Annotated[Event, EXACTLY], ...]


_SCHEMA = "bnmind-dialogue"


def fingerprint(engine: Engine) -> str:
    """Return a text that differs between networks with other variables, states, arcs or tables.

    Noisy nodes count by their kind, links and leak, and functional nodes by their function.
    """
    digest = hashlib.sha256()
    for v in engine.model.variables:
        digest.update(json.dumps([v.name, v.states]).encode())
    for potential in engine.model.potentials:
        digest.update(json.dumps([v.name for v in potential.scope]).encode())
        if isinstance(potential, TabularCPD | Factor):
            digest.update(rounded(np.real(potential.values), "<f8"))
            continue
        digest.update(type(potential).__name__.encode())
        if isinstance(potential, FunctionalCPD):
            digest.update(_described(potential.function).encode())
        else:
            for contribution in potential.contributions:
                digest.update(rounded(contribution, "<f8"))
    return digest.hexdigest()[:32]


def _described(part: Any) -> str:
    """Return a function, or a part of one, as a text that is the same in every process."""
    if isinstance(part, np.ndarray):
        return f"{part.shape}{part.tolist()}"
    if isinstance(part, tuple | list):
        return f"({','.join(map(_described, part))})"
    if is_dataclass(part):
        values = (getattr(part, one.name) for one in fields(part))
        return f"{type(part).__name__}({','.join(map(_described, values))})"
    # An object without a repr of its own shows its address.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(part))


@dataclass(frozen=True, kw_only=True)
class SavedDialogue(Value):
    """The content of a file with a dialogue."""

    fingerprint: str
    """That of the network."""
    about: tuple[str, ...]
    """The targets."""
    events: tuple[Event, ...]
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
        "version": 1,
        "network": {"variables": len(engine.model.variables), "fingerprint": fingerprint(engine)},
        "about": list(dialogue.inquiry.about),
        "options": dict(options or {}),
    }
    return log_to_json(head, dialogue.events, also=True)


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
        If it is too long to be read again, or cannot be written. An existing file is then
        unchanged.
    """
    text = dialogue_to_json(dialogue, options=options)
    write_log(path, text, before=before)
    return text


@checked
def read_dialogue(path: str | os.PathLike[str], *, salvage: bool = False) -> SavedDialogue:
    """Return the content of a file with a dialogue.

    Parameters
    ----------
    path
        The file, which `write_dialogue` wrote.
    salvage
        Whether to read the complete lines of a truncated or damaged file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not such a file, is damaged or from a newer version.
    """
    record, text = read_log(path, _SCHEMA, DialogueRecord, salvage=salvage)
    return SavedDialogue(
        fingerprint=record.network.fingerprint,
        about=tuple(record.about),
        events=record.events,
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
