# The names of `bnmind.questions.trees`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.questions.trees.problem import ExpectedEntropy as ExpectedEntropy
from bnmind.questions.trees.problem import ExpectedLoss as ExpectedLoss
from bnmind.questions.trees.problem import MissedGoal as MissedGoal
from bnmind.questions.trees.problem import TreeObjective as TreeObjective
from bnmind.questions.trees.problem import TreeProblem as TreeProblem
from bnmind.questions.trees.search import BestTree as BestTree
from bnmind.questions.trees.search import FixedList as FixedList
from bnmind.questions.trees.search import QuestionNode as QuestionNode
from bnmind.questions.trees.search import QuestionTree as QuestionTree
from bnmind.questions.trees.search import SearchBounds as SearchBounds
from bnmind.questions.trees.search import best_fixed_list as best_fixed_list
from bnmind.questions.trees.search import best_tree as best_tree
from bnmind.questions.trees.search import greedy_tree as greedy_tree
