"""Beliefs that continue after responses that are impossible according to the bank.

A bank may give a response the probability 0, and an examinee may give that response
nevertheless. As long as some profile of the skills explains all responses, the belief follows
the bank. As soon as none does, every response of this examinee is treated as a possible error.
The chance of an error is so small that the belief is the limit of ever smaller chances up to
rounding: the profiles contradicted by the fewest responses, weighted by their probabilities given
all other responses.

=========  ==================================================================
symbol     name here
=========  ==================================================================
ε          ``error_chance``: `ERROR_CHANCE` if the responses are impossible
N[c, r]    ``ItemBank.channel``: the chance of a response
N'[c, r]   (1 − ε) N[c, r] + ε / number of responses: its likelihood
=========  ==================================================================

`bnmind.mastermind.VanishingBelief` treats contradictory replies in Mastermind in the same way.
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

ERROR_CHANCE = 2.0**-40
"""The chance that a response was an error, once the responses are impossible together.

A profile that one more response contradicts counts by this chance, times the ratio of its
probability given all other responses. A chance of 2**-20 is not small enough for that: it moves
probabilities by up to 3e-4 in tests of eight answers.
"""

_NEARLY_IMPOSSIBLE = 1e-6
"""Responses of smaller predicted probability are checked one by one."""


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
    """Return chances of errors as an array.

    Raises
    ------
    InvalidArgumentError
        If they are not in [0, 1), or are neither one number nor one for each examinee.
    """
    numbers = number_array(chances, "chances")
    if n_examinees is not None and numbers.ndim:
        check_shape(numbers, "chances", (n_examinees,))
    wrong = numbers[~((numbers >= 0) & (numbers < 1))]
    if wrong.size:
        raise InvalidArgumentError(f"the chance of an error must be in [0, 1), got {wrong[0]}")
    return numbers


def updated_anyway(belief: SkillBelief, item: str, response: int | str) -> SkillBelief:
    """Return the belief after one more response, even if it is impossible for the bank.

    In that case each response counts as an error with the chance `ERROR_CHANCE`, which is the
    ``error_chance`` of the returned belief.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As for `SkillBelief.update`.
    """
    try:
        return belief.update(item, response)
    except ImpossibleEvidenceError:
        return belief.with_errors(ERROR_CHANCE).update(item, response)


def updated_batch_anyway(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> BatchBelief:
    """Return the beliefs after one more response of each examinee; see `updated_anyway`.

    Parameters
    ----------
    beliefs
        The belief about each examinee.
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
    """Return a mask of the examinees whose response is impossible after their earlier ones."""
    asked, places = np.unique(np.maximum(items, 0), return_inverse=True)
    chances = beliefs.predict(asked)[np.arange(len(items)), places, np.maximum(responses, 0)]
    wrong = np.zeros(len(items), dtype=bool)
    for row in np.flatnonzero(chances < _NEARLY_IMPOSSIBLE).tolist():
        try:
            beliefs.take([row]).update(items[[row]], responses[[row]])
        except ImpossibleEvidenceError:
            wrong[row] = True
    return wrong
