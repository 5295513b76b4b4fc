r"""Person fit: how surprising each answer is, given all the others.

=============  ==============================================================
symbol         name here
=============  ==============================================================
P(x | others)  the chance of response x to an item, given the responses to
               all other items
p_value        Σ P(x | others) over the responses x that are no more probable
               than the one given: how probable an answer at least as
               surprising was
=============  ==============================================================

P(c | all) ∝ P(c | others) N[c, x], so that what the others alone say of the item's cause
is read from the belief after all responses, by dividing; where a response excludes a
configuration, or nearly so, the item's response is taken away instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.response_errors import likelihood
from bnmind.errors import InvalidResponseError
from bnmind.information import Floats

__all__ = ["AnswerFit", "person_fit", "predicted_by_others"]

_LEAST = 1e-6
"""Likelihoods below this are not divided by."""

_TIE = 1e-9
"""Probabilities closer than this, relative to that of the response, count as equal."""


@dataclass(frozen=True)
class AnswerFit(CheckedValue):
    """How surprising one answer is, given all the others."""

    item: str
    """The name of the item."""
    response: str
    """The response given."""
    probability: float
    """How probable this response was, given all the other answers."""
    p_value: float
    """How probable an answer at least as surprising was; small for one that does not fit."""


def predicted_by_others(belief: SkillBelief, item: str) -> Floats:
    """Return the probability of each response to an answered item, given the other answers.

    Raises
    ------
    InvalidResponseError
        If the item was not answered.
    """
    bank = belief.bank
    if item not in belief.responses:
        bank.position(item)  # raises if there is no such item
        raise InvalidResponseError(f"expected an item that was answered, got {item}", item)
    channel = bank.channel(item)
    chances = likelihood(channel, belief.responses[item], belief.error_chance)
    if chances.min() < _LEAST:
        return belief.without(item).predict(item)
    before = belief.masses([item])[0][: len(channel)] / chances
    predicted: Floats = (before / before.sum()) @ channel
    return predicted


@checked
def person_fit(belief: SkillBelief, items: Sequence[str] | None = None) -> tuple[AnswerFit, ...]:
    """Return for each answer how surprising it is, given all the others.

    Parameters
    ----------
    belief
        The belief after all the answers.
    items
        Items that were answered; all of them unless given, in the order of the answers.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1]] * 5, guess=0.2, slip=0.1)
    >>> belief = start_belief(bank)
    >>> for item, response in zip(bank.item_names, (1, 1, 0, 1, 1)):
    ...     belief = belief.update(item, response)
    >>> [round(answer.p_value, 2) for answer in person_fit(belief)]
    [1.0, 1.0, 0.1, 1.0, 1.0]
    """
    bank = belief.bank
    found = []
    for item in belief.responses if items is None else items:
        predicted = predicted_by_others(belief, item)
        number = belief.responses[item]
        own = float(predicted[number])
        # Of the sum, so that what is certain is one.
        tail = float(predicted[predicted <= own * (1 + _TIE)].sum() / predicted.sum())
        found.append(AnswerFit(item, bank.responses(item)[number], own, tail))
    return tuple(found)
