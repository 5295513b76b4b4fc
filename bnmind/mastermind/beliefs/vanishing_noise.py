"""The exact channel as the limit of vanishing noise.

Let each reply be false with a small probability ε, and let ε go to zero. The posterior then
becomes the prior, restricted to the codes that contradict the fewest replies. As long as the
replies are consistent, these are the possible codes. If they are not, the belief stays defined
and shows which replies to doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value, made, sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.mastermind.beliefs.belief import FromCodes, impossible_history
from bnmind.mastermind.board import Board, require_believable
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.reply_table import replies_of
from bnmind.mastermind.priors.prior import Prior, distribution_before
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import Reply, impossibility

__all__ = ["VanishingBelief"]

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
    counts: Annotated[Counts, Ge(0)]
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
        n, board = self.board.n_codes, self.board
        if self.counts.shape != (n,):
            yield (
                f"expected a count for each of the {n:,} codes of the board {board}, got an array"
                f" of shape {self.counts.shape}"
            )
        if self.prior is not None and self.prior.board != board:
            yield f"expected a prior of the board {board}, got one of {self.prior.board}"

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
