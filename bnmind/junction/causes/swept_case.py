"""Answers to queries about independent causes of observed effects, without a junction tree.

See `bnmind.junction.causes.independent_causes`. The tree for any evidence is hopeless if there are
many effects, but for the evidence at hand a sweep takes milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bnmind._values import Sealed, made
from bnmind.junction.causes.case_sweep import CaseSweep
from bnmind.junction.causes.independent_causes import IndependentCauses, independent_causes
from bnmind.junction.program.program_inputs import Answer
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyExtremum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["SweptCase", "are_layered", "large_causes", "may_be_swept"]

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
