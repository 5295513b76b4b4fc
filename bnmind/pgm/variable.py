"""Discrete variables: a name and its states."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidModelError, UnknownNameError

_NO_TEXT = frozenset(("Cc", "Cs", "Zl", "Zp"))
"""Unicode categories that a name must not contain: control characters, halves of characters
(surrogates), and separators of lines and paragraphs."""


def name_fault(name: object) -> str | None:
    """Return the fault of a name of a variable, a skill or an item; None if it is valid.

    A name is any non-empty text in one line. Spaces, dots and letters of every script are allowed;
    control characters and line breaks are not.

    Examples
    --------
    >>> name_fault("No. of people"), name_fault("Hören")
    (None, None)
    >>> name_fault("")
    'a name must not be empty'
    """
    if not isinstance(name, str):
        return f"a name must be text, not {type(name).__name__}"
    if not name:
        return "a name must not be empty"
    if not name.isprintable():
        wrong = next((c for c in name if unicodedata.category(c) in _NO_TEXT), None)
        if wrong is not None:
            return f"a name must not contain control characters or line breaks, such as {wrong!r}"
    return None


def format_name(name: Any) -> Any:
    """Return a name as text if it is a whole number; any other value unchanged.

    Columns of data frames are often numbered. Truth values are not names.

    >>> format_name(7), format_name("rain")
    ('7', 'rain')
    """
    if isinstance(name, str):
        return name
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(int(name))
    return name


def format_label(label: Any) -> str:
    """Return the label of a row or a column of a data frame as text; empty if it is missing.

    >>> format_label("item.1"), format_label(7), format_label(None), format_label(float("nan"))
    ('item.1', '7', '', '')
    """
    return "" if label is None or label != label else str(format_name(label))


def format_state(state: Any) -> Any:
    """Return a state as text if it is a number or a truth value; any other value unchanged.

    >>> format_state(1), format_state(True), format_state(0.5), format_state(np.int64(3))
    ('1', 'True', '0.5', '3')
    """
    if isinstance(state, str):
        return state
    if isinstance(state, np.generic):
        state = state.item()
    if isinstance(state, Real) and state == state:
        return str(state)
    return state


def _is_whole(text: str) -> bool:
    """Return whether a text contains no unpaired surrogates, which files cannot hold."""
    return text.isprintable() or not any("\ud800" <= c <= "\udfff" for c in text)


@dataclass(frozen=True)
class Variable:
    """A discrete variable.

    Parameters
    ----------
    name
        Any text in one line; see `name_fault`. A whole number is kept as text.
    states
        The names of the states, all different. Numbers and truth values are kept as text.

    Raises
    ------
    InvalidModelError
        If the name is not valid, or there are no states, or they are not distinct.

    Examples
    --------
    >>> Variable("rain", ("no", "yes")).index("yes")
    1
    >>> Variable("item.1", (0, 1)).states
    ('0', '1')
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        name, given = format_name(self.name), self.states
        is_fit = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
        # Most states are texts, so most calls are saved.
        states = tuple([s if type(s) is str else format_state(s) for s in given]) if is_fit else ()
        problems = []
        if fault := name_fault(name):
            problems.append(f"expected a variable name, got {name!r}: {fault}")
        if not states:
            problems.append(
                f"expected the states of {name!r}, such as ('no', 'yes'), got {given!r}"
            )
        elif wrong := [s for s in states if not isinstance(s, str) or not _is_whole(s)]:
            problems.append(
                f"expected texts of whole characters, numbers or truth values as states of"
                f" {name!r}, got {wrong[0]!r}"
            )
        elif len(set(states)) != len(states):
            problems.append(f"expected distinct states of {name!r}, got {states!r}")
        if problems:
            raise InvalidModelError(problems)
        self.__dict__.update(name=name, states=states)

    @classmethod
    @checked
    def of_integers(cls, name: str, values: Iterable[int]) -> Variable:
        """Return a variable whose states are integers, written as strings.

        Parameters
        ----------
        name
            The name.
        values
            The integers, in the order of the states.

        Examples
        --------
        >>> Variable.of_integers("C", range(3)).states
        ('0', '1', '2')
        """
        return cls(name, tuple(str(value) for value in values))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.states)

    def index(self, state: Any) -> int:
        """Return the position of a state.

        Parameters
        ----------
        state
            The state as text. A number or a truth value matches the text of an equal value: 1
            matches ``1``, ``1.0`` or ``True``, in this order. A truth value also matches a text
            of another case, such as ``TRUE``, which `pandas.read_csv` reads as a truth value.

        Raises
        ------
        UnknownNameError
            If there is no such state.

        Examples
        --------
        >>> Variable("solved", ("False", "True")).index(True)
        1
        >>> Variable("age", ("1", "2")).index(2)
        1
        >>> Variable("history", ("TRUE", "FALSE")).index(False)
        1
        """
        for text in (state,) if isinstance(state, str) else _spell(state):
            if text in self.states:
                return self.states.index(text)
        if isinstance(state, bool | np.bool_):
            folded = [text.casefold() for text in self.states]
            if folded.count(str(state).casefold()) == 1:
                return folded.index(str(state).casefold())
        raise UnknownNameError(f"state of {self.name}", state, self.states)

    @checked
    def keep(self, positions: Iterable[int]) -> Variable:
        """Return the variable with only the states at these positions.

        Parameters
        ----------
        positions
            Positions of states, ascending.
        """
        chosen = tuple(positions)
        if chosen == tuple(range(self.n_states)):
            return self
        return Variable(self.name, tuple(self.states[i] for i in chosen))


def _spell(state: Any) -> Iterator[str]:
    """Yield the texts of a number or a truth value, and of equal values of other types."""
    text = format_state(state)
    if not isinstance(text, str):
        return
    yield text
    try:
        number = float(state)
    except OverflowError:  # a whole number of hundreds of digits
        return
    if number.is_integer():
        yield from (str(int(number)), str(number))
        if number in (0.0, 1.0):
            yield str(bool(number))
