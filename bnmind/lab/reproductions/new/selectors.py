"""A new experiment: what each selector loses against the best on real answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind.adaptive import (
    DiscriminationIndex,
    KullbackLeibler,
    MaximalItems,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
    RandomItem,
    Responses,
    Selector,
    SkillBelief,
    read_qmatrix,
    replay,
)
from bnmind.lab.reproductions.adaptive.replays import learned_bank
from bnmind.lab.reproductions.base.figures import Estimate, Figure, counted
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.new.curves import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["SELECTOR_LOSS"]

_SELECTORS: Mapping[str, Selector[SkillBelief]] = {
    "entropy": MinimalEntropy(),
    "gdi": DiscriminationIndex(),
    "kl": KullbackLeibler(),
    "pwkl": PosteriorWeightedKL(),
    "mpwkl": ModifiedPosteriorWeightedKL(),
    "random": RandomItem(),
}
_SETS = {"fraction_subtraction": "fraction subtraction", "aced": "ACED"}
_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)


def _loss(place: Path) -> Sequence[Figure]:
    """Return by how much the predictions of each selector are worse than those of the best."""
    answers = Responses.from_csv(place / "responses.csv")
    bank = partial(learned_bank, read_qmatrix(place / "qmatrix.csv"))
    result = replay(bank, answers, _SELECTORS, MaximalItems(max(_STEPS)))
    figures = []
    for step in _STEPS:
        best = max(_SELECTORS, key=lambda name: result.mean(name, "accuracy")[0][step])
        for name in _SELECTORS:
            means, errors = result.difference("accuracy", best, name)
            lost = Estimate(float(100 * means[step]), float(100 * errors[step]), len(answers))
            label = f"{_SETS[place.name]}, {name}, {step} items, percent lost"
            curve = f"{_SETS[place.name]}: {name}"
            why = "the best at this length" * (name == best)
            figures.append(counted(label, lost, curve=curve, at=step, why=why))
    return figures


def _parts(setting: Setting) -> Sequence[Part]:
    names = setting.of(("fraction_subtraction",), tuple(_SETS), medium=tuple(_SETS))
    return tuple(Part(name, partial(_loss, setting.data_set(name))) for name in names)


def _draw(figures: Sequence[Figure]) -> Drawing:
    drawn = [title for title in _SETS.values() if any(f.curve.startswith(title) for f in figures)]
    titles = drawn or list(_SETS.values())
    return draw_panels(
        figures,
        [
            Panel(
                title=title,
                curves=tuple(f"{title}: {name}" for name in _SELECTORS),
                names=tuple(_SELECTORS),
            )
            for title in titles
        ],
        x="items asked",
        y="percent of answers lost against the best selector",
    )


SELECTOR_LOSS = Reproduction(
    title="what each published selector loses as tests get longer, on real answers",
    source="a new experiment",
    quick_minutes=0.1,
    minutes=3,
    parts=_parts,
    data=tuple(_SETS),
    draw=_draw,
    abscissa="items",
    text="Recorded answers are replayed in ten folds. The loss is the share of all answers, those "
    "asked included, that the best selector of each test length predicts and this one does not, "
    "in percent, paired by examinee. The best is chosen by the same answers. Bars are two "
    "standard errors to each side. A quick run replays fraction subtraction only.",
)
