"""Outlines of strategy trees: the content of every file format.

==============  ==========================================================
an entry        its node
==============  ==========================================================
``1122``        the next guess; further entries follow
``= 6644``      only this code is left, and it is not yet guessed
``=``           the previous guess has found the code
``? 17``        the tree is cut off here, and 17 codes are left
==============  ==========================================================

Outlines describe trees of true replies. Reading an outline checks it completely, so the resulting
tree can be played.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import shown
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.code_halves import place_of_reply
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["Outline", "outline_of", "places_of_outcomes", "replies_among", "tree_of"]

_MOST_CODES = 2**20
_DEEPEST = 300


@dataclass(frozen=True)
class Outline:
    """An entry of the outline, with the entries below it."""

    text: str
    """The text, as in the table of this module."""
    below: Mapping[str, Outline] = field(default_factory=dict)
    """The entry after each reply, such as ``1b2w``."""


def outline_of(tree: StrategyTree) -> Outline:
    """Return the outline of a tree.

    Raises
    ------
    InvalidArgumentError
        If the tree was built for noisy replies.
    """
    board, places = tree.board, places_of_outcomes(tree)

    def entry(node: TreeNode, codes: NDArray[np.intp]) -> Outline:
        if node.guess is None:
            if node.found:
                return Outline("=")
            if node.possible == 1:
                return Outline(f"= {board.code_text(int(codes[0]))}")
            return Outline(f"? {node.possible}")
        replies = replies_among(board, node.guess, codes)
        below: dict[str, Outline] = {}
        for outcome, child in node.children:
            place = places[outcome]
            below[str(board.true_replies[place])] = entry(child, codes[replies == place])
        return Outline(board.code_text(node.guess), below)

    return entry(tree.root, np.arange(board.n_codes))


def tree_of(board: Board, outline: Outline) -> StrategyTree:
    """Return the tree of an outline.

    The function checks every entry: guesses are codes of the board, each possible reply has an
    entry and no other reply does, and the codes left are right.

    Raises
    ------
    ModelFileError
        If the outline is not a tree of the board; the message names the guesses and replies
        before the faulty entry.
    """
    if board.n_codes > _MOST_CODES:
        raise ModelFileError(
            f"expected a tree of at most {_MOST_CODES:,} codes, got one of the board {board}", board
        )
    channel = Channel.exact(board)
    names = [str(reply) for reply in board.true_replies]

    def node(entry: Outline, codes: NDArray[np.intp], before: tuple[str, ...]) -> TreeNode:
        n = len(codes)
        where = f"after {', '.join(before)}" if before else "at the root"
        if len(before) > _DEEPEST:
            raise ModelFileError(f"expected at most {_DEEPEST} guesses, got more {where}", entry)
        mark = entry.text.partition(" ")[0]
        if mark in ("=", "?"):
            if entry.below:
                raise ModelFileError(
                    f"expected nothing below {shown(entry.text)} {where}", entry.text
                )
            expected = _leaf(board, codes, before, is_cut=mark == "?")
            if expected != entry.text:
                raise ModelFileError(
                    f"expected {shown(expected)} {where}, got {shown(entry.text)}", entry.text
                )
            return TreeNode(
                weight=float(n),
                entropy=math.log2(n),
                possible=n,
                found=expected == "=",
                guess=None,
                children=(),
            )
        try:
            guess = board.index(board.parse(entry.text))
        except BnmindError as error:
            raise ModelFileError(f"{where}: {error}", entry.text) from error
        if n == 1:
            expected = _leaf(board, codes, before, is_cut=False)
            raise ModelFileError(
                f"expected {shown(expected)} {where}, got {shown(entry.text)}", entry.text
            )
        replies = replies_among(board, guess, codes)
        present = [int(place) for place in np.unique(replies)]
        possible = [names[place] for place in present]
        if set(possible) != set(entry.below):
            missing = [name for name in possible if name not in entry.below]
            unexpected = [name for name in entry.below if name not in possible]
            raise ModelFileError(
                f"expected an entry for each possible reply to {_short(entry.text)} {where}, got "
                f"{', '.join(f'none for {name}' for name in missing[:3])}"
                f"{', ' if missing and unexpected else ''}"
                f"{', '.join(f'one for {_short(name)}' for name in unexpected[:3])}",
                entry.text,
            )
        children = tuple(
            (place, node(entry.below[name], codes[replies == place], (*before, _turn(entry, name))))
            for place, name in zip(present, possible, strict=True)
        )
        return TreeNode(
            weight=float(n),
            entropy=math.log2(n),
            possible=n,
            found=False,
            guess=guess,
            children=children,
        )

    return StrategyTree(channel, node(outline, np.arange(board.n_codes), ()))


def replies_among(board: Board, guess: int, codes: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the true reply of some codes to a guess, as indices into ``board.true_replies``.

    Parameters
    ----------
    board
        The board.
    guess
        The index of a code.
    codes
        Indices of codes.
    """
    colors = board.code(guess)
    digits = digits_of(board, codes)
    black = (digits == np.array(colors, dtype=np.uint8)).sum(axis=1)
    both = np.zeros(len(codes), dtype=np.intp)
    for color in set(colors):
        both += np.minimum((digits == color).sum(axis=1), colors.count(color))
    replies: NDArray[np.uint8] = place_of_reply(board)[both * (board.pegs + 1) + black]
    return replies


def places_of_outcomes(tree: StrategyTree) -> dict[int, int]:
    """Return the true reply of each outcome, as an index into ``board.true_replies``.

    Raises
    ------
    InvalidArgumentError
        If the tree was built for noisy replies.
    """
    channel = tree.channel
    if not channel.is_exact:
        raise InvalidArgumentError(
            f"expected a tree of truthful replies, got one of {channel.name}", channel
        )
    return {int(outcome): place for place, outcome in enumerate(channel.matrix.argmax(axis=1))}


def _leaf(board: Board, codes: NDArray[np.intp], before: tuple[str, ...], *, is_cut: bool) -> str:
    """Return the expected text of a leaf."""
    if is_cut and len(codes) > 1:
        return f"? {len(codes)}"
    if len(codes) > 1:
        return "a guess"
    if before and before[-1].endswith(f" {board.winning}"):
        return "="
    return f"= {board.code_text(int(codes[0]))}"


def _short(text: str) -> str:
    return text if len(text) < 1000 else shown(text)


def _turn(entry: Outline, reply: str) -> str:
    return f"{entry.text} {reply}"
