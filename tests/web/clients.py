"""Clients of the pages, without a server."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from bnmind.web.guard import WebSettings
from bnmind.web.server import create_app

__all__ = ["SMALL", "asked", "client", "refused"]

SMALL = {"pegs": 2, "colors": 3}
"""A board on which everything is quick."""


def client(**settings: Any) -> TestClient:
    """Return a browser that has just been opened."""
    return TestClient(
        create_app(WebSettings(**settings)),
        base_url="http://localhost",
        raise_server_exceptions=False,
        follow_redirects=False,
    )


def asked(browser: TestClient, path: str, question: Any = None) -> dict[str, Any]:
    """Return the answer to a question that the server answers."""
    answer = browser.post(path, json={} if question is None else question)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


def refused(browser: TestClient, path: str, question: Any, status: int = 422) -> str:
    """Return why a question is not answered."""
    answer = browser.post(path, json=question)
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"]["message"])
