r"""Targets as causes and questions as channels, in any network.

=================  ==========================================================
symbol             name here
=================  ==========================================================
e                  the evidence
T = t              a configuration of some targets, which is the *cause*
m(t) = P(t | e)    ``Causes.masses``
N[t, x]            ``Causes.channels[X]``: P(X = x | t, e)
=================  ==========================================================

One plan answers all questions: the targets are its evidence variables, each configuration is a case
of a batch, and each question is a target. The probabilities of the cases are the masses, and the
posteriors are the channels. No clique has to contain the targets together with a question, so the
plan is smaller than one for the joint distributions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import bytes_text, many
from bnmind._values import Sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.engine import Engine
from bnmind.junction.inference.batches import BatchPosterior
from bnmind.junction.inference.evidence import likelihood
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["Causes", "causes_of", "configurations"]

_QUICK = 2**26
"""Up to this many multiplications, a run is not worth another plan for the evidence."""

_ROUNDING = 1e-9
"""Probabilities may be below zero by this much, where terms of opposite signs cancel."""

_WAY_OUT = (
    "Ask about fewer targets, use the measure MarginalEntropies(), name fewer questions in among,"
    " observe more variables, or raise the limit."
)


@dataclass(frozen=True, eq=False)
class Causes(Sealed):
    """The belief about some targets, and the answers to expect given each configuration."""

    targets: tuple[Variable, ...]
    """The targets; the states of the last one change fastest among the configurations."""
    masses: Floats
    """The probability of each configuration, ``(configurations,)``."""
    channels: Mapping[str, Floats]
    """For each question, the probability of each answer, ``(configurations, states)``."""
    states: Mapping[str, tuple[str, ...]]
    """The answers to each question."""

    def predicted(self, question: str) -> Floats:
        """Return the probability of each answer to a question, ``(states,)``."""
        chances: Floats = self.masses @ self.channels[question]
        return chances


def configurations(targets: Sequence[Variable]) -> NDArray[np.intp]:
    """Return the positions of the states in each configuration, ``(targets, configurations)``."""
    sizes = [v.n_states for v in targets]
    return np.indices(sizes, dtype=np.intp).reshape(len(sizes), math.prod(sizes))


def causes_of(
    engine: Engine,
    groups: Sequence[tuple[str, ...]],
    among: Sequence[str],
    findings: Mapping[str, Any],
) -> tuple[Causes, ...]:
    """Return the belief about each group of targets, and the channels of all questions.

    Parameters
    ----------
    engine
        The model, with the limits of the computation of all groups together.
    groups
        The targets of each group, none of them observed.
    among
        The questions, none of them observed.
    findings
        The evidence, as `read_findings` returns it.

    Raises
    ------
    TooLargeError
        If the computation would exceed the limits. The error is raised before the computation.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    model, limits = engine.model, engine.limits
    scopes = [tuple(model.variable(name) for name in group) for group in groups]
    counts = [math.prod(v.n_states for v in scope) for scope in scopes]
    questions = [model.variable(name) for name in among]
    _refuse_large(scopes, counts, questions, limits)
    cases = _cases(scopes, counts)
    states = {name: finding for name, finding in findings.items() if isinstance(finding, str)}
    rest = {name: finding for name, finding in findings.items() if name not in states}
    alone = len(groups) == 1
    asked = [name for name in among if not (alone and name in groups[0])]
    # A target with a likelihood takes it, and its state in a case, as one likelihood.
    sure = [name for name in cases if alone and name not in rest]
    plan = engine.plan(
        [(name,) for name in asked] or [()],
        evidence=[*states, *sure],
        soft=[*rest, *(name for name in cases if name not in sure and name not in rest)],
    )
    total = sum(counts)
    if states and (plan.by_case is not None or plan.multiplications * total > _QUICK):
        plan, states = plan.restrict(states), {}
    needed = plan.multiplications * total
    if plan.by_case is None and needed > limits.max_multiplications:
        raise TooLargeError(
            f"the questions would take {many(needed)} multiplications for {many(total)}"
            f" configurations of the targets; allowed are"
            f" max_multiplications={limits.max_multiplications:,}. {_WAY_OUT}",
            needed=needed,
            budget=limits.max_multiplications,
        )
    batch = _run(model, plan, total, cases, {**states, **rest})
    if len(batch.impossible) == total:
        engine.posterior([()], findings)  # names findings that contradict each other
        raise ImpossibleEvidenceError("the evidence has probability zero", dict(findings))
    return _split(batch, scopes, counts, questions)


def _refuse_large(
    scopes: Sequence[tuple[Variable, ...]],
    counts: Sequence[int],
    questions: Sequence[Variable],
    limits: Limits,
) -> None:
    """Raise `TooLargeError` if the channels would take too much memory."""
    names = {v.name for scope in scopes for v in scope}
    needed = 8 * sum(counts) * (sum(v.n_states for v in questions) + len(names) + 1)
    if needed > limits.max_bytes:
        largest = max(range(len(counts)), key=counts.__getitem__)
        raise TooLargeError(
            f"{len(scopes[largest])} targets have {many(counts[largest])} configurations together;"
            f" the answers to expect given each of them would take {bytes_text(needed)}; allowed"
            f" are max_bytes={limits.max_bytes:,}. {_WAY_OUT}",
            needed=needed,
            budget=limits.max_bytes,
        )


def _cases(
    scopes: Sequence[tuple[Variable, ...]], counts: Sequence[int]
) -> dict[str, NDArray[np.intp]]:
    """Return a column of states for each target; −1 in the cases of other groups."""
    cases: dict[str, NDArray[np.intp]] = {}
    start = 0
    for scope, count in zip(scopes, counts, strict=True):
        for v, column in zip(scope, configurations(scope), strict=True):
            whole = cases.setdefault(v.name, np.full(sum(counts), -1, dtype=np.intp))
            whole[start : start + count] = column
        start += count
    return cases


def _run(
    model: Network | FactorModel,
    plan: Plan,
    n_cases: int,
    cases: Mapping[str, NDArray[np.intp]],
    known: Mapping[str, Any],
) -> BatchPosterior:
    """Return the posteriors of the questions for each configuration."""
    columns: dict[str, NDArray[Any]] = dict(cases)
    for name, finding in known.items():
        variable = model.variable(name)
        if isinstance(finding, str):
            columns[name] = np.full(n_cases, variable.index(finding), dtype=np.intp)
            continue
        weights = np.tile(likelihood(variable, finding), (n_cases, 1))
        if name in cases:
            # The last row stands for −1: any state.
            weights *= np.vstack([np.eye(variable.n_states), np.ones(variable.n_states)])[
                cases[name]
            ]
        columns[name] = weights
    return plan.run_batch(columns, allow_impossible=True)


def _split(
    batch: BatchPosterior,
    scopes: Sequence[tuple[Variable, ...]],
    counts: Sequence[int],
    questions: Sequence[Variable],
) -> tuple[Causes, ...]:
    """Return the masses and channels of each group from the cases of all groups."""
    logs = np.asarray(batch.log_evidence)
    possible = np.isfinite(logs)
    weights = np.exp(np.where(possible, logs, -np.inf) - logs[possible].max())
    result = []
    start = 0
    for scope, count in zip(scopes, counts, strict=True):
        rows = slice(start, start + count)
        places = {v.name: place for place, v in enumerate(scope)}
        channels: dict[str, Floats] = {}
        for question in questions:
            if question.name in places:
                column = configurations(scope)[places[question.name]]
                channels[question.name] = np.eye(question.n_states)[column]
            else:
                channel = np.real(batch.marginals[question.name][rows])
                # Configurations of probability zero have no answers; any row will do.
                sure = np.eye(1, question.n_states)
                channels[question.name] = np.where(possible[rows, None], channel, sure)
        masses = weights[rows] / weights[rows].sum()
        if any(channel.min(initial=0.0) < -_ROUNDING for channel in channels.values()):
            raise InvalidArgumentError(
                "the model is no distribution: the product of its factors is negative somewhere"
            )
        states = {v.name: v.states for v in questions}
        result.append(Causes(targets=scope, masses=masses, channels=channels, states=states))
        start += count
    return tuple(result)
