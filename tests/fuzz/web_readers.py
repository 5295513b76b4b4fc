"""The JSON API of the pages, as a reader of requests: a path and a body."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from starlette.testclient import TestClient

from tests.fuzz.reader import Reader

__all__ = ["WEB_READERS"]

SECONDS = 1.0
"""How long the server may compute; what takes longer is refused, which is in order."""


@cache
def _browser() -> TestClient:
    from bnmind.web.guard import WebSettings
    from bnmind.web.server import create_app

    return TestClient(
        create_app(WebSettings(seconds=SECONDS)),
        base_url="http://localhost",
        raise_server_exceptions=True,
        follow_redirects=False,
    )


def _request(path: Path) -> None:
    """Send the request in a file; a file that is none is the body of one."""
    data = path.read_bytes()
    address, body = "/api/suggest", data
    try:
        record = json.loads(data)
        if isinstance(record, dict):
            asked = record.get("path")
            if isinstance(asked, str) and asked.startswith("/api/") and asked.isprintable():
                address = asked
            body = json.dumps(record.get("body")).encode()
    except (ValueError, RecursionError):
        pass
    headers = {"content-type": "application/json"}
    answer = _browser().post(address, content=body, headers=headers)
    if answer.status_code >= 500 and answer.status_code != 503:
        raise AssertionError(f"status {answer.status_code}: {answer.text[:300]}")
    if answer.status_code >= 400:
        told = answer.json()["error"]["message"]
        if "Traceback" in told or len(told) > 6000:
            raise AssertionError(f"a message of {len(told)} characters: {told[:300]}")


WEB_READERS = (Reader("web_request", _request),)
"""The API of the pages."""
