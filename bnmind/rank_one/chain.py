"""Parent divorcing: a large distribution as a chain of partial results.

A partial sum follows from the partial sum before it and one more argument. The same holds for
extrema, counts and parities, with or without noise. With a variable for each partial result, a
table of k parents becomes k − 1 tables of three variables each (Olesen et al., *A MUNIN network
for the median nerve*, 1989; Heckerman, *Causal independence for knowledge acquisition and
inference*, 1993).

A chain has more cells than a rank-one factorization, but all its numbers are non-negative, so
nothing cancels. A probability of 10⁻²⁰ of a sum of thirty arguments keeps all its digits, while the
terms of a rank-one form, of size 1, would cancel down to the rounding error. The links of the chain
are distributions themselves (functions, if there is no noise), so the engine can prune and drop
them. Each clique holds a second variable of about as many states. The engine works with the values
of functions instead of their tables, so the sum of k binary arguments takes about k² additions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind._values import made, sealed
from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.listed import Listed
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum, combined
from bnmind.pgm.stepwise import Stepwise
from bnmind.pgm.variable import Variable

__all__ = ["chain_form"]


@checked
def chain_form(
    cpd: CPD,
    *,
    states: Mapping[str, Sequence[int]] | None = None,
    name: str | None = None,
    max_cells: int = 2**22,
) -> tuple[TabularCPD | FunctionalCPD, ...] | None:
    """Return a distribution as a chain of distributions of at most three variables each.

    Parameters
    ----------
    cpd
        The distribution.
    states
        The remaining positions of parents, as far as known; they may reduce the number of partial
        results. Parents with a single position are dropped.
    name
        The prefix of the names of the partial results, followed by ``_`` and the number of
        parents so far; by default ``<child>_of``.
    max_cells
        Most cells of all tables together. For a function, its values count.

    Returns
    -------
    tuple or None
        The distributions of the partial results, parents first, and then that of the child. Their
        product, summed over the partial results, is the distribution. None if the distribution
        cannot be computed one parent at a time, or needs more than ``max_cells``.

    Examples
    --------
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(4))
    >>> for link in chain_form(FunctionalCPD.sum_of("total", votes)):
    ...     print(*(f"{v.name}:{v.n_states}" for v in link.scope))
    total_of_2:3 vote0:2 vote1:2
    total_of_3:4 total_of_2:3 vote2:2
    total:5 total_of_3:4 vote3:2
    """
    prefix = name or f"{cpd.variable.name}_of"
    remaining = {v.name: tuple((states or {}).get(v.name, range(v.n_states))) for v in cpd.parents}
    if isinstance(cpd, TabularCPD):
        return None
    rest = cpd.restrict(
        {name: positions for name, positions in remaining.items() if len(positions) == 1}
    )
    if isinstance(rest, TabularCPD):
        return (rest,)
    if isinstance(rest, FunctionalCPD) and not is_stepwise(rest.function):
        return None
    if isinstance(rest, FunctionalCPD):
        if len(rest.parents) <= 2:
            values = math.prod(v.n_states for v in rest.parents)
            return (rest,) if values <= max_cells else None
        return _function_chain(rest, [remaining[v.name] for v in rest.parents], prefix, max_cells)
    if len(rest.parents) <= 2:
        return (rest.to_tabular(),) if rest.n_cells <= max_cells else None
    return _noisy_chain(rest, prefix, max_cells)


def _function_chain(
    cpd: FunctionalCPD, states: Sequence[Sequence[int]], prefix: str, max_cells: int
) -> tuple[FunctionalCPD, ...] | None:
    assert isinstance(cpd.function, Stepwise)  # as the caller has seen
    steps = cpd.function.steps(states)
    moves = list(steps.moves)
    sizes = [1 + int(move.max()) for move in moves]
    befores = [cpd.parents[0].n_states, *sizes[1:-1]]
    values = sum(before * v.n_states for before, v in zip(befores, cpd.parents[1:], strict=True))
    if values > max_cells:
        return None
    moves[-1] = steps.results[moves[-1]]
    # There may be thousands of links, and they are valid by construction.
    numbers = tuple(map(str, range(max(sizes))))
    chain: list[FunctionalCPD] = []
    for i, (parent, positions) in enumerate(zip(cpd.parents, states, strict=True)):
        # Impossible positions may lead anywhere.
        move = np.zeros((len(moves[i]), parent.n_states), dtype=np.intp)
        move[:, list(positions)] = moves[i]
        if i == 0:
            # The first two parents give the first partial result.
            before, start = parent, move[0]
            continue
        if i == 1:
            move = move[start]
        last = i == len(moves) - 1
        after = cpd.variable
        if not last:
            after = made(Variable, name=f"{prefix}_{i + 1}", states=numbers[: sizes[i]])
        function = made(Listed, results=sealed(move))
        chain.append(
            made(FunctionalCPD, variable=after, parents=(before, parent), function=function)
        )
        before = after
    return tuple(chain)


def _noisy_chain(
    cpd: NoisyMaximum | NoisyMinimum, prefix: str, max_cells: int
) -> tuple[TabularCPD, ...] | None:
    n = cpd.variable.n_states
    if n * n * sum(v.n_states for v in cpd.parents[1:]) > max_cells:
        return None
    # With opposite signs, the minimum is a maximum.
    turn = slice(None) if isinstance(cpd, NoisyMaximum) else slice(None, None, -1)
    leak, first, *links = (one[turn] for one in cpd.contributions)
    chain: list[TabularCPD] = []
    # The first result combines the first parent and the leak; later steps have no noise.
    reached, before = combined(leak, first), cpd.parents[0]
    for number, (parent, link) in enumerate(zip(cpd.parents[1:], links, strict=True), 2):
        last = number == len(cpd.parents)
        after = cpd.variable if last else Variable(f"{prefix}_{number}", cpd.variable.states)
        joined = combined(reached[:, :, None], link[:, None, :])
        chain.append(TabularCPD(after, (before, parent), joined[turn]))
        reached, before = np.eye(n)[:, turn], after
    return tuple(chain)
