"""Noise channels: the probability of each reported reply, given the true reply; and their names.

=============  =============================================================
Vomlel         name here
=============  =============================================================
P, C           the true reply, a row of ``matrix``
P', C'         the reported reply, a column of ``matrix``
Q(P'|P)        ``black[P, P']`` of `Channel.independent`
Q(C'|C)        ``white[C, C']`` of `Channel.independent`
=============  =============================================================
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind._files import SMALL_FILE, read_text
from bnmind._messages import one_line, shown
from bnmind._values import Distinct, Shape, Value
from bnmind.errors import InvalidArgumentError, ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, Reply, impossibility

# --- Noise channels: the probability of each reported reply, given the true reply -----------------


MAX_CELLS = 2**24
"""The largest size of a channel matrix; it suffices for 75 pegs."""

_ROUNDING = 1e-14  # sums of one, but for rounding
_TOLERANCE = 1e-9  # how far a row may be from summing to one


@dataclass(frozen=True, eq=False)
class Channel(Value):
    """The probability of each reported reply, given each true reply.

    Raises
    ------
    InvalidArgumentError
        If the matrix does not match the board and the reports, or a report occurs twice.
        If an entry is not a probability, or a row does not sum to one within 1e-9.

    Examples
    --------
    >>> channel = Channel.false_reply(Board(4, 6), 0.2)
    >>> truth = channel.board.true_replies.index(Reply(1, 2))
    >>> round(float(channel.likelihood(Reply(1, 2))[truth]), 6)
    0.815385
    """

    board: Board
    """The board whose true replies are the rows."""
    reports: Annotated[tuple[Reply, ...], Distinct]
    """The replies that may be reported, one for each column."""
    matrix: Annotated[Floats, Shape("board.true_replies", "n_outcomes")]
    """``(len(board.true_replies), n_outcomes)``, read-only; rows sum to one."""
    name: str
    """The name of the channel at the command line and in files."""
    ends: bool = False
    """Whether the code-maker ends the game at the winning guess: the last column is then "won"."""

    def __post_init__(self) -> None:
        if isinstance(self.reports, Iterable):
            object.__setattr__(self, "reports", tuple(map(Reply.of, self.reports)))
        super().__post_init__()
        rows = [f"true reply {true}" for true in self.board.true_replies]
        self._set(matrix=_normalized(self.matrix, rows, f"channel {self.name}"))

    def _faults(self) -> Iterator[str]:
        here, most, matrix = f"channel {self.name}", self.board.pegs, self.matrix
        if invalid := [str(report) for report in self.reports if max(report) > most]:
            yield f"{here}: expected counts 0 to {most}, got {', '.join(invalid)}"
        if self.ends and (matrix[-1, -1] != 1 or matrix[:-1, -1].any()):
            yield f"{here}: expected the outcome 'won' for the winning reply and for no other"

    @staticmethod
    @checked
    def exact(board: Board) -> Channel:
        """Return the channel of `board` without noise: it reports every reply correctly."""
        replies = board.true_replies
        matrix = _empty(board, len(replies))
        np.fill_diagonal(matrix, 1.0)
        return Channel(board=board, reports=replies, matrix=matrix, name="exact")

    @staticmethod
    @checked
    def independent(
        board: Board, black: ArrayLike, white: ArrayLike, *, name: str = "independent"
    ) -> Channel:
        """Return the channel that reports the two numbers independently of each other.

        Parameters
        ----------
        board
            The board, of n pegs.
        black, white
            ``(n + 1, n + 1)``: ``Q(P'|P)`` and ``Q(C'|C)``, with the true numbers as rows.
        name
            The name of the channel.

        Raises
        ------
        InvalidArgumentError
            If a table has another shape.
            If a row is no distribution.

        Notes
        -----
        All (n + 1)² pairs of numbers may be reported, including pairs that are no true replies.
        """
        counts = range(board.pegs + 1)
        tables: list[Floats] = []
        for color, values in (("black", black), ("white", white)):
            table = np.array(number_array(values, f"the {color} table"))
            if table.shape != (len(counts), len(counts)):
                raise InvalidArgumentError(
                    f"channel {name}: expected a {color} table of shape "
                    f"{(len(counts), len(counts))}, got {table.shape}",
                    name,
                )
            rows = [f"{count} {color}" for count in counts]
            tables.append(_normalized(table, rows, f"channel {name}"))
        reports = tuple(Reply(b, w) for b, w in product(counts, counts))
        matrix = _empty(board, len(reports))
        for row, (b, w) in zip(matrix, board.true_replies, strict=True):
            row[:] = np.outer(tables[0][b], tables[1][w]).ravel()
        return Channel(board=board, reports=reports, matrix=matrix, name=name)

    @staticmethod
    @checked
    def independent_error(board: Board, p: float) -> Channel:
        """Return the channel of `board` that gets each of both numbers wrong with probability `p`.

        A wrong number is uniformly distributed over the other n numbers of 0..n.
        """
        wrong = _probability(p)
        table = np.full((board.pegs + 1, board.pegs + 1), wrong / board.pegs)
        np.fill_diagonal(table, 1 - wrong)
        return Channel.independent(board, table, table, name=f"independent:{_number(wrong)}")

    @staticmethod
    @checked
    def false_reply(board: Board, p: float) -> Channel:
        """Return the channel of `board` that replaces a reply by a random one with probability `p`.

        A win is always reported, and never reported falsely. Any other reply is replaced, with
        probability p, by a uniform draw from all non-winning true replies, including the true
        one.

        References
        ----------
        Snyder, *Mastermind by Importance Sampling and Metropolis-Hastings*, where p = 0.2.
        """
        false = _probability(p)
        replies = board.true_replies
        others = len(replies) - 1
        matrix = _empty(board, len(replies))
        matrix[:-1, :-1] = false / others
        matrix[np.diag_indices(others)] += 1 - false
        matrix[-1, -1] = 1.0
        return Channel(board=board, reports=replies, matrix=matrix, name=f"false:{_number(false)}")

    @staticmethod
    @checked
    def from_counts(
        board: Board,
        counts: Mapping[tuple[Reply, Reply], float],
        prior: float = 0.5,
        *,
        name: str = "counts",
    ) -> Channel:
        """Return the posterior mean of the channel, given counts of reported replies.

        Parameters
        ----------
        board
            The board.
        counts
            The counts, ``{(true, reported): number}``; not negative, not necessarily whole.
        prior
            The parameter of a symmetric Dirichlet prior on the reports of each true reply, which
            is added to every count; ½ by default (Jeffreys).
        name
            The name of the channel.

        Raises
        ------
        InvalidArgumentError
            If a count or the prior is negative or infinite, a true reply is none of the board, or
            a true reply has no count and the prior is 0.

        Notes
        -----
        The reports of the channel are all true replies of the board and all reports in the counts.
        """
        faulty = [n for n in (*counts.values(), prior) if not 0 <= n < np.inf]
        if faulty:
            raise InvalidArgumentError(
                f"channel {name}: expected counts and a prior that are finite and not negative, "
                f"got {faulty[0]}",
                faulty[0],
            )
        reports = sorted({*board.true_replies, *(Reply(*reported) for _, reported in counts)})
        matrix = _tabulated(board, reports, counts, name) + prior
        totals = matrix.sum(axis=1, keepdims=True)
        unseen = [true for true, total in zip(board.true_replies, totals, strict=True) if not total]
        if unseen:
            raise InvalidArgumentError(
                f"channel {name}: expected a positive prior, or a count for every true reply, got "
                f"none for {_names(unseen)}",
                name,
            )
        return Channel(board=board, reports=tuple(reports), matrix=matrix / totals, name=name)

    @staticmethod
    @checked
    def from_probabilities(
        board: Board,
        probabilities: Mapping[tuple[Reply, Reply], float],
        *,
        name: str = "probabilities",
    ) -> Channel:
        """Return the channel with given probabilities.

        Parameters
        ----------
        board
            The board.
        probabilities
            ``{(true, reported): probability}``. Missing pairs have probability zero; every true
            reply of the board needs a row, which sums to one.
        name
            The name of the channel.

        Raises
        ------
        InvalidArgumentError
            If a true reply is none of the board.
            If a true reply has no row, or its row is no distribution.
        """
        reports = sorted({Reply(*reported) for _, reported in probabilities})
        return Channel(
            board=board,
            reports=tuple(reports),
            matrix=_tabulated(board, reports, probabilities, name),
            name=name,
        )

    def revealed(self) -> Channel:
        """Return the channel of a game that the code-maker truthfully ends at the winning guess.

        The winning reply leads with certainty to an extra outcome "won", the last column. Any
        report therefore also says that the guess was not the code.
        """
        if self.ends:
            return self
        matrix = np.zeros((self.matrix.shape[0], self.matrix.shape[1] + 1))
        matrix[:-1, :-1] = self.matrix[:-1]
        matrix[-1, -1] = 1.0
        return Channel(
            board=self.board, reports=self.reports, matrix=matrix, name=self.name, ends=True
        )

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes: the reports, and "won" if the game ends at the winning guess."""
        return len(self.reports) + self.ends

    @property
    def won_index(self) -> int | None:
        """The index of the outcome "won", or None if the channel has no such outcome."""
        return len(self.reports) if self.ends else None

    @cached_property
    def is_exact(self) -> bool:
        """Whether the channel is free of noise: it reports every reply correctly.

        The name does not matter (``false:0`` is exact too), nor do additional reports of
        probability zero. If the game ends at the winning guess, the winning reply need not be
        among the reports.
        """
        replies = self.board.true_replies
        return all(
            reply in self._places and self.matrix[row, self._places[reply]] == 1
            for row, reply in enumerate(replies[:-1] if self.ends else replies)
        )

    def report_index(self, reply: Reply) -> int:
        """Return the column of the report `reply`.

        Raises
        ------
        InvalidArgumentError
            If the channel never reports it.
        """
        place = self._places.get(Reply.of(reply))
        if place is None:
            raise InvalidArgumentError(
                impossibility(Reply.of(reply), self.board.pegs)
                or f"expected a reply that the channel {self.name} of the board {self.board} can "
                f"give, got {Reply(*reply)}",
                reply,
            )
        return place

    def likelihood(self, report: Reply) -> Floats:
        """Return the probability of `report` given each true reply, ``(len(board.true_replies),)``.

        Raises
        ------
        InvalidArgumentError
            If the channel never reports it.
        """
        return self.matrix[:, self.report_index(report)]

    @checked
    def draw(self, true_reply_index: int, uniform: float) -> int:
        """Return the outcome for `uniform`, a random number in [0, 1), by the inverse CDF.

        `true_reply_index` is the place of the true reply in ``board.true_replies``. Use the same
        numbers in two games to compare strategies with common random numbers.

        Raises
        ------
        InvalidArgumentError
            If the index is none of a true reply.
        """
        if not 0 <= true_reply_index < len(self.matrix):
            raise InvalidArgumentError(
                f"expected the index of one of {len(self.matrix)} true replies, got"
                f" {true_reply_index}",
                true_reply_index,
            )
        sums = self._cumulative[true_reply_index]
        outcome = int(np.searchsorted(sums, uniform, side="right"))
        # Rounding may leave the last sum below one.
        return min(outcome, int(np.flatnonzero(self.matrix[true_reply_index])[-1]))

    @cached_property
    def _places(self) -> dict[Reply, int]:
        return {report: place for place, report in enumerate(self.reports)}

    @cached_property
    def _cumulative(self) -> Floats:
        return np.cumsum(self.matrix, axis=1)


def _empty(board: Board, n_reports: int) -> Floats:
    """Return a matrix of zeros, true replies by reports, unless it is too large."""
    cells = len(board.true_replies) * n_reports
    if cells > MAX_CELLS:
        raise TooLargeError(
            f"expected a channel of at most {MAX_CELLS:,} numbers, got the board {board} with "
            f"{len(board.true_replies):,} true replies and {n_reports:,} reports, which would need "
            f"{cells:,}, or {cells * 8 / 1e9:,.1f} GB",
            needed=cells,
            budget=MAX_CELLS,
        )
    return np.zeros((len(board.true_replies), n_reports))


def _tabulated(
    board: Board,
    reports: Sequence[Reply],
    entries: Mapping[tuple[Reply, Reply], float],
    name: str,
) -> Floats:
    """Return the entries as a matrix of true replies by reports."""
    rows = {true: row for row, true in enumerate(board.true_replies)}
    columns = {reported: column for column, reported in enumerate(reports)}
    unknown = [Reply(*true) for true, _ in entries if true not in rows]
    if unknown:
        raise InvalidArgumentError(
            f"channel {name}: expected true replies of the board {board}, got {_names(unknown)}",
            tuple(unknown),
        )
    matrix = _empty(board, len(columns))
    for (true, reported), entry in entries.items():
        matrix[rows[true], columns[reported]] = entry
    return matrix


def _normalized(table: Floats, rows: Sequence[str], where: str) -> Floats:
    """Return the table with normalized rows, or raise with the rows that do not sum to one."""
    problems: list[str] = []
    for label, row in zip(rows, table, strict=True):
        outside = row[~((row >= 0) & (row <= 1))]
        if outside.size:
            problems.append(f"expected probabilities in [0, 1] for {label}, got {outside[0]:g}")
        elif abs(row.sum() - 1) > _TOLERANCE:
            problems.append(f"expected a sum of 1 for {label}, got {row.sum():.12g}")
    if problems:
        more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise InvalidArgumentError(f"{where}: {'; '.join(problems[:3])}{more}", table)
    sums = table.sum(axis=1, keepdims=True)
    # A normalized table stays bit for bit the same, so that saved channels read back unchanged.
    return table if np.abs(sums - 1).max() <= _ROUNDING else np.asarray(table / sums)


def _probability(p: float) -> float:
    if not 0 <= p <= 1:
        raise InvalidArgumentError(f"expected a probability in [0, 1], got {p}", p)
    return float(p)


def _number(value: float) -> str:
    """Return the shortest text from which the number can be read back."""
    return repr(value).removesuffix(".0")


def _names(replies: Sequence[Reply]) -> str:
    return ", ".join(str(Reply(*reply)) for reply in replies)


# --- The parser of noise descriptions, such as the argument of ``--noise`` ------------------------


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
