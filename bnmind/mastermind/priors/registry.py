"""The registry of priors, and the parser of the argument of ``--prior``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from bnmind._arguments import checked
from bnmind._registry import NUMBER, Argument, Registered, made_by_name
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.alternating import Alternating
from bnmind.mastermind.priors.closed_form import ClosedFormPrior
from bnmind.mastermind.priors.code_list import read_code_list
from bnmind.mastermind.priors.color_counts import LearnedColors
from bnmind.mastermind.priors.color_pool import prefer_fewer, two_color, usually_fewer
from bnmind.mastermind.priors.first_last_equal import FirstLastEqual
from bnmind.mastermind.priors.fixed_colors import parse_fixed_colors
from bnmind.mastermind.priors.learned_number import LearnedNumber
from bnmind.mastermind.priors.mixture import MixturePrior
from bnmind.mastermind.priors.number_of_colors import fewer_colors
from bnmind.mastermind.priors.only_colors import OnlyColors
from bnmind.mastermind.priors.only_once import OnlyOnce
from bnmind.mastermind.priors.uniform import UniformPrior

__all__ = ["FAMILY", "PRIORS", "PriorMaker", "learned", "parse_prior"]

PriorMaker: TypeAlias = Callable[[Board], ClosedFormPrior]
"""A function that makes a prior for a board."""

FAMILY: tuple[PriorMaker, ...] = (
    UniformPrior,
    two_color,
    Alternating,
    OnlyOnce,
    FirstLastEqual,
    usually_fewer,
    prefer_fewer,
    LearnedNumber.start,
    LearnedColors.start,
)
"""The code-makers that `learned` tells apart."""


@checked
def learned(board: Board) -> MixturePrior:
    """Return the prior that learns which code-maker of `FAMILY` it plays against.

    Before the first code, all members that fit the board are equally probable.

    Parameters
    ----------
    board
        The board.
    """
    members: list[ClosedFormPrior] = []
    for make in FAMILY:
        try:
            members.append(make(board))
        except InvalidArgumentError:
            continue
    weights = (1 / len(members),) * len(members)
    return MixturePrior(tuple(members), weights, "learned")


def _colors(text: str) -> PriorMaker:
    """Return the maker of `OnlyColors` for colors between +, such as ``1+2``."""

    def make(board: Board) -> OnlyColors:
        colors = tuple(Board(1, board.colors).parse(word)[0] for word in text.split("+"))
        return OnlyColors(board, colors)

    return make


def _fixed(text: str) -> PriorMaker:
    return lambda board: parse_fixed_colors(board, text)


def _file(text: str) -> PriorMaker:
    return lambda board: read_code_list(board, Path(text))


PRIORS: Mapping[str, Registered[PriorMaker]] = MappingProxyType(
    {
        "uniform": Registered("all codes alike", lambda: UniformPrior),
        "two-color": Registered("two colors, any code of them", lambda: two_color),
        "alternating": Registered("two colors in turn, such as 1212", lambda: Alternating),
        "only-once": Registered("no color twice", lambda: OnlyOnce),
        "first-last-equal": Registered(
            "the same color at the first and the last peg", lambda: FirstLastEqual
        ),
        "usually-fewer": Registered(
            "two or three colors nine times out of ten", lambda: usually_fewer
        ),
        "prefer-fewer": Registered(
            "one color in half of all games, and rarely many", lambda: prefer_fewer
        ),
        "fewer-colors": Registered(
            "each further color divides the probability by e^NUMBER (default e)",
            lambda: fewer_colors,
            NUMBER,
            lambda strength: partial(fewer_colors, strength=strength),
        ),
        "only-colors": Registered(
            "codes of some colors only",
            None,
            Argument("COLOR+COLOR", "colors joined by +", str, "1+2"),
            _colors,
        ),
        "fixed": Registered(
            "independent pegs with these weights of the colors; / between positions",
            None,
            Argument("W,W,…", "a weight for each color", str, "3,2,1"),
            _fixed,
        ),
        "file": Registered(
            "a CSV file with the columns code and probability",
            None,
            Argument("PATH", "a path", str, "codes.csv"),
            _file,
        ),
        "learned": Registered("learns which of these code-makers it is", lambda: learned),
        "learned-colors": Registered(
            "learns the frequent colors of each position", lambda: LearnedColors.start
        ),
        "learned-number": Registered(
            "learns the usual number of colors", lambda: LearnedNumber.start
        ),
    }
)
"""The maker of each prior, by name.

To add a prior, write it in a file of its own and add one entry here. The command line takes its
names from here, and the contract tests run over every member.
"""


@checked
def parse_prior(board: Board, text: str) -> ClosedFormPrior:
    """Return the prior that a text describes.

    Parameters
    ----------
    board
        The board of the codes.
    text
        ``NAME`` or ``NAME:ARGUMENT``, with a name of `PRIORS`.

    Raises
    ------
    UnknownNameError
        If no prior has the name.
    InvalidArgumentError
        If the argument is missing, is of another kind, or does not belong there.
        If the prior does not fit the board, or its file cannot be read.
        If a color is not one of the board.

    Examples
    --------
    >>> parse_prior(Board(4, 6), "only-colors:1+2").distribution().possible_codes()
    16
    """
    return made_by_name("prior", PRIORS, text.strip())(board)
