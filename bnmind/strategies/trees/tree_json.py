"""Strategy trees as JSON.

``{"format": …, "version": 1, "board": {…}, "tree": {"guess": "1122", "replies": {"0b0w": …}}}``,
where a leaf is its text.
"""

from __future__ import annotations

import json

from bnmind._arguments import checked_if_it_fails
from bnmind._files import parse_document
from bnmind._messages import shown
from bnmind.errors import ModelFileError
from bnmind.strategies.trees.shape import Outline, outline_of, tree_of
from bnmind.strategies.trees.tree import StrategyTree
from bnmind.strategies.trees.tree_title import FORMAT, VERSION, board_of

__all__ = ["tree_from_json", "tree_to_json"]


@checked_if_it_fails
def tree_to_json(tree: StrategyTree) -> str:
    """Return a tree as JSON.

    Parameters
    ----------
    tree
        The tree.
    """
    board = tree.board
    document = {
        "format": FORMAT,
        "version": VERSION,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "tree": _nested(outline_of(tree)),
    }
    return json.dumps(document, indent=1) + "\n"


@checked_if_it_fails
def tree_from_json(text: str) -> StrategyTree:
    """Return the tree in JSON.

    Parameters
    ----------
    text
        The text, as `tree_to_json` returns it.

    Raises
    ------
    ModelFileError
        If the text is not a strategy tree in this format.
    """
    document = parse_document(text, FORMAT, VERSION)
    board = document.get("board")
    if not isinstance(board, dict):
        raise ModelFileError(f"expected a board, got {shown(board)}", board)
    values = (board.get("pegs"), board.get("colors"), board.get("repeats", True))
    if not isinstance(values[0], int) or not isinstance(values[1], int):
        raise ModelFileError(f"expected a board with pegs and colors, got {shown(board)}", board)
    outline = _entry(document.get("tree"))
    return tree_of(board_of(values[0], values[1], repeats=bool(values[2])), outline)


def _nested(entry: Outline) -> object:
    if not entry.below:
        return entry.text
    replies = {reply: _nested(below) for reply, below in entry.below.items()}
    return {"guess": entry.text, "replies": replies}


def _entry(value: object) -> Outline:
    if isinstance(value, str):
        return Outline(value)
    if isinstance(value, dict) and set(value) == {"guess", "replies"}:
        guess, replies = value["guess"], value["replies"]
        if isinstance(guess, str) and isinstance(replies, dict):
            return Outline(guess, {reply: _entry(below) for reply, below in replies.items()})
    shown = str(value)[:60]
    raise ModelFileError(f"expected a guess with its replies, or a leaf, got {shown}", value)
