"""The exact channel as the limit of vanishing noise.

Let every reply be false with a small probability ε, and let ε go to zero: the posterior
becomes uniform over the codes that contradict the fewest replies. As long as the replies
agree with each other these are the codes still possible; when they do not, the belief
goes on, and says which replies to doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidReplyError
from bnmind.mastermind.belief import impossible_history, misreport_probabilities
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import Reply
from bnmind.mastermind.reply_table import replies_to

__all__ = ["VanishingBelief"]


@dataclass(frozen=True, eq=False)
class VanishingBelief:
    """The belief of one who trusts the replies, until they contradict each other.

    Uniform over the codes not yet guessed that contradict the fewest replies. The count
    is kept for every code, since a later reply may make other codes the best.

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
    """The turns taken in, oldest first."""
    counts: NDArray[np.int32]
    """How many replies each code contradicts, ``(n_codes,)``, read-only."""

    def __post_init__(self) -> None:
        counts = np.array(self.counts, dtype=np.int32)
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    def __reduce__(self) -> tuple[Any, ...]:
        return (VanishingBelief, (self.board, self.reports, self.history, self.counts))

    @classmethod
    def start(cls, board: Board, *, reports: tuple[Reply, ...] | None = None) -> VanishingBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        board
            The board.
        reports
            The replies that may be reported; the true replies unless given. One who
            trusts the replies of a noisy code-maker may hear others too: a reply that
            no code draws contradicts every code.

        Raises
        ------
        TooLargeError
            If the codes of the board are too many to be listed.
        """
        heard = board.true_replies if reports is None else reports
        return cls(board, heard, (), np.zeros(len(board.codes), dtype=np.int32))

    @cached_property
    def channel(self) -> Channel:
        """The exact channel of a game that ends when it is won."""
        return Channel.exact(self.board).revealed()

    @cached_property
    def codes(self) -> CodeDistribution:
        """The probability of every code given the history."""
        best = self._open & (self.counts == self.contradictions)
        return CodeDistribution(self.board, best / np.count_nonzero(best))

    @cached_property
    def contradictions(self) -> int:
        """How many replies the codes of positive probability contradict; 0 if all agree."""
        return int(self.counts[self._open].min())

    @cached_property
    def _open(self) -> NDArray[np.bool_]:
        """Which codes have not been guessed, ``(n_codes,)``."""
        mask = np.ones(len(self.counts), dtype=np.bool_)
        mask[[self.board.index(turn.guess) for turn in self.history]] = False
        return mask

    def update(self, guess: Sequence[int], reply: Reply) -> VanishingBelief:
        """Return the belief after one more guess and the reply reported to it.

        A reply counts once, whether one or both of its numbers differ.

        Raises
        ------
        InvalidCodeError
            If the guess is not of the board.
        InvalidReplyError
            If the reply is none of ``reports``.
        ImpossibleEvidenceError
            If every code has been guessed by now; it names the replies.
        """
        if reply not in self.reports:
            raise InvalidReplyError(
                f"expected one of the {len(self.reports)} replies that may be reported on the "
                f"board {self.board}, got {Reply(*reply)}",
                reply,
            )
        turn = Turn(tuple(int(color) for color in guess), Reply(*reply))
        true = self.board.true_replies
        # No code draws a reply that is not true, and no place is -1.
        reported = true.index(turn.reply) if turn.reply in true else -1
        differs = replies_to(self.board, turn.guess).astype(np.int16) != reported
        history = (*self.history, turn)
        updated = VanishingBelief(self.board, self.reports, history, self.counts + differs)
        if not updated._open.any():
            raise impossible_history(self.channel, history)
        return updated

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return for each turn the probability that its reply was misreported."""
        return misreport_probabilities(self.codes, self.history)
