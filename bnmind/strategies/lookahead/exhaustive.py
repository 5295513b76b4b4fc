"""The best strategy for a few guesses, by exhaustive search over beliefs.

A belief is stored as the joint probability of code and evidence, q(s)·Π_k N[c(s,t_k), o_k], where
all codes are equally likely at first. It is not normalized: its sum is the probability of the
evidence, so the values of the outcomes of a guess add up.

The value of a guess is its immediate gain plus the value of the best guesses that follow:
V_m(belief) = max_t (gain(belief, t) + Σ_o V_{m−1}(belief after t and o)). The gains of all guesses
are computed together, so the last guess needs no search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_table
from bnmind.strategies.optimal.optimum import first_guesses
from bnmind.strategies.trees.tree import Path, StrategyTree, grow_tree

__all__ = ["Gain", "best_tree"]

Gain: TypeAlias = Callable[[Floats], Floats]
"""The immediate gain of each guess: from beliefs ``(beliefs, n_codes)`` to gains
``(beliefs, n_codes)``, times the probability of the evidence."""

MAX_WORK = 10**11
"""The largest number of operations of a search: a few minutes."""

_TIE = 1e-12  # values closer than this are equal; they are sums of at most one
_BLOCK = 2**20  # number of probabilities that are evaluated at a time


def best_tree(channel: Channel, gain: Gain, guesses: int) -> StrategyTree:
    """Return the strategy of the largest gain in a number of guesses.

    Among guesses of equal value, up to 1e-12, the more probable code comes first, then the smaller
    index.

    Parameters
    ----------
    channel
        The channel that reports the replies.
    gain
        The immediate gain of each guess.
    guesses
        The number of guesses, at least one.

    Raises
    ------
    InvalidArgumentError
        If the number of guesses is below one.
    TooLargeError
        If the search would need more than `MAX_WORK` operations; raised before the search begins.
    """
    _require_searchable(channel, guesses)
    search = _Search(channel, gain)
    every = range(channel.board.n_codes)

    def choose(path: Path) -> int:
        return search.choose(path, guesses - len(path), every if path else search.first)

    return grow_tree(channel, choose, max_guesses=guesses)


class _Search:
    """One search; the object caches solved beliefs."""

    def __init__(self, channel: Channel, gain: Gain) -> None:
        self.first = first_guesses(channel.board)
        self._gain = gain
        self._table = reply_table(channel.board)
        # Nothing can be gained after "won", so this outcome is not searched.
        self._chances = np.ascontiguousarray(channel.matrix[:, : len(channel.reports)].T)
        self._solved: dict[tuple[bytes, int], float] = {}

    def choose(self, path: Path, left: int, guesses: Sequence[int]) -> int:
        """Return the best guess at the end of a path."""
        belief = np.full(len(self._table), 1 / len(self._table))
        for guess, outcome in path:
            belief = belief * self._chances[outcome][self._table[guess]]
        among = np.asarray(guesses, dtype=np.intp)
        values = self._values(belief, left, among)
        tied = among[values >= values.max() - _TIE]
        likely = belief[tied]
        return int(tied[np.argmax(likely >= likely.max() * (1 - _TIE))])

    def _values(self, belief: Floats, left: int, guesses: NDArray[np.intp]) -> Floats:
        """Return the values of some guesses, with `left` guesses left."""
        values: Floats = self._gain(belief[None, :])[0][guesses]
        if left == 1:
            return values
        at_once = max(1, _BLOCK // self._chances.size // len(belief))
        for start in range(0, len(guesses), at_once):
            block = guesses[start : start + at_once]
            # (outcomes, guesses, codes)
            after = self._chances[:, self._table[block]] * belief
            best = self._best(after.reshape(-1, len(belief)), left - 1)
            values[start : start + at_once] += best.reshape(len(self._chances), -1).sum(axis=0)
        return values

    def _best(self, beliefs: Floats, left: int) -> Floats:
        """Return the value of the best guess for each belief."""
        best = np.zeros(len(beliefs))
        # Impossible evidence has the value 0.
        possible = np.flatnonzero(beliefs.any(axis=1))
        if left == 1:
            best[possible] = self._gain(beliefs[possible]).max(axis=1)
            return best
        every = np.arange(beliefs.shape[1])
        for row in possible:
            key = (beliefs[row].tobytes(), left)
            if key not in self._solved:
                self._solved[key] = float(self._values(beliefs[row], left, every).max())
            best[row] = self._solved[key]
        return best


def _require_searchable(channel: Channel, guesses: int) -> None:
    """Raise if a search is too large or has no guesses, before it begins."""
    if guesses < 1:
        raise InvalidArgumentError(f"expected at least one guess, got {guesses}", guesses)
    board = channel.board
    # A belief and the next guess, over all codes; then all reachable beliefs.
    work = board.n_codes**2 * len(board.true_replies)
    if guesses > 1:
        work *= len(first_guesses(board)) * channel.n_outcomes
        work *= (board.n_codes * channel.n_outcomes) ** (guesses - 2)
    if work > MAX_WORK:
        raise TooLargeError(
            f"expected a search of at most {MAX_WORK:.0e} operations, got {guesses} guesses on the "
            f"board {board} under {channel.name}, which need {work:.0e}",
            needed=work,
            budget=MAX_WORK,
        )
