"""Drawings of strategy trees, in which the width of a guess is the number of codes left.

Each row is a turn, and each box is a guess. The boxes below it are the next guesses after each
reply, in the order of replies. White areas are finished games. Boxes that are too narrow to see are
omitted.
"""

from __future__ import annotations

from html import escape

from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["tree_to_svg"]

_ROW = 34.0
_LETTER = 7.0
_NARROWEST = 0.3  # pixels, about the narrowest visible box


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
    scale = width / tree.root.weight
    boxes: list[str] = []
    deepest = 0

    def draw(node: TreeNode, left: float, depth: int, reply: str) -> None:
        nonlocal deepest
        wide = node.weight * scale
        if wide < _NARROWEST or node.found:
            return
        deepest = max(deepest, depth)
        if node.guess is not None:
            text = board.code_text(node.guess)
            hue = 210 if depth % 2 else 190
            color = f"hsl({hue}, 60%, {min(90, 55 + 7 * depth)}%)"
        else:
            text, color = "", "#e8e8e8"
        title = f"{reply} {text}: {node.possible:,} codes".strip()
        y = depth * _ROW
        boxes.append(
            f'<rect x="{left:.2f}" y="{y:.0f}" width="{wide:.2f}" height="{_ROW - 2:.0f}" '
            f'fill="{color}"><title>{escape(title)}</title></rect>'
        )
        longest = max(len(text), len(reply))
        if wide > _LETTER * longest + 4:
            middle = left + wide / 2
            for line, words in enumerate((reply, text)):
                boxes.append(
                    f'<text x="{middle:.2f}" y="{y + 13 + 14 * line:.0f}">{escape(words)}</text>'
                )
        x = left
        for outcome, child in node.children:
            name = str(reports[outcome]) if outcome < len(reports) else "won"
            draw(child, x, depth + 1, name)
            x += child.weight * scale

    draw(tree.root, 0.0, 0, "")
    height = (deepest + 1) * _ROW
    style = "text{font:11px monospace;text-anchor:middle}rect{stroke:#fff;stroke-width:.5}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
            f'viewBox="0 0 {width} {height:.0f}">',
            f"<style>{style}</style>",
            *boxes,
            "</svg>\n",
        ]
    )
