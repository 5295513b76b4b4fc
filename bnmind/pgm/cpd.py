"""Conditional distributions given by functions, and the type of all conditional distributions.

Tables are in `bnmind.pgm.tabular`, noisy functions in `bnmind.pgm.noisy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import Addition, Function, Restricted, Steps, Stepwise, is_stepwise
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import (
    DEFAULT_CELLS,
    Conditional,
    TabularCPD,
    refuse_large_table,
    state_positions,
)
from bnmind.pgm.variable import Variable


@dataclass(frozen=True)
class FunctionalCPD(Conditional):
    """A variable that is a function of its parents; the table is computed only on request.

    Parameters
    ----------
    variable
        The child.
    parents
        The arguments, in order.
    function
        Maps state positions of the parents to those of the child.
    """

    function: Function

    _least_parents = 1

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        name, most = self.variable.name, self.variable.n_states - 1
        # The corners show a wrong number of arguments or a range that is too large.
        ends = [[np.asarray(at % v.n_states) for v in self.parents] for at in (0, -1)]
        try:
            results = [int(self.function(*end)) for end in ends]
        except (ValueError, IndexError, TypeError) as fault:
            yield f"expected a function of {len(self.parents)} parents for {name}: {fault}"
            return
        if all(0 <= value <= most for value in results) and not self._results_must_fit():
            steps = self._steps([range(v.n_states) for v in self.parents])
            results = list(steps.possible_results()) if steps else []
        for value in dict.fromkeys(results):
            if not 0 <= value <= most:
                yield f"expected results below {most + 1} for {name}, got {value}"

    @classmethod
    @checked
    def sum_of(
        cls, name: str, parents: Sequence[Variable], *, signs: Sequence[int] | None = None
    ) -> FunctionalCPD:
        """Return the distribution of the sum of the parents' positions.

        The states of the child are the possible sums. ``signs`` holds 1 or −1 (or any integer
        weight) for each parent; the default is 1.

        Parameters
        ----------
        name
            The name of the sum.
        parents
            The variables whose positions are added.
        signs
            1 or −1 for each parent; 1 if None.

        Examples
        --------
        >>> for_a, for_b = (Variable.of_integers(name, range(3)) for name in ("a", "b"))
        >>> lead = FunctionalCPD.sum_of("lead", (for_a, for_b), signs=(1, -1))
        >>> lead.variable.states
        ('-2', '-1', '0', '1', '2')
        """
        function = Addition.of([v.n_states for v in parents], signs=signs)
        values = range(-function.constant, function.modulus - function.constant)
        return cls(Variable.of_integers(name, values), tuple(parents), function)

    def value(self, positions: Sequence[int]) -> int:
        """Return the state position of the child for state positions of the parents.

        Parameters
        ----------
        positions
            The position of the state of each parent.
        """
        return int(self.function(*[np.asarray(i, dtype=np.intp) for i in positions]))

    @checked
    def to_factor(self, *, max_cells: int = DEFAULT_CELLS) -> Factor:
        """Return the table of zeros and ones over ``scope``.

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

        The method does not compute the whole table.

        Parameters
        ----------
        states
            Positions from 0, in any order, for each variable of ``scope``: the child, then its
            parents.
        """
        child, *arguments = np.ix_(*state_positions(self.scope, states))
        shape = tuple(len(positions) for positions in states)
        same: Floats = (self.function(*arguments) == child).astype(np.float64)
        return np.broadcast_to(same, shape)

    def possible(self, states: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Return the given states that are possible together with the given states of the others.

        Parameters
        ----------
        states
            The positions that each variable of ``scope`` may take, the child first.

        Returns
        -------
        tuple
            ``states`` without the positions that the function excludes; all empty if none is
            left. A function that is not `Stepwise` excludes nothing. The method does not compute
            a table.
        """
        steps = self._steps(states[1:])
        if steps is None:
            return tuple(tuple(positions) for positions in states)
        results = frozenset(steps.possible_results())
        child = tuple(i for i in states[0] if i in results)
        masks = steps.supports(child)
        return (
            child,
            *(
                tuple(np.asarray(positions, dtype=np.intp)[mask].tolist())
                for positions, mask in zip(states[1:], masks, strict=True)
            ),
        )

    def _results_must_fit(self) -> bool:
        """Return whether no sum can be too large, so that the steps need not be checked."""
        function = self.function
        return isinstance(function, Addition) and function.modulus <= self.variable.n_states

    def _steps(self, states: Sequence[Sequence[int]]) -> Steps | None:
        if is_stepwise(self.function) and isinstance(self.function, Stepwise):
            return self.function.steps(states)
        return None

    @checked
    def restrict(self, states: Mapping[str, Sequence[int]]) -> TabularCPD | FunctionalCPD:
        """Return the distribution on fewer states, as for `TabularCPD.restrict`.

        The result is a function as long as a parent is left.
        """
        keep = [tuple(states.get(v.name, range(v.n_states))) for v in self.parents]
        results = tuple(states.get(self.variable.name, range(self.variable.n_states)))
        child = self.variable.keep(results)
        parents = tuple(
            v.keep(positions)
            for v, positions in zip(self.parents, keep, strict=True)
            if len(positions) > 1
        )
        if not parents:
            value = self.value([positions[0] for positions in keep])
            # If the certain result is removed, only zeros are left: an invalid table.
            return TabularCPD(child, (), np.array([float(i == value) for i in results]))
        function = self.function.restrict(keep)
        if results != tuple(range(self.variable.n_states)):
            everything = tuple(tuple(range(v.n_states)) for v in parents)
            function = Restricted(function, everything, results)
        return FunctionalCPD(child, parents, function)


CPD: TypeAlias = TabularCPD | FunctionalCPD | NoisyMaximum | NoisyMinimum
"""Any conditional distribution: of a variable given its parents."""
