"""The chain of partial results of a distribution whose child is observed.

Two partial results suffice for a noisy maximum that is observed in state y: "every contribution so
far is below y" and "the largest so far is y". A sum that is observed needs the partial sums that
can still lead to the observed total, and a threshold one result for all counts that have reached
it. Partial results from which the observed state is reached in the same ways are one partial result
here, and those from which it is not reached are dropped. No chain has fewer (this is the
minimization of a deterministic finite automaton).

No number is negative, so nothing cancels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum
from bnmind.pgm.stepwise import Positions, Stepwise
from bnmind.pgm.variable import Variable
from bnmind.rank_one.parent_order import with_parents_in_order

__all__ = ["Effect", "effect_of", "observed_chain"]


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


@checked
def observed_chain(
    cpd: CPD,
    known: Mapping[str, int],
    *,
    place: Mapping[str, int] | None = None,
    name: str | None = None,
) -> tuple[Factor, ...] | None:
    """Return a distribution whose child is observed as a chain of factors without signs.

    Parameters
    ----------
    cpd
        The distribution.
    known
        The state positions of the child and of observed parents.
    place
        The place of each other parent in the chain; by default in the order of the parents.
    name
        The prefix of the names of the partial results, followed by ``_`` and the number of parents
        so far; by default ``<child>_of``, with primes if a name would be that of a parent.

    Returns
    -------
    tuple or None
        The factors. Their product, summed over the partial results, is the distribution for the
        known states. None if the distribution cannot be computed one parent at a time, not in this
        order, or if its states are impossible.

    Raises
    ------
    InvalidArgumentError
        If ``known`` lacks the child or has a state out of range, ``place`` lacks a parent, or
        ``name`` makes the name of a variable of the distribution.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(5))
    >>> total = FunctionalCPD.sum_of("total", votes)
    >>> for factor in observed_chain(total, {"total": 1}):
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
    _check(cpd, known, place, number)
    effect = effect_of(cpd, known, number, place or number)
    if effect is None or not effect.start.any():
        return None
    prefix = _prefix(cpd, name, len(effect.causes))
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
            after = (Variable.of_integers(f"{prefix}_{count}", range(stack.shape[1])),)
        scope = (*before, hidden[i], *after)
        values = stack.transpose(2, 0, 1).reshape([v.n_states for v in scope])
        factors.append(Factor(scope, values))
        before = after
    return tuple(factors) or (Factor((), np.asarray(effect.start @ effect.end)),)


def _prefix(cpd: CPD, name: str | None, n_causes: int) -> str:
    """Return a prefix whose numbered names are not those of variables of the distribution."""
    taken = {v.name for v in cpd.scope}

    def clashes(prefix: str) -> list[str]:
        return [f"{prefix}_{i}" for i in range(1, n_causes) if f"{prefix}_{i}" in taken]

    if name and clashes(name):
        raise InvalidArgumentError(
            f"name makes names that variables of the distribution have: {listed(clashes(name))}",
            name,
        )
    prefix = name or f"{cpd.variable.name}_of"
    while clashes(prefix):
        prefix += "'"
    return prefix


def _check(
    cpd: CPD, known: Mapping[str, int], place: Mapping[str, int] | None, hidden: Iterable[str]
) -> None:
    """Raise an error if a state is unknown or out of range, or a hidden parent has no place."""
    if cpd.variable.name not in known:
        raise InvalidArgumentError(f"known lacks the state of {cpd.variable.name}", known)
    for v in cpd.scope:
        if not 0 <= known.get(v.name, 0) < v.n_states:
            raise InvalidArgumentError(
                f"expected a state of {v.name} from 0 to {v.n_states - 1}, got {known[v.name]}",
                known[v.name],
            )
    lacking = [name for name in hidden if place and name not in place]
    if lacking:
        raise InvalidArgumentError(f"place lacks {listed(lacking)}", place)


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
