"""The promises of functional nodes: a function, its steps, its chain, its rank-one form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, permutations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm import FUNCTIONS, Factor, Function, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.formats.records import model_to_json, network_from_json
from bnmind.pgm.function_registry import RegisteredFunction, name_of, with_arguments_in_order
from bnmind.pgm.stepwise import Stepwise
from bnmind.rank_one import RANK_ONE_TERMS, chain_form
from bnmind.rank_one.registry import MakesTerms
from bnmind.rank_one.terms import RankOne
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family

__all__ = ["check_functional_node"]

_FAMILY = Family("functional node", room="bnmind.pgm", registry=FUNCTIONS)
_SIZES = (2, 3, 2)
_MANY = (
    *((2,), (4,), (2, 2), (3, 2), (1, 3), (3, 4), _SIZES, (3, 3, 3)),
    *((2, 2, 2, 2), (4, 2, 3, 2)),
)
_FEW = 120
"""Up to so many sets of remaining positions are all tried, of a function of few arguments."""
_CLOSE = 1e-9


@checked
def check_functional_node(
    function: Function | RegisteredFunction | str,
    *,
    terms: MakesTerms | None = None,
    sizes: Sequence[Sequence[int]] | None = None,
    thorough: bool = False,
) -> None:
    """Check that a function of parents keeps the promises of functional nodes.

    It is immutable, and its results are positions: whole numbers from 0, the same every time, for
    single numbers and for arrays alike. Restricted to some positions of its arguments, it gives
    the results of these. If it is computed in steps, these lead to its results, and know which
    positions lead to which. Its chain of partial results, and its rank-one form if it has one,
    multiply to its table at every configuration, on all positions and on fewer, for all results
    and for fewer. A registered function keeps its meaning in files and in every order of its
    arguments.

    Parameters
    ----------
    function
        The function, or the name of a registered one, which stands for its example; or a line of
        the registry, which has such an example.
    terms
        The terms of its rank-one form; by default those registered for its kind, if any.
    sizes
        The numbers of states of the arguments to try, several of them; by default many that a
        function of any arguments takes. Give them for a function of certain arguments.
    thorough
        Whether to try every set of remaining positions, not some at random.

    Raises
    ------
    ContractError
        If a promise is broken.
    InvalidArgumentError
        If the function needs `sizes`, and none are given.
    UnknownNameError
        If no function has the name.

    Examples
    --------
    >>> from bnmind.pgm import Maximum, Threshold
    >>> check_functional_node(Maximum())
    >>> check_functional_node(Threshold(2, ((1,), (0, 2))), sizes=[(2, 3)])
    """
    row: RegisteredFunction | None = None
    if isinstance(function, str):
        if function not in FUNCTIONS:
            raise UnknownNameError("functional node", function, FUNCTIONS)
        _FAMILY.check_name(function, listed=False)
        row = FUNCTIONS[function]
        _FAMILY.check_export(function, row.example)
        _check_file(Promises("functional node", function), row.example, function)
        function = row.example
    elif isinstance(function, RegisteredFunction):
        row, function = function, function.example
        Promises("functional node", function).keep(row.about, "the registry says what it is")
    promises = Promises("functional node", function)
    promises.value()
    if terms is None:
        terms = RANK_ONE_TERMS.get(type(function))
    tried = _sizes_of(function, row) if sizes is None else [tuple(one) for one in sizes]
    promises.keep(tried, "it takes some arguments", "it takes none of those tried")
    if sizes is None and (3, 2) in tried:
        with promises.no_error("it takes arguments of one state", "1, 3 states"):
            _table(function, (1, 3))
    for one in tried:
        _check_results(promises, function, one)
        if row is not None:
            _check_row(promises, function, row, one)
        chosen = list(_remaining(one, thorough=thorough))
        for states in _all_remaining(one) if _n_remaining(one) <= _FEW else chosen:
            _check_restricted(promises, function, one, states)
        for states in chosen:
            if terms is not None:
                _check_terms(promises, function, terms, one, states)
        _check_chain(promises, function, one)


def _sizes_of(function: Function, row: RegisteredFunction | None) -> list[tuple[int, ...]]:
    """Return the numbers of states of arguments that a function takes."""
    known = row or FUNCTIONS.get(name_of(function) or "")
    number = None if known is None else known.n_arguments(function)
    if number is not None:
        if number != len(_SIZES):
            raise InvalidArgumentError(
                f"expected sizes for a function of {number} arguments, such as"
                f" sizes=[{(2,) * number}]",
                function,
            )
        return [_SIZES]
    found: list[tuple[int, ...]] = []
    for sizes in _MANY:
        try:
            _table(function, sizes)
        except Exception:  # a function of other arguments
            continue
        found.append(sizes)
    return found


def _table(function: Function, sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return the results of a function, an axis for each argument."""
    grid = np.ix_(*[np.arange(n) for n in sizes])
    return np.broadcast_to(np.asarray(function(*grid)), tuple(sizes))


def _check_results(promises: Promises, function: Function, sizes: Sequence[int]) -> None:
    where = f"arguments of {_text(sizes)} states"
    with promises.no_error("it takes its arguments", where), promises.pure(example=where):
        whole, again = _table(function, sizes), _table(function, sizes)
    promises.keep(whole.dtype.kind == "i", "its results are whole numbers", f"{whole.dtype}")
    promises.keep(whole.min() >= 0, "its results are positions, from 0", f"{where}: {whole.min()}")
    promises.keep(np.array_equal(whole, again), "it gives the same results every time", where)
    given = [np.array(one) for one in np.indices(sizes)]
    with promises.pure(*given, example=where):
        promises.keep(
            np.array_equal(np.broadcast_to(function(*given), tuple(sizes)), whole),
            "it gives arrays of any shape the same results",
            where,
        )
    for place in np.ndindex(*sizes):
        one = int(np.asarray(function(*[np.asarray(x, dtype=np.intp) for x in place])))
        promises.keep(
            one == whole[place],
            "it gives one configuration the result that it gives it among many",
            f"{_text(place)}: {one}, among many {whole[place]}",
        )
    if not isinstance(function, Stepwise):
        return
    with promises.no_error("it can be computed in steps", where):
        steps = function.steps([range(n) for n in sizes])
    promises.keep(
        set(steps.possible_results()) == set(whole.ravel().tolist()),
        "its steps lead to its results",
        where,
    )
    for place in np.ndindex(*sizes):
        state = 0
        for move, position in zip(steps.moves, place, strict=True):
            state = int(move[state, position])
        promises.keep(
            steps.results[state] == whole[place],
            "its steps lead to its results",
            f"{_text(place)}: {steps.results[state]}, right is {whole[place]}",
        )


def _check_row(
    promises: Promises, function: Function, row: RegisteredFunction, sizes: Sequence[int]
) -> None:
    """Check that the registry is right about the arguments and the partial results."""
    where = f"arguments of {_text(sizes)} states"
    promises.keep(
        row.n_arguments(function) in (None, len(sizes)), "the registry knows its arguments", where
    )
    promises.keep(isinstance(function, Stepwise), "a registered function is computed in steps")
    moves = function.steps([range(n) for n in sizes]).moves  # type: ignore[attr-defined]
    n_partial = max(int(move.max()) + 1 for move in moves)
    promises.keep(
        n_partial <= row.partial_results(function, sizes),
        "the registry bounds its partial results",
        f"{where}: {n_partial} > {row.partial_results(function, sizes)}",
    )
    whole = _table(function, sizes)
    for order in permutations(range(len(sizes))):
        with promises.no_error("its arguments can be put into another order", f"{order}"):
            moved = _table(_moved(row, function, order), [sizes[i] for i in order])
        promises.keep(
            np.array_equal(moved, whole.transpose(order)),
            "its arguments can be put into another order",
            f"{where} in the order {_text(order)}",
        )


def _moved(row: RegisteredFunction, function: Any, order: Sequence[int]) -> Any:
    if FUNCTIONS.get(name_of(function) or "") == row:
        return with_arguments_in_order(function, order)
    if row.each is None:
        return function
    changed = {row.each: tuple(getattr(function, row.each)[i] for i in order)}
    return type(function)(**{**vars(function), **changed})


def _remaining(sizes: Sequence[int], *, thorough: bool) -> Iterable[tuple[tuple[int, ...], ...]]:
    """Yield positions that remain of each argument: all, single ones, and others."""
    yield tuple(tuple(range(n)) for n in sizes)
    if thorough:
        yield from _all_remaining(sizes)
        return
    sets = [_sets(n) for n in sizes]
    rng = np.random.default_rng([5, *sizes])
    yield tuple((n - 1,) for n in sizes)
    for _ in range(4):
        yield tuple(one[int(rng.integers(len(one)))] for one in sets)


def _all_remaining(sizes: Sequence[int]) -> Iterable[tuple[tuple[int, ...], ...]]:
    return product(*[_sets(n) for n in sizes])


def _n_remaining(sizes: Sequence[int]) -> int:
    return prod(2**n - 1 for n in sizes)


def _sets(n: int) -> list[tuple[int, ...]]:
    return [kept for r in range(1, n + 1) for kept in _subsets(n, r)]


def _subsets(n: int, r: int) -> list[tuple[int, ...]]:
    return list(combinations(range(n), r))


def _check_restricted(
    promises: Promises,
    function: Function,
    sizes: Sequence[int],
    states: tuple[tuple[int, ...], ...],
) -> None:
    """Check the function in which arguments with one position left are fixed."""
    where = f"arguments of {_text(sizes)} states, positions {states}"
    with promises.no_error("it can be restricted", where):
        left = [len(kept) for kept in states if len(kept) > 1]
        found = _table(function.restrict(states), left)
    expected = _table(function, sizes)[np.ix_(*states)].reshape(left)
    promises.keep(
        np.array_equal(found, expected), "restricted, it gives the results that remain", where
    )
    if not isinstance(function, Stepwise):
        return
    steps = function.steps(states)
    whole = _table(function, sizes)[np.ix_(*states)]
    for result in np.unique(whole).tolist():
        for axis, leads in enumerate(steps.supports([result])):
            others = tuple(i for i in range(whole.ndim) if i != axis)
            promises.keep(
                np.array_equal(leads, (whole == result).any(axis=others)),
                "its steps know which positions lead to a result",
                f"{where}, result {result}, argument {axis + 1}",
            )


def _cpd(function: Function, sizes: Sequence[int]) -> FunctionalCPD:
    """Return a variable that is the function of others."""
    parents = tuple(Variable.of_integers(f"x{i}", range(n)) for i, n in enumerate(sizes))
    n_results = max(2, int(_table(function, sizes).max()) + 1)
    return FunctionalCPD(Variable.of_integers("y", range(n_results)), parents, function)


def _indicator(function: Function, sizes: Sequence[int], n_results: int) -> NDArray[np.float64]:
    """Return 1 where a result is that of a configuration, ``(results, configurations…)``."""
    results = np.arange(n_results).reshape(-1, *[1] * len(sizes))
    return np.asarray(results == _table(function, sizes)[None], dtype=np.float64)


def _check_terms(
    promises: Promises,
    function: Function,
    make: MakesTerms,
    sizes: Sequence[int],
    states: tuple[tuple[int, ...], ...],
) -> None:
    """Check that the terms of a rank-one form multiply to the table, at every configuration."""
    cpd = _cpd(function, sizes)
    n_results = cpd.variable.n_states
    right = _indicator(function, sizes, n_results)
    middle = (n_results - 2, n_results - 1)
    for results in (tuple(range(n_results)), (n_results - 1,), (0,), middle):
        kept = (results, *states)
        about = f"arguments of {_text(sizes)} states, positions {states}, results {results}"
        with promises.no_error("it has a rank-one form", about):
            form = RankOne.of(cpd, make(function, states, results, None), kept)
        names = [variable.name for variable in cpd.scope]
        whole = reduce(Factor.product, form.factors).sum_to(names).transpose(names)
        found = np.asarray(whole.values)[np.ix_(*kept)]
        wrong = np.argwhere(np.abs(found - right[np.ix_(*kept)]) > _CLOSE)
        if len(wrong):
            place = tuple(int(i) for i in wrong[0])
            result, *arguments = (one[i] for one, i in zip(kept, place, strict=True))
            promises.broken(
                "its rank-one form multiplies to its table at every configuration",
                f"{about}; arguments {_text(arguments)}, result {result}: "
                f"{complex(found[place]):.6g}, right is {right[np.ix_(*kept)][place]:g}",
            )


def _check_chain(promises: Promises, function: Function, sizes: Sequence[int]) -> None:
    """Check that the links of the chain multiply to the table, at every configuration."""
    cpd = _cpd(function, sizes)
    where = f"arguments of {_text(sizes)} states"
    with promises.no_error("it has a chain of partial results", where):
        links = chain_form(cpd)
    if links is None:
        promises.keep(
            not isinstance(function, Stepwise), "it has a chain of partial results", where
        )
        return
    names = [variable.name for variable in cpd.scope]
    factors = [link.to_factor() for link in links]
    known = {name for factor in factors for name in factor.names}
    missing = [v for v in cpd.scope if v.name not in known]
    factors += [Factor((v,), np.ones(v.n_states)) for v in missing]
    whole = reduce(Factor.product, factors).sum_to(names).transpose(names)
    right = _indicator(function, sizes, cpd.variable.n_states)
    promises.keep(
        np.array_equal(np.real(whole.values), right),
        "its chain of partial results multiplies to its table",
        where,
    )


def _check_file(promises: Promises, function: Function, name: str) -> None:
    cpd = _cpd(function, _SIZES)
    uniform = [TabularCPD(v, (), np.full(v.n_states, 1 / v.n_states)) for v in cpd.parents]
    with promises.no_error("a file holds it"):
        text = model_to_json(Network((*uniform, cpd)), max_cells=10**4)
        again: Any = network_from_json(text, max_cells=10**4).cpd("y")
    promises.keep(f'"function": "{name}"' in text, "a file names it as the registry does")
    promises.keep(getattr(again, "function", None) == function, "a file restores it")


def _text(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
