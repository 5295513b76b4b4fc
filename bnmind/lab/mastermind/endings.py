"""The endings of a game: revealed by the code-maker, declared by the breaker, or by a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol

from annotated_types import Ge, Gt, Le

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.strategies.base.needs import posterior_of

__all__ = ["MAX_GUESSES", "Declared", "Ending", "Guesses", "Limit", "Revealed"]

MAX_GUESSES = 10**6
"""The largest limit of guesses: the luck of each guess is drawn before the game."""
Guesses = Annotated[int, Ge(1), Le(MAX_GUESSES)]
"""A limit of guesses."""


class Ending(Protocol):
    """The rule that ends a game."""

    @property
    def reveals(self) -> bool:
        """Whether the code-maker truthfully ends the game when the guess is the code.

        Otherwise the breaker names a code at the end, and wins if it is right.
        """

    @property
    def limit(self) -> int:
        """The limit of guesses in a game."""

    def stops(self, belief: Belief) -> bool:
        """Return whether the breaker stops here and names the most probable code.

        Parameters
        ----------
        belief
            The belief about the code after the last reply.
        """


@dataclass(frozen=True)
class Revealed(Value):
    """The code-maker ends the game, truthfully, when the guess is the code.

    A report of all pegs black in a game that goes on is therefore false.
    """

    limit: Guesses = 100
    """The limit of guesses; a longer game is lost."""

    @property
    def reveals(self) -> bool:
        """The game ends at the winning guess."""
        return True

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return False: the breaker never stops."""
        return False


@dataclass(frozen=True)
class Declared(Value):
    """The breaker stops when sufficiently certain, and names a code, right or wrong."""

    certainty: Annotated[float, Gt(0), Le(1)] = 0.95
    """The sufficient probability of the most probable code, in (0, 1]."""
    limit: Guesses = 100
    """The limit of guesses; after the last one the breaker names a code, certain or not."""

    @property
    def reveals(self) -> bool:
        """The code-maker does not reveal that a guess is the code."""
        return False

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return whether one code is sufficiently probable, up to rounding."""
        return posterior_of(belief).most_probable(1)[0][1] >= self.certainty - 1e-12


@dataclass(frozen=True)
class Limit(Value):
    """The breaker has a fixed number of guesses, and then names the most probable code."""

    limit: Guesses
    """The number of guesses."""

    @property
    def reveals(self) -> bool:
        """The code-maker does not reveal that a guess is the code."""
        return False

    @checked
    def stops(self, belief: Belief) -> bool:
        """Return False: the breaker uses every guess."""
        return False
