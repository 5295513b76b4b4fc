"""Whatever is given to a public constructor, function or method: it works, or says plainly why not.

Each argument of a call that works is replaced in turn by things that people give by mistake, and
by things that nobody would: the outcome is an answer, or an error of ours.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnmind.dynamic as dynamic
import bnmind.fitting as fitting
import bnmind.information as information
import bnmind.junction as junction
import bnmind.mastermind as mastermind
import bnmind.pgm as pgm
import bnmind.pgm.competition as competition
import bnmind.pgm.files as files
import bnmind.questions as questions
import bnmind.rank_one as rank_one
import bnmind.sensitivity as sensitivity
import bnmind.views as views
from bnmind.errors import BnmindError
from bnmind.mastermind import Channel, Reply
from bnmind.pgm import Factor, FactorModel, Variable
from bnmind.pgm.formats import from_pgmpy
from bnmind.questions.dialogue import SavedDialogue, dialogue_to_json, fingerprint
from bnmind.questions.event_log import LogSubject
from tests.dynamic.test_files import pgmpy_weather
from tests.examples import (
    BOARD,
    KEPT,
    PUBLIC,
    RAIN,
    TURN,
    WET,
    dialogue,
    dynamic_network,
    examples_of,
    network,
    plan,
    utilities,
)

PACKAGES = (
    *("pgm", "pgm.files", "rank_one", "junction", "views", "questions"),
    *("information", "mastermind", "dynamic", "sensitivity"),
)

ANALYSIS = sensitivity.analyze(network(), "rain", {"count": "1"})
PROBLEM = questions.TreeProblem(
    prior=np.full(2, 0.5),
    channels=np.array([[[0.9, 0.1], [0.2, 0.8]]]),
    objective=questions.ExpectedEntropy(),
    depth=1,
)
WEIGHTS = sensitivity.weight_of_evidence(network(), "rain", {"count": "1"})

JUNK: dict[str, Any] = {
    "None": None,
    "a number": 3,
    "a negative number": -1,
    "a fraction": 1.5,
    "NaN": float("nan"),
    "a complex number": 1j,
    "a huge number": 10**30,
    "true": True,
    "a word": "junk",
    "no word": "",
    "bytes": b"junk",
    "an empty list": [],
    "a list of words": ["junk"],
    "a list of None": [None],
    "a ragged list": [[1, 2], [3]],
    "a list of lists of words": [["junk"]],
    "a set": {1},
    "an empty mapping": {},
    "a mapping": {"junk": 1},
    "a mapping of a variable": {"rain": "junk"},
    "a mapping by number": {1: None},
    "an object": object(),
    "a class": int,
    "a class of ours": Variable,
    "a function": len,
    "an array": np.ones((2, 2)),
    "an array of words": np.array(["junk"]),
    "an array of nothing": np.array([]),
    "a number of numpy": np.float64(0.5),
    "a series": pd.Series({"junk": 1}),
    "a data frame": pd.DataFrame({"junk": [1]}),
    "a generator": iter([1]),
    "a variable": RAIN,
    "a network": network(),
    "a board": BOARD,
}


def skill_posterior() -> Any:
    """Return what a session says of the skills, easily given where a network's is expected."""
    return {"S": {"0": 0.5, "1": 0.5}}


def junk() -> dict[str, Any]:
    made = {**JUNK, "a plan": plan(), "a posterior of skills": skill_posterior()}
    # Each can be used once only.
    made["a generator"] = iter([1])
    return made


@dataclasses.dataclass(frozen=True)
class Call:
    """A call that works."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


def saved_dialogue() -> SavedDialogue:
    """Return the example dialogue as it is read from a file."""
    return SavedDialogue(
        network=LogSubject(fingerprint=fingerprint(dialogue().inquiry.engine)),
        about=("rain",),
        events=dialogue().events,
    )


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def of_functions() -> Iterator[Call]:
    """Yield a call of each public function."""
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (pgm.noisy_or, {"variable": RAIN, "parents": (NO,), "probabilities": [0.5], "leak": 0.1}),
        (pgm.noisy_and, {"variable": RAIN, "parents": (NO,), "probabilities": [0.5], "leak": 0.1}),
        (from_pgmpy, {"model": network().to_pgmpy()}),
        (
            rank_one.chain_form,
            {"cpd": COUNT, "states": {"rain": [0, 1]}, "name": "c", "max_cells": 99},
        ),
        (
            rank_one.factorize,
            {"model": network(), "variable": "count", "nodes": "chebyshev", "name": "B"},
        ),
        (
            rank_one.rank_one_form,
            {"cpd": COUNT, "nodes": "integers", "states": {"rain": [0, 1]}, "name": "B"},
        ),
        (fitting.fit, {**LEARNING, "options": FEW_STEPS}),
        (fitting.EM.of, LEARNING),
        (dynamic.previous, {"variable": RAIN}),
        (
            dynamic.fit_dynamic,
            {
                "network": STEADY,
                **SEQUENCES,
                "prior": fitting.BDeu(1),
                "fixed": ["wet"],
                "options": FEW_STEPS,
            },
        ),
        (
            dynamic.compile_dynamic,
            {"network": OVER_TIME, "observed": ["wet"], "targets": ["rain"], "limits": LIMITS},
        ),
        (
            fitting.network_of_structure,
            {"structure": [("rain", "wet")], "cases": {"wet": [0, 1]}, "hidden": {"rain": 2}},
        ),
        (
            junction.differentiate,
            {
                "model": network(),
                "target": "rain",
                "evidence": {"count": "1"},
                "limits": junction.Limits(),
                "relevant_only": True,
            },
        ),
        (
            sensitivity.analyze,
            {
                "network": network(),
                "target": "rain",
                "evidence": {"count": "1"},
                "limits": junction.Limits(),
            },
        ),
        (
            sensitivity.weight_of_evidence,
            {
                "model": network(),
                "target": "rain",
                "evidence": {"count": "1"},
                "state": "yes",
                "limits": junction.Limits(),
            },
        ),
        (
            sensitivity.explain_conclusion,
            {
                "model": network(),
                "target": "rain",
                "evidence": {"count": "1"},
                "state": "yes",
                "change": 0.2,
                "parameters": 3,
            },
        ),
        (sensitivity.cd_distance, {"before": 0.2, "after": 0.5}),
        (
            sensitivity.Parameter("rain", "yes").changed,
            {"network": network(), "value": 0.5},
        ),
        (WEIGHTS.plot, {"title": "a"}),
        (ANALYSIS.plot, {"state": "yes", "n": 3, "title": "a"}),
        (ANALYSIS.function(sensitivity.Parameter("rain", "yes")).plot, {"title": "a"}),
        (
            junction.compile_model,
            {
                "model": network(),
                "memory": 10**6,
                "order": junction.MinFill(),
                "limits": junction.Limits(),
            },
        ),
        (
            questions.rank_questions,
            {
                "network": network(),
                "about": ["rain"],
                "among": ["wet", "slip"],
                "evidence": {"count": "1"},
                "costs": {"wet": 2.0},
                "measure": "marginals",
                "score": "less-cost:0.1",
                "limits": junction.Limits(),
            },
        ),
        (
            questions.value_of_information,
            {
                "network": network(),
                "utilities": utilities(),
                "about": ["rain"],
                "among": ["wet", "slip"],
                "evidence": {"count": "1"},
                "costs": {"wet": 2.0},
                "limits": junction.Limits(),
            },
        ),
        (
            questions.doubt_answers,
            {
                "network": network(),
                "answers": {"wet": "yes"},
                "about": ["rain"],
                "evidence": {"count": "1"},
                "limits": junction.Limits(),
            },
        ),
        (questions.best_tree, {"problem": PROBLEM, "max_beliefs": 9}),
        (questions.best_fixed_list, {"problem": PROBLEM}),
        (dialogue_to_json, {"dialogue": dialogue(), "options": {"a": "b"}}),
        (
            questions.resumed_dialogue,
            {"saved": saved_dialogue(), "inquiry": dialogue().inquiry, "path": "talk.json"},
        ),
        (
            junction.compile_model(network()).plan,
            {"targets": [["rain"]], "evidence": ["count"], "soft": ["wet"]},
        ),
        (dialogue().answer, {"question": "fall", "answer": "no", "at": "noon"}),
        (dialogue().change, {"question": "wet", "answer": "no", "at": "noon"}),
        (dialogue().skip, {"question": "fall", "at": "noon"}),
        (dialogue().undo, {"at": "noon"}),
        (dialogue().why, {"question": "fall"}),
        (dialogue().stop_reason, {"stoppers": ["certainty:0.9"]}),
        (
            questions.Inquiry.of,
            {
                "network": network(),
                "about": ["rain"],
                "among": ["wet"],
                "evidence": {"count": "1"},
                "costs": {"wet": 2.0},
                "measure": "marginals",
                "score": "information",
            },
        ),
        (
            junction.compile_plan,
            {
                "model": network(),
                "evidence": ["count"],
                "soft": ["wet"],
                "targets": [["rain"]],
                "inputs": {"kept": ["slip", "rain"]},
                "order": junction.MinFill(),
                "limits": junction.Limits(10**8, 10**8, only_restrictions=True),
                "factorize": True,
            },
        ),
        (
            junction.posterior,
            {
                "model": network(),
                "evidence": {"count": "1", "wet": [0.5, 0.5, 1]},
                "targets": ["rain", ["slip", "fall"]],
                "order": junction.MinFill(),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.compile_explanation,
            {
                "model": network(),
                "evidence": ["count"],
                "soft": ["wet"],
                "order": junction.MinFill(),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.compile_sampling,
            {
                "model": network(),
                "evidence": ["count"],
                "soft": ["wet"],
                "order": junction.MinFill(),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.likelihood_weighting,
            {
                "network": network(),
                "evidence": {"wet": "no"},
                "targets": ["rain"],
                "n_samples": 100,
                "rng": _rng(),
                "limits": junction.Limits(10**5, 10**5),
            },
        ),
        (
            junction.compile_sliced,
            {
                "model": network(),
                "evidence": ["count"],
                "known": {"slip": "no"},
                "soft": ["wet"],
                "targets": [["rain"]],
                "order": junction.MinFill(),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.compile_search,
            {
                "model": network(),
                "evidence": {"rain": "no"},
                "targets": ["wet"],
                "order": junction.MinFill(),
                "limits": junction.Limits(),
            },
        ),
        (
            junction.predict,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "targets": ["rain"],
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.predict_proba,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "targets": ["rain"],
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.log_likelihood,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.impute,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.complete,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (
            junction.sample_missing,
            {
                "model": network(),
                "cases": pd.DataFrame({"wet": ["no", None]}),
                "rng": _rng(),
                "draws": 2,
                "limits": junction.Limits(10**8, 10**8),
            },
        ),
        (junction.families, {"network": network()}),
        (
            junction.junction_tree,
            {"model": network(), "without": ["count"], "order": junction.MinFill()},
        ),
        (
            views.belief_view,
            {"network": network(), "marginals": {"rain": [0.5, 0.5]}, "evidence": {"wet": "no"}},
        ),
        (views.network_view, {"network": network()}),
        (views.clickable, {"network": NETWORK, "evidence": {"rain": "no"}, "max_states": 3}),
        (views.junction_tree_view, {"tree": junction.junction_tree(NETWORK)}),
        (views.side_by_side, {"first": VIEW, "second": VIEW, "titles": ("a", "b")}),
        (views.lay_out, {"sizes": [(9.0, 5.0)] * 2, "arcs": [(0, 1)], "spacing": views.Spacing()}),
        (information.entropy, {"probabilities": [0.5, 0.5], "axis": 0}),
        (
            information.information,
            {"masses": [[0.5, 0.5]], "channel": np.eye(2), "noise": [0.0, 0.0]},
        ),
        (information.tied_best, {"scores": [1.0, 2.0], "tolerance": 0.1}),
        (
            information.choose_question,
            {
                "masses": [[0.5, 0.5]],
                "channel": np.eye(2),
                "preference": [1.0],
                "tolerance": 0.1,
            },
        ),
        (
            information.choose_by_information,
            {"scores": [1.0, 2.0], "preference": [0.5, 0.5], "tolerance": 0.1},
        ),
        (
            mastermind.belief_plan,
            {"channel": NOISY, "factorized": True, "order": junction.MinFill()},
        ),
        (mastermind.evidence_of_guess, {"guess": [1, 2]}),
        (mastermind.format_history, {"board": BOARD, "turns": [TURN]}),
        (mastermind.guess_classes, {"board": BOARD, "guesses": [(1, 2)]}),
        (mastermind.impossible_history, {"channel": NOISY, "history": [TURN]}),
        (mastermind.misreport_probabilities, {"codes": UNIFORM, "history": [TURN]}),
        (
            mastermind.node_beliefs,
            {
                "channel": NOISY,
                "guess": [1, 2],
                "codes": BOARD.codes,
                "weights": UNIFORM.probabilities,
            },
        ),
        (mastermind.parse_history, {"board": BOARD, "text": "12 1b0w"}),
        (mastermind.parse_noise, {"board": BOARD, "text": "false:0.1"}),
        (mastermind.parse_prior, {"board": BOARD, "text": "two-color"}),
        (
            mastermind.plan_masses,
            {
                "board": BOARD,
                "belief": UNIFORM.probabilities,
                "history": [TURN],
                "method": mastermind.Method.BRUTE_FORCE,
                "once": True,
                "every_guess": True,
            },
        ),
        (mastermind.reduced_to_guess, {"board": BOARD, "guess": [1, 2], "channel": NOISY}),
        (mastermind.replies_to, {"board": BOARD, "guess": [1, 2]}),
        (mastermind.reply, {"guess": [1, 2], "code": [1, 3]}),
        (
            mastermind.reply_masses,
            {"board": BOARD, "belief": UNIFORM.probabilities, "guesses": np.array([0])},
        ),
        (
            mastermind.stage,
            {
                "board": BOARD,
                "number": 3,
                "guess": [1, 2],
                "arc": True,
                "channel": NOISY,
                "nodes": "unity",
                "order": junction.MinFill(),
            },
        ),
        (
            mastermind.stage_figure,
            {"stage": STAGE, "beliefs": {"H_1": np.full(3, 1 / 3)}, "observed": ["P"]},
        ),
        (mastermind.tree_figure, {"stage": STAGE}),
        (
            mastermind.vomlel_network,
            {
                "board": BOARD,
                "channel": NOISY,
                "prior": np.full((2, 3), 1 / 3),
                "arc": True,
            },
        ),
    ]
    for function, arguments in calls:
        yield Call(function.__name__, function, arguments)


NO = Variable("no", ("a", "b"))
LIMITS = junction.Limits()
OVER_TIME = dynamic_network()
STEADY = dynamic.DynamicNetwork(OVER_TIME.first, OVER_TIME.transition)
TRACKER = dynamic.compile_dynamic(OVER_TIME)
SEQUENCES: dict[str, Any] = {
    "cases": {"who": ["a", "a", "b"], "rain": ["no", None, "no"]},
    "sequence": "who",
    "likelihoods": {"wet": np.ones((3, 3))},
}
LEARNING: dict[str, Any] = {
    "network": network(),
    "cases": {name: ["no", None, "yes"] for name in ("rain", "wet", "slip", "fall")},
    "prior": fitting.BDeu(1),
    "fixed": ["rain"],
    "tied": (),
    "hidden": ["count"],
}
FEW_STEPS = fitting.FitOptions(max_iterations=3, starts=2)
EM = fitting.EM.of(**LEARNING)
COUNT = network().cpd("count")
NOISY = Channel.false_reply(BOARD, 0.2)
UNIFORM = mastermind.CodeDistribution.uniform(BOARD)
VIEW = views.belief_view(network(), {"rain": [0.5, 0.5]})
SPARSE = pgm.SparseFactor.from_factor(Factor((RAIN, WET), np.ones((2, 3))))
PAIR = Factor((RAIN, WET), np.ones((2, 3)))
FIRST = network().cpd("wet")
NETWORK = network()
MODEL = FactorModel(network().potentials)
STAGE = mastermind.stage(BOARD, 3, guess=(1, 2), channel=NOISY)
BELIEF = mastermind.TableBelief.start(NOISY)
FEW_SAMPLES = mastermind.SamplerOptions(islands=2, size=4, steps=2)
SAMPLED = mastermind.SampledBelief.start(NOISY, options=FEW_SAMPLES)


def of_methods() -> Iterator[Call]:
    """Yield calls of the methods that users call."""
    answered = plan().run({"count": "1"}, KEPT)
    evidence = {"count": "1", "wet": [0.5, 0.5, 1]}
    cases = {"count": [0, 1, 2], "wet": [0, 1, -1]}
    explanation = junction.compile_explanation(NETWORK, evidence=["count"])
    search = junction.compile_search(NETWORK)
    sampling = junction.compile_sampling(NETWORK, evidence=["count"])
    scopes = [["a", "b"], ["b", "c"]]
    graph = junction.InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, scopes)
    vanishing = mastermind.VanishingBelief.start(BOARD)
    tree = mastermind.TreeBelief.start(NOISY)
    table = {(Reply(1, 0), Reply(0, 2)): 3.0}
    states = {"rain": [0, 1], "wet": [0, 1, 2]}
    functions = [cpd for cpd in NETWORK.cpds if cpd.parents]
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (Variable.of_integers, {"name": "n", "values": range(3)}),
        (RAIN.index, {"state": "yes"}),
        (RAIN.keep, {"positions": [0]}),
        (EM.start, {"rng": _rng()}),
        (EM.step, {"state": EM.start()}),
        (EM.network, {"state": EM.start()}),
        (TRACKER.step, {"state": TRACKER.start(), "findings": {"wet": "damp"}}),
        (TRACKER.predict, {"state": TRACKER.start(), "slices": 2}),
        (TRACKER.filter, SEQUENCES),
        (TRACKER.smooth, SEQUENCES),
        (TRACKER.most_probable, SEQUENCES),
        (TRACKER.log_likelihood, SEQUENCES),
        (OVER_TIME.variable, {"name": "rain"}),
        (OVER_TIME.cpd, {"name": "rain", "number": 1}),
        (OVER_TIME.unroll, {"slices": 2}),
        (
            dynamic.DynamicNetwork.from_networks,
            {"first": OVER_TIME.first, "transition": OVER_TIME.two_slices, "varying": {}},
        ),
        (dynamic.DynamicNetwork.from_pgmpy, {"model": pgmpy_weather()}),
        (fitting.BDeu(2).pseudo_counts, {"variable": RAIN, "parents": (WET,)}),
        (PAIR.axis, {"name": "rain"}),
        (PAIR.transpose, {"names": ["wet", "rain"]}),
        (PAIR.sum_to, {"names": ["wet"]}),
        (PAIR.select, {"evidence": {"wet": 1}}),
        (PAIR.product, {"other": PAIR}),
        (PAIR.isclose, {"other": PAIR, "atol": 0.1}),
        (pgm.SparseFactor.from_factor, {"factor": PAIR}),
        (pgm.Addition.of, {"sizes": [2, 3], "signs": [1, -1]}),
        (pgm.Addition.counting, {"sizes": [2, 3], "states": [[1], [0, 2]]}),
        (pgm.Restricted.of, {"function": pgm.Maximum(), "states": [[0, 1], [1]]}),
        (pgm.FunctionalCPD.sum_of, {"name": "s", "parents": (RAIN, NO), "signs": [1, -1]}),
        (MODEL.variable, {"name": "rain"}),
        (NETWORK.variable, {"name": "rain"}),
        (NETWORK.cpd, {"name": "rain"}),
        (NETWORK.without, {"names": ["count"]}),
        (NETWORK.given, {"evidence": {"rain": "yes"}}),
        (NETWORK.restrict, {"states": {"wet": [0, 1, 2]}}),
        (NETWORK.to_pgmpy, {"max_cells": 10**6}),
        (pgm.Network.from_pgmpy, {"model": NETWORK.to_pgmpy()}),
        (pgm.FactorModel.from_pgmpy, {"model": FactorModel((PAIR,)).to_pgmpy()}),
        (pgm.Network.from_networkx, {"graph": NETWORK.to_networkx()}),
        (FactorModel((PAIR,)).to_pgmpy, {"max_cells": 10**6}),
        (NETWORK.parents, {"name": "wet"}),
        (NETWORK.children, {"name": "rain"}),
        (NETWORK.markov_blanket, {"name": "rain"}),
        (NETWORK.ancestors, {"names": ["wet"]}),
        (NETWORK.descendants, {"names": "rain"}),
        (NETWORK.neighborhood, {"names": "rain", "distance": 2}),
        (NETWORK.relevant, {"names": "rain", "given": ["wet"]}),
        (NETWORK.d_connected, {"names": "rain", "given": ["wet"]}),
        (NETWORK.is_d_separated, {"first": "rain", "second": ["count"], "given": ["wet"]}),
        *[(cpd.to_factor, {"max_cells": 10**6}) for cpd in functions],
        *[(cpd.to_tabular, {"max_cells": 10**6}) for cpd in functions],
        *[(cpd.restrict, {"states": states}) for cpd in functions],
        *[(cpd.table_on, {"states": [range(v.n_states) for v in cpd.scope]}) for cpd in functions],
        (rank_one.Terms.constant, {"child": [0.5, 0.5], "sizes": [2, 3]}),
        (plan().run, {"evidence": evidence, "inputs": KEPT}),
        (plan().is_possible, {"evidence": evidence, "inputs": KEPT}),
        (plan().restrict, {"evidence": {"count": "1"}, "inputs": KEPT}),
        (plan().batch_memory, {"n_cases": 3}),
        (
            plan().run_batch,
            {
                "cases": cases,
                "inputs": KEPT,
                "max_bytes": 10**9,
                "allow_impossible": True,
            },
        ),
        (answered.joint, {"0": "rain"}),
        (explanation.run, {"evidence": {"count": "1"}}),
        (explanation.best, {"count": 2, "evidence": {"count": "1"}}),
        (search.run, {"max_nodes": 9, "seconds": 1.0}),
        (search.best, {"count": 2, "max_nodes": 9, "seconds": 1.0}),
        (search.given, {"case": {"count": "1"}}),
        (sampling.run, {"evidence": {"count": "1"}, "n_samples": 2, "rng": _rng()}),
        (sampling.run({"count": "1"}, n_samples=2, rng=_rng()).frequencies, {"0": "rain"}),
        (
            junction.InteractionGraph.from_scopes,
            {"sizes": {"a": 2, "b": 3}, "scopes": [["a", "b"]]},
        ),
        (junction.JunctionTree.from_order, {"graph": graph, "order": junction.MinFill()(graph)}),
        *[
            (finder, {"graph": graph})
            for finder in (
                junction.MinFill(),
                junction.MinWeight(),
                junction.WeightedMinFill(),
                junction.BestOrder(),
                junction.ExactOrder(),
                junction.Portfolio(),
                junction.TreeAnnealing(rounds=1),
                junction.RandomizedGreedy(),
                junction.GivenOrder(("a", "b", "c")),
            )
        ],
        (VIEW.svg, {"max_states": 4}),
        (VIEW.text, {"width": 60, "names": ["rain"]}),
        (views.network_view(NETWORK).svg, {"max_states": 4, "names": ["rain"]}),
        (views.network_view(NETWORK).text, {"width": 60}),
        (views.side_by_side(VIEW, VIEW).text, {"width": 60, "names": ["rain"]}),
        (BOARD.index, {"code": (1, 2)}),
        (BOARD.code, {"index": 2}),
        (BOARD.checked, {"code": (1, 2)}),
        (BOARD.parse, {"text": "12"}),
        (BOARD.format, {"code": (1, 2)}),
        (Reply.of, {"given": (1, 0)}),
        (Reply.parse, {"text": "1b0w", "pegs": 2}),
        (Channel.exact, {"board": BOARD}),
        (
            Channel.independent,
            {"board": BOARD, "black": np.eye(3), "white": np.eye(3), "name": "x"},
        ),
        (Channel.independent_error, {"board": BOARD, "p": 0.1}),
        (Channel.false_reply, {"board": BOARD, "p": 0.1}),
        (Channel.from_counts, {"board": BOARD, "counts": table, "prior": 0.5, "name": "x"}),
        (
            Channel.from_probabilities,
            {
                "board": BOARD,
                "probabilities": {(r, r): 1.0 for r in BOARD.true_replies},
                "name": "x",
            },
        ),
        (NOISY.report_index, {"reply": Reply(1, 0)}),
        (NOISY.likelihood, {"report": Reply(1, 0)}),
        (NOISY.draw, {"true_reply_index": 1, "uniform": 0.5}),
        (mastermind.CodeDistribution.uniform, {"board": BOARD}),
        (UNIFORM.probability, {"code": (1, 2)}),
        (UNIFORM.most_probable, {"n": 2}),
        (UNIFORM.masses, {"guesses": np.array([0, 1])}),
        (mastermind.TableBelief.start, {"channel": NOISY, "prior": np.full(9, 1 / 9)}),
        (mastermind.TreeBelief.start, {"channel": NOISY}),
        (mastermind.SampledBelief.start, {"channel": NOISY, "options": FEW_SAMPLES}),
        (SAMPLED.most_probable, {"n": 2}),
        (SAMPLED.masses, {"guesses": np.array([0, 1])}),
        (
            mastermind.VanishingBelief.start,
            {
                "board": BOARD,
                "reports": BOARD.true_replies,
                "ends": True,
            },
        ),
        *[
            (belief.update, {"guess": (1, 2), "reply": Reply(1, 0)})
            for belief in (BELIEF, vanishing, tree, SAMPLED)
        ],
    ]
    for function, arguments in calls:
        yield Call(getattr(function, "__qualname__", type(function).__name__), function, arguments)


CALLS = [*of_functions(), *of_methods()]

KINDS = [
    kind
    for kind in PUBLIC
    if kind.__module__.split(".")[1] in PACKAGES and not issubclass(kind, Enum)
]


def constructions(kind: type) -> Iterator[Call]:
    """Yield calls of a constructor, with what examples hold."""
    for number, example in enumerate(examples_of(kind)[:2]):
        if dataclasses.is_dataclass(example):
            names = [field.name for field in dataclasses.fields(example) if field.init]
        else:
            names = list(example._fields)  # type: ignore[attr-defined]
        arguments = {name: getattr(example, name) for name in names}
        yield Call(f"{kind.__name__}-{number}", kind, arguments)


def called(call: Call, changed: dict[str, Any]) -> Any:
    """Make a call; arguments named by digits are positional."""
    arguments = {**call.arguments, **changed}
    positional = [value for name, value in arguments.items() if name.isdigit()]
    rest = {name: value for name, value in arguments.items() if not name.isdigit()}
    return call.function(*positional, **rest)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_the_call_works(call: Call) -> None:
    called(call, {})


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_misuse_is_reported_plainly(call: Call) -> None:
    assert faults_of(call) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_constructors_report_misuse_plainly(kind: type) -> None:
    # Examples take time to make: none is made before its test.
    for call in constructions(kind):
        called(call, {})
        assert faults_of(call) == []


def faults_of(call: Call) -> list[str]:
    """Return the arguments whose misuse is not reported, or not as an error of ours."""
    raw = []
    for name in call.arguments:
        for what, value in junk().items():
            if name == "order" and what == "a function":
                continue  # it is called, and says itself that it is none
            try:
                called(call, {name: value})
            except BnmindError as fault:
                if not str(fault):
                    raw.append(f"{name} as {what}: no message")
            except Exception as fault:
                raw.append(f"{name} as {what}: {type(fault).__name__}: {fault}")
    return raw


def of_files(package: str, name: str) -> bool:
    """Return whether a function takes the name of a file, which has a test of its own."""
    return package == "pgm.files" or name in (
        *("read_costs", "read_diagnosis", "read_dialogue", "write_dialogue"),
        *("answer_file", "read_dynamic", "write_dynamic"),
    )


def test_every_public_function_is_called() -> None:
    called = {call.function for call in CALLS}
    missing = []
    for package in PACKAGES:
        module = importlib.import_module(f"bnmind.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and thing not in called and not of_files(package, name):
                missing.append(name)
    assert missing == []


@pytest.mark.parametrize("value", [None, 3, b"x", [], {}, object(), 1.5, Path])
def test_files_are_named_by_paths(value: Any, tmp_path: Path) -> None:
    for call in (
        lambda: files.read(value),
        lambda: files.read_network(value),
        lambda: files.read_model(value),
        lambda: files.read_evidence(value, tmp_path / "x.uai"),
        lambda: files.read_evidence(tmp_path / "x", value),
        lambda: competition.read_evidence_samples(value, tmp_path / "x.uai"),
        lambda: competition.read_query(value, tmp_path / "x.uai"),
        lambda: competition.read_query(tmp_path / "x", value),
        lambda: competition.read_log_evidence(value),
        lambda: competition.read_marginals(value, tmp_path / "x.uai"),
        lambda: competition.read_marginals(tmp_path / "x", value),
        lambda: competition.read_explanation(value, tmp_path / "x.uai"),
        lambda: competition.read_explanation(tmp_path / "x", value),
        lambda: files.write_model(network(), value),
        lambda: files.write_model(value, tmp_path / "x.bif"),
        lambda: files.write_model(network(), tmp_path / "x.bif", max_cells=value),
        lambda: files.file_names(value, "x.bif"),
        lambda: files.file_names(network(), value),
        lambda: junction.answer_file(network(), value, tmp_path / "x.csv", junction.predict),
        lambda: junction.answer_file(network(), tmp_path / "x.csv", value, junction.predict),
        lambda: junction.answer_file(value, tmp_path / "x", tmp_path / "y", junction.predict),
        lambda: dynamic.read_dynamic(value),
        lambda: dynamic.write_dynamic(STEADY, value),
        lambda: dynamic.write_dynamic(value, tmp_path / "x.json"),
        lambda: questions.read_diagnosis(value),
        lambda: questions.read_costs(value),
        lambda: questions.read_dialogue(value),
        lambda: questions.write_dialogue(value, dialogue()),
    ):
        with pytest.raises(BnmindError):
            call()


def test_slips_of_every_day_are_reported_by_name() -> None:
    with pytest.raises(BnmindError) as caught:
        pgm.TabularCPD("rain", 2, [[0.8], [0.2]])  # type: ignore[arg-type]
    assert str(caught.value) == (
        "TabularCPD: expected variable to be a Variable, got 'rain';"
        " expected parents to be a sequence, each a Variable, got 2"
    )
    with pytest.raises(BnmindError, match="expected order to be an OrderFinder"):
        junction.compile_plan(network(), order=junction.MinFill)  # type: ignore[arg-type]
    with pytest.raises(BnmindError, match=r"expected a variable among rain, .*; got 'S'"):
        views.belief_view(network(), skill_posterior())
