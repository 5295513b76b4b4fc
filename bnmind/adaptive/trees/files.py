"""Trees of items in files, and the registry of their formats.

To add a format, write a function from a tree to a text, and add one line to `ITEM_TREE_FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from bnmind._arguments import checked
from bnmind._files import LARGE_FILE, read_text, write_file
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.trees.item_tree import ItemTree
from bnmind.adaptive.trees.paper_html import tree_to_html
from bnmind.adaptive.trees.paper_markdown import tree_to_markdown
from bnmind.adaptive.trees.tree_boxes import tree_to_dot, tree_to_svg
from bnmind.adaptive.trees.tree_json import tree_from_json, tree_to_json
from bnmind.errors import ModelFileError

__all__ = ["ITEM_TREE_FORMATS", "ItemTreeFormat", "read_item_tree", "write_item_tree"]


class ItemTreeFormat(NamedTuple):
    """A format of trees of items."""

    to_text: Callable[[ItemTree], str]
    """Return the text of a tree."""
    about: str
    """The format, in a few words."""


ITEM_TREE_FORMATS: Mapping[str, ItemTreeFormat] = MappingProxyType(
    {
        ".json": ItemTreeFormat(tree_to_json, "JSON, which can be read again"),
        ".dot": ItemTreeFormat(tree_to_dot, "DOT, of Graphviz"),
        ".svg": ItemTreeFormat(tree_to_svg, "a drawing"),
        ".html": ItemTreeFormat(tree_to_html, "a paper test, to print"),
        ".md": ItemTreeFormat(tree_to_markdown, "a paper test, in Markdown"),
    }
)
"""The format of each file suffix."""


@checked
def write_item_tree(tree: ItemTree, path: Path | str) -> None:
    """Write a tree to a file, in the format of the file's suffix; see `ITEM_TREE_FORMATS`.

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
    """
    place = Path(path)
    known = ITEM_TREE_FORMATS.get(place.suffix.lower())
    if known is None:
        raise ModelFileError(
            f"expected a file that ends with {', '.join(ITEM_TREE_FORMATS)}, got {place}",
            str(place),
        )
    write_file(place, known.to_text(tree))


@checked
def read_item_tree(path: Path | str, bank: ItemBank) -> ItemTree:
    """Return the tree in a JSON file, with the probabilities of a bank.

    Parameters
    ----------
    path
        The file.
    bank
        The item bank, which has the items of the tree.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or holds no tree that fits the bank.
    """
    place = Path(path)
    text = read_text(place, most=LARGE_FILE)
    try:
        return tree_from_json(text, bank)
    except ModelFileError as error:
        raise ModelFileError(f"{place}: {error}", error.value) from error
