r"""Person fit: the standardized log-likelihood of all responses of an examinee.

=========  =====================================================================
symbol     name here
=========  =====================================================================
α̂          ``levels``, the most probable profile
P_i(x)     the probability of response x to item i, given α̂
l₀         Σ_i ln P_i(x_i), over the items answered
E, V       its mean and variance given α̂: Σ_i Σ_x P ln P, Σ_i [Σ_x P ln² P − (Σ_x P ln P)²]
l_z        (l₀ − E) / √V
=========  =====================================================================

Small values mean responses that fit no profile: about 5 % of the examinees who follow the bank have
a value below −1.645, or fewer, since α̂ is estimated from the same responses.

References
----------
F. Drasgow, M. Levine and E. Williams, "Appropriateness measurement with polychotomous item
response models and standardized indices", Br. J. Math. Stat. Psychol. 1985; Y. Liu, J. Douglas
and R. Henson, "Testing person fit in cognitive diagnosis", Appl. Psychol. Meas. 2009.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats

__all__ = ["MISFIT", "standardized_fit"]

MISFIT = -1.645
"""Below this an examinee's responses fit badly: the 5 % point of a normal distribution."""

_LEAST = 1e-12
"""Replaces a probability of zero, so that its logarithm is finite."""


def standardized_fit(
    bank: ItemBank, responses: NDArray[np.signedinteger[Any]], levels: NDArray[np.intp]
) -> Floats:
    """Return l_z of each examinee, ``(examinees,)``; NaN if no response is uncertain.

    Parameters
    ----------
    bank
        The bank. Items that depend on more than skills are left out.
    responses
        ``(examinees, items)``, `MISSING` where there is none.
    levels
        ``(examinees, skills)``, the most probable profiles.
    """
    place = {skill: column for column, skill in enumerate(bank.skills)}
    deviation, variance = np.zeros(len(responses)), np.zeros(len(responses))
    for number, name in enumerate(bank.item_names):
        cause = bank.cause(name)
        if not set(cause) <= set(place):
            continue
        sizes = [bank.variable(skill).n_states for skill in cause]
        columns = tuple(levels[:, place[skill]] for skill in cause)
        rows = np.ravel_multi_index(columns, sizes)
        channel = bank.channel(name)
        logs = np.log(np.maximum(channel, _LEAST))
        mean = (channel * logs).sum(axis=1)
        spread = (channel * logs**2).sum(axis=1) - mean**2
        given = responses[:, number] != MISSING
        own = logs[rows, np.maximum(responses[:, number], 0)]
        deviation += np.where(given, own - mean[rows], 0.0)
        variance += np.where(given, np.maximum(spread[rows], 0.0), 0.0)
    fit = np.full(len(responses), np.nan)
    np.divide(deviation, np.sqrt(variance), out=fit, where=variance > _LEAST)
    return fit
