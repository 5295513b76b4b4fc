"""Sliced plans: one plan that runs for each joint state of some variables, and sums the runs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._files import locked
from bnmind._messages import bytes_text, counted, many
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.evidence import Evidence, Findings, likelihood, read_findings
from bnmind.junction.inference.minimal_conflict import impossible
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.slicing.slice_states import possible_slices
from bnmind.junction.slicing.slice_sums import SliceSums
from bnmind.junction.slicing.sums_file import (
    question_digest,
    read_sums,
    refuse_unknown_code,
    write_sums,
)
from bnmind.pgm.variable import Variable

__all__ = ["SliceInfo", "SlicedPlan"]

_SAVING_WORK = 2**31
"""The multiplications between two savings of partial sums: a second or two."""

_MOST_TOGETHER = 256
"""The most slices that run at once."""

_WORK_TOGETHER = 2**29
"""The most multiplications of slices that run at once."""

_Slice: TypeAlias = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class SliceInfo(Value):
    """The account of a step of a sliced plan."""

    slices: int
    """The number of slices that ran in this step."""
    log_evidence: float
    """The natural logarithm of the probability of the evidence in all slices so far."""
    multiplications: int
    """The multiplications of this step."""


@dataclass(frozen=True, eq=False, repr=False)
class SlicedPlan(Value):
    """A plan that is conditioned on some variables, and runs once for each of their joint states.

    `compile_sliced` makes sliced plans. The runs are independent of each other. Their joint
    distributions are summed, weighted by the probabilities of the evidence in each run. Joint
    states that a table excludes do not run.
    """

    plan: Plan
    """The plan of a single run; the sliced variables belong to its evidence."""
    sliced: tuple[Variable, ...]
    """The sliced variables, in the order of their choice."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cost of all slices as a record for JSON."""
        return {
            "slices": self.n_slices,
            "sliced": [v.name for v in self.sliced],
            "multiplications": self.multiplications,
            "memory": self.memory,
        }

    @property
    def evidence(self) -> tuple[Variable, ...]:
        """The variables whose states each run takes from you."""
        return tuple([v for v in self.plan.evidence if v not in self.sliced])

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.plan.targets

    @property
    def n_slices(self) -> int:
        """The number of joint states of the sliced variables."""
        return math.prod([v.n_states for v in self.sliced])

    @property
    def multiplications(self) -> int:
        """The multiplications of all slices together, from above."""
        return self.n_slices * self.plan.multiplications

    @property
    def memory(self) -> int:
        """The predicted bytes of a run of one slice."""
        return self.plan.memory

    def __repr__(self) -> str:
        names = ", ".join(v.name for v in self.sliced) or "no variables"
        return f"SlicedPlan({counted(self.n_slices, 'slice')} on {names}; {self.plan!r})"

    def __str__(self) -> str:
        limits = self.plan.limits
        names = ", ".join(v.name for v in self.sliced) or "nothing"
        return "\n".join(
            [
                f"slices  {self.n_slices:,} on {names}",
                f"multiplications in a slice  {self.plan.multiplications:,}",
                f"multiplications in all slices  {self.multiplications:,}"
                f" of at most {limits.max_multiplications:,}",
                f"memory in a run  {bytes_text(self.memory)}"
                f" of at most {bytes_text(limits.max_bytes)}",
                "evidence  " + (", ".join(v.name for v in self.evidence) or "none"),
                f"targets  {many(len(self.targets))}",
            ]
        )

    @checked
    def run(
        self,
        evidence: Evidence | None = None,
        *,
        progress: Callable[[int, int | None], None] | None = None,
        place: str | os.PathLike[str] | None = None,
    ) -> Posterior:
        """Return the joint distributions of the targets given the evidence.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        progress
            A function that is called with the number of slices done, and the number of all slices.
        place
            A file for the partial sums. If the run is interrupted or killed, the next run with the
            same file goes on from there. At the end the file holds the sums of all slices.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names all findings.
        ModelFileError
            If the file is damaged, or belongs to another question.
        FileWriteError
            If the file cannot be written, or another program uses it.
        TooLargeError
            With a file, if the table of a function of your own has too many cells.
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`.
        """
        findings = read_findings(evidence, self.evidence, self.plan.soft)
        with ExitStack() as stack:
            question, before = "", None
            if place is not None:
                refuse_unknown_code(self.plan.compiled.query.potentials)
                stack.enter_context(locked(place))
                question = self.digest(findings)
                before = read_sums(place, self.targets, question, self.n_slices)
            sums = start = before or SliceSums.start(self.targets)
            unsaved = 0
            for sums, info in self._steps(findings, start):
                if progress is not None:
                    progress(sums.done, self.n_slices)
                unsaved += info.multiplications
                if place is not None and unsaved >= _SAVING_WORK:
                    write_sums(place, sums, question)
                    unsaved = 0
            sums = sums.up_to(self.n_slices)
            if place is not None:
                write_sums(place, sums, question)
        if not sums.total > 0:
            raise impossible({**self.plan.compiled.known.fixed, **findings})
        return sums.posterior(self.targets)

    @checked
    def steps(
        self, evidence: Evidence | None = None, *, start: SliceSums | None = None
    ) -> Iterator[tuple[SliceSums, SliceInfo]]:
        """Yield the sums after each step, and an account of the step.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        start
            The sums to go on from, of this plan and the same evidence; by default nothing is
            summed yet.

        Raises
        ------
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`, and if ``start`` holds the sums of another question.
        """
        findings = read_findings(evidence, self.evidence, self.plan.soft)
        question = self.digest(findings)
        sums = SliceSums.start(self.targets, question) if start is None else start.of(question)
        return self._steps(findings, sums)

    def _steps(self, findings: Findings, sums: SliceSums) -> Iterator[tuple[SliceSums, SliceInfo]]:
        """Yield the sums after each step; the findings are read."""
        query, known = self.plan.compiled.query, self.plan.compiled.known
        variables = {v.name: v for p in query.potentials for v in p.scope}
        variables |= {v.name: v for v in self.sliced}
        certain = {**known.fixed, **{v.name: findings[v.name] for v in self.evidence}}
        domains = {
            name: (v.index(certain[name]),) if name in certain else tuple(range(v.n_states))
            for name, v in variables.items()
        }
        slices = possible_slices(query.potentials, domains, self.sliced, start=sums.done)
        together = self._together
        answering = Answering(self.plan.compiled)
        while some := list(islice(slices, together)):
            if together == 1:
                sums = self._one(answering, findings, some[0], sums)
            else:
                sums = self._several(findings, some, sums)
            work = len(some) * self.plan.multiplications
            yield sums, SliceInfo(len(some), sums.log_evidence, work)

    @property
    def _together(self) -> int:
        """The number of slices that run at once."""
        most = min(_MOST_TOGETHER, self.n_slices)
        most = min(most, _WORK_TOGETHER // max(self.plan.multiplications, 1))
        while most > 1 and self.plan.batch_memory(most) > self.plan.limits.max_bytes:
            most //= 2
        return max(most, 1)

    def _one(
        self, answering: Answering, findings: Findings, slice_: _Slice, sums: SliceSums
    ) -> SliceSums:
        """Return the sums with one more slice."""
        number, states = slice_
        fixed = {v.name: v.states[state] for v, state in zip(self.sliced, states, strict=True)}
        try:
            posterior = answering.attempt({**findings, **fixed})
        except ImpossibleEvidenceError:
            posterior = None
        if posterior is None:
            return sums.up_to(number + 1)
        joints = [np.real(joint) for joint in posterior.joints]
        return sums.add(posterior.log_evidence, joints, number + 1)

    def _several(self, findings: Findings, slices: Iterable[_Slice], sums: SliceSums) -> SliceSums:
        """Return the sums with several slices, which run together."""
        numbers, states = zip(*slices, strict=True)
        n, columns = len(numbers), np.array(states, dtype=np.int64)
        cases: dict[str, Any] = {
            v.name: np.full(n, v.index(findings[v.name]), dtype=np.int64) for v in self.evidence
        }
        cases |= {v.name: columns[:, i] for i, v in enumerate(self.sliced)}
        for v in self.plan.soft:
            if v.name in findings:
                cases[v.name] = np.tile(likelihood(v, findings[v.name]), (n, 1))
        batch = self.plan.run_batch(cases, allow_impossible=True)
        for i, number in enumerate(numbers):
            joints = [joint[i] for joint in batch.joints]
            sums = sums.add(float(batch.log_evidence[i]), joints, number + 1)
        return sums

    def digest(self, findings: Findings) -> str:
        """Return the digest of the question, the model, and the choice of slices.

        Parameters
        ----------
        findings
            The findings, as `read_findings` returns them.
        """
        compiled = self.plan.compiled
        soft: Mapping[str, Any] = {
            v.name: likelihood(v, findings[v.name]).tolist()
            for v in self.plan.soft
            if v.name in findings
        }
        known = {name: np.asarray(table).tolist() for name, table in compiled.known.given.items()}
        return question_digest(
            compiled.query.potentials,
            {
                "evidence": sorted((v.name, findings[v.name]) for v in self.evidence),
                "known": sorted(compiled.known.fixed.items()),
                "given": sorted(known.items()),
                "soft": sorted(soft.items()),
                "sliced": [v.name for v in self.sliced],
                "targets": [[v.name for v in scope] for scope in self.targets],
            },
        )
