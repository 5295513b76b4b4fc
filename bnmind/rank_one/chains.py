"""Chains of partial results, which divorce the parents of functional and noisy distributions.

A partial sum follows from the partial sum before it and one more argument. The same holds for
extrema, counts and parities, with or without noise. With a variable for each partial result, a
table of k parents becomes k − 1 tables of three variables each (Olesen et al., *A MUNIN network for
the median nerve*, 1989; Heckerman, *Causal independence for knowledge acquisition and inference*,
1993).

A chain has more cells than a rank-one factorization, but all its numbers are non-negative, so
nothing cancels. A probability of 10⁻²⁰ of a sum of thirty arguments keeps all its digits, while the
terms of a rank-one form, of size 1, would cancel down to the rounding error. The links of the chain
are distributions themselves (functions, if there is no noise), so the engine can prune and drop
them. Each clique holds a second variable of about as many states. The engine works with the values
of functions instead of their tables, so the sum of k binary arguments takes about k² additions.

Chains over the same parents should use the same order. Otherwise the partial results of one chain
must be kept until the other chain has reached the same parent.

**Observed children** need fewer partial results. Two partial results suffice for a noisy maximum
that is observed in state y: "every contribution so far is below y" and "the largest so far is y". A
sum that is observed needs the partial sums that can still lead to the observed total, and a
threshold one result for all counts that have reached it. Partial results from which the observed
state is reached in the same ways are one partial result here, and those from which it is not
reached are dropped. No chain has fewer (this is the minimization of a deterministic finite
automaton).

No number is negative, so nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import made, sealed
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import (
    Listed,
    Positions,
    Stepwise,
    is_stepwise,
    with_arguments_in_order,
)
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum, combined
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable


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
    is_small = len(rest.parents) <= 2
    if isinstance(rest, FunctionalCPD):
        if not is_stepwise(rest.function):
            return None
        if is_small:
            return (rest,) if math.prod(v.n_states for v in rest.parents) <= max_cells else None
        return _function_chain(rest, [remaining[v.name] for v in rest.parents], prefix, max_cells)
    if is_small:
        return (rest.to_tabular(),) if rest.n_cells <= max_cells else None
    return _noisy_chain(rest, prefix, max_cells)


def _function_chain(
    cpd: FunctionalCPD, states: Sequence[Sequence[int]], prefix: str, max_cells: int
) -> tuple[FunctionalCPD, ...] | None:
    assert isinstance(cpd.function, Stepwise)  # as the caller has seen
    steps = cpd.function.steps(states)
    moves = []
    for possible, parent, positions in zip(steps.moves, cpd.parents, states, strict=True):
        # Impossible positions may lead anywhere.
        move = np.zeros((len(possible), parent.n_states), dtype=np.intp)
        move[:, list(positions)] = possible
        moves.append(move)
    # The first two parents give the first partial result.
    start, *moves = moves
    moves[0] = moves[0][start[0]]
    if sum(move.size for move in moves) > max_cells:
        return None
    moves[-1] = steps.results[moves[-1]]
    # There may be thousands of links, and they are valid by construction.
    numbers = tuple(map(str, range(max(map(len, moves)))))
    chain: list[FunctionalCPD] = []
    before = cpd.parents[0]
    for number, (parent, move) in enumerate(zip(cpd.parents[1:], moves, strict=True), 2):
        after = cpd.variable
        if number < len(cpd.parents):
            states_after = numbers[: len(moves[number - 1])]
            after = made(Variable, name=f"{prefix}_{number}", states=states_after)
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


def with_parents_in_order(cpd: CPD, place: Mapping[str, int]) -> CPD:
    """Return the same distribution with its parents in another order, if this is possible.

    Parameters
    ----------
    cpd
        The distribution. Tables, restricted functions, and functions that are not in
        `bnmind.pgm.functions` are returned unchanged.
    place
        The place of each parent in the new order; other parents come last.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> a, b = (Variable.of_integers(name, range(2)) for name in "ab")
    >>> lead = FunctionalCPD.sum_of("lead", (b, a), signs=(1, -1))
    >>> with_parents_in_order(lead, {"a": 0, "b": 1}).function.terms
    ((0, -1), (0, 1))
    """
    n = len(cpd.parents)
    order = sorted(range(n), key=lambda i: (place.get(cpd.parents[i].name, len(place)), i))
    if order == list(range(n)) or isinstance(cpd, TabularCPD):
        return cpd
    parents = tuple(cpd.parents[i] for i in order)
    if not isinstance(cpd, FunctionalCPD):
        return type(cpd)(cpd.variable, parents, tuple(cpd.links[i] for i in order), cpd.leak)
    function = (
        Listed(cpd.function.results.transpose(order))
        if isinstance(cpd.function, Listed)
        else with_arguments_in_order(cpd.function, order)
    )
    return cpd if function is None else FunctionalCPD(cpd.variable, parents, function)


@dataclass(frozen=True, eq=False)
class Effect:
    """An observed effect: its partial results before, during and after the causes."""

    start: Floats
    """``(partial results,)``: the weights before any cause."""
    causes: tuple[int, ...]
    """The causes, by number, in the order in which they act."""
    moves: tuple[tuple[Floats | None, ...], ...]
    """For each cause, a matrix ``(results after, results before)`` for each of its states; None
    where the state changes nothing."""
    end: Floats
    """``(partial results,)``: the weights with which the results lead to the observed state."""

    @property
    def most_results(self) -> int:
        """The largest number of partial results at a time."""
        sizes = [len(self.start), len(self.end)]
        sizes += [len(m) for move in self.moves for m in move if m is not None]
        return max(sizes)


def observed_chain(
    cpd: CPD, known: Mapping[str, int], name: str, *, place: Mapping[str, int] | None = None
) -> tuple[Factor, ...] | None:
    """Return a distribution whose child is observed as a chain of factors without signs.

    Parameters
    ----------
    cpd
        The distribution.
    known
        The state positions of the child and of observed parents.
    name
        The prefix of the names of the partial results, followed by ``_`` and the number of parents
        so far.
    place
        The place of each other parent in the chain; by default in the order of the parents.

    Returns
    -------
    tuple or None
        The factors. Their product, summed over the partial results, is the distribution for the
        known states. None if the distribution cannot be computed one parent at a time, not in this
        order, or if its states are impossible.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(5))
    >>> total = FunctionalCPD.sum_of("total", votes)
    >>> for factor in observed_chain(total, {"total": 1}, "total_of"):
    ...     print(*(f"{v.name}:{v.n_states}" for v in factor.scope))
    vote0:2 total_of_1:2
    total_of_1:2 vote1:2 total_of_2:2
    total_of_2:2 vote2:2 total_of_3:2
    total_of_3:2 vote3:2 total_of_4:2
    total_of_4:2 vote4:2
    """
    if not isinstance(cpd, FunctionalCPD | NoisyMaximum | NoisyMinimum):
        return None
    hidden = [v for v in cpd.parents if v.name not in known]
    number = {v.name: i for i, v in enumerate(hidden)}
    effect = effect_of(cpd, known, number, place or number)
    if effect is None or not effect.start.any():
        return None
    before: tuple[Variable, ...] = ()
    n_before = len(effect.start)
    factors = []
    for count, (i, moves) in enumerate(zip(effect.causes, effect.moves, strict=True), 1):
        # (state of the parent, result after, result before)
        stack = np.array([np.eye(n_before) if m is None else m for m in moves])
        n_before = stack.shape[1]
        if count == 1:
            stack = stack @ effect.start[:, None]
        after: tuple[Variable, ...] = ()
        if count == len(effect.causes):
            stack = np.einsum("r,xrb->xb", effect.end, stack)[:, None, :]
        else:
            after = (Variable.of_integers(f"{name}_{count}", range(stack.shape[1])),)
        scope = (*before, hidden[i], *after)
        values = stack.transpose(2, 0, 1).reshape([v.n_states for v in scope])
        factors.append(Factor(scope, values))
        before = after
    return tuple(factors) or (Factor((), np.asarray(effect.start @ effect.end)),)


def effect_of(
    cpd: NoisyExtremum | FunctionalCPD,
    known: Mapping[str, int],
    number: Mapping[str, int],
    place: Mapping[str, int],
) -> Effect | None:
    """Return an effect whose state is observed.

    Parameters
    ----------
    cpd
        The distribution of the effect.
    known
        The state positions of the effect and of its observed causes.
    number
        The number of each other cause.
    place
        The place of each cause in the order in which they act.

    Returns
    -------
    Effect or None
        None if a function does not have its arguments in this order.
    """
    if isinstance(cpd, FunctionalCPD):
        return _of_function(cpd, known, number, place)
    n, state = cpd.variable.n_states, known[cpd.variable.name]
    # With opposite signs, the minimum is a maximum.
    turn = slice(None) if isinstance(cpd, NoisyMaximum) else slice(None, None, -1)
    y = state if isinstance(cpd, NoisyMaximum) else n - 1 - state
    leak, *links = (one[turn] for one in cpd.contributions)
    start = np.array([leak[:y, 0].sum(), leak[y, 0]])
    hidden = []
    for parent, link in zip(cpd.parents, links, strict=True):
        moves = tuple(
            None if (b, a) == (1.0, 0.0) else np.array([[b, 0.0], [a, b + a]])
            for b, a in zip(link[:y].sum(axis=0), link[y], strict=True)
        )
        if parent.name not in known:
            hidden.append((place[parent.name], number[parent.name], moves))
        elif (move := moves[known[parent.name]]) is not None:
            start = move @ start
    hidden.sort(key=lambda entry: entry[0])
    _, causes, acts = zip(*hidden, strict=True) if hidden else ((), (), ())
    return Effect(start, causes, acts, np.array([0.0, 1.0]))


def _of_function(
    cpd: FunctionalCPD,
    known: Mapping[str, int],
    number: Mapping[str, int],
    place: Mapping[str, int],
) -> Effect | None:
    ordered = with_parents_in_order(cpd, place)
    assert isinstance(ordered, FunctionalCPD)
    names = [v.name for v in ordered.parents]
    hidden = [name for name in names if name not in known]
    if hidden != sorted(hidden, key=place.__getitem__) or not is_stepwise(ordered.function):
        return None
    states = [
        (known[v.name],) if v.name in known else tuple(range(v.n_states)) for v in ordered.parents
    ]
    assert isinstance(ordered.function, Stepwise)
    steps = ordered.function.steps(states)
    label, n_labels = (steps.results == known[cpd.variable.name]).astype(np.intp), 2
    matrices: list[tuple[Floats | None, ...]] = []
    for move, name in zip(reversed(steps.moves), reversed(names), strict=True):
        after = label[move]
        if name in known:
            # A single position composes with the step after it.
            label = after[:, 0]
            continue
        label, n_before, merged = _merged(after)
        matrices.append(tuple(_matrix(merged[:, x], n_labels - 1) for x in range(merged.shape[1])))
        n_labels = n_before
    # The label of the only state before all arguments; 0 means that the state is not reached.
    start = (np.arange(1, n_labels) == label[0]).astype(np.float64)
    return Effect(
        start,
        tuple(number[name] for name in hidden),
        tuple(reversed(matrices)),
        np.array([1.0]),
    )


def _merged(after: Positions) -> tuple[Positions, int, Positions]:
    """Return the label of each state, the number of labels, and the labels after each label."""
    rows, inverse = np.unique(after, axis=0, return_inverse=True)
    dead = ~rows.any(axis=1)
    order = np.where(dead, 0, np.cumsum(~dead))
    return order[inverse.reshape(-1)], 1 + int((~dead).sum()), rows[~dead]


def _matrix(labels: Positions, n_after: int) -> Floats | None:
    """Return the matrix of a function of partial results; None if it changes nothing."""
    matrix = (np.arange(1, n_after + 1)[:, None] == labels[None, :]).astype(np.float64)
    return (
        None if np.array_equal(matrix, np.eye(*matrix.shape)) and n_after == len(labels) else matrix
    )
