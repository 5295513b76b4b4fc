"""The forms in which conditional distributions enter a plan: tables, chains, terms of rank one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    OrderFinder,
    graph_of_scopes,
    maximal_cliques,
    vertices_in_order,
)
from bnmind.junction.randomized_order import started
from bnmind.junction.reduction import Domains, n_cells, n_numbers
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import Addition, Exactly, Parity, Threshold
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyExtremum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import chain_form, observed_chain, with_parents_in_order
from bnmind.rank_one.terms import rank_one_form

# --- Small non-negative tables for maximization and sampling --------------------------------------
#
# A rank-one factorization of a sum has negative terms, which cannot be maximized or sampled. A
# function of many parents becomes a chain of partial results instead, see `bnmind.rank_one.chains`.
# The partial results are functions of the parents, so the chain is valid for maxima and for sums.
# The partial results of a noisy extremum are random, so its chain is valid only for sums.

_UNDIVIDED_CELLS = 2**10
"""The most cells of a table that stays unchanged."""


def non_negative_table(potential: Potential, max_cells: int) -> Floats:
    """Return the table of a potential, whose numbers are neither negative nor complex.

    Raises
    ------
    TooLargeError
        If a functional or noisy distribution has more than ``max_cells`` cells.
    InvalidModelError
        If a factor has negative or complex values.
    """
    if isinstance(potential, TabularCPD):
        return potential.values
    if not isinstance(potential, Factor):
        potential = potential.to_factor(max_cells=max_cells)
    values = potential.values
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(potential.names) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)


def small_tables(
    potentials: Iterable[Potential], names: Iterable[str], *, sums_only: bool, max_cells: int
) -> tuple[Potential, ...]:
    """Return non-negative tables that multiply to the same as the potentials.

    Parameters
    ----------
    potentials
        Distributions, and factors of non-negative numbers.
    names
        Names that auxiliary variables must not have.
    sums_only
        Whether the auxiliary variables will be summed out, so that noisy extrema may also be
        split into steps.
    max_cells
        The largest table allowed.

    Raises
    ------
    TooLargeError
        If a distribution cannot be split into steps and is too large. The error names the
        variable.
    InvalidModelError
        If a factor has negative or complex values.
    """
    taken = set(names)
    tables: list[Potential] = []
    for potential in potentials:
        if isinstance(potential, Factor):
            non_negative_table(potential, max_cells)
            tables.append(potential)
            continue
        steps: Sequence[Potential] | None = None
        is_divisible = sums_only or isinstance(potential, FunctionalCPD)
        if is_divisible and potential.n_cells > _UNDIVIDED_CELLS:
            name = _free(f"{potential.variable.name}--", taken, len(potential.parents))
            steps = chain_form(potential, name=name, max_cells=max_cells)
        try:
            tables += steps or [potential.to_factor(max_cells=max_cells)]
        except TooLargeError as fault:
            raise TooLargeError(
                f"{fault}, which does not break into steps"
                f" {'that can be summed' if sums_only else 'that can be maximized'}",
                needed=fault.needed,
                budget=fault.budget,
            ) from None
        taken |= {v.name for step in steps or () for v in step.scope}
    return tuple(tables)


# --- The choice of a form for each large distribution of a plan: table, chain or rank one ---------
#
# =============  ======================================  =================================
# form           source                                  cost
# =============  ======================================  =================================
# table          the distribution                        all its parents in one clique
# chain          `bnmind.rank_one.chain_form`            two partial results in each clique
# ordered chain  the same, with the parents in the
#                order in which the model has them
# observed       `observed_chain`: the chain of a child  two partial results in each clique,
# chain          that is observed, as few partial        as few as lead to the observed state
#                results as possible
# rank one       `bnmind.rank_one.rank_one_form`         one variable in each clique, but
#                                                        signed or complex numbers
# =============  ======================================  =================================
#
# The best form depends on the whole model. The function therefore compares the total sizes of
# junction trees, which it estimates by quick elimination orders. Signed terms cancel and lose the
# digits of improbable results, so signed forms are used only if they are much smaller.
# Distributions of the same shape take the same form. The work is bounded: about eighty orders, and
# at most half of the work of all searches of a plan.
#
# A noisy-or that is observed as true is the difference of two products, a rank-one form with a
# sign. Its chain of variables "some cause so far" adds two states to each clique and does not
# cancel. A noisy-or that is observed as false needs no form, see `bnmind.junction.forms`.

_SMALL_TABLE = 2**4
"""The most cells of a table that stays a table."""

_SMALL_TREE = 2**16
"""The most cells of a tree that needs no other form."""

_SIGNED_COST = 4
"""The cost of signed cells, which are usually complex and lose digits."""

_SIGNED_LEAST = 2**20
"""The most cells of a tree without signs that is preferred to any with signs."""

_LONG_CHAIN = 2**24
"""The most cells of a chain."""

_LARGEST_FLOAT = 10**300
"""The number of cells above which trees are not compared."""

_WORTH = 0.5
"""Forms with signs must at least halve the cost: a quick order is only an estimate."""

_MOST_GROUPS = 12
"""The number of groups, those with the largest tables, whose forms are tried one by one."""


_TABLE, _CHAIN, _ORDERED, _OBSERVED, _OBSERVED_ORDERED, _RANK_ONE = _KINDS = (
    *("table", "chain", "ordered chain"),
    *("observed chain", "ordered observed chain", "rank one"),
)

_STARTS = (
    _KINDS,
    (_OBSERVED, _CHAIN, _RANK_ONE, _TABLE),
    (_OBSERVED_ORDERED, _OBSERVED, _ORDERED, _CHAIN, _RANK_ONE, _TABLE),
    (_RANK_ONE, _CHAIN, _TABLE),
)
"""The preferred forms at the start of the search."""


@dataclass(frozen=True, eq=False)
class _Form:
    """One way to write a distribution."""

    potentials: tuple[Potential, ...]
    cells: int
    """The numbers that a plan stores for it, on the possible states."""
    is_signed: bool = False


def _form(potentials: Sequence[Potential], domains: Domains, *, is_signed: bool = False) -> _Form:
    """Return a form; all states of its new variables are possible."""
    states = {
        v.name: domains.get(v.name) or tuple(range(v.n_states)) for p in potentials for v in p.scope
    }
    return _Form(tuple(potentials), sum(n_numbers(p, states) for p in potentials), is_signed)


def _min_fill(graph: InteractionGraph) -> EliminationOrder:
    order = started(graph).order(graph)
    assert order is not None  # without a limit
    return order


def choose_forms(
    potentials: Sequence[Potential],
    domains: Domains,
    *,
    observed: Iterable[str] = (),
    joints: Sequence[Sequence[str]] = (),
    order: OrderFinder = _min_fill,
    max_cells: int = 2**22,
    signed: bool = True,
    goes_on: Callable[[], bool] = lambda: True,
) -> tuple[Potential, ...]:
    """Return the potentials with large functional and noisy distributions in their best form.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible state positions of each variable. Other variables of the result
        are new; all their states are possible.
    observed
        Evidence variables, whose states each run takes. They are in no clique.
    joints
        Other sets of variables that a clique must contain: targets and inputs.
    order
        A quick finder of elimination orders for the estimates; min-fill by default.
    max_cells
        The most cells of the table of a function that has another form.
    signed
        Whether factors may be negative or complex.
    goes_on
        Returns whether another estimate is worth its time; called after the necessary ones.

    Returns
    -------
    tuple
        The potentials, unchanged where no form is better. The product, summed over the new
        variables, is the same on the possible states.

    Examples
    --------
    >>> from bnmind.pgm import noisy_or
    >>> causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(30))
    >>> effect = noisy_or(Variable("effect", ("no", "yes")), causes, [0.5] * 30)
    >>> forms = choose_forms([effect], {v.name: (0, 1) for v in effect.scope})
    >>> max(len(form.scope) for form in forms)
    3
    """
    places = [
        i for i, potential in enumerate(potentials) if _is_large(potential, domains, max_cells)
    ]
    if not places:
        return tuple(potentials)
    estimate = Estimate(
        potentials=potentials,
        domains=domains,
        observed=frozenset(observed),
        joints=joints,
        order=order,
    )
    fits = all(n_numbers(potentials[i], domains) <= max_cells for i in places)
    if fits and estimate.cost({}) <= _SMALL_TREE:
        return tuple(potentials)
    names = {v.name for potential in potentials for v in potential.scope} | set(domains)
    place = {name: i for i, name in enumerate(domains)}
    forms = {i: _forms(potentials[i], domains, names, place, max_cells) for i in places}
    chosen, cost = _best(forms, estimate, goes_on)
    if signed and goes_on() and _WORTH * cost > _SIGNED_LEAST:
        forms = {i: form | _rank_one(potentials[i], domains, names) for i, form in forms.items()}
        other, other_cost = _best(forms, estimate, goes_on)
        chosen = other if other_cost < _WORTH * cost else chosen
    parts = [chosen[i].potentials if i in chosen else (one,) for i, one in enumerate(potentials)]
    return tuple(itertools.chain.from_iterable(parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """An estimate of the cost of a plan from a quick order; see `choose_forms` for the fields."""

    potentials: Sequence[Potential]
    domains: Domains
    observed: frozenset[str] = frozenset()
    joints: Sequence[Sequence[str]] = ()
    order: OrderFinder = _min_fill

    def cost(self, chosen: Mapping[int, _Form]) -> float:
        """Return the cells of the tree and of the chosen tables; signed ones count more."""
        sizes = {name: len(states) for name, states in self.domains.items()}
        scopes: list[tuple[str, ...]] = [tuple(joint) for joint in self.joints]
        functions: list[tuple[str, ...]] = []
        cells = 0.0
        for i, potential in enumerate(self.potentials):
            form = chosen.get(i)
            for part in (potential,) if form is None else form.potentials:
                scopes.append(tuple(v.name for v in part.scope))
                for v in part.scope:
                    sizes.setdefault(v.name, v.n_states)
                if isinstance(part, FunctionalCPD) and part.variable.name not in self.observed:
                    functions.append(scopes[-1])
            cells += 0 if form is None else form.cells
        hidden = [
            tuple(n for n in scope if n not in self.observed and sizes[n] > 1) for scope in scopes
        ]
        graph = graph_of_scopes({n: sizes[n] for s in hidden for n in s}, hidden)
        total = self._worked_with(graph, functions) + cells
        if any(form.is_signed for form in chosen.values()):
            return max(_SIGNED_COST * total, _SIGNED_LEAST)
        return total

    def _worked_with(self, graph: InteractionGraph, functions: Sequence[Sequence[str]]) -> float:
        """Return the cells of the cliques, without the states that a function determines."""
        order = self.order(graph)
        if not functions:
            return float(min(order.total_size, _LARGEST_FLOAT))
        place = {name: i for i, name in enumerate(graph.names)}
        children: dict[int, set[int]] = {}
        for name, *others in functions:
            if name in place:
                children[place[name]] = {place[v] for v in others if v in place}
        total = 0
        for clique in maximal_cliques(graph, vertices_in_order(graph, order.variables)):
            sizes = {v: graph.sizes[v] for v in clique}
            determined = [
                size for v, size in sizes.items() if v in children and children[v] <= sizes.keys()
            ]
            total += math.prod(sizes.values()) // max(determined, default=1)
        return float(min(total, _LARGEST_FLOAT))


def _is_large(potential: Potential, domains: Domains, max_cells: int) -> bool:
    if isinstance(potential, Factor | TabularCPD):
        return False
    active = sum(len(domains[v.name]) > 1 for v in potential.parents)
    numbers = n_numbers(potential, domains)
    return numbers > max_cells or (active > 2 and n_cells(potential, domains) > _SMALL_TABLE)


def _forms(
    potential: Potential,
    domains: Domains,
    names: set[str],
    place: Mapping[str, int],
    max_cells: int,
) -> dict[str, _Form]:
    """Return the forms without signs that a distribution may take, by kind.

    New variables have names outside ``names``. The parents of an ordered chain are in the order of
    their ``place``.
    """
    assert not isinstance(potential, Factor)  # as chosen by the caller
    name = _free(f"{potential.variable.name}_of", names, len(potential.parents))
    states = {v.name: domains[v.name] for v in potential.scope}
    known = {name: possible[0] for name, possible in states.items() if len(possible) == 1}
    ordered = with_parents_in_order(potential, place)
    found: dict[str, Sequence[Potential] | None] = {}
    if n_numbers(potential, domains) <= max_cells:
        found[_TABLE] = [potential]
    found[_CHAIN] = chain_form(potential, states=states, name=name, max_cells=_LONG_CHAIN)
    if ordered is not potential:
        found[_ORDERED] = chain_form(ordered, states=states, name=name, max_cells=_LONG_CHAIN)
    if potential.variable.name in known:
        found[_OBSERVED] = observed_chain(potential, known, name)
        found[_OBSERVED_ORDERED] = observed_chain(potential, known, name, place=place)
    forms = {kind: _form(parts, domains) for kind, parts in found.items() if parts is not None}
    rank_one = {} if _has_signs(potential) else _rank_one(potential, domains, names)
    forms |= {kind: form for kind, form in rank_one.items() if not form.is_signed}
    return forms or {_TABLE: _form([potential], domains)}


def _rank_one(potential: Potential, domains: Domains, names: set[str]) -> dict[str, _Form]:
    """Return the rank-one form of a distribution by its kind, if there is one."""
    assert not isinstance(potential, Factor)
    states = {v.name: domains[v.name] for v in potential.scope}
    name = _free(f"B_{potential.variable.name}", names)
    form = rank_one_form(potential, states=states, name=name)
    if form is None:
        return {}
    return {_RANK_ONE: _form(form.factors, domains, is_signed=form.is_signed)}


def _has_signs(cpd: CPD) -> bool:
    """Return whether the rank-one form surely has signs, without computing it."""
    return isinstance(cpd, FunctionalCPD) and isinstance(
        cpd.function, Addition | Exactly | Parity | Threshold
    )


def _free(name: str, taken: set[str], count: int = 0) -> str:
    """Return an unused name that is also unused with suffixes up to ``count``."""
    while {name, *(f"{name}_{i}" for i in range(count + 1))} & taken:
        name += "_"
    return name


def _best(
    forms: Mapping[int, dict[str, _Form]], estimate: Estimate, goes_on: Callable[[], bool]
) -> tuple[dict[int, _Form], float]:
    """Return the best form found for each distribution, and the cost.

    The search takes the best common kind first, and then improves it shape by shape.
    """
    best: dict[int, _Form] = {}
    cost = math.inf
    tried: list[dict[int, _Form]] = []
    steps: list[tuple[Iterable[int], Sequence[str]]] = [(forms, kinds) for kinds in _STARTS]
    for group in _shapes(forms, estimate)[:_MOST_GROUPS]:
        steps += [(group, [kind]) for kind in forms[group[0]]]
    for number, (places, kinds) in enumerate(steps):
        chosen = {i: next(forms[i][k] for k in kinds if k in forms[i]) for i in places}
        other = {**best, **chosen}
        if number and (other == best or other in tried):
            continue
        if number and not goes_on():
            break
        if number < len(_STARTS):
            tried.append(other)
        new_cost = estimate.cost(other)
        if new_cost < cost:
            best, cost = other, new_cost
    return best, cost


def _shapes(forms: Mapping[int, dict[str, _Form]], estimate: Estimate) -> list[list[int]]:
    """Return the places of distributions of the same shape, those with the largest tables first."""
    domains = estimate.domains
    shapes: dict[tuple[object, ...], list[int]] = {}
    for i, own in forms.items():
        potential = estimate.potentials[i]
        kind = type(getattr(potential, "function", potential))
        first, *others = [len(domains[v.name]) for v in potential.scope]
        shapes.setdefault((kind, first, *sorted(others), *own), []).append(i)
    return sorted(shapes.values(), key=lambda p: -n_cells(estimate.potentials[p[0]], domains))


# --- Noisy extrema without an effect, which are products of a factor for each parent --------------
#
# A noisy-or that is observed as false is a product of the probabilities that each parent has no
# effect, whatever the size of its table. The same holds for a noisy maximum in its lowest state
# (D. Heckerman, *A tractable inference algorithm for diagnosing multiple diseases*, UAI 1989:
# negative findings cost nothing).

_SMALL = 1e-100
"""The least product of positive factors over one variable."""


def without_effects(potentials: Sequence[Potential], domains: Domains) -> tuple[Potential, ...]:
    """Return the potentials with factors in place of noisy extrema without an effect.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible state positions of each variable.

    Returns
    -------
    tuple
        The other potentials, then the factors. The product is the same on the possible states.

    Examples
    --------
    >>> from bnmind.pgm import noisy_or
    >>> flu, cold, fever = (Variable(name, ("no", "yes")) for name in ("flu", "cold", "fever"))
    >>> known = {"flu": (0, 1), "cold": (0, 1), "fever": (0,)}
    >>> for factor in without_effects([noisy_or(fever, (flu, cold), [0.8, 0.5])], known):
    ...     print(factor.names, factor.values.round(3).tolist())
    ('fever',) [1.0, 0.0]
    ('flu',) [1.0, 0.2]
    ('cold',) [1.0, 0.5]
    """
    rest: list[Potential] = []
    factors: list[Factor] = []
    products: dict[Variable, Floats] = {}
    for potential in potentials:
        if not isinstance(potential, NoisyExtremum) or (
            tuple(domains[potential.variable.name]) != (potential.least,)
        ):
            rest.append(potential)
            continue
        child, least = potential.variable, potential.least
        leak, *links = potential.contributions
        certain = np.where(np.arange(child.n_states) == least, leak[least, 0], 0.0)
        factors.append(Factor((child,), certain))
        for parent, link in zip(potential.parents, links, strict=True):
            before, chances = products.get(parent), link[least]
            if before is not None:
                product = before * chances
                if np.any((product < _SMALL) & (before > 0) & (chances > 0)):
                    factors.append(Factor((parent,), before))
                else:
                    chances = product
            products[parent] = chances
    factors += [Factor((parent,), product) for parent, product in products.items()]
    return (*rest, *factors)
