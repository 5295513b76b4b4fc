"""Probability distributions indexed by the names of states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import one_line, shown, visible
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas

_Default = TypeVar("_Default")

_MOST_ROWS = 18
"""The largest number of rows in the text of a distribution."""

_TOLERANCE = 1e-6
"""The largest deviation from one of the sum of the probabilities."""


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Value, Mapping[Any, float]):
    """A mapping from the states of one or several variables to their probabilities.

    The keys of a distribution of one variable are its states. The keys of a joint distribution
    are tuples of states, in the order of `scope`; ``{variable: state}`` works as well.

    Parameters
    ----------
    scope
        The variables, all different.
    probabilities
        An array with an axis for each variable; copied.

    Raises
    ------
    InvalidModelError
        If the array does not have the shape of the scope, or holds other than real, finite numbers.
    InvalidArgumentError
        If a number is negative, or they do not sum to one.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> weather = Distribution((rain, wet), [[0.7, 0.1], [0.05, 0.15]])
    >>> weather["yes", "no"], weather[{"wet": "no", "rain": "yes"}]
    (0.05, 0.05)
    >>> weather
    P(rain, wet)
    no, no    0.700
    no, yes   0.100
    yes, no   0.050
    yes, yes  0.150
    """

    scope: tuple[Variable, ...]
    """The variables, one for each axis."""
    probabilities: Floats
    """The probabilities as an array, ``(states of the first variable, …)``."""

    def _faults(self) -> Iterator[str]:
        table = Factor(self.scope, self.probabilities).values.real
        total, least = float(table.sum()), float(table.min())
        if least < 0 or abs(total - 1) > _TOLERANCE:
            yield (
                f"the probabilities of {', '.join(self.names)} must not be negative and must sum to"
                f" one; their sum is {total:.6g}, the smallest is {least:.6g}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of `scope`."""
        return tuple([v.name for v in self.scope])

    def __getitem__(self, states: Any) -> float:
        """Return the probability of a state, or of a tuple of states, one for each variable.

        Raises
        ------
        UnknownNameError
            If a variable has no such state.
        InvalidArgumentError
            If there is not one state for each variable.
        """
        return float(self.probabilities[self._cell(states)])

    def _cell(self, states: Any) -> tuple[int, ...]:
        names = self.names
        if isinstance(states, Mapping):
            by_name = {format_name(name): state for name, state in states.items()}
            if by_name.keys() == set(names):
                return tuple([v.index(by_name[v.name]) for v in self.scope])
        elif len(names) == 1:
            return (self.scope[0].index(states),)
        elif isinstance(states, tuple) and len(states) == len(names):
            return tuple([v.index(state) for v, state in zip(self.scope, states, strict=True)])
        example = tuple(v.states[0] for v in self.scope)
        raise InvalidArgumentError(
            f"expected a state for each of {', '.join(names) or 'no variables'}, such as"
            f" {example[0] if len(example) == 1 else example!r}, got {shown(states)}",
            states,
        )

    def __iter__(self) -> Iterator[Any]:
        if len(self.scope) == 1:
            return iter(self.scope[0].states)
        return product(*(v.states for v in self.scope))

    def __len__(self) -> int:
        return self.probabilities.size

    def __contains__(self, states: object) -> bool:
        try:
            self._cell(states)
        except (UnknownNameError, InvalidArgumentError):
            return False
        return True

    @overload
    def get(self, key: Any, /) -> float | None: ...
    @overload
    def get(self, key: Any, /, default: float | _Default) -> float | _Default: ...
    def get(self, key: Any, /, default: Any = None) -> Any:
        """Return the probability of a state, or a default if there is no such state.

        Parameters
        ----------
        key
            A state, or a tuple of states, one for each variable.
        default
            The value if there is no such state.
        """
        try:
            return self[key]
        except (UnknownNameError, InvalidArgumentError):
            return default

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        same = self.scope == other.scope
        return same and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash((self.scope, *self.probabilities.ravel().tolist()))

    @checked
    def isclose(self, other: Distribution, *, atol: float = 1e-12) -> bool:
        """Return whether both are the same to within ``atol``, in any order of the variables.

        Parameters
        ----------
        other
            The other distribution.
        atol
            The largest difference of two probabilities.
        """
        mine, others = Factor(self.scope, self.probabilities), other.probabilities
        return mine.isclose(Factor(other.scope, others), atol=atol)

    def to_dict(self) -> dict[Any, float]:
        """Return the probabilities by state, or by tuple of states, as a dictionary."""
        return dict(zip(self, self.probabilities.ravel().tolist(), strict=True))

    def to_series(self) -> pandas.Series[float]:
        """Return the probabilities as a `pandas.Series`, indexed by the states of the variables."""
        import pandas

        index: pandas.Index[Any] | None = None
        if len(self.scope) == 1:
            index = pandas.Index(self.scope[0].states, name=self.names[0])
        elif self.scope:
            index = pandas.MultiIndex.from_product([v.states for v in self.scope], names=self.names)
        return pandas.Series(self.probabilities.ravel().copy(), index=index, name="probability")

    def __repr__(self) -> str:
        rows = [(", ".join(map(label, states)), text) for states, text in self._rows()]
        width = max(len(states) for states, _ in rows)
        title = f"P({', '.join(map(label, self.names))})"
        return "\n".join([title, *(f"{states:<{width}}  {text}".strip() for states, text in rows)])

    def _repr_html_(self) -> str:
        """Return the distribution as an HTML table, which notebooks display."""
        heads = "".join(f"<th>{escape(label(name))}</th>" for name in self.names)
        rows = []
        for states, text in self._rows():
            cells = "".join(f"<td>{escape(label(state))}</td>" for state in states)
            if len(states) < len(self.scope):
                cells = f'<td colspan="{len(self.scope)}">{escape(states[0])}</td>'
            rows.append(f"<tr>{cells}<td>{text}</td></tr>")
        return (
            f"<table><thead><tr>{heads}<th>probability</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )

    def _rows(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the states and the probabilities to show: all, or the largest and the rest."""
        flat = self.probabilities.ravel()
        chosen = np.arange(flat.size)
        if flat.size > _MOST_ROWS:
            chosen = np.argsort(-flat, kind="stable")[: _MOST_ROWS - 1]
        rows = []
        for number in chosen.tolist():
            cell = np.unravel_index(number, self.probabilities.shape)
            states = tuple(v.states[i] for v, i in zip(self.scope, cell, strict=True))
            rows.append((states, format_probability(float(flat[number]))))
        if len(rows) < flat.size:
            rest = max(0.0, float(flat.sum() - flat[chosen].sum()))
            rows.append(((f"{flat.size - len(rows):,} others",), format_probability(rest)))
        return rows


def format_probability(probability: float) -> str:
    """Return a probability as text; ``0`` and ``1`` mean exactly 0 and 1.

    >>> [format_probability(p) for p in (0.0, 1e-9, 0.0004, 0.25, 1.0)]
    ['0', '1.0e-09', '4.0e-04', '0.250', '1']
    """
    if probability in (0.0, 1.0):
        return f"{probability:.0f}"
    return f"{probability:.3f}" if abs(probability) >= 5e-4 else f"{probability:.1e}"


def label(name: str) -> str:
    """Return the name of a variable or a state as a printable, short text in one line.

    >>> label("a state with a very long name")
    'a state with a very lon…'
    """
    return visible(one_line(name, longest=24))
