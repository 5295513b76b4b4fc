"""Learning the tables of a network from cases: counts if the cases are complete, EM otherwise.

One step of EM never lowers the objective: the log-likelihood plus Σ α log θ for pseudo-counts α.

A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
J. R. Stat. Soc. B 1977; S. Lauritzen, "The EM algorithm for graphical association models with
missing data", Comput. Stat. Data Anal. 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Annotated, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from annotated_types import Ge

from bnmind._arguments import check_shape, checked
from bnmind._display import Result
from bnmind._messages import counted, shown
from bnmind._values import Count, Natural, Sealed, Value
from bnmind._workers import faults_of_workers, results_of
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.fitting.expectation import (
    DistinctCases,
    Expectation,
    Expected,
    network_of_structure,
    standard_errors,
)
from bnmind.fitting.layout import NO_PRIOR, Layout, Prior
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import format_state

# --- An ascent by monotone steps, accelerated by extrapolation ------------------------------------
#
# A step of EM maps parameters θ to M(θ). SQUAREM extrapolates from two steps:
#
# ==================  =====================================================
# symbol              name here
# ==================  =====================================================
# r                   M(θ) − θ
# v                   M(M(θ)) − M(θ) − r
# α                   −|r| / |v|: the length of the extrapolation
# θ'                  θ − 2αr + α²v
# ==================  =====================================================
#
# θ' is accepted only if its objective is at least that of M(θ); otherwise the ascent continues from
# M(M(θ)). An M-step that lowers the objective all the same is halved until it raises it; if no half
# of it does, the ascent ends where it is, and has not converged. So objectives never decrease.
#
# One *step* is one M-step, extrapolated, halved or not, and the E-step that evaluates its result. A
# rejected extrapolation counts as a step too.
#
# R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the
# convergence of any EM algorithm", Scand. J. Stat. 2008 (S3). α is at least −1000 and at most −1
# here, and the objective is compared with that of M(θ).

_LONGEST = 1000.0
"""The longest extrapolation, in steps."""

_ROUNDING = 1e-12
"""A fall of the objective by no more than this, relative to it, is an error of rounding."""

_HALVINGS = 20
"""A step that lowers the objective is halved so many times."""

_P = TypeVar("_P")


class Place(NamedTuple, Generic[_P]):
    """Some parameters, with the results of their E-step."""

    parameters: _P
    log_likelihood: float
    objective: float
    """The log-likelihood plus the logarithm of the prior density."""
    improved: Callable[[], _P]
    """Do the M-step, and return its parameters."""
    is_top: Callable[[], bool] = lambda: True  # whether the gradient leads no further


class Ascent(Protocol[_P]):
    """The interface of objectives that can be maximized by monotone steps."""

    def at(self, parameters: _P) -> Place[_P]:
        """Do the E-step.

        Raises
        ------
        ImpossibleEvidenceError
            If the parameters make the data impossible.
        """

    def numbers(self, parameters: _P) -> Floats:
        """Return all parameters in one array."""

    def within(self, numbers: Floats, known: _P) -> _P:
        """Return valid parameters from an array that may violate bounds.

        Parameters
        ----------
        numbers
            An array as returned by `numbers`.
        known
            Valid parameters, which replace those that cannot be corrected.
        """


@dataclass(frozen=True)
class Climb(Generic[_P]):
    """The ascent from one start."""

    parameters: _P
    """The parameters at the end, with the last log-likelihood."""
    log_likelihoods: tuple[float, ...]
    """The log-likelihood at the start, and after each accepted step."""
    objectives: tuple[float, ...]
    """The objective at the same points; it never decreases."""
    steps: int
    """The number of steps, at most ``max_iterations``."""
    converged: bool
    """Whether an M-step raised the objective by at most the tolerance, at a top."""


def climb(
    ascent: Ascent[_P],
    start: _P,
    *,
    max_iterations: int,
    tolerance: float,
    accelerate: bool,
    progress: Callable[[int, int], None] | None = None,
    until: Callable[[], bool] | None = None,
) -> Climb[_P]:
    """Return the ascent from a start, until a step raises the objective by at most a tolerance.

    Parameters
    ----------
    ascent
        The objective and its steps.
    start
        The parameters to start from.
    max_iterations
        The largest number of steps: M-steps with the E-step that evaluates each. One more
        E-step evaluates the start.
    tolerance
        The ascent ends if an M-step raises the objective by no more than this.
    accelerate
        Whether to extrapolate.
    progress
        Called from time to time with the number of steps so far, and the number that
        `expected_steps` estimates.
    until
        Asked before each step; if it returns true, the ascent ends where it is.

    Raises
    ------
    ImpossibleEvidenceError
        If the start makes the data impossible.
    """
    path = [ascent.at(start)]
    steps, ended, converged = 0, False, False
    gains: list[float] = []

    def go(there: _P) -> None:
        """Go to the parameters of an M-step; half-way or nearer if they are lower."""
        nonlocal steps, ended, converged
        place, known = ascent.at(there), path[-1]
        steps += 1
        gain = place.objective - known.objective
        gains.append(gain)
        if gain >= 0:
            path.append(place)
        if gain >= -_ROUNDING * (1 + abs(known.objective)):
            ended = gain <= tolerance
            converged = ended and path[-1].is_top()  # or a step could not be taken
            return
        first = ascent.numbers(known.parameters)
        way = ascent.numbers(there) - first
        for halving in range(1, min(_HALVINGS, max_iterations - steps) + 1):
            place = ascent.at(ascent.within(first + way / 2**halving, known.parameters))
            steps += 1
            if place.objective > known.objective:
                path.append(place)
                return
        ended = True

    while steps < max_iterations and not ended and not (until is not None and until()):
        if progress is not None:
            progress(steps, expected_steps(gains, steps, tolerance, max_iterations))
        before = path[-1]
        go(before.improved())
        # An extrapolation may be rejected, so two steps must remain.
        if ended or not accelerate or max_iterations - steps < 2:
            continue
        one = path[-1]
        two = one.improved()
        three = [ascent.numbers(known) for known in (before.parameters, one.parameters, two)]
        steps += 1
        with suppress(ImpossibleEvidenceError):
            far = ascent.at(ascent.within(extrapolation(*three), two))
            if far.objective >= one.objective:
                path.append(far)
                continue
        go(two)
    return Climb(
        parameters=path[-1].parameters,
        log_likelihoods=tuple(place.log_likelihood for place in path),
        objectives=tuple(place.objective for place in path),
        steps=steps,
        converged=converged,
    )


def expected_steps(gains: Sequence[float], steps: int, tolerance: float, most: int) -> int:
    """Return an estimate of the number of steps until convergence.

    Far from the start, the gains of EM's steps decrease by a constant factor. So the logarithm of
    the smallest gain so far tells the share of the steps after the first one that are done.

    Parameters
    ----------
    gains
        The gains of the M-steps so far.
    steps
        The number of steps so far.
    tolerance
        The gain of the last step.
    most
        The largest number of steps, which is also the estimate as long as nothing is known.

    Examples
    --------
    >>> expected_steps([64.0, 8.0], 6, 2.0**-9, 100)
    26
    """
    if len(gains) < 2 or not 0 < min(gains) < gains[0] or not 0 < tolerance < min(gains):
        return most
    share = math.log(gains[0] / min(gains)) / math.log(gains[0] / tolerance)
    return min(most, max(steps + 1, 1 + round((steps - 1) / share)))


def extrapolation(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return θ' for θ, M(θ) and M(M(θ)); at least as far as M(M(θ)).

    Examples
    --------
    >>> import numpy as np
    >>> extrapolation(np.array([8.0]), np.array([4.0]), np.array([2.0])).tolist()
    [0.0]
    """
    r, v = second - first, third - second - (second - first)
    size = math.sqrt(v @ v)
    if size == 0:
        return third
    alpha = -min(max(math.sqrt(r @ r) / size, 1.0), _LONGEST)
    far: Floats = first - 2 * alpha * r + alpha**2 * v
    return far


class AllStarts:
    """The progress of all starts together, as far as it is known.

    Parameters
    ----------
    progress
        Called with the number of steps done, and an estimate of the number of all steps.
    starts
        The number of starts.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, starts: int) -> None:
        self._progress, self._starts = progress, starts
        self._steps: list[int] = []

    def during_a_start(self, steps: int, expected: int) -> None:
        """Report the steps of a start, and how many it is expected to take."""
        if self._progress is not None:
            before = sum(self._steps)
            mean = (before + expected) / (len(self._steps) + 1)
            self._progress(before + steps, round(mean * self._starts))

    def after_a_start(self, steps: int) -> None:
        """Report the steps that a start took."""
        self.during_a_start(steps, steps)
        self._steps.append(steps)


EQUAL = 1e-4
"""Starts whose ends differ by less have reached the same maximum, or its mirror image."""


@dataclass(frozen=True, kw_only=True)
class LearningRecord(Value):
    """The record of the EM iterations."""

    log_likelihoods: tuple[float, ...]
    """Natural logarithm of the likelihood at the best start, and after each accepted step from it.
    It never decreases without priors."""
    objectives: tuple[float, ...]
    """The log-likelihoods plus the logarithm of the prior density, but for a constant; they never
    decrease."""
    converged: bool
    """Whether an M-step raised the objective by no more than the tolerance."""
    steps: int
    """The number of EM steps from the best start, at most ``max_iterations``, including rejected
    extrapolations. The start needs one more E-step."""
    starts: tuple[float, ...]
    """The objective at the end of each start."""
    best_start: int
    """The number of the best start, from 0."""
    seed: int
    """The seed of the random starts."""
    stopped_early: tuple[int, ...] = ()
    """The numbers of the starts that were left before they converged, as others led higher."""

    @classmethod
    def of(
        cls, climbs: Sequence[Climb[Any]], seed: int, *, stopped_early: Collection[int] = ()
    ) -> LearningRecord:
        """Return the record of the ascents from all starts; of equal ones, the first is best.

        Parameters
        ----------
        climbs
            The ascent from each start, at least one.
        seed
            The seed of the random starts.
        stopped_early
            The numbers of the starts whose ascent ended before it converged.
        """
        ends = tuple(way.objectives[-1] for way in climbs)
        best = int(np.argmax(np.array(ends) >= max(ends) - EQUAL))
        return cls(
            log_likelihoods=climbs[best].log_likelihoods,
            objectives=climbs[best].objectives,
            converged=climbs[best].converged,
            steps=climbs[best].steps,
            starts=ends,
            best_start=best,
            seed=seed,
            stopped_early=tuple(sorted(stopped_early)),
        )


# --- Steps of EM ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EMState(Value):
    """The parameters between two steps of EM."""

    parameters: Floats
    """All free tables, then the leaks and links of noisy nodes, in one array."""


@dataclass(frozen=True, eq=False)
class EMInfo(Value):
    """The E-step of a step of EM, for the parameters before the step."""

    log_likelihood: float
    """Natural logarithm of the probability of all cases."""
    objective: float
    """The log-likelihood plus Σ α log θ for the pseudo-counts α of the prior."""
    counts: Floats
    """The expected counts of all tables in one array."""


@dataclass(frozen=True, eq=False)
class TablesAscent(Sealed):
    """The log-likelihood of a network's tables, with its EM steps; see `Ascent`."""

    layout: Layout
    expected: Callable[[Floats], Expected]
    """The E-step for some tables."""

    def at(self, parameters: Floats) -> Place[Floats]:
        """Do the E-step."""
        found = self.expected(self.layout.cells(parameters))
        objective = found.log_likelihood + self.layout.log_prior(parameters)
        improved = partial(self.layout.maximize, parameters, found.counts)
        return Place(parameters, found.log_likelihood, objective, improved)

    def numbers(self, parameters: Floats) -> Floats:
        """Return the parameters, which are in one array."""
        return parameters

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return normalized parameters."""
        return self.layout.within(numbers, known)


@dataclass(frozen=True, eq=False)
class EM(Sealed):
    """EM for a network and some cases, to take steps one by one.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> cases = {"rain": ["no", None, "yes"], "wet": ["no", "yes", "yes"]}
    >>> em = EM.of(network, cases)
    >>> state, info = em.step(em.start())
    >>> em.step(state)[1].log_likelihood > info.log_likelihood
    True
    """

    layout: Layout
    """The arrangement of the network's tables."""
    expectation: Expectation
    """The E-step, prepared for the cases."""

    @classmethod
    @checked
    def of(
        cls,
        network: Any,
        cases: Any,
        *,
        prior: Prior | None = None,
        fixed: Iterable[str] = (),
        tied: Sequence[Sequence[str]] = (),
        hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
    ) -> EM:
        """Return EM for a network and some cases.

        The parameters and the errors are those of `fit`. The start of a structure, which has no
        tables, should be drawn: ``em.start(np.random.default_rng(1))``.
        """
        if not isinstance(hidden, Mapping):
            hidden = dict.fromkeys(hidden, ())
        if _is_structure(network):
            network = network_of_structure(network, cases, hidden)
        else:
            if not isinstance(network, Network):
                network = Network.from_pgmpy(network)
            _check_hidden(network, hidden)
        layout = Layout.of(network, prior or NO_PRIOR, fixed=fixed, tied=tied)
        if not isinstance(cases, DistinctCases):
            cases = DistinctCases.of(network, cases, hidden)
        return cls(layout, Expectation.of(layout, cases))

    @property
    def is_exact(self) -> bool:
        """Whether a single step maximizes the objective.

        It does so if no relevant cell is missing, and no noisy node is learned: the tables are
        counted then.
        """
        return self.expectation.is_complete and not self.layout.noisy

    def __repr__(self) -> str:
        return f"EM({self.layout.network!r}, {counted(self.expectation.cases.n_cases, 'case')})"

    @checked
    def start(self, rng: np.random.Generator | None = None) -> EMState:
        """Return the state before the first step.

        Parameters
        ----------
        rng
            Draws the tables of the start; by default they are those of the network, mixed with 1 %
            of uniform tables. A table counts as one case in each configuration of the parents, and
            the cases in which its family is complete are added to it. Noisy nodes start from their
            own parameters, or from random ones.
        """
        return EMState(self.layout.start(self.expectation.start_counts(), rng))

    @checked
    def step(self, state: EMState) -> tuple[EMState, EMInfo]:
        """Do an E-step and an M-step.

        Parameters
        ----------
        state
            The tables of the network, from `start` or an earlier step.

        Raises
        ------
        ImpossibleEvidenceError
            If a case is impossible under fixed tables.
        InvalidArgumentError
            If the state belongs to another network.
        """
        parameters = self._checked(state)
        expected = self.expectation.at(self.layout.cells(parameters))
        objective = expected.log_likelihood + self.layout.log_prior(parameters)
        info = EMInfo(expected.log_likelihood, objective, expected.counts)
        return EMState(self.layout.maximize(parameters, expected.counts)), info

    @checked
    def network(self, state: EMState) -> Network:
        """Return the network with the tables of a state.

        Parameters
        ----------
        state
            The tables of the network, from `start` or an earlier step.
        """
        return self.layout.network_of(self._checked(state))

    def _checked(self, state: EMState) -> Floats:
        n = self.layout.n_values
        check_shape(state.parameters, f"a state with {n} parameters", (n,))
        return state.parameters


@dataclass(frozen=True, kw_only=True)
class FitOptions(Value):
    """Options of `fit`.

    Parameters
    ----------
    starts
        The number of starts. The first one begins near the tables of the given network, to which
        the counts of complete families are added; see `EM.start`. The others begin with random
        tables, and so does the first one of a structure. The best result is returned. Complete
        cases need a single start.
    seed
        At least 0; determines the random tables.
    max_iterations
        The largest number of steps from one start. A step is one M-step and the E-step that
        evaluates it.
    tolerance
        A start has converged if an M-step raises the objective by no more than this.
    accelerate
        Whether to extrapolate steps (SQUAREM) if this raises the objective.
    workers
        The number of processes for the starts; −1 for one process for each core. Or an executor,
        such as `bnmind.lab.Cluster`. The result does not depend on it.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    """

    starts: Count = 1
    seed: Natural = 0
    max_iterations: Count = 1000
    tolerance: Annotated[float, Ge(0)] = 1e-4
    accelerate: bool = True
    workers: int | Executor = 1

    def _faults(self) -> Iterator[str]:
        yield from faults_of_workers(self.workers)


def best_of_starts(
    ascent: TablesAscent,
    start: Callable[[np.random.Generator | None], Floats],
    options: FitOptions,
    progress: Callable[[int, int], None] | None,
    *,
    draws: bool = False,
) -> tuple[Floats, LearningRecord]:
    """Return the parameters at the highest end of all starts, and the record of the ascents.

    The first start has no generator, unless it draws. The others have one each, so that a start
    does not depend on their number.
    """
    told = AllStarts(progress, options.starts)
    tasks = [
        partial(
            climb,
            ascent,
            start(np.random.default_rng([options.seed, number]) if number or draws else None),
            max_iterations=options.max_iterations,
            tolerance=options.tolerance,
            accelerate=options.accelerate,
            progress=told.during_a_start if options.workers == 1 else None,
        )
        for number in range(options.starts)
    ]
    climbs: list[Climb[Floats]] = []
    for one in results_of(tasks, options.workers):
        climbs.append(one)
        told.after_a_start(one.steps)
    record = LearningRecord.of(climbs, options.seed)
    return climbs[record.best_start].parameters, record


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit(Result, Value):
    """A network whose tables were learned from cases. Created by `fit`."""

    network: Network
    """The network with the learned tables."""
    counts: Mapping[str, Factor]
    """For each variable, the expected counts of its table, given the learned network. Tied tables
    have common counts; functions of large tables have none. Cases in which a variable and all its
    descendants are missing do not count for its table."""
    warnings: tuple[str, ...]
    """Remarks about the result, such as configurations of parents without cases."""
    record: LearningRecord
    """How the likelihood rose."""
    em: EM
    """The model and the cases, for further steps."""
    state: EMState
    """The learned parameters."""

    def __repr__(self) -> str:
        return (
            f"Fit({counted(len(self.network.variables), 'variable')},"
            f" {counted(self.n_cases, 'case')}: log-likelihood"
            f" {self.log_likelihood:.2f}, {counted(self.n_parameters, 'parameter')})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The warnings."""
        return self.warnings

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as a record for JSON, without the tables."""
        record = self.record
        return {
            "cases": self.n_cases,
            "missing": self.n_missing,
            "log_likelihood": self.log_likelihood,
            "bits_per_case": self.bits_per_case,
            "parameters": self.n_parameters,
            "aic": self.aic,
            "bic": self.bic,
            "converged": record.converged,
            "steps": record.steps,
            "starts": list(record.starts),
            "best_start": record.best_start,
            "seed": record.seed,
            "warnings": list(self.warnings),
        }

    def _shown(self) -> Iterator[str]:
        record, starts = self.record, len(self.record.starts)
        yield (
            f"{counted(self.n_cases, 'case')}, {counted(len(self.network.variables), 'variable')};"
            f" {counted(self.n_missing, 'cell')} missing."
        )
        yield (
            f"Log-likelihood {self.log_likelihood:.2f} ({self.bits_per_case:.4g} bits a case),"
            f" {counted(self.n_parameters, 'parameter')}, AIC {self.aic:.2f}, BIC {self.bic:.2f}."
        )
        state = "Converged" if record.converged else "Not converged"
        of = f", the best of {starts} starts (number {record.best_start + 1})" if starts > 1 else ""
        if self.em.is_exact:
            yield "Counted, as no cell that matters is missing."
        else:
            yield f"{state} after {counted(record.steps, 'step')}{of}."

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all cases."""
        return self.record.log_likelihoods[-1]

    @property
    def bits_per_case(self) -> float:
        """The mean of −log2 of the probability of a case."""
        return -self.log_likelihood / math.log(2) / self.n_cases

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return self.em.expectation.cases.n_cases

    @property
    def n_missing(self) -> int:
        """The number of missing cells, those of hidden variables included."""
        cases = self.em.expectation.cases
        return int(cases.weights @ (cases.states < 0).sum(axis=1))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters; tied tables count once."""
        return self.em.layout.n_parameters

    def standard_errors(self) -> dict[str, Floats]:
        """Return the standard error of each probability, by variable, in the shape of its table.

        They come from the observed information (Louis 1982). For complete cases, they are those of
        multinomial distributions. Those of a noisy node are of its table, by way of its links and
        leak. They are nan for fixed tables and functions, for probabilities at 0 or 1, in
        configurations of the parents without cases, and where the cases do not identify the
        parameters, or so badly that the error would exceed 1/2, more than any probability can have.

        Raises
        ------
        TooLargeError
            If the learned tables have more than 5,000 cells.

        References
        ----------
        T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat.
        Soc. B 1982.
        """
        return standard_errors(self.em.expectation, self.state.parameters)

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln cases − 2 · log-likelihood."""
        return self.n_parameters * math.log(self.n_cases) - 2 * self.log_likelihood


# --- Learning -------------------------------------------------------------------------------------

_NONE = 1e-9
"""Expected counts below this count as none."""

_FEW = 0.5
"""Expected counts below half a case hardly say anything about a distribution. Only EM has such
counts: those of complete cases are whole numbers."""


@checked
def fit(
    network: Any,
    cases: Any,
    *,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    tied: Sequence[Sequence[str]] = (),
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
    options: FitOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Learn the tables of a network from cases, which may have missing cells.

    Complete cases are counted. Missing cells are completed by EM, which is valid if the reason why
    a cell is missing does not depend on its value. Functional nodes keep their functions, and noisy
    nodes are learned as noisy nodes: their links and leaks, of which zeros stay zero.

    Parameters
    ----------
    network
        A `Network`; or its structure: pairs (parent, child), a `networkx.DiGraph`, or a pgmpy DAG
        or network. The states are then those of the cases, see `network_of_structure`. The first
        start begins near the tables of a network, see `EM.start`.
    cases
        A data frame with a row for each case, or a mapping from names to columns. Cells are states:
        text, numbers, truth values or categories. None and NaN are missing cells. Columns that are
        no variables are ignored, with a warning in the result.
    prior
        The pseudo-counts of the tables, such as ``BDeu(10)``; by default ``Laplace(0)``,
        maximum likelihood.
    fixed
        Variables that keep their tables.
    tied
        Groups of variables that share one table, such as ``[("x2", "x3")]``. The tables are shared
        position by position: the variables, and their parents one by one, must have the same states
        in the same order. The pseudo-counts are those of the first variable in the network's order.
    hidden
        Variables without a column. For a structure, with the number of their states or the names:
        ``{"class": 2}``. For a network, the names suffice; states must be those of the network.
    options
        Starts, seed, the criterion of convergence, and workers.
    progress
        Called from time to time with the number of steps done and an estimate of the number of all
        steps. With several workers, called after each start.

    Returns
    -------
    Fit
        The new network, with the likelihood, the expected counts and a record of the iterations.

    Raises
    ------
    TableError
        If columns are missing or states unknown. The message names rows and columns.
    InvalidArgumentError
        If the fixed, tied or hidden variables, or the pseudo-counts given for variables, do not fit
        the network. The message lists all faults.
    InvalidModelError
        If the structure is invalid.
    ImpossibleEvidenceError
        If a case is impossible under fixed tables, functions, or the zeros of noisy nodes.
    TooLargeError
        If the tables, or a circuit for cases with many missing cells, are too large.

    References
    ----------
    S. Lauritzen, "The EM algorithm for graphical association models with missing data", Comput.
    Stat. Data Anal. 1995.

    Examples
    --------
    >>> cases = {"rain": ["no", "no", "yes", "yes"], "wet": ["no", None, "yes", "yes"]}
    >>> fitted = fit([("rain", "wet")], cases)
    >>> fitted.network.cpd("wet").values.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    asked = options or FitOptions()
    em = EM.of(network, cases, prior=prior, fixed=fixed, tied=tied, hidden=hidden)
    layout = em.layout
    if em.is_exact:  # a single step, whatever it gains
        asked = replace(asked, starts=1, max_iterations=1, tolerance=math.inf)
    ascent, draws = TablesAscent(layout, em.expectation.at), _is_structure(network)
    parameters, record = best_of_starts(
        ascent, lambda rng: em.start(rng).parameters, asked, progress, draws=draws
    )
    counts = em.expectation.at(layout.cells(parameters)).counts
    return Fit(
        network=layout.network_of(parameters),
        counts={
            cpd.variable.name: Factor(cpd.scope, layout.table(counts, family))
            for family, cpd in enumerate(layout.network.cpds)
            if not layout.large[family]
        },
        warnings=tuple(_warnings(em, counts, record)),
        record=record,
        em=em,
        state=EMState(parameters),
    )


def _is_structure(network: Any) -> bool:
    """Return whether there are no tables: it is neither a network nor one of pgmpy."""
    return not isinstance(network, Network) and not getattr(network, "cpds", None)


def _check_hidden(network: Network, hidden: Mapping[str, Any]) -> None:
    """Raise an error if a hidden variable is given with other states than those of the network."""

    def fits(given: Any, states: tuple[str, ...]) -> bool:
        if isinstance(given, Integral):
            return given == len(states)
        is_sequence = isinstance(given, Sequence) and not isinstance(given, str)
        return is_sequence and tuple(map(format_state, given)) in ((), states)

    # The error about the cases names unknown variables.
    problems = [
        f"expected the hidden variable {v.name} with its {v.n_states} states in the network,"
        f" {shown(v.states)}, got {shown(hidden[v.name])}; its name suffices"
        for v in network.variables
        if v.name in hidden and not fits(hidden[v.name], v.states)
    ]
    if problems:
        raise InvalidArgumentError(problems, tuple(problems))


def _warnings(em: EM, counts: Floats, record: LearningRecord) -> Iterator[str]:
    layout, cases = em.layout, em.expectation.cases
    if cases.ignored:
        yield f"columns that are no variables were ignored: {', '.join(cases.ignored[:12])}"
    if not record.converged:
        yield f"EM has not converged after {counted(record.steps, 'step')}"
    never = np.all(cases.states < 0, axis=0).tolist()
    for family, cpd in enumerate(layout.network.cpds):
        if never[family] and layout.free[family]:
            yield (
                f"{cpd.variable.name} is never observed: its states may be exchanged without a"
                " change of the likelihood, unless fixed tables tell them apart"
            )
        if layout.free[family] and isinstance(cpd, TabularCPD):
            yield from _warnings_of_table(layout, counts, family)


def _warnings_of_table(layout: Layout, counts: Floats, family: int) -> Iterator[str]:
    """Yield the warnings about configurations of the parents with no or hardly any cases."""
    cpd = layout.network.cpds[family]
    name, n_states = cpd.variable.name, cpd.variable.n_states
    cases, pseudo = (
        layout.table(numbers, family).reshape(n_states, -1).sum(axis=0)
        for numbers in (counts, layout.pseudo_counts)
    )
    if (unseen := cases < _NONE).any():
        uniform = (pseudo == 0)[unseen].any()
        yield (
            f"{name}: {int(unseen.sum()):,} of {len(unseen):,} configurations of the parents"
            " have no cases; their distributions are"
            f" {'uniform' if uniform else 'those of the prior'}"
            if cpd.parents
            else f"{name} has no cases; its distribution is"
            f" {'uniform' if uniform else 'that of the prior'}"
        )
    if few := int(((cases >= _NONE) & (cases < _FEW) & (pseudo == 0)).sum()):
        yield (
            f"{name}: {few:,} of {len(cases):,} configurations of the parents"
            f" {'has' if few == 1 else 'have'} an expected count below {_FEW:g} of a case; their"
            " distributions may be 0 and 1 by chance; a prior such as BDeu(1) avoids this"
            if cpd.parents
            else f"{name} has an expected count below {_FEW:g} of a case; a prior such as BDeu(1)"
            " avoids a distribution of 0 and 1 by chance"
        )
