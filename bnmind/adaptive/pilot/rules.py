r"""Rules that choose which pilot item to ask.

==========================  ==============================================================
symbol                      name here
==========================  ==============================================================
q(c)                        ``masses``: the probability of each parent configuration of an
                            item, given the answers so far
L_k                         the deviations of the item's table; the covariance of its cells
                            is Σ_k L_k ⊗ L_k
P_r                         Σ_c q(c) E[θ_{c,r}], the predicted chance of response r
V_r                         Σ_k (Σ_c q(c) L_{k,c,r})², its variance by uncertain parameters
Σ_r V_r / (2 P_r ln 2)      the information of the answer about the item's parameters, in
                            bits, to second order
==========================  ==============================================================

The information is the mutual information of the answer and the parameters. An examinee whose
configuration is unknown tells less of each row, since V has the squares of q. It is the criterion
of D-optimal calibration (Jones and Jin 1994; Chang and Lu 2010) for one answer.

References
----------
D. Jones and Z. Jin, "Optimal sequential designs for on-line item estimation", Psychometrika
1994; Y.-C. I. Chang and H.-Y. Lu, "Online calibration via variable length computerized adaptive
testing", Psychometrika 2010; P. Efraimidis and P. Spirakis, "Weighted random sampling with a
reservoir", Inf. Process. Lett. 2006 (drawing by weights).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_shape, checked, number_array, positions
from bnmind._registry import Registered
from bnmind._values import Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.certain_tables import table_deviations
from bnmind.adaptive.items.certainty import TableCertainty
from bnmind.information import Floats

__all__ = [
    "PILOT_RULES",
    "LeastCalibrated",
    "MostInformativePilot",
    "PilotRule",
    "RandomPilot",
]


@runtime_checkable
class PilotRule(Protocol):
    """The interface of rules that choose which pilot item to ask next."""

    def pilot_scores(
        self, bank: ItemBank, items: NDArray[np.intp], masses: Floats, luck: Floats
    ) -> Floats:
        """Return the score of each pilot item, ``(examinees, items)``; the largest is asked.

        Parameters
        ----------
        bank
            The item bank.
        items
            ``(items,)``, the positions of the pilot items in the bank.
        masses
            ``(examinees, items, configurations)``, see `SkillBelief.masses`.
        luck
            ``(examinees, items)``, random numbers in [0, 1).
        """


@dataclass(frozen=True)
class RandomPilot(Value):
    """Ask pilot items at random, all with the same probability."""

    @checked
    def pilot_scores(
        self, bank: ItemBank, items: NDArray[np.intp], masses: Floats, luck: Floats
    ) -> Floats:
        """Return the random numbers; see `PilotRule`."""
        return _arrays(bank, items, masses, luck)[2]


@dataclass(frozen=True)
class LeastCalibrated(Value):
    """Ask pilot items with few answers more often.

    The probability of an item is inversely proportional to the number of its answers so far, plus
    one. It is not always the item with the fewest: between two calibrations the bank does not
    change, and all examinees would be asked the same item.
    """

    @checked
    def pilot_scores(
        self, bank: ItemBank, items: NDArray[np.intp], masses: Floats, luck: Floats
    ) -> Floats:
        """Return scores whose largest is drawn with these probabilities; see `PilotRule`."""
        items, _, luck = _arrays(bank, items, masses, luck)
        known = [bank.items[place].certainty for place in items.tolist()]
        answers = np.array([0.0 if one is None else one.answers for one in known])
        scores: Floats = np.log(np.maximum(luck, 1e-300)) * (answers + 1)
        return scores


@dataclass(frozen=True)
class MostInformativePilot(Value):
    """Ask the pilot item whose answer is expected to tell most about its own parameters.

    The expected information depends on the belief about the examinee and on how sure the
    parameters are. Those of an item without a certainty are unknown: each row of its table has a
    flat distribution. Ties are broken at random.
    """

    @checked
    def pilot_scores(
        self, bank: ItemBank, items: NDArray[np.intp], masses: Floats, luck: Floats
    ) -> Floats:
        """Return the information in bits, to second order; see `PilotRule`."""
        items, masses, luck = _arrays(bank, items, masses, luck)
        scores = np.zeros(luck.shape)
        for column, place in enumerate(items.tolist()):
            name = bank.item_names[place]
            channel, deviations = bank.channel(name), _deviations(bank, name)
            own = masses[:, column, : len(channel)]
            predicted = own @ channel
            variance = (np.einsum("nc,kcr->nkr", own, deviations) ** 2).sum(axis=1)
            ratio = np.divide(variance, predicted, out=np.zeros_like(variance), where=predicted > 0)
            scores[:, column] = ratio.sum(axis=1) / (2 * np.log(2))
        return scores + 1e-9 * luck


def _arrays(
    bank: ItemBank, items: NDArray[np.intp], masses: Floats, luck: Floats
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the arguments of a rule as arrays that fit each other."""
    places = positions(items, len(bank.items), "items")
    of_items, numbers = number_array(masses, "masses"), number_array(luck, "luck")
    check_shape(numbers, "luck", (len(of_items) if of_items.ndim else 0, len(places)))
    names = [bank.item_names[place] for place in places.tolist()]
    widest = max((len(bank.channel(name)) for name in names), default=0)
    # Masses may be padded for items with more configurations.
    check_shape(of_items[..., :widest], "masses", (*numbers.shape, widest))
    return places, of_items, numbers


@lru_cache(maxsize=2**10)
def _deviations(bank: ItemBank, name: str) -> Floats:
    """Return the deviations of an item's channel; of a flat distribution if nothing is known."""
    if bank.item(name).certainty is not None:
        return table_deviations(bank, name)
    n_configurations, n_responses = bank.channel(name).shape
    flat = TableCertainty(np.ones((n_configurations, n_responses)), tuple(range(n_configurations)))
    items = [replace(item, certainty=flat) if item.name == name else item for item in bank.items]
    return table_deviations(replace(bank, items=tuple(items)), name)


PILOT_RULES: Mapping[str, Registered[PilotRule]] = MappingProxyType(
    {
        "least-calibrated": Registered(
            "at random, items with few answers more often", LeastCalibrated
        ),
        "random": Registered("at random, all alike", RandomPilot),
        "informative": Registered(
            "the item whose answer tells most about its parameters", MostInformativePilot
        ),
    }
)
"""The rule of each name."""
