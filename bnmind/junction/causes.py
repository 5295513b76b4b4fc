"""Independent causes of many observed effects, such as diseases and symptoms, and their sweeps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain
from operator import or_
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import many
from bnmind._values import ReadOnlyDict, Sealed, sealed
from bnmind.information import Floats
from bnmind.junction.graphs import bits
from bnmind.junction.reduction import Answer, without_barren
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyExtremum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import Effect, effect_of

# --- The order in which a sweep takes causes, and its cost ----------------------------------------
#
# A sweep keeps a table over the partial results of all open effects: those of which some causes,
# but not all, have acted. The search closes one effect after another, each time the one whose
# remaining causes open the fewest others, and tries every first effect. It stops when it has cost
# as much as it can save. A cause of a single effect acts before the effect is opened, and costs
# nothing.

KEPT_CELLS = 2**25
"""The most cells of all tables that are kept for the sweep back."""

_SEARCH_WORK = 16.0
"""The cost of looking at a cause in the search, in cells of a sweep."""

_HOPELESS_BITS = 60.0
"""The logarithm of the number of cells above which an order is given up."""


@dataclass(frozen=True)
class SweepOrder:
    """An order of causes of several effects each, and its cost."""

    causes: tuple[int, ...]
    cost: float
    """The multiplications of a sweep in one direction; infinite if it is hopeless."""
    cells: float
    """The cells of all tables of a sweep together."""
    largest: float
    """The cells of the largest table."""

    @property
    def every(self) -> int:
        """The sweep back takes one table in so many from memory, and computes the others again."""
        return 1 if self.cells <= KEPT_CELLS else math.isqrt(len(self.causes)) + 1

    @property
    def kept_cells(self) -> float:
        """The cells of the tables that are kept at the same time, with some copies."""
        kept = self.cells if self.every == 1 else 2 * self.every * self.largest
        return kept + 4 * self.largest


def parts_of(together: Iterable[Sequence[int]]) -> list[set[int]]:
    """Return effects in groups so that those in one of the lists are in one group."""
    groups: list[set[int]] = []
    for effects in together:
        mine = [group for group in groups if not group.isdisjoint(effects)]
        groups = [group for group in groups if group.isdisjoint(effects)]
        groups.append(set(effects).union(*mine))
    return groups


def sweep_order(
    effects_of: Mapping[int, Sequence[int]], n_results: Mapping[int, int], n_states: Sequence[int]
) -> SweepOrder:
    """Return a good order of the causes of connected effects.

    Parameters
    ----------
    effects_of
        The effects of each cause.
    n_results
        The number of partial results of each effect.
    n_states
        The number of states of each cause.
    """
    causes_of: dict[int, set[int]] = {}
    for c, effects in effects_of.items():
        for e in effects:
            causes_of.setdefault(e, set()).add(c)
    search = _Search(
        {c: frozenset(effects) for c, effects in effects_of.items()},
        causes_of,
        {e: math.log2(n_results[e]) for e in causes_of},
        n_states,
    )
    best: SweepOrder | None = None
    work = 0.0
    for start in sorted(causes_of, key=lambda e: (len(search.touched(causes_of[e])), e)):
        found = search.order(start)
        work += _SEARCH_WORK * sum(map(len, effects_of.values())) * len(causes_of)
        if best is None or found.cost < best.cost:
            best = found
        if work > best.cost:
            break
    return best or SweepOrder((), 0.0, 0.0, 1.0)


class _Search(NamedTuple):
    """Orders of one connected part, each from a first effect."""

    effects_of: Mapping[int, frozenset[int]]
    causes_of: Mapping[int, set[int]]
    bits: Mapping[int, float]
    """The binary digits of the partial results of each effect."""
    n_states: Sequence[int]

    def touched(self, causes: Iterable[int]) -> set[int]:
        """Return all effects of some causes."""
        return set().union(*[self.effects_of[c] for c in causes])

    def order(self, start: int) -> SweepOrder:
        """Return the order that closes the effect ``start`` first."""
        left = {e: set(causes) for e, causes in self.causes_of.items()}
        opened: set[int] = set()
        order: list[int] = []
        cost = cells = largest = 0.0
        effect: int | None = start
        while effect is not None:
            for c in self._causes_in_order(left[effect], opened):
                opened |= self.effects_of[c]
                bits = sum([self.bits[e] for e in opened if left[e]])
                if bits > _HOPELESS_BITS:
                    return SweepOrder((), math.inf, math.inf, math.inf)
                size = 2.0**bits
                cost += self.n_states[c] * (1 + len(self.effects_of[c])) * size
                cells += size
                largest = max(largest, size)
                order.append(c)
                for e in self.effects_of[c]:
                    left[e].discard(c)
            waiting = [e for e, causes in left.items() if causes]
            effect = min(waiting, key=lambda e: self._price(left[e], opened, e), default=None)
        return SweepOrder(tuple(order), cost, cells, largest)

    def _price(self, causes: set[int], opened: set[int], effect: int) -> tuple[float, int, int]:
        new = self.touched(causes) - opened
        return sum([self.bits[e] for e in new]), len(causes), effect

    def _causes_in_order(self, causes: set[int], opened: set[int]) -> list[int]:
        """Return the causes so that those that open fewer effects come first."""
        rest, order, now = set(causes), [], set(opened)
        while rest:
            c = min(rest, key=lambda c: (len(self.effects_of[c] - now), c))
            rest.discard(c)
            order.append(c)
            now |= self.effects_of[c]
        return order


# The sweep over causes: the distribution of each cause given the effects, without subtraction.
#
# The causes are independent except for observed effects. Let T be the table over the partial
# results of the open effects, see `bnmind.rank_one.chains`. It starts with a single number,
# and each cause c changes it:
#
# .. math:: T \leftarrow \sum_x P(x)\, M_{c,x}\, T
#
# M is a small matrix for each effect of the cause. With n positive findings of noisy-or, T has at
# most 2ⁿ cells, as many as there are terms in Quickscore (Heckerman, *A tractable inference
# algorithm for diagnosing multiple diseases*, UAI 1989). Quickscore adds these terms with
# alternating signs, so that twenty positive findings of probability .01 each cancel forty digits.
# The sweep adds non-negative numbers, so that every digit stays, and the table is smaller than 2ⁿ
# if findings share few causes.
#
# A sweep back gives the distributions of all causes at once. It takes the tables of the first sweep
# in reverse; if they are too large to be kept, some are kept and the others are computed again.

_LEAST = 2.0**-600
"""The least probability, besides powers of two, that surely has all its digits: each product loses
less than 2⁻¹⁰⁷⁴ by underflow."""


def sweep(
    effects: Mapping[int, Effect],
    order: SweepOrder,
    priors: Sequence[Floats],
) -> tuple[dict[int, Floats], float] | None:
    """Return the distributions of the causes of connected effects.

    The second value is the logarithm of the probability of the effects. None if the evidence is
    impossible, or so improbable that numbers may underflow.

    Parameters
    ----------
    effects
        The effects, by number. Causes of a single effect act first.
    order
        The order of the causes of several effects.
    priors
        The weights of the states of each cause.
    """
    shared = set(order.causes)
    alone, starts = {}, {}
    power = 0
    for e, effect in effects.items():
        own = [c for c in effect.causes if c not in shared]
        alone[e] = _Run({e: effect}, {e: effect.start}, own, priors, closes=False)
        starts[e], more = alone[e].forward()
        power += more
    run = _Run(effects, starts, order.causes, priors, every=order.every)
    table, more = run.forward()
    total = float(table)
    if not total >= _LEAST:
        return None
    weights, gradients = run.backward(np.ones(()))
    for e, gradient in gradients.items():
        weights |= alone[e].backward(gradient)[0]
    sums = {c: float(weight.sum()) for c, weight in weights.items()}
    if not all(one >= _LEAST for one in sums.values()):
        return None
    beliefs = {c: weight / sums[c] for c, weight in weights.items()}
    return beliefs, math.log(total) + (power + more) * math.log(2)


class _Change(NamedTuple):
    """A change of the table: an effect is opened, a cause acts, or an effect is closed."""

    kind: str
    number: int
    """Of the effect or the cause."""
    opened: tuple[int, ...]
    """The open effects before the change, the latest first."""


class _Run:
    """A sweep over some causes; the effects may stay open at its end."""

    def __init__(
        self,
        effects: Mapping[int, Effect],
        starts: Mapping[int, Floats],
        order: Sequence[int],
        priors: Sequence[Floats],
        *,
        closes: bool = True,
        every: int = 1,
    ) -> None:
        self.effects, self.starts, self.priors, self.every = effects, starts, priors, every
        self.moves: dict[int, list[tuple[int, tuple[Floats | None, ...]]]] = {c: [] for c in order}
        for e, effect in effects.items():
            for c, m in zip(effect.causes, effect.moves, strict=True):
                if c in self.moves:
                    self.moves[c].append((e, m))
        self.changes = list(self._changes(closes=closes))
        self.kept: dict[int, Floats] = {}

    def _changes(self, *, closes: bool) -> Iterator[_Change]:
        """Yield what happens to the table, in order."""
        left = {e: sum(c in self.moves for c in one.causes) for e, one in self.effects.items()}
        opened: tuple[int, ...] = ()
        unopened = set(self.effects)
        acts: list[tuple[int | None, list[int]]] = [(None, [e]) for e, n in left.items() if not n]
        acts += [(c, [e for e, _ in moves]) for c, moves in self.moves.items()]
        for c, mine in acts:
            for e in mine:
                if e in unopened:
                    yield _Change("open", e, opened)
                    opened = (e, *opened)
                    unopened.discard(e)
            if c is not None:
                yield _Change("act", c, opened)
            for e in mine:
                left[e] -= 1
                if closes and left[e] <= 0:
                    yield _Change("close", e, opened)
                    opened = tuple(other for other in opened if other != e)

    def forward(self) -> tuple[Floats, int]:
        """Return the last table, and the power of two taken out."""
        table = np.ones(())
        power = 0
        self.kept = {}
        for i in range(len(self.changes)):
            if i % self.every == 0:
                self.kept[i] = table
            table, more = self._after(i, table)
            power += more
        return table, power

    def backward(self, back: Floats) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return the weights of each cause's states, and of each effect's first results.

        ``back`` are the weights of the last table.
        """
        beliefs: dict[int, Floats] = {}
        gradients: dict[int, Floats] = {}
        for i, (kind, number, opened) in reversed(list(enumerate(self.changes))):
            before = self._table(i)
            if kind == "close":
                axis = opened.index(number)
                end = self.effects[number].end
                shape = [1] * before.ndim
                shape[axis] = len(end)
                back = np.expand_dims(back, axis) * end.reshape(shape)
            elif kind == "open":
                flat = back.reshape(len(back), -1)
                gradients[number], _ = _scaled(flat @ before.ravel())
                back = np.tensordot(self.starts[number], back, axes=1)
            else:
                beliefs[number] = np.zeros(len(self.priors[number]))
                total = np.zeros_like(before)
                for x, moved in self._by_state(self.changes[i], back, transposed=True):
                    beliefs[number][x] = np.vdot(before, moved)
                    total += moved
                back = total
            back, _ = _scaled(back)
        return beliefs, gradients

    def _table(self, i: int) -> Floats:
        """Return the table before change ``i``, and drop those after it."""
        self.kept.pop(i + 1, None)
        if i not in self.kept:
            first = max(j for j in self.kept if j < i)
            table = self.kept[first]
            for j in range(first, i):
                table, _ = self._after(j, table)
                self.kept[j + 1] = table
        return self.kept[i]

    def _after(self, i: int, table: Floats) -> tuple[Floats, int]:
        """Return the table after change ``i``, and the power of two taken out."""
        kind, number, opened = self.changes[i]
        if kind == "open":
            return np.multiply.outer(self.starts[number], table), 0
        if kind == "close":
            axis = opened.index(number)
            return np.tensordot(self.effects[number].end, table, axes=(0, axis)), 0
        return _scaled(reduce(np.add, (one for _, one in self._by_state(self.changes[i], table))))

    def _by_state(
        self, change: _Change, table: Floats, *, transposed: bool = False
    ) -> Iterator[tuple[int, Floats]]:
        """Yield the positive states of a cause, and the table that it makes in each of them."""
        prior = self.priors[change.number]
        for x in np.flatnonzero(prior).tolist():
            moved = table
            for e, matrices in self.moves[change.number]:
                axis = change.opened.index(e)
                moved = _moved(moved, axis, matrices[x], transposed=transposed)
            yield x, prior[x] * moved


def _moved(table: Floats, axis: int, matrix: Floats | None, *, transposed: bool = False) -> Floats:
    """Return a table with a matrix applied along an axis."""
    if matrix is None:
        return table
    shape = table.shape
    view = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
    moved = (matrix.T if transposed else matrix) @ view
    return moved.reshape(*shape[:axis], moved.shape[1], *shape[axis + 1 :])


def _scaled(table: Floats) -> tuple[Floats, int]:
    """Return a table divided by a power of two, so that its largest number is about one."""
    power = math.frexp(float(table.max(initial=0.0)))[1]
    return (table if abs(power) < 64 else np.ldexp(table, -power)), power if abs(power) >= 64 else 0


# --- The sweeps that answer a question about independent causes, for the evidence at hand ---------

_BOTH_WAYS = 3
"""The multiplications of a sweep and of a sweep back, which also multiplies the two tables, as a
multiple of those of a sweep."""

_QUICK = 2**24
"""The multiplications of a sweep that needs no comparison with a tree."""

_SIGNED_COST = 4
"""The cost of multiplications of a plan with negative or complex numbers, which lose digits."""


class Part(NamedTuple):
    """Effects that are connected by common causes, and the order of these."""

    effects: Mapping[int, Effect]
    order: SweepOrder


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseSweep(Sealed):
    """A question about independent causes of observed effects, with its evidence."""

    causes: tuple[Variable, ...]
    """The hidden variables."""
    weights: tuple[Floats, ...]
    """Their distributions given all but the effects of the parts."""
    parts: tuple[Part, ...]
    """The other effects."""
    log_constant: float
    """The logarithm of the probability of the evidence, without these effects."""

    @property
    def steps(self) -> int:
        """The number of multiplications of tables in a run."""
        return sum(len(effect.causes) for part in self.parts for effect in part.effects.values())

    @property
    def multiplications(self) -> int:
        """The predicted multiplications of a run."""
        return int(_BOTH_WAYS * sum(part.order.cost for part in self.parts)) + 8 * self.steps

    @property
    def is_quick(self) -> bool:
        """Whether a comparison with a tree does not pay."""
        return self.multiplications <= _QUICK

    def is_better_than(self, multiplications: int, *, signed: bool) -> bool:
        """Return whether the sweep is cheaper than a plan, which may have negative numbers."""
        return self.multiplications <= (_SIGNED_COST if signed else 1) * multiplications

    @property
    def peak_cells(self) -> int:
        """The predicted peak of cells in a run."""
        return int(max((part.order.kept_cells for part in self.parts), default=0))

    @property
    def line(self) -> str:
        """The sweep in a few words."""
        largest = max((part.order.largest for part in self.parts), default=1.0)
        n_effects = sum(len(part.effects) for part in self.parts)
        return (
            f"a sweep over {len(self.causes):,} independent causes of {n_effects:,} effects,"
            f" {many(int(largest))} cells at most"
        )

    def answers(self, targets: Iterable[tuple[Variable, ...]]) -> tuple[Answer, ...]:
        """Return the rules for reading targets, of at most one cause each, from the beliefs."""
        number = {v.name: i for i, v in enumerate(self.causes)}
        answers = []
        for target in targets:
            hidden = [v for v in target if v.name in number]
            shape = tuple([v.n_states for v in hidden])
            answers.append(
                Answer(
                    variables=target,
                    observed=tuple([v.name for v in target if v.name not in number]),
                    axes=None,
                    view=shape,
                    shape=shape,
                    register=number[hidden[0].name] if hidden else None,
                    cells=None,
                )
            )
        return tuple(answers)

    def run(self) -> tuple[Sequence[Values], float] | None:
        """Return the distributions of the causes and the log of the evidence.

        None if the evidence is too improbable.
        """
        beliefs = list(self.weights)
        log_evidence = self.log_constant
        with np.errstate(under="ignore"):
            for part in self.parts:
                swept = sweep(part.effects, part.order, self.weights)
                if swept is None:
                    return None
                log_evidence += swept[1]
                for c, belief in swept[0].items():
                    beliefs[c] = sealed(belief)
        return beliefs, log_evidence


# --- Models whose hidden variables are independent causes of observed effects ---------------------
#
# An example is QMR-DT: some hundred diseases, and some thousand findings, each a noisy-or of
# diseases. The effects may be noisy extrema and functions that are computed one argument at a time.
# Effects that are observed without an effect (a noisy-or that is false) are products of a factor
# for each cause. The others are swept over.
#
# References
# ----------
# M. Shwe, B. Middleton, D. Heckerman, M. Henrion, E. Horvitz, H. Lehmann, G. Cooper, "Probabilistic
# diagnosis using a reformulation of the INTERNIST-1/QMR knowledge base", Methods of Information in
# Medicine 30 (1991), 241-255.


ObservedEffect: TypeAlias = NoisyExtremum | FunctionalCPD


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentCauses(Sealed):
    """A model whose hidden variables are independent causes of observed effects."""

    causes: tuple[Variable, ...]
    """The hidden variables."""
    number: Mapping[str, int]
    """The place of each among them."""
    tables: tuple[Factor | TabularCPD, ...]
    """The tables over at most one hidden variable each."""
    extrema: tuple[NoisyExtremum, ...]
    """The noisy extrema."""
    functions: tuple[FunctionalCPD, ...]
    """The functions."""

    @property
    def effects(self) -> tuple[ObservedEffect, ...]:
        """The noisy extrema, then the functions."""
        return (*self.extrema, *self.functions)

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """The place of the first state of each cause, and of each observed parent, in one list.

        The first place of the list, 0, is for what depends on no cause.
        """
        variables = {v.name: v for v in self.causes}
        variables |= {v.name: v for cpd in self.extrema for v in cpd.parents}
        ends = accumulate([v.n_states for v in variables.values()], initial=1)
        return dict(zip(variables, ends, strict=False))

    @cached_property
    def arcs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The probabilities that leaks and parents have no effect on each noisy extremum.

        For each state of a parent, the place in the list, the number of the extremum, and the
        natural logarithm of the probability.
        """
        places, extrema, chances = list[int](), list[int](), [np.empty(0)]
        for e, cpd in enumerate(self.extrema):
            least = cpd.least
            starts = [0, *[self.starts[v.name] for v in cpd.parents]]
            for start, contribution in zip(starts, cpd.contributions, strict=True):
                chances.append(contribution[least])
                places += range(start, start + len(chances[-1]))
                extrema += [e] * len(chances[-1])
        return (
            np.array(places, dtype=np.intp),
            np.array(extrema, dtype=np.intp),
            _logs(np.concatenate(chances)),
        )

    def at(self, states: Mapping[str, int], more: Sequence[Factor] = ()) -> CaseSweep | None:
        """Return the sweep for given evidence.

        Parameters
        ----------
        states
            The state positions of all observed variables.
        more
            Further factors, such as likelihoods, over at most one hidden variable each.

        Returns
        -------
        CaseSweep or None
            None if the evidence is impossible, or the effects have no order that suits all of them.
        """
        is_least = [states[cpd.variable.name] == cpd.least for cpd in self.extrema]
        n_states = [v.n_states for v in self.causes]
        places, extrema, arcs = self.arcs
        sums = np.bincount(
            places,
            np.where(np.array(is_least, dtype=np.bool_)[extrema], arcs, 0.0),
            minlength=1 + sum(n_states),
        ).astype(np.float64)
        for table in (*self.tables, *more):
            values = table.values[tuple([states.get(v.name, slice(None)) for v in table.scope])]
            hidden = [self.starts[v.name] for v in table.scope if v.name not in states]
            start = hidden[0] if hidden else 0
            sums[start : start + values.size] += _logs(np.real(values)).reshape(-1)
        known = [sums[at + states[name]] for name, at in self.starts.items() if name in states]
        log_constant, logs = math.fsum([sums[0], *known]), sums[1 : 1 + sum(n_states)]
        starts = np.cumsum([0, *n_states[:-1]])
        most = np.maximum.reduceat(logs, starts)
        if not np.all(most > -np.inf) or not log_constant > -math.inf:
            return None
        weights = np.exp(logs - np.repeat(most, n_states))
        totals = np.add.reduceat(weights, starts)
        weights = sealed(weights / np.repeat(totals, n_states))
        log_constant += float((most + np.log(totals)).sum())

        active = [cpd for cpd, least in zip(self.extrema, is_least, strict=True) if not least]
        parts = self._parts([*active, *self.functions], states)
        if parts is None:
            return None
        return CaseSweep(
            causes=self.causes,
            weights=tuple(np.split(weights, starts[1:])),
            parts=tuple(parts),
            log_constant=log_constant,
        )

    def _parts(
        self, effects: Sequence[ObservedEffect], states: Mapping[str, int]
    ) -> list[Part] | None:
        """Return the connected effects; None if no order suits them, or one is impossible."""
        effects_of: dict[int, list[int]] = {}
        n_results = dict.fromkeys(range(len(effects)), 2)
        for e, cpd in enumerate(effects):
            for name in [v.name for v in cpd.parents if v.name not in states]:
                effects_of.setdefault(self.number[name], []).append(e)
            if isinstance(cpd, FunctionalCPD):
                effect = effect_of(cpd, states, self.number, self.number)
                if effect is None or not effect.start.any():
                    return None
                n_results[e] = max(2, effect.most_results)
        parts = []
        for group in parts_of([*([e] for e in n_results), *effects_of.values()]):
            shared = {c: es for c, es in effects_of.items() if len(es) > 1 and es[0] in group}
            order = sweep_order(shared, n_results, [v.n_states for v in self.causes])
            place = dict.fromkeys(self.number, -1)
            place |= {self.causes[c].name: i for i, c in enumerate(order.causes)}
            found = {e: effect_of(effects[e], states, self.number, place) for e in sorted(group)}
            members = {e: effect for e, effect in found.items() if effect is not None}
            if len(members) < len(found) or math.isinf(order.cost):
                return None
            parts.append(Part(members, order))
        return parts


def _logs(values: Floats) -> Floats:
    """Return natural logarithms; −inf for zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def independent_causes(
    potentials: Sequence[Potential],
    observed: Iterable[str],
    targets: Iterable[Sequence[Variable]],
) -> IndependentCauses | None:
    """Return a model as independent causes of observed effects; None if it is of another kind.

    Parameters
    ----------
    potentials
        The tables of the model.
    observed
        The variables whose states will be known.
    targets
        The variables of each target, at most one of which may be hidden.
    """
    known = frozenset(observed)
    scopes = [[v for v in target if v.name not in known] for target in targets]
    tables: list[Factor | TabularCPD] = []
    extrema: list[NoisyExtremum] = []
    functions: list[FunctionalCPD] = []
    for potential in potentials:
        if isinstance(potential, Factor | TabularCPD):
            if isinstance(potential, Factor) and not _is_positive(potential):
                return None
            scopes.append([v for v in potential.scope if v.name not in known])
            tables.append(potential)
        elif potential.variable.name not in known:
            return None
        elif isinstance(potential, NoisyExtremum):
            extrema.append(potential)
        elif isinstance(potential, FunctionalCPD) and is_stepwise(potential.function):
            functions.append(potential)
        else:
            return None
    if any(len(scope) > 1 for scope in scopes) or not (extrema or functions):
        return None
    parents = [v for cpd in (*extrema, *functions) for v in cpd.parents if v.name not in known]
    hidden = {v.name: v for v in (*chain.from_iterable(scopes), *parents)}
    return IndependentCauses(
        causes=tuple(hidden.values()),
        number=ReadOnlyDict({name: i for i, name in enumerate(hidden)}),
        tables=tuple(tables),
        extrema=tuple(extrema),
        functions=tuple(functions),
    )


def _is_positive(factor: Factor) -> bool:
    return not np.iscomplexobj(factor.values) and bool(np.all(factor.values >= 0))


# --- The size of a plan for any evidence on the effects of independent causes, roughly ------------

_MOST_BITS = 900
"""The logarithm of the largest number that is returned."""


def common_cells(causes: IndependentCauses) -> int:
    """Return the cells of the largest table if all effects had to be swept over, roughly.

    The effects are closed one after another, those with the fewest neighbors first.
    """
    parents = [[v.name for v in cpd.parents if v.name in causes.number] for cpd in causes.effects]
    effects_of: dict[str, int] = {}
    for e, names in enumerate(parents):
        for name in names:
            effects_of[name] = effects_of.get(name, 0) | 1 << e
    size = [math.log2(cpd.variable.n_states) for cpd in causes.effects]
    neighbors = [
        reduce(or_, [effects_of[n] for n in names], 1 << e) for e, names in enumerate(parents)
    ]
    opened = 0
    now = most = 0.0
    for e in sorted(range(len(size)), key=lambda e: neighbors[e].bit_count()):
        now += sum([size[other] for other in bits(neighbors[e] & ~opened)])
        opened |= neighbors[e]
        most = max(most, now)
        now -= size[e]
    return int(2 ** min(most, _MOST_BITS))


# --- Answers to queries about independent causes of observed effects, without a junction tree -----
#
# The circuit for any evidence is hopeless if there are many effects, but for the evidence at hand a
# sweep takes milliseconds.

_LARGE = 2**12
"""The cells of the tables of all effects above which sweeps are considered."""

_MANY = 16.0
"""The binary digits of the states of all effects above which sweeps are considered. With fewer
effects, a circuit for any evidence is small enough."""


def may_be_swept(potentials: Iterable[Potential | NoisyExtremum]) -> bool:
    """Return whether a model has effects so many and so large that sweeps are considered."""
    effects = [p for p in potentials if not isinstance(p, Factor | TabularCPD)]
    cells = accumulate(cpd.n_cells for cpd in effects)
    digits = accumulate(math.log2(cpd.variable.n_states) for cpd in effects)
    return any(n > _LARGE for n in cells) and any(n > _MANY for n in digits)


def large_causes(
    potentials: Sequence[Potential],
    observed: Iterable[str],
    targets: Iterable[Sequence[Variable]],
) -> IndependentCauses | None:
    """Return a model with large effects as independent causes, as by `independent_causes`."""
    if not may_be_swept(potentials):
        return None
    return independent_causes(potentials, observed, targets)


def are_layered(
    potentials: Sequence[Potential],
    known: Iterable[str],
    targets: Sequence[Sequence[Variable]],
) -> bool:
    """Return whether all hidden variables are independent causes of large observed effects.

    Effects without evidence must be barren. Each target may have one hidden variable.
    """
    observed = frozenset(known)
    needed = observed.union(v.name for target in targets for v in target)
    return large_causes(without_barren(potentials, needed), observed, targets) is not None
