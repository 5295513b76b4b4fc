"""Products of factors, of which Bayesian networks are a special case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from annotated_types import MinLen

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import Value
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    UnknownNameError,
)
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import DEFAULT_CELLS
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    from bnmind.junction.posteriors import Posterior

# --- Products of factors, of which Bayesian networks are a special case ---------------------------


Potential: TypeAlias = Factor | CPD
"""A factor or a conditional distribution; a model is a product of potentials."""


def variables_of(scopes: Iterable[Iterable[Variable]]) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables of scopes by name, and a list of faults."""
    variables: dict[str, Variable] = {}
    problems = []
    for scope in scopes:
        for variable in scope:
            known = variables.setdefault(variable.name, variable)
            if known is not variable and known != variable:
                problems.append(
                    f"expected one set of states of {variable.name},"
                    f" got {known.states} and {variable.states}"
                )
    return variables, problems


def topological_order(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return names with parents before children, as `graphlib` orders them, in a third of its time.

    Raises
    ------
    CycleError
        If there is a cycle, which the error holds.
    """
    children: dict[str, list[str]] = {}
    for name, before in parents.items():
        children.setdefault(name, [])
        for parent in before:
            children.setdefault(parent, []).append(name)
    waits_for = dict.fromkeys(children, 0) | {name: len(before) for name, before in parents.items()}
    order = [name for name in children if not waits_for[name]]
    for name in order:
        for child in children[name]:
            waits_for[child] -= 1
            if not waits_for[child]:
                order.append(child)
    if len(order) < len(children):
        TopologicalSorter(parents).prepare()
    return order


def parents_first(cpds: Sequence[CPD], what: str) -> tuple[tuple[CPD, ...], list[str]]:
    """Return distributions with parents before children; and the fault of a cycle."""
    by_name = {cpd.variable.name: cpd for cpd in cpds}
    graph = {
        name: [v.name for v in cpd.parents if v.name in by_name] for name, cpd in by_name.items()
    }
    try:
        return tuple([by_name[name] for name in topological_order(graph)]), []
    except CycleError as fault:
        return (), [f"the {what} has a cycle: {' → '.join(fault.args[1])}"]


@dataclass(frozen=True, eq=False)
class Replacement(Value):
    """Factors that represent a conditional distribution.

    The distribution is the product of the factors, summed over all other variables.
    """

    cpd: CPD
    """The distribution that the factors represent."""
    factors: tuple[Factor, ...]
    """Factors whose product, with the auxiliary variables summed out, is the distribution."""


@dataclass(frozen=True, eq=False)
class FactorModel(Value):
    """A product of factors, which need not be probabilities.

    Parameters
    ----------
    potentials
        Factors and conditional distributions; the model is their product.
    variables
        All variables in the wanted order; by default in the order of the potentials. A model from
        a file has the order of the file.
    replacements
        The distributions that some of the potentials represent. If terms of the potentials
        cancel, a query uses the distributions instead.

    Raises
    ------
    InvalidModelError
        If it is empty, two potentials disagree on a variable's states, or the variables are
        not those of the potentials; all faults at once.
    """

    potentials: Annotated[tuple[Potential, ...], MinLen(1)]
    variables: tuple[Variable, ...] = ()
    replacements: tuple[Replacement, ...] = ()

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(variables=self.variables or tuple(self._used[0].values()))

    @cached_property
    def _used(self) -> tuple[dict[str, Variable], list[str]]:
        return variables_of([part.scope for part in self.potentials])

    def _faults(self) -> Iterator[str]:
        used, problems = self._used
        yield from problems
        if self.variables and Counter(self.variables) != Counter(used.values()):
            yield (
                f"expected the variables {', '.join(used)} of the potentials, each once, got"
                f" {', '.join(v.name for v in self.variables)}"
            )

    @cached_property
    def _variables_by_name(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable by name.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return variable_named(self._variables_by_name, name)

    def query(self, targets: Any = None, evidence: Any = None) -> Posterior:
        """Return the distributions of variables given evidence.

        For other questions, and for options, make an engine with `bnmind.compile_model`. Repeated
        queries reuse plans: the model keeps an engine with at most 64 MiB for them.

        Parameters
        ----------
        targets
            A name or a list of names; a tuple of names inside of a list asks for a joint
            distribution. By default every variable without a state in the evidence.
        evidence
            For each variable a state, a likelihood ``{state: weight}``, or a missing
            value.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
            As in `bnmind.junction.Engine.posterior`.
        """
        from bnmind.junction.engine import engine_of

        return engine_of(self).posterior(targets, evidence)

    @classmethod
    def from_pgmpy(cls, model: Any) -> FactorModel:
        """Return the factors of a pgmpy ``DiscreteMarkovNetwork`` or ``FactorGraph``.

        See `bnmind.pgm.bridges.factors_from_pgmpy`.

        Parameters
        ----------
        model
            The model.
        """
        from bnmind.pgm.bridges import factors_from_pgmpy

        return factors_from_pgmpy(model)

    @checked
    def to_pgmpy(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the model as a pgmpy ``DiscreteMarkovNetwork``.

        See `bnmind.pgm.bridges.factors_to_pgmpy`.

        Parameters
        ----------
        max_cells
            The largest number of cells of a table; a larger one raises `TooLargeError`.
        """
        from bnmind.pgm.bridges import factors_to_pgmpy

        return factors_to_pgmpy(self, max_cells=max_cells)

    @classmethod
    def from_pyagrum(cls, model: Any) -> FactorModel:
        """Return the factors of a pyAgrum ``MarkovRandomField``.

        See `bnmind.pgm.bridges.factors_from_pyagrum`.

        Parameters
        ----------
        model
            The model.
        """
        from bnmind.pgm.bridges import factors_from_pyagrum

        return factors_from_pyagrum(model)

    @checked
    def to_pyagrum(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the model as a pyAgrum ``MarkovRandomField``.

        See `bnmind.pgm.bridges.factors_to_pyagrum`.

        Parameters
        ----------
        max_cells
            The largest number of cells of a table; a larger one raises `TooLargeError`.
        """
        from bnmind.pgm.bridges import factors_to_pyagrum

        return factors_to_pyagrum(self, max_cells=max_cells)

    def __repr__(self) -> str:
        return (
            f"FactorModel({counted(len(self.variables), 'variable')},"
            f" {counted(len(self.potentials), 'factor')})"
        )


def variable_named(variables: Mapping[str, Variable], name: str) -> Variable:
    """Return a variable by name; raise `UnknownNameError` if there is none."""
    if name in variables:
        return variables[name]
    raise UnknownNameError("variable", name, variables)


# --- Bayesian networks ----------------------------------------------------------------------------


# --- ----------------------------------------------------------------------------------------------
# Questions about the graph of a network: neighbors, ancestors, Markov blankets, d-separation.
#
# Two sets of variables are d-separated by a third if every path between them is blocked by it.
# They are then independent given the third, whatever the numbers in the tables are. A path is
# blocked by an observed variable that is not the head of both its arcs on the path, and by a
# variable that is, if neither it nor a descendant of it is observed. The search walks along
# unblocked paths, and visits each variable at most twice, once from a child and once from a
# parent.
#
# References
# ----------
# J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988, section 3.3; D. Koller and
# N. Friedman, *Probabilistic Graphical Models*, 2009, algorithm 3.1.


class Structure:
    """The graph of a network: which variables are the parents of each.

    Parameters
    ----------
    parents
        The parents of each variable, parents before children.

    Examples
    --------
    >>> graph = Structure({"rain": (), "hose": (), "wet": ("rain", "hose")})
    >>> graph.markov_blanket("rain")
    ('hose', 'wet')
    >>> graph.is_d_separated("rain", "hose"), graph.is_d_separated("rain", "hose", ["wet"])
    (True, False)
    """

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        self._parents = {name: tuple(before) for name, before in parents.items()}

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        children: dict[str, list[str]] = {name: [] for name in self._parents}
        for name, parents in self._parents.items():
            for parent in parents:
                children[parent].append(name)
        return {name: tuple(after) for name, after in children.items()}

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of its table."""
        return self._parents[self._known(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a variable."""
        return self._children[self._known(name)]

    def ancestors(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables with a directed path to one of the variables, without these."""
        return self._reached(self._names(names), self._parents)

    def descendants(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables with a directed path from one of the variables, without these."""
        return self._reached(self._names(names), self._children)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the parents, the children, and the other parents of the children."""
        children = self.children(name)
        near = {*self.parents(name), *children}
        near.update(parent for child in children for parent in self._parents[child])
        return self._in_order(near - {name})

    def neighborhood(self, names: str | Iterable[str], distance: int = 1) -> tuple[str, ...]:
        """Return the variables within some arcs of one of the variables, and these."""
        found = set(self._names(names))
        edge = found
        for _ in range(distance):
            edge = {v for name in edge for v in (*self._parents[name], *self._children[name])}
            edge -= found
            if not edge:
                break
            found |= edge
        return self._in_order(found)

    def relevant(self, names: str | Iterable[str], given: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables whose tables or values a query of some variables needs."""
        _, tables = self._walk(self._names(names), self._names(given))
        needed = {*self._names(names), *tables}
        needed.update(parent for name in tables for parent in self._parents[name])
        return self._in_order(needed)

    def d_connected(self, names: str | Iterable[str], given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the variables that are not d-separated from all of some variables."""
        start = self._names(names)
        observed = self._names(given)
        if both := [name for name in start if name in observed]:
            raise InvalidArgumentError(f"observed variables cannot be asked about: {listed(both)}")
        reached, _ = self._walk(start, observed)
        return self._in_order(reached - set(start))

    def _walk(self, start: tuple[str, ...], observed: tuple[str, ...]) -> tuple[set[str], set[str]]:
        """Return the variables that unblocked paths reach, and those left for their parents.

        The tables of the latter are all that a query of the start needs: a parameter of a table is
        like one more parent of its variable (Shachter, "Bayes-ball", UAI 1998).
        """
        informed = {*observed, *self.ancestors(observed)}
        reached: set[str] = set()
        tables: set[str] = set()
        seen: set[tuple[str, bool]] = set()
        # Whether the walk came to the variable from a child, as if the start had one.
        waiting = [(name, True) for name in start]
        while waiting:
            visit = name, from_child = waiting.pop()
            if visit in seen:
                continue
            seen.add(visit)
            if name not in observed:
                reached.add(name)
                waiting += [(child, False) for child in self._children[name]]
            if name not in observed if from_child else name in informed:
                tables.add(name)
                waiting += [(parent, True) for parent in self._parents[name]]
        return reached, tables

    def is_d_separated(
        self,
        first: str | Iterable[str],
        second: str | Iterable[str],
        given: str | Iterable[str] = (),
    ) -> bool:
        """Return whether two sets of variables are d-separated by a third."""
        one, other = self._names(first), self._names(second)
        if both := [name for name in one if name in other]:
            raise InvalidArgumentError(
                f"a variable cannot be separated from itself: {listed(both)}"
            )
        observed = self._names(given)
        if both := [name for name in other if name in observed]:
            raise InvalidArgumentError(f"observed variables cannot be asked about: {listed(both)}")
        return not set(other).intersection(self.d_connected(one, observed))

    def _known(self, name: str) -> str:
        if name not in self._parents:
            raise UnknownNameError("variable", name, self._parents)
        return name

    def _names(self, names: str | Iterable[str]) -> tuple[str, ...]:
        every = (names,) if isinstance(names, str) else names
        return tuple([self._known(name) for name in every])

    def _reached(
        self, start: Iterable[str], steps: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        found = set(start)
        begin = frozenset(found)
        waiting = list(found)
        while waiting:
            for name in steps[waiting.pop()]:
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        return self._in_order(found - begin)

    def _in_order(self, names: set[str]) -> tuple[str, ...]:
        """Return names in the order of the network."""
        return tuple([name for name in self._parents if name in names]) if names else ()


# --- Bayesian networks ----------------------------------------------------------------------------
#
#


@dataclass(frozen=True, eq=False)
class Network(Value):
    """A Bayesian network: one conditional distribution for each variable, without cycles.

    Parameters
    ----------
    cpds
        The conditional distributions in any order. The network keeps them with parents before
        children.

    Raises
    ------
    InvalidModelError
        If it is empty, a variable has no or several distributions or differing
        states, or there is a cycle; all faults at once.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> Network((TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]]),
    ...          TabularCPD(coin, (), [0.5, 0.5])))
    Network(coin, call)
    """

    cpds: Annotated[tuple[CPD, ...], MinLen(1)]

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["cpds"] = self._ordered[0]

    @cached_property
    def _ordered(self) -> tuple[tuple[CPD, ...], list[str]]:
        return parents_first(self.cpds, "network")

    def _faults(self) -> Iterator[str]:
        variables, problems = variables_of([cpd.scope for cpd in self.cpds])
        yield from problems
        children = Counter([cpd.variable.name for cpd in self.cpds])
        if wrong := [name for name in variables if children[name] != 1]:
            parent_of = {v.name: cpd.variable.name for cpd in self.cpds for v in cpd.parents}
            for name in wrong:
                more = "" if children[name] else f"; {name} is a parent of {parent_of[name]}"
                yield f"expected one distribution of {name}, got {children[name]}{more}"
        yield from self._ordered[1]

    def __repr__(self) -> str:
        names = [cpd.variable.name for cpd in self.cpds]
        shown = ", ".join(names[:8])
        return f"Network({shown}{f', … {len(names)} variables' if len(names) > 8 else ''})"

    def _repr_svg_(self) -> str:
        """Return a picture of the structure, or a summary of a large network, for notebooks."""
        from bnmind.views.view import notebook_svg

        return notebook_svg(self)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, parents before children."""
        return tuple(cpd.variable for cpd in self.cpds)

    @cached_property
    def _variables_by_name(self) -> dict[str, Variable]:
        return {v.name: v for v in self.variables}

    @cached_property
    def _by_name(self) -> dict[str, CPD]:
        return {cpd.variable.name: cpd for cpd in self.cpds}

    @property
    def potentials(self) -> tuple[CPD, ...]:
        """The conditional distributions, as the factors of the joint."""
        return self.cpds

    @checked
    def variable(self, name: str) -> Variable:
        """Return a variable by name.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return variable_named(self._variables_by_name, name)

    @checked
    def cpd(self, name: str) -> CPD:
        """Return the conditional distribution of a variable.

        Parameters
        ----------
        name
            The name of a variable.
        """
        self.variable(name)
        return self._by_name[name]

    @checked
    def query(self, targets: Any = None, evidence: Any = None) -> Posterior:
        """Return the distributions of variables given evidence.

        For other questions, and for options, make an engine with `bnmind.compile_model`. Repeated
        queries reuse plans: the network keeps an engine with at most 64 MiB for them.

        Parameters
        ----------
        targets
            A name or a list of names; a tuple of names inside of a list asks for a joint
            distribution. By default every variable without a state in the evidence.
        evidence
            For each variable a state, a likelihood ``{state: weight}``, or a missing
            value.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
            As in `bnmind.junction.Engine.posterior`.

        Examples
        --------
        >>> from bnmind.pgm import TabularCPD
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
        ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
        >>> network.query("rain", evidence={"wet": "yes"})
        Posterior(1 target, log_evidence=-1.34707)
        rain  no 0.308  yes 0.692
        """
        from bnmind.junction.engine import engine_of

        return engine_of(self).posterior(targets, evidence)

    @cached_property
    def _structure(self) -> Structure:
        return Structure({cpd.variable.name: [v.name for v in cpd.parents] for cpd in self.cpds})

    @checked
    def parents(self, name: str) -> tuple[str, ...]:
        """Return the names of the parents of a variable, in the order of its table.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return self._structure.parents(name)

    @checked
    def children(self, name: str) -> tuple[str, ...]:
        """Return the names of the children of a variable, in the order of the network.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return self._structure.children(name)

    @checked
    def ancestors(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the names of all ancestors of a variable or of several, without these.

        Parameters
        ----------
        names
            The name of a variable, or several names.
        """
        return self._structure.ancestors(names)

    @checked
    def descendants(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the names of all descendants of a variable or of several, without these.

        Parameters
        ----------
        names
            The name of a variable, or several names.
        """
        return self._structure.descendants(names)

    @checked
    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the names of the parents, the children, and the children's other parents.

        Given these variables, the variable is independent of all others.

        Parameters
        ----------
        name
            The name of a variable.
        """
        return self._structure.markov_blanket(name)

    @checked
    def neighborhood(self, names: str | Iterable[str], *, distance: int = 1) -> tuple[str, ...]:
        """Return the names of all variables within ``distance`` arcs of some variables, and these.

        The direction of the arcs does not matter.

        Parameters
        ----------
        names
            The name of a variable, or several names.
        distance
            The largest number of arcs, at least 0.
        """
        return self._structure.neighborhood(names, distance)

    @checked
    def relevant(
        self, names: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Return the names of the variables that a query of some variables given others uses.

        These are the variables themselves and those of all tables that the answer depends on. All
        others are barren or d-separated, and may be left out.

        Parameters
        ----------
        names
            The name of a variable, or several names.
        given
            The names of observed variables.
        """
        return self._structure.relevant(names, given)

    @checked
    def d_connected(
        self, names: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Return the names of the variables that are not d-separated from some variables.

        Given the variables ``given``, all others are independent of ``names``, whatever the numbers
        in the tables are.
        """
        return self._structure.d_connected(names, given)

    @checked
    def is_d_separated(
        self,
        first: str | Iterable[str],
        second: str | Iterable[str],
        given: str | Iterable[str] = (),
    ) -> bool:
        """Return whether two variables, or sets of variables, are d-separated given a third set.

        They are then independent given the third set, whatever the numbers in the tables are.

        Parameters
        ----------
        first, second, given
            A name, or several.

        Raises
        ------
        UnknownNameError
            If a name is none of the network.
        InvalidArgumentError
            If a variable is in two of the sets.
        """
        return self._structure.is_d_separated(first, second, given)

    def moral_graph(self) -> Any:
        """Return the moral graph as a ``networkx.Graph``: arcs undirected, parents joined.

        Two variables are adjacent if a table contains both.
        """
        from bnmind.pgm.bridges import moral_graph

        return moral_graph(self)

    def to_networkx(self) -> Any:
        """Return the network as a ``networkx.DiGraph``; see `bnmind.pgm.bridges.to_networkx`."""
        from bnmind.pgm.bridges import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """Return the network in a ``networkx.DiGraph``; see `bnmind.pgm.bridges.from_networkx`.

        Parameters
        ----------
        graph
            The graph, with the attributes that `to_networkx` gives its nodes.
        """
        from bnmind.pgm.bridges import from_networkx

        return from_networkx(graph)

    @classmethod
    def from_pyagrum(cls, model: Any, *, normalize: bool = False) -> Network:
        """Return the network of a pyAgrum ``BayesNet``; see `bnmind.pgm.bridges.from_pyagrum`.

        Parameters
        ----------
        model
            The model.
        normalize
            Whether columns that do not add up to 1 are divided by their sums.
        """
        from bnmind.pgm.bridges import from_pyagrum

        return from_pyagrum(model, normalize=normalize)

    @checked
    def to_pyagrum(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the network as a pyAgrum ``BayesNet``; see `bnmind.pgm.bridges.to_pyagrum`.

        Parameters
        ----------
        max_cells
            The largest number of cells of a table; a larger one raises `TooLargeError`.
        """
        from bnmind.pgm.bridges import to_pyagrum

        return to_pyagrum(self, max_cells=max_cells)

    @classmethod
    def from_pgmpy(cls, model: Any, *, normalize: bool = False) -> Network:
        """Return the network of a pgmpy ``DiscreteBayesianNetwork``.

        See `bnmind.pgm.formats.from_pgmpy`.

        Parameters
        ----------
        model
            The model.
        normalize
            Whether columns that do not add up to 1 are divided by their sums.
        """
        from bnmind.pgm.formats.pgmpy_bridge import from_pgmpy

        return from_pgmpy(model, normalize=normalize)

    @checked
    def to_pgmpy(self, *, max_cells: int = DEFAULT_CELLS) -> Any:
        """Return the network as a pgmpy ``DiscreteBayesianNetwork``.

        See `bnmind.pgm.formats.to_pgmpy`, also for `max_cells`.
        """
        from bnmind.pgm.formats.pgmpy_bridge import to_pgmpy

        return to_pgmpy(self, max_cells=max_cells)

    @checked
    def without(self, names: Iterable[str]) -> Network:
        """Return the network without the variables `names`, which must have no other children.

        The distribution of the other variables stays the same.
        """
        removed = frozenset(names)
        for name in removed:
            self.variable(name)
        return Network(tuple(cpd for cpd in self.cpds if cpd.variable.name not in removed))

    @checked
    def given(self, evidence: Mapping[str, str]) -> Network:
        """Return the network of the other variables, given `evidence` on an ancestral set.

        All ancestors of an observed variable must be observed too, as those of the guess T_1, …,
        T_n in Vomlel's network. The method also removes variables that are functions of observed
        variables (there, the G_i).

        Raises
        ------
        InvalidModelError
            If an ancestor of an observed variable is not observed.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        fixed = {name: self.variable(name).index(state) for name, state in evidence.items()}
        problems = [
            f"evidence on {name} needs evidence on its ancestor {parent.name} too"
            for name in fixed
            for parent in self.cpd(name).parents
            if parent.name not in fixed
        ]
        if problems:
            raise InvalidModelError(problems)
        for cpd in self.cpds:
            name = cpd.variable.name
            at = [fixed[v.name] for v in cpd.parents if v.name in fixed]
            if isinstance(cpd, FunctionalCPD) and len(at) == len(cpd.parents):
                possible = fixed.setdefault(name, cpd.value(at)) == cpd.value(at)
            elif not isinstance(cpd, FunctionalCPD) and name in fixed:
                possible = bool(cpd.table_on([(fixed[name],), *((i,) for i in at)]).item() > 0)
            else:
                continue
            if not possible:
                raise ImpossibleEvidenceError(
                    f"the evidence is impossible: the rest of it excludes {name}={evidence[name]}",
                    evidence,
                )
        return self.restrict({name: (position,) for name, position in fixed.items()})

    @checked
    def restrict(self, states: Mapping[str, Sequence[int]]) -> Network:
        """Return the network on fewer states; variables with a single state are removed.

        Parameters
        ----------
        states
            The remaining state positions of some variables. The removed states must be impossible
            given the remaining ones.
        """
        single = {name for name, positions in states.items() if len(positions) == 1}
        return Network(
            tuple(cpd.restrict(states) for cpd in self.cpds if cpd.variable.name not in single)
        )
