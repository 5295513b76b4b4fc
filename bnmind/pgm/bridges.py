"""Conversion from and to the models of pyAgrum and networkx, and the Markov networks of pgmpy.

None of them is needed to install bnmind, and each is imported when it is first needed. The axes of
a pyAgrum array are those of the tensor in reverse. The Markov networks of pgmpy and pyAgrum hold
one real, non-negative factor for each set of variables, and none over the empty set.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import BnmindError, InvalidModelError, MissingLibraryError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.declared import Reading
from bnmind.pgm.formats.model_format import check_tables_fit
from bnmind.pgm.formats.pgmpy_bridge import (
    from_pgmpy,
    pgmpy_object,
    quiet_pgmpy,
    states_from_pgmpy,
    to_pgmpy,
)
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable, format_name

__all__ = [
    "factors_from_pgmpy",
    "factors_from_pyagrum",
    "factors_to_pgmpy",
    "factors_to_pyagrum",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "moral_graph",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]


@checked
def to_networkx(network: Network) -> Any:
    """Return the network as a ``networkx.DiGraph`` whose nodes are the names of the variables.

    The node attribute ``states`` holds the names of the states, and ``cpd`` the conditional
    distribution. The predecessors of a node are in the order of its table.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> coin, call = Variable("coin", ("heads", "tails")), Variable("call", ("heads", "tails"))
    >>> network = Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                    TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> graph = to_networkx(network)
    >>> list(graph.edges), graph.nodes["coin"]["states"]
    ([('coin', 'call')], ('heads', 'tails'))
    >>> from_networkx(graph)
    Network(coin, call)
    """
    import networkx

    graph = networkx.DiGraph()
    for cpd in network.cpds:
        graph.add_node(cpd.variable.name, states=cpd.variable.states, cpd=cpd)
        graph.add_edges_from((parent.name, cpd.variable.name) for parent in cpd.parents)
    return graph


@checked
def moral_graph(network: Network) -> Any:
    """Return the moral graph as a ``networkx.Graph``: variables of a table are adjacent.

    The node attribute ``states`` holds the names of the states.

    Parameters
    ----------
    network
        The network.
    """
    import networkx

    graph = networkx.Graph()
    for variable in network.variables:
        graph.add_node(variable.name, states=variable.states)
    for cpd in network.cpds:
        graph.add_edges_from(combinations([v.name for v in cpd.scope], 2))
    return graph


def from_networkx(graph: Any) -> Network:
    """Return the network in a ``networkx.DiGraph``.

    Parameters
    ----------
    graph
        Its nodes are the variables. Each has either the attribute ``cpd``, a conditional
        distribution, as `to_networkx` makes it, or ``states``, the names of the states, and
        ``table``, an array ``(states of the node, states of parent 1, …)`` with the parents in
        the order of ``graph.predecessors(node)``, in which their arcs were added.

    Raises
    ------
    InvalidModelError
        If the graph is undirected, has several arcs between two nodes or a cycle, a node lacks an
        attribute, or a distribution is not valid or not given the predecessors of its node. The
        error lists all faults.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.DiGraph([("rain", "wet")])
    >>> graph.add_node("rain", states=["no", "yes"], table=[0.8, 0.2])
    >>> graph.add_node("wet", states=["no", "yes"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> from_networkx(graph).cpd("wet").parents
    (Variable(name='rain', states=('no', 'yes')),)
    """
    import networkx

    if not isinstance(graph, networkx.DiGraph) or graph.is_multigraph():
        raise InvalidModelError([f"expected a networkx DiGraph, got {type(graph).__name__}"])
    problems: list[str] = []
    variables: dict[Any, Variable] = {}
    for node, data in graph.nodes(data=True):
        cpd = data.get("cpd")
        try:
            if _is_cpd(cpd):
                variables[node] = cpd.variable
            elif "states" in data:
                variables[node] = Variable(node, data["states"])
            else:
                problems.append(
                    f"expected a node attribute cpd, or states and table, of {shown(node)}"
                )
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    cpds: list[CPD] = []
    for node, data in graph.nodes(data=True):
        parents = tuple(variables[parent] for parent in graph.predecessors(node))
        cpd = data.get("cpd")
        try:
            if _is_cpd(cpd):
                cpds.append(_agreeing(cpd, parents))
            elif "table" in data:
                cpds.append(TabularCPD(variables[node], parents, data["table"]))
            else:
                problems.append(f"expected a node attribute table of {shown(node)}")
        except InvalidModelError as fault:
            problems += fault.problems
        except BnmindError as fault:  # the table is not an array
            problems.append(f"expected a table of {shown(node)}: {fault}")
    if problems:
        raise InvalidModelError(problems)
    return Network(tuple(cpds))


def _is_cpd(value: object) -> bool:
    # A network holds only values of its own classes, so whatever it accepts is a distribution.
    return all(hasattr(value, name) for name in ("variable", "parents", "to_tabular"))


def _agreeing(cpd: CPD, parents: tuple[Variable, ...]) -> CPD:
    """Return the distribution, whose parents must be those of the graph."""
    if set(cpd.parents) != set(parents):
        raise InvalidModelError(
            [
                f"expected the distribution of {cpd.variable.name} to be given its predecessors"
                f" {sorted(v.name for v in parents)}, got {sorted(v.name for v in cpd.parents)}"
            ]
        )
    return cpd


def markov_factors(model: FactorModel, *, max_cells: int, merged: bool) -> list[Factor]:
    """Return the factors of a model as a Markov network can hold them.

    Parameters
    ----------
    model
        Its distributions are expanded to tables. A constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.
    merged
        Whether factors over the same variables are multiplied.

    Raises
    ------
    TooLargeError
        If the largest table has more cells.
    InvalidModelError
        If a value is negative or complex, or the model has no variable.
    """
    check_tables_fit(model.potentials, max_cells=max_cells)
    constant = 1.0
    factors: list[Factor] = []
    problems: list[str] = []
    for potential in model.potentials:
        table = potential
        if not isinstance(table, Factor):
            table = table.to_factor(max_cells=max_cells)
        if np.iscomplexobj(table.values) or np.any(table.values < 0):
            over = ", ".join(table.names) or "nothing"
            problems.append(
                f"a Markov network needs factors of at least 0, unlike that over {over}"
            )
        elif table.scope:
            factors.append(table)
        else:
            constant *= float(np.real(table.values))
    if not model.variables:
        problems.append("a Markov network must have at least one variable")
    if problems:
        raise InvalidModelError(problems)
    if merged:
        products: dict[frozenset[Variable], Factor] = {}
        for factor in factors:
            scope = frozenset(factor.scope)
            products[scope] = products[scope].product(factor) if scope in products else factor
        factors = list(products.values())
    if constant != 1.0:
        factors[0] = Factor(factors[0].scope, factors[0].values * constant)
    return factors


def factor_model_of(
    variables: Mapping[str, Variable], tables: Sequence[tuple[Sequence[str], Floats | Any]]
) -> FactorModel:
    """Return the product of factors of another library.

    Parameters
    ----------
    variables
        The variables by name, in their order. One without a factor gets a factor of ones.
    tables
        The names of the variables of each factor, and its array with an axis for each.

    Raises
    ------
    InvalidModelError
        If an array does not fit its variables or holds no numbers; all faults at once.
    """
    problems: list[str] = []
    factors: list[Factor] = []
    for names, values in tables:
        try:
            factors.append(Factor(tuple(variables[name] for name in names), values))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    used = {variable for factor in factors for variable in factor.scope}
    lonely = [variable for variable in variables.values() if variable not in used]
    factors += [Factor((variable,), np.ones(variable.n_states)) for variable in lonely]
    return FactorModel(tuple(factors), tuple(variables.values()))


@checked
def factors_to_pgmpy(model: FactorModel, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the model as a pgmpy ``DiscreteMarkovNetwork``.

    Parameters
    ----------
    model
        A product of factors that are not negative. Distributions in it are expanded to tables, and
        a constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex values.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    factors = markov_factors(model, max_cells=max_cells, merged=False)
    model_type = pgmpy_object("pgmpy.models", "DiscreteMarkovNetwork")
    factor_type = pgmpy_object("pgmpy.factors.discrete", "DiscreteFactor")
    with quiet_pgmpy():
        network = model_type()
        network.add_nodes_from([v.name for v in model.variables])
        for factor in factors:
            network.add_edges_from(combinations(factor.names, 2))
            network.add_factors(
                factor_type(
                    list(factor.names),
                    list(factor.values.shape),
                    factor.values.ravel(),
                    state_names={v.name: list(v.states) for v in factor.scope},
                )
            )
    return network


def factors_from_pgmpy(model: Any) -> FactorModel:
    """Return the factors of a pgmpy ``DiscreteMarkovNetwork``, ``FactorGraph`` or ``JunctionTree``.

    States become text, as in `bnmind.pgm.formats.from_pgmpy`.

    Parameters
    ----------
    model
        The model of pgmpy.

    Raises
    ------
    InvalidModelError
        If it is not such a model, has no factors, a node of a Markov network is in no factor, two
        factors disagree on the states of a variable, or a name is not valid. The error lists all
        faults.
    """
    kinds = ("DiscreteMarkovNetwork", "FactorGraph", "JunctionTree")
    if not any(isinstance(model, pgmpy_object("pgmpy.models", kind)) for kind in kinds):
        raise InvalidModelError(
            [f"expected a pgmpy {', '.join(kinds[:-1])} or {kinds[-1]}, got {type(model).__name__}"]
        )
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    tables = []
    for table in model.get_factors():
        names = []
        for name in table.variables:
            try:
                variable = Variable(name, states_from_pgmpy(table, name))
            except InvalidModelError as fault:
                problems += [problem for problem in fault.problems if problem not in problems]
                continue
            known = variables.setdefault(variable.name, variable)
            if known != variable:
                problems.append(
                    f"expected one set of states of {known.name}, got {known.states} and"
                    f" {variable.states}"
                )
            names.append(variable.name)
        tables.append((names, table.values))
    if not tables:
        problems.append("expected at least one factor, got none")
    elif isinstance(model, pgmpy_object("pgmpy.models", "DiscreteMarkovNetwork")):
        known_names = set(variables)
        problems += [
            f"expected a factor over {node}, got none"
            for node in model.nodes()
            if format_name(node) not in known_names
        ]
    if problems:
        raise InvalidModelError(problems)
    return factor_model_of(variables, tables)


@checked
def to_pyagrum(network: Network, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the network as a pyAgrum ``BayesNet``.

    Parameters
    ----------
    network
        Its variables become labelized variables, and functions are expanded to tables.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    MissingLibraryError
        If pyAgrum is not installed.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    check_tables_fit(network.cpds, max_cells=max_cells)
    pyagrum = _pyagrum()
    model = pyagrum.BayesNet()
    for variable in network.variables:
        model.add(_labelized(pyagrum, variable))
    for cpd in network.cpds:
        table = cpd.to_tabular(max_cells=max_cells)
        for parent in table.parents:
            model.addArc(parent.name, table.variable.name)
        _fill(model.cpt(table.variable.name), [v.name for v in table.scope], table.values)
    return model


@checked
def from_pyagrum(model: Any, *, normalize: bool = False) -> Network:
    """Return the network of a pyAgrum ``BayesNet``.

    The labels of the variables become their states. Tables within 1e-6 of summing to one are
    normalized.

    Parameters
    ----------
    model
        The network.
    normalize
        Whether rows that miss one by no more than rounding are normalized too; see
        `bnmind.pgm.files.read_with_report`.

    Raises
    ------
    InvalidModelError
        If it is not a ``BayesNet``, or a name or a table is not valid. The error lists all faults.
    """
    known = all(hasattr(model, name) for name in ("cpt", "nodes", "variable", "parents"))
    if not known or hasattr(model, "isDecisionNode"):
        raise InvalidModelError([f"expected a pyAgrum BayesNet, got {type(model).__name__}"])
    variables, problems = _variables(model)
    cpds = []
    reading = Reading(normalize=normalize)
    for node in model.nodes() if not problems else ():
        tensor = model.cpt(node)
        child, *parents = (variables[name] for name in tensor.names)
        try:
            values = reading.corrected((child, *parents), _values(tensor))
            cpds.append(TabularCPD(child, tuple(parents), values))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    return Network(tuple(cpds))


@checked
def factors_to_pyagrum(model: FactorModel, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the model as a pyAgrum ``MarkovRandomField``.

    Parameters
    ----------
    model
        A product of factors that are not negative. Distributions in it are expanded to tables.
        Factors over the same variables are multiplied, because pyAgrum allows one for each set of
        variables. A constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex values.
    MissingLibraryError
        If pyAgrum is not installed.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    factors = markov_factors(model, max_cells=max_cells, merged=True)
    pyagrum = _pyagrum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as for the import
        field = pyagrum.MarkovRandomField()
    for variable in model.variables:
        field.add(_labelized(pyagrum, variable))
    for factor in factors:
        tensor = field.addFactor(list(factor.names))
        _fill(tensor, factor.names, np.real(factor.values))
    return field


def factors_from_pyagrum(model: Any) -> FactorModel:
    """Return the factors of a pyAgrum ``MarkovRandomField``.

    The labels of the variables become their states. A variable without a factor gets a factor of
    ones.

    Parameters
    ----------
    model
        The model of pyAgrum.

    Raises
    ------
    InvalidModelError
        If it is not a ``MarkovRandomField``, or a name is not valid. The error lists all faults.
    """
    if not all(hasattr(model, name) for name in ("factor", "factors", "nodes", "variable")):
        raise InvalidModelError(
            [f"expected a pyAgrum MarkovRandomField, got {type(model).__name__}"]
        )
    variables, problems = _variables(model)
    if problems:
        raise InvalidModelError(problems)
    tensors = [model.factor(clique) for clique in model.factors()]
    return factor_model_of(variables, [(tensor.names, _values(tensor)) for tensor in tensors])


def _pyagrum() -> Any:
    try:
        with warnings.catch_warnings():
            # pyAgrum 3.3 ends the process if its warning about an outdated type is an error.
            warnings.simplefilter("ignore")
            return importlib.import_module("pyagrum")
    except ImportError as fault:
        raise MissingLibraryError(
            f"pyAgrum must be installed (pip install pyagrum): {fault}", "pyagrum"
        ) from fault


def _labelized(pyagrum: Any, variable: Variable) -> Any:
    return pyagrum.LabelizedVariable(variable.name, variable.name, list(variable.states))


def _fill(tensor: Any, names: list[str] | tuple[str, ...], values: Floats) -> None:
    """Fill a tensor with values whose axes are in the order of names."""
    axes = [names.index(name) for name in reversed(tensor.names)]
    tensor.fillWith(np.transpose(values, axes).ravel().tolist())


def _values(tensor: Any) -> Floats:
    """Return the values of a tensor, with the axes in the order of its names."""
    return np.asarray(tensor.toarray()).transpose()


def _variables(model: Any) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables of a model by name, and a list of faults."""
    variables: dict[str, Variable] = {}
    problems: list[str] = []
    for node in sorted(model.nodes()):
        found = model.variable(node)
        try:
            variables[found.name()] = Variable(found.name(), tuple(found.labels()))
        except InvalidModelError as fault:
            problems += fault.problems
    return variables, problems
