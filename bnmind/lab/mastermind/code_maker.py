"""The code-maker: a secret, a channel, and random numbers drawn before the game."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked, number_array
from bnmind._display import outline
from bnmind._messages import shown
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior, require_same_board
from bnmind.mastermind.reply import Reply, reply

__all__ = ["CodeMaker", "strategy_rng"]


_MOST_TURNS = 10**7


@dataclass(frozen=True, eq=False)
class CodeMaker(Value):
    """A player who hides a code and answers through a channel.

    The luck of each turn is one random number, drawn before the game. Two strategies that play
    against the same code-maker have the same luck, so their games can be compared.

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
    """The channel that reports the replies."""
    secret: tuple[int, ...]
    """The secret code."""
    noise: Floats
    """``(turns,)``, in [0, 1), read-only: the luck of every turn; see `Channel.draw`."""
    seed: int | None = None
    """The seed of the secret and the luck, if there is one."""
    prior: Prior | None = None
    """The distribution from which the secret was drawn; uniform if None."""

    __repr__ = outline

    def __post_init__(self) -> None:
        self._convert()
        noise = np.array(number_array(self.noise, "noise"))
        if noise.ndim != 1 or not np.all((noise >= 0) & (noise < 1)):
            raise InvalidArgumentError("expected noise numbers in [0, 1)", self.noise)
        noise.setflags(write=False)
        object.__setattr__(self, "noise", noise)
        self.board.index(self.secret)
        if self.prior is not None:
            require_same_board(self.board, self.prior)
        object.__setattr__(self, "secret", tuple(int(color) for color in self.secret))

    def __reduce__(self) -> tuple[Any, ...]:
        return (CodeMaker, (self.channel, self.secret, self.noise, self.seed, self.prior))

    @classmethod
    @checked
    def from_seed(
        cls,
        channel: Channel,
        seed: int,
        *,
        secret: Sequence[int] | None = None,
        turns: int = 100,
        prior: Prior | None = None,
    ) -> CodeMaker:
        """Return the code-maker with a seed.

        Parameters
        ----------
        channel
            The channel that reports the replies.
        seed
            Not negative. It determines the secret and the luck independently of each other, so
            giving the secret does not change the luck.
        secret
            The secret code; by default drawn from the prior.
        turns
            The number of turns for which to draw the luck.
        prior
            The distribution of the secret code; uniform if None.

        Raises
        ------
        InvalidArgumentError
            If the prior belongs to another board.
            If the number of turns is negative or too large.
        """
        if not 0 <= turns <= _MOST_TURNS:
            raise InvalidArgumentError(
                f"expected a number of turns from 0 to {_MOST_TURNS:,}, got {shown(turns)}", turns
            )
        secret_source, noise_source, _ = _sources(seed)
        if secret is not None:
            chosen = tuple(secret)
        elif prior is None:
            chosen = _uniform_code(channel.board, np.random.default_rng(secret_source))
        else:
            require_same_board(channel.board, prior)
            chosen = tuple(prior.draw(1, np.random.default_rng(secret_source))[0].tolist())
        return cls(
            channel=channel,
            secret=chosen,
            noise=np.random.default_rng(noise_source).random(turns),
            seed=seed,
            prior=prior,
        )

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
            The number of previous turns: 0, 1, …
        guess
            Colors 1..k, one for each peg.

        Returns
        -------
        tuple[Reply, Reply | None]
            The true reply and the report. None stands for "won", which a `revealed` channel
            reports truthfully; other channels never report it.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the turn is beyond the luck drawn for the game.
        """
        self.board.index(guess)
        if not 0 <= turn < len(self.noise):
            raise InvalidArgumentError(f"expected a turn below {len(self.noise)}, got {turn}", turn)
        true = reply(guess, self.secret)
        outcome = self.channel.draw(self.board.true_replies.index(true), float(self.noise[turn]))
        return true, None if outcome == self.channel.won_index else self.channel.reports[outcome]


@checked
def strategy_rng(seed: int) -> np.random.Generator:
    """Return the random generator of a strategy, independent of the code-maker's luck.

    Parameters
    ----------
    seed
        The seed of the game, at least 0.
    """
    return np.random.default_rng(_sources(seed)[2])


def _sources(seed: int) -> list[np.random.SeedSequence]:
    """Return the seed sequences of the secret, the luck and the choices of the strategy."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidArgumentError(
            f"expected a seed that is a whole number from 0, got {shown(seed)}", seed
        )
    return np.random.SeedSequence(number).spawn(3)


def _uniform_code(board: Board, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a code drawn uniformly, on boards of any size."""
    if board.repeats:
        return tuple((rng.integers(board.colors, size=board.pegs) + 1).tolist())
    return tuple((rng.permutation(board.colors)[: board.pegs] + 1).tolist())
