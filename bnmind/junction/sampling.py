"""Samples of all variables given the evidence: exact ones, and weighted ones.

Exact samples: the evidence variables and their ancestors are drawn from a junction tree: a backward
walk through the program that sums out all variables draws, at each step, the variables that the
step sums out. All other variables are barren. They are drawn forward, each from its distribution
given its parents (logic sampling: M. Henrion, *Propagating uncertainty in Bayesian networks by
probabilistic logic sampling*, 1988). No sample is rejected, and without evidence no junction tree
is needed.

Weighted samples need no junction tree: likelihood weighting estimates posteriors, with their
standard errors.

References
----------
A. P. Dawid, "Applications of a general propagation algorithm for probabilistic expert
systems", Statistics and Computing 2 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._messages import counted, many
from bnmind._values import Count, Natural, ReadOnlyDict, Sealed, Value, sealed
from bnmind.errors import TooFewSamplesError, TooLargeError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.evidence import Evidence, Reader, Seen, read_findings
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan
from bnmind.junction.reduction import without_barren
from bnmind.junction.walk import (
    Choice,
    Eliminated,
    Elimination,
    Extend,
    States,
    in_parts,
    walk_back,
)
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, parents_first
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, combined
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

MOST_STATES = 2**31
"""The most states of all variables in all samples of a run; they take 16 GiB."""


@dataclass(frozen=True, eq=False)
class Samples(Value):
    """Independent draws of all variables given the evidence."""

    variables: tuple[Variable, ...]
    """All variables of the model, with the evidence, in the order of the model."""
    positions: States
    """``(samples, variables)`` state positions."""
    log_evidence: float
    """Natural logarithm of the probability of the evidence; for a product of factors, of the sum of
    the product given the evidence."""

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"Samples({len(self)} of {len(self.variables)} variables)"

    @cached_property
    def columns(self) -> Mapping[str, NDArray[np.str_]]:
        """The names of the states, ``(samples,)`` for each variable."""
        return ReadOnlyDict(
            {
                v.name: sealed(np.array(v.states)[self.positions[:, number]])
                for number, v in enumerate(self.variables)
            }
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame`: samples × variables, states as categories."""
        import pandas

        return pandas.DataFrame(
            {
                v.name: pandas.Categorical.from_codes(
                    self.positions[:, number], dtype=pandas.CategoricalDtype(list(v.states))
                )
                for number, v in enumerate(self.variables)
            }
        )

    @checked
    def frequencies(self, *names: str) -> Floats:
        """Return the relative frequency of each configuration of some variables.

        Parameters
        ----------
        *names
            Names of variables, each an axis of the result in this order.

        Raises
        ------
        UnknownNameError
            If a variable is not in the model.
        """
        known = {v.name: number for number, v in enumerate(self.variables)}
        for name in names:
            if name not in known:
                raise UnknownNameError("variable", name, known)
        axes = [known[name] for name in names]
        counts = np.zeros([self.variables[axis].n_states for axis in axes])
        np.add.at(counts, tuple(self.positions[:, axes].T), 1)
        return counts / max(len(self), 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SamplingPlan(Value):
    """A compiled sampler of a model given evidence; made by `compile_sampling`."""

    model: Network | FactorModel
    """The model."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run takes."""
    soft: tuple[Variable, ...]
    """The variables for which each run takes a state, a likelihood, or nothing."""
    plan: Plan | None
    """The plan for the evidence and its ancestors, or for a product; None without evidence."""
    forward: tuple[CPD, ...]
    """The distributions of the other variables, parents first."""
    elimination: Elimination | None = None
    """The tables and the evidence variables, from which plans for cases are made."""

    def __repr__(self) -> str:
        drawn = len(self.model.variables) - len(self.evidence)
        given = "nothing" if self.plan is None else self.plan.compiled.line
        return f"SamplingPlan({counted(drawn, 'variable')} | {given})"

    def __str__(self) -> str:
        lines = [] if self.plan is None else [str(self.plan)]
        names = ", ".join(cpd.variable.name for cpd in self.forward)
        return "\n".join([*lines, f"drawn forward  {names or 'none'}"])

    @checked
    def run(
        self, evidence: Evidence | None = None, *, n_samples: Natural, rng: np.random.Generator
    ) -> Samples:
        """Return independent samples of the joint distribution given the evidence.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        n_samples
            The number of samples, at least 0.
        rng
            The random generator. Equal generators give equal samples.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        UnknownNameError, InvalidArgumentError
            If the evidence is not that of the plan, or ``n_samples`` is negative.
        TooLargeError
            If there are too many states to draw; or if each case has its own plan, and the plan for
            this evidence exceeds its limits.
        """
        drawn_states = n_samples * len(self.model.variables)
        if drawn_states > MOST_STATES:
            raise TooLargeError(
                f"expected at most {MOST_STATES:,} states to draw at a time, got"
                f" {many(drawn_states)}",
                needed=drawn_states,
                budget=MOST_STATES,
            )
        evidence = read_findings(evidence, self.evidence, self.soft)
        # Variables that the plan does not number have a single state.
        at: dict[str, States] = {
            v.name: np.zeros(n_samples, dtype=np.intp) for v in self.model.variables
        }
        log_evidence = 0.0
        if self.plan is not None and self.elimination is not None:
            run = self.elimination.run(self.plan, evidence)
            log_evidence = run.log_total
            drawn = walk_back(run.compiled.program, run.registers, n_samples, _drawing(run, rng))
            at.update(zip(run.compiled.numbered, drawn, strict=True))
        # The plan numbers the evidence, but does not draw it.
        at.update((v.name, np.full(n_samples, v.index(evidence[v.name]))) for v in self.evidence)
        for cpd in self.forward:
            at[cpd.variable.name] = draw(cpd, [at[v.name] for v in cpd.parents], n_samples, rng)
        columns = [at[v.name] for v in self.model.variables]
        positions = np.stack(columns, axis=1)
        positions.setflags(write=False)
        return Samples(self.model.variables, positions, log_evidence)


def _drawing(run: Eliminated, rng: np.random.Generator) -> Extend:
    """Return the extension of samples by states drawn in proportion to their weights."""

    def extend(choice: Choice, states: States) -> tuple[Any, States]:
        drawn = []
        for part in choice.parts(states.shape[1]):
            weights = choice.weights(states[:, part], run.combine)
            if run.combine is np.add:
                with np.errstate(under="ignore"):
                    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
            drawn.append(pick(weights, rng.random(part.stop - part.start)))
        return slice(None), np.concatenate(drawn)

    return extend


def pick(weights: Floats, luck: Floats) -> States:
    """Return a choice for each number of luck, in proportion to its row of weights, or to the one.

    A weight of zero is never chosen, because the chosen cumulative sum is larger than the one
    before it.
    """
    sums = np.cumsum(weights, axis=1)
    if len(sums) == 1:
        positions: States = np.searchsorted(sums[0], luck * sums[0, -1], side="right")
        return positions
    choices: States = np.count_nonzero(sums <= (luck * sums[:, -1])[:, None], axis=1)
    return choices


def draw(cpd: CPD, parents: list[States], n_samples: int, rng: np.random.Generator) -> States:
    """Return draws of a variable given positions of its parents."""
    if isinstance(cpd, FunctionalCPD):
        return np.broadcast_to(cpd.function(*parents), n_samples).astype(np.intp)
    drawn = np.zeros(n_samples, dtype=np.intp)
    for part in in_parts(n_samples, cpd.variable.n_states):
        weights = distributions(cpd, [positions[part] for positions in parents])
        drawn[part] = pick(weights, rng.random(part.stop - part.start))
    return drawn


def distributions(cpd: TabularCPD | NoisyExtremum, parents: Sequence[States]) -> Floats:
    """Return the distributions given positions of the parents, ``(samples, states)``.

    There is a single row without parents. The table of a noisy maximum or minimum is never
    expanded.
    """
    if isinstance(cpd, TabularCPD):
        rows = cpd.values.transpose(*range(1, cpd.values.ndim), 0)
        return rows[tuple(parents)].reshape(-1, cpd.variable.n_states)
    # In reverse order of the states, a minimum is a maximum.
    turn = slice(None) if isinstance(cpd, NoisyMaximum) else slice(None, None, -1)
    leak, *links = [contribution[turn] for contribution in cpd.contributions]
    columns = leak
    for link, positions in zip(links, parents, strict=True):
        columns = combined(columns, link[:, positions])
    return columns[turn].T


@checked
def compile_sampling(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SamplingPlan:
    """Return a plan that draws all variables for any states of the evidence variables.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors, from which configurations are drawn in
        proportion to the product.
    evidence, soft
        The evidence variables, and those with soft evidence, as in `compile_plan`.
    order, limits
        As in `compile_plan`.

    Raises
    ------
    TooLargeError, UnknownNameError, InvalidArgumentError
        As in `bnmind.junction.compile_explanation`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.3], [0.1, 0.7]])))
    >>> plan = compile_sampling(network, evidence=["wet"])
    >>> samples = plan.run({"wet": "yes"}, n_samples=10_000, rng=np.random.default_rng(1))
    >>> samples.frequencies("rain").round(1).tolist()
    [0.4, 0.6]
    """
    observed = tuple(model.variable(name) for name in evidence)
    uncertain = tuple(model.variable(name) for name in soft)
    first = without_barren(model.potentials, [v.name for v in (*observed, *uncertain)])
    drawn = {id(p) for p in first}
    rest = [p for p in model.potentials if id(p) not in drawn and not isinstance(p, Factor)]
    draws = plan = None
    if first:
        draws = Elimination(
            potentials=first,
            names=tuple(v.name for v in model.variables),
            sums_only=True,
            evidence=tuple(v.name for v in observed),
            soft=tuple(v.name for v in uncertain),
            order=order,
            limits=limits,
        )
        plan = draws.plan()
    return SamplingPlan(
        model=model,
        evidence=observed,
        soft=uncertain,
        plan=plan,
        forward=parents_first(rest, "model")[0],
        elimination=draws,
    )


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
