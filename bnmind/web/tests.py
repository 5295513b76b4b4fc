"""The test that the server offers, and its addresses: for people who take it and for their teacher.

The test is opened when it is first needed.
"""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field, StringConstraints, model_validator

from bnmind.web import reports
from bnmind.web.forms import Form
from bnmind.web.guard import same_token
from bnmind.web.work import Turn, load, work_of

if TYPE_CHECKING:
    from bnmind.web.live import GivenTest, LiveTests

_T = TypeVar("_T")


class Attempts:
    """Attempts, such as wrong codes, by their address, to slow down who makes many.

    Parameters
    ----------
    most
        How many attempts of an address are noted in the time before it must wait.
    seconds
        The time.
    clock
        The time now, in seconds.
    """

    def __init__(
        self, most: int = 30, *, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._noted: OrderedDict[str, list[float]] = OrderedDict()

    def may_try(self, address: str) -> bool:
        """Return whether an address may try now."""
        return len(self._recent(address)) < self._most

    def note(self, address: str) -> None:
        """Note an attempt of an address, such as a wrong code."""
        self._noted[address] = [*self._recent(address), self._clock()]
        self._noted.move_to_end(address)
        while len(self._noted) > 1000:
            self._noted.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - self._seconds
        return [at for at in self._noted.get(address, []) if at > since]


_NEEDED = tuple(f"bnmind.web.{name}" for name in ("live", "store", "exports"))

_MOST_BEGUN = 600
"""The tests that one address may begin in a minute without access codes."""


class OfferedTest:
    """A test, the database of its sessions, and the token of its teacher.

    Parameters
    ----------
    opened
        Opens the test; called once.
    needs_code
        Whether an access code is needed to begin.
    is_demonstration
        Whether it is the one that needs no files; its sessions last as long as the server.
    token
        The secret of the teacher; default a new one.
    closed
        Called at the end.
    """

    def __init__(
        self,
        opened: Callable[[], LiveTests],
        *,
        needs_code: bool,
        is_demonstration: bool,
        token: str = "",
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        self.needs_code = needs_code
        self.is_demonstration = is_demonstration
        self.attempts = Attempts()
        """Wrong access codes."""
        self.begun = Attempts(_MOST_BEGUN)
        """Tests that were begun without a code."""
        self.token = token or secrets.token_urlsafe(24)
        """The secret of the teacher."""
        self._opened = opened
        self._closed = closed
        self._lock = threading.Lock()
        self._live: LiveTests | None = None

    def live(self) -> LiveTests:
        """Return the test with its database; the first call takes a moment."""
        with self._lock:
            if self._live is None:
                try:
                    load(*_NEEDED)
                    self._live = self._opened()
                except ModuleNotFoundError as missing:
                    raise HTTPException(
                        503, f'Tests need {missing.name}: pip install "bnmind[web]"'
                    ) from missing
            return self._live

    @property
    def place(self) -> str:
        """The file of the database, or its address without the password."""
        return self.live().store.place

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if self._live is not None:
                self._live.store.close()
                self._live = None
        self._closed()


def offered_test(
    given: GivenTest, url: str, *, needs_code: bool, token: str = "", new_token: bool = False
) -> OfferedTest:
    """Return a test whose sessions are in a database, which is opened now.

    Without a token of the teacher, that in the database is used, or a new one.

    Raises
    ------
    InvalidArgumentError
        If the database cannot be opened.
    MissingLibraryError
        If its driver is not installed.
    """
    from bnmind.web.live import LiveTests
    from bnmind.web.store import Store

    live = LiveTests(given, Store(url), needs_code=needs_code)
    live.keep()
    token = token or live.store.token(given.bank.title, new=new_token)
    offer = OfferedTest(lambda: live, needs_code=needs_code, is_demonstration=False, token=token)
    offer.live()
    return offer


def offered_demonstration() -> OfferedTest:
    """Return a test that needs no files; its database is gone when the server stops."""
    folders: list[str] = []

    def opened() -> LiveTests:
        from bnmind.web.live import LiveTests, demonstration_plan
        from bnmind.web.store import Store

        folders.append(tempfile.mkdtemp(prefix="bnmind-"))
        atexit.register(offer.close)  # if the server has no time to close it
        store = Store(f"sqlite:///{FilePath(folders[-1], 'demonstration.sqlite')}")
        return LiveTests(demonstration_plan(), store, needs_code=False)

    def closed() -> None:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        atexit.unregister(offer.close)

    offer = OfferedTest(opened, needs_code=False, is_demonstration=True, closed=closed)
    return offer


def offered(request: Request) -> OfferedTest:
    """Return the test of the server."""
    offer: OfferedTest = request.app.state.tests
    return offer


def kept(work: Callable[[], _T]) -> Callable[[], _T]:
    """Return work that says so if the database does not answer."""

    def run() -> _T:
        from bnmind.web.store import LostError

        try:
            return work()
        except LostError as fault:
            raise HTTPException(
                503,
                f"The database does not answer, and the answer is not saved: {fault}. Try again.",
            ) from fault

    return run


# --- For people, and programs, that take the test -------------------------------------------------

router = APIRouter(prefix="/api/tests", tags=["A test"])

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")
]
_Key = Annotated[str, Path(max_length=64, description="The secret of the session.")]


class Entry(Form):
    """Who begins a test."""

    code: str = Field("", max_length=40)
    """The access code, if there is one."""
    name: Name = ""
    """A name for the teacher's table; a code has its own."""


class Answer(Form):
    """An answer to the question of now."""

    number: int = Field(ge=0, le=100_000)
    """The `number` of the state."""
    item: str = Field(max_length=500)
    """The name of the item."""
    choice: int = Field(ge=0, le=10_000)
    """The place of the choice, from 0."""


@router.get("", summary="About the test")
async def about(request: Request) -> reports.About:
    """Return the title of the test, and whether an access code is needed."""
    offer = offered(request)

    def work() -> reports.About:
        return offer.live().about(is_demonstration=offer.is_demonstration)

    return await work_of(request).run(request, work, turn=Turn.TEST)


@router.post("", summary="Begin a test, or resume it with its access code")
async def begin(entry: Entry, request: Request) -> reports.Begun:
    """Return a new `session`, which is a secret, and its state.

    The other addresses have the secret in their path. With an access code, the session is that of
    the code, and is resumed where it stands.
    """
    offer = offered(request)
    address = request.client.host if request.client else ""
    if not entry.code and not offer.needs_code:
        if not offer.begun.may_try(address):
            raise HTTPException(429, "Many tests were begun from here. Try again in a minute.")
        offer.begun.note(address)

    def work() -> reports.Begun:
        live = offer.live()
        from bnmind.web.live import tidy_code

        code = tidy_code(entry.code)
        return live.of(code=code).begin(code, entry.name)

    try:
        return await work_of(request).run(request, kept(work), turn=Turn.TEST)
    except HTTPException as refusal:
        if refusal.status_code == 404:
            if not offer.attempts.may_try(address):
                wait = "There were many wrong access codes. Try again in a minute."
                raise HTTPException(429, wait) from None
            offer.attempts.note(address)
        raise


@router.get("/{session}", summary="The state of a session, with the next item")
async def state(session: _Key, request: Request) -> reports.State:
    """Return the `question` to answer, or that the test is over.

    `number` counts the questions before this one and goes back with the answer. `profile` is null
    where the design does not show it.
    """
    return await _run(request, lambda tests: tests.state(session), session)


@router.post("/{session}/answer", summary="Answer the question of now")
async def answer(session: _Key, given: Answer, request: Request) -> reports.State:
    """Store an answer, and return the state after it.

    When this returns, the answer is in the database. The same answer may be sent again if no
    reply has come: it counts once. Another answer to a question that is answered gets 409.
    """
    sent = (given.number, given.item, given.choice)
    return await _run(request, lambda tests: tests.answer(session, *sent), session)


@router.get("/{session}/why", summary="Why this item is asked now")
async def why(session: _Key, request: Request) -> reports.Why:
    """Return the bits that the answer should give, about all skills and about each."""
    return await _run(request, lambda tests: tests.why(session), session)


@router.get("/{session}/rank", summary="The open items, ranked")
async def rank(session: _Key, request: Request) -> reports.Ranking:
    """Return the items without an answer by the bits that they should give."""
    return await _run(request, lambda tests: tests.rank(session), session)


@router.get("/{session}/posterior", summary="The probability of each skill")
async def posterior(session: _Key, request: Request) -> reports.Known:
    """Return the probability of each level of each skill, if the design shows it."""
    return await _run(request, lambda tests: tests.posterior(session), session)


@router.get("/{session}/report", summary="The report at the end")
async def report(session: _Key, request: Request) -> reports.Report:
    """Return the examinee's report on a test that is over."""
    return await _run(request, lambda tests: tests.report(session), session)


@router.get("/{session}/picture/{number}", include_in_schema=False)
async def picture(session: _Key, number: int, request: Request) -> Response:
    """Return the picture of the question of now."""
    found = await _run(request, lambda tests: tests.picture(session, number), session)
    return Response(found.content, media_type=found.kind)


async def _run(request: Request, function: Callable[[LiveTests], _T], session: str = "") -> _T:
    """Return what a function says of the test, or of that of a session, computed by a worker."""
    offer = offered(request)
    work = kept(lambda: function(offer.live().of(key=session)))
    return await work_of(request).run(request, work, turn=Turn.TEST)


# --- For the teacher ------------------------------------------------------------------------------

MOST_CODES = 500
_Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="The `id` of the session.")]


def is_teacher(request: Request) -> bool:
    """Return whether a request presents the token of the teacher."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    offer = offered(request)
    if scheme.lower() == "bearer" and same_token(given, offer.token):
        return True
    return same_token(request.cookies.get(teacher_cookie(request), ""), offer.token)


def teacher_cookie(request: Request) -> str:
    """Return the name of the cookie with the token; a browser sends those of all ports."""
    return f"bnmind-teacher-{request.url.port or 80}"


def _for_teachers(request: Request) -> None:
    if not is_teacher(request):
        raise HTTPException(
            401,
            "This is for the teacher: open the teacher's address that bnmind web has printed, or"
            " send its token as Authorization: Bearer.",
        )


teacher_router = APIRouter(
    prefix="/api/teacher", tags=["The teacher of a class"], dependencies=[Depends(_for_teachers)]
)

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""The mark of Unicode, without which Excel shows other letters in place of umlauts."""


class NewCodes(Form):
    """The access codes to make: one for each name, or a number of them."""

    names: list[Name] = Field([], max_length=MOST_CODES)
    """The names of examinees."""
    count: int = Field(0, ge=0, le=MOST_CODES)
    """How many codes without a name."""

    @model_validator(mode="after")
    def _some(self) -> NewCodes:
        if not 0 < len(self.names) + self.count <= MOST_CODES:
            raise ValueError(f"ask for 1 to {MOST_CODES} codes: give names, or a count")
        return self


@teacher_router.get("/sessions", summary="The sessions of the class")
async def sessions(request: Request) -> reports.ClassTable:
    """Return each session: its code, its state, the number of answers, and the profile."""

    def work(tests: LiveTests) -> reports.ClassTable:
        bank = tests.given.bank
        return reports.ClassTable(
            title=bank.title,
            needs_code=tests.needs_code,
            skills=[
                reports.BankSkill(skill=name, label=label, levels=list(bank.variable(name).states))
                for name, label in zip(bank.skills, bank.labels, strict=True)
            ],
            sessions=tests.table(),
            earlier=tests.earlier(),
        )

    return await _run(request, work)


@teacher_router.post("/codes", summary="Make access codes")
async def codes(wanted: NewCodes, request: Request) -> reports.MadeCodes:
    """Return new access codes. Each of them opens one session, and resumes it."""

    def work(tests: LiveTests) -> reports.MadeCodes:
        made = tests.new(len(wanted.names) + wanted.count, wanted.names, with_code=True)
        return reports.MadeCodes(codes=[reports.MadeCode.model_validate(one) for one in made])

    return await _run(request, work)


@teacher_router.get("/sessions/{number}", summary="The report on a session")
async def session(number: _Number, request: Request) -> reports.SessionReport:
    """Return the teacher's report: the skills, and each answer with how surprising it is."""
    return await _run(request, lambda tests: tests.teacher_report(number))


@teacher_router.post("/sessions/{number}/delete", summary="Delete a session with its answers")
async def delete(number: _Number, request: Request) -> reports.Deleted:
    """Delete a session. Its access code is void from then on."""

    def work(tests: LiveTests) -> reports.Deleted:
        tests.delete(number)
        return reports.Deleted(deleted=number)

    return await _run(request, work)


@teacher_router.get("/class.xlsx", summary="The class as one workbook")
async def book(request: Request) -> Response:
    """Return all tables of `/api/teacher/{table}.csv` as the sheets of an XLSX workbook.

    Cells have types, so nothing becomes a formula or a date by itself.
    """

    def work(tests: LiveTests) -> bytes:
        from bnmind.web.exports import workbook

        try:
            return workbook(tests)
        except ModuleNotFoundError as missing:
            raise HTTPException(
                503, f'Workbooks need {missing.name}: pip install "bnmind[web]"'
            ) from missing

    return _download(await _run(request, work), "class.xlsx", _XLSX)


@teacher_router.get("/{table}.csv", summary="The class as a CSV file")
async def export(
    table: Annotated[str, Path(description="`responses`, `answers` or `posteriors`.")],
    request: Request,
    separator: Annotated[
        str,
        Query(description="`comma`, `semicolon` (numbers have a decimal comma then) or `tab`."),
    ] = "comma",
) -> Response:
    """Return a table of all sessions.

    `responses` has a row for each session and a column for each item, as `bnmind learn` reads it;
    `answers` has a row for each answer, with the choice and the time; `posteriors` has the
    probability of each level of each skill. Times are in UTC. A text that a spreadsheet would take
    for a formula or a date begins with an apostrophe. A table with letters other than those of
    ASCII begins with a mark, by which Excel knows the encoding.
    """

    def work(tests: LiveTests) -> str:
        from bnmind.web.exports import EXPORTS, SEPARATORS, format_csv

        for kind, name, known in (("table", table, EXPORTS), ("separator", separator, SEPARATORS)):
            if name not in known:
                raise HTTPException(404, f"There is no such {kind}; there are {', '.join(known)}.")
        return format_csv(EXPORTS[table](tests), SEPARATORS[separator])

    text = await _run(request, work)
    content = (text if text.isascii() else f"{_MARK}{text}").encode()
    return _download(content, f"{table}.csv", "text/csv; charset=utf-8")


def _download(content: bytes, name: str, kind: str) -> Response:
    head = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=head)
