r"""Person fit: the probability of each answer given all others.

=============  ==============================================================
symbol         name here
=============  ==============================================================
P(x | others)  the chance of response x to an item, given the responses to
               all other items
p_value        Σ P(x | others) over the responses x that are no more probable
               than the one given: the probability of an answer at least as
               surprising
=============  ==============================================================

P(c | all) ∝ P(c | others) N[c, x], so P(c | others) follows from the belief after all
responses by division. Where a response excludes a configuration, or nearly so, the belief is
computed without that response instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.response_errors import likelihood
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["AnswerFit", "person_fit", "predicted_by_others"]

_LEAST = 1e-6
"""Likelihoods below this are not divided by."""

_TIE = 1e-9
"""Probabilities closer than this, relative to that of the response, count as equal."""


@dataclass(frozen=True)
class AnswerFit(Value):
    """How surprising one answer is, given all other answers."""

    item: str
    """The name of the item."""
    response: str
    """The response given."""
    probability: float
    """The probability of this response, given all other answers."""
    p_value: float
    """The probability of an answer at least as surprising; small if the answer does not fit."""


def predicted_by_others(belief: SkillBelief, item: str) -> Floats:
    """Return the probability of each response to an answered item, given the other answers.

    Raises
    ------
    InvalidArgumentError
        If the item was not answered.
    """
    bank = belief.bank
    if item not in belief.responses:
        bank.position(item)  # raises if there is no such item
        raise InvalidArgumentError(f"{item} was not answered", item)
    channel = bank.channel(item)
    chances = likelihood(channel, belief.responses[item], belief.error_chance)
    if chances.min() < _LEAST:
        return belief.without(item).predict(item)
    before = belief.masses([item])[0][: len(channel)] / chances
    predicted: Floats = (before / before.sum()) @ channel
    return predicted


@checked
def person_fit(belief: SkillBelief, items: Sequence[str] | None = None) -> tuple[AnswerFit, ...]:
    """Return how surprising each answer is, given all other answers.

    Parameters
    ----------
    belief
        The belief after all answers.
    items
        Answered items; default all of them, in the order of the answers.

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
    fits = []
    for item in belief.responses if items is None else items:
        predicted = predicted_by_others(belief, item)
        number = belief.responses[item]
        own = float(predicted[number])
        # Relative to the sum, so that a certain answer has the p-value 1 exactly.
        tail = float(predicted[predicted <= own * (1 + _TIE)].sum() / predicted.sum())
        fits.append(AnswerFit(item, bank.responses(item)[number], own, tail))
    return tuple(fits)
