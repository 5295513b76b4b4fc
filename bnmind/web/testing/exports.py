"""The sessions of a class as CSV tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from bnmind.adaptive import Event, EventKind
from bnmind.web.testing.live import LiveTests
from bnmind.web.testing.store import Sitting

__all__ = ["EXPORTS", "answers_csv", "posteriors_csv", "responses_csv"]


def responses_csv(tests: LiveTests) -> str:
    """Return a row for each session with an answer, and a column for each item.

    A cell holds the name of the response; it is empty if there is none.
    """
    items = tests.given.bank.item_names
    rows = []
    for sitting, events in tests.sittings_with_events():
        given = _given(event for event, _ in events)
        if given:
            rows.append([_examinee(sitting), *(given.get(item, "") for item in items)])
    return _text(["examinee", *items], rows)


def answers_csv(tests: LiveTests) -> str:
    """Return a row for each event: the choice, the response, the time and the seconds it took."""
    rows = []
    for sitting, events in tests.sittings_with_events():
        before: str | None = None
        for number, (event, choice) in enumerate(events, start=1):
            seconds = "" if before is None else f"{_seconds(before, event.at):.1f}"
            rows.append(
                [
                    _examinee(sitting),
                    str(number),
                    event.kind.value,
                    event.item,
                    choice,
                    event.response,
                    event.at,
                    seconds,
                ]
            )
            before = event.at
    header = ["examinee", "number", "event", "item", "choice", "response", "at", "seconds"]
    return _text(header, rows)


def posteriors_csv(tests: LiveTests) -> str:
    """Return a row for each session: its state, and the probability of each level of each skill."""
    bank = tests.given.bank
    columns = [(skill, level) for skill in bank.skills for level in bank.variable(skill).states]
    rows = []
    for sitting in tests.store.sittings(tests.key):
        standing = sitting.standing
        known = standing.posterior
        shares = ["" if known is None else f"{known[skill][level]:.6f}" for skill, level in columns]
        rows.append(
            [
                _examinee(sitting),
                _harmless(sitting.name),
                tests.state_of(sitting),
                str(standing.n_asked),
                str(standing.n_answered),
                standing.stop_reason,
                sitting.created,
                sitting.last,
                "" if standing.entropy is None else f"{standing.entropy:.6f}",
                *shares,
            ]
        )
    header = ["examinee", "name", "state", "asked", "answered", "stop_reason", "created", "last"]
    return _text([*header, "bits_open", *(f"{s}={level}" for s, level in columns)], rows)


EXPORTS: Mapping[str, Callable[[LiveTests], str]] = MappingProxyType(
    {"responses": responses_csv, "answers": answers_csv, "posteriors": posteriors_csv}
)
"""The tables by their names."""


def _given(events: Iterable[Event]) -> dict[str, str]:
    """Return the name of the response to each item that has one."""
    kinds = (EventKind.ANSWER, EventKind.CHANGE)
    return {event.item: event.response for event in events if event.kind in kinds}


def _examinee(sitting: Sitting) -> str:
    return sitting.code or f"session-{sitting.id}"


def _harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula.

    >>> _harmless("=cmd()"), _harmless("Ann")
    ("'=cmd()", 'Ann')
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def _seconds(before: str, at: str) -> float:
    return (datetime.fromisoformat(at) - datetime.fromisoformat(before)).total_seconds()


def _text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
