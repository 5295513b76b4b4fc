"""Pictures of junction trees: cliques as boxes, and separators on the lines between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._messages import counted, visible
from bnmind._values import Value
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.views.drawing.figure import framed
from bnmind.views.drawing.svg import Palette
from bnmind.views.drawing.svg_text import escaped, number, scaled
from bnmind.views.drawing.text_width import shorten, text_width

__all__ = ["JunctionTreeView", "junction_tree_view"]

_LINE = 17.0
_SIZE = 13.0
_SMALL = 11.0
_PADDING = 11.0
_WIDEST = 190.0
_MOST_LINES = 6
_BETWEEN = 22.0
_LAYERS = 66.0


@dataclass(frozen=True, eq=False)
class JunctionTreeView(Value):
    """A view of a junction tree; made by `junction_tree_view`."""

    tree: JunctionTree
    """The junction tree."""

    @checked
    def svg(self) -> str:
        """Draw the tree: a box with the variables and the size of each clique, and separators.

        Children of a clique are ordered by their variables. Tooltips show all variables.
        """
        return draw_tree(self.tree)

    def __str__(self) -> str:
        return str(self.tree)

    def _repr_svg_(self) -> str:
        return scaled(self.svg())


@checked
def junction_tree_view(tree: JunctionTree) -> JunctionTreeView:
    """Return a view of a junction tree.

    Parameters
    ----------
    tree
        The junction tree.

    Examples
    --------
    >>> from bnmind.junction import junction_tree
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> junction_tree_view(junction_tree(network)).svg().startswith("<svg ")
    True
    """
    return JunctionTreeView(tree)


@dataclass(frozen=True)
class _Box:
    lines: tuple[str, ...]
    size: str
    width: float
    height: float


@dataclass(frozen=True)
class _Laid:
    """The cliques of a tree, parents before children, and where their boxes stand."""

    order: tuple[int, ...]
    above: dict[int, int]
    x: dict[int, float]
    y: dict[int, float]
    width: float
    height: float


def draw_tree(tree: JunctionTree, *, label: Callable[[str], str] = str) -> str:
    """Return a picture of a junction tree; ``label`` gives the text of a variable."""
    separators = {frozenset((e.first, e.second)): e.separator for e in tree.edges}
    boxes = [_box([label(v) for v in c.variables], f"{c.size:,}") for c in tree.cliques]
    laid = _lay_out(tree, boxes)
    colors = Palette()
    lines, labels = [], []
    for i in laid.order:
        if i not in laid.above:
            continue
        j = laid.above[i]
        x0, y0 = laid.x[j], laid.y[j] + boxes[j].height
        x1, y1 = laid.x[i], laid.y[i]
        lines.append(f'<path d="M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"/>')
        shared = [label(v) for v in separators[frozenset((i, j))]]
        labels.append(_separator(shared, (x0 + 2 * x1) / 3, (y0 + 2 * y1) / 3, colors))
    body = [
        f'<g fill="none" stroke="{colors.arc}" stroke-width="1.2">{"".join(lines)}</g>',
        *labels,
        *(_drawn(tree, i, boxes[i], laid, colors) for i in laid.order),
    ]
    caption = (
        f"Junction tree of {counted(len(boxes), 'clique')} with a total size of"
        f" {counted(tree.total_size, 'cell')}"
    )
    return framed(body, laid.width, laid.height, caption=caption)


def _box(names: Sequence[str], size: str) -> _Box:
    """Return the text of a clique in lines of a limited width."""
    lines: list[str] = []
    for name in map(visible, names):
        longer = f"{lines[-1]} {name}" if lines else name
        if lines and text_width(longer, _SIZE, bold=True) <= _WIDEST:
            lines[-1] = longer
        else:
            lines.append(shorten(name, _WIDEST, _SIZE, bold=True))
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"… {len(names):,} variables"]
    widest = max([text_width(line, _SIZE, bold=True) for line in lines], default=0.0)
    width = max(widest, text_width(size, _SMALL)) + 2 * _PADDING
    return _Box(tuple(lines), size, width, (len(lines) + 1) * _LINE + _PADDING)


def _lay_out(tree: JunctionTree, boxes: Sequence[_Box]) -> _Laid:
    """Place each subtree beside its siblings, and each clique above the middle of its children."""
    near: list[list[int]] = [[] for _ in boxes]
    for edge in tree.edges:
        near[edge.first].append(edge.second)
        near[edge.second].append(edge.first)
    root = _center(near)
    order, above, depth = [root], dict[int, int](), {root: 0}
    for i in order:
        for j in sorted(near[i], key=lambda j: (tree.cliques[j].variables, j)):
            if j not in depth:
                above[j], depth[j] = i, depth[i] + 1
                order.append(j)
    children: list[list[int]] = [[] for _ in boxes]
    for j in order[1:]:
        children[above[j]].append(j)
    room: dict[int, float] = {}
    for i in reversed(order):
        below = sum(room[j] for j in children[i]) + _BETWEEN * max(0, len(children[i]) - 1)
        room[i] = max(boxes[i].width, below)
    left, x, y = {root: 0.0}, dict[int, float](), dict[int, float]()
    tops = _tops(boxes, depth)
    for i in order:
        x[i], y[i] = left[i] + room[i] / 2, tops[depth[i]]
        below = sum(room[j] for j in children[i]) + _BETWEEN * max(0, len(children[i]) - 1)
        start = left[i] + (room[i] - below) / 2
        for j in children[i]:
            left[j] = start
            start += room[j] + _BETWEEN
    height = max(y[i] + boxes[i].height for i in order)
    return _Laid(order=tuple(order), above=above, x=x, y=y, width=room[root], height=height)


def _center(near: Sequence[Sequence[int]]) -> int:
    """Return the middle of the longest path, so that the picture is as low as possible."""
    first = _walk(near, 0)[-1]
    order = list(_walk(near, first))
    back = _parents(near, first)
    path = [order[-1]]
    while path[-1] != first:
        path.append(back[path[-1]])
    return path[len(path) // 2]


def _walk(near: Sequence[Sequence[int]], start: int) -> list[int]:
    """Return the cliques by their distance from one."""
    return [start, *_parents(near, start)]


def _parents(near: Sequence[Sequence[int]], start: int) -> dict[int, int]:
    """Return for each other clique the one before it on the way from the start, nearest first."""
    before: dict[int, int] = {}
    order = [start]
    for i in order:
        for j in near[i]:
            if j != start and j not in before:
                before[j] = i
                order.append(j)
    return before


def _tops(boxes: Sequence[_Box], depth: dict[int, int]) -> list[float]:
    heights = [0.0] * (max(depth.values()) + 1)
    for i, k in depth.items():
        heights[k] = max(heights[k], boxes[i].height)
    tops = [0.0]
    for height in heights[:-1]:
        tops.append(tops[-1] + height + _LAYERS)
    return tops


def _drawn(tree: JunctionTree, i: int, box: _Box, laid: _Laid, colors: Palette) -> str:
    return "".join(_lines_of(tree, i, box, laid, colors))


def _lines_of(tree: JunctionTree, i: int, box: _Box, laid: _Laid, colors: Palette) -> Iterator[str]:
    clique = tree.cliques[i]
    left = laid.x[i] - box.width / 2
    yield f'<g transform="translate({number(left)} {number(laid.y[i])})">'
    yield f"<title>{escaped(', '.join(clique.variables))}\n{counted(clique.size, 'cell')}</title>"
    is_largest = clique.size == tree.largest
    border = colors.evidence_border if is_largest else colors.border
    yield (
        f'<rect width="{number(box.width)}" height="{number(box.height)}" rx="8"'
        f' fill="{colors.box}" stroke="{border}" stroke-width="1.2"/>'
    )
    middle = number(box.width / 2)
    for k, line in enumerate(box.lines):
        yield (
            f'<text x="{middle}" y="{number(_LINE * (k + 1) + 2)}" text-anchor="middle"'
            f' font-size="{number(_SIZE)}" font-weight="600">{escaped(line)}</text>'
        )
    yield (
        f'<text x="{middle}" y="{number(_LINE * (len(box.lines) + 1) + 2)}" text-anchor="middle"'
        f' font-size="{number(_SMALL)}" fill="{colors.muted}">{escaped(box.size)}</text></g>'
    )


def _separator(names: Sequence[str], x: float, y: float, colors: Palette) -> str:
    text = shorten(" ".join(map(visible, names)) or "∅", _WIDEST * 0.7, _SMALL)
    width = text_width(text, _SMALL) + 12.0
    return (
        f'<g transform="translate({number(x - width / 2)} {number(y - 9)})">'
        f"<title>{escaped(', '.join(names) or 'nothing in common')}</title>"
        f'<rect width="{number(width)}" height="18" fill="{colors.track}"'
        f' stroke="{colors.border}" stroke-width="1"/>'
        f'<text x="{number(width / 2)}" y="13" text-anchor="middle"'
        f' font-size="{number(_SMALL)}" fill="{colors.muted}">{escaped(text)}</text></g>'
    )
