# The names of `bnmind.questions`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.questions.asked import read_costs as read_costs
from bnmind.questions.asked import read_diagnosis as read_diagnosis
from bnmind.questions.best_trees import best_fixed_list as best_fixed_list
from bnmind.questions.best_trees import best_tree as best_tree
from bnmind.questions.dialogue import DIALOGUE_STOPPERS as DIALOGUE_STOPPERS
from bnmind.questions.dialogue import Dialogue as Dialogue
from bnmind.questions.dialogue import Inquiry as Inquiry
from bnmind.questions.dialogue import read_dialogue as read_dialogue
from bnmind.questions.dialogue import resumed_dialogue as resumed_dialogue
from bnmind.questions.dialogue import write_dialogue as write_dialogue
from bnmind.questions.ranking import QUESTION_SCORES as QUESTION_SCORES
from bnmind.questions.ranking import TARGET_MEASURES as TARGET_MEASURES
from bnmind.questions.ranking import rank_questions as rank_questions
from bnmind.questions.tree_problems import ExpectedEntropy as ExpectedEntropy
from bnmind.questions.tree_problems import ExpectedLoss as ExpectedLoss
from bnmind.questions.tree_problems import MissedGoal as MissedGoal
from bnmind.questions.tree_problems import TreeProblem as TreeProblem
from bnmind.questions.value import doubt_answers as doubt_answers
from bnmind.questions.value import value_of_information as value_of_information
