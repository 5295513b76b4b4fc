"""Answers within bounds, and answers from weighted samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._messages import counted, many
from bnmind._values import Count, Natural, ReadOnlyDict, Sealed, Value, sealed
from bnmind.errors import TooFewSamplesError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, Reader, Seen, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import impossible
from bnmind.junction.sampling import distributions, draw
from bnmind.junction.slices import SlicedPlan, SliceSums, compile_sliced
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyExtremum
from bnmind.pgm.variable import Variable

# --- Posteriors between guaranteed bounds, which narrow with each slice (bounded conditioning) ----
#
# E. J. Horvitz, H. J. Suermondt & G. F. Cooper, *Bounded conditioning: flexible inference for
# decisions under scarce resources*, UAI 1989.
#
# ================  ==============================================================
# of the paper      here
# ================  ==============================================================
# c                 a joint state of the sliced variables (an instance of the loop
#                   cutset), `number`
# p(c)              its probability without evidence, ``priors``
# Σ p(x, e, c)      the sum over the slices so far, `SliceSums`
# the rest          ``1 − Σ p(c)``, which bounds the probability that is missing
# ================  ==============================================================
#
# The evidence and a state x have the probability S(x) in the slices so far, and S is the sum over
# x. If the other slices have the prior mass R, then ``S <= P(e) <= S + R``, and ``S(x) / (S + R) <=
# P(x | e) <= (S(x) + R) / (S + R)``. Slices run in the order of their prior.

_MOST_SLICES = 2**20
"""The most slices whose priors are computed beforehand."""

_ALL_WORK = 2**200
"""A limit for all slices together, which need not all run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PosteriorBounds(Result, Sealed):
    """Bounds of posteriors and of the probability of the evidence: the state between two steps."""

    targets: tuple[tuple[Variable, ...], ...]
    """The variables of each target."""
    sums: SliceSums
    """The sums over the slices so far."""
    log_rest: float
    """The natural logarithm of the prior probability of all other slices; −inf for none."""

    @property
    def gap(self) -> float:
        """The upper bound of every posterior probability minus its lower bound."""
        if self.log_rest == -math.inf:
            return 0.0
        difference = self.sums.log_evidence - self.log_rest
        return 1 / (1 + math.exp(min(difference, 700.0)))

    @property
    def lower(self) -> tuple[Floats, ...]:
        """For each target, a lower bound of each of its probabilities."""
        return tuple([sealed(self._share(joint)) for joint in self.sums.joints])

    @property
    def upper(self) -> tuple[Floats, ...]:
        """For each target, an upper bound of each of its probabilities."""
        shares = [self._share(joint) for joint in self.sums.joints]
        return tuple([sealed(np.minimum(share + self.gap, 1.0)) for share in shares])

    def _share(self, joint: Floats) -> Floats:
        if not self.sums.total > 0:
            return np.zeros_like(joint)
        share: Floats = joint / self.sums.total * (1 - self.gap)
        return share

    @property
    def log_evidence(self) -> tuple[float, float]:
        """The bounds of the natural logarithm of the probability of the evidence."""
        low = self.sums.log_evidence
        return low, min(float(np.logaddexp(low, self.log_rest)), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds of all targets of one variable as a record for JSON."""
        pairs = zip(self.targets, self.lower, self.upper, strict=True)
        return {
            "bounds": {
                scope[0].name: dict(zip(scope[0].states, np.c_[low, high].tolist(), strict=True))
                for scope, low, high in pairs
                if len(scope) == 1
            },
            "gap": self.gap,
            "log_evidence": list(self.log_evidence),
        }

    def __repr__(self) -> str:
        low, high = self.log_evidence
        lines = [f"PosteriorBounds(gap {self.gap:.3g}, log_evidence from {low:.6g} to {high:.6g})"]
        for scope, lower, upper in zip(self.targets, self.lower, self.upper, strict=True):
            if len(scope) == 1:
                texts = map("{} {:.3f}..{:.3f}".format, scope[0].states, lower, upper)
                lines.append("  ".join([scope[0].name, *texts]))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BoundedConditioning(Value):
    """A plan of slices in the order of their prior probability; `compile_bounds` makes it."""

    plan: SlicedPlan
    """The slices."""
    numbers: NDArray[np.intp]
    """``(slices,)`` the joint states of the sliced variables that are possible without evidence,
    the most probable first."""
    log_rests: Floats
    """``(slices + 1,)`` the natural logarithm of the prior mass of the slices from each one on."""

    def __repr__(self) -> str:
        return f"BoundedConditioning({counted(len(self.numbers), 'slice')}; {self.plan!r})"

    @checked
    def steps(
        self, evidence: Evidence | None = None, *, start: PosteriorBounds | None = None
    ) -> Iterator[PosteriorBounds]:
        """Yield the bounds after each slice; the last ones are exact.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        start
            The bounds to go on from, of this plan and the same evidence.

        Raises
        ------
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`, and if ``start`` holds the bounds of another question.
        """
        findings = read_findings(evidence, self.plan.evidence, ())
        return islice(self._bounds(findings, start), 1, None)

    def _bounds(
        self, findings: dict[str, str], start: PosteriorBounds | None = None
    ) -> Iterator[PosteriorBounds]:
        """Return the bounds at the start, and after each slice."""
        # The order of the slices is another than that of the sliced plan.
        question = f"bounds {self.plan.digest(findings)}"
        none = SliceSums.start(self.plan.targets, question)
        first = none if start is None else start.sums.of(question)
        sizes = [v.n_states for v in self.plan.sliced]
        slices = (
            (done, np.unravel_index(number, sizes) if sizes else ())
            for done, number in enumerate(self.numbers[first.done :].tolist(), first.done)
        )
        return (
            PosteriorBounds(
                targets=self.plan.targets, sums=sums, log_rest=float(self.log_rests[sums.done])
            )
            for sums in chain([first], self.plan.added(findings, first, slices))
        )

    @checked
    def run(
        self,
        evidence: Evidence | None = None,
        *,
        gap: float = 0.0,
        max_slices: Natural | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> PosteriorBounds:
        """Return the bounds when they are narrow enough, or after a number of slices.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        gap
            The width of the bounds that is narrow enough.
        max_slices
            The most slices to run; by default all.
        progress
            A function that is called with the number of finished slices, and of all.

        Raises
        ------
        ImpossibleEvidenceError
            If all slices ran and the evidence has probability zero.
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`, and if ``max_slices`` is negative.
        """
        findings = read_findings(evidence, self.plan.evidence, ())
        every = self._bounds(findings)
        bounds = next(every)
        for bounds in islice(every, max_slices):
            if progress is not None:
                progress(bounds.sums.done, len(self.numbers))
            if bounds.gap <= gap:
                break
        if not bounds.sums.total > 0 and bounds.log_rest == -math.inf:
            fixed = self.plan.plan.compiled.query.fixed
            raise impossible({**fixed, **findings})
        return bounds


@checked
def compile_bounds(
    network: Network,
    *,
    evidence: Iterable[str] = (),
    known: Evidence | None = None,
    targets: Iterable[Iterable[str]] | None = None,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> BoundedConditioning:
    """Compile an anytime answer with guaranteed lower and upper bounds.

    The slices are those of `compile_sliced`; a smaller ``max_bytes`` makes more and quicker ones.
    They run in the order of their probability without evidence, and the mass of those that have not
    run bounds what they could change.

    Parameters
    ----------
    network
        The network. A product of factors has no prior probabilities.
    evidence, known, targets, order
        As for `compile_sliced`.
    limits
        The limits of the memory and the multiplications of each slice. There is no limit for all
        slices together, because they need not all run.

    Raises
    ------
    TooLargeError
        If no choice of variables makes a slice fit, or there are more than a million slices.
    UnknownNameError, InvalidArgumentError, ImpossibleEvidenceError
        As for `compile_sliced`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> compile_bounds(network, evidence=["wet"]).run({"wet": "yes"})
    PosteriorBounds(gap 0, log_evidence from -1.34707 to -1.34707)
    rain  no 0.308..0.308  yes 0.692..0.692
    """
    plan = compile_sliced(
        network,
        evidence=evidence,
        known=known,
        targets=targets,
        order=order,
        limits=replace(limits, max_multiplications=_ALL_WORK),
    )
    if plan.n_slices > _MOST_SLICES:
        raise TooLargeError(
            f"the bounds would take {many(plan.n_slices)} slices; allowed are {_MOST_SLICES:,}."
            " Observe more variables, or raise max_bytes, which makes fewer slices.",
            needed=plan.n_slices,
            budget=_MOST_SLICES,
        )
    if plan.plan.multiplications > limits.max_multiplications:
        raise TooLargeError(
            f"each slice of the bounds would take {many(plan.plan.multiplications)}"
            f" multiplications; allowed are max_multiplications={limits.max_multiplications:,}."
            " Observe more variables or raise the limit.",
            needed=plan.plan.multiplications,
            budget=limits.max_multiplications,
        )
    logs = _log_priors(network, plan.sliced, order, limits)
    numbers = np.argsort(-logs, kind="stable")
    numbers = numbers[logs[numbers] > -math.inf]
    # From the least probable slice on, so that small masses are not lost.
    rests = np.logaddexp.accumulate(np.append(-math.inf, logs[numbers[::-1]]))[::-1]
    return BoundedConditioning(plan=plan, numbers=numbers, log_rests=np.minimum(rests, 0.0))


def _log_priors(
    network: Network, sliced: tuple[Variable, ...], order: OrderFinder | None, limits: Limits
) -> Floats:
    """Return the natural logarithm of the prior probability of each joint state of variables."""
    if not sliced:
        return np.zeros(1)
    names = [v.name for v in sliced]
    plan = compile_plan(network, evidence=names, targets=[()], order=order, limits=limits)
    sizes = [v.n_states for v in sliced]
    states = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    cases = dict(zip(names, states, strict=True))
    return plan.run_batch(cases, allow_impossible=True).log_evidence


# --- Posteriors from weighted samples, with their standard errors (likelihood weighting) ----------
#
# R. Fung & K.-C. Chang, *Weighing and integrating evidence for stochastic simulation in Bayesian
# networks*, UAI 1989 (1990); R. D. Shachter & M. A. Peot, *Simulation approaches to general
# probabilistic inference on belief networks*, UAI 1989 (1990). Variables without evidence are drawn
# from their conditional distributions, parents first. The weight of a sample is the probability of
# the evidence given its parents. The standard error is that of a ratio of means (the delta method):
# ``sqrt(Σ w² (f − p)²) / Σ w`` for an estimate p = Σ w f / Σ w. It is zero for a state that
# occurred in no sample, or in all. Such a state has the error 3/n for n effective samples instead:
# with a probability of about .95, an event that n independent samples lack is no more probable (the
# rule of three: J. A. Hanley & A. Lippman-Hand, *If nothing goes wrong, is everything all right?*,
# JAMA 249, 1983). All other errors are at least 1/n.

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
            texts = map("{} {:.3f} ± {:.2g}".format, v.states, p, error)
            lines.append("  ".join([v.name, *texts]))
        return "\n".join(lines)


@checked
def likelihood_weighting(
    network: Network,
    evidence: Evidence | None = None,
    targets: Iterable[str] | None = None,
    *,
    n_samples: Count,
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
    work = n_samples * sum([_work(cpd) for cpd in network.cpds])
    if work > limits.max_multiplications:
        raise TooLargeError(
            f"{many(n_samples)} samples would take {many(work)} multiplications; allowed are"
            f" max_multiplications={limits.max_multiplications:,}. Draw fewer samples, or raise the"
            " limit.",
            needed=work,
            budget=limits.max_multiplications,
        )
    seen = Reader(network).evidence(evidence)
    names = [v.name for v in network.variables if v.name not in seen.positions]
    wanted = [network.variable(name) for name in (names if targets is None else targets)]
    log_scale, sums = -math.inf, np.zeros((2, 1 + sum(v.n_states for v in wanted)))
    for start in range(0, n_samples, _CHUNK):
        n = min(_CHUNK, n_samples - start)
        states, logs = _samples(network, seen, n, rng)
        top = max(log_scale, float(logs.max()))
        if top > -math.inf:
            w = np.exp(logs - top)
            columns = [
                (np.zeros(n, dtype=np.intp), 1),
                *[(states[v.name], v.n_states) for v in wanted],
            ]
            new = [
                np.concatenate([np.bincount(at, each, n_states) for at, n_states in columns])
                for each in (w, w**2)
            ]
            old = math.exp(log_scale - top)
            log_scale, sums = top, np.array([[old], [old**2]]) * sums + new
        if progress is not None:
            progress(start + n, n_samples)
    return _estimates(log_scale, sums, wanted, n_samples, seen)


def _work(cpd: CPD) -> int:
    """Return the number of multiplications of a sample of a variable."""
    n = cpd.variable.n_states
    return n * (1 + len(cpd.parents)) if isinstance(cpd, NoisyExtremum) else n


def _samples(
    network: Network, seen: Seen, n: int, rng: np.random.Generator
) -> tuple[dict[str, NDArray[np.intp]], Floats]:
    """Return the states of n samples, and the natural logarithm of the weight of each."""
    states: dict[str, NDArray[np.intp]] = {}
    logs = np.zeros(n)
    with np.errstate(divide="ignore"):
        # The distributions are sorted, parents first.
        for cpd in network.cpds:
            name = cpd.variable.name
            at = [states[v.name] for v in cpd.parents]
            place = seen.positions.get(name)
            if place is None:
                states[name] = draw(cpd, at, n, rng)
            else:
                if isinstance(cpd, FunctionalCPD):
                    logs += np.log(cpd.function(*at) == place)
                else:
                    logs += np.log(distributions(cpd, at)[:, place])
                states[name] = np.full(n, place, dtype=np.intp)
            if name in seen.soft:
                logs += np.log(seen.soft[name][states[name]])
    return states, logs


def _estimates(
    log_scale: float, sums: Floats, targets: Sequence[Variable], n: int, seen: Seen
) -> WeightedPosterior:
    """Return the estimates from n samples.

    The sums are those of the weights, divided by the largest one, and of their squares: first of
    all samples, then of those in each state of each target.
    """
    total, squares = sums[:, 0].tolist()
    effective = total**2 / squares if total > 0 else 0.0
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
    estimates, errors = [], []
    ends = np.cumsum([1, *[v.n_states for v in targets]])
    for v, (first, second) in zip(targets, np.split(sums, ends, axis=1)[1:], strict=False):
        p = first / total
        variances = (1 - 2 * p) * second + p**2 * squares
        error = np.maximum(np.sqrt(np.maximum(variances, 0.0)) / total, 1 / effective)
        if np.count_nonzero(first) == 1:
            error[:] = 3 / effective
        error[first == 0] = 3 / effective
        estimates.append(p)
        errors.append(np.zeros(v.n_states) if v.name in seen.positions else error)
    mean, square = total / n, squares / n
    return WeightedPosterior(
        variables=tuple(targets),
        estimates=tuple(estimates),
        standard_errors=tuple(errors),
        log_evidence=log_scale + math.log(mean),
        evidence_error=math.sqrt(max(square / mean**2 - 1, 0.0) / n),
        n_samples=n,
        effective_samples=effective,
    )
