"""Strategy trees in files: JSON, indented text, DOT and SVG, and the registry of the formats.

Every format holds the same outline (`bnmind.strategies.tree`) below a title with the board and the
version of the format.

* **JSON**: ``{"format": …, "version": 1, "board": {…}, "tree": {"guess": "1122", "replies":
  {"0b0w": …}}}``, where a leaf is its text.
* **Indented text**: each line holds one entry, indented by two spaces for each guess before it. The
  reply that leads to an entry stands before it.
* **DOT**, the language of Graphviz: one line for each node and each arrow. It is only written.
* **SVG**, a drawing, by `tree_to_svg`: each row is a turn, and each box is a guess, whose width is
  the number of codes left. The boxes below it are the next guesses after each reply, in the order
  of replies. White areas are finished games. Boxes that are too narrow to see are omitted.

To add a format, write its functions and one line in `TREE_FORMATS`. The contract tests run over
every member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._files import LARGE_FILE, parse_document, read_text, require_head, write_file
from bnmind._messages import counted, shown
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.mastermind.board import Board
from bnmind.strategies.tree import Outline, StrategyTree, TreeNode, outline_of, tree_of
from bnmind.views.figures import TreeBox, tree_dot, tree_drawing

FORMAT = "bnmind strategy tree"
VERSION = 1

_NUMBER = "([0-9]{1,9})"
_HEADER = re.compile(rf"# {FORMAT} {_NUMBER}, board {_NUMBER}x{_NUMBER}( without repeats)?")


def title_of(board: Board) -> str:
    """Return the title of the tree of a board."""
    return f"{FORMAT} {VERSION}, board {board}"


def board_of_title(title: str) -> Board:
    """Return the board that a title names."""
    match = _HEADER.fullmatch(title.strip())
    if match is None:
        raise ModelFileError(f"expected a first line like '# {FORMAT} 1, board 4x6'", title)
    require_head(FORMAT, int(match[1]), FORMAT, (VERSION,))
    return board_of(int(match[2]), int(match[3]), repeats=match[4] is None)


def board_of(pegs: int, colors: int, *, repeats: bool) -> Board:
    """Return the board, or raise `ModelFileError` if there is no such board."""
    try:
        return Board(pegs, colors, repeats=repeats)
    except InvalidArgumentError as error:
        raise ModelFileError(str(error), error.value) from error


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
def tree_to_svg(tree: StrategyTree, *, width: int = 1200) -> str:
    """Draw a tree, as SVG text.

    The title of a box, which browsers show, contains the guess, the reply before it and the
    number of codes left.

    Parameters
    ----------
    tree
        The tree.
    width
        The width in pixels.
    """
    board, reports = tree.board, tree.channel.reports

    def box(node: TreeNode, reply: str) -> TreeBox:
        text = "" if node.guess is None else board.format_index(node.guess)
        names = [
            str(reports[outcome]) if outcome < len(reports) else "won"
            for outcome, _ in node.children
        ]
        pairs = zip(names, node.children, strict=True)
        return TreeBox(
            text=text,
            below=[(name, box(child, name)) for name, (_, child) in pairs],
            weight=node.weight,
            title=f"{reply} {text}: {counted(node.possible, 'code')}".strip(),
            is_drawn=not node.found,
            color="" if node.guess is not None else "#e8e8e8",
        )

    return tree_drawing(box(tree.root, ""), width=width)


class TreeFormat(NamedTuple):
    """A format of strategy trees: the functions that write and read a text."""

    to_text: Callable[[StrategyTree], str]
    """Return the text of a tree."""
    from_text: Callable[[str], StrategyTree] | None
    """Return the tree of a text; raise `ModelFileError` if the text is not in the format.

    None if the format is only written.
    """
    about: str
    """The format, in a few words."""


TREE_FORMATS: Mapping[str, TreeFormat] = MappingProxyType(
    {
        ".json": TreeFormat(tree_to_json, tree_from_json, "JSON"),
        ".txt": TreeFormat(tree_to_text, tree_from_text, "indented text"),
        ".dot": TreeFormat(tree_to_dot, None, "DOT, of Graphviz"),
    }
)
"""The format of each file suffix."""

TREE_SUFFIXES = tuple(TREE_FORMATS)
"""The suffixes of files to which a tree is written."""


@checked
def write_tree(tree: StrategyTree, path: Path | str) -> None:
    """Write a tree to a file, in the format of the file's suffix: .json, .txt or .dot.

    Parameters
    ----------
    tree
        The tree.
    path
        The file; its suffix chooses the format.

    Raises
    ------
    ModelFileError
        If no format has the suffix, or the file cannot be written. An existing file is then
        unchanged.
    InvalidArgumentError
        If the tree was built for noisy replies.
    """
    path = Path(path)
    text = _format(path).to_text(tree)
    write_file(path, text)


@checked
def read_tree(path: Path | str) -> StrategyTree:
    """Return the tree in a file, checked in full; its channel is exact.

    Parameters
    ----------
    path
        The file, .json or .txt; its suffix tells the format.

    Raises
    ------
    ModelFileError
        If no format that can be read has the suffix, the file cannot be read, or it holds no tree.
    """
    path = Path(path)
    from_text = _format(path).from_text
    if from_text is None:
        readable = ", ".join(suffix for suffix, form in TREE_FORMATS.items() if form.from_text)
        raise ModelFileError(
            f"expected a file that ends with {readable}, got {path}, which is only written", path
        )
    text = read_text(path, most=LARGE_FILE)
    try:
        return from_text(text)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}", error.value) from error


def _format(path: Path) -> TreeFormat:
    try:
        return TREE_FORMATS[path.suffix.lower()]
    except KeyError:
        raise ModelFileError(
            f"expected a file that ends with {', '.join(TREE_FORMATS)}, got {path}", path
        ) from None
