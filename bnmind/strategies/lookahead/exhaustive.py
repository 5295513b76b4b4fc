"""The best strategy for a few guesses, by exhaustive search over beliefs.

A belief is kept as the joint probability of code and evidence, q(s)·Π_k N[c(s,t_k), o_k],
all codes being equally likely at first. It is not normalized: its sum is the probability
of the evidence, so that the values of what may follow a guess just add up.

What a guess is worth is what it gains at once, and then the best of what follows:
V_m(belief) = max_t (gain(belief, t) + Σ_o V_{m−1}(belief after t and o)). The gains of
all guesses are computed at once, so the last guess costs no search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import BnmindError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_table
from bnmind.strategies.optimal.optimum import first_guesses
from bnmind.strategies.trees.tree import Path, StrategyTree, grow_tree

__all__ = ["Gain", "best_tree"]

Gain: TypeAlias = Callable[[Floats], Floats]
"""What every guess gains at once: beliefs ``(beliefs, n_codes)`` to ``(beliefs, n_codes)``,
times the probability of the evidence."""

MAX_WORK = 10**11
"""The most operations of a search: some minutes."""

_TIE = 1e-12  # values closer than this are equal; they are sums of at most one
_BLOCK = 2**20  # how many probabilities are evaluated at once


def best_tree(channel: Channel, gain: Gain, guesses: int) -> StrategyTree:
    """Return the strategy that gains most in so many guesses.

    Among guesses of equal worth, to 1e-12, the more probable code is preferred, then
    the smaller index.

    Parameters
    ----------
    channel
        What the replies pass through.
    gain
        What every guess gains at once.
    guesses
        How many guesses there are, at least one.

    Raises
    ------
    BnmindError
        Without a guess.
    TooLargeError
        If it would take more than `MAX_WORK`; before anything is computed.
    """
    _require_searchable(channel, guesses)
    search = _Search(channel, gain)
    every = range(channel.board.n_codes)

    def choose(path: Path) -> int:
        return search.choose(path, guesses - len(path), every if path else search.first)

    return grow_tree(channel, choose, max_guesses=guesses)


class _Search:
    """One search: what has been solved lives as long as this object."""

    def __init__(self, channel: Channel, gain: Gain) -> None:
        self.first = first_guesses(channel.board)
        self._gain = gain
        self._table = reply_table(channel.board)
        # After "won" nothing is left to gain: that outcome is not followed.
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
        """Return what each of some guesses is worth, `left` guesses being left."""
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
        """Return what the best guess is worth under each of some beliefs."""
        best = np.zeros(len(beliefs))
        # Impossible evidence is worth nothing.
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
    """Raise unless a search is a sensible one, before it begins."""
    if guesses < 1:
        raise BnmindError(f"expected at least one guess, got {guesses}")
    board = channel.board
    # A belief and the guess after it, over all codes; then all beliefs that can be met.
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
