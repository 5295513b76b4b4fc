"""Measures of what is unknown about several targets: together, or one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from bnmind._registry import Registered
from bnmind._values import ReadOnlyDict

__all__ = ["TARGET_MEASURES", "JointEntropy", "MarginalEntropies", "TargetMeasure"]


class TargetMeasure(Protocol):
    """A measure of what is unknown: a sum of entropies of groups of targets."""

    def groups(self, about: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the groups of targets whose joint entropies are added.

        Parameters
        ----------
        about
            The names of the targets.
        """
        ...


@dataclass(frozen=True)
class JointEntropy:
    """The entropy of all targets together, the default.

    The computation takes a run for each configuration of the targets, so their number is limited.

    Examples
    --------
    >>> JointEntropy().groups(("pump", "valve"))
    (('pump', 'valve'),)
    """

    def groups(self, about: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return one group of all targets."""
        return (about,)


@dataclass(frozen=True)
class MarginalEntropies:
    """The sum of the entropies of the targets, each by itself.

    Dependence between targets counts several times, and what only a combination of targets
    tells counts not at all. The computation takes a run for each state of each target, so there may
    be many targets.

    Examples
    --------
    >>> MarginalEntropies().groups(("pump", "valve"))
    (('pump',), ('valve',))
    """

    def groups(self, about: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return a group for each target."""
        return tuple((name,) for name in about)


TARGET_MEASURES: Mapping[str, Registered[TargetMeasure]] = ReadOnlyDict(
    {
        "joint": Registered("the entropy of all targets together", JointEntropy),
        "marginals": Registered("the sum of the entropies of single targets", MarginalEntropies),
    }
)
"""The measures by name."""
