"""Plans for questions about a dynamic network: filtering, prediction, smoothing, likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes, listed
from bnmind._values import ReadOnlyDict, Sealed, Value, made, sealed
from bnmind.dynamic.network import DynamicNetwork, previous
from bnmind.dynamic.passes import (
    PAST,
    Passes,
    SlicePlans,
    Tables,
    Two,
    check_interface,
    check_messages,
    most_sequences,
    plain,
    segment_length,
    table_input,
)
from bnmind.dynamic.sequences import (
    FilterInfo,
    FilterState,
    Group,
    MostProbablePath,
    SequencePosterior,
    Sequences,
    read_sequences,
)
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.backward_walk import compile_elimination, walk_back
from bnmind.junction.inference.compile import compile_all
from bnmind.junction.inference.compiled_query import CompiledQuery, starting_registers
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.program.runs import logarithms, run_logarithms
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

# --- The most probable path: Viterbi's algorithm over the interface -------------------------------
#
# ========  ==================================================================================
# symbol    meaning
# ========  ==================================================================================
# δ_t       for each configuration of the interface of slice t, the logarithm of the probability
#           of the most probable path to it, together with the findings up to slice t
# ========  ==================================================================================
#
# The forward pass computes δ with maxima instead of sums, on logarithms, and subtracts the largest
# one of each slice. The backward pass knows the interface of a slice, and finds the most probable
# states of the slice's other variables and of the interface before. It needs δ of the slice before,
# which is kept at every √T-th of T slices and computed again in between, as in smoothing.
#
# A. Viterbi, "Error bounds for convolutional codes and an asymptotically optimum decoding
# algorithm", IEEE Trans. Inf. Theory 1967; for the interface K. Murphy, "Dynamic Bayesian
# networks", PhD thesis, Berkeley 2002, section 3.4.


class _Two(NamedTuple):
    """The queries of the first slice and of later ones."""

    first: CompiledQuery
    later: CompiledQuery


@dataclass(frozen=True, eq=False)
class PathPlans(Sealed):
    """The compiled queries of Viterbi's algorithm."""

    plans: SlicePlans

    @cached_property
    def _forward(self) -> _Two:
        """The queries of δ_t, given δ_{t−1}."""
        return _Two(*[self._compiled(is_first=is_first, walks=False) for is_first in (True, False)])

    @cached_property
    def _backward(self) -> _Two:
        """The queries of the states of a slice, given the next slice's choice and δ_{t−1}."""
        return _Two(*[self._compiled(is_first=is_first, walks=True) for is_first in (True, False)])

    def _compiled(self, *, is_first: bool, walks: bool) -> CompiledQuery:
        plans = self.plans
        model, tables = plans.slice_model(is_first=is_first)
        interface = plans.network.interface
        inputs = dict(tables)
        if interface and not is_first:
            inputs[PAST] = tuple(previous(v).name for v in interface)
        soft = [v.name for v in plans.observed]
        if walks:
            soft = list(dict.fromkeys([*soft, *(v.name for v in interface)]))
            return compile_elimination(
                model.potentials,
                evidence=(),
                soft=soft,
                order=None,
                limits=plans.limits,
                inputs=inputs,
            )
        compiled = compile_all(
            model.potentials,
            evidence=(),
            soft=soft,
            order=None,
            limits=plans.limits,
            targets=[[v.name for v in interface]],
            inputs=inputs,
        )
        if compiled.refusal is not None:
            raise compiled.refusal
        return compiled

    def paths(self, found: Sequences) -> MostProbablePath:
        """Return the most probable path of each sequence.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        TooLargeError
            If the messages would exceed the limits.
        """
        check_messages(self.plans, int(found.lengths.max()))
        variables = self.plans.network.variables
        positions = {v.name: np.zeros(found.n_rows, dtype=np.intp) for v in variables}
        logs = {}
        for number, name in enumerate(found.names):
            rows = found.order[found.starts[number] : found.starts[number + 1]]
            logs[name] = self._path(found, name, rows, positions)
        return MostProbablePath(
            variables=variables,
            positions=ReadOnlyDict({name: sealed(array) for name, array in positions.items()}),
            log_probabilities=ReadOnlyDict(logs),
            labels=found.labels,
        )

    def _path(
        self,
        found: Sequences,
        name: Any,
        rows: NDArray[np.intp],
        positions: Mapping[str, NDArray[np.intp]],
    ) -> float:
        """Fill in the states of one sequence; return the logarithm of their probability."""
        step = segment_length(len(rows))
        before: dict[int, Floats | None] = {0: None}
        total = 0.0
        for number, best, log in self._deltas(found, rows, 0, len(rows), None):
            if not log > -math.inf:
                raise found.impossible(name, number, int(rows[number]))
            total += log
            if (number + 1) % step == 0:
                before[number + 1] = best
        known: dict[str, str] = {}
        for start in reversed(range(0, len(rows), step)):
            stop = min(start + step, len(rows))
            past = before.pop(start)
            pasts = [past, *(b for _, b, _ in self._deltas(found, rows, start, stop - 1, past))]
            for number in reversed(range(start, stop)):
                row = int(rows[number])
                states = self._states(number, {**found.found(row), **known}, pasts.pop())
                for variable, column in positions.items():
                    column[row] = states.get(variable, 0)
                known = {
                    v.name: v.states[states.get(previous(v).name, 0)]
                    for v in self.plans.network.interface
                }
        return total

    def _deltas(
        self,
        found: Sequences,
        rows: NDArray[np.intp],
        start: int,
        stop: int,
        past: Floats | None,
    ) -> Iterator[tuple[int, Floats, float]]:
        """Yield δ of slices, less its largest number, and this number."""
        for number in range(start, stop):
            compiled = self._forward.later if number else self._forward.first
            logs = self._logs(compiled, number, found.found(int(rows[number])), past)
            filled = run_logarithms(compiled.program, logs, np.maximum)
            scalar = float(sum(logs[register] for register in compiled.scalars))
            answer = compiled.answers[0]
            joint = np.zeros(answer.shape) if answer.register is None else answer.read(filled)
            # Nothing is known before the run, so that no state is left out.
            best = np.asarray(joint, dtype=np.float64).reshape(answer.full)
            largest = float(best.max())
            # The next slice reads it from logarithms.
            past = best - largest if largest > -math.inf else best
            yield number, past, largest + scalar

    def _logs(
        self,
        compiled: CompiledQuery,
        number: int,
        findings: Mapping[str, Any],
        past: Floats | None,
    ) -> list[Values]:
        """Return the logarithms of the initial registers of a slice."""
        plans = self.plans
        inputs: dict[str, Values] = {
            table_input(name): plans.network.cpd(name, number).to_tabular().values
            for name in plans.varying(is_first=number == 0)
        }
        if PAST in compiled.inputs:
            inputs[PAST] = np.ones(plans.shape)
        registers = starting_registers(compiled, findings, inputs)
        logs = logarithms(registers, len(compiled.sources))
        if past is not None:
            for register, source in enumerate(compiled.sources):
                if source.input == PAST:
                    logs[register] = source.reduced(past)
        return logs

    def _states(
        self, number: int, findings: Mapping[str, Any], past: Floats | None
    ) -> dict[str, int]:
        """Return the most probable states of a slice and of the interface before it.

        These are positions by name. Variables of a single state are not among them.
        """
        compiled = self._backward.later if number else self._backward.first
        logs = self._logs(compiled, number, findings, past)
        filled = run_logarithms(compiled.program, logs, np.maximum)
        states = walk_back(compiled.program, filled, 1, np.add, _most_likely)
        return dict(zip(compiled.numbered, states[:, 0].tolist(), strict=True))


def _most_likely(weights: Floats, rows: slice) -> NDArray[np.intp]:
    return np.asarray(np.argmax(weights, axis=1), dtype=np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class DynamicPlan(Value):
    """Compiled plans of the slices of a dynamic network. Created by `compile_dynamic`.

    The plans serve all slices, whatever is observed in them. Printing shows the interface and the
    cost of a slice.
    """

    network: DynamicNetwork
    """The dynamic network."""
    observed: tuple[Variable, ...]
    """The variables that may have findings."""
    targets: tuple[Variable, ...]
    """The variables whose distributions are computed."""
    limits: Limits
    """The limits of memory and of work."""

    @cached_property
    def slices(self) -> SlicePlans:
        """The plans of the first slice and of later ones."""
        return SlicePlans(
            network=self.network,
            observed=self.observed,
            targets=tuple((v,) for v in self.targets),
            limits=self.limits,
        )

    def __repr__(self) -> str:
        return (
            f"DynamicPlan({counted(len(self.targets), 'target')}, {len(self.observed)} observed;"
            f" {counted(self.slices.messages.later.multiplications, 'multiplication')} a slice)"
        )

    def __str__(self) -> str:
        names = ", ".join(v.name for v in self.network.interface) or "empty"
        cells = int(np.prod(self.slices.shape, dtype=np.int64))
        return f"interface  {names}; {counted(cells, 'cell')}\n{self.slices.messages.later}"

    def start(self) -> FilterState:
        """Return the state before the first slice."""
        return made(FilterState, n_slices=0, belief=_ONE, log_likelihood=0.0)

    @checked
    def step(self, state: FilterState, findings: Any = None) -> tuple[FilterState, FilterInfo]:
        """Do a step of filtering, which adds a slice.

        A state of the interface that is 10^308 times less probable than the others counts as
        impossible from then on; in `filter` it does not.

        Parameters
        ----------
        state
            The state after the slice before.
        findings
            The findings of the slice: for each variable a state, a likelihood ``{state: weight}``,
            or a missing value. Variables may be left out.

        Returns
        -------
        state, info
            The state after the slice, and the distributions of its variables given all findings so
            far.

        Raises
        ------
        ImpossibleEvidenceError
            If the findings are impossible given the earlier ones.
        InvalidArgumentError, UnknownNameError
            If the findings do not fit the plan, or the state belongs to another network.
        """
        number = state.n_slices
        posterior = self._run(self.slices.filters, state, findings)
        belief, log_evidence = np.real(posterior.joints[0]), posterior.log_evidence
        answers = made(
            Posterior,
            scopes=posterior.scopes[1:],
            joints=posterior.joints[1:],
            log_evidence=log_evidence,
        )
        after = made(
            FilterState,
            n_slices=number + 1,
            belief=belief,
            log_likelihood=state.log_likelihood + log_evidence,
        )
        return after, made(FilterInfo, number=number, posterior=answers, log_evidence=log_evidence)

    def _run(self, two: Two, state: FilterState, findings: Evidence | None) -> Posterior:
        plans, number = self.slices, state.n_slices
        inputs: dict[str, Any] = {
            table_input(name): self.network.cpd(name, number).to_tabular().values
            for name in plans.varying(is_first=number == 0)
        }
        if number and self.network.interface:
            if state.belief.shape != plans.shape:
                raise InvalidArgumentError(
                    f"expected a state with a belief of shape {plans.shape}, got"
                    f" {state.belief.shape}; does it belong to another network?",
                    state,
                )
            inputs[PAST] = state.belief
        try:
            return (two.later if number else two.first).run(findings, inputs)
        except ImpossibleEvidenceError as fault:
            earlier = " given those of earlier slices" if number else ""
            raise ImpossibleEvidenceError(
                f"the findings of slice {number} are impossible{earlier}: {fault}", fault.evidence
            ) from fault

    @checked
    def predict(self, state: FilterState, slices: int = 1) -> SequencePosterior:
        """Return the distributions of the next slices, without findings in them.

        Parameters
        ----------
        state
            The state after the last slice with findings.
        slices
            The number of slices to predict, at least 1.

        Returns
        -------
        SequencePosterior
            A row for each slice, labeled with its number.

        Raises
        ------
        InvalidArgumentError
            If there is no slice to predict, or the state belongs to another network.
        TooLargeError
            If the predictions would take more memory than the plan's limits allow.
        """
        if slices < 1:
            raise InvalidArgumentError(f"expected at least one slice, got {slices}", slices)
        # Probabilities and their copies, and the labels and numbers of rows.
        needed = slices * (16 * sum(v.n_states for v in self.targets) + 80)
        if needed > self.limits.max_bytes:
            raise TooLargeError(
                f"the predictions of {counted(slices, 'slice')} would take {format_bytes(needed)};"
                f" allowed are max_bytes={self.limits.max_bytes:,}",
                needed=needed,
                budget=self.limits.max_bytes,
            )
        numbers = range(state.n_slices, state.n_slices + slices)
        marginals = {v.name: np.empty((slices, v.n_states)) for v in self.targets}
        for row in range(slices):
            state, info = self.step(state)
            for name, array in marginals.items():
                array[row] = info.posterior.marginals[name]
        return SequencePosterior(
            variables=self.targets,
            marginals=ReadOnlyDict({name: sealed(array) for name, array in marginals.items()}),
            log_evidence=np.zeros(slices),
            sequence_of=np.zeros(slices, dtype=np.intp),
            sequences=(None,),
            labels=tuple(numbers),
        )

    @checked
    def filter(
        self,
        cases: Any,
        *,
        sequence: str | None = None,
        likelihoods: Mapping[str, Any] | None = None,
    ) -> SequencePosterior:
        """Return the distributions in every slice given the findings up to it.

        Parameters
        ----------
        cases
            A data frame, or a mapping from names to columns, with a row for each slice, in order,
            and a column for each observed variable. None and NaN are missing findings.
        sequence
            The column that tells to which sequence a row belongs. Without it, all rows are one
            sequence.
        likelihoods
            Likelihood findings, {variable: array ``(rows, states)``}.

        Raises
        ------
        ImpossibleEvidenceError
            If the findings of a sequence are impossible. The error names the first impossible row.
        TableError, UnknownNameError, InvalidArgumentError
            If the table or the likelihoods do not fit the plan.
        """
        found = self._read(cases, sequence, likelihoods)
        answers = _Answers(self.targets, found)
        for group, passes in self._groups(found, self.slices.filters):
            for number, total in passes.forward(self.slices.filters):
                answers.put(group, number, total.joints[1:])
                answers.put_log_evidence(group, number, total.logs)
        return answers.result()

    @checked
    def smooth(
        self,
        cases: Any,
        *,
        sequence: str | None = None,
        likelihoods: Mapping[str, Any] | None = None,
    ) -> SequencePosterior:
        """Return the distributions in every slice given all findings of its sequence.

        The messages between slices take memory in proportion to the root of the number of slices.
        Parameters and errors are those of `filter`.

        Raises
        ------
        TooLargeError
            If the messages would exceed the limits.
        CancellationError
            If the numbers within a slice are too small for doubles.
        """
        found = self._read(cases, sequence, likelihoods)
        answers = _Answers(self.targets, found)
        for group, passes in self._groups(found, self.slices.smoothers):
            logs = passes.smooth(self.slices.smoothers, answers.putter(group))
            for number, part in enumerate(logs):
                answers.put_log_evidence(group, number, part)
        return answers.result()

    @checked
    def log_likelihood(
        self,
        cases: Any,
        *,
        sequence: str | None = None,
        likelihoods: Mapping[str, Any] | None = None,
    ) -> float:
        """Return the natural logarithm of the probability of all findings.

        Parameters and errors are those of `filter`.
        """
        found = self._read(cases, sequence, likelihoods)
        total = 0.0
        for group, passes in self._groups(found, self.slices.messages):
            for number, part in passes.forward(self.slices.messages):
                total += float(part.logs[group.rows[number] >= 0].sum())
        return total

    @checked
    def most_probable(
        self,
        cases: Any,
        *,
        sequence: str | None = None,
        likelihoods: Mapping[str, Any] | None = None,
    ) -> MostProbablePath:
        """Return the most probable states of all variables in all slices, given the findings.

        Of several equally probable paths, the same plan and findings always give the same one.
        Parameters and errors are those of `filter`.

        Raises
        ------
        TooLargeError
            If the messages between slices would exceed the limits.
        """
        return self._paths.paths(self._read(cases, sequence, likelihoods))

    @cached_property
    def _paths(self) -> PathPlans:
        return PathPlans(self.slices)

    def _read(
        self, cases: Any, sequence: str | None, likelihoods: Mapping[str, Any] | None
    ) -> Sequences:
        if isinstance(cases, Sequences):
            return cases
        return read_sequences(
            self.network, self.observed, cases, sequence=sequence, likelihoods=likelihoods
        )

    def _groups(self, found: Sequences, two: Two) -> Iterable[tuple[Group, Passes]]:
        longest = int(found.lengths.max())
        most = most_sequences(self.slices, two, longest, Tables())
        for group in found.groups(most):
            yield group, Passes(self.slices, found, group)


_ONE = np.ones(())
_ONE.setflags(write=False)


class _Answers:
    """Collects the distributions of all rows."""

    def __init__(self, variables: tuple[Variable, ...], found: Sequences) -> None:
        self._variables, self._found = variables, found
        self._marginals = {v.name: np.zeros((found.n_rows, v.n_states)) for v in variables}
        self._log_evidence = np.zeros(found.n_rows)

    def put(self, group: Group, number: int, joints: list[Floats]) -> None:
        rows = group.rows[number]
        inside = rows >= 0
        for v, joint in zip(self._variables, joints, strict=True):
            self._marginals[v.name][rows[inside]] = joint[inside]

    def putter(self, group: Group) -> Callable[[int, list[Floats]], None]:
        return lambda number, joints: self.put(group, number, joints)

    def put_log_evidence(self, group: Group, number: int, logs: Floats) -> None:
        rows = group.rows[number]
        inside = rows >= 0
        self._log_evidence[rows[inside]] = logs[inside]

    def result(self) -> SequencePosterior:
        found = self._found
        return SequencePosterior(
            variables=self._variables,
            marginals=ReadOnlyDict({n: sealed(a) for n, a in self._marginals.items()}),
            log_evidence=sealed(self._log_evidence),
            sequence_of=found.sequence_of,
            sequences=found.names,
            labels=found.labels,
        )


@checked
def compile_dynamic(
    network: DynamicNetwork,
    *,
    observed: Iterable[str] | None = None,
    targets: Iterable[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> DynamicPlan:
    """Return the plans of a dynamic network's slices, for any findings.

    Parameters
    ----------
    network
        The network.
    observed
        The variables that may have findings; by default all. Fewer make the slices faster.
    targets
        The variables whose distributions are computed; by default all.
    limits
        The limits of the memory and the multiplications of a slice.

    Raises
    ------
    UnknownNameError
        If a variable is not in the network.
    InvalidArgumentError
        If a variable is named twice.
    TooLargeError
        If the message from slice to slice would exceed the limits, such as by the joint
        distribution of the interface. The distributions of the targets may take more; if they
        exceed the limits, the first method that needs them raises the error.

    Examples
    --------
    >>> from bnmind.dynamic import DynamicNetwork, previous
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, umbrella = Variable("rain", ("no", "yes")), Variable("umbrella", ("no", "yes"))
    >>> sensor = TabularCPD(umbrella, (rain,), [[0.8, 0.1], [0.2, 0.9]])
    >>> network = DynamicNetwork(
    ...     Network((TabularCPD(rain, (), [0.5, 0.5]), sensor)),
    ...     (TabularCPD(rain, (previous(rain),), [[0.7, 0.3], [0.3, 0.7]]), sensor),
    ... )
    >>> plan = compile_dynamic(network)
    >>> state, info = plan.step(plan.start(), {"umbrella": "yes"})
    >>> state, info = plan.step(state, {"umbrella": "yes"})
    >>> round(info.posterior["rain"]["yes"], 3)
    0.883
    """
    names = {
        "observed": [v.name for v in network.variables] if observed is None else list(observed),
        "targets": [v.name for v in network.variables] if targets is None else list(targets),
    }
    problems = [
        f"a variable is named twice in {argument}: {', '.join(given)}"
        for argument, given in names.items()
        if len(set(given)) < len(given)
    ]
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    check_interface(network.interface, limits)
    plan = DynamicPlan(
        network,
        tuple(network.variable(name) for name in names["observed"]),
        tuple(network.variable(name) for name in names["targets"]),
        limits,
    )
    # Messages that are too large are refused here, not in the first run. The plans of the answers
    # are compiled when they are needed.
    for part in plan.slices.messages:
        plain(part)
    return plan
