"""What Sphinx cannot do by itself: pages from the code, links to its names, formulas, folds.

The generated pages are written below ``docs/api/``, and are not kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

HERE = Path(__file__).parent


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the parts to Sphinx."""
    from docs.sphinx_pages import docstrings, large_parts, links, mathml

    mathml.setup(app)
    large_parts.setup(app)
    links.setup(app)
    docstrings.setup(app)
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Sphinx) -> None:
    from docs.sphinx_pages.reference_pages import reference_pages, write_pages
    from docs.sphinx_pages.registry_pages import command_page, registry_page

    pages = reference_pages()
    pages |= {"registries.rst": registry_page(), "commands.rst": command_page()}
    write_pages(Path(app.srcdir) / "api", pages)
