"""A prior as a list of codes with their probabilities, and its CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._files import read_text
from bnmind._messages import one_line, shown
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, is_distribution
from bnmind.mastermind.priors.prior import Codes, code_array

__all__ = ["CodeList", "prior_of_distribution", "read_code_list"]

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
    codes: Codes
    """``(m, pegs)``, the possible codes, each once; read-only."""
    probabilities: Floats
    """``(m,)``, their probabilities, which sum to one; read-only."""
    name: str = "code-list"
    """The name of the prior at the command line and in files."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(probabilities=self.probabilities / self.probabilities.sum())

    def _faults(self) -> Iterator[str]:
        codes, pegs = self.codes, self.board.pegs
        if codes.ndim != 2 or not len(codes) or codes.shape[1] != pegs:
            yield f"expected a list of codes of {pegs} pegs, got an array of shape {codes.shape}"
            return
        yield from _code_faults(self.board, codes)
        if len(np.unique(codes, axis=0)) < len(codes):
            yield "expected each code only once in a prior"
        if not is_distribution(self.probabilities, len(codes), tolerance=_TOLERANCE):
            yield (
                f"expected {len(codes):,} probabilities that sum to 1, one for each code, got"
                f" {shown(self.probabilities)}"
            )

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


@checked
def prior_of_distribution(codes: CodeDistribution, *, name: str = "code-list") -> CodeList:
    """Return the prior of a distribution, such as the belief at the end of an earlier game.

    Parameters
    ----------
    codes
        The probabilities of the codes.
    name
        The name of the prior at the command line and in files.
    """
    possible = np.flatnonzero(codes.probabilities)
    return CodeList(
        codes.board,
        code_array(digits_of(codes.board, possible)),
        codes.probabilities[possible],
        name,
    )


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
