"""Adaptive testing: item banks, beliefs about skills."""

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.belief import Profile, SkillBelief, item_information
from bnmind.adaptive.beliefs import start_belief
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
from bnmind.adaptive.plan_belief import PlanBelief
from bnmind.adaptive.profile_belief import ProfileBelief
from bnmind.adaptive.profiles import Hierarchy, Independent, ProfileDistribution, Saturated
from bnmind.adaptive.qmatrix import QMatrix

__all__ = [
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
    "PlanBelief",
    "Profile",
    "ProfileBelief",
    "ProfileDistribution",
    "QMatrix",
    "Saturated",
    "Sequential",
    "SkillBelief",
    "item_information",
    "start_belief",
]
