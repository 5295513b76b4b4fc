"""Formulas as MathML, which browsers draw themselves: the pages load no script for them.

docutils, on which Sphinx stands, translates LaTeX; Sphinx does not use its translation. Without a
font that is made for formulas, browsers put indices on the line: the pages have one with them,
STIX Two Math (SIL Open Font License), which the library ziamath brings.
"""

from __future__ import annotations

import re
from functools import partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["formula", "setup"]


def formula(latex: str, *, display: bool) -> str:
    """Return the MathML of a formula.

    Raises
    ------
    docutils.utils.math.MathError
        If the formula is not LaTeX, or has signs that docutils does not know.
    """
    from docutils.utils.math.latex2mathml import tex2mathml

    # docutils knows the dots by their other name.
    return str(tex2mathml(re.sub(r"\\dots\b", r"\\ldots", latex.strip()), as_block=display))


def _draw(self: Any, node: Any, *, display: bool) -> None:
    from docutils.nodes import SkipNode
    from docutils.utils.math import MathError
    from sphinx.util import logging

    try:
        drawn = formula(node.astext(), display=display)
    except MathError as fault:
        logger = logging.getLogger(__name__)
        logger.warning("%s in %s", fault, node.astext(), location=node, type="math")
        drawn = escape(node.astext())
    self.body.append(f'<div class="math">{drawn}</div>\n' if display else drawn)
    raise SkipNode


def _bring_font(app: Sphinx, config: Any) -> None:
    """Let the pages have the font of formulas among their own files."""
    library = find_spec("ziamath")
    if library is not None and library.origin is not None:
        font = Path(library.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
        config.html_static_path.append(str(font))


def setup(app: Sphinx) -> None:
    """Make the formulas of HTML pages with it: ``html_math_renderer = "mathml"``."""
    app.connect("config-inited", _bring_font)
    app.add_html_math_renderer(
        "mathml", (partial(_draw, display=False), None), (partial(_draw, display=True), None)
    )
