"""The compilation of plans from questions about a model, and from files."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from bnmind._arguments import checked
from bnmind._files import read_text, write_file
from bnmind._messages import listed
from bnmind._values import ReadOnlyDict, made
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError, UnknownNameError
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    JunctionTree,
    OrderFinder,
    graph_of_scopes,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.inference.assembly import build, by_case
from bnmind.junction.inference.compiled_query import CompiledQuery, Query
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.reduction import without_barren
from bnmind.junction.triangulation.greedy import MinFill
from bnmind.junction.triangulation.portfolio import BestOrder, BoundedFinder, Portfolio
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

# --- Compilation of plans from a model, evidence variables and targets ----------------------------


@checked
def junction_tree(
    model: Network | FactorModel,
    *,
    without: Iterable[str] = (),
    order: OrderFinder | None = None,
) -> JunctionTree:
    """Return the junction tree of a model without evidence.

    Parameters
    ----------
    model
        The model. The scopes of its tables define the moral graph.
    without
        Variables to omit, with their conditional distributions.
    order
        The search for an elimination order; by default `BestOrder`.
    """
    gone = frozenset(without)
    graph = interaction_graph(model, gone)
    return JunctionTree.from_order(graph, (order or BestOrder())(graph))


def interaction_graph(
    model: Network | FactorModel, gone: frozenset[str] = frozenset()
) -> InteractionGraph:
    """Return the moral graph of a model without some variables and their distributions."""
    sizes = {v.name: v.n_states for v in model.variables if v.name not in gone}
    scopes = [
        [v.name for v in p.scope if v.name not in gone]
        for p in model.potentials
        if p.scope and p.scope[0].name not in gone
    ]
    return graph_of_scopes(sizes, scopes)


@checked
def families(network: Network) -> list[tuple[str, ...]]:
    """Return each variable of a network with its parents, the targets for learning.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> families(Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                   TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]))))
    [('rain',), ('wet', 'rain')]
    """
    return [tuple(v.name for v in cpd.scope) for cpd in network.cpds]


@checked
def compile_plan(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    targets: Iterable[Iterable[str]] | None = None,
    inputs: Mapping[str, Sequence[str]] | None = None,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    factorize: bool = True,
) -> Plan:
    """Compile a plan that computes targets for any states of the evidence variables.

    The function predicts the cost and the memory of a run, and raises an error if the plan exceeds
    its limits, before anything is allocated.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        The evidence variables. Each run takes a state of each of them.
    soft
        Variables with uncertain or missing evidence. For each of them, a run takes a state, a
        likelihood (virtual evidence), or nothing.
    targets
        The variables of each joint distribution to compute. The probability of the evidence is
        computed from the first target. By default, every variable without evidence is a target.
        `families` returns the families of a network.
    inputs
        Additional tables that each run takes, {name: variables}, such as a belief from the last
        run, or soft evidence on a variable.
    order
        The search for an elimination order. The work of the default `Portfolio` is about that of
        a run, or eight runs for restricted plans, up to a limit for all parts of a plan together.
    limits
        The limits of the memory and the multiplications of a run.
    factorize
        Whether to write large tables of functional and noisy distributions as small factors with
        auxiliary variables, if that makes the plan smaller.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is both evidence and in an input, or named twice.
    TooLargeError
        If a run would exceed the limits. The error names the largest clique.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> network = Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                    TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_plan(network, evidence=["call"])
    >>> plan.run({"call": "heads"}).marginals["coin"].round(3).tolist()
    [0.9, 0.1]
    """
    asked = (evidence, soft, targets, inputs or {})
    return Plan(build(query_of(model, asked, order=order, limits=limits, factorize=factorize)))


def compile_all(
    potentials: Sequence[Potential],
    *,
    evidence: Iterable[str],
    soft: Iterable[str],
    order: OrderFinder | None,
    limits: Limits,
    targets: Sequence[Sequence[str]] = ((),),
    inputs: Mapping[str, Sequence[str]] | None = None,
    cells: int | None = None,
) -> CompiledQuery:
    """Return the compiled query that eliminates every variable, including barren ones.

    Parameters
    ----------
    potentials
        The tables of the model.
    evidence, soft, order
        As for `compile_plan`.
    limits
        The limits of the cost of a run.
    targets
        The variables of each joint, which are not eliminated; by default none.
    inputs
        As for `compile_plan`.
    cells
        If a query is refused for so many cells: it gets no program, and a plan for each case.
    """
    query = query_of(
        FactorModel(tuple(potentials)),
        (evidence, soft, targets, inputs or {}),
        order=order or Portfolio(),
        limits=limits,
        compress=False,
        factorize=False,
        whole=True,
    )
    return build(query) if cells is None else by_case(query, cells)


def query_of(
    model: Network | FactorModel,
    asked: tuple[
        Iterable[str], Iterable[str], Iterable[Iterable[str]] | None, Mapping[str, Sequence[str]]
    ],
    *,
    order: OrderFinder | None,
    limits: Limits,
    compress: bool = True,
    factorize: bool = True,
    whole: bool = False,
) -> Query:
    """Return the query of `compile_plan`, checked.

    ``asked`` is its evidence, soft evidence, targets and inputs. See `Query` for other options.
    """
    evidence, soft, targets, inputs = asked
    by_name = {v.name: v for v in model.variables}
    if targets is not None and not isinstance(targets, str):
        targets = list(targets)

    def variable(name: str) -> Variable:
        return by_name.get(name) or model.variable(name)

    if isinstance(targets, str) or any(isinstance(target, str) for target in targets or ()):
        raise InvalidArgumentError(
            f"each target must be a list of names, such as [['rain']]; got {targets!r}", targets
        )
    if isinstance(evidence, str) or isinstance(soft, str):
        raise InvalidArgumentError(
            "evidence and soft must be lists of names, got a single string", (evidence, soft)
        )
    observed = tuple(variable(name) for name in evidence)
    if targets is None:
        hidden = set(by_name) - {v.name for v in observed}
        targets = [[v.name] for v in model.variables if v.name in hidden]
    scopes = [tuple(variable(name) for name in target) for target in targets] or [()]
    tables = {name: tuple(variable(v) for v in scope) for name, scope in inputs.items()}
    uncertain = tuple(variable(name) for name in soft)
    problems = [
        f"a variable is named twice in {[v.name for v in scope]}"
        for scope in [(*observed, *uncertain), *scopes, *tables.values()]
        if len({v.name for v in scope}) != len(scope)
    ]
    problems += [
        f"{v.name} cannot be both evidence and in an input"
        for v in observed
        if any(v in scope for scope in tables.values())
    ]
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    if clash := sorted(set(tables) & {label_of(name) for name in by_name}):
        raise InvalidArgumentError(
            f"an input must not have the name of soft evidence, got {clash[0]!r}", clash
        )
    tables |= {label_of(v.name): (v,) for v in uncertain}
    relevant = model.potentials
    if not whole:
        needed = {v.name for s in [observed, *scopes, *tables.values()] for v in s}
        relevant = without_barren(relevant, needed)
    return made(
        Query,
        potentials=relevant,
        evidence=observed,
        targets=tuple(scopes),
        inputs=ReadOnlyDict(tables),
        fixed=ReadOnlyDict(),
        given=ReadOnlyDict(),
        soft=uncertain,
        barren=len(model.potentials) - len(relevant),
        order=order,
        limits=limits,
        compress=compress,
        factorize=factorize,
        whole=whole,
        replacements=model.replacements if isinstance(model, FactorModel) else (),
    )


# --- Fingerprints of models: equal for equal tables, and different for all others in practice -----


def fingerprint(potentials: Iterable[Potential]) -> str:
    """Return the SHA-256 of the tables, functions and noisy distributions of a model.

    Functions of code outside of this package (see `has_code`) count only with their names and
    fields.

    Examples
    --------
    >>> from bnmind.pgm import Factor, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> fingerprint([Factor((rain,), [0.8, 0.2])]) == fingerprint([Factor((rain,), [0.7, 0.3])])
    False
    """
    digest = hashlib.sha256()
    for potential in potentials:
        for text, _ in _walk(potential):
            digest.update(text)
    return digest.hexdigest()


def has_code(value: object) -> bool:
    """Return whether a model, or a part of it, holds a function of code outside of this package.

    Another function may have the same name, or the same fields.

    >>> from bnmind.pgm import FunctionalCPD, Variable
    >>> a, b = (Variable.of_integers(name, range(2)) for name in "ab")
    >>> has_code(FunctionalCPD.sum_of("sum", (a, b))), has_code([lambda x: 1 - x])
    (False, True)
    """
    return any(is_code for _, is_code in _walk(value))


def _walk(value: object) -> Iterator[tuple[bytes, bool]]:
    """Yield a text for each part of a value, and whether it is code outside of this package.

    A text holds the type of the part and the number of its own parts, so that no two values mix.
    """
    parts: list[Any] = []
    is_code = False
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        yield f"array {array.dtype.str} {array.shape};".encode() + array.tobytes(), False
        return
    if isinstance(value, Enum):
        text = f"{type(value).__qualname__}.{value.name}"
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value) if field.init]
        text = f"{type(value).__qualname__} {len(parts)}"
        is_code = callable(value) and type(value).__module__.partition(".")[0] != "bnmind"
    elif isinstance(value, Mapping):
        parts = [part for key in sorted(value, key=repr) for part in (key, value[key])]
        text = f"mapping {len(value)}"
    elif isinstance(value, tuple | list):
        parts = list(value)
        text = f"list {len(parts)}"
    elif callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        text = f"function {getattr(value, '__module__', '')}.{name}"
        is_code = True
    else:
        text = f"{type(value).__name__} {value!r}"
    yield f"{text};".encode(), is_code
    for part in parts:
        yield from _walk(part)


# --- Plans in files -------------------------------------------------------------------------------
#
# A file holds the query and the elimination orders of its junction trees, in JSON, and a
# fingerprint of the model. `read_plan` puts the plan together again from the model, without a
# search for orders.

_FORMAT = "bnmind plan"
_VERSION = 1
_LARGEST = 2**28
"""The largest file of a plan, in bytes."""


@dataclass(frozen=True)
class _KnownOrders:
    """A `BoundedFinder` that knows the orders of some graphs, by their variables."""

    orders: Mapping[frozenset[str], Sequence[tuple[str, Sequence[str]]]]
    """For each set of variables, the names of searches and the orders that they found."""
    effort: ClassVar[float] = 1.0

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the smallest known order; for another graph, that of one greedy pass."""
        known = self.orders.get(frozenset(graph.names), ())
        found = [
            measured_order(graph, vertices_in_order(graph, order), method=method)
            for method, order in known
        ]
        return min(found, key=lambda order: order.total_size) if found else MinFill()(graph)

    def wanted(self, cells: float, n: int) -> float:
        """Return infinity: nothing is searched."""
        return math.inf

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the known order, if its tree is within the limit, and no work."""
        order = self(graph)
        return (order if order.total_size <= limit else None), 0


@checked
def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan to a file, from which `read_plan` reads it.

    Parameters
    ----------
    plan
        A plan from `compile_plan`.
    path
        Replaced if it exists.

    Raises
    ------
    InvalidArgumentError
        If evidence or inputs of the plan are already known: write the plan before it is restricted.
    ModelFileError
        If the file cannot be written.
    """
    query = plan.compiled.query
    if query.is_restricted or query.whole:
        raise InvalidArgumentError(
            "only plans of compile_plan can be written, before they are restricted; got a plan"
            f" that knows {', '.join([*query.fixed, *query.given]) or 'all variables'}",
            plan,
        )
    likelihoods = {label_of(v.name) for v in query.soft}
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": fingerprint(query.potentials),
        "evidence": [v.name for v in query.evidence],
        "soft": [v.name for v in query.soft],
        "targets": [[v.name for v in target] for target in query.targets],
        "inputs": {
            name: [v.name for v in scope]
            for name, scope in query.inputs.items()
            if name not in likelihoods
        },
        "only_restrictions": query.limits.only_restrictions,
        "compress": query.compress,
        "factorize": query.factorize,
        "bounded": query.order is None or isinstance(query.order, BoundedFinder),
        "orders": [list(tree.order.variables) for tree in plan.compiled.trees],
        "methods": [tree.order.method for tree in plan.compiled.trees],
        "total_size": plan.compiled.total_size,
    }
    write_file(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@checked
def read_plan(
    path: str | os.PathLike[str], model: Network | FactorModel, *, limits: Limits = DEFAULT_LIMITS
) -> Plan:
    """Return the plan in a file of `write_plan`, without a search for elimination orders.

    Parameters
    ----------
    path
        The file.
    model
        The model that the plan was compiled for.
    limits
        The limits of the memory and the multiplications of a run, as for `compile_plan`. The file
        holds none. Whether only restrictions may run is a property of the plan in the file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a plan, is damaged, or belongs to another model or
        another version of bnmind.
    TooLargeError
        If a run would exceed the limits.
    """
    from bnmind._records import record_from_json
    from bnmind.pgm.formats.records import PlanRecord

    name = os.fspath(path)
    try:
        record = record_from_json(read_text(path, most=_LARGEST), _FORMAT, {_VERSION: PlanRecord})
        if len(record.methods) != len(record.orders):
            raise ModelFileError("there must be a method for each order")
    except ModelFileError as fault:
        raise ModelFileError(f"expected a plan in {name}: {fault}", name) from fault
    asked = [record.evidence, record.soft, *record.targets, *record.inputs.values()]
    needed = {variable for scope in asked for variable in scope}
    is_known = needed <= {v.name for v in model.variables}
    if not is_known or fingerprint(without_barren(model.potentials, needed)) != record.model:
        raise ModelFileError(f"{name} holds a plan for another model than the given one", name)
    orders: dict[frozenset[str], list[tuple[str, list[str]]]] = {}
    for method, order in zip(record.methods, record.orders, strict=True):
        orders.setdefault(frozenset(order), []).append((method, order))
    known = _KnownOrders(orders)
    try:
        query = query_of(
            model,
            (record.evidence, record.soft, record.targets, record.inputs),
            # Plans of a `BoundedFinder` may do without a tree; those of others have that of the
            # order.
            order=known if record.bounded else known.__call__,
            limits=replace(limits, only_restrictions=record.only_restrictions),
            compress=record.compress,
            factorize=record.factorize,
        )
        plan = build(query)
    except (InvalidArgumentError, InvalidModelError, UnknownNameError) as fault:
        raise ModelFileError(f"{name} is a damaged plan: {fault}", name) from fault
    problem = ""
    if any(list(tree.order.variables) not in record.orders for tree in plan.trees):
        problem = "lacks the order of a junction tree of the plan"
    elif plan.total_size != record.total_size:
        problem = (
            f"holds orders that give {plan.total_size:,} cells instead of {record.total_size:,}"
        )
    if problem:
        raise ModelFileError(
            f"{name} {problem}: it is damaged, or from another version of bnmind; compile the plan"
            " again",
            name,
        )
    # Plans for more evidence search again.
    return Plan(replace(plan, query=replace(plan.query, order=None)))
