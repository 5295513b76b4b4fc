"""Beliefs under noise of unknown level, and under vanishing noise.

**Unknown level** (`UnknownNoiseBelief`). The channel is one of several, the levels l of a grid,
with prior probabilities w_l; it stays the same during the game. Given a level, the replies are as
under that channel, so

    P(s, l | replies) ∝ prior(s)·w_l·Π_k N_l[reply(s, guess k), report k].

The product depends on the code only through the channels' entries at its true replies. Codes with
equal products form a group; with false replies, these are the codes that contradict equally many
replies. The belief stores the group of each code and the products of each group, not a table of
codes and levels.

Within a group, the code says nothing more about the level. The next reply therefore passes through
the channel N_c = Σ_l P(l | c)·N_l of the group c of the code. Let m_c(t) be the probability of
group c and true reply t. The expected information of a guess about the code is that of the pair
(c, t) through the rows N_c[t]: H(Σ_c Σ_t m_c(t) N_c[t]) − Σ_c Σ_t m_c(t) H(N_c[t]).

**Vanishing noise** (`VanishingBelief`), of which the exact channel is the limit. Let each reply be
false with a small probability ε, and let ε go to zero. The posterior then becomes the prior,
restricted to the codes that contradict the fewest replies. As long as the replies are consistent,
these are the possible codes. If they are not, the belief stays defined and shows which replies to
doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Chances, Must, Shape, Value, made, sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats, unchecked_entropy
from bnmind.mastermind.beliefs import FromCodes, impossible_history
from bnmind.mastermind.board import (
    Board,
    Reply,
    Turn,
    format_history,
    impossibility,
    require_believable,
)
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.masses import replies_of
from bnmind.mastermind.prior import Prior, UniformPrior, distribution_before, normalized

# --- A belief about the code and the level of the noise, both unknown -----------------------------


_DIGITS = 1e10  # products that agree in so many digits are equal

_Alike = Must(
    ", all of one board and with the same reports",
    lambda levels: len({(level.board, level.reports, level.ends) for level in levels}) < 2,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnknownNoiseBelief(FromCodes, Value):
    """A belief about the code and the noise level, exact on a grid of levels.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> grid = [Channel.false_reply(board, p) for p in (0.0, 0.1, 0.4)]
    >>> belief = UnknownNoiseBelief.start(grid)
    >>> for report in (Reply(1, 1), Reply(0, 3), Reply(1, 1)):
    ...     belief = belief.update((1, 1, 2, 3), report)
    >>> [round(p, 3) for p in belief.level_probabilities.tolist()]
    [0.0, 0.337, 0.663]
    """

    levels: Annotated[tuple[Channel, ...], MinLen(1), _Alike]
    """The possible channels, of one board and with the same reports."""
    weights: Annotated[Floats, Chances, Shape("levels"), normalized]
    """``(levels,)``, the probability of each level before the first guess; read-only."""
    prior: CodeDistribution
    """The distribution of the code before the first guess."""
    history: tuple[Turn, ...]
    """The turns so far, oldest first."""
    groups: NDArray[np.intp]
    """``(n_codes,)``, the group of each code; read-only."""
    products: Floats
    """``(groups, levels)``, proportional to the probability of the replies; read-only."""

    @classmethod
    @checked
    def start(
        cls,
        levels: Annotated[Sequence[Channel], MinLen(1), _Alike],
        *,
        weights: Floats | None = None,
        prior: Prior | None = None,
    ) -> UnknownNoiseBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        levels
            The possible channels, of one board and with the same reports; in their `revealed`
            form if the game ends at the winning guess.
        weights
            ``(levels,)``, the probability of each level; all equal by default.
        prior
            The distribution of the code; uniform if None.

        Raises
        ------
        InvalidArgumentError
            If there is no level, or two belong to different boards or have different reports.
            If the weights are not probabilities of the levels.
            If the prior belongs to another board.
        TooLargeError
            If the board has too many codes for a belief.
        """
        channels = tuple(levels)
        board, number = channels[0].board, len(channels)
        return cls(
            levels=channels,
            weights=np.full(number, 1 / number) if weights is None else weights,
            prior=distribution_before(board, prior),
            history=(),
            groups=np.zeros(board.n_codes, dtype=np.intp),
            products=np.ones((1, number)),
        )

    @property
    def board(self) -> Board:
        """The board."""
        return self.levels[0].board

    @cached_property
    def channel(self) -> Channel:
        """The expected channel: the levels, weighted by their probabilities."""
        first = self.levels[0]
        matrices = np.stack([level.matrix for level in self.levels])
        matrix = np.tensordot(self.level_probabilities, matrices, axes=1)
        # A weighted sum of ones may differ from one by rounding.
        matrix = np.where((matrices == matrices[0]).all(axis=0), matrices[0], matrix)
        return Channel(
            board=self.board,
            reports=first.reports,
            matrix=matrix,
            name="unknown",
            ends=first.ends,
        )

    @cached_property
    def codes(self) -> CodeDistribution:
        """The probability of each code, given the history."""
        p = self.prior.probabilities * (self.products @ self.weights)[self.groups]
        p /= p.sum()
        p.setflags(write=False)
        return CodeDistribution(self.board, p)

    @cached_property
    def level_probabilities(self) -> Floats:
        """The probability of each level, given the history, ``(levels,)``."""
        masses = np.bincount(
            self.groups, weights=self.prior.probabilities, minlength=len(self.products)
        )
        p: Floats = (masses @ self.products) * self.weights
        p /= p.sum()
        p.setflags(write=False)
        return p

    def update(self, guess: Sequence[int], reply: Reply) -> UnknownNoiseBelief:
        """Return the belief after another guess and its reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channels never report the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them.
        """
        index = self.board.index(guess)
        likelihoods = np.stack([level.likelihood(reply) for level in self.levels], axis=1)
        turn = Turn(self.board.code(index), Reply.of(reply))
        history = (*self.history, turn)
        products = self.products[:, None, :] * likelihoods[None, :, :]
        pairs = self.groups * len(likelihoods) + replies_of(self.board, index)
        # Without the pairs that have no possible code, the largest product belongs to a code.
        masses = np.bincount(
            pairs, weights=self.prior.probabilities, minlength=len(self.products) * len(likelihoods)
        )
        rows = np.where(masses[:, None] > 0, products.reshape(-1, len(self.levels)), 0.0)
        rows = np.where(self.weights > 0, rows, 0.0)
        if not rows.any():
            raise impossible_history(self.channel, history)
        distinct, place = _distinct_rows(rows / rows.max())
        groups = place[pairs]
        return UnknownNoiseBelief(
            levels=self.levels,
            weights=self.weights,
            prior=self.prior,
            history=history,
            groups=groups,
            products=distinct,
        )

    @checked
    def information(self, guesses: NDArray[np.intp] | None = None) -> Floats:
        """Return the expected information of guesses about the code, in bits, ``(guesses,)``.

        A group of codes is added to the sums at a time, so the memory does not grow with the
        number of groups.

        Parameters
        ----------
        guesses
            The guesses, indices of codes; all codes by default.

        Raises
        ------
        TooLargeError
            If there are too many guesses.
        """
        matrices = np.stack([level.matrix for level in self.levels])
        number = self.board.n_codes if guesses is None else len(guesses)
        outcomes = np.zeros((number, matrices.shape[2]))
        lost = np.zeros(number)
        for group, given in enumerate(self.products * self.weights):
            part = np.where(self.groups == group, self.codes.probabilities, 0.0)
            size = part.sum()
            if not size > 0:
                continue
            rows = np.tensordot(given / given.sum(), matrices, axes=1)
            masses = size * CodeDistribution(self.board, part / size).masses(guesses)
            outcomes += masses @ rows
            lost += masses @ unchecked_entropy(rows)
        gained: Floats = np.maximum(unchecked_entropy(outcomes) - lost, 0.0)
        return gained


def _distinct_rows(products: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the rows that differ, and the place of each row among them."""
    with np.errstate(divide="ignore"):
        logs = np.log(products)
    keys: NDArray[Any] = np.where(np.isneginf(logs), -np.inf, np.round(logs * _DIGITS) / _DIGITS)
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return products[first], place.reshape(-1)


# --- The exact channel as the limit of vanishing noise --------------------------------------------


Counts: TypeAlias = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class VanishingBelief(FromCodes, Value):
    """A belief that trusts the replies as long as they do not contradict each other.

    It is the prior, restricted to the codes that contradict the fewest replies among those that
    the prior does not exclude. If the game ends at the winning guess, guessed codes are excluded.
    The belief keeps the count of every code, since a later reply may make other codes the best
    ones.

    Examples
    --------
    >>> belief = VanishingBelief.start(Board(4, 6))
    >>> for _ in range(2):
    ...     belief = belief.update((1, 1, 2, 2), Reply(0, 0))
    >>> belief.contradictions, belief.codes.possible_codes()
    (0, 256)
    >>> belief = belief.update((1, 1, 2, 2), Reply(0, 1))
    >>> belief.contradictions, belief.misreport_probabilities()
    (1, (0.0, 0.0, 1.0))
    """

    board: Board
    """The board."""
    reports: tuple[Reply, ...]
    """The replies that may be reported."""
    history: tuple[Turn, ...]
    """The turns so far, oldest first."""
    counts: Annotated[Counts, Ge(0), Shape("board.n_codes")]
    """The number of replies that each code contradicts, ``(n_codes,)``, read-only; one byte each,
    or more in a game of more than 254 turns."""
    ends: bool = True
    """Whether the game ends at the winning guess, which excludes codes already guessed."""
    prior: CodeDistribution | None = None
    """The distribution of the code before the first guess; uniform if None."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(counts=self.counts.astype(_counts_type(len(self.history))))

    def _faults(self) -> Iterator[str]:
        if self.prior is not None and self.prior.board != self.board:
            yield f"expected a prior of the board {self.board}, got one of {self.prior.board}"

    @classmethod
    @checked
    def start(
        cls,
        board: Board,
        *,
        reports: tuple[Reply, ...] | None = None,
        ends: bool = True,
        prior: Prior | None = None,
    ) -> VanishingBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        board
            The board.
        reports
            The replies that may be reported; by default the true replies. A noisy code-maker may
            report other replies too; a reply that is not a true reply contradicts every code.
        ends
            Whether the game ends at the winning guess. If so, a game that goes on excludes the
            codes already guessed.
        prior
            The distribution of the code before the first guess; uniform if None.

        Raises
        ------
        InvalidArgumentError
            If the prior belongs to another board.
        TooLargeError
            If the board has too many codes for a belief.
        """
        require_believable(board)
        accepted = board.true_replies if reports is None else reports
        listed = None if prior is None else distribution_before(board, prior)
        return cls(
            board=board,
            reports=accepted,
            history=(),
            counts=np.zeros(board.n_codes, dtype=_counts_type(0)),
            ends=ends,
            prior=None if isinstance(prior, UniformPrior) else listed,
        )

    @property
    def channel(self) -> Channel:
        """The exact channel; with the outcome "won" if ``ends`` is True."""
        return _exact(self.board, self.ends)

    @cached_property
    def codes(self) -> CodeDistribution:
        """The probability of each code, given the history."""
        counts = self._open_counts()
        best = counts == counts.min()
        if self.prior is None:
            probabilities = best / np.count_nonzero(best)
        else:
            probabilities = np.where(best, self.prior.probabilities, 0.0)
            probabilities /= probabilities.sum()
        probabilities.setflags(write=False)
        return CodeDistribution(self.board, probabilities)

    @cached_property
    def contradictions(self) -> int:
        """The number of replies that each possible code contradicts; 0 if the replies agree."""
        return int(self._open_counts().min())

    def _open_counts(self) -> Counts:
        """Return the counts; excluded codes get a number above every count."""
        if not self.ends and self.prior is None:
            return self.counts
        counts = self.counts.copy()
        excluded = np.iinfo(counts.dtype).max
        if self.ends:
            counts[[self.board.index(turn.guess) for turn in self.history]] = excluded
        if self.prior is not None:
            counts[self.prior.probabilities == 0] = excluded
        return counts

    def update(self, guess: Sequence[int], reply: Reply) -> VanishingBelief:
        """Return the belief after another guess and its reported reply.

        A reply counts once, whether one or both of its numbers differ.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the reply is not in ``reports``.
        ImpossibleEvidenceError
            If every code that the prior does not exclude has been guessed; the error names the
            replies.
        """
        reply = Reply.of(reply)
        if reply not in self.reports:
            raise InvalidArgumentError(
                impossibility(reply, self.board.pegs)
                or f"expected one of the {len(self.reports)} replies that may be reported on the "
                f"board {self.board}, got {reply}",
                reply,
            )
        index = self.board.index(guess)
        turn = Turn(self.board.code(index), reply)
        true = self.board.true_replies
        # A reply that is not a true reply gets the index after the last one, which no code has.
        reported = true.index(turn.reply) if turn.reply in true else len(true)
        differs = replies_of(self.board, index) != reported
        history = (*self.history, turn)
        if self.ends and self._guessed_all(history):
            among = "" if self.prior is None else "that the prior allows "
            raise ImpossibleEvidenceError(
                f"every code {among}of the board {self.board} has been guessed, but the game did"
                f" not end: {format_history(self.board, history)}",
                impossible_history(self.channel, history).evidence,
            )
        counts = np.add(self.counts, differs, dtype=_counts_type(len(history)))
        # The belief was checked, so its update is valid without a check.
        return made(
            VanishingBelief,
            board=self.board,
            reports=self.reports,
            history=history,
            counts=sealed(counts),
            ends=self.ends,
            prior=self.prior,
        )

    def _guessed_all(self, history: tuple[Turn, ...]) -> bool:
        """Return whether all codes of positive prior probability have been guessed."""
        guessed = {turn.guess for turn in history}
        if self.prior is None:
            return len(guessed) == self.board.n_codes
        return sum(self.prior.probability(code) > 0 for code in guessed) == self._allowed

    @cached_property
    def _allowed(self) -> int:
        """The number of codes of positive prior probability."""
        return self.board.n_codes if self.prior is None else self.prior.possible_codes()


@lru_cache(maxsize=8)
def _exact(board: Board, ends: bool) -> Channel:
    """Return the exact channel; all beliefs of a board share one object."""
    exact = Channel.exact(board)
    return exact.revealed() if ends else exact


def _counts_type(turns: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest integer type for counts of up to `turns`, and one more number."""
    return np.min_scalar_type(turns + 1)
