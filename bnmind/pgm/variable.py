"""Discrete variables: a name and its states."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bnmind.errors import InvalidModelError, UnknownNameError

__all__ = ["Variable"]

_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Variable:
    """A discrete variable.

    Parameters
    ----------
    name
        Letters, digits, ``_`` and ``-``: what every file format can hold.
    states
        The names of the states, all different.

    Raises
    ------
    InvalidModelError
        If the name is not of that form, or the states are none or not distinct strings.

    Examples
    --------
    >>> Variable("rain", ("no", "yes")).index("yes")
    1
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        problems = []
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            problems.append(
                f"expected a variable name of letters, digits, '_' and '-', got {self.name!r}"
            )
        if not isinstance(self.states, tuple) or not self.states:
            problems.append(f"expected a tuple of states for {self.name!r}, got {self.states!r}")
        elif not all(isinstance(state, str) for state in self.states):
            problems.append(f"expected strings as states of {self.name!r}, got {self.states!r}")
        elif len(set(self.states)) != len(self.states):
            problems.append(f"expected distinct states of {self.name!r}, got {self.states!r}")
        if problems:
            raise InvalidModelError(problems)

    @classmethod
    def of_integers(cls, name: str, values: Iterable[int]) -> Variable:
        """Return a variable whose states are integers, written as strings.

        >>> Variable.of_integers("C", range(3)).states
        ('0', '1', '2')
        """
        return cls(name, tuple(str(value) for value in values))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.states)

    def index(self, state: str) -> int:
        """Return the position of a state; `UnknownNameError` if there is none such."""
        try:
            return self.states.index(state)
        except ValueError:
            raise UnknownNameError(f"state of {self.name}", state, self.states) from None

    def keep(self, positions: Iterable[int]) -> Variable:
        """Return the variable with only the states at these positions."""
        return Variable(self.name, tuple(self.states[i] for i in positions))
