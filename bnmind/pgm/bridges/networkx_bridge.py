"""Conversion from and to graphs of networkx.

networkx takes a tenth of a second to import, so it is imported when it is first needed.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import BnmindError, InvalidModelError
from bnmind.pgm.cpd import CPD, TabularCPD
from bnmind.pgm.network import Network
from bnmind.pgm.variable import Variable

__all__ = ["from_networkx", "moral_graph", "to_networkx"]


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
