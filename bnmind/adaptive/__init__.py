"""Adaptive testing: item banks, beliefs about skills."""

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.batch_belief import MISSING, BatchBelief, BatchProfiles
from bnmind.adaptive.belief import Profile, SkillBelief
from bnmind.adaptive.beliefs import beliefs_given, start_belief, start_beliefs
from bnmind.adaptive.files import read_bank, write_bank
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
from bnmind.adaptive.plan_batch import PlanBatch
from bnmind.adaptive.plan_belief import PlanBelief
from bnmind.adaptive.profile_batch import ProfileBatch
from bnmind.adaptive.profile_belief import ProfileBelief
from bnmind.adaptive.profiles import Hierarchy, Independent, ProfileDistribution, Saturated
from bnmind.adaptive.qmatrix import QMatrix

__all__ = [
    "MISSING",
    "AbilityGrid",
    "BatchBelief",
    "BatchProfiles",
    "Dina",
    "Dino",
    "FreeTable",
    "Gate",
    "Graded",
    "GradedResponse",
    "Hierarchy",
    "Independent",
    "Item",
    "ItemBank",
    "Logistic",
    "NoisyAnd",
    "NoisyOr",
    "PlanBatch",
    "PlanBelief",
    "Profile",
    "ProfileBatch",
    "ProfileBelief",
    "ProfileDistribution",
    "QMatrix",
    "Saturated",
    "Sequential",
    "SkillBelief",
    "beliefs_given",
    "irt_bank",
    "logistic_items",
    "read_bank",
    "start_belief",
    "start_beliefs",
    "write_bank",
]
