"""Replies: the numbers of black and white pegs for a guess.

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
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError

__all__ = ["Reply", "reply", "spells_reply"]

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
