"""Every formula of the pages is drawn, without a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?!\d)", re.DOTALL)


def test_every_formula_is_drawn() -> None:
    pytest.importorskip("docutils")
    from docs.sphinx_pages.mathml import formula

    number = 0
    for page in DOCS.glob("*.md"):
        for found in FORMULA.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
            number += 1
            drawn = formula(found[1] or found[2], display=bool(found[1]))
            assert drawn.startswith("<math")
    assert number > 100
    assert "<mi>x</mi>" in formula("x", display=False)
