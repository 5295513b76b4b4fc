"""Tables of probabilities for what is maximized or sampled, never signed.

A rank-one factorization of a sum has terms of both signs, which have no maxima and
cannot be drawn from. A function of many parents is broken into steps instead: an
auxiliary variable after each parent holds what the function needs to know of the
parents so far, a partial sum or a largest value. It is a function of them, and thus
takes part in maxima and in sums alike (parent divorcing: K. G. Olesen et al., *A MUNIN
network for the median nerve*, 1989). The contributions of a noisy extremum are drawn
by chance, so its steps hold in sums only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.steps import Stepwise
from bnmind.pgm.tabular import refuse_large_table
from bnmind.pgm.variable import Variable

__all__ = ["small_tables"]

_SMALL = 2**10
"""A table of so many cells is taken as it is."""


def small_tables(
    potentials: Iterable[Potential], names: Iterable[str], *, sums_only: bool, max_cells: int
) -> tuple[Factor, ...]:
    """Return non-negative factors that multiply to the same as the potentials.

    Parameters
    ----------
    potentials
        Distributions, and factors of non-negative numbers.
    names
        Names that auxiliary variables must not have.
    sums_only
        Whether the auxiliary variables will be summed out, so that noisy extrema may
        be broken into steps too.
    max_cells
        The largest table allowed.

    Raises
    ------
    TooLargeError
        If a distribution neither breaks into steps nor fits; it names the variable.
    InvalidModelError
        If a factor has negative or complex values.
    """
    taken = set(names)
    return tuple(
        factor
        for potential in potentials
        for factor in _tables(potential, taken, sums_only=sums_only, max_cells=max_cells)
    )


def _tables(
    cpd: Potential, taken: set[str], *, sums_only: bool, max_cells: int
) -> Iterable[Factor]:
    if isinstance(cpd, Factor):
        if np.iscomplexobj(cpd.values) or np.any(cpd.values < 0):
            over = ", ".join(cpd.names) or "no variable"
            raise InvalidModelError(
                [f"expected factors of numbers of at least zero, got another over {over}"]
            )
        return [cpd]
    if cpd.n_cells > _SMALL:
        steps: list[Factor] = []
        if isinstance(cpd, FunctionalCPD) and is_stepwise(cpd.function):
            steps = list(_steps_of_function(cpd, taken))
        elif isinstance(cpd, NoisyMaximum | NoisyMinimum) and sums_only:
            steps = list(_steps_of_extremum(cpd, taken))
        if steps and sum(factor.values.size for factor in steps) < cpd.n_cells:
            largest = max((factor.scope for factor in steps), key=_cells)
            refuse_large_table(largest, max_cells)
            return steps
    try:
        return [cpd.to_factor(max_cells=max_cells)]
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, which does not break into steps"
            f" {'that can be summed' if sums_only else 'that can be maximized'}",
            needed=fault.needed,
            budget=fault.budget,
        ) from None


def _cells(scope: tuple[Variable, ...]) -> int:
    return int(np.prod([v.n_states for v in scope]))


def _steps_of_function(cpd: FunctionalCPD, taken: set[str]) -> Iterator[Factor]:
    """Yield the steps of a function as tables of zeros and ones, then its result."""
    function = cpd.function
    assert isinstance(function, Stepwise)
    steps = function.steps([range(v.n_states) for v in cpd.parents])
    before: tuple[Variable, ...] = ()
    for parent, move in zip(cpd.parents, steps.moves, strict=True):
        after = _auxiliary(cpd, int(move.max()) + 1, taken)
        same = np.arange(after.n_states)[:, None, None] == move
        yield Factor((after, *before, parent), same if before else same[:, 0])
        before = (after,)
    values = np.arange(cpd.variable.n_states)[:, None] == steps.results
    yield Factor((cpd.variable, *before), values)


def _steps_of_extremum(cpd: NoisyMaximum | NoisyMinimum, taken: set[str]) -> Iterator[Factor]:
    """Yield how the extremum of the contributions so far depends on the next parent."""
    n = cpd.variable.n_states
    extremum = np.maximum if isinstance(cpd, NoisyMaximum) else np.minimum
    both = extremum.outer(np.arange(n), np.arange(n))
    joins = (np.arange(n)[:, None, None] == both).astype(np.float64)
    leak, *links = cpd.contributions
    joined = np.tensordot(joins, links[0], axes=1)  # (after, before, parent)
    first = np.tensordot(joined, leak[:, 0], axes=(1, 0))
    before = cpd.variable if len(links) == 1 else _auxiliary(cpd, n, taken)
    yield Factor((before, cpd.parents[0]), first)
    for number, (parent, link) in enumerate(zip(cpd.parents[1:], links[1:], strict=True), 2):
        after = cpd.variable if number == len(links) else _auxiliary(cpd, n, taken)
        yield Factor((after, before, parent), np.tensordot(joins, link, axes=1))
        before = after


def _auxiliary(
    cpd: FunctionalCPD | NoisyMaximum | NoisyMinimum, n_states: int, taken: set[str]
) -> Variable:
    """Return a variable of a name that no other has."""
    number = 1
    while (name := f"{cpd.variable.name}--{number}") in taken:
        number += 1
    taken.add(name)
    return Variable.of_integers(name, range(n_states))
