"""Games on the relational network: their evidence, and the code given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import reply
from bnmind.pgm import Distribution

__all__ = ["code_probabilities", "code_targets", "random_turns", "relational_evidence"]


@checked
def random_turns(board: Board, n_guesses: int, *, rng: np.random.Generator) -> tuple[Turn, ...]:
    """Return random guesses and their true replies for a random code.

    The code and the guesses are drawn uniformly and independently from all codes with repeats.

    Parameters
    ----------
    board
        The board.
    n_guesses
        The number of guesses, at least 0.
    rng
        The source of random numbers.

    Raises
    ------
    InvalidArgumentError
        If the number of guesses is negative.

    Examples
    --------
    >>> import numpy as np
    >>> turns = random_turns(Board(3, 3), 2, rng=np.random.default_rng(1))
    >>> [(turn.guess, str(turn.reply)) for turn in turns]
    [((3, 1, 1), '0b1w'), ((3, 3, 1), '0b1w')]
    """
    if n_guesses < 0:
        raise InvalidArgumentError(
            f"expected a number of guesses of at least 0, got {n_guesses}", n_guesses
        )
    codes = rng.integers(1, board.colors + 1, size=(n_guesses + 1, board.pegs))
    secret, *guesses = [tuple(row) for row in codes.tolist()]
    return tuple([Turn(guess, reply(guess, secret)) for guess in guesses])


@checked
def relational_evidence(board: Board, turns: Sequence[Turn]) -> dict[str, str]:
    """Return the evidence of a game for `relational_network`: all guesses, and all replies.

    Parameters
    ----------
    board
        The board of the network.
    turns
        The guesses in order, with their replies.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
        If a reply is impossible on the board.

    Examples
    --------
    >>> from bnmind.mastermind import Reply
    >>> evidence = relational_evidence(Board(2, 2), [Turn((1, 2), Reply(0, 2))])
    >>> evidence["guess_1_1_1"], evidence["black_1_1_2"], evidence["white_1_2_2"]
    ('yes', 'no', 'yes')
    """
    evidence: dict[str, str] = {}
    for number, turn in enumerate(turns, start=1):
        guess = board.checked(turn.guess)
        if turn.reply not in board.true_replies:
            raise InvalidArgumentError(
                f"expected a reply that occurs on the board {board}, got {turn.reply} for guess"
                f" {number}",
                turn.reply,
            )
        for j, chosen in enumerate(guess, start=1):
            for color in range(1, board.colors + 1):
                evidence[f"guess_{number}_{j}_{color}"] = _word(color == chosen)
        for word, pegs in (("black", turn.reply.black), ("white", turn.reply.white)):
            for m in range(1, board.pegs + 1):
                evidence[f"{word}_{number}_{m}_{board.pegs}"] = _word(m <= pegs)
    return evidence


@checked
def code_targets(board: Board) -> tuple[str, ...]:
    """Return the variables of the code, peg by peg, color by color.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> code_targets(Board(2, 2))
    ('code_1_1', 'code_1_2', 'code_2_1', 'code_2_2')
    """
    pegs, colors = range(1, board.pegs + 1), range(1, board.colors + 1)
    return tuple([f"code_{i}_{color}" for i in pegs for color in colors])


@checked
def code_probabilities(board: Board, posterior: Mapping[str, Distribution]) -> Floats:
    """Return the probability of each color of each peg of the code, ``(pegs, colors)``.

    Parameters
    ----------
    board
        The board of the network.
    posterior
        The posterior of `code_targets`.
    """
    probabilities = [posterior[name]["yes"] for name in code_targets(board)]
    return np.array(probabilities).reshape(board.pegs, board.colors)


def _word(is_true: bool) -> str:
    return "yes" if is_true else "no"
