"""Plans for questions about a dynamic network: filtering, prediction, smoothing, likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes, listed
from bnmind._values import Count, ReadOnlyDict, Value, made, sealed
from bnmind.dynamic.network import DynamicNetwork
from bnmind.dynamic.passes import (
    PAST,
    Answers,
    Likelihoods,
    Passes,
    Sequences,
    SlicePlans,
    best_path,
    check_messages,
    plain,
    read_sequences,
)
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas


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
        scopes = tuple((v,) for v in self.targets)
        return SlicePlans(
            network=self.network,
            observed=self.observed,
            targets=(scopes, scopes),
            limits=self.limits,
        )

    def __repr__(self) -> str:
        return (
            f"DynamicPlan({counted(len(self.targets), 'target')}, {len(self.observed)} observed;"
            f" {counted(self.slices.messages[1].multiplications, 'multiplication')} a slice)"
        )

    def __str__(self) -> str:
        names = ", ".join(v.name for v in self.network.interface) or "empty"
        cells = int(np.prod(self.slices.shape, dtype=np.int64))
        return f"interface  {names}; {counted(cells, 'cell')}\n{self.slices.messages[1]}"

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
        plans, number = self.slices, state.n_slices
        inputs = plans.varying(number)
        if number and self.network.interface:
            if state.belief.shape != plans.shape:
                raise InvalidArgumentError(
                    f"expected a state with a belief of shape {plans.shape}, got"
                    f" {state.belief.shape}; does it belong to another network?",
                    state,
                )
            inputs[PAST] = state.belief
        try:
            posterior = plans.filters[number > 0].run(findings, inputs)
        except ImpossibleEvidenceError as fault:
            earlier = " given those of earlier slices" if number else ""
            raise ImpossibleEvidenceError(
                f"the findings of slice {number} are impossible{earlier}: {fault}", fault.evidence
            ) from fault
        belief, log = np.real(posterior.joints[0]), posterior.log_evidence
        scopes, joints = posterior.scopes[1:], posterior.joints[1:]
        total = state.log_likelihood + log
        after = made(FilterState, n_slices=number + 1, belief=belief, log_likelihood=total)
        answers = made(Posterior, scopes=scopes, joints=joints, log_evidence=log)
        return after, made(FilterInfo, number=number, posterior=answers, log_evidence=log)

    @checked
    def predict(self, state: FilterState, slices: Count = 1) -> SequencePosterior:
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
        # Probabilities and their copies, and the labels and numbers of rows.
        needed = slices * (16 * sum(v.n_states for v in self.targets) + 80)
        if needed > self.limits.max_bytes:
            raise TooLargeError(
                f"the predictions of {counted(slices, 'slice')} would take {format_bytes(needed)};"
                f" allowed are max_bytes={self.limits.max_bytes:,}",
                needed=needed,
                budget=self.limits.max_bytes,
            )

        def ahead(state: FilterState) -> Iterator[Answers]:
            for row in range(slices):
                state, info = self.step(state)
                joints = [np.real(joint)[None] for joint in info.posterior.joints]
                yield Answers(state.n_slices, np.array([row]), np.zeros(1), joints)

        rows = Sequences(
            variables=(),
            findings={},
            names=(None,),
            sequence_of=np.zeros(slices, dtype=np.intp),
            labels=tuple(range(state.n_slices, state.n_slices + slices)),
        )
        return self._posterior(rows, ahead(state))

    @checked
    def filter(
        self, cases: Any, *, sequence: str | None = None, likelihoods: Likelihoods | None = None
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
        return self._posterior(found, Passes.answers(self.slices, found, self.slices.filters))

    @checked
    def smooth(
        self, cases: Any, *, sequence: str | None = None, likelihoods: Likelihoods | None = None
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
        two = self.slices.smoothers
        return self._posterior(found, Passes.answers(self.slices, found, two, smooths=True))

    @checked
    def log_likelihood(
        self, cases: Any, *, sequence: str | None = None, likelihoods: Likelihoods | None = None
    ) -> float:
        """Return the natural logarithm of the probability of all findings.

        Parameters and errors are those of `filter`.
        """
        found = self._read(cases, sequence, likelihoods)
        answers = Passes.answers(self.slices, found, self.slices.messages)
        return float(sum(part.logs.sum() for part in answers))

    @checked
    def most_probable(
        self, cases: Any, *, sequence: str | None = None, likelihoods: Likelihoods | None = None
    ) -> MostProbablePath:
        """Return the most probable states of all variables in all slices, given the findings.

        Of several equally probable paths, the same plan and findings always give the same one.
        Parameters and errors are those of `filter`.

        Raises
        ------
        TooLargeError
            If the messages between slices would exceed the limits.
        """
        found = self._read(cases, sequence, likelihoods)
        check_messages(self.slices, int(found.lengths.max()))
        n, variables = len(found.labels), self.network.variables
        positions = {v.name: np.zeros(n, dtype=np.intp) for v in variables}
        logs = [best_path(self.slices, found, rows, positions) for rows in found.rows]
        return MostProbablePath(
            variables=variables,
            positions=ReadOnlyDict({name: sealed(array) for name, array in positions.items()}),
            log_probabilities=ReadOnlyDict(zip(found.names, logs, strict=True)),
            labels=found.labels,
        )

    def _read(self, cases: Any, sequence: str | None, likelihoods: Likelihoods | None) -> Sequences:
        if isinstance(cases, Sequences):
            return cases
        return read_sequences(
            self.network, self.observed, cases, sequence=sequence, likelihoods=likelihoods
        )

    def _posterior(self, found: Sequences, answers: Iterable[Answers]) -> SequencePosterior:
        """Return the answers whose last joints are the targets."""
        marginals = {v.name: np.zeros((len(found.labels), v.n_states)) for v in self.targets}
        logs = np.zeros(len(found.labels))
        for part in answers:
            logs[part.rows] = part.logs
            joints = part.joints[len(part.joints) - len(marginals) :]
            for array, joint in zip(marginals.values(), joints, strict=True):
                array[part.rows] = joint
        return SequencePosterior(
            variables=self.targets,
            marginals=ReadOnlyDict({name: sealed(array) for name, array in marginals.items()}),
            log_evidence=sealed(logs),
            sequence_of=found.sequence_of,
            sequences=found.names,
            labels=found.labels,
        )


_ONE = np.ones(())
_ONE.setflags(write=False)


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
