"""Item parameters learned from data: likelihoods, parameters, and what they predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bnmind._messages import counted
from bnmind.adaptive import (
    Bounds,
    DiscriminationIndex,
    Examinees,
    Gdina,
    LearningOptions,
    Logistic,
    MaximalItems,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
    Responses,
    Selector,
    SkillBelief,
    beliefs_given,
    irt_bank,
    learn,
    read_qmatrix,
    simulate,
)
from bnmind.lab.reproductions.base.figures import (
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    exact,
    measured,
    new,
)
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting

__all__ = ["ACED_SCORES", "CDCATR", "DTMR", "LIKELIHOODS", "LSAT6"]

BOUNDED = LearningOptions(bounds=Bounds((0.0, 0.6), (0.0, 0.6)))
"""Guess and slip at most .6, as in our independent program behind the likelihoods."""

_REACHED = {"fraction_subtraction": -4402.30, "aced": -7127.21}
_ATTAINED = "a higher likelihood than the independent program reached from one start"


def _likelihood(place: Path) -> Sequence[Figure]:
    responses = Responses.from_csv(place / "responses.csv")
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), options=BOUNDED)
    return (
        exact(
            f"{place.name}, DINA, log-likelihood",
            found.log_likelihood,
            _REACHED[place.name],
            digits=2,
            better=Better.HIGHER,
            why=_ATTAINED,
        ),
    )


_LTM: Mapping[str, tuple[float, ...]] = {
    "difficulty": (-3.36, -1.37, -0.28, -1.87, -3.12),
    "discrimination": (0.83, 0.72, 0.89, 0.69, 0.66),
}


_INTEGRATED = "the last digit depends on the numerical integration over the ability"


def _lsat6(place: Path) -> Sequence[Figure]:
    responses = Responses.from_csv(place / "responses.csv")
    start = irt_bank([Logistic()] * 5, items=list(responses.items))
    fixed = frozenset({"ability"})
    found = learn(responses, start, options=LearningOptions(fixed=fixed))
    printed = partial(Reference, standing=Standing.PUBLICATION)
    figures = [exact("2PL, log-likelihood", found.log_likelihood, printed(-2466.65), digits=2)]
    models = [item.gate for item in found.bank.items if isinstance(item.gate, Logistic)]
    for number, model in enumerate(models):
        for name, ours in (("difficulty", model.difficulty), ("discrimination", model.slope)):
            label = f"2PL, item {number + 1}, {name}"
            theirs = _LTM[name][number]
            figures.append(exact(label, ours, printed(theirs), digits=2, why=_INTEGRATED))
    for slope, theirs in ((1.0, -2473.054), (0.7551, -2466.938)):
        options = LearningOptions(fixed=fixed, bounds=Bounds(slope=(slope, slope)))
        rasch = learn(responses, start, options=options).log_likelihood
        name = f"Rasch, discrimination {slope:g}, log-likelihood"
        figures.append(exact(name, rasch, printed(theirs), digits=3))
    return figures


_ACCURACIES: Mapping[str, tuple[Selector[SkillBelief], tuple[float, ...]]] = {
    "jsd": (MinimalEntropy(), (0.064, 0.244, 0.916, 0.994)),
    "gdi": (DiscriminationIndex(), (0.064, 0.244, 0.916, 0.994)),
    "mpwkl": (ModifiedPosteriorWeightedKL(), (0.064, 0.236, 0.806, 0.986)),
    "pwkl": (PosteriorWeightedKL(), (0.048, 0.212, 0.770, 0.978)),
}
_ITEMS = (1, 3, 5, 10)


def _cdcatr(place: Path) -> Sequence[Figure]:
    import pandas as pd

    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    levels = pd.read_csv(place / "true_profiles.csv").to_numpy()
    bank = learn(responses, q, options=LearningOptions(fixed=frozenset(q.skills))).bank
    people = Examinees(
        items=bank.item_names,
        responses=responses.for_bank(bank).codes,
        skills=tuple(bank.variable(name) for name in bank.skills),
        levels=levels,
        numbers=np.arange(len(responses)),
    )
    selectors = {name: selector for name, (selector, _) in _ACCURACIES.items()}
    result = simulate(bank, people, selectors, MaximalItems(max(_ITEMS)))
    figures = []
    for name, (_, accuracies) in _ACCURACIES.items():
        means = result.mean(name, "pattern_accuracy")[0]
        for items, theirs in zip(_ITEMS, accuracies, strict=True):
            ours = float(means[items])
            label = f"{name}, pattern accuracy after {counted(items, 'item')}"
            # One examinee of 500 is .002.
            other = Reference(theirs, Standing.PROGRAM)
            figures.append(exact(label, ours, other, digits=3, better=Better.HIGHER))
    return figures


def _dtmr(place: Path) -> Sequence[Figure]:
    import pandas as pd

    responses = Responses.from_csv(place / "responses.csv")
    truth = pd.read_csv(place / "true_items.csv", index_col="item").fillna(0.0)
    guess = 1 / (1 + np.exp(-truth.intercept.to_numpy()))
    slip = 1 / (1 + np.exp(truth.sum(axis=1).to_numpy()))
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), gate=Gdina)
    classes = pd.read_csv(place / "true_structural.csv")
    off = [
        abs(found.profiles[tuple(int(level) for level in levels)] - probability)
        for *levels, probability in classes.to_numpy()
    ]
    guesses = np.abs([item.guess for item in found.items] - guess)
    slips = np.abs([item.slip for item in found.items] - slip)
    return (
        new("G-DINA, log-likelihood", found.log_likelihood),
        new("mean error of guess", float(guesses.mean())),
        new("mean error of slip", float(slips.mean())),
        new("largest error of the probability of a profile", max(off)),
    )


def _aced(place: Path) -> Sequence[Figure]:
    import pandas as pd

    responses = Responses.from_csv(place / "responses.csv")
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), options=BOUNDED)
    beliefs = beliefs_given(found.bank, found.responses.codes)
    total = sum(beliefs.marginal(name)[:, 1] for name in found.bank.skills)
    who = pd.read_csv(place / "respondents.csv").SubjID
    theirs = pd.read_csv(place / "bn_scores_published.csv").set_index("SubjID").reindex(who)
    post = pd.read_csv(place / "prepost.csv").groupby("SubjID").post_scaled.first().reindex(who)
    ours = pd.Series(np.asarray(total), index=who)
    both = post.notna()
    n = int(both.sum())
    correlation = float(ours.corr(post))
    # The standard error of a correlation in large samples.
    error = (1 - correlation**2) / np.sqrt(n - 3)
    return (
        new("correlation of the mean skill with the authors' scores", ours.corr(theirs["EAP.sgp"])),
        measured(
            "correlation with the post-test, learned here, beside the authors' scores",
            Estimate(correlation, float(error), n),
            Reference(float(theirs["EAP.sgp"].corr(post)), Standing.PUBLICATION),
            better=Better.HIGHER,
            note="from the authors' published scores",
        ),
    )


def _one(
    function: Callable[[Path], Sequence[Figure]], name: str, setting: Setting
) -> Sequence[Part]:
    return (Part(name, partial(function, setting.data_set(name))),)


LIKELIHOODS = Reproduction(
    title="log-likelihoods of DINA models",
    source="an independent EM of our own, guess and slip at most .6",
    quick_minutes=0.5,
    minutes=0.5,
    parts=lambda setting: tuple(
        Part(name, partial(_likelihood, setting.data_set(name))) for name in _REACHED
    ),
    data=tuple(_REACHED),
)

LSAT6 = Reproduction(
    title="item parameters of LSAT section 6",
    source="D. Rizopoulos, ltm: an R package for latent variable modeling (2006), section 3.1",
    quick_minutes=0.1,
    minutes=0.1,
    parts=partial(_one, _lsat6, "lsat6"),
    data=("lsat6",),
)

CDCATR = Reproduction(
    title="accuracy of adaptive tests with the bank of cdcatR",
    source="the R package cdcatR by M. Sorrel, P. Nájera and F. Abad (2021)",
    quick_minutes=0.1,
    minutes=0.1,
    parts=partial(_one, _cdcatr, "cdcatr_sim180dina"),
    data=("cdcatr_sim180dina",),
    text="500 examinees, 180 items, five skills. We know of no publication of these accuracies.",
)

DTMR = Reproduction(
    title="parameters of simulated data, learned with G-DINA",
    source="the true parameters of the data set dtmr, L. Bradshaw and others (2014)",
    quick_minutes=0.1,
    minutes=0.1,
    parts=partial(_one, _dtmr, "dtmr"),
    data=("dtmr",),
)

ACED_SCORES = Reproduction(
    title="skills learned from ACED, beside the authors' scores and the post-test",
    source="V. Shute, E. Hansen and R. Almond, the field trial of ACED (2008)",
    quick_minutes=0.4,
    minutes=0.4,
    parts=partial(_one, _aced, "aced"),
    data=("aced",),
)
