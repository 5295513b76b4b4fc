"""The promises of formats of strategy trees: what is written is read again."""

from __future__ import annotations

from functools import cache

from bnmind._arguments import checked
from bnmind.errors import ModelFileError
from bnmind.mastermind import Board, Channel
from bnmind.strategies import (
    TREE_FORMATS,
    StrategyTree,
    build_tree,
    check_tree,
    strategy_by_name,
    tree_to_json,
)
from bnmind.strategies.trees import TreeFormat
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family

__all__ = ["check_tree_format"]

_FAMILY = Family(
    "format of trees",
    room="bnmind.strategies",
    registry=TREE_FORMATS,
    commands=("strategy",),
    suffixes=True,
)
_OTHER = ("", "{}", "no tree", "# bnmind strategy tree 9, board 4x6", "digraph { a -> b }")


@checked
def check_tree_format(form: TreeFormat | str) -> None:
    """Check that a format of strategy trees keeps the promises of such formats.

    It says in a line what it is. A tree that is written and read is the same tree, and is written
    as the same text again. A text that is cut, or is something else, is refused by a
    `ModelFileError`.

    Parameters
    ----------
    form
        The format, or the suffix of a registered one, such as ``".json"``.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no format has the suffix.

    Examples
    --------
    >>> check_tree_format(".dot")
    """
    if isinstance(form, str):
        _FAMILY.check_name(form)
        form = TREE_FORMATS[form]
    promises = Promises("format of trees", form)
    promises.about()
    promises.has("to_text", "from_text")
    for about, tree in _trees().items():
        with promises.no_error("it writes every tree", about):
            text = form.to_text(tree)
            promises.keep(form.to_text(tree) == text, "it writes the same text each time", about)
        with promises.no_error("it reads what it writes", about):
            again = form.from_text(text)
            check_tree(again)
        promises.keep(
            tree_to_json(again) == tree_to_json(tree), "a tree that is read is the same", about
        )
        promises.keep(form.to_text(again) == text, "it is written as the same text again", about)
        _check_refusal(promises, form, text[: len(text) // 2], f"the first half of {about}")
    for text in _OTHER:
        _check_refusal(promises, form, text, repr(text))


def _check_refusal(promises: Promises, form: TreeFormat, text: str, about: str) -> None:
    promises.refuse(
        lambda: form.from_text(text),
        "it refuses a text that is no tree by a ModelFileError",
        about,
        kinds=ModelFileError,
    )


@cache
def _trees() -> dict[str, StrategyTree]:
    """Return trees of several kinds, built when they are needed, which compiles kernels."""
    exact, other = Channel.exact(Board(3, 3)), Channel.exact(Board(2, 3, repeats=False))
    return {
        "a tree of knuth": build_tree(strategy_by_name("knuth"), exact.revealed()),
        "a tree of irving": build_tree(strategy_by_name("irving"), exact),
        "a tree cut after a guess": build_tree(strategy_by_name("kooi"), exact, max_guesses=1),
        "a tree without repeats": build_tree(strategy_by_name("irving"), other.revealed()),
    }
