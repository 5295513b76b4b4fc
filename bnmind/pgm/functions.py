"""Deterministic functions of discrete states, kept as functions.

A function maps state positions of its arguments to a state position of the
result; it works on whole arrays by broadcasting. Keeping the function, and not
only its table, is what lets the engine factorize a sum of ten counts whose table
would have sixty million cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError

__all__ = ["Addition", "Equality", "Function", "Maximum", "Minimum", "Positions", "Restricted"]

Positions: TypeAlias = NDArray[np.intp]


class Function(Protocol):
    """A deterministic function of state positions."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the result's state positions, broadcast over the arguments."""
        ...

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the function on fewer states of each argument.

        ``states[i]`` are the positions that argument ``i`` may still take; an
        argument left with a single state is no longer an argument.
        """
        ...


@dataclass(frozen=True)
class Addition:
    """A sum: ``(constant + Σ_i terms[i][x_i]) mod modulus``.

    It serves sums (``terms[i] = 0, 1, 2, …``), differences (``0, −1, −2, …``) and
    counts of a state (``terms[i]`` is 1 at that state, else 0). The modulus makes
    it a function everywhere: Vomlel's C = ΣM_i − P is negative only where other
    tables of his network are zero.
    """

    terms: tuple[tuple[int, ...], ...]
    modulus: int
    constant: int = 0

    def __post_init__(self) -> None:
        if self.modulus < 1:
            raise InvalidModelError([f"expected a positive modulus, got {self.modulus}"])

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the sum's positions."""
        total: Positions = np.asarray(self.constant, dtype=np.intp)
        for term, argument in zip(self.terms, arguments, strict=True):
            total = total + np.asarray(term, dtype=np.intp)[argument]
        return np.asarray(total % self.modulus, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Addition:
        """Return the sum over what remains, fixed arguments added to the constant."""
        terms, constant = [], self.constant
        for term, kept in zip(self.terms, states, strict=True):
            if len(kept) == 1:
                constant += term[kept[0]]
            else:
                terms.append(tuple(term[i] for i in kept))
        return Addition(tuple(terms), self.modulus, constant)


@dataclass(frozen=True)
class Minimum:
    """The smallest of the arguments' positions."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the smallest position."""
        return _reduced(np.minimum, arguments)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the minimum on fewer states."""
        return Restricted.of(self, states)


@dataclass(frozen=True)
class Maximum:
    """The largest of the arguments' positions."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the largest position."""
        return _reduced(np.maximum, arguments)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the maximum on fewer states."""
        return Restricted.of(self, states)


@dataclass(frozen=True)
class Equality:
    """Kronecker's delta: 1 if all the arguments are at the same position, else 0."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return 1 where all are equal, else 0."""
        same = np.asarray(True)
        for argument in arguments[1:]:
            same = same & (arguments[0] == argument)
        return same.astype(np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the delta on fewer states."""
        return Restricted.of(self, states)


@dataclass(frozen=True)
class Restricted:
    """A function whose arguments, or result, take only some of their states.

    Parameters
    ----------
    function
        The function on all states.
    states
        For each of its arguments, the positions that remain; an argument with a
        single one is not passed.
    results
        The positions of the result that remain, or None for all of them.
    """

    function: Function
    states: tuple[tuple[int, ...], ...]
    results: tuple[int, ...] | None = None

    @classmethod
    def of(cls, function: Function, states: Sequence[Sequence[int]]) -> Restricted:
        """Return the function on fewer states of its arguments."""
        return cls(function, tuple(tuple(kept) for kept in states))

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the positions among the results that remain."""
        given = iter(arguments)
        full = [
            np.asarray(kept, dtype=np.intp)[next(given) if len(kept) > 1 else 0]
            for kept in self.states
        ]
        value = self.function(*full)
        if self.results is None:
            return value
        # A result that was cut away cannot occur; any position will do for it.
        order = np.argsort(self.results)
        place = np.searchsorted(np.asarray(self.results)[order], value)
        return np.asarray(order[np.minimum(place, len(order) - 1)], dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Restricted:
        """Return the function on fewer states still."""
        given = iter(states)
        kept = tuple(
            tuple(old[i] for i in next(given)) if len(old) > 1 else old for old in self.states
        )
        return Restricted(self.function, kept, self.results)


def _reduced(operation: np.ufunc, arguments: tuple[Positions, ...]) -> Positions:
    value = arguments[0]
    for argument in arguments[1:]:
        value = operation(value, argument)
    return np.asarray(value, dtype=np.intp)
