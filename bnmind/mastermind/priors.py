"""The registry of priors, the argument of ``--prior``, and priors as lists of codes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._files import read_text
from bnmind._messages import one_line, shown
from bnmind._registry import NUMBER, Argument, Registered, made_by_name
from bnmind._values import Shape, chances
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.color_priors import (
    Alternating,
    FirstLastEqual,
    LearnedColors,
    LearnedNumber,
    OnlyColors,
    OnlyOnce,
    fewer_colors,
    parse_fixed_colors,
    prefer_fewer,
    two_color,
    usually_fewer,
)
from bnmind.mastermind.prior import (
    ClosedFormPrior,
    Codes,
    MixturePrior,
    UniformPrior,
    code_array,
    normalized,
)

# --- A prior as a list of codes with their probabilities, and its CSV file ------------------------


_TOLERANCE = 1e-6  # how far the probabilities of a file may be from summing to one
_MOST_BYTES = 2**27


@dataclass(frozen=True, eq=False)
class CodeList(ClosedFormPrior):
    """The prior that lists the possible codes; all other codes are impossible.

    Examples
    --------
    >>> prior = CodeList(Board(4, 6), [(1, 1, 2, 2), (1, 2, 3, 4)], [0.75, 0.25])
    >>> prior.distribution().probability((1, 2, 3, 4))
    0.25
    """

    board: Board
    """The board of the codes."""
    codes: Annotated[Codes, Shape("codes", "board.pegs")]
    """``(m, pegs)``, the possible codes, each once; read-only."""
    probabilities: Annotated[Floats, chances(within=_TOLERANCE), Shape("codes"), normalized]
    """``(m,)``, their probabilities, which sum to one; read-only."""
    name: str = "code-list"
    """The name of the prior at the command line and in files."""

    def _faults(self) -> Iterator[str]:
        yield from _code_faults(self.board, self.codes)
        if len(np.unique(self.codes, axis=0)) < len(self.codes):
            yield "expected each code only once in a prior"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        keys = _keys(self.codes)
        order = np.argsort(keys)
        asked = _keys(codes)
        places = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities[order][places])
        return np.where(keys[order][places] == asked, logs, -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        return self.codes[rng.choice(len(self.codes), size=n, p=self.probabilities)]


def read_code_list(board: Board, path: Path) -> CodeList:
    """Read a CSV file with the columns ``code`` and ``probability`` or ``weight``.

    Weights are divided by their sum. Codes that are not in the file are impossible.

    Parameters
    ----------
    board
        The board.
    path
        The CSV file.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, has another form, or does not fit the board.
    """
    try:
        text = read_text(path, most=_MOST_BYTES)
    except ModelFileError as error:
        raise InvalidArgumentError(str(error), str(path)) from error
    where = repr(str(path))
    lines = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    weights: dict[tuple[int, ...], float] = {}
    try:
        header = [word.strip() for word in next(lines, [])]
        if header not in (["code", "probability"], ["code", "weight"]):
            raise InvalidArgumentError(
                f"expected the columns code, and probability or weight in {where}, got"
                f" {one_line(', '.join(header)) or 'nothing'}",
                header,
            )
        for number, line in enumerate(lines, start=2):
            if any(word.strip() for word in line):
                code, weight = _parse_line(board, line, f"line {number} of {where}")
                if code in weights:
                    raise InvalidArgumentError(
                        f"expected each code once in {where}, got {board.format(code)} again in"
                        f" line {number}",
                        line,
                    )
                weights[code] = weight
    except csv.Error as error:
        raise InvalidArgumentError(
            f"expected a CSV file, got {where}: {error}", str(path)
        ) from error
    values = np.array(list(weights.values()))
    total = float(values.sum())
    if not total > 0 or (header[1] == "probability" and abs(total - 1) > _TOLERANCE):
        raise InvalidArgumentError(
            f"expected codes whose probabilities sum to 1 in {where}, got a sum of {total:g}; a"
            " column named weight may have any positive sum",
            str(path),
        )
    return CodeList(board, code_array(np.array(list(weights))), values / total, f"file:{path}")


def _parse_line(board: Board, line: list[str], where: str) -> tuple[tuple[int, ...], float]:
    if len(line) != 2:
        raise InvalidArgumentError(f"expected two values in {where}, got {len(line)}", line)
    try:
        code, weight = board.parse(line[0]), float(line[1])
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error} in {where}", line) from error
    except ValueError:
        weight = np.nan
    if not 0 <= weight < np.inf:
        raise InvalidArgumentError(
            f"expected a number that is not negative in {where}, got {shown(line[1])}", line
        )
    return code, weight


def _code_faults(board: Board, codes: NDArray[np.integer]) -> Iterator[str]:
    """Yield the first row that is no code of the board."""
    faulty = ((codes < 1) | (codes > board.colors)).any(axis=1)
    if not board.repeats:
        in_order = np.sort(codes, axis=1)
        faulty |= (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
    if faulty.any():
        yield f"expected codes of the board {board}, got {codes[int(np.argmax(faulty))].tolist()}"


def _keys(codes: NDArray[np.integer]) -> NDArray[np.bytes_]:
    """Return the codes as byte strings, which can be sorted; no color is zero."""
    rows = np.ascontiguousarray(code_array(codes))
    return rows.view(f"S{rows.shape[1]}").ravel()


# --- The registry of priors, and the parser of the argument of ``--prior`` ------------------------


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
