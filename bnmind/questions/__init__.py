"""Questions to any network: which variable to observe next, and the worth of observing it."""

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

__all__ = [
    "QUESTION_SCORES",
    "TARGET_MEASURES",
    "InformationLessCost",
    "InformationOnly",
    "InformationPerCost",
    "JointEntropy",
    "MarginalEntropies",
    "QuestionRanking",
    "QuestionScore",
    "RankedQuestion",
    "TargetMeasure",
    "rank_questions",
]
