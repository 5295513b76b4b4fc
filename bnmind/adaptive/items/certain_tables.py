"""The uncertain tables of the items of a bank: how they may deviate, and draws of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.items.averaging import deviations, drawn_table, with_table
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.certainty import Certainty
from bnmind.information import Floats
from bnmind.pgm import Network

__all__ = ["cause_order", "drawn_bank", "table_deviations", "with_certainties"]


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
def drawn_bank(bank: ItemBank, rng: np.random.Generator) -> ItemBank:
    """Return a bank whose uncertain parameters are drawn from their distributions.

    Parameters
    ----------
    bank
        The item bank.
    rng
        The source of random numbers.

    Examples
    --------
    >>> from bnmind.adaptive import TableCertainty
    >>> bank = ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1)
    >>> known = {"item_1": TableCertainty([[81, 21], [11, 91]], (0, 1))}
    >>> drawn = drawn_bank(with_certainties(bank, known), np.random.default_rng(1))
    >>> drawn.channel("item_1")[:, 1].round(2).tolist()
    [0.21, 0.86]
    """
    items, cpds = [], {cpd.variable.name: cpd for cpd in bank.network.cpds}
    for item in bank.items:
        cpd = cpds[item.name]
        if item.certainty is not None:
            table = drawn_table(item.certainty, cpd.variable, cpd.parents, item.gate, rng=rng)
            item, cpds[item.name] = with_table(item, cpd.variable, cpd.parents, table)
        items.append(item)
    network = Network(tuple(cpds[cpd.variable.name] for cpd in bank.network.cpds))
    return dataclasses.replace(bank, network=network, items=tuple(items))


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
