"""Write the notebook of the tutorial, and its pictures, from its page.

Run it with ``python docs/make_tutorial.py``. The page is the only source, so page and notebook
cannot differ: the notebook has the text of the page, its commands and its Python, with the output
that the page shows. Commands that ask questions stay text, because a notebook cannot answer them.
"""

from __future__ import annotations

import base64
import doctest
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "tutorial-class-report.md"
NOTEBOOK = HERE.parent / "examples" / "class-report.ipynb"
PICTURES = {"class_report": "tutorial-class-report.png", "curves": "tutorial-simulation.png"}
"""Figures of the page by their variables, and the files of their pictures."""

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

START = """\
This notebook is written by `docs/make_tutorial.py` from the page
[From answers to a class report](../docs/tutorial-class-report.md).
A line that begins with `!` is a command for the terminal.
"""

Cell = dict[str, Any]


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a page in their order: text, console and python."""
    end = 0
    for found in BLOCK.finditer(page):
        yield "text", page[end : found.start()]
        yield found[1], found[2]
        end = found.end()
    yield "text", page[end:]


def cells(page: str) -> Iterator[Cell]:
    """Yield the cells of the notebook of a page."""
    yield markdown(START)
    for kind, content in blocks(page):
        if kind == "text":
            if content.strip():
                yield markdown(content)
        elif kind == "python":
            yield from python_cells(content)
        elif re.search(r"^Answer[^:\n]*:", content, re.MULTILINE):
            yield markdown(f"```console\n{content}```")
        else:
            yield from command_cells(content)


def markdown(text: str) -> Cell:
    """Return a cell of text; links lead from the folder of the notebook to that of the page."""
    text = re.sub(r"\]\((?!https?:|\.\./)", "](../docs/", text)
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip()}


def code(source: str, *outputs: Cell) -> Cell:
    """Return a cell of code."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": list(outputs),
        "source": source,
    }


def printed(text: str) -> Cell:
    """Return a text as the output of a cell."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def command_cells(block: str) -> Iterator[Cell]:
    """Yield a cell for each command of a block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", "\\\r").partition("\n")
        command = command.replace("\\\r", "\\\n")
        sign = "%" if command.startswith("cd ") else "!"
        yield code(sign + command, *([printed(output)] if output else []))


def python_cells(block: str) -> Iterator[Cell]:
    """Yield the Python of a block: a cell ends where something is shown."""
    source = ""
    drawn = []
    for example in doctest.DocTestParser().get_examples(block):
        if example.source.startswith("plt.close("):
            continue
        source += example.source
        drawn += [name for name in PICTURES if re.match(rf"{name}\b", example.source)]
        if example.want:
            yield code(source.rstrip(), printed(example.want))
            source = ""
    if source:
        yield code(source.rstrip())
    for name in drawn:
        yield code(name, picture(name))


def picture(name: str) -> Cell:
    """Return the picture of a figure as the output of a cell."""
    image = base64.b64encode((HERE / "images" / PICTURES[name]).read_bytes()).decode()
    return {"output_type": "display_data", "metadata": {}, "data": {"image/png": image}}


def notebook(page: str) -> str:
    """Return the notebook of a page as text."""
    import nbformat

    found = list(cells(page))
    for number, cell in enumerate(found):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {
        "cells": found,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    node = nbformat.from_dict(made)
    nbformat.validate(node)
    return str(nbformat.writes(node)) + "\n"


def draw(page: str, directory: Path) -> None:
    """Run the Python of a page, and write its figures."""
    names: dict[str, Any] = {}
    for kind, content in blocks(page):
        if kind == "python":
            for example in doctest.DocTestParser().get_examples(content):
                exec(compile(example.source, "page", "single"), names)
    for name, file in PICTURES.items():
        names[name].savefig(directory / file, dpi=150)


def main() -> None:
    """Write the pictures, and the notebook that shows them."""
    import matplotlib as mpl

    mpl.use("Agg")
    page = PAGE.read_text(encoding="utf-8")
    draw(page, HERE / "images")
    NOTEBOOK.write_text(notebook(page), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{NOTEBOOK.name}: {NOTEBOOK.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
