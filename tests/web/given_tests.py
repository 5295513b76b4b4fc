"""Small tests that people take, for the tests of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from bnmind.adaptive import Design, Item, ItemBank, MaximalItems, ReportOptions
from bnmind.web.guard import WebSettings
from bnmind.web.live import GivenTest, LiveTests
from bnmind.web.reports import Question, State
from bnmind.web.server import create_app
from bnmind.web.store import Store
from bnmind.web.tests import OfferedTest, offered_test

__all__ = ["BANK", "given", "live_tests", "offer", "question_of", "visiting"]

BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1], [1, 0]],
    guess=0.2,
    slip=0.1,
    skill_names=["addition", "canceling"],
    items=[
        Item(
            "sum",
            text="1/7 + 2/7",
            choices=(("3/14", "0"), ("3/7", "1"), ("2/7", "0")),
            shuffle=False,
        ),
        Item("form", text="6/8", choices=(("3/4", "1"), ("2/4", "0")), shuffle=False),
        Item("both", text="1/6 + 1/6", choices=(("1/3", "1"), ("2/12", "0")), shuffle=False),
        Item("mark", text="Prove it."),
    ],
).with_title("Four items")


def given(*, length: int = 3, **report: Any) -> GivenTest:
    """Return a test of the bank."""
    design = Design(BANK, stopper=MaximalItems(length), report=ReportOptions(**report))
    return GivenTest(design=design)


def live_tests(folder: Path, *, needs_code: bool = False, **options: Any) -> LiveTests:
    """Return a test with a database in a folder."""
    store = Store(f"sqlite:///{folder / 'answers.sqlite'}")
    chosen = options.pop("given", None) or given()
    return LiveTests(chosen, store, needs_code=needs_code, **options)


def question_of(state: State) -> Question:
    """Return the question of a test that is not over."""
    assert state.question is not None
    return state.question


def offer(folder: Path, *, needs_code: bool = False, **report: Any) -> OfferedTest:
    """Return an offered test with a database in a folder."""
    url = f"sqlite:///{folder / 'answers.sqlite'}"
    return offered_test(given(**report), url, needs_code=needs_code)


def visiting(tests: OfferedTest, **settings: Any) -> TestClient:
    """Return a browser that has just been opened, at a server with a test."""
    return TestClient(
        create_app(WebSettings(**settings), tests=tests),
        base_url="http://localhost",
        raise_server_exceptions=False,
        follow_redirects=False,
    )
