"""Answers to queries about independent causes of observed effects, without a junction tree.

See `bnmind.junction.causes.independent_causes`. The tree for any evidence is hopeless if there are
many effects, but for the evidence at hand a sweep takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bnmind._values import Sealed, made
from bnmind.junction.causes.case_sweep import CaseSweep
from bnmind.junction.causes.independent_causes import IndependentCauses, independent_causes
from bnmind.junction.program.program_inputs import Answer
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["SweptCase", "are_layered", "large_causes", "may_be_swept"]

_LARGE = 2**16
"""The cells of tables of effects from which sweeps are considered."""

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


def may_be_swept(potentials: Sequence[Potential]) -> bool:
    """Return whether a model has effects with tables so large that sweeps are considered."""
    return (
        sum([0 if isinstance(p, Factor | TabularCPD) else p.n_cells for p in potentials]) > _LARGE
    )


def are_layered(potentials: Sequence[Potential], known: Container[str]) -> bool:
    """Return whether all hidden variables are independent causes of large observed effects.

    Effects without evidence are not considered.
    """
    cells = 0
    for potential in potentials:
        if isinstance(potential, Factor | TabularCPD):
            if len(potential.scope) > 1 and sum([v.name not in known for v in potential.scope]) > 1:
                return False
        elif potential.variable.name in known:
            cells += potential.n_cells
    return cells > _LARGE


def large_causes(
    potentials: Sequence[Potential],
    observed: Iterable[str],
    targets: Iterable[Sequence[Variable]],
) -> IndependentCauses | None:
    """Return a model with large effects as independent causes, as by `independent_causes`."""
    if not may_be_swept(potentials):
        return None
    causes = independent_causes(potentials, observed, targets)
    return None if causes is None or causes.effect_cells <= _LARGE else causes


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
