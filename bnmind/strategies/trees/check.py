"""Walks through strategy trees: the game of one secret, and a check of every node."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import InvalidModelError
from bnmind.information import Floats, unchecked_entropy
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import reply
from bnmind.strategies.trees.shape import places_of_outcomes, replies_among
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["check_tree", "walk_tree"]

_MOST_PROBLEMS = 12


@checked_if_it_fails
def walk_tree(tree: StrategyTree, secret: Sequence[int]) -> tuple[Turn, ...]:
    """Return the turns of a game against a secret, under true replies.

    The last turn guesses the secret, unless the tree is cut off earlier.

    Parameters
    ----------
    tree
        The tree.
    secret
        The code that is sought, colors 1..k.

    Raises
    ------
    InvalidArgumentError
        If the secret is not a code of the board.
        If the tree was built for noisy replies.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth, build_tree
    >>> tree = build_tree(Knuth(), Channel.exact(Board(2, 3)))
    >>> [(turn.guess, str(turn.reply)) for turn in walk_tree(tree, (3, 1))]
    [((1, 1), '1b0w'), ((1, 2), '0b1w'), ((3, 1), '2b0w')]
    """
    board = tree.board
    board.index(secret)
    outcomes = {place: outcome for outcome, place in places_of_outcomes(tree).items()}
    code, turns, node = tuple(secret), [], tree.root
    while node.guess is not None:
        guess = board.code(node.guess)
        answer = reply(guess, code)
        turns.append(Turn(guess, answer))
        node = dict(node.children)[outcomes[board.true_replies.index(answer)]]
    if node.possible == 1 and not node.found:
        turns.append(Turn(code, board.winning))
    return tuple(turns)


@checked_if_it_fails
def check_tree(tree: StrategyTree) -> None:
    """Raise unless a tree is consistent with its guesses.

    The function visits every node with the codes that lead there. It checks that each possible
    outcome has a node and no other outcome does, and that weights, entropies and numbers of codes
    are right. Every code then reaches its leaf.

    Parameters
    ----------
    tree
        The tree.

    Raises
    ------
    InvalidModelError
        If the tree is wrong; the error lists up to twelve faults, one sentence each.
    """
    problems: list[str] = []
    board, channel = tree.board, tree.channel

    def check(node: TreeNode, codes: NDArray[np.intp], weights: Floats, path: str) -> None:
        if len(problems) >= _MOST_PROBLEMS:
            return
        where = path or "the root"
        weight = float(weights.sum())
        if not math.isclose(node.weight, weight, rel_tol=1e-9):
            problems.append(f"expected weight {weight} at {where}, got {node.weight}")
        if node.possible != len(codes):
            problems.append(f"expected {len(codes)} codes at {where}, got {node.possible}")
        expected_entropy = float(unchecked_entropy(weights / weight))
        if not math.isclose(node.entropy, expected_entropy, rel_tol=1e-9, abs_tol=1e-9):
            problems.append(f"expected entropy {expected_entropy} at {where}, got {node.entropy}")
        if node.guess is None:
            if node.children:
                problems.append(f"expected nothing below the leaf at {where}")
            return
        if node.found:
            problems.append(f"expected no guess once the code is found, got one at {where}")
        if not 0 <= node.guess < board.n_codes:
            problems.append(f"expected a guess of the board {board}, got {node.guess} at {where}")
            return
        replies = replies_among(board, node.guess, codes)
        after = weights * channel.matrix[replies].T
        expected = np.flatnonzero((after > 0).any(axis=1)).tolist()
        outcomes = [outcome for outcome, _ in node.children]
        if outcomes != expected:
            problems.append(f"expected nodes for outcomes {expected} at {where}, got {outcomes}")
            return
        guess = board.code_text(node.guess)
        for outcome, child in node.children:
            possible = after[outcome] > 0
            remaining = codes[possible]
            is_found = len(remaining) == 1 and int(remaining[0]) == node.guess
            step = f"{path}, {guess} {outcome}" if path else f"{guess} {outcome}"
            if child.found != is_found:
                problems.append(f"expected found to be {is_found} at {step}, got {child.found}")
            check(child, remaining, after[outcome][possible], step)

    every = np.arange(board.n_codes)
    check(tree.root, every, np.ones(len(every)), "")
    if problems:
        raise InvalidModelError(problems[:_MOST_PROBLEMS])
