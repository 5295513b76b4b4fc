"""The setting of a game at the command line: the prior, the ending and the limit of guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bnmind.cli.shared.members import Described, command_with_members
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Channel, Prior
    from bnmind.strategies import Situation

__all__ = [
    "UNIFORM",
    "GameCommand",
    "PriorCommand",
    "channel_of_known_noise",
    "prior_of",
    "situation_of",
]

UNIFORM = "uniform"
"""The name of the prior that needs no list of probabilities."""


@dataclass(frozen=True)
class _Line:
    """A line of a help text."""

    about: str


# These lines repeat the registries, so that help does not import them; a test compares them.
_PRIORS = {
    "uniform": "all codes alike",
    "two-color": "two colors, any code of them",
    "alternating": "two colors in turn, such as 1212",
    "only-once": "no color twice",
    "first-last-equal": "the same color at the first and the last peg",
    "usually-fewer": "two or three colors nine times out of ten",
    "prefer-fewer": "one color in half of all games, and rarely many",
    "fewer-colors[:NUMBER]": "each further color divides the probability by e^NUMBER (default e)",
    "only-colors:COLOR+COLOR": "codes of some colors only",
    "fixed:W,W,…": "independent pegs with these weights of the colors; / between positions",
    "file:PATH": "a CSV file with the columns code and probability",
    "learned": "learns which of these code-makers it is",
    "learned-colors": "learns the frequent colors of each position",
    "learned-number": "learns the usual number of colors",
}

_ENDINGS = {
    "revealed": "the code-maker ends the game at the code",
    "declared[:NUMBER]": "the breaker names a code of probability NUMBER (default 0.95)",
    "limit": "the breaker names the code after all guesses",
}


def _lines(texts: Mapping[str, str]) -> Mapping[str, Described]:
    return {name: _Line(about) for name, about in texts.items()}


PriorCommand = command_with_members(Priors=lambda: _lines(_PRIORS))
"""A command whose help lists the priors."""

GameCommand = command_with_members(Priors=lambda: _lines(_PRIORS), Endings=lambda: _lines(_ENDINGS))
"""A command whose help lists the priors and the endings."""


def channel_of_known_noise(board: Board, text: str) -> Channel:
    """Return the channel of a noise; for unknown noise, name the command that learns it.

    Raises
    ------
    InvalidArgumentError
        If the text is no noise, or ``unknown``.
    """
    from bnmind.mastermind import parse_noise

    try:
        return parse_noise(board, text)
    except InvalidArgumentError as fault:
        if text.strip() != "unknown":
            raise
        raise InvalidArgumentError(
            f"{fault}; `bnmind assist --noise unknown` learns the noise from the replies", text
        ) from fault


def prior_of(board: Board, text: str) -> Prior | None:
    """Return the prior that a text describes; None if it is uniform."""
    from bnmind.mastermind import parse_prior

    return None if text.strip() == UNIFORM else parse_prior(board, text)


def situation_of(max_guesses: int | None, turns: int, memory: object = None) -> Situation:
    """Return the situation of a strategy in a game with a limit of guesses.

    Raises
    ------
    InvalidArgumentError
        If no guess is left.
    """
    from bnmind.strategies import Situation

    if max_guesses is None:
        return Situation(memory=memory)
    if max_guesses <= turns:
        raise InvalidArgumentError(
            f"expected --max-guesses above {turns}, the number of guesses so far, got"
            f" {max_guesses}",
            max_guesses,
        )
    return Situation(memory=memory, guesses_left=max_guesses - turns)
