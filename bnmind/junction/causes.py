"""Independent causes of many observed effects, such as diseases and their symptoms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain
from operator import or_
from typing import TypeAlias

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
