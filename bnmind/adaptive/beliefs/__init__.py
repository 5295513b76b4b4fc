"""Beliefs about skills given responses, of one examinee or of many."""

from bnmind.adaptive.beliefs.ability_estimates import (
    ability_deviation,
    expected_ability,
    most_likely_ability,
    most_probable_ability,
)
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief, BatchProfiles
from bnmind.adaptive.beliefs.belief import Profile, SkillBelief
from bnmind.adaptive.beliefs.person_fit import AnswerFit, person_fit
from bnmind.adaptive.beliefs.skill_response_joints import response_joints
from bnmind.adaptive.beliefs.start import beliefs_given, start_belief, start_beliefs
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.beliefs.tree_batch import TreeBatch
from bnmind.adaptive.beliefs.tree_belief import TreeBelief

__all__ = [
    "MISSING",
    "AnswerFit",
    "BatchBelief",
    "BatchProfiles",
    "Profile",
    "SkillBelief",
    "TableBatch",
    "TableBelief",
    "TreeBatch",
    "TreeBelief",
    "ability_deviation",
    "beliefs_given",
    "expected_ability",
    "most_likely_ability",
    "most_probable_ability",
    "person_fit",
    "response_joints",
    "start_belief",
    "start_beliefs",
]
