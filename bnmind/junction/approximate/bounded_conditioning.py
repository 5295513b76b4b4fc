"""Posteriors between guaranteed bounds, which narrow with each slice (bounded conditioning).

E. J. Horvitz, H. J. Suermondt & G. F. Cooper, *Bounded conditioning: flexible inference for
decisions under scarce resources*, UAI 1989.

================  ==============================================================
of the paper      here
================  ==============================================================
c                 a joint state of the sliced variables (an instance of the loop
                  cutset), `number`
p(c)              its probability without evidence, ``priors``
Σ p(x, e, c)      the sum over the slices so far, `SliceSums`
the rest          ``1 − Σ p(c)``, which bounds the probability that is missing
================  ==============================================================

The evidence and a state x have the probability S(x) in the slices so far, and S is the sum over x.
If the other slices have the prior mass R, then ``S <= P(e) <= S + R``, and
``S(x) / (S + R) <= P(x | e) <= (S(x) + R) / (S + R)``. Slices run in the order of their prior.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._messages import counted, many
from bnmind._values import Sealed, Value, sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.minimal_conflict import impossible
from bnmind.junction.slicing.compile_sliced import compile_sliced
from bnmind.junction.slicing.slice_sums import SliceSums
from bnmind.junction.slicing.sliced_plan import SlicedPlan
from bnmind.pgm.network import Network
from bnmind.pgm.variable import Variable

__all__ = ["BoundedConditioning", "BoundsInfo", "PosteriorBounds", "compile_bounds"]

_MOST_SLICES = 2**20
"""The most slices whose priors are computed beforehand."""

_PRIORS_AT_ONCE = 4096
"""The slices whose priors are computed at once."""

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
                states = zip(scope[0].states, lower.tolist(), upper.tolist(), strict=True)
                texts = [f"{state} {low:.3f}..{high:.3f}" for state, low, high in states]
                lines.append(f"{scope[0].name}  " + "  ".join(texts))
        return "\n".join(lines)


@dataclass(frozen=True)
class BoundsInfo(Value):
    """The account of a step of bounded conditioning."""

    done: int
    """The number of slices so far."""
    slices: int
    """The number of all slices."""
    gap: float
    """The width of the bounds after this step."""


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
    ) -> Iterator[tuple[PosteriorBounds, BoundsInfo]]:
        """Yield the bounds after each slice, with an account; the last ones are exact.

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
        first = self._start(findings).sums
        return self._steps(findings, first if start is None else start.sums.of(first.question))

    def _start(self, findings: dict[str, str]) -> PosteriorBounds:
        """Return the bounds before the first slice."""
        digest = hashlib.sha256(self.plan.digest(findings).encode())
        # The order of the slices counts too.
        digest.update(np.ascontiguousarray(self.numbers).tobytes())
        sums = SliceSums.start(self.plan.targets, digest.hexdigest())
        return PosteriorBounds(
            targets=self.plan.targets, sums=sums, log_rest=float(self.log_rests[0])
        )

    def _steps(
        self, findings: dict[str, str], sums: SliceSums
    ) -> Iterator[tuple[PosteriorBounds, BoundsInfo]]:
        answering = Answering(self.plan.plan.compiled)
        sizes = [v.n_states for v in self.plan.sliced]
        for done in range(sums.done + 1, len(self.numbers) + 1):
            states = np.unravel_index(int(self.numbers[done - 1]), sizes) if sizes else ()
            pairs = zip(self.plan.sliced, states, strict=True)
            fixed = {v.name: v.states[int(state)] for v, state in pairs}
            try:
                posterior = answering.attempt({**findings, **fixed})
            except ImpossibleEvidenceError:
                posterior = None
            if posterior is None:
                sums = sums.up_to(done)
            else:
                joints = [np.real(joint) for joint in posterior.joints]
                sums = sums.add(posterior.log_evidence, joints, done)
            rest = float(self.log_rests[done])
            bounds = PosteriorBounds(targets=self.plan.targets, sums=sums, log_rest=rest)
            yield bounds, BoundsInfo(done, len(self.numbers), bounds.gap)

    @checked
    def run(
        self,
        evidence: Evidence | None = None,
        *,
        gap: float = 0.0,
        max_slices: int | None = None,
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
        if max_slices is not None and max_slices < 0:
            raise InvalidArgumentError(
                f"max_slices must be at least 0, got {max_slices}", max_slices
            )
        most = len(self.numbers) if max_slices is None else max_slices
        findings = read_findings(evidence, self.plan.evidence, ())
        bounds = self._start(findings)
        if most > 0:
            for state, info in self._steps(findings, bounds.sums):
                bounds = state
                if progress is not None:
                    progress(info.done, info.slices)
                if info.gap <= gap or info.done >= most:
                    break
        if not bounds.sums.total > 0 and bounds.log_rest == -math.inf:
            fixed = self.plan.plan.compiled.known.fixed
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
    n = math.prod(sizes)
    logs = np.empty(n)
    for start in range(0, n, _PRIORS_AT_ONCE):
        numbers = np.arange(start, min(n, start + _PRIORS_AT_ONCE))
        columns = np.unravel_index(numbers, sizes)
        cases = dict(zip(names, columns, strict=True))
        logs[numbers] = plan.run_batch(cases, allow_impossible=True).log_evidence
    return logs
