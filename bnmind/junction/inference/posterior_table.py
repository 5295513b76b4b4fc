"""The tables of a posterior for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TypeAlias

import numpy as np

from bnmind.pgm.distribution import label, probability_text
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

__all__ = ["posterior_html", "posterior_text"]

_Joints: TypeAlias = Sequence[tuple[Sequence[Variable], Values]]
"""The variables of each target, and their joint."""

_MOST_ROWS = 18
"""The most targets in a terminal."""

_MOST_ROWS_HTML = 50
"""The most targets in a notebook."""

_MOST_CELLS = 6
"""The most states of each target."""

_WIDTH = 79
"""The most columns of a line in a terminal."""


def title(joints: _Joints, log_evidence: float) -> str:
    """Return the number of targets, and the probability of the evidence."""
    n = len(joints)
    targets = "1 target" if n == 1 else f"{n:,} targets"
    return f"Posterior({targets}, log_evidence={log_evidence:.6g})"


def posterior_text(joints: _Joints, log_evidence: float) -> str:
    """Return a line for each target: its variables, its states and their probabilities."""
    n = len(joints)
    number = n if n <= _MOST_ROWS else _MOST_ROWS - 1
    rows = [(_names(scope), _cells(scope, values)) for scope, values in joints[:number]]
    width = max((len(name) for name, _ in rows), default=0)
    most = max((len(cells) for _, cells in rows), default=0)
    columns = [max(len(c[i]) for _, c in rows if i < len(c)) for i in range(most)]
    if width + sum(columns) + 2 * most > _WIDTH:
        columns = [0] * most
    lines = []
    for name, cells in rows:
        line = f"{name:<{width}}"
        for cell, column in zip(cells, columns, strict=False):
            if len(line) + 2 + len(cell) > _WIDTH - 3 and cell is not cells[-1]:
                line += "  …"
                break
            line += f"  {cell:<{column}}"
        lines.append(line.rstrip())
    if number < n:
        lines.append(f"… and {n - number:,} more")
    return "\n".join([title(joints, log_evidence), *lines])


def posterior_html(joints: _Joints, log_evidence: float) -> str:
    """Return the lines of `posterior_text` as a table of HTML."""
    n = len(joints)
    rows = []
    for scope, values in joints[:_MOST_ROWS_HTML]:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in _cells(scope, values))
        rows.append(f"<tr><th>{escape(_names(scope))}</th>{cells}</tr>")
    if n > _MOST_ROWS_HTML:
        rows.append(f"<tr><td>… and {n - _MOST_ROWS_HTML:,} more</td></tr>")
    caption = f"<caption>{escape(title(joints, log_evidence))}</caption>"
    return f"<table>{caption}<tbody>{''.join(rows)}</tbody></table>"


def _names(scope: Sequence[Variable]) -> str:
    names = ", ".join(label(v.name) for v in scope[:3])
    return f"{names}, …" if len(scope) > 3 else names


def _cells(scope: Sequence[Variable], values: Values) -> list[str]:
    """Return the states of a target and their probabilities; the largest ones if they are many."""
    flat = np.real(values).ravel()
    chosen = np.arange(flat.size)
    if flat.size > _MOST_CELLS:
        chosen = np.argsort(-flat, kind="stable")[: _MOST_CELLS - 1]
    cells = []
    for number in chosen.tolist():
        cell = np.unravel_index(number, np.shape(values))
        states = ",".join(label(v.states[i]) for v, i in zip(scope, cell, strict=True))
        cells.append(f"{states} {probability_text(float(flat[number]))}".strip())
    if len(cells) < flat.size:
        cells.append("…")
    return cells
