"""The options of a game at the command line, and its setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from bnmind import lab, mastermind, strategies
from bnmind._files import check_writable
from bnmind.cli.shared.command import Count, OneOf, Seed, is_saved
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.mastermind import advice as advising

if TYPE_CHECKING:
    from bnmind.lab.mastermind.saved_games import SavedGame, SavedPlay
    from bnmind.mastermind import Board, Channel, Posterior, Prior

_DEFAULT_PEGS = 4
_DEFAULT_COLORS = 6
_Saved = TypeVar("_Saved", "SavedGame", "SavedPlay")

UNIFORM = "uniform"
"""The name of the prior that needs no list of probabilities."""

UNKNOWN = "unknown"
"""The noise of a code-maker of whom nobody knows how often the replies are false."""

NOISES = {
    "exact": "Every reply is true.",
    "false:P": "A random reply replaces the true one with this probability.",
    "independent:P": "Each number is wrong with this probability.",
    "file:PATH": "A CSV file of true and reported replies.",
}

# These lines repeat the registries, so that help does not import them; a test compares them.
PRIORS = {
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

ENDINGS = {
    "revealed": "the code-maker ends the game at the code",
    "declared[:NUMBER]": "the breaker names a code of probability NUMBER (default 0.95)",
    "limit": "the breaker names the code after all guesses",
}

NoiseName: TypeAlias = Annotated[str, "NOISE", OneOf(f"{__name__}:NOISES")]
PriorName: TypeAlias = Annotated[str, "PRIOR", OneOf(f"{__name__}:PRIORS", "Priors")]
EndingName: TypeAlias = Annotated[str, "ENDING", OneOf(f"{__name__}:ENDINGS", "Endings")]
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
_NoRepeats: TypeAlias = Annotated[bool, typer.Option("--no-repeats/--repeats")]
History: TypeAlias = Annotated[
    list[str] | None,
    "TEXT",
    typer.Option(
        help='Guesses and the replies to them, like "1123 1b1w, 2345 0b2w". A repeated option goes'
        " on.",
    ),
]
MaxGuesses: TypeAlias = Annotated[
    Count | None, typer.Option(min=1, help="The limit of guesses in the game, if any.")
]


@dataclass(frozen=True, kw_only=True)
class BoardOptions:
    """The board of a game.

    Parameters
    ----------
    pegs
        Positions of a code.
    colors
        Colors that a peg can have.
    no_repeats
        Whether a color may occur twice, in codes and in guesses. [default: it may]
    """

    pegs: int = _DEFAULT_PEGS
    colors: int = _DEFAULT_COLORS
    no_repeats: _NoRepeats = False

    @property
    def board(self) -> Board:
        """The board."""
        return mastermind.Board(self.pegs, self.colors, repeats=not self.no_repeats)


def channel_of_known_noise(board: Board, text: str) -> Channel:
    """Return the channel of a noise; for unknown noise, name the command that learns it.

    Raises
    ------
    InvalidArgumentError
        If the text is no noise, or ``unknown``.
    """
    try:
        return mastermind.parse_noise(board, text)
    except InvalidArgumentError as fault:
        if text.strip() != "unknown":
            raise
        raise InvalidArgumentError(
            f"{fault}; `bnmind assist --noise unknown` learns the noise from the replies", text
        ) from fault


def prior_of(board: Board, text: str) -> Prior | None:
    """Return the prior that a text describes; None if it is uniform."""
    return None if text.strip() == UNIFORM else mastermind.parse_prior(board, text)


def ending_of(text: str, max_guesses: int | None, *, most: int) -> lab.Ending:
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
    ending = lab.parse_ending(text, most if max_guesses is None else max_guesses)
    if isinstance(ending, lab.Limit) and max_guesses is None:
        raise InvalidArgumentError("the ending limit needs --max-guesses N", text)
    return ending


def situation_of(
    max_guesses: int | None, turns: int, memory: object = None
) -> strategies.Situation:
    """Return the situation of a strategy in a game with a limit of guesses.

    Raises
    ------
    InvalidArgumentError
        If no guess is left.
    """
    if max_guesses is None:
        return strategies.Situation(memory=memory)
    if max_guesses <= turns:
        raise InvalidArgumentError(
            f"expected --max-guesses above {turns}, the number of guesses so far, got"
            f" {max_guesses}",
            max_guesses,
        )
    return strategies.Situation(memory=memory, guesses_left=max_guesses - turns)


def channel_of(board: Board, noise: str) -> Channel:
    """Return the channel of a noise; of unknown noise, one of its kind."""
    if noise == UNKNOWN:
        return mastermind.Channel.false_reply(board, 0.2)
    try:
        return mastermind.parse_noise(board, noise)
    except InvalidArgumentError as fault:
        if ":" in noise:
            raise
        raise InvalidArgumentError(f"{fault}; or {UNKNOWN}, which learns it", noise) from fault


def started(board: Board, noise: str, prior: Prior | None) -> Posterior:
    """Return the belief before the first guess."""
    channel = channel_of(board, noise)
    begin = advising.start_learning if noise == UNKNOWN else advising.start
    return begin(channel, prior)


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """The options of both commands.

    Parameters
    ----------
    save
        The file of the saved game.
    new
        Begin a new game, even if one is saved.
    prior
        How the code-maker chooses codes; see below. [default: uniform, or as saved]
    pegs
        Positions of a code. [default: 4, or as saved]
    colors
        Colors that a peg can have. [default: 6, or as saved]
    no_repeats
        Whether a color may occur twice. [default: it may, or as saved]
    explain
        Say in plain words what the numbers mean.
    """

    save: Path
    new: bool = False
    noise: NoiseName | None = None
    prior: PriorName | None = None
    max_guesses: MaxGuesses = None
    pegs: int | None = None
    colors: int | None = None
    no_repeats: _NoRepeats | None = None
    explain: bool = False
    seed: Seed = None

    @property
    def board(self) -> Board:
        """The board of a new game."""
        return mastermind.Board(
            _DEFAULT_PEGS if self.pegs is None else self.pegs,
            _DEFAULT_COLORS if self.colors is None else self.colors,
            repeats=not self.no_repeats,
        )

    @property
    def prior_name(self) -> str | None:
        """The prior as it is saved; None if nobody named one."""
        return None if self.prior is None else self.prior.strip()

    def saved(
        self, read: Callable[[Path], _Saved], hint: str = ""
    ) -> tuple[_Saved | None, bytes | None]:
        """Return the game in the file, if there is one to go on with, and the content of the file.

        Parameters
        ----------
        read
            Reads the file.
        hint
            What an error about the noise advises.

        Raises
        ------
        BnmindError
            If an option contradicts the saved game.
        """
        from bnmind.lab.mastermind.saved_games import content_of

        check_writable(self.save)
        # Read the content first: the first save notices changes by another program in between.
        content = content_of(self.save)
        found = read(self.save) if not self.new and is_saved(self.save) else None
        if found is None or found.over:
            return None, content
        board = found.board
        stored = {"pegs": board.pegs, "colors": board.colors, "no_repeats": not board.repeats}
        names = ("noise", "prior", "ending", "max_guesses", "seed")
        stored |= {name: getattr(found, name) for name in names if hasattr(found, name)}
        for name, value in stored.items():
            asked = self.prior_name if name == "prior" else getattr(self, name)
            if asked is not None and asked != value:
                raise BnmindError(
                    f"expected --{name.replace('_', '-')} {value} of the game saved in {self.save},"
                    f" got {asked}; --new begins a new game, --save names another file"
                    f"{hint * (name == 'noise')}"
                )
        return found, content
