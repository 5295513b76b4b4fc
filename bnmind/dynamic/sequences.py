"""Sequences of findings, a row of a data frame for each slice, and the answers about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, one_line, shown
from bnmind._values import ReadOnlyDict, Sealed, Value
from bnmind.dynamic.network import DynamicNetwork
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TableError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.cases.tables import frame_of, read_table
from bnmind.junction.inference.evidence import label_of, real_numbers
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas


class Group(NamedTuple):
    """Sequences that run side by side."""

    numbers: NDArray[np.intp]
    """The sequences, ``(sequences,)``."""
    rows: NDArray[np.intp]
    """``(slices, sequences)``: the row of each slice, −1 after the end of a sequence."""

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether a sequence has a slice, ``(slices, sequences)``."""
        return np.asarray(self.rows >= 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sequences(Sealed):
    """The findings of all sequences, with their rows in the order of the data frame."""

    variables: tuple[Variable, ...]
    """The variables with findings."""
    states: Mapping[str, NDArray[np.int32]]
    """State positions by variable, ``(rows + 1,)``, −1 where missing; the last one is missing."""
    likelihoods: Mapping[str, Floats]
    """Likelihoods by variable, ``(rows + 1, states)``; the last row is ones."""
    order: NDArray[np.intp]
    """The rows of the first sequence, then those of the second one, and so on."""
    starts: NDArray[np.intp]
    """Where each sequence starts in ``order``, and the number of rows."""
    names: tuple[Any, ...]
    """The label of each sequence."""
    labels: tuple[Any, ...]
    """The label of each row."""

    @property
    def n_rows(self) -> int:
        """The number of slices of all sequences."""
        return len(self.order)

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The number of slices of each sequence."""
        return np.diff(self.starts)

    @cached_property
    def sequence_of(self) -> NDArray[np.intp]:
        """The sequence of each row."""
        numbers = np.empty(self.n_rows, dtype=np.intp)
        numbers[self.order] = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return numbers

    def groups(self, most: int) -> Iterator[Group]:
        """Yield groups of at most so many sequences, of similar lengths, longest first."""
        by_length = np.argsort(-self.lengths, kind="stable")
        n_groups = -(-len(by_length) // max(most, 1))
        for numbers in np.array_split(by_length, n_groups) if n_groups else ():
            rows = np.full((int(self.lengths[numbers].max()), len(numbers)), -1, dtype=np.intp)
            for column, number in enumerate(numbers.tolist()):
                own = self.order[self.starts[number] : self.starts[number + 1]]
                rows[: len(own), column] = own
            yield Group(numbers, rows)

    @cached_property
    def _findings(self) -> dict[str, Floats]:
        """For each variable with states, the likelihood of each position; missing comes last."""
        return {
            v.name: np.vstack([np.eye(v.n_states), np.ones(v.n_states)])
            for v in self.variables
            if v.name in self.states
        }

    def evidence(self, observed: Sequence[Variable], rows: NDArray[np.intp]) -> dict[str, Floats]:
        """Return the likelihoods of some rows, ``(states, rows)``, by the names of inputs."""
        weights = {}
        for v in observed:
            if v.name in self.states:
                part = self._findings[v.name][self.states[v.name][rows]]
            elif v.name in self.likelihoods:
                part = self.likelihoods[v.name][rows]
            else:
                part = np.ones((len(rows), v.n_states))
            weights[label_of(v.name)] = np.ascontiguousarray(part.T)
        return weights

    def has(self, name: str, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether a variable has a finding in some rows."""
        if name in self.likelihoods:
            return np.asarray(rows >= 0)
        if name in self.states:
            return np.asarray(self.states[name][rows] >= 0)
        return np.zeros(len(rows), dtype=np.bool_)

    def found(self, row: int) -> dict[str, Any]:
        """Return the findings of a row, {variable: finding}."""
        findings: dict[str, Any] = {}
        for v in self.variables:
            if v.name in self.likelihoods:
                findings[v.name] = tuple(self.likelihoods[v.name][row].tolist())
            elif self.states[v.name][row] >= 0:
                findings[v.name] = v.states[int(self.states[v.name][row])]
        return findings

    def impossible(self, name: Any, number: int, row: int) -> ImpossibleEvidenceError:
        """Return the error of the first impossible slice of a sequence.

        Parameters
        ----------
        name
            The sequence's label.
        number, row
            The slice, and its row.
        """
        of = "" if name is None else f" of sequence {one_line(str(name))}"
        return ImpossibleEvidenceError(
            f"the findings in row {one_line(str(self.labels[row]))}, slice {number}{of}, are"
            " impossible given those of earlier slices",
            self.found(row),
        )


def read_sequences(
    network: DynamicNetwork,
    observed: Sequence[Variable],
    cases: Any,
    *,
    sequence: str | None = None,
    likelihoods: Mapping[str, Any] | None = None,
    as_text: bool = False,
    first_row: int | None = None,
) -> Sequences:
    """Return the sequences in a data frame.

    Parameters
    ----------
    network
        The model.
    observed
        The variables that may have findings.
    cases
        A data frame, or a mapping from names to columns: a row for each slice, in order, and a
        column for each observed variable.
    sequence
        The column that tells to which sequence a row belongs; without it, all rows are one
        sequence.
    likelihoods
        Likelihood findings by variable, ``(rows, states)``.
    as_text, first_row
        As in `bnmind.junction.cases.tables.read_table`.

    Raises
    ------
    TableError
        If a cell holds no state, or a row has no sequence.
    InvalidArgumentError, UnknownNameError
        If the arguments do not fit the network.
    """
    frame = frame_of(cases)
    soft = dict(likelihoods or {})
    known = {v.name: v for v in network.variables}
    for name in soft:
        network.variable(name)
    table = None
    # With likelihoods, no column needs to be a variable.
    if not soft or any(format_name(label) in known for label in frame.columns):
        table = read_table(network.variables, frame, as_text=as_text, first_row=first_row)
    columns = {} if table is None else table.columns
    allowed = {v.name for v in observed}
    problems = [
        f"the plan takes no findings of {one_line(name)}; name it in `observed`"
        for name in dict.fromkeys([*columns, *soft])
        if name not in allowed
    ]
    problems += [
        f"expected findings of {one_line(name)} as a column or as likelihoods, got both"
        for name in soft
        if name in columns
    ]
    if sequence is not None and sequence in known:
        problems.append(f"the column of sequences must not have the name of a variable: {sequence}")
    if problems:
        raise InvalidArgumentError("; ".join(problems), tuple(problems))
    n = len(frame) if len(frame.columns) else len(next(iter(soft.values()), ()))
    if not n:
        raise TableError(["expected at least one slice, got none"])
    order, starts, names = _split(frame, sequence, n)
    weights = {name: _likelihoods(known[name], given, n) for name, given in soft.items()}
    return Sequences(
        variables=tuple(v for v in network.variables if v.name in columns or v.name in soft),
        states=ReadOnlyDict(
            {name: np.append(c.positions, np.int32(-1)) for name, c in columns.items()}
        ),
        likelihoods=ReadOnlyDict(weights),
        order=order,
        starts=starts,
        names=names,
        labels=tuple(frame.index.tolist()) if len(frame.columns) else tuple(range(n)),
    )


def _split(
    frame: Any, sequence: str | None, n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], tuple[Any, ...]]:
    """Return the rows by sequence, where each sequence starts, and the labels of sequences."""
    import pandas

    if sequence is None:
        return np.arange(n), np.array([0, n]), (None,)
    if list(frame.columns).count(sequence) != 1:
        if sequence not in frame.columns:
            raise UnknownNameError("column", sequence, [str(c) for c in frame.columns])
        raise TableError([f"two columns have the name {shown(sequence)}"])
    codes, names = pandas.factorize(frame[sequence])
    if (codes < 0).any():
        row = frame.index[int(np.argmin(codes))]
        raise TableError(
            [f"expected a sequence in column {one_line(sequence)} of row {row}, got none"]
        )
    counts = np.bincount(codes, minlength=len(names))
    order = np.argsort(codes, kind="stable")
    return order, np.concatenate([[0], np.cumsum(counts)]), tuple(pandas.Index(names).tolist())


def _likelihoods(variable: Variable, given: Any, n: int) -> Floats:
    what = f"the likelihoods of {variable.name}"
    weights = real_numbers(given, what)
    if weights.shape != (n, variable.n_states):
        raise InvalidArgumentError(
            f"{what} must be an array of shape {(n, variable.n_states)}, got {weights.shape}",
            given,
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise InvalidArgumentError(f"{what} must be finite and not negative", given)
    return np.vstack([weights, np.ones(variable.n_states)])


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
