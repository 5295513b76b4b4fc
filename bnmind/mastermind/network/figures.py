"""The figures of Vomlel's paper, drawn with the variables in its order.

Figure 1 is the full network, figure 2 the network after the guess is inserted, figure 3 the graph
after the table of C is replaced and the parents are joined (stages 1 to 3), and figure 4 the
junction tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import combinations

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.mastermind.network.vomlel import REPORTS, Stage
from bnmind.pgm import Network
from bnmind.views.draw import percent
from bnmind.views.figures import Node, draw_rows, draw_tree

__all__ = ["stage_figure", "tree_figure"]

_ROWS = (
    ("T", "H"),
    ("G", "C", "Pj"),
    ("M", "P"),
    ("B",),
    ("white", REPORTS[0]),
    (REPORTS[1],),
)
"""The kinds of variables of each row, from left to right."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTER = re.compile(r"([A-Z])([0-9]+)")


@checked
def stage_figure(
    stage: Stage,
    *,
    beliefs: Mapping[str, Floats] | None = None,
    observed: Collection[str] = (),
) -> str:
    """Return figure 1, 2 or 3 as SVG, for stage 1, 2 or 3 of a network.

    Stage 3 has undirected edges: two variables are joined if a table holds both.

    Parameters
    ----------
    stage
        The stage.
    beliefs
        The probability of each state of some variables, such as `node_beliefs`; their boxes show
        them as bars.
    observed
        The variables whose boxes stand out, as the auxiliary variable does.
    """
    known = {} if beliefs is None else beliefs
    rows: list[list[Node]] = [[] for _ in _ROWS]
    place = {kind: (k, i) for k, kinds in enumerate(_ROWS) for i, kind in enumerate(kinds)}
    variables = sorted(stage.model.variables, key=lambda v: (place[_kind(v.name)], _index(v.name)))
    for v in variables:
        shares = known.get(v.name)
        bars = () if shares is None else tuple(zip(v.states, map(float, shares), strict=True))
        states = [f"{state}: {percent(share)}" for state, share in bars] if bars else list(v.states)
        note = f"{_label(v.name)}: {v.n_states} states\n{', '.join(states)}"
        marked = v.name == "B" or v.name in observed
        node = Node(name=v.name, label=_label(v.name), note=note, is_marked=marked, bars=bars)
        rows[place[_kind(v.name)][0]].append(node)
    arcs: list[tuple[str, str]] = []
    edges: set[tuple[str, str]] = set()
    if isinstance(stage.model, Network):
        for cpd in stage.model.cpds:
            arcs += [(parent.name, cpd.variable.name) for parent in cpd.parents]
    else:
        for potential in stage.model.potentials:
            edges |= set(combinations(sorted(v.name for v in potential.scope), 2))
    title = str(stage).splitlines()[0]
    return draw_rows([row for row in rows if row], arcs=arcs, edges=sorted(edges), caption=title)


@checked
def tree_figure(stage: Stage) -> str:
    """Return the junction tree of a stage as SVG; for stage 3, this is figure 4.

    Parameters
    ----------
    stage
        The stage of Vomlel's network: 1, 2 or 3.
    """
    return draw_tree(stage.tree, label=_label)


def _kind(name: str) -> str:
    """Return the kind of a variable: its letter, with P_j and P, and C_i and C, told apart."""
    numbered = _LETTER.fullmatch(name)
    if numbered is None:
        return "white" if name == "C" else name
    return "Pj" if numbered[1] == "P" else numbered[1]


def _index(name: str) -> int:
    numbered = _LETTER.fullmatch(name)
    return int(numbered[2]) if numbered else 0


def _label(name: str) -> str:
    """Return a name as the paper writes it.

    >>> _label("H12"), _label("P_reported"), _label("B")
    ('H₁₂', 'P′', 'B')
    """
    if name in REPORTS:
        return f"{name[0]}′"
    return name[0] + name[1:].translate(_SUBSCRIPTS)
