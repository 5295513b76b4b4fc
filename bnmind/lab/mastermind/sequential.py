"""Comparisons that end when enough games have been played to tell the strategies apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.lab.mastermind.compare import Contest
from bnmind.lab.mastermind.comparison import Comparison, GameRow
from bnmind.lab.statistics import Enough, RunningDifferences

__all__ = ["compare_until", "play_until", "sequential_comparison"]


@checked
def compare_until(
    contest: Contest,
    rule: Enough,
    *,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Play the games of a contest until a rule says that they suffice, or all have been played.

    The rule looks at the numbers of guesses after each game, or after each match. The intervals are
    those of a `ConfidenceSequence`, so looking does not make them wrong more often than they say.

    Parameters
    ----------
    contest
        The contest; its number of games is the limit.
    rule
        `NarrowEnough` to know each difference to within a margin, or `AllTold` to know for each
        pair which strategy is better.
    confidence
        The probability that all intervals cover their means, at all times.
    progress
        Called after each game with the number of games so far, by all strategies, and the limit.

    Raises
    ------
    InvalidArgumentError
        If there is only one strategy, or every code is to be played once: codes in order are no
        random sample until all of them have been played.
        If the confidence is out of range.

    Examples
    --------
    >>> from bnmind.lab import AllTold
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth, RandomCode
    >>> contest = Contest((Knuth(), RandomCode()), Channel.exact(Board(4, 6)), games=10_000)
    >>> comparison = compare_until(contest, AllTold())
    >>> comparison.games < 1000, comparison.differences().interval
    (True, 'confidence sequence')
    """
    rows: list[GameRow] = []
    for row in play_until(contest, rule, confidence=confidence):
        rows.append(row)
        if progress is not None:
            progress(len(rows), contest.n_rows)
    return sequential_comparison(contest, rows)


@checked
def play_until(
    contest: Contest,
    rule: Enough,
    *,
    confidence: float = 0.95,
    play: Callable[[], Iterator[GameRow]] | None = None,
) -> Iterator[GameRow]:
    """Play the games of a contest one by one, as `compare_until`; for games that are interrupted.

    Parameters
    ----------
    contest, rule, confidence
        As for `compare_until`.
    play
        A function that plays the games as `Contest.play` does, which is the default.

    Raises
    ------
    InvalidArgumentError
        See `compare_until`.
    """
    n = len(contest.strategies)
    if n < 2:
        raise InvalidArgumentError(
            "expected at least two strategies, since the rule looks at their differences",
            contest.strategies,
        )
    if contest.games is None:
        raise InvalidArgumentError(
            "expected a number of games, since codes in order are no random sample until all have"
            " been played",
            contest.games,
        )
    running = RunningDifferences(strategies=n, confidence=confidence)
    return _played(contest, rule, running, contest.play if play is None else play)


def _played(
    contest: Contest,
    rule: Enough,
    running: RunningDifferences,
    play: Callable[[], Iterator[GameRow]],
) -> Iterator[GameRow]:
    guesses: list[int] = []
    n, match = running.strategies, contest.match
    for row in play():
        yield row
        guesses.append(row.guesses)
        if len(guesses) == n * match:
            running = running.plus(np.array(guesses).reshape(match, n).mean(axis=0)[None])
            guesses = []
            if running.suffice(rule):
                return


@checked
def sequential_comparison(contest: Contest, rows: list[GameRow]) -> Comparison:
    """Return the comparison of the games that `play_until` has played.

    Parameters
    ----------
    contest
        The contest that was played.
    rows
        Its games, in the order in which they were played.

    Raises
    ------
    InvalidArgumentError
        If no game was played by all strategies.
    """
    comparison = contest.comparison(rows)
    return replace(comparison, sequential=not comparison.exhaustive)
