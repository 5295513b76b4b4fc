"""Adaptive tests replayed with recorded answers: what they predict after some items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bnmind._messages import counted
from bnmind.adaptive import (
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    QMatrix,
    RandomItem,
    Responses,
    Selector,
    SkillBelief,
    learn,
    read_qmatrix,
    replay,
)
from bnmind.lab.reproductions.adaptive.learned import BOUNDED
from bnmind.lab.reproductions.base.figures import Better, Estimate, Figure, measured
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting

__all__ = ["REPLAY_ACED", "REPLAY_FRACTIONS", "learned_bank"]

_STEPS = (0, 3, 5, 10)
_FIGURES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "fraction_subtraction": {
        "entropy": (0.623, 0.855, 0.878, 0.886),
        "random": (0.623, 0.810, 0.840, 0.869),
    },
    "aced": {
        "entropy": (0.677, 0.733, 0.742, 0.758),
        "random": (0.677, 0.707, 0.718, 0.739),
    },
}
"""The shares of answers predicted after 0, 3, 5 and 10 items."""


def learned_bank(q_matrix: QMatrix, others: Responses) -> ItemBank:
    """Return the bank learned from the answers of others."""
    return learn(others, q_matrix, options=BOUNDED).bank


def _replayed(place: Path) -> Sequence[Figure]:
    answers = Responses.from_csv(place / "responses.csv")
    selectors: dict[str, Selector[SkillBelief]] = {
        "entropy": MinimalEntropy(),
        "random": RandomItem(),
    }
    bank = partial(learned_bank, read_qmatrix(place / "qmatrix.csv"))
    result = replay(bank, answers, selectors, MaximalItems(max(_STEPS)))
    figures = []
    for selector, theirs in _FIGURES[place.name].items():
        means, errors = result.mean(selector, "accuracy")
        for step, share in zip(_STEPS, theirs, strict=True):
            ours = Estimate(float(means[step]), float(errors[step]), len(answers))
            label = f"{selector}, share predicted after {counted(step, 'item')}"
            figures.append(measured(label, ours, share, better=Better.HIGHER))
    return figures


def _parts(name: str, setting: Setting) -> Sequence[Part]:
    return (Part(name, partial(_replayed, setting.data_set(name))),)


_TEXT = (
    "Each figure is the share of all answers, those asked included, that the belief predicts, in"
    " ten folds. Both programs use the same folds and the same start."
)

REPLAY_FRACTIONS = Reproduction(
    title="adaptive tests replayed: fraction subtraction",
    source="an independent program of our own; data of Tatsuoka (1984), Q-matrix of de la "
    "Torre and Douglas (2004)",
    quick_minutes=0.1,
    minutes=0.1,
    parts=partial(_parts, "fraction_subtraction"),
    data=("fraction_subtraction",),
    text=_TEXT,
)

REPLAY_ACED = Reproduction(
    title="adaptive tests replayed: ACED",
    source="an independent program of our own; data of Shute, Hansen and Almond (2008)",
    quick_minutes=0.2,
    minutes=0.2,
    parts=partial(_parts, "aced"),
    data=("aced",),
    text=_TEXT,
)
