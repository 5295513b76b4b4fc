"""The interface algorithm: the compiled plans of slices, and passes over sequences side by side.

A slice is a query of its own tables. The past enters as a table over the interface of the previous
slice, and the future as a table over the interface of the slice itself. Both are inputs of a run,
so that one plan serves all slices, whatever is observed in them.

====================  ==========================================================================
symbol (Murphy 2002)  name here
====================  ==========================================================================
α_t                   the past: P(interface of slice t | findings of slices 0, …, t)
β_t                   the future: P(findings after slice t | interface of slice t), up to a factor
====================  ==========================================================================

The sequences are the cases of a batch; see `bnmind.junction.inference.batches`.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bnmind._messages import counted, format_bytes, many, one_line
from bnmind._values import ReadOnlyDict, Sealed
from bnmind.dynamic.network import DynamicNetwork, previous
from bnmind.dynamic.sequences import Group, Sequences
from bnmind.errors import CancellationError, ImpossibleEvidenceError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.inference.batches import Chunks, batch_size
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel, Potential
from bnmind.pgm.variable import Variable

PAST = "the past"
"""The input over the interface of the previous slice."""

FUTURE = "the future"
"""The input over the interface of the slice."""

Scope = tuple[Variable, ...]


def table_input(name: str) -> str:
    """Return the name of the input that carries the table of a variable."""
    return f"the table of {name}"


class Two(NamedTuple):
    """A plan for the first slice, and one for all later slices."""

    first: Plan
    later: Plan


class SliceModel(NamedTuple):
    """The tables of a slice: those that every run has, and those that are inputs of a run."""

    model: FactorModel
    inputs: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicePlans(Sealed):
    """The plans of a dynamic network's slices, each compiled when it is first needed."""

    network: DynamicNetwork
    observed: Scope
    """The variables that may have findings."""
    targets: tuple[Scope, ...]
    """The scopes whose distributions are computed in each slice."""
    limits: Limits
    learned: tuple[str, ...] = ()
    """The variables of the first two slices whose tables are inputs of each run; see
    `DynamicNetwork.two_slices`."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The numbers of states of the interface."""
        return tuple(v.n_states for v in self.network.interface)

    @cached_property
    def messages(self) -> Two:
        """The plans of the next past: α_t from α_{t−1}."""
        return self._two([self.network.interface], [self.network.interface])

    @cached_property
    def filters(self) -> Two:
        """The plans of the next past and the targets, given the past."""
        scopes = [self.network.interface, *self.targets]
        return self._two(scopes, scopes)

    @cached_property
    def smoothers(self) -> Two:
        """The plans of the targets, given the past and the future."""
        return self._two(self.targets, self.targets, future=True)

    @cached_property
    def learned_of_first(self) -> tuple[CPD, ...]:
        """The distributions of the first slice whose tables are inputs."""
        cpds = self.network.first.cpds
        return tuple(c for c in cpds if previous(c.variable).name in self.learned)

    @cached_property
    def learned_of_later(self) -> tuple[CPD, ...]:
        """The distributions of later slices whose tables are inputs."""
        return tuple(c for c in self.network.transition if c.variable.name in self.learned)

    @cached_property
    def families(self) -> Two:
        """The plans of the learned families, given the past and the future."""
        first = [cpd.scope for cpd in self.learned_of_first]
        later = [cpd.scope for cpd in self.learned_of_later]
        return self._two(first, later, future=True)

    @cached_property
    def backward(self) -> Plan:
        """The plan of the previous future: β_{t−1} from β_t."""
        before = tuple(map(previous, self.network.interface))
        return self._plan([before], is_first=False, past=False, future=True)

    def varying(self, *, is_first: bool) -> tuple[str, ...]:
        """Return the variables whose table is an input that depends on the slice."""
        if is_first:
            return ()
        return tuple(name for name in self.network.varying if name not in self.learned)

    def slice_model(self, *, is_first: bool) -> SliceModel:
        """Return the tables of a slice."""
        cpds = self.network.first.cpds if is_first else self.network.transition
        learned = self.learned_of_first if is_first else self.learned_of_later
        given = {*self.varying(is_first=is_first), *(cpd.variable.name for cpd in learned)}
        potentials: list[Potential] = []
        inputs = {}
        for cpd in cpds:
            if cpd.variable.name not in given:
                potentials.append(cpd)
                continue
            inputs[table_input(cpd.variable.name)] = tuple(v.name for v in cpd.scope)
            potentials += [Factor((v,), np.ones(v.n_states)) for v in cpd.scope]
        return SliceModel(FactorModel(tuple(potentials)), ReadOnlyDict(inputs))

    def _two(self, first: Sequence[Scope], later: Sequence[Scope], *, future: bool = False) -> Two:
        return Two(
            self._plan(first, is_first=True, past=False, future=future),
            self._plan(later, is_first=False, past=True, future=future),
        )

    def _plan(self, scopes: Sequence[Scope], *, is_first: bool, past: bool, future: bool) -> Plan:
        model, tables = self.slice_model(is_first=is_first)
        inputs = dict(tables)
        interface = self.network.interface
        if interface and past:
            inputs[PAST] = tuple(previous(v).name for v in interface)
        if interface and future:
            inputs[FUTURE] = tuple(v.name for v in interface)
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
    # The past, the next past, and a product of both.
    needed = 3 * 8 * cells
    if needed > limits.max_bytes:
        names = [v.name for v in interface]
        shown = ", ".join(names[:8]) + (f", … {len(names)} variables" if len(names) > 8 else "")
        raise TooLargeError(
            f"the joint distribution of the interface {{{shown}}} would have {many(cells)} cells,"
            f" and a slice would take at least {many(needed)} bytes; allowed are"
            f" max_bytes={limits.max_bytes:,}. Let fewer variables have children in the next"
            " slice, or raise the limit.",
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


def _moving(compiled: CompiledQuery, constant: frozenset[str]) -> frozenset[str]:
    names = {*compiled.inputs, *(label_of(v.name) for v in compiled.soft)}
    return frozenset(names - constant)


def side_by_side(plan: Plan, constant: frozenset[str] = frozenset()) -> int:
    """Return the number of sequences that best run side by side."""
    compiled = plain(plan)
    return batch_size(compiled, _moving(compiled, constant)).chunk


class BoundSlice:
    """A plan of a slice, bound to a number of sequences.

    Parameters
    ----------
    plan
        The plan.
    constant
        The inputs that are the same in all slices and sequences.
    n
        The number of sequences.
    """

    def __init__(self, plan: Plan, constant: Mapping[str, Values], n: int) -> None:
        compiled = plain(plan)
        self._n = n
        self._names = _moving(compiled, frozenset(constant))
        self._shapes = [tuple(v.n_states for v in scope) for scope in compiled.targets]
        own = {name: table for name, table in constant.items() if name in compiled.inputs}
        self._chunks = Chunks(compiled, own, self._names)

    def run(self, inputs: Mapping[str, Floats]) -> tuple[list[Floats], Floats]:
        """Return the joint of each target, and the logarithms of the sums.

        Parameters
        ----------
        inputs
            The inputs, with the sequences as the last axis, ``(*states, sequences)``; those that
            the plan does not have are ignored.

        Returns
        -------
        joints, log_sums
            The normalized joints, ``(sequences, *states)``; natural logarithms ``(sequences,)``,
            −inf where the findings are impossible.
        """
        n = self._n
        joints = [np.zeros((n, *shape)) for shape in self._shapes]
        log_sums = np.zeros(n)
        given = {name: inputs[name] for name in self._names}
        self._chunks.answer({}, given, joints, log_sums, np.ones(n))
        return joints, log_sums


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
        top = _beside(np.where(np.isneginf(scale), 0.0, scale), left)
        is_near = left >= top - _WIDTH
        found.append((scale, np.where(is_near, np.exp(np.minimum(left - top, 0.0)), 0.0)))
        left = np.where(is_near, -np.inf, left)


class Total:
    """The sum of the joints of several bands. `add` changes it."""

    def __init__(self) -> None:
        self.joints: list[Floats] = []
        """The normalized joints, ``(sequences, *states)``."""
        self.logs: Floats = np.empty(0)
        """Natural logarithms of the sums, ``(sequences,)``."""
        self._parts: list[tuple[Floats, Floats]] = []

    def add(self, logs: Floats, joints: Sequence[Floats]) -> None:
        """Add normalized joints with the logarithms of their sums."""
        self._parts.append((logs, joints[0] if joints else np.ones(len(logs))))
        if not self.joints:
            self.logs, self.joints = logs, list(joints)
            return
        total = np.logaddexp(self.logs, logs)
        ground = np.where(np.isneginf(total), 0.0, total)
        old, new = np.exp(self.logs - ground), np.exp(logs - ground)
        self.joints = [
            _beside(old, before) * before + _beside(new, joint) * joint
            for before, joint in zip(self.joints, joints, strict=True)
        ]
        self.logs = total

    def message(self) -> Message:
        """Return the first joint as a message."""
        joint = self.joints[0]
        if len(self._parts) == 1:
            is_far = (joint > 0) & (joint < _LEAST)
            if not is_far.any():
                return Message(joint)
        ground = np.where(np.isneginf(self.logs), 0.0, self.logs)
        with np.errstate(divide="ignore"):
            terms = [_beside(logs - ground, part) + np.log(part) for logs, part in self._parts]
        return Message(np.logaddexp.reduce(terms, axis=0), is_log=True)


_MESSAGE_BYTES = 2**28
"""The most bytes of the pasts that a smoothing of several sequences keeps."""

_NEGLIGIBLE = 50.0
"""The natural logarithm of the ratio of a sum to a band that does not change its digits."""


class Tables:
    """The tables that are inputs of all runs, for the first slice and for later ones."""

    def __init__(
        self, first: Mapping[str, Floats] | None = None, later: Mapping[str, Floats] | None = None
    ) -> None:
        self.first = {table_input(name): table for name, table in (first or {}).items()}
        self.later = {table_input(name): table for name, table in (later or {}).items()}


def segment_length(n_slices: int) -> int:
    """Return the number of slices of a segment: the root of their number, rounded up.

    >>> segment_length(1), segment_length(10), segment_length(10_000)
    (1, 4, 100)
    """
    return max(1, math.isqrt(max(n_slices - 1, 0)) + 1) if n_slices > 1 else 1


def most_sequences(plans: SlicePlans, two: Two, n_slices: int, tables: Tables) -> int:
    """Return the number of sequences of so many slices that best run side by side."""
    most = min(
        side_by_side(two.first, frozenset(tables.first)),
        side_by_side(two.later, frozenset(tables.later)),
    )
    return max(1, min(most, _MESSAGE_BYTES // _message_bytes(plans, n_slices)))


def _message_bytes(plans: SlicePlans, n_slices: int) -> int:
    """Return the bytes of the messages that a pass back through a sequence keeps."""
    return 2 * 8 * segment_length(n_slices) * math.prod(plans.shape)


def check_messages(plans: SlicePlans, n_slices: int) -> None:
    """Raise `TooLargeError` if a pass back would keep messages that exceed the limits."""
    needed, budget = _message_bytes(plans, n_slices), plans.limits.max_bytes
    if needed > budget:
        raise TooLargeError(
            f"the messages between the slices of a sequence of {counted(n_slices, 'slice')} would"
            f" take {format_bytes(needed)}; allowed are max_bytes={budget:,}. Use shorter"
            " sequences, let fewer variables have children in the next slice, or raise the limit.",
            needed=needed,
            budget=budget,
        )


class Passes:
    """The passes over the sequences of a group.

    Parameters
    ----------
    plans
        The plans of the slices.
    sequences
        The findings.
    group
        The sequences to run.
    tables
        The tables that are inputs of all runs.
    """

    def __init__(
        self, plans: SlicePlans, sequences: Sequences, group: Group, tables: Tables | None = None
    ) -> None:
        self._plans, self._sequences, self._group = plans, sequences, group
        self._tables = tables or Tables()
        self._bound: dict[tuple[int, bool], BoundSlice] = {}
        self._n = len(group.numbers)

    @property
    def n_slices(self) -> int:
        """The number of slices of the longest sequence."""
        return len(self._group.rows)

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
        for number in range(start, self.n_slices if stop is None else stop):
            total = self._run(two, number, past=past)
            if np.isneginf(total.logs).any():
                raise self._impossible(number, int(np.argmin(total.logs)))
            past = total.message()
            yield number, total

    def smooth(self, two: Two, use: Callable[[int, list[Floats]], None]) -> Floats:
        """Compute targets given all findings, from the last slice to the first.

        Parameters
        ----------
        two
            The plans of the targets, with the past and the future as inputs.
        use
            Called with each slice and its joints, ``(sequences, *states)``.

        Returns
        -------
        numpy.ndarray
            Natural logarithm of the probability of the findings of each slice given those of
            earlier ones, ``(slices, sequences)``.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        TooLargeError
            If the messages would exceed the limits.
        CancellationError
            If the numbers within a slice are too small for doubles.
        """
        plans, n_slices = self._plans, self.n_slices
        check_messages(plans, n_slices)
        step = segment_length(n_slices)
        log_sums = np.zeros((n_slices, self._n))
        before: dict[int, Message | None] = {0: None}
        for number, total in self.forward(plans.messages):
            log_sums[number] = total.logs
            if (number + 1) % step == 0:
                before[number + 1] = total.message()
        future = Message(np.ones((self._n, *plans.shape)))
        for start in reversed(range(0, n_slices, step)):
            stop = min(start + step, n_slices)
            past = before.pop(start)
            pasts = [past]
            pasts += [
                total.message() for _, total in self.forward(plans.messages, start, stop - 1, past)
            ]
            for number in reversed(range(start, stop)):
                total = self._run(two, number, past=pasts.pop(), future=future)
                if np.isneginf(total.logs).any():
                    raise self._too_small(number, int(np.argmin(total.logs)))
                use(number, total.joints)
                if number and plans.network.interface:
                    future = self._run_plan(plans.backward, number, future=future).message()
        return log_sums

    def _run(
        self, two: Two, number: int, past: Message | None = None, future: Message | None = None
    ) -> Total:
        return self._run_plan(two.later if number else two.first, number, past, future)

    def _run_plan(
        self, plan: Plan, number: int, past: Message | None = None, future: Message | None = None
    ) -> Total:
        key = (id(plan), number > 0)
        if key not in self._bound:
            constant = self._tables.later if number else self._tables.first
            self._bound[key] = BoundSlice(plan, constant, self._n)
        plans = self._plans
        inputs = self._sequences.evidence(plans.observed, self._group.rows[number])
        weights = tuple(inputs.values())
        for name in plans.varying(is_first=number == 0):
            table = plans.network.cpd(name, number).to_tabular().values
            inputs[table_input(name)] = np.repeat(table[..., None], self._n, axis=-1)
        nothing: list[tuple[Floats, Floats | None]] = [(np.zeros(self._n), None)]
        total = Total()
        for past_scale, past_values in nothing if past is None else bands(past):
            for future_scale, future_values in nothing if future is None else bands(future):
                scale = past_scale + future_scale
                if past is not None and future is not None and total.joints:
                    most = scale + self._most(weights)
                    if not (most > total.logs - _NEGLIGIBLE).any():
                        continue
                for label, values in ((PAST, past_values), (FUTURE, future_values)):
                    if values is not None:
                        inputs[label] = np.moveaxis(values, 0, -1)
                joints, logs = self._bound[key].run(inputs)
                total.add(logs + scale, joints)
        return total

    def _most(self, weights: Sequence[Floats]) -> Floats:
        """Return the logarithm of the most that bands of scale one add to the sum of a slice."""
        with np.errstate(divide="ignore"):
            return sum(
                (np.log(part.max(axis=0)) for part in weights),
                start=np.full(self._n, 2 * math.log(math.prod(self._plans.shape))),
            )

    def _too_small(self, number: int, column: int) -> CancellationError:
        name = self._sequences.names[int(self._group.numbers[column])]
        of = "" if name is None else f" of sequence {one_line(str(name))}"
        return CancellationError(
            f"the probabilities within slice {number}{of} are too small for doubles, although the"
            " findings are possible; `most_probable` computes with logarithms"
        )

    def _impossible(self, number: int, column: int) -> ImpossibleEvidenceError:
        name = self._sequences.names[int(self._group.numbers[column])]
        return self._sequences.impossible(name, number, int(self._group.rows[number, column]))
