"""The demands of a strategy on the belief from which it chooses."""

from __future__ import annotations

from enum import Enum
from typing import cast

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.beliefs.belief import Belief, ExactBelief, Posterior
from bnmind.mastermind.masses.distribution import CodeDistribution

__all__ = ["Needs", "distribution_of", "posterior_of"]


class Needs(Enum):
    """The part of a belief that a strategy uses."""

    HISTORY = "history"
    """Only the guesses and the replies, so any `Belief` will do, on boards of any size."""
    SAMPLES = "samples"
    """Codes drawn from the belief and estimates: a `Posterior`."""
    DISTRIBUTION = "distribution"
    """The probability of each code: an `ExactBelief`."""


def distribution_of(belief: Belief) -> CodeDistribution:
    """Return the probability of each code.

    Parameters
    ----------
    belief
        The belief.

    Raises
    ------
    InvalidArgumentError
        If the belief does not hold it.
    """
    if hasattr(belief, "codes"):
        return cast(ExactBelief, belief).codes
    raise InvalidArgumentError(
        f"expected a belief that holds the probability of each code, such as TableBelief, got "
        f"{type(belief).__name__}",
        belief,
    )


def posterior_of(belief: Belief) -> Posterior:
    """Return the belief as one that knows or estimates probabilities.

    Parameters
    ----------
    belief
        The belief.

    Raises
    ------
    InvalidArgumentError
        If the belief does not know them.
    """
    if hasattr(belief, "masses"):
        return cast(Posterior, belief)
    raise InvalidArgumentError(
        f"expected a belief that knows or estimates the probabilities of codes, such as "
        f"TableBelief, got {type(belief).__name__}",
        belief,
    )
