"""Trees of myopic strategies under true replies, grown by compiled code.

At the first and the second guess, symmetry leaves few guesses to evaluate (`guess_classes`). At
later guesses, the kernel recognizes equivalent guesses itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._jit import njit
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.symmetry import guess_classes
from bnmind.strategies.best_guess import (
    MOST_COLORS,
    MOST_PEGS,
    BoardArrays,
    RuleArrays,
    best_guess,
    board_arrays,
    pair_of,
)
from bnmind.strategies.players import Among, Knuth, Myopic
from bnmind.strategies.scores import WorstCase
from bnmind.strategies.strategy import Strategy

# --- Growing the tree of a myopic rule from a set of codes, compiled ------------------------------


SLICE = 50_000_000
"""Pairs of guess and code in one call of compiled code: a tenth of a second."""

_N_NODES, _HEIGHT, _SETTLED = 0, 1, 2  # places in `Growth.counts`


class Growth(NamedTuple):
    """A growing tree: its nodes, and those that the kernel has not visited yet."""

    parents: NDArray[np.int32]
    """``(nodes,)`` the parent of each node, −1 for the first."""
    possible: NDArray[np.int32]
    """The number of possible codes."""
    guesses: NDArray[np.int32]
    """The guess, −1 at a leaf."""
    replies: NDArray[np.int32]
    """The index of the reply that led to it."""
    starts: NDArray[np.int32]
    """Where its codes begin in the order of all codes."""
    turns: NDArray[np.int32]
    """The number of guesses made before."""
    frees: NDArray[np.uint64]
    """The colors that can be renamed into each other, as bits."""
    stack: NDArray[np.int32]
    """The nodes that the kernel has not visited yet."""
    counts: NDArray[np.int64]
    """The number of nodes, of nodes on the stack, and of codes whose leaves are reached."""


class Root(NamedTuple):
    """The position that a tree grows from, beside the possible codes."""

    turn: int
    """The number of guesses made before."""
    free: np.uint64
    """The colors that can be renamed into each other, as bits."""
    candidates: NDArray[np.int32]
    """The guesses among which the first one is chosen; all if empty."""
    forced: int = -1
    """The first guess, or −1 to choose it."""


def grow(
    board: BoardArrays,
    rule: RuleArrays,
    order: NDArray[np.int32],
    root: Root,
    *,
    deepest: int,
    tell: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the tree of a rule from a position on, node by node, parents before children.

    Parameters
    ----------
    board, rule
        As for `best_guess`.
    order
        The possible codes, ascending; the function sorts them by classes, leaf by leaf.
    root
        The position.
    deepest
        The tree is cut off after this number of guesses in all.
    tell
        Called from time to time with the number of codes whose leaves are reached.

    Returns
    -------
    tuple
        For each node: its parent, −1 for the first; the number of possible codes; its guess,
        −1 at a leaf; the index of the reply that led to it.
    """
    room = 2 * order.size
    nodes, frees = np.full((7, room), -1, dtype=np.int32), np.zeros(room, dtype=np.uint64)
    parents, possible, guesses, replies, starts, turns, stack = nodes
    counts = np.array([1, 1, 0], dtype=np.int64)
    growth = Growth(parents, possible, guesses, replies, starts, turns, frees, stack, counts)
    replies[0] = starts[0] = stack[0] = 0
    possible[0], turns[0], frees[0] = order.size, root.turn, root.free
    while counts[_HEIGHT]:
        _grow_on(board, rule, growth, order, deepest, root.candidates, root.forced, SLICE)
        if tell is not None:
            tell(int(counts[_SETTLED]))
    n = int(counts[_N_NODES])
    return parents[:n], possible[:n], guesses[:n], replies[:n]


@njit
def _grow_on(
    board: BoardArrays,
    rule: RuleArrays,
    growth: Growth,
    order: NDArray[np.int32],
    deepest: int,
    candidates: NDArray[np.int32],
    forced: int,
    most: int,
) -> None:
    """Grow a tree until it is complete, or for about ``most`` pairs of guess and code."""
    n_all = board.digits.shape[0]
    parents, possible, guesses = growth.parents, growth.possible, growth.guesses
    replies, starts, turns, frees = growth.replies, growth.starts, growth.turns, growth.frees
    stack, counts = growth.stack, growth.counts
    is_possible = np.zeros(n_all, dtype=np.uint8)
    every = np.zeros(0, dtype=np.int32)
    n_pairs = board.pairs.size
    places = np.zeros(order.size, dtype=np.uint8)
    sorted_codes = np.zeros(order.size, dtype=np.int32)
    bounds = np.zeros(n_pairs + 1, dtype=np.int64)
    n_nodes, height, looked_at = counts[_N_NODES], counts[_HEIGHT], 0
    while height and looked_at <= most:
        height -= 1
        node = stack[height]
        n, start = possible[node], starts[node]
        if n == 1 or turns[node] >= deepest:
            counts[_SETTLED] += n
            continue
        codes = order[start : start + n]
        guess = forced if node == 0 else -1
        if guess < 0:
            for code in codes:
                is_possible[code] = 1
            listed = candidates if node == 0 else every
            looked_at += n * (listed.size if listed.size else n_all)
            guess, _ = best_guess(board, rule, turns[node], codes, is_possible, frees[node], listed)
            for code in codes:
                is_possible[code] = 0
            if guess < 0:  # no guess is informative
                counts[_SETTLED] += n
                continue
        guesses[node] = guess
        bounds[:] = 0
        for c in range(n):
            places[c] = board.place_of_pair[pair_of(board, guess, codes[c])]
            bounds[places[c] + 1] += 1
        for j in range(n_pairs):
            bounds[j + 1] += bounds[j]
        first = n_nodes
        for j in range(n_pairs):
            size = bounds[j + 1] - bounds[j]
            if size:
                parents[n_nodes], possible[n_nodes] = node, size
                replies[n_nodes], starts[n_nodes] = j, start + bounds[j]
                turns[n_nodes] = turns[node] + 1
                frees[n_nodes] = frees[node] & ~board.colors_of[guess]
                n_nodes += 1
        for c in range(n):
            sorted_codes[bounds[places[c]]] = codes[c]
            bounds[places[c]] += 1
        codes[:] = sorted_codes[:n]
        for child in range(n_nodes - 1, first - 1, -1):
            stack[height] = child
            height += 1
    counts[_N_NODES], counts[_HEIGHT] = n_nodes, height


# --- Trees of myopic strategies under true replies, grown by compiled code ------------------------


MAX_TREE_CODES = 2**17
"""The largest number of codes of a board for a tree: 6x7 has 117,649."""

Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class GrownTree:
    """A tree as arrays: parents before children, and children in the order of replies."""

    parents: Nodes
    """The parent of each node, −1 for the root."""
    possible: Nodes
    """The number of possible codes of each node."""
    guesses: Nodes
    """The next guess, −1 at a leaf."""
    replies: Nodes
    """The index in ``board.true_replies`` of the reply to each node; 0 for the root."""
    winning: int
    """The index of the winning reply."""

    @property
    def total(self) -> int:
        """The number of guesses to find each code once; the tree must not be cut off."""
        is_inner = self.guesses >= 0
        # A node makes its guess once for each possible code. A code that is known but not yet
        # guessed needs one more guess.
        unfound = ~is_inner & (self.replies != self.winning)
        return int(self.possible[is_inner].sum() + np.count_nonzero(unfound))


def myopic_rule(strategy: Strategy) -> Myopic | None:
    """Return the `Myopic` equivalent of a strategy, or None if there is none.

    Parameters
    ----------
    strategy
        The strategy.
    """
    # Subclasses may choose other guesses.
    if type(strategy) is Knuth:
        return Myopic(WorstCase(), name=strategy.name)
    return strategy if type(strategy) is Myopic else None


@checked_if_it_fails
def is_growable(board: Board) -> bool:
    """Return whether compiled code can grow trees of the board.

    Parameters
    ----------
    board
        The board.
    """
    return (
        board.n_codes <= MAX_TREE_CODES and board.pegs <= MOST_PEGS and board.colors <= MOST_COLORS
    )


@checked_if_it_fails
def grow_exactly(
    strategy: Myopic,
    board: Board,
    *,
    max_guesses: int,
    progress: Callable[[int, int], None] | None = None,
) -> GrownTree:
    """Return the tree of a deterministic myopic strategy under true replies.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    max_guesses
        The tree is cut off after this number of guesses.
    progress
        Called from time to time with the number of codes identified so far and the total number
        of codes.

    Raises
    ------
    InvalidArgumentError
        If the score lacks terms for some class sizes or weights for some replies.
    TooLargeError
        If the board is not `is_growable`.
    """
    if not is_growable(board):
        raise TooLargeError(
            f"expected a board of at most {MAX_TREE_CODES:,} codes, {MOST_PEGS} pegs and "
            f"{MOST_COLORS} colors, got {board} with {board.n_codes:,} codes",
            needed=board.n_codes,
            budget=MAX_TREE_CODES,
        )
    arrays, rule = board_arrays(board), _rule_arrays(strategy, board)
    # Uninformative guesses are never made, so the depth is at most the number of codes.
    max_guesses = min(max_guesses, board.n_codes)
    winning = len(board.true_replies) - 1
    every = np.arange(board.n_codes, dtype=np.int32)
    if board.n_codes == 1 or max_guesses == 0:
        alone = [np.array([x], dtype=np.int32) for x in (-1, board.n_codes, -1, 0)]
        return GrownTree(
            parents=alone[0], possible=alone[1], guesses=alone[2], replies=alone[3], winning=winning
        )
    opening = strategy.first_guess(board)
    if opening is None:
        possible = np.ones(board.n_codes, dtype=np.uint8)
        first, _ = best_guess(
            arrays, rule, 0, every, possible, arrays.all_colors, smallest_guesses(board, ())
        )
    else:
        first = board.index(opening)
    second = smallest_guesses(board, (board.code(first),))
    # First the root alone, then the subtree after each reply.
    free = arrays.all_colors & ~arrays.colors_of[first]
    start, grown = 0, 1

    def settled(codes: int) -> None:
        if progress is not None and codes:
            progress(start + codes, board.n_codes)

    parts = [grow(arrays, rule, every, Root(0, arrays.all_colors, second, forced=first), deepest=1)]
    for reply, size in zip(parts[0][3][1:].tolist(), parts[0][1][1:].tolist(), strict=True):
        codes = every[start : start + size].copy()
        root = Root(1, free, second)
        parents, possible_, guesses, replies = grow(
            arrays, rule, codes, root, deepest=max_guesses, tell=settled
        )
        start += size
        parents = np.where(parents < 0, 0, parents + grown).astype(np.int32)
        replies[0] = reply
        parts.append((parents, possible_, guesses, replies))
        grown += len(parents)
    first_node = [column[:1] for column in parts[0]]
    columns = [np.concatenate([first_node[i], *(part[i] for part in parts[1:])]) for i in range(4)]
    return GrownTree(
        parents=columns[0],
        possible=columns[1],
        guesses=columns[2],
        replies=columns[3],
        winning=winning,
    )


def _rule_arrays(strategy: Myopic, board: Board) -> RuleArrays:
    terms = strategy.score.terms(board, board.n_codes)
    n_replies, problems = len(board.true_replies), []
    for name, sizes in (("sizes", terms.sizes), ("per_code", terms.shares)):
        if sizes.shape != (board.n_codes + 1,):
            problems.append(
                f"expected {name} for 0 to {board.n_codes:,} codes, got shape {sizes.shape}"
            )
    if terms.weights.shape[1] != n_replies:
        problems.append(f"expected {n_replies} weights, got {terms.weights.shape[1]}")
    if problems:
        raise InvalidArgumentError(f"the score of {strategy.name}: {'; '.join(problems)}", terms)
    n = board.pegs + 1
    weights = np.zeros((len(terms.weights), n * n), dtype=np.int64)
    for place, (black, white) in enumerate(board.true_replies):
        weights[:, (black + white) * n + black] = terms.weights[:, place]
    return RuleArrays(
        terms.sizes,
        weights,
        terms.winning,
        terms.combination.value,
        terms.shares,
        not terms.shares.any(),
        strategy.among is Among.POSSIBLE,
    )


@lru_cache(maxsize=32)
def smallest_guesses(board: Board, guesses: tuple[tuple[int, ...], ...]) -> Nodes:
    """Return the smallest guess of each class; an empty array, for all, if that takes too long.

    Parameters
    ----------
    board
        The board.
    guesses
        The classes of guesses, each as a tuple of indices of codes.
    """
    try:
        smallest = guess_classes(board, guesses).representatives.astype(np.int32)
    except TooLargeError:
        smallest = np.zeros(0, dtype=np.int32)
    smallest.setflags(write=False)
    return smallest
