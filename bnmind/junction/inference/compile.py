"""From a model, evidence variables and targets to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind._values import ReadOnlyDict, made
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.inference.assembly import build, by_case
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.limits import (
    DEFAULT_PLAN_BYTES,
    DEFAULT_PLAN_MULTIPLICATIONS,
    Limits,
)
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.query import Known, Query, opened
from bnmind.junction.reduction.barren_variables import without_barren
from bnmind.junction.triangulation.best_order import BestOrder
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

__all__ = ["compile_all", "compile_by_case", "compile_plan", "families", "junction_tree"]


@checked
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


@checked
def families(network: Network) -> list[tuple[str, ...]]:
    """Return each variable of a network with its parents: the targets that learning needs.

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
    max_bytes: int = DEFAULT_PLAN_BYTES,
    max_multiplications: int = DEFAULT_PLAN_MULTIPLICATIONS,
    to_be_restricted: bool = False,
    compress: bool = True,
    factorize: bool = True,
) -> Plan:
    """Return a plan that answers the targets for any states of the evidence variables.

    The cost and the memory of a run are predicted before anything is allocated for it, and a
    plan that is over its limits is refused here.

    Parameters
    ----------
    model
        What to reason in.
    evidence
        The variables that each run is given a state of.
    soft
        Variables on which a run may be given a state, a likelihood (virtual evidence),
        or nothing: those whose value may be uncertain or missing.
    targets
        For each joint wanted, its variables; the first is also what the
        probability of the evidence is summed from. Unless given, every variable that
        is not evidence by itself. `families` names the families of a network.
    inputs
        Further tables that each run is given, {name: variables}: a belief kept
        from the last run, or soft evidence on a variable.
    order
        How to look for an elimination order; `RandomizedGreedy` unless given, which
        takes about as long as a run does, and eight times as long for restricted plans;
        all parts of a plan share about half a second.
    max_bytes
        The most bytes that a run may hold at the same time: tables, messages, and what lies
        between them.
    max_multiplications
        The most multiplications that a run may take.
    to_be_restricted
        Whether the plan may be over these limits because only restrictions of it will be
        run. It then refuses to run itself.
    compress
        Whether a restricted plan may have the possible configurations of several
        variables as the states of one (zero compression), if that makes it smaller.
    factorize
        Whether the large tables of functional and noisy distributions may be written
        as small factors with auxiliary variables, if that makes the plan smaller.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is both evidence and in an input, or named twice.
    TooLargeError
        If a run would take more than ``max_bytes`` or ``max_multiplications``, which is
        predicted; it names the largest clique.

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
    query = _query(
        model,
        (evidence, soft, targets, inputs or {}),
        order=order or RandomizedGreedy(),
        order_restricted=order or RandomizedGreedy(effort=8.0),
        limits=Limits(max_bytes, max_multiplications),
        compress=compress,
        factorize=factorize,
        replacements=model.replacements if isinstance(model, FactorModel) else (),
        to_be_restricted=to_be_restricted,
    )
    return Plan(build(query))


def compile_all(
    potentials: Sequence[Potential],
    *,
    evidence: Iterable[str],
    soft: Iterable[str],
    order: OrderFinder | None,
    limits: Limits,
) -> CompiledQuery:
    """Return the compiled query that eliminates every variable, and leaves none out.

    Parameters
    ----------
    potentials
        The tables of the model, as they are.
    evidence, soft, order
        As for `compile_plan`.
    limits
        The most that a run may cost.
    """
    return build(_query_of_all(potentials, evidence, soft, order=order, limits=limits))


def compile_by_case(
    potentials: Sequence[Potential],
    *,
    evidence: Iterable[str],
    soft: Iterable[str],
    order: OrderFinder | None,
    limits: Limits,
    cells: int,
) -> CompiledQuery:
    """Return a compiled query without a program for what `compile_all` refuses.

    It would have about so many ``cells``; each case is to be planned by itself.
    """
    query = _query_of_all(potentials, evidence, soft, order=order, limits=limits)
    request, _, _ = opened(query, Known())
    return by_case(request, cells)


def _query_of_all(
    potentials: Sequence[Potential], evidence: Iterable[str], soft: Iterable[str], **options: Any
) -> Query:
    """Return the query that eliminates every variable."""
    order = options.pop("order")
    return _query(
        FactorModel(tuple(potentials)),
        (evidence, soft, [()], {}),
        order=order or RandomizedGreedy(),
        order_restricted=order or RandomizedGreedy(),
        compress=False,
        factorize=False,
        whole=True,
        **options,
    )


_Asked: TypeAlias = tuple[
    Iterable[str],
    Iterable[str],
    Iterable[Iterable[str]] | None,
    Mapping[str, Sequence[str]],
]
"""Evidence, soft evidence, targets and inputs, as `compile_plan` is given them."""


def _query(model: Network | FactorModel, asked: _Asked, **options: Any) -> Query:
    """Return what is asked for, checked, with other fields of the query as they are given."""
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
    wanted = [tuple(variable(name) for name in target) for target in targets] or [()]
    tables = {name: tuple(variable(v) for v in scope) for name, scope in inputs.items()}
    uncertain = tuple(variable(name) for name in soft)
    problems = [
        f"a variable is named twice in {[v.name for v in scope]}"
        for scope in [(*observed, *uncertain), *wanted, *tables.values()]
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
    if not options.get("whole"):
        needed = {v.name for s in [observed, *wanted, *tables.values()] for v in s}
        relevant = without_barren(relevant, needed)
    return made(
        Query,
        potentials=relevant,
        evidence=observed,
        targets=tuple(wanted),
        inputs=ReadOnlyDict(tables),
        soft=uncertain,
        barren=len(model.potentials) - len(relevant),
        **options,
    )
