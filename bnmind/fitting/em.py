"""Expectation maximization for the tables of a network: its steps, its result, and their errors.

One step never lowers the objective: the log-likelihood plus Σ α log θ for pseudo-counts α.

Standard errors of learned tables come from the observed information:

==================  ======================================================================
symbol              name here
==================  ======================================================================
n_c                 ``counts``: the expected number of cases in cell c
Cov(N_c, N_d)       ``covariances``: of the numbers of completed cases, given the observed cells
I_cd                n_c / θ_c² (if c = d) − Cov(N_c, N_d) / (θ_c θ_d)
J                   ``slopes``: of the cells by the free parameters
B                   ``curvature``: −Σ n_c ∂²θ_c / θ_c, which only noisy nodes have
(Jᵀ I J + B)⁻¹      the covariance of the free parameters
==================  ======================================================================

For complete cases, Cov is zero, and the standard error of a probability is that of a multinomial
distribution, √(θ (1 − θ) / n). Pseudo-counts of the prior count as cases.

References
----------
A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
J. R. Stat. Soc. B 1977; S. Lauritzen, "The EM algorithm for graphical association models with
missing data", Comput. Stat. Data Anal. 1995; T. Louis, "Finding the observed information matrix
when using the EM algorithm", J. R. Stat. Soc. B 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._messages import counted
from bnmind._values import Count, Natural, Sealed, Value
from bnmind._workers import faults_of_workers, results_of
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.fitting.expectation import Expectation, Expected
from bnmind.fitting.layout import Layout, NoisyBlock
from bnmind.fitting.squarem import AllStarts, Climb, LearningRecord, Place, climb
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Network


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


class EStep(Protocol):
    """The interface of E-steps for some data."""

    def at(self, cells: Floats) -> Expected:
        """Do the E-step with some tables."""


@dataclass(frozen=True, eq=False)
class TablesAscent(Sealed):
    """The log-likelihood of a network's tables, with its EM steps; see `squarem.Ascent`."""

    layout: Layout
    expectation: EStep

    def at(self, parameters: Floats) -> Place[Floats]:
        """Do the E-step."""
        expected = self.expectation.at(self.layout.cells(parameters))
        likelihood = expected.log_likelihood
        objective = likelihood + self.layout.log_prior(parameters)

        def improved() -> Floats:
            return self.layout.maximize(parameters, expected.counts)

        return Place(parameters, likelihood, objective, improved)

    def numbers(self, parameters: Floats) -> Floats:
        """Return the parameters, which are in one array."""
        return parameters

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return normalized parameters."""
        return self.layout.within(numbers, known)


@dataclass(frozen=True, eq=False)
class EM(Sealed):
    """EM for a network and some cases. Created by `expectation_maximization`.

    Examples
    --------
    >>> from bnmind.fitting import expectation_maximization
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> cases = {"rain": ["no", None, "yes"], "wet": ["no", "yes", "yes"]}
    >>> em = expectation_maximization(network, cases)
    >>> state, info = em.step(em.start())
    >>> em.step(state)[1].log_likelihood > info.log_likelihood
    True
    """

    layout: Layout
    """The arrangement of the network's tables."""
    expectation: Expectation
    """The E-step, prepared for the cases."""

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
        if state.parameters.shape != (n,):
            raise InvalidArgumentError(
                f"expected a state with {n} parameters, got an array of shape"
                f" {state.parameters.shape}",
                state,
            )
        return state.parameters


# --- How the expanded table of a noisy node depends on its links and its leak ---------------------
#
# ==================  ======================================================================
# symbol              name here
# ==================  ======================================================================
# θ_c                 a cell of the expanded table
# ∂θ_c/∂λ_a           ``slopes``: along each free direction of the links and the leak
# −Σ_c n_c ∂²θ_c/θ_c  ``curvature``, with the expected numbers of cases n_c
# ==================  ======================================================================
#
# A direction raises one probability of a link and lowers the largest one of the same distribution.
# The table is linear in each link, so differences over any step are derivatives, up to rounding.


class NoisySlopes(NamedTuple):
    """The derivatives of the expanded table of a noisy node."""

    slopes: Floats
    """``(cells, directions)``."""
    curvature: Floats
    """``(directions, directions)``: the information that the bend of the table adds, and that of
    the pseudo-counts of the links."""


def noisy_slopes(block: NoisyBlock, values: Floats, counts: Floats, edge: float) -> NoisySlopes:
    """Return the derivatives of the expanded table of a noisy node.

    Parameters
    ----------
    block
        The node.
    values
        The parameters: the leak, then the links.
    counts
        ``(cells,)``: the expected counts of the expanded table.
    edge
        Probabilities this close to 0 or 1 do not move.
    """
    directions, parts = _directions(block, values, edge)
    middle = block.table(values)
    steps = directions.max(axis=1)
    moved = [block.table(values + direction) for direction in directions]
    weights = np.divide(counts, middle, out=np.zeros_like(middle), where=middle > 0)
    per_value = np.divide(
        block.pseudo_counts, values**2, out=np.zeros_like(values), where=values > 0
    )
    unit = directions / steps[:, None]
    curvature = (unit * per_value) @ unit.T
    for i, j in zip(*np.triu_indices(len(directions), k=1), strict=True):
        if parts[i] != parts[j]:
            both = block.table(values + directions[i] + directions[j])
            bend = weights @ (both - moved[i] - moved[j] + middle) / (steps[i] * steps[j])
            curvature[i, j] = curvature[j, i] = curvature[i, j] - bend
    slopes = np.array([(table - middle) / step for table, step in zip(moved, steps, strict=True)])
    return NoisySlopes(slopes.reshape(-1, len(middle)).T, curvature)


def _directions(block: NoisyBlock, values: Floats, edge: float) -> tuple[Floats, list[int]]:
    """Return steps from the largest probability of each distribution, and their links."""
    directions, parts = [], []
    numbers = block.split(np.arange(len(values), dtype=np.float64))
    for part, (probabilities, places) in enumerate(zip(block.split(values), numbers, strict=True)):
        for column, place in zip(probabilities.T, places.T.astype(np.intp), strict=True):
            largest = int(column.argmax())
            for state in np.flatnonzero((column > edge) & (column < 1 - edge)):
                if state != largest:
                    direction = np.zeros(len(values))
                    direction[place[state]] = column[largest] / 2
                    direction[place[largest]] = -column[largest] / 2
                    directions.append(direction)
                    parts.append(part)
    return np.array(directions).reshape(len(directions), len(values)), parts


# --- Standard errors of learned tables, from the observed information -----------------------------
#
#

MOST_CELLS = 5000
"""The most cells of learned tables whose covariances are computed."""

_FLAT = 1e-9
"""Directions with less than this share of the largest information count as having none."""

_EDGE = 1e-6
"""Probabilities this close to 0 or 1 have no standard error: they are at the bound."""

_LARGEST = 0.5
"""No probability is more uncertain than this; a larger error means that the cases tell nothing."""

_RARE = 1e-3
"""Distributions with fewer expected cases have no standard errors."""


def standard_errors_of(em: EM, parameters: Floats) -> dict[str, Floats]:
    """Return the standard errors of all tables; see `bnmind.fitting.Fit.standard_errors`.

    Parameters
    ----------
    em
        The model and the cases.
    parameters
        The learned parameters.
    """
    layout, expectation = em.layout, em.expectation
    n = layout.n_learned_cells
    if n > MOST_CELLS:
        raise TooLargeError(
            f"expected at most {MOST_CELLS:,} cells of learned tables for standard errors, got"
            f" {n:,}; name tables in fixed",
            needed=n,
            budget=MOST_CELLS,
        )
    if expectation.tree is not None:
        needed = len(expectation.tree.states)
        raise TooLargeError(
            f"standard errors are not known with too many missing cells that depend on each other,"
            f" which {needed:,} distinct cases have",
            needed=needed,
            budget=0,
        )
    cells = layout.cells(parameters)
    theta, counts = cells[:n], expectation.at(cells).counts[:n]
    counts[: layout.n_free_cells] += layout.pseudo_counts
    covariances = np.zeros((n, n))
    expectation.add_covariances(cells, covariances)
    inner = (theta > _EDGE) & (theta < 1 - _EDGE)
    slopes, curvature = _slopes(layout, parameters, theta, counts)
    inverses = np.divide(1.0, theta, out=np.zeros(n), where=inner)
    information = np.diag(counts * inverses**2) - covariances * np.outer(inverses, inverses)
    covariance = inverse_information(slopes.T @ information @ slopes + curvature)
    # nan times zero is nan: parameters that are not identified count as zero, and are marked.
    lost = np.isnan(np.diag(covariance))
    variances = np.einsum("ij,jk,ik->i", slopes, np.nan_to_num(covariance), slopes, optimize=True)
    moving = np.abs(slopes) > 0
    known = inner & moving.any(axis=1) & ~moving[:, lost].any(axis=1)
    errors = np.full(layout.n_cells, np.nan)
    errors[:n][known] = np.sqrt(np.maximum(variances[known], 0.0))
    errors[errors > _LARGEST] = np.nan
    return {
        cpd.variable.name: (
            layout.table(errors, family).copy()
            if layout.free[family]
            else np.full([v.n_states for v in cpd.scope], np.nan)
        )
        for family, cpd in enumerate(layout.network.cpds)
        if not layout.large[family]
    }


def inverse_information(information: Floats) -> Floats:
    """Return the covariance matrix of parameters, with nan for those that are not identified.

    Examples
    --------
    >>> inverse_information(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.25, nan], [nan, nan]]
    """
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    flat = values <= _FLAT * max(float(values.max(initial=0.0)), math.ulp(0.0))
    inverse = (vectors[:, ~flat] / values[~flat]) @ vectors[:, ~flat].T
    lost = (vectors[:, flat] ** 2).sum(axis=1) > 1e-6
    inverse[lost, :] = np.nan
    inverse[:, lost] = np.nan
    covariance: Floats = inverse / np.outer(scale, scale)
    return covariance


def _slopes(
    layout: Layout, parameters: Floats, theta: Floats, counts: Floats
) -> tuple[Floats, Floats]:
    """Return how cells depend on free parameters, ``(cells, parameters)``, and the bend of that.

    The bend is the information ``(parameters, parameters)`` that second derivatives add.
    """
    from scipy.linalg import block_diag

    n = layout.n_free_cells
    blocks = [_table_slopes(theta[:n], counts[:n], layout.columns)]
    bends = [np.zeros((blocks[0].shape[1],) * 2)]
    for block, values in layout.of_noisy(parameters):
        slopes, bend = noisy_slopes(block, values, counts[block.cells], _EDGE)
        blocks.append(slopes)
        bends.append(bend)
    return block_diag(*blocks), block_diag(*bends)


def _table_slopes(theta: Floats, counts: Floats, columns: NDArray[np.intp]) -> Floats:
    """Return how the cells of free tables depend on their parameters, ``(cells, parameters)``.

    The parameters are all cells of a distribution that are not at a bound, but the largest.
    """
    n_columns = int(columns.max()) + 1 if len(columns) else 0
    per_column = np.bincount(columns, weights=counts, minlength=n_columns)
    free = (theta > _EDGE) & (theta < 1 - _EDGE) & (per_column[columns] > _RARE)
    largest: dict[int, int] = {}
    for cell in np.flatnonzero(free).tolist():
        column = int(columns[cell])
        if column not in largest or theta[cell] > theta[largest[column]]:
            largest[column] = cell
    moved = [cell for cell in np.flatnonzero(free).tolist() if largest[int(columns[cell])] != cell]
    slopes = np.zeros((len(theta), len(moved)))
    for parameter, cell in enumerate(moved):
        slopes[cell, parameter] = 1.0
        slopes[largest[int(columns[cell])], parameter] = -1.0
    return slopes


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


def climbs_from(
    ascent: TablesAscent,
    starts: Sequence[Floats],
    options: FitOptions,
    progress: Callable[[int, int], None] | None,
) -> list[Climb[Floats]]:
    """Return the ascent from each start."""
    told = AllStarts(progress, len(starts))
    tasks = [
        partial(
            climb,
            ascent,
            start,
            max_iterations=options.max_iterations,
            tolerance=options.tolerance,
            accelerate=options.accelerate,
            progress=told.during_a_start if options.workers == 1 else None,
        )
        for start in starts
    ]
    climbs: list[Climb[Floats]] = []
    for one in results_of(tasks, options.workers):
        climbs.append(one)
        told.after_a_start(one.steps)
    return climbs


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
            If the learned tables have more than 5,000 cells, or a case has so many missing cells
            that depend on each other that a junction tree completes it.

        References
        ----------
        T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat.
        Soc. B 1982.
        """
        return standard_errors_of(self.em, self.state.parameters)

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln cases − 2 · log-likelihood."""
        return self.n_parameters * math.log(self.n_cases) - 2 * self.log_likelihood
