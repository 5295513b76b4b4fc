"""The pages of people who take a test, and of their teacher."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bnmind.web.base.page import AREAS, rendered
from bnmind.web.testing.offered import offered, same_token
from bnmind.web.testing.teacher_api import is_teacher, teacher_cookie

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_FOR_TAKERS = (("/tests", "Test"),)
_FOR_TEACHERS = (
    ("/teacher", "Class"),
    ("/teacher", "Class"),
    ("/teacher/codes", "Access codes"),
    ("/tests", "Test"),
)


@router.get("/tests")
async def tests(request: Request) -> HTMLResponse:
    """Take a test. In a test of one's own bank, nothing else leads away from it."""
    areas = AREAS if offered(request).is_demonstration else _FOR_TAKERS
    return rendered("tests.html", request, title="Test", areas=areas)


@router.get("/teacher")
async def start(request: Request, token: str = "") -> Response:
    """Show the class; the token of the address becomes a cookie."""
    offer = offered(request)
    if token and same_token(token, offer.token):
        answer = RedirectResponse("/teacher", 303)
        answer.set_cookie(
            teacher_cookie(request),
            offer.token,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
            path="/",
        )
        return answer
    return _page("teacher.html", request, "The class")


@router.get("/teacher/codes")
async def codes(request: Request) -> Response:
    """Show the access codes, to be printed and cut."""
    return _page("codes.html", request, "Access codes")


@router.get("/teacher/report")
async def report(request: Request) -> Response:
    """Show the report on a session, whose number is in the address."""
    return _page("session.html", request, "Report")


def _page(name: str, request: Request, title: str) -> HTMLResponse:
    if not is_teacher(request):
        page = rendered("no_teacher.html", request, title="For the teacher", areas=_FOR_TAKERS)
        page.status_code = 401
        return page
    return rendered(name, request, title=title, areas=_FOR_TEACHERS)
