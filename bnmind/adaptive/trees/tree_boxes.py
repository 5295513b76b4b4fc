"""Trees of items as boxes, for DOT and for a drawing."""

from __future__ import annotations

from bnmind.adaptive.trees.item_tree import ItemNode, ItemTree
from bnmind.adaptive.trees.paper_test import level_word, response_word
from bnmind.views.figures import TreeBox, tree_dot, tree_drawing

__all__ = ["tree_to_dot", "tree_to_svg"]

_END = "#e8e8e8"


def tree_to_dot(tree: ItemTree) -> str:
    """Return a tree as a graph for Graphviz; an end shows the most probable profile."""
    title = " ".join((tree.bank.title or "adaptive test").split())
    return tree_dot(_box(tree, tree.root), name="test", comment=title)


def tree_to_svg(tree: ItemTree) -> str:
    """Draw a tree as SVG text: the width of a box is the probability that a test comes there.

    The title of a box, which browsers show, says what is known there.
    """
    return tree_drawing(_box(tree, tree.root))


def _box(tree: ItemTree, node: ItemNode) -> TreeBox:
    bank = tree.bank
    states = [
        bank.variable(skill).states[level]
        for skill, level in zip(bank.skills, node.profile, strict=True)
    ]
    short = all(len(state) == 1 for state in states)
    profile = ("" if short else " ").join(states)
    known = [
        f"{label}: {level_word(bank, skill, chances.index(max(chances)))} ({max(chances):.2f})"
        for skill, label, chances in zip(bank.skills, bank.labels, node.skills, strict=True)
    ]
    title = [f"probability {node.probability:.4f}, {node.entropy:.3f} bits unknown", *known]
    if node.item is None:
        return TreeBox(profile, weight=node.probability, title="\n".join(title), color=_END)
    text = bank.item(node.item).text
    return TreeBox(
        node.item,
        [
            (response_word(bank, node.item, name), _box(tree, child))
            for name, child in node.children
        ],
        weight=node.probability,
        title="\n".join([node.item if not text else f"{node.item}: {text}", *title]),
    )
