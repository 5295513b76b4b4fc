"""The mean number of guesses of a strategy under noise, without games drawn at random.

All histories are followed turn by turn until they are too improbable. Histories
that lead to the same probabilities of the codes are followed as one, so the number of beliefs
grows slowly on small boards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import Strategy

__all__ = ["NoisyMean", "mean_under_noise"]

_DIGITS = 10  # probabilities that agree in so many decimals are equal


_MOST_GUESSES = 10_000


@dataclass(frozen=True, kw_only=True)
class NoisyMean(Value):
    """The mean number of guesses of a strategy under noise."""

    strategy: str
    """The name of the strategy."""
    channel: Channel
    """The channel, in its `revealed` form."""
    lower: float
    """The mean is at least this: every game that was not followed to its end counts one guess
    more."""
    mean: float
    """The mean if these games guess the codes in the order of their probabilities."""
    unfinished: float
    """The probability of a game that was not followed to its end."""
    beliefs: int
    """The number of different beliefs from which the strategy chose a guess."""


@dataclass(frozen=True)
class _Node:
    """A belief that games reach after the same number of turns."""

    belief: Belief
    weights: Floats  # of the codes, times the probability of the histories
    situation: Situation


@checked
def mean_under_noise(
    strategy: Strategy,
    channel: Channel,
    *,
    least_mass: float = 1e-6,
    progress: Callable[[int, float], None] | None = None,
) -> NoisyMean:
    """Return the mean number of guesses of a strategy, from its guesses after all histories.

    Parameters
    ----------
    strategy
        A deterministic strategy, whose guess depends only on the probabilities of the codes and on
        its memory. Histories with the same probabilities are merged; of a strategy that depends on
        more, such as one that trusts replies, the game follows one of the merged histories.
    channel
        The channel; the strategy knows it. All codes are equally likely, and the code-maker
        truthfully ends the game at the right guess.
    least_mass
        Beliefs that games reach with a smaller probability are not followed.
    progress
        Called after each turn with its number and the probability that the game goes on.

    Raises
    ------
    InvalidArgumentError
        If the strategy is not deterministic, or does not find every code within many guesses, or
        ``least_mass`` is not between 0 and 1.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import Entropy
    >>> found = mean_under_noise(Entropy(), Channel.exact(Board(2, 3)))
    >>> round(9 * found.mean), found.unfinished
    (21, 0.0)
    """
    if not strategy.deterministic:
        raise InvalidArgumentError(
            f"expected a deterministic strategy, got {strategy.name}; play games instead", strategy
        )
    if not 0 < least_mass < 1:
        raise InvalidArgumentError(
            f"expected a least mass between 0 and 1, got {least_mass}", least_mass
        )
    played = channel.revealed()
    n = channel.board.n_codes
    nodes = [_Node(strategy.start(played), np.full(n, 1 / n), FIRST_TURN)]
    lower = mean = unfinished = 0.0
    beliefs = turn = 0
    while nodes:
        turn += 1
        if turn > _MOST_GUESSES:
            raise InvalidArgumentError(
                f"{strategy.name} did not find a code within {_MOST_GUESSES:,} guesses", strategy
            )
        going_on = sum(float(node.weights.sum()) for node in nodes)
        following: dict[object, _Node] = {}
        for node in nodes:
            mass = float(node.weights.sum())
            lower += mass
            if mass < least_mass:
                unfinished += mass
                mean += float(np.sort(node.weights)[::-1] @ np.arange(1, n + 1))
            else:
                mean += mass
                beliefs += 1
                _add_following(following, strategy, played, node)
        if progress is not None:
            progress(turn, going_on)
        nodes = list(following.values())
    return NoisyMean(
        strategy=strategy.name,
        channel=played,
        lower=lower,
        mean=mean,
        unfinished=unfinished,
        beliefs=beliefs,
    )


def _add_following(
    following: dict[object, _Node], strategy: Strategy, channel: Channel, node: _Node
) -> None:
    """Add the beliefs after the next guess of a strategy to those of the next turn."""
    # A deterministic strategy does not use the generator.
    index, info = strategy.choose(node.belief, np.random.default_rng(0), node.situation)
    guess = channel.board.code(index)
    rows = channel.matrix[replies_to(channel.board, guess)]
    for column, report in enumerate(channel.reports):
        weights = node.weights * rows[:, column]
        mass = float(weights.sum())
        if mass <= 0:
            continue
        key = (np.round(weights / mass, _DIGITS).tobytes(), info.memory)
        same = following.get(key)
        if same is None:
            belief = node.belief.update(guess, report)
            following[key] = _Node(belief, weights, Situation(memory=info.memory))
        else:
            following[key] = _Node(same.belief, same.weights + weights, same.situation)
