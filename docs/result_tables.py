"""Read the tables of the pages that hold figures, and count what the reproductions found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

DOCS = Path(__file__).parent
REPRODUCTIONS = DOCS / "reproductions.md"

Row: TypeAlias = Mapping[str, str]


def sections(page: Path, level: int = 2) -> dict[str, str]:
    """Return the text of each section of a page by its heading, up to a colon."""
    parts = re.split(rf"^{'#' * level} (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        heading.split(":")[0].strip(): text
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def tables(text: str) -> Iterator[list[Row]]:
    """Yield the tables of a text, each as a list of rows."""
    for found in re.finditer(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        header, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()
        )
        yield [dict(zip(header, row, strict=True)) for row in rows]


def figures(name: str) -> dict[str, Row]:
    """Return the rows of a reproduction by the name of the figure."""
    table = next(t for t in tables(sections(REPRODUCTIONS)[name]) if "figure" in t[0])
    return {row["figure"]: row for row in table}


def number(cell: str) -> float:
    """Return the first number of a cell."""
    found = re.search(r"[-+−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?", cell)
    if found is None:
        return float("nan")
    return float(found[0].replace(",", "").replace("−", "-"))


def value(rows: Mapping[str, Row], figure: str, column: str = "bnmind") -> float:
    """Return a number of a reproduction."""
    return number(rows[figure][column])


def heading_link(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


STANDINGS = ("publication", "other program", "our own")
"""The columns of figures that ours are compared with, by where they stand."""
WORDS = {
    "agrees": "agree",
    "too few games to tell": "too few",
    "better": "better",
    "differs": "differ",
}
"""The word for several figures of each verdict."""


def verdicts(text: str) -> Counter[tuple[str, str]]:
    """Count the verdicts in the tables of a text, by the column of the other figure.

    Figures whose reading was fitted are counted under the column "fitted".
    """
    found: Counter[tuple[str, str]] = Counter()
    for row in (row for table in tables(text) for row in table):
        verdict, _, fitted = row.get("verdict", "").partition(", ")
        columns = [name for name in STANDINGS if row.get(name)]
        if verdict in WORDS:
            (column,) = columns
            found[fitted or column, verdict] += 1
    return found


def told(counts: Mapping[tuple[str, str], int], column: str) -> str:
    """Return the counts of a column in words, such as "4 agree, 1 differ"."""
    return ", ".join(
        f"{counts[column, verdict]} {word}"
        for verdict, word in WORDS.items()
        if counts.get((column, verdict))
    )


def all_reproductions() -> str:
    """Return a table with a row for each reproduction."""
    columns = (*STANDINGS, "fitted")
    lines = [
        f"| reproduction | figures | {' | '.join(columns)} | new, quoted |",
        f"|---|---|{'---|' * len(columns)}---:|",
    ]
    total, others = Counter[tuple[str, str]](), 0
    for found in re.finditer(
        r"^## ([^\n]*)$(.*?)(?=^## |\Z)", REPRODUCTIONS.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        counts = verdicts(found[2])
        new = sum(map(int, re.findall(r"([\d]+) (?:is|are) (?:new|quoted)", found[2])))
        name, about = found[1].split(": ", 1)
        link = f"[`{name}`](reproductions.md#{heading_link(found[1])})"
        row = [link, about, *(told(counts, column) for column in columns), str(new or "")]
        lines.append("| " + " | ".join(row) + " |")
        total, others = total + counts, others + new
    row = ["all", "", *(told(total, column) for column in columns), str(others)]
    lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return the page with its table of all reproductions replaced."""
    begin, end = "<!-- reproductions: start -->\n", "<!-- reproductions: end -->"
    before, rest = page.split(begin)
    return before + begin + "\n" + all_reproductions() + "\n\n" + end + rest.split(end)[1]
