"""Which belief a bank starts with, unless one is asked for."""

from __future__ import annotations

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.belief import SkillBelief
from bnmind.adaptive.plan_belief import PlanBelief
from bnmind.adaptive.profile_belief import ProfileBelief
from bnmind.adaptive.profile_space import n_profiles

__all__ = ["TABLE_PROFILES", "start_belief"]

TABLE_PROFILES = 2**16
"""Up to so many profiles a table is used: that of 16 skills with two levels."""


def start_belief(bank: ItemBank) -> SkillBelief:
    """Return the belief about an examinee who has answered nothing.

    It is a table over all profiles if there are at most `TABLE_PROFILES` of them, else
    by a junction tree; both are exact.

    Raises
    ------
    TooLargeError
        If the tree is too large; it says how large it would be.
    """
    if n_profiles(bank) <= TABLE_PROFILES:
        return ProfileBelief.start(bank)
    return PlanBelief.start(bank)
