"""Session files: reading, replaying, and writing unless another program has written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._files import SMALL_FILE, create_file, locked, write_file
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_files import read_text
from bnmind.adaptive.sessions.events import Event, Replay, SessionState
from bnmind.adaptive.sessions.history import History
from bnmind.errors import BnmindError, SessionFileError

if TYPE_CHECKING:
    from bnmind.adaptive.sessions.records import SavedSession

__all__ = ["exists_already", "read_log", "refuse_long", "replayed", "write_log"]


def read_log(place: Path, bank: ItemBank | None, *, salvage: bool) -> SavedSession:
    """Return the content of a file; if ``salvage``, of its complete lines.

    Raises
    ------
    SessionFileError
        If the file is not a session, or is a session of another bank than one that is given.
    """
    from bnmind.adaptive.sessions.records import bank_fingerprint, salvaged, session_from_json

    try:
        text = read_text(place, most=SMALL_FILE, damaged=True)
        saved = salvaged(text) if salvage else session_from_json(text)
    except BnmindError as fault:
        line, column = (getattr(fault, name, None) for name in ("line", "column"))
        where = "" if str(place) in str(fault) else f", in {place}"
        raise SessionFileError(f"{fault}{where}", str(place), line=line, column=column) from fault
    if bank is not None and saved.bank.fingerprint != bank_fingerprint(bank):
        raise SessionFileError(
            f"expected a session of the bank {bank.title or 'given'}, got a session of"
            f" {saved.bank.title or 'another bank'} with other skills, items or probabilities,"
            f" in {place}",
            str(place),
        )
    return saved


def replayed(place: Path, bank: ItemBank, events: Sequence[Event]) -> SessionState:
    """Return the state that the events of a file lead to.

    Raises
    ------
    SessionFileError
        If an event is not valid; the message names the event.
    """
    replay = Replay(bank)
    for number, event in enumerate(events):
        try:
            replay.add(event)
        except BnmindError as fault:
            raise SessionFileError(f"{fault}, at events.{number} in {place}", str(place)) from fault
    return replay.state()


def write_log(place: Path, content: str, *, text_before: str, before: History[Event]) -> None:
    """Write a session to its file, unless the file holds other events than those before.

    Parameters
    ----------
    place
        The file.
    content
        The text to write.
    text_before
        The text that the file has if this program was the last to write it.
    before
        The events that the file must hold, whatever its text.

    Raises
    ------
    SessionFileError
        If another program has written to the file, or if no reader would take so long a text.
    """
    refuse_long(place, content)
    with locked(place):
        if not place.exists():  # removed meanwhile: there is nothing that could be lost
            unchanged = create_file(place, content)
        else:
            unchanged = _holds(place, text_before, before)
            if unchanged:
                write_file(place, content)
    if not unchanged:
        raise SessionFileError(
            f"someone else has written to {place} since this session wrote to it; load it"
            " again, or save this session to another file",
            str(place),
        )


def refuse_long(place: Path, content: str) -> None:
    """Refuse to write a session that is longer than its reader accepts.

    Raises
    ------
    SessionFileError
        If the text has more than 16 MiB.
    """
    # A character takes at most four bytes: short texts need not be encoded to be measured.
    if len(content) * 4 > SMALL_FILE and len(content.encode()) > SMALL_FILE:
        raise SessionFileError(
            f"the session has become too long: {place} would have more than the"
            f" {SMALL_FILE >> 20} MiB that can be loaded again; start a new session",
            str(place),
        )


def exists_already(place: Path) -> SessionFileError:
    """Return the error for a new session whose file exists."""
    return SessionFileError(
        f"{place} exists; load it to continue that session, or choose another file",
        str(place),
    )


def _holds(place: Path, text: str, events: History[Event]) -> bool:
    """Return whether a file is a session with these events; its text need not be the same."""
    from bnmind.adaptive.sessions.records import session_from_json

    try:
        content = read_text(place, most=SMALL_FILE)
        # The first test is quick; the second reads every event.
        return content == text or session_from_json(content).events == events.to_tuple()
    except BnmindError:
        return False
