r"""Noisy extrema, such as noisy-or: the child is the extremum of a noisy copy of each parent.

.. math:: Y = \max(Z_0, Z_1, \dots, Z_k), \qquad Z_i \sim \text{links}_i(\cdot, x_i)

P(Y ≤ y) is a product over the parents and determines the distribution. For binary variables, the
maximum is the noisy-or and the minimum the noisy-and. The number of parameters grows with the
number of parents, not with the product of their states. The table is computed only on request.

==================  ====================================================
Díez                name here
==================  ====================================================
Y                   ``variable``
X_i                 ``parents``
c^{x_i}_y           ``links[i][y, x_i]`` = P(Z_i = y | x_i)
c^*_y               ``leak[y]`` = P(Z_0 = y)
==================  ====================================================

References
----------
J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988, section 4.3.2 (noisy-or);
F. J. Díez, "Parameter adjustment in Bayes networks. The generalized noisy OR-gate", UAI 1993;
S. Srinivas, "A generalization of the noisy-or model", UAI 1993.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Raw
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor, numbers_of
from bnmind.pgm.tabular import (
    DEFAULT_CELLS,
    Conditional,
    TabularCPD,
    distributions,
    refuse_large_table,
    state_positions,
)
from bnmind.pgm.variable import Variable

_Self = TypeVar("_Self", bound="NoisyExtremum")


@dataclass(frozen=True, eq=False)
class NoisyExtremum(ABC, Conditional):
    """The base of `NoisyMaximum` and `NoisyMinimum`.

    Parameters
    ----------
    variable
        The child; its states in increasing order.
    parents
        Its parents, with any number of states; at least one.
    links
        For each parent, an array ``(states of the child, states of the parent)``: the distribution
        of the parent's contribution given its state. Columns must sum to one within 1e-6 and are
        normalized.
    leak
        The distribution ``(states of the child,)`` of the contribution of all other causes. The
        default is no contribution: the first state for a maximum, the last for a minimum.

    Raises
    ------
    InvalidModelError
        If a shape, a value or a sum is wrong; all faults at once.
    """

    links: tuple[Annotated[Floats, Raw], ...]
    leak: Floats | None = None

    _least_parents = 1

    def __post_init__(self) -> None:
        self._convert()
        problems, name, child = [*self._faults()], self.variable.name, self.variable
        given = self._ordered(np.eye(child.n_states)[0]) if self.leak is None else self.leak
        leak = distributions(f"leak of {name}", given, (child,), problems)
        links = [
            distributions(f"link from {v.name} to {name}", link, (child, v), problems)
            for v, link in zip(self.parents, self.links, strict=False)
        ]
        if problems:
            raise InvalidModelError(problems)
        self._set(leak=leak, links=tuple(links))

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if (n := len(self.parents)) != len(self.links):
            yield f"expected {n} links for {self.variable.name}, got {len(self.links)}"

    @abstractmethod
    def _ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values with the states of the child ordered so that the extremum is a maximum.

        The child is the first axis. Applying the method twice restores the values.
        """

    @property
    def least(self) -> int:
        """The position of the child's state without an effect; the last one for a minimum."""
        return int(self._ordered(np.arange(self.variable.n_states))[0])

    @property
    def contributions(self) -> tuple[Floats, ...]:
        """The leak as a column, then the links."""
        assert self.leak is not None  # set by the constructor
        return (self.leak[:, None], *self.links)

    def cumulative(self) -> tuple[Floats, ...]:
        """Return P(Z_i ≤ y) for a maximum and P(Z_i ≥ y) for a minimum.

        The first array is that of the leak; then follows an array ``(y, states)`` for each parent.
        Their product is P(Y ≤ y) or P(Y ≥ y) given the states of the parents.
        """
        sums = (np.cumsum(self._ordered(c), axis=0) for c in self.contributions)
        # The last sum is exactly one, whatever the rounding.
        return tuple(self._ordered(np.vstack([s[:-1], np.ones((1, s.shape[1]))])) for s in sums)

    def partials(self, by_table: Floats) -> tuple[Floats, ...]:
        """Return derivatives by the parameters from those by the entries of the table.

        The table of a maximum is linear in each contribution Z_i. With the maximum M_i of all other
        contributions, the derivative of P(y | x) by P(Z_i = z | x_i) is P(M_i ≤ z) if y = z, and
        P(M_i = y) if y > z. Nothing is subtracted, so that no derivative is negative if none of
        those given is.

        Parameters
        ----------
        by_table
            An array over ``scope``.

        Returns
        -------
        tuple
            An array ``(states of the child,)`` for the leak, then one for each link in its shape.
        """
        by_table = self._ordered(by_table)
        parts = []
        for axis, part in enumerate(self.contributions):
            shape = [1] * by_table.ndim
            shape[axis], shape[0] = part.shape[1], len(part)
            parts.append(self._ordered(part).reshape(shape))
        found = []
        for axis in range(by_table.ndim):
            others = np.zeros((len(by_table), *(1,) * (by_table.ndim - 1)))
            others[0] = 1.0
            for part in parts[:axis] + parts[axis + 1 :]:
                others = combined(others, part)
            gone = tuple(a for a in range(1, by_table.ndim) if a != axis)
            equal = (by_table * np.cumsum(others, axis=0)).sum(axis=gone)
            above = np.cumsum((by_table * others).sum(axis=gone)[::-1], axis=0)[::-1]
            found.append(self._ordered(equal + np.append(above[1:], 0 * above[:1], axis=0)))
        return tuple(found)

    @checked
    def to_factor(self, *, max_cells: int = DEFAULT_CELLS) -> Factor:
        """Return the table as a factor over ``scope``.

        Raises
        ------
        TooLargeError
            If it would have more than ``max_cells`` cells.
        """
        refuse_large_table(self.scope, max_cells)
        return Factor(self.scope, self.table_on([range(v.n_states) for v in self.scope]))

    @checked
    def to_tabular(self, *, max_cells: int = DEFAULT_CELLS) -> TabularCPD:
        """Return the same distribution as a table; `TooLargeError` as in `to_factor`.

        Parameters
        ----------
        max_cells
            The most cells that the table may have.
        """
        table = self.to_factor(max_cells=max_cells).values
        return TabularCPD(self.variable, self.parents, np.real(table))

    @checked
    def table_on(self, states: Sequence[Sequence[int]]) -> Floats:
        """Return the table on fewer states: positions for each variable of ``scope``, in order.

        The method does not compute the whole table, and subtracts nothing, so that small
        probabilities keep all their digits.

        Parameters
        ----------
        states
            Positions from 0, in any order, for each variable of ``scope``: the child, then its
            parents.
        """
        state_positions(self.scope, states)
        leak, *links = self.contributions
        table = self._ordered(leak)[:, 0]
        for axis, (link, positions) in enumerate(zip(links, states[1:], strict=True)):
            columns = self._ordered(link)[:, list(positions)]
            shape = (len(columns), *(1,) * axis, len(positions))
            table = combined(table[..., None], columns.reshape(shape))
        return self._ordered(table)[list(states[0])]

    def possible(self, states: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Return the given states that are possible together with the given states of the others.

        See `FunctionalCPD.possible`. A forward pass finds the reachable states, and a backward
        pass the allowed ones, without a table.
        """
        n = self.variable.n_states
        leak, *links = (self._ordered(c) > 0 for c in self.contributions)
        allowed = np.zeros(n, dtype=bool)
        allowed[list(states[0])] = True
        allowed = self._ordered(allowed)
        largest = np.maximum.outer(np.arange(n), np.arange(n))
        columns = [
            link[:, list(positions)] for link, positions in zip(links, states[1:], strict=True)
        ]
        reached = [leak[:, 0]]
        for column in columns:
            reached.append(_union(reached[-1], np.any(column, axis=1, keepdims=True)[:, 0]))
        child = self._ordered(reached[-1] & allowed)
        good, supports = allowed, []
        for before, column, positions in zip(
            reversed(reached[:-1]), reversed(columns), reversed(states[1:]), strict=True
        ):
            leads = good[largest] @ column  # (state before, state of the parent)
            supports.append(tuple(i for i, f in zip(positions, before @ leads, strict=True) if f))
            good = np.any(leads, axis=1, keepdims=True)[:, 0]
        return (tuple(i for i in states[0] if child[i]), *reversed(supports))

    @checked
    def restrict(self: _Self, states: Mapping[str, Sequence[int]]) -> _Self | TabularCPD:
        """Return the distribution on fewer states, as for `TabularCPD.restrict`.

        The remaining states of the child must be in increasing order. Parents with a single state
        become part of the leak. Without parents, the result is a table.

        Raises
        ------
        InvalidModelError
            If the states that are kept do not increase.
        """
        keep = [tuple(states.get(v.name, range(v.n_states))) for v in self.scope]
        results = keep[0]
        if any(a >= b for a, b in itertools.pairwise(results)):
            raise InvalidModelError(
                [f"expected increasing states of {self.variable.name}, got {results}"]
            )
        first, *links = (self._ordered(c) for c in self.contributions)
        leak, parents, remaining = first[:, 0], [], []
        for parent, link, positions in zip(self.parents, links, keep[1:], strict=True):
            if len(positions) == 1:
                leak = combined(leak, link[:, positions[0]])
            else:
                parents.append(parent.keep(positions))
                remaining.append(link[:, list(positions)])
        child = self.variable.keep(results)
        if not parents:
            whole = TabularCPD(self.variable, (), self._ordered(leak))
            return whole.restrict({self.variable.name: results})
        # The maximum commutes with an increasing map of the states. Removed states are mapped to
        # the next remaining state; they cannot be reached.
        is_result = np.zeros(self.variable.n_states, dtype=bool)
        is_result[list(results)] = True
        place = np.cumsum(self._ordered(is_result)) - self._ordered(is_result)
        merge = np.eye(len(results))[:, np.minimum(place, len(results) - 1)]
        merged = [self._ordered(merge @ one) for one in (leak, *remaining)]
        return type(self)(child, tuple(parents), tuple(merged[1:]), merged[0])


@dataclass(frozen=True, eq=False)
class NoisyMaximum(NoisyExtremum):
    """The maximum of the contributions of the parents and the leak: noisy-max, noisy-or.

    See `NoisyExtremum` for the parameters, `noisy_or` for the binary case.

    Examples
    --------
    >>> level = ("none", "some", "much")
    >>> rain, pain = Variable("rain", ("no", "yes")), Variable("pain", level)
    >>> cpd = NoisyMaximum(pain, (rain,), ([[1, 0.5], [0, 0.3], [0, 0.2]],), [0.9, 0.1, 0])
    >>> cpd.to_factor().values.round(3).tolist()
    [[0.9, 0.45], [0.1, 0.35], [0.0, 0.2]]
    """

    def _ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        return values


@dataclass(frozen=True, eq=False)
class NoisyMinimum(NoisyExtremum):
    """The minimum of the contributions of the parents and the leak: noisy-min, noisy-and.

    See `NoisyExtremum` for the parameters, `noisy_and` for the binary case.
    """

    def _ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        return values[::-1]


@checked
def noisy_or(
    variable: Variable, parents: Sequence[Variable], probabilities: ArrayLike, leak: float = 0.0
) -> NoisyMaximum:
    """Return a noisy-or of binary variables. Their second states mean "present".

    Parameters
    ----------
    variable, parents
        The effect and its possible causes.
    probabilities
        For each parent, the probability that it causes the effect if it alone is present.
    leak
        The probability of the effect if no parent is present.

    Examples
    --------
    >>> flu, cold, fever = (Variable(name, ("no", "yes")) for name in ("flu", "cold", "fever"))
    >>> table = noisy_or(fever, (flu, cold), [0.8, 0.5], leak=0.1).to_factor().values
    >>> table[1].round(3).tolist()  # P(fever | flu, cold)
    [[0.1, 0.55], [0.82, 0.91]]
    """
    p = _binary(
        variable,
        parents,
        np.append(numbers_of(probabilities, f"for {variable.name}", real=True).real, leak),
    )
    links = tuple(np.array([[1, 1 - present], [0, present]]) for present in p[:-1])
    return NoisyMaximum(variable, tuple(parents), links, np.array([1 - p[-1], p[-1]]))


@checked
def noisy_and(
    variable: Variable, parents: Sequence[Variable], probabilities: ArrayLike, leak: float = 0.0
) -> NoisyMinimum:
    """Return a noisy-and of binary variables. Their second states mean "present".

    Parameters
    ----------
    variable, parents
        The effect, and the conditions that it needs.
    probabilities
        For each parent, the probability that its condition is met if it is present.
    leak
        The probability that something else prevents the effect.
    """
    p = _binary(
        variable,
        parents,
        np.append(numbers_of(probabilities, f"for {variable.name}", real=True).real, leak),
    )
    links = tuple(np.array([[1, 1 - present], [0, present]]) for present in p[:-1])
    return NoisyMinimum(variable, tuple(parents), links, np.array([p[-1], 1 - p[-1]]))


def combined(first: Floats, second: Floats) -> Floats:
    """Return the distribution of the larger of two variables, along the first axis.

    The function only adds, so that small probabilities keep their digits.
    """
    return first * np.cumsum(second, axis=0) + _shifted(first) * second


def _shifted(values: Floats) -> Floats:
    """Return the cumulative sums without the element itself."""
    sums = np.cumsum(values, axis=0)
    return np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])


def _union(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which maxima of elements of two sets are possible."""
    up = np.logical_or.accumulate
    return (first & up(second)) | (up(first) & second)


def _binary(variable: Variable, parents: Sequence[Variable], probabilities: Floats) -> Floats:
    problems = [
        f"expected two states of {v.name}, got {v.n_states}"
        for v in (variable, *parents)
        if v.n_states != 2
    ]
    if probabilities.shape != (len(parents) + 1,):
        problems.append(
            f"expected {len(parents)} probabilities for {variable.name},"
            f" got {probabilities.size - 1}"
        )
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        problems.append(f"the probabilities and the leak of {variable.name} must be in [0, 1]")
    if problems:
        raise InvalidModelError(problems)
    return probabilities
