"""Strategy trees in files, and the registry of their formats.

Every format holds the same outline (`bnmind.strategies.trees.shape`) below a title with the board
and the version of the format. To add a format, write it in a module of its own and add one line
to `TREE_FORMATS`. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from bnmind._arguments import checked
from bnmind._files import LARGE_FILE, read_text, write_file
from bnmind.errors import ModelFileError
from bnmind.strategies.trees.tree import StrategyTree
from bnmind.strategies.trees.tree_dot import tree_from_dot, tree_to_dot
from bnmind.strategies.trees.tree_json import tree_from_json, tree_to_json
from bnmind.strategies.trees.tree_text import tree_from_text, tree_to_text

__all__ = ["TREE_FORMATS", "TREE_SUFFIXES", "TreeFormat", "read_tree", "write_tree"]


class TreeFormat(NamedTuple):
    """A format of strategy trees: the functions that write and read a text."""

    to_text: Callable[[StrategyTree], str]
    """Return the text of a tree."""
    from_text: Callable[[str], StrategyTree]
    """Return the tree of a text; raise `ModelFileError` if the text is not in the format."""
    about: str
    """The format, in a few words."""


TREE_FORMATS: Mapping[str, TreeFormat] = MappingProxyType(
    {
        ".json": TreeFormat(tree_to_json, tree_from_json, "JSON"),
        ".txt": TreeFormat(tree_to_text, tree_from_text, "indented text"),
        ".dot": TreeFormat(tree_to_dot, tree_from_dot, "DOT, of Graphviz"),
    }
)
"""The format of each file suffix."""

TREE_SUFFIXES = tuple(TREE_FORMATS)
"""The suffixes of files that hold a tree."""


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
        If no format has the suffix.
    FileWriteError
        If the file cannot be written. An existing file is then unchanged.
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
        The file; its suffix tells the format.

    Raises
    ------
    ModelFileError
        If no format has the suffix, the file cannot be read, or it holds no tree.
    """
    path = Path(path)
    from_text = _format(path).from_text
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
