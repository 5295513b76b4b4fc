"""Adaptive testing: item banks, response models, beliefs about skills, tests."""

from bnmind.adaptive import calibration, learning, pilot
from bnmind.adaptive.assembly.blueprint import Blueprint
from bnmind.adaptive.assembly.bounds import Bound, CodeBound, ItemsBound, SkillBound
from bnmind.adaptive.assembly.content_order import ContentOrder
from bnmind.adaptive.assembly.shadow_test import ShadowTest
from bnmind.adaptive.assembly.stages import Stage, Staged, StageItems, StartItems
from bnmind.adaptive.beliefs.ability_estimates import (
    ability_deviation,
    expected_ability,
    most_likely_ability,
    most_probable_ability,
)
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief, BatchProfiles
from bnmind.adaptive.beliefs.belief import Profile, SkillBelief
from bnmind.adaptive.beliefs.parameter_uncertainty import skill_intervals
from bnmind.adaptive.beliefs.person_fit import AnswerFit, person_fit
from bnmind.adaptive.beliefs.skill_response_joints import response_joints
from bnmind.adaptive.beliefs.start import beliefs_given, start_belief, start_beliefs
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.beliefs.tree_batch import TreeBatch
from bnmind.adaptive.beliefs.tree_belief import TreeBelief
from bnmind.adaptive.calibration import *  # noqa: F403
from bnmind.adaptive.classification.classify import (
    Classification,
    Reliability,
    SkillReliability,
    classify,
)
from bnmind.adaptive.classification.known_profiles import Agreement, KnownProfiles, read_profiles
from bnmind.adaptive.items.bank import HasBank, ItemBank
from bnmind.adaptive.items.bank_files import read_bank, write_bank
from bnmind.adaptive.items.certain_tables import drawn_bank, with_certainties
from bnmind.adaptive.items.certainty import ParameterCertainty, TableCertainty
from bnmind.adaptive.items.descriptions import describe_bank
from bnmind.adaptive.items.higher_order import HigherOrder
from bnmind.adaptive.items.irt import AbilityGrid, irt_bank, logistic_items
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.priors import read_prior, with_prior
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.qmatrix_csv import read_qmatrix
from bnmind.adaptive.items.skill_distributions import (
    SKILL_DISTRIBUTIONS,
    Hierarchy,
    Independent,
    ProfileDistribution,
    Saturated,
)
from bnmind.adaptive.learning.fit import *  # noqa: F403
from bnmind.adaptive.learning.groups import LearnedGroups, learn_groups
from bnmind.adaptive.learning.irt import IRT_MODELS, IrtModel, irt_options, irt_start, learn_irt
from bnmind.adaptive.learning.learn import Learned, LearnedItem, LearningRecord, learn
from bnmind.adaptive.learning.notes import LearningNote
from bnmind.adaptive.learning.parameters.options import Bounds, LearningOptions, Priors
from bnmind.adaptive.pilot import *  # noqa: F403
from bnmind.adaptive.response_models.additive.acdm import Acdm
from bnmind.adaptive.response_models.additive.leaky_or import LeakyOr
from bnmind.adaptive.response_models.additive.link import IDENTITY, LOG, LOGIT
from bnmind.adaptive.response_models.additive.llm import Llm
from bnmind.adaptive.response_models.additive.nida import Nida
from bnmind.adaptive.response_models.additive.nido import Nido
from bnmind.adaptive.response_models.additive.rrum import Rrum
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.dibello.combination import Combination
from bnmind.adaptive.response_models.dibello.link import Link
from bnmind.adaptive.response_models.dibello.normal import DiBelloNormal
from bnmind.adaptive.response_models.dibello.steps import DiBello
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.response_models.dino import Dino
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.response_models.noisy_and import NoisyAnd
from bnmind.adaptive.response_models.noisy_or import NoisyOr
from bnmind.adaptive.response_models.nominal import Nominal
from bnmind.adaptive.response_models.parametric import ParametricModel
from bnmind.adaptive.response_models.partial_credit import PartialCredit
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.adaptive.response_models.sequential import Sequential
from bnmind.adaptive.response_models.tabulated import Tabulated
from bnmind.adaptive.responses.examinees import Examinees
from bnmind.adaptive.responses.folds import fold_numbers
from bnmind.adaptive.responses.responses import Responses
from bnmind.adaptive.selection.baselines import (
    ChosenBy,
    FixedOrder,
    PerCost,
    RandomItem,
    ScoredBy,
    item_cost,
    item_time,
)
from bnmind.adaptive.selection.content_balance import ContentBalance
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.expected_loss import Loss, LossGain
from bnmind.adaptive.selection.fisher import MaximalFisher
from bnmind.adaptive.selection.gdi import DiscriminationIndex
from bnmind.adaptive.selection.item_eligibility import ItemEligibility
from bnmind.adaptive.selection.kullback_leibler import (
    KullbackLeibler,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
)
from bnmind.adaptive.selection.posterior_variance import MinimalPosteriorVariance
from bnmind.adaptive.selection.progressive import Progressive
from bnmind.adaptive.selection.randomesque import Randomesque
from bnmind.adaptive.selection.ranking import RankedItem, rank_items
from bnmind.adaptive.selection.registry import SELECTORS, selector_by_name
from bnmind.adaptive.selection.rules import Enemies, OnlyItems, Rule, Testlets, allowed_items
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    QuestionBelief,
    ScoringSelector,
    Selection,
    Selector,
)
from bnmind.adaptive.selection.stratified import AStratified
from bnmind.adaptive.selection.sympson_hetter import SympsonHetter
from bnmind.adaptive.selection.target_entropy import SkillEntropy, TargetEntropy
from bnmind.adaptive.sessions.design import Design, Outlook, ReportOptions
from bnmind.adaptive.sessions.design_file import read_design
from bnmind.adaptive.sessions.events import Event, EventKind
from bnmind.adaptive.sessions.report import SessionReport, SkillReport
from bnmind.adaptive.sessions.resume import resume_session
from bnmind.adaptive.sessions.session import Session
from bnmind.adaptive.simulation.measures import (
    ABILITY,
    ABILITY_DEVIATION,
    ABILITY_ERROR,
    ABILITY_SQUARED_ERROR,
    ACCURACY,
    ATTRIBUTE_ACCURACY,
    BRIER_SCORE,
    ENTROPY,
    LOG_SCORE,
    PATTERN_ACCURACY,
    PROFILE_PROBABILITY,
    UNASKED_ACCURACY,
    Measure,
    Moment,
    default_measures,
)
from bnmind.adaptive.simulation.replay import replay
from bnmind.adaptive.simulation.results import SelectorRun, SimulationResult
from bnmind.adaptive.simulation.simulate import (
    SimulationOptions,
    calibrated,
    simulate,
    simulate_designs,
)
from bnmind.adaptive.stopping.certainty import (
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    ProfileCertain,
    SkillsCertain,
)
from bnmind.adaptive.stopping.length import MaximalCost, MaximalItems, MaximalTime
from bnmind.adaptive.stopping.plateau import Plateau
from bnmind.adaptive.stopping.probability_ratio import AbilityDecided, SkillsDecided
from bnmind.adaptive.stopping.registry import STOPPERS, stopper_by_names
from bnmind.adaptive.stopping.stopper import AllOf, AnyOf, BatchProgress, Progress, StopBy, Stopper
from bnmind.adaptive.trees.aims import AIMS
from bnmind.adaptive.trees.evaluation import evaluate_design
from bnmind.adaptive.trees.files import ITEM_TREE_FORMATS
from bnmind.adaptive.trees.item_tree import design_tree
from bnmind.adaptive.trees.optimal import fixed_test, optimal_test_tree, panel_test

__all__ = [
    "ABILITY",
    "ABILITY_DEVIATION",
    "ABILITY_ERROR",
    "ABILITY_SQUARED_ERROR",
    "ACCURACY",
    "AIMS",
    "ATTRIBUTE_ACCURACY",
    "BRIER_SCORE",
    "ENTROPY",
    "IDENTITY",
    "IRT_MODELS",
    "ITEM_TREE_FORMATS",
    "LOG",
    "LOGIT",
    "LOG_SCORE",
    "MISSING",
    "PATTERN_ACCURACY",
    "PROFILE_PROBABILITY",
    "RESPONSE_MODELS",
    "SELECTORS",
    "SKILL_DISTRIBUTIONS",
    "STOPPERS",
    "UNASKED_ACCURACY",
    "AStratified",
    "AbilityDecided",
    "AbilityGrid",
    "Acdm",
    "Agreement",
    "AllOf",
    "AnswerFit",
    "AnyOf",
    "BatchBelief",
    "BatchProfiles",
    "BatchProgress",
    "BatchSelection",
    "Blueprint",
    "Bound",
    "Bounds",
    "ChosenBy",
    "Classification",
    "CodeBound",
    "Combination",
    "ContentBalance",
    "ContentOrder",
    "Design",
    "DeviationBelow",
    "DiBello",
    "DiBelloNormal",
    "Dina",
    "Dino",
    "DiscriminationIndex",
    "Enemies",
    "EntropyBelow",
    "Event",
    "EventKind",
    "Examinees",
    "FixedOrder",
    "GainBelow",
    "Gdina",
    "Graded",
    "GradedResponse",
    "HasBank",
    "Hierarchy",
    "HigherOrder",
    "Independent",
    "IrtModel",
    "Item",
    "ItemBank",
    "ItemEligibility",
    "ItemsBound",
    "KnownProfiles",
    "KullbackLeibler",
    "LeakyOr",
    "Learned",
    "LearnedGroups",
    "LearnedItem",
    "LearningNote",
    "LearningOptions",
    "LearningRecord",
    "Link",
    "Llm",
    "Logistic",
    "Loss",
    "LossGain",
    "MaximalCost",
    "MaximalFisher",
    "MaximalItems",
    "MaximalTime",
    "Measure",
    "MinimalEntropy",
    "MinimalPosteriorVariance",
    "ModifiedPosteriorWeightedKL",
    "Moment",
    "Nida",
    "Nido",
    "NoisyAnd",
    "NoisyOr",
    "Nominal",
    "OnlyItems",
    "Outlook",
    "ParameterCertainty",
    "ParametricModel",
    "PartialCredit",
    "PerCost",
    "Plateau",
    "PosteriorWeightedKL",
    "Priors",
    "Profile",
    "ProfileCertain",
    "ProfileDistribution",
    "Progress",
    "Progressive",
    "QMatrix",
    "QuestionBelief",
    "RandomItem",
    "Randomesque",
    "RankedItem",
    "Reliability",
    "ReportOptions",
    "ResponseModel",
    "Responses",
    "Rrum",
    "Rule",
    "Saturated",
    "ScoredBy",
    "ScoringSelector",
    "Selection",
    "Selector",
    "SelectorRun",
    "Sequential",
    "Session",
    "SessionReport",
    "ShadowTest",
    "SimulationOptions",
    "SimulationResult",
    "SkillBelief",
    "SkillBound",
    "SkillEntropy",
    "SkillReliability",
    "SkillReport",
    "SkillsCertain",
    "SkillsDecided",
    "Stage",
    "StageItems",
    "Staged",
    "StartItems",
    "StopBy",
    "Stopper",
    "SympsonHetter",
    "TableBatch",
    "TableBelief",
    "TableCertainty",
    "Tabulated",
    "TargetEntropy",
    "Testlets",
    "TreeBatch",
    "TreeBelief",
    "ability_deviation",
    "allowed_items",
    "beliefs_given",
    "calibrated",
    "classify",
    "default_measures",
    "describe_bank",
    "design_tree",
    "drawn_bank",
    "evaluate_design",
    "expected_ability",
    "fixed_test",
    "fold_numbers",
    "irt_bank",
    "irt_options",
    "irt_start",
    "item_cost",
    "item_time",
    "learn",
    "learn_groups",
    "learn_irt",
    "logistic_items",
    "most_likely_ability",
    "most_probable_ability",
    "optimal_test_tree",
    "panel_test",
    "person_fit",
    "rank_items",
    "read_bank",
    "read_design",
    "read_prior",
    "read_profiles",
    "read_qmatrix",
    "replay",
    "response_joints",
    "resume_session",
    "selector_by_name",
    "simulate",
    "simulate_designs",
    "skill_intervals",
    "start_belief",
    "start_beliefs",
    "stopper_by_names",
    "with_certainties",
    "with_prior",
    "write_bank",
]
__all__ += calibration.__all__ + learning.fit.__all__ + pilot.__all__
