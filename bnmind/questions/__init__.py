"""Questions to any network: which variable to observe next, and the worth of observing it."""

from bnmind.questions.cost_files import read_costs
from bnmind.questions.decision import Decision, Utilities
from bnmind.questions.diagnosis_marks import DiagnosisMarks, read_diagnosis
from bnmind.questions.dialogue import AnswerStep, Dialogue
from bnmind.questions.dialogue_files import (
    SavedDialogue,
    dialogue_text,
    read_dialogue,
    resumed_dialogue,
    write_dialogue,
)
from bnmind.questions.doubts import AnswerDoubt, Doubts, doubt_answers
from bnmind.questions.events import AnswerEvent, AnswerKind, AnswerState
from bnmind.questions.explanation import AnswerEffect, QuestionEffect
from bnmind.questions.inquiry import Inquiry
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
from bnmind.questions.stopping import (
    DIALOGUE_STOPPERS,
    Certain,
    DialogueProgress,
    DialogueStopper,
    EntropyAtMost,
    GainAtMost,
    MostCost,
    MostQuestions,
    dialogue_stoppers_by_names,
)
from bnmind.questions.value import InformationValues, ValuedQuestion, value_of_information

__all__ = [
    "DIALOGUE_STOPPERS",
    "QUESTION_SCORES",
    "TARGET_MEASURES",
    "AnswerDoubt",
    "AnswerEffect",
    "AnswerEvent",
    "AnswerKind",
    "AnswerState",
    "AnswerStep",
    "Certain",
    "Decision",
    "DiagnosisMarks",
    "Dialogue",
    "DialogueProgress",
    "DialogueStopper",
    "Doubts",
    "EntropyAtMost",
    "GainAtMost",
    "InformationLessCost",
    "InformationOnly",
    "InformationPerCost",
    "InformationValues",
    "Inquiry",
    "JointEntropy",
    "MarginalEntropies",
    "MostCost",
    "MostQuestions",
    "QuestionEffect",
    "QuestionRanking",
    "QuestionScore",
    "RankedQuestion",
    "SavedDialogue",
    "TargetMeasure",
    "Utilities",
    "ValuedQuestion",
    "dialogue_stoppers_by_names",
    "dialogue_text",
    "doubt_answers",
    "rank_questions",
    "read_costs",
    "read_diagnosis",
    "read_dialogue",
    "resumed_dialogue",
    "value_of_information",
    "write_dialogue",
]
