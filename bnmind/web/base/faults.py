"""Errors as answers: one JSON form for all of them, and a page for people who are lost."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from bnmind._messages import one_line
from bnmind.errors import BnmindError
from bnmind.web.base.page import rendered
from bnmind.web.base.stopping import StoppedError
from bnmind.web.base.work import BusyError, GoneError, SlowError

__all__ = ["add_faults"]

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
        return _said(
            503,
            "TooSlow",
            f"This took longer than {seconds:g} seconds and was stopped. A smaller board or network"
            " takes less time.",
        )

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
