"""The interface of beliefs about the skills of many examinees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats

__all__ = ["MISSING", "BatchBelief", "BatchProfiles", "Responses"]

MISSING = -1
"""The code for a missing response, and for the item of an examinee who is not asked."""

Responses = NDArray[np.int16]
"""``(examinees, items)`` positions of responses; `MISSING` where there is none."""


@dataclass(frozen=True, eq=False)
class BatchProfiles(Value):
    """The most probable profile of each examinee."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels."""
    probabilities: Floats
    """``(examinees,)``, the probability of each whole profile."""


class BatchBelief(Protocol):
    """The interface of beliefs about the skills of many examinees, each with their own responses.

    It is that of `SkillBelief` with the examinees as a first axis. Items are given by
    their positions in ``bank.items``.
    """

    @property
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    def responses(self) -> Responses:
        """The responses so far, ``(examinees, items)``, read-only."""

    @property
    def error_chances(self) -> Floats:
        """The chance that each response was an error, ``(examinees,)``; see `with_errors`."""

    @property
    def log_evidence(self) -> Floats:
        """Natural logarithm of the probability of each examinee's responses."""

    @property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""

    def __len__(self) -> int: ...

    def update(self, items: ArrayLike, responses: ArrayLike) -> Self:
        """Return the beliefs after one more response of each examinee.

        Parameters
        ----------
        items
            ``(examinees,)`` positions of the items asked; `MISSING` for examinees not asked.
        responses
            ``(examinees,)`` positions of their responses. The response to a missing item
            is ignored; a missing response changes nothing.

        Raises
        ------
        InvalidArgumentError
            If an item or a response is out of range, or the item was answered already;
            the message names the examinee.
        ImpossibleEvidenceError
            If an examinee's responses together have probability zero.
        """

    def with_errors(self, chances: ArrayLike) -> Self:
        """Return the beliefs if each response is an error with the given chance.

        Parameters
        ----------
        chances
            In [0, 1), one for all or ``(examinees,)``; see `SkillBelief.with_errors`.
        """

    def take(self, examinees: ArrayLike) -> Self:
        """Return the beliefs about some of the examinees, by position or by a mask.

        Parameters
        ----------
        examinees
            Positions of examinees, or a mask ``(examinees,)``.
        """

    def alone(self, examinee: int) -> SkillBelief:
        """Return the belief about one examinee, by position.

        Parameters
        ----------
        examinee
            The position of the examinee.
        """

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``.

        Parameters
        ----------
        skill
            The name of the skill.
        """

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile of the skills."""

    def masses(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of parent configurations, ``(examinees, items, configurations)``.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """

    def predict(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """

    def information(self, items: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Return the information of items, in bits, ``(examinees, items)``.

        As `SkillBelief.information`; default all items.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """
