"""Long tables of numbers are folded, tables of words are not, and pictures lead to their files."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("docutils")

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree

from docs.sphinx_pages.large_parts import (
    fold_tables,
    let_names_break,
    link_pictures,
    trim_code,
)


def _page(rows: int, cell: str, text: str = "") -> Any:
    line = "====  ====\n"
    body = "".join(f"n{row:<3}  {cell}\n" for row in range(rows))
    return publish_doctree(f"{line}name  size\n{line}{body}{line}\n{text}")


@pytest.mark.parametrize(
    ("rows", "cell", "folded"), [(21, "1.5", 1), (20, "1.5", 0), (21, "yes", 0)]
)
def test_long_tables_of_numbers_are_folded(rows: int, cell: str, folded: int) -> None:
    page = _page(rows, cell)
    assert fold_tables(page) == folded
    drawn = publish_from_doctree(page, writer="html").decode()
    assert drawn.count("<summary>Table with 21 rows: name, size</summary>") == folded
    assert drawn.count("</details>") == folded


def test_a_dash_or_nothing_may_stand_for_a_number() -> None:
    page = publish_doctree(
        "====  ====\nname  size\n====  ====\n"
        + "".join(f"n{row:<3}  {'–' if row % 2 else '> 20'}\n" for row in range(30))
        + "====  ====\n"
    )
    assert fold_tables(page) == 1


def test_pictures_lead_to_their_files() -> None:
    page = publish_doctree(".. image:: images/a.png\n\n.. image:: b.png\n   :target: start.html\n")
    link_pictures(
        page, "../_images", {"images/a.png": ({"here"}, "a1.png"), "b.png": ({}, "b.png")}
    )
    targets = [link["refuri"] for link in page.findall(nodes.reference)]
    assert targets == ["../_images/a1.png", "start.html"]


def test_code_ends_without_a_blank_line() -> None:
    block = nodes.literal_block("1\n\n", "1\n\n")
    page = nodes.section("", block)
    trim_code(page)
    assert block.astext() == block.rawsource == "1"


def test_names_in_tables_may_be_broken_between_their_parts() -> None:
    line = "======================  ====\n"
    page = publish_doctree(f"{line}``ItemBank.of_skills``  here\n{line}\n``ItemBank.read``\n")
    let_names_break(page)
    raw = [str(part.astext()) for code in page.findall(nodes.literal) for part in code.children]
    wbr = "<wbr>"
    assert raw == ["Item", wbr, "Bank.", wbr, "of_", wbr, "skills", "ItemBank.read"]
