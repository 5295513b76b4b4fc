"""The uncertain tables of the items of a bank: how they may deviate."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.items.averaging import deviations
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.certainty import Certainty
from bnmind.information import Floats

__all__ = ["cause_order", "table_deviations", "with_certainties"]


def cause_order(bank: ItemBank, item: str) -> NDArray[np.intp]:
    """Return the place of each configuration of `ItemBank.cause` in the order of the network."""
    parents = bank.network.cpd(item).parents
    places = np.arange(np.prod([v.n_states for v in parents], dtype=np.intp))
    table = places.reshape([v.n_states for v in parents])
    names = [v.name for v in parents]
    return table.transpose([names.index(name) for name in bank.cause(item)]).reshape(-1)


def table_deviations(bank: ItemBank, item: str) -> Floats:
    """Return how the channel of an item deviates, ``(directions, configurations, responses)``.

    The covariance of the cells is the sum over the directions of the products of their entries.
    An item without a certainty has no direction. Configurations are as in `ItemBank.channel`.
    """
    of_item, cpd = bank.item(item), bank.network.cpd(item)
    if of_item.certainty is None:
        return np.zeros((0, *bank.channel(item).shape))
    found = deviations(of_item.certainty, cpd.variable, cpd.parents, of_item.gate)
    ordered: Floats = found[:, cause_order(bank, item)]
    return ordered


@checked
def with_certainties(bank: ItemBank, certainties: Mapping[str, Certainty]) -> ItemBank:
    """Return a bank that knows how sure the parameters of some items are.

    Parameters
    ----------
    bank
        The item bank.
    certainties
        The certainties of some items, by name; those of other items stay.

    Raises
    ------
    UnknownNameError
        If the bank has no such item.
    InvalidModelError
        If a certainty does not fit its item.
    """
    for name in certainties:
        bank.position(name)
    items = [
        dataclasses.replace(item, certainty=certainties.get(item.name, item.certainty))
        for item in bank.items
    ]
    return dataclasses.replace(bank, items=tuple(items))
