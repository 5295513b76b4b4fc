"""The tasks of the UAI inference competitions, answered in their format.

`COMPETITION_TASKS` lists them. A new task is a function and a line there. The formats are those of
`bnmind.pgm.competition`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from bnmind._arguments import check_fields, checked
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.engine.engine import Engine
from bnmind.pgm.formats.uai.answers import (
    explanation_to_uai,
    log_evidence_to_uai,
    marginal_map_to_uai,
    marginals_to_uai,
)

__all__ = ["COMPETITION_TASKS", "CompetitionTask"]

_Answer: TypeAlias = Callable[[Engine, Mapping[str, str], Sequence[str]], str]
"""Return the text of an answer, from an engine, the evidence and the variables of a query."""


@dataclass(frozen=True, kw_only=True)
class CompetitionTask:
    """A task of the competitions.

    Examples
    --------
    >>> from bnmind.junction import compile_model
    >>> from bnmind.pgm import Factor, FactorModel, Variable
    >>> x, y = Variable("x", ("0", "1")), Variable("y", ("0", "1"))
    >>> engine = compile_model(FactorModel((Factor((x, y), [[3, 1], [0, 4]]),)))
    >>> print(COMPETITION_TASKS["MAR"].answer(engine, {"y": "1"}), end="")
    MAR
    2 2 0.2 0.8 2 0.0 1.0
    """

    about: str
    """The task, in a few words."""
    text: _Answer
    """Returns the text of the answer."""
    has_query: bool = False
    """Whether the task is about chosen variables."""

    def __post_init__(self) -> None:
        check_fields(self)

    @checked
    def answer(self, engine: Engine, evidence: Mapping[str, str], query: Sequence[str] = ()) -> str:
        """Return the answer in the format of the competitions.

        Parameters
        ----------
        engine
            Of a model whose variables are in the order of its file, as `read_model` returns it.
        evidence
            The findings, {variable: state}.
        query
            The variables to explain, if the task is about chosen variables.

        Raises
        ------
        InvalidArgumentError
            If the task needs variables and there are none, or the other way round.
        UnknownNameError, ImpossibleEvidenceError, TooLargeError
            As for all questions to an engine. The probability of impossible evidence is zero, and
            no error.
        """
        if bool(query) != self.has_query:
            rule = "needs variables to explain" if self.has_query else "takes no variables"
            raise InvalidArgumentError(f"this task {rule}, got {list(query)}", query)
        return self.text(engine, evidence, query)


def _log_evidence(engine: Engine, evidence: Mapping[str, str], _: Sequence[str]) -> str:
    try:
        found = engine.posterior([()], evidence).log_evidence
    except ImpossibleEvidenceError:
        found = -math.inf
    return log_evidence_to_uai(found)


def _marginals(engine: Engine, evidence: Mapping[str, str], _: Sequence[str]) -> str:
    variables = engine.model.variables
    hidden = [v.name for v in variables if v.name not in evidence]
    # Without a target, the evidence is still checked.
    found = engine.posterior(hidden or [()], evidence).marginals
    tables: dict[str, Floats] = {}
    for v in variables:
        if v.name in evidence:
            tables[v.name] = np.equal(range(v.n_states), v.index(evidence[v.name])).astype(float)
        else:
            tables[v.name] = np.asarray(found[v.name].real, dtype=np.float64)
    return marginals_to_uai(tables, variables)


def _explanation(engine: Engine, evidence: Mapping[str, str], _: Sequence[str]) -> str:
    return explanation_to_uai({**engine.mpe(evidence).states, **evidence}, engine.model.variables)


def _marginal_map(engine: Engine, evidence: Mapping[str, str], query: Sequence[str]) -> str:
    observed = {name: evidence[name] for name in query if name in evidence}
    hidden = [name for name in query if name not in evidence]
    if hidden:
        found = engine.map(hidden, evidence).states
    else:
        engine.posterior([()], evidence)
        found = {}
    both = {**found, **observed}
    return marginal_map_to_uai({name: both[name] for name in query}, engine.model.variables)


COMPETITION_TASKS: Mapping[str, CompetitionTask] = MappingProxyType(
    {
        "PR": CompetitionTask(
            about="the probability of the evidence, or the partition function; log10",
            text=_log_evidence,
        ),
        "MAR": CompetitionTask(about="the distribution of every variable", text=_marginals),
        "MPE": CompetitionTask(
            about="the most probable states of all variables", text=_explanation
        ),
        "MMAP": CompetitionTask(
            about="the most probable states of the variables of --query-file",
            text=_marginal_map,
            has_query=True,
        ),
    }
)
"""The tasks by name."""
