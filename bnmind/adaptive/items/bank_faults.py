"""The faults of an item bank: names, structure, and response models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from bnmind._messages import close_names, did_you_mean
from bnmind.adaptive.items.certainty import certainty_faults
from bnmind.adaptive.items.item import Item
from bnmind.errors import InvalidModelError
from bnmind.pgm import FunctionalCPD, Network

__all__ = ["bank_faults"]

_CHECKED_CELLS = 2**16
"""Tables of more cells are not compared with their response models."""


def _doubled(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def bank_faults(
    network: Network, skills: Sequence[str], items: Sequence[Item], labels: Sequence[str]
) -> list[str]:
    """Return all faults of the parts of a bank; if names are wrong, only those."""
    return (
        _name_faults(network, skills, items, labels)
        or _structure_faults(network, skills, [item.name for item in items])
        or _choice_faults(network, items)
        or [fault for item in items for fault in _model_faults(network, item)]
        or [fault for item in items for fault in _certainty_faults(network, item)]
    )


def _name_faults(
    network: Network, skills: Sequence[str], bank_items: Sequence[Item], labels: Sequence[str]
) -> list[str]:
    """Return a fault for each name that is unknown, repeated or missing."""
    items = [item.name for item in bank_items]
    are_skills, are_items = frozenset(skills), frozenset(items)
    known = {v.name: v for v in network.variables}
    problems = [f"the skill {name} occurs more than once" for name in _doubled(skills)]
    problems += [f"the item {name} occurs more than once" for name in _doubled(items)]
    problems += [
        f"{name} cannot be both a skill and an item" for name in sorted(are_skills & are_items)
    ]
    problems += [
        f"the network has no variable for {kind} {name}{_meant(name, known)}"
        for kind, names in (("skill", skills), ("item", items))
        for name in names
        if name not in known
    ]
    if len(labels) != len(skills):
        problems.append(f"expected {len(skills)} labels of skills, got {len(labels)}")
    if not skills:
        problems.append("a bank needs at least one skill")
    if not items:
        problems.append("a bank needs at least one item")
    problems += [
        f"{other}, an enemy of {item.name}, is not an item"
        for item in bank_items
        for other in item.enemies
        if other not in are_items
    ]
    return problems


def _meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether a similar variable is meant; empty if there is none."""
    question = did_you_mean(close_names(name, known))
    return f"; {question}" if question else ""


def _choice_faults(network: Network, items: Sequence[Item]) -> list[str]:
    """Return a fault for each item with a choice that counts as no response of it."""
    problems = []
    for item in items:
        if item.choices:
            states = network.variable(item.name).states
            unknown = [text for text, response in item.choices if response not in states]
            problems += [
                f"the choice {text} of item {item.name} must count as one of its responses:"
                f" {', '.join(states)}"
                for text in unknown[:1]
            ]
    return problems


def _structure_faults(network: Network, skills: Sequence[str], items: Sequence[str]) -> list[str]:
    """Return a fault for each item or skill in a wrong place of the network."""
    are_skills, are_items = frozenset(skills), frozenset(items)
    known = {v.name: v for v in network.variables}
    children = {v.name: cpd.variable.name for cpd in network.cpds for v in cpd.parents}
    problems = [
        f"item {name} must not have children, but has {children[name]}"
        for name in items
        if name in children
    ]
    problems += [
        f"{name} needs at least two {what}, got {known[name].n_states}"
        for what, names in (("levels", skills), ("responses", items))
        for name in names
        if known[name].n_states < 2
    ]
    below_skills: set[str] = set()
    for cpd in network.cpds:  # parents before children
        if any(v.name in are_skills or v.name in below_skills for v in cpd.parents):
            below_skills.add(cpd.variable.name)
    measured: set[str] = set()
    for cpd in reversed(network.cpds):
        if cpd.variable.name in are_items or cpd.variable.name in measured:
            measured.update(v.name for v in cpd.parents)
    problems += [f"item {name} depends on no skill" for name in items if name not in below_skills]
    problems += [f"no item depends on skill {name}" for name in skills if name not in measured]
    return problems


def _certainty_faults(network: Network, item: Item) -> list[str]:
    """Return a fault if the certainty of an item is that of other parameters."""
    if item.certainty is None:
        return []
    cpd = network.cpd(item.name)
    return certainty_faults(item.certainty, cpd.variable, cpd.parents, item.gate)


def _model_faults(network: Network, item: Item) -> list[str]:
    """Return a fault if the distribution of an item is not that of its response model."""
    cpd = network.cpd(item.name)
    if item.gate is None or cpd.n_cells > _CHECKED_CELLS or isinstance(cpd, FunctionalCPD):
        return []
    try:
        expected = item.gate.cpd(cpd.variable, cpd.parents)
    except InvalidModelError as fault:
        return list(fault.problems)
    if np.allclose(expected.to_factor().values, cpd.to_factor().values, rtol=0, atol=1e-9):
        return []
    return [f"the distribution of {item.name} is not that of its response model {item.gate}"]
