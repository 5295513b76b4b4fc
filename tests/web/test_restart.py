"""What visitors have begun goes on after the server was killed and started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import serving
from tests.web.test_browser import CHROMIUM, OPTIONS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


def test_games_and_evidence_outlive_the_server(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        visitor = browser.new_context()
        visitor.set_default_timeout(45_000)
        with serving(tmp_path) as (address, process):
            play, assist, network = (visitor.new_page() for _ in range(3))
            play.goto(f"{address}/play")
            play.click("#setting button[type=submit]")
            _guess(play, "1123", 1)
            assist.goto(f"{address}/assist")
            assist.click(".text-history summary")
            assist.fill("#text", "1256 2b0w, 1135 2b0w")
            assist.click("#use-text")
            assist.wait_for_selector(".row >> nth=1")
            network.goto(f"{address}/networks")
            network.click('.variable[aria-label="xray"] .state >> nth=0')
            network.wait_for_selector("#evidence >> text=xray = yes")
            process.kill()
            process.wait(20)
        network.click('.variable[aria-label="smoke"] .state >> nth=1')
        network.wait_for_selector("text=The server does not answer.")
        with serving(tmp_path) as (again, _):
            assert again == address
            _guess(play, "2345", 2)
            play.reload()
            play.wait_for_selector(".row >> nth=1")
            network.click('.variable[aria-label="dysp"] .state >> nth=0')
            network.wait_for_selector("#evidence >> text=dysp = yes")
            assert network.locator("#evidence button").count() == 3
            assist.reload()
            assist.wait_for_selector(".proposal .peg")
            assert assist.locator(".row").count() == 2
        browser.close()


def _guess(page: Any, guess: str, number: int) -> None:
    page.focus(".slot.current")
    page.keyboard.type(guess)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".row >> nth={number - 1}")
