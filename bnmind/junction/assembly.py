"""The assembly of a compiled query from a model, in one part or in several."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from graphlib import CycleError

import numpy as np

from bnmind._values import ReadOnlyDict, made, sealed
from bnmind.errors import TooLargeError
from bnmind.junction.causes import CaseSweep, common_cells, large_causes
from bnmind.junction.compiled_query import (
    CompiledQuery,
    Query,
    Request,
    opened,
)
from bnmind.junction.contraction import Function, Passing, ProgramBuilder, TreeShape
from bnmind.junction.forms import Estimate, choose_forms, without_effects
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    JunctionTree,
    OrderFinder,
    graph_of_scopes,
)
from bnmind.junction.order_finders import BoundedFinder, Portfolio, SharedSearch
from bnmind.junction.program import Program
from bnmind.junction.randomized_order import MOST_WORK
from bnmind.junction.reduction import (
    Domains,
    FunctionTable,
    Reduction,
    Scope,
    Source,
    Table,
    answer_of,
    compounds,
    is_kept_as_function,
    lift_of,
    n_numbers,
    positions,
    possible_states,
    sources_of,
    table,
    without_conjugates,
    without_leaves,
)
from bnmind.junction.runs import with_long_runs
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential, topological_order
from bnmind.pgm.tabular import TabularCPD

# --- The garbage collector of Python, paused while a plan is made ---------------------------------
#
# Planning makes some hundred thousand small objects, and the collector visits all objects of the
# process whenever their number has grown by a quarter: a tenth of a second in a process with large
# models. Plans have few cycles of references, so there is nothing to collect in the meantime.


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the collector; if it was not running before, it does not run afterwards either."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


DEFAULT_ORDER: OrderFinder = Portfolio()
"""The search for the orders of plans."""

DEFAULT_ORDER_RESTRICTED: OrderFinder = Portfolio(effort=8.0)
"""The search for the orders of restricted plans, which run more often than they are compiled."""

# --- The separately triangulated parts of a query, and the search for their trees -----------------
#
# Usually there is one part. With little evidence, separate small networks of the ancestors of a few
# targets and of the evidence are often cheaper than one network, in which all common children
# connect their parents.

_WORTH_DIVIDING = 100_000
"""The number of cells below which a query is not divided into groups of ancestors."""

_WORTH_SEARCHING = 4_000_000
"""The total number of cells below which quick orders suffice for the groups."""

_VARIABLE_COST = 10_000
"""The cost of planning and running for each variable besides the cells, in cells."""

_DIVIDING_WORK = 5 * MOST_WORK
"""The most work for estimating the cost of groups."""


_MOST_MEMBERS = 2_000_000
"""The most variables that groups may have together: some hundred megabytes."""


_SLACK = 2
"""The slack of the limit, for sets that turn out to lie in others only after they are computed."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some targets of a query and the junction tree that answers them."""

    tree: JunctionTree
    targets: Sequence[int]
    """Positions in the list of targets."""
    names: frozenset[str] | None = None
    """The variables, with all their parents, if the query is divided."""


def closure(
    parents: Mapping[str, Sequence[str]], names: Iterable[str], base: Iterable[str] = ()
) -> frozenset[str]:
    """Return variables with all their ancestors; a variable without distribution has no parents.

    The result contains ``base``, which must contain its own ancestors.
    """
    closed = set(base)
    waiting = [name for name in names if name not in closed]
    closed.update(waiting)
    while waiting:
        for name in parents.get(waiting.pop(), ()):
            if name not in closed:
                closed.add(name)
                waiting.append(name)
    return frozenset(closed)


def closures(
    parents: Mapping[str, Sequence[str]],
    evidence: Iterable[str],
    targets: Sequence[Sequence[str]],
    *,
    most: float = math.inf,
) -> list[frozenset[str]] | None:
    """Return the sets of a target, the evidence and all their ancestors that lie in no other one.

    Parameters
    ----------
    parents, evidence
        As for `closure`.
    targets
        The variables of each target.
    most
        The limit for the number of variables of all sets together.

    Returns
    -------
    list | None
        The sets, the largest first; None if they have more than ``most`` variables, or if some
        variable is its own ancestor, because omitted distributions then do not sum to one.
    """
    base = closure(parents, evidence)
    hidden = list(dict.fromkeys(frozenset(target) - base for target in targets))
    try:
        place = {name: i for i, name in enumerate(topological_order(parents))}
    except CycleError:
        return None
    # Sets of later variables contain those of earlier ones. They come first, so that most others
    # need not be computed.
    hidden.sort(key=lambda names: sorted([place.get(name, -1) for name in names], reverse=True))
    sets: list[frozenset[str]] = []
    seen: set[str] = set()
    total = 0
    for names in reversed(hidden):
        # A single variable that was seen has all its ancestors beside it.
        if names <= seen and (len(names) == 1 or any(names <= other for other in sets)):
            continue
        sets.append(closure(parents, names, base))
        seen |= sets[-1]
        total += len(sets[-1])
        if total > _SLACK * most:
            return None
    sets.sort(key=len, reverse=True)
    sets = [names for names in sets if not any(names < other for other in sets)]
    return sets if sum(map(len, sets)) <= most else None


def ancestral_groups(
    closed: Sequence[frozenset[str]],
    evidence: Iterable[str],
    targets: Sequence[Sequence[str]],
    cost: Sequence[int],
) -> dict[int, list[int]]:
    """Return the targets that each set answers, by its position.

    Parameters
    ----------
    closed, evidence, targets
        The sets that `closures` returns, and its arguments.
    cost
        The cost of each set. A target is answered in the cheapest set that contains it.
    """
    order = sorted(range(len(closed)), key=lambda i: (cost[i], i))
    cheapest: dict[str, int] = {}
    for whole in reversed(order):
        cheapest.update(dict.fromkeys(closed[whole], whole))
    answered: dict[int, list[int]] = {}
    for number, target in enumerate(targets):
        names = frozenset(target).difference(evidence)
        if len(names) == 1:
            (name,) = names
            whole = cheapest[name]
        else:
            whole = next(i for i in order if names <= closed[i])
        answered.setdefault(whole, []).append(number)
    return answered


def _moral(model: Reduction, request: Request, scopes: Sequence[Scope]) -> InteractionGraph:
    """Return the graph of the unobserved variables of some tables and joints."""
    observed = frozenset(request.observed)
    hidden = [[name for name in scope if name not in observed] for scope in scopes]
    sizes = {name: model.sizes[name] for scope in hidden for name in scope}
    return graph_of_scopes(sizes, hidden)


def _graph(model: Reduction, request: Request) -> InteractionGraph:
    """Return the graph of the unobserved variables of a model."""
    joints = [*request.joints, *(potential.scope for potential in model.large)]
    scopes = [model.scope([v.name for v in scope]) for scope in joints]
    return _moral(model, request, [*model.scopes, *scopes])


def shared_search(request: Request) -> SharedSearch:
    """Return the search for all orders of a plan."""
    query = request.query
    usual = DEFAULT_ORDER_RESTRICTED if query.is_restricted else DEFAULT_ORDER
    most = math.inf if query.may_shrink else query.limits.hopeless_cells
    return SharedSearch(query.order or usual, most, query.limits.most_cells)


def planned(
    model: Reduction,
    request: Request,
    parents: Mapping[str, Sequence[str]] | None,
    search: SharedSearch,
) -> list[Part]:
    """Return the cheapest division of a query into parts, with their trees.

    Parameters
    ----------
    model
        The reduced model.
    request
        The request.
    parents
        The parents of each variable; None if the query must not be divided.
    search
        Finds the orders, see `shared_search`.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, and no restriction of it may fit.
    """
    query, graph = request.query, _graph(model, request)
    parts: list[Part] = []
    order = None
    if parents is not None and not request.tables and len(query.targets) > 1:
        order = search.small(graph, _WORTH_DIVIDING)
        if order is None:
            start = search.quick(graph)
            cells = math.inf if start is None else start.total_size
            parts = _divided(model, request, parents, search, _worth(cells, graph.n))
    if not parts:
        order = order or search.order(graph)
        if order is None:
            raise query.limits.refusal_of_cells(query.limits.hopeless_cells)
        parts = [Part(JunctionTree.from_order(graph, order), range(len(query.targets)))]
    _refuse_large(model, query, [part.tree for part in parts])
    return parts


def smallest(
    models: Sequence[Reduction], request: Request, search: SharedSearch
) -> tuple[Reduction, Part]:
    """Return the model with the smallest tree among several models of one query, and the tree.

    The ``search`` finds the orders, see `shared_search`.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, and no restriction of it may fit.
    """
    query = request.query
    graphs = [_graph(model, request) for model in models]
    choice = search.smallest(graphs)
    if choice is None:
        raise query.limits.refusal_of_cells(query.limits.hopeless_cells)
    chosen, order = choice
    tree = JunctionTree.from_order(graphs[chosen], order)
    _refuse_large(models[chosen], query, [tree])
    return models[chosen], Part(tree, range(len(query.targets)))


def _refuse_large(model: Reduction, query: Query, trees: Sequence[JunctionTree]) -> None:
    """Raise `TooLargeError` for trees that are surely too large, unless a smaller plan may fit."""
    refusal = query.limits.refusal_of_trees(trees, model.sizes)
    if refusal is not None and not query.may_shrink:
        raise refusal


def program_of(
    parts: Sequence[Part],
    asked: tuple[Reduction, Request, Mapping[str, int]],
    sources: Sequence[Source],
    heads: Sequence[str | None],
) -> tuple[Program, dict[int, int | None]]:
    """Return the messages of all parts as a program, and the register of each target.

    Parameters
    ----------
    parts
        The parts, with their trees.
    asked
        The reduced model, the request, and the number of each variable.
    sources
        The first registers.
    heads
        For each register that is a conditional distribution, its variable.
    """
    model, request, number = asked
    observed = frozenset(request.observed)
    builder = ProgramBuilder(
        tuple(model.sizes.values()),
        [source.scope for source in sources],
        heads={
            i: frozenset([number[name]])
            for i, name in enumerate(heads)
            if name is not None and name in number and name not in observed
        },
        functions={
            i: Function(source.child, bool(np.any(source.rows.positions < 0)))
            for i, source in enumerate(sources)
            if source.rows is not None and source.child is not None
        },
    )
    registers: dict[int, int | None] = {}
    by_head = {name: i for i, name in enumerate(heads)}
    for part in parts:
        members: Sequence[int] = range(len(sources))
        if part.names is not None:
            members = sorted([by_head[name] for name in part.names if name in by_head])
        passing = Passing(
            _shape(part.tree, number), builder, [i for i in members if sources[i].scope]
        )
        for target in part.targets:
            scope = model.scope([v.name for v in request.query.targets[target]])
            hidden = frozenset([number[name] for name in scope if name not in observed])
            registers[target] = passing.answer(hidden)
    return builder.build(r for r in registers.values() if r is not None), registers


def _shape(tree: JunctionTree, number: Mapping[str, int]) -> TreeShape:
    def numbered(names: Sequence[str]) -> frozenset[int]:
        return frozenset([number[name] for name in names])

    return TreeShape(
        tuple([numbered(clique.variables) for clique in tree.cliques]),
        tuple([(i, j, numbered(scope)) for i, j, scope in tree.edges]),
    )


def _divided(
    model: Reduction,
    request: Request,
    parents: Mapping[str, Sequence[str]],
    search: SharedSearch,
    limit: float,
) -> list[Part]:
    """Return groups of ancestors with their trees; none if they cost more than a limit.

    The other parameters are those of `planned`.
    """
    query = request.query
    limit = min(limit, query.limits.hopeless_cells)
    evidence = [v.name for v in query.evidence]
    targets = [[v.name for v in target] for target in query.targets]
    most = min(limit / _VARIABLE_COST, _MOST_MEMBERS)
    largest = closures(parents, evidence, targets, most=most)
    if largest is None:
        return []
    all_scopes = model.scopes
    by_first: dict[str, list[int]] = {}
    for i, scope in enumerate(all_scopes):
        for name in scope[:1]:
            by_first.setdefault(name, []).append(i)

    def graph_of(names: frozenset[str], answered: Sequence[int] = ()) -> InteractionGraph:
        """Return the graph of a group that answers the targets of these numbers."""
        tables = sorted([i for name in names & by_first.keys() for i in by_first[name]])
        scopes = [all_scopes[i] for i in tables if names.issuperset(all_scopes[i])]
        scopes += [model.scope(targets[number]) for number in answered]
        return _moral(model, request, scopes)

    cost = float(_VARIABLE_COST * sum(map(len, largest)))
    graphs: dict[int, InteractionGraph] = {}
    starts: dict[int, EliminationOrder] = {}
    for i, names in enumerate(largest):
        if search.quick_work > _DIVIDING_WORK:
            return []
        graphs[i] = graph_of(names)
        start = search.quick(graphs[i], limit - cost)
        if start is None:
            return []
        starts[i] = start
        cost += start.total_size
        if cost > limit:
            return []
    groups = ancestral_groups(
        largest, evidence, targets, [start.total_size for start in starts.values()]
    )
    several = any(len(target) > 1 for target in query.targets)
    if several:
        # The cliques of these graphs need not hold the targets.
        graphs = {i: graph_of(largest[i], answered) for i, answered in groups.items()}
        quick = {i: search.quick(graph) for i, graph in graphs.items()}
        starts = {i: start for i, start in quick.items() if start is not None}
        if len(starts) < len(groups):
            return []
    if several or sum(start.total_size for start in starts.values()) > _WORTH_SEARCHING:
        orders = search.orders([graphs[i] for i in groups], [starts[i] for i in groups])
        starts = dict(zip(groups, orders, strict=True))
    return [
        Part(JunctionTree.from_order(graphs[i], starts[i]), answered, largest[i])
        for i, answered in groups.items()
    ]


def _worth(cells: float, n: int) -> float:
    """Return the limit of the cost of groups for a query of ``cells`` cells and n variables."""
    return (cells + _VARIABLE_COST * n) / 2


# --- Assembly of plans: reduction to the known evidence, triangulation, and message passing -------

_SMALL_TABLE = 2**20
"""The most cells of tables that are expanded even if others do not fit."""


@paused_collection()
def build(query: Query) -> CompiledQuery:
    """Return the compiled query.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table excludes the known evidence. The error does not name the evidence.
    TooLargeError
        If the plan exceeds its limits.
    """
    if not query.is_restricted:
        query = _with_causes(query)
        cells = 0 if query.causes is None else common_cells(query.causes)
        if cells > _WORTH_PLANNING_AGAIN:
            return by_case(query, cells)
        return _whole_plan(*opened(query))
    swept = _swept_case(query)
    if swept is None:
        return _restricted_plan(*opened(query))
    if not swept.is_quick:
        with suppress(TooLargeError):
            other = _restricted_plan(*opened(query))
            is_possible = other.refusal is None and other.by_case is None
            signed = other.is_signed
            if is_possible and not swept.is_better_than(other.multiplications, signed=signed):
                return other
    request, _, _ = opened(query, search=False)
    return made(CompiledQuery, **vars(request), answers=swept.answers(query.targets), swept=swept)


def by_case(query: Query, cells: int) -> CompiledQuery:
    """Return the compiled query that makes a plan for the evidence of each run."""
    request, _, _ = opened(query, search=False)
    return made(CompiledQuery, **vars(request), by_case=cells)


def _with_causes(query: Query) -> Query:
    """Return the query with its independent causes, if it is about such."""
    may = query.direct and query.factorize and not query.whole and query.most_cells is None
    # A caller who names an order expects its tree.
    is_free = query.order is None or isinstance(query.order, BoundedFinder)
    may &= bool(query.evidence) and is_free
    scopes = query.inputs.values()
    if not may or any(len(scope) != 1 for scope in scopes):
        return replace(query, causes=None)
    observed = [v.name for v in query.evidence]
    return replace(
        query, causes=large_causes(query.potentials, observed, [*query.targets, *scopes])
    )


def _swept_case(query: Query) -> CaseSweep | None:
    """Return the sweep that answers a query with all its evidence; None if there is none."""
    causes, fixed, limits = query.causes, query.fixed, query.limits
    is_complete = all(v.name in fixed for v in query.evidence)
    if causes is None or not (
        is_complete and query.direct and set(query.given) == set(query.inputs)
    ):
        return None
    states = {v.name: v.index(fixed[v.name]) for v in query.evidence}
    factors = [Factor(query.inputs[name], values) for name, values in query.given.items()]
    swept = causes.at(states, factors)
    if swept is None or swept.multiplications > limits.max_multiplications:
        return None
    return swept if 8 * swept.peak_cells <= limits.max_bytes else None


def _whole_plan(
    request: Request, potentials: tuple[Potential, ...], domains: Domains
) -> CompiledQuery:
    """Return the plan of a query without known evidence and inputs."""
    search, query = shared_search(request), request.query
    if query.factorize:
        potentials, domains = in_chosen_forms(request, potentials, domains, search)
        cells = _cells_by_case(request, potentials, domains, search)
        if cells > _WORTH_PLANNING_AGAIN:
            return by_case(query, cells)
    model = _reduced(request, potentials, domains)
    # Functions come after the tables.
    ordered = sorted(potentials, key=lambda p: is_kept_as_function(p, domains))
    heads = [None if isinstance(p, Factor) or query.whole else p.variable.name for p in ordered]
    parents = None
    # Two distributions of one variable do not sum to one, nor do tables that depend on it.
    is_network = None not in heads and len(set(heads)) == len(heads)
    if is_network and not (model.halved or model.large):
        parents = {p.scope[0].name: [v.name for v in p.scope[1:]] for p in potentials}
    parts = planned(model, request, parents, search)
    return _assemble(request, model, parts, [] if model.large else heads)


def _restricted_plan(
    request: Request, potentials: tuple[Potential, ...], domains: Domains
) -> CompiledQuery:
    """Return the smallest plan found for the known evidence and inputs."""
    query = request.query
    search = shared_search(request)
    if query.factorize:
        potentials = without_effects(potentials, domains)
    versions = [(potentials, domains)]
    if query.factorize:
        formed, states = in_chosen_forms(request, potentials, domains, search)
        cells = _cells_by_case(request, formed, states, search)
        if cells > _WORTH_PLANNING_AGAIN:
            return by_case(query, cells)
        if formed != potentials:
            # Tables that are too large may have smaller forms.
            if sum(_numbers(potentials, domains).values()) > query.limits.table_cells:
                versions = []
            versions.append((formed, possible_states(formed, states, keep=request.observed)))
    candidates: list[Reduction] = []
    protected = {v.name for scope in request.joints for v in scope} | set(request.observed)
    for potentials, domains in versions:
        model = _reduced(request, potentials, domains)
        kept = protected | {v.name for potential in model.large for v in potential.scope}
        model = without_leaves(model, kept & set(model.sizes))
        candidates.append(model)
        if query.compress:
            input_tables = [(query.inputs[name], a) for name, a in query.given.items()]
            observed = frozenset(request.observed)
            candidates += compounds(model, input_tables, query.targets, observed)
    model, part = smallest(candidates, request, search)
    return _assemble(request, model, [part], [])


_WORTH_PLANNING_AGAIN = 2**26
"""The number of cells above which separate plans for the evidence of each run may pay."""


def _cells_by_case(
    request: Request, potentials: Sequence[Potential], domains: Domains, search: SharedSearch
) -> int:
    """Return the approximate cells of a plan if they depend on the observed states; otherwise 0.

    An observed noisy-or takes one factor for each parent where it is false, and more where it
    is true; an observed sum of zero makes all its parents certain.
    """
    free = {v.name for v in request.evidence}
    if not any(
        not isinstance(p, Factor | TabularCPD)
        and p.variable.name in free
        and sum(len(domains[v.name]) > 1 for v in p.parents) > 1
        for p in request.query.potentials
    ):
        return 0
    estimate = Estimate(
        potentials=potentials,
        domains=domains,
        observed=frozenset(request.observed),
        joints=[[v.name for v in scope] for scope in request.joints],
        order=search.estimate,
    )
    return int(estimate.cost({}))


def in_chosen_forms(
    request: Request, potentials: tuple[Potential, ...], domains: Domains, search: SharedSearch
) -> tuple[tuple[Potential, ...], Domains]:
    """Return the potentials in the forms that make the smallest plan, and all states."""
    formed = choose_forms(
        potentials,
        domains,
        observed=request.observed,
        joints=[[v.name for v in scope] for scope in request.joints],
        signed=request.query.signed,
        order=search.estimate,
        goes_on=lambda: search.may_estimate,
    )
    new = {v.name: v for p in formed for v in p.scope if v.name not in domains}
    return formed, {**domains, **{name: tuple(range(v.n_states)) for name, v in new.items()}}


def _reduced(request: Request, potentials: Sequence[Potential], domains: Domains) -> Reduction:
    """Return the model on its possible states, with one of each pair of conjugate terms."""
    sizes, lifts = lift_of(domains)
    unwritten = _unwritten(request.query, potentials, domains)
    tables: list[Table] = []
    functions = []
    for i, potential in enumerate(potentials):
        scope = tuple([v.name for v in potential.scope if v.name in sizes])
        if i in unwritten:
            continue
        if is_kept_as_function(potential, domains):
            rows = positions(potential, domains).reshape([sizes[name] for name in scope[1:]])
            functions.append(FunctionTable(scope, rows, len(tables)))
            continue
        values = table(potential, domains)
        if values.ndim > len(scope):
            values = values.reshape([sizes[name] for name in scope])
        tables.append(made(Table, scope=scope, values=sealed(values)))
    whole = made(
        Reduction,
        sizes=ReadOnlyDict(sizes),
        lifts=ReadOnlyDict(lifts),
        tables=tuple(tables),
        functions=tuple(functions),
        large=tuple([potentials[i] for i in sorted(unwritten)]),
    )
    scopes = [*request.joints, *(potential.scope for potential in whole.large)]
    protected = {v.name for scope in scopes for v in scope} | set(request.observed)
    return without_conjugates(whole, protected)


def _numbers(potentials: Sequence[Potential], domains: Domains) -> dict[int, int]:
    """Return how many numbers the table of each function takes, by its position."""
    return {
        i: n_numbers(p, domains)
        for i, p in enumerate(potentials)
        if not isinstance(p, Factor | TabularCPD)
    }


def _unwritten(query: Query, potentials: Sequence[Potential], domains: Domains) -> frozenset[int]:
    """Return the functions whose tables are too large to expand.

    Raises
    ------
    TooLargeError
        If there is any, unless the plan is to be restricted.
    """
    cells = _numbers(potentials, domains)
    total = sum(cells.values())
    allowed = query.limits.table_cells
    if total <= (allowed if query.most_cells is None else min(allowed, query.most_cells)):
        return frozenset()
    if not query.to_be_restricted:
        largest = max(cells, key=cells.__getitem__)
        name = potentials[largest].scope[0].name
        raise query.limits.refusal_of_tables(total, name, cells[largest])
    return frozenset(i for i, n in cells.items() if n > _SMALL_TABLE)


def _assemble(
    request: Request, model: Reduction, parts: Sequence[Part], heads: Sequence[str | None]
) -> CompiledQuery:
    """Return the plan: its sources, its messages, and its answers."""
    query = request.query
    number = {name: i for i, name in enumerate(model.sizes)}
    observed = frozenset(request.observed)
    sources = sources_of(model, number, observed, request.tables)
    trees = tuple(part.tree for part in parts)
    cells = sum(tree.total_size for tree in trees)
    if query.most_cells is not None and cells > query.most_cells:
        raise TooLargeError(
            f"expected a plan of at most {query.most_cells:,} cells, got {cells:,}",
            needed=cells,
            budget=query.most_cells,
        )
    program, registers = program_of(parts, (model, request, number), sources, heads)

    program = program if query.whole else with_long_runs(program)
    compiled = made(
        CompiledQuery,
        **vars(request),
        trees=trees,
        sources=sources,
        program=program,
        numbered=tuple(number),
        answers=tuple(
            answer_of(model, target, observed, number, registers[i], program.scopes)
            for i, target in enumerate(query.targets)
        ),
        halved=model.halved,
    )
    if compiled.refusal is not None and not query.to_be_restricted:
        raise compiled.refusal
    return compiled
