"""Strategy trees as indented text.

Each line holds one entry, indented by two spaces for each guess before it. The reply that leads to
an entry stands before it.
"""

from __future__ import annotations

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import ModelFileError
from bnmind.strategies.trees.shape import Outline, outline_of, tree_of
from bnmind.strategies.trees.tree import StrategyTree
from bnmind.strategies.trees.tree_title import board_of_title, title_of

__all__ = ["tree_from_text", "tree_to_text"]


@checked_if_it_fails
def tree_to_text(tree: StrategyTree) -> str:
    """Return a tree as indented text.

    Parameters
    ----------
    tree
        The tree.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth, build_tree
    >>> print(tree_to_text(build_tree(Knuth(), Channel.exact(Board(1, 3)))), end="")
    # bnmind strategy tree 1, board 1x3
    1
      0b0w 2
        0b0w = 3
        1b0w =
      1b0w =
    """
    lines = [f"# {title_of(tree.board)}"]

    def add(entry: Outline, before: str, depth: int) -> None:
        lines.append(f"{'  ' * depth}{before}{entry.text}")
        for reply, below in entry.below.items():
            add(below, f"{reply} ", depth + 1)

    add(outline_of(tree), "", 0)
    return "\n".join(lines) + "\n"


@checked_if_it_fails
def tree_from_text(text: str) -> StrategyTree:
    """Return the tree in indented text.

    Parameters
    ----------
    text
        The text, as `tree_to_text` returns it.

    Raises
    ------
    ModelFileError
        If the text is not a strategy tree in this format.
    """
    title, *lines = text.splitlines() or [""]
    board = board_of_title(title)
    path: list[tuple[str, dict[str, Outline]]] = []
    top: dict[str, Outline] = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        stripped = line.lstrip(" ")
        depth, odd = divmod(len(line) - len(stripped), 2)
        if odd or depth > len(path) or (depth == 0) != (not top):
            raise ModelFileError(
                f"expected an entry below the one before it in line {number}", line
            )
        reply, _, entry = stripped.partition(" ") if depth else ("", "", stripped)
        del path[depth:]
        siblings = path[-1][1] if depth else top
        if reply in siblings:
            raise ModelFileError(f"expected one entry for {reply}, got two in line {number}", line)
        below: dict[str, Outline] = {}
        siblings[reply] = Outline(entry.strip(), below)
        path.append((reply, below))
    if not top:
        raise ModelFileError("expected a tree below the title, got none", text)
    return tree_of(board, top[""])
