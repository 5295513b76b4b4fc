"""The best strategy for a few guesses, by exhaustive search: to win, or to learn most.

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

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats, information
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import reply_masses, reply_table
from bnmind.strategies.optimum import first_guesses
from bnmind.strategies.tree import Path, StrategyTree, grow_tree

# --- The best strategy for a few guesses, by exhaustive search over beliefs -----------------------


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


# --- The strategy with the largest probability of winning in a few guesses, by exhaustive search --


@checked_if_it_fails
def most_wins(channel: Channel, *, guesses: int) -> StrategyTree:
    """Return the strategy most likely to guess the code within a number of guesses.

    The game ends at the winning guess; ``won_within(guesses)`` of the tree is the probability.

    Parameters
    ----------
    channel
        The channel that reports the replies.
    guesses
        m, the number of guesses, at least one.

    Raises
    ------
    InvalidArgumentError
        If the number of guesses is below one.
    TooLargeError
        If the search would take too long.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> tree = most_wins(Channel.exact(Board(2, 3)), guesses=2)
    >>> round(9 * tree.won_within(2), 12)
    5.0
    """
    return best_tree(channel.revealed(), _chance_of_winning, guesses)


def _chance_of_winning(beliefs: Floats) -> Floats:
    """Return the immediate gain of each guess: the probability that it is the code."""
    return beliefs.copy()


# --- The most informative strategy of a given depth, by exhaustive search -------------------------


_LARGEST = 2**22  # the largest table of codes by guesses and replies


@checked_if_it_fails
def most_informative(channel: Channel, *, depth: int) -> StrategyTree:
    """Return the strategy of a given depth with the least expected entropy.

    The ``expected_entropy`` of the tree is the value that it minimizes.

    Parameters
    ----------
    channel
        The channel that reports the replies; in its `revealed` form if the game ends at the
        winning guess.
    depth
        ℓ, the number of nodes on a longest path: one more than the number of guesses.

    Raises
    ------
    InvalidArgumentError
        If the depth is not positive.
    TooLargeError
        If the search would take too long.

    Notes
    -----
    Information adds up along a path: the initial entropy minus EH is the sum of the information of
    the guesses, each under the belief at its node. The gain of a guess is therefore its
    information, and the gains of all last guesses are computed together.

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> tree = most_informative(Channel.exact(Board(2, 3)), depth=2)
    >>> round(tree.expected_entropy, 4)
    1.1111
    """
    if depth < 1:
        raise InvalidArgumentError(f"expected a depth of at least 1 node, got {depth}", depth)
    if depth == 1:  # no guesses

        def never(path: Path) -> int:
            raise AssertionError(path)

        return grow_tree(channel, never, max_guesses=0)
    return best_tree(channel, _information_gain(channel), depth - 1)


def _information_gain(channel: Channel) -> Gain:
    """Return the function that computes the information of each guess for many beliefs."""
    board = channel.board
    n_replies = len(board.true_replies)
    if board.n_codes**2 * n_replies > _LARGEST:

        def masses(beliefs: Floats) -> Floats:
            return np.array([reply_masses(board, belief) for belief in beliefs])

    else:
        # The reply of each code to each guess, as zeros and ones.
        drawn = reply_table(board).T[:, :, None] == np.arange(n_replies)
        indicators = drawn.reshape(board.n_codes, -1).astype(np.float64)

        def masses(beliefs: Floats) -> Floats:
            product: Floats = beliefs @ indicators
            return product.reshape(len(beliefs), board.n_codes, n_replies)

    def gain(beliefs: Floats) -> Floats:
        total = beliefs.sum(axis=1)
        bits = information(masses(beliefs / total[:, None]), channel.matrix)
        return np.asarray(bits * total[:, None], dtype=np.float64)

    return gain
