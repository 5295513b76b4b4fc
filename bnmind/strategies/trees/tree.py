"""Strategies as trees: all possible games of a strategy.

==========  ================================================================
Vomlel      name here
==========  ================================================================
n           `TreeNode`; its evidence is the path from the root
e_n         the guesses and outcomes on the path
Q(e_n)      ``weight / n_codes``, the probability of reaching the node
t(e_n)      ``guess``
H(·|e_n)    ``entropy``, of the code given the evidence, in bits
ℓ(n)        the number of nodes on the path from the root, both ends included
EL          ``lengths.paper_EL``
EH          ``expected_entropy``
==========  ================================================================

As in the paper, a node is terminal if the code is known, H = 0, whether or not it has been guessed.
If the code is known but not guessed, revealing it takes one more guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import table_html
from bnmind._messages import many
from bnmind._values import Value, made
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats, unchecked_entropy
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.trees.myopic_tree import (
    MAX_TREE_CODES,
    GrownTree,
    grow_exactly,
    is_growable,
    myopic_rule,
)

__all__ = ["Lengths", "Path", "StrategyTree", "TreeNode", "build_tree", "grow_tree"]

Path = tuple[tuple[int, int], ...]
"""The evidence of a node: guesses, as indices of codes, and outcomes of the channel."""

_DEEPEST = 200  # only a strategy that repeats its guesses takes more


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeNode(Value):
    """A state of the game and the next guess."""

    weight: float
    """The probability of reaching the node, times the number of codes of the board.

    Under true replies this is the number of possible codes.
    """
    entropy: float
    """The entropy of the code, in bits."""
    possible: int
    """The number of codes of positive probability."""
    found: bool
    """Whether the previous guess has found the code."""
    guess: int | None
    """The next guess, an index into ``board.codes``; None at a leaf."""
    children: tuple[tuple[int, TreeNode], ...]
    """The node after each outcome of the channel that has positive probability."""


@dataclass(frozen=True)
class Lengths:
    """The mean lengths of the games of a strategy."""

    revealing: float
    """Guesses up to and including the code itself."""
    determining: float
    """Guesses until only one code is left."""
    paper_EL: float  # noqa: N815 - the paper's name
    """Nodes on the path to the leaf where only one code is left: one more than the guesses."""


@dataclass(frozen=True, eq=False)
class StrategyTree:
    """A strategy, as the tree of all its possible games."""

    channel: Channel
    """The channel that reports the replies."""
    root: TreeNode
    """The start of the game."""

    def __repr__(self) -> str:
        guess = self.root.guess
        first = "no guess" if guess is None else f"first guess {self.board.code_text(guess)}"
        return f"StrategyTree({self.board}, {self.channel.name}, {first})"

    def _repr_html_(self) -> str:
        """Return the size of the tree as an HTML table, which notebooks display."""
        sizes = [("levels", self.depth), ("expected entropy at the leaves", self.expected_entropy)]
        if self.is_complete:
            sizes.append(("mean number of guesses", self.lengths.revealing))
        rows = [(name, f"{number:.6g}") for name, number in sizes]
        return table_html((), rows, caption=repr(self))

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    def leaves(self) -> Iterator[tuple[int, TreeNode]]:
        """Yield each leaf with the number of guesses before it, in the order of outcomes."""
        stack = [(0, self.root)]
        while stack:
            guesses, node = stack.pop()
            if node.guess is None:
                yield guesses, node
            stack += [(guesses + 1, child) for _, child in reversed(node.children)]

    @cached_property
    def depth(self) -> int:
        """The number of nodes on a longest path from the root to a leaf."""
        return max(guesses for guesses, _ in self.leaves()) + 1

    @cached_property
    def expected_entropy(self) -> float:
        """The expected entropy of the code at the leaves, EH, in bits."""
        weighted = math.fsum(leaf.weight * leaf.entropy for _, leaf in self.leaves())
        return weighted / self.root.weight

    @property
    def is_complete(self) -> bool:
        """Whether the code is known at every leaf."""
        return all(leaf.possible == 1 for _, leaf in self.leaves())

    @cached_property
    def lengths(self) -> Lengths:
        """The mean lengths of the games.

        Raises
        ------
        InvalidArgumentError
            If the tree is not complete.
        """
        self._require_complete()
        total = self.root.weight
        determining = math.fsum(g * leaf.weight for g, leaf in self.leaves())
        still = math.fsum(leaf.weight for _, leaf in self.leaves() if not leaf.found)
        return Lengths(
            (determining + still) / total, determining / total, (determining + total) / total
        )

    @cached_property
    def distribution(self) -> tuple[float, ...]:
        """The number of codes found at each guess, starting with the first guess.

        Under noise this is the expected number: the probability times the number of codes.

        Raises
        ------
        InvalidArgumentError
            If the tree is not complete.
        """
        return self._counted(lambda guesses, leaf: guesses + (not leaf.found))

    @cached_property
    def determining_distribution(self) -> tuple[float, ...]:
        """The number of codes that are determined by each guess, starting with the first guess.

        This is the `distribution` of the game that ends when the code is known.

        Raises
        ------
        InvalidArgumentError
            If the tree is not complete.
        """
        return self._counted(lambda guesses, leaf: guesses)

    def _counted(self, length: Callable[[int, TreeNode], int]) -> tuple[float, ...]:
        """Return the weight of the leaves of each length from 1 on."""
        self._require_complete()
        weights: dict[int, list[float]] = {}
        for guesses, leaf in self.leaves():
            weights.setdefault(length(guesses, leaf), []).append(leaf.weight)
        return tuple(math.fsum(weights.get(guess, ())) for guess in range(1, max(weights) + 1))

    @cached_property
    def total(self) -> float:
        """The number of guesses to find each code once; under noise, the expected number.

        Raises
        ------
        InvalidArgumentError
            If the tree is not complete.
        """
        return math.fsum(guess * weight for guess, weight in enumerate(self.distribution, start=1))

    @property
    def mean(self) -> float:
        """The mean number of guesses to find the code; raises like `total`."""
        return self.total / self.root.weight

    @property
    def worst(self) -> int:
        """The largest number of guesses to find a code; raises like `total`."""
        return len(self.distribution)

    def won_within(self, guesses: int) -> float:
        """Return the probability of guessing the code within a number of guesses.

        At a leaf where the code is known, the next guess finds it; at any other leaf the game
        stops.

        Parameters
        ----------
        guesses
            The number of guesses, at least 0.
        """
        won = math.fsum(
            leaf.weight
            for before, leaf in self.leaves()
            if leaf.possible == 1 and before + (not leaf.found) <= guesses
        )
        return won / self.root.weight

    def _require_complete(self) -> None:
        if not self.is_complete:
            unknown = sum(leaf.weight for _, leaf in self.leaves() if leaf.possible > 1)
            raise InvalidArgumentError(
                "the tree is not complete: it stops before the code is known "
                f"with probability {unknown / self.root.weight:.3g}",
                self,
            )


@checked_if_it_fails
def build_tree(
    strategy: Strategy,
    channel: Channel,
    *,
    max_guesses: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StrategyTree:
    """Return the tree of a strategy. All codes are equally likely.

    Parameters
    ----------
    strategy
        A deterministic strategy.
    channel
        The channel that reports the replies and that the strategy assumes; in its `revealed`
        form if the game ends at the winning guess. Under the exact channel both forms give the
        same tree.
    max_guesses
        The tree is cut off after this number of guesses. Give a number if noise can leave the
        code unknown forever.
    progress
        Called from time to time with the number of codes identified so far and the total number
        of codes.

    Raises
    ------
    InvalidArgumentError
        If the strategy makes random choices, or the tree would not end.
    TooLargeError
        If the tree is not cut off and the board has more than `MAX_TREE_CODES` codes.

    Examples
    --------
    >>> from bnmind.strategies import Entropy
    >>> tree = build_tree(Entropy(), Channel.exact(Board(2, 3)))
    >>> tree.depth, tree.distribution, round(tree.lengths.revealing * 9)
    (3, (1.0, 4.0, 4.0), 21)
    """
    if not strategy.deterministic:
        raise InvalidArgumentError(
            f"expected a deterministic strategy, got {strategy.name}", strategy
        )
    rule = myopic_rule(strategy)
    if rule is not None and channel.is_exact and is_growable(channel.board):
        deepest = _DEEPEST if max_guesses is None else max_guesses
        grown = grow_exactly(rule, channel.board, max_guesses=deepest, progress=progress)
        tree = StrategyTree(channel, _linked(grown, channel))
        if max_guesses is None and not tree.is_complete:
            raise _too_long(deepest)
        return tree
    if max_guesses is None:
        _require_tree(channel.board)
    # The beliefs on the path to the current node.
    beliefs: list[Belief] = [strategy.start(channel)]
    unused = np.random.default_rng(0)

    def choose(path: Path) -> int:
        if path:
            del beliefs[len(path) :]
            guess, outcome = path[-1]
            beliefs.append(beliefs[-1].update(channel.board.code(guess), channel.reports[outcome]))
        return strategy.choose(beliefs[-1], unused)[0]

    return grow_tree(channel, choose, max_guesses=max_guesses, progress=progress)


@checked_if_it_fails
def grow_tree(
    channel: Channel,
    choose: Callable[[Path], int],
    *,
    max_guesses: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StrategyTree:
    """Return the tree of a function that chooses a guess for any evidence.

    Parameters
    ----------
    channel
        The channel that reports the replies.
    choose
        The function that returns the guess for the path to a node. It is called once for each
        node where the code is not known, depth first and parents before children.
    max_guesses
        The tree is cut off after this number of guesses.
    progress
        See `build_tree`.

    Raises
    ------
    InvalidArgumentError
        If the tree would not end.
    """
    board = channel.board
    separated = 0.0
    deepest = _DEEPEST if max_guesses is None else max_guesses

    def node(path: Path, codes: NDArray[np.intp], weights: Floats) -> TreeNode:
        weight = float(weights.sum())
        is_found = bool(path and len(codes) == 1 and codes[0] == path[-1][0])
        if len(codes) == 1 or len(path) == max_guesses:
            bits = float(unchecked_entropy(weights / weight))
            if progress is not None:
                nonlocal separated
                separated += weight
                progress(round(separated), board.n_codes)
            return TreeNode(
                weight=weight,
                entropy=bits,
                possible=len(codes),
                found=is_found,
                guess=None,
                children=(),
            )
        if len(path) >= deepest:
            raise _too_long(deepest)
        guess = choose(path)
        replies = replies_to(board, board.code(guess))[codes]
        children: list[tuple[int, TreeNode]] = []
        for outcome in range(channel.n_outcomes):
            after = weights * channel.matrix[replies, outcome]
            left_over = after > 0
            if left_over.any():
                child = node((*path, (guess, outcome)), codes[left_over], after[left_over])
                children.append((outcome, child))
        return TreeNode(
            weight=weight,
            entropy=float(unchecked_entropy(weights / weight)),
            possible=len(codes),
            found=False,
            guess=guess,
            children=tuple(children),
        )

    return StrategyTree(channel, node((), np.arange(len(board.codes)), np.ones(len(board.codes))))


def _require_tree(board: Board) -> None:
    """Raise if the complete tree of a board would have too many nodes."""
    if board.n_codes > MAX_TREE_CODES:
        raise TooLargeError(
            f"expected a board of at most {MAX_TREE_CODES:,} codes for a complete tree, got {board}"
            f" with {many(board.n_codes)} codes; play games instead (--games)",
            needed=board.n_codes,
            budget=MAX_TREE_CODES,
        )


def _too_long(deepest: int) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"the tree does not end within {deepest} guesses; under noise, cut it off with max_guesses",
        deepest,
    )


def _linked(grown: GrownTree, channel: Channel) -> TreeNode:
    """Return the root of a tree that was grown under true replies."""
    outcomes = channel.matrix.argmax(axis=1).tolist()
    winning = len(channel.board.true_replies) - 1
    # All leaves with a known code are equal.
    known = [
        TreeNode(weight=1.0, entropy=0.0, possible=1, found=is_found, guess=None, children=())
        for is_found in (False, True)
    ]
    children: list[list[tuple[int, TreeNode]]] = [[] for _ in grown.parents]
    node = known[False]
    columns = (grown.parents, grown.possible, grown.guesses, grown.replies)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for i in range(len(rows) - 1, -1, -1):
        parent, possible, guess, place = rows[i]
        if possible == 1:
            node = known[place == winning and parent >= 0]
        else:
            below = tuple(reversed(children[i]))
            next_guess = guess if below else None
            node = made(
                TreeNode,
                weight=float(possible),
                entropy=math.log2(possible),
                possible=possible,
                found=False,
                guess=next_guess,
                children=below,
            )
        if parent >= 0:
            children[parent].append((outcomes[place], node))
    return node
