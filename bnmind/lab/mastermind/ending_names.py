"""The registry of endings, and the parser of the argument of ``--ending``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from bnmind._arguments import checked
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind.lab.mastermind.endings import Declared, Ending, Limit, Revealed

__all__ = ["ENDINGS", "EndingMaker", "parse_ending"]

EndingMaker: TypeAlias = Callable[[int], Ending]
"""A function that makes an ending with a limit of guesses."""


def _declared(limit: int, certainty: float = 0.95) -> Declared:
    return Declared(certainty, limit)


ENDINGS: Mapping[str, Registered[EndingMaker]] = MappingProxyType(
    {
        "revealed": Registered("the code-maker ends the game at the code", lambda: Revealed),
        "declared": Registered(
            "the breaker names a code of probability NUMBER (default 0.95)",
            lambda: _declared,
            NUMBER,
            lambda certainty: partial(_declared, certainty=certainty),
        ),
        "limit": Registered("the breaker names the code after all guesses", lambda: Limit),
    }
)
"""The maker of each ending, by name."""


@checked
def parse_ending(text: str, limit: int = 100) -> Ending:
    """Return the ending that a text describes, with a limit of guesses.

    Parameters
    ----------
    text
        ``revealed``, ``declared``, ``declared:P`` with a probability P, or ``limit``.
    limit
        The largest number of guesses in a game.

    Raises
    ------
    UnknownNameError
        If no ending has the name.
    InvalidArgumentError
        If the argument is not a number or does not belong there, or the limit is not positive.
        If the certainty is not in (0, 1].
    TooLargeError
        If the limit is too large.

    Examples
    --------
    >>> parse_ending("declared:0.9", 20)
    Declared(certainty=0.9, limit=20)
    """
    return made_by_name("ending", ENDINGS, text.strip())(limit)
