"""Learning the tables of a network from cases: counts if the cases are complete, EM otherwise."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed, many, shown
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.fitting.cases import DistinctCases, missing_columns, other_columns
from bnmind.fitting.em import EM, EMState, Fit, FitOptions, TablesAscent, climbs_from
from bnmind.fitting.expectation import Expectation
from bnmind.fitting.layout import MOST_CELLS, Layout
from bnmind.fitting.priors import NoPrior, Prior
from bnmind.fitting.squarem import Climb, LearningRecord
from bnmind.information import Floats
from bnmind.junction.cases.tables import frame_of
from bnmind.junction.inference.evidence import is_missing
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable, format_label, format_name, format_state

_MOST_FRACTIONS = 20
"""More different fractions in a column are hardly states, if most cells have their own value."""


@checked
def network_of_structure(
    structure: Any,
    cases: Any,
    hidden: Mapping[str, int | Sequence[Any]] | None = None,
) -> Network:
    """Return a network with uniform tables, whose states are those of the cases.

    Parameters
    ----------
    structure
        Pairs (parent, child), or a graph with ``nodes()`` and ``edges()``: a `networkx.DiGraph`, or
        a DAG or a network of pgmpy. Isolated nodes of a graph are kept.
    cases
        A data frame, or a mapping from names to columns of states. The states of a categorical
        column are its categories in their order; those of other columns are sorted.
    hidden
        The variables without a column, with their number of states or the names of the states.

    Raises
    ------
    InvalidModelError
        If a variable has no column and is not hidden, a column has no states, there is a cycle, or
        the structure is none. The error lists all faults.
    TooLargeError
        If the tables have too many cells.

    Examples
    --------
    >>> cases = {"rain": ["no", "yes", "no"], "wet": ["no", "yes", None]}
    >>> network_of_structure([("rain", "wet")], cases).cpd("wet").values.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    nodes, edges = _nodes_and_edges(structure)
    frame = frame_of(cases)
    columns = {format_label(label): frame.iloc[:, at] for at, label in enumerate(frame.columns)}
    known = dict(hidden or {})
    problems = [
        f"the hidden variable {name} is not in the structure" for name in known if name not in nodes
    ]
    variables: dict[str, Variable] = {}
    absent = [name for name in nodes if name not in known and name not in columns]
    if len(absent) > 1:
        problems.append(
            f"{missing_columns(absent)}; give the states of hidden variables as"
            f" hidden={{{absent[0]!r}: 2}}{other_columns(columns, nodes, absent)}"
        )
    told = set(absent) if len(absent) > 1 else set()
    for name in (name for name in nodes if name not in told):
        try:
            variables[name] = _variable(name, columns, known, nodes)
        except (InvalidModelError, InvalidArgumentError) as fault:
            problems.append(str(fault))
    if problems:
        raise InvalidModelError(problems)
    scopes = [
        (variable, *(variables[a] for a, b in edges if b == name))
        for name, variable in variables.items()
    ]
    shapes = [tuple(v.n_states for v in scope) for scope in scopes]
    _check_cells(sum(map(math.prod, shapes)))
    return Network(
        tuple(
            TabularCPD(scope[0], scope[1:], np.full(shape, 1 / shape[0]))
            for scope, shape in zip(scopes, shapes, strict=True)
        )
    )


def _nodes_and_edges(structure: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of the nodes, and the distinct edges."""
    nodes: list[Any] = []
    if callable(getattr(structure, "nodes", None)) and callable(getattr(structure, "edges", None)):
        nodes, given = list(structure.nodes()), list(structure.edges())
    elif isinstance(structure, Iterable) and not isinstance(structure, str | bytes | Mapping):
        given = list(structure)
    else:
        given = [structure]
    wrong: list[Any] = [edge for edge in given if not _is_pair(edge)]
    nodes += [name for edge in given if _is_pair(edge) for name in edge]
    wrong += [name for name in nodes if not isinstance(format_name(name), str)]
    if wrong or not nodes:
        raise InvalidArgumentError(
            "expected a Network, a graph, or a structure as pairs (parent, child) of names, such as"
            f" [('rain', 'wet')]; got {shown(wrong[0] if wrong else structure)}",
            structure,
        )
    edges = [(format_name(edge[0]), format_name(edge[1])) for edge in given]
    return list(dict.fromkeys(map(format_name, nodes))), list(dict.fromkeys(edges))


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, tuple | list) and len(edge) == 2


def _variable(
    name: str, columns: Mapping[str, Any], hidden: Mapping[str, Any], nodes: Sequence[str]
) -> Variable:
    """Return a variable with the states that it was given, or those in its column."""
    if name in hidden:
        given: Any = hidden[name]
        number = state_number(given)
        is_empty = isinstance(given, Sequence) and not given
        if number is None and not is_empty:
            return Variable(name, given)
        if number is None or number < 1:
            raise InvalidModelError(
                [
                    f"the hidden variable {name!r} needs states; give the number of its states,"
                    f" such as hidden={{{name!r}: 2}}"
                ]
            )
        _check_cells(number)
        return Variable.of_integers(name, range(number))
    if name not in columns:
        problem = (
            f"expected a column {name} in the cases, got none; give the states of a hidden variable"
            f" as hidden={{{name!r}: 2}}{other_columns(columns, nodes, [name])}"
        )
        raise InvalidModelError([problem])
    states = column_states(columns[name])
    if not states:
        raise InvalidModelError(
            [
                f"the column {name} has no observed cell; give the states as categories, such as"
                " pandas.Categorical(column, ['no', 'yes'])"
            ]
        )
    if fault := _fault_of_measurements(name, states, columns[name]):
        raise InvalidModelError([fault])
    return Variable(name, tuple(states))


def _fault_of_measurements(name: str, states: Sequence[Any], column: Any) -> str:
    """Return the fault of a column that holds measurements, not states; empty if there is none.

    Such a column has fractions, and more than `_MOST_FRACTIONS` different values, which are more
    than half of its observed cells.
    """
    if hasattr(column, "cat") or len(states) <= _MOST_FRACTIONS:
        return ""
    if not any(isinstance(state, float) and not state.is_integer() for state in states):
        return ""
    observed = int(column.notna().sum())
    if 2 * len(states) <= observed:
        return ""
    return (
        f"the column {name} has {len(states):,} different values in {observed:,} cases; put them"
        f" into classes first, such as pandas.cut(cases[{name!r}], 2, labels=['low', 'high']), or"
        " make the column categorical if they are states"
    )


def state_number(states: Any) -> int | None:
    """Return a number of states as an integer; None if the states are given otherwise.

    >>> state_number(np.int64(2)), state_number(("no", "yes")), state_number(True)
    (2, None, None)
    """
    if isinstance(states, bool | np.bool_):
        return None
    try:
        return operator.index(states)
    except TypeError:
        return None


def _check_cells(cells: int) -> None:
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"expected tables of at most {MOST_CELLS:,} cells together, got {many(cells)}; give"
            " hidden variables fewer states",
            needed=cells,
            budget=MOST_CELLS,
        )


def column_states(column: Any) -> list[Any]:
    """Return the distinct states of a column: categories in their order, other values sorted.

    >>> column_states(["yes", None, "no", "yes"]), column_states([10, 9, float("nan")])
    (['no', 'yes'], [9, 10])
    """
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is not None:
        return list(categories)
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    faulty = [value for value in values if not isinstance(value, Hashable)]
    if faulty:
        raise InvalidArgumentError(f"expected states in a column, got {shown(faulty[0])}", faulty)
    found = [value for value in dict.fromkeys(values) if not is_missing(value)]
    whole = all(isinstance(value, int | float) for value in found)
    if whole:
        # A column of whole numbers with missing cells holds floating-point numbers.
        found = [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]
    return sorted(found) if whole else sorted(found, key=str)


_NONE = 1e-9
"""Expected counts below this count as none."""

_FEW = 0.5
"""Expected counts below half a case hardly say anything about a distribution. Only EM has such
counts: those of complete cases are whole numbers."""


@checked
def fit(
    network: Any,
    cases: Any,
    *,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    tied: Sequence[Sequence[str]] = (),
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
    options: FitOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Learn the tables of a network from cases, which may have missing cells.

    Complete cases are counted. Missing cells are completed by EM, which is valid if the reason why
    a cell is missing does not depend on its value. Functional nodes keep their functions, and noisy
    nodes are learned as noisy nodes: their links and leaks, of which zeros stay zero.

    Parameters
    ----------
    network
        A `Network`; or its structure: pairs (parent, child), a `networkx.DiGraph`, or a pgmpy DAG
        or network. The states are then those of the cases, see `network_of_structure`. The first
        start begins near the tables of a network, see `EM.start`.
    cases
        A data frame with a row for each case, or a mapping from names to columns. Cells are states:
        text, numbers, truth values or categories. None and NaN are missing cells. Columns that are
        no variables are ignored, with a warning in the result.
    prior
        The pseudo-counts of the tables, such as ``BDeu(10)``; by default `NoPrior`, maximum
        likelihood.
    fixed
        Variables that keep their tables.
    tied
        Groups of variables that share one table, such as ``[("x2", "x3")]``. The tables are shared
        position by position: the variables, and their parents one by one, must have the same states
        in the same order. The pseudo-counts are those of the first variable in the network's order.
    hidden
        Variables without a column. For a structure, with the number of their states or the names:
        ``{"class": 2}``. For a network, the names suffice; states must be those of the network.
    options
        Starts, seed, the criterion of convergence, and workers.
    progress
        Called from time to time with the number of steps done and an estimate of the number of all
        steps. With several workers, called after each start.

    Returns
    -------
    Fit
        The new network, with the likelihood, the expected counts and a record of the iterations.

    Raises
    ------
    TableError
        If columns are missing or states unknown. The message names rows and columns.
    InvalidArgumentError
        If the fixed, tied or hidden variables, or the pseudo-counts given for variables, do not fit
        the network. The message lists all faults.
    InvalidModelError
        If the structure is invalid.
    ImpossibleEvidenceError
        If a case is impossible under fixed tables, functions, or the zeros of noisy nodes.
    TooLargeError
        If the tables, or the junction tree of cases with many missing cells, are too large.

    References
    ----------
    S. Lauritzen, "The EM algorithm for graphical association models with missing data", Comput.
    Stat. Data Anal. 1995.

    Examples
    --------
    >>> cases = {"rain": ["no", "no", "yes", "yes"], "wet": ["no", None, "yes", "yes"]}
    >>> fitted = fit([("rain", "wet")], cases)
    >>> fitted.network.cpd("wet").values.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    asked = options or FitOptions()
    em, is_structure = _prepared(network, cases, prior, fixed=fixed, tied=tied, hidden=hidden)
    layout, expectation = em.layout, em.expectation
    counts = expectation.start_counts()
    # Complete cases need one step, whatever it gains.
    used = replace(asked, starts=1, max_iterations=1, tolerance=math.inf) if em.is_exact else asked
    starts = [
        layout.start(counts, _generator(used.seed, number, draw=is_structure or number > 0))
        for number in range(used.starts)
    ]
    climbs = climbs_from(TablesAscent(layout, expectation), starts, used, progress)
    return _fit(em, climbs, asked)


@checked
def expectation_maximization(
    network: Any,
    cases: Any,
    *,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    tied: Sequence[Sequence[str]] = (),
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
) -> EM:
    """Return EM for a network and some cases, to take steps one by one.

    The parameters and the errors are those of `fit`. The start of a structure, which has no tables,
    should be drawn: ``em.start(np.random.default_rng(1))``.
    """
    return _prepared(network, cases, prior, fixed=fixed, tied=tied, hidden=hidden)[0]


def _prepared(
    network: Any,
    cases: Any,
    prior: Prior | None,
    *,
    fixed: Iterable[str],
    tied: Sequence[Sequence[str]],
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str],
) -> tuple[EM, bool]:
    """Return EM, and whether the tables were made up, for a structure."""
    if not isinstance(hidden, Mapping):
        hidden = dict.fromkeys(hidden, ())
    is_structure = False
    if not isinstance(network, Network) and getattr(network, "cpds", None):
        network = Network.from_pgmpy(network)
    elif not isinstance(network, Network):
        network = network_of_structure(network, cases, hidden)
        is_structure = True
    if not is_structure:
        _check_hidden(network, hidden)
    layout = Layout.of(network, prior or NoPrior(), fixed=fixed, tied=tied)
    table = cases if isinstance(cases, DistinctCases) else DistinctCases.of(network, cases, hidden)
    return EM(layout, Expectation.of(layout, table)), is_structure


def _check_hidden(network: Network, hidden: Mapping[str, int | Sequence[Any]]) -> None:
    """Raise an error if a hidden variable is given with other states than those of the network."""
    problems = []
    known = {v.name: v.states for v in network.variables}
    for name, given in hidden.items():
        if name not in known:  # which the error about the cases says
            continue
        states = known[name]
        number = state_number(given)
        if number is None and isinstance(given, Sequence) and not isinstance(given, str):
            fits = not given or tuple(map(format_state, given)) == states
        else:
            fits = number == len(states)
        if not fits:
            problems.append(
                f"expected the hidden variable {name} with its {len(states)} states in the network,"
                f" {shown(states)}, got {shown(given)}; its name suffices"
            )
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))


def _generator(seed: int, number: int, *, draw: bool) -> np.random.Generator | None:
    # Each start has its own generator, so it does not depend on the number of starts.
    return np.random.default_rng([seed, number]) if draw else None


def _fit(em: EM, climbs: Sequence[Climb[Floats]], options: FitOptions) -> Fit:
    record = LearningRecord.of(climbs, options.seed)
    way = climbs[record.best_start]
    layout = em.layout
    counts = em.expectation.at(layout.cells(way.parameters)).counts
    return Fit(
        network=layout.network_of(way.parameters),
        counts={
            cpd.variable.name: Factor(cpd.scope, layout.table(counts, family))
            for family, cpd in enumerate(layout.network.cpds)
            if not layout.large[family]
        },
        warnings=tuple(_warnings(em, counts, record)),
        record=record,
        em=em,
        state=EMState(way.parameters),
    )


def _warnings(em: EM, counts: Floats, record: LearningRecord) -> list[str]:
    layout, cases = em.layout, em.expectation.cases
    found = []
    if cases.ignored:
        found.append(f"columns that are no variables were ignored: {', '.join(cases.ignored[:12])}")
    if not record.converged:
        steps = "1 step" if record.steps == 1 else f"{record.steps:,} steps"
        found.append(f"EM has not converged after {steps}")
    never = np.all(cases.states < 0, axis=0).tolist()
    for family, cpd in enumerate(layout.network.cpds):
        name = cpd.variable.name
        if never[family] and layout.free[family]:
            found.append(
                f"{name} is never observed: its states may be exchanged without a change of the"
                " likelihood, unless fixed tables tell them apart"
            )
        if layout.free[family] and all(block.family != family for block in layout.noisy):
            found += _warnings_of_table(layout, counts, family)
    return found


def _warnings_of_table(layout: Layout, counts: Floats, family: int) -> list[str]:
    """Return the warnings about configurations of the parents with no or hardly any cases."""
    cpd = layout.network.cpds[family]
    name, start = cpd.variable.name, int(layout.offsets[family])
    table = layout.table(counts, family).reshape(cpd.variable.n_states, -1)
    cases = table.sum(axis=0)
    pseudo = layout.pseudo_counts[start : start + table.size].reshape(table.shape).sum(axis=0)
    found = []
    unseen = cases < _NONE
    if unseen.any():
        uniform = (pseudo == 0)[unseen].any()
        found.append(
            f"{name}: {int(unseen.sum()):,} of {len(unseen):,} configurations of the parents"
            " have no cases; their distributions are"
            f" {'uniform' if uniform else 'those of the prior'}"
            if cpd.parents
            else f"{name} has no cases; its distribution is"
            f" {'uniform' if uniform else 'that of the prior'}"
        )
    few = int(((cases >= _NONE) & (cases < _FEW) & (pseudo == 0)).sum())
    if few:
        found.append(
            f"{name}: {few:,} of {len(cases):,} configurations of the parents"
            f" {'has' if few == 1 else 'have'} an expected count below {_FEW:g} of a case; their"
            " distributions may be 0 and 1 by chance; a prior such as BDeu(1) avoids this"
            if cpd.parents
            else f"{name} has an expected count below {_FEW:g} of a case; a prior such as BDeu(1)"
            " avoids a distribution of 0 and 1 by chance"
        )
    return found
