"""A class in real browsers: a test is taken, the server killed, the test resumed and reported."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import ItemBank, write_bank
from bnmind.web.live import LiveTests, read_plan
from bnmind.web.store import Store
from tests.command_line import ROOT
from tests.web.given_tests import question_of
from tests.web.serving import serving
from tests.web.test_browser import CHROMIUM, WIDTHS, browser

__all__ = ["browser"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]

MODELS = ROOT / "models"
FILES = ("--bank", str(MODELS / "banks" / "fractions.json"), "--codes")


class _Opened:
    """A page of an empty browser, which notes what that complains of."""

    def __init__(self, browser: Any, *, phone: bool) -> None:
        width, height = WIDTHS["phone" if phone else "desktop"]
        context = browser.new_context(viewport={"width": width, "height": height})
        self.page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.faults: list[str] = []
        self.page.on("console", lambda said: self.faults.append(said.text))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))

    def barriers(self) -> list[str]:
        """Return what axe-core finds, and whether the page is too wide."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return [
            f"{one['id']}: {one['nodes'][0]['html'][:120]}"
            for one in axe.run(self.page).response["violations"]
        ]

    def close(self) -> None:
        self.page.context.close()


def _teachers_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http\S+\?token=\S+", line):
            return found[0]
    raise AssertionError("no address of the teacher")


def _answer(page: Any, number: int) -> None:
    """Answer the question of a number with the keyboard, and wait for the next one."""
    page.wait_for_selector(f"#question-title >> text=/^Question {number}( |$)/")
    page.keyboard.press(str(1 + number % 4))
    page.keyboard.press("Enter")
    page.wait_for_selector("#saved >> text=Saved.", state="attached")
    following = f"#question-title:text-matches('^Question {number + 1}( |$)')"
    page.wait_for_selector(f"#report:not([hidden]), {following}")


def test_a_class_goes_on_after_the_server_was_killed(browser: Any, tmp_path: Path) -> None:
    design = tmp_path / "design.toml"
    design.write_text('stop = ["items:4"]\n[report]\nduring = true\n')
    arguments = (*FILES, "--design", str(design), "--responses", str(tmp_path / "class.sqlite"))
    teacher, taker = _Opened(browser, phone=False), _Opened(browser, phone=True)
    with serving(tmp_path, *arguments) as (address, process):
        teacher.page.goto(_teachers_address(process))
        teacher.page.fill("#names", "Ann\nBob")
        teacher.page.press("#codes button[type=submit]", "Enter")
        teacher.page.wait_for_selector("#rows tr >> nth=1")
        teacher.page.goto(f"{address}/teacher/codes")
        teacher.page.wait_for_selector(".big-code >> nth=1")
        code = teacher.page.locator(".big-code").first.inner_text()
        assert teacher.barriers() == []

        taker.page.goto(f"{address}/tests")
        taker.page.fill("#code", code.lower())
        assert taker.barriers() == []
        taker.page.press("#code", "Enter")
        _answer(taker.page, 1)
        _answer(taker.page, 2)
        taker.page.press("#why", "Enter")
        taker.page.wait_for_selector("#reasons .ranked li")
        assert taker.barriers() == []
        assert taker.faults == []
        process.kill()
        process.wait(20)
    taker.page.keyboard.press("1")
    taker.page.keyboard.press("Enter")
    taker.page.wait_for_selector("#notice >> text=The server does not answer.")
    assert "bnmind" not in taker.page.inner_text("#notice")
    assert len(taker.faults) == 1  # the browser's own words about the connection
    with serving(tmp_path, *arguments) as (again, process):
        assert again == address
        # In the page that was open all the time, the same answer is sent again.
        taker.page.press("#answer", "Enter")
        taker.page.wait_for_selector("#question-title >> text=/^Question 4/")
        taker.page.reload()
        _answer(taker.page, 4)
        taker.page.wait_for_selector("#result .skills li >> nth=3")
        assert taker.barriers() == []
        taker.page.emulate_media(media="print")
        assert not taker.page.is_visible("#leave")
        assert taker.page.is_visible("#result .skills")
        taker.page.emulate_media(media="screen")
        taker.page.press("#leave", "Enter")
        taker.page.wait_for_selector("#entry:not([hidden])")

        teacher.page.goto(f"{address}/teacher")  # the token is the same
        teacher.page.wait_for_selector("#rows tr:has-text('Ann'):has-text('over')")
        assert teacher.barriers() == []
        with teacher.page.expect_download() as download:
            teacher.page.click("text=Responses (CSV)")
        (row,) = csv.DictReader(download.value.path().read_text().splitlines())
        assert row["examinee"] == "Ann"
        assert sum(response in ("0", "1") for response in row.values()) == 4
        teacher.page.click("#rows tr:has-text('Ann') a")
        teacher.page.wait_for_selector("#answers tr >> nth=3")
        assert teacher.barriers() == []
        teacher.page.goto(f"{address}/teacher")
        teacher.page.click("#rows tr:has-text('Bob') button")
        teacher.page.wait_for_selector("#ask[open]")
        assert teacher.barriers() == []
        teacher.page.press("#ask-yes", "Enter")
        teacher.page.wait_for_selector("#rows tr:only-child")
        _teachers_address(process)
    assert teacher.faults == []
    assert len(taker.faults) == 1
    teacher.close()
    taker.close()


def test_two_windows_of_one_test_agree(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _):
        one = _Opened(browser, phone=False)
        one.page.goto(f"{address}/tests")
        one.page.click("#begin")
        one.page.wait_for_selector("#question-title >> text=/^Question 1/")
        other = one.page.context.new_page()
        other.goto(f"{address}/tests")
        other.wait_for_selector("#question-title >> text=/^Question 1/")
        _answer(one.page, 1)
        other.keyboard.press("1")  # another choice than in the first window
        other.keyboard.press("Enter")
        other.wait_for_selector("#notice >> text=answered already")
        other.wait_for_selector("#question-title >> text=/^Question 2/")
        one.close()


def test_the_table_of_a_class_holds_five_skills_and_a_long_name(
    browser: Any, tmp_path: Path
) -> None:
    long = "adding fractions with unequal denominators"
    skills = [long, "common denominator", "multiplication", "canceling", "mixed numbers"]
    items = np.vstack([np.eye(5, dtype=int), np.ones((1, 5), dtype=int)])
    bank = ItemBank.from_qmatrix(items, guess=0.2, slip=0.1, skill_names=skills)
    write_bank(bank, tmp_path / "bank.json")
    live = LiveTests(
        read_plan(tmp_path / "bank.json", None),
        Store(f"sqlite:///{tmp_path / 'class.sqlite'}"),
        needs_code=True,
    )
    for sitting in live.new(59, ["x" * 80, *(f"Pupil {i}" for i in range(58))], with_code=True):
        live.answer(sitting.key, 0, question_of(live.state(sitting.key)).item, 0)
    live.store.close()
    arguments = ("--bank", str(tmp_path / "bank.json"), "--codes")
    place = ("--responses", str(tmp_path / "class.sqlite"))
    with serving(tmp_path, *arguments, *place) as (_, server):
        teacher = _Opened(browser, phone=False)
        teacher.page.goto(_teachers_address(server))
        teacher.page.wait_for_selector("#rows tr >> nth=58")
        table = "document.querySelector('.class').parentElement"
        assert teacher.page.evaluate(f"{table}.scrollWidth <= {table}.clientWidth")
        heights = teacher.page.evaluate(
            "[...document.querySelectorAll('#rows tr')].map((one) => one.offsetHeight)"
        )
        assert max(heights) < 70
        lines = """(() => {
            const words = document.createRange();
            words.selectNodeContents(document.querySelectorAll("#header th")[6]);
            const tops = [...words.getClientRects()].map((one) => one.top);
            return [words.toString(), new Set(tops).size];
        })()"""
        assert teacher.page.evaluate(lines) == ["multiplication", 1]  # no word is broken
        assert 1 <= teacher.page.pdf(format="A4").count(b"/Type /Page\n") <= 2
        teacher.page.set_viewport_size({"width": 718, "height": 1000})  # A4
        teacher.page.emulate_media(media="print")
        assert teacher.page.evaluate(lines) == ["multiplication", 1]
        teacher.page.emulate_media(media="screen")
        teacher.page.select_option("#separator", "semicolon")
        with teacher.page.expect_download() as download:
            teacher.page.click("text=Skills (CSV)")
        assert download.value.path().read_text().startswith("examinee;name;state")
        assert teacher.barriers() == []
        teacher.page.set_viewport_size({"width": 320, "height": 640})
        assert teacher.barriers() == []
        assert teacher.faults == []
        teacher.close()
