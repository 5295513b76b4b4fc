"""The JSON API of the teacher: access codes, the sessions of a class, and exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field, model_validator

from bnmind.web.base.answer import answered_by
from bnmind.web.base.form import Form
from bnmind.web.base.work import Turn, work_of
from bnmind.web.testing import forms
from bnmind.web.testing.offered import kept, offered, same_token
from bnmind.web.testing.taking_api import Name

if TYPE_CHECKING:
    from bnmind.web.testing.live import LiveTests

__all__ = ["is_teacher", "router", "teacher_cookie"]

_T = TypeVar("_T")

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


router = APIRouter(
    prefix="/api/teacher", tags=["The teacher of a class"], dependencies=[Depends(_for_teachers)]
)

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""The mark of Unicode, without which Excel shows other letters in place of umlauts."""


class NewCodes(Form):
    """The access codes to make: one for each name, or a number of them."""

    names: list[Name] = Field([], max_length=MOST_CODES, description="The names of examinees.")
    count: int = Field(0, ge=0, le=MOST_CODES, description="How many codes without a name.")

    @model_validator(mode="after")
    def _some(self) -> NewCodes:
        if not 0 < len(self.names) + self.count <= MOST_CODES:
            raise ValueError(f"ask for 1 to {MOST_CODES} codes: give names, or a count")
        return self


@router.get(
    "/sessions", summary="The sessions of the class", responses=answered_by(forms.ClassTable)
)
async def sessions(request: Request) -> dict[str, Any]:
    """Return each session: its code, its state, the number of answers, and the profile."""

    def work(tests: LiveTests) -> dict[str, Any]:
        bank = tests.given.bank
        return {
            "title": bank.title,
            "needs_code": tests.needs_code,
            "skills": [
                {"skill": name, "label": label, "levels": list(bank.variable(name).states)}
                for name, label in zip(bank.skills, bank.labels, strict=True)
            ],
            "sessions": tests.table(),
            "earlier": tests.earlier().words,
        }

    return await _run(request, work)


@router.post("/codes", summary="Make access codes", responses=answered_by(forms.MadeCodes))
async def codes(wanted: NewCodes, request: Request) -> dict[str, Any]:
    """Return new access codes. Each of them opens one session, and resumes it."""

    def work(tests: LiveTests) -> dict[str, Any]:
        made = tests.new(len(wanted.names) + wanted.count, wanted.names, with_code=True)
        return {"codes": [{"id": one.id, "code": one.code, "name": one.name} for one in made]}

    return await _run(request, work)


@router.get(
    "/sessions/{number}",
    summary="The report on a session",
    responses=answered_by(forms.SessionReport),
)
async def session(number: _Number, request: Request) -> dict[str, Any]:
    """Return the teacher's report: the skills, and each answer with how surprising it is."""
    return await _run(request, lambda tests: tests.teacher_report(number))


@router.post(
    "/sessions/{number}/delete",
    summary="Delete a session with its answers",
    responses=answered_by(forms.Deleted),
)
async def delete(number: _Number, request: Request) -> dict[str, Any]:
    """Delete a session. Its access code is void from then on."""

    def work(tests: LiveTests) -> dict[str, Any]:
        tests.delete(number)
        return {"deleted": number}

    return await _run(request, work)


@router.get("/class.xlsx", summary="The class as one workbook")
async def book(request: Request) -> Response:
    """Return all tables of `/api/teacher/{table}.csv` as the sheets of an XLSX workbook.

    Cells have types, so nothing becomes a formula or a date by itself.
    """

    def work(tests: LiveTests) -> bytes:
        from bnmind.web.testing.exports import workbook

        try:
            return workbook(tests)
        except ModuleNotFoundError as missing:
            raise HTTPException(
                503, f'Workbooks need {missing.name}: pip install "bnmind[web]"'
            ) from missing

    return _download(await _run(request, work), "class.xlsx", _XLSX)


@router.get("/{table}.csv", summary="The class as a CSV file")
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
        from bnmind.web.testing.exports import EXPORTS, SEPARATORS, csv_text

        for kind, name, known in (("table", table, EXPORTS), ("separator", separator, SEPARATORS)):
            if name not in known:
                raise HTTPException(404, f"There is no such {kind}; there are {', '.join(known)}.")
        return csv_text(EXPORTS[table](tests), SEPARATORS[separator])

    text = await _run(request, work)
    content = (text if text.isascii() else f"{_MARK}{text}").encode()
    return _download(content, f"{table}.csv", "text/csv; charset=utf-8")


def _download(content: bytes, name: str, kind: str) -> Response:
    head = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=head)


async def _run(request: Request, function: Callable[[LiveTests], _T]) -> _T:
    offer = offered(request)
    work = kept(lambda: function(offer.live()))
    return await work_of(request).run(request, work, turn=Turn.TEST)
