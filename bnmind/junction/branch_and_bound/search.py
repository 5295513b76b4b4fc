"""Searches for proven most probable explanations and marginal MAP, which can be stopped.

Branch and bound needs no table of the joint distribution, and works where the tables of an exact
elimination do not fit in memory. At any time, it knows the best configuration found so far and an
upper bound for all others. The search is complete when the two meet.

References
----------
R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
graphical models", Artificial Intelligence 173 (2009); R. Marinescu, R. Dechter and A. Ihler,
"AND/OR search for marginal MAP", UAI (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.junction.branch_and_bound.best_progress import BestProgress
from bnmind.junction.branch_and_bound.bounded_explanation import (
    BestExplanations,
    BoundedExplanation,
)
from bnmind.junction.branch_and_bound.progress import Progress
from bnmind.junction.branch_and_bound.question import (
    SearchQuestion,
    check_targets,
    findings_of,
)
from bnmind.junction.branch_and_bound.results import best_known, known, run_until
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.evidence import Evidence, by_name
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.queries.mpe import check_count
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["ExplanationSearch", "compile_search"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExplanationSearch(Value):
    """A search for the most probable states of variables, given the evidence of one case.

    `compile_search` makes searches. `run` searches until there is a proof.
    """

    model: Network | FactorModel
    """The model."""
    evidence: Mapping[str, Any]
    """The findings."""
    targets: tuple[str, ...] | None = None
    """The explained variables; None for all that have no state in the evidence."""
    order: OrderFinder | None = None
    """The finder of the elimination order; the default one if None."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of memory and of work."""

    def __repr__(self) -> str:
        return (
            f"ExplanationSearch({len(self.variables):,} of {len(self.model.variables):,} variables"
            f" | {counted(len(self.evidence), 'finding')})"
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        return self._question.variables

    @checked
    def run(
        self,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BoundedExplanation], bool] | None = None,
    ) -> BoundedExplanation:
        """Return the best configuration at the end of the search.

        Without limits, the search ends with a proof. Ctrl-C ends it with what is known; the result
        then says that it is not proven.

        Parameters
        ----------
        max_nodes
            The most nodes to visit.
        seconds
            The time after which the search ends, at the next of its steps.
        until
            Is called with the best configuration about ten times a second, and ends the search by
            returning True.

        Raises
        ------
        TooLargeError
            If a table of the model does not fit, or for a marginal MAP, if the probability of the
            evidence and all targets takes too long to compute.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        progress = self._progress()
        found = run_until(progress, partial(known, self._question), max_nodes, seconds, until)
        self._question.remember()
        return found

    @checked
    def best(
        self,
        count: int,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BestExplanations], bool] | None = None,
    ) -> BestExplanations:
        """Return the most probable configurations at the end of a search, in descending order.

        Without limits, the search ends with a proof. Otherwise `BestExplanations.gap` says how much
        more probable another configuration may be.

        Parameters
        ----------
        count
            The number of configurations. The result has fewer if fewer are possible or known.
        max_nodes, seconds, until
            As in `run`.

        Raises
        ------
        InvalidArgumentError
            If ``count`` is less than 1.
        TooLargeError
            If there are too many states to return.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        possible = check_count(count, self.variables)
        progress = BestProgress(self._progress(), min(count, possible))
        return run_until(progress, partial(best_known, self._question), max_nodes, seconds, until)

    @checked
    def run_cases(
        self,
        cases: Iterable[Evidence],
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BoundedExplanation], bool] | None = None,
    ) -> tuple[BoundedExplanation, ...]:
        """Return the best configuration for each of several cases.

        The tables of the model are prepared once. Cases with findings on the same variables share
        the elimination order and, for a marginal MAP, the plan of its sums. Equal cases are
        searched once.

        Parameters
        ----------
        cases
            The findings of each case, besides those of this search. Cases may observe different
            variables.
        max_nodes, seconds, until
            As in `run`, for each case.

        Returns
        -------
        tuple of BoundedExplanation
            In the order of the cases. An impossible case has no states, and is proven to have the
            log-probability −inf.

        Raises
        ------
        InvalidArgumentError
            If a finding is invalid, is about a variable of this search's evidence, or is the state
            of a target.
        UnknownNameError
            If there is no such variable or state.
        """
        asked = [self.given(case) for case in cases]
        found: dict[Any, BoundedExplanation] = {}
        for search in asked:
            key = search._question.findings
            if key not in found:
                try:
                    found[key] = search.run(max_nodes=max_nodes, seconds=seconds, until=until)
                except ImpossibleEvidenceError:
                    found[key] = _NOTHING
        return tuple([found[search._question.findings] for search in asked])

    @checked
    def given(self, case: Evidence) -> ExplanationSearch:
        """Return the search under more evidence, which shares the preparation of the model.

        Parameters
        ----------
        case
            The findings besides those of this search.

        Raises
        ------
        InvalidArgumentError, UnknownNameError
            As for `run_cases`.
        """
        findings = findings_of(self.model, by_name(case, "a case"))
        twice = [name for name in findings if name in self.evidence]
        if twice:
            raise InvalidArgumentError(
                f"{twice[0]} is evidence of the search already, and of a case too", twice[0]
            )
        check_targets(self.model, self.targets, findings)
        evidence = {**self.evidence, **findings}
        search = replace(self, evidence=evidence)
        search.__dict__["_question"] = self._question.under(evidence)
        return search

    def _progress(self) -> Progress:
        question = self._question
        return Progress(question.problem, self.limits.max_bytes // 8, question.evaluate)

    @cached_property
    def _question(self) -> SearchQuestion:
        return SearchQuestion(
            model=self.model,
            evidence=self.evidence,
            targets=self.targets,
            order=self.order,
            limits=self.limits,
        )


_NOTHING = BoundedExplanation(
    states={}, log_probability=-math.inf, upper_bound=-math.inf, nodes=0, is_proven=True
)
"""The result for an impossible case."""


@checked
def compile_search(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: Iterable[str] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExplanationSearch:
    """Return a search for a proven most probable explanation, or a proven marginal MAP.

    Use it where `compile_explanation` and `compile_marginal_map` would need too much memory.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors.
    evidence
        As for `bnmind.posterior`.
    targets
        The variables to explain, with all others summed out (marginal MAP). By default all
        variables without a state in the evidence.
    order
        The search for an elimination order, as in `compile_plan`.
    limits
        The search takes at most about ``max_bytes``. ``max_multiplications`` limits the sums at
        the leaves of a marginal MAP.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As in `compile_marginal_map`.

    Examples
    --------
    >>> from bnmind.pgm import Factor
    >>> a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    >>> model = FactorModel((Factor((a, b), np.array([[1.0, 2.0], [4.0, 3.0]])),))
    >>> found = compile_search(model).run()
    >>> dict(found.states), found.is_proven, round(found.log_probability, 3)
    ({'a': 'yes', 'b': 'no'}, True, 1.386)
    """
    findings = findings_of(model, by_name(evidence, "the evidence"))
    names = None if targets is None else tuple(targets)
    check_targets(model, names, findings)
    return ExplanationSearch(
        model=model, evidence=findings, targets=names, order=order, limits=limits
    )
