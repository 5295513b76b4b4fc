"""Pictures of networks as SVG, and what pictures share: cards, texts, widths, colors, charts.

Pictures have no identifiers and no style sheets, because in a notebook both would affect other
pictures. They have their own background, so that dark pages do not matter. The attributes
``data-variable`` and ``data-state`` tell a page which variable and which state was clicked.

The font of a picture is not known when it is made. The widths of texts are those of Helvetica and
similar fonts, in classes of letters, and tend to be slightly too large.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from bnmind._messages import visible
from bnmind.pgm.variable import Variable
from bnmind.views.layout import Route, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def px(value: float, digits: int = 1) -> str:
    """Return a number in as few characters as a tenth of a pixel needs.

    >>> px(12.0), px(0.25), px(-0.01)
    ('12', '0.2', '0')
    """
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def escaped(text: str) -> str:
    """Return a text as the content of an element."""
    return escape("\n".join(visible(line) for line in text.split("\n")))


def attribute(text: str) -> str:
    """Return a text as the value of an attribute, with its quotes."""
    return quoteattr(visible(text))


def scaled(svg: str) -> str:
    """Return a picture that shrinks to the width of a notebook's cell.

    >>> scaled('<svg width="900"></svg>')
    '<svg style="max-width:100%;height:auto" width="900"></svg>'
    """
    return svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


# In hundredths of the size of the font: sums of whole numbers are the same in every order.
_CLASSES = (
    ("ijl|.,:;'!I ", 29),
    ('frt()[]{}/\\-"`*', 37),
    ("mwMW@%—", 89),
    ("ABCDEFGHKLNOPQRSTUVXYZ&=+<>~#…", 70),
)
_WIDTHS = {letter: width for letters, width in _CLASSES for letter in letters}
_OTHER = 57
_WIDE = 100
_BOLD = 1.07


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the approximate width of a text, in the unit of the font size."""
    return sum(map(_letter_width, text)) * _scale(size, bold=bold)


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return _WIDE if _is_wide(letter) else _WIDTHS.get(letter, _OTHER)


def _scale(size: float, *, bold: bool) -> float:
    return size * (_BOLD if bold else 1.0) / 100


def shorten(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Shorten a text to a width, replacing its middle by ….

    Names often differ only in their last letters, so some of these are kept.
    """
    scale = _scale(size, bold=bold)
    return _shortened(text, _letter_width, lambda width: width * scale <= room)


def _shortened(text: str, width_of: Callable[[str], int], fits: Callable[[int], bool]) -> str:
    # Prefix sums make the time linear in the length of the text.
    before = [0, *accumulate(map(width_of, text))]
    if fits(before[-1]):
        return text
    dots = width_of("…")
    for n_kept in range(len(text) - 1, 0, -1):
        last = min(n_kept // 4, 4)
        if fits(before[n_kept - last] + dots + before[-1] - before[len(text) - last]):
            return f"{text[: n_kept - last]}…{text[len(text) - last :]}"
    return "…"


def columns_of(text: str) -> int:
    """Return the width of a text in terminal columns."""
    return sum(map(_letter_columns, text))


def _letter_columns(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 1 + _is_wide(letter)


def shorten_to_columns(text: str, room: int) -> str:
    """Shorten a text to a number of terminal columns, replacing its middle by ….

    >>> shorten_to_columns("TEMPERATURE_2", 9)
    'TEMPER…_2'
    """
    return _shortened(text, _letter_columns, lambda columns: columns <= room)


def pad(text: str, columns: int) -> str:
    """Pad a text with spaces to a number of terminal columns."""
    return text + " " * (columns - columns_of(text))


@dataclass(frozen=True)
class Row:
    """A line of a card: a state, or all remaining states."""

    label: str
    shares: tuple[float | None, ...] = ()
    """The probability in each belief; None if the belief does not have the variable."""
    observed: tuple[bool, ...] = ()
    """For each belief, whether this is the observed state."""
    is_rest: bool = False
    """Whether the line summarizes all states without a line of their own."""


@dataclass(frozen=True)
class Card:
    """A variable and its distributions in one or two beliefs."""

    variable: Variable
    distributions: tuple[tuple[float, ...] | None, ...] = ()
    """For each belief, the probability of each state, or None."""
    findings: tuple[str | None, ...] = ()
    """For each belief, the observed state, or None."""
    uncertain: tuple[bool, ...] = ()
    """For each belief, whether there is uncertain evidence on the variable."""
    hidden: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The parents and the children that a picture of some variables leaves out."""

    @property
    def is_evidence(self) -> bool:
        """Whether the variable is observed in any belief."""
        return any(finding is not None for finding in self.findings)

    @property
    def is_uncertain(self) -> bool:
        """Whether there is uncertain evidence, and no other, on the variable."""
        return any(self.uncertain) and not self.is_evidence

    @property
    def is_silent(self) -> bool:
        """Whether no belief has a distribution of the variable."""
        return bool(self.distributions) and not any(self.distributions)

    @property
    def moved(self) -> float | None:
        """The share of probability that differs between two beliefs: total variation, 0..1."""
        if len(self.distributions) != 2 or not all(self.distributions):
            return None
        first, second = (d or () for d in self.distributions)
        return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2

    def rows(self, most: int) -> list[Row]:
        """Return a row for each state, or for the most probable and one for the rest."""
        if self.is_silent:
            return []
        states = range(self.variable.n_states)
        shown: Sequence[int] = states
        if len(states) > most:
            peak = [max([d[i] for d in self.distributions if d], default=0.0) for i in states]
            shown = sorted(sorted(states, key=lambda i: (-peak[i], i))[: most - 1])
        rows = [self._row(self.variable.states[i], (i,)) for i in shown]
        if len(shown) < len(states):
            rest = tuple(sorted(set(states) - set(shown)))
            row = self._row("", rest)
            rows.append(Row(f"{len(rest)} more", row.shares, row.observed, is_rest=True))
        return rows

    def _row(self, label: str, positions: Sequence[int]) -> Row:
        shares = tuple(
            None if d is None else sum((d[i] for i in positions), 0.0) for d in self.distributions
        )
        names = {self.variable.states[i] for i in positions}
        return Row(label, shares, tuple(finding in names for finding in self.findings))

    def description(self, titles: Sequence[str] = ()) -> str:
        """Return the complete text of the card, one line for each state, for a tooltip."""
        lines = [self.variable.name]
        for number, finding in enumerate(self.findings):
            where = f" ({titles[number]})" if titles else ""
            if finding is not None:
                lines[0] += f" = {finding}{where}"
            elif self.uncertain[number]:
                lines[0] += f", uncertain evidence{where}"
        for row in self.rows(self.variable.n_states):
            shown = [percent(p) for p in row.shares if p is not None]
            lines.append(f"{row.label}: {' → '.join(shown)}" if shown else row.label)
        if self.moved is not None:
            lines.append(f"moved: {percent(self.moved)}")
        for kind, names in zip(("parents", "children"), self.hidden, strict=True):
            if names:
                lines.append(f"{kind} not shown: {', '.join(names)}")
        return "\n".join(visible(line) for line in lines)


def percent(share: float) -> str:
    """Return a probability as a percentage of one decimal that never hides a possibility.

    >>> percent(0.1234), percent(1.0), percent(1e-9), percent(1 - 1e-9), percent(0.0)
    ('12.3%', '100%', '<0.1%', '>99.9%', '0%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    if share >= 0.9995:
        return ">99.9%"
    return f"{share:.1%}"


@dataclass(frozen=True, kw_only=True)
class _Palette:
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


COLORS = _Palette()


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


def opening(width: float, height: float, *, caption: str, size: float, color: str) -> list[str]:
    """Return the first lines of a picture: its size, its caption and its background."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{px(width)}" height="{px(height)}"'
        f' viewBox="0 0 {px(width)} {px(height)}" role="img" aria-label={attribute(caption)}'
        f' font-family="{FONT}" font-size="{px(size)}" fill="{color}">',
        f"<title>{escaped(caption)}</title>",
        f'<rect width="{px(width)}" height="{px(height)}" rx="10" fill="{COLORS.ground}"/>',
    ]


def draw(
    cards: Sequence[Card],
    arcs: Sequence[tuple[int, int]],
    *,
    titles: tuple[str, ...] = (),
    caption: str,
    max_states: int,
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
    """
    frame = _frame(cards, titles, max_states)
    layout = lay_out([(frame.width, frame.height(card)) for card in cards], arcs)
    legend, least = _legend(frame) if titles else ("", 0.0)
    top = MARGIN + (30.0 if legend else 0.0)
    width = max(layout.width, least) + 2 * MARGIN
    height = layout.height + top + MARGIN
    left = (width - layout.width) / 2
    parts = [
        *opening(width, height, caption=caption, size=LABEL_SIZE, color=COLORS.text),
        legend,
        f'<g transform="translate({px(left)} {px(top)})">',
        f'<g fill="none" stroke="{COLORS.arc}" stroke-width="1.2">',
        *(_arc(route) for route in layout.routes),
        "</g>",
        f'<g fill="{COLORS.arc}">',
        *(_arrowhead(route) for route in layout.routes),
        "</g>",
        *(_box(frame, card, at) for card, at in zip(cards, layout.corners, strict=True)),
        "</g></svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _frame(cards: Sequence[Card], titles: tuple[str, ...], max_states: int) -> _Frame:
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
    frame = _Frame(titles=titles, width=0.0, label=label, row=row, max_states=max_states)
    for card in cards:
        badge = frame.badge(card)
        heading = text_width(visible(card.variable.name), NAME_SIZE, bold=True)
        if badge:
            heading += 10.0 + text_width(visible(badge), LABEL_SIZE, bold=True)
        notes = [text_width(visible(note), LABEL_SIZE, bold=True) for note in frame.notes(card)]
        inner = max([inner, heading, *notes])
    width = min(max(inner + 2 * PADDING, NARROWEST), WIDEST)
    return replace(frame, width=float(round(width)))


def _box(frame: _Frame, card: Card, at: tuple[float, float]) -> str:
    width, height = frame.width, frame.height(card)
    evidence, badge, notes = card.is_evidence, frame.badge(card), frame.notes(card)
    calm = card.moved is not None and card.moved < SAME and not evidence
    opacity = ' opacity="0.55"' if calm else ""
    border = COLORS.border
    pen = 'stroke-width="1"'
    if evidence or card.is_uncertain:
        border, pen = COLORS.evidence_border, 'stroke-width="2.6"'
        if not evidence:
            pen = 'stroke-width="2" stroke-dasharray="5 3"'
    ground = COLORS.evidence_ground if evidence or card.is_uncertain else COLORS.box
    parts = [
        f"<g data-variable={attribute(card.variable.name)}"
        f' transform="translate({px(at[0])} {px(at[1])})"{opacity}>',
        f"<title>{escaped(card.description(frame.titles))}</title>",
        f'<rect width="{px(width)}" height="{px(height)}" rx="6" fill="{ground}"'
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
        color = COLORS.evidence_text if evidence or card.is_uncertain else COLORS.muted
        weight = ' font-weight="700"' if evidence else ""
        parts.append(
            f'<text x="{px(width - PADDING)}" y="17.5" text-anchor="end" fill="{color}"'
            f"{weight}>{escaped(shown)}</text>"
        )
    else:
        name = shorten(name, room, NAME_SIZE, bold=True)
    color = COLORS.muted if card.is_silent else COLORS.text
    parts.append(
        f'<text x="{px(PADDING)}" y="17.5" font-size="{px(NAME_SIZE)}" font-weight="600"'
        f' fill="{color}">{escaped(name)}</text>'
    )
    for number, note in enumerate(notes):
        shown = shorten(visible(note), room, LABEL_SIZE, bold=True)
        parts.append(
            f'<text x="{px(PADDING)}" y="{px(HEAD + LINE * number + 7.0)}" font-weight="700"'
            f' fill="{COLORS.evidence_text}">{escaped(shown)}</text>'
        )
    top = HEAD + LINE * len(notes)
    for row in card.rows(frame.max_states):
        parts.append(_line(frame, row, top, evidence=evidence or card.is_uncertain))
        top += frame.row
    return "".join([*parts, "</g>"])


def _label(row: Row) -> str:
    return f"… {row.label}" if row.is_rest else visible(row.label)


def _line(frame: _Frame, row: Row, top: float, *, evidence: bool) -> str:
    right = frame.width - PADDING
    middle = top + frame.row / 2
    room = frame.label if row.shares else frame.width - 2 * PADDING
    weight = ' font-weight="700"' if any(row.observed) else ""
    color = COLORS.muted if row.is_rest or not row.shares else COLORS.text
    state = "" if row.is_rest else f" data-state={attribute(row.label)}"
    shown = shorten(_label(row), max(room, 10.0), LABEL_SIZE, bold=bool(weight))
    parts = [
        f'<text{state} x="{px(PADDING)}" y="{px(middle + 3.8)}" fill="{color}"{weight}>'
        f"{escaped(shown)}</text>"
    ]
    bar_left = PADDING + frame.label + 8.0
    bar_room = right - NUMBER - bar_left
    paired = len(row.shares) == 2
    thick = 7.5 if paired else 9.0
    bars = COLORS.evidence_bars if evidence else COLORS.bars
    for number, share in enumerate(row.shares):
        y = middle - thick / 2
        if paired:
            y += (number - 0.5) * (thick + 2.0)
        fill = bars[1 - number] if paired else bars[0]
        parts.append(
            f'<rect x="{px(bar_left)}" y="{px(y)}" width="{px(bar_room)}" height="{px(thick)}"'
            f' rx="2" fill="{COLORS.track}"/>'
        )
        if share is None:
            continue
        if share > 0:
            parts.append(
                f'<rect data-share="{share:.6g}" x="{px(bar_left)}" y="{px(y)}"'
                f' width="{px(bar_room * share, 2)}" height="{px(thick)}" rx="2" fill="{fill}"/>'
            )
        size = SMALL_SIZE if paired else NUMBER_SIZE
        color = COLORS.muted if paired and number == 0 else COLORS.text
        parts.append(
            f'<text x="{px(right)}" y="{px(y + thick / 2 + size * 0.35)}" text-anchor="end"'
            f' font-size="{px(size)}" fill="{color}"'
            f' style="font-variant-numeric:tabular-nums">{escaped(percent(share))}</text>'
        )
    return "".join(parts)


def draw_summary(heading: str, lines: Sequence[str]) -> str:
    """Return a small box with text, which replaces the picture of a large network."""
    shown = [(heading, 14.0, True), *((line, 12.0, False) for line in lines)]
    width = 40.0 + max(text_width(text, size, bold=bold) for text, size, bold in shown)
    height = 28.0 + 19.0 * len(shown)
    parts = [
        *opening(width, height, caption=heading, size=12.0, color=COLORS.muted),
        f'<rect x="0.5" y="0.5" width="{px(width - 1)}" height="{px(height - 1)}" rx="9.5"'
        f' fill="{COLORS.box}" stroke="{COLORS.border}"/>',
    ]
    for number, (text, size, bold) in enumerate(shown):
        weight = f' font-weight="600" fill="{COLORS.text}"' if bold else ""
        parts.append(
            f'<text x="20" y="{px(28.0 + 19.0 * number)}" font-size="{px(size)}"{weight}>'
            f"{escaped(text)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


MOVED = "Δ probability that moved"


def _legend(frame: _Frame) -> tuple[str, float]:
    """Return the legend of the bars of two beliefs, and its width."""
    parts = [f'<g transform="translate({px(MARGIN)} 16)" font-size="12">']
    x = 0.0
    for number, title in enumerate(frame.titles):
        shown = shorten(visible(title), 160.0, 12.0)
        parts.append(
            f'<rect x="{px(x)}" y="5" width="20" height="8" rx="2"'
            f' fill="{COLORS.bars[1 - number]}"/>'
            f'<text x="{px(x + 27)}" y="13.2">{escaped(shown)}</text>'
        )
        x += 27 + text_width(shown, 12.0) + 22
    parts.append(f'<text x="{px(x)}" y="13.2" fill="{COLORS.muted}">{MOVED}</text></g>')
    return "".join(parts), x + text_width(MOVED, 12.0)


def _arc(route: Route) -> str:
    """Return the path of an arc: straight through layers, bent between them."""
    x, top, bottom = route[0]
    steps = [f"M{px(x)} {px(top)}"]
    if bottom > top:
        steps.append(f"V{px(bottom)}")
    for number, (to, start, end) in enumerate(route[1:], 2):
        if number == len(route):
            end -= ARROW - 1.0
            start = min(start, end)
        steps.append(f"V{px(start)}" if abs(to - x) < 0.05 else _bend(x, bottom, to, start))
        if end > start:
            steps.append(f"V{px(end)}")
        x, bottom = to, end
    return f'<path d="{" ".join(steps)}"/>'


def _bend(x: float, top: float, to: float, bottom: float) -> str:
    half = (bottom - top) / 2
    return f"C{px(x)} {px(top + half)} {px(to)} {px(bottom - half)} {px(to)} {px(bottom)}"


def _arrowhead(route: Route) -> str:
    x, _, y = route[-1]
    return f'<path d="M{px(x)} {px(y)}l-3.5 {px(-ARROW)}h7z"/>'


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; it is not registered with pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain(text: str) -> str:
    """Return a name as matplotlib shows it: neither a formula, nor left out of the legend."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def polish(axes: Axes, *, grid: str = "y") -> None:
    """Draw a grid, and no box."""
    axes.grid(axis=grid, color="#dddddd", linewidth=0.8, zorder=0)  # type: ignore[arg-type]
    axes.spines[["top", "right"]].set_visible(False)
