"""Pages that everybody can use: axe-core finds no violation; skipped where it is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bnmind.web.page import AREAS
from tests.web.test_browser import (
    CHROMIUM,
    address,
    browser,
    on_a_phone,
    page,
    watch_known_game,
)

__all__ = ["address", "browser", "page"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


def _assist(page: Any) -> None:
    page.click(".text-history summary")
    page.fill("#text", "1256 2b0w, 1135 2b0w, 1243 0b0w, 6634 2b0w")
    page.click("#use-text")
    page.wait_for_selector(".row.much")
    page.click('[data-act="what 0"]')
    page.click(".chips button >> nth=0")
    page.wait_for_selector(".versus")
    page.click("#setup summary")
    page.click("#stage > summary")
    page.wait_for_selector("#tree-picture svg")
    page.click(".sizes summary")


def _play(page: Any) -> None:
    page.click("#setting button[type=submit]")
    page.wait_for_selector("#entry:not([hidden])")
    page.click("#hint")
    page.wait_for_selector(".proposal")
    page.click("#give-up")
    page.click("#ask-yes")
    page.wait_for_selector("#state .big")


def _networks(page: Any) -> None:
    page.click('.variable[aria-label="xray"] .state >> nth=0')
    page.wait_for_selector("#evidence >> text=xray = yes")
    page.click("#explain")
    page.wait_for_selector("#explanation table")
    page.click("#as-picture")
    page.wait_for_selector("#canvas svg")


def _api(page: Any) -> None:
    page.click(".endpoint summary >> nth=0")
    page.click(".try button >> nth=0")
    page.wait_for_selector(".answer:not([hidden])")


def _watch(page: Any) -> None:
    watch_known_game(page)
    page.click("#last")
    page.wait_for_selector(".outcome .tag")
    page.click("#setup summary")
    page.click("#first")
    page.click("#step")
    page.wait_for_selector("#look-positions table")


def _test(page: Any) -> None:
    page.click("#begin")
    page.click("#choices label >> nth=0")
    page.click("#answer")
    page.wait_for_selector("text=Question 2")
    page.click("#why")
    page.wait_for_selector("#reasons > *")


USED: dict[str, Callable[[Any], None]] = {
    "/assist": _assist,
    "/play": _play,
    "/watch": _watch,
    "/networks": _networks,
    "/tests": _test,
    "/api": _api,
}
"""How to bring a page into a state that shows most of it."""


def test_no_page_has_a_barrier_or_is_too_wide(page: Any) -> None:
    """On the desktop in all colors; on a small phone as it is used, where colors are the same."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    colors = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
    is_phone = page.viewport_size["width"] < 500
    if is_phone:
        page.set_viewport_size({"width": 320, "height": 640})
    page.emulate_media(reduced_motion="reduce")
    page.route("**/nowhere", _as_found)  # the browser complains of the status otherwise
    found: list[object] = []
    for place in (*(place for place, _ in AREAS), "/nowhere"):
        page.goto(place)
        page.wait_for_load_state("networkidle")
        for use in (None, *([USED[place]] if place in USED else [])):
            if use is not None:
                use(page)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((place, use and "used", "too wide"))
            if is_phone and use is None and place in USED:
                continue
            barriers = axe.run(page).response["violations"]
            if not is_phone:
                page.emulate_media(color_scheme="dark")
                barriers += axe.run(page, options=colors).response["violations"]
                page.emulate_media(color_scheme="light")
            for barrier in barriers:
                nodes = [node["html"][:160] for node in barrier["nodes"][:3]]
                found.append((place, use and "used", barrier["id"], barrier["help"], nodes))
    assert found == []


@on_a_phone
def test_long_names_make_no_page_wider_than_a_small_phone(page: Any) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    long = "x" * 60
    text = f"network c {{}}\nvariable {long} {{ type discrete [ 2 ] {{ no, {long} }}; }}\n"
    text += f"probability ( {long} ) {{ table 0.8, 0.2; }}\n"
    page.goto("/networks")
    page.wait_for_selector(".variable")
    file = {"name": f"{long}.bif", "mimeType": "text/plain", "buffer": text.encode()}
    page.set_input_files("#file", file)
    page.wait_for_selector(f'.variable[aria-label="{long}"]')
    page.click("text=uncertain …")
    page.click(".state >> nth=1")
    page.wait_for_selector("#evidence .chips button")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@on_a_phone
def test_a_barrier_would_be_found(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.goto("/")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [one["id"] for one in axe.run(page).response["violations"]] == ["button-name"]


def _as_found(route: Any) -> None:
    route.fulfill(response=route.fetch(), status=200)
