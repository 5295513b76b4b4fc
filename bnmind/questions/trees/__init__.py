"""Trees of questions about one hidden state: the best trees, and the best fixed lists."""

from bnmind.questions.trees.fixed_list import FixedList, best_fixed_list
from bnmind.questions.trees.grown_tree import QuestionNode, QuestionTree, greedy_tree
from bnmind.questions.trees.objectives import (
    ExpectedEntropy,
    ExpectedLoss,
    MissedGoal,
    TreeObjective,
)
from bnmind.questions.trees.problem import TreeProblem
from bnmind.questions.trees.search import BestTree, SearchBounds, best_tree

__all__ = [
    "BestTree",
    "ExpectedEntropy",
    "ExpectedLoss",
    "FixedList",
    "MissedGoal",
    "QuestionNode",
    "QuestionTree",
    "SearchBounds",
    "TreeObjective",
    "TreeProblem",
    "best_fixed_list",
    "best_tree",
    "greedy_tree",
]
