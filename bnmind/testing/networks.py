"""The promises of formats of networks, functions of parents, and finders of elimination orders.

*Formats*: what is written is read again, and damage is reported. *Functional nodes*: a function,
its steps, its chain, its rank-one form. *Order finders*: all variables, and a size that is right.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from itertools import combinations, permutations, product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import one_line
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    ModelFileError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import ORDER_FINDERS, EliminationOrder, InteractionGraph, OrderFinder
from bnmind.pgm import (
    FUNCTIONS,
    Factor,
    FactorModel,
    Function,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.pgm.files import MODEL_FORMATS, file_names
from bnmind.pgm.formats.model_format import ModelFormat, ModelSource
from bnmind.pgm.formats.records import model_to_json, network_from_json
from bnmind.pgm.functions import RegisteredFunction, Stepwise, name_of, with_arguments_in_order
from bnmind.rank_one import RANK_ONE_TERMS, chain_form
from bnmind.rank_one.terms import MakesTerms, RankOne
from bnmind.testing.promises import Family, Promises, examples

_FORMATS = Family(
    "format of networks",
    room="bnmind.pgm.files",
    registry=MODEL_FORMATS,
    commands=("query", "fit", "explain", "network"),
    suffixes=True,
)
_CELLS = 10**4


@checked
def check_format(form: ModelFormat | str, *, thorough: bool = False) -> None:
    """Check that a format of model files keeps the promises of formats.

    It says in a line what it is. A network that is written and read is the same: its variables in
    their order, the names and the order of their states, the parents of each in their order, and
    every number to the last digit. Names with blanks, quotes, letters of any alphabet, or words of
    the format are no exception. The same network is written as the same text each time. A file
    that is too large is refused before its tables are made, and a damaged one is read or refused
    by an error of bnmind, never by another.

    Parameters
    ----------
    form
        The format, or the suffix of a registered one, such as ``".bif"``.
    thorough
        Whether to try more networks and more damage.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no format has the suffix.

    Examples
    --------
    >>> check_format(".bif")
    """
    suffix = ".own"
    if isinstance(form, str):
        promises = _FORMATS.check_name(form)
        suffix, form = form, MODEL_FORMATS[form]
        network = _NETWORKS["sums and odd names"]
        promises.keep(
            file_names(network, f"a{suffix}") == form.names_of(network.variables),
            "`file_names` knows the names that it encodes",
        )
    promises = Promises("format of networks", form)
    promises.about()
    promises.has("holds_factors", "names_of", "contents", "read_network", "read_model", "read")
    networks = {**_NETWORKS, **_random_networks(20 if thorough else 3)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{suffix}"
        for about, network in networks.items():
            _check_network(promises, form, network, path, about)
        data = _written(promises, form, _NETWORKS["sums and odd names"], path)
        _check_other_editors(promises, form, path, data)
        _check_size(promises, form, path, data)
        _check_damage(promises, form, path, data, 300 if thorough else 40)
        if form.holds_factors:
            _check_factors(promises, form, path)


_RAIN, _WET = Variable("rain", ("no", "yes")), Variable("wet grass", ("dry", "a bit", "very"))
_ODD = Variable('für "alle" & <jeden>', ("x\\y", "probability", "ø", "1.5", "true"))
_NEARLY = (
    *("x y", "x_y", "x.y", " x y", "x y ", "X Y", "1", "1.0", "01", "true", "True", "no", "NO"),
    *("o\u0308", "\u00f6", "\u65e5\u672c", "\U0001f642", "", "a\tb", "a,b;c|d", "'q'"),
)


def _of_many_parents() -> Network:
    """Return a network in which a variable has four parents of two states each."""
    parents = tuple(Variable(name, ("low", "high")) for name in "wxyz")
    chance = np.random.default_rng(4).random((2,) * 4)
    child = TabularCPD(Variable("child", ("no", "yes")), parents, np.stack([1 - chance, chance]))
    return Network((*(TabularCPD(v, (), np.array([0.5, 0.5])) for v in parents), child))


_NETWORKS = {
    "sums and odd names": Network(
        (
            TabularCPD(_RAIN, (), np.array([1 / 3, 2 / 3])),
            TabularCPD(_WET, (_RAIN,), np.array([[0.7, 0.1], [0.3, 0.2], [0.0, 0.7]])),
            FunctionalCPD.sum_of("sum.1", (_RAIN, _WET)),
        )
    ),
    "states in no order of letters": Network(
        (
            TabularCPD(Variable("b", ("z", "a", "m")), (), np.array([0.5, 0.25, 0.25])),
            TabularCPD(_ODD, (), np.array([0.1, 0.2, 0.3, 0.25, 0.15])),
            TabularCPD(Variable("c", ("1.0", "0.50", "-0")), (), np.array([0.25, 0.5, 0.25])),
        )
    ),
    "certain states, and tiny numbers": Network(
        (
            TabularCPD(Variable("sure", ("always", "never")), (), np.array([1.0, 0.0])),
            TabularCPD(_RAIN, (), np.array([1e-300, 1 - 1e-300])),
            TabularCPD(Variable("hardly", ("yes", "no")), (), np.array([5e-324, 1.0])),
        )
    ),
    "names that are nearly the same": Network(
        tuple(
            TabularCPD(Variable(name, _NEARLY), (), np.full(len(_NEARLY), 1 / len(_NEARLY)))
            for name in ("a b", "a_b", "a.b", "A b", "a  b", "u\u0308", "\u00fc", "\U0001f642")
        )
    ),
    "four parents of as many states": _of_many_parents(),
}


def _random_networks(n: int) -> dict[str, Network]:
    """Return networks whose parents, children and states are in no order of letters."""
    networks = {}
    for seed in range(n):
        rng = np.random.default_rng(seed)
        names = rng.permutation(list("dbaecf")).tolist()
        variables: list[Variable] = []
        cpds = []
        for name in names:
            k = int(rng.integers(2, 4))
            labels = rng.permutation([f"{name}{i}" for i in range(k)]).tolist()
            variable = Variable(name, tuple(labels))
            n_parents = min(len(variables), int(rng.integers(0, 3)))
            chosen = rng.permutation(len(variables))[:n_parents].tolist()
            parents = tuple(variables[i] for i in chosen)
            shape = [v.n_states for v in parents]
            table = np.moveaxis(rng.dirichlet(np.full(k, 0.7), shape), -1, 0)
            cpds.append(TabularCPD(variable, parents, table))
            variables.append(variable)
        networks[f"random network {seed + 1}"] = Network(tuple(cpds))
    return networks


def _written(
    promises: Promises, form: ModelFormat, model: Network | FactorModel, path: Path
) -> bytes:
    with promises.no_error("it writes every model that it holds"):
        contents = form.contents(model, path, max_cells=_CELLS)
    promises.keep(path in contents, "it writes the file that it is asked to write")
    for place, text in contents.items():
        place.write_text(text, encoding="utf-8")
    return path.read_bytes()


def _check_network(
    promises: Promises, form: ModelFormat, network: Network, path: Path, about: str
) -> None:
    with promises.pure(network, example=about):
        data = _written(promises, form, network, path)
        again = _written(promises, form, network, path)
    promises.keep(data == again, "it writes the same text each time", about)
    source = ModelSource(path, data, _CELLS)
    for reads in (form.read_network, form.read):
        with promises.no_error("it reads what it writes", about):
            found = reads(source)
        promises.keep(isinstance(found, Network), "it reads a network as a network", about)
        assert isinstance(found, Network)
        promises.keep(
            [v.name for v in found.variables] == [v.name for v in network.variables],
            "it keeps the variables and their order",
            f"{about}: {[v.name for v in found.variables]}",
        )
        for before, after in zip(network.variables, found.variables, strict=True):
            promises.keep(
                before.states == after.states,
                "it keeps the names and the order of states",
                f"{about}, {before.name}: {list(after.states)}, not {list(before.states)}",
            )
        for cpd in network.cpds:
            other = found.cpd(cpd.variable.name)
            promises.keep(
                [v.name for v in other.parents] == [v.name for v in cpd.parents],
                "it keeps the parents and their order",
                f"{about}, {cpd.variable.name}",
            )
            promises.keep(
                np.array_equal(other.to_factor().values, cpd.to_factor().values),
                "it keeps every number to the last digit",
                f"{about}, {cpd.variable.name}",
            )
    with promises.no_error("it reads a network as a product of factors", about):
        model = form.read_model(source)
    promises.keep(
        {v.name for v in model.variables} == {v.name for v in network.variables},
        "it reads a network as a product of factors",
        about,
    )
    names = form.names_of(network.variables)
    texts = list(form.contents(network, path, max_cells=_CELLS).values())
    for variable in network.variables:
        shown = names.variables.get(variable.name, variable.name)
        escaped = (shown, shown.replace('"', '\\"'), re.sub(r"[&<>\"\\]", "", shown))
        promises.keep(
            any(one in text for text in texts for one in escaped[:2]) or shown != escaped[2],
            "`names_of` says how a name is written",
            f"{about}: {variable.name} as {shown}",
        )


def _check_other_editors(promises: Promises, form: ModelFormat, path: Path, data: bytes) -> None:
    """Check that files of other editors are read, too."""
    expected = form.read_network(ModelSource(path, data, _CELLS))
    for about, other in (
        ("a byte order mark", b"\xef\xbb\xbf" + data),
        ("line ends of Windows", data.replace(b"\n", b"\r\n")),
        ("empty lines at the end", data + b"\n\n"),
    ):
        with promises.no_error("it reads files as editors write them", about):
            found = form.read_network(ModelSource(path, other, _CELLS))
        promises.keep(
            found.variables == expected.variables, "it reads files as editors write them", about
        )


def _check_size(promises: Promises, form: ModelFormat, path: Path, data: bytes) -> None:
    promises.refuse(
        lambda: form.read_network(ModelSource(path, data, 5)),
        "it refuses tables beyond the limit of cells",
        "limit of 5 cells",
        kinds=(TooLargeError, ModelFileError),
    )


def _check_damage(promises: Promises, form: ModelFormat, path: Path, data: bytes, n: int) -> None:
    """Check that a damaged file is read or refused with one of our errors, never with another."""
    rng = random.Random(1)
    damaged = {
        f"cut after {cut} bytes": data[:cut] for cut in range(1, len(data), 1 + len(data) // n)
    }
    for number in range(n):
        place = rng.randrange(len(data))
        damaged[f"damage {number + 1} at byte {place}"] = (
            data[:place] + rng.randbytes(3) + data[place + 2 :]
        )
    damaged |= {"a zero byte": b"\x00", "braces": b"{}", "a word": b"model", "nothing": b""}
    for about, broken in damaged.items():
        try:
            form.read(ModelSource(path, broken, 100))
        except BnmindError as error:
            promises.keep(str(error).strip(), "it refuses damage with words", about)
        except Exception as fault:
            promises.broken(
                "it reads a damaged file, or refuses it by an error of bnmind",
                f"{about}: {type(fault).__name__}",
            )
    promises.refuse(
        lambda: form.read_network(ModelSource(path, data[: len(data) // 2], 100)),
        "it refuses half a file by a ModelFileError",
        kinds=ModelFileError,
    )


def _check_factors(promises: Promises, form: ModelFormat, path: Path) -> None:
    total = Variable.of_integers("sum.1", range(4))
    factors = FactorModel(
        (
            Factor((_RAIN,), np.array([2.0, 0.5])),
            Factor((_RAIN, total), np.arange(8.0).reshape(2, 4)),
        )
    )
    data = _written(promises, form, factors, path)
    with promises.no_error("it reads the factors that it writes"):
        again = form.read(ModelSource(path, data, 100))
    promises.keep(isinstance(again, FactorModel), "it reads factors as factors")
    for before, after in zip(factors.potentials, again.potentials, strict=True):
        promises.keep(
            isinstance(after, Factor)
            and isinstance(before, Factor)
            and np.array_equal(after.values, before.values),
            "it keeps every number of factors",
        )


_FUNCTIONAL_NODES = Family("functional node", room="bnmind.pgm", registry=FUNCTIONS)
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
        _FUNCTIONAL_NODES.check_name(function, listed=False)
        row = FUNCTIONS[function]
        _FUNCTIONAL_NODES.check_export(function, row.example)
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
    where = f"arguments of {_format_numbers(sizes)} states"
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
            f"{_format_numbers(place)}: {one}, among many {whole[place]}",
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
            f"{_format_numbers(place)}: {steps.results[state]}, right is {whole[place]}",
        )


def _check_row(
    promises: Promises, function: Function, row: RegisteredFunction, sizes: Sequence[int]
) -> None:
    """Check that the registry is right about the arguments and the partial results."""
    where = f"arguments of {_format_numbers(sizes)} states"
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
            f"{where} in the order {_format_numbers(order)}",
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
    where = f"arguments of {_format_numbers(sizes)} states, positions {states}"
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
        about = (
            f"arguments of {_format_numbers(sizes)} states, positions {states}, results {results}"
        )
        with promises.no_error("it has a rank-one form", about):
            form = RankOne.of(cpd, make(function, states, results, "unity"), kept)
        names = [variable.name for variable in cpd.scope]
        whole = reduce(Factor.product, form.factors).sum_to(names).transpose(names)
        found = np.asarray(whole.values)[np.ix_(*kept)]
        wrong = np.argwhere(np.abs(found - right[np.ix_(*kept)]) > _CLOSE)
        if len(wrong):
            place = tuple(int(i) for i in wrong[0])
            result, *arguments = (one[i] for one, i in zip(kept, place, strict=True))
            promises.broken(
                "its rank-one form multiplies to its table at every configuration",
                f"{about}; arguments {_format_numbers(arguments)}, result {result}: "
                f"{complex(found[place]):.6g}, right is {right[np.ix_(*kept)][place]:g}",
            )


def _check_chain(promises: Promises, function: Function, sizes: Sequence[int]) -> None:
    """Check that the links of the chain multiply to the table, at every configuration."""
    cpd = _cpd(function, sizes)
    where = f"arguments of {_format_numbers(sizes)} states"
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


def _format_numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


_FINDERS = Family(
    "order finder", room="bnmind.junction", registry=ORDER_FINDERS, commands=("query",)
)


@checked
def check_order_finder(
    finder: OrderFinder | str,
    *,
    graphs: Sequence[InteractionGraph] | None = None,
    thorough: bool = False,
) -> None:
    """Check that a finder of elimination orders keeps the promises of finders.

    It is immutable. It orders all variables of any graph, also of an empty one and of one in
    several parts, and finds the same order each time. The total size that it reports is that of
    the cliques of the order, by eliminating one variable after the other. An order that it calls
    proven is the smallest of all orders.

    Parameters
    ----------
    finder
        The finder, or the name of a registered one.
    graphs
        Graphs to order; by default small ones. Orders are compared with all orders if a graph
        has at most six variables.
    thorough
        Whether to try more graphs.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no finder has the name.

    Examples
    --------
    >>> from bnmind.junction import MinFill
    >>> check_order_finder(MinFill())
    """
    if isinstance(finder, str):
        if finder.partition(":")[0] not in ORDER_FINDERS:
            raise UnknownNameError("order finder", finder, ORDER_FINDERS)
        for one in examples(_FINDERS, finder):
            check_order_finder(one, graphs=graphs, thorough=thorough)
        return
    promises = Promises("order finder", finder)
    promises.value()
    for graph in graphs or _graphs(60 if thorough else 12):
        where = one_line(f"sizes {list(graph.sizes)}, edges {_edges(graph)}", longest=200)
        with promises.no_error("it orders every graph", where), promises.pure(graph, example=where):
            found, again = finder(graph), finder(graph)
        promises.keep(isinstance(found, EliminationOrder), "it returns an `EliminationOrder`")
        promises.keep(
            sorted(found.variables) == sorted(graph.names), "it orders all variables", where
        )
        promises.keep(found == again, "it finds the same order each time", where)
        place = {name: number for number, name in enumerate(graph.names)}
        cliques = _cliques(graph, [place[name] for name in found.variables])
        promises.keep(
            found.total_size == sum(cliques),
            "the total size that it reports is that of the cliques",
            f"{where}: {found.total_size}, by elimination {sum(cliques)}",
        )
        promises.keep(
            found.largest == max(cliques, default=found.largest),
            "the largest clique that it reports is the largest",
            f"{where}: {found.largest}, by elimination {max(cliques, default=0)}",
        )
        promises.keep(found.method, "it says how it found the order", where)
        if found.proven and graph.n <= 6:
            smallest = _smallest(graph)
            promises.keep(
                found.total_size == smallest,
                "an order that it calls proven is the smallest",
                f"{where}: {found.total_size}, the smallest is {smallest}",
            )


def _graph(sizes: Iterable[int], edges: Iterable[tuple[int, int]]) -> InteractionGraph:
    named = {f"v{i}": size for i, size in enumerate(sizes)}
    return InteractionGraph.from_scopes(named, [(f"v{a}", f"v{b}") for a, b in edges])


@cache
def _graphs(n_random: int) -> tuple[InteractionGraph, ...]:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    huge = InteractionGraph.from_scopes(
        dict.fromkeys(("10", "9", "a b", "\u00e4"), 10**7),
        [("\u00e4", "9"), ("9", "a b", "10")],
    )
    rng = np.random.default_rng(8)
    tree = [(int(rng.integers(b)), b) for b in range(1, 70)]
    graphs = [
        huge,
        _graph(rng.integers(2, 4, 70).tolist(), tree),
        _graph([], []),
        _graph([3], []),
        _graph([2, 3, 4], []),
        _graph([2, 9, 2, 9], ring),
        _graph([2, 1, 3, 1], ring),
        _graph([2, 3, 4, 5, 2], [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]),
        _graph([2] * 6, [(a, b) for a in range(3) for b in range(3, 6)]),
    ]
    for seed in range(n_random):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(4, 8))
        pairs = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.5]
        graphs.append(_graph(rng.integers(2, 6, size).tolist(), pairs))
    return tuple(graphs)


def _edges(graph: InteractionGraph) -> list[tuple[int, int]]:
    return [(a, b) for b in range(graph.n) for a in range(b) if graph.neighbors[a] >> b & 1]


def _cliques(graph: InteractionGraph, order: Sequence[int]) -> list[int]:
    """Return the sizes of the maximal cliques of an order, by the definition."""
    around: dict[int, set[int]] = {v: set() for v in range(graph.n)}
    for a, b in _edges(graph):
        around[a].add(b)
        around[b].add(a)
    cliques = []
    for v in order:
        near = around.pop(v)
        cliques.append(frozenset({v} | near))
        for one in near:
            around[one] = (around[one] | near) - {one, v}
    maximal = [clique for clique in cliques if not any(clique < other for other in cliques)]
    return [int(np.prod([graph.sizes[v] for v in clique], dtype=object)) for clique in maximal]


@cache
def _smallest(graph: InteractionGraph) -> int:
    """Return the smallest total size of all orders."""
    return min(sum(_cliques(graph, order)) for order in permutations(range(graph.n)))
