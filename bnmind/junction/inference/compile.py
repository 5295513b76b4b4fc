"""The compilation of plans from questions about a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind._values import ReadOnlyDict, made
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs import (
    InteractionGraph,
    JunctionTree,
    OrderFinder,
    graph_of_scopes,
)
from bnmind.junction.inference.assembly import build, by_case
from bnmind.junction.inference.compiled_query import CompiledQuery, Query
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.reduction import without_barren
from bnmind.junction.triangulation.portfolio import BestOrder, Portfolio
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
