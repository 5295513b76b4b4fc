"""Independent causes of many observed effects, such as diseases and their symptoms."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import ReadOnlyDict, Sealed, made, sealed
from bnmind.information import Floats
from bnmind.junction.program.program_inputs import Answer
from bnmind.junction.sweep import CaseSweep, Part, SweepOrder, parts_of, sweep_order
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import is_stepwise
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import Effect, effect_of

# --- Products of many small numbers, group by group, without underflow ----------------------------

_BLOCK = 512
"""The most mantissas, of at least 1/2 each, that are multiplied without scaling."""


def products_by_group(
    values: Floats, groups: NDArray[np.intp], n_groups: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the product of the values of each group, as mantissas and powers of two.

    Parameters
    ----------
    values
        Numbers that are not negative.
    groups
        The group of each of them. Empty groups have the product one.
    n_groups
        The number of groups.
    """
    order = np.argsort(groups, kind="stable")
    members, mantissas = groups[order], values[order]
    powers = np.zeros(n_groups, dtype=np.int64)
    while True:
        mantissas, more = np.frexp(mantissas)
        np.add.at(powers, members, more)
        firsts = np.flatnonzero(np.diff(members, prepend=-1))
        if len(firsts) == len(members):
            break
        lengths = np.diff(firsts, append=len(members))
        within = np.arange(len(members)) - np.repeat(firsts, lengths)
        starts = np.flatnonzero(within % _BLOCK == 0)
        mantissas = np.multiply.reduceat(mantissas, starts)
        members = members[starts]
    result = np.ones(n_groups)
    result[members] = mantissas
    return result, powers


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
    least: NDArray[np.intp]
    """For each noisy extremum, its state without an effect."""
    arcs: NDArray[np.intp]
    """``(arcs, 3)``: for each arc from a cause to a noisy extremum, the number of the extremum, the
    cause, and the place in ``chances`` of its first state."""
    chances: Floats
    """For each arc and each state of the cause, the probability of no effect."""
    leaks: Floats
    """For each noisy extremum, the probability that its leak has no effect."""

    @property
    def effects(self) -> tuple[NoisyExtremum | FunctionalCPD, ...]:
        """The noisy extrema, then the functions."""
        return (*self.extrema, *self.functions)

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
        weights, log_constant, active = self._weights(states, more)
        if weights is None:
            return None
        place = {v.name: i for i, v in enumerate(self.causes)}
        effects_of: dict[int, list[int]] = {}
        n_results: dict[int, int] = {}
        for e, cpd in enumerate(active):
            hidden = [self.number[v.name] for v in cpd.parents if v.name not in states]
            for c in hidden:
                effects_of.setdefault(c, []).append(e)
            n_results[e] = 2
            if hidden and not isinstance(cpd, FunctionalCPD):
                continue
            effect = effect_of(cpd, states, self.number, place)
            if effect is None or not effect.start.any():
                return None
            n_results[e] = max(2, effect.most_results)
            if not hidden:
                chance = float(effect.start @ effect.end)
                if not chance > 0:
                    return None
                log_constant += math.log(chance)
        parts = []
        n_states = [v.n_states for v in self.causes]
        seen: set[int] = set()
        for group in parts_of(effects_of):
            members = set(group)
            seen |= members
            shared = {
                c: mine for c, mine in effects_of.items() if len(mine) > 1 and mine[0] in members
            }
            part = self._part(group, active, states, sweep_order(shared, n_results, n_states))
            if part is None:
                return None
            parts.append(part)
        return CaseSweep(
            causes=self.causes,
            weights=weights,
            parts=tuple(parts),
            log_constant=log_constant,
        )

    def _part(
        self,
        group: Sequence[int],
        active: Sequence[NoisyExtremum | FunctionalCPD],
        states: Mapping[str, int],
        order: SweepOrder,
    ) -> Part | None:
        """Return connected effects with the order of their causes."""
        if math.isinf(order.cost):
            return Part(ReadOnlyDict({}), order)
        place = dict.fromkeys((v.name for v in self.causes), -1)
        place |= {self.causes[c].name: i for i, c in enumerate(order.causes)}
        effects: dict[int, Effect] = {}
        for e in group:
            effect = effect_of(active[e], states, self.number, place)
            if effect is None:
                return None
            effects[e] = effect
        return Part(ReadOnlyDict(effects), order)

    def _weights(
        self, states: Mapping[str, int], more: Sequence[Factor]
    ) -> tuple[tuple[Floats, ...] | None, float, list[NoisyExtremum | FunctionalCPD]]:
        """Return the distribution of each cause without the effects that need a sweep.

        The second value is the logarithm of what was divided out, and the third are the effects.
        """
        log_constant = 0.0
        weights = [np.ones(v.n_states) for v in self.causes]
        powers = 0
        for table in (*self.tables, *more):
            index = tuple([states.get(v.name, slice(None)) for v in table.scope])
            values = np.real(table.values[index])
            hidden = [v.name for v in table.scope if v.name not in states]
            if hidden:
                c = self.number[hidden[0]]
                weights[c] = weights[c] * values
                power = math.frexp(float(weights[c].max()))[1]
                weights[c] = np.ldexp(weights[c], -power)
                powers += power
            elif values > 0:
                log_constant += math.log(float(values))
            else:
                return None, 0.0, []
        positions = np.array([states[cpd.variable.name] for cpd in self.extrema], dtype=np.intp)
        is_least = positions == self.least
        chosen = self.arcs[is_least[self.arcs[:, 0]]] if len(self.extrema) else self.arcs
        scaled, scales = self._without_effects(weights, chosen)
        powers += int(scales.sum())
        for e in np.flatnonzero(is_least).tolist():
            cpd = self.extrema[e]
            chance = float(self.leaks[e])
            if any(v.name in states for v in cpd.parents):
                least = int(self.least[e])
                for v, link in zip(cpd.parents, cpd.links, strict=True):
                    if v.name in states:
                        chance *= float(link[least, states[v.name]])
            if not chance > 0:
                return None, 0.0, []
            log_constant += math.log(chance)
        normalized = []
        for v, row in zip(self.causes, scaled, strict=True):
            weight = row[: v.n_states]
            total = float(weight.sum())
            if not total > 0:
                return None, 0.0, []
            log_constant += math.log(total)
            normalized.append(sealed(weight / total))
        active: list[NoisyExtremum | FunctionalCPD] = [
            self.extrema[e] for e in np.flatnonzero(~is_least).tolist()
        ]
        active += self.functions
        return tuple(normalized), log_constant + powers * math.log(2), active

    def _without_effects(
        self, weights: Sequence[Floats], arcs: NDArray[np.intp]
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return the weights times the probabilities of no effect on some arcs.

        The first array is ``(causes, states)``, with zeros where a cause has fewer states, and the
        second has the power of two that was divided out of each row.
        """
        n_states = np.array([v.n_states for v in self.causes], dtype=np.intp)
        result = np.zeros((len(self.causes), max(n_states, default=0)))
        powers = np.zeros(result.shape, dtype=np.int64)
        for c, weight in enumerate(weights):
            result[c, : len(weight)] = weight
        for x in range(result.shape[1]):
            mine = arcs[n_states[arcs[:, 1]] > x]
            products, exponents = products_by_group(
                self.chances[mine[:, 2] + x], mine[:, 1], len(self.causes)
            )
            result[:, x], more = np.frexp(result[:, x])
            result[:, x] *= products
            powers[:, x] = more + exponents
        lowest = np.iinfo(np.int32).min
        scales = np.where(result > 0, powers, lowest).max(axis=1, initial=lowest)
        scales[scales == lowest] = 0
        shifts = np.clip(powers - scales[:, None], -2_000, 0)
        return np.ldexp(result, shifts), scales


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
    if any(sum(v.name not in known for v in target) > 1 for target in targets):
        return None
    tables: list[Factor | TabularCPD] = []
    extrema: list[NoisyExtremum] = []
    functions: list[FunctionalCPD] = []
    for potential in potentials:
        if isinstance(potential, Factor | TabularCPD):
            if sum([v.name not in known for v in potential.scope]) > 1:
                return None
            if isinstance(potential, Factor) and not _is_positive(potential):
                return None
            tables.append(potential)
        elif potential.variable.name not in known:
            return None
        elif isinstance(potential, FunctionalCPD):
            if not is_stepwise(potential.function):
                return None
            functions.append(potential)
        elif isinstance(potential, NoisyExtremum):
            extrema.append(potential)
        else:
            return None
    if not extrema and not functions:
        return None
    hidden = {v.name: v for p in potentials for v in p.scope if v.name not in known}
    hidden |= {v.name: v for target in targets for v in target if v.name not in known}
    number = {name: i for i, name in enumerate(hidden)}
    least, arcs, chances, leaks, filled = [], [], [], [], 0
    for e, cpd in enumerate(extrema):
        lowest = 0 if isinstance(cpd, NoisyMaximum) else cpd.variable.n_states - 1
        least.append(lowest)
        leaks.append(cpd.contributions[0][lowest, 0])
        for v, link in zip(cpd.parents, cpd.links, strict=True):
            c = number.get(v.name)
            if c is not None:
                arcs.append((e, c, filled))
                chances.append(link[lowest])
                filled += v.n_states
    return made(
        IndependentCauses,
        causes=tuple(hidden.values()),
        number=ReadOnlyDict(number),
        tables=tuple(tables),
        extrema=tuple(extrema),
        functions=tuple(functions),
        least=sealed(np.array(least, dtype=np.intp)),
        arcs=sealed(np.array(arcs, dtype=np.intp).reshape(len(arcs), 3)),
        chances=sealed(np.concatenate([*chances, np.empty(0)])),
        leaks=sealed(np.array(leaks, dtype=np.float64)),
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
    effects = causes.effects
    hidden = [[v.name for v in cpd.parents if v.name in causes.number] for cpd in effects]
    effects_of: dict[str, int] = {}
    for e, names in enumerate(hidden):
        for name in names:
            effects_of[name] = effects_of.get(name, 0) | 1 << e
    bits = [math.log2(cpd.variable.n_states) for cpd in effects]
    neighbors = []
    for e, names in enumerate(hidden):
        touched = 1 << e
        for name in names:
            touched |= effects_of[name]
        neighbors.append(touched)
    order = sorted(range(len(effects)), key=lambda e: neighbors[e].bit_count())
    opened = 0
    now = most = 0.0
    for e in order:
        new = neighbors[e] & ~opened
        opened |= new
        while new:
            low = new & -new
            now += bits[low.bit_length() - 1]
            new ^= low
        most = max(most, now)
        if most > _MOST_BITS:
            break
        now -= bits[e]
    return int(2 ** min(most, _MOST_BITS))


# --- Answers to queries about independent causes of observed effects, without a junction tree -----
#
# See `bnmind.junction.causes`. The tree for any evidence is hopeless if there are
# many effects, but for the evidence at hand a sweep takes milliseconds.

_LARGE = 2**12
"""The cells of the tables of all effects above which sweeps are considered."""

_MANY = 16.0
"""The binary digits of the states of all effects above which sweeps are considered. With fewer
effects, a tree for any evidence is small enough."""

_QUICK = 2.0**24
"""The multiplications of a sweep that needs no comparison with a tree."""

_SIGNED_COST = 4
"""The cost of multiplications of a plan with negative or complex numbers, which lose digits."""


@dataclass(frozen=True, eq=False)
class SweptCase(Sealed):
    """A sweep that answers a query, and its answers."""

    sweep: CaseSweep
    answers: tuple[Answer, ...]
    """The rules for reading each target."""

    @classmethod
    def of(
        cls,
        causes: IndependentCauses,
        states: Mapping[str, int],
        factors: Sequence[Factor],
        targets: Iterable[tuple[Variable, ...]],
    ) -> SweptCase | None:
        """Return the sweep for given evidence; None if there is none.

        Parameters
        ----------
        causes
            The model.
        states, factors
            The evidence, as for `IndependentCauses.at`.
        targets
            The variables of each target, at most one of them hidden.
        """
        sweep = causes.at(states, factors)
        if sweep is None:
            return None
        return cls(sweep, tuple([_answer(target, states, causes.number) for target in targets]))

    @property
    def is_quick(self) -> bool:
        """Whether a comparison with a tree does not pay."""
        return self.sweep.cost <= _QUICK

    def is_better_than(self, multiplications: int, *, signed: bool) -> bool:
        """Return whether the sweep is cheaper than a plan, which may have negative numbers."""
        return self.sweep.cost <= (_SIGNED_COST if signed else 1) * multiplications


def may_be_swept(potentials: Iterable[Potential | NoisyExtremum]) -> bool:
    """Return whether a model has effects so many and so large that sweeps are considered."""
    effects = [p for p in potentials if not isinstance(p, Factor | TabularCPD)]
    if sum([cpd.n_cells for cpd in effects]) <= _LARGE:
        return False
    return sum([math.log2(cpd.variable.n_states) for cpd in effects]) > _MANY


def are_layered(
    potentials: Sequence[Potential],
    known: Container[str],
    targets: Iterable[Sequence[str]],
) -> bool:
    """Return whether all hidden variables are independent causes of large observed effects.

    Effects without evidence must be barren. Each target may have one hidden variable.
    """
    hidden_targets = [[name for name in target if name not in known] for target in targets]
    if any(len(names) > 1 for names in hidden_targets):
        return False
    needed = {name for names in hidden_targets for name in names}
    hidden_effects = set()
    observed_effects = []
    for potential in potentials:
        if isinstance(potential, Factor | TabularCPD):
            if len(potential.scope) > 1 and sum([v.name not in known for v in potential.scope]) > 1:
                return False
        elif potential.variable.name in known:
            observed_effects.append(potential)
        else:
            hidden_effects.add(potential.variable.name)
    if not may_be_swept(observed_effects) or not hidden_effects.isdisjoint(needed):
        return False
    used = (v.name for p in potentials for v in (p.scope if isinstance(p, Factor) else p.parents))
    return not hidden_effects or hidden_effects.isdisjoint(used)


def large_causes(
    potentials: Sequence[Potential],
    observed: Iterable[str],
    targets: Iterable[Sequence[Variable]],
) -> IndependentCauses | None:
    """Return a model with large effects as independent causes, as by `independent_causes`."""
    if not may_be_swept(potentials):
        return None
    causes = independent_causes(potentials, observed, targets)
    return None if causes is None or not may_be_swept(causes.effects) else causes


def _answer(
    target: tuple[Variable, ...], states: Mapping[str, int], number: Mapping[str, int]
) -> Answer:
    """Return the rule for reading a target, with at most one hidden variable."""
    hidden = [v for v in target if v.name not in states]
    shape = tuple([v.n_states for v in hidden])
    return made(
        Answer,
        variables=target,
        observed=tuple([v.name for v in target if v.name in states]),
        axes=None,
        view=shape,
        shape=shape,
        register=number[hidden[0].name] if hidden else None,
        cells=None,
    )
