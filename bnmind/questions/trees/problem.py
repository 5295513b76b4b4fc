"""The problem that a tree of questions solves: a hidden state, questions, costs and an aim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._values import Count, Value
from bnmind.information import Floats
from bnmind.questions.trees.objectives import TreeBounds, TreeObjective

__all__ = ["TreeProblem"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeProblem(Value):
    """A hidden state, questions about it, and what a tree of them is to minimize.

    A tree asks at most ``depth`` questions on a path, and each question at most once. Its value is
    the expected value of its ends by the objective, plus the expected costs of its questions.

    Parameters
    ----------
    prior
        ``(states,)``, the probability of each hidden state.
    channels
        ``(questions, states, outcomes)``, the chance of each outcome; questions with fewer
        outcomes have zeros at the end. Outcomes are independent given the state.
    objective
        What the ends of a tree cost.
    depth
        The largest number of questions on a path, at least 1.
    costs
        ``(questions,)``, at least 0, in the unit of the objective; default 0.
    excludes
        ``(questions, questions)``, whether two questions must not be on one path.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range, or the shapes do not fit. All faults are reported at once.

    Examples
    --------
    >>> from bnmind.questions.trees import ExpectedEntropy, best_tree
    >>> sides = np.array([[[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]]])
    >>> problem = TreeProblem(
    ...     prior=np.full(4, 0.25), channels=sides * 1.0, objective=ExpectedEntropy(), depth=2
    ... )
    >>> best_tree(problem).tree.value
    0.0
    """

    prior: Annotated[Floats, Ge(0)]
    channels: Annotated[Floats, Ge(0)]
    objective: TreeObjective
    depth: Count
    costs: Annotated[Floats, Ge(0)] | None = None
    excludes: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n = self.n_questions
        if self.costs is None:
            self._set(costs=np.zeros(n))
        if self.excludes is None:
            self._set(excludes=np.zeros((n, n), dtype=bool))

    def _faults(self) -> Iterator[str]:
        prior, channels, costs, pairs = self.prior, self.channels, self.costs, self.excludes
        n = self.n_questions
        if prior.ndim != 1 or channels.ndim != 3 or channels.shape[1] != len(prior):
            yield (
                "expected a prior (states,) and channels (questions, states, outcomes), got shapes"
                f" {prior.shape} and {channels.shape}"
            )
        elif not n:
            yield "expected at least one question"
        elif abs(prior.sum() - 1) > 1e-6:
            yield "the prior must be probabilities that sum to one"
        elif np.any(abs(channels.sum(axis=2) - 1) > 1e-6):
            yield "the chances of the outcomes must sum to one in each state"
        if costs is not None and costs.shape != (n,):
            yield f"expected a cost for each question, got an array of shape {costs.shape}"
        if pairs is not None and not (pairs.shape == (n, n) and np.array_equal(pairs, pairs.T)):
            yield f"expected a symmetric mask of pairs of questions {(n, n)}"

    @property
    def n_questions(self) -> int:
        """The number of questions."""
        return len(self.channels)

    @property
    def n_outcomes(self) -> int:
        """The largest number of outcomes of a question."""
        return int(self.channels.shape[2])

    @cached_property
    def price(self) -> Floats:
        """The cost of each question, ``(questions,)``."""
        assert self.costs is not None
        return self.costs

    @cached_property
    def columns(self) -> Floats:
        """The likelihood of each answer, ``(questions × outcomes, states)``."""
        n_states = len(self.prior)
        return np.ascontiguousarray(self.channels.transpose(0, 2, 1).reshape(-1, n_states))

    @cached_property
    def bounds(self) -> TreeBounds:
        """The bounds of the objective."""
        return self.objective.bounds(self.channels)

    def open_after(self, answers: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the questions that may follow answers, ``(beliefs, questions)``.

        Parameters
        ----------
        answers
            ``(beliefs, answers)``, each ``question × n_outcomes + outcome``.
        """
        assert self.excludes is not None
        is_open = np.ones((len(answers), self.n_questions), dtype=bool)
        rows = np.arange(len(answers))
        for column in answers.T:
            asked = column // self.n_outcomes
            is_open[rows, asked] = False
            is_open &= ~self.excludes[asked]
        return is_open

    def joint(self, answers: NDArray[np.intp]) -> Floats:
        """Return P(state, answers), ``(beliefs, states)``; answers as for `open_after`.

        Parameters
        ----------
        answers
            ``(beliefs, answers)``, each ``question × n_outcomes + outcome``.
        """
        table = np.repeat(self.prior[None, :], len(answers), axis=0)
        for column in answers.T:
            table *= self.columns[column]
        return table
