"""Dense factors: a scope and an array over it.

Values may be negative or complex, as in rank-one factorizations. The functions in this file
therefore take no logarithms and do not assume probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._values import Shape, Value
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.pgm.variable import Variable

Values: TypeAlias = NDArray[np.inexact[Any]]
"""Real (float64) or complex (complex128) numbers."""


def numbers_of(values: Any, what: str, *, real: bool = False) -> Values:
    """Return values as an array of float64, or of complex128 unless they must be ``real``.

    Raises
    ------
    InvalidModelError
        If the values are not such numbers; ``what`` names them in the message.

    Examples
    --------
    >>> numbers_of([1, 2], "in a table").tolist()
    [1.0, 2.0]
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufc":
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as fault:
        problem = f"expected an array of numbers {what}, got {shown(values)}"
        raise InvalidModelError([problem]) from fault
    if real and np.iscomplexobj(array):
        raise InvalidModelError([f"expected real numbers {what}, got complex ones"])
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64, copy=False)


def frozen_array(values: ArrayLike) -> Values:
    """Return a read-only float64 or complex128 copy."""
    original = np.asarray(values)
    kind = np.complex128 if np.iscomplexobj(original) else np.float64
    array = np.array(original, dtype=kind, order="C")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Factor(Value):
    """A real or complex function of some discrete variables, as a dense array.

    Parameters
    ----------
    scope
        The variables, all different, one for each axis.
    values
        An array of shape ``tuple(v.n_states for v in scope)``; copied.

    Examples
    --------
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> Factor((coin,), [0.25, 0.75]).sum_to(()).values.tolist()
    1.0
    """

    scope: tuple[Variable, ...]
    values: Values

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        names, values = self.names, self.values
        shape = tuple([v.n_states for v in self.scope])
        if len(set(names)) != len(names):
            yield f"the variables of a factor must be distinct, got {names}"
        if values.shape != shape:
            yield f"expected an array of shape {shape} over {names}, got {values.shape}"
        if not np.isfinite(values).all():
            yield f"the values over {names} must be finite"

    def __repr__(self) -> str:
        return f"Factor({', '.join(f'{v.name}:{v.n_states}' for v in self.scope)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the axes."""
        return tuple([v.name for v in self.scope])

    @checked
    def axis(self, name: str) -> int:
        """Return the axis of a variable; `UnknownNameError` if it is not in scope.

        Parameters
        ----------
        name
            The name of a variable in scope.

        Raises
        ------
        UnknownNameError
            If the variable is not in scope.
        """
        if name not in self.names:
            raise UnknownNameError("variable", name, self.names)
        return self.names.index(name)

    @checked
    def transpose(self, names: Iterable[str]) -> Factor:
        """Return the same function with its axes in the order of ``names``.

        Raises
        ------
        UnknownNameError
            If a name is not in scope.
        InvalidArgumentError
            If a name is missing or occurs twice.
        """
        axes = [self.axis(name) for name in names]
        if sorted(axes) != list(range(len(self.scope))):
            raise InvalidArgumentError(
                f"expected each of the variables {', '.join(self.names)} once, got"
                f" {', '.join(self.names[axis] for axis in axes) or 'none'}"
            )
        return Factor(tuple(self.scope[a] for a in axes), np.transpose(self.values, axes))

    @checked
    def sum_to(self, names: Iterable[str]) -> Factor:
        """Return the factor with every variable but ``names`` summed out, in their order."""
        names = tuple(names)
        axes = [self.axis(name) for name in names]
        others = tuple(a for a in range(len(self.scope)) if a not in axes)
        rest = [a for a in range(len(self.scope)) if a in axes]
        summed = Factor(tuple(self.scope[a] for a in rest), self.values.sum(axis=others))
        return summed.transpose(names)

    @checked
    def select(self, evidence: Mapping[str, int]) -> Factor:
        """Return the factor at the given state positions; variables not in scope are ignored.

        Parameters
        ----------
        evidence
            The position of the state of each observed variable, from 0, by name.
        """
        index: tuple[Any, ...] = tuple(evidence.get(name, slice(None)) for name in self.names)
        rest = tuple(v for v in self.scope if v.name not in evidence)
        return Factor(rest, self.values[index])

    @checked
    def product(self, other: Factor) -> Factor:
        """Return the product, over this scope followed by the other variables of ``other``."""
        scope = self.scope + tuple(v for v in other.scope if v not in self.scope)
        return Factor(scope, self._spread(scope) * other._spread(scope))

    def _spread(self, scope: tuple[Variable, ...]) -> Values:
        order = sorted(range(len(self.scope)), key=lambda a: scope.index(self.scope[a]))
        shape = [v.n_states if v in self.scope else 1 for v in scope]
        return np.transpose(self.values, order).reshape(shape)

    @checked
    def isclose(self, other: Factor, *, atol: float = 1e-12) -> bool:
        """Return whether both are the same function to within ``atol``, in any order of axes.

        Parameters
        ----------
        other
            The other factor.
        atol
            The largest difference of two cells.

        Raises
        ------
        InvalidArgumentError
            If ``atol`` is negative or not finite.
        """
        if not 0 <= atol < math.inf:
            raise InvalidArgumentError(f"atol must be finite and at least 0, got {atol}", atol)
        if set(self.scope) != set(other.scope):
            return False
        return bool(
            np.allclose(self.values, other.transpose(self.names).values, rtol=0.0, atol=float(atol))
        )


@dataclass(frozen=True, eq=False)
class SparseFactor(Value):
    """A factor without its structural zeros, as a list of configurations with their values.

    Parameters
    ----------
    scope
        The variables.
    configurations
        ``(rows, variables)`` state positions, distinct rows.
    values
        ``(rows,)``.
    """

    scope: tuple[Variable, ...]
    configurations: NDArray[np.intp]
    values: Annotated[Values, Shape("values")]

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.configurations.reshape(len(self.values), len(self.scope))
        self._set(configurations=rows)

    def _faults(self) -> Iterator[str]:
        shape = (len(self.values), len(self.scope))
        if self.configurations.size != math.prod(shape):
            yield f"expected configurations of shape {shape}, got {self.configurations.shape}"
            return
        rows, limits = self.configurations.reshape(shape), [v.n_states for v in self.scope]
        if ((rows < 0) | (rows >= np.array(limits, dtype=np.intp))).any():
            yield f"state positions must be from 0 and below {limits}"
        elif len(np.unique(rows, axis=0)) != len(rows):
            yield "the configurations must be distinct"

    @classmethod
    @checked
    def from_factor(cls, factor: Factor) -> SparseFactor:
        """Return the factor's entries that are not exactly zero.

        Parameters
        ----------
        factor
            The factor.
        """
        nonzero = factor.values != 0
        return cls(factor.scope, np.argwhere(nonzero), factor.values[nonzero])

    def to_factor(self) -> Factor:
        """Return the dense form."""
        values = np.zeros([v.n_states for v in self.scope], dtype=self.values.dtype)
        # Without variables there is at most one cell.
        values[tuple(self.configurations.T)] = self.values if self.scope else self.values.sum()
        return Factor(self.scope, values)

    @property
    def share(self) -> float:
        """The share of the dense table's cells that remain."""
        return len(self.values) / math.prod(v.n_states for v in self.scope)
