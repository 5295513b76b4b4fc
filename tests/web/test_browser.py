"""The pages in a real browser: Chromium, driven by Playwright; skipped where either is missing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.command_line import ROOT
from tests.web.serving import serving

CHROMIUM = shutil.which("chromium")
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
WIDTHS = {"desktop": (1280, 860), "phone": (390, 844)}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("memory")) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, which takes longer to start than most of the tests."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    """A page that remembers no other; nothing may leave, and nothing may be complained about."""
    faults: list[str] = []
    width, height = WIDTHS[request.param]
    context = browser.new_context(viewport={"width": width, "height": height}, base_url=address)
    opened = context.new_page()
    opened.set_default_timeout(45_000)  # machines of tests are busy
    opened.on("console", lambda said: faults.append(said.text))
    opened.on("pageerror", lambda fault: faults.append(str(fault)))
    opened.on(
        "request",
        lambda sent: None if sent.url.startswith(address) else faults.append(sent.url),
    )
    yield opened
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
    assert faults == []


on_a_phone = pytest.mark.parametrize("page", ["phone"], indirect=True)
"""Marks tests of what pages do, which is the same at every width."""


def watch_known_game(page: Any) -> None:
    """Let strategies play; of a secret that the first guess finds there is nothing more to see."""
    page.goto("/watch")
    page.wait_for_selector("#run:not([disabled])")  # the page writes its own number first
    page.click("#setup summary")
    page.fill("#seed", "1")
    page.press("#setup button[type=submit]", "Enter")
    page.wait_for_selector("text=/; game 1$/")
    page.wait_for_selector("#run:not([disabled])")


def test_a_noisy_game_is_assisted_and_the_wrong_row_is_doubted(page: Any) -> None:
    page.goto("/assist")
    page.wait_for_selector(".proposal .peg")
    page.click("#setup summary")
    page.check('input[name="noise"][value="false"]')
    page.click(".text-history summary")
    # The code is 1234, and the third reply is false.
    page.fill("#text", "1256 2b0w, 1135 2b0w, 1243 0b0w, 6634 2b0w, 1536 2b0w")
    page.click("#use-text")
    page.wait_for_selector(".row >> nth=4")
    page.wait_for_selector(".row.much")
    assert "chance of being wrong:" in page.inner_text(".row.much .doubt")
    assert page.locator(".row.much .number").all_inner_texts() == ["3"]
    page.click('[data-act="what 2"]')
    page.click(".chips button >> nth=0")
    page.wait_for_selector(".versus")
    page.click("text=Ignore this row")
    page.wait_for_selector(".row.off")
    page.wait_for_selector('.probable li:first-child [aria-label="A B C D"]')
    page.reload()  # the game is still there
    page.wait_for_selector(".row.off")


@on_a_phone
def test_ten_colors_are_ten_digits(page: Any) -> None:
    page.goto("/assist")
    page.click("#setup summary")
    page.select_option("select[name=colors]", "10")
    page.click(".text-history summary")
    page.fill("#text", "0567 1A1B, 10 1 2 3 0A1B")
    page.click("#use-text")
    page.wait_for_selector(".row >> nth=1")
    assert page.input_value("#text") == "0567 1b1w, 0123 0b1w"
    page.click(".slot >> nth=0")
    page.keyboard.type("0567")
    assert page.locator('.slot[aria-label="Position 1: J"]').count() == 1


def test_a_game_is_played_with_the_keyboard(page: Any) -> None:
    page.goto("/play")
    page.wait_for_selector("#setup[open]")
    page.check('input[name="noise"][value="exact"]')
    page.press("#setting button[type=submit]", "Enter")
    page.wait_for_selector("#entry:not([hidden])")
    for number in range(1, 12):
        page.press("#hint", "Enter")
        page.wait_for_selector(".proposal")
        guess = page.get_attribute(".proposal [role=img]", "aria-label").replace(" ", "")
        page.focus(".slot.current")
        page.keyboard.type(guess)
        page.keyboard.press("Enter")
        page.wait_for_selector(f".row >> nth={number - 1}")
        if page.locator("text=Found!").count():
            break
    assert page.locator(".tag.good").inner_text() == "the code"
    page.wait_for_selector("text=Each guess was the most informative one.")
    assert page.locator(".retrospect > li").count() == number
    secret = page.get_attribute("#state [role=img]", "aria-label")
    page.press("text=Watch strategies find it", "Enter")
    page.wait_for_selector(f"#secret-shown [aria-label='{secret}']")
    assert "replies are always true" in page.inner_text("#setting-words")


def test_a_network_is_clicked_in_the_list_and_in_the_picture(page: Any) -> None:
    page.goto("/networks")
    page.click('.variable[aria-label="xray"] .state >> nth=0')
    page.wait_for_selector("#evidence >> text=xray = yes")
    page.click("#as-picture")
    page.click('#canvas [aria-label^="smoke: no"]')
    page.wait_for_selector("#evidence >> text=smoke = no")
    page.click("#keep")
    page.focus('#canvas [aria-label^="asia: no"]')
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_selector("#canvas [data-variable=asia] >> text='= yes (now)'")
    page.click("#swap")
    page.wait_for_selector("#canvas [data-variable=asia] >> text='= yes (compared)'")
    assert page.locator("#evidence button").count() == 2
    page.click("#explain")
    page.wait_for_selector("#explanation table")
    told = page.inner_text("#evidence")
    page.reload()
    page.wait_for_selector("#canvas [data-variable=asia] >> text='= yes (compared)'")
    assert page.inner_text("#evidence") == told


def test_a_large_picture_fits_and_is_made_larger_and_moved(page: Any) -> None:
    page.goto("/networks")
    page.select_option("#model", "alarm")
    page.wait_for_selector('.variable[aria-label="HRBP"]')
    page.click("#as-picture")
    page.wait_for_selector("#canvas svg")
    inside = """(box) => {
        const place = document.getElementById("canvas").getBoundingClientRect();
        return [...document.querySelectorAll("#canvas [data-variable]")].every((one) => {
            const own = one.getBoundingClientRect();
            return own.left >= place.left && own.right <= place.right + 1
                && own.top >= place.top && own.bottom <= place.bottom + 1;
        });
    }"""
    assert page.evaluate(inside)  # all of it is in view, not an empty corner
    width = "document.querySelector('#canvas svg').getBoundingClientRect().width"
    small = page.evaluate(width)
    for _ in range(4):
        page.press("#larger", "Enter")
    assert page.evaluate(width) > 3 * small
    assert not page.evaluate(inside)
    place = page.evaluate("document.getElementById('canvas').scrollTop")
    assert place > 0  # its middle stays in the middle
    box = page.locator("#canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 20, y - 40)
    page.mouse.up()
    assert page.evaluate("document.getElementById('canvas').scrollTop") == pytest.approx(place + 40)
    assert page.locator("#evidence button").count() == 0  # that was no click
    page.locator('#canvas [aria-label^="HRBP: LOW"]').scroll_into_view_if_needed()
    page.click('#canvas [aria-label^="HRBP: LOW"]')
    page.wait_for_selector("#evidence >> text=HRBP = LOW")
    assert page.evaluate(width) > 3 * small  # a new picture has the size of the one before
    page.press("#smaller", "Enter")
    page.press("#fit", "Enter")
    assert page.evaluate(width) == pytest.approx(small, rel=0.05)


@on_a_phone
def test_back_undoes_evidence(page: Any) -> None:
    page.goto("/")
    page.goto("/networks")
    page.click('.variable[aria-label="xray"] .state >> nth=0')
    page.wait_for_selector("#evidence >> text=xray = yes")
    page.click('.variable[aria-label="smoke"] .state >> nth=1')
    page.wait_for_selector("#evidence >> text=smoke = no")
    page.set_input_files("#file", ROOT / "models" / "mastermind-3x4.bif")
    page.wait_for_selector("#network-title >> text=mastermind-3x4.bif")
    page.click('.variable[aria-label="H1"] .state >> nth=1')
    page.wait_for_selector("#evidence >> text=H1 = 2")
    page.go_back()
    page.wait_for_selector("#evidence >> text=Nothing is observed yet.")
    assert page.inner_text("#network-title") == "mastermind-3x4.bif"
    page.go_back()
    page.wait_for_selector("#evidence >> text=smoke = no")
    page.go_back()
    page.wait_for_selector("#evidence >> text=smoke = no", state="detached")
    assert page.locator("#evidence .chips button").all_inner_texts() == ["xray = yes ✕"]
    page.go_back()
    page.wait_for_selector("#evidence >> text=Nothing is observed yet.")
    page.go_forward()
    page.wait_for_selector("#evidence >> text=xray = yes")
    page.go_back()
    page.wait_for_selector("#evidence >> text=Nothing is observed yet.")
    page.go_back()
    page.wait_for_selector("text=The rules in short")


@on_a_phone
def test_giving_up_asks_first(page: Any) -> None:
    page.goto("/play")
    page.click("#setting button[type=submit]")
    page.wait_for_selector("#entry:not([hidden])")
    page.press("#give-up", "Enter")
    page.press("#ask-no", "Enter")
    assert page.is_visible("#entry")
    page.press("#give-up", "Enter")
    page.press("#ask-yes", "Enter")
    page.wait_for_selector("#state >> text=The code was")


@on_a_phone
def test_a_bar_above_bits_unknown_shows_the_unknown_share(page: Any) -> None:
    shown = (
        "parseFloat(document.querySelector('.gauge .meter i').style.getPropertyValue('--share'))"
    )
    page.goto("/assist")
    page.wait_for_selector(".gauge >> text=bits are still unknown")
    assert page.evaluate(shown) == pytest.approx(1)
    page.click(".text-history summary")
    page.fill("#text", "1123 1b1w, 2345 1b1w")
    page.click("#use-text")
    page.wait_for_selector(".row >> nth=1")
    page.wait_for_selector(".probable li")
    left, all_bits = map(float, re.findall(r"\d+\.\d+", page.inner_text(".gauge")))
    assert page.evaluate(shown) == pytest.approx(left / all_bits, abs=0.01)


@on_a_phone
def test_an_opened_network_is_there_after_a_reload(page: Any) -> None:
    page.goto("/networks")
    page.set_input_files("#file", ROOT / "models" / "mastermind-3x4.bif")
    page.wait_for_selector("#network-title >> text=mastermind-3x4.bif")
    chosen = "document.getElementById('model').selectedOptions[0].textContent"
    assert "mastermind-3x4.bif" in page.evaluate(chosen)
    page.press('.variable[aria-label="H1"] .state >> nth=1', "Enter")
    page.wait_for_selector("#evidence >> text=H1 = 2")
    page.reload()
    page.wait_for_selector("#evidence >> text=H1 = 2")
    assert page.inner_text("#network-title") == "mastermind-3x4.bif"
    assert "mastermind-3x4.bif" in page.evaluate(chosen)
    assert page.url.endswith("/networks")


@on_a_phone
def test_a_request_that_takes_long_says_so_and_is_canceled(page: Any) -> None:
    page.route("**/api/suggest", lambda _: None)  # as if the answer took long
    page.goto("/assist")
    page.wait_for_selector("#waiting:not([hidden])")
    assert "After 20 s the server gives up" in page.inner_text("#waiting-words")
    page.focus("#cancel-all")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=You canceled this computation")
    assert page.is_hidden("#waiting")
    page.goto("/api")
    page.click(".endpoint summary >> nth=0")
    page.click('.try[data-path="/api/suggest"] button')
    page.click("#cancel-all")
    page.wait_for_selector("text=Canceled; the server has stopped it.")
    page.unroute("**/api/suggest")


def test_a_belief_is_shown_in_pictures(page: Any) -> None:
    page.goto("/assist")
    page.click(".text-history summary")
    page.fill("#text", "1123 1b1w, 2345 1b1w")
    page.click("#use-text")
    page.wait_for_selector("#entropy-picture circle >> nth=2")
    assert page.locator("#information-picture .mark").count() == 1
    page.press("#stage > summary", "Enter")
    for stage, marked in ((1, "T1"), (3, "B")):
        page.press(f"[data-stage='{stage}']", "Enter")
        page.wait_for_selector(f"#stage-picture [data-variable={marked}]")
        assert page.locator("#stage-picture [data-variable=H4] [data-share]").count()
    assert "214,775 cells" in page.inner_text("#clique-words")
    assert page.locator("#cliques tr").count() == 18


class _Failing:
    """A server whose answers to one question cannot be read, a few times."""

    def __init__(self, page: Any, path: str, *, times: int) -> None:
        self.asked = 0
        self._page, self._times = page, times
        page.route(path, self._answer)

    def wait(self, number: int) -> None:
        """Wait until there were so many questions."""
        for _ in range(900):
            if self.asked >= number:
                break
            self._page.wait_for_timeout(50)
        assert self.asked == number

    def _answer(self, route: Any) -> None:
        self.asked += 1
        if self.asked > self._times:
            route.continue_()
        else:
            route.fulfill(status=200, body="no answer")


@pytest.mark.parametrize("times", [1, 2])
def test_pictures_that_fail_are_asked_for_again(page: Any, times: int) -> None:
    watch_known_game(page)
    failing = _Failing(page, "**/api/known", times=times)
    page.press("#step", "Enter")
    failing.wait(2)  # one retry, and no more
    if times == 2:
        page.wait_for_selector("#pictures-fault >> text=There are no pictures now.")
        assert page.inner_text("#look-positions") == "Not known now."
        assert page.is_hidden("#information-panel")
        page.press("#pictures-fault button", "Enter")
        failing.wait(3)
    page.wait_for_selector("#look-positions table")
    page.wait_for_selector("#information-picture svg")
    assert page.inner_text("#pictures-fault") == ""


@on_a_phone
def test_a_fault_that_is_overtaken_leaves_the_pictures_of_the_newer_guess(page: Any) -> None:
    page.goto("/watch")
    page.wait_for_selector("#run:not([disabled])")
    failing = _Failing(page, "**/api/known", times=1)
    page.press("#step", "Enter")
    failing.wait(1)
    page.press("#back", "Enter")  # while the page waits to ask again
    failing.wait(2)
    page.wait_for_selector("#look-positions table")
    page.wait_for_selector("#information-picture svg")
    page.wait_for_timeout(1200)
    assert failing.asked == 2
    assert page.inner_text("#pictures-fault") == ""


def test_strategies_are_watched_with_the_keyboard(page: Any) -> None:
    watch_known_game(page)
    assert page.locator(".boards > section").count() == 3
    page.press("#step", "Enter")
    page.wait_for_selector("text=/Guess 1 of/")
    assert page.locator(".boards .row").count() == 3
    page.wait_for_selector("#look-positions table")
    page.press("#back", "Enter")
    assert page.locator(".boards .row").count() == 0
    page.select_option("#speed", "2400")
    page.press("#run", "Enter")
    assert page.inner_text("#run") == "Pause"
    page.press("#run", "Enter")
    assert page.inner_text("#run") == "Play"
    page.select_option("#speed", "400")
    page.press("#run", "Enter")
    page.wait_for_selector("#step[disabled]")  # it plays to the end
    assert page.inner_text("#run") == "Play"
    page.press("#first", "Enter")
    page.press("#last", "Enter")
    assert page.locator(".outcome .tag").count() == 3
    secret = page.get_attribute("#secret-shown [role=img]", "aria-label")
    codes = page.locator(".boards .row:has(.tag.good) [role=img]")
    assert {codes.nth(i).get_attribute("aria-label") for i in range(codes.count())} == {secret}
    page.select_option("#player-1", "random")
    page.wait_for_selector('[aria-label="Player 2: random"] .gauge')
    page.press("#add-player", "Enter")
    page.wait_for_selector(".boards > section >> nth=3")
