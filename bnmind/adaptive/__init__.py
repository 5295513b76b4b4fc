"""Adaptive testing: item banks, beliefs about skills."""

from bnmind.adaptive.ability import (
    ability_deviation,
    expected_ability,
    most_likely_ability,
    most_probable_ability,
)
from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.batch_belief import MISSING, BatchBelief, BatchProfiles
from bnmind.adaptive.belief import Profile, SkillBelief
from bnmind.adaptive.beliefs import beliefs_given, start_belief, start_beliefs
from bnmind.adaptive.content_balance import ContentBalance
from bnmind.adaptive.cross_validation import CrossValidation, cross_validate
from bnmind.adaptive.design import Design, Outlook
from bnmind.adaptive.doubts import AnswerDoubt, doubts_about
from bnmind.adaptive.examinees import Examinees
from bnmind.adaptive.exposure_eligibility import ItemEligibility
from bnmind.adaptive.exposure_randomesque import Randomesque
from bnmind.adaptive.exposure_sympson_hetter import SympsonHetter
from bnmind.adaptive.files import read_bank, write_bank
from bnmind.adaptive.fit_items import ItemFit, item_fit
from bnmind.adaptive.fit_predictive import PairStatistics, PredictiveCheck, predictive_check
from bnmind.adaptive.gates import (
    Dina,
    Dino,
    FreeTable,
    Gate,
    Graded,
    NoisyAnd,
    NoisyOr,
    Sequential,
)
from bnmind.adaptive.irt import AbilityGrid, GradedResponse, Logistic, irt_bank, logistic_items
from bnmind.adaptive.item import Item
from bnmind.adaptive.learn import Learned, LearnedItem, LearningRecord, learn
from bnmind.adaptive.learning_errors import ItemParameter, StandardErrors, standard_errors
from bnmind.adaptive.learning_options import Bounds, LearningOptions, Priors
from bnmind.adaptive.plan_batch import PlanBatch
from bnmind.adaptive.plan_belief import PlanBelief
from bnmind.adaptive.profile_batch import ProfileBatch
from bnmind.adaptive.profile_belief import ProfileBelief
from bnmind.adaptive.profiles import Hierarchy, Independent, ProfileDistribution, Saturated
from bnmind.adaptive.qmatrix import QMatrix
from bnmind.adaptive.qmatrix_csv import read_qmatrix
from bnmind.adaptive.rank import RankedItem, rank_items
from bnmind.adaptive.replay import fold_numbers, replay
from bnmind.adaptive.report import SessionReport, SkillReport
from bnmind.adaptive.response_joints import response_joints
from bnmind.adaptive.responses import Responses
from bnmind.adaptive.results import SelectorRun, SimulationResult
from bnmind.adaptive.rules import Enemies, OnlyItems, Rule, Testlets, allowed_items
from bnmind.adaptive.selector import (
    BatchSelection,
    QuestionBelief,
    ScoringSelector,
    Selection,
    Selector,
)
from bnmind.adaptive.selector_discrimination import DiscriminationIndex
from bnmind.adaptive.selector_divergence import (
    KullbackLeibler,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
)
from bnmind.adaptive.selector_entropy import MinimalEntropy
from bnmind.adaptive.selector_fisher import MaximalFisher
from bnmind.adaptive.selector_loss import Loss, LossGain
from bnmind.adaptive.selector_plain import (
    ChosenBy,
    FixedOrder,
    PerCost,
    RandomItem,
    ScoredBy,
    item_cost,
    item_time,
)
from bnmind.adaptive.selector_skills import SkillEntropy, TargetEntropy
from bnmind.adaptive.session import Session
from bnmind.adaptive.session_events import Event, EventKind
from bnmind.adaptive.simulate import simulate
from bnmind.adaptive.simulate_measures import (
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
from bnmind.adaptive.stopper import AllOf, AnyOf, BatchProgress, Progress, StopBy, Stopper
from bnmind.adaptive.stopper_certainty import (
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    ProfileCertain,
    SkillsCertain,
)
from bnmind.adaptive.stopper_length import MaximalCost, MaximalItems, MaximalTime

__all__ = [
    "ABILITY",
    "ABILITY_DEVIATION",
    "ABILITY_ERROR",
    "ABILITY_SQUARED_ERROR",
    "ACCURACY",
    "ATTRIBUTE_ACCURACY",
    "BRIER_SCORE",
    "ENTROPY",
    "LOG_SCORE",
    "MISSING",
    "PATTERN_ACCURACY",
    "PROFILE_PROBABILITY",
    "UNASKED_ACCURACY",
    "AbilityGrid",
    "AllOf",
    "AnswerDoubt",
    "AnyOf",
    "BatchBelief",
    "BatchProfiles",
    "BatchProgress",
    "BatchSelection",
    "Bounds",
    "ChosenBy",
    "ContentBalance",
    "CrossValidation",
    "Design",
    "DeviationBelow",
    "Dina",
    "Dino",
    "DiscriminationIndex",
    "Enemies",
    "EntropyBelow",
    "Event",
    "EventKind",
    "Examinees",
    "FixedOrder",
    "FreeTable",
    "GainBelow",
    "Gate",
    "Graded",
    "GradedResponse",
    "Hierarchy",
    "Independent",
    "Item",
    "ItemBank",
    "ItemEligibility",
    "ItemFit",
    "ItemParameter",
    "KullbackLeibler",
    "Learned",
    "LearnedItem",
    "LearningOptions",
    "LearningRecord",
    "Logistic",
    "Loss",
    "LossGain",
    "MaximalCost",
    "MaximalFisher",
    "MaximalItems",
    "MaximalTime",
    "Measure",
    "MinimalEntropy",
    "ModifiedPosteriorWeightedKL",
    "Moment",
    "NoisyAnd",
    "NoisyOr",
    "OnlyItems",
    "Outlook",
    "PairStatistics",
    "PerCost",
    "PlanBatch",
    "PlanBelief",
    "PosteriorWeightedKL",
    "PredictiveCheck",
    "Priors",
    "Profile",
    "ProfileBatch",
    "ProfileBelief",
    "ProfileCertain",
    "ProfileDistribution",
    "Progress",
    "QMatrix",
    "QuestionBelief",
    "RandomItem",
    "Randomesque",
    "RankedItem",
    "Responses",
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
    "SimulationResult",
    "SkillBelief",
    "SkillEntropy",
    "SkillReport",
    "SkillsCertain",
    "StandardErrors",
    "StopBy",
    "Stopper",
    "SympsonHetter",
    "TargetEntropy",
    "Testlets",
    "ability_deviation",
    "allowed_items",
    "beliefs_given",
    "cross_validate",
    "default_measures",
    "doubts_about",
    "expected_ability",
    "fold_numbers",
    "irt_bank",
    "item_cost",
    "item_fit",
    "item_time",
    "learn",
    "logistic_items",
    "most_likely_ability",
    "most_probable_ability",
    "predictive_check",
    "rank_items",
    "read_bank",
    "read_qmatrix",
    "replay",
    "response_joints",
    "simulate",
    "standard_errors",
    "start_belief",
    "start_beliefs",
    "write_bank",
]
