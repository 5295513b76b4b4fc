"""The exact mean number of guesses of a strategy that chooses at random among the best guesses.

A strategy with random ties has no tree, and games only estimate its mean. If it guesses only codes
that are still possible, all its choices and all replies form a tree that is small enough to visit:
some millions of sets of codes for random possible codes on 4x6. The result is the probability that
each guess finds the code, and therefore the mean without sampling error.

References
----------
Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms* (2010),
estimate these means from ten games for each code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.guess_symmetry import guess_classes
from bnmind.mastermind.masses.reply_table import reply_masses, reply_table
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.evolutionary.local_entropy import (
    LOCAL_BITS,
    LocalEntropy,
    color_counts,
)
from bnmind.strategies.kernels.random_ties_kernel import (
    ANY,
    COLORS,
    LARGEST,
    SUM,
    RuleTerms,
    start_walk,
    walk_slice,
)
from bnmind.strategies.players.myopic import Among, Myopic, Ties
from bnmind.strategies.players.random_possible import RandomCode
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms
from bnmind.strategies.scores.score import ClassTerms, Combination, Integers

__all__ = ["MAX_AVERAGED_CODES", "MAX_PAIRS", "AveragedGames", "average_games", "is_averaged"]

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
