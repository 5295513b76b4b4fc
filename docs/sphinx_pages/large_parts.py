"""Long tables of numbers are folded, names in tables may be broken, pictures open in full size.

A table of measurements with more than 20 rows is behind a line that names its columns; a click or
the Enter key opens it. Tables of words, such as those of terms and of names, stay as they are.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["fold_tables", "let_names_break", "link_pictures", "setup", "trim_code"]

MOST_ROWS = 20
PART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._/(=:])(?=\w)")
"""A place between two parts of a name."""
NUMBER = re.compile(r"[<>+−-]?\s?\d|[–—-]?$")


def fold_tables(doctree: Any) -> int:
    """Fold the long tables of numbers of a page; return how many there are."""
    from docutils import nodes

    folded = 0
    for table in list(doctree.findall(nodes.table)):
        heads = [
            e.astext() for head in table.findall(nodes.thead) for e in head.findall(nodes.entry)
        ]
        body = next(table.findall(nodes.tbody))
        rows = [[e.astext() for e in row.findall(nodes.entry)] for row in body.findall(nodes.row)]
        if len(rows) <= MOST_ROWS or not _has_numbers(rows):
            continue
        label = f"Table with {len(rows)} rows: {', '.join(filter(None, heads))}"
        opening = f'<details class="long-table"><summary>{escape(label)}</summary>\n'
        place = table.parent.index(table)
        table.parent.insert(place + 1, nodes.raw("", "</details>\n", format="html"))
        table.parent.insert(place, nodes.raw("", opening, format="html"))
        folded += 1
    return folded


def _has_numbers(rows: list[list[str]]) -> bool:
    """Return whether a column but the first consists of numbers."""
    columns = zip(*rows, strict=True)
    return any(all(map(NUMBER.match, column)) and any(column) for column in list(columns)[1:])


def link_pictures(doctree: Any, folder: str, files: Any) -> None:
    """Let each picture lead to its file, in which phones show it as large as it is.

    ``files`` maps the address of a picture to its users and the name of its file in ``folder``.
    """
    from docutils import nodes

    for picture in list(doctree.findall(nodes.image)):
        address = picture["uri"]
        if address in files and not isinstance(picture.parent, nodes.reference):
            link = nodes.reference("", "", refuri=f"{folder}/{files[address][1]}", internal=True)
            link["classes"].append("image-reference")
            picture.replace_self(link)
            link += picture


def let_names_break(doctree: Any) -> None:
    """Let browsers break the names in tables between their parts."""
    from docutils import nodes

    for entry in doctree.findall(nodes.entry):
        for text in [
            one for code in entry.findall(nodes.literal) for one in code.findall(nodes.Text)
        ]:
            pieces: list[Any] = []
            for part in PART.split(str(text)):
                pieces += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
            text.parent.replace(text, pieces[1:])


def trim_code(doctree: Any) -> None:
    """Remove the blank line that a doctest needs at its end."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block.children = []
            block += nodes.Text(block.rawsource)


def _prepare(app: Sphinx, doctree: Any, docname: str) -> None:
    from sphinx.util.osutil import relative_uri

    if app.builder.format == "html":
        fold_tables(doctree)
        trim_code(doctree)
        let_names_break(doctree)
        here = app.builder.get_target_uri(docname)
        link_pictures(doctree, relative_uri(here, app.builder.imagedir), app.env.images)


def setup(app: Sphinx) -> None:
    """Prepare every page of HTML."""
    app.connect("doctree-resolved", _prepare)
