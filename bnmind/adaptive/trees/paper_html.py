"""Paper tests as a page of HTML that prints well: boxes are not cut by page breaks."""

from __future__ import annotations

from html import escape

from bnmind.adaptive.trees.item_tree import ItemTree
from bnmind.adaptive.trees.paper_markdown import guide
from bnmind.adaptive.trees.paper_test import PaperItem, PaperResult, paper_test

__all__ = ["tree_to_html"]

_STYLE = """
body { font: 12pt/1.4 Georgia, serif; max-width: 48em; margin: 2em auto; padding: 0 1em; }
section { border: 1px solid #888; border-radius: 6px; padding: .4em 1em; margin: .8em 0;
          break-inside: avoid; }
section h2 { float: left; margin: 0 1em 0 0; font-size: 1.2em; min-width: 1.6em; }
.item { font-size: 1.1em; } .ways { clear: both; color: #333; }
.result { background: #f4f4f4; } table { clear: both; border-collapse: collapse; }
td { padding: .1em 1.2em .1em 0; } .unsure { font-style: italic; color: #555; }
a { color: inherit; } @media print { body { margin: 0; } a { text-decoration: none; } }
"""


def tree_to_html(tree: ItemTree) -> str:
    """Return a tree as a paper test, in HTML."""
    paper = paper_test(tree)
    title = escape(paper.title)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *(f"<p>{escape(line)}</p>" for line in guide(paper)),
        *map(_item, paper.items),
        "<h1>Results</h1>",
        *map(_result, paper.results),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _item(box: PaperItem) -> str:
    ways = " ".join(
        f'If {escape(word)}, go to <a href="#box{to}"><b>{to}</b></a>.' for word, to in box.ways
    )
    return (
        f'<section id="box{box.number}"><h2>{box.number}</h2>'
        f'<p class="item">{escape(box.text)}</p><p class="ways">{ways}</p></section>'
    )


def _result(box: PaperResult) -> str:
    rows = "".join(
        f"<tr{'' if line.is_sure else ' class=unsure'}><td>{escape(line.skill)}</td>"
        f"<td>{escape(line.text)}</td></tr>"
        for line in box.skills
    )
    return (
        f'<section class="result" id="box{box.number}"><h2>{box.number}</h2>'
        f"<p>The test is over.</p><table>{rows}</table></section>"
    )
