"""Beliefs that go on after responses which a bank holds for impossible.

A bank may hold a chance of 0 for a response that an examinee gives all the same: nobody who
knows a skill fails such an item, and then somebody does. While some profile of the skills
explains all responses, a belief takes the bank at its word. As soon as none does, every
response of this examinee counts as a possible error, with a chance so small that the profiles
against which the fewest responses speak become the probable ones.

=========  ==================================================================
symbol     name here
=========  ==================================================================
ε          ``error_chance``: `ERROR_CHANCE` if the responses are impossible
N[c, r]    ``ItemBank.channel``: the chance of a response
N'[c, r]   (1 − ε) N[c, r] + ε / number of responses: its likelihood
=========  ==================================================================

The same idea serves replies in Mastermind that contradict each other: see
`bnmind.mastermind.VanishingBelief`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, number_array
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats

if TYPE_CHECKING:
    from bnmind.adaptive.beliefs.batch_belief import BatchBelief
    from bnmind.adaptive.beliefs.belief import SkillBelief

__all__ = [
    "ERROR_CHANCE",
    "checked_error_chances",
    "likelihood",
    "updated_anyway",
    "updated_batch_anyway",
]

ERROR_CHANCE = 2.0**-20
"""The chance that a response was an error, once the responses are impossible together."""

_NEARLY_IMPOSSIBLE = 1e-6
"""Responses predicted with a smaller chance are tried one by one."""


def likelihood(channel: Floats, response: int, error_chance: float) -> Floats:
    """Return the likelihood of a response that may be an error, ``(configurations,)``.

    Parameters
    ----------
    channel
        The channel of the item, as `ItemBank.channel` returns it.
    response
        The position of the response.
    error_chance
        The chance that it is an error.
    """
    column: Floats = channel[:, response]
    if not error_chance:
        return column
    softened: Floats = (1 - error_chance) * column + error_chance / channel.shape[1]
    return softened


def checked_error_chances(chances: ArrayLike, n_examinees: int | None = None) -> Floats:
    """Return chances of errors as numbers.

    Raises
    ------
    InvalidArgumentError
        Unless they lie in [0, 1).
    InvalidArgumentError
        If they are neither one number nor one for each examinee.
    """
    found = number_array(chances, "chances")
    if n_examinees is not None and found.ndim:
        check_shape(found, "chances", (n_examinees,))
    wrong = found[~((found >= 0) & (found < 1))]
    if wrong.size:
        raise InvalidArgumentError(f"expected a chance of an error in [0, 1), got {wrong[0]}")
    return found


def updated_anyway(belief: SkillBelief, item: str, response: int | str) -> SkillBelief:
    """Return the belief after one more response, even if the bank holds it for impossible.

    In that case each response counts as an error with the chance `ERROR_CHANCE`, and the
    ``error_chance`` of the belief returned says so.

    Raises
    ------
    UnknownNameError, InvalidResponseError
        As for `SkillBelief.update`.
    """
    try:
        return belief.update(item, response)
    except ImpossibleEvidenceError:
        return belief.with_errors(ERROR_CHANCE).update(item, response)


def updated_batch_anyway(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> BatchBelief:
    """Return the beliefs after one more response of each; see `updated_anyway`.

    Parameters
    ----------
    beliefs
        What is known of each examinee.
    items, responses
        ``(examinees,)``, as for `BatchBelief.update`.
    """
    try:
        return beliefs.update(items, responses)
    except ImpossibleEvidenceError:
        wrong = _impossible(beliefs, items, responses)
    chances = np.where(wrong, ERROR_CHANCE, beliefs.error_chances)
    return beliefs.with_errors(chances).update(items, responses)


def _impossible(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return for whom the response is impossible after those before it."""
    asked, places = np.unique(np.maximum(items, 0), return_inverse=True)
    chances = beliefs.predict(asked)[np.arange(len(items)), places, np.maximum(responses, 0)]
    wrong = np.zeros(len(items), dtype=bool)
    for row in np.flatnonzero(chances < _NEARLY_IMPOSSIBLE).tolist():
        try:
            beliefs.take([row]).update(items[[row]], responses[[row]])
        except ImpossibleEvidenceError:
            wrong[row] = True
    return wrong
