"""Posteriors from weighted samples, with their standard errors (likelihood weighting).

R. Fung & K.-C. Chang, *Weighing and integrating evidence for stochastic simulation in Bayesian
networks*, UAI 1989 (1990); R. D. Shachter & M. A. Peot, *Simulation approaches to general
probabilistic inference on belief networks*, UAI 1989 (1990). Variables without evidence are drawn
from their conditional distributions, parents first. The weight of a sample is the probability of
the evidence given its parents. The standard error is that of a ratio of means (the delta method):
``sqrt(Σ w² (f − p)²) / Σ w`` for an estimate p = Σ w f / Σ w. It is zero for a state that occurred
in no sample, or in all. Such a state has the error 3/n for n effective samples instead: with a
probability of about .95, an event that n independent samples lack is no more probable (the rule of
three: J. A. Hanley & A. Lippman-Hand, *If nothing goes wrong, is everything all right?*, JAMA 249,
1983). All other errors are at least 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._messages import counted, many
from bnmind._values import ReadOnlyDict, Sealed
from bnmind.errors import InvalidArgumentError, TooFewSamplesError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.inference.evidence import (
    Evidence,
    by_name,
    is_missing,
    is_state,
    likelihood,
)
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, combined
from bnmind.pgm.variable import Variable

__all__ = ["WeightedPosterior", "likelihood_weighting"]

_CHUNK = 2**14
"""The samples that are drawn at once."""

_FEWEST = 10
"""The effective samples below which there are no estimates."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedPosterior(Result, Sealed):
    """Estimates of posteriors from weighted samples, with their standard errors."""

    variables: tuple[Variable, ...]
    """The targets."""
    estimates: tuple[Floats, ...]
    """For each target, the estimate of the probability of each state, ``(states,)``."""
    standard_errors: tuple[Floats, ...]
    """For each target, the standard error of each estimate, ``(states,)``.

    A state that occurred in no sample, or in all, has 3 / ``effective_samples``, an upper bound of
    its error with a probability of about .95. Targets whose state is observed have 0.
    """
    log_evidence: float
    """The natural logarithm of the estimated probability of the evidence."""
    evidence_error: float
    """The standard error of the estimated probability of the evidence, divided by it."""
    n_samples: int
    """The number of samples."""
    effective_samples: float
    """The number of equally weighted samples that would be as good, ``(Σ w)² / Σ w²``."""

    @cached_property
    def marginals(self) -> Mapping[str, Floats]:
        """The estimated distribution of each target by name."""
        return ReadOnlyDict(
            {v.name: p for v, p in zip(self.variables, self.estimates, strict=True)}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates and their errors as a record for JSON."""

        def by_state(columns: Sequence[Floats]) -> dict[str, dict[str, float]]:
            pairs = zip(self.variables, columns, strict=True)
            return {v.name: dict(zip(v.states, c.tolist(), strict=True)) for v, c in pairs}

        return {
            "estimates": by_state(self.estimates),
            "standard_errors": by_state(self.standard_errors),
            "log_evidence": self.log_evidence,
            "evidence_error": self.evidence_error,
            "n_samples": self.n_samples,
            "effective_samples": self.effective_samples,
        }

    def __repr__(self) -> str:
        lines = [
            f"WeightedPosterior({counted(self.n_samples, 'sample')} worth"
            f" {self.effective_samples:,.0f}, log_evidence={self.log_evidence:.6g}"
            f" ± {self.evidence_error:.2g})"
        ]
        for v, p, error in zip(self.variables, self.estimates, self.standard_errors, strict=True):
            states = zip(v.states, p.tolist(), error.tolist(), strict=True)
            texts = [f"{state} {mean:.3f} ± {deviation:.2g}" for state, mean, deviation in states]
            lines.append(f"{v.name}  " + "  ".join(texts))
        return "\n".join(lines)


@checked
def likelihood_weighting(
    network: Network,
    evidence: Evidence | None = None,
    targets: Iterable[str] | None = None,
    *,
    n_samples: int,
    rng: np.random.Generator,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int | None], None] | None = None,
) -> WeightedPosterior:
    """Estimate posteriors from weighted samples.

    The estimates are not exact. Their standard errors are reliable only if the effective number of
    samples is large; evidence of small probability makes it small. Fewer than ten effective samples
    give no estimates, but an error.

    Parameters
    ----------
    network
        The network.
    evidence
        For each observed variable a state, a likelihood, or a missing value.
    targets
        The variables of interest; by default all without a state in the evidence.
    n_samples
        The number of samples.
    rng
        The random generator.
    limits
        The limit of the multiplications: one for each state of each variable in each sample; for
        a noisy maximum or minimum, one for each of its parents too.
    progress
        A function that is called with the number of samples drawn, and of all samples.

    Raises
    ------
    InvalidArgumentError
        If no samples are asked for, or the arguments are wrong.
    TooFewSamplesError
        If the samples are worth fewer than ten, or none agrees with the evidence.
    UnknownNameError
        If a variable or a state is unknown.
    TooLargeError
        If the samples would exceed the limit.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> likelihood_weighting(network, {"wet": "yes"}, n_samples=10_000,
    ...                      rng=np.random.default_rng(1)).marginals["rain"].round(1).tolist()
    [0.3, 0.7]
    """
    if n_samples < 1:
        raise InvalidArgumentError(f"n_samples must be at least 1, got {n_samples}", n_samples)
    work = n_samples * sum([_work(cpd) for cpd in network.cpds])
    if work > limits.max_multiplications:
        raise TooLargeError(
            f"{many(n_samples)} samples would take {many(work)} multiplications; allowed are"
            f" max_multiplications={limits.max_multiplications:,}. Draw fewer samples, or raise the"
            " limit.",
            needed=work,
            budget=limits.max_multiplications,
        )
    if isinstance(targets, str):
        raise InvalidArgumentError("targets must be a list of names, got a single string", targets)
    fixed, weights = _read(network, evidence)
    names = [v.name for v in network.variables if v.name not in fixed]
    wanted = [network.variable(name) for name in (names if targets is None else targets)]
    draws = _Draws(network, fixed, weights)
    sums = _Sums.start(wanted)
    for start in range(0, n_samples, _CHUNK):
        n = min(_CHUNK, n_samples - start)
        states, logs = draws.draw(n, rng)
        sums = sums.add(logs, [states[v.name] for v in wanted])
        if progress is not None:
            progress(start + n, n_samples)
    return sums.posterior(wanted, n_samples, frozenset(fixed))


def _work(cpd: CPD) -> int:
    """Return the number of multiplications of a sample of a variable."""
    n = cpd.variable.n_states
    return n * (1 + len(cpd.parents)) if isinstance(cpd, NoisyExtremum) else n


def _read(network: Network, evidence: Evidence | None) -> tuple[dict[str, int], dict[str, Floats]]:
    """Return the states and the likelihoods of the evidence by name."""
    fixed, weights = dict[str, int](), dict[str, Floats]()
    for name, finding in by_name(evidence, "the evidence").items():
        variable = network.variable(name)
        if is_missing(finding):
            continue
        if is_state(finding):
            fixed[name] = variable.index(finding)
        else:
            weights[name] = likelihood(variable, finding)
    return fixed, weights


class _Draws:
    """Draws samples of a network given evidence.

    Parameters
    ----------
    network
        The network.
    fixed, weights
        The states and the likelihoods of the evidence.
    """

    def __init__(
        self, network: Network, fixed: Mapping[str, int], weights: Mapping[str, Floats]
    ) -> None:
        self.fixed, self.weights = fixed, weights
        # They are sorted, parents first.
        self.cpds = network.cpds
        self.tables = {
            cpd.variable.name: np.moveaxis(np.real(cpd.to_factor().values), 0, -1)
            for cpd in self.cpds
            if not isinstance(cpd, FunctionalCPD | NoisyExtremum)
        }

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, NDArray[np.intp]], Floats]:
        """Return n samples, and the natural logarithm of the weight of each."""
        states: dict[str, NDArray[np.intp]] = {}
        logs = np.zeros(n)
        with np.errstate(divide="ignore"):
            for cpd in self.cpds:
                name = cpd.variable.name
                at = tuple([states[v.name] for v in cpd.parents])
                seen = self.fixed.get(name)
                if isinstance(cpd, FunctionalCPD):
                    drawn = np.broadcast_to(cpd.function(*at), n).astype(np.intp)
                    if seen is not None:
                        logs += np.log(drawn == seen)
                        drawn = np.full(n, seen, dtype=np.intp)
                else:
                    rows = (
                        _extrema(cpd, at)
                        if isinstance(cpd, NoisyExtremum)
                        else self.tables[name][at]
                    )
                    rows = np.broadcast_to(rows, (n, cpd.variable.n_states))
                    if seen is not None:
                        logs += np.log(rows[:, seen])
                        drawn = np.full(n, seen, dtype=np.intp)
                    else:
                        drawn = _drawn(rows, rng.random(n))
                states[name] = drawn
                if name in self.weights:
                    logs += np.log(self.weights[name][drawn])
        return states, logs


def _extrema(cpd: NoisyExtremum, at: Sequence[NDArray[np.intp]]) -> Floats:
    """Return the distributions of a noisy maximum or minimum, ``(samples, states)``.

    The table over all parents is never expanded.

    Parameters
    ----------
    cpd
        The distribution.
    at
        The states of each parent in the samples.
    """
    # In reverse order of the states, a minimum is a maximum.
    turn = slice(None) if isinstance(cpd, NoisyMaximum) else slice(None, None, -1)
    leak, *links = [contribution[turn] for contribution in cpd.contributions]
    columns = leak
    for link, states in zip(links, at, strict=True):
        columns = combined(columns, link[:, states])
    return columns[turn].T


def _drawn(rows: Floats, uniform: Floats) -> NDArray[np.intp]:
    """Return a state drawn from each row of probabilities, none of probability zero."""
    bounds = np.cumsum(rows, axis=1)
    places = (bounds <= (uniform * bounds[:, -1])[:, None]).sum(axis=1)
    drawn: NDArray[np.intp] = np.minimum(places, rows.shape[1] - 1)
    return drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sums:
    """Sums of weights, as multiples of the largest one."""

    log_scale: float
    first: float
    """Σ w."""
    second: float
    """Σ w²."""
    firsts: tuple[Floats, ...]
    """For each target, Σ w of the samples in each state."""
    seconds: tuple[Floats, ...]
    """For each target, Σ w² of the samples in each state."""

    @classmethod
    def start(cls, targets: Sequence[Variable]) -> _Sums:
        zeros = tuple([np.zeros(v.n_states) for v in targets])
        return cls(log_scale=-math.inf, first=0.0, second=0.0, firsts=zeros, seconds=zeros)

    def add(self, logs: Floats, states: Sequence[NDArray[np.intp]]) -> _Sums:
        """Return the sums with more samples."""
        scale = max(self.log_scale, float(logs.max()))
        if scale == -math.inf:
            return self
        old, w = math.exp(self.log_scale - scale), np.exp(logs - scale)

        def counted(before: Sequence[Floats], factor: float, values: Floats) -> tuple[Floats, ...]:
            return tuple(
                [
                    factor * sums + np.bincount(column, weights=values, minlength=len(sums))
                    for sums, column in zip(before, states, strict=True)
                ]
            )

        return _Sums(
            log_scale=scale,
            first=old * self.first + float(w.sum()),
            second=old**2 * self.second + float((w**2).sum()),
            firsts=counted(self.firsts, old, w),
            seconds=counted(self.seconds, old**2, w**2),
        )

    def posterior(
        self, targets: Sequence[Variable], n: int, observed: frozenset[str]
    ) -> WeightedPosterior:
        """Return the estimates from n samples."""
        effective = self.first**2 / self.second if self.first > 0 else 0.0
        # Sums of equal weights are not exact.
        if effective < _FEWEST * (1 - 1e-9):
            agree = f"are worth only {effective:.2g}" if effective else "all disagree with it"
            raise TooFewSamplesError(
                f"{many(n)} samples are too few for this evidence, and {agree}; at least {_FEWEST}"
                " are needed. Draw more samples, or compute the answer exactly; the evidence may be"
                " impossible or very improbable.",
                n_samples=n,
                effective_samples=effective,
            )
        estimates = [first / self.first for first in self.firsts]
        errors = [
            np.zeros(v.n_states) if v.name in observed else self._errors(first, second, effective)
            for v, first, second in zip(targets, self.firsts, self.seconds, strict=True)
        ]
        mean, square = self.first / n, self.second / n
        return WeightedPosterior(
            variables=tuple(targets),
            estimates=tuple(estimates),
            standard_errors=tuple(errors),
            log_evidence=self.log_scale + math.log(mean),
            evidence_error=math.sqrt(max(square / mean**2 - 1, 0.0) / n),
            n_samples=n,
            effective_samples=effective,
        )

    def _errors(self, first: Floats, second: Floats, effective: float) -> Floats:
        """Return the standard errors for the sums of w and of w² in each state of a target."""
        if np.count_nonzero(first) == 1:
            return np.full(len(first), 3 / effective)
        p = first / self.first
        errors = np.sqrt(np.maximum((1 - 2 * p) * second + p**2 * self.second, 0.0)) / self.first
        return np.where(first > 0, np.maximum(errors, 1 / effective), 3 / effective)
