"""What a run of a plan says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bnmind._arguments import checked
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import UnknownNameError
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.variable import Variable

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False)
class Posterior(Value):
    """Distributions of a plan's targets given the evidence."""

    scopes: tuple[tuple[Variable, ...], ...]
    """The variables of each target, in the order of the plan's targets."""
    joints: tuple[Values, ...]
    """The normalized joint of each target, an axis for each of its variables."""
    log_evidence: float
    """Natural logarithm of the probability of the evidence."""

    def __repr__(self) -> str:
        return f"Posterior({len(self.joints)} targets, log_evidence={self.log_evidence:.6g})"

    @cached_property
    def targets(self) -> tuple[Factor, ...]:
        """The normalized joint of each target, in the order of the plan's targets."""
        return tuple(map(Factor, self.scopes, self.joints))

    @cached_property
    def marginals(self) -> Mapping[str, Values]:
        """The distribution of every variable that is a target by itself, ``(states,)`` each."""
        pairs = zip(self.scopes, self.joints, strict=True)
        return ReadOnlyDict({scope[0].name: joint for scope, joint in pairs if len(scope) == 1})

    @checked
    def joint(self, *names: str) -> Factor:
        """Return the joint of variables that lie together in one target, in this order.

        Raises
        ------
        UnknownNameError
            If no target holds all of them.
        """
        wanted = set(names)
        for scope, values in zip(self.scopes, self.joints, strict=True):
            if wanted <= {v.name for v in scope}:
                return Factor(scope, values).sum_to(names)
        known = (", ".join(v.name for v in scope) for scope in self.scopes)
        raise UnknownNameError("set of variables within one target", ", ".join(names), known)
