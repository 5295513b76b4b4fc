"""Whatever is given to `bnmind.adaptive` and `bnmind.lab`: it works, or the error names it.

Every public constructor, function and method is called with one argument after another replaced
by things of other types. Who gives a value that the signature does not allow is told the name of
the argument; who gives one that it allows gets an answer, or an error of ours.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnmind.adaptive as adaptive
import bnmind.lab as lab
import bnmind.strategies as strategies
from bnmind._arguments import _kinds_of
from bnmind._values import _converters
from bnmind.adaptive.estimates import response_joints
from bnmind.adaptive.formulas import LOGIT
from bnmind.adaptive.responses import fold_numbers
from bnmind.adaptive.scores import rank_items
from bnmind.adaptive.simulation_results import default_measures
from bnmind.errors import BnmindError
from bnmind.mastermind import Channel
from bnmind.pgm import Variable
from tests.examples import (
    BOARD,
    PUBLIC,
    RAIN,
    WET,
    bank,
    curves,
    examples_of,
    game_experiment,
    learned,
)
from tests.test_misuse import Call, called, junk

BANK = bank()
KNUTH = strategies.strategy_by_name("knuth")
CURVE = lab.Curve(name="knuth", x=np.array([1.0]), y=np.array([4.0]))
NOISY = Channel.false_reply(BOARD, 0.2)
PEOPLE = adaptive.Responses.drawn(BANK, 5, seed=1)
ANSWERS = adaptive.Responses(PEOPLE.codes, BANK.item_names)
ALLOWED = np.ones((5, 3), dtype=bool)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def beliefs() -> adaptive.BatchBelief:
    return adaptive.start_beliefs(BANK, 5)


@cache
def simulated() -> adaptive.SimulationResult:
    """Return the result of a simulation."""
    return adaptive.simulate(
        BANK, PEOPLE, {"entropy": adaptive.MinimalEntropy()}, adaptive.MaximalItems(2)
    )


def by_name() -> dict[str, Any]:
    """Return a value for each name of an argument, after ``Class.method.`` where it differs."""
    belief = adaptive.start_belief(BANK)
    return {
        "abilities": [0.0, 1.0],
        "afterwards": 1,
        "allowed": ALLOWED,
        "among": ALLOWED,
        "asked": np.zeros((5, 0), dtype=int),
        "at": "now",
        "bank": BANK,
        "belief": belief,
        "beliefs": beliefs(),
        "cause": ("S",),
        "certainties": {"a": adaptive.TableCertainty(np.ones((2, 2)), (0, 0, 0, 1))},
        "chance": 0.1,
        "chances": 0.1,
        "examinee": 1,
        "design": BANK,
        "directory": Path("nowhere"),
        "done": 1,
        "eligible": ALLOWED,
        "examinees": np.array([0, 1]),
        "folds": 2,
        "given": 1,
        "item": "c",
        "items": ("b", "c"),
        "joints": response_joints(belief, ["S", "T"], ["a", "b"]),
        "label": "x",
        "learned": learned(),
        "levels": np.zeros((5, 2), dtype=int),
        "limit": 0.5,
        "luck": np.full((5, 3), 0.5),
        "max_cells": 10**6,
        "max_profiles": 10**4,
        "model": BANK,
        "n_examinees": 5,
        "name": "c",
        "order": None,
        "response": 1,
        "responses": ANSWERS,
        "rng": rng(),
        "seed": 1,
        "skill": "S",
        "skills": ("S",),
        "set_aside": ("b",),
        "step": 1,
        "values": ALLOWED,
    }


SAMPLES = by_name()


ADDITIVE: dict[str, type[Any]] = {
    "Acdm": adaptive.Acdm,
    "LeakyOr": adaptive.LeakyOr,
    "Llm": adaptive.Llm,
    "Nida": adaptive.Nida,
    "Nido": adaptive.Nido,
    "Rrum": adaptive.Rrum,
}
"""The models in which each skill has an effect."""


def special() -> dict[str, Any]:
    """Return arguments of methods by ``Class.method.argument``, before those of `by_name`."""
    start = adaptive.start_belief(curves())
    starts = adaptive.start_beliefs(curves(), 2)
    batch = adaptive.Progress(beliefs(), np.zeros((len(ALLOWED), 0), dtype=int), ALLOWED)
    curved = adaptive.Progress(starts, np.zeros((2, 0), dtype=int), np.ones((2, 2), dtype=bool))
    every = np.ones((2, 2), dtype=bool)
    parent, other = (BANK.variable(name) for name in "ST")
    ability = curves().variable("ability")
    found: dict[str, Any] = {
        "Design.counted.given": {"a": 1},
        "Design.allowed.asked": ("a",),
        "Design.outlook.asked": ("a",),
        **{
            f"{kind}.{method}.{argument}": value
            for kind in ("AStratified", "MinimalPosteriorVariance")
            for method, argument, value in (
                ("scores", "belief", start),
                ("scores", "items", curves().item_names),
                ("batch_scores", "beliefs", starts),
                ("select", "belief", start),
                ("select", "items", curves().item_names),
                ("select_batch", "beliefs", starts),
                ("select_batch", "allowed", every),
                ("select_batch", "luck", np.full((2, 2), 0.5)),
            )
        },
        "Blueprint.can_be_met.available": np.ones(3, dtype=bool),
        "Blueprint.for_test.most_items": 2,
        "Blueprint.for_test.enemies": (("a", "c"),),
        "Blueprint.faults.asked": ("a",),
        "Blueprint.needed.asked": np.zeros((5, 1), dtype=int),
        "SympsonHetter.adjusted.selected": {"a": 0.5},
        "Classification.agreement_with.levels": np.zeros((40, 2), dtype=int),
        "Responses.take.examinees": [0, 1, 2, 3],
        "Session.change.item": "a",
        "SkillBelief.without.item": "a",
        "SkillBelief.update.item": "c",
        "AbilityGrid.network.name": "ability",
        "AbilityGrid.normal.mean": 0.0,
        "AbilityGrid.normal.deviation": 1.0,
        "AbilityGrid.normal.n_points": 5,
        "AbilityGrid.normal.reach": 3.0,
        "Responses.levels_in.bank": BANK,
        "Hierarchy.cpds.skills": tuple(BANK.variable(name) for name in "ST"),
        "Hierarchy.permitted.skills": tuple(BANK.variable(name) for name in "ST"),
        "Independent.cpds.skills": tuple(BANK.variable(name) for name in "ST"),
        "Saturated.cpds.skills": tuple(BANK.variable(name) for name in "ST"),
        "ItemBank.from_response_models.q_matrix": [[1, 0], [1, 1]],
        "ItemBank.from_response_models.response_models": [
            adaptive.Dina(0.2, 0.1),
            adaptive.Dino(0.2, 0.1),
        ],
        "ItemBank.from_response_models.skills": adaptive.Saturated(),
        "ItemBank.from_response_models.levels": 2,
        "ItemBank.from_response_models.items": ["a", adaptive.Item("b")],
        "ItemBank.from_response_models.skill_names": ["S", "T"],
        "ItemBank.from_response_models.title": "t",
        "ItemBank.from_response_models.source": "s",
        "ItemBank.from_qmatrix.q_matrix": [[1, 0], [1, 1]],
        "ItemBank.from_qmatrix.guess": 0.2,
        "ItemBank.from_qmatrix.slip": [0.2, 0.1],
        "ItemBank.from_qmatrix.gate": adaptive.Dina,
        "ItemBank.from_qmatrix.skills": adaptive.Saturated(),
        "ItemBank.from_qmatrix.levels": 2,
        "ItemBank.from_qmatrix.items": ["a", adaptive.Item("b")],
        "ItemBank.from_qmatrix.skill_names": ["S", "T"],
        "ItemBank.from_network.model": BANK.network,
        "ItemBank.from_network.skills": ["S", "T"],
        "ItemBank.from_network.items": ["a", adaptive.Item("b"), "c"],
        "ItemBank.from_network.title": "t",
        "ItemBank.from_network.source": "s",
        "ItemEligibility.after.asked": ~ALLOWED,
        "ItemEligibility.start.limit": 0.5,
        "ItemEligibility.draw.luck": np.full((5, 3), 0.5),
        "MaximalFisher.scores.belief": start,
        "MaximalFisher.scores.items": curves().item_names,
        "MaximalFisher.batch_scores.beliefs": starts,
        "MaximalFisher.select.belief": start,
        "MaximalFisher.select.items": curves().item_names,
        "MaximalFisher.select_batch.beliefs": starts,
        "MaximalFisher.select_batch.allowed": every,
        "MaximalFisher.select_batch.luck": np.full((2, 2), 0.5),
        "Moment.mean_of_answers.values": np.ones((5, 3)),
        "Sequential.of.make": adaptive.Dina,
        "DiBello.samejima.slopes": (1.0, 0.5),
        "DiBello.samejima.difficulty": 0.5,
        "DiBello.samejima.increments": (1.0, 0.0),
        "DiBello.samejima.combination": adaptive.DiBello((1.0,), (0.0,)).combination,
        "HigherOrder.cpds.skills": tuple(BANK.variable(name) for name in "ST"),
        "ItemBank.with_certainties.certainties": {
            "a": adaptive.TableCertainty(np.array([[9.0, 3.0], [2.0, 6.0]]), (0, 1))
        },
        "QMatrix.of.table": [[1, 0], [0, 1]],
        "QMatrix.with_item_names.names": ["a", "b", "c"],
        "QMatrix.of.items": ["a", "b"],
        "QMatrix.of.expected": ["a", "b"],
        "QMatrix.of.skills": ["S", "T"],
        "Responses.of.table": [[1, 0], [0, 1]],
        "Responses.of.items": ["a", "b"],
        "Responses.of.examinees": ["x", "y"],
        "Responses.of.missing": ["?"],
        "Responses.of.ignore": ["a"],
        "Responses.from_csv.path": "nowhere.csv",
        "Responses.from_csv.missing": ["?"],
        "Responses.from_csv.ignore": ["a"],
        "Session.after_events.design": adaptive.Design(BANK),
        "Session.after_events.events": [],
        "Session.after_events.about": {},
        "Session.after_events.place": "",
        "Session.start.path": "nowhere/s.json",
        "Session.start.about": {"who": "me"},
        "Session.load.path": "nowhere/s.json",
        "Session.load.salvage": True,
        "Session.save.path": "nowhere/s.json",
        "Session.save.new": True,
        "SimulationResult.run_of.selector": "entropy",
        "SimulationResult.measure.name": "zero",
        "SimulationResult.values.selector": "entropy",
        "SimulationResult.values.measure": "zero",
        "SimulationResult.mean.selector": "entropy",
        "SimulationResult.mean.measure": "zero",
        "SimulationResult.band.selector": "entropy",
        "SimulationResult.band.measure": "zero",
        "SimulationResult.difference.measure": "zero",
        "SimulationResult.difference.selector": "entropy",
        "SimulationResult.difference.than": "entropy",
        "LearningOptions.bounds_of.item": "c",
        "CodeMaker.from_seed.channel": NOISY,
        "CodeMaker.from_seed.secret": (1, 2),
        "CodeMaker.from_seed.turns": 3,
        "CodeMaker.answer.turn": 0,
        "CodeMaker.answer.guess": (1, 2),
        "Comparison.rows_of.strategy": "knuth",
        "Comparison.differences.confidence": 0.9,
        "Comparison.differences.measure": lambda row: row.guesses,
        "Comparison.differences.interval": lab.StudentInterval(),
        "PairedDifferences.between.first": "knuth",
        "PairedDifferences.between.second": "random",
        "PairedDifferences.differ.one": "knuth",
        "PairedDifferences.differ.other": "random",
        "StudentInterval.factor.n": 10,
        "StudentInterval.factor.error": 0.05,
        "NormalInterval.factor.n": 10,
        "NormalInterval.factor.error": 0.05,
        "ConfidenceSequence.factor.n": 10,
        "ConfidenceSequence.factor.error": 0.05,
        "StudentInterval.half_widths.moments": lab.Moments.of([[1.0, 2.0], [3.0, 2.0]]),
        "StudentInterval.half_widths.error": 0.05,
        "NormalInterval.half_widths.moments": lab.Moments.of([[1.0, 2.0], [3.0, 2.0]]),
        "NormalInterval.half_widths.error": 0.05,
        "ExactMean.half_widths.moments": lab.Moments.of([[1.0, 2.0], [3.0, 2.0]]),
        "ExactMean.half_widths.error": 0.05,
        "ConfidenceSequence.half_widths.moments": lab.Moments.of([[1.0, 2.0], [3.0, 2.0]]),
        "ConfidenceSequence.half_widths.error": 0.05,
        "Moments.of.observations": [[1.0, 2.0]],
        "Moments.plus.observations": [[1.0, 2.0]],
        "RunningDifferences.plus.values": [[1.0, 2.0]],
        "RunningDifferences.suffice.rule": lab.AllTold(),
        "NarrowEnough.suffices.means": np.array([1.0]),
        "NarrowEnough.suffices.half_widths": np.array([1.0]),
        "AllTold.suffices.means": np.array([1.0]),
        "AllTold.suffices.half_widths": np.array([1.0]),
        "Contest.comparison.rows": lab.compare([KNUTH], NOISY, games=3).rows,
        "Contest.run.progress": lambda done, total: None,
        "Store.rows_of.number": 0,
        "GameExperiment.comparisons.rows": lab.run(game_experiment()).rows,
        "RankSumGroups.differ.one": "knuth",
        "RankSumGroups.differ.other": "random",
        "ItemBank.item.name": "c",
        "ItemBank.variable.name": "S",
        "ItemBank.channels.items": ("b", "c"),
        "ItemBank.with_title.title": "t",
        "ItemBank.with_title.source": "s",
    }
    for name in (
        *("MaximalItems", "MaximalCost", "EntropyBelow", "GainBelow", "ProfileCertain"),
        *("SkillsCertain", "StopBy", "Plateau", "SkillsDecided", "AbilityDecided"),
        "DeviationBelow",
    ):
        is_curved = name in ("AbilityDecided", "DeviationBelow")
        found[f"{name}.stop_batch.progress"] = curved if is_curved else batch
        found[f"{name}.stop.belief"] = start if is_curved else adaptive.start_belief(BANK)
        found[f"{name}.stop.asked"] = ()
        found[f"{name}.stop.allowed"] = (curves() if is_curved else BANK).item_names
    found["Blueprint.needed.asked"] = np.zeros((5, 1), dtype=int)
    for name in ("Enemies", "Testlets", "Blueprint", "ContentOrder", "StageItems"):
        found[f"{name}.restrict.allowed"] = ALLOWED
        found[f"{name}.restrict.asked"] = np.zeros((5, 1), dtype=int)
    found["BatchBelief.update.items"] = np.full(5, 2)
    found["BatchBelief.update.responses"] = np.full(5, 1)
    for method in ("masses", "predict", "information"):
        found[f"BatchBelief.{method}.items"] = (1, 2)
    for name in ("Declared", "Limit", "Revealed"):
        found[f"{name}.stops.belief"] = strategies.start_belief(NOISY)
    for kind, parents, n_responses in (
        ("Dina", (RAIN, WET), 2),
        ("Dino", (RAIN, WET), 2),
        ("NoisyAnd", (parent, other), 2),
        ("NoisyOr", (parent, other), 2),
        ("Graded", (parent, other), 3),
        ("Gdina", (RAIN,), 2),
        ("Sequential", (RAIN, WET), 3),
        ("Logistic", (ability,), 2),
        ("GradedResponse", (ability,), 4),
        ("PartialCredit", (ability,), 4),
        ("Nominal", (ability,), 3),
        ("DiBello", (parent, other), 3),
        *((kind, (RAIN,), 2) for kind in ADDITIVE),
        ("Tabulated", (RAIN,), 2),
    ):
        found[f"{kind}.cpd.item"] = Variable.of_integers("answer", range(n_responses))
        found[f"{kind}.cpd.parents"] = parents
    return found


SPECIAL = special()


def ones(belief: Any, items: Any) -> Any:
    """Score every item alike, for one examinee or for many."""
    many = isinstance(belief, adaptive.BatchBelief)
    return np.ones((len(belief), len(items)) if many else len(items))


EXAMPLES: dict[type, Any] = {
    adaptive.ScoredBy: adaptive.ScoredBy(ones),
    adaptive.Sequential: adaptive.Sequential((adaptive.Dina(0.2, 0.1), adaptive.Dina(0.1, 0.1))),
    adaptive.Session: adaptive.Session.start(BANK).answer("a", 1),
    adaptive.SkillBelief: adaptive.start_belief(BANK).update("a", 1),
}
"""Instances whose methods have something to do."""


def methods_of(kind: type) -> Iterator[str]:
    """Yield the names of the methods that users call, inherited ones too."""
    for base in kind.__mro__:
        if not base.__module__.startswith("bnmind."):
            continue
        for name, thing in vars(base).items():
            function = getattr(thing, "__func__", thing)
            is_field = name in getattr(kind, "__dataclass_fields__", ())
            if not name.startswith("_") and inspect.isfunction(function) and not is_field:
                yield name


def of_methods() -> Iterator[Call]:
    """Yield a call of each public method of each public class."""
    for kind in PUBLIC:
        if kind.__module__.split(".")[1] not in ("adaptive", "lab") or issubclass(kind, Enum):
            continue
        example = EXAMPLES.get(kind) or examples_of(kind)[0]
        for name in dict.fromkeys(methods_of(kind)):
            method = getattr(example, name)
            given = {}
            for parameter in inspect.signature(method).parameters:
                special_name = f"{kind.__name__}.{name}.{parameter}"
                given[parameter] = SPECIAL.get(special_name, SAMPLES.get(parameter))
            if given:
                yield Call(f"{kind.__name__}.{name}", method, given)


def of_functions() -> Iterator[Call]:
    """Yield a call of each public function."""
    answers = ANSWERS
    q = adaptive.QMatrix.of([[1, 0], [0, 1], [1, 1]], items=["a", "b", "c"], skills=["S", "T"])
    options = adaptive.LearningOptions(max_iterations=2)
    belief = adaptive.start_belief(BANK)
    ability = adaptive.start_belief(curves())
    maker = lab.CodeMaker(NOISY, (1, 2), np.array([0.5, 0.25, 0.125, 0.5]))
    played = lab.play_game(KNUTH, maker, rng=rng(), ending=lab.Limit(2))
    comparison = lab.compare([KNUTH], NOISY, games=3)
    selectors = {"random": adaptive.RandomItem()}
    stopper = adaptive.MaximalItems(1)
    result = simulated()
    learning = {
        "responses": answers,
        "model": q,
        "gate": adaptive.Dina,
        "skills": adaptive.Saturated(),
        "options": options,
    }
    tests = {
        "selectors": selectors,
        "stopper": stopper,
        "options": adaptive.SimulationOptions(seed=1),
        "progress": lambda done, total: None,
    }
    people = adaptive.Responses.drawn(BANK, 40, seed=1).codes
    many = adaptive.Responses((people > 0).astype(int), BANK.item_names)
    learning_many = {**learning, "responses": many}
    fitted = adaptive.learn(many, q, gate=adaptive.Gdina, options=options)
    smaller = adaptive.learn(many, q, options=options)
    irt, grid = adaptive.IRT_MODELS["2PL"], adaptive.AbilityGrid.normal(n_points=5)
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        *[
            (function, {"belief": ability})
            for function in (
                adaptive.ability_deviation,
                adaptive.expected_ability,
                adaptive.most_likely_ability,
                adaptive.most_probable_ability,
            )
        ],
        (adaptive.beliefs_given, {"bank": BANK, "responses": PEOPLE.codes}),
        (adaptive.classify, {"bank": BANK, "responses": answers, "progress": tests["progress"]}),
        (adaptive.compare_models, {"models": {"a": learned()}}),
        (
            adaptive.compare_structures,
            {
                **{
                    name: value for name, value in learning.items() if name in ("responses", "gate")
                },
                "q_matrix": q,
                "structures": {"x": adaptive.Independent()},
                "options": options,
                "folds": 2,
                "fold_seed": 1,
                "progress": tests["progress"],
            },
        ),
        *(
            (function, {"learned": fitted})
            for function in (
                adaptive.limited_information,
                adaptive.mutual_information,
                adaptive.pair_fit,
            )
        ),
        (
            adaptive.reduced_models,
            {
                "learned": fitted,
                "alpha": 0.1,
                "by_ratio": True,
                "progress": tests["progress"],
            },
        ),
        (
            adaptive.calibrate_items,
            {
                "bank": BANK,
                "responses": adaptive.Responses.of([[1, 0, 1], [0, 1, 0]], items=["a", "b", "c"]),
                "items": ["a"],
                "max_cycles": 1,
                "anew": False,
                "largest_error": 0.1,
            },
        ),
        (
            adaptive.calibrate_online,
            {
                "bank": BANK.with_certainties(
                    {"a": adaptive.TableCertainty(np.ones((2, 2)), (0, 1))}
                ),
                "belief": belief,
                "item": "a",
                "response": 1,
            },
        ),
        (
            adaptive.item_drift,
            {
                "bank": BANK,
                "responses": adaptive.Responses.of([[1, 0, 1], [0, 1, 0]], items=["a", "b", "c"]),
                "rng": rng(),
                "pilot": ["a"],
                "shift": 0.5,
                "false_alarm": 0.1,
            },
        ),
        (adaptive.skill_intervals, {"belief": belief, "confidence": 0.9}),
        (adaptive.skill_tree, {"learned": fitted, "root": fitted.bank.skills[0]}),
        (adaptive.validate_qmatrix, {"learned": fitted, "cutoff": 0.9}),
        (
            adaptive.judge,
            {
                "learned": fitted,
                "cutoff": 0.9,
                "alpha": 0.1,
                "groups": adaptive.FunctioningOptions(),
                "runner": lambda what, compute: compute(lambda done, total: None),
            },
        ),
        (adaptive.likelihood_ratio, {"smaller": smaller, "larger": fitted}),
        *(
            (function, {**learning_many, **groups, "progress": tests["progress"]})
            for function, groups in (
                (adaptive.learn_groups, {"groups": [0, 1] * 20}),
                (
                    adaptive.item_functioning,
                    {
                        "groups": [0, 1] * 20,
                        "testing": adaptive.FunctioningOptions(items=["a"], anchors=["b"]),
                    },
                ),
            )
        ),
        (
            adaptive.learn_irt,
            {
                "responses": many,
                "model": irt,
                "grid": grid,
                "options": options,
                "title": "t",
                "source": "s",
                "progress": tests["progress"],
            },
        ),
        (adaptive.cross_validate, {**learning, "folds": 2, "fold_seed": 1}),
        (default_measures, {"bank": BANK, "truth": True}),
        (
            adaptive.describe_bank,
            {
                "bank": BANK,
                "items": pd.DataFrame({"item": BANK.item_names, "text": "?"}),
                "skills": pd.DataFrame({"skill": BANK.skills, "label": "?"}),
            },
        ),
        (adaptive.with_prior, {"bank": BANK, "prior": adaptive.Independent(0.3)}),
        (adaptive.person_fit, {"belief": belief.update("a", 1), "items": ["a"]}),
        (fold_numbers, {"n_examinees": 5, "folds": 2, "seed": 1}),
        (adaptive.selector_by_name, {"text": "randomesque:2"}),
        (adaptive.stopper_by_names, {"texts": ["items:3+entropy:1", "profile:0.9"]}),
        (
            adaptive.irt_bank,
            {
                "response_models": [[1.0, 0.0]],
                "grid": adaptive.AbilityGrid.normal(n_points=5),
                "items": ["a"],
                "ability": "x",
            },
        ),
        (adaptive.item_fit, {"learned": learned()}),
        (
            adaptive.learn,
            {**learning, "title": "t", "source": "s", "progress": lambda done, total: None},
        ),
        (adaptive.predictive_check, {"learned": learned(), "n_drawn": 2, "seed": 1}),
        (rank_items, {"belief": belief, "items": ["a"]}),
        (response_joints, {"belief": belief, "skills": ["S"], "items": ["a"]}),
        (
            adaptive.replay,
            {
                "learn": lambda others: BANK,
                "responses": answers,
                **tests,
                "folds": 2,
                "fold_seed": 1,
            },
        ),
        (
            adaptive.evaluate_design,
            {
                "design": adaptive.Design(BANK, stopper=stopper),
                "min_probability": 0.01,
                "max_beliefs": 5,
                "progress": tests["progress"],
            },
        ),
        (
            adaptive.design_tree,
            {"design": adaptive.Design(BANK, stopper=stopper), "max_nodes": 500},
        ),
        (adaptive.aim_by_name, {"text": "cost:0.9"}),
        (adaptive.cost_of_certainty, {"probability": 0.9, "penalty": 20.0}),
        (
            adaptive.optimal_test_tree,
            {
                "bank": BANK,
                "depth": 1,
                "aim": adaptive.aim_by_name("profile"),
                "price": 0.1,
                "max_beliefs": 9,
                "until": lambda known: True,
            },
        ),
        (
            adaptive.fixed_test,
            {
                "bank": BANK,
                "length": 1,
                "aim": adaptive.aim_by_name("profile"),
                "price": 0.1,
                "until": lambda lists, value: True,
            },
        ),
        (
            adaptive.simulate,
            {"bank": BANK, "examinees": PEOPLE, **tests, "eligible": ALLOWED},
        ),
        (
            adaptive.simulate_designs,
            {
                "designs": {"x": adaptive.Design(BANK, stopper=stopper)},
                "examinees": PEOPLE,
                "options": tests["options"],
                "progress": tests["progress"],
            },
        ),
        (
            adaptive.calibrated,
            {
                "design": adaptive.Design(
                    BANK,
                    stopper=stopper,
                    eligibility=adaptive.ItemEligibility.start(BANK, 0.5),
                ),
                "examinees": PEOPLE,
                "options": tests["options"],
            },
        ),
        (adaptive.coefficients, {"learned": learned(), "link": LOGIT}),
        (adaptive.start_belief, {"bank": BANK}),
        (adaptive.start_beliefs, {"bank": BANK, "n_examinees": 2}),
        (lab.assumed_channel, {"real": NOISY, "assumed": NOISY, "ending": lab.Limit(2)}),
        (
            lab.compare,
            {
                "strategies": [KNUTH],
                "channel": NOISY,
                "games": 2,
                "seed": 1,
                "max_guesses": 3,
                "assumed": NOISY,
                "progress": lambda done, total: None,
            },
        ),
        (lab.comparison_csv, {"comparison": comparison}),
        (lab.comparison_groups, {"comparison": comparison, "significance": 0.1}),
        (
            lab.compare_until,
            {
                "contest": lab.Contest((KNUTH, strategies.RandomCode()), NOISY, games=2),
                "rule": lab.AllTold(),
                "confidence": 0.9,
                "progress": lambda done, total: None,
            },
        ),
        (
            lab.is_enough,
            {
                "differences": lab.paired_differences({"a": [1.0], "b": [2.0]}),
                "rule": lab.AllTold(),
            },
        ),
        (lab.holm, {"p_values": [0.1, 0.2]}),
        (
            lab.paired_differences,
            {
                "values": {"a": [1.0, 2.0], "b": [2.0, 2.0]},
                "confidence": 0.9,
                "interval": lab.NormalInterval(),
            },
        ),
        (lab.signed_rank_p_value, {"differences": [1.0, -2.0]}),
        (lab.rank_sum_groups, {"samples": {"a": [1.0, 2.0]}, "significance": 0.1}),
        (
            lab.game_settings,
            {
                "channels": [NOISY],
                "players": [lab.Player(KNUTH)],
                "priors": [None],
                "endings": [lab.Limit(2)],
            },
        ),
        (
            lab.run,
            {
                "experiment": game_experiment(),
                "workers": 1,
                "progress": lambda done, total: None,
            },
        ),
        (lab.experiment_to_json, {"experiment": game_experiment()}),
        (lab.experiment_to_toml, {"experiment": game_experiment()}),
        (
            lab.experiment_from_text,
            {"text": lab.experiment_to_toml(game_experiment()), "directory": Path("nowhere")},
        ),
        (lab.parse_ending, {"text": "declared:0.9", "limit": 5}),
        (
            lab.play_game,
            {
                "strategy": KNUTH,
                "code_maker": maker,
                "ending": lab.Limit(2),
                "rng": rng(),
                "assumed": NOISY,
            },
        ),
        (
            lab.curve_of,
            {"name": "knuth", "samples": {0.0: [3.0, 4.0]}, "confidence": 0.9},
        ),
        (
            lab.plot_costs,
            {"curves": [CURVE], "x_label": "codes", "y_label": "s", "title": "t"},
        ),
        (
            lab.plot_curves,
            {"curves": [CURVE], "x_label": "noise", "y_label": "guesses", "title": "t"},
        ),
        (
            lab.plot_differences,
            {
                "differences": lab.paired_differences({"a": [1.0], "b": [2.0]}),
                "unit": "guesses",
                "title": "t",
            },
        ),
        (
            lab.plot_distributions,
            {"values": {"a": [1, 2]}, "x_label": "guesses", "title": "t"},
        ),
        (lab.plot_entropies, {"games": {"a": [[1.0]]}, "title": "t", "turns": 1}),
        (lab.style_of, {"name": "knuth"}),
        (lab.plot_attributes, {"result": result}),
        (lab.plot_exposure, {"result": result}),
        (lab.plot_lengths, {"comparison": comparison}),
        (lab.png, {"figure": lab.plot_lengths(comparison)}),
        (lab.svg, {"figure": lab.plot_lengths(comparison)}),
        (lab.plot_measure, {"result": result, "measure": "accuracy"}),
        (lab.plot_measures, {"result": result}),
        (lab.plot_test_lengths, {"result": result}),
        (lab.replay, {"transcript": played, "strategy": KNUTH}),
        (lab.strategy_rng, {"seed": 1}),
        (lab.belief_entropies, {"transcript": played}),
        (lab.transcript_to_json, {"transcript": played}),
        (lab.transcript_from_json, {"text": lab.transcript_to_json(played)}),
    ]
    for function, given in calls:
        yield Call(function.__name__, function, given)


def of_constructors() -> Iterator[Call]:
    """Yield a call of each constructor, with what an example holds."""
    for kind in PUBLIC:
        if kind.__module__.split(".")[1] not in ("adaptive", "lab") or issubclass(kind, Enum):
            continue
        example = examples_of(kind)[0]
        if dataclasses.is_dataclass(example):
            names = [field.name for field in dataclasses.fields(example) if field.init]
        else:
            names = list(example._fields)  # type: ignore[attr-defined]
        given = {name: getattr(example, name) for name in names}
        if given:
            yield Call(kind.__name__, kind, given)


LATE = ("scores", "batch_scores", "masses", "information", "channels", "n_configurations", "stop")
"""Methods of inner loops: they tell of a wrong argument only if it keeps them from answering."""

CALLED = {"given": "response", "guess": "code", "secret": "code", "text": "transcript"}
"""How messages call an argument, if not by its name."""

YOURS = ("gate", "make", "learn", "measure", "progress", "order", "runner", "until")
"""Functions of the user's own, whose errors are the user's."""

CALLS = [*of_functions(), *of_methods(), *of_constructors()]


NO_FILE = (
    *("Session.start", "Session.load", "Session.save", "Responses.from_csv"),
    "Store.rows_of",
)
"""What is called with the name of a file that there is not."""


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_the_call_works(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if call.name in NO_FILE:
        with pytest.raises(BnmindError, match="nowhere"):
            called(call, {})
    else:
        called(call, {})


def test_every_public_function_is_called() -> None:
    made = {call.function for call in CALLS}
    with_files = {"read_bank", "read_design", "read_qmatrix", "write_bank"}
    with_files |= {
        "read_answers",
        "read_item_tree",
        "read_prior",
        "read_profiles",
        "write_item_tree",
    }
    with_files |= {"save_comparison", "save_simulation", "write_files"}
    with_files |= {"read_experiment", "write_experiment", "read_store", "run_into"}
    missing = {
        name
        for module in (adaptive, lab)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) and getattr(module, name) not in made
    }
    assert missing == with_files


@pytest.mark.parametrize("value", [None, 3, b"x", [], {}, object(), 1.5, Path])
def test_files_are_named_by_paths(value: Any, tmp_path: Path) -> None:
    for call in (
        lambda: adaptive.read_bank(value),
        lambda: adaptive.read_qmatrix(value),
        lambda: adaptive.read_item_tree(value, BANK),
        lambda: adaptive.write_item_tree(adaptive.fixed_test(BANK, 1).tree, value),
        lambda: adaptive.read_prior(value, BANK),
        lambda: adaptive.read_profiles(value, BANK, ["x"]),
        lambda: adaptive.read_design(value, BANK),
        lambda: adaptive.write_bank(BANK, value),
        lambda: adaptive.write_bank(value, tmp_path / "x.json"),
        lambda: adaptive.Responses.from_csv(value),
        lambda: adaptive.Session.start(BANK, path=b"" if value is None else value),  # type: ignore[arg-type]
        lambda: adaptive.Session.load(value, BANK),
        lambda: adaptive.Session.start(BANK).save(value),
        lambda: lab.save_simulation(simulated(), value),
        lambda: lab.save_simulation(value, tmp_path),
        lambda: lab.save_comparison(value, tmp_path),
        lambda: lab.read_experiment(value),
        lambda: lab.write_experiment(value, tmp_path / "x.toml"),
        lambda: lab.write_experiment(game_experiment(), value),
        lambda: lab.read_store(value),
        lambda: lab.run_into(game_experiment(), value),
        lambda: lab.run_into(value, tmp_path),
        lambda: lab.write_files(value, {}),
        lambda: lab.write_files(tmp_path, [value]),  # type: ignore[arg-type]
    ):
        with pytest.raises(BnmindError):
            call()


def allows(function: Any) -> dict[str, Any]:
    """Return what the signature of a function or the fields of a class allow."""
    if inspect.isclass(function) and dataclasses.is_dataclass(function):
        return {name: kind for name, kind, _ in _converters(function)[0]}
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(plain, types.FunctionType):
        return {}
    return _kinds_of(plain)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_misuse_is_reported_by_the_name_of_the_argument(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    allowed = allows(call.function)
    raw = []
    for name in call.arguments:
        for what, value in junk().items():
            fits = name not in allowed or what == "a generator" or allowed[name].fits(value)
            if name in YOURS and callable(value):
                continue
            if call.name == "Item" and name == "name" and type(value) is int:
                continue  # the number of a column is a name, kept as text
            try:
                called(call, {name: value})
                if not fits and call.name.rpartition(".")[2] not in LATE:
                    raw.append(f"{name} as {what}: accepted")
            except BnmindError as fault:
                if not fits and not any(n in str(fault) for n in (name, CALLED.get(name, name))):
                    raw.append(f"{name} as {what}: {fault}")
            except Exception as fault:
                raw.append(f"{name} as {what}: {type(fault).__name__}: {fault}")
    assert raw == []
