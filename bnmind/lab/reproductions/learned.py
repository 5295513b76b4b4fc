"""Figures of learned item parameters and of adaptive tests: likelihoods, skills, predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bnmind._messages import counted
from bnmind.adaptive import (
    Bounds,
    DiscriminationIndex,
    Gdina,
    ItemBank,
    KullbackLeibler,
    LearningOptions,
    Logistic,
    MaximalItems,
    MinimalEntropy,
    QMatrix,
    RandomItem,
    Responses,
    Selector,
    beliefs_given,
    irt_bank,
    learn,
    read_qmatrix,
    replay,
    simulate,
)
from bnmind.lab.reproductions.figures import (
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    exact,
    measured,
    new,
    published,
)
from bnmind.lab.reproductions.reproduction import Program, Setting, Task

_BOUNDED = LearningOptions(bounds=Bounds((0.0, 0.6), (0.0, 0.6)))
"""Guess and slip at most .6, as in our independent program behind the likelihoods."""

_ATTAINED = "a higher likelihood than the independent program reached from one start"


def learned_bank(q_matrix: QMatrix, others: Responses) -> ItemBank:
    """Return the bank learned from the answers of others."""
    return learn(others, q_matrix, options=_BOUNDED).bank


def _likelihood(place: Path) -> Iterator[Figure]:
    responses = Responses.from_csv(place / "responses.csv")
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), options=_BOUNDED)
    yield exact(
        f"{place.name}, DINA, log-likelihood",
        found.log_likelihood,
        published("learned")["likelihoods"][place.name],
        digits=2,
        better=Better.HIGHER,
        why=_ATTAINED,
    )


_INTEGRATED = "the last digit depends on the numerical integration over the ability"


def _lsat6(place: Path) -> Iterator[Figure]:
    responses = Responses.from_csv(place / "responses.csv")
    start = irt_bank([Logistic()] * 5, items=list(responses.items))
    fixed = frozenset({"ability"})
    found = learn(responses, start, options=LearningOptions(fixed=fixed))
    theirs = published("learned")["lsat6"]
    printed = partial(Reference, standing=Standing.PUBLICATION)
    other = printed(theirs["log_likelihood"])
    yield exact("2PL, log-likelihood", found.log_likelihood, other, digits=2)
    models = [item.gate for item in found.bank.items if isinstance(item.gate, Logistic)]
    for number, model in enumerate(models):
        for name, ours in (("difficulty", model.difficulty), ("discrimination", model.slope)):
            label, other = f"2PL, item {number + 1}, {name}", printed(theirs[name][number])
            yield exact(label, ours, other, digits=2, why=_INTEGRATED)
    for text, likelihood in theirs["rasch"].items():
        slope = float(text)
        options = LearningOptions(fixed=fixed, bounds=Bounds(slope=(slope, slope)))
        rasch = learn(responses, start, options=options).log_likelihood
        name = f"Rasch, discrimination {text}, log-likelihood"
        yield exact(name, rasch, printed(likelihood), digits=3)


_SELECTORS: Mapping[str, Selector] = {
    "jsd": MinimalEntropy(),
    "gdi": DiscriminationIndex(),
    "mpwkl": KullbackLeibler("mpwkl"),
    "pwkl": KullbackLeibler("pwkl"),
}


def _cdcatr(place: Path) -> Iterator[Figure]:
    import pandas as pd

    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    levels = pd.read_csv(place / "true_profiles.csv").to_numpy()
    bank = learn(responses, q, options=LearningOptions(fixed=frozenset(q.skills))).bank
    skills = tuple(bank.variable(name) for name in bank.skills)
    people = replace(responses, skills=skills, levels=levels)
    known = published("learned")["accuracies"]
    result = simulate(bank, people, _SELECTORS, MaximalItems(max(known["items"])))
    for name in _SELECTORS:
        means = result.mean(name, "pattern_accuracy")[0]
        for items, theirs in zip(known["items"], known[name], strict=True):
            label = f"{name}, pattern accuracy after {counted(items, 'item')}"
            # One examinee of 500 is .002.
            other = Reference(theirs, Standing.PROGRAM)
            yield exact(label, float(means[items]), other, digits=3, better=Better.HIGHER)


def _dtmr(place: Path) -> Iterator[Figure]:
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
    yield new("G-DINA, log-likelihood", found.log_likelihood)
    yield new("mean error of guess", float(guesses.mean()))
    yield new("mean error of slip", float(slips.mean()))
    yield new("largest error of the probability of a profile", max(off))


def _aced(place: Path) -> Iterator[Figure]:
    import pandas as pd

    responses = Responses.from_csv(place / "responses.csv")
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), options=_BOUNDED)
    beliefs = beliefs_given(found.bank, found.responses.codes)
    total = sum(beliefs.marginal(name)[:, 1] for name in found.bank.skills)
    who = pd.read_csv(place / "respondents.csv").SubjID
    theirs = pd.read_csv(place / "bn_scores_published.csv").set_index("SubjID").reindex(who)
    post = pd.read_csv(place / "prepost.csv").groupby("SubjID").post_scaled.first().reindex(who)
    ours = pd.Series(np.asarray(total), index=who)
    n = int(post.notna().sum())
    correlation = float(ours.corr(post))
    # The standard error of a correlation in large samples.
    error = (1 - correlation**2) / np.sqrt(n - 3)
    alike = ours.corr(theirs["EAP.sgp"])
    yield new("correlation of the mean skill with the authors' scores", alike)
    yield measured(
        "correlation with the post-test, learned here, beside the authors' scores",
        Estimate(correlation, float(error), n),
        Reference(float(theirs["EAP.sgp"].corr(post)), Standing.PUBLICATION),
        better=Better.HIGHER,
        note="from the authors' published scores",
    )


def _replayed(place: Path) -> Iterator[Figure]:
    answers = Responses.from_csv(place / "responses.csv")
    selectors: dict[str, Selector] = {
        "entropy": MinimalEntropy(),
        "random": RandomItem(),
    }
    bank = partial(learned_bank, read_qmatrix(place / "qmatrix.csv"))
    known = published("learned")["predicted"]
    result = replay(bank, answers, selectors, MaximalItems(max(known["items"])))
    for selector, theirs in known[place.name].items():
        means, errors = result.mean(selector, "accuracy")
        for step, share in zip(known["items"], theirs, strict=True):
            ours = Estimate(float(means[step]), float(errors[step]), len(answers))
            label = f"{selector}, share predicted after {counted(step, 'item')}"
            yield measured(label, ours, share, better=Better.HIGHER)


def _of_data(
    function: Callable[[Path], Iterator[Figure]], *names: str
) -> Callable[[Setting], Iterator[Task]]:
    """Return the program that computes a function of each of some data sets."""
    return lambda setting: ((name, function, setting.data_set(name)) for name in names)


PROGRAMS: Mapping[str, Program] = {
    "learned-likelihoods": _of_data(_likelihood, "fraction_subtraction", "aced"),
    "learned-lsat6": _of_data(_lsat6, "lsat6"),
    "learned-dtmr": _of_data(_dtmr, "dtmr"),
    "learned-aced": _of_data(_aced, "aced"),
    "cdcatr-accuracy": _of_data(_cdcatr, "cdcatr_sim180dina"),
    "replay-fractions": _of_data(_replayed, "fraction_subtraction"),
    "replay-aced": _of_data(_replayed, "aced"),
}
"""What computes each reproduction, by its name in the catalog."""
