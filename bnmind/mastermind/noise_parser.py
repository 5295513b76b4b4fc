"""The parser of noise descriptions, such as the argument of ``--noise``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text
from bnmind._messages import one_line, shown
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.reply import Reply

__all__ = ["parse_noise"]

_FORMS = "exact, false:P, independent:P or file:PATH"


@checked
def parse_noise(board: Board, text: str) -> Channel:
    """Parse a description of noise and return the channel.

    Parameters
    ----------
    board
        The board of the channel.
    text
        ``exact``; ``false:P`` or ``independent:P`` with a probability P (see
        `Channel.false_reply` and `Channel.independent_error`); or ``file:PATH``, a CSV file
        with the columns ``true``, ``reported``, and either ``count`` or ``probability``, and
        replies like ``1b2w``. Counts are combined with a Dirichlet prior of ½ (see
        `Channel.from_counts`).

    Raises
    ------
    InvalidArgumentError
        If the text or the file has a wrong form or does not match the board.
        If P is not a probability, or the rows of the file do not sum to one.

    Examples
    --------
    >>> parse_noise(Board(4, 6), "false:0.2").name
    'false:0.2'
    """
    kind, colon, rest = text.strip().partition(":")
    if kind == "exact" and not colon:
        return Channel.exact(board)
    if kind == "file" and rest:
        return _read(board, Path(rest), f"file:{rest}")
    makers: dict[str, Callable[[Board, float], Channel]] = {
        "false": Channel.false_reply,
        "independent": Channel.independent_error,
    }
    if kind not in makers or not rest:
        meant = _meant(kind, rest)
        question = f"; did you mean {meant}?" if meant else ""
        raise InvalidArgumentError(f"expected noise as {_FORMS}, got {shown(text)}{question}", text)
    try:
        probability = float(rest)
    except ValueError:
        question = f"; did you mean {meant}?" if (meant := _meant(kind, rest)) else ""
        raise InvalidArgumentError(
            f"expected a probability in [0, 1] after {kind}:, got {shown(rest)}{question}", rest
        ) from None
    return makers[kind](board, probability)


def _meant(kind: str, rest: str) -> str:
    """Return the noise that a text such as ``0.2``, ``lie:0.2`` or ``none`` may mean.

    >>> _meant("0.2", ""), _meant("independent 20%", ""), _meant("None", "")
    ('false:0.2', 'independent:0.2', 'exact')
    """
    word, *numbers = re.split(r"[\s:=]+", f"{kind}:{rest}".strip(" :=").casefold())
    if word in ("", "0", "no", "none", "exact", "true"):
        return "exact"
    for text in (*numbers, word):
        try:
            level = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            continue
        name = "independent" if word.startswith("ind") else "false"
        return f"{name}:{level:g}" if 0 < level < 1 else ""
    return f"{word}:0.2" if word in ("false", "independent") else ""


def _read(board: Board, path: Path, name: str) -> Channel:
    """Read a channel from a CSV file."""
    try:
        text = read_text(path, most=SMALL_FILE)
    except ModelFileError as error:
        raise InvalidArgumentError(str(error), str(path)) from error
    # Read line by line: a list of the lines of a blank file would need far more memory.
    lines = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    try:
        entries, counted = _entries(board, lines, path)
    except csv.Error as error:
        raise InvalidArgumentError(
            f"expected a readable CSV file, got {str(path)!r}: {error}", str(path)
        ) from error
    if counted:
        return Channel.from_counts(board, entries, name=name)
    return Channel.from_probabilities(board, entries, name=name)


def _entries(
    board: Board, lines: Iterator[list[str]], path: Path
) -> tuple[dict[tuple[Reply, Reply], float], bool]:
    """Return the entries of a file, and whether they are counts."""
    header = [word.strip() for word in next(lines, [])]
    if header not in (["true", "reported", "count"], ["true", "reported", "probability"]):
        raise InvalidArgumentError(
            f"expected the columns true, reported, and count or probability in {str(path)!r}, got "
            f"{one_line(', '.join(header)) or 'nothing'}",
            header,
        )
    counted = header[-1] == "count"
    entries: dict[tuple[Reply, Reply], float] = {}
    for number, line in enumerate(lines, start=2):
        if not any(word.strip() for word in line):
            continue
        true, reported, value = _parse_line(board, line, f"line {number} of {str(path)!r}")
        if (true, reported) in entries and not counted:
            raise InvalidArgumentError(
                f"expected one probability of {reported} given {true} in {str(path)!r}, got a "
                f"second in line {number}",
                line,
            )
        entries[true, reported] = entries.get((true, reported), 0.0) + value
    return entries, counted


def _parse_line(board: Board, line: list[str], where: str) -> tuple[Reply, Reply, float]:
    if len(line) != 3:
        raise InvalidArgumentError(f"expected three values in {where}, got {len(line)}", line)
    try:
        true, reported = (Reply.parse(word, pegs=board.pegs) for word in line[:2])
        return true, reported, float(line[2])
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error} in {where}", line) from error
    except ValueError:
        raise InvalidArgumentError(
            f"expected a number in {where}, got {shown(line[2])}", line
        ) from None
