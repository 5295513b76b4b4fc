"""Sliced plans, which run once for each joint state of some variables."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._files import locked, parse_document, read_text, write_file
from bnmind._messages import counted, format_bytes, many
from bnmind._values import Sealed, Value, made, sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    ModelFileError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.inference.evidence import Evidence, Findings, likelihood, read_findings
from bnmind.junction.inference.plan import Answering, Plan, impossible
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.plan_files import fingerprint, has_code
from bnmind.junction.reduction import Domains, possible_states
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

# --- Sums over slices: joint distributions weighted by the probabilities of their evidence --------
#
# Weights are kept as multiples of the largest one, so that neither tiny nor huge probabilities are
# lost.


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceSums(Sealed):
    """The sums over the slices so far: the state between two steps of a sliced plan."""

    done: int
    """The number of joint states of the sliced variables that are summed or excluded."""
    possible: int
    """The number of those that have a positive probability."""
    log_scale: float
    """The natural logarithm of the largest probability of a slice; −inf at the start."""
    total: float
    """The sum of the probabilities of the slices, divided by the largest."""
    joints: tuple[Floats, ...]
    """For each target, the sum of its joint probabilities, divided by the largest probability."""

    question: str = field(default="", repr=False)
    """The digest of the question; only a plan for the same question goes on from these sums."""

    @classmethod
    def start(cls, targets: Sequence[Sequence[Variable]], question: str = "") -> SliceSums:
        """Return empty sums.

        Parameters
        ----------
        targets
            The variables of each target.
        question
            The digest of the question; only a plan with the same one goes on from these sums.
        """
        joints = tuple([np.zeros([v.n_states for v in scope]) for scope in targets])
        return cls(
            done=0,
            possible=0,
            log_scale=-math.inf,
            total=0.0,
            joints=joints,
            question=question,
        )

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of the sum of the probabilities; −inf for none."""
        return self.log_scale + math.log(self.total) if self.total > 0 else -math.inf

    def of(self, question: str) -> SliceSums:
        """Return the same sums if they belong to a question.

        Parameters
        ----------
        question
            The digest of the question.

        Raises
        ------
        InvalidArgumentError
            If they belong to another one.
        """
        if self.question != question:
            raise InvalidArgumentError(
                "start holds the sums of another question, model or choice of slices; leave start"
                " out to begin anew",
                self,
            )
        return self

    def up_to(self, done: int) -> SliceSums:
        """Return the same sums after more joint states, which are impossible.

        Parameters
        ----------
        done
            The number of joint states that are done then.
        """
        return made(SliceSums, **{**self.__getstate__(), "done": done})

    def add(self, log_evidence: float, joints: Sequence[Floats], done: int) -> SliceSums:
        """Return the sums with one more slice.

        Parameters
        ----------
        log_evidence
            The natural logarithm of its probability; −inf if it is impossible.
        joints
            The joint distribution of each target in this slice.
        done
            The number of joint states up to this slice.
        """
        if log_evidence == -math.inf:
            return self.up_to(done)
        scale = max(self.log_scale, log_evidence)
        old, new = math.exp(self.log_scale - scale), math.exp(log_evidence - scale)
        return SliceSums(
            done=done,
            possible=self.possible + 1,
            log_scale=scale,
            total=old * self.total + new,
            joints=tuple([old * a + new * b for a, b in zip(self.joints, joints, strict=True)]),
            question=self.question,
        )

    def posterior(self, targets: Sequence[tuple[Variable, ...]]) -> Posterior:
        """Return the posterior; there must be a possible slice.

        Parameters
        ----------
        targets
            The variables of each target, as for `start`.
        """
        joints = tuple([sealed(joint / self.total) for joint in self.joints])
        return made(Posterior, scopes=tuple(targets), joints=joints, log_evidence=self.log_evidence)


# --- Files of partial sums, from which an interrupted run of a sliced plan goes on ----------------
#
# The file is JSON, with all digits of the sums, a digest of the question, and a digest of the
# rest::
#
#     {"schema": "bnmind-slices", "version": 2, "question": "…", "done": 12, "possible": 9,
#      "log_scale": -31.2, "total": 3.4, "joints": [[0.3, 3.1], …], "content": "…"}

_SCHEMA, _VERSION = "bnmind-slices", 2
_SUMS = ("done", "possible", "log_scale", "total", "joints")
_KEYS = {"schema", "version", "question", *_SUMS, "content"}

_MOST_BYTES = 2**30
"""The largest file that is read."""

_TOLERANCE = 1e-6
"""The largest relative difference between the sum of a joint distribution and the total."""


_SMALL_TABLE = 2**20
"""The most cells of the table of a function of your own that counts in a digest."""


def question_digest(potentials: Sequence[Potential], question: Mapping[str, Any]) -> str:
    """Return a digest of a model and of a question about it.

    A function of code outside of this package counts with its table, because other code may have
    the same name. If the table is large, only the name counts; `refuse_unknown_code` refuses it.

    Parameters
    ----------
    potentials
        The tables of the model.
    question
        The question, as a value with an exact text.
    """
    model = fingerprint(
        p if isinstance(p, Factor) or _cells(p) > _SMALL_TABLE or not has_code(p) else p.to_factor()
        for p in potentials
    )
    return hashlib.sha256(repr((model, sorted(question.items()))).encode()).hexdigest()


def refuse_unknown_code(potentials: Sequence[Potential]) -> None:
    """Raise `TooLargeError` if only the name of a function counts in the digest of a model."""
    for potential in potentials:
        cells = _cells(potential)
        if cells > _SMALL_TABLE and has_code(potential):
            raise TooLargeError(
                f"the function of {potential.scope[0].name} is your own, with {many(cells)} cells,"
                f" and a file cannot tell it from others of its name with more than"
                f" {_SMALL_TABLE:,}; run the plan without a file",
                needed=cells,
                budget=_SMALL_TABLE,
            )


def _cells(potential: Potential) -> int:
    return math.prod([v.n_states for v in potential.scope])


def write_sums(path: str | os.PathLike[str], sums: SliceSums, question: str) -> None:
    """Write partial sums; ``question`` is the digest of the question.

    Raises
    ------
    ModelFileError
        If the file cannot be written; an existing file is unchanged.
    """
    content = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "question": question,
        "done": sums.done,
        "possible": sums.possible,
        "log_scale": None if math.isinf(sums.log_scale) else sums.log_scale,
        "total": sums.total,
        "joints": [joint.ravel().tolist() for joint in sums.joints],
    }
    write_file(path, json.dumps({**content, "content": _content_digest(content)}) + "\n")


def _content_digest(content: Mapping[str, Any]) -> str:
    """Return a digest of the sums; the text of a number in JSON has all its digits."""
    text = json.dumps([content[key] for key in _SUMS])
    return hashlib.sha256(text.encode()).hexdigest()


def read_sums(
    path: str | os.PathLike[str],
    targets: Sequence[Sequence[Variable]],
    question: str,
    n_slices: int,
) -> SliceSums | None:
    """Return the partial sums in a file; None if there is no file.

    Parameters
    ----------
    path
        The file.
    targets
        The variables of each target.
    question
        The digest of the question.
    n_slices
        The number of all slices.

    Raises
    ------
    ModelFileError
        If the file is damaged, or belongs to another question.
    """
    name = os.fspath(path)
    if not Path(name).exists():
        return None
    try:
        content = parse_document(read_text(name, most=_MOST_BYTES), _SCHEMA, _VERSION)
        if content.keys() != _KEYS:
            raise ModelFileError("got other keys")
    except ModelFileError as error:
        raise ModelFileError(
            f"expected the partial sums of a sliced plan in {name}: {error}", name
        ) from error
    if content["question"] != question:
        raise ModelFileError(
            f"{name} holds the partial sums of another question, model or choice of slices; name"
            " another file, or remove this one",
            name,
        )
    try:
        if content["content"] != _content_digest(content):
            raise ValueError(content["content"])
        sums = _sums(content, targets, n_slices)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"the partial sums in {name} are damaged", name) from error
    return sums


def _sums(
    content: Mapping[str, Any], targets: Sequence[Sequence[Variable]], n_slices: int
) -> SliceSums:
    """Return the sums of a file; raise `ValueError` or `TypeError` if they are damaged."""
    shapes = [tuple([v.n_states for v in scope]) for scope in targets]
    joints = [
        np.array(numbers, dtype=np.float64).reshape(shape)
        for numbers, shape in zip(content["joints"], shapes, strict=True)
    ]
    done, possible = content["done"], content["possible"]
    if type(done) is not int or type(possible) is not int or not 0 <= possible <= done <= n_slices:
        raise ValueError((done, possible))
    total = float(content["total"])
    log_scale = -math.inf if content["log_scale"] is None else float(content["log_scale"])
    # The largest slice counts as one, and no other slice counts as more.
    within = 1 - _TOLERANCE <= total <= possible * (1 + _TOLERANCE) if possible else total == 0
    if not within or math.isfinite(log_scale) != (possible > 0):
        raise ValueError((total, log_scale))
    for joint in joints:
        if not np.all((joint >= 0) & np.isfinite(joint)):
            raise ValueError(joint)
        if not math.isclose(joint.sum(), total, rel_tol=_TOLERANCE):
            raise ValueError(joint)
    return SliceSums(
        done=done, possible=possible, log_scale=log_scale, total=total, joints=tuple(joints)
    )


# --- The joint states of the sliced variables, without those that a table excludes ----------------


def possible_slices(
    potentials: Sequence[Potential],
    domains: Domains,
    sliced: Sequence[Variable],
    *,
    start: int = 0,
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the joint states that arc consistency does not exclude, with their numbers.

    A state of the first variables that some table excludes, excludes all joint states with it; they
    are not visited one by one.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible states of all its variables; evidence has one state.
    sliced
        The variables.
    start
        The first number to yield.

    Yields
    ------
    number, states
        The number counts all joint states, the last variable fastest. The states are positions.
    """
    sizes = [v.n_states for v in sliced]

    def below(
        known: Domains, depth: int, first: int, states: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        try:
            left = possible_states(potentials, known)
        except ImpossibleEvidenceError:
            return
        if depth == len(sliced):
            yield first, states
            return
        name, width = sliced[depth].name, math.prod(sizes[depth + 1 :])
        for state in left.get(name, range(sizes[depth])):
            number = first + state * width
            if number + width > start:
                yield from below({**left, name: (state,)}, depth + 1, number, (*states, state))

    yield from below(domains, 0, 0, ())


# --- Sliced plans: one plan that runs for each joint state of some variables, and sums the runs ---

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
                f"memory in a run  {format_bytes(self.memory)}"
                f" of at most {format_bytes(limits.max_bytes)}",
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
            If the file is damaged, belongs to another question, cannot be written, or is used by
            another program.
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
