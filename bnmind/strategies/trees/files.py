"""Strategy trees in files: JSON, text and DOT, written and read.

All three hold the same outline (`bnmind.strategies.trees.shape`), with the board and the
version of the format before it:

* ``.json``: ``{"format": …, "version": 1, "board": {…}, "tree": {"guess": "1122", "replies":
  {"0b0w": …}}}``, where a leaf is its text;
* ``.txt``: an entry a line, indented by two spaces a guess, with the reply before it;
* ``.dot``: for Graphviz, a node a line and an arrow a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from bnmind._bounded_files import LARGE_FILE, parse_json, read_text
from bnmind._messages import shown
from bnmind._text_files import write_file
from bnmind.errors import InvalidBoardError, ModelFileError
from bnmind.mastermind.board import Board
from bnmind.strategies.trees.shape import Outline, outline_of, tree_of
from bnmind.strategies.trees.tree import StrategyTree

__all__ = [
    "TREE_SUFFIXES",
    "read_tree",
    "tree_from_dot",
    "tree_from_json",
    "tree_from_text",
    "tree_to_dot",
    "tree_to_json",
    "tree_to_text",
    "write_tree",
]

FORMAT = "bnmind strategy tree"
VERSION = 1

_HEADER = re.compile(rf"(?:#|//) {FORMAT} (\d+), board (\d+)x(\d+)( without repeats)?")
_DOT_NODE = re.compile(r'n(\d+) \[label="([^"]*)"(?:, shape=plaintext)?\];')
_DOT_ARROW = re.compile(r'n(\d+) -> n(\d+) \[label="([^"]*)"\];')


def write_tree(tree: StrategyTree, path: Path) -> None:
    """Write a tree to a file, in the format that its ending names: .json, .txt or .dot.

    Raises
    ------
    ModelFileError
        If the ending names no format.
    FileWriteError
        If the file cannot be written; what was there is left as it was.
    BnmindError
        If the tree is one of noisy replies.
    """
    path = Path(path)
    text = _format(path)[0](tree)
    write_file(path, text)


def read_tree(path: Path) -> StrategyTree:
    """Return the tree in a file, checked in full; its channel is exact.

    Raises
    ------
    ModelFileError
        If the ending names no format, the file cannot be read, or it holds no tree.
    """
    path = Path(path)
    parse = _format(path)[1]
    text = read_text(path, most=LARGE_FILE)
    try:
        return parse(text)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}", error.value) from error


def tree_to_json(tree: StrategyTree) -> str:
    """Return a tree as JSON."""
    board = tree.board
    document = {
        "format": FORMAT,
        "version": VERSION,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "tree": _nested(outline_of(tree)),
    }
    return json.dumps(document, indent=1) + "\n"


def tree_from_json(text: str) -> StrategyTree:
    """Return the tree in JSON.

    Raises
    ------
    ModelFileError
        If it is no such tree.
    """
    document = parse_json(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"expected JSON with format {FORMAT!r}", text)
    _require_version(document.get("version"))
    board = document.get("board")
    if not isinstance(board, dict):
        raise ModelFileError(f"expected a board, got {shown(board)}", board)
    values = (board.get("pegs"), board.get("colors"), board.get("repeats", True))
    if not isinstance(values[0], int) or not isinstance(values[1], int):
        raise ModelFileError(f"expected a board with pegs and colors, got {shown(board)}", board)
    outline = _entry(document.get("tree"))
    return tree_of(_board(values[0], values[1], repeats=bool(values[2])), outline)


def tree_to_text(tree: StrategyTree) -> str:
    """Return a tree as indented text.

    Examples
    --------
    >>> from bnmind.mastermind import Channel
    >>> from bnmind.strategies import Knuth, build_tree
    >>> print(tree_to_text(build_tree(Knuth(), Channel.exact(Board(1, 3)))), end="")
    # bnmind strategy tree 1, board 1x3
    1
      0b0w 2
        0b0w = 3
        1b0w =
      1b0w =
    """
    lines = [f"# {_title(tree.board)}"]

    def add(entry: Outline, before: str, depth: int) -> None:
        lines.append(f"{'  ' * depth}{before}{entry.text}")
        for reply, below in entry.below.items():
            add(below, f"{reply} ", depth + 1)

    add(outline_of(tree), "", 0)
    return "\n".join(lines) + "\n"


def tree_from_text(text: str) -> StrategyTree:
    """Return the tree in indented text.

    Raises
    ------
    ModelFileError
        If it is no such tree.
    """
    title, *lines = text.splitlines() or [""]
    board = _board_of_title(title)
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
        reply, _, said = stripped.partition(" ") if depth else ("", "", stripped)
        del path[depth:]
        siblings = path[-1][1] if depth else top
        if reply in siblings:
            raise ModelFileError(f"expected one entry for {reply}, got two in line {number}", line)
        below: dict[str, Outline] = {}
        siblings[reply] = Outline(said.strip(), below)
        path.append((reply, below))
    if not top:
        raise ModelFileError("expected a tree below the title, got none", text)
    return tree_of(board, top[""])


def tree_to_dot(tree: StrategyTree) -> str:
    """Return a tree as a graph for Graphviz; leaves have their text and no frame."""
    lines = [f"// {_title(tree.board)}", "digraph strategy {", "node [shape=box];"]
    count = 0

    def add(entry: Outline) -> int:
        nonlocal count
        own = count
        count += 1
        shape = "" if entry.below else ", shape=plaintext"
        lines.append(f'n{own} [label="{entry.text}"{shape}];')
        for reply, below in entry.below.items():
            lines.append(f'n{own} -> n{add(below)} [label="{reply}"];')
        return own

    add(outline_of(tree))
    return "\n".join([*lines, "}"]) + "\n"


def tree_from_dot(text: str) -> StrategyTree:
    """Return the tree in a graph that `tree_to_dot` wrote.

    Raises
    ------
    ModelFileError
        If it is no such tree.
    """
    title, *lines = text.splitlines() or [""]
    board = _board_of_title(title)
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
        # A node has a greater number than the one it comes from, so that nothing goes round.
        if not (source in entries and target in entries and int(source) < int(target)):
            raise ModelFileError(f"expected an arrow down the tree, got {source} to {target}", text)
        if target in entered or reply in below[source]:
            raise ModelFileError(f"expected one arrow for {reply} from {source}, got two", text)
        entered.add(target)
        below[source][reply] = entries[target]
    if set(entries) - entered != {"0"}:
        raise ModelFileError("expected one tree whose root is n0", text)
    return tree_of(board, entries["0"])


def _title(board: Board) -> str:
    return f"{FORMAT} {VERSION}, board {board}"


def _board_of_title(title: str) -> Board:
    found = _HEADER.fullmatch(title.strip())
    if found is None:
        raise ModelFileError(f"expected a first line like '# {FORMAT} 1, board 4x6'", title)
    _require_version(int(found[1]))
    return _board(int(found[2]), int(found[3]), repeats=found[4] is None)


def _board(pegs: int, colors: int, *, repeats: bool) -> Board:
    try:
        return Board(pegs, colors, repeats=repeats)
    except InvalidBoardError as error:
        raise ModelFileError(str(error), error.value) from error


def _require_version(version: object) -> None:
    if version != VERSION:
        raise ModelFileError(
            f"expected version {VERSION} of the format, got {shown(version)}", version
        )


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


_FORMATS: dict[str, tuple[Callable[[StrategyTree], str], Callable[[str], StrategyTree]]] = {
    ".json": (tree_to_json, tree_from_json),
    ".txt": (tree_to_text, tree_from_text),
    ".dot": (tree_to_dot, tree_from_dot),
}


TREE_SUFFIXES = tuple(_FORMATS)
"""The endings of files that can hold a tree."""


def _format(
    path: Path,
) -> tuple[Callable[[StrategyTree], str], Callable[[str], StrategyTree]]:
    try:
        return _FORMATS[path.suffix.lower()]
    except KeyError:
        raise ModelFileError(
            f"expected a file that ends with {', '.join(_FORMATS)}, got {path}", path
        ) from None
