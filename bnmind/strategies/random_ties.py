"""The exact mean number of guesses of a strategy that chooses at random among the best guesses.

A strategy with random ties has no tree, and games only estimate its mean. If it guesses only codes
that are still possible, all its choices and all replies form a tree that is small enough to visit:
some millions of sets of codes for random possible codes on 4x6. The result is the probability that
each guess finds the code, and therefore the mean without sampling error.

The kernel walks the tree of all choices and all replies. A node is a set of possible codes and the
probability of the choices that led to it; for each code of the board, the nodes of one turn that
hold it have probabilities of at most one in sum. The walk goes depth first and keeps one frame for
each depth, so it can be interrupted after any step.

References
----------
Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms* (2010),
estimate these means from ten games for each code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._jit import njit
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses import reply_masses, reply_table
from bnmind.mastermind.symmetry import guess_classes
from bnmind.strategies.estimation_of_distribution import LOCAL_BITS, LocalEntropy, color_counts
from bnmind.strategies.players import Among, Myopic, RandomCode, Ties
from bnmind.strategies.scores import ClassTerms, Combination, Integers, entropy_terms
from bnmind.strategies.strategy import Strategy

# --- All games of a strategy that chooses at random among the best possible codes, compiled -------


ANY = 0
"""The rule of random codes: any possible code."""
SUM = 1
"""The least sum of terms of the reply classes."""
LARGEST = 2
"""The least largest term of a reply class."""
COLORS = 3
"""The least sum of terms of the numbers of pegs of each color, in the guess and those before."""

_DEPTH, _STARTED = 0, 1  # places in `Walk.state`


class RuleTerms(NamedTuple):
    """The rule by which guesses are compared; see `ClassTerms`."""

    kind: int
    """`ANY`, `SUM`, `LARGEST` or `COLORS`."""
    sizes: NDArray[np.int64]
    """The term of a class by its size, or of a color by its number of pegs."""
    shares: NDArray[np.int64]
    """The share of each code of a class, by the number of possible codes."""
    weights: NDArray[np.int64]
    """``(turns, replies)``; the last row also applies to all later turns."""
    winning: int
    """The term added for the winning class."""


class Walk(NamedTuple):
    """An unfinished walk; each array has a row for each depth."""

    codes: NDArray[np.int64]
    """``(depths, codes)``, the possible codes."""
    parts: NDArray[np.int64]
    """``(depths, codes)``, the same codes, ordered by their reply to the current guess."""
    starts: NDArray[np.int64]
    """``(depths, replies + 1)``, where the codes of each reply start."""
    tied: NDArray[np.int64]
    """``(depths, codes)``, the best guesses."""
    pegs: NDArray[np.int64]
    """``(depths, colors)``, the number of pegs of each color in all guesses before."""
    counts: NDArray[np.int64]
    """``(depths, 4)``: possible codes, best guesses, the current guess, codes already visited."""
    shares: NDArray[np.float64]
    """``(depths,)``, the probability of the choices that led here."""
    found: NDArray[np.float64]
    """The expected number of codes found by each guess, from 0."""
    state: NDArray[np.int64]
    """The current depth, −1 at the end; and whether its guesses have been compared."""


def start_walk(codes: NDArray[np.intp], pegs: NDArray[np.int64], replies: int, depths: int) -> Walk:
    """Return a walk from a set of possible codes.

    Parameters
    ----------
    codes
        The possible codes.
    pegs
        ``(colors,)``, the number of pegs of each color in all guesses so far.
    replies
        The number of true replies of the board.
    depths
        The largest number of further guesses.
    """
    n = len(codes)
    walk = Walk(
        codes=np.zeros((depths, n), dtype=np.int64),
        parts=np.zeros((depths, n), dtype=np.int64),
        starts=np.zeros((depths, replies + 1), dtype=np.int64),
        tied=np.zeros((depths, n), dtype=np.int64),
        pegs=np.zeros((depths, len(pegs)), dtype=np.int64),
        counts=np.zeros((depths, 4), dtype=np.int64),
        shares=np.ones(depths),
        found=np.zeros(depths + 2),
        state=np.array([0, 0], dtype=np.int64),
    )
    walk.codes[0], walk.pegs[0], walk.counts[0, 0] = codes, pegs, n
    return walk


@njit
def _compare(
    table: NDArray[np.uint8],
    colors: NDArray[np.int64],
    rule: Any,
    walk: Any,
    depth: int,
    turn: int,
) -> int:
    """Write the best guesses of the current set, and return the number of pairs examined."""
    n = walk.counts[depth, 0]
    codes, tied = walk.codes[depth], walk.tied[depth]
    replies = walk.starts.shape[1] - 1
    weights = rule.weights[min(turn, rule.weights.shape[0] - 1)]
    classes = np.zeros(replies, dtype=np.int64)
    best, n_tied = np.int64(0), 0
    for i in range(n):
        key = np.int64(0)
        if rule.kind == COLORS:
            for color in range(colors.shape[1]):
                key += rule.sizes[walk.pegs[depth, color] + colors[codes[i], color]]
        elif rule.kind != ANY:
            classes[:] = 0
            row = table[codes[i]]
            for j in range(n):
                classes[row[codes[j]]] += 1
            for outcome in range(replies):
                size = classes[outcome]
                term = (rule.sizes[size] - size * rule.shares[n]) * weights[outcome]
                key = key + term if rule.kind == SUM else max(key, term)
            key += rule.winning
        if i == 0 or key < best:
            best, n_tied = key, 0
        if key == best:
            tied[n_tied] = codes[i]
            n_tied += 1
    walk.counts[depth, 1] = n_tied
    walk.counts[depth, 2] = -1
    walk.counts[depth, 3] = n
    return int(n * n if rule.kind in (SUM, LARGEST) else n)


@njit
def _divide(table: NDArray[np.uint8], walk: Any, depth: int) -> None:
    """Order the codes by their reply to the current guess."""
    n, guess = walk.counts[depth, 0], walk.tied[depth, walk.counts[depth, 2]]
    codes, parts, starts = walk.codes[depth], walk.parts[depth], walk.starts[depth]
    row = table[guess]
    starts[:] = 0
    for i in range(n):
        starts[row[codes[i]]] += 1
    total = 0
    for outcome in range(starts.size):
        total += starts[outcome]
        starts[outcome] = total
    for i in range(n - 1, -1, -1):
        outcome = row[codes[i]]
        starts[outcome] -= 1
        parts[starts[outcome]] = codes[i]
    walk.counts[depth, 3] = 0


@njit
def walk_slice(
    table: NDArray[np.uint8],
    colors: NDArray[np.int64],
    rule: Any,
    walk: Any,
    turn: int,
    pairs: int,
) -> int:
    """Walk on, and return the number of pairs of a guess and a code that were examined.

    Parameters
    ----------
    table
        ``(codes, codes)``, the index of each reply; the last index wins.
    colors
        ``(codes, colors)``, the number of pegs of each color.
    rule
        `RuleTerms`.
    walk
        The walk, which is changed. It is finished if its depth is −1.
    turn
        The number of guesses made before the walk.
    pairs
        Stop after about this many pairs.
    """
    replies = walk.starts.shape[1] - 1
    used = 0
    while used < pairs and walk.state[_DEPTH] >= 0:
        depth = walk.state[_DEPTH]
        if walk.state[_STARTED] == 0:
            used += _compare(table, colors, rule, walk, depth, turn + depth)
            walk.state[_STARTED] = 1
        counts = walk.counts[depth]
        if counts[3] == counts[0]:
            counts[2] += 1
            if counts[2] == counts[1]:
                walk.state[_DEPTH] = depth - 1
                continue
            _divide(table, walk, depth)
            used += counts[0]
        first = counts[3]
        guess = walk.tied[depth, counts[2]]
        outcome = table[guess, walk.parts[depth, first]]
        size = walk.starts[depth, outcome + 1] - first
        counts[3] += size
        share = walk.shares[depth] / counts[1]
        if outcome == replies - 1:
            walk.found[depth] += share
        elif size <= 2:
            walk.found[depth + 1] += share
            if size == 2:
                walk.found[depth + 2] += share
        else:
            walk.codes[depth + 1, :size] = walk.parts[depth, first : first + size]
            walk.pegs[depth + 1] = walk.pegs[depth] + colors[guess]
            walk.counts[depth + 1, 0] = size
            walk.shares[depth + 1] = share
            walk.state[_DEPTH], walk.state[_STARTED] = depth + 1, 0
    return used


# --- The exact mean number of guesses of a strategy that chooses at random among the best guesses -


MAX_AVERAGED_CODES = 2401
"""The largest number of codes of a board: 4x7."""

MAX_PAIRS = 2**35
"""The largest number of pairs of a guess and a code to examine: some minutes. Random possible codes
on 4x6 take 2²⁷ pairs."""

_SLICE = 20_000_000
"""Pairs of guess and code in one call of compiled code: a tenth of a second."""


@dataclass(frozen=True, kw_only=True)
class AveragedGames(Result, Value):
    """The expected numbers of guesses of a strategy that makes random choices; replies are true."""

    strategy: str
    """The name of the strategy."""
    board: Board
    """The board."""
    expected: tuple[float, ...]
    """The expected number of codes that take 1, 2, 3, … guesses; they sum to all codes."""

    @property
    def mean(self) -> float:
        """The expected number of guesses for a random code."""
        return self._moment(1)

    @property
    def sd(self) -> float:
        """The standard deviation of the number of guesses for a random code."""
        return math.sqrt(max(0.0, self._moment(2) - self.mean**2))

    @property
    def worst(self) -> int:
        """The largest number of guesses that may occur."""
        return len(self.expected)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of guesses as a record."""
        return {
            "strategy": self.strategy,
            "board": str(self.board),
            "mean": self.mean,
            "max": self.worst,
            "distribution": list(self.expected),
        }

    def _shown(self) -> Iterator[str | Table]:
        yield (
            f"{self.strategy} on {self.board}: mean {self.mean:.4f} guesses over all codes and all"
            f" random choices, at most {self.worst}"
        )
        for guess, codes in enumerate(self.expected, start=1):
            yield f"  {counted(guess, 'guess', 'guesses'):<10} {codes:>12,.2f}"

    def _moment(self, power: int) -> float:
        terms = (guess**power * codes for guess, codes in enumerate(self.expected, start=1))
        return math.fsum(terms) / self.board.n_codes


@checked_if_it_fails
def is_averaged(strategy: Strategy, board: Board) -> bool:
    """Return whether `average_games` supports a strategy on a board.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    """
    return board.n_codes <= MAX_AVERAGED_CODES and _rule_of(strategy, board) is not None


@checked_if_it_fails
def average_games(
    strategy: Strategy,
    board: Board,
    *,
    first: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AveragedGames:
    """Return the expected numbers of guesses, averaged over all codes and all random choices.

    Parameters
    ----------
    strategy
        `RandomCode`, `LocalEntropy`, or `Myopic` among possible codes with random ties.
    board
        The board, of at most `MAX_AVERAGED_CODES` codes.
    first
        The first guess; by default the strategy chooses it.
    progress
        Called with the number of parts of the work that are done, and the number of all parts.

    Raises
    ------
    InvalidArgumentError
        If the strategy is of another kind.
        If the first guess is not a code of the board.
    TooLargeError
        If the board has too many codes, or their choices are too many.

    Examples
    --------
    >>> random = average_games(RandomCode(), Board(2, 3))
    >>> [round(codes, 2) for codes in random.expected], round(random.mean, 4)
    ([1.0, 3.33, 4.0, 0.67], 2.4815)
    """
    if board.n_codes > MAX_AVERAGED_CODES:
        raise TooLargeError(
            f"expected a board of at most {MAX_AVERAGED_CODES:,} codes, got {board.n_codes:,}",
            needed=board.n_codes,
            budget=MAX_AVERAGED_CODES,
        )
    rule = _rule_of(strategy, board)
    if rule is None:
        raise InvalidArgumentError(
            f"expected a strategy that chooses at random among the best possible codes, got "
            f"{strategy.name}",
            strategy,
        )
    if first is None and isinstance(strategy, Myopic):
        first = strategy.first_guess(board)
    elif first is None and isinstance(strategy, LocalEntropy):
        first = strategy.opening(board)
    parts = list(_parts(board, rule, first))
    table, colors = np.asarray(reply_table(board)), color_counts(board, board.codes)
    expected = np.zeros(board.n_codes + 6)
    pairs = 0
    for done, (guess, share, outcome) in enumerate(parts):
        codes = np.flatnonzero(table[guess] == outcome)
        if outcome == len(board.true_replies) - 1:
            expected[1] += share
        elif len(codes):
            walk = start_walk(codes, colors[guess], len(board.true_replies), len(codes) + 1)
            while walk.state[0] >= 0:
                pairs += walk_slice(table, colors, rule.arrays, walk, 1, _SLICE)
                _require_affordable(pairs, board)
            expected[2 : 2 + len(walk.found)] += share * walk.found
        if progress is not None:
            progress(done + 1, len(parts))
    numbers = tuple(expected[1 : 1 + np.flatnonzero(expected).max()].tolist())
    return AveragedGames(strategy=strategy.name, board=board, expected=numbers)


@dataclass(frozen=True)
class _Rule:
    """The rule by which a strategy chooses."""

    arrays: RuleTerms
    """The rule for the kernel."""
    terms: ClassTerms | None
    """The score of the first guess; None if all guesses are equally good."""


def _rule_of(strategy: Strategy, board: Board) -> _Rule | None:
    """Return the rule of a strategy on a board; None if it is of another kind."""
    none = np.zeros(1, dtype=np.int64)
    if type(strategy) is RandomCode:
        return _Rule(_arrays(ANY, none, none, none[None], 0), None)
    if type(strategy) is LocalEntropy:
        terms_of_pegs = entropy_terms(board.pegs * (board.n_codes + 1), LOCAL_BITS)
        return _Rule(_arrays(COLORS, terms_of_pegs, none, none[None], 0), None)
    if type(strategy) is not Myopic:
        return None
    if strategy.among is not Among.POSSIBLE or strategy.ties is not Ties.RANDOM:
        return None
    terms = strategy.score.terms(board, board.n_codes)
    if terms.combination is Combination.SORTED:
        return None
    kind = SUM if terms.combination is Combination.SUM else LARGEST
    return _Rule(_arrays(kind, terms.sizes, terms.shares, terms.weights, terms.winning), terms)


def _arrays(
    kind: int, sizes: Integers, shares: Integers, weights: Integers, winning: int
) -> RuleTerms:
    """Return the rule with copies of all arrays: numba compiles for read-only arrays again."""
    return RuleTerms(kind, sizes.copy(), shares.copy(), weights.copy(), winning)


def _parts(
    board: Board, rule: _Rule, first: Sequence[int] | None
) -> Iterator[tuple[int, float, int]]:
    """Yield each first guess up to symmetry, its probability, and each reply to it."""
    if first is not None:
        openings = [(board.index(first), 1.0)]
    else:
        classes = guess_classes(board, [])
        guesses, sizes = classes.representatives, classes.sizes
        if rule.terms is not None:
            masses = reply_masses(board, np.ones(board.n_codes), guesses)
            best = rule.terms.best(masses, 0)
            guesses, sizes = guesses[best], sizes[best]
        shares = sizes / sizes.sum()
        openings = list(zip(guesses.tolist(), shares.tolist(), strict=True))
    for guess, share in openings:
        for outcome in range(len(board.true_replies)):
            yield guess, share, outcome


def _require_affordable(pairs: int, board: Board) -> None:
    if pairs > MAX_PAIRS:
        raise TooLargeError(
            f"the random choices on the board {board} are too many to visit all; play games "
            f"instead",
            needed=pairs,
            budget=MAX_PAIRS,
        )
