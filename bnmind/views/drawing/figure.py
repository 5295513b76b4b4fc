"""Figures of graphs whose nodes stand in rows that are given, such as those of a paper.

A node is a box with its name, and below it a bar for each of its states if their probabilities are
given. Arcs and undirected edges are straight lines between rows, and bows above a row between its
nodes. Boxes cover the lines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bnmind.errors import InvalidArgumentError
from bnmind.views.drawing.svg import FONT, MARGIN, Palette
from bnmind.views.drawing.svg_text import attribute, escaped, number
from bnmind.views.drawing.text_width import text_width

__all__ = ["Node", "draw_rows", "framed"]

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
    colors = Palette()
    lines, heads = [], []
    for tail, head in arcs:
        path, tip = _line(at, row_of, halves, (tail, head), arrow=True)
        lines.append(path)
        heads.append(tip)
    lines += [_line(at, row_of, halves, pair, arrow=False)[0] for pair in edges]
    body = [
        f'<g fill="none" stroke="{colors.arc}" stroke-width="1.2">{"".join(lines)}</g>',
        f'<g fill="{colors.arc}">{"".join(heads)}</g>',
        *(_box(node, at[node.name], widths[node.name], colors) for node in nodes),
    ]
    return framed(body, width, y - _ROWS, caption=caption)


def framed(body: Sequence[str], width: float, height: float, *, caption: str) -> str:
    """Return a picture on the background of all pictures; its content starts at (0, 0)."""
    colors = Palette()
    wide, high = number(width + 2 * MARGIN), number(height + 2 * MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"'
        f' viewBox="0 0 {wide} {high}" role="img" aria-label={attribute(caption)}'
        f' font-family="{FONT}" font-size="{number(_SIZE)}" fill="{colors.text}">',
        f"<title>{escaped(caption)}</title>",
        f'<rect width="{wide}" height="{high}" rx="10" fill="{colors.ground}"/>',
        f'<g transform="translate({number(MARGIN)} {number(MARGIN)})">',
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
        bend = f"Q{number(control[0])} {number(control[1])} "
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
        tip = f'<path d="M{"L".join(f"{number(px)} {number(py)}" for px, py in corners)}z"/>'
        end = base
    path = f"M{number(start[0])} {number(start[1])}{bend}{number(end[0])} {number(end[1])}"
    return f'<path d="{path}"/>', tip


def _box(node: Node, center: tuple[float, float], width: float, colors: Palette) -> str:
    height = node.height
    left, top = center[0] - width / 2, center[1] - height / 2
    ground = colors.evidence_ground if node.is_marked else colors.box
    border = colors.evidence_border if node.is_marked else colors.border
    corner, base = (9.0, 17.5) if node.bars else (_HEIGHT / 2, _HEIGHT / 2 + 5)
    return (
        f"<g data-variable={attribute(node.name)}"
        f' transform="translate({number(left)} {number(top)})">'
        f"<title>{escaped(node.note or node.name)}</title>"
        f'<rect width="{number(width)}" height="{number(height)}" rx="{number(corner)}"'
        f' fill="{ground}" stroke="{border}" stroke-width="1.2"/>'
        f'<text x="{number(width / 2)}" y="{number(base)}" text-anchor="middle"'
        f' font-weight="600">{escaped(node.label)}</text>{_bars(node, width, colors)}</g>'
    )


def _bars(node: Node, width: float, colors: Palette) -> str:
    """Return the states of a box, each with its bar."""
    if not node.bars:
        return ""
    label = _PADDING + node.state_room
    left = label + 4.0
    room = width - _PADDING - left
    fill = colors.evidence_bars[0] if node.is_marked else colors.bars[0]
    names, tracks, shares = [], [], []
    for i, (state, share) in enumerate(node.bars):
        top = _NAMED + _BAR * i
        names.append(
            f'<text x="{number(label)}" y="{number(top + 8.5)}" text-anchor="end">'
            f"{escaped(state)}</text>"
        )
        place = f'x="{number(left)}" y="{number(top + 1.5)}" height="{number(_BAR - 4)}" rx="1.5"'
        tracks.append(f'<rect {place} width="{number(room)}"/>')
        if share > 0:
            drawn = number(room * share, 2)
            shares.append(f'<rect data-share="{share:.6g}" {place} width="{drawn}"/>')
    return (
        f'<g font-size="{number(_STATE)}" fill="{colors.muted}">{"".join(names)}</g>'
        f'<g fill="{colors.track}">{"".join(tracks)}</g><g fill="{fill}">{"".join(shares)}</g>'
    )
