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

**Outlines** are the content of every file format:

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import table_html
from bnmind._messages import many, shown
from bnmind._values import Value, made
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    InvalidModelError,
    ModelFileError,
    TooLargeError,
)
from bnmind.information import Floats, unchecked_entropy
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, Turn, digits_of, reply
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import replies_to
from bnmind.mastermind.peg_counts import place_of_reply
from bnmind.strategies.greedy import (
    MAX_TREE_CODES,
    GrownTree,
    grow_exactly,
    is_growable,
    myopic_rule,
)
from bnmind.strategies.strategy import Strategy

# --- Strategies as trees: all possible games of a strategy ----------------------------------------


Path = tuple[tuple[int, int], ...]
"""The evidence of a node: guesses, as indices of codes, and outcomes of the channel."""

_DEEPEST_GROWN = 200  # only a strategy that repeats its guesses takes more


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


def node_of_codes(
    n: int,
    *,
    guess: int | None = None,
    children: tuple[tuple[int, TreeNode], ...] = (),
    found: bool = False,
) -> TreeNode:
    """Return the node of n codes that are equally likely, as true replies leave them."""
    return made(
        TreeNode,
        weight=float(n),
        entropy=math.log2(n),
        possible=n,
        found=found,
        guess=guess,
        children=children,
    )


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
        first = "no guess" if guess is None else f"first guess {self.board.format_index(guess)}"
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
        deepest = _DEEPEST_GROWN if max_guesses is None else max_guesses
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
    deepest = _DEEPEST_GROWN if max_guesses is None else max_guesses

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
    known = [node_of_codes(1, found=is_found) for is_found in (False, True)]
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
            node = node_of_codes(possible, guess=guess if below else None, children=below)
        if parent >= 0:
            children[parent].append((outcomes[place], node))
    return node


# --- Outlines of strategy trees: the content of every file format ---------------------------------


_MOST_CODES = 2**20
_DEEPEST_READ = 300


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
                return Outline(f"= {board.format_index(int(codes[0]))}")
            return Outline(f"? {node.possible}")
        replies = replies_among(board, node.guess, codes)
        below: dict[str, Outline] = {}
        for outcome, child in node.children:
            place = places[outcome]
            below[str(board.true_replies[place])] = entry(child, codes[replies == place])
        return Outline(board.format_index(node.guess), below)

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
        if len(before) > _DEEPEST_READ:
            raise ModelFileError(
                f"expected at most {_DEEPEST_READ} guesses, got more {where}", entry
            )
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
            return node_of_codes(n, found=expected == "=")
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
        return node_of_codes(n, guess=guess, children=children)

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
    return f"= {board.format_index(int(codes[0]))}"


def _short(text: str) -> str:
    return text if len(text) < 1000 else shown(text)


def _turn(entry: Outline, reply: str) -> str:
    return f"{entry.text} {reply}"


# --- Walks through strategy trees: the game of one secret, and a check of every node --------------


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
        guess = board.format_index(node.guess)
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


# --- The histories at which two strategies differ, and the cost of the difference -----------------


@dataclass(frozen=True)
class Parting(Value):
    """A history after which two trees guess differently for the first time."""

    history: tuple[Turn, ...]
    """The guesses and replies before, equal in both trees."""
    codes: int
    """The number of possible codes."""
    guesses: tuple[tuple[int, ...], tuple[int, ...]]
    """The guess of the first tree and of the second."""
    totals: tuple[float, float]
    """The number of further guesses of each tree to find each of these codes once."""

    @property
    def cost(self) -> float:
        """The additional guesses of the second tree; negative if it takes fewer."""
        return self.totals[1] - self.totals[0]


@dataclass(frozen=True)
class TreeComparison(Value):
    """A comparison of two trees of one board."""

    totals: tuple[float, float]
    """The number of guesses of each tree to find every code once."""
    partings: tuple[Parting, ...]
    """The partings, short histories first, then in the order of replies."""

    @property
    def cost(self) -> float:
        """The additional guesses of the second tree: the sum over the partings."""
        return self.totals[1] - self.totals[0]


@checked_if_it_fails
def compare_trees(first: StrategyTree, second: StrategyTree) -> TreeComparison:
    """Return where two trees of true replies first differ, and the cost of each difference.

    Parameters
    ----------
    first
        A complete tree of true replies.
    second
        Another one of the same board.

    Raises
    ------
    InvalidArgumentError
        If the boards differ, a tree was built for noisy replies, or a tree is not complete.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import build_tree, strategy_by_name
    >>> exact = Channel.exact(Board(4, 6))
    >>> knuth, irving = (build_tree(strategy_by_name(n), exact) for n in ("knuth", "irving"))
    >>> comparison = compare_trees(knuth, irving)
    >>> comparison.cost, comparison.partings[0].guesses
    (-105.0, ((1, 1, 2, 2), (1, 1, 2, 3)))
    """
    if first.board != second.board:
        raise InvalidArgumentError(
            f"expected two trees of one board, got the boards {first.board} and {second.board}",
            second,
        )
    board = first.board
    places, others = places_of_outcomes(first), places_of_outcomes(second)
    partings: list[Parting] = []
    level: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = [((), first.root, second.root)]
    while level:
        following: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = []
        for history, one, other in level:
            if one.guess is None or other.guess is None:
                continue  # the only code left is known
            if one.guess != other.guess:
                guesses = (board.code(one.guess), board.code(other.guess))
                totals = (_total(one), _total(other))
                partings.append(Parting(history, one.possible, guesses, totals))
                continue
            below = {others[outcome]: child for outcome, child in other.children}
            for outcome, child in one.children:
                place = places[outcome]
                turn = Turn(board.code(one.guess), board.true_replies[place])
                following.append(((*history, turn), child, below[place]))
        level = following
    return TreeComparison((first.total, second.total), tuple(partings))


def _total(node: TreeNode) -> float:
    """Return the number of guesses from a node on to find each of its codes once."""
    terms: list[float] = []
    stack = [(0, node)]
    while stack:
        guesses, at = stack.pop()
        if at.guess is None:
            terms.append(at.weight * (guesses + (not at.found)))
        stack += [(guesses + 1, child) for _, child in at.children]
    return math.fsum(terms)
