"""The options of a game at the command line, and its setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind.cli.shared.command import Count, OneOf
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    from bnmind.lab import Ending
    from bnmind.mastermind import Board, Channel, Prior
    from bnmind.strategies import Situation

__all__ = [
    "DEFAULT_COLORS",
    "DEFAULT_PEGS",
    "NOISES",
    "NO_REPEATS",
    "UNIFORM",
    "BoardOptions",
    "CodePrior",
    "EndingName",
    "History",
    "Limit",
    "Noise",
    "NoiseName",
    "Player",
    "PriorName",
    "channel_of_known_noise",
    "ending_of",
    "prior_of",
    "situation_of",
]

DEFAULT_PEGS = 4
DEFAULT_COLORS = 6
UNIFORM = "uniform"
"""The name of the prior that needs no list of probabilities."""

NOISES = {
    "exact": "Every reply is true.",
    "false:P": "A random reply replaces the true one with this probability.",
    "independent:P": "Each number is wrong with this probability.",
    "file:PATH": "A CSV file of true and reported replies.",
}

NoiseName: TypeAlias = Annotated[str, "NOISE", OneOf(f"{__name__}:NOISES")]
PriorName: TypeAlias = Annotated[str, "PRIOR", OneOf("bnmind.mastermind:PRIORS", "Priors")]
EndingName: TypeAlias = Annotated[str, "ENDING", OneOf("bnmind.lab:ENDINGS", "Endings")]
Noise: TypeAlias = Annotated[
    NoiseName,
    typer.Option(help="How replies are falsified: exact, false:P, independent:P or file:PATH."),
]
CodePrior: TypeAlias = Annotated[
    PriorName, typer.Option(help="How the code-maker chooses codes; see below.")
]
Player: TypeAlias = Annotated[
    str,
    OneOf("bnmind.strategies:STRATEGIES"),
    typer.Option(help="The strategy that proposes guesses; bnmind strategy --help lists them."),
]
NO_REPEATS = "--no-repeats/--repeats"
History: TypeAlias = Annotated[
    list[str] | None,
    "TEXT",
    typer.Option(
        help='Guesses and the replies to them, like "1123 1b1w, 2345 0b2w". A repeated option goes'
        " on.",
    ),
]
Limit: TypeAlias = Annotated[
    Count | None, typer.Option(min=1, help="The limit of guesses in the game, if any.")
]


@dataclass(frozen=True, kw_only=True)
class BoardOptions:
    """The board of a game."""

    pegs: Annotated[int, typer.Option(help="Positions of a code.")] = DEFAULT_PEGS
    colors: Annotated[int, typer.Option(help="Colors that a peg can have.")] = DEFAULT_COLORS
    no_repeats: Annotated[
        bool,
        typer.Option(
            NO_REPEATS,
            help="Whether a color may occur twice, in codes and in guesses. [default: it may]",
        ),
    ] = False

    @property
    def board(self) -> Board:
        """The board."""
        from bnmind.mastermind import Board

        return Board(self.pegs, self.colors, repeats=not self.no_repeats)


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


def ending_of(text: str, max_guesses: int | None, *, most: int) -> Ending:
    """Return the ending that a text describes.

    Parameters
    ----------
    text
        The ending, as it is typed.
    max_guesses
        The limit of guesses that was given, if any.
    most
        The limit otherwise.

    Raises
    ------
    InvalidArgumentError
        If the ending needs a limit, and none was given.
    """
    from bnmind.lab import Limit, parse_ending

    ending = parse_ending(text, most if max_guesses is None else max_guesses)
    if isinstance(ending, Limit) and max_guesses is None:
        raise InvalidArgumentError("the ending limit needs --max-guesses N", text)
    return ending


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
