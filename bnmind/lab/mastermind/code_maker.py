"""The code-maker: a secret, a channel, and luck that is settled beforehand."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import check_fields, checked, number_array
from bnmind._messages import shown
from bnmind.errors import BnmindError, InvalidProbabilityError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.reply import Reply, reply

__all__ = ["CodeMaker", "strategy_rng"]


_MOST_TURNS = 10**7


@dataclass(frozen=True, eq=False)
class CodeMaker:
    """One who has hidden a code and answers through a channel.

    The luck of every turn is one number, drawn before the game. So two strategies that
    play against the same code-maker meet the same luck, and their games can be compared.

    Examples
    --------
    >>> maker = CodeMaker.from_seed(Channel.false_reply(Board(4, 6), 0.2), 8)
    >>> maker.secret
    (6, 4, 5, 2)
    >>> true, reported = maker.answer(0, (1, 1, 2, 2))
    >>> str(true), str(reported)
    ('1b0w', '1b0w')
    """

    channel: Channel
    """What the replies pass through."""
    secret: tuple[int, ...]
    """The hidden code."""
    noise: Floats
    """``(turns,)``, in [0, 1), read-only: the luck of every turn; see `Channel.draw`."""
    seed: int | None = None
    """What the secret and the luck were drawn from, if anything."""

    def __post_init__(self) -> None:
        check_fields(self)
        noise = np.array(number_array(self.noise, "noise"))
        if noise.ndim != 1 or not np.all((noise >= 0) & (noise < 1)):
            raise InvalidProbabilityError("expected noise of numbers in [0, 1)", self.noise)
        noise.setflags(write=False)
        object.__setattr__(self, "noise", noise)
        self.board.index(self.secret)
        object.__setattr__(self, "secret", tuple(int(color) for color in self.secret))

    def __reduce__(self) -> tuple[Any, ...]:
        return (CodeMaker, (self.channel, self.secret, self.noise, self.seed))

    @classmethod
    @checked
    def from_seed(
        cls, channel: Channel, seed: int, *, secret: Sequence[int] | None = None, turns: int = 100
    ) -> CodeMaker:
        """Return the code-maker of a seed.

        Parameters
        ----------
        channel
            What the replies pass through.
        seed
            Not negative. The secret and the luck are drawn from it independently of
            each other: to give the secret does not change the luck.
        secret
            The hidden code; drawn uniformly unless given.
        turns
            How many turns the luck is to last.
        """
        if not 0 <= turns <= _MOST_TURNS:
            raise BnmindError(f"expected turns from 0 to {_MOST_TURNS:,}, got {shown(turns)}")
        secret_source, noise_source, _ = _sources(seed)
        if secret is None:
            chosen = _uniform_code(channel.board, np.random.default_rng(secret_source))
        else:
            chosen = tuple(secret)
        return cls(channel, chosen, np.random.default_rng(noise_source).random(turns), seed)

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @checked
    def answer(self, turn: int, guess: Sequence[int]) -> tuple[Reply, Reply | None]:
        """Return the true reply to a guess, and the reply reported.

        Parameters
        ----------
        turn
            How many turns there were before: 0, 1, …
        guess
            Colors 1..k, one a peg.

        Returns
        -------
        tuple[Reply, Reply | None]
            The true reply and the report; None stands for "won", which a channel says
            truthfully if it is `revealed`, and other channels never.

        Raises
        ------
        InvalidCodeError
            If the guess is not of the board.
        BnmindError
            If the game is longer than the luck lasts.
        """
        self.board.index(guess)
        if not 0 <= turn < len(self.noise):
            raise BnmindError(f"expected a turn below {len(self.noise)}, got {turn}")
        true = reply(guess, self.secret)
        outcome = self.channel.draw(self.board.true_replies.index(true), float(self.noise[turn]))
        return true, None if outcome == self.channel.won_index else self.channel.reports[outcome]


@checked
def strategy_rng(seed: int) -> np.random.Generator:
    """Return the generator for the breaker of a game, apart from the code-maker's luck."""
    return np.random.default_rng(_sources(seed)[2])


def _sources(seed: int) -> list[np.random.SeedSequence]:
    """Return where the secret, the luck and the breaker's choices of a seed come from."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise BnmindError(f"expected a seed that is a whole number from 0, got {shown(seed)}")
    return np.random.SeedSequence(number).spawn(3)


def _uniform_code(board: Board, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a code drawn uniformly, on boards of any size."""
    if board.repeats:
        return tuple((rng.integers(board.colors, size=board.pegs) + 1).tolist())
    return tuple((rng.permutation(board.colors)[: board.pegs] + 1).tolist())
