"""Access codes: easy to read aloud and to type, and too many to guess."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Attempts", "new_code", "tidy_code"]

_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that are not taken for one another."""

_GROUP, _GROUPS = 4, 2


def new_code() -> str:
    """Return a new access code: one of 31**8, about 40 bits."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def tidy_code(text: str) -> str:
    """Return a code as it was made; case, blanks and hyphens do not matter.

    >>> tidy_code(" abcd efgh "), tidy_code("abc"), tidy_code("")
    ('ABCD-EFGH', 'ABC', '')
    """
    plain = "".join(letter for letter in text.upper() if letter.isalnum())
    return "-".join(plain[i : i + _GROUP] for i in range(0, len(plain), _GROUP))


class Attempts:
    """Attempts, such as wrong codes, by their address, to slow down who makes many.

    Parameters
    ----------
    most
        How many attempts of an address are noted in the time before it must wait.
    seconds
        The time.
    clock
        The time now, in seconds.
    """

    def __init__(
        self, most: int = 30, *, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._noted: OrderedDict[str, list[float]] = OrderedDict()

    def may_try(self, address: str) -> bool:
        """Return whether an address may try now."""
        return len(self._recent(address)) < self._most

    def note(self, address: str) -> None:
        """Note an attempt of an address, such as a wrong code."""
        self._noted[address] = [*self._recent(address), self._clock()]
        self._noted.move_to_end(address)
        while len(self._noted) > 1000:
            self._noted.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - self._seconds
        return [at for at in self._noted.get(address, []) if at > since]
