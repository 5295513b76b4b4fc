"""Classes of equivalent guesses: the symmetry of a board after a history.

A permutation of the positions, combined with a permutation of the colors, preserves all replies.
If it also maps each previous guess to itself, and the prior to itself, it maps the belief to
itself, whatever the replies and the channel were. Guesses that such permutations map to each
other have the same reply masses. It suffices to evaluate one guess of each class: the
lexicographically smallest.

**The group of a history** maps each previous guess to itself. A permutation of the positions and a
permutation of the colors, (π, σ), map a guess x to y with y_i = σ(x_π(i)).

======  ====================================================================
symbol  name here
======  ====================================================================
G       the (π, σ) that fix every guess of the history; `HistoryGroup`
—       kind: positions at which all guesses so far agree, color for color
U       unused: the colors of no guess so far
N       the part of G that moves positions within kinds, and colors within U
Q       moves: G / N, permutations of the kinds, each with its σ off U
======  ====================================================================

A kind is a column of the history. A move maps columns to columns and thereby determines σ on all
used colors. N has Π |kind|! · |U|! members and is never listed; Q is.

**The representatives** are the smallest guesses of the classes. The representatives are built from
left to right (orderly generation: [1]_). The search drops a prefix of a guess if some member of G
makes it smaller, whatever follows. A prefix must be nondecreasing within each kind, and its unused
colors must appear in ascending order; otherwise N makes it smaller. For each move, the search
builds the smallest possible image, position by position: a position takes any remaining peg of the
kind that it comes from, and a new color of U becomes the smallest color of U that is not yet
assigned. Pegs of one color in one kind are equivalent, and so are colors of U that occur equally
often in each kind. An image smaller than the prefix refutes the prefix; an image that becomes
larger is abandoned.

References
----------
.. [1] R. C. Read, Every one a winner or how to avoid isomorphism search when cataloguing
   combinatorial configurations, Annals of Discrete Mathematics 2 (1978) 107–120.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Sealed, Value
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board

# --- The symmetry group of a history: permutations that map each previous guess to itself ---------


_MAX_MOVES = 2**20  # the largest list of Q; the search for it takes a hundred megabytes

Indices = NDArray[np.intp]
Colors = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class HistoryGroup(Sealed):
    """The permutations of positions and colors that map each guess of a history to itself.

    Made by `history_group`.

    Examples
    --------
    >>> history_group(Board(4, 6), [(1, 1, 2, 3)]).order  # 1–1, 2–3 and 4–5–6 swap
    24
    """

    board: Board
    """The board."""
    guesses: tuple[tuple[int, ...], ...]
    """The previous guesses, without repetition, oldest first."""
    kinds: Indices
    """``(pegs,)``, the kind of each position, numbered in order of appearance."""
    moves: Indices
    """``(moves, kinds)``, the kind that each kind comes from."""
    images: Colors
    """``(moves, colors + 1)``, the color that each used color becomes; 0 for other colors."""

    @cached_property
    def unused(self) -> tuple[int, ...]:
        """The colors that occur in no previous guess, ascending."""
        used = {color for guess in self.guesses for color in guess}
        return tuple(color for color in range(1, self.board.colors + 1) if color not in used)

    @cached_property
    def order(self) -> int:
        """The number of permutations, including the identity."""
        sizes = Counter(self.kinds.tolist()).values()
        within = math.prod(math.factorial(size) for size in sizes)
        return len(self.moves) * within * math.factorial(len(self.unused))

    @property
    def least_classes(self) -> int:
        """A lower bound of the number of classes, as if all classes had full size."""
        return -(-self.board.n_codes // self.order)


def history_group(board: Board, guesses: Sequence[Sequence[int]]) -> HistoryGroup:
    """Return the permutations that map each of the guesses to itself.

    The function takes a fraction of a millisecond if little symmetry is left. The ``order`` of the
    group tells whether a search for classes is worthwhile.

    Parameters
    ----------
    board
        The board.
    guesses
        Codes, colors 1..k.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    TooLargeError
        If there are too many permutations of the kinds to list.
    """
    checked = dict.fromkeys(board.code(board.index(guess)) for guess in guesses)
    history = tuple(checked)
    columns = [tuple(guess[i] for guess in history) for i in range(board.pegs)]
    numbers = {column: kind for kind, column in enumerate(dict.fromkeys(columns))}
    kinds = np.array([numbers[column] for column in columns], dtype=np.intp)
    table = np.array(list(numbers), dtype=np.uint8).reshape(len(numbers), len(history))
    moves, images = _moves(board, table, np.bincount(kinds))
    return HistoryGroup(board=board, guesses=history, kinds=kinds, moves=moves, images=images)


def _moves(board: Board, columns: Colors, sizes: Indices) -> tuple[Indices, Colors]:
    """Return Q: the permutations of the columns of the history that agree with some σ.

    Kind a comes from kind b of the same size, and σ maps the column of b to the column of a. The
    function extends partial permutations, with their partial σ, one kind at a time.
    """
    moves = np.zeros((1, 0), dtype=np.intp)
    images: Colors = np.zeros((1, board.colors + 1), dtype=np.uint8)
    for kind, column in enumerate(columns):
        sources = np.flatnonzero(sizes == sizes[kind])
        require_at_most(_MAX_MOVES, "permutations of columns", len(moves) * len(sources), board)
        row, source = (axis.ravel() for axis in np.indices((len(moves), len(sources))))
        source = sources[source]
        free = np.all(moves[row] != source[:, None], axis=1)
        row, source = row[free], source[free]
        longer = images[row]
        for guess, color in enumerate(column):
            before = columns[source, guess]
            image = longer[np.arange(len(row)), before]
            # σ is a function and injective.
            fits = (image == color) | ((image == 0) & np.all(longer != color, axis=1))
            row, source, longer, before = row[fits], source[fits], longer[fits], before[fits]
            longer[np.arange(len(row)), before] = color
        moves = np.column_stack([moves[row], source])
        images = longer
    return moves, images


def require_at_most(budget: int, what: str, needed: int, board: Board) -> None:
    """Raise `TooLargeError` if the needed number exceeds the budget."""
    if needed > budget:
        raise TooLargeError(
            f"expected at most {budget:,} {what}, got at least {needed:,} on the board {board}",
            needed=needed,
            budget=budget,
        )


# --- Classes of equivalent guesses: the symmetry of the board after a history ---------------------


MAX_COMPARISONS = 2**28
"""The largest number of pairs of a prefix and a move that `guess_classes` compares: minutes."""

MAX_CLASSES = 2**24
"""The largest number of classes; with their sizes and guesses they take a gigabyte."""

_MAX_NUMBERED = 2**40  # so that the number of codes times the number of moves fits 64 bits
_BLOCK = 2**15  # number of images that are built at a time
_FIRST_MOVES = 32  # a few moves refute most prefixes, so these are tried first


@dataclass(frozen=True, eq=False)
class GuessClasses(Value):
    """One guess of each class of equivalent guesses after a history.

    The representative is the smallest guess of its class. The smallest of the best
    representatives is therefore the smallest of all best guesses.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> first = guess_classes(board, [])
    >>> [board.format(board.code(index)) for index in first.representatives]
    ['1111', '1112', '1122', '1123', '1234']
    >>> first.sizes.tolist()
    [6, 120, 90, 720, 360]
    """

    board: Board
    """The board."""
    guesses: tuple[tuple[int, ...], ...]
    """The previous guesses, without repetition, oldest first."""
    representatives: Indices
    """``(classes,)``, the index of the smallest guess of each class, ascending."""
    sizes: Indices
    """``(classes,)``, the number of guesses in each class; they sum to the number of codes."""
    comparisons: int
    """The number of pairs of a prefix and a move that were compared; 0 without symmetry."""


@checked
def guess_classes(board: Board, guesses: Sequence[Sequence[int]]) -> GuessClasses:
    """Return one guess of each class of equivalent guesses after a history.

    Parameters
    ----------
    board
        The board. Without repeats, guesses have no repeats either.
    guesses
        The previous guesses. The replies do not matter.

    Returns
    -------
    GuessClasses
        The guesses of a class have the same reply masses if the prior is invariant under all
        permutations of positions and of colors, and the belief is the posterior given the
        replies to these guesses.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    TooLargeError
        If the search would need more than `MAX_COMPARISONS` comparisons, or find more than
        `MAX_CLASSES` classes. The function raises immediately if that is certain, else before
        the comparisons of the next peg.

    Notes
    -----
    The search takes a few milliseconds, plus 0.1 to 0.5 µs for each of the ``comparisons``.
    `history_group` gives a lower bound of their number, ``len(group.moves) *
    group.least_classes``; unless the number is small, it is rarely 20 times the bound. If
    ``group.order`` is 1, there is nothing to search. The search takes at most tens of megabytes,
    and each class some tens of bytes.
    """
    group = history_group(board, guesses)
    _require_affordable(board, group.least_classes, 0)
    if group.order == 1:
        every = np.arange(board.n_codes)
        return GuessClasses(
            board=board,
            guesses=group.guesses,
            representatives=every,
            sizes=np.ones_like(every),
            comparisons=0,
        )
    _require_affordable(board, 0, len(group.moves) * group.least_classes)
    search = _Search(group)
    beginnings: Colors = np.zeros((1, 0), dtype=np.uint8)
    ties = np.ones(1, dtype=np.intp)
    comparisons = 0
    at_once = max(1, _BLOCK // board.colors)
    for _ in range(board.pegs):
        smallest: list[tuple[Colors, Indices]] = []
        for start in range(0, len(beginnings), at_once):
            longer = search.extended(beginnings[start : start + at_once])
            comparisons += len(longer) * len(group.moves)
            _require_affordable(board, sum(len(codes) for codes, _ in smallest), comparisons)
            smallest.append(search.smallest(longer))
        beginnings = np.concatenate([codes for codes, _ in smallest])
        ties = np.concatenate([tied for _, tied in smallest])
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(beginnings), _BLOCK)]
    sizes = np.concatenate([search.sizes(beginnings[block], ties[block]) for block in blocks])
    places = np.concatenate([_indices(board, beginnings[block]) for block in blocks])
    return GuessClasses(
        board=board,
        guesses=group.guesses,
        representatives=places,
        sizes=sizes,
        comparisons=comparisons,
    )


class _Search:
    """The data of a group that the search needs, as arrays."""

    def __init__(self, group: HistoryGroup) -> None:
        board = group.board
        self.group = group
        self.n_unused = len(group.unused)
        # An extra entry stands for "the next unused color" if no color is unused.
        self.unused = np.array([*group.unused, board.colors + 1], dtype=np.int64)
        self.rank = np.full(board.colors + 1, -1, dtype=np.intp)
        self.rank[list(group.unused)] = np.arange(self.n_unused)
        kinds = group.kinds.tolist()
        self.places = [[i for i in range(board.pegs) if kinds[i] == kind] for kind in set(kinds)]
        self.widest = max(len(places) for places in self.places)
        # Positions of each kind, padded with a position that no guess has.
        self.positions = np.full((len(self.places), self.widest), board.pegs, dtype=np.intp)
        # The position of the same kind before each position, or −1.
        self.previous = np.full(board.pegs + 1, -1, dtype=np.intp)
        for kind, places in enumerate(self.places):
            self.positions[kind, : len(places)] = places
            self.previous[places[1:]] = places[:-1]
        # The counts of a color in all kinds form one number in a mixed radix.
        sizes = [len(places) + 1 for places in self.places]
        self.radix = [math.prod(sizes[:kind]) for kind in kinds]

    def extended(self, beginnings: Colors) -> Colors:
        """Extend the prefixes by one peg, without those that N refutes immediately."""
        board = self.group.board
        rows, length = beginnings.shape
        colors = np.arange(1, board.colors + 1, dtype=np.uint8)
        met = _met(self.rank[beginnings])[:, -1]
        fits = self.rank[colors] <= met[:, None]
        if self.previous[length] >= 0:
            fits &= colors >= beginnings[:, self.previous[length], None]
        if not board.repeats:
            fits[np.arange(rows)[:, None], beginnings - 1] = False
        row, color = np.nonzero(fits)
        return np.column_stack([beginnings[row], colors[color]])

    def smallest(self, beginnings: Colors) -> tuple[Colors, Indices]:
        """Return the prefixes that no member of G makes smaller, and how many moves fix each.

        The number of moves is valid only for complete guesses.
        """
        rows, length = beginnings.shape
        n_moves = len(self.group.moves)
        if n_moves == 1 and self.widest == 1:
            # Only unused colors can be permuted, and those are in order.
            return beginnings, np.ones(rows, dtype=np.intp)
        smaller = np.zeros(rows, dtype=np.bool_)
        ties = np.zeros(rows, dtype=np.intp)
        ranks = self.rank[beginnings]
        met = _met(ranks)
        alike = self._alike(ranks)
        for row, move in self._pairs(smaller, n_moves):
            labels = np.full((len(row), alike.shape[1]), -1, dtype=np.int8)
            stack = [(0, row, move, np.zeros(len(row), dtype=np.int64), labels)]
            while stack:
                i, row, move, picked, labels = stack.pop()
                if i == length:
                    ties += np.bincount(row, minlength=rows)
                    continue
                # The peg that moves to position i: one of each color that remains of the kind.
                peg = self.positions[self.group.moves[move, self.group.kinds[i]]]
                available = (peg < length) & ((picked[:, None] >> peg) & 1 == 0)
                before = np.where(available, self.previous[peg], -1)
                color = beginnings[row[:, None], np.where(available, peg, 0)]
                twin_left = (before >= 0) & ((picked[:, None] >> np.maximum(before, 0)) & 1 == 0)
                available &= ~twin_left | (color != beginnings[row[:, None], before])
                state, column = np.nonzero(available)
                row, move, peg = row[state], move[state], peg[state, column]
                picked, labels, color = picked[state], labels[state], color[state, column]
                # The color that it becomes there.
                states = np.arange(len(row))
                rank = ranks[row, peg]
                label = labels[states, rank]
                first = label < 0
                label = np.where(first, met[row, i], label)
                image = np.where(rank < 0, self.group.images[move, color], self.unused[label])
                twin = alike[row, rank]
                redundant = (rank >= 0) & first & (twin >= 0) & (labels[states, twin] < 0)
                target = beginnings[row, i]
                smaller[row[image < target]] = True
                equal = np.flatnonzero((image == target) & ~redundant & ~smaller[row])
                labels = labels[equal]
                labels[np.arange(len(equal)), rank[equal]] = label[equal]
                picked = picked[equal] | (1 << peg[equal])
                for start in range(0, len(equal), _BLOCK):
                    block = slice(start, start + _BLOCK)
                    chosen = equal[block]
                    stack.append((i + 1, row[chosen], move[chosen], picked[block], labels[block]))
        return beginnings[~smaller], ties[~smaller]

    def sizes(self, guesses: Colors, ties: Indices) -> Indices:
        """Return the size of the class of each guess, given how many moves fix it.

        N maps a guess to |N| / |stabilizer in N| guesses. That is the number of ways to place its
        pegs in each kind and to choose its unused colors, where colors that occur equally often in
        each kind are interchangeable.
        """
        rows, pegs = guesses.shape
        sizes = np.ones(rows, dtype=np.int64)
        for places in self.places:
            run = np.ones(rows, dtype=np.int64)
            for i in range(1, len(places)):
                same = guesses[:, places[i]] == guesses[:, places[i - 1]]
                run = np.where(same, run + 1, 1)
                sizes = sizes * (i + 1) // run
        ranks = self.rank[guesses]
        met = _met(ranks)[:, -1]
        alike = self._alike(ranks)
        twins = np.ones_like(alike)
        for rank in range(min(pegs, self.n_unused)):
            twin = alike[:, rank]
            twins[:, rank] += np.where(twin >= 0, twins[np.arange(rows), twin], 0)
            present = rank < met
            sizes = np.where(present, sizes * (self.n_unused - rank) // twins[:, rank], sizes)
        return sizes * len(self.group.moves) // ties

    def _alike(self, ranks: Indices) -> Indices:
        """Return, for each color of U, the last one before it with the same counts in each kind.

        The entries are indices in U, or −1 for none; an extra column of −1 is for used colors.
        """
        rows, pegs = ranks.shape
        width = min(pegs, self.n_unused)
        counts = np.zeros((rows, width + 1), dtype=np.int64)
        for i in range(pegs):
            counts[np.arange(rows), ranks[:, i]] += self.radix[i]
        alike = np.full((rows, width + 1), -1, dtype=np.intp)
        for rank in range(1, width):
            for other in range(rank):
                same = (counts[:, rank] == counts[:, other]) & (counts[:, rank] > 0)
                alike[same, rank] = other
        return alike

    @staticmethod
    def _pairs(smaller: NDArray[np.bool_], n_moves: int) -> Iterator[tuple[Indices, Indices]]:
        """Yield all pairs of a row and a move in blocks, without the rows already refuted."""
        bounds = [0, *range(min(_FIRST_MOVES, n_moves), n_moves, _BLOCK), n_moves]
        for first, stop in pairwise(bounds):
            rows = np.flatnonzero(~smaller)
            at_once = max(1, _BLOCK // (stop - first))
            for start in range(0, len(rows), at_once):
                some = rows[start : start + at_once]
                moves = np.arange(first, stop)
                yield np.repeat(some, len(moves)), np.tile(moves, len(some))


def _met(ranks: Indices) -> Indices:
    """Return the number of colors of U before each position, and in total.

    `ranks` holds the indices of the pegs' colors in U, −1 for used colors.
    """
    met = np.zeros((len(ranks), ranks.shape[1] + 1), dtype=np.intp)
    # They appear in ascending order.
    np.maximum.accumulate(ranks + 1, axis=1, out=met[:, 1:])
    return met


def _indices(board: Board, codes: Colors) -> Indices:
    """Return the indices of codes among all codes in lexicographic order."""
    places = np.zeros(len(codes), dtype=np.intp)
    for i in range(board.pegs):
        digits = codes[:, i].astype(np.intp) - 1
        if board.repeats:
            places = places * board.colors + digits
        else:
            digits -= (codes[:, :i] < codes[:, i, None]).sum(axis=1)
            places += digits * math.perm(board.colors - i - 1, board.pegs - i - 1)
    return places


def _require_affordable(board: Board, classes: int, comparisons: int) -> None:
    require_at_most(_MAX_NUMBERED, "codes", board.n_codes, board)
    require_at_most(MAX_CLASSES, "classes of equivalent guesses", classes, board)
    require_at_most(MAX_COMPARISONS, "comparisons of permuted guesses", comparisons, board)
