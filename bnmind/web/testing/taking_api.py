"""The JSON API for people, and programs, that take a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from bnmind.web.base.answer import answered_by
from bnmind.web.base.form import Form
from bnmind.web.base.work import Turn, work_of
from bnmind.web.testing import forms
from bnmind.web.testing.codes import tidy_code
from bnmind.web.testing.offered import kept, offered

if TYPE_CHECKING:
    from bnmind.web.testing.live import LiveTests

__all__ = ["Name", "router"]

_T = TypeVar("_T")

router = APIRouter(prefix="/api/tests", tags=["A test"])

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")
]
_Key = Annotated[str, Path(max_length=64, description="The secret of the session.")]


class Entry(Form):
    """Who begins a test."""

    code: str = Field("", max_length=40, description="The access code, if there is one.")
    name: Name = Field("", description="A name for the teacher's table; a code has its own.")


class Answer(Form):
    """An answer to the question of now."""

    number: int = Field(ge=0, le=100_000, description="The `number` of the state.")
    item: str = Field(max_length=500, description="The name of the item.")
    choice: int = Field(ge=0, le=10_000, description="The place of the choice, from 0.")


@router.get("", summary="About the test", responses=answered_by(forms.About))
async def about(request: Request) -> dict[str, Any]:
    """Return the title of the test, and whether an access code is needed."""
    offer = offered(request)

    def work() -> dict[str, Any]:
        return {**offer.live().about(), "is_demonstration": offer.is_demonstration}

    return await work_of(request).run(request, work, turn=Turn.TEST)


@router.post(
    "",
    summary="Begin a test, or resume it with its access code",
    responses=answered_by(forms.Begun),
)
async def begin(entry: Entry, request: Request) -> dict[str, Any]:
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

    def work() -> dict[str, Any]:
        code = tidy_code(entry.code)
        return offer.live().of(code=code).begin(code, entry.name)

    try:
        return await work_of(request).run(request, kept(work), turn=Turn.TEST)
    except HTTPException as refusal:
        if refusal.status_code == 404:
            if not offer.attempts.may_try(address):
                wait = "There were many wrong access codes. Try again in a minute."
                raise HTTPException(429, wait) from None
            offer.attempts.note(address)
        raise


@router.get(
    "/{session}",
    summary="The state of a session, with the next item",
    responses=answered_by(forms.State),
)
async def state(session: _Key, request: Request) -> dict[str, Any]:
    """Return the `question` to answer, or that the test is over.

    `number` counts the questions before this one and goes back with the answer. `profile` is null
    where the design does not show it.
    """
    return await _run(request, session, lambda tests: tests.state(session))


@router.post(
    "/{session}/answer", summary="Answer the question of now", responses=answered_by(forms.State)
)
async def answer(session: _Key, given: Answer, request: Request) -> dict[str, Any]:
    """Store an answer, and return the state after it.

    When this returns, the answer is in the database. The same answer may be sent again if no
    reply has come: it counts once. Another answer to a question that is answered gets 409.
    """
    sent = (given.number, given.item, given.choice)
    return await _run(request, session, lambda tests: tests.answer(session, *sent))


@router.get(
    "/{session}/why", summary="Why this item is asked now", responses=answered_by(forms.Why)
)
async def why(session: _Key, request: Request) -> dict[str, Any]:
    """Return the bits that the answer should give, about all skills and about each."""
    return await _run(request, session, lambda tests: tests.why(session))


@router.get(
    "/{session}/rank", summary="The open items, ranked", responses=answered_by(forms.Ranking)
)
async def rank(session: _Key, request: Request) -> dict[str, Any]:
    """Return the items without an answer by the bits that they should give."""
    return await _run(request, session, lambda tests: tests.rank(session))


@router.get(
    "/{session}/posterior",
    summary="The probability of each skill",
    responses=answered_by(forms.Known),
)
async def posterior(session: _Key, request: Request) -> dict[str, Any]:
    """Return the probability of each level of each skill, if the design shows it."""
    return await _run(request, session, lambda tests: tests.posterior(session))


@router.get(
    "/{session}/report", summary="The report at the end", responses=answered_by(forms.Report)
)
async def report(session: _Key, request: Request) -> dict[str, Any]:
    """Return the examinee's report on a test that is over."""
    return await _run(request, session, lambda tests: tests.report(session))


@router.get("/{session}/picture/{number}", include_in_schema=False)
async def picture(session: _Key, number: int, request: Request) -> Response:
    """Return the picture of the question of now."""
    found = await _run(request, session, lambda tests: tests.picture(session, number))
    return Response(found.content, media_type=found.kind)


async def _run(request: Request, session: str, function: Callable[[LiveTests], _T]) -> _T:
    """Return what a function says of the test of a session, computed by a worker."""
    offer = offered(request)
    work = kept(lambda: function(offer.live().of(key=session)))
    return await work_of(request).run(request, work, turn=Turn.TEST)
