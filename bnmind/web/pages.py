"""The pages that people see, and errors as answers: one JSON form, and a page for who is lost."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from bnmind._jit import being_compiled
from bnmind._messages import one_line
from bnmind.errors import BnmindError
from bnmind.web.forms import grouped
from bnmind.web.games import MOST_COLORS, MOST_PEGS
from bnmind.web.guard import same_token
from bnmind.web.networks import SHIPPED, SUFFIXES
from bnmind.web.page import AREAS, rendered
from bnmind.web.tests import is_teacher, offered, teacher_cookie
from bnmind.web.work import BusyError, GoneError, SlowError, StoppedError

router = APIRouter(include_in_schema=False)

_PRIORS = (
    ("uniform", "any code, all alike"),
    ("only-once", "no color twice"),
    ("two-color", "two colors only"),
    ("usually-fewer", "usually two or three colors"),
    ("prefer-fewer", "few colors, one in half of all games"),
)
"""How a code-maker may choose, and in which words the pages say it."""

_SIZES: dict[str, Any] = {"most_pegs": MOST_PEGS, "most_colors": MOST_COLORS, "priors": _PRIORS}


@router.get("/")
async def start(request: Request) -> HTMLResponse:
    """Show what there is."""
    return rendered("start.html", request, title="bnmind")


@router.get("/assist")
async def assist(request: Request) -> HTMLResponse:
    """Help in a game that is played elsewhere."""
    return rendered("assist.html", request, title="Assist", **_SIZES)


@router.get("/play")
async def play(request: Request) -> HTMLResponse:
    """Play against the server."""
    return rendered("play.html", request, title="Play", **_SIZES)


@router.get("/watch")
async def watch(request: Request) -> HTMLResponse:
    """Watch strategies play side by side."""
    return rendered("watch.html", request, title="Watch", **_SIZES)


@router.get("/networks")
async def networks(request: Request) -> HTMLResponse:
    """Show a network, and what evidence tells about it."""
    suffixes = ", ".join(SUFFIXES)
    return rendered("networks.html", request, title="Networks", models=SHIPPED, suffixes=suffixes)


@router.get("/api")
async def api(request: Request) -> HTMLResponse:
    """Describe the JSON API, from its own schema."""
    schema = request.app.openapi()
    return rendered(
        "api.html",
        request,
        title="API",
        groups=grouped(schema),
        address=str(request.base_url).rstrip("/"),
    )


@router.get("/favicon.ico")
async def icon() -> RedirectResponse:
    """Lead to the icon."""
    return RedirectResponse("/static/icon.svg")


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
async def teacher(request: Request, token: str = "") -> Response:
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


# --- Errors ---------------------------------------------------------------------------------------

_NO_JSON = "expected JSON, got something else"
_FASTAPI_NO_JSON = "There was an error parsing the body"
"""What FastAPI says of broken UTF-8, and of brackets nested too deeply."""

_MOST = 5  # faults of a form that are told


def add_faults(app: FastAPI) -> None:
    """Let an application answer errors."""

    @app.exception_handler(BnmindError)
    async def _(request: Request, fault: BnmindError) -> Response:
        return _said(422, type(fault).__name__, _sentence(str(fault)))

    @app.exception_handler(RequestValidationError)
    async def _(request: Request, fault: RequestValidationError) -> Response:
        told = [_told(error) for error in fault.errors()[:_MOST]]
        return _said(422, "InvalidArgumentError", _sentence("; ".join(told)))

    @app.exception_handler(BusyError)
    async def _(request: Request, fault: BusyError) -> Response:
        return _said(503, "Busy", "Many people are asking. Try again in a moment.", wait=2)

    @app.exception_handler(SlowError)
    async def _(request: Request, fault: SlowError) -> Response:
        seconds = request.app.state.settings.seconds
        advice = "A smaller board or network takes less time."
        if being_compiled():
            advice = "The server still compiles what it needs. Try again in a minute."
        told = f"This took longer than {seconds:g} seconds and was stopped. {advice}"
        return _said(503, "TooSlow", told)

    @app.exception_handler(StoppedError)
    async def _(request: Request, fault: StoppedError) -> Response:
        return _said(503, "Stopped", "The server is about to stop.", wait=2)

    @app.exception_handler(GoneError)
    async def _(request: Request, fault: GoneError) -> Response:
        return Response(status_code=499)  # nobody reads it

    @app.exception_handler(HTTPException)
    async def _(request: Request, fault: HTTPException) -> Response:
        if request.url.path.startswith(("/api", "/static")):
            detail = _NO_JSON if fault.detail == _FASTAPI_NO_JSON else fault.detail
            return _said(fault.status_code, "HTTPError", _sentence(detail))
        page = rendered("lost.html", request, title="Nothing here", detail=fault.detail)
        page.status_code = fault.status_code
        return page

    @app.exception_handler(Exception)
    async def _(request: Request, fault: Exception) -> Response:
        return _said(500, "ServerFault", "The server has made a mistake. Its terminal says more.")


def _said(status: int, kind: str, message: str, *, wait: int | None = None) -> Response:
    headers = {} if wait is None else {"retry-after": str(wait)}
    error = {"error": {"kind": kind, "message": message}}
    return JSONResponse(error, status_code=status, headers=headers)


def _told(error: Any) -> str:
    """Return a fault of a form: the field, and what is wrong with it."""
    if error["type"] == "json_invalid":
        return _NO_JSON
    place = one_line(".".join(str(part) for part in error["loc"] if part != "body"), longest=100)
    reason = str(error["msg"]).removeprefix("Value error, ")[:200]
    return f"{place}: {reason[0].lower()}{reason[1:]}" if place else reason


def _sentence(text: str) -> str:
    """Return a message as a sentence."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
