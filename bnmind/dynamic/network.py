"""Dynamic Bayesian networks: the same variables in every slice of time.

A dynamic network is a network of the first slice, and a conditional distribution of each variable
in all later slices. The parents of such a distribution are variables of the same slice and of the
previous one. A variable ``rain`` of the previous slice has the name ``rain[t-1]``.

The *interface* is the set of variables with children in the next slice. Given its states, the past
and the future are independent.

References
----------
T. Dean and K. Kanazawa, "A model for reasoning about persistence and causation", Comput. Intell.
1989; K. Murphy, "Dynamic Bayesian networks: representation, inference and learning", PhD thesis,
Berkeley 2002, chapters 2 and 3.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind._messages import counted, many, shown
from bnmind._values import Count, Natural, Value
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.files import FILE_CELLS, reading_of, suffix_of
from bnmind.pgm.formats.declared import (
    PLAIN_READING,
    DeclaredTable,
    NoisyNumbers,
    NormalizedTable,
    Numbers,
    Reading,
    Scope,
    network_from,
)
from bnmind.pgm.formats.model_format import check_tables_fit, read_from
from bnmind.pgm.formats.pgmpy_bridge import (
    pgmpy_object,
    states_from_pgmpy,
)
from bnmind.pgm.formats.source import shown as shown_text
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.formats.xml import Element, declared_node, node_table, parents_of, smile_of
from bnmind.pgm.network import FactorModel, Network, parents_first, variables_of
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    pass

PREVIOUS = "[t-1]"
"""The end of the name of a variable of the previous slice."""


@checked
def previous(variable: Variable) -> Variable:
    """Return a variable as it is named in the previous slice.

    Parameters
    ----------
    variable
        A variable of the current slice.

    Examples
    --------
    >>> previous(Variable("rain", ("no", "yes"))).name
    'rain[t-1]'
    """
    return Variable(variable.name + PREVIOUS, variable.states)


def some_of(variables: Sequence[Variable]) -> str:
    """Return the names of a few variables, and how many there are if these are not all."""
    more = f", … {len(variables)} variables" if len(variables) > 8 else ""
    return ", ".join(v.name for v in variables[:8]) + more


def renamed(cpd: CPD, names: Mapping[str, str]) -> CPD:
    """Return a distribution of variables with other names, {old: new}."""

    def other(v: Variable) -> Variable:
        return Variable(names.get(v.name, v.name), v.states)

    return replace(cpd, variable=other(cpd.variable), parents=tuple(map(other, cpd.parents)))


@dataclass(frozen=True, eq=False)
class DynamicNetwork(Value):
    """A Bayesian network over time, with two kinds of slices: the first one, and all others.

    Parameters
    ----------
    first
        The network of the first slice, slice 0.
    transition
        The distribution of each variable in every later slice. Its parents are variables of the
        same slice, and variables of the previous slice, which `previous` returns.
    varying
        For variables whose table depends on the slice, {name: function}: a function that returns
        the table for the number of a slice, from 1. The table has the shape of the variable's
        table in ``transition``, which it replaces.

    Raises
    ------
    InvalidModelError
        If the variables of the two kinds of slices differ, a parent is in neither slice, there is
        a cycle, or a varying variable has no table. The error lists all faults.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, umbrella = Variable("rain", ("no", "yes")), Variable("umbrella", ("no", "yes"))
    >>> sensor = TabularCPD(umbrella, (rain,), [[0.8, 0.1], [0.2, 0.9]])
    >>> DynamicNetwork(
    ...     Network((TabularCPD(rain, (), [0.5, 0.5]), sensor)),
    ...     (TabularCPD(rain, (previous(rain),), [[0.7, 0.3], [0.3, 0.7]]), sensor),
    ... )
    DynamicNetwork(rain, umbrella | interface rain)
    """

    first: Network
    transition: tuple[CPD, ...]
    varying: Mapping[str, Callable[[int], Any]] = field(default_factory=dict)

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(transition=self._ordered[0])

    @cached_property
    def _ordered(self) -> tuple[tuple[CPD, ...], list[str]]:
        return parents_first(self.transition, "transition")

    def _faults(self) -> Iterator[str]:
        inside, before = self.variables, [previous(v) for v in self.variables]
        scopes = [cpd.scope for cpd in self.transition]
        used, problems = variables_of([inside, before, *scopes])
        yield from problems
        children = Counter(cpd.variable.name for cpd in self.transition)
        for name in [v.name for v in inside]:
            if name.endswith(PREVIOUS):
                yield f"a variable of a slice must not have a name ending in {PREVIOUS}, got {name}"
            if (n := children.pop(name, 0)) != 1:
                yield f"expected one distribution of {name} in the transition, got {n}"
        for name in children:
            yield f"expected distributions of variables of the first slice only, got {shown(name)}"
        for name in used.keys() - children - {v.name for v in (*inside, *before)}:
            yield (
                f"the parent {shown(name)} is in no slice; expected a variable of the first"
                f" slice, or its name with {PREVIOUS} for the previous slice"
            )
        tables = {c.variable.name for c in self.transition if isinstance(c, TabularCPD)}
        for name in self.varying.keys() - tables:
            yield f"expected a table of {name} in the transition, since it is varying"
        yield from self._ordered[1]

    @classmethod
    @checked
    def from_networks(
        cls, first: Network, transition: Network, *, varying: Mapping[str, Any] | None = None
    ) -> DynamicNetwork:
        """Return a dynamic network from two networks.

        Parameters
        ----------
        first
            The network of the first slice.
        transition
            A network of two slices. The variables of the previous one have the names that
            `previous` gives them, such as ``rain[t-1]``; their distributions are ignored.
        varying
            As for the constructor.
        """
        own = tuple(c for c in transition.cpds if not c.variable.name.endswith(PREVIOUS))
        return cls(first, own, dict(varying or {}))

    def __repr__(self) -> str:
        interface = some_of(self.interface) or "empty"
        return f"DynamicNetwork({some_of(self.variables)} | interface {interface})"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of a slice, parents before children as in the first slice."""
        return self.first.variables

    @cached_property
    def interface(self) -> tuple[Variable, ...]:
        """The variables with children in the next slice, in the order of `variables`."""
        parents = {v.name for cpd in self.transition for v in cpd.parents}
        return tuple(v for v in self.variables if previous(v).name in parents)

    @cached_property
    def _transition_by_name(self) -> dict[str, CPD]:
        return {cpd.variable.name: cpd for cpd in self.transition}

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable of a slice by name.

        Parameters
        ----------
        name
            The name of the variable.
        """
        return self.first.variable(name)

    @checked
    def cpd(self, name: str, number: Natural = 1) -> CPD:
        """Return the distribution of a variable in a slice.

        Parameters
        ----------
        name
            The variable.
        number
            The slice, from 0. The distributions of all slices from 1 are equal, unless the table
            varies.

        Raises
        ------
        UnknownNameError
            If there is no such variable.
        InvalidArgumentError
            If the number is negative, or a varying table is invalid.
        """
        first = self.first.cpd(name)
        if number == 0:
            return first
        cpd = self._transition_by_name[name]
        if name not in self.varying:
            return cpd
        values = self.varying[name](number)
        try:
            return TabularCPD(cpd.variable, cpd.parents, np.asarray(values))
        except InvalidModelError as fault:
            raise InvalidArgumentError(f"in slice {number}: {fault}", values) from fault

    @cached_property
    def two_slices(self) -> Network:
        """The first two slices as one network; the variables of slice 0 end in ``[t-1]``."""
        names = {v.name: previous(v).name for v in self.variables}
        first = [renamed(cpd, names) for cpd in self.first.cpds]
        return Network((*first, *self.transition))

    @classmethod
    def from_pgmpy(cls, model: Any, *, normalize: bool = False) -> DynamicNetwork:
        """Return the network of a pgmpy ``DynamicBayesianNetwork``.

        States become strings. A variable without a table in slice 1, and without parents in slice
        0, has its table of slice 0.

        Parameters
        ----------
        model
            The network.
        normalize
            Whether rows that miss one by no more than rounding are normalized; see
            `bnmind.pgm.files.read_with_report`.

        Raises
        ------
        InvalidModelError
            If it is not such a network; a table is missing, contradicts the graph or is no
            distribution; or two tables disagree on the states of a variable. The error lists all
            faults.
        """
        if not isinstance(model, pgmpy_object("pgmpy.models", "DynamicBayesianNetwork")):
            name = type(model).__name__
            raise InvalidModelError(f"expected a pgmpy DynamicBayesianNetwork, got {name}")
        reading, variables = Reading(normalize=normalize), dict[Any, Variable]()
        tables = {(table.variable[0], table.variable[1]): table for table in model.cpds}
        parents = {
            (n[0], n[1]): sorted((str(p[0]), p[1] - n[1]) for p in model.get_parents(n))
            for n in model.nodes()
        }
        problems, cpds = list[str](), (list[CPD](), list[CPD]())
        for number, name in product((0, 1), dict.fromkeys(name for name, _ in parents)):
            known = parents.get((name, number), [])
            table = tables.get((name, number))
            if table is None and all(at == 0 for _, at in known):
                table = tables.get((name, 0))
            if table is not None:
                try:
                    cpds[number].append(_from_pgmpy(table, known, variables, reading))
                except InvalidModelError as fault:
                    problems += [problem for problem in fault.problems if problem not in problems]
            elif number == 0 or (name, 0) in tables:
                problems.append(f"expected a table of {shown((name, number))}, got none")
        if problems:
            raise InvalidModelError(problems)
        return cls(Network(tuple(cpds[0])), tuple(cpds[1]))

    @checked
    def unroll(self, slices: Count) -> Network:
        """Return the first slices as one network, in which ``rain[3]`` is rain in slice 3.

        Parameters
        ----------
        slices
            The number of slices, at least 1.

        Raises
        ------
        InvalidArgumentError
            If there is no slice.
        TooLargeError
            If the tables have more than 2²⁵ cells.

        Examples
        --------
        >>> from bnmind.pgm import Network, TabularCPD, Variable
        >>> coin = Variable("coin", ("heads", "tails"))
        >>> toss = TabularCPD(coin, (), [0.5, 0.5])
        >>> DynamicNetwork(Network((toss,)), (toss,)).unroll(3)
        Network(coin[0], coin[1], coin[2])
        """
        needed = slices * sum(cpd.n_cells for cpd in self.transition)
        TooLargeError.check(
            f"expected tables of at most {DEFAULT_CELLS:,} cells, got {many(needed)} in"
            f" {counted(slices, 'slice')}",
            needed=needed,
            budget=DEFAULT_CELLS,
        )
        cpds: list[CPD] = []
        for number in range(slices):
            names = {v.name: f"{v.name}[{number}]" for v in self.variables}
            names |= {previous(v).name: f"{v.name}[{number - 1}]" for v in self.variables}
            own = [self.cpd(v.name, number) for v in self.variables]
            cpds += [renamed(cpd, names) for cpd in own]
        return Network(tuple(cpds))


def of_two_slices(two: Network) -> DynamicNetwork:
    """Return the dynamic network whose `DynamicNetwork.two_slices` is a network."""
    names = {v.name: v.name.removesuffix(PREVIOUS) for v in two.variables}
    first = [renamed(c, names) for c in two.cpds if c.variable.name.endswith(PREVIOUS)]
    return DynamicNetwork.from_networks(Network(tuple(first)), two)


# --- Networks of pgmpy ----------------------------------------------------------------------------
#
# A node of the dynamic networks of pgmpy is a pair of a name and a slice, 0 or 1. pgmpy has the
# same arcs inside of both slices, and may leave out the tables of slice 1 that equal those of slice
# 0. It repeats the names of states in every table; tables made by its ``initialize_initial_state``
# have numbers instead.


def _node(name: str) -> tuple[str, int]:
    """Return the node of pgmpy for a variable of the first two slices."""
    return name.removesuffix(PREVIOUS), 0 if name.endswith(PREVIOUS) else 1


def _from_pgmpy(
    table: Any, parents: list[tuple[str, int]], variables: dict[Any, Variable], reading: Reading
) -> TabularCPD:
    """Return a table with the names of our slices.

    The parents are given by name and by their slice less that of the child, in ascending order. New
    variables are added.
    """
    nodes = [(node[0], node[1]) for node in table.variables]
    child, number = nodes[0]
    place = f"the table of {shown((child, number))}"
    own = sorted((str(name), at - number) for name, at in nodes[1:])
    scope, problems = [], list[str]()
    if own != parents:
        problems.append(
            f"expected {place} to be given its parents {_told(parents)}, got {_told(own)}"
        )
    for node, (name, at) in zip(table.variables, nodes, strict=True):
        states = states_from_pgmpy(table, node)
        variable = variables.setdefault(name, Variable(str(name), states))
        if states not in (variable.states, tuple(map(str, range(variable.n_states)))):
            problems.append(
                f"expected the states {variable.states} of {variable.name} in {place}, got {states}"
            )
        scope.append(variable if at == number else previous(variable))
    if problems:
        raise InvalidModelError(problems)
    child_variable, *rest = scope
    return TabularCPD(child_variable, tuple(rest), reading.corrected(scope, table.values))


def _told(parents: list[tuple[str, int]]) -> str:
    names = [name if at == 0 else f"{name} of the slice before" for name, at in parents]
    return ", ".join(names) or "nothing"


# --- Files ----------------------------------------------------------------------------------------
#
# Dynamic networks and sequences in files.
#
# bnmind's own files are JSON that holds the two kinds of slices as models::
#
#     {"schema": "bnmind-dynamic", "version": 1,
#      "first": {"schema": "bnmind-model", …},
#      "transition": {"schema": "bnmind-model", …}}
#
# Both parts are models as `bnmind.pgm.formats.records` writes them. The second one holds the
# distributions of the later slices; a variable of the previous slice has a name that ends in
# ``[t-1]``, and no distribution.
#
# Networks over time in XDSL, the format of GeNIe and SMILE, are read::
#
#     <nodes>
#       <cpt id="Place"> … </cpt>
#       <cpt id="Rain" dynamic="plate"> … <parents>Place</parents> … </cpt>
#     </nodes>
#     <dynamic numslices="5">
#       <cpt id="Rain" order="1"><parents>Rain</parents> … </cpt>
#     </dynamic>
#
# A node of the plate is a variable of every slice. The parents in ``<dynamic>`` are variables of
# the slice before. In its table, which holds from slice 1 on, the parents of the node come first,
# then these. A node outside of the plate is the same at all times, so it becomes a variable that
# keeps its state. An anchor is such a node that is a parent in the first slice only.

_PLATE, _ANCHOR, _CONSTANT = "plate", "anchor", "contemporal"
_KNOWN = ("parents", "probabilities", "resultingstates")


def dynamic_from_xdsl(data: bytes, *, max_cells: int, reading: Reading) -> DynamicNetwork:
    """Return the dynamic network in an XDSL file; see `bnmind.dynamic.read_dynamic`."""
    root, encoded = smile_of(data)
    nodes = {node.attribute("id"): node for node in root.one("nodes").children}
    kinds = {name: node.attributes.get("dynamic", _CONSTANT) for name, node in nodes.items()}
    if _PLATE not in kinds.values():
        raise root.place.fault(
            "expected a network over time (bnmind.read and bnmind query read others), got one"
            " without a temporal plate"
        )
    later = _later(root, kinds)
    for name, node in nodes.items():
        _check_node(name, node, kinds, has_later=name in later)
    declared = [declared_node(node) for node in nodes.values()]
    before = [replace(v, name=v.name + PREVIOUS) for v in declared]

    heads, sources = list[DeclaredTable](), dict[str, Element]()
    for name, node in nodes.items():
        inside, is_dense = parents_of(node), node.tag != "noisymax"
        scope = tuple(p + PREVIOUS for p in (name, *inside))
        heads.append(DeclaredTable(scope, node.place, is_dense=is_dense))
        sources[scope[0]] = node
        if kinds[name] != _PLATE:
            heads.append(DeclaredTable((name, name + PREVIOUS), node.place))
            continue
        scope = (name, *(p for p in inside if kinds.get(p) != _ANCHOR))
        if name in later:
            node, is_dense = later[name], True
            scope += tuple(p + PREVIOUS for p in parents_of(node))
        heads.append(DeclaredTable(scope, node.place, is_dense=is_dense))
        sources[name] = node

    def numbers(table: DeclaredTable, scope: Scope) -> Numbers | NoisyNumbers:
        if table.names[0] in sources:
            return node_table(sources[table.names[0]], scope)
        return Numbers(scope, np.eye(scope[0].n_states), lambda _: table.place)

    two = network_from(
        [*declared, *before], heads, numbers, max_cells=max_cells, encoded=encoded, reading=reading
    )
    try:
        return of_two_slices(two.network)
    except InvalidModelError as fault:
        raise root.place.fault(f"expected a valid dynamic network: {fault}") from fault


def _check_node(name: str, node: Element, kinds: Mapping[str, str], *, has_later: bool) -> None:
    """Raise `ModelFileError` for a node that a dynamic network cannot have."""
    kind, of_kind = kinds[name], {kinds.get(p): p for p in reversed(parents_of(node))}
    if node.tag in ("decision", "utility", "mau"):
        raise node.place.fault(
            f"expected chance nodes over time, got the {node.tag} {shown_text(name)}"
        )
    if kind == "terminal":
        raise node.place.fault(
            f"expected variables of every slice, got {shown_text(name)}, a terminal node, which"
            " only the last slice has; delete it in GeNIe"
        )
    if kind not in (_PLATE, _ANCHOR, _CONSTANT):
        raise node.place.unknown(f"the temporal type {shown_text(kind)} of {shown_text(name)}")
    if kind != _PLATE and _PLATE in of_kind:
        raise node.place.fault(
            f"expected no parent on the plate of {shown_text(name)}, which is outside of it, got"
            f" {shown_text(of_kind[_PLATE])}"
        )
    if kind == _PLATE and _ANCHOR in of_kind and not has_later:
        raise node.place.fault(
            f"expected a table of {name} for later slices, where its parent {of_kind[_ANCHOR]}, an"
            " anchor, is none, got no table in <dynamic>"
        )


def _later(root: Element, kinds: Mapping[str, str]) -> dict[str, Element]:
    """Return the tables of later slices by the names of their nodes."""
    found: dict[str, Element] = {}
    for entry in (entry for part in root.each("dynamic") for entry in part.children):
        name, order = entry.attribute("id"), entry.attribute("order")
        if entry.tag not in ("cpt", "deterministic"):
            raise entry.place.fault(
                f"expected tables of later slices as <cpt>, got <{entry.tag[:40]}> of"
                f" {shown_text(name)}; make the node a cpt in GeNIe"
            )
        entry.only(_KNOWN)
        if order != "1":
            raise entry.place.fault(
                f"expected temporal arcs of order 1, got order {shown_text(order)} of"
                f" {shown_text(name)}; bnmind cannot be sure of the order of its parents"
            )
        if kinds.get(name) != _PLATE or name in found:
            raise entry.place.fault(
                f"expected one table for each node of the plate, got {shown_text(name)}"
            )
        found[name] = entry
    return found


SCHEMA = "bnmind-dynamic"
VERSION = 1


@checked
def write_dynamic(
    network: DynamicNetwork, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a dynamic network to a ``.json`` file.

    Parameters
    ----------
    network
        The network. Functions stay functions.
    path
        An existing file is replaced, or left untouched if anything fails.
    max_cells
        Most cells of the largest table.

    Raises
    ------
    ModelFileError
        If the suffix is another one, tables vary from slice to slice, or the file cannot be
        written.
    TooLargeError
        If the largest table has more than ``max_cells`` cells.
    """
    suffix_of(path, (".json",), "a dynamic network")
    write_files({Path(path): dynamic_to_json(network, max_cells=max_cells)})


@checked
def read_dynamic(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> DynamicNetwork:
    """Return the dynamic network in a file; its name may end in ``.gz``, packed by gzip.

    Parameters
    ----------
    path
        A ``.json`` file of the form that `write_dynamic` writes, or a ``.xdsl`` file of GeNIe
        with a temporal plate. There, the parents of a variable are in its own slice or in the one
        before. A node outside of the plate becomes a variable that keeps its state.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized; see
        `bnmind.pgm.files.read_with_report`.
    on_normalized
        Called with each table that has rows that were normalized.

    Raises
    ------
    ModelFileError
        If the file cannot be read or does not hold a valid dynamic network. The error names all
        faults with their place.
    """
    suffix = suffix_of(path, (".json", ".xdsl"), "a dynamic network", packed=True)
    reading = reading_of(normalize, False, on_normalized)

    def parsed(data: bytes) -> DynamicNetwork:
        if suffix == ".xdsl":
            return dynamic_from_xdsl(data, max_cells=max_cells, reading=reading)
        return dynamic_from_json(text_of(data), max_cells=max_cells, reading=reading)

    return read_from(path, parsed)


def dynamic_to_json(network: DynamicNetwork, *, max_cells: int = FILE_CELLS) -> str:
    """Return a dynamic network as JSON text; see `write_dynamic`."""
    from bnmind.pgm.formats.records import model_to_json

    if network.varying:
        raise ModelFileError(
            "a file cannot hold tables that vary from slice to slice, as of"
            f" {', '.join(network.varying)}"
        )
    cpds = (*network.first.cpds, *network.transition)
    check_tables_fit([c for c in cpds if isinstance(c, TabularCPD)], max_cells=max_cells)
    first = model_to_json(network.first, max_cells=max_cells)
    later = model_to_json(FactorModel(network.transition), max_cells=max_cells)
    return (
        f'{{"schema": "{SCHEMA}", "version": {VERSION},\n'
        f'"first": {first.rstrip()},\n"transition": {later.rstrip()}}}\n'
    )


def dynamic_from_json(
    text: str, *, max_cells: int = DEFAULT_CELLS, reading: Reading = PLAIN_READING
) -> DynamicNetwork:
    """Return the dynamic network in a JSON text; see `read_dynamic`."""
    from bnmind._records import record_from_json
    from bnmind.pgm.formats.records import DynamicRecord, model_from_json

    record = record_from_json(text, SCHEMA, {VERSION: DynamicRecord})
    cpds: list[tuple[CPD, ...]] = []
    for name, part in (("first", record.first), ("transition", record.transition)):
        try:
            model = model_from_json(
                json.dumps(part), max_cells=max_cells, reading=reading, is_part=True
            )
        except ValueError as fault:
            # The line of the part is not that of the file.
            raise ModelFileError(f"in the part {name}: {fault}") from fault
        if factors := [p for p in model.potentials if isinstance(p, Factor)]:
            raise ModelFileError(
                f"expected distributions at potentials of {name}, got a factor over"
                f" {', '.join(factors[0].names) or 'nothing'}"
            )
        cpds.append(tuple(p for p in model.potentials if not isinstance(p, Factor)))
    try:
        return DynamicNetwork(Network(cpds[0]), cpds[1])
    except InvalidModelError as fault:
        raise ModelFileError(
            f"expected a valid dynamic network, got at potentials of first or transition: {fault}"
        ) from fault
