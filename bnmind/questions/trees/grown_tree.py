"""Trees of questions, and the greedy tree: at each belief the question that is best by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.information import Floats
from bnmind.questions.trees.objectives import ExpectedEntropy
from bnmind.questions.trees.problem import TreeProblem

__all__ = ["STOP", "TOLERANCE", "QuestionNode", "QuestionTree", "greedy_tree", "grown_tree"]

STOP = -1
"""In place of a question: the tree ends here."""

TOLERANCE = 1e-9
"""Values closer than this count as equal; among equal questions, the first is asked."""

_IMPOSSIBLE = 1e-280
"""Histories of smaller probability are taken as impossible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionNode(Value):
    """A point of a tree: a question to ask next, or an end."""

    question: int | None
    """The index of the question; None at an end."""
    probability: float
    """The probability that the path leads here."""
    belief: Floats
    """``(states,)``, the belief about the hidden state."""
    end_value: float
    """The value by the objective if the tree ended here."""
    children: tuple[tuple[int, QuestionNode], ...] = ()
    """The node after each possible outcome."""

    def __iter__(self) -> Iterator[QuestionNode]:
        """Yield this node, and all nodes below it, each before those below it."""
        yield self
        for _, child in self.children:
            yield from child


@dataclass(frozen=True, eq=False)
class QuestionTree(Value):
    """A tree of questions, and its value."""

    problem: TreeProblem
    """The problem that the tree is for."""
    root: QuestionNode
    """The first question, and what follows."""

    @property
    def value(self) -> float:
        """The expected value of the ends, plus the expected costs."""
        ends = sum(node.probability * node.end_value for node in self.root if not node.children)
        return float(ends) + self.cost

    @property
    def cost(self) -> float:
        """The expected costs of the questions."""
        price = self.problem.price
        return float(
            sum(n.probability * price[n.question] for n in self.root if n.question is not None)
        )

    @property
    def length(self) -> float:
        """The expected number of questions."""
        return float(sum(n.probability for n in self.root if n.question is not None))


def grown_tree(
    problem: TreeProblem, choose: Callable[[NDArray[np.intp], Floats], int]
) -> QuestionTree:
    """Return the tree of a function that chooses the questions.

    Parameters
    ----------
    problem
        The problem.
    choose
        A function of the answers so far, as for `TreeProblem.open_after`, and the belief. It
        returns the index of the next question, or `STOP`.
    """

    def node(answers: tuple[int, ...], joint: Floats, depth: int) -> QuestionNode:
        chance = float(joint.sum())
        belief = joint / chance
        end = float(problem.objective.values(belief[None])[0])
        given = np.array(answers, dtype=np.intp)
        question = STOP if depth == problem.depth else choose(given, belief)
        if question == STOP:
            return QuestionNode(question=None, probability=chance, belief=belief, end_value=end)
        children = []
        for outcome in range(problem.n_outcomes):
            answer = question * problem.n_outcomes + outcome
            after = joint * problem.columns[answer]
            if after.sum() > _IMPOSSIBLE:
                children.append((outcome, node((*answers, answer), after, depth + 1)))
        return QuestionNode(
            question=question,
            probability=chance,
            belief=belief,
            end_value=end,
            children=tuple(children),
        )

    return QuestionTree(problem, node((), problem.prior, 0))


def best_alone(problem: TreeProblem, answers: NDArray[np.intp], belief: Floats) -> int:
    """Return the question that is best if it is the last one; `STOP` if none is worth its cost."""
    end = float(problem.objective.values(belief[None])[0])
    after = problem.objective.after(belief[None], problem.channels)[0] + problem.price
    is_open = problem.open_after(answers[None])[0]
    after = np.where(is_open, after, np.inf)
    best = float(after.min())
    if not best < end - TOLERANCE:
        return STOP
    return int(np.argmax(after <= best + TOLERANCE))


def greedy_tree(problem: TreeProblem) -> QuestionTree:
    """Return the tree that asks at each belief the question of most information.

    It ends where no question tells anything, or an end costs nothing. For entropy with costs, it
    ends where no question is worth its cost.

    Parameters
    ----------
    problem
        The beliefs, the questions and what the tree is for.
    """
    if isinstance(problem.objective, ExpectedEntropy):
        return grown_tree(problem, lambda answers, belief: best_alone(problem, answers, belief))
    telling = replace(problem, objective=ExpectedEntropy(), costs=None)

    def choose(answers: NDArray[np.intp], belief: Floats) -> int:
        if problem.objective.values(belief[None])[0] <= TOLERANCE:
            return STOP
        return best_alone(telling, answers, belief)

    return grown_tree(problem, choose)
