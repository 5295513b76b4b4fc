"""The default beliefs of a bank: tables for few profiles, junction trees for many."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.beliefs.tree_batch import TreeBatch
from bnmind.adaptive.beliefs.tree_belief import TreeBelief
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of

__all__ = ["TABLE_PROFILES", "beliefs_given", "start_belief", "start_beliefs"]

TABLE_PROFILES = 2**16
"""The number of profiles up to which a table is used: that of 16 skills with two levels."""


@checked
def start_belief(bank: ItemBank | HasBank) -> SkillBelief:
    """Return the belief about an examinee who has answered nothing.

    It is a table over all profiles if there are at most `TABLE_PROFILES`, else a junction
    tree. Both are exact.

    Parameters
    ----------
    bank
        The item bank, or what `learn` returns.

    Raises
    ------
    TooLargeError
        If the tree is too large; the message says how large it would be.
    """
    bank = bank_of(bank)
    if n_profiles(bank) <= TABLE_PROFILES:
        return TableBelief.start(bank)
    return TreeBelief.start(bank)


@checked
def start_beliefs(bank: ItemBank, n_examinees: int) -> BatchBelief:
    """Return the beliefs about examinees who have answered nothing; see `start_belief`.

    Parameters
    ----------
    bank
        The item bank.
    n_examinees
        The number of examinees.
    """
    if n_profiles(bank) <= TABLE_PROFILES:
        return TableBatch.start(bank, n_examinees)
    return TreeBatch.start(bank, n_examinees)


@checked
def beliefs_given(bank: ItemBank, responses: ArrayLike) -> BatchBelief:
    """Return the beliefs given responses ``(examinees, items)``; −1 where there is none.

    Parameters
    ----------
    bank
        The item bank.
    responses
        ``(examinees, items)``, positions of responses in the order of the bank; −1 for none.

    Raises
    ------
    InvalidArgumentError
        If a response is out of range; the message names row and item.
    ImpossibleEvidenceError
        If an examinee's responses have probability zero.
    TooLargeError
        If the tables of all examinees would be too large.
    """
    if n_profiles(bank) <= TABLE_PROFILES:
        return TableBatch.of(bank, responses)
    return TreeBatch.of(bank, responses)
