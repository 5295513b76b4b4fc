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

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.junction.engine import Engine
from bnmind.junction.walk import Explanation
from bnmind.pgm.formats.uai import (
    explanation_to_uai,
    log_evidence_to_uai,
    marginal_map_to_uai,
    marginals_to_uai,
)

_Texts: TypeAlias = Callable[[Engine, Mapping[str, str], Sequence[str], int], Sequence[str]]
"""Return the texts of the best answers in descending order, at most as many as asked for.

The arguments are an engine, the evidence, the variables of a query, and the number of answers.
"""


@dataclass(frozen=True, kw_only=True)
class CompetitionTask(Value):
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
    texts: _Texts
    """Returns the texts of the best answers."""
    has_query: bool = False
    """Whether the task is about chosen variables."""
    has_several: bool = False
    """Whether there are second-best answers."""

    @checked
    def answer(
        self,
        engine: Engine,
        evidence: Mapping[str, str],
        query: Sequence[str] = (),
        *,
        count: int = 1,
    ) -> str:
        """Return the answer in the format of the competitions.

        Parameters
        ----------
        engine
            Of a model whose variables are in the order of its file, as `read_model` returns it.
        evidence
            The findings, {variable: state}.
        query
            The variables to explain, if the task is about chosen variables.
        count
            The number of answers to MPE or MMAP, the most probable first. Each is a line of the
            text; there are fewer if fewer are possible.

        Raises
        ------
        InvalidArgumentError
            If the task needs variables and there are none, or the other way round; if ``count`` is
            less than 1, or larger and the task has a single answer.
        UnknownNameError, ImpossibleEvidenceError, TooLargeError
            As for all questions to an engine. The probability of impossible evidence is zero, and
            no error.
        """
        if bool(query) != self.has_query:
            rule = "needs variables to explain" if self.has_query else "takes no variables"
            raise InvalidArgumentError(f"this task {rule}, got {list(query)}", query)
        if count != 1 and not self.has_several:
            raise InvalidArgumentError(f"this task has a single answer, got count={count}", count)
        texts = self.texts(engine, evidence, query, count)
        return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])

    @checked
    def answers(
        self,
        engine: Engine,
        samples: Sequence[Mapping[str, str]],
        query: Sequence[str] = (),
        *,
        count: int = 1,
    ) -> str:
        """Return the answers for several samples of evidence.

        The text has the number of samples in its second line, and then their answers, as in the
        competitions of 2008 to 2012. For one sample, it is that of `answer`, whose other parameters
        and errors are the same.

        Parameters
        ----------
        engine
            The model, compiled.
        samples
            The evidence of each sample: states by variable.
        query
            The variables of the question, for tasks that ask about some of them.
        count
            The number of answers to a sample, at least 1, for tasks that list several.
        """
        texts = [self.answer(engine, sample, query, count=count) for sample in samples]
        if len(texts) == 1:
            return texts[0]
        head = texts[0].partition("\n")[0]
        return "".join([f"{head}\n{len(texts)}\n", *(t.partition("\n")[2] for t in texts)])


def _log_evidence(
    engine: Engine, evidence: Mapping[str, str], _: Sequence[str], __: int
) -> list[str]:
    try:
        found = engine.posterior([()], evidence).log_evidence
    except ImpossibleEvidenceError:
        found = -math.inf
    return [log_evidence_to_uai(found)]


def _marginals(engine: Engine, evidence: Mapping[str, str], _: Sequence[str], __: int) -> list[str]:
    variables = engine.model.variables
    found = engine.posterior([v.name for v in variables], evidence).marginals
    tables = {name: np.real(values).astype(np.float64) for name, values in found.items()}
    return [marginals_to_uai(tables, variables)]


def _explanations(
    engine: Engine, evidence: Mapping[str, str], _: Sequence[str], count: int
) -> list[str]:
    best = [engine.mpe(evidence)] if count == 1 else engine.best_explanations(count, evidence)
    variables = engine.model.variables
    return [explanation_to_uai({**each.states, **evidence}, variables) for each in best]


def _marginal_maps(
    engine: Engine, evidence: Mapping[str, str], query: Sequence[str], count: int
) -> list[str]:
    """Return answers to MMAP; the variables of the query may be evidence."""
    hidden = [name for name in query if name not in evidence]
    best: Sequence[Explanation] = ()
    if not hidden:
        engine.posterior([()], evidence)
    elif count == 1:
        best = [engine.map(hidden, evidence)]
    else:
        best = engine.best_explanations(count, evidence, targets=hidden)
    found = [{**evidence, **each.states} for each in best] or [dict(evidence)]
    variables = engine.model.variables
    return [marginal_map_to_uai({name: each[name] for name in query}, variables) for each in found]


COMPETITION_TASKS: Mapping[str, CompetitionTask] = MappingProxyType(
    {
        "PR": CompetitionTask(
            about="the probability of the evidence, or the partition function; log10",
            texts=_log_evidence,
        ),
        "MAR": CompetitionTask(about="the distribution of every variable", texts=_marginals),
        "MPE": CompetitionTask(
            about="the most probable states of all variables",
            texts=_explanations,
            has_several=True,
        ),
        "MMAP": CompetitionTask(
            about="the most probable states of the variables of --query-file",
            texts=_marginal_maps,
            has_query=True,
            has_several=True,
        ),
    }
)
"""The tasks by name."""
