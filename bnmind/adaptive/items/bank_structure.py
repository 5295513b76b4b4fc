"""The structure of an item bank, derived from its network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.pgm import Network, Variable

__all__ = ["hidden_variables", "item_channel", "nearest_skills", "stacked"]


def hidden_variables(
    network: Network, skills: Sequence[str], items: Sequence[str]
) -> tuple[Variable, ...]:
    """Return the skills, then the other hidden variables on which skills or items depend."""
    parents = {cpd.variable.name: cpd.parents for cpd in network.cpds}
    needed = {*skills, *items}
    for variable in reversed(network.variables):  # children before parents
        if variable.name in needed:
            needed |= {v.name for v in parents[variable.name]}
    needed -= {*items, *skills}
    others = [v for v in network.variables if v.name in needed]
    return (*(network.variable(name) for name in skills), *others)


def item_channel(network: Network, item: str, parents: Sequence[str]) -> Floats:
    """Return the chance of each response, ``(parent configurations, responses)``."""
    table = np.real(network.cpd(item).to_factor().sum_to((item, *parents)).values)
    channel = np.ascontiguousarray(table.reshape(len(table), -1).T)
    channel.setflags(write=False)
    return channel


def stacked(channels: Sequence[Floats]) -> Floats:
    """Return channels in one array padded with zeros, ``(items, configurations, responses)``."""
    shape = np.max([channel.shape for channel in channels], axis=0)
    padded = np.zeros((len(channels), *shape))
    for row, channel in zip(padded, channels, strict=True):
        row[: channel.shape[0], : channel.shape[1]] = channel
    return padded


def nearest_skills(
    network: Network, skills: Sequence[str], items: Sequence[str]
) -> NDArray[np.bool_]:
    """Return whether an item depends on a skill directly, ``(items, skills)``."""
    place = {name: number for number, name in enumerate(skills)}
    reached: dict[str, set[int]] = {}
    for cpd in network.cpds:  # parents before children
        nearest: set[int] = set()
        for v in cpd.parents:
            nearest |= {place[v.name]} if v.name in place else reached[v.name]
        reached[cpd.variable.name] = nearest
    matrix = np.zeros((len(items), len(skills)), dtype=bool)
    for row, name in zip(matrix, items, strict=True):
        row[list(reached[name])] = True
    matrix.setflags(write=False)
    return matrix
