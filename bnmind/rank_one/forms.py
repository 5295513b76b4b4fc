"""The forms of functional and noisy distributions: rank-one factorizations, and chains.

A new rank-one form is a function in `bnmind.rank_one.terms` and a line in `RANK_ONE_TERMS`. The
contract tests run over every member.

**Chains** of partial results divorce the parents of a large distribution. A partial sum follows
from the partial sum before it and one more argument. The same holds for extrema, counts and
parities, with or without noise. With a variable for each partial result, a table of k parents
becomes k − 1 tables of three variables each (Olesen et al., *A MUNIN network for the median nerve*,
1989; Heckerman, *Causal independence for knowledge acquisition and inference*, 1993).

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._values import made, sealed
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Listed,
    Maximum,
    Minimum,
    Parity,
    Positions,
    Restricted,
    Stepwise,
    Threshold,
    is_stepwise,
    with_arguments_in_order,
)
from bnmind.pgm.network import FactorModel, Network, Replacement
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum, combined
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.terms import (
    NODES,
    RankOne,
    Terms,
    addition_terms,
    count_terms,
    equality_terms,
    extremum_terms,
    noisy_terms,
    parity_terms,
)

MakesTerms: TypeAlias = Callable[[Any, Sequence[Sequence[int]], Sequence[int], str], Terms]
"""(function, positions of each argument, results that are needed, nodes) → terms."""

RANK_ONE_TERMS: Mapping[type[Function], MakesTerms] = MappingProxyType(
    {
        Addition: addition_terms,
        Maximum: lambda function, states, results, _: extremum_terms(function, states, results),
        Minimum: lambda function, states, results, _: extremum_terms(function, states, results),
        Parity: lambda _, states, results, __: parity_terms(states, results),
        Threshold: count_terms,
        Exactly: count_terms,
        Equality: lambda _, states, results, __: equality_terms(states, results),
    }
)
"""The function that makes the terms of each kind of function."""


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
    function = _permuted(cpd.function, order)
    return cpd if function is None else FunctionalCPD(cpd.variable, parents, function)


def _permuted(function: Function, order: list[int]) -> Function | None:
    """Return the function with its arguments in another order; None if its kind is unknown."""
    if isinstance(function, Listed):
        return Listed(function.results.transpose(order))
    return with_arguments_in_order(function, order)


@checked
def rank_one_form(
    cpd: CPD,
    *,
    nodes: str = "unity",
    states: Mapping[str, Sequence[int]] | None = None,
    name: str | None = None,
) -> RankOne | None:
    """Return the rank-one factorization of a distribution, or None if none is known.

    Parameters
    ----------
    cpd
        The distribution. Sums, extrema, parities, counts, deltas and noisy extrema have a
        factorization, also when they are restricted to some states.
    nodes
        The nodes of the interpolation of sums and counts: roots of one, roots of minus one, points
        of Chebyshev, or 1, −1, 2, −2, …. Other nodes than roots of one hold only where a sum lies
        within 0, …, modulus − 1 before the modulus is applied; elsewhere, other tables of the model
        must be zero.
    states
        The remaining positions of the variables, as far as known. The factors are zero elsewhere,
        and the number of terms may be smaller: a maximum has two terms once the child is observed.
    name
        The name of the auxiliary variable; by default ``B_<child>``.

    Raises
    ------
    UnknownNameError
        If there are no such nodes.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(30))
    >>> total = FunctionalCPD.sum_of("total", votes)
    >>> rank_one_form(total).n_terms
    31
    >>> rank_one_form(total, states={"total": (15,)}).n_terms
    16
    """
    if nodes not in NODES:
        raise UnknownNameError("choice of nodes", nodes, tuple(NODES))
    positions = [tuple((states or {}).get(v.name, range(v.n_states))) for v in cpd.scope]
    if isinstance(cpd, TabularCPD):
        return None
    if isinstance(cpd, FunctionalCPD):
        terms = _function_terms(cpd.function, positions[1:], positions[0], nodes)
    else:
        terms = noisy_terms(cpd, positions[1:], positions[0])
    return None if terms is None else RankOne.of(cpd, terms, positions, name=name)


@checked
def factorize(
    model: Network | FactorModel,
    variable: str,
    *,
    nodes: str = "unity",
    name: str | None = None,
) -> FactorModel:
    """Return the model with one variable's table replaced by its rank-one factorization.

    Parameters
    ----------
    model
        A model in which the distribution of the variable has a rank-one form.
    variable, nodes, name
        As for `rank_one_form`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or there are no such nodes.
    InvalidArgumentError
        If the variable's distribution has no such form, or the auxiliary variable's
        name is taken.
    """
    model.variable(variable)
    whole = [p for p in model.potentials if not isinstance(p, Factor)]
    cpd = next((one for one in whole if one.variable.name == variable), None)
    form = None if cpd is None else rank_one_form(cpd, nodes=nodes, name=name)
    if cpd is None or form is None:
        raise InvalidArgumentError(
            f"{variable} has no rank-one form: it must be a function of its parents, such as a sum,"
            " a maximum or a noisy-or",
            variable,
        )
    if any(v.name == form.auxiliary.name for v in model.variables):
        raise InvalidArgumentError(
            f"the auxiliary variable needs a new name; {form.auxiliary.name!r} is taken",
            form.auxiliary.name,
        )
    potentials = [
        part for one in model.potentials for part in (form.factors if one is cpd else (one,))
    ]
    before = model.replacements if isinstance(model, FactorModel) else ()
    replaced = Replacement(cpd, form.factors)
    return FactorModel(tuple(potentials), replacements=(*before, replaced))


def _function_terms(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms | None:
    """Return the terms of a function, or None if none are known."""
    if isinstance(function, Restricted):
        return _restricted_terms(function, states, results, nodes)
    make = RANK_ONE_TERMS.get(type(function))
    return None if make is None else make(function, states, results, nodes)


def _restricted_terms(
    function: Restricted,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms | None:
    """Return the terms of a restricted function: some rows of the terms of the whole function."""
    whole = function.function
    if not isinstance(whole, Stepwise):
        return None
    remaining = iter(states)
    full = [
        tuple(old[i] for i in next(remaining)) if len(old) > 1 else old for old in function.states
    ]
    # Removed results count for the remaining results at their places.
    possible = np.array(whole.steps(full).possible_results(), dtype=np.intp)
    place = function.place(possible)
    needed = np.isin(place, list(results))
    if not needed.any():
        return Terms.constant([0.0] * len(results), [len(positions) for positions in states])
    terms = _function_terms(whole, full, possible[needed].tolist(), nodes)
    if terms is None:
        return None
    child = np.zeros((len(results), terms.child.shape[1]), dtype=terms.child.dtype)
    for row, at in zip(terms.child, place[needed], strict=True):
        child[list(results).index(at)] += row
    arguments = []
    for old, argument in zip(function.states, terms.arguments, strict=True):
        if len(old) > 1:
            arguments.append(argument)
        else:
            child = child * argument[0]
    return Terms(child, tuple(arguments)).without_zeros()


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
    return _of_extremum(cpd, known, number, place)


def _of_extremum(
    cpd: NoisyExtremum,
    known: Mapping[str, int],
    number: Mapping[str, int],
    place: Mapping[str, int],
) -> Effect:
    n, state = cpd.variable.n_states, known[cpd.variable.name]
    # With opposite signs, the minimum is a maximum.
    turn = slice(None) if isinstance(cpd, NoisyMaximum) else slice(None, None, -1)
    y = state if isinstance(cpd, NoisyMaximum) else n - 1 - state
    leak, *links = (one[turn] for one in cpd.contributions)
    start = np.array([leak[:y, 0].sum(), leak[y, 0]])
    hidden = []
    for parent, link in zip(cpd.parents, links, strict=True):
        below, at = link[:y].sum(axis=0), link[y]
        if parent.name not in known:
            moves = [
                None if (b, a) == (1.0, 0.0) else np.array([[b, 0.0], [a, b + a]])
                for b, a in zip(below, at, strict=True)
            ]
            hidden.append((place[parent.name], number[parent.name], tuple(moves)))
            continue
        b, a = below[known[parent.name]], at[known[parent.name]]
        start = np.array([b * start[0], a * start[0] + (b + a) * start[1]])
    hidden.sort(key=lambda entry: entry[0])
    return Effect(
        start, tuple(c for _, c, _ in hidden), tuple(m for *_, m in hidden), np.array([0.0, 1.0])
    )


def _of_function(
    cpd: FunctionalCPD,
    known: Mapping[str, int],
    number: Mapping[str, int],
    place: Mapping[str, int],
) -> Effect | None:
    # Observed arguments come first, and leave a single partial result.
    ordered = with_parents_in_order(
        cpd, {v.name: place[v.name] + 1 if v.name not in known else 0 for v in cpd.parents}
    )
    assert isinstance(ordered, FunctionalCPD)
    names = [v.name for v in ordered.parents]
    hidden = [name for name in names if name not in known]
    if hidden != sorted(hidden, key=place.__getitem__) or not is_stepwise(ordered.function):
        return None
    function = ordered.function
    assert isinstance(function, Stepwise)
    states = [
        (known[v.name],) if v.name in known else tuple(range(v.n_states)) for v in ordered.parents
    ]
    steps = function.steps(states)
    moves = list(steps.moves)
    # The state of a single position composes with the step before or after it.
    accepted = (steps.results == known[cpd.variable.name]).astype(np.intp)
    label, n_labels = accepted, 2
    matrices: list[tuple[Floats | None, ...]] = []
    for move, name in zip(reversed(moves), reversed(names), strict=True):
        after = label[move]
        if name in known:
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
