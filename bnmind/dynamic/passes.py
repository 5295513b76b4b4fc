"""The interface algorithm: sequences of findings, plans of slices, passes, most probable paths.

A slice is a query of its own tables. The past enters as a table over the interface of the previous
slice, and the future as a table over the interface of the slice itself. Both are inputs of a run,
so that one plan serves all slices, whatever is observed in them.

====================  ==========================================================================
symbol (Murphy 2002)  name here
====================  ==========================================================================
α_t                   the past: P(interface of slice t | findings of slices 0, …, t)
β_t                   the future: P(findings after slice t | interface of slice t), up to a factor
====================  ==========================================================================

The sequences are the cases of a batch; see `bnmind.junction.batches`.

Given all findings, a slice has the joint γ_t of the interface before it, so that the future of that
interface is β_{t−1} = γ_t / α_{t−1}; no run of its own is needed.

The forward pass keeps only the past of the last slice. Smoothing goes back through the slices, and
needs the past of each of them. It keeps the past at every √T-th of T slices, and computes the
others again, a segment at a time: the memory grows with √T, and the forward pass runs twice.

References
----------
K. Murphy, "Dynamic Bayesian networks: representation, inference and learning", PhD thesis, Berkeley
2002, sections 3.4 (the interface algorithm) and 3.7.1 (checkpoints, after Binder, Murphy and
Russell, "Space-efficient inference in dynamic probabilistic networks", IJCAI 1997; here with two
levels instead of a logarithmic number).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_shape
from bnmind._messages import counted, format_bytes, many, one_line, shown
from bnmind._values import ReadOnlyDict, Sealed
from bnmind.dynamic.network import DynamicNetwork, previous, some_of
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TableError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.batches import Chunks, batch_size
from bnmind.junction.case_files import is_text, read_frame
from bnmind.junction.case_tables import Column, frame_of, read_table
from bnmind.junction.compiled_query import CompiledQuery, registers_of
from bnmind.junction.evidence import case_likelihoods, label_of
from bnmind.junction.limits import Limits
from bnmind.junction.plan import Plan, compile_plan
from bnmind.junction.runs import logarithms, run_logarithms
from bnmind.junction.walk import compile_elimination, most_likely, walk_back
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas

# --- Sequences of findings, a row of a data frame for each slice ----------------------------------

Likelihoods: TypeAlias = Mapping[str, Any]
"""Likelihood findings of the rows of a data frame, {variable: array ``(rows, states)``}."""

Rows: TypeAlias = NDArray[np.intp]
"""Numbers of rows. Those of sequences that run side by side have the shape ``(slices, sequences)``,
and are −1 after the end of a sequence."""


class Findings(NamedTuple):
    """The findings of a variable in all rows."""

    weights: Floats
    """``(kinds, states)``: the likelihoods that occur; the last one is ones."""
    kinds: NDArray[np.integer[Any]]
    """``(rows + 1,)``: the likelihood of each row, −1 where it is missing, as in the last one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sequences(Sealed):
    """The findings of all sequences, with their rows in the order of the data frame."""

    variables: tuple[Variable, ...]
    """The variables with findings."""
    findings: Mapping[str, Findings]
    """The findings of each variable that may have some."""
    names: tuple[Any, ...]
    """The label of each sequence."""
    sequence_of: Rows
    """The number of the sequence of each row."""
    labels: tuple[Any, ...]
    """The label of each row."""

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """The number of slices of each sequence."""
        return np.bincount(self.sequence_of, minlength=len(self.names))

    @cached_property
    def rows(self) -> list[Rows]:
        """The rows of each sequence."""
        order = np.argsort(self.sequence_of, kind="stable")
        return np.split(order, np.cumsum(self.lengths)[:-1])

    def groups(self, most: int) -> Iterator[Rows]:
        """Yield the rows of at most so many sequences, of similar lengths, longest first."""
        by_length = np.argsort(-self.lengths, kind="stable")
        for numbers in np.array_split(by_length, -(-len(by_length) // most)):
            rows = np.full((self.lengths[numbers[0]], len(numbers)), -1, dtype=np.intp)
            for column, number in enumerate(numbers.tolist()):
                rows[: self.lengths[number], column] = self.rows[number]
            yield rows

    def evidence(self, observed: Sequence[Variable], rows: Rows | int) -> dict[str, Floats]:
        """Return the likelihoods of some rows, ``(states, rows)``, by the names of inputs."""
        own = [(v.name, *self.findings[v.name]) for v in observed]
        return {
            label_of(name): np.ascontiguousarray(weights[kinds[rows]].T)
            for name, weights, kinds in own
        }

    def has(self, name: str, rows: Rows) -> NDArray[np.bool_]:
        """Return whether a variable has a finding in some rows."""
        return self.findings[name].kinds[rows] >= 0

    def found(self, row: int) -> dict[str, Any]:
        """Return the findings of a row, {variable: finding}."""
        found: dict[str, Any] = {}
        for v in self.variables:
            weights, kinds = self.findings[v.name]
            if kinds[row] >= 0:
                own = weights[kinds[row]]
                is_state = own.max() == own.sum() == 1
                found[v.name] = v.states[own.argmax()] if is_state else tuple(own.tolist())
        return found

    def place(self, row: int) -> str:
        """Return the text " of sequence …" for the sequence of a row, if it has a label."""
        name = self.names[int(self.sequence_of[row])]
        return "" if name is None else f" of sequence {one_line(str(name))}"

    def impossible(self, number: int, row: int) -> ImpossibleEvidenceError:
        """Return the error of the first impossible slice of a sequence, by its number and row."""
        return ImpossibleEvidenceError(
            f"the findings in row {one_line(str(self.labels[row]))}, slice"
            f" {number}{self.place(row)}, are impossible given those of earlier slices",
            self.found(row),
        )


def read_sequences(
    network: DynamicNetwork,
    observed: Sequence[Variable],
    cases: Any,
    *,
    sequence: str | None = None,
    likelihoods: Likelihoods | None = None,
    as_text: bool = False,
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
    as_text
        As in `bnmind.junction.case_tables.read_table`.

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
    columns: Mapping[str, Column] = {}
    # With likelihoods, no column needs to be a variable.
    if not soft or any(format_name(label) in known for label in frame.columns):
        columns = read_table(network.variables, frame, as_text=as_text).columns
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
    codes, names = _split(frame, sequence, n)

    def findings(v: Variable) -> Findings:
        weights, kinds = np.zeros((0, v.n_states)), np.full(n, -1, dtype=np.int32)
        if v.name in columns:
            weights, kinds = np.eye(v.n_states), columns[v.name].positions
        elif v.name in soft:
            weights, kinds = case_likelihoods(v, soft[v.name]).T, np.arange(n, dtype=np.int32)
            check_shape(weights, f"the likelihoods of {v.name}", (n, v.n_states))
        return Findings(np.vstack([weights, np.ones(v.n_states)]), np.append(kinds, np.int32(-1)))

    return Sequences(
        variables=tuple(v for v in network.variables if v.name in {*columns, *soft}),
        findings=ReadOnlyDict({v.name: findings(v) for v in observed}),
        names=names,
        sequence_of=codes,
        labels=tuple(frame.index.tolist()) if len(frame.columns) else tuple(range(n)),
    )


def _split(frame: Any, sequence: str | None, n: int) -> tuple[Rows, tuple[Any, ...]]:
    """Return the number of the sequence of each row, and the labels of sequences."""
    import pandas

    if sequence is None:
        return np.zeros(n, dtype=np.intp), (None,)
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
    return codes, tuple(pandas.Index(names).tolist())


def read_sequences_for(
    network: DynamicNetwork, path: str | os.PathLike[str], *, sequence: str | None = None
) -> tuple[Sequences, pandas.DataFrame]:
    """Return the sequences in a file, and the file as a data frame.

    Parameters
    ----------
    network
        The variables.
    path
        A Parquet file (``.parquet``), or a text file (``.csv``, ``.csv.gz``, ``.tsv`` or ``.txt``)
        with the names of the columns in the first line. In text, empty cells are missing, and so
        are texts such as ``NA`` or ``?`` unless they are states. The first sheet of an Excel
        workbook (``.xlsx``) is read as if it were saved as CSV.
    sequence
        The column that tells to which sequence a row belongs.

    Raises
    ------
    ModelFileError
        If the file cannot be read, its name has another suffix, or openpyxl is needed for a
        workbook and is not installed.
    TableError
        If the rows do not fit the network. The error names the rows: in a CSV file or a workbook,
        the header is row 1; in a Parquet file, the first slice is row 1.
    """
    frame = read_frame(path)
    found = read_sequences(
        network, network.variables, frame, sequence=sequence, as_text=is_text(path)
    )
    return found, frame.reset_index(drop=True)


# --- The plans of slices --------------------------------------------------------------------------

PAST = "the past"
"""The input over the interface of the previous slice."""

FUTURE = "the future"
"""The input over the interface of the slice."""


def table_input(name: str) -> str:
    """Return the name of the input that carries the table of a variable."""
    return f"the table of {name}"


Scope = tuple[Variable, ...]


Two: TypeAlias = tuple[Plan, Plan]
"""A plan for the first slice, and one for all later slices."""

Cells: TypeAlias = Mapping[str, Values]
"""Tables by the names of inputs."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicePlans(Sealed):
    """The plans of a dynamic network's slices, each compiled when it is first needed.

    Pairs are those of the first slice, and of all later ones.
    """

    network: DynamicNetwork
    observed: Scope
    """The variables that may have findings."""
    targets: tuple[tuple[Scope, ...], tuple[Scope, ...]]
    """The scopes whose distributions are computed in each slice."""
    limits: Limits
    learned: tuple[tuple[CPD, ...], tuple[CPD, ...]] = ((), ())
    """The distributions whose tables are inputs of each run."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The numbers of states of the interface."""
        return tuple(v.n_states for v in self.network.interface)

    @cached_property
    def messages(self) -> Two:
        """The plans of the next past: α_t from α_{t−1}."""
        interface = self.network.interface
        return self._plan(0, [interface]), self._plan(1, [interface])

    @cached_property
    def filters(self) -> Two:
        """The plans of the next past and the targets, given the past."""
        interface, (first, later) = self.network.interface, self.targets
        return self._plan(0, [interface, *first]), self._plan(1, [interface, *later])

    @cached_property
    def smoothers(self) -> Two:
        """The plans of the targets, given the past and the future.

        Those of later slices begin with the interface of the slice before.
        """
        (first, later), before = self.targets, tuple(map(previous, self.network.interface))
        return self._plan(0, first, future=True), self._plan(1, [before, *later], future=True)

    @cached_property
    def best(self) -> tuple[CompiledQuery, CompiledQuery]:
        """The queries of the most probable path to each state of the interface."""

        def compiled(number: int) -> CompiledQuery:
            model, inputs = self.model(number)
            return compile_elimination(
                model.potentials,
                evidence=(),
                soft=[v.name for v in self.observed],
                order=None,
                limits=self.limits,
                inputs=inputs,
                kept=[v.name for v in self.network.interface],
            )

        return compiled(0), compiled(1)

    def varying(self, number: int) -> dict[str, Floats]:
        """Return the tables that depend on the slice, for a slice."""
        network = self.network
        return {
            table_input(name): np.real(network.cpd(name, number).to_tabular().values)
            for name in (network.varying if number else ())
        }

    def model(
        self, number: int, *, future: bool = False
    ) -> tuple[FactorModel, dict[str, tuple[str, ...]]]:
        """Return the tables that every run of a slice has, and the scopes of its inputs."""
        network = self.network
        given = {cpd.variable.name for cpd in self.learned[number > 0]}
        given.update(network.varying if number else ())
        cpds = network.transition if number else network.first.cpds
        rest = [cpd for cpd in cpds if cpd.variable.name not in given]
        scopes = [cpd.scope for cpd in cpds if cpd.variable.name in given]
        ones = [Factor((v,), np.ones(v.n_states)) for v in dict.fromkeys(sum(scopes, ()))]
        model = FactorModel((*rest, *ones))
        inputs = {table_input(scope[0].name): tuple([v.name for v in scope]) for scope in scopes}
        interface = network.interface
        if interface and number:
            inputs[PAST] = tuple(previous(v).name for v in interface)
        if interface and future:
            inputs[FUTURE] = tuple(v.name for v in interface)
        return model, inputs

    def _plan(self, number: int, scopes: Sequence[Scope], *, future: bool = False) -> Plan:
        check_interface(self.network.interface, self.limits)
        model, inputs = self.model(number, future=future)
        return compile_plan(
            model,
            soft=[v.name for v in self.observed],
            targets=[[v.name for v in scope] for scope in scopes],
            inputs=inputs,
            limits=self.limits,
        )


def check_interface(interface: Sequence[Variable], limits: Limits) -> None:
    """Raise `TooLargeError` if the joint of the interface surely exceeds the limits."""
    cells = math.prod(v.n_states for v in interface)
    needed = 3 * 8 * cells  # the past, the next past, and a product of both
    TooLargeError.check(
        f"the joint distribution of the interface {{{some_of(interface)}}} would have"
        f" {many(cells)} cells, and a slice would take at least {many(needed)} bytes; allowed are"
        f" max_bytes={limits.max_bytes:,}. Let fewer variables have children in the next slice, or"
        " raise the limit.",
        needed=needed,
        budget=limits.max_bytes,
    )


def plain(plan: Plan) -> CompiledQuery:
    """Return the compiled query of a plan, without negative numbers.

    Raises
    ------
    TooLargeError
        If the plan exceeds its limits, or there is no common plan for all findings.
    """
    if plan.is_signed and plan.unsigned is not None:
        plan = plan.unsigned
    if plan.compiled.refusal is not None:
        raise plan.compiled.refusal
    if plan.by_case is not None:
        raise TooLargeError(
            f"a plan of a slice that serves all findings would have about {plan.by_case:,} cells;"
            f" allowed are max_bytes={plan.limits.max_bytes:,}. Let fewer variables have findings,"
            " or use smaller tables",
            needed=8 * plan.by_case,
            budget=plan.limits.max_bytes,
        )
    return plan.compiled


# --- Messages between slices, whose cells may be of any size --------------------------------------
#
# A state that looks hopeless for hundreds of slices may be the true one, and doubles reach down to
# 10^−308 only. So a message with such states is kept as logarithms, and a slice runs once for each
# *band* of cells of similar size. A slice is linear in its messages: the joints of the bands add
# up. Nearly all messages have one band, and are plain numbers.

_WIDTH = 300.0
"""The natural logarithm of the largest ratio of two cells of a band. The rest of the range of
doubles is for the tables and the findings of a slice."""

_LEAST = math.exp(-_WIDTH)


class Message(NamedTuple):
    """A table over the interface for each sequence, up to a factor for each."""

    values: Floats
    """``(sequences, *states)``"""
    is_log: bool = False
    """Whether the values are natural logarithms."""

    def over(self, other: Message) -> Message:
        """Return the ratio to another message that is zero only where this one is."""
        if not (self.is_log or other.is_log):
            zeros = np.zeros(self.values.shape)
            return Message(np.divide(self.values, other.values, zeros, where=other.values > 0))
        with np.errstate(divide="ignore"):
            own, others = [m.values if m.is_log else np.log(m.values) for m in (self, other)]
        return Message(own - _finite(others), is_log=True)


def _beside(scale: Floats, values: Floats) -> Floats:
    """Return a number for each sequence in the shape of values, to be broadcast."""
    return scale.reshape(-1, *[1] * (values.ndim - 1))


def bands(message: Message) -> list[tuple[Floats, Floats]]:
    """Return the cells of a message in bands: logarithms of scales ``(sequences,)``, and numbers.

    >>> import numpy as np
    >>> [(scale.tolist(), values.tolist()) for scale, values in bands(
    ...     Message(np.array([[0.0, -1000.0]]), is_log=True)
    ... )]
    [([0.0], [[1.0, 0.0]]), ([-1000.0], [[0.0, 1.0]])]
    """
    left = message.values
    if not message.is_log:
        return [(np.zeros(len(left)), left)]
    axes = tuple(range(1, left.ndim))
    found: list[tuple[Floats, Floats]] = []
    while True:
        scale = left.max(axis=axes)
        if np.isneginf(scale).all():
            return found
        top = _beside(_finite(scale), left)
        is_near = left >= top - _WIDTH
        found.append((scale, np.where(is_near, np.exp(np.minimum(left - top, 0.0)), 0.0)))
        left = np.where(is_near, -np.inf, left)


def _finite(logs: Floats) -> Floats:
    return np.where(np.isneginf(logs), 0.0, logs)


class Total(NamedTuple):
    """The sum of the answers to the bands of a slice."""

    logs: Floats
    """The logarithms of the sums, ``(sequences,)``."""
    joints: list[Floats]
    """The normalized joints, ``(sequences, *states)``."""
    message: Message
    """The first joint as a message."""

    @classmethod
    def of(cls, parts: Sequence[tuple[Floats, list[Floats]]]) -> Total:
        """Return the sum of the answers to bands, each with its logarithms and joints."""
        logs, joints = parts[0]
        if len(parts) == 1 and not ((joints[0] > 0) & (joints[0] < _LEAST)).any():
            return cls(logs, joints, Message(joints[0]))
        logs = np.logaddexp.reduce([own for own, _ in parts])
        shares = [_beside(own - _finite(logs), found[0]) for own, found in parts]
        with np.errstate(divide="ignore"):
            terms = [s + np.log(found[0]) for s, (_, found) in zip(shares, parts, strict=True)]
        joints = [
            np.sum([_beside(np.exp(s), j) * j for s, j in zip(shares, one, strict=True)], axis=0)
            for one in zip(*[found for _, found in parts], strict=True)
        ]
        return cls(logs, joints, Message(np.logaddexp.reduce(terms), is_log=True))


_MESSAGE_BYTES = 2**28
"""The most bytes of the pasts that a smoothing of several sequences keeps."""

_NEGLIGIBLE = 50.0
"""The natural logarithm of the ratio of a sum to a band that does not change its digits."""


def segment_length(n_slices: int) -> int:
    """Return the number of slices of a segment: the root of their number, rounded up.

    >>> segment_length(1), segment_length(10), segment_length(10_000)
    (1, 4, 100)
    """
    return math.isqrt(n_slices - 1) + 1


_M = TypeVar("_M")


def backwards(
    n_slices: int, start: _M, forward: Callable[[int, int, _M], Iterable[_M]]
) -> Iterator[tuple[int, _M]]:
    """Yield all slices from the last to the first, each with the message before it.

    Parameters
    ----------
    n_slices
        The number of slices.
    start
        The message before the first of them.
    forward
        Maps the numbers of a first slice, and of the one after the last, and the message before
        them to the message after each of these slices.
    """
    step = segment_length(n_slices)
    kept = {0: start}
    for number, message in enumerate(forward(0, n_slices, start), 1):
        if number % step == 0:
            kept[number] = message
    for first in reversed(range(0, n_slices, step)):
        stop = min(first + step, n_slices)
        before = kept.pop(first)
        messages = [before, *forward(first, stop - 1, before)]
        for number in reversed(range(first, stop)):
            yield number, messages.pop()


def _message_bytes(plans: SlicePlans, n_slices: int) -> int:
    """Return the bytes of the messages that a pass back through a sequence keeps."""
    return 2 * 8 * segment_length(n_slices) * math.prod(plans.shape)


def check_messages(plans: SlicePlans, n_slices: int) -> None:
    """Raise `TooLargeError` if a pass back would keep messages that exceed the limits."""
    needed, budget = _message_bytes(plans, n_slices), plans.limits.max_bytes
    TooLargeError.check(
        f"the messages between the slices of a sequence of {counted(n_slices, 'slice')} would take"
        f" {format_bytes(needed)}; allowed are max_bytes={budget:,}. Use shorter sequences, let"
        " fewer variables have children in the next slice, or raise the limit.",
        needed=needed,
        budget=budget,
    )


class Answers(NamedTuple):
    """The answers to a slice of sequences that run side by side."""

    number: int
    """The slice."""
    rows: Rows
    """The rows of those sequences that have the slice."""
    logs: Floats
    """For each of them, the natural logarithm of the probability of its findings given those of
    earlier slices."""
    joints: list[Floats]
    """``(rows, *states)`` for each scope."""


@dataclass(eq=False)
class Passes:
    """The passes over sequences that run side by side."""

    plans: SlicePlans
    """The plans of the slices."""
    sequences: Sequences
    """The findings."""
    rows: Rows
    """The rows of the sequences to run."""
    tables: tuple[Cells, Cells] = ({}, {})
    """The tables that are inputs of all runs, for the first slice and for later ones."""
    bound: dict[int, Chunks] = field(default_factory=dict)
    """The runs of each plan, bound to the tables."""

    @classmethod
    def answers(
        cls,
        plans: SlicePlans,
        sequences: Sequences,
        two: Two,
        tables: tuple[Cells, Cells] = ({}, {}),
        *,
        smooths: bool = False,
    ) -> Iterator[Answers]:
        """Yield the answers to all slices, with as many sequences side by side as is best.

        The plans ``two`` are those of `forward`, or those of `smooth`.
        """
        most = _MESSAGE_BYTES // _message_bytes(plans, int(sequences.lengths.max()))
        most = min(most, *[batch_size(plain(plan)).chunk for plan in two])
        for rows in sequences.groups(max(1, most)):
            passes = cls(plans, sequences, rows, tables)
            forward = ((number, one.logs, one.joints) for number, one in passes.forward(two))
            for number, logs, joints in passes.smooth(two) if smooths else forward:
                own, inside = rows[number], rows[number] >= 0
                if not inside.all():
                    own, logs = own[inside], logs[inside]
                    joints = [joint[inside] for joint in joints]
                yield Answers(number, own, logs, joints)

    def forward(
        self, two: Two, start: int = 0, stop: int | None = None, past: Message | None = None
    ) -> Iterator[tuple[int, Total]]:
        """Yield the joints and the logarithms of the sums of slices, from the first to the last.

        Parameters
        ----------
        two
            Plans whose first target is the interface.
        start, stop
            The slices.
        past
            The past before the first of them.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        """
        for number in range(start, len(self.rows) if stop is None else stop):
            total = self._run(two[number > 0], number, past=past)
            if np.isneginf(total.logs).any():
                row = int(self.rows[number, np.argmin(total.logs)])
                raise self.sequences.impossible(number, row)
            yield number, total
            past = total.message

    def smooth(self, two: Two) -> Iterator[tuple[int, Floats, list[Floats]]]:
        """Yield targets given all findings, from the last slice to the first.

        Parameters
        ----------
        two
            The plans of the targets, with the past and the future as inputs.

        Yields
        ------
        number, logs, joints
            The slice; the natural logarithm of the probability of its findings given those of
            earlier ones, ``(sequences,)``; and its joints, ``(sequences, *states)``.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        TooLargeError
            If the messages would exceed the limits.
        CancellationError
            If the numbers within a slice are too small for doubles.
        """
        plans, n_slices = self.plans, len(self.rows)
        check_messages(plans, n_slices)
        logs = np.zeros(self.rows.shape)

        def messages(start: int, stop: int, past: Message | None) -> Iterator[Message]:
            for number, total in self.forward(plans.messages, start, stop, past):
                logs[number] = total.logs
                yield total.message

        future = Message(np.ones((self.rows.shape[1], *plans.shape)))
        for number, past in backwards(n_slices, None, messages):
            total = self._run(two[number > 0], number, past, future)
            if np.isneginf(total.logs).any():
                row = int(self.rows[number, np.argmin(total.logs)])
                raise CancellationError(
                    f"the probabilities within slice {number}{self.sequences.place(row)} are too"
                    " small for doubles, although the findings are possible; `most_probable`"
                    " computes with logarithms"
                )
            yield number, logs[number], total.joints[number > 0 :]
            if past is not None:
                future = total.message.over(past)

    def _run(
        self, plan: Plan, number: int, past: Message | None = None, future: Message | None = None
    ) -> Total:
        plans, n = self.plans, self.rows.shape[1]
        if id(plan) not in self.bound:
            self.bound[id(plan)] = Chunks(plain(plan), self.tables[number > 0])
        chunks = self.bound[id(plan)]
        evidence = self.sequences.evidence(plans.observed, self.rows[number])
        varying = plans.varying(number).items()
        inputs = evidence | {
            name: np.repeat(table[..., None], n, axis=-1) for name, table in varying
        }
        given = {PAST: past, FUTURE: future}
        messages = {label: bands(one) for label, one in given.items() if one is not None}
        parts: list[tuple[Floats, list[Floats]]] = []
        for chosen in product(*messages.values()):
            scale = sum([own for own, _ in chosen], np.zeros(n))
            if parts and len(chosen) == 2:
                # What they add to the sum of a slice is at most this; messages need all bands.
                most = scale + 2 * math.log(math.prod(plans.shape))
                most += sum(np.log(weights.max(axis=0)) for weights in evidence.values())
                if (most < np.max([logs for logs, _ in parts], axis=0) - _NEGLIGIBLE).all():
                    continue
            for label, (_, values) in zip(messages, chosen, strict=True):
                inputs[label] = np.moveaxis(values, 0, -1)
            run = chunks.answer({}, inputs, n)
            parts.append((run.log_evidence + scale, list(run.joints)))
        return Total.of(parts)


# --- The most probable path: Viterbi's algorithm over the interface -------------------------------
#
# ========  ==================================================================================
# symbol    meaning
# ========  ==================================================================================
# δ_t       for each configuration of the interface of slice t, the logarithm of the probability
#           of the most probable path to it, together with the findings up to slice t
# ========  ==================================================================================
#
# The forward pass computes δ with maxima instead of sums, on logarithms. The backward pass knows
# the interface of a slice. It runs the slice again, and walks back through the run to the most
# probable states of the slice's other variables and of the interface before. It needs δ of the
# slice before, which is kept at every √T-th of T slices and computed again in between, as in
# smoothing.
#
# A. Viterbi, "Error bounds for convolutional codes and an asymptotically optimum decoding
# algorithm", IEEE Trans. Inf. Theory 1967; for the interface K. Murphy, "Dynamic Bayesian
# networks", PhD thesis, Berkeley 2002, section 3.4.


def best_path(
    plans: SlicePlans, found: Sequences, rows: Rows, positions: Mapping[str, NDArray[np.intp]]
) -> float:
    """Fill in the states of a sequence; return the logarithm of their probability.

    Parameters
    ----------
    plans
        The plans of the slices.
    found, rows
        The findings, and the rows of the sequence.
    positions
        The state positions of each variable in all rows, which are filled in.

    Raises
    ------
    ImpossibleEvidenceError
        If the sequence is impossible. The error names its first impossible slice.
    """

    def forward(start: int, stop: int, past: Floats) -> Iterator[Floats]:
        for number in range(start, stop):
            _, past = _maximized(plans, found, int(rows[number]), number, past)
            if np.isneginf(past).all():
                raise found.impossible(number, int(rows[number]))
            yield past

    interface = plans.network.interface
    known, total = dict[str, int](), 0.0
    for number, past in backwards(len(rows), np.zeros(plans.shape), forward):
        registers, best = _maximized(plans, found, int(rows[number]), number, past)
        if number == len(rows) - 1:
            total = float(best.max())
            last = np.unravel_index(best.argmax(), best.shape)
            known = {v.name: int(i) for v, i in zip(interface, last, strict=True)}
        compiled = plans.best[number > 0]
        # Variables of a single state are not numbered.
        names = compiled.numbered
        own = {i: known[name] for i, name in enumerate(names) if name in known}
        walked = walk_back(compiled.program, registers, 1, most_likely, own)
        states = dict(zip(names, walked[:, 0].tolist(), strict=True))
        for variable, column in positions.items():
            column[rows[number]] = states.get(variable, 0)
        known = {v.name: states.get(previous(v).name, 0) for v in interface}
    return total


def _maximized(
    plans: SlicePlans, found: Sequences, row: int, number: int, past: Floats
) -> tuple[list[Values], Floats]:
    """Return the registers of a slice, and its δ, from that of the slice before."""
    compiled = plans.best[number > 0]
    tables = found.evidence(plans.observed, row) | plans.varying(number)
    tables[PAST] = np.ones(plans.shape)
    registers = registers_of(compiled, dict(compiled.certain), tables)
    logs = logarithms(registers, len(compiled.sources))
    for register, source in enumerate(compiled.sources):
        if source.input == PAST:
            logs[register] = source.reduced(past)
    filled = run_logarithms(compiled.program, logs, np.maximum)
    answer = compiled.answers[0]
    best: Any = np.zeros(()) if answer.register is None else np.real(answer.read(filled))
    scalars = sum(logs[register] for register in compiled.scalars)
    # Without an interface, no table brings in the slices before.
    return filled, best.reshape(plans.shape) + scalars + (0.0 if plans.shape else past)
