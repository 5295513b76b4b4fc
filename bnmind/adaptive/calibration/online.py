r"""Calibration of new items one examinee at a time.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
a_g                    the parameters of the Dirichlet distribution of row g
w_g                    P(group g | answers, x): the posterior, by the mean table of the item
a_{g,x} + w_g          fractional updating
=====================  ===================================================================

The exact posterior is a mixture over the groups; fractional updating adds to each row the part of
the answer that belongs to it.

References
----------
D. Spiegelhalter and S. Lauritzen, "Sequential updating of conditional probabilities on directed
graphical structures", Networks 1990.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.averaging import with_table
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.certain_tables import cause_order
from bnmind.adaptive.items.certainty import TableCertainty
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm import Network

__all__ = ["OnlineCalibration", "OnlineStep"]


@dataclass(frozen=True, eq=False)
class OnlineStep(Value):
    """One answer to a new item."""

    predicted: float
    """The probability of the answer before it."""
    weights: Floats
    """``(rows,)``: the posterior probability of each row of the item's table."""


@dataclass(frozen=True, eq=False)
class OnlineCalibration(Value):
    """The distributions of the tables of new items while examinees answer them.

    Examples
    --------
    >>> from bnmind.adaptive import start_belief, with_certainties
    >>> new = {"item_3": TableCertainty(np.ones((2, 2)), (0, 1))}
    >>> bank = with_certainties(ItemBank.from_qmatrix([[1]] * 3, 0.2, 0.1), new)
    >>> state = OnlineCalibration(bank)
    >>> belief = start_belief(bank).update("item_1", 1).update("item_2", 1)
    >>> state, step = state.update(belief, "item_3", 1)
    >>> step.predicted, state.certainty("item_3").counts.round(2).tolist()
    (0.5, [[1.0, 1.05], [1.0, 1.95]])
    """

    bank: ItemBank
    """The bank; the certainty of each new item is a `TableCertainty`."""

    @checked_if_it_fails
    def certainty(self, item: str) -> TableCertainty:
        """Return the distribution of the table of an item.

        Parameters
        ----------
        item
            The name of the item.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If it has no `TableCertainty`.
        """
        found = self.bank.item(item).certainty
        if not isinstance(found, TableCertainty):
            raise InvalidArgumentError(
                f"expected item {item} with a TableCertainty, which `with_certainties` gives it",
                item,
            )
        return found

    @checked_if_it_fails
    def update(
        self, belief: SkillBelief, item: str, response: int | str
    ) -> tuple[OnlineCalibration, OnlineStep]:
        """Return the state after an answer to a new item, and the step.

        Parameters
        ----------
        belief
            The belief about the examinee by the answers to other items.
        item, response
            The item and the answer.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If there is no such item, or response, or it has no `TableCertainty`.
        """
        known, number = self.certainty(item), self.bank.response(item, response)
        rows = np.array(known.rows)[cause_order(self.bank, item)]
        masses = belief.masses([item])[0][: len(rows)]
        of_row = np.bincount(rows, weights=masses, minlength=len(known.counts))
        joint = of_row * known.means[:, number]
        predicted = float(joint.sum())
        weights = joint / predicted
        counts = np.array(known.counts)
        counts[:, number] += weights
        after = TableCertainty(counts, known.rows, known.answers + 1)
        cpd = self.bank.network.cpd(item)
        changed, table = with_table(
            replace(self.bank.item(item), certainty=after),
            cpd.variable,
            cpd.parents,
            after.means[list(after.rows)],
        )
        items = tuple(changed if one.name == item else one for one in self.bank.items)
        cpds = (table if one.variable.name == item else one for one in self.bank.network.cpds)
        bank = replace(self.bank, network=Network(tuple(cpds)), items=items)
        return OnlineCalibration(bank), OnlineStep(predicted, weights)
