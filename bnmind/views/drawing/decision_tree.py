"""Decision trees of any kind, as DOT and as a drawing: strategies of games, and adaptive tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

__all__ = ["TreeBox", "tree_dot", "tree_drawing"]

_ROW = 34.0
_LETTER = 7.0
_NARROWEST = 0.3  # pixels, about the narrowest visible box


@dataclass(frozen=True)
class TreeBox:
    """A point of a decision tree as it is shown, with the points below it."""

    text: str
    """The decision, or the result at an end."""
    below: Sequence[tuple[str, TreeBox]] = field(default_factory=tuple)
    """The points below, each after the answer that leads to it."""
    weight: float = 1.0
    """Its share of the width of a drawing, in any unit."""
    title: str = ""
    """The text that browsers show when the mouse is on the box."""
    is_drawn: bool = True
    """Whether a drawing shows the box, or leaves its place white."""
    color: str = ""
    """The color in a drawing; default by depth."""


def tree_dot(root: TreeBox, *, name: str, comment: str) -> str:
    """Return a tree as a graph for Graphviz; ends have their text and no frame.

    There is one line for each point and one for each arrow.

    Examples
    --------
    >>> print(tree_dot(TreeBox("1122", [("0b0w", TreeBox("3456"))]), name="s", comment="2x6"))
    // 2x6
    digraph s {
    node [shape=box];
    n0 [label="1122"];
    n1 [label="3456", shape=plaintext];
    n0 -> n1 [label="0b0w"];
    }
    <BLANKLINE>
    """
    lines = [f"// {comment}", f"digraph {name} {{", "node [shape=box];"]
    count = 0

    def add(box: TreeBox) -> int:
        nonlocal count
        own = count
        count += 1
        shape = "" if box.below else ", shape=plaintext"
        lines.append(f'n{own} [label="{_quoted(box.text)}"{shape}];')
        for answer, below in box.below:
            lines.append(f'n{own} -> n{add(below)} [label="{_quoted(answer)}"];')
        return own

    add(root)
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def tree_drawing(root: TreeBox, *, width: int = 1200) -> str:
    """Draw a tree as SVG text: each row is a turn, and the width of a box is its weight.

    The boxes below a box are those after each answer, in their order. Boxes that are too narrow to
    see are left out.

    Parameters
    ----------
    root
        The tree.
    width
        The width in pixels.
    """
    scale = width / root.weight
    boxes: list[str] = []
    deepest = 0
    for box, left, depth, answer in _placed(root, 0.0, 0, ""):
        wide = box.weight * scale
        if wide < _NARROWEST or not box.is_drawn:
            continue
        deepest = max(deepest, depth)
        x, y = left * scale, depth * _ROW
        hue = 210 if depth % 2 else 190
        color = box.color or f"hsl({hue}, 60%, {min(90, 55 + 7 * depth)}%)"
        boxes.append(
            f'<rect x="{x:.2f}" y="{y:.0f}" width="{wide:.2f}" height="{_ROW - 2:.0f}" '
            f'fill="{color}"><title>{escape(box.title)}</title></rect>'
        )
        longest = max(len(box.text), len(answer))
        if wide > _LETTER * longest + 4:
            middle = x + wide / 2
            for line, words in enumerate((answer, box.text)):
                boxes.append(
                    f'<text x="{middle:.2f}" y="{y + 13 + 14 * line:.0f}">{escape(words)}</text>'
                )
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


def _placed(
    box: TreeBox, left: float, depth: int, answer: str
) -> Iterator[tuple[TreeBox, float, int, str]]:
    """Yield each box with the place of its left edge, its row, and the answer before it."""
    yield box, left, depth, answer
    for before, below in box.below:
        yield from _placed(below, left, depth + 1, before)
        left += below.weight
