"""What Sphinx cannot do by itself: pages from the code, links to its names, formulas.

The generated pages are written below ``docs/api/``, and are not kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

HERE = Path(__file__).parent


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the parts to Sphinx."""
    from docs.sphinx_pages import docstrings, links, mathml

    mathml.setup(app)
    links.setup(app)
    docstrings.setup(app)
    app.connect("builder-inited", _write)
    app.connect("source-read", _leave_out_empty_patterns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Sphinx) -> None:
    from docs.sphinx_pages.reference_pages import reference_pages, write_pages
    from docs.sphinx_pages.registry_pages import command_page, registry_page

    pages = reference_pages()
    pages |= {"registries.rst": registry_page(), "commands.rst": command_page()}
    write_pages(Path(app.srcdir) / "api", pages)


def _leave_out_empty_patterns(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove the patterns of the first page's lists that no page matches yet."""
    if page == "index":
        lines = source[0].splitlines(keepends=True)
        source[0] = "".join(
            line
            for line in lines
            if not re.fullmatch(r"[\w-]+\*", line.strip())
            or any(Path(app.srcdir).glob(line.strip() + ".md"))
        )
