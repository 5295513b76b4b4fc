"""Strategy trees as DOT, the language of Graphviz: one line for each node and each arrow."""

from __future__ import annotations

import re

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import ModelFileError
from bnmind.strategies.trees.shape import Outline, outline_of, tree_of
from bnmind.strategies.trees.tree import StrategyTree
from bnmind.strategies.trees.tree_title import board_of_title, title_of
from bnmind.views.figures import TreeBox, tree_dot

__all__ = ["tree_from_dot", "tree_to_dot"]

_DOT_NODE = re.compile(r'n([0-9]{1,12}) \[label="([^"]*)"(?:, shape=plaintext)?\];')
_DOT_ARROW = re.compile(r'n([0-9]{1,12}) -> n([0-9]{1,12}) \[label="([^"]*)"\];')


@checked_if_it_fails
def tree_to_dot(tree: StrategyTree) -> str:
    """Return a tree as a graph for Graphviz; leaves have their text and no frame.

    Parameters
    ----------
    tree
        The tree.
    """

    def box(entry: Outline) -> TreeBox:
        return TreeBox(entry.text, [(reply, box(below)) for reply, below in entry.below.items()])

    return tree_dot(box(outline_of(tree)), name="strategy", comment=title_of(tree.board))


@checked_if_it_fails
def tree_from_dot(text: str) -> StrategyTree:
    """Return the tree in a graph that `tree_to_dot` wrote.

    Parameters
    ----------
    text
        The text, as `tree_to_dot` returns it.

    Raises
    ------
    ModelFileError
        If the text is not a strategy tree in this format.
    """
    title, *lines = text.splitlines() or [""]
    board = board_of_title(title)
    below: dict[str, dict[str, Outline]] = {}
    entries: dict[str, Outline] = {}
    arrows: list[tuple[str, str, str]] = []
    for number, line in enumerate(lines, start=2):
        if node := _DOT_NODE.fullmatch(line):
            below[node[1]] = {}
            entries[node[1]] = Outline(node[2], below[node[1]])
        elif arrow := _DOT_ARROW.fullmatch(line):
            arrows.append((arrow[1], arrow[2], arrow[3]))
        elif line not in ("digraph strategy {", "node [shape=box];", "}", ""):
            raise ModelFileError(f"expected a node or an arrow in line {number}", line)
    entered: set[str] = set()
    for source, target, reply in arrows:
        # The number of a node is greater than that of its parent, so there are no cycles.
        if not (source in entries and target in entries and int(source) < int(target)):
            raise ModelFileError(f"expected an arrow down the tree, got {source} to {target}", text)
        if target in entered or reply in below[source]:
            raise ModelFileError(f"expected one arrow for {reply} from {source}, got two", text)
        entered.add(target)
        below[source][reply] = entries[target]
    if set(entries) - entered != {"0"}:
        raise ModelFileError("expected one tree whose root is n0", text)
    return tree_of(board, entries["0"])
