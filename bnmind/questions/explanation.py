"""Why a question: its information, and the belief about the targets after each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.information import Floats, information, unchecked_entropy
from bnmind.questions.causes import Causes

__all__ = ["AnswerEffect", "QuestionEffect", "effect_of"]


@dataclass(frozen=True, kw_only=True)
class AnswerEffect(Value):
    """The belief about the targets after one answer."""

    answer: str
    """The state of the question."""
    probability: float
    """The probability of this answer now."""
    entropy: float
    """The entropy of the targets after it, in bits. One answer may increase it."""
    targets: Mapping[str, Mapping[str, float]]
    """The probability of each state of each target after it."""


@dataclass(frozen=True, kw_only=True)
class QuestionEffect(Value):
    """The reasons for a question."""

    question: str
    """The variable to observe."""
    information: float
    """The expected information about the targets, in bits."""
    entropy: float
    """The entropy of the targets now, in bits."""
    expected_entropy: float
    """The expected entropy of the targets after the answer, in bits."""
    answers: tuple[AnswerEffect, ...]
    """The effect of each answer that has a positive probability."""


def effect_of(causes: Sequence[Causes], question: str) -> QuestionEffect:
    """Return the effect of a question on the belief about some targets.

    Parameters
    ----------
    causes
        The belief about each group of targets, with a channel of the question.
    question
        The question.
    """
    before = float(sum(unchecked_entropy(part.masses) for part in causes))
    bits = float(sum(information(part.masses, part.channels[question]) for part in causes))
    predicted = causes[0].predicted(question)
    answers = []
    for number, answer in enumerate(causes[0].states[question]):
        if not predicted[number] > 0:
            continue
        left = 0.0
        targets: dict[str, dict[str, float]] = {}
        for part in causes:
            weights = part.masses * part.channels[question][:, number]
            belief: Floats = weights / weights.sum()
            left += float(unchecked_entropy(belief))
            targets |= _marginals(part, belief)
        answers.append(
            AnswerEffect(
                answer=answer,
                probability=float(predicted[number]),
                entropy=left,
                targets=targets,
            )
        )
    return QuestionEffect(
        question=question,
        information=bits,
        entropy=before,
        expected_entropy=max(0.0, before - bits),
        answers=tuple(answers),
    )


def _marginals(causes: Causes, belief: Floats) -> dict[str, dict[str, float]]:
    """Return the distribution of each target of a group."""
    table = belief.reshape([v.n_states for v in causes.targets])
    axes = range(table.ndim)
    return {
        v.name: dict(
            zip(
                v.states,
                np.sum(table, axis=tuple(a for a in axes if a != axis)).tolist(),
                strict=True,
            )
        )
        for axis, v in enumerate(causes.targets)
    }
