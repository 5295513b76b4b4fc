"""Boards, their codes, the replies to guesses, and the histories of games.

A reply is the numbers of black and white pegs for a guess:

=========  =================================================================
Vomlel     name here
=========  =================================================================
T          ``guess``
H          ``code``, the hidden code
P          ``black``: pegs of the right color in the right position
C          ``white``: pegs of the right color in a wrong position
C_i, G_i   how often color i occurs in the code, in the guess
M_i        min(C_i, G_i)
=========  =================================================================

Colors are 1..k (A = 1). The library identifies a code by its index in the list of all codes in
lexicographic order. Only `Board.codes` allocates that list, so a board of ten billion codes is as
cheap as one of a thousand.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_letters, ascii_uppercase
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Value, sealed
from bnmind.errors import InvalidArgumentError, TooLargeError

# --- Replies: the numbers of black and white pegs for a guess -------------------------------------


_LETTERED = re.compile(r"([0-9]{1,4})\s*b\s*([0-9]{1,4})\s*w", re.IGNORECASE)
_HITS = re.compile(r"([0-9]{1,4})\s*a\s*([0-9]{1,4})\s*b", re.IGNORECASE)
"""Bulls and Cows: hits, A, at the right place, and B at a wrong one."""
_SEPARATED = re.compile(r"([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})")
_FORMS = (_LETTERED, _HITS, _SEPARATED)
_TWO_DIGITS = re.compile(r"([0-9])([0-9])")


class _Counts(NamedTuple):
    black: int
    """Pegs of the right color in the right position, P."""
    white: int
    """Pegs of the right color in a wrong position, C."""


class Reply(_Counts):
    """A reply: a number of black pegs and a number of white pegs.

    Raises
    ------
    InvalidArgumentError
        If they are not whole numbers of at least 0.

    Examples
    --------
    >>> str(Reply(1, 2))
    '1b2w'
    """

    __slots__ = ()

    def __new__(cls, black: int, white: int) -> Reply:
        """Return the reply with these numbers."""
        if type(black) is not int or type(white) is not int:
            black, white = _whole(black), _whole(white)
        if black < 0 or white < 0:
            raise InvalidArgumentError(
                f"expected numbers of pegs of at least 0, got {black} black and {white} white",
                (black, white),
            )
        return super().__new__(cls, black, white)

    @classmethod
    def of(cls, given: object) -> Reply:
        """Return a `Reply` from a `Reply` or a pair of numbers.

        Parameters
        ----------
        given
            A reply, or its numbers of black and white pegs.

        Raises
        ------
        InvalidArgumentError
            If the argument is neither.
        """
        if isinstance(given, Reply):
            return given
        if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
            return cls(*given)
        reader = "; Reply.parse and parse_history read texts" if isinstance(given, str) else ""
        raise InvalidArgumentError(
            f"expected a reply, such as Reply(black=1, white=0), got {shown(given)}{reader}", given
        )

    def __str__(self) -> str:
        return f"{self.black}b{self.white}w"

    @classmethod
    @checked
    def parse(cls, text: str, *, pegs: int) -> Reply:
        """Parse a reply.

        Parameters
        ----------
        text
            ``1b2w``, ``1 2`` or ``1,2``; on boards of fewer than ten pegs also ``12``; or
            ``1A2B`` as in Bulls and Cows.
        pegs
            The number of pegs of the board. Neither number may exceed it, but their sum may:
            if the numbers are reported independently, ``3b2w`` can be reported on a board of
            four pegs. `Channel.reports` lists the possible reports of a channel.

        Raises
        ------
        InvalidArgumentError
            If the text is not a reply, or a number exceeds the number of pegs.

        Examples
        --------
        >>> Reply.parse("1b2w", pegs=4) == Reply.parse("12", pegs=4) == Reply(1, 2)
        True
        """
        match = _match(text, pegs)
        if match is None:
            short = ", 12" if pegs < 10 else ""
            raise InvalidArgumentError(
                f"expected a reply like 1b2w, 1 2 or 1,2{short}; got {shown(text)}", text
            )
        parsed = cls(int(match[1]), int(match[2]))
        if max(parsed) > pegs:
            raise InvalidArgumentError(
                f"expected at most {pegs} black and at most {pegs} white pegs, got {shown(text)}",
                text,
            )
        return parsed


def impossibility(report: Reply, pegs: int) -> str | None:
    """Return a sentence that says why no code can have a reply; None if one can, as a rule."""
    if sum(report) > pegs:
        return f"{report} is impossible: it counts more than {pegs} pegs"
    if pegs > 1 and report == (pegs - 1, 1):
        return (
            f"{report} is impossible: if {pegs - 1} of {pegs} pegs are at the right place, the last"
            f" one cannot be at a wrong place"
        )
    return None


def spells_reply(text: str, *, pegs: int) -> bool:
    """Return whether a text has the form of a reply, possible on the board or not."""
    return _match(text, pegs) is not None


def _match(text: str, pegs: int) -> re.Match[str] | None:
    stripped = text.strip()
    match = next(filter(None, (form.fullmatch(stripped) for form in _FORMS)), None)
    if match is None and pegs < 10:
        match = _TWO_DIGITS.fullmatch(stripped)
    return match


def _whole(count: object) -> int:
    """Return a number of pegs as a plain integer."""
    if isinstance(count, int | np.integer) and not isinstance(count, bool):
        return int(count)
    raise InvalidArgumentError(
        f"expected a whole number of pegs in a reply, got {shown(count)}", count
    )


@checked
def reply(guess: Sequence[int], code: Sequence[int]) -> Reply:
    """Return the true reply of a code to a guess.

    Parameters
    ----------
    guess, code
        Colors, one for each peg; both must have the same length.

    Raises
    ------
    InvalidArgumentError
        If the lengths differ.

    Examples
    --------
    >>> reply((1, 1, 2, 3), (3, 1, 1, 1))
    Reply(black=1, white=2)

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, equations (1)-(6).
    """
    if len(guess) != len(code):
        raise InvalidArgumentError(
            f"expected a guess and a code of equal length, got {len(guess)} and {len(code)} pegs",
            (tuple(guess), tuple(code)),
        )
    black = sum(t == h for t, h in zip(guess, code, strict=True))
    guessed, hidden = list(guess), list(code)
    shared = sum(min(hidden.count(color), guessed.count(color)) for color in set(guessed))
    return Reply(black, shared - black)


# --- The board: its number of pegs, its number of colors, and its codes ---------------------------


MAX_CODES = 2**27
"""The largest number of codes for a belief: 8x10 has 100 million, which take 800 MB."""

MAX_LISTED_CODES = 2**26
"""The largest number of codes that can be listed: half a gigabyte at eight pegs."""

_LONG = 12  # the most pegs of an example in a message
_MOST = 255  # pegs and colors are kept as bytes


@dataclass(frozen=True)
class Board(Value):
    """A board with a number of pegs and a number of colors.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than 1 peg or 2 colors, more than 255 of either, or fewer colors than
        pegs on a board without repeats.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> board.n_codes, len(board.true_replies), str(board)
    (1296, 14, '4x6')
    >>> board.format(board.code(board.index(board.parse("AABC"))))
    '1123'
    """

    pegs: Annotated[int, Ge(1), Le(_MOST)]
    """Number of positions of a code, n."""
    colors: Annotated[int, Ge(2), Le(_MOST)]
    """Number of colors that a peg can have, k."""
    repeats: bool = field(default=True, kw_only=True)
    """Whether a color may occur more than once, in codes and in guesses."""

    def _faults(self) -> Iterator[str]:
        if not self.repeats and self.pegs > self.colors:
            yield f"expected at least as many colors as pegs without repeats, got {self}"

    def __str__(self) -> str:
        return f"{self.pegs}x{self.colors}" + ("" if self.repeats else " without repeats")

    @property
    def most_colors(self) -> int:
        """The largest number of different colors in a code."""
        return min(self.pegs, self.colors)

    @property
    def n_codes(self) -> int:
        """Number of codes; the property allocates nothing."""
        if self.repeats:
            return int(self.colors**self.pegs)
        return math.perm(self.colors, self.pegs)

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """All codes in lexicographic order, colors 1..k, ``(n_codes, pegs)``, read-only.

        Raises
        ------
        TooLargeError
            If there are more than `MAX_LISTED_CODES`; nothing is allocated then.
        """
        require_listable(self)
        codes = np.zeros((1, 0), dtype=np.uint8)
        # The colors that may come next, ascending, for each of the codes so far.
        free = np.arange(1, self.colors + 1, dtype=np.uint8)[None, :]
        for position in range(self.pegs):
            longer = np.empty((len(codes), free.shape[1], position + 1), dtype=np.uint8)
            longer[:, :, :position] = codes[:, None, :]
            longer[:, :, position] = free
            codes = longer.reshape(-1, position + 1)
            if not self.repeats:
                ranks = range(free.shape[1])
                free = np.stack([np.delete(free, rank, axis=1) for rank in ranks], axis=1)
                free = free.reshape(len(codes), -1)
        return sealed(codes)

    @cached_property
    def true_replies(self) -> tuple[Reply, ...]:
        """All replies that occur for some guess and some code, sorted by black, then white.

        Notes
        -----
        Remove the pegs in the right position: b blacks and w whites occur on n pegs if w whites
        and no black occur on the other m = n − b pegs; without repeats, b colors are removed too.
        Now no position is right. On a board of two colors the colors can only swap places, so w
        is even. With three or more colors every w occurs, except 1 for m = 1, since a single peg
        of the right color is in the right position. Without repeats, two sets of m out of k − b
        colors share at least 2m − (k − b) colors.
        """
        replies: list[Reply] = []
        for black in range(self.pegs + 1):
            rest = self.pegs - black
            if not self.repeats:
                least = max(0, 2 * rest - (self.colors - black))
                whites = range(least, rest + 1)
            else:
                whites = range(0, rest + 1, 2 if self.colors == 2 else 1)
            replies += [Reply(black, white) for white in whites if (rest, white) != (1, 1)]
        return tuple(replies)

    @property
    def winning(self) -> Reply:
        """The reply to the code itself: all pegs black. It is the last of the true replies."""
        return Reply(self.pegs, 0)

    def index(self, code: Sequence[int]) -> int:
        """Return the index of a code among all codes in lexicographic order.

        Parameters
        ----------
        code
            The pegs, colors 1..k.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board: its length is wrong, a color is out of range, or a
            color repeats on a board without repeats.
        """
        self.checked(code)
        place = 0
        unused = list(range(1, self.colors + 1))
        for position, color in enumerate(code):
            if self.repeats:
                place = place * self.colors + int(color) - 1
            else:
                rank = unused.index(color)
                unused.pop(rank)
                place += rank * math.perm(len(unused), self.pegs - position - 1)
        return place

    @checked
    def code(self, index: int) -> tuple[int, ...]:
        """Return the code with an index among all codes in lexicographic order.

        Parameters
        ----------
        index
            The index, from 0 to ``n_codes - 1``.

        Raises
        ------
        InvalidArgumentError
            If the index is negative or not below the number of codes.
        """
        place = operator.index(index)
        if not 0 <= place < self.n_codes:
            raise InvalidArgumentError(
                f"expected a code index from 0 to {self.n_codes - 1:,} on the board {self}, got "
                f"{place}",
                index,
            )
        colors: list[int] = []
        if self.repeats:
            for _ in range(self.pegs):
                place, rank = divmod(place, self.colors)
                colors.append(rank + 1)
            return tuple(reversed(colors))
        unused = list(range(1, self.colors + 1))
        for position in range(self.pegs):
            rank, place = divmod(place, math.perm(len(unused) - 1, self.pegs - position - 1))
            colors.append(unused.pop(rank))
        return tuple(colors)

    @checked
    def parse(self, text: str) -> tuple[int, ...]:
        """Parse a code.

        Parameters
        ----------
        text
            Digits (``1123``) if the board has at most ten colors, of which 0 is the tenth; letters
            of either case (``AABC``); or numbers or letters separated by spaces or commas
            (``1 1 12 3``). 0 is the tenth of ten colors between separators, too.

        Raises
        ------
        InvalidArgumentError
            If the text is not a code of the board.
        """
        words = text.replace(",", " ").split()
        is_number = self.pegs == 1 and words == ["10"]  # the only color of two digits
        if len(words) == 1 and (self.colors <= 10 or words[0].isalpha()) and not is_number:
            words = list(words[0])
        elif len(words) == 1 and self.pegs > 1:
            raise InvalidArgumentError(
                f"expected {self.pegs} letters or separated numbers on a board of "
                f"{self.colors} colors{self._separated_example()}, got {shown(text)}",
                text,
            )
        if all(word.isascii() and word.isdigit() and len(word) <= 4 for word in words):
            colors = tuple(10 if word == "0" and self.colors == 10 else int(word) for word in words)
        elif all(len(word) == 1 and word in ascii_letters for word in words):
            colors = tuple(ascii_letters.index(word) % 26 + 1 for word in words)
            self._check(colors, text, letters=True)
        else:
            raise InvalidArgumentError(
                f"expected a code like {self._example()}, got {shown(text)}", text
            )
        self._check(colors, text)
        return colors

    def format(self, code: Sequence[int]) -> str:
        """Format a code as digits, or as separated numbers if the board has more than ten colors.

        Of ten colors, 0 is the tenth, as in Bulls and Cows.

        Parameters
        ----------
        code
            The pegs, colors 1..k.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
        """
        return self._format(self.checked(code))

    def format_index(self, index: int) -> str:
        """Return the code with an index as `format` writes it; errors as `code`.

        Parameters
        ----------
        index
            The index, from 0 to ``n_codes - 1``.
        """
        return self._format(self.code(index))

    def checked(self, code: Sequence[int]) -> tuple[int, ...]:
        """Return a code as plain integers.

        Parameters
        ----------
        code
            The pegs, colors 1..k.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
        """
        try:
            colors = tuple(code)
        except TypeError:
            raise InvalidArgumentError(
                f"expected a code as {self.pegs} colors, such as {self.code(0)}, got {shown(code)}",
                code,
            ) from None
        self._check(colors, colors)
        return tuple([int(color) for color in colors])

    def _format(self, code: Sequence[int]) -> str:
        if self.colors <= 10:
            return "".join(str(int(color) % 10) for color in code)
        return " ".join(str(int(color)) for color in code)

    def _example(self) -> str:
        return self._format(self.code(min(self.n_codes - 1, self.colors + 1)))

    def _separated_example(self) -> str:
        """Return the two forms of a code with a color above nine, if they are short."""
        if not self.pegs <= self.colors <= len(ascii_uppercase) or self.pegs > _LONG:
            return ""
        code = (*range(1, self.pegs), self.colors)
        letters = "".join(ascii_uppercase[color - 1] for color in code)
        return f", like {self._format(code)} or {letters}"

    def _check(self, code: Sequence[int], got: object, *, letters: bool = False) -> None:
        """Raise unless it is a code of the board; the message shows `got`, or its letters."""
        problems: list[str] = []
        if len(code) != self.pegs:
            some = counted(len(code), "peg")
            problems.append(f"expected a code of {counted(self.pegs, 'peg')}, got {some}")
        invalid = [color for color in code if not _is_color(color, self.colors)]
        if invalid:
            wrong = list(dict.fromkeys(map(_letter if letters else shown, invalid)))
            first, last = (_letter(1), _letter(self.colors)) if letters else (1, self.colors)
            problems.append(f"expected colors {first} to {last}, got {', '.join(wrong[:12])}")
        elif not self.repeats and len(set(code)) < len(code):
            problems.append("expected each color at most once")
        if problems:
            raise InvalidArgumentError(f"{'; '.join(problems)} in {shown(got)}", got)


def _letter(color: int) -> str:
    """Return a color up to 26 as a letter."""
    return ascii_uppercase[min(color, len(ascii_uppercase)) - 1]


def require_listable(board: Board) -> None:
    """Raise `TooLargeError` if the board has too many codes to list."""
    if board.n_codes > MAX_LISTED_CODES:
        raise TooLargeError(
            f"expected at most {MAX_LISTED_CODES:,} codes to list, got "
            f"{_count(board.n_codes)} codes of the board {board}, whose list would need "
            f"{_gigabytes(board.n_codes * board.pegs)}",
            needed=board.n_codes,
            budget=MAX_LISTED_CODES,
        )


def is_believable(board: Board) -> bool:
    """Return whether the board has few enough codes for a belief that lists them."""
    return board.n_codes <= (MAX_CODES if board.repeats else MAX_LISTED_CODES)


def require_believable(board: Board) -> None:
    """Raise `TooLargeError` if the board has too many codes for a belief."""
    if not board.repeats:
        # Replies are then computed code by code.
        require_listable(board)
    if board.n_codes > MAX_CODES:
        raise TooLargeError(
            f"expected at most {MAX_CODES:,} codes for a belief, got {_count(board.n_codes)} codes "
            f"of the board {board}: a belief and the next one would need "
            f"{_gigabytes(2 * 8 * board.n_codes)}; a SampledBelief, and the strategies that use "
            f"samples or only the history, need no list: entropy-sampled, map-sampled or genetic",
            needed=board.n_codes,
            budget=MAX_CODES,
        )


def digits_of(board: Board, indices: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the codes with the given indices, colors 1..k, ``(len(indices), pegs)``.

    On a board with repeats, the function does not list all codes.
    """
    if not board.repeats:
        return board.codes[indices]
    digits = np.empty((len(indices), board.pegs), dtype=np.uint8)
    rest = indices
    for position in range(board.pegs - 1, -1, -1):
        rest, digits[:, position] = np.divmod(rest, board.colors)
    digits += 1
    return digits


def _count(number: int) -> str:
    """Return a count in full, or its order of magnitude if it is very large."""
    return f"{number:,}" if number < 10**18 else f"about 10^{len(str(number)) - 1}"


def _gigabytes(n_bytes: int) -> str:
    if n_bytes < 10**27:
        return f"{n_bytes / 1e9:,.1f} GB"
    return f"about 10^{len(str(n_bytes)) - 10} GB"


def _is_color(color: object, colors: int) -> bool:
    if isinstance(color, bool) or not isinstance(color, int | np.integer):
        return False
    return 1 <= int(color) <= colors


# --- Histories: the guesses of a game and the reported replies ------------------------------------


_INT = frozenset((int,))
_MOST_WORDS = 4  # of a reply: 1b2w, 1 2, 1b 2w, 1 b 2 w


@dataclass(frozen=True)
class Turn:
    """A guess and its reported reply, which may be wrong.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a sequence of colors, numbered from 1.
        If the reply is not a `Reply` or a pair of numbers.
    """

    guess: tuple[int, ...]
    """Colors 1..k, one for each peg."""
    reply: Reply
    """The reported reply."""

    def __post_init__(self) -> None:
        own = self.__dict__
        own["guess"], own["reply"] = _colors(self.guess), Reply.of(self.reply)


def _colors(guess: Iterable[int]) -> tuple[int, ...]:
    """Return the colors of a guess as plain integers."""
    is_fit = type(guess) is tuple or (isinstance(guess, Iterable) and not isinstance(guess, str))
    colors = tuple(guess) if is_fit else ()
    if not _INT.issuperset(map(type, colors)):
        is_color = [isinstance(c, int | np.integer) and not isinstance(c, bool) for c in colors]
        colors = tuple(map(int, colors)) if all(is_color) else ()
    if colors and min(colors) >= 1:
        return colors
    raise InvalidArgumentError(
        f"expected colors from 1 in a guess, such as (1, 1, 2, 3), got {shown(guess)}", guess
    )


@checked
def parse_history(board: Board, text: str) -> tuple[Turn, ...]:
    """Parse a history and return its turns.

    Parameters
    ----------
    board
        The board of the guesses.
    text
        Entries separated by commas, semicolons or line ends. An entry is a guess in any form that
        `Board.parse` accepts, followed by a reply in any form that `Reply.parse` accepts. If
        guesses or replies contain commas, as in ``1,1,2,3 1,2``, a comma ends an entry only
        if the entry is complete.

    Raises
    ------
    InvalidArgumentError
        If an entry has another form, or its guess or reply is not possible on the board; the
        message names the entry.

    Examples
    --------
    >>> format_history(Board(4, 12), parse_history(Board(4, 12), "1 1 12 3 1b1w; ABCD 02;"))
    '1 1 12 3 1b1w, 1 2 3 4 0b2w'
    """
    entries = re.split("[,;]", text)
    if not entries[-1].strip():
        entries.pop()
    try:
        return tuple(_parse_turn(board, n, entry) for n, entry in enumerate(entries, start=1))
    except InvalidArgumentError:
        ended = re.sub(r"[,;]\s*$", "", text)
        segments = [_with_commas(board, segment) for segment in ended.split(";")]
        if not all(segments):
            if (plain := _plain(text)) != text:
                return parse_history(board, plain)
            raise
        return tuple(turn for segment in segments for turn in segment)


def _plain(text: str) -> str:
    """Return a history with semicolons between the rows, in place of lines; blanks, in place of =.

    >>> _plain("1123: 1b1w, 2345: 0b2w")
    '1123  1b1w, 2345  0b2w'
    """
    if "\n" in text.strip():
        text = ";".join(row.strip().rstrip(",;") for row in text.splitlines() if row.strip())
    return re.sub("->|[:=→]", " ", text)


_LETTERED_REPLY = re.compile(r"\d+(?:b\d+w|a\d+b)", re.IGNORECASE)


def _with_commas(board: Board, segment: str) -> list[Turn]:
    """Return the turns of a text whose entries may contain commas; an empty list on failure.

    The shortest prefix that is a turn is an entry.
    """
    turns: list[Turn] = []
    words: list[str] = []
    for piece in segment.split(","):
        more = piece.split()
        words += more
        if not more or len(words) > board.pegs + _MOST_WORDS:
            return []
        lengths = {len(words) - n for n in range(1, _MOST_WORDS + 1)}
        if lengths.isdisjoint({1, board.pegs}):
            continue  # no guess has this number of words
        try:
            turns.append(_parse_turn(board, len(turns) + 1, " ".join(words)))
        except InvalidArgumentError:
            continue
        words = []
    return [] if words else turns


def _parse_turn(board: Board, number: int, entry: str) -> Turn:
    """Return the turn of an entry; the reply takes as few words as possible."""
    words = entry.split()
    fault: InvalidArgumentError | None = None
    for start in range(len(words) - 1, max(0, len(words) - 1 - _MOST_WORDS), -1):
        guess, reported = " ".join(words[:start]), " ".join(words[start:])
        if spells_reply(reported, pegs=board.pegs):
            try:
                return Turn(board.parse(guess), Reply.parse(reported, pegs=board.pegs))
            except InvalidArgumentError as error:
                fault = fault or error
    if fault is not None:
        if any(_LETTERED_REPLY.fullmatch(word) for word in words[:-1]):
            one, other = map(board.format_index, (0, board.n_codes - 1))
            fault = InvalidArgumentError(
                f"expected a comma between rows, like {one} 1b0w, {other} 0b0w,"
                f" got {shown(entry.strip())}",
                entry,
            )
        raise InvalidArgumentError(f"entry {number} of the history: {fault}", entry) from fault
    example = board.format_index(0)
    raise InvalidArgumentError(
        f"expected a guess and its reply, like {example} 1b0w, in entry {number} of the "
        f"history, got {shown(entry.strip())}",
        entry,
    )


@checked
def format_history(board: Board, turns: Iterable[Turn]) -> str:
    """Format the turns so that `parse_history` can read them.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and their replies.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    return ", ".join(f"{board.format(turn.guess)} {turn.reply}" for turn in turns)
