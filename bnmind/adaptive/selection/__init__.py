"""Rules that choose the next item."""

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

__all__ = [
    "SELECTORS",
    "AStratified",
    "BatchSelection",
    "ChosenBy",
    "ContentBalance",
    "DiscriminationIndex",
    "Enemies",
    "FixedOrder",
    "ItemEligibility",
    "KullbackLeibler",
    "Loss",
    "LossGain",
    "MaximalFisher",
    "MinimalEntropy",
    "MinimalPosteriorVariance",
    "ModifiedPosteriorWeightedKL",
    "OnlyItems",
    "PerCost",
    "PosteriorWeightedKL",
    "Progressive",
    "QuestionBelief",
    "RandomItem",
    "Randomesque",
    "RankedItem",
    "Rule",
    "ScoredBy",
    "ScoringSelector",
    "Selection",
    "Selector",
    "SkillEntropy",
    "SympsonHetter",
    "TargetEntropy",
    "Testlets",
    "allowed_items",
    "item_cost",
    "item_time",
    "rank_items",
    "selector_by_name",
]
