"""Pictures of networks as SVG: boxes with bars, and arcs between them.

Pictures have no identifiers and no style sheets, because in a notebook both would affect other
pictures. They have their own background, so that dark pages do not matter. The attributes
``data-variable`` and ``data-state`` tell a page which variable and which state was clicked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._messages import visible
from bnmind.views.drawing.cards import Card, Row, percent
from bnmind.views.drawing.layout import Route, lay_out
from bnmind.views.drawing.svg_text import attribute as _attribute
from bnmind.views.drawing.svg_text import escaped as _text
from bnmind.views.drawing.svg_text import number as _n
from bnmind.views.drawing.text_width import shorten, text_width

__all__ = ["Palette", "draw", "draw_summary"]


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colors of a picture; two beliefs differ in lightness, not in hue alone."""

    ground: str = "#f6f7f9"
    box: str = "#ffffff"
    border: str = "#c8d0da"
    text: str = "#1f2733"
    muted: str = "#5d6877"
    track: str = "#edf0f4"
    arc: str = "#94a0b0"
    bars: tuple[str, str] = ("#4f86c6", "#b4c7de")
    """The color of the belief, and of the belief that it is compared with."""
    evidence_border: str = "#d97706"
    evidence_ground: str = "#fff4e2"
    evidence_text: str = "#9a4a00"
    evidence_bars: tuple[str, str] = ("#e8943a", "#f5cf9f")


FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
MARGIN = 24.0
HEAD = 26.0
LINE = 15.0
PADDING = 10.0
FOOT = 7.0
NAME_SIZE = 12.5
LABEL_SIZE = 11.0
NUMBER_SIZE = 10.5
SMALL_SIZE = 9.5
NARROWEST, WIDEST, WIDEST_OF_MANY = 96.0, 200.0, 174.0
MANY = 30
"""Names are shortened more if there are more boxes than this."""
BESIDE_LABEL = 116.0
"""The width of a row besides its label: two paddings, two gaps, a bar and a number."""
BAR = 48.0
NUMBER = 42.0
LEAST_BADGE = 50.0
ARROW = 7.0
SAME = 0.0005
"""Smaller shares of moved probability are shown as unchanged."""


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The common settings of all boxes of a picture."""

    palette: Palette
    titles: tuple[str, ...]
    width: float
    label: float
    row: float
    max_states: int

    def height(self, card: Card) -> float:
        rows = len(card.rows(self.max_states))
        return HEAD + self.row * rows + (FOOT if rows else 0.0) + LINE * len(self.notes(card))

    def notes(self, card: Card) -> list[str]:
        """Return lines under the name: which belief has which evidence, if they differ."""
        if len(set(card.findings)) < 2:
            return []
        pairs = zip(self.titles, card.findings, strict=True)
        return [f"= {finding}  ({title})" for title, finding in pairs if finding is not None]

    def badge(self, card: Card) -> str:
        """Return the text beside the name."""
        if card.is_evidence:
            return "" if self.notes(card) else f"= {card.findings[0]}"
        if card.moved is not None and card.moved >= SAME:
            return f"Δ {percent(card.moved)}"
        if card.is_uncertain:
            return "≈"
        above, below = (len(names) for names in card.hidden)
        return " ".join([f"{above}↑"] * (above > 0) + [f"{below}↓"] * (below > 0))


def draw(
    cards: Sequence[Card],
    arcs: Sequence[tuple[int, int]],
    *,
    titles: tuple[str, ...] = (),
    caption: str,
    max_states: int,
    palette: Palette | None = None,
) -> str:
    """Return a picture of cards and the arcs between them.

    Parameters
    ----------
    cards
        The content of the boxes.
    arcs
        Pairs of positions in ``cards``, tail and head.
    titles
        The names of two beliefs, for a legend.
    caption
        A description of the picture for screen readers.
    max_states
        The most rows of a box, at least 2.
    palette
        The colors.
    """
    frame = _frame(cards, titles, max_states, palette or Palette())
    layout = lay_out([(frame.width, frame.height(card)) for card in cards], arcs)
    legend, least = _legend(frame) if titles else ("", 0.0)
    top = MARGIN + (30.0 if legend else 0.0)
    width = max(layout.width, least) + 2 * MARGIN
    height = layout.height + top + MARGIN
    left = (width - layout.width) / 2
    colors = frame.palette
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}"'
        f' viewBox="0 0 {_n(width)} {_n(height)}" role="img" aria-label={_attribute(caption)}'
        f' font-family="{FONT}" font-size="{_n(LABEL_SIZE)}" fill="{colors.text}">',
        f"<title>{_text(caption)}</title>",
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="10" fill="{colors.ground}"/>',
        legend,
        f'<g transform="translate({_n(left)} {_n(top)})">',
        f'<g fill="none" stroke="{colors.arc}" stroke-width="1.2">',
        *(_arc(route) for route in layout.routes),
        "</g>",
        f'<g fill="{colors.arc}">',
        *(_arrowhead(route) for route in layout.routes),
        "</g>",
        *(_box(frame, card, at) for card, at in zip(cards, layout.corners, strict=True)),
        "</g></svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _frame(
    cards: Sequence[Card], titles: tuple[str, ...], max_states: int, palette: Palette
) -> _Frame:
    rows = [row for card in cards for row in card.rows(max_states)]
    numbers = bool(rows) and bool(rows[0].shares)
    most = WIDEST if len(cards) <= MANY else WIDEST_OF_MANY
    label = max(
        (text_width(_label(row), LABEL_SIZE, bold=any(row.observed)) for row in rows),
        default=0.0,
    )
    label = min(label, most - (BESIDE_LABEL if numbers else 2 * PADDING))
    inner = label + (BESIDE_LABEL - 2 * PADDING if numbers else 0.0)
    row = 25.0 if titles else (17.0 if numbers else LINE)
    frame = _Frame(
        palette=palette, titles=titles, width=0.0, label=label, row=row, max_states=max_states
    )
    for card in cards:
        badge = frame.badge(card)
        heading = text_width(visible(card.variable.name), NAME_SIZE, bold=True)
        if badge:
            heading += 10.0 + text_width(visible(badge), LABEL_SIZE, bold=True)
        notes = [text_width(visible(note), LABEL_SIZE, bold=True) for note in frame.notes(card)]
        inner = max([inner, heading, *notes])
    width = min(max(inner + 2 * PADDING, NARROWEST), WIDEST)
    return _Frame(
        palette=palette,
        titles=titles,
        width=float(round(width)),
        label=label,
        row=row,
        max_states=max_states,
    )


def _box(frame: _Frame, card: Card, at: tuple[float, float]) -> str:
    colors, width, height = frame.palette, frame.width, frame.height(card)
    evidence, badge, notes = card.is_evidence, frame.badge(card), frame.notes(card)
    calm = card.moved is not None and card.moved < SAME and not evidence
    opacity = ' opacity="0.55"' if calm else ""
    border = colors.border
    pen = 'stroke-width="1"'
    if evidence or card.is_uncertain:
        border, pen = colors.evidence_border, 'stroke-width="2.6"'
        if not evidence:
            pen = 'stroke-width="2" stroke-dasharray="5 3"'
    ground = colors.evidence_ground if evidence or card.is_uncertain else colors.box
    parts = [
        f"<g data-variable={_attribute(card.variable.name)}"
        f' transform="translate({_n(at[0])} {_n(at[1])})"{opacity}>',
        f"<title>{_text(card.description(frame.titles))}</title>",
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="6" fill="{ground}"'
        f' stroke="{border}" {pen}/>',
    ]
    room = width - 2 * PADDING
    name = visible(card.variable.name)
    if badge:
        # The badge has the room that the name leaves, but enough for a number.
        least = min(text_width(badge, LABEL_SIZE, bold=True), LEAST_BADGE)
        name = shorten(name, room - least - 8.0, NAME_SIZE, bold=True)
        badge_room = room - text_width(name, NAME_SIZE, bold=True) - 8.0
        shown = shorten(visible(badge), badge_room, LABEL_SIZE, bold=True)
        color = colors.evidence_text if evidence or card.is_uncertain else colors.muted
        weight = ' font-weight="700"' if evidence else ""
        parts.append(
            f'<text x="{_n(width - PADDING)}" y="17.5" text-anchor="end" fill="{color}"'
            f"{weight}>{_text(shown)}</text>"
        )
    else:
        name = shorten(name, room, NAME_SIZE, bold=True)
    color = colors.muted if card.is_silent else colors.text
    parts.append(
        f'<text x="{_n(PADDING)}" y="17.5" font-size="{_n(NAME_SIZE)}" font-weight="600"'
        f' fill="{color}">{_text(name)}</text>'
    )
    for number, note in enumerate(notes):
        shown = shorten(visible(note), room, LABEL_SIZE, bold=True)
        parts.append(
            f'<text x="{_n(PADDING)}" y="{_n(HEAD + LINE * number + 7.0)}" font-weight="700"'
            f' fill="{colors.evidence_text}">{_text(shown)}</text>'
        )
    top = HEAD + LINE * len(notes)
    for row in card.rows(frame.max_states):
        parts.append(_line(frame, row, top, evidence=evidence or card.is_uncertain))
        top += frame.row
    return "".join([*parts, "</g>"])


def _label(row: Row) -> str:
    return f"… {row.label}" if row.is_rest else visible(row.label)


def _line(frame: _Frame, row: Row, top: float, *, evidence: bool) -> str:
    colors, right = frame.palette, frame.width - PADDING
    middle = top + frame.row / 2
    room = frame.label if row.shares else frame.width - 2 * PADDING
    weight = ' font-weight="700"' if any(row.observed) else ""
    color = colors.muted if row.is_rest or not row.shares else colors.text
    state = "" if row.is_rest else f" data-state={_attribute(row.label)}"
    shown = shorten(_label(row), max(room, 10.0), LABEL_SIZE, bold=bool(weight))
    parts = [
        f'<text{state} x="{_n(PADDING)}" y="{_n(middle + 3.8)}" fill="{color}"{weight}>'
        f"{_text(shown)}</text>"
    ]
    bar_left = PADDING + frame.label + 8.0
    bar_room = right - NUMBER - bar_left
    paired = len(row.shares) == 2
    thick = 7.5 if paired else 9.0
    bars = colors.evidence_bars if evidence else colors.bars
    for number, share in enumerate(row.shares):
        y = middle - thick / 2
        if paired:
            y += (number - 0.5) * (thick + 2.0)
        fill = bars[1 - number] if paired else bars[0]
        parts.append(
            f'<rect x="{_n(bar_left)}" y="{_n(y)}" width="{_n(bar_room)}" height="{_n(thick)}"'
            f' rx="2" fill="{colors.track}"/>'
        )
        if share is None:
            continue
        if share > 0:
            parts.append(
                f'<rect data-share="{share:.6g}" x="{_n(bar_left)}" y="{_n(y)}"'
                f' width="{_n(bar_room * share, 2)}" height="{_n(thick)}" rx="2" fill="{fill}"/>'
            )
        size = SMALL_SIZE if paired else NUMBER_SIZE
        color = colors.muted if paired and number == 0 else colors.text
        parts.append(
            f'<text x="{_n(right)}" y="{_n(y + thick / 2 + size * 0.35)}" text-anchor="end"'
            f' font-size="{_n(size)}" fill="{color}"'
            f' style="font-variant-numeric:tabular-nums">{_text(percent(share))}</text>'
        )
    return "".join(parts)


def draw_summary(heading: str, lines: Sequence[str]) -> str:
    """Return a small box with text, which replaces the picture of a large network."""
    colors = Palette()
    shown = [(heading, 14.0, True), *((line, 12.0, False) for line in lines)]
    width = 40.0 + max(text_width(text, size, bold=bold) for text, size, bold in shown)
    height = 28.0 + 19.0 * len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}"'
        f' viewBox="0 0 {_n(width)} {_n(height)}" role="img" aria-label={_attribute(heading)}'
        f' font-family="{FONT}" font-size="12" fill="{colors.muted}">',
        f"<title>{_text(heading)}</title>",
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="10" fill="{colors.ground}"/>',
        f'<rect x="0.5" y="0.5" width="{_n(width - 1)}" height="{_n(height - 1)}" rx="9.5"'
        f' fill="{colors.box}" stroke="{colors.border}"/>',
    ]
    for number, (text, size, bold) in enumerate(shown):
        weight = f' font-weight="600" fill="{colors.text}"' if bold else ""
        parts.append(
            f'<text x="20" y="{_n(28.0 + 19.0 * number)}" font-size="{_n(size)}"{weight}>'
            f"{_text(text)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


MOVED = "Δ probability that moved"


def _legend(frame: _Frame) -> tuple[str, float]:
    """Return the legend of the bars of two beliefs, and its width."""
    colors = frame.palette
    parts = [f'<g transform="translate({_n(MARGIN)} 16)" font-size="12">']
    x = 0.0
    for number, title in enumerate(frame.titles):
        shown = shorten(visible(title), 160.0, 12.0)
        parts.append(
            f'<rect x="{_n(x)}" y="5" width="20" height="8" rx="2"'
            f' fill="{colors.bars[1 - number]}"/>'
            f'<text x="{_n(x + 27)}" y="13.2">{_text(shown)}</text>'
        )
        x += 27 + text_width(shown, 12.0) + 22
    parts.append(f'<text x="{_n(x)}" y="13.2" fill="{colors.muted}">{MOVED}</text></g>')
    return "".join(parts), x + text_width(MOVED, 12.0)


def _arc(route: Route) -> str:
    """Return the path of an arc: straight through layers, bent between them."""
    x, top, bottom = route[0]
    steps = [f"M{_n(x)} {_n(top)}"]
    if bottom > top:
        steps.append(f"V{_n(bottom)}")
    for number, (to, start, end) in enumerate(route[1:], 2):
        if number == len(route):
            end -= ARROW - 1.0
            start = min(start, end)
        steps.append(f"V{_n(start)}" if abs(to - x) < 0.05 else _bend(x, bottom, to, start))
        if end > start:
            steps.append(f"V{_n(end)}")
        x, bottom = to, end
    return f'<path d="{" ".join(steps)}"/>'


def _bend(x: float, top: float, to: float, bottom: float) -> str:
    half = (bottom - top) / 2
    return f"C{_n(x)} {_n(top + half)} {_n(to)} {_n(bottom - half)} {_n(to)} {_n(bottom)}"


def _arrowhead(route: Route) -> str:
    x, _, y = route[-1]
    return f'<path d="M{_n(x)} {_n(y)}l-3.5 {_n(-ARROW)}h7z"/>'
