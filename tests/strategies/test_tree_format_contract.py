"""Every format of strategy trees keeps the contract of `bnmind.testing`; wrong ones break it."""

from __future__ import annotations

import pytest

from bnmind.errors import ContractError
from bnmind.mastermind import Board, Channel
from bnmind.strategies import (
    TREE_FORMATS,
    StrategyTree,
    TreeFormat,
    build_tree,
    strategy_by_name,
    tree_from_json,
    tree_to_json,
)
from bnmind.testing import check_tree_format

EXACT = Channel.exact(Board(3, 3))


def a_tree() -> StrategyTree:
    """Return a tree."""
    return build_tree(strategy_by_name("knuth"), EXACT.revealed())


@pytest.mark.parametrize("suffix", TREE_FORMATS)
def test_a_registered_format_keeps_the_contract(suffix: str) -> None:
    check_tree_format(suffix)


def test_the_registry_is_read_only() -> None:
    assert not hasattr(TREE_FORMATS, "__setitem__")


def _first_tree(text: str) -> StrategyTree:
    tree_from_json(text)
    return a_tree()


def _raw_errors(text: str) -> StrategyTree:
    if "bnmind" not in text:
        raise ValueError("no tree")
    return tree_from_json(text)


def _other_guess(text: str) -> StrategyTree:
    """Return the tree of a text, but that of another board if the board is without repeats."""
    tree = tree_from_json(text)
    return tree if tree.board.repeats else a_tree()


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (TreeFormat(tree_to_json, _first_tree, "always the same tree"), "read is the same"),
        (TreeFormat(tree_to_json, _other_guess, "loses a board"), "read is the same"),
        (TreeFormat(tree_to_json, _raw_errors, "an error of another kind"), "ModelFileError"),
        (TreeFormat(lambda tree: tree_to_json(tree)[:-2], tree_from_json, "cut"), "what it writes"),
        (TreeFormat(tree_to_json, tree_from_json, ""), "in a line what it is"),
    ],
    ids=lambda wrong: getattr(wrong, "about", ""),
)
def test_the_contract_rejects_a_wrong_format(wrong: TreeFormat, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_tree_format(wrong)
