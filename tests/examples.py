"""An example of every public class: what the tests of all objects at once are run on.

A factory may make several, so that each kind of content that a field can have is there.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import replace
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bnmind.adaptive as adaptive
import bnmind.datasets as datasets
import bnmind.dynamic as dynamic
import bnmind.fitting as fitting
import bnmind.junction as junction
import bnmind.lab as lab
import bnmind.mastermind as mastermind
import bnmind.pgm as pgm
import bnmind.questions as questions
import bnmind.rank_one as rank_one
import bnmind.sensitivity as sensitivity
import bnmind.strategies as strategies
import bnmind.views as views
from bnmind.adaptive.beliefs import BatchProfiles, Profile
from bnmind.adaptive.calibration import (
    AnsweredTests,
    CalibratedItem,
    Calibration,
    Drift,
    DriftChart,
    ItemDrift,
)
from bnmind.adaptive.classification import (
    Agreement,
    KnownProfiles,
    Reliability,
    SkillReliability,
)
from bnmind.adaptive.design import Outlook
from bnmind.adaptive.estimates import AnswerFit
from bnmind.adaptive.evaluation import CertifiedInterval, DesignEvaluation
from bnmind.adaptive.item_trees import ItemNode
from bnmind.adaptive.learning.comparison import (
    ComparedModel,
    Comparison,
    CrossValidation,
    ItemProposal,
    LikelihoodRatio,
    QValidation,
    SkillSet,
    SkillStructure,
)
from bnmind.adaptive.learning.groups import ItemFunctioning, LearnedGroups
from bnmind.adaptive.learning.irt import IrtModel
from bnmind.adaptive.learning.item_tests import (
    Coefficient,
    Coefficients,
    ModelTest,
    ReducedModel,
)
from bnmind.adaptive.learning.judgment import Judgment, LearnedSummary, LearningNote
from bnmind.adaptive.learning.learn import LearnedItem
from bnmind.adaptive.learning.model_fit import (
    ItemFit,
    LimitedInformation,
    PairFit,
    PairStatistics,
    PredictiveCheck,
)
from bnmind.adaptive.optimal_tests import FixedTest, OptimalTest
from bnmind.adaptive.scores import RankedItem, Selections, rank_items
from bnmind.adaptive.sessions import SessionReport, SkillReport
from bnmind.fitting.em import LearningRecord
from bnmind.information import Choice, choose_question
from bnmind.junction.case_answers import CaseAnswers, FileAnswers
from bnmind.junction.engine import CompetitionTask
from bnmind.junction.gradient import Derivatives
from bnmind.junction.graphs import Clique
from bnmind.junction.sampling import Samples, SamplingPlan, WeightedPosterior
from bnmind.junction.search import BestExplanations, ExplanationSearch
from bnmind.junction.slices import SlicedPlan, SliceSums
from bnmind.junction.walk import ExplanationPlan
from bnmind.mastermind import Board, Channel, Reply, color_priors
from bnmind.pgm import (
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
    files,
    noisy_and,
    noisy_or,
)
from bnmind.pgm.encoded_names import Alphabet, FileNames
from bnmind.pgm.files import file_names
from bnmind.questions.asked import DiagnosisMarks
from bnmind.questions.best_trees import (
    BestTree,
    FixedList,
    QuestionNode,
    QuestionTree,
    SearchBounds,
)
from bnmind.questions.dialogue import AnswerStep, SavedDialogue
from bnmind.questions.event_log import Event, LogState, LogSubject
from bnmind.questions.ranking import AnswerEffect, QuestionEffect, QuestionRanking, RankedQuestion
from bnmind.questions.value import AnswerDoubt, Doubts, InformationValues, ValuedQuestion
from bnmind.rank_one import factorize
from bnmind.sensitivity.analysis import FindingWeight
from bnmind.sensitivity.functions import Interval, TwoWayFunction

__all__ = ["EXAMPLES", "PUBLIC", "examples_of"]

PACKAGES = (
    "information",
    "pgm",
    "pgm.files",
    "rank_one",
    "junction",
    "views",
    "questions",
    "fitting",
    "dynamic",
    "sensitivity",
    "mastermind",
    "adaptive",
    "strategies",
    "lab",
    "datasets",
)
"""Where users import from."""


def _public() -> Iterable[type]:
    for package in PACKAGES:
        module = importlib.import_module(f"bnmind.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if (
                inspect.isclass(thing)
                and thing.__module__.startswith("bnmind")
                and not issubclass(thing, Exception)
                and not getattr(thing, "_is_protocol", False)
                and not inspect.isabstract(thing)
                and not issubclass(thing, Executor)  # a connection
            ):
                yield thing


PUBLIC: tuple[type, ...] = tuple(dict.fromkeys(_public()))
"""Every class that users may make instances of, or are given instances of."""

EXAMPLES: dict[type, Callable[[], Iterable[object]]] = {}


def examples_of(kind: type) -> tuple[object, ...]:
    """Return the examples of a class; one without arguments if no other is registered."""
    if kind not in EXAMPLES:
        return tuple(kind) if issubclass(kind, Enum) else (kind(),)
    return tuple(EXAMPLES[kind]())


def _add(*kinds: type) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a factory of examples for classes; it may return several objects."""

    def register(factory: Callable[[], Any]) -> Callable[[], Any]:
        # Nobody can change them, so that they are made once.
        make = cache(factory)

        def made(kind: type) -> Iterable[object]:
            found = make()
            found = found if isinstance(found, list) else [found]
            return [thing for thing in found if type(thing) is kind]

        for kind in kinds:
            EXAMPLES[kind] = partial(made, kind)
        return factory

    return register


@_add(datasets.ExampleSet)
def _example_set() -> Any:
    return datasets.EXAMPLES["banks"]


# --- Networks -------------------------------------------------------------------------------------

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "damp", "yes"))
NOISE = Variable("noise", ("no", "yes"))


@cache
def network() -> Network:
    """Return a network with every kind of distribution."""
    slip = Variable("slip", ("no", "yes"))
    fall = Variable("fall", ("no", "yes"))
    return Network(
        (
            TabularCPD(RAIN, (), np.array([0.8, 0.2])),
            TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.05, 0.2], [0.05, 0.7]])),
            noisy_or(slip, (RAIN,), [0.5], leak=0.1),
            noisy_and(fall, (slip, RAIN), [0.5, 0.9]),
            FunctionalCPD.sum_of("count", (RAIN, slip, fall)),
        )
    )


@_add(Variable)
def _variables() -> Any:
    return [RAIN, Variable.of_integers("n", range(3))]


@_add(pgm.Distribution)
def _labeled() -> Any:
    return [
        pgm.Distribution((RAIN,), np.array([0.25, 0.75])),
        pgm.Distribution((RAIN, WET), np.arange(6.0).reshape(2, 3) / 15),
    ]


@_add(Factor, pgm.SparseFactor, FactorModel, Network, pgm.Replacement)
def _models() -> Any:
    pair = Factor((RAIN, WET), np.arange(6.0).reshape(2, 3) * (1 - 0.5j))
    signed = factorize(network(), "count")
    return [
        pair,
        pgm.SparseFactor.from_factor(pair),
        FactorModel((pair, Factor((WET,), np.ones(3)))),
        signed,
        *signed.replacements,
        network(),
    ]


@_add(TabularCPD, FunctionalCPD, pgm.NoisyMaximum, pgm.NoisyMinimum)
def _cpds() -> Any:
    return list(network().cpds)


@_add(pgm.Addition, pgm.Threshold, pgm.Exactly, pgm.Restricted, pgm.Listed)
def _functions() -> Any:
    return [
        pgm.Addition.of([2, 3]),
        pgm.Threshold(1, ((1,), (0, 1))),
        pgm.Threshold(2),
        pgm.Exactly(1, ((1,), (0, 1))),
        pgm.Listed(np.arange(6).reshape(2, 3)),
        pgm.Restricted(pgm.Maximum(), ((0, 1), (2,)), (0, 2)),
        pgm.Restricted(pgm.Maximum(), ((0, 1), (2,))),
    ]


@_add(FileNames, Alphabet)
def _names() -> Any:
    item = TabularCPD(Variable("item.1", ("a b", "c")), (), np.full(2, 0.5))
    return [file_names(Network((item,)), "bank.net"), FileNames()]


@_add(files.ReadReport, files.NormalizedTable)
def _reports() -> Any:
    table = files.NormalizedTable("wet", 2, 0.99, {"rain": "no"})
    return [table, files.ReadReport(network(), (table,), ("a note",))]


@_add(rank_one.RankOne, rank_one.Terms)
def _rank_one() -> Any:
    form = rank_one.rank_one_form(network().cpd("count"))
    assert form is not None
    return [form, rank_one.Terms.constant([0.5, 0.5], [2, 3])]


# --- Queries --------------------------------------------------------------------------------------


@cache
def plan() -> junction.Plan:
    """Return a plan with evidence, soft evidence and an input."""
    return junction.compile_plan(
        factorize(network(), "count"),
        evidence=["count"],
        soft=["wet"],
        inputs={"kept": ["slip", "rain"]},
        targets=[["rain"], ["slip", "fall"], ["slip"]],
    )


KEPT = {"kept": np.array([[0.5, 1.0], [1.0, 0.25]])}


@_add(junction.Plan, junction.Posterior, junction.BatchPosterior)
def _plans() -> Any:
    cases = {"count": [0, 1, 2], "wet": [0, 1, -1]}
    return [
        plan(),
        plan().restrict({"count": "1"}, KEPT),
        plan().run({"count": "1", "wet": [0.5, 0.5, 1]}, KEPT),
        plan().run_batch(cases, KEPT, allow_impossible=True),
    ]


@_add(FileAnswers)
def _file_answers() -> Any:
    return [
        FileAnswers(n_rows=3, columns=("rain",)),
        FileAnswers(
            n_rows=4,
            columns=("id", "rain"),
            n_impossible=1,
            impossible=(2,),
            unused=("id", "wett"),
            close=(("wett", ("wet",)),),
        ),
    ]


@_add(CaseAnswers)
def _case_answers() -> Any:
    frame = pd.DataFrame({"wet": ["no", "yes", None], "wett": [1, 2, 3]}, index=["a", "b", "c"])
    return [junction.predict(network(), frame, "rain"), junction.log_likelihood(network(), frame)]


@_add(
    BestExplanations,
    ExplanationSearch,
)
def _searches() -> Any:
    search = junction.compile_search(network(), {"count": "1"})
    marginal = junction.compile_search(network(), {"wet": [0.5, 0.5, 1]}, ["rain"])
    return [search, marginal, search.run(), search.best(2)]


@_add(
    junction.Explanation,
    ExplanationPlan,
    Samples,
    SamplingPlan,
)
def _other_plans() -> Any:
    seen = {"count": "1"}
    explanation = junction.compile_explanation(network(), evidence=seen)
    sampling = junction.compile_sampling(network(), evidence=seen)
    return [
        explanation,
        explanation.run(seen),
        sampling,
        junction.compile_sampling(network()),
        sampling.run(seen, n_samples=5, rng=np.random.default_rng(1)),
    ]


@_add(Derivatives, junction.Gradient)
def _derivatives() -> Any:
    found = junction.differentiate(network(), "rain", {"count": "1"}, relevant_only=True)
    alone = junction.differentiate(FactorModel((Factor((WET,), np.ones(3)),)))
    return [found, alone, found.posterior("yes"), alone.log_evidence]


@_add(CompetitionTask)
def _tasks() -> Any:
    return list(junction.COMPETITION_TASKS.values())


@_add(WeightedPosterior)
def _approximate() -> Any:
    return junction.likelihood_weighting(network(), n_samples=10, rng=np.random.default_rng(1))


@_add(SliceSums, SlicedPlan)
def _slices() -> Any:
    model = network()
    plan = junction.compile_sliced(model, evidence=["count"], soft=["wet"], targets=[["rain"]])
    whole = junction.compile_plan(model, evidence=["count", "wet"], targets=[["rain"]])
    sliced = SlicedPlan(whole, (WET,))
    return [plan, sliced, list(sliced.steps({"count": "1"}))[-1]]


@_add(junction.Engine)
def _engines() -> Any:
    engine = junction.compile_model(network(), memory=2**20)
    engine.posterior("rain", {"count": "1"})
    return [engine, junction.Engine(model=network(), order=junction.MinFill())]


@_add(
    Clique,
    junction.EliminationOrder,
    junction.GivenOrder,
    junction.InteractionGraph,
    junction.JunctionTree,
)
def _graphs() -> Any:
    scopes = [["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"]]
    graph = junction.InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 2}, scopes)
    finder = junction.GivenOrder(("a", "b", "d", "c"))
    tree = junction.JunctionTree.from_order(graph, finder(graph))
    return [graph, finder, tree, tree.order, tree.cliques[0]]


@_add(
    junction.BestOrder,
    junction.ExactOrder,
    junction.Limits,
    junction.Portfolio,
    junction.TreeAnnealing,
    junction.RandomizedGreedy,
)
def _finders() -> Any:
    return [
        junction.Limits(),
        junction.Limits(10**6, only_restrictions=True),
        junction.BestOrder(seed=3),
        junction.ExactOrder(start=junction.MinFill()),
        junction.TreeAnnealing(start=junction.MinWeight(), rounds=1),
        junction.RandomizedGreedy(seed=2),
        junction.Portfolio(effort=2.0),
    ]


@_add(
    sensitivity.ExplainedConclusion,
    FindingWeight,
    sensitivity.SensitivityAnalysis,
    sensitivity.SensitivityFunction,
    TwoWayFunction,
    sensitivity.WeightOfEvidence,
)
def _sensitivity() -> Any:
    seen = {"count": "1", "wet": [0.5, 0.5, 1]}
    analysis = sensitivity.analyze(network(), "rain", seen)
    rain = sensitivity.Parameter("rain", "yes")
    wet = sensitivity.Parameter("wet", "yes", {"rain": "no"})
    weights = sensitivity.weight_of_evidence(network(), "rain", seen)
    return [
        analysis,
        analysis.function(rain),
        analysis.two_way(rain, wet),
        weights,
        *weights.findings,
        sensitivity.explain_conclusion(network(), "rain", seen),
    ]


@_add(
    sensitivity.Absolute,
    sensitivity.AtLeast,
    sensitivity.AtMost,
    Interval,
    sensitivity.MostProbable,
    sensitivity.Odds,
    sensitivity.Parameter,
    sensitivity.Relative,
)
def _parameters() -> Any:
    return [
        sensitivity.Absolute(0.2),
        sensitivity.AtLeast("yes", 0.5),
        sensitivity.AtMost("yes", 0.5),
        Interval(0.1, 0.9, 0.5),
        sensitivity.MostProbable(),
        sensitivity.Odds(3.0),
        sensitivity.Parameter("rain", "yes"),
        sensitivity.Parameter("wet", "yes", {"rain": "no"}),
        sensitivity.Relative(),
    ]


@_add(Choice)
def _choice() -> Any:
    return choose_question([[0.5, 0.5], [0.9, 0.1]], [[1, 0], [0, 1]])


@_add(views.JunctionTreeView)
def _tree_views() -> Any:
    return views.junction_tree_view(junction.junction_tree(network()))


@_add(views.BeliefView, views.NetworkView, views.SideBySide, views.Layout)
def _views() -> Any:
    first = views.belief_view(network(), {"rain": [0.5, 0.5]}, evidence={"wet": "yes"})
    second = views.belief_view(
        network(), {"rain": Factor((RAIN,), np.array([0.25, 0.75]))}, evidence={"slip": [0.5, 1]}
    )
    return [
        first,
        second,
        views.side_by_side(first, second, titles=["a", "b"]),
        views.network_view(network()),
        views.lay_out([(10.0, 5.0)] * 3, [(0, 1), (0, 2), (1, 2)]),
    ]


# --- Learning of tables ------------------------------------------------------------------------


@cache
def fitted() -> fitting.Fit:
    """Return a network of every kind of distribution, learned from a few cases."""
    cases = {
        "rain": ["no", "yes", None, "no"],
        "wet": ["no", None, "damp", "no"],
        "slip": [None, "yes", "no", "no"],
        "fall": ["no", "yes", "no", "no"],
    }
    options = fitting.FitOptions(max_iterations=5, starts=2)
    return fitting.fit(
        network(), cases, prior=fitting.BDeu(2), fixed=["rain"], hidden=["count"], options=options
    )


@_add(
    fitting.Dirichlet,
    fitting.EM,
    fitting.EMInfo,
    fitting.EMState,
    fitting.Fit,
)
def _fitting() -> Any:
    found = fitted()
    return [
        fitting.Dirichlet({"rain": [1, 2], "wet": 0.5}, fitting.Laplace(2)),
        found,
        found.em,
        found.record,
        *found.em.step(found.em.start()),
    ]


# --- Dynamic networks --------------------------------------------------------------------------


@cache
def dynamic_network() -> dynamic.DynamicNetwork:
    """Return a network over time with a table that varies."""
    stays = TabularCPD(RAIN, (dynamic.previous(RAIN),), np.array([[0.7, 0.3], [0.3, 0.7]]))
    wet = network().cpd("wet")
    return dynamic.DynamicNetwork(
        Network((network().cpd("rain"), wet)), (stays, wet), {"rain": _table_of_slice}
    )


def _table_of_slice(number: int) -> Any:
    return np.array([[0.5, 0.5], [0.5, 0.5]]) if number == 2 else np.eye(2)


@_add(
    *(dynamic.DynamicNetwork, dynamic.DynamicPlan, dynamic.FilterInfo, dynamic.FilterState),
    *(dynamic.SequencePosterior, dynamic.MostProbablePath, dynamic.DynamicFit),
)
def _dynamic() -> Any:
    plan = dynamic.compile_dynamic(dynamic_network())
    start = plan.start()
    cases = {"who": ["a", "a", "b"], "wet": ["no", None, "yes"]}
    found = plan.filter(cases, sequence="who")
    path = plan.most_probable(cases, sequence="who")
    steady = dynamic.DynamicNetwork(plan.network.first, plan.network.transition)
    options = fitting.FitOptions(max_iterations=3)
    fit = dynamic.fit_dynamic(steady, cases, sequence="who", options=options)
    return [dynamic_network(), plan, start, *plan.step(start, {"wet": "damp"}), found, path, fit]


# --- Questions ---------------------------------------------------------------------------------


@cache
def utilities() -> Any:
    """Return the utilities of a decision about the example network."""
    return {"go": {"no": 1, "yes": -3}, "stay": {"no": 0, "yes": 0}}


@_add(
    *(QuestionRanking, RankedQuestion),
    *(InformationValues, ValuedQuestion),
)
def _questions() -> Any:
    ranking = questions.rank_questions(network(), about=["rain"], costs={"wet": 2})
    values = questions.value_of_information(network(), utilities(), about="rain")
    return [ranking, ranking.best, values, values.best]


@cache
def dialogue() -> questions.Dialogue:
    """Return a dialogue about the example network."""
    inquiry = questions.Inquiry.of(network(), about="rain", evidence={"slip": [0.5, 1]})
    return questions.Dialogue(inquiry).answer("wet", "yes")[0]


@_add(DiagnosisMarks)
def _marks() -> Any:
    return DiagnosisMarks(targets=("rain",), observations=("wet",), faults={"rain": ("yes",)})


@_add(
    *(questions.Dialogue, questions.Inquiry, AnswerStep, LogState),
    *(Event, QuestionEffect, AnswerEffect, Doubts),
    *(AnswerDoubt, SavedDialogue, LogSubject),
)
def _dialogues() -> Any:
    told, step = dialogue().skip("count")
    doubts = told.doubts
    saved = SavedDialogue(
        network=LogSubject(variables=4, fingerprint="0"),
        about=("rain",),
        events=told.events,
        options={"a": "b"},
        text="{}",
    )
    effect = dialogue().why()
    return [
        *(told, told.inquiry, step, told.state, told.events[0], effect, effect.answers[0]),
        *(doubts, doubts.answers[0], saved, saved.network),
    ]


# --- Mastermind -----------------------------------------------------------------------------------

BOARD = Board(2, 3)
TURN = mastermind.Turn((1, 2), Reply(1, 0))


@_add(Board, Channel, Reply, mastermind.Turn, mastermind.CodeDistribution)
def _boards() -> Any:
    noisy = Channel.false_reply(BOARD, 0.2)
    return [
        BOARD,
        Board(2, 3, repeats=False),
        noisy,
        noisy.revealed(),
        Channel.from_counts(BOARD, {(Reply(1, 0), Reply(0, 2)): 3}),
        Reply(1, 1),
        TURN,
        mastermind.CodeDistribution.uniform(BOARD),
        mastermind.CodeDistribution(BOARD, np.arange(9.0) / 36),
    ]


@_add(
    mastermind.Alternating,
    mastermind.CodeList,
    mastermind.ColorPool,
    mastermind.FirstLastEqual,
    mastermind.FixedColors,
    mastermind.LearnedColors,
    mastermind.LearnedNumber,
    mastermind.MixturePrior,
    mastermind.NumberOfColors,
    mastermind.OnlyColors,
    mastermind.OnlyOnce,
    mastermind.UniformPrior,
)
def _priors() -> Any:
    uniform, once = mastermind.UniformPrior(BOARD), mastermind.OnlyOnce(BOARD)
    return [
        mastermind.Alternating(BOARD),
        mastermind.CodeList(BOARD, np.array([(1, 2), (3, 3)]), np.array([0.25, 0.75])),
        mastermind.ColorPool(BOARD, (0.5, 0.25, 0.25)),
        mastermind.FirstLastEqual(BOARD),
        mastermind.FixedColors.from_weights(BOARD, [2, 1, 1]),
        mastermind.LearnedColors.start(BOARD).observe((1, 2)),
        mastermind.LearnedNumber.start(BOARD).observe((1, 2)),
        mastermind.MixturePrior((uniform, once), (0.5, 0.5)).observe((1, 2)),
        color_priors.fewer_colors(BOARD),
        mastermind.OnlyColors(BOARD, (1, 2)),
        once,
        uniform,
    ]


@_add(
    mastermind.HistoryBelief,
    mastermind.TableBelief,
    mastermind.TreeBelief,
    mastermind.VanishingBelief,
)
def _beliefs() -> Any:
    channel = Channel.false_reply(BOARD, 0.2)
    made: list[Any] = [
        mastermind.TableBelief.start(channel),
        mastermind.TreeBelief.start(channel),
        mastermind.VanishingBelief.start(BOARD),
        mastermind.VanishingBelief.start(BOARD, prior=mastermind.UniformPrior(BOARD)),
        mastermind.HistoryBelief(channel),
    ]
    return [*made, *(belief.update(*TURN_GIVEN) for belief in made)]


TURN_GIVEN: Any = ((1, 2), Reply(1, 0))


@_add(strategies.BeliefValue, strategies.FittedValue, strategies.ValueOrigin)
def _fitted_values() -> Any:
    origin = strategies.ValueOrigin(board="2x3", channel="false:0.2", games=4, rounds=1, seed=0)
    value = strategies.BeliefValue(coefficients=(0.2, 0.25, 0.0, 0.0, 0.0, 0.0), origin=origin)
    fitted = strategies.FittedValue(value=value, means=(4.0,), standard_errors=(0.1,))
    return [origin, value, fitted]


@_add(
    strategies.BeliefGameSolution,
    strategies.LowerBound,
    strategies.NoisyMean,
    strategies.SolvedPlayer,
)
def _play_under_noise() -> Any:
    channel = Channel.false_reply(Board(2, 2), 0.2)
    solution = strategies.solve_belief_game(channel, gap=0.5)
    player = strategies.SolvedPlayer(solution)
    return [
        solution,
        player,
        strategies.mean_lower_bound(channel, partitions=3),
        strategies.mean_under_noise(player, channel, least_mass=0.1),
    ]


@_add(mastermind.UnknownNoiseBelief)
def _unknown_noise() -> Any:
    levels = [Channel.false_reply(BOARD, p) for p in (0.1, 0.4)]
    belief = mastermind.UnknownNoiseBelief.start(levels)
    return [belief, belief.update(*TURN_GIVEN)]


@_add(mastermind.SampledBelief, mastermind.SamplerInfo)
def _sampled_beliefs() -> Any:
    options = mastermind.SamplerOptions(islands=2, size=4, steps=2)
    noisy, exact = (
        mastermind.SampledBelief.start(channel, options=options)
        for channel in (Channel.false_reply(BOARD, 0.2), Channel.exact(BOARD))
    )
    after = noisy.update(*TURN_GIVEN), exact.update(*TURN_GIVEN)
    return [noisy, *after, noisy.info, *(belief.info for belief in after)]


@_add(mastermind.GuessClasses, mastermind.MassPlan, mastermind.Stage)
def _mastermind() -> Any:
    belief = mastermind.CodeDistribution.uniform(BOARD).probabilities
    return [
        mastermind.guess_classes(BOARD, [(1, 2)]),
        mastermind.plan_masses(BOARD, belief),
        mastermind.plan_masses(BOARD, belief, history=[TURN]),
        *(mastermind.stage(BOARD, number, guess=[1, 2]) for number in (1, 2, 3)),
    ]


# --- Tests ----------------------------------------------------------------------------------------

Q = [[1, 0], [0, 1], [1, 1]]


@cache
def bank() -> adaptive.ItemBank:
    """Return a bank with every kind of what is known of an item."""
    items: list[adaptive.Item | str] = [
        adaptive.Item("a", content="x", enemies=("b",), testlet="t"),
        adaptive.Item("b", content="y", testlet="t"),
        "c",
    ]
    return adaptive.ItemBank.from_qmatrix(Q, skill_names=["S", "T"], items=items).with_title(
        "title", "source"
    )


@cache
def curves() -> adaptive.ItemBank:
    """Return a bank of one continuous ability."""
    return adaptive.irt_bank([[1.0, 0.0], [2.0, 1.0]])


def graded_answers() -> adaptive.Responses:
    """Return the answers of forty examinees, one of them missing."""
    codes = adaptive.Responses.drawn(bank(), 40, seed=1).codes.copy()
    codes[0, 0] = -1
    return adaptive.Responses(codes, bank().item_names)


@cache
def learned() -> adaptive.Learned:
    """Return what was learned from the answers."""
    options = adaptive.LearningOptions(max_iterations=20)
    return adaptive.learn(graded_answers(), bank(), options=options)


@_add(
    adaptive.Item,
    adaptive.ItemBank,
    adaptive.QMatrix,
    adaptive.Responses,
    adaptive.Responses,
    adaptive.AbilityGrid,
)
def _banks() -> Any:
    return [
        *bank().items,
        bank(),
        curves(),
        adaptive.QMatrix.of(Q),
        adaptive.QMatrix.of(Q, items=["a", "b", adaptive.Item("c")], skills=["S", "T"]),
        graded_answers(),
        adaptive.Responses(np.array([[1, 0]]), ("a", "b"), ("someone",)),
        adaptive.Responses.drawn(bank(), 4, seed=1),
        adaptive.Responses.drawn(curves(), 4, seed=1),
        adaptive.AbilityGrid((-1.0, 0.0, 1.0), (0.25, 0.5, 0.25)),
    ]


@_add(
    AnsweredTests,
    CalibratedItem,
    Calibration,
    Drift,
    DriftChart,
    ItemDrift,
)
def _calibrations() -> Any:
    answers = graded_answers()
    calibration = adaptive.calibrate_items(bank(), answers, ["a"], max_cycles=2)
    drift = adaptive.item_drift(bank(), answers, rng=np.random.default_rng(1))
    order = np.zeros((len(answers), 1), dtype=int)
    tests = AnsweredTests(replace(answers, order=order), ("a",))
    return [tests, *calibration.items, calibration, drift[0].easier, *drift, drift]


@_add(adaptive.PilotItems)
def _pilots() -> Any:
    return [adaptive.PilotItems(("a", "b"), 2, places=(1, 3), rule=adaptive.RandomItem())]


@_add(adaptive.TableCertainty, adaptive.ParameterCertainty)
def _certainties() -> Any:
    return [
        adaptive.TableCertainty(np.array([[3.0, 1.5]]), (0, 0), 4.0),
        adaptive.ParameterCertainty(np.diag([0.1, 0.2]), 4.0),
        adaptive.ParameterCertainty(np.diag([0.1, 0.0]), 4.0, adaptive.Dina(0.2, 0.1)),
    ]


@_add(
    adaptive.Dina,
    adaptive.Dino,
    adaptive.NoisyAnd,
    adaptive.NoisyOr,
    adaptive.Graded,
    adaptive.Gdina,
    adaptive.Sequential,
    adaptive.Logistic,
    adaptive.GradedResponse,
    adaptive.PartialCredit,
    adaptive.Nominal,
    adaptive.DiBello,
)
def _response_models() -> Any:
    dina = adaptive.Dina(0.2, 0.1, (1, 2))
    return [
        dina,
        adaptive.Dino(0.2, 0.1, (1, 2)),
        adaptive.NoisyAnd(0.1, (0.2, 0.3), 0.9, (1, 1)),
        adaptive.NoisyOr((0.2, 0.3), 0.1, 0.1, (1, 1)),
        adaptive.Graded((1.0, 2.0), (-1.0, 1.0)),
        adaptive.Gdina(np.array([[0.4, 0.6], [0.1, 0.9]])),
        adaptive.Sequential((dina, adaptive.Gdina(np.array([[0.4, 0.6], [0.1, 0.9]])))),
        adaptive.Logistic(1.5, 0.5, 0.2, 0.9),
        adaptive.GradedResponse(1.5, (-1.0, 0.0, 1.0)),
        adaptive.PartialCredit(1.5, (0.0, -1.0, 1.0)),
        adaptive.Nominal((1.5, -0.5), (0.0, 1.0)),
        adaptive.DiBello((1.0, 0.5), (-0.5, 1.0)),
    ]


@_add(
    adaptive.Acdm,
    adaptive.Llm,
    adaptive.Rrum,
    adaptive.Nida,
    adaptive.Nido,
    adaptive.LeakyOr,
    adaptive.Tabulated,
)
def _registered_models() -> Any:
    names = ("acdm", "llm", "rrum", "nida", "nido", "leaky-or", "own")
    return [adaptive.RESPONSE_MODELS[name].example for name in names]


@_add(IrtModel)
def _irt_models() -> Any:
    return [adaptive.IRT_MODELS["2PL"], adaptive.IRT_MODELS["pcm"]]


@_add(adaptive.Independent, adaptive.Saturated, adaptive.Hierarchy)
def _distributions() -> Any:
    return [
        adaptive.Independent(),
        adaptive.Independent([0.5, 0.25]),
        adaptive.Independent([[0.5, 0.5], [0.25, 0.75]]),
        adaptive.Saturated(np.full(4, 0.25)),
        adaptive.Saturated(),
        adaptive.Hierarchy({"T": ["S"]}, [0.5, 0.5]),
        adaptive.Hierarchy({"T": ["S"]}, [[0.5, 0.5], [0.25, 0.75]]),
    ]


def score(*_: object) -> Any:
    """Return the same score for every item."""
    return 1.0


def stop(*_: object) -> Any:
    """Stop at once."""
    return True


@_add(
    adaptive.FixedOrder,
    adaptive.ScoredBy,
    adaptive.PerCost,
    adaptive.SkillEntropy,
    adaptive.MinimalEntropy,
    adaptive.KullbackLeibler,
    adaptive.LossGain,
    adaptive.Randomesque,
    adaptive.SympsonHetter,
    adaptive.ItemEligibility,
    adaptive.Progressive,
    adaptive.AStratified,
    adaptive.Staged,
    adaptive.ShadowTest,
)
def _selectors() -> Any:
    entropy = adaptive.MinimalEntropy()
    losses = np.array([[0.0, 1.0, 1.0, 2.0], [2.0, 1.0, 1.0, 0.0]])
    return [
        adaptive.FixedOrder(("b", "a")),
        adaptive.ScoredBy(score),
        adaptive.PerCost(entropy),
        adaptive.SkillEntropy(),
        adaptive.SkillEntropy({"S": 2.0}),
        adaptive.MinimalEntropy(("S",)),
        adaptive.KullbackLeibler("pwkl"),
        adaptive.LossGain({("S", "T"): losses}),
        adaptive.LossGain(),
        adaptive.Randomesque(entropy, 2),
        adaptive.SympsonHetter(entropy, {"a": 0.5}),
        adaptive.ItemEligibility.start(bank(), 0.5),
        adaptive.Progressive(3),
        adaptive.AStratified(3),
        adaptive.Staged(((entropy, 2),)),
        adaptive.ShadowTest(entropy, adaptive.Blueprint((), 2)),
    ]


@_add(
    adaptive.MaximalItems,
    adaptive.MaximalCost,
    adaptive.EntropyBelow,
    adaptive.DeviationBelow,
    adaptive.GainBelow,
    adaptive.ProfileCertain,
    adaptive.SkillsCertain,
    adaptive.StopBy,
    adaptive.Plateau,
    adaptive.SkillsDecided,
    adaptive.AbilityDecided,
)
def _stoppers() -> Any:
    items = adaptive.MaximalItems(2)
    return [
        items,
        items | adaptive.EntropyBelow(0.5),
        items & adaptive.EntropyBelow(0.5),
        adaptive.MaximalCost(3.0),
        adaptive.MaximalCost(3.0, "time"),
        adaptive.EntropyBelow(0.5),
        adaptive.DeviationBelow(0.5),
        adaptive.GainBelow(0.1),
        adaptive.ProfileCertain(0.9),
        adaptive.SkillsCertain(0.9, ("S",)),
        adaptive.SkillsCertain(0.9),
        adaptive.StopBy(stop),
        adaptive.Plateau(0.1, 1),
        adaptive.SkillsDecided(0.1, ("S",)),
        adaptive.AbilityDecided(0.0),
    ]


@_add(
    adaptive.Enemies,
    adaptive.Testlets,
    adaptive.Blueprint,
    adaptive.Bound,
    adaptive.ContentOrder,
    adaptive.StageItems,
)
def _rules() -> Any:
    skill = adaptive.Bound(1, skill="S")
    return [
        skill,
        adaptive.Bound(0, 2, code="x"),
        adaptive.Bound(1, items=("a", "b")),
        adaptive.Blueprint((skill,), 2),
        adaptive.ContentOrder((skill,)),
        adaptive.StageItems(("a", "b"), 1, 2),
        adaptive.Enemies((("a", "c"),)),
        adaptive.Testlets(),
    ]


@_add(
    adaptive.Design,
    adaptive.Session,
    Event,
    adaptive.Selection,
    RankedItem,
    AnswerFit,
    SessionReport,
    SkillReport,
    Profile,
    Outlook,
    adaptive.SkillBelief,
)
def _sessions() -> Any:
    design = adaptive.Design(bank(), rules=(adaptive.Testlets(),))
    start = adaptive.Session.start(design, about={"who": "me"})
    session = start.answer(start.next_item(), 1)
    tree = adaptive.start_belief(bank(), max_profiles=0).update("a", 1)
    table = adaptive.start_belief(bank()).update("a", 1)
    report = session.report()
    return [
        design,
        start,
        session,
        *session.events,
        adaptive.MinimalEntropy().select(table, ("b", "c")),
        *rank_items(table, ["b", "c"]),
        *adaptive.person_fit(table),
        report,
        *report.skills,
        table.profile(),
        design.outlook(table, ("a",)),
        tree,
        table,
    ]


MOMENTS: list[adaptive.Moment] = []


def keep(moment: adaptive.Moment) -> Any:
    """Measure nothing, but keep the moment."""
    MOMENTS.append(moment)
    return np.zeros(len(moment.asked))


@_add(
    BatchProfiles,
    adaptive.Progress,
    Selections,
    adaptive.BatchBelief,
    adaptive.Moment,
    adaptive.Measure,
    adaptive.SelectorRun,
    adaptive.SimulationOptions,
    adaptive.SimulationResult,
)
def _simulations() -> Any:
    people = adaptive.Responses.drawn(bank(), 5, seed=1)
    measure = adaptive.Measure("zero", keep)
    options = adaptive.SimulationOptions(measures=[measure], seed=1, workers=1)
    result = adaptive.simulate(
        bank(),
        people,
        {"entropy": adaptive.MinimalEntropy()},
        adaptive.MaximalItems(2),
        options=options,
    )
    codes = people.codes
    tree = adaptive.start_beliefs(bank(), 5, max_profiles=0)
    table = adaptive.start_beliefs(bank(), 5)
    allowed = np.ones((5, 3), dtype=bool)
    return [
        options,
        result,
        *result.runs,
        adaptive.Measure("score", score),
        MOMENTS[-1],
        tree,
        table,
        adaptive.beliefs_given(bank(), codes),
        adaptive.beliefs_given(bank(), codes).profile(),
        adaptive.Progress(table, np.zeros((len(allowed), 0), dtype=int), allowed),
        adaptive.MinimalEntropy().select_batch(table, allowed),
    ]


@_add(
    BestTree,
    FixedList,
    QuestionNode,
    QuestionTree,
    SearchBounds,
    questions.ExpectedEntropy,
    questions.ExpectedLoss,
    questions.MissedGoal,
    questions.TreeProblem,
)
def _question_trees() -> Any:
    objectives = [
        questions.ExpectedEntropy(np.zeros(2)),
        questions.ExpectedLoss((np.eye(2),)),
        questions.MissedGoal(np.eye(2), 0.9, 3.0),
    ]
    problem = questions.TreeProblem(
        prior=np.array([0.5, 0.5]),
        channels=np.array([[[0.9, 0.1], [0.2, 0.8]]]),
        objective=objectives[0],
        depth=1,
    )
    best = questions.best_tree(problem)
    known = SearchBounds(value=1.0, lower=0.5, n_beliefs=3, n_expanded=1)
    listed = questions.best_fixed_list(problem)
    return [*objectives, problem, best, best.tree, best.tree.root, known, listed]


@_add(
    adaptive.Aim,
    adaptive.ItemTree,
    CertifiedInterval,
    DesignEvaluation,
    FixedTest,
    ItemNode,
    OptimalTest,
)
def _item_trees() -> Any:
    best = adaptive.optimal_test_tree(bank(), 2)
    evaluation = adaptive.evaluate_design(adaptive.Design(bank()))
    return [
        best,
        best.tree,
        best.tree.root,
        adaptive.fixed_test(bank(), 2),
        evaluation,
        evaluation.entropy,
        adaptive.aim_by_name("entropy"),
        adaptive.cost_of_certainty(0.9),
    ]


@_add(
    Agreement,
    adaptive.Classification,
    KnownProfiles,
    LearningNote,
    Reliability,
    SkillReliability,
)
def _classification() -> Any:
    found = adaptive.classify(bank(), graded_answers())
    return [
        found,
        found.agreement_with(found.profiles),
        found.reliability,
        *found.reliability.skills,
        KnownProfiles(found.profiles),
        *learned().notes,
    ]


@_add(
    adaptive.Learned,
    LearnedItem,
    LearnedSummary,
    adaptive.LearningOptions,
    LearningRecord,
    adaptive.Bounds,
    adaptive.Priors,
    CrossValidation,
    ItemFit,
    PredictiveCheck,
    PairStatistics,
    Coefficients,
    Coefficient,
)
def _learning() -> Any:
    check = adaptive.predictive_check(learned(), n_drawn=3)
    options = adaptive.LearningOptions(max_iterations=3, fixed=frozenset(["a"]))
    return [
        learned(),
        *learned().items,
        learned().summary(),
        learned().record,
        options,
        adaptive.Bounds(),
        adaptive.Bounds(guess=(0.1, 0.2)),
        adaptive.Priors(),
        adaptive.Priors(guess=(1.0, 2.0)),
        adaptive.cross_validate(graded_answers(), bank(), options=options, folds=2),
        *adaptive.item_fit(learned()),
        check,
        check.pairs if hasattr(check, "pairs") else check.correlations,
        check.correlations,
        adaptive.coefficients(learned()),
        *adaptive.coefficients(learned()).rows,
    ]


@_add(
    ComparedModel,
    Comparison,
    adaptive.FunctioningOptions,
    ItemFunctioning,
    ItemProposal,
    Judgment,
    LearnedGroups,
    LikelihoodRatio,
    LimitedInformation,
    PairFit,
    QValidation,
    ReducedModel,
    SkillSet,
    SkillStructure,
    ModelTest,
)
def _judging() -> Any:
    q = [[1, 0], [0, 1], [1, 1], [1, 1]]
    seen = adaptive.Responses.drawn(adaptive.ItemBank.from_qmatrix(q), 60, seed=1).codes
    options = adaptive.LearningOptions(max_iterations=3, monotone=False)
    small = adaptive.learn(seen, q, options=options)
    large = adaptive.learn(seen, q, gate=adaptive.Gdina, options=options)
    table = adaptive.compare_models({"DINA": small, "G-DINA": large})
    groups = ["a"] * 30 + ["b"] * 30
    proposals = adaptive.validate_qmatrix(large)
    tests = adaptive.reduced_models(large)
    return [
        table,
        *table.models,
        adaptive.likelihood_ratio(small, large),
        adaptive.limited_information(small),
        adaptive.learn_groups(seen, q, groups, options=options),
        adaptive.FunctioningOptions(items=["a"], anchors=["b"]),
        *adaptive.item_functioning(
            seen, q, groups, testing=adaptive.FunctioningOptions(items=["item_1"]), options=options
        ),
        adaptive.judge(small),
        adaptive.pair_fit(small)[0],
        proposals,
        proposals.items[0],
        proposals.items[0].now,
        tests[0],
        tests[0].tests[0],
        *adaptive.compare_structures(seen, q, folds=2, options=options),
    ]


# --- Strategies and the laboratory ----------------------------------------------------------------


def tree_of(board: Board) -> strategies.StrategyTree:
    """Return a small strategy tree."""
    return strategies.strategy_tree(strategies.strategy_by_name("knuth"), board)


@_add(
    strategies.StrategyTree,
    strategies.TreeNode,
    strategies.TreeComparison,
    strategies.Parting,
    strategies.Optimum,
    strategies.Lengths,
    strategies.Measured,
    strategies.GuessInfo,
    strategies.GuessRegret,
    strategies.FoundCode,
    strategies.FittedWeights,
    strategies.Planned,
)
def _trees() -> Any:
    tree = tree_of(BOARD)
    optimum = strategies.optimal_on_average(BOARD)
    belief = strategies.start_belief(Channel.exact(BOARD))
    knuth = strategies.strategy_by_name("knuth")
    measured = strategies.measure_games(knuth, BOARD, games=5, seed=1)
    chosen = knuth.choose(belief, np.random.default_rng(1))
    compared = strategies.compare_trees(tree, optimum.tree)
    other = strategies.compare_trees(
        tree, strategies.strategy_tree(strategies.first_possible(), BOARD)
    )
    return [
        tree,
        tree.root,
        compared,
        other,
        *compared.partings,
        *other.partings,
        optimum,
        optimum.value if isinstance(optimum.value, strategies.Lengths) else tree.lengths,
        measured,
        strategies.measure_tree("knuth", tree),
        chosen if isinstance(chosen, strategies.GuessInfo) else chosen[1],
        strategies.describe_guess(belief, (1, 2)),
        *strategies.regrets(BOARD, [TURN], strategies.EntropyLeft()),
        strategies.find_possible_code(BOARD, [TURN]),
        strategies.fit_weights(BOARD, evaluations=3),
        strategies.Planned("tree", tree_of),
    ]


@_add(
    strategies.Breadth,
    strategies.ClassTerms,
    strategies.Deeper,
    strategies.Entropy,
    strategies.ExpectedSize,
    strategies.MostParts,
    strategies.Myopic,
    strategies.Optimal,
    strategies.Subset,
    strategies.AveragedGames,
    strategies.WeightedEntropy,
    strategies.WorstCase,
)
def _players() -> Any:
    return [
        strategies.Breadth(3, 2),
        strategies.ClassTerms(np.array([0, 0, 1]), np.ones((1, 5), dtype=np.int64), 1),
        strategies.Larmouth().terms(BOARD, 9),
        strategies.Deeper(),
        strategies.Entropy(),
        strategies.ExpectedSize(),
        strategies.MostParts(),
        strategies.Myopic(strategies.WorstCase()),
        strategies.Myopic(strategies.WorstCase(), first=(1, 2)),
        strategies.Optimal(),
        strategies.Optimal(first=(1, 2)),
        strategies.Subset(score=strategies.MostParts(), size=3),
        strategies.average_games(strategies.RandomCode(), BOARD),
        strategies.fit_weights(BOARD, evaluations=3).score,
        strategies.WorstCase(),
    ]


@_add(
    strategies.FixedOpening,
    strategies.LearnedTheta,
    strategies.LengthEstimate,
    strategies.Population,
    strategies.ScoredGames,
    strategies.TreeFormat,
)
def _parts_of_players() -> Any:
    rng = np.random.default_rng(1)
    games = strategies.play_scored(BOARD, strategies.INITIAL_THETA, 3, rng)
    return [
        strategies.FixedOpening((1, 2)),
        strategies.Population.of(BOARD, np.array([(1, 2), (3, 3)], dtype=np.uint8)),
        strategies.learn_theta(BOARD, rng, steps=2, games=3),
        strategies.estimate_length(games, strategies.INITIAL_THETA),
        games,
        strategies.TREE_FORMATS[".json"],
    ]


def game_experiment() -> lab.GameExperiment:
    """Return a small experiment with games."""
    knuth = strategies.strategy_by_name("knuth")
    channel = Channel.false_reply(BOARD, 0.2)
    setting = lab.GameSetting(channel=channel, players=(lab.Player(knuth),))
    return lab.GameExperiment(settings=(setting,), games=3, turns=True)


@_add(
    lab.BatchRows,
    lab.CodeMaker,
    lab.Comparison,
    lab.ConfidenceSequence,
    lab.Contest,
    lab.Curve,
    lab.Declared,
    lab.GameBatch,
    lab.GameExperiment,
    lab.GameRow,
    lab.GameSetting,
    lab.LearnedItemRow,
    lab.LearningBatch,
    lab.LearningExperiment,
    lab.Limit,
    lab.Moments,
    lab.NarrowEnough,
    lab.PairedDifference,
    lab.PairedDifferences,
    lab.PlayedTurn,
    lab.Player,
    lab.RankSumGroups,
    lab.Results,
    lab.Revealed,
    lab.StartRow,
    lab.StepRow,
    lab.Store,
    lab.RunningDifferences,
    lab.Style,
    lab.Summary,
    lab.TestBatch,
    lab.TestExperiment,
    lab.TestRow,
    lab.Transcript,
    lab.TurnRow,
)
def _lab() -> Any:
    knuth = strategies.strategy_by_name("knuth")
    channel = Channel.false_reply(BOARD, 0.2)
    maker = lab.CodeMaker(channel, (1, 2), np.array([0.5, 0.25, 0.125, 0.5]))
    played = lab.play_game(knuth, maker, rng=np.random.default_rng(1), ending=lab.Limit(3))
    compared = lab.compare([knuth], channel, games=3)
    contest = lab.Contest([knuth], channel)  # type: ignore[arg-type]
    experiment = game_experiment()
    results = lab.run(experiment)
    learning = lab.LearningExperiment(
        responses=adaptive.Responses(
            adaptive.Responses.drawn(bank(), 5, seed=1).codes, bank().item_names
        ),
        bank=bank(),
        options=adaptive.LearningOptions(starts=2, max_iterations=3),
        items=True,
    )
    tests = lab.TestExperiment(
        bank=bank(),
        selectors={"entropy": adaptive.MinimalEntropy()},
        stopper=adaptive.MaximalItems(1),
        examinees=2,
        steps=True,
    )
    paired = lab.paired_differences({"knuth": [3.0, 4.0], "random": [4.0, 4.0]})
    running = lab.RunningDifferences(strategies=2)
    return [
        experiment,
        *experiment.settings,
        *experiment.settings[0].players,
        *experiment.batches(),
        experiment.batches()[0].run(),
        results,
        *results.details,
        lab.Store(Path("nowhere")),
        tests,
        *tests.batches(),
        *lab.run(tests).rows,
        *lab.run(tests).details,
        learning,
        *learning.batches(),
        *lab.run(learning).rows,
        *lab.run(learning).details,
        lab.ConfidenceSequence(first=2),
        lab.curve_of("knuth", {0.0: [3, 4], 0.2: [5, 5]}),
        lab.style_of("knuth"),
        lab.Moments.of([[1.0, 2.0], [3.0, 2.0]]),
        lab.NarrowEnough(0.1),
        paired,
        *paired.pairs,
        running,
        running.plus([[3.0, 4.0], [4.0, 4.0]]),
        lab.rank_sum_groups({"knuth": [3.0, 4.0], "random": [4.0, 5.0]}),
        maker,
        played,
        *played.turns,
        compared,
        contest,
        *compared.rows,
        *compared.summaries,
        lab.Declared(),
        lab.Limit(3),
        lab.Revealed(),
    ]
