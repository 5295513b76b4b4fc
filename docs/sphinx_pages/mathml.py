"""Formulas as MathML, which browsers draw themselves: the pages load no script for them.

docutils, on which Sphinx stands, translates LaTeX; Sphinx does not use its translation.
"""

from __future__ import annotations

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

    return str(tex2mathml(latex.strip(), as_block=display))


def _inline(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    self.body.append(formula(node.astext(), display=False))
    raise SkipNode


def _display(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    self.body.append(f'<div class="math">{formula(node.astext(), display=True)}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Make the formulas of HTML pages with it: ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
