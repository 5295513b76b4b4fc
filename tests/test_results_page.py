"""The page of results names every reproduction; its table and charts come from other pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bnmind.lab.reproductions import REPRODUCTIONS, Setting, Size
from docs import draw_pages
from docs.draw_results import CHARTS, main
from docs.result_tables import REPRODUCTIONS as REPRODUCED
from docs.result_tables import STANDINGS, sections, told, verdicts, with_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_reproductions() -> None:
    assert with_table(PAGE) == PAGE


def test_every_reproduction_has_a_command() -> None:
    commands = " ".join(re.findall(r"^    bnmind reproduce (.*)$", PAGE, re.MULTILINE))
    assert set(REPRODUCTIONS) <= set(commands.split())


def test_the_counts_are_those_of_the_rows() -> None:
    text = REPRODUCED.read_text(encoding="utf-8")
    counts = verdicts(text)
    for column in STANDINGS:
        stated = re.findall(rf"^\* Beside (\d+) of \*{column}\*: (.*)\.$", text, re.MULTILINE)
        (total, words), *rest = stated
        assert not rest
        plain, _, fitted = words.partition("; fitted: ")
        found = {"agree": 0, "too few": 0, "better": 0, "differ": 0}
        for number, word in re.findall(
            r"(\d+) (?:ha\w+ |is |are )?(agree|too few|bett|diff)", plain
        ):
            found[{"bett": "better", "diff": "differ"}.get(word, word)] += int(number)
        assert ", ".join(f"{n} {word}" for word, n in found.items() if n) == told(counts, column)
        of_fitted = sum(map(int, re.findall(r"\d+", fitted)))
        assert int(total) == sum(found.values()) + of_fitted


def test_the_total_is_the_one_at_the_top() -> None:
    counts = verdicts(REPRODUCED.read_text(encoding="utf-8"))
    for column in STANDINGS:
        assert f"| {column}: {told(counts, column)} |" in PAGE


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["consistent-only", "vomlel-bounds", "snyder-table-1"])
def test_the_page_has_the_figures_and_their_standing(name: str) -> None:
    setting = Setting(Size.QUICK, 0, None)
    computed = Counter(
        (figure.standing and figure.standing.value, figure.verdict.value)
        for figure in REPRODUCTIONS[name].run(setting)
    )
    section = sections(REPRODUCED)[name]
    assert verdicts(section) == computed


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
