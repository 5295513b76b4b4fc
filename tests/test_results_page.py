"""The page of results names every reproduction; its table and charts come from other pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bnmind.lab.reproductions import REPRODUCTIONS
from docs import draw_pages
from docs.draw_results import CHARTS, main
from docs.result_tables import with_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_reproductions() -> None:
    assert with_table(PAGE) == PAGE


def test_every_reproduction_has_a_command() -> None:
    commands = " ".join(re.findall(r"^    bnmind reproduce (.*)$", PAGE, re.MULTILINE))
    assert set(REPRODUCTIONS) <= set(commands.split())


def test_the_total_is_the_one_at_the_top() -> None:
    agree, better, differ = re.findall(r"^\| all \|  \| (\d+) \| (\d+) \| (\d+) ", PAGE, re.M)[0]
    compared = int(agree) + int(better) + int(differ)
    assert f"{int(agree) + int(better)} of {compared} published figures agree" in PAGE


def test_every_chart_is_shown_with_a_description() -> None:
    shown = {path: text for text, path in re.findall(r"!\[(.*?)\]\(images/(.*?)\)", PAGE)}
    assert {f"{name}.png" for name in CHARTS} <= set(shown)
    assert all(len(text) > 20 for text in shown.values())


@pytest.mark.parametrize("page", draw_pages.CHARTS)
def test_each_chart_of_a_page_is_shown_there(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    (description,) = re.findall(rf"!\[(.*?)\]\(images/page-{page}\.png\)", text)
    assert len(description) > 20


@pytest.mark.slow
def test_the_charts_of_pages_can_be_drawn(tmp_path: Path) -> None:
    draw_pages.main(["--out", str(tmp_path)])
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (ROOT / "docs/images").glob("page-*.png")}


@pytest.mark.slow
def test_the_charts_can_be_drawn(tmp_path: Path) -> None:
    main(["--out", str(tmp_path)])
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (ROOT / "docs/images").glob("results-*.png")}
