"""The memory of the server: what each visitor has begun, under an id that nobody can guess."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from fastapi import Request, Response

from bnmind.web.base.settings import WebSettings

__all__ = ["SESSION_COOKIE", "Sessions", "remember", "visitor"]

SESSION_COOKIE = "bnmind-visitor"


class _Session(NamedTuple):
    last: float
    """When the visitor was here last, in seconds of the clock."""
    values: dict[str, Any]
    """The visitor's values by name, each immutable."""


class Sessions:
    """The values of all visitors, the one who was away for longest first.

    Visitors who were away for long are forgotten. So is the one who was away for longest if there
    are too many, so that the memory is bounded.
    """

    def __init__(self, settings: WebSettings, *, clock: Callable[[], float] = time.monotonic):
        self._settings = settings
        self._clock = clock
        self._all: OrderedDict[str, _Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._all)

    def get(self, visitor: str | None, name: str) -> Any:
        """Return a value of a visitor, or None if there is none."""
        self._forget()
        session = self._all.get(visitor or "")
        return None if session is None else session.values.get(name)

    def put(self, visitor: str | None, name: str, value: object) -> str:
        """Store a value of a visitor, and return the visitor's id, a new one if there is none."""
        self._forget()
        known = self._all.pop(visitor or "", None)
        # An id that we have not given is never taken over: another site may have planted it.
        own = visitor if known is not None and visitor else secrets.token_urlsafe(32)
        values = {} if known is None else known.values
        self._all[own] = _Session(self._clock(), {**values, name: value})
        while len(self._all) > self._settings.most_sessions:
            self._all.popitem(last=False)
        return own

    def _forget(self) -> None:
        latest = self._clock() - self._settings.idle_seconds
        while self._all and next(iter(self._all.values())).last < latest:
            self._all.popitem(last=False)


def visitor(request: Request) -> str | None:
    """Return the id that a request presents, if any."""
    return request.cookies.get(SESSION_COOKIE)


def remember(request: Request, response: Response, name: str, value: object) -> None:
    """Store a value of the visitor, and let the browser keep the id."""
    sessions: Sessions = request.app.state.sessions
    own = sessions.put(visitor(request), name, value)
    response.set_cookie(
        SESSION_COOKIE,
        own,
        max_age=int(request.app.state.settings.idle_seconds),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
