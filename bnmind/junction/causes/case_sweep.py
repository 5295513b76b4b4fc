"""The sweeps that answer a question about independent causes, for the evidence at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._messages import many
from bnmind._values import ReadOnlyDict, Sealed, sealed
from bnmind.information import Floats
from bnmind.junction.causes.sweep import sweep
from bnmind.junction.causes.sweep_order import SweepOrder
from bnmind.junction.program.independent_sum import Summed
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable
from bnmind.rank_one.forms import Effect

__all__ = ["CaseSweep", "Part"]

_BOTH_WAYS = 3
"""The multiplications of a sweep and of a sweep back, which also multiplies the two tables, as a
multiple of those of a sweep."""


@dataclass(frozen=True, eq=False)
class Part(Sealed):
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
    def cost(self) -> float:
        """The predicted multiplications of a run; infinite if they are too many to count."""
        return _BOTH_WAYS * math.fsum(part.order.cost for part in self.parts) + 8 * sum(
            len(effect.causes) for part in self.parts for effect in part.effects.values()
        )

    @property
    def multiplications(self) -> int:
        """The predicted multiplications of a run."""
        return int(self.cost)

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

    @property
    def steps(self) -> int:
        """The number of multiplications of tables in a run."""
        return sum(len(effect.causes) for part in self.parts for effect in part.effects.values())

    def run(self, registers: Sequence[Values], at: Mapping[str, int]) -> Summed | None:
        """Return the distributions of the causes; None if the evidence is too improbable.

        The arguments, those of `IndependentSum.run`, are not used: the evidence is known.
        """
        beliefs = list(self.weights)
        log_evidence = self.log_constant
        priors = dict(enumerate(self.weights))
        with np.errstate(under="ignore"):
            for part in self.parts:
                swept = sweep(part.effects, part.order.causes, priors)
                if swept is None:
                    return None
                log_evidence += math.log(swept.mantissa) + swept.power * math.log(2)
                for c, belief in swept.beliefs.items():
                    beliefs[c] = sealed(belief)
        return Summed(ReadOnlyDict(enumerate(beliefs)), log_evidence)
