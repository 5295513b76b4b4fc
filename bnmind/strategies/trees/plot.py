"""Drawings of strategy trees, in which the width of a guess is the number of codes left.

Each row is a turn, and each box is a guess. The boxes below it are the next guesses after each
reply, in the order of replies. White areas are finished games. Boxes that are too narrow to see are
omitted.
"""

from __future__ import annotations

from bnmind._arguments import checked_if_it_fails
from bnmind._messages import counted
from bnmind.strategies.trees.tree import StrategyTree, TreeNode
from bnmind.views.figures import TreeBox, tree_drawing

__all__ = ["tree_to_svg"]


@checked_if_it_fails
def tree_to_svg(tree: StrategyTree, *, width: int = 1200) -> str:
    """Draw a tree, as SVG text.

    The title of a box, which browsers show, contains the guess, the reply before it and the
    number of codes left.

    Parameters
    ----------
    tree
        The tree.
    width
        The width in pixels.
    """
    board, reports = tree.board, tree.channel.reports

    def box(node: TreeNode, reply: str) -> TreeBox:
        text = "" if node.guess is None else board.code_text(node.guess)
        names = [
            str(reports[outcome]) if outcome < len(reports) else "won"
            for outcome, _ in node.children
        ]
        pairs = zip(names, node.children, strict=True)
        return TreeBox(
            text=text,
            below=[(name, box(child, name)) for name, (_, child) in pairs],
            weight=node.weight,
            title=f"{reply} {text}: {counted(node.possible, 'code')}".strip(),
            is_drawn=not node.found,
            color="" if node.guess is not None else "#e8e8e8",
        )

    return tree_drawing(box(tree.root, ""), width=width)
