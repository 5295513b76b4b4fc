"""Read the tables of the pages that hold figures, and count what the reproductions found."""

from __future__ import annotations

import re
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


def value(rows: Mapping[str, Row], figure: str, column: str = "ours") -> float:
    """Return a number of a reproduction."""
    return number(rows[figure][column])


def heading_link(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def all_reproductions() -> str:
    """Return a table with a row for each reproduction."""
    lines = [
        "| reproduction | figures | agree | better | differ | new, quoted |",
        "|---|---|---:|---:|---:|---:|",
    ]
    total = [0, 0, 0, 0]
    for found in re.finditer(
        r"^## ([^\n]*)$(.*?)(?=^## |\Z)", REPRODUCTIONS.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        counts = [0, 0, 0, 0]
        lines_of = found[2].splitlines()
        line = next(line for line in lines_of if re.match(r"\d+ (agree|differ|is |are )", line))
        for amount, verdict in re.findall(
            r"([\d,]+) (?:is |are )?(agree|better|differ|new|quot)", line
        ):
            place = ("agree", "better", "differ", "new", "quot").index(verdict)
            counts[min(place, 3)] += int(amount.replace(",", ""))
        name, about = found[1].split(": ", 1)
        link = f"[`{name}`](reproductions.md#{heading_link(found[1])})"
        lines.append("| " + " | ".join([link, about, *(str(n or "") for n in counts)]) + " |")
        total = [a + b for a, b in zip(total, counts, strict=True)]
    lines.append("| " + " | ".join(["all", "", *map(str, total)]) + " |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return the page with its table of all reproductions replaced."""
    begin, end = "<!-- reproductions: start -->\n", "<!-- reproductions: end -->"
    before, rest = page.split(begin)
    return before + begin + "\n" + all_reproductions() + "\n\n" + end + rest.split(end)[1]
