"""The test that the server offers, opened when it is first needed."""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fastapi import HTTPException, Request

from bnmind.web.base.work import load
from bnmind.web.testing.codes import Attempts

if TYPE_CHECKING:
    from bnmind.web.testing.live import LiveTests
    from bnmind.web.testing.plan import GivenTest

_T = TypeVar("_T")

_NEEDED = tuple(f"bnmind.web.testing.{name}" for name in ("live", "plan", "store", "exports"))

_MOST_BEGUN = 600
"""The tests that one address may begin in a minute without access codes."""

__all__ = ["OfferedTest", "kept", "offered", "offered_demonstration", "offered_test", "same_token"]


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
    from bnmind.web.testing.live import LiveTests
    from bnmind.web.testing.store import Store

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
        from bnmind.web.testing.live import LiveTests
        from bnmind.web.testing.plan import demonstration_plan
        from bnmind.web.testing.store import Store

        folders.append(tempfile.mkdtemp(prefix="bnmind-"))
        atexit.register(offer.close)  # if the server has no time to close it
        store = Store(f"sqlite:///{Path(folders[-1], 'demonstration.sqlite')}")
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
        from bnmind.web.testing.store import LostError

        try:
            return work()
        except LostError as fault:
            raise HTTPException(
                503,
                f"The database does not answer, and the answer is not saved: {fault}. Try again.",
            ) from fault

    return run


def same_token(given: str, token: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return secrets.compare_digest(given.encode(), token.encode())
