"""Questions to any network: which variable to observe next, and the worth of observing it."""

from bnmind.questions.decision import Decision, Utilities
from bnmind.questions.measures import (
    TARGET_MEASURES,
    JointEntropy,
    MarginalEntropies,
    TargetMeasure,
)
from bnmind.questions.ranking import QuestionRanking, RankedQuestion, rank_questions
from bnmind.questions.scores import (
    QUESTION_SCORES,
    InformationLessCost,
    InformationOnly,
    InformationPerCost,
    QuestionScore,
)
from bnmind.questions.value import InformationValues, ValuedQuestion, value_of_information

__all__ = [
    "QUESTION_SCORES",
    "TARGET_MEASURES",
    "Decision",
    "InformationLessCost",
    "InformationOnly",
    "InformationPerCost",
    "InformationValues",
    "JointEntropy",
    "MarginalEntropies",
    "QuestionRanking",
    "QuestionScore",
    "RankedQuestion",
    "TargetMeasure",
    "Utilities",
    "ValuedQuestion",
    "rank_questions",
    "value_of_information",
]
