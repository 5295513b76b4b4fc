r"""Earlier answers to new items, as the bank remembers them.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
a − 1                  the counts of a `TableCertainty` without the flat prior
C                      the covariance of a `ParameterCertainty`
I                      the information of one examinee, drawn from the bank, about the
                       parameters of the item
w                      p / tr(C I), with p uncertain parameters: so many examinees tell as much
                       as the earlier ones, as C is about (w I)⁻¹
w π_g P_g              ``earlier_counts`` of a curve: the expected counts of these examinees
=====================  ===================================================================

The mode of the likelihood of the counts is the model as it was, so new answers move it by the share
that they have in all answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.certain_tables import cause_order
from bnmind.adaptive.items.certainty import Certainty, ParameterCertainty, TableCertainty
from bnmind.adaptive.learning.em.response_layout import ResponseLayout
from bnmind.adaptive.response_models.base.vector import (
    model_near,
    model_table,
    parameter_vector,
)
from bnmind.information import Floats

__all__ = ["earlier_counts", "together"]

_STEP = 1e-5


def earlier_counts(bank: ItemBank, layout: ResponseLayout, chosen: Sequence[str]) -> Floats:
    """Return the pseudo-counts of earlier answers, in the layout."""
    earlier = np.zeros(layout.size)
    names = [name for block in layout.blocks for name in block.names]
    for number, name in enumerate(names):
        certainty = bank.item(name).certainty if name in chosen else None
        (groups, responses), start = layout.shapes[number], layout.starts[number]
        if isinstance(certainty, TableCertainty) and certainty.counts.shape == (groups, responses):
            cells = np.maximum(certainty.counts - 1, 0.0).reshape(-1)
        elif _is_usable(certainty):
            grouped = np.zeros((groups, responses))
            np.add.at(grouped, layout.groups[number], _counts_of_curve(bank, name, certainty))
            cells = grouped.reshape(-1)
        else:
            continue
        earlier[start : start + groups * responses] = cells
    return earlier


def _counts_of_curve(bank: ItemBank, name: str, certainty: ParameterCertainty) -> Floats:
    """Return expected counts of answers that tell as much as the earlier ones, of a whole table.

    They are those of w examinees drawn from the bank. Their information about the parameters is w
    times that of one, I; the weight is such that w tr(C I) is the number of uncertain parameters,
    as if C were the inverse of w I.
    """
    item, cpd = bank.item(name), bank.network.cpd(name)
    assert item.gate is not None
    numbers = parameter_vector(item.gate)
    table = model_table(item.gate, cpd.variable, cpd.parents)
    order = cause_order(bank, name)
    masses = np.zeros(len(table))
    masses[order] = start_belief(bank).masses([name])[0][: len(table)]
    slopes = np.zeros((len(numbers), *table.shape))
    for place, step in enumerate(np.diag(_STEP * np.maximum(1.0, np.abs(numbers)))):
        up, down = (model_near(item.gate, sign * step) for sign in (1, -1))
        width = float((parameter_vector(up) - parameter_vector(down))[place])
        if width > 0:
            change = [model_table(one, cpd.variable, cpd.parents) for one in (up, down)]
            slopes[place] = (change[0] - change[1]) / width
    safe = np.maximum(table, 1e-12)
    one = np.einsum("g,igr,jgr->ij", masses, slopes / safe, slopes)
    told = float(np.trace(certainty.covariance @ one))
    uncertain = int(np.count_nonzero(np.diag(certainty.covariance) > 0))
    weight = uncertain / told if told > 0 else 0.0
    counts: Floats = weight * masses[:, None] * table
    return counts


def together(new: Certainty, old: Certainty | None) -> Certainty:
    """Return how sure parameters are from earlier answers and new ones."""
    if isinstance(new, TableCertainty) and isinstance(old, TableCertainty):
        counts = new.counts + np.maximum(old.counts - 1, 0.0)
        return TableCertainty(counts, new.rows, new.answers + old.answers)
    if isinstance(new, ParameterCertainty) and _is_usable(old):
        informations = np.linalg.pinv(new.covariance), np.linalg.pinv(old.covariance)
        covariance = np.linalg.pinv(sum(informations))
        return ParameterCertainty((covariance + covariance.T) / 2, new.answers + old.answers)
    return new


def _is_usable(certainty: Certainty | None) -> TypeGuard[ParameterCertainty]:
    """Return whether the parameters whose certainty it is are those of the item's model."""
    return isinstance(certainty, ParameterCertainty) and certainty.model is None
