"""What is asked of a dynamic network: filtering, prediction, smoothing, likelihood, learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes
from bnmind._values import Count, ReadOnlyDict, Sealed, Value, made, sealed
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, of_two_slices, previous
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
    table_input,
)
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.fitting.em import FitOptions, LearningRecord, TablesAscent, best_of_starts
from bnmind.fitting.expectation import Expected
from bnmind.fitting.layout import NO_PRIOR, Layout, Prior
from bnmind.information import Floats
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.posteriors import Posterior
from bnmind.pgm.cpd import CPD
from bnmind.pgm.tabular import TabularCPD
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
        TooLargeError.check(
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


_ONE = sealed(np.ones(()))


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
    every = [v.name for v in network.variables]
    names = {
        "observed": every if observed is None else list(observed),
        "targets": every if targets is None else list(targets),
    }
    problems = [
        f"a variable is named twice in {argument}: {', '.join(given)}"
        for argument, given in names.items()
        if len(set(given)) < len(given)
    ]
    if problems:
        raise InvalidArgumentError(problems, tuple(problems))
    seen, asked = (tuple(map(network.variable, given)) for given in names.values())
    plan = DynamicPlan(network, seen, asked, limits)
    # Messages that are too large are refused here, not in the first run. The plans of the answers
    # are compiled when they are needed.
    for part in plan.slices.messages:
        plain(part)
    return plan


# --- Learning the tables from sequences, by EM ----------------------------------------------------


# --- The E-step for dynamic networks: expected counts of the tables of the two kinds of slices ----
#
# The parameters are those of the network of the first two slices, in one array: the tables of the
# first slice, and those of all later slices, whose counts are added up over time. Tables are inputs
# of the plans, so that nothing is compiled again from step to step.
#
# References
# ----------
# L. Baum, T. Petrie, G. Soules and N. Weiss, "A maximization technique occurring in the statistical
# analysis of probabilistic functions of Markov chains", Ann. Math. Stat. 1970; K. Murphy, "Dynamic
# Bayesian networks", PhD thesis, Berkeley 2002, section 4.2.


class Learned(NamedTuple):
    """A distribution that is learned."""

    family: int
    """Its number in the layout."""
    cpd: CPD
    is_leaf: bool
    """Whether its variable has no children. A missing leaf does not influence the likelihood, so
    that it is not counted."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceExpectation(Sealed):
    """An E-step for some sequences."""

    layout: Layout
    """The parameters of `DynamicNetwork.two_slices`."""
    learned: tuple[tuple[Learned, ...], tuple[Learned, ...]]
    """Those of the first slice and of later ones."""
    plans: SlicePlans
    sequences: Sequences

    @classmethod
    def of(cls, network: DynamicNetwork, layout: Layout, found: Sequences) -> SequenceExpectation:
        """Return the E-step for a network."""
        family = {v.name: number for number, v in enumerate(layout.network.variables)}
        interface = {v.name for v in network.interface}

        def learned(kind: int) -> tuple[Learned, ...]:
            cpds = network.transition if kind else network.first.cpds
            inner = interface.union(p.name for cpd in cpds for p in cpd.parents)
            numbers = [family[(c.variable if kind else previous(c.variable)).name] for c in cpds]
            return tuple(
                Learned(number, cpd, cpd.variable.name not in inner)
                for number, cpd in zip(numbers, cpds, strict=True)
                if layout.free[number]
            )

        first, later = learned(0), learned(1)
        plans = SlicePlans(
            network=network,
            observed=found.variables,
            targets=(tuple(one.cpd.scope for one in first), tuple(one.cpd.scope for one in later)),
            limits=DEFAULT_LIMITS,
            learned=(tuple(one.cpd for one in first), tuple(one.cpd for one in later)),
        )
        return cls(layout=layout, learned=(first, later), plans=plans, sequences=found)

    def at(self, cells: Floats) -> Expected:
        """Do the E-step with some tables.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names it.
        """
        layout, two = self.layout, self.plans.smoothers
        first, later = (
            {table_input(one.cpd.variable.name): layout.table(cells, one.family) for one in kind}
            for kind in self.learned
        )
        counts, total = np.zeros(layout.n_cells), 0.0
        for answers in Passes.answers(
            self.plans, self.sequences, two, (first, later), smooths=True
        ):
            total += float(answers.logs.sum())
            # Without learned families, there is the joint of no variables.
            for one, joint in zip(self.learned[answers.number > 0], answers.joints, strict=False):
                if one.is_leaf:
                    joint = joint[self.sequences.has(one.cpd.variable.name, answers.rows)]
                layout.table(counts, one.family)[...] += joint.sum(axis=0)
        # Distributions without any counts stay.
        n = layout.n_free_cells
        columns = layout.columns[:n]
        sums = np.bincount(columns, counts[:n] + layout.pseudo_counts[:n])[columns]
        counts[:n] = np.where(sums > 0, counts[:n], cells[:n])
        return Expected(total, counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class DynamicFit(Value):
    """A dynamic network whose tables were learned from sequences. Created by `fit_dynamic`."""

    network: DynamicNetwork
    """The network with the learned tables."""
    n_parameters: int
    """The number of free parameters; tables shared by all slices count once, and probabilities
    that stay zero do not count."""
    n_sequences: int
    """The number of sequences."""
    n_slices: int
    """The number of slices of all sequences."""
    shared: tuple[str, ...]
    """The variables whose table is the same in the first slice and in later ones."""
    warnings: tuple[str, ...]
    """Remarks about the result."""
    record: LearningRecord
    """How the likelihood rose."""

    def __repr__(self) -> str:
        return (
            f"DynamicFit({counted(self.n_sequences, 'sequence')},"
            f" {counted(self.n_slices, 'slice')}: log-likelihood {self.log_likelihood:.2f},"
            f" {counted(self.n_parameters, 'parameter')})"
        )

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all findings."""
        return self.record.log_likelihoods[-1]

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln sequences − 2 · log-likelihood."""
        return self.n_parameters * math.log(self.n_sequences) - 2 * self.log_likelihood


@checked
def fit_dynamic(
    network: DynamicNetwork,
    cases: Any,
    *,
    sequence: str | None = None,
    likelihoods: Likelihoods | None = None,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    options: FitOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DynamicFit:
    """Learn the tables of a dynamic network from sequences, which may have missing findings.

    The tables of the first slice are learned, and those of all later slices together. A table is
    shared by all slices if the network has the same table, with the same parents, in the first
    slice and in later ones. Functions keep their form, and probabilities of zero stay zero.

    Parameters
    ----------
    network
        The network. The first start begins with its tables.
    cases, sequence, likelihoods
        As for `DynamicPlan.filter`.
    prior
        The pseudo-counts of the tables, such as ``BDeu(10)``; by default maximum likelihood. By
        the names of `DynamicNetwork.two_slices`: ``rain[t-1]`` is the table of the first slice,
        also where it is shared, and ``rain`` that of later ones.
    fixed
        Variables that keep their tables, by the same names. One name of a shared table suffices.
    options
        Starts, seed, the criterion of convergence, and workers. Later starts have random tables.
    progress
        As for `bnmind.fit`.

    Raises
    ------
    TableError
        If columns are missing or states unknown.
    InvalidArgumentError
        If the fixed variables or the prior do not fit the network, or its tables vary.
    ImpossibleEvidenceError
        If a sequence is impossible in the network.
    TooLargeError
        If a slice is too large; see `compile_dynamic`.

    References
    ----------
    K. Murphy, "Dynamic Bayesian networks", PhD thesis, Berkeley 2002, section 4.2.

    Examples
    --------
    >>> from bnmind.dynamic import DynamicNetwork, previous
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> stays = TabularCPD(rain, (previous(rain),), [[0.5, 0.5], [0.5, 0.5]])
    >>> weather = DynamicNetwork(Network((TabularCPD(rain, (), [0.5, 0.5]),)), (stays,))
    >>> fitted = fit_dynamic(weather, {"rain": ["no", "no", "no", "yes", "yes"]})
    >>> fitted.network.cpd("rain").to_tabular().values.round(3).tolist()
    [[0.667, 0.0], [0.333, 1.0]]
    """
    if network.varying:
        raise InvalidArgumentError(
            "the tables of a network that vary from slice to slice cannot be learned:"
            f" {', '.join(network.varying)}; learn a network without them",
            tuple(network.varying),
        )
    found = read_sequences(
        network, network.variables, cases, sequence=sequence, likelihoods=likelihoods
    )
    shared = shared_tables(network)
    kept = {name for given in fixed for name in _with_shared(given, shared)}
    layout = Layout.of(
        network.two_slices,
        prior or NO_PRIOR,
        fixed=sorted(kept),
        tied=[(name + PREVIOUS, name) for name in shared if name not in kept],
    )
    nothing = np.zeros(layout.n_cells)
    own = layout.start(nothing, None, uniform=0.0)

    def start(rng: np.random.Generator | None) -> Floats:
        """Return the tables of the network, or random ones; zeros of the network stay zero."""
        return own if rng is None else layout.within(layout.start(nothing, rng), own)

    ascent = TablesAscent(layout, SequenceExpectation.of(network, layout, found).at)
    parameters, record = best_of_starts(ascent, start, options or FitOptions(), progress)
    # They stay zero, as no prior adds to them.
    zeros = ((own == 0) & (layout.pseudo_counts == 0))[: layout.n_free_cells]
    return DynamicFit(
        network=of_two_slices(layout.network_of(parameters)),
        n_parameters=layout.n_parameters - int(zeros.sum()),
        n_sequences=len(found.lengths),
        n_slices=len(found.labels),
        shared=shared,
        warnings=tuple(_warnings(network, found, layout, record)),
        record=record,
    )


def shared_tables(network: DynamicNetwork) -> tuple[str, ...]:
    """Return the variables with the same table in the first slice and in later ones."""
    pairs = [(network.first.cpd(v.name), network.cpd(v.name)) for v in network.variables]
    return tuple(
        first.variable.name
        for first, later in pairs
        if isinstance(first, TabularCPD)
        and isinstance(later, TabularCPD)
        and first.scope == later.scope
        and np.array_equal(first.values, later.values)
    )


def _with_shared(name: str, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the tables that are fixed with a table."""
    own = name.removesuffix(PREVIOUS)
    return (own, own + PREVIOUS) if own in shared else (name,)


def _warnings(
    network: DynamicNetwork, found: Sequences, layout: Layout, record: LearningRecord
) -> Iterator[str]:
    if not record.converged:
        yield f"EM has not converged after {counted(record.steps, 'step')}"
    if int(found.lengths.max()) == 1:
        yield "all sequences have a single slice, so that no transition is learned"
    free = {v.name for v, free in zip(layout.network.variables, layout.free, strict=True) if free}
    for v in network.variables:
        if v not in found.variables and free & {v.name, previous(v).name}:
            yield (
                f"{v.name} is never observed: its states may be exchanged without a change of the"
                " likelihood, unless fixed tables or zeros tell them apart"
            )
