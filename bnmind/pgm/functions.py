"""Deterministic functions of discrete states, kept as functions.

A function maps the state positions of its arguments to a state position of the result. It works
on whole arrays by broadcasting. Because a distribution keeps its function and not only a table,
the engine can factorize a sum of ten counts whose table would have sixty million cells.

========================  =====================================================
meaning                   function
========================  =====================================================
sum                       ``Addition.of(sizes)``
difference x − y          ``Addition.of(sizes, signs=(1, -1))``
count of a state          ``Addition.counting(sizes, states)``
at least l of k           ``Threshold(l)``
exactly l of k            ``Exactly(l)``
odd or even               ``Parity()``
conjunction (binary)      ``Minimum()``
disjunction (binary)      ``Maximum()``
the same state            ``Equality()``
any other small function  `bnmind.pgm.Listed`
========================  =====================================================

Functions of many arguments are computed one argument at a time. Sums, extrema and counts need only
a small state for the arguments so far. The possible results of a function of thirty arguments, and
the possible positions of its arguments for a given result, follow without its table. A forward pass
finds the reachable states, and a backward pass the states that lead to a given result. This is the
arc consistency of a constraint by layers (Pesant, *A regular language membership constraint for
finite sequences of variables*, 2004). Written as tables, the same steps are the chain of partial
results of `bnmind.rank_one.chains`.

A new function is a class and a line of `FUNCTIONS`: files then hold it, and its arguments can
be put into another order. A line in `bnmind.rank_one.terms` gives it a rank-one form, too. The
contract tests run over every member. `Listed`, which holds a table, and `Restricted`, which holds
another function, are not members.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Filled, Value
from bnmind.errors import InvalidArgumentError, InvalidModelError

# --- Functions of many arguments that are computed one argument at a time -------------------------


Positions: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a function over its reachable states."""

    moves: tuple[Positions, ...]
    """For each argument ``(states before, positions of the argument)``: the state after.

    There is one state before the first argument. Each step numbers its states anew, and all of them
    are reachable.
    """
    results: Positions
    """The function's result for each state after the last argument."""

    @classmethod
    def follow(
        cls,
        start: int,
        step: Callable[[int, Positions, Positions], Positions],
        states: Sequence[Sequence[int]],
        finish: Callable[[Positions], Positions],
    ) -> Steps:
        """Return the steps of a function whose state is an integer.

        Parameters
        ----------
        start
            The state before any argument.
        step
            (number of the argument, states before, positions) → states after; the
            last two are broadcast.
        states
            The positions that each argument may take.
        finish
            The results of the last states.
        """
        current = np.array([start], dtype=np.intp)
        moves = []
        for number, positions in enumerate(states):
            after = step(number, current[:, None], np.asarray(positions, dtype=np.intp)[None, :])
            current, inverse = _numbered(after)
            moves.append(inverse)
        return cls(tuple(moves), np.asarray(finish(current), dtype=np.intp))

    def possible_results(self) -> tuple[int, ...]:
        """Return the results that the function can take, in increasing order."""
        return tuple(np.unique(self.results).tolist())

    def supports(self, results: Iterable[int]) -> tuple[NDArray[np.bool_], ...]:
        """Return, for each argument, which of its positions can lead to the given results."""
        good = np.isin(self.results, list(results))
        supports = []
        for move in reversed(self.moves):
            leads = good[move]
            supports.append(np.any(leads, axis=0, keepdims=True)[0])
            good = np.any(leads, axis=1, keepdims=True)[:, 0]
        return tuple(reversed(supports))


def _numbered(values: Positions) -> tuple[Positions, Positions]:
    """Return the distinct values in increasing order, and the place of each value among them."""
    least = int(values.min())
    span = int(values.max()) - least + 1
    if span > 8 * values.size:
        distinct, inverse = np.unique(values, return_inverse=True)
        return distinct, np.asarray(inverse, dtype=np.intp).reshape(values.shape)
    present = np.zeros(span, dtype=np.bool_)
    present[values - least] = True
    place = np.cumsum(present, dtype=np.intp) - 1
    return np.flatnonzero(present) + least, place[values - least]


@runtime_checkable
class Stepwise(Protocol):
    """A function that can be computed one argument at a time, with few intermediate states."""

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps, for the positions that each argument may take.

        Parameters
        ----------
        states
            For each argument, the positions of the states that it may take, from 0.
        """
        ...


# --- Deterministic functions of discrete states, kept as functions --------------------------------


class Function(Protocol):
    """A deterministic function of state positions.

    The engine prunes `Stepwise` functions, and splits them into small tables, without computing
    their whole tables. All functions of this file are `Stepwise`.
    """

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the result's state positions, broadcast over the arguments."""
        ...

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the function on fewer states of each argument.

        Parameters
        ----------
        states
            The remaining positions of each argument. An argument with a single one is dropped.
        """
        ...


@dataclass(frozen=True)
class Addition(Value):
    """A sum: ``(constant + Σ_i terms[i][x_i]) mod modulus``.

    It represents sums (``terms[i] = 0, 1, 2, …``), differences (``0, −1, −2, …``) and counts of a
    state (``terms[i]`` is 1 at that state, else 0). The modulus makes the result a valid position
    for all arguments: Vomlel's C = ΣM_i − P is negative only for configurations that other tables
    of the network exclude.
    """

    terms: tuple[tuple[int, ...], ...]
    modulus: Count
    """The number of results, at least 1."""
    constant: int = 0
    """The sum if all terms are 0."""

    @classmethod
    @checked
    def of(cls, sizes: Sequence[int], *, signs: Sequence[int] | None = None) -> Addition:
        """Return the sum of positions with signs; the smallest sum has position 0.

        Parameters
        ----------
        sizes
            The number of states of each argument.
        signs
            1 or −1 (or any integer weight) for each argument; 1 by default. Another number of
            signs raises `InvalidModelError`.

        Examples
        --------
        >>> Addition.of([2, 3])
        Addition(terms=((0, 1), (0, 1, 2)), modulus=4, constant=0)
        >>> Addition.of([2, 3], signs=[1, -1]).constant  # from −2 to 1
        2
        """
        weights = [1] * len(sizes) if signs is None else list(signs)
        if len(weights) != len(sizes):
            raise InvalidModelError([f"expected {len(sizes)} signs, got {len(weights)}"])
        terms = tuple(tuple(w * i for i in range(n)) for n, w in zip(sizes, weights, strict=True))
        least = sum(min(term) for term in terms)
        return cls(terms, sum(max(term) for term in terms) - least + 1, -least)

    @classmethod
    @checked
    def counting(cls, sizes: Sequence[int], states: Sequence[Sequence[int]]) -> Addition:
        """Return the count of the arguments that are in given states.

        Parameters
        ----------
        sizes
            The number of states of each argument.
        states
            For each argument, the positions that count; otherwise `InvalidArgumentError`.

        Examples
        --------
        >>> Addition.counting([2, 3], [[1], [0, 2]])
        Addition(terms=((0, 1), (1, 0, 1)), modulus=3, constant=0)
        """
        if len(sizes) != len(states):
            raise InvalidArgumentError(
                f"expected states of each of the {len(sizes)} arguments, got {len(states)}"
            )
        terms = tuple(
            tuple(int(i in counted) for i in range(n))
            for n, counted in zip(sizes, states, strict=True)
        )
        return cls(terms, len(terms) + 1)

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the sum's positions."""
        total: Positions = np.asarray(self.constant, dtype=np.intp)
        for term, argument in zip(self.terms, arguments, strict=True):
            total = total + np.asarray(term, dtype=np.intp)[argument]
        return np.asarray(total % self.modulus, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Addition:
        """Return the sum of the remaining arguments; fixed arguments are added to the constant."""
        terms, constant = [], self.constant
        for term, positions in zip(self.terms, states, strict=True):
            if len(positions) == 1:
                constant += term[positions[0]]
            else:
                terms.append(tuple(term[i] for i in positions))
        return Addition(tuple(terms), self.modulus, constant)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the partial sum."""
        terms = [np.asarray(term, dtype=np.intp) for term in self.terms]
        return Steps.follow(
            self.constant % self.modulus,
            lambda i, before, x: (before + terms[i][x]) % self.modulus,
            states,
            lambda last: last,
        )


@dataclass(frozen=True)
class Minimum:
    """The smallest of the arguments' positions; of binary ones, their conjunction."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the smallest position."""
        return _reduced(np.minimum, arguments)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the minimum on fewer states."""
        return Restricted.of(self, states)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the minimum of the arguments so far."""
        most = max((max(positions) for positions in states), default=0)
        return Steps.follow(most, lambda _, a, x: np.minimum(a, x), states, lambda last: last)


@dataclass(frozen=True)
class Maximum:
    """The largest of the arguments' positions; of binary ones, their disjunction."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the largest position."""
        return _reduced(np.maximum, arguments)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the maximum on fewer states."""
        return Restricted.of(self, states)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the maximum of the arguments so far."""
        return Steps.follow(0, lambda _, a, x: np.maximum(a, x), states, lambda last: last)


@dataclass(frozen=True)
class Parity:
    """Whether the sum of the arguments' positions is odd: 1 if it is, else 0."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return 1 where the sum is odd, else 0."""
        return np.asarray(_reduced(np.add, arguments) % 2, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Addition:
        """Return the parity on fewer states, as a sum modulo 2."""
        terms = tuple(tuple(i % 2 for i in range(max(positions) + 1)) for positions in states)
        return Addition(terms, 2).restrict(states)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the parity of the arguments so far."""
        return Steps.follow(0, lambda _, a, x: (a + x) % 2, states, lambda last: last)


@dataclass(frozen=True)
class Threshold(Value):
    """At least l of k: 1 if at least ``least`` of the arguments count, else 0.

    Parameters
    ----------
    least
        The number of arguments that must count.
    counted
        For each argument, the positions that count. None means every position but the first,
        which is "true" for binary arguments.

    Examples
    --------
    >>> majority = Threshold(2)
    >>> int(majority(1, 0, 1)), int(majority(0, 0, 1))
    (1, 0)
    """

    least: int
    counted: tuple[tuple[int, ...], ...] | None = None

    def __call__(self, *arguments: Positions) -> Positions:
        """Return 1 where enough arguments count, else 0."""
        return np.asarray(_count(self.counted, arguments) >= self.least, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Threshold:
        """Return the threshold for the arguments that remain."""
        counted, certain = _restricted_counts(self.counted, states)
        return Threshold(self.least - certain, counted)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the count so far, up to ``least``."""
        enough = max(self.least, 0)
        return Steps.follow(
            0,
            lambda i, a, x: np.minimum(a + which_count(self.counted, i, x), enough),
            states,
            lambda last: np.asarray(last >= self.least, dtype=np.intp),
        )


@dataclass(frozen=True)
class Exactly(Value):
    """Exactly l of k: 1 if exactly ``count`` of the arguments count, else 0.

    Parameters
    ----------
    count
        The number of arguments that must count.
    counted
        As for `Threshold`.
    """

    count: int
    counted: tuple[tuple[int, ...], ...] | None = None

    def __call__(self, *arguments: Positions) -> Positions:
        """Return 1 where exactly ``count`` arguments count, else 0."""
        return np.asarray(_count(self.counted, arguments) == self.count, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Exactly:
        """Return the same for the arguments that remain."""
        counted, certain = _restricted_counts(self.counted, states)
        return Exactly(self.count - certain, counted)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the count so far, up to ``count`` + 1."""
        beyond = max(self.count + 1, 0)
        return Steps.follow(
            0,
            lambda i, a, x: np.minimum(a + which_count(self.counted, i, x), beyond),
            states,
            lambda last: np.asarray(last == self.count, dtype=np.intp),
        )


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

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the common position so far, if there is one."""
        nothing, different = -1, -2
        return Steps.follow(
            nothing,
            lambda _, a, x: np.where((a == nothing) | (a == x), x, different),
            states,
            lambda last: np.asarray(last != different, dtype=np.intp),
        )


@dataclass(frozen=True)
class Restricted(Value):
    """A function restricted to some states of its arguments or of its result.

    Parameters
    ----------
    function
        The function on all states.
    states
        For each argument, the remaining positions. An argument with a single position is not
        passed.
    results
        The remaining positions of the result, or None for all positions.
    """

    function: Function
    states: tuple[tuple[int, ...], ...]
    results: tuple[int, ...] | None = None

    @classmethod
    @checked
    def of(cls, function: Function, states: Sequence[Sequence[int]]) -> Restricted:
        """Return the `function` on fewer `states` of its arguments, by position."""
        return cls(function, tuple(tuple(positions) for positions in states))

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the positions of the results among the remaining results."""
        passed = iter(arguments)
        full = [
            np.asarray(positions, dtype=np.intp)[next(passed) if len(positions) > 1 else 0]
            for positions in self.states
        ]
        return self.place(self.function(*full))

    def place(self, results: Positions) -> Positions:
        """Return the places of `results` of the whole function among the remaining results.

        A removed result cannot occur; its place is arbitrary.
        """
        if self.results is None:
            return results
        order = np.argsort(self.results)
        place = np.searchsorted(np.asarray(self.results)[order], results)
        return np.asarray(order[np.minimum(place, len(order) - 1)], dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Restricted:
        """Return the function on fewer states."""
        remaining = iter(states)
        composed = tuple(
            tuple(old[i] for i in next(remaining)) if len(old) > 1 else old for old in self.states
        )
        return Restricted(self.function, composed, self.results)

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the whole function's steps; `InvalidModelError` if it has none."""
        if not isinstance(self.function, Stepwise):
            raise InvalidModelError(
                [f"{self.function!r} is not Stepwise: it cannot be computed in steps"]
            )
        remaining = iter(states)
        full = [
            tuple(old[i] for i in next(remaining)) if len(old) > 1 else old for old in self.states
        ]
        whole = self.function.steps(full)
        moves: list[Positions] = []
        for move, old in zip(whole.moves, self.states, strict=True):
            if len(old) > 1:
                moves.append(move)
            elif moves:
                # An argument that is not passed continues from the state before it.
                moves[-1] = move[moves[-1], 0]
        return Steps(tuple(moves), self.place(whole.results))


def is_stepwise(function: Function) -> bool:
    """Return whether a function, restricted or not, can be computed in steps."""
    while isinstance(function, Restricted):
        function = function.function
    return isinstance(function, Stepwise)


def _reduced(operation: np.ufunc, arguments: tuple[Positions, ...]) -> Positions:
    value = arguments[0]
    for argument in arguments[1:]:
        value = operation(value, argument)
    return np.asarray(value, dtype=np.intp)


def which_count(
    counted: tuple[tuple[int, ...], ...] | None, number: int, x: Positions
) -> Positions:
    """Return 1 where the positions of an argument count, else 0."""
    if counted is None:
        return np.asarray(np.asarray(x) > 0, dtype=np.intp)
    return np.isin(x, counted[number]).astype(np.intp)


def _count(
    counted: tuple[tuple[int, ...], ...] | None, arguments: tuple[Positions, ...]
) -> Positions:
    if counted is not None and len(counted) != len(arguments):
        raise InvalidModelError([f"expected {len(counted)} arguments, got {len(arguments)}"])
    total: Positions = np.asarray(0, dtype=np.intp)
    for number, argument in enumerate(arguments):
        total = total + which_count(counted, number, argument)
    return total


def _restricted_counts(
    counted: tuple[tuple[int, ...], ...] | None, states: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Return the remaining positions that count, and the number of arguments that surely count."""
    remaining, certain = [], 0
    for number, positions in enumerate(states):
        counts = which_count(counted, number, np.asarray(positions, dtype=np.intp))
        if len(positions) == 1:
            certain += int(counts[0])
        else:
            remaining.append(tuple(np.flatnonzero(counts).tolist()))
    return tuple(remaining), certain


# --- A deterministic function given by a list of its results --------------------------------------


@dataclass(frozen=True, eq=False)
class Listed(Value):
    """A function given by the position of its result for every configuration of the arguments.

    The list is smaller than the table of zeros and ones by a factor of the number of results.

    Parameters
    ----------
    results
        An array of integers of at least 0, with an axis for each argument.

    Raises
    ------
    InvalidModelError
        If they are not.

    Examples
    --------
    >>> carry = Listed([[0, 0], [0, 1]])
    >>> int(carry(1, 1)), int(carry(1, 0))
    (1, 0)
    """

    results: Annotated[Positions, Ge(0), Filled]

    _error = InvalidModelError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listed) and np.array_equal(self.results, other.results)

    def __hash__(self) -> int:
        return hash((self.results.shape, self.results.tobytes()))

    def __repr__(self) -> str:
        return f"Listed({' by '.join(map(str, self.results.shape))} results)"

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the results' positions."""
        if len(arguments) != self.results.ndim:
            raise InvalidArgumentError(
                f"expected {self.results.ndim} arguments, got {len(arguments)}", arguments
            )
        return np.asarray(self.results[tuple(arguments)], dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Listed:
        """Return the function on fewer states."""
        if not states:
            return self
        rest = self.results[np.ix_(*[list(positions) for positions in states])]
        axes = tuple(axis for axis, positions in enumerate(states) if len(positions) == 1)
        return Listed(rest.squeeze(axis=axes))

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the configuration of the arguments so far."""
        if not states:
            return Steps((), np.asarray(self.results, dtype=np.intp).ravel())
        rest = self.results[np.ix_(*[list(positions) for positions in states])]
        moves: list[Positions] = []
        before = 1
        for positions in states[:-1]:
            moves.append(np.arange(before * len(positions), dtype=np.intp).reshape(before, -1))
            before *= len(positions)
        distinct, last = np.unique(rest, return_inverse=True)
        moves.append(np.asarray(last, dtype=np.intp).reshape(before, -1))
        return Steps(tuple(moves), np.asarray(distinct, dtype=np.intp))


# --- The registry of deterministic functions that are made of whole numbers -----------------------


def _few_results(function: Any, sizes: Sequence[int]) -> int:
    return max(sizes, default=1) + len(sizes) + 2


def _partial_sums(function: Addition, sizes: Sequence[int]) -> int:
    span = 1 + sum(max(t, default=0) - min(t, default=0) for t in function.terms)
    # Beyond 64 arguments the product is no bound, and whole numbers become slow.
    configurations = math.prod(sizes) if len(sizes) < 64 else 2**64
    return min(function.modulus, span, configurations)


class RegisteredFunction(NamedTuple):
    """A function as files name it."""

    example: Function
    """A function of this kind, for arguments of 2, 3 and 2 states."""
    about: str
    """The function, in a few words."""
    each: str | None = None
    """The field with an entry for each argument; None if the order of arguments does not matter."""
    least: Mapping[str, int] = MappingProxyType({})
    """The least whole number of a field in a file; the default is −2³¹."""
    partial_results: Callable[[Any, Sequence[int]], int] = _few_results
    """A bound on the number of partial results, from the function and the numbers of states."""

    @property
    def make(self) -> type[Function]:
        """The class."""
        return type(self.example)

    def n_arguments(self, function: Function) -> int | None:
        """Return the number of arguments, or None if a function of this kind takes any number."""
        entries = None if self.each is None else getattr(function, self.each)
        return None if entries is None else len(entries)


FUNCTIONS: Mapping[str, RegisteredFunction] = MappingProxyType(
    {
        "addition": RegisteredFunction(
            Addition.of((2, 3, 2), signs=(1, -1, 2)),
            "a sum, a difference or a count",
            "terms",
            MappingProxyType({"modulus": 1}),
            _partial_sums,
        ),
        "minimum": RegisteredFunction(Minimum(), "the smallest position"),
        "maximum": RegisteredFunction(Maximum(), "the largest position"),
        "parity": RegisteredFunction(Parity(), "whether the sum is odd"),
        "equality": RegisteredFunction(Equality(), "whether all positions are the same"),
        "threshold": RegisteredFunction(
            Threshold(2, ((1,), (0, 2), (1,))),
            "whether at least l arguments count",
            "counted",
            MappingProxyType({"counted": 0}),
        ),
        "exactly": RegisteredFunction(
            Exactly(2, ((1,), (0, 2), (1,))),
            "whether exactly l arguments count",
            "counted",
            MappingProxyType({"counted": 0}),
        ),
    }
)
"""The function of each name in files."""

_NAMES = MappingProxyType({row.make: name for name, row in FUNCTIONS.items()})


def name_of(function: Function) -> str | None:
    """Return the name of a function's kind, or None if it is not registered."""
    return _NAMES.get(type(function))


def with_arguments_in_order(function: Any, order: Sequence[int]) -> Function | None:
    """Return a registered function of the same arguments in another order.

    Parameters
    ----------
    function
        Any function.
    order
        The place of each argument in the old order.

    Returns
    -------
    Function or None
        None if the function is not registered.
    """
    name = name_of(function)
    if name is None:
        return None
    each = FUNCTIONS[name].each
    entries = None if each is None else getattr(function, each)
    if each is None or entries is None:
        known: Function = function
        return known
    moved: Function = dataclasses.replace(function, **{each: tuple(entries[i] for i in order)})
    return moved
