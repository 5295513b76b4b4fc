"""The result of learning the tables of a network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

from bnmind._display import Result
from bnmind._messages import counted
from bnmind._values import Count, Natural, Value
from bnmind._workers import Executor, faults_of_workers
from bnmind.fitting.em import EM, EMState
from bnmind.fitting.record import LearningRecord
from bnmind.fitting.standard_errors import standard_errors_of
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Network

__all__ = ["Fit", "FitOptions"]


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
