"""From a model, evidence variables and targets to a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.junction.best_order import BestOrder
from bnmind.junction.conjugates import without_conjugates
from bnmind.junction.contraction import ProgramBuilder, Scope
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.messages import schedule
from bnmind.junction.orders import OrderFinder
from bnmind.junction.plan import Answer, Plan, Source
from bnmind.junction.randomized import RandomizedGreedy
from bnmind.junction.reduction import Reduction, Table, lift_of, with_compound, without_leaves
from bnmind.junction.support import n_cells, possible_states, table
from bnmind.junction.tree import JunctionTree
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

__all__ = ["DEFAULT_PLAN_CELLS", "compile_plan", "junction_tree"]

DEFAULT_PLAN_CELLS = 2**27
"""Cells that a plan may have unless the caller says otherwise."""


def junction_tree(
    model: Network | FactorModel,
    *,
    without: Iterable[str] = (),
    order: OrderFinder | None = None,
) -> JunctionTree:
    """Return the junction tree of a model as it stands, without evidence.

    Parameters
    ----------
    model
        Its tables' scopes make the graph; moralization is in them.
    without
        Variables left out, with the tables of which they are the child.
    order
        How to look for an elimination order; `BestOrder` unless given.
    """
    gone = frozenset(without)
    sizes = {v.name: v.n_states for v in model.variables if v.name not in gone}
    scopes = [
        [v.name for v in p.scope if v.name not in gone]
        for p in model.potentials
        if p.scope and p.scope[0].name not in gone
    ]
    graph = InteractionGraph.from_scopes(sizes, scopes)
    return JunctionTree.from_order(graph, (order or BestOrder())(graph))


def compile_plan(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    targets: Iterable[Iterable[str]] = (),
    inputs: Mapping[str, Sequence[str]] | None = None,
    order: OrderFinder | None = None,
    max_cells: int = DEFAULT_PLAN_CELLS,
) -> Plan:
    """Return a plan that answers the targets for any states of the evidence variables.

    Parameters
    ----------
    model
        What to reason in.
    evidence
        The variables that each run is given a state of.
    targets
        For each joint wanted, its variables; the first is also what the
        probability of the evidence is summed from.
    inputs
        Further tables that each run is given, {name: variables}: a belief kept
        from the last run, say.
    order
        How to look for an elimination order; `RandomizedGreedy` unless given, which
        takes less time than most runs that it saves.
    max_cells
        A plan over this many cells refuses to run, though it may be restricted.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidModelError
        If a variable is both evidence and in a target or an input, or named twice.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> network = Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                    TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_plan(network, evidence=["call"], targets=[["coin"]])
    >>> plan.run({"call": "heads"}).joint("coin").values.round(3).tolist()
    [0.9, 0.1]
    """
    observed = tuple(model.variable(name) for name in evidence)
    wanted = [tuple(model.variable(name) for name in target) for target in targets] or [()]
    tables = {
        name: tuple(model.variable(v) for v in scope) for name, scope in (inputs or {}).items()
    }
    problems = [
        f"expected distinct variables, got {[v.name for v in scope]}"
        for scope in [observed, *wanted, *tables.values()]
        if len(set(scope)) != len(scope)
    ]
    problems += [
        f"expected {v.name} as evidence or in a target or input, not both"
        for v in observed
        if any(v in scope for scope in [*wanted, *tables.values()])
    ]
    if problems:
        raise InvalidModelError(problems)
    query = _Query(
        _relevant(model, {v.name for s in [observed, *wanted, *tables.values()] for v in s}),
        observed,
        tuple(wanted),
        tables,
        order or RandomizedGreedy(),
        max_cells,
    )
    return _build(query, {}, {}, None)


@dataclass(frozen=True, eq=False)
class _Query:
    """What a plan was asked for."""

    potentials: tuple[Potential, ...]
    evidence: tuple[Variable, ...]
    targets: tuple[tuple[Variable, ...], ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    order: OrderFinder
    max_cells: int


def _relevant(model: Network | FactorModel, needed: set[str]) -> tuple[Potential, ...]:
    """Return the potentials without those of barren children, which sum to one."""
    potentials = list(model.potentials)
    while True:
        uses: dict[str, int] = {}
        for potential in potentials:
            for variable in potential.scope:
                uses[variable.name] = uses.get(variable.name, 0) + 1
        kept = [
            p
            for p in potentials
            if isinstance(p, Factor) or p.variable.name in needed or uses[p.variable.name] > 1
        ]
        if len(kept) == len(potentials):
            return tuple(kept)
        potentials = kept


def _build(
    query: _Query,
    fixed: Mapping[str, str],
    given: Mapping[str, Values],
    before: int | None,
) -> Plan:
    """Return the plan for evidence and inputs of which some are already known."""
    certain = {v.name: v.index(fixed[v.name]) for v in query.evidence if v.name in fixed}
    free = tuple(v for v in query.evidence if v.name not in fixed)
    derived = _determined(query, {v.name for v in free}, certain)
    observed = tuple(v.name for v in (*free, *(cpd.variable for cpd in derived)))
    inputs = {name: scope for name, scope in query.inputs.items() if name not in given}
    potentials = query.potentials + tuple(Factor(query.inputs[n], a) for n, a in given.items())

    variables = {v.name: v for p in potentials for v in p.scope}
    variables |= {v.name: v for s in [*query.targets, *inputs.values()] for v in s}
    domains = {
        name: (certain[name],) if name in certain else tuple(range(v.n_states))
        for name, v in variables.items()
    }
    restricted = bool(fixed or given)
    if restricted:
        domains = possible_states(potentials, domains, keep=observed)
    sizes, lifts = lift_of(domains)
    tables, large = [], []
    for potential in potentials:
        scope = tuple(v.name for v in potential.scope if v.name in sizes)
        if n_cells(potential, domains) > query.max_cells:
            large.append(potential)
        else:
            values = table(potential, domains).reshape([sizes[name] for name in scope])
            tables.append(Table(scope, values))
    joints = [*query.targets, *inputs.values(), *(p.scope for p in large)]
    protected = {v.name for scope in joints for v in scope} | set(observed)
    model = without_conjugates(Reduction(sizes, lifts, tuple(tables)), protected)
    request = _Request(query, free, derived, inputs, tuple(large), certain)
    candidates = [model]
    if restricted:
        model = without_leaves(model, protected & set(sizes))
        candidates = [model, *_compounds(model, given, request)]
    planned = [(candidate, _tree(candidate, request)) for candidate in candidates]
    best, tree = min(planned, key=lambda pair: pair[1].total_size)
    return _assemble(request, best, tree, fixed, given, before)


@dataclass(frozen=True, eq=False)
class _Request:
    """A query with part of its evidence known."""

    query: _Query
    free: tuple[Variable, ...]
    derived: tuple[FunctionalCPD, ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    large: tuple[Potential, ...]
    """Potentials whose tables are not written out."""
    certain: Mapping[str, int]

    @property
    def observed(self) -> Scope:
        """The variables whose states each run knows."""
        return tuple(v.name for v in (*self.free, *(cpd.variable for cpd in self.derived)))


def _determined(
    query: _Query, free: set[str], certain: dict[str, int]
) -> tuple[FunctionalCPD, ...]:
    """Return the functional variables that the free evidence determines, parents first.

    Those that the fixed evidence determines are added to ``certain``.
    """
    known, result = free | set(certain), []
    targeted = {v.name for s in [*query.targets, *query.inputs.values()] for v in s}
    for potential in query.potentials:
        if not isinstance(potential, FunctionalCPD) or potential.variable.name in known | targeted:
            continue
        parents = [v.name for v in potential.parents]
        if all(name in certain for name in parents):
            certain[potential.variable.name] = potential.value([certain[name] for name in parents])
        elif all(name in known for name in parents):
            result.append(potential)
        else:
            continue
        known.add(potential.variable.name)
    return tuple(result)


def _compounds(model: Reduction, given: Mapping[str, Values], request: _Request) -> list[Reduction]:
    """Return models with the possible configurations of given inputs as compound variables.

    What such a variable determines joins it, as long as that adds no configuration.
    """
    result = []
    observed = frozenset(request.observed)
    for name, values in given.items():
        whole = model.take([v.name for v in request.query.inputs[name]], values)
        if len(whole.scope) < 2 or whole.values.all():
            continue
        model = with_compound(model, whole, "+".join(whole.scope))
        result.append(model)
        label = "+".join(whole.scope)
        while joining := _determined_by(model, label, observed):
            model = with_compound(model, joining, label)
        result.append(model)
    return result


def _determined_by(model: Reduction, label: str, observed: frozenset[str]) -> Table | None:
    """Return a table whose other variables follow from a compound one, if there is one."""
    for content in model.tables:
        together = label in content.scope and len(content.scope) > 1
        if not together or observed & set(content.scope):
            continue
        if np.count_nonzero(content.values) <= model.sizes[label]:
            return content
    return None


def _tree(model: Reduction, request: _Request) -> JunctionTree:
    """Return the junction tree of what the evidence leaves open."""
    joints = [*request.query.targets, *request.inputs.values(), *(p.scope for p in request.large)]
    scopes = [table.scope for table in model.tables]
    scopes += [model.scope(v.name for v in scope) for scope in joints]
    observed = frozenset(request.observed)
    hidden = [tuple(name for name in scope if name not in observed) for scope in scopes]
    sizes = {name: model.sizes[name] for scope in hidden for name in scope}
    graph = InteractionGraph.from_scopes(sizes, hidden)
    return JunctionTree.from_order(graph, request.query.order(graph))


def _assemble(
    request: _Request,
    model: Reduction,
    tree: JunctionTree,
    fixed: Mapping[str, str],
    given: Mapping[str, Values],
    before: int | None,
) -> Plan:
    """Return the plan: sources cut at the evidence, the messages, the way back to full tables."""
    query = request.query
    sources = _sources(request, model)
    functions = [i for i, source in enumerate(sources) if source.child is not None]
    builder = ProgramBuilder(
        model.sizes,
        [source.scope for source in sources] + [()] * len(functions),
        {i: (str(sources[i].child), len(sources) + f) for f, i in enumerate(functions)},
    )
    scopes = [model.scope(v.name for v in target) for target in query.targets]
    registers = schedule(tree, builder, scopes)
    return Plan(
        tree=tree,
        evidence=request.free,
        inputs=request.inputs,
        targets=query.targets,
        cells_before=before,
        max_cells=query.max_cells,
        sources=sources,
        derived=request.derived,
        certain=request.certain,
        program=builder.build(r for r in registers if r is not None),
        answers=tuple(
            _answer(
                model,
                target,
                scope,
                builder.scopes[register] if register is not None else (),
                register,
            )
            for target, scope, register in zip(query.targets, scopes, registers, strict=True)
        ),
        narrow=partial(_narrow, query, fixed, given, before or tree.total_size),
    )


def _sources(request: _Request, model: Reduction) -> tuple[Source, ...]:
    observed = frozenset(request.observed)
    sources = []
    for content in model.tables:
        seen = tuple(name for name in content.scope if name in observed)
        rest = tuple(name for name in content.scope if name not in observed)
        axes = [content.scope.index(name) for name in (*seen, *rest)]
        values = np.ascontiguousarray(np.transpose(content.values, axes))
        signed = np.iscomplexobj(values) or bool(np.any(values < 0))
        child, positions = _determined_child(rest, len(seen), values)
        sources.append(Source(rest, seen, values, values.size, "a table", signed, child, positions))
    for potential in request.large:
        scope = model.scope(v.name for v in potential.scope)
        seen = tuple(name for name in scope if name in observed)
        rest = tuple(name for name in scope if name not in observed)
        cells = math.prod(model.sizes[name] for name in scope)
        sources.append(Source(rest, seen, None, cells, potential.scope[0].name))
    for name, variables in request.inputs.items():
        names = tuple(v.name for v in variables)
        scope = model.scope(names)
        cells = math.prod(model.sizes[n] for n in scope)
        take = partial(_take, model, names)
        sources.append(Source(scope, (), None, cells, name, input=name, take=take))
    return tuple(sources)


def _determined_child(
    rest: Scope, n_observed: int, values: Values
) -> tuple[str | None, NDArray[np.intp] | None]:
    """Return a variable that the others determine, with its positions, if there is one."""
    if not np.all((values == 0) | (values == 1)):
        return None, None
    for axis, name in enumerate(rest, n_observed):
        if np.all(values.sum(axis=axis) == 1):
            return name, values.argmax(axis=axis)
    return None, None


def _take(model: Reduction, names: Scope, values: Values) -> Values:
    return model.take(names, values).values


def _answer(
    model: Reduction,
    target: tuple[Variable, ...],
    scope: Scope,
    found: Scope,
    register: int | None,
) -> Answer:
    """Return how a target is read off its register."""
    shape = tuple(model.sizes[name] for name in scope)
    # A register may lack variables that its joint does not depend on.
    view = tuple(model.sizes[name] if name in found else 1 for name in scope)
    full = tuple(v.n_states for v in target)
    cells = model.cells([v.name for v in target], full)
    same = len(cells) == math.prod(full) and bool(np.all(cells == np.arange(len(cells))))
    return Answer(target, view, shape, register, None if same else cells)


def _narrow(
    query: _Query,
    fixed: Mapping[str, str],
    given: Mapping[str, Values],
    before: int,
    more: Mapping[str, str],
    inputs: Mapping[str, Values],
) -> Plan:
    return _build(query, {**fixed, **more}, {**given, **inputs}, before)
