"""How a plan is put together: what is known is cut out, the rest triangulated and scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction.compounds import compounds
from bnmind.junction.conflict import impossible, minimal_conflict
from bnmind.junction.conjugates import without_conjugates
from bnmind.junction.contraction import ProgramBuilder, mask_of
from bnmind.junction.findings import Findings, label_of, likelihood
from bnmind.junction.forms import choose_forms
from bnmind.junction.graph import InteractionGraph, bits
from bnmind.junction.messages import Passing, TreeShape
from bnmind.junction.orders import OrderFinder
from bnmind.junction.plan import Plan, Savings
from bnmind.junction.randomized import quick_order
from bnmind.junction.reduction import Reduction, Table, lift_of, without_leaves
from bnmind.junction.relevance import Group, ancestral_groups, closures, maximal
from bnmind.junction.sources import Source, answer_of, sources_of
from bnmind.junction.support import Domains, n_cells, possible_states, table
from bnmind.junction.tree import JunctionTree
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

__all__ = ["Query", "build"]

_WORTH_DIVIDING = 100_000
"""Below so many cells a query is not divided into groups of ancestors."""

_WORTH_SEARCHING = 4_000_000
"""Below so many cells in all, quick orders do for the groups."""

_VARIABLE_COST = 10_000
"""What planning and running takes for each variable besides the cells, in cells."""

_CONFLICT_CELLS = 2**24
"""Contradictions are not searched for in larger plans: all findings are named."""


_UNSIGNED_CELLS = 2**24
"""Where signs cost digits, a plan without them is made if it has no more cells."""


@dataclass(frozen=True, eq=False)
class Query:
    """What a plan was asked for."""

    potentials: tuple[Potential, ...]
    evidence: tuple[Variable, ...]
    targets: tuple[tuple[Variable, ...], ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    order: OrderFinder
    order_restricted: OrderFinder
    """The same for restricted plans, which are run more often than they are made."""
    max_cells: int
    soft: tuple[Variable, ...] = ()
    """Variables whose likelihood is an input, see `bnmind.junction.findings`."""
    barren: int = 0
    """Variables left out because they say nothing."""
    compress: bool = True
    """Whether restricted plans may have compound variables."""
    factorize: bool = True
    """Whether large functional and noisy distributions may be written as small factors."""
    signed: bool = True
    """Whether these may be negative or complex."""


@dataclass(frozen=True, eq=False)
class _Known:
    """What has been fixed since the query was asked, by restrictions."""

    fixed: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Values] = field(default_factory=dict)
    cells_before: int | None = None


@dataclass(frozen=True, eq=False)
class _Request:
    """A query with part of its evidence known."""

    query: Query
    known: _Known
    free: tuple[Variable, ...]
    derived: tuple[FunctionalCPD, ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    large: tuple[Potential, ...]
    """Potentials whose tables are not written out."""
    certain: Mapping[str, int]
    impossible: int
    """States of uncertain variables that the evidence excludes."""

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables whose states each run knows."""
        return tuple(v.name for v in (*self.free, *(cpd.variable for cpd in self.derived)))

    @property
    def joints(self) -> list[tuple[Variable, ...]]:
        """Sets of variables that some clique must hold besides those of the tables."""
        return [*self.query.targets, *self.inputs.values(), *(p.scope for p in self.large)]


def build(query: Query, known: _Known | None = None) -> Plan:
    """Return the plan for evidence and inputs of which some are already known."""
    known = known or _Known()
    fixed, given = known.fixed, known.given
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
        query = replace(query, order=query.order_restricted)
        try:
            domains = possible_states(potentials, domains, keep=observed)
        except ImpossibleEvidenceError:
            raise impossible(_conflict(query, fixed, given)) from None
    # What the evidence determines is computed, not looked up.
    gone = {cpd.variable.name for cpd in derived}
    potentials = tuple(
        p for p in potentials if isinstance(p, Factor) or p.variable.name not in gone
    )
    impossible_states = sum(
        v.n_states - len(domains[name]) for name, v in variables.items() if name not in certain
    )
    request = _Request(query, known, free, derived, inputs, (), certain, impossible_states)
    if not restricted:
        return _whole_plan(request, potentials, domains)
    return _restricted_plan(request, potentials, domains)


def _whole_plan(request: _Request, potentials: tuple[Potential, ...], domains: Domains) -> Plan:
    """Return the plan of a query of which nothing is known yet."""
    if request.query.factorize:
        potentials, domains = _formed(request, potentials, domains)
    request, whole, model = _reduced(request, potentials, domains)
    heads = [None if isinstance(p, Factor) else p.variable.name for p in potentials]
    parts = [_Part(model)]
    if model is whole and None not in heads and not request.large:
        parents = {p.scope[0].name: [v.name for v in p.scope[1:]] for p in potentials}
        parts = _divided(model, request, parents)
    return _assemble(request, model, parts, [] if request.large else heads)


def _restricted_plan(
    request: _Request, potentials: tuple[Potential, ...], domains: Domains
) -> Plan:
    """Return the smallest plan found for what is known."""
    query = request.query
    versions = [(potentials, domains)]
    if query.factorize:
        formed, states = _formed(request, potentials, domains)
        if formed != potentials:
            states = possible_states(formed, states, keep=request.observed)
            versions.append((formed, states))
    candidates = []
    for potentials, domains in versions:
        part, _, model = _reduced(request, potentials, domains)
        protected = {v.name for scope in part.joints for v in scope} | set(part.observed)
        model = without_leaves(model, protected & set(model.sizes))
        models = [model]
        if query.compress:
            given = [(query.inputs[name], a) for name, a in request.known.given.items()]
            models += compounds(model, given, query.targets, frozenset(part.observed))
        candidates += [(_tree(model, part), model, part) for model in models]
    tree, model, part = min(candidates, key=lambda planned: planned[0].total_size)
    return _assemble(part, model, [_Part(model, tree=tree)], [])


def _formed(
    request: _Request, potentials: tuple[Potential, ...], domains: Domains
) -> tuple[tuple[Potential, ...], Domains]:
    """Return the potentials in the forms that make the smallest plan, and all states."""
    joints = [*request.query.targets, *request.inputs.values()]
    formed = choose_forms(
        potentials,
        domains,
        observed=request.observed,
        joints=[[v.name for v in scope] for scope in joints],
        signed=request.query.signed,
    )
    new = {v.name: v for p in formed for v in p.scope if v.name not in domains}
    return formed, {**domains, **{name: tuple(range(v.n_states)) for name, v in new.items()}}


def _reduced(
    request: _Request, potentials: Sequence[Potential], domains: Domains
) -> tuple[_Request, Reduction, Reduction]:
    """Return the model on its possible states, and the same with one of each conjugate pair."""
    sizes, lifts = lift_of(domains)
    tables, large = [], []
    for potential in potentials:
        if n_cells(potential, domains) > request.query.max_cells:
            large.append(potential)
            continue
        scope = tuple(v.name for v in potential.scope if v.name in sizes)
        values = table(potential, domains).reshape([sizes[name] for name in scope])
        tables.append(Table(scope, values))
    request = replace(request, large=tuple(large))
    protected = {v.name for scope in request.joints for v in scope} | set(request.observed)
    whole = Reduction(sizes, lifts, tuple(tables))
    return request, whole, without_conjugates(whole, protected)


def _determined(query: Query, free: set[str], certain: dict[str, int]) -> tuple[FunctionalCPD, ...]:
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


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a query: what is triangulated by itself."""

    model: Reduction
    group: Group | None = None
    """The variables and targets, if the query is divided."""
    tree: JunctionTree | None = None
    """If already known."""
    graph: InteractionGraph | None = None
    """The same."""


def _graph(model: Reduction, request: _Request, group: Group | None = None) -> InteractionGraph:
    """Return the graph of what the evidence leaves open."""
    scopes = [content.scope for content in model.tables]
    joints = request.joints
    if group is not None:
        scopes = [scope for scope in scopes if group.names.issuperset(scope)]
        joints = [request.query.targets[number] for number in group.targets]
    scopes += [model.scope(v.name for v in scope) for scope in joints]
    observed = frozenset(request.observed)
    hidden = [tuple(name for name in scope if name not in observed) for scope in scopes]
    sizes = {name: model.sizes[name] for scope in hidden for name in scope}
    return InteractionGraph.from_scopes(sizes, hidden)


def _tree(model: Reduction, request: _Request, group: Group | None = None) -> JunctionTree:
    return _triangulated(_graph(model, request, group), request)


def _triangulated(graph: InteractionGraph, request: _Request) -> JunctionTree:
    return JunctionTree.from_order(graph, request.query.order(graph))


def _divided(
    model: Reduction, request: _Request, parents: Mapping[str, Sequence[str]]
) -> list[_Part]:
    """Return the parts of a query that are cheapest: usually the whole."""
    if request.inputs or len(request.query.targets) < 2:
        return [_Part(model)]
    graph = _graph(model, request)
    whole = [_Part(model, graph=graph)]
    cells = quick_order(graph).total_size
    if cells < _WORTH_DIVIDING:
        return whole
    query = request.query
    names, closed = closures(
        parents,
        [v.name for v in query.evidence],
        [[v.name for v in target] for target in query.targets],
    )
    largest = maximal(closed)
    limit = (cells + _VARIABLE_COST * graph.n) // 2
    cost = _VARIABLE_COST * sum(mask.bit_count() for mask in largest)
    trees = {}
    for mask in largest:
        if cost > limit:
            return whole
        part = _graph(model, request, Group(frozenset(names[i] for i in bits(mask)), ()))
        trees[mask] = JunctionTree.from_order(part, quick_order(part))
        cost += trees[mask].total_size
    if cost > limit:
        return whole
    groups = ancestral_groups(names, closed, {m: tree.total_size for m, tree in trees.items()})
    total = sum(tree.total_size for tree in trees.values())
    # These trees need not hold a target of several variables in one clique.
    if total > _WORTH_SEARCHING or any(len(target) > 1 for target in query.targets):
        return [_Part(model, group) for group in groups.values()]
    return [_Part(model, group, trees[mask]) for mask, group in groups.items()]


def _assemble(
    request: _Request, model: Reduction, parts: Sequence[_Part], heads: Sequence[str | None]
) -> Plan:
    """Return the plan: sources cut at the evidence, the messages, the way back to full tables."""
    query = request.query
    number = {name: i for i, name in enumerate(model.sizes)}
    sizes = tuple(model.sizes.values())
    observed = frozenset(request.observed)
    sources = sources_of(model, number, observed, request.large, request.inputs)
    functions = [i for i, source in enumerate(sources) if source.child is not None]
    builder = ProgramBuilder(
        sizes,
        [source.scope for source in sources] + [()] * len(functions),
        heads={
            i: 1 << number[name]
            for i, name in enumerate(heads)
            if name is not None and name in number and name not in observed
        },
        functions={i: (_child(sources[i]), len(sources) + f) for f, i in enumerate(functions)},
    )
    trees = [
        part.tree or _triangulated(part.graph or _graph(model, request, part.group), request)
        for part in parts
    ]
    registers: dict[int, int | None] = {}
    for part, tree in zip(parts, trees, strict=True):
        shape = _shape(tree, number)
        group = part.group
        mine = [
            i
            for i, source in enumerate(sources)
            if source.scope and (group is None or heads[i] in group.names)
        ]
        passing = Passing(shape, builder, mine)
        for target in range(len(query.targets)) if group is None else group.targets:
            scope = model.scope(v.name for v in query.targets[target])
            mask = mask_of(number[name] for name in scope if name not in observed)
            registers[target] = passing.answer(mask)
    program = builder.build(r for r in registers.values() if r is not None)
    known = request.known
    likelihoods = {label_of(v.name) for v in query.soft}
    cells = sum(tree.total_size for tree in trees)
    before = known.cells_before or cells
    return Plan(
        trees=tuple(trees),
        evidence=request.free,
        inputs={n: scope for n, scope in request.inputs.items() if n not in likelihoods},
        soft=tuple(v for v in query.soft if label_of(v.name) in request.inputs),
        targets=query.targets,
        savings=Savings(
            query.barren,
            len(query.evidence) + len(request.derived),
            request.impossible,
            known.cells_before,
        ),
        max_cells=query.max_cells,
        sources=sources,
        derived=request.derived,
        certain=request.certain,
        program=program,
        numbered=tuple(number),
        answers=tuple(
            answer_of(model, target, observed, number, registers[i], program.scopes)
            for i, target in enumerate(query.targets)
        ),
        narrow=partial(_narrow, query, known, before),
        conflict=partial(_conflict_of_run, query, known),
        without_signs=partial(_without_signs, query, known),
        halved=model.halved,
    )


def _without_signs(query: Query, known: _Known) -> Plan | None:
    """Return a plan for the same without negative factors, unless it is large or they are given."""
    factors = [p.values for p in query.potentials if isinstance(p, Factor)]
    if not query.signed or any(np.iscomplexobj(a) or np.any(a < 0) for a in factors):
        return None
    plan = build(replace(query, signed=False), known)
    return None if plan.is_signed or plan.cells > min(_UNSIGNED_CELLS, query.max_cells) else plan


def _child(source: Source) -> int:
    assert source.child is not None
    return source.child


def _shape(tree: JunctionTree, number: Mapping[str, int]) -> TreeShape:
    bit = {name: 1 << i for name, i in number.items()}
    return TreeShape(
        tuple(sum([bit[name] for name in clique.variables]) for clique in tree.cliques),
        tuple((i, j, sum([bit[name] for name in scope])) for i, j, scope in tree.edges),
    )


def _narrow(
    query: Query,
    known: _Known,
    before: int,
    more: Mapping[str, str],
    inputs: Mapping[str, Values],
) -> Plan:
    soft = {label_of(v.name): likelihood(v, more[v.name]) for v in query.soft if v.name in more}
    given = {**known.given, **inputs, **soft}
    return build(query, _Known({**known.fixed, **more}, given, before))


def _conflict_of_run(
    query: Query, known: _Known, evidence: Findings, inputs: Mapping[str, Values]
) -> Findings:
    return _conflict(query, {**known.fixed, **evidence}, {**known.given, **inputs})


def _conflict(query: Query, evidence: Findings, inputs: Mapping[str, Values]) -> Findings:
    """Return findings that are impossible together; all, if it takes too much to find out.

    One plan tells for any of them: findings that are left out have a likelihood of one.
    """
    observed = {
        v.name: v for v in (*query.evidence, *query.soft) if evidence.get(v.name) is not None
    }
    scopes = {label_of(v.name): (v,) for v in (*query.evidence, *query.soft)}
    soft = replace(query, evidence=(), targets=((),), inputs={**query.inputs, **scopes}, soft=())
    plan = build(soft)
    if plan.cells > min(_CONFLICT_CELLS, query.max_cells):
        return dict(evidence)
    found = {label_of(name): likelihood(v, evidence[name]) for name, v in observed.items()}
    anything = {
        name: inputs.get(name, np.ones([v.n_states for v in scope]))
        for name, scope in plan.inputs.items()
    }
    anything |= {name: np.ones([v.n_states for v in scope]) for name, scope in scopes.items()}

    def possible(findings: frozenset[str]) -> bool:
        chosen = {label_of(name): found[label_of(name)] for name in findings}
        try:
            return plan.is_possible({}, {**anything, **chosen})
        except TooLargeError:
            return True

    names = minimal_conflict(list(observed), possible)
    return {name: evidence[name] for name in observed if name in names}
