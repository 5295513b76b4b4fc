"""Paper tests as Markdown."""

from __future__ import annotations

import re

from bnmind._messages import counted
from bnmind.adaptive.trees.item_tree import ItemTree
from bnmind.adaptive.trees.paper_test import PaperTest, paper_test

__all__ = ["guide", "tree_to_markdown"]


def guide(paper: PaperTest) -> tuple[str, ...]:
    """Return how to give a paper test, as paragraphs."""
    return (
        "Begin with box 1. Ask the question, judge the answer, and go to the box that the line"
        " below the question names. Boxes that no line leads you to are skipped. The last box"
        " reports the skills.",
        f"Nobody answers more than {counted(paper.longest, 'question')}; the mean is"
        f" {paper.mean_length:.1f}. On average, {100 * paper.accuracy:.0f} % of the skills are"
        " reported right, according to the item bank.",
    )


def tree_to_markdown(tree: ItemTree) -> str:
    """Return a tree as a paper test, in Markdown."""
    paper = paper_test(tree)
    lines = [f"# {_plain(paper.title)}", ""]
    for paragraph in guide(paper):
        lines += [paragraph, ""]
    for item in paper.items:
        lines += [f"## {item.number}", "", _plain(item.text), ""]
        lines += [" ".join(f"If {_plain(word)}, go to **{to}**." for word, to in item.ways), ""]
    lines += ["# Results", ""]
    for result in paper.results:
        lines += [f"## {result.number}", "", "The test is over.", ""]
        lines += ["| skill | result |", "|---|---|"]
        lines += [f"| {_plain(line.skill)} | {_plain(line.text)} |" for line in result.skills]
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text whose letters Markdown shows as they are."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))
