"""Figures of graphs in given rows, of junction trees, and of decision trees.

*Rows*, such as those of a paper: a node is a box with its name, and below it a bar for each of its
states if their probabilities are given. Arcs and undirected edges are straight lines between rows,
and bows above a row between its nodes. Boxes cover the lines.

*Junction trees*: cliques are boxes, and separators are on the lines between them.

*Decision trees* of any kind, as DOT and as a drawing: strategies of games, and adaptive tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from bnmind._arguments import checked
from bnmind._messages import counted, visible
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs import JunctionTree
from bnmind.views.draw import (
    COLORS,
    MARGIN,
    attribute,
    escaped,
    opening,
    px,
    scaled,
    shorten,
    text_width,
)

_HEIGHT = 30.0
_BETWEEN = 26.0
_ROWS = 78.0
_SIZE = 14.0
_HEAD = 8.0
_NAMED = 25.0
"""The height of the name above bars."""
_BAR = 12.0
_FOOT = 7.0
_STATE = 10.0
"""The size of the names of states."""
_BAR_ROOM = 34.0
_PADDING = 9.0
_BOW = 0.16
"""The height of a bow for each unit of its length."""


@dataclass(frozen=True)
class Node:
    """A node of a figure."""

    name: str
    label: str
    """The text in the box."""
    note: str = ""
    """The text of the tooltip."""
    is_marked: bool = False
    """Whether the box stands out."""
    bars: tuple[tuple[str, float], ...] = ()
    """The name and the probability of each state; empty if the box shows the name only."""

    @property
    def height(self) -> float:
        """The height of the box."""
        return _NAMED + _BAR * len(self.bars) + _FOOT if self.bars else _HEIGHT

    @property
    def width(self) -> float:
        """The width of the box."""
        named = text_width(self.label, _SIZE, bold=True)
        if not self.bars:
            return max(38.0, named + 20.0)
        return max(named, self.state_room + 4.0 + _BAR_ROOM) + 2 * _PADDING

    @property
    def state_room(self) -> float:
        """The width of the names of states."""
        return max((text_width(state, _STATE) for state, _ in self.bars), default=0.0)


def draw_rows(
    rows: Sequence[Sequence[Node]],
    *,
    arcs: Sequence[tuple[str, str]] = (),
    edges: Sequence[tuple[str, str]] = (),
    caption: str,
) -> str:
    """Return a figure as SVG.

    Parameters
    ----------
    rows
        The nodes of each row from left to right, the uppermost row first.
    arcs, edges
        Pairs of names: tails and heads of arcs, and the ends of undirected edges.
    caption
        A description of the figure for screen readers.

    Raises
    ------
    InvalidArgumentError
        If there is no node, two nodes have one name, or a line ends at no node.
    """
    nodes = [node for row in rows for node in row]
    names = {node.name for node in nodes}
    unknown = [name for pair in (*arcs, *edges) for name in pair if name not in names]
    if not nodes or len(names) < len(nodes) or unknown:
        raise InvalidArgumentError(
            f"a figure needs distinct nodes, and lines between them; unknown: {unknown[:8]}"
        )
    widths = {n.name: n.width for n in nodes}
    halves = {n.name: n.height / 2 for n in nodes}
    spans = [sum(widths[n.name] + _BETWEEN for n in row) - _BETWEEN for row in rows]
    width = max(spans)
    at: dict[str, tuple[float, float]] = {}
    row_of: dict[str, int] = {}
    lift = _lift(rows, widths, (*arcs, *edges))
    y = 0.0
    for k, (row, span) in enumerate(zip(rows, spans, strict=True)):
        y += lift[k]
        highest = max((node.height for node in row), default=_HEIGHT)
        # Rows of equal length stand below each other, and shorter ones spread half of the room.
        extra = (width - span) / (2 * len(row)) if row else 0.0
        x = (width - span - extra * (len(row) - 1)) / 2
        for node in row:
            at[node.name] = (x + widths[node.name] / 2, y + highest / 2)
            row_of[node.name] = k
            x += widths[node.name] + _BETWEEN + extra
        y += highest + _ROWS
    lines, heads = [], []
    for tail, head in arcs:
        path, tip = _line(at, row_of, halves, (tail, head), arrow=True)
        lines.append(path)
        heads.append(tip)
    lines += [_line(at, row_of, halves, pair, arrow=False)[0] for pair in edges]
    body = [
        f'<g fill="none" stroke="{COLORS.arc}" stroke-width="1.2">{"".join(lines)}</g>',
        f'<g fill="{COLORS.arc}">{"".join(heads)}</g>',
        *(_box(node, at[node.name], widths[node.name]) for node in nodes),
    ]
    return framed(body, width, y - _ROWS, caption=caption)


def framed(body: Sequence[str], width: float, height: float, *, caption: str) -> str:
    """Return a picture on the background of all pictures; its content starts at (0, 0)."""
    wide, high = width + 2 * MARGIN, height + 2 * MARGIN
    parts = [
        *opening(wide, high, caption=caption, size=_SIZE, color=COLORS.text),
        f'<g transform="translate({px(MARGIN)} {px(MARGIN)})">',
        *body,
        "</g></svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _lift(
    rows: Sequence[Sequence[Node]],
    widths: Mapping[str, float],
    pairs: Sequence[tuple[str, str]],
) -> list[float]:
    """Return the room above each row for bows between its nodes."""
    lift = []
    for row in rows:
        place = {node.name: i for i, node in enumerate(row)}
        steps = [abs(place[a] - place[b]) for a, b in pairs if a in place and b in place]
        step = max(widths[node.name] for node in row) + 2 * _BETWEEN if row else 0.0
        lift.append(min(90.0, _BOW * step * max(steps, default=0)))
    return lift


def _line(
    at: Mapping[str, tuple[float, float]],
    row_of: Mapping[str, int],
    halves: Mapping[str, float],
    pair: tuple[str, str],
    *,
    arrow: bool,
) -> tuple[str, str]:
    """Return the path of a line, and of its arrowhead."""
    tail, head = pair
    (x, y), (to_x, to_y) = at[tail], at[head]
    half, to_half = halves[tail], halves[head]
    if row_of[tail] == row_of[head]:
        top = y - half
        control = (x + to_x) / 2, top - min(2 * _BOW * abs(to_x - x), 170.0)
        start, end = (x, top), (to_x, to_y - to_half)
        bend = f"Q{px(control[0])} {px(control[1])} "
    else:
        down = 1.0 if to_y > y else -1.0
        start, end = (x, y + down * half), (to_x, to_y - down * to_half)
        control, bend = start, "L"
    length = math.hypot(end[0] - control[0], end[1] - control[1]) or 1.0
    along = ((end[0] - control[0]) / length, (end[1] - control[1]) / length)
    tip = ""
    if arrow:
        base = (end[0] - _HEAD * along[0], end[1] - _HEAD * along[1])
        side = (-along[1] * _HEAD / 2.2, along[0] * _HEAD / 2.2)
        corners = [
            end,
            (base[0] + side[0], base[1] + side[1]),
            (base[0] - side[0], base[1] - side[1]),
        ]
        tip = f'<path d="M{"L".join(f"{px(a)} {px(b)}" for a, b in corners)}z"/>'
        end = base
    path = f"M{px(start[0])} {px(start[1])}{bend}{px(end[0])} {px(end[1])}"
    return f'<path d="{path}"/>', tip


def _box(node: Node, center: tuple[float, float], width: float) -> str:
    height = node.height
    left, top = center[0] - width / 2, center[1] - height / 2
    ground = COLORS.evidence_ground if node.is_marked else COLORS.box
    border = COLORS.evidence_border if node.is_marked else COLORS.border
    corner, base = (9.0, 17.5) if node.bars else (_HEIGHT / 2, _HEIGHT / 2 + 5)
    return (
        f"<g data-variable={attribute(node.name)}"
        f' transform="translate({px(left)} {px(top)})">'
        f"<title>{escaped(node.note or node.name)}</title>"
        f'<rect width="{px(width)}" height="{px(height)}" rx="{px(corner)}"'
        f' fill="{ground}" stroke="{border}" stroke-width="1.2"/>'
        f'<text x="{px(width / 2)}" y="{px(base)}" text-anchor="middle"'
        f' font-weight="600">{escaped(node.label)}</text>{_bars(node, width)}</g>'
    )


def _bars(node: Node, width: float) -> str:
    """Return the states of a box, each with its bar."""
    if not node.bars:
        return ""
    label = _PADDING + node.state_room
    left = label + 4.0
    room = width - _PADDING - left
    fill = COLORS.evidence_bars[0] if node.is_marked else COLORS.bars[0]
    names, tracks, shares = [], [], []
    for i, (state, share) in enumerate(node.bars):
        top = _NAMED + _BAR * i
        names.append(
            f'<text x="{px(label)}" y="{px(top + 8.5)}" text-anchor="end">{escaped(state)}</text>'
        )
        place = f'x="{px(left)}" y="{px(top + 1.5)}" height="{px(_BAR - 4)}" rx="1.5"'
        tracks.append(f'<rect {place} width="{px(room)}"/>')
        if share > 0:
            drawn = px(room * share, 2)
            shares.append(f'<rect data-share="{share:.6g}" {place} width="{drawn}"/>')
    return (
        f'<g font-size="{px(_STATE)}" fill="{COLORS.muted}">{"".join(names)}</g>'
        f'<g fill="{COLORS.track}">{"".join(tracks)}</g><g fill="{fill}">{"".join(shares)}</g>'
    )


_CLIQUE_LINE = 17.0
_CLIQUE_SIZE = 13.0
_SMALL = 11.0
_CLIQUE_PADDING = 11.0
_WIDEST = 190.0
_MOST_LINES = 6
_BETWEEN_CLIQUES = 22.0
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
class _CliqueBox:
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
    boxes = [_clique_box([label(v) for v in c.variables], f"{c.size:,}") for c in tree.cliques]
    laid = _laid_out(tree, boxes)
    lines, labels = [], []
    for i in laid.order:
        if i not in laid.above:
            continue
        j = laid.above[i]
        x0, y0 = laid.x[j], laid.y[j] + boxes[j].height
        x1, y1 = laid.x[i], laid.y[i]
        lines.append(f'<path d="M{px(x0)} {px(y0)}L{px(x1)} {px(y1)}"/>')
        shared = [label(v) for v in separators[frozenset((i, j))]]
        labels.append(_separator(shared, (x0 + 2 * x1) / 3, (y0 + 2 * y1) / 3))
    body = [
        f'<g fill="none" stroke="{COLORS.arc}" stroke-width="1.2">{"".join(lines)}</g>',
        *labels,
        *("".join(_clique(tree, i, boxes[i], laid)) for i in laid.order),
    ]
    caption = (
        f"Junction tree of {counted(len(boxes), 'clique')} with a total size of"
        f" {counted(tree.total_size, 'cell')}"
    )
    return framed(body, laid.width, laid.height, caption=caption)


def _clique_box(names: Sequence[str], size: str) -> _CliqueBox:
    """Return the text of a clique in lines of a limited width."""
    lines: list[str] = []
    for name in map(visible, names):
        longer = f"{lines[-1]} {name}" if lines else name
        if lines and text_width(longer, _CLIQUE_SIZE, bold=True) <= _WIDEST:
            lines[-1] = longer
        else:
            lines.append(shorten(name, _WIDEST, _CLIQUE_SIZE, bold=True))
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"… {len(names):,} variables"]
    widest = max([text_width(line, _CLIQUE_SIZE, bold=True) for line in lines], default=0.0)
    width = max(widest, text_width(size, _SMALL)) + 2 * _CLIQUE_PADDING
    return _CliqueBox(tuple(lines), size, width, (len(lines) + 1) * _CLIQUE_LINE + _CLIQUE_PADDING)


def _laid_out(tree: JunctionTree, boxes: Sequence[_CliqueBox]) -> _Laid:
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
        below = sum(room[j] for j in children[i]) + _BETWEEN_CLIQUES * max(0, len(children[i]) - 1)
        room[i] = max(boxes[i].width, below)
    left, x, y = {root: 0.0}, dict[int, float](), dict[int, float]()
    tops = _tops(boxes, depth)
    for i in order:
        x[i], y[i] = left[i] + room[i] / 2, tops[depth[i]]
        below = sum(room[j] for j in children[i]) + _BETWEEN_CLIQUES * max(0, len(children[i]) - 1)
        start = left[i] + (room[i] - below) / 2
        for j in children[i]:
            left[j] = start
            start += room[j] + _BETWEEN_CLIQUES
    height = max(y[i] + boxes[i].height for i in order)
    return _Laid(order=tuple(order), above=above, x=x, y=y, width=room[root], height=height)


def _center(near: Sequence[Sequence[int]]) -> int:
    """Return the middle of the longest path, so that the picture is as low as possible."""
    first = [0, *_parents(near, 0)][-1]
    back = _parents(near, first)
    path = [[first, *back][-1]]
    while path[-1] != first:
        path.append(back[path[-1]])
    return path[len(path) // 2]


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


def _tops(boxes: Sequence[_CliqueBox], depth: dict[int, int]) -> list[float]:
    heights = [0.0] * (max(depth.values()) + 1)
    for i, k in depth.items():
        heights[k] = max(heights[k], boxes[i].height)
    tops = [0.0]
    for height in heights[:-1]:
        tops.append(tops[-1] + height + _LAYERS)
    return tops


def _clique(tree: JunctionTree, i: int, box: _CliqueBox, laid: _Laid) -> Iterator[str]:
    clique = tree.cliques[i]
    left = laid.x[i] - box.width / 2
    yield f'<g transform="translate({px(left)} {px(laid.y[i])})">'
    yield f"<title>{escaped(', '.join(clique.variables))}\n{counted(clique.size, 'cell')}</title>"
    is_largest = clique.size == tree.largest
    border = COLORS.evidence_border if is_largest else COLORS.border
    yield (
        f'<rect width="{px(box.width)}" height="{px(box.height)}" rx="8"'
        f' fill="{COLORS.box}" stroke="{border}" stroke-width="1.2"/>'
    )
    middle = px(box.width / 2)
    for k, line in enumerate(box.lines):
        yield (
            f'<text x="{middle}" y="{px(_CLIQUE_LINE * (k + 1) + 2)}" text-anchor="middle"'
            f' font-size="{px(_CLIQUE_SIZE)}" font-weight="600">{escaped(line)}</text>'
        )
    yield (
        f'<text x="{middle}" y="{px(_CLIQUE_LINE * (len(box.lines) + 1) + 2)}" text-anchor="middle"'
        f' font-size="{px(_SMALL)}" fill="{COLORS.muted}">{escaped(box.size)}</text></g>'
    )


def _separator(names: Sequence[str], x: float, y: float) -> str:
    text = shorten(" ".join(map(visible, names)) or "∅", _WIDEST * 0.7, _SMALL)
    width = text_width(text, _SMALL) + 12.0
    return (
        f'<g transform="translate({px(x - width / 2)} {px(y - 9)})">'
        f"<title>{escaped(', '.join(names) or 'nothing in common')}</title>"
        f'<rect width="{px(width)}" height="18" fill="{COLORS.track}"'
        f' stroke="{COLORS.border}" stroke-width="1"/>'
        f'<text x="{px(width / 2)}" y="13" text-anchor="middle"'
        f' font-size="{px(_SMALL)}" fill="{COLORS.muted}">{escaped(text)}</text></g>'
    )


_TURN = 34.0
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
        x, y = left * scale, depth * _TURN
        hue = 210 if depth % 2 else 190
        color = box.color or f"hsl({hue}, 60%, {min(90, 55 + 7 * depth)}%)"
        boxes.append(
            f'<rect x="{x:.2f}" y="{y:.0f}" width="{wide:.2f}" height="{_TURN - 2:.0f}" '
            f'fill="{color}"><title>{escape(box.title)}</title></rect>'
        )
        longest = max(len(box.text), len(answer))
        if wide > _LETTER * longest + 4:
            middle = x + wide / 2
            for line, words in enumerate((answer, box.text)):
                boxes.append(
                    f'<text x="{middle:.2f}" y="{y + 13 + 14 * line:.0f}">{escape(words)}</text>'
                )
    height = (deepest + 1) * _TURN
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
