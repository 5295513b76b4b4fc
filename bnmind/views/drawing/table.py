"""Tables of beliefs for terminals, as wide as the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bnmind._messages import visible
from bnmind.views.drawing.cards import Card
from bnmind.views.drawing.text_width import columns_of, pad, shorten_to_columns

__all__ = ["NARROWEST", "bar", "belief_table", "network_table"]

NARROWEST = 40
"""The smallest width of a table in columns, even on narrower terminals."""
WIDEST = 1000
"""The largest width of a table in columns."""
LONGEST_BAR = 30
EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, columns: int) -> str:
    """Return a bar for a share of 0..1; a positive share never gives an empty bar.

    >>> bar(0.5, 9), bar(1e-9, 9)
    ('████▌    ', '▏        ')
    """
    eighths = round(8 * columns * share)
    if share > 0:
        eighths = max(eighths, 1)
    full, part = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[part] if part else "")).ljust(columns)


def belief_table(
    cards: Sequence[Card], *, titles: tuple[str, ...] = (), width: int, all_states: bool
) -> str:
    """Return a line for each state of each card.

    Parameters
    ----------
    cards
        The cards to show; cards without a distribution are omitted.
    titles
        The names of two beliefs, for a first line.
    width
        The width of the terminal in columns; at least 40 are used.
    all_states
        Whether to show the other states of observed variables too.
    """
    width = min(max(width, NARROWEST), WIDEST)
    lines = [line for card in cards for line in _lines(card, all_states=all_states)]
    if not lines:
        return ""
    n_beliefs = max(len(titles), 1)
    numbers = [_aligned([line[3][k] for line in lines]) for k in range(n_beliefs)]
    single = n_beliefs == 1
    marked = single and any(line[1][0] for line in lines if line[1])
    room = width - (3 if marked else 2 if single else 1)
    room -= sum(max(map(len, column)) + (3 if single else 4) for column in numbers)
    # Names and states share the room that bars of the least width leave.
    least = width // (8 * n_beliefs)
    names, marks, states, shares = zip(*lines, strict=True)
    name_room, state_room = _share(
        max(map(columns_of, names)), max(map(columns_of, states)), max(room - n_beliefs * least, 8)
    )
    room -= name_room + state_room
    columns = max(least, min(LONGEST_BAR, room // n_beliefs))
    texts = []
    for number, (name, mark, state) in enumerate(zip(names, marks, states, strict=True)):
        parts = [pad(shorten_to_columns(name, name_room), name_room)]
        lead = f" {mark[0]:1} " if marked else "  " if single else " "
        parts.append(lead + pad(shorten_to_columns(state, state_room), state_room))
        for k in range(n_beliefs):
            share = shares[number][k]
            drawn = " " * columns if share is None else bar(share, columns)
            lead = "  " if single else f" {mark[k] or ' '} "
            parts.append(f"{lead}{drawn} {numbers[k][number]}")
        texts.append("".join(parts).rstrip())
    if titles:
        head = [" " * (name_room + 1 + state_room)]
        for k, title in enumerate(titles):
            block = columns + 1 + max(map(len, numbers[k]))
            head.append("   " + pad(shorten_to_columns(visible(title), block), block))
        texts.insert(0, "".join(head).rstrip())
    return "\n".join(texts)


_Line = tuple[str, tuple[str, ...], str, tuple[float | None, ...]]


def _lines(card: Card, *, all_states: bool) -> list[_Line]:
    """Return name, marks, state and shares for each line of a card, the name once."""
    rows = card.rows(card.variable.n_states)
    if not all_states and card.findings and None not in card.findings:
        rows = [row for row in rows if any(row.observed)]
    lines: list[_Line] = []
    for row in rows:
        marks = tuple(
            "=" if seen else "≈" if uncertain else ""
            for seen, uncertain in zip(row.observed, card.uncertain, strict=True)
        )
        lines.append(("" if lines else card.variable.name, marks, visible(row.label), row.shares))
    return lines


def _aligned(shares: Sequence[float | None]) -> list[str]:
    """Return percentages with aligned decimal points."""
    texts = ["" if p is None else f"{100 * p:.4g}" for p in shares]
    parts = [text.partition(".") for text in texts]
    before = max(len(whole) for whole, _, _ in parts)
    after = max(len(dot + rest) for _, dot, rest in parts)
    return [
        f"{whole:>{before}}{dot + rest:<{after}} %" if whole else " " * (before + after + 2)
        for whole, dot, rest in parts
    ]


def _share(first: int, second: int, room: int) -> tuple[int, int]:
    """Return the widths of two texts that share a number of columns."""
    if first + second <= room:
        return first, second
    half = room // 2
    if first <= half:
        return first, room - first
    if second <= half:
        return room - second, second
    return half, room - half


def network_table(rows: Sequence[tuple[str, str, str]], *, width: int) -> str:
    """Return a line for each variable: its name, its states and its parents."""
    width = min(max(width, NARROWEST), WIDEST)
    rows = [("variable", "states", "parents"), *rows]
    rows = [(name, visible(states), visible(parents)) for name, states, parents in rows]
    room = width - 4
    name = min(max(columns_of(row[0]) for row in rows), room // 3)
    states, parents = _share(
        max(columns_of(row[1]) for row in rows),
        max(columns_of(row[2]) for row in rows),
        room - name,
    )
    columns = (name, states, parents)
    return "\n".join(
        "  ".join(
            pad(shorten_to_columns(text, size), size)
            for text, size in zip(row, columns, strict=True)
        ).rstrip()
        for row in rows
    )
