"""Small fits of many kinds, with all that is said of them, against what was approved.

The steps of other tests are compared with slow twins. These fits end after a few steps, and a
change anywhere on their way shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    IRT_MODELS,
    LOGIT,
    RESPONSE_MODELS,
    AbilityGrid,
    Acdm,
    Bounds,
    Dino,
    Examinees,
    FunctioningOptions,
    Gdina,
    Hierarchy,
    HigherOrder,
    Independent,
    IrtModel,
    ItemBank,
    Learned,
    LearningOptions,
    Llm,
    NoisyAnd,
    NoisyOr,
    Priors,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    calibrate_items,
    classify,
    coefficients,
    compare_models,
    compare_structures,
    cross_validate,
    item_drift,
    item_fit,
    item_functioning,
    learn,
    learn_groups,
    learn_irt,
    likelihood_ratio,
    limited_information,
    mutual_information,
    pair_fit,
    predicted_cutoff,
    predictive_check,
    reduced_models,
    reduced_models_by_ratio,
    skill_tree,
    standard_errors,
    validate_qmatrix,
)
from tests.approved import Notes, plain

Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]]
PRIOR = Saturated([0.2, 0.1, 0.05, 0.1, 0.1, 0.1, 0.15, 0.2])
TRUTH = ItemBank.from_qmatrix(Q, 0.2, 0.15, gate=Gdina, skills=PRIOR)


TWO = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]


@cache
def answers() -> Responses:
    """Return answers of 150 examinees, with omissions, one item nearly all right."""
    codes = np.array(Examinees.drawn(TRUTH, 150, seed=4).responses)
    rng = np.random.default_rng(5)
    codes[rng.random(codes.shape) < 0.08] = -1
    codes[:, 6] = np.where(codes[:, 6] >= 0, 1, -1)
    codes[:3, 6] = 0
    return Responses(codes, TRUTH.item_names)


@cache
def graded() -> Responses:
    """Return answers of three kinds to all items but the first two."""
    bank = ItemBank.from_qmatrix(
        TWO, 0.2, 0.1, gate=Sequential,
        items=["a", "b", "c", "d", "e"], skill_names=["S", "T"],
    )  # fmt: skip
    codes = np.array(Examinees.drawn(bank, 120, seed=6).responses)
    rng = np.random.default_rng(7)
    codes[:, 2:] += rng.integers(0, 2, (120, 3))
    codes[rng.random(codes.shape) < 0.05] = -1
    return Responses(codes, bank.item_names)


def few(**changes: Any) -> LearningOptions:
    """Return options of a few steps from two starts."""
    return LearningOptions(**{"starts": 2, "max_iterations": 3, "seed": 3, **changes})


def noted(learned: Learned) -> dict[str, Any]:
    """Return all that is learned, and what is said of it."""
    bank = learned.bank
    record = learned.record
    return {
        "steps": [
            list(record.log_likelihoods),
            record.best_start,
            record.converged,
            learned.n_parameters,
        ],
        "chances": [plain(bank.channel(name)) for name in bank.item_names],
        "gates": [plain(item.gate) for item in bank.items],
        "skills": [plain(bank.network.cpd(name).to_factor().values) for name in bank.skills],
        "certainties": [plain(item.certainty) for item in bank.items],
        "notes": [str(note) for note in learned.notes],
        "shown": [repr(learned), bank._repr_html_() if hasattr(bank, "_repr_html_") else ""],
    }


def learned_with(gate: type[ResponseModel]) -> Learned:
    """Return a fit with a response model."""
    return learn(answers(), Q, gate=gate, options=few())


def curves_of(model: IrtModel) -> Learned:
    """Return a fit of curves."""
    responses = graded() if model.most_responses is None else answers()
    grid = AbilityGrid.normal(n_points=9)
    return learn_irt(responses, model, grid=grid, options=few(starts=1))


FITS: dict[str, Callable[[], Learned]] = {
    **{
        name: partial(learned_with, member.make)
        for name, member in RESPONSE_MODELS.items()
        if member.from_qmatrix
    },
    "graded sequential": lambda: learn(graded(), TWO, gate=Sequential, options=few()),
    "bounds": lambda: learn(
        answers(), Q, gate=Gdina, options=few(bounds=Bounds((0.1, 0.3), (0.05, 0.25)))
    ),
    "wide bounds": lambda: learn(
        answers(), Q, options=few(bounds=Bounds((0.1, 0.9), (0.3, 0.9)), monotone=True)
    ),
    "bounds of one": lambda: learn(
        answers(), Q, options=few(bounds={"item_4": Bounds((0.1, 0.1), (0.0, 0.2))})
    ),
    "priors": lambda: learn(
        answers(), Q, gate=Gdina, options=few(priors=Priors((5, 17), (3, 9), 1.5))
    ),
    "monotone": lambda: learn(answers(), Q, gate=Gdina, options=few(monotone=True)),
    "monotone noisy": lambda: learn(answers(), Q, gate=NoisyAnd, options=few(monotone=True)),
    "monotone llm": lambda: learn(answers(), Q, gate=Llm, options=few(monotone=True)),
    "monotone graded": lambda: learn(
        graded(), TWO, gate=Sequential, options=few(monotone=True)
    ),
    "fixed": lambda: learn(answers(), TRUTH, options=few(fixed={"item_1", "item_5", "skill_2"})),
    "no least chance": lambda: learn(answers(), Q, gate=Acdm, options=few(least_chance=0.0)),
    "a tree": lambda: learn(
        answers(), Q, gate=Dino, skills=Independent(0.4), options=few(max_profiles=0)
    ),
    "noisy on a tree": lambda: learn(
        answers(), Q, gate=NoisyOr, skills=Independent(0.4), options=few(max_profiles=0)
    ),
    "plain steps": lambda: learn(answers(), Q, options=few(accelerate=False)),
    "independent": lambda: learn(answers(), Q, skills=Independent(), options=few()),
    "hierarchy": lambda: learn(
        answers(), Q, skills=Hierarchy({"skill_2": ["skill_1"]}), options=few()
    ),
    "higher order": lambda: learn(answers(), Q, skills=HigherOrder(), options=few()),
    "to the end": lambda: learn(answers(), Q, options=LearningOptions(starts=1)),
    **{
        f"irt {name}": partial(curves_of, model)
        for name, model in IRT_MODELS.items()
    },
}  # fmt: skip


@cache
def fit(name: str) -> Learned:
    """Return a fit by its name."""
    return FITS[name]()


def report_on(function: Callable[[Learned], Any], name: str) -> Any:
    """Return a report on a fit."""
    return function(fit(name))


@pytest.mark.parametrize("name", FITS)
def test_a_fit_is_as_approved(name: str) -> None:
    notes = Notes(Path(__file__), f"fit {name}")
    for part, value in noted(fit(name)).items():
        for one in value:
            notes.note(one, part)
    notes.check(if_kept=True)


def told(value: Any) -> list[Any]:
    """Return a value with what it shows to its reader."""
    shown = [repr(value)]
    for way in ("to_frame", "_repr_html_"):
        if hasattr(value, way):
            shown.append(plain(getattr(value, way)()))
    return [value, *shown]


def _reports(*functions: Callable[[Learned], Any]) -> tuple[Any, ...]:
    return functions


SPLIT = [0, 1] * 75
REPORTS: dict[str, Callable[[], Any]] = {
    **{
        f"{function.__name__} {name}": partial(report_on, function, name)
        for function in _reports(
            coefficients,
            standard_errors,
            item_fit,
            pair_fit,
            limited_information,
            mutual_information,
            skill_tree,
            predicted_cutoff,
        )
        for name in ("gdina", "dina", "llm", "graded sequential", "priors")
    },
    "coefficients logit": lambda: coefficients(fit("gdina"), link=LOGIT),
    "standard_errors irt": lambda: standard_errors(fit("irt 3PL")),
    "coefficients irt": lambda: coefficients(fit("irt graded")),
    "item_fit irt": lambda: item_fit(fit("irt 2PL")),
    "reduced_models": lambda: reduced_models(fit("gdina"), alpha=0.1),
    "reduced_models priors": lambda: reduced_models(fit("priors")),
    "reduced_models_by_ratio": lambda: reduced_models_by_ratio(fit("gdina"), alpha=0.1),
    "reduced_models_by_ratio refit": lambda: reduced_models_by_ratio(fit("gdina"), refit=True),
    "validate_qmatrix": lambda: validate_qmatrix(fit("gdina")),
    "validate_qmatrix low": lambda: validate_qmatrix(fit("gdina"), cutoff=0.7),
    "predictive_check": lambda: predictive_check(fit("gdina"), n_drawn=4, seed=2),
    "compare_models": lambda: compare_models({n: fit(n) for n in ("gdina", "dina", "llm")}),
    "likelihood_ratio": lambda: likelihood_ratio(fit("dina"), fit("gdina")),
    "cross_validate": lambda: cross_validate(answers(), Q, folds=3, fold_seed=1, options=few()),
    "compare_structures": lambda: compare_structures(
        answers(), Q, folds=2, options=few(),
        structures={"one": Independent(), "two": Hierarchy({"skill_2": ["skill_1"]})},
    ),
    "item_functioning": lambda: item_functioning(
        answers(), Q, groups=SPLIT, options=few(starts=1),
        testing=FunctioningOptions(items=["item_2", "item_4"]),
    ),
    "learn_groups": lambda: learn_groups(answers(), Q, groups=SPLIT, options=few()),
    "classify": lambda: classify(fit("gdina").bank, answers()),
    "classify graded": lambda: classify(fit("graded sequential").bank, graded()),
    "person fit": lambda: classify(fit("gdina").bank, answers()).person_fit(3),
    "agreement": lambda: classify(fit("dina").bank, answers()).agreement_with(
        classify(fit("gdina").bank, answers()).levels
    ),
    "calibrate_items": lambda: calibrate_items(
        TRUTH, answers(), ["item_2", "item_6"], max_cycles=2
    ),
    "item_drift": lambda: item_drift(TRUTH, answers(), rng=np.random.default_rng(1)),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_as_approved(name: str) -> None:
    notes = Notes(Path(__file__), f"report {name}")
    for one in told(REPORTS[name]()):
        notes.note(one)
    notes.check(if_kept=True)
