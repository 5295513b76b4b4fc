"""Queries, with the evidence that restrictions have fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bnmind._values import Sealed
from bnmind.junction.causes.independent_causes import IndependentCauses
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.evidence import Findings, label_of, likelihood
from bnmind.junction.inference.limits import Limits
from bnmind.junction.reduction.possible_states import possible_states
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential, Replacement
from bnmind.pgm.variable import Variable

__all__ = ["Known", "Query", "Request", "opened", "unopened", "with_more"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Query(Sealed):
    """A query: a model, evidence variables, targets, and options of the compilation."""

    potentials: tuple[Potential, ...]
    evidence: tuple[Variable, ...]
    targets: tuple[tuple[Variable, ...], ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    order: OrderFinder
    order_restricted: OrderFinder
    """The search for restricted plans, which run more often than they are compiled."""
    limits: Limits
    """The limits of the cost of a run."""
    soft: tuple[Variable, ...] = ()
    """Variables whose likelihood is an input, see `bnmind.junction.inference.evidence`."""
    barren: int = 0
    """The number of omitted variables, which do not influence the targets or the evidence."""
    compress: bool = True
    """Whether restricted plans may have compound variables."""
    factorize: bool = True
    """Whether small factors may replace large functional and noisy distributions."""
    signed: bool = True
    """Whether these factors may be negative or complex."""
    replacements: tuple[Replacement, ...] = ()
    """The original distributions that some potentials replace."""
    whole: bool = False
    """Whether the plan keeps every variable, because each needs a state."""
    most_cells: int | None = None
    """The most cells of a plan that is assembled; None for no limit."""
    direct: bool = True
    """Whether sums of independent variables, and independent causes of observed effects, may be
    answered without a program."""
    causes: IndependentCauses | None = None
    """The query as a query about independent causes of observed effects, if it is one."""
    to_be_restricted: bool = False
    """Whether the plan may exceed its limits, because only restrictions of it will run."""

    @property
    def may_shrink(self) -> bool:
        """Whether a restriction of the plan may fit although the plan is surely too large."""
        return self.to_be_restricted and bool(self.evidence or self.soft or self.inputs)

    def with_originals(self) -> Query:
        """Return the query with the original distributions in place of their factors.

        Factors stay if one of their auxiliary variables is a target or evidence.
        """
        queried = {v.name for s in [self.evidence, *self.targets, *self.inputs.values()] for v in s}
        potentials = list(self.potentials)
        for replacement in self.replacements:
            mine = [p for p in potentials if any(p is factor for factor in replacement.factors)]
            rest = [p for p in potentials if not any(p is q for q in mine)]
            others = queried | {v.name for p in rest for v in p.scope}
            own = {v.name for p in mine for v in p.scope if v not in replacement.cpd.scope}
            if len(mine) == len(replacement.factors) and not own & others:
                potentials = [*rest, replacement.cpd]
        return replace(self, potentials=tuple(potentials), replacements=())


@dataclass(frozen=True, eq=False)
class Known(Sealed):
    """The evidence and the inputs that restrictions have fixed."""

    fixed: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Values] = field(default_factory=dict)
    total_size_before: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Request(Sealed):
    """A query with part of its evidence known."""

    query: Query
    known: Known
    free: tuple[Variable, ...]
    derived: tuple[FunctionalCPD, ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    large: tuple[Potential, ...]
    """The potentials whose tables are not expanded."""
    certain: Mapping[str, int]
    impossible: int
    """States of uncertain variables that the evidence excludes."""

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables whose states are known in each run."""
        return tuple(v.name for v in (*self.free, *(cpd.variable for cpd in self.derived)))

    @property
    def joints(self) -> list[tuple[Variable, ...]]:
        """Sets of variables that some clique must contain, besides those of the tables."""
        return [*self.query.targets, *self.inputs.values(), *(p.scope for p in self.large)]


def opened(
    query: Query, known: Known
) -> tuple[Request, tuple[Potential, ...], dict[str, tuple[int, ...]]]:
    """Return the remaining query, the relevant potentials and the possible states.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table excludes the known evidence or inputs.
    """
    fixed, tables = known.fixed, known.given
    certain = {v.name: v.index(fixed[v.name]) for v in query.evidence if v.name in fixed}
    free = tuple(v for v in query.evidence if v.name not in fixed)
    derived = _determined(query, {v.name for v in free}, certain)
    observed = tuple(v.name for v in (*free, *(cpd.variable for cpd in derived)))
    inputs = {name: scope for name, scope in query.inputs.items() if name not in tables}
    potentials = query.potentials + tuple(Factor(query.inputs[n], a) for n, a in tables.items())

    variables = {v.name: v for p in potentials for v in p.scope}
    variables |= {v.name: v for s in [*query.targets, *inputs.values()] for v in s}
    domains = {
        name: (certain[name],) if name in certain else tuple(range(v.n_states))
        for name, v in variables.items()
    }
    if fixed or tables:
        domains = possible_states(potentials, domains, keep=observed)
    # Functions of the evidence are computed, and have no tables.
    gone = {cpd.variable.name for cpd in derived}
    potentials = tuple(
        p for p in potentials if isinstance(p, Factor) or p.variable.name not in gone
    )
    impossible_states = sum(
        v.n_states - len(domains[name]) for name, v in variables.items() if name not in certain
    )
    request = Request(
        query=query,
        known=known,
        free=free,
        derived=derived,
        inputs=inputs,
        large=(),
        certain=certain,
        impossible=impossible_states,
    )
    return request, potentials, domains


def unopened(query: Query, known: Known) -> Request:
    """Return the remaining query, without a search for possible states and derived variables."""
    fixed = known.fixed
    return Request(
        query=query,
        known=known,
        free=tuple(v for v in query.evidence if v.name not in fixed),
        derived=(),
        inputs={n: scope for n, scope in query.inputs.items() if n not in known.given},
        large=(),
        certain={v.name: v.index(fixed[v.name]) for v in query.evidence if v.name in fixed},
        impossible=0,
    )


def _determined(query: Query, free: set[str], certain: dict[str, int]) -> tuple[FunctionalCPD, ...]:
    """Return the functional variables that the free evidence determines, parents first.

    The function adds those that the fixed evidence determines to ``certain``.
    """
    known, result = free | set(certain), []
    if query.whole:
        return ()
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


def with_more(query: Query, known: Known, more: Findings, inputs: Mapping[str, Values]) -> Known:
    """Return the known evidence and inputs with additional ones."""
    soft = {label_of(v.name): likelihood(v, more[v.name]) for v in query.soft if v.name in more}
    return replace(known, fixed={**known.fixed, **more}, given={**known.given, **inputs, **soft})
