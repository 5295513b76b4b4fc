"""What the replies say: true replies, colors of positions, and histories that differ in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from bnmind.errors import InvalidArgumentError, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bnmind.information import Floats
    from bnmind.mastermind import Posterior, Reply, Turn

__all__ = [
    "GuessInformation",
    "changed",
    "code_weights",
    "color_probabilities",
    "few_codes",
    "information_of_guesses",
    "is_estimated",
    "learned_noise",
    "true_replies",
    "winning_probability",
]

_SAMPLES = 4000
"""How many codes are drawn from a belief that does not list them."""
_ROUNDING = 1e-9

_SOON = 1.0
"""All guesses are evaluated if that takes less, in seconds; otherwise a sample of them."""
_MOST_PAIRS = 2**24
"""The most pairs of a guess and a group of codes for which all guesses are evaluated."""
_SAMPLED_GUESSES = 500


def winning_probability(belief: Posterior, guess: Sequence[int]) -> float:
    """Return the probability that a guess is the code.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
    """
    import numpy as np

    board = belief.board
    masses = belief.masses(np.array([board.index(guess)]))[0]
    return float(masses[board.true_replies.index(board.winning)])


def true_replies(belief: Posterior, guess: Sequence[int]) -> tuple[tuple[Reply, float], ...]:
    """Return the true replies to a guess that are possible, the most probable first.

    The probabilities are conditional on the whole history of the belief. For a guess of the history
    they tell which reply the code-maker probably should have given.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply, TableBelief
    >>> belief = TableBelief.start(Channel.false_reply(Board(2, 3), 0.2))
    >>> for _ in range(2):
    ...     belief = belief.update((1, 1), Reply(0, 0))
    >>> [(str(reply), round(p, 3)) for reply, p in true_replies(belief, (1, 1))]
    [('0b0w', 0.997), ('1b0w', 0.003)]
    """
    import numpy as np

    board = belief.board
    masses = belief.masses(np.array([board.index(guess)]))[0]
    possible = [(one, float(p)) for one, p in zip(board.true_replies, masses, strict=True) if p > 0]
    return tuple(sorted(possible, key=lambda pair: -pair[1]))


def color_probabilities(belief: Posterior) -> tuple[tuple[float, ...], ...]:
    """Return the probability of each color at each position, ``(pegs, colors)``.

    They are exact if the belief has the probability of each code, and otherwise the shares among
    codes drawn from it.
    """
    import numpy as np

    codes, weights = code_weights(belief)
    return tuple(
        tuple(np.bincount(column, weights=weights, minlength=belief.board.colors + 1)[1:].tolist())
        for column in codes.T
    )


def few_codes(
    belief: Posterior, most: int = 12, *, share: float = 0.95
) -> tuple[tuple[str, float], ...] | None:
    """Return the most probable codes that together have a probability; None if they are many.

    Parameters
    ----------
    belief
        The belief about the code.
    most
        The largest number of codes to return.
    share
        The probability that the codes reach together. Codes as probable as the last one of them
        are returned, too.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply, TableBelief
    >>> belief = TableBelief.start(Channel.exact(Board(2, 4))).update((1, 2), Reply(0, 2))
    >>> few_codes(belief), few_codes(belief, 0)
    ((('21', 1.0),), None)
    """
    from bnmind.lab.mastermind.advice import most_probable

    likely = [pair for pair in most_probable(belief, most + 1) if pair[1] > 0]
    total, n = 0.0, 0
    while n < len(likely) and (total < share - _ROUNDING or _as_probable(likely, n)):
        total, n = total + likely[n][1], n + 1
    return tuple(likely[:n]) if total >= share - _ROUNDING and n <= most else None


def _as_probable(likely: Sequence[tuple[str, float]], n: int) -> bool:
    """Return whether a code is as probable as the one before it."""
    return n > 0 and likely[n][1] > likely[n - 1][1] * (1 - _ROUNDING)


def is_estimated(belief: Posterior) -> bool:
    """Return whether the probabilities of a belief are estimated from samples of the codes."""
    from bnmind.mastermind import SampledBelief

    return isinstance(belief, SampledBelief) and belief.listed is None


def learned_noise(belief: Posterior) -> float | None:
    """Return the expected error probability of a belief that learns it; None for other beliefs."""
    from bnmind.mastermind import UnknownNoiseBelief

    if not isinstance(belief, UnknownNoiseBelief):
        return None
    levels = [float(one.name.partition(":")[2]) for one in belief.levels]
    probabilities: list[float] = belief.level_probabilities.tolist()
    return sum(p * q for p, q in zip(levels, probabilities, strict=True))


def code_weights(belief: Posterior) -> tuple[NDArray[np.uint8], Floats]:
    """Return codes, ``(codes, pegs)``, and their weights, which sum to one.

    These are all codes of the board if the belief has the probability of each, and otherwise codes
    drawn from it.
    """
    import numpy as np

    if hasattr(belief, "codes"):
        return belief.board.codes, belief.codes.probabilities
    codes = belief.draw(_SAMPLES, np.random.default_rng(0))
    return codes, np.full(len(codes), 1 / len(codes))


class GuessInformation(NamedTuple):
    """The expected information of guesses, in bits."""

    values: Floats
    """The information of one guess of each kind."""
    numbers: NDArray[np.intp]
    """The number of guesses of each kind, which are alike by symmetry."""
    is_sample: bool
    """Whether these are random guesses, because there are too many to evaluate all."""


def information_of_guesses(belief: Posterior, rng: np.random.Generator) -> GuessInformation:
    """Return the expected information of all guesses, or of random ones if there are too many.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmind.mastermind import Board, Channel, TableBelief
    >>> belief = TableBelief.start(Channel.exact(Board(2, 3)))
    >>> told = information_of_guesses(belief, np.random.default_rng(0))
    >>> sorted(zip(told.values.round(2).tolist(), told.numbers.tolist()))
    [(1.39, 3), (2.06, 6)]
    """
    import numpy as np

    from bnmind.information import information
    from bnmind.mastermind import UnknownNoiseBelief
    from bnmind.mastermind.masses.mass_plan import plan_masses

    board = belief.board
    unknown = belief if isinstance(belief, UnknownNoiseBelief) else None
    if unknown is not None:
        if board.n_codes * board.n_codes * len(unknown.products) <= _MOST_PAIRS:
            values = unknown.information()
            return GuessInformation(values, np.ones(len(values), dtype=np.intp), False)
    elif hasattr(belief, "codes"):
        weights = belief.codes.probabilities
        try:
            plan = plan_masses(board, weights, history=belief.history)
        except TooLargeError:
            plan = None
        if plan is not None and plan.way.seconds <= _SOON:
            values = information(plan.run(weights), belief.channel.matrix)
            return GuessInformation(values, plan.sizes, False)
    guesses = np.sort(rng.choice(board.n_codes, min(_SAMPLED_GUESSES, board.n_codes), False))
    if unknown is not None:
        values = unknown.information(guesses)
    else:
        values = information(belief.masses(guesses), belief.channel.matrix)
    is_sample = len(guesses) < board.n_codes
    return GuessInformation(values, np.ones(len(values), dtype=np.intp), is_sample)


def changed(turns: Sequence[Turn], row: int, reply: Reply | None) -> tuple[Turn, ...]:
    """Return a history in which one row has another reply, or is left out.

    Parameters
    ----------
    turns
        The history.
    row
        The position of the row, from 0.
    reply
        The reply of the row instead; None leaves the row out.

    Raises
    ------
    InvalidArgumentError
        If there is no such row.
    """
    from bnmind.mastermind import Turn

    if not 0 <= row < len(turns):
        raise InvalidArgumentError(
            f"expected a row from 0 to {len(turns) - 1} of the history, got {row}", row
        )
    instead = () if reply is None else (Turn(turns[row].guess, reply),)
    return (*turns[:row], *instead, *turns[row + 1 :])
