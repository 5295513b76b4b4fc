"""The sessions of a class as tables: one workbook, or CSV files.

Spreadsheets take some texts for formulas, dates or numbers. In a workbook each cell has a type. In
a CSV file such a text begins with an apostrophe, as OWASP recommends ("CSV Injection").
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from bnmind.questions.event_log import Event, EventKind
from bnmind.web.live import LiveTests
from bnmind.web.store import Sitting

_Cell: TypeAlias = str | int | float | datetime | None
_Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[_Cell]]]

SEPARATORS: Mapping[str, str] = MappingProxyType({"comma": ",", "semicolon": ";", "tab": "\t"})
"""The separators of CSV files by their names. With semicolons, numbers have a decimal comma."""

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,14})(\.\d*[1-9])?")
_FORMULA = re.compile(r"(^|[,;|\t\r\n])(?=\s*[=+\-@])")
"""The places where a formula begins, also if the file is read with another separator."""
_MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(tember)?|oct(ober)?"
    r"|nov(ember)?|dec(ember)?)"
)
_GUESSED = re.compile(
    rf"\d[\d\s]*[-/.,:]\s*\d.*|\d+[-/. ]*{_MONTH}\b.*|{_MONTH}[-/. ]*\d+.*|0\d+|\d{{16,}}"
    r"|\d+e[+-]?\d+|[.,]\d+|\(\d[\d\s.,]*\)|[$€£¥]\s*\d.*|\d[\d\s]*[%$€£¥]",
    re.IGNORECASE | re.DOTALL,
)
"""Texts that may become dates, times or other numbers, such as 3/10, 2 1/5, 0.50, (3), 5 %."""


def _responses(tests: LiveTests) -> _Table:
    """Return a row for each session with an answer, and a column for each item.

    A cell holds the name of the response; it is empty if there is none.
    """
    items = tests.given.bank.item_names
    rows = []
    for who, _, events in _sessions(tests):
        given = _given(event for event, _ in events)
        if given:
            rows.append([who, *(given.get(item, "") for item in items)])
    return ["examinee", *items], rows


def _answers(tests: LiveTests) -> _Table:
    """Return a row for each event: the choice, the response, the time and the seconds it took."""
    rows: list[list[_Cell]] = []
    for who, _, events in _sessions(tests):
        before: datetime | None = None
        for number, (event, choice) in enumerate(events, start=1):
            at = datetime.fromisoformat(event.at)
            seconds = None if before is None else round((at - before).total_seconds(), 1)
            names = (event.kind.value, event.item, choice, event.response)
            rows.append([who, number, *names, at, seconds])
            before = at
    columns = ["examinee", "number", "event", "item", "choice", "response", "at (UTC)", "seconds"]
    return columns, rows


def _posteriors(tests: LiveTests) -> _Table:
    """Return a row for each session: its state, and the probability of each level of each skill."""
    bank = tests.given.bank
    columns = [(skill, level) for skill in bank.skills for level in bank.variable(skill).states]
    rows: list[list[_Cell]] = []
    for who, sitting, _ in _sessions(tests):
        known = sitting.posterior
        rows.append(
            [
                *(who, sitting.name, tests.state_of(sitting)),
                *(sitting.n_asked, sitting.n_answered, sitting.stop_reason),
                *map(datetime.fromisoformat, (sitting.created, sitting.last)),
                None if sitting.entropy is None else round(sitting.entropy, 6),
                *(None if known is None else round(known[s][level], 6) for s, level in columns),
            ]
        )
    names = ["examinee", "name", "state", "asked", "answered", "stop_reason"]
    names += ["created (UTC)", "last (UTC)", "bits_open", *(f"{s}={level}" for s, level in columns)]
    return names, rows


EXPORTS: Mapping[str, Callable[[LiveTests], _Table]] = MappingProxyType(
    {"responses": _responses, "answers": _answers, "posteriors": _posteriors}
)
"""The tables by their names."""


def _sessions(
    tests: LiveTests,
) -> Iterable[tuple[str, Sitting, tuple[tuple[Event, str], ...]]]:
    """Return each session with the name of its examinee, as no other one has it, and its events."""
    found = tests.sittings_with_events()
    named = Counter(sitting.name for sitting, _ in found)
    for sitting, events in found:
        number = f"session-{sitting.id}"
        name = sitting.name if named[sitting.name] == 1 else f"{sitting.name} ({number})"
        yield name if sitting.name else number, sitting, events


def _given(events: Iterable[Event]) -> dict[str, str]:
    """Return the name of the response to each item that has one."""
    kinds = (EventKind.ANSWER, EventKind.CHANGE)
    return {event.item: event.response for event in events if event.kind in kinds}


def format_csv(table: _Table, separator: str) -> str:
    """Return a table as CSV text."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    names, rows = table
    for row in (names, *rows):
        writer.writerow([_plain(cell, separator) for cell in row])
    return file.getvalue()


def _plain(cell: _Cell, separator: str) -> str:
    """Return a cell as text that no spreadsheet takes for something else.

    >>> _plain("=cmd()", ","), _plain("3/10", ","), _plain("a;=1+1", ","), _plain("-1", ",")
    ("'=cmd()", "'3/10", "a;'=1+1", '-1')
    >>> _plain(0.25, ","), _plain(0.25, ";"), _plain(None, ","), _plain("Ann", ",")
    ('0.25', '0,25', '', 'Ann')
    """
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return f"{cell.isoformat(timespec='milliseconds')}Z"
    if not isinstance(cell, str):
        return str(cell).replace(".", "," if separator == ";" else ".")
    if _NUMBER.fullmatch(cell) and (separator != ";" or "." not in cell):
        return cell
    return f"'{cell}" if _GUESSED.fullmatch(cell.strip()) else _FORMULA.sub(r"\1'", cell)


def workbook(tests: LiveTests) -> bytes:
    """Return all tables as an XLSX workbook, which needs openpyxl."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    for title, table in EXPORTS.items():
        names, rows = table(tests)
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "B2"
        sheet.column_dimensions["A"].width = 24
        for line, row in enumerate((names, *rows)):
            cells = []
            for value in row:
                cell = WriteOnlyCell(sheet)
                if isinstance(value, str) and line and re.fullmatch(r"0|-?[1-9]\d{0,14}", value):
                    value = int(value)
                if isinstance(value, str):
                    value = ILLEGAL_CHARACTERS_RE.sub(" ", value)[:32767] or None
                cell.value = value
                if isinstance(value, str):
                    cell.data_type = "s"  # not a formula
                if isinstance(value, datetime):
                    cell.number_format = "yyyy-mm-dd hh:mm:ss"
                cell.font = Font(bold=not line)
                cells.append(cell)
            sheet.append(cells)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
