"""Adaptive testing: item banks, beliefs about skills."""

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.batch_belief import MISSING, BatchBelief, BatchProfiles
from bnmind.adaptive.belief import Profile, SkillBelief
from bnmind.adaptive.beliefs import beliefs_given, start_belief, start_beliefs
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
from bnmind.adaptive.item import Item
from bnmind.adaptive.plan_batch import PlanBatch
from bnmind.adaptive.plan_belief import PlanBelief
from bnmind.adaptive.profile_batch import ProfileBatch
from bnmind.adaptive.profile_belief import ProfileBelief
from bnmind.adaptive.profiles import Hierarchy, Independent, ProfileDistribution, Saturated
from bnmind.adaptive.qmatrix import QMatrix

__all__ = [
    "MISSING",
    "BatchBelief",
    "BatchProfiles",
    "Dina",
    "Dino",
    "FreeTable",
    "Gate",
    "Graded",
    "Hierarchy",
    "Independent",
    "Item",
    "ItemBank",
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
    "start_belief",
    "start_beliefs",
]
