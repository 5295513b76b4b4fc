"""Independent causes of many observed effects, such as diseases and their symptoms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain, pairwise
from operator import or_
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import ReadOnlyDict, Sealed, sealed
from bnmind.information import Floats
from bnmind.junction.graphs import bits
from bnmind.junction.reduction import without_barren
from bnmind.junction.sweep import CaseSweep, Part, parts_of, sweep_order
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyExtremum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import effect_of

# --- Models whose hidden variables are independent causes of observed effects ---------------------
#
# An example is QMR-DT: some hundred diseases, and some thousand findings, each a noisy-or of
# diseases. The effects may be noisy extrema and functions that are computed one argument at a time.
# Effects that are observed without an effect (a noisy-or that is false) are products of a factor
# for each cause. The others are swept over, see `bnmind.junction.sweep`.
#
# References
# ----------
# M. Shwe, B. Middleton, D. Heckerman, M. Henrion, E. Horvitz, H. Lehmann, G. Cooper, "Probabilistic
# diagnosis using a reformulation of the INTERNIST-1/QMR knowledge base", Methods of Information in
# Medicine 30 (1991), 241-255.


Effect: TypeAlias = NoisyExtremum | FunctionalCPD


class _Arcs(NamedTuple):
    """The probabilities that a parent has no effect on a noisy extremum, for each of its states."""

    rows: NDArray[np.intp]
    """The row of the state, see `IndependentCauses.rows`."""
    extrema: NDArray[np.intp]
    """The number of the extremum."""
    logs: Floats
    """The natural logarithms."""


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
    def effects(self) -> tuple[Effect, ...]:
        """The noisy extrema, then the functions."""
        return (*self.extrema, *self.functions)

    @cached_property
    def rows(self) -> Mapping[str, slice]:
        """The places of the states of all causes in one list, then those of observed parents."""
        parents = [v for cpd in self.extrema for v in cpd.parents]
        variables = {v.name: v for v in (*self.causes, *parents)}
        ends = accumulate([v.n_states for v in variables.values()], initial=0)
        return {
            name: slice(*ends_of) for name, ends_of in zip(variables, pairwise(ends), strict=True)
        }

    @cached_property
    def least(self) -> NDArray[np.intp]:
        """For each noisy extremum, its state without an effect."""
        return np.array([cpd.least for cpd in self.extrema], dtype=np.intp)

    @cached_property
    def arcs(self) -> _Arcs:
        """The probabilities of no effect."""
        rows, extrema = list[int](), list[int]()
        chances = [np.empty(0)]
        for e, (cpd, least) in enumerate(zip(self.extrema, self.least.tolist(), strict=True)):
            for v, link in zip(cpd.parents, cpd.links, strict=True):
                place = self.rows[v.name]
                rows += range(place.start, place.stop)
                extrema += [e] * v.n_states
                chances.append(link[least])
        return _Arcs(
            np.array(rows, dtype=np.intp),
            np.array(extrema, dtype=np.intp),
            _logs(np.concatenate(chances)),
        )

    @cached_property
    def leaks(self) -> Floats:
        """For each noisy extremum, the logarithm of the probability that its leak has no effect."""
        return _logs(np.array([cpd.contributions[0][cpd.least, 0] for cpd in self.extrema]))

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
        positions = np.array([states[cpd.variable.name] for cpd in self.extrema], dtype=np.intp)
        is_least = positions == self.least
        logs, log_constant = self._without_effects(states, more, is_least)
        starts = np.array([self.rows[v.name].start for v in self.causes], dtype=np.intp)
        n_states = [v.n_states for v in self.causes]
        most = np.maximum.reduceat(logs, starts)
        if not np.all(most > -np.inf) or not log_constant > -math.inf:
            return None
        weights = np.exp(logs - np.repeat(most, n_states))
        sums = np.add.reduceat(weights, starts)
        weights = sealed(weights / np.repeat(sums, n_states))
        log_constant += float((most + np.log(sums)).sum())

        active = [self.extrema[e] for e in np.flatnonzero(~is_least).tolist()]
        parts = self._parts([*active, *self.functions], states)
        if parts is None:
            return None
        return CaseSweep(
            causes=self.causes,
            weights=tuple(np.split(weights, starts[1:])),
            parts=tuple(parts),
            log_constant=log_constant,
        )

    def _without_effects(
        self, states: Mapping[str, int], more: Sequence[Factor], is_least: NDArray[np.bool_]
    ) -> tuple[Floats, float]:
        """Return the logarithms of the weights of the causes without the effects to sweep over.

        The second value is the logarithm of what depends on no cause.
        """
        rows, extrema, logs = self.arcs
        n = max((place.stop for place in self.rows.values()), default=0)
        chosen = np.where(is_least[extrema], logs, 0.0)
        logs = np.bincount(rows, chosen, minlength=n).astype(np.float64)
        constant = float(self.leaks[is_least].sum())
        for table in (*self.tables, *more):
            index = tuple([states.get(v.name, slice(None)) for v in table.scope])
            values = _logs(np.real(table.values[index]))
            hidden = [v.name for v in table.scope if v.name not in states]
            if hidden:
                logs[self.rows[hidden[0]]] += values
            else:
                constant += float(values)
        observed = [name for name in self.rows if name in states]
        constant += sum(float(logs[self.rows[name]][states[name]]) for name in observed)
        return logs[: sum(v.n_states for v in self.causes)], constant

    def _parts(self, effects: Sequence[Effect], states: Mapping[str, int]) -> list[Part] | None:
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
