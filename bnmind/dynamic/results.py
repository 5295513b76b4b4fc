"""The answers to questions about sequences, as arrays and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import UnknownNameError
from bnmind.information import Floats
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["FilterInfo", "FilterState", "MostProbablePath", "SequencePosterior"]


@dataclass(frozen=True, eq=False, repr=False)
class FilterState(Value):
    """All that filtering needs to know of the past. Created by `DynamicPlan.start`."""

    n_slices: int
    """The number of slices so far."""
    belief: Floats
    """The joint distribution of the interface of the last slice given all findings so far, with an
    axis for each variable of `DynamicNetwork.interface`; the number 1 before the first slice."""
    log_likelihood: float
    """Natural logarithm of the probability of all findings so far."""

    def __repr__(self) -> str:
        slices = counted(self.n_slices, "slice")
        return f"FilterState({slices}, log_likelihood={self.log_likelihood:.6g})"


@dataclass(frozen=True, eq=False, repr=False)
class FilterInfo(Value):
    """The answers of a step of filtering, for people."""

    number: int
    """The slice, from 0."""
    posterior: Posterior
    """The distributions of the plan's targets in the slice given all findings so far."""
    log_evidence: float
    """Natural logarithm of the probability of the slice's findings given all earlier ones."""

    def __repr__(self) -> str:
        return f"FilterInfo(slice {self.number}, log_evidence={self.log_evidence:.6g})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SequencePosterior(Value):
    """The distributions of variables in every slice of some sequences."""

    variables: tuple[Variable, ...]
    """The targets, in the order of the plan."""
    marginals: Mapping[str, Floats]
    """The distributions of each variable, ``(rows, states)``."""
    log_evidence: Floats
    """Natural logarithm of the probability of the findings of each row given those of the earlier
    slices of its sequence, ``(rows,)``."""
    sequence_of: NDArray[np.intp]
    """The number of the sequence of each row."""
    sequences: tuple[Any, ...]
    """The label of each sequence; None if there is no column of sequences."""
    labels: tuple[Any, ...]
    """The label of each row."""

    def __repr__(self) -> str:
        return (
            f"SequencePosterior({counted(len(self.labels), 'slice')} of"
            f" {counted(len(self.sequences), 'sequence')},"
            f" log_likelihood={self.log_likelihood:.6g})"
        )

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all findings."""
        return float(self.log_evidence.sum())

    @property
    def log_likelihoods(self) -> Mapping[Any, float]:
        """Natural logarithm of the probability of the findings of each sequence, by label."""
        sums = np.bincount(self.sequence_of, self.log_evidence, len(self.sequences))
        return ReadOnlyDict(zip(self.sequences, sums.tolist(), strict=True))

    @checked
    def to_frame(self, name: str) -> pandas.DataFrame:
        """Return the distributions of a variable as a `pandas.DataFrame`: rows × states.

        Parameters
        ----------
        name
            The name of the variable.

        Raises
        ------
        UnknownNameError
            If the variable is not a target of the plan.
        """
        import pandas

        states = {v.name: v.states for v in self.variables}
        if name not in states:
            raise UnknownNameError("target of the plan", name, states)
        columns = pandas.Index(states[name], name=name)
        index = pandas.Index(self.labels)
        return pandas.DataFrame(self.marginals[name].copy(), index=index, columns=columns)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MostProbablePath(Value):
    """The most probable states of all variables in all slices of each sequence, given the findings.

    The states of a sequence are the most probable ones together; they need not be the most probable
    ones of each slice.
    """

    variables: tuple[Variable, ...]
    """The variables of a slice."""
    positions: Mapping[str, NDArray[np.intp]]
    """The state positions of each variable, ``(rows,)``."""
    log_probabilities: Mapping[Any, float]
    """Natural logarithm of the joint probability of the path and the findings of each sequence, by
    the label of the sequence."""
    labels: tuple[Any, ...]
    """The label of each row."""

    def __repr__(self) -> str:
        sequences = counted(len(self.log_probabilities), "sequence")
        return f"MostProbablePath({counted(len(self.labels), 'slice')} of {sequences})"

    def to_frame(self) -> pandas.DataFrame:
        """Return the states as a `pandas.DataFrame`: rows × variables."""
        import pandas

        columns = {
            v.name: np.array(v.states, dtype=object)[self.positions[v.name]] for v in self.variables
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.labels))
