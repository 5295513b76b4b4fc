"""Answers for tables of cases: data frames and files whose rows are cases with missing cells."""

from bnmind.junction.cases.answers import CaseAnswers
from bnmind.junction.cases.completion import complete, sample_missing
from bnmind.junction.cases.file_answers import FileAnswers, answer_file
from bnmind.junction.cases.lost_states import CaseTableWarning
from bnmind.junction.cases.predict import impute, log_likelihood, predict, predict_proba

__all__ = [
    "CaseAnswers",
    "CaseTableWarning",
    "FileAnswers",
    "answer_file",
    "complete",
    "impute",
    "log_likelihood",
    "predict",
    "predict_proba",
    "sample_missing",
]
