"""The clients in the documentation work, and the page of the API shows the same ones."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT
from tests.web.clients import asked, client
from tests.web.serving import serving
from tests.web.test_browser import CHROMIUM, OPTIONS

WRITTEN = "http://127.0.0.1:8080"
QUESTION = {"turns": [{"guess": "1123", "reply": "1b1w"}], "noise": "false:0.1"}


def documented() -> list[str]:
    """Return the clients in the documentation: in Python, in JavaScript, one that takes a test."""
    text = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
    blocks = [block.strip() for block in re.findall(r"```\n(.*?)```", text, re.DOTALL)]
    return [block for block in blocks if WRITTEN in block]


def test_the_page_of_the_api_shows_the_documented_clients() -> None:
    page = html.unescape(client().get("/api").text)
    python, javascript, _ = documented()
    assert python.replace(WRITTEN, "http://localhost") in page
    assert javascript.replace(WRITTEN, "http://localhost") in page
    assert all(len(code.splitlines()) <= 14 for code in (python, javascript))


@pytest.mark.slow
@pytest.mark.browser
def test_the_documented_clients_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python, javascript, taker = documented()
    expected = asked(client(), "/api/suggest", QUESTION)["guess"]
    with serving(tmp_path) as (address, _):
        exec(python.replace(WRITTEN, address), {})
        assert capsys.readouterr().out.strip() == expected
        exec(taker.replace(WRITTEN, address), {})
        assert capsys.readouterr().out.strip().endswith(".")
        if CHROMIUM is None:
            pytest.skip("there is no Chromium")
        playwright = pytest.importorskip("playwright.sync_api")
        said: list[str] = []
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
            page: Any = browser.new_page()
            page.goto(f"{address}/api")
            page.on("console", lambda message: said.append(message.text))
            page.evaluate(f"async () => {{ {javascript.replace(WRITTEN, address)} }}")
            browser.close()
        assert said == [expected]
