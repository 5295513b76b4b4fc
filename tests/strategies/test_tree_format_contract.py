"""The contract that every format of strategy trees keeps, and wrong formats that break it."""

from __future__ import annotations

from functools import cache

import pytest

from bnmind.errors import ModelFileError
from bnmind.mastermind import Board, Channel
from bnmind.strategies import (
    TREE_FORMATS,
    StrategyTree,
    build_tree,
    check_tree,
    strategy_by_name,
    tree_from_json,
    tree_to_json,
)
from bnmind.strategies.trees import TreeFormat
from tests.registries import rejected

EXACT = Channel.exact(Board(3, 3))
OTHER_TEXTS = ("", "{}", "no tree", "# bnmind strategy tree 9, board 4x6", "digraph { a -> b }")


@cache
def trees() -> tuple[StrategyTree, ...]:
    """Return trees of several kinds, built when they are needed, which compiles kernels."""
    return (
        build_tree(strategy_by_name("knuth"), EXACT.revealed()),
        build_tree(strategy_by_name("irving"), EXACT),
        build_tree(strategy_by_name("kooi"), EXACT, max_guesses=1),
    )


def check_format(suffix: str, way: TreeFormat) -> None:
    """Raise AssertionError unless a format of trees keeps the contract."""
    assert suffix == suffix.lower()
    assert suffix.startswith(".")
    assert way.about
    for tree in trees():
        text = way.to_text(tree)
        again = way.from_text(text)
        check_tree(again)
        assert way.to_text(again) == text
        assert tree_to_json(again) == tree_to_json(tree)
        with pytest.raises(ModelFileError):
            way.from_text(text[: len(text) // 2])
    for text in OTHER_TEXTS:
        with pytest.raises(ModelFileError):
            way.from_text(text)


@pytest.mark.parametrize("suffix", TREE_FORMATS)
def test_a_registered_format_keeps_the_contract(suffix: str) -> None:
    check_format(suffix, TREE_FORMATS[suffix])


def test_the_registry_is_read_only() -> None:
    assert not hasattr(TREE_FORMATS, "__setitem__")


def _first_tree(text: str) -> StrategyTree:
    tree_from_json(text)
    return trees()[0]


def _raw_errors(text: str) -> StrategyTree:
    if "bnmind" not in text:
        raise ValueError("no tree")
    return tree_from_json(text)


@pytest.mark.parametrize(
    "wrong",
    [
        TreeFormat(tree_to_json, _first_tree, "always the same tree"),
        TreeFormat(tree_to_json, _raw_errors, "an error of another kind"),
        TreeFormat(lambda tree: tree_to_json(tree)[:-2], tree_from_json, "cut"),
        TreeFormat(tree_to_json, tree_from_json, ""),
    ],
    ids=lambda wrong: wrong.about,
)
def test_the_contract_rejects_a_wrong_format(wrong: TreeFormat) -> None:
    assert not rejected(lambda: check_format(".json", TREE_FORMATS[".json"]))
    assert rejected(lambda: check_format(".json", wrong))
