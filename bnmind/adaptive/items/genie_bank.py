"""Item banks of GeNIe's diagnostic networks.

Targets become skills. Ranked observations, or all if none is ranked, become items, with the
observation costs and the question texts. All other nodes are hidden variables. Responses keep the
order of the states in the file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bnmind._files import LARGE_FILE, read_bytes
from bnmind._messages import counted
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.errors import ModelFileError
from bnmind.pgm import Network
from bnmind.pgm.encoded_names import decoded
from bnmind.pgm.formats.declared import ModelFileWarning
from bnmind.pgm.formats.xml import Element, parse_xml
from bnmind.questions.asked import read_diagnosis

__all__ = ["genie_bank"]

_COST = ("cost", "observationcost", "observcost", "observation_cost")


def genie_bank(path: str | os.PathLike[str], network: Network) -> ItemBank:
    """Return the bank of a diagnostic network of GeNIe.

    Parameters
    ----------
    path
        The XDSL file.
    network
        The network in it.

    Raises
    ------
    ModelFileError
        If the file marks no targets, or no observations that depend on them.

    Warns
    -----
    ModelFileWarning
        If observations cannot be items, or targets cannot be skills.
    """
    marks = read_diagnosis(path)
    if not marks.targets or not marks.observations:
        raise ModelFileError(
            "expected nodes that GeNIe marks as targets and observations, or a file of roles"
            f" beside the network; got {counted(len(marks.targets), 'target')} and"
            f" {counted(len(marks.observations), 'observation')}"
        )
    root = parse_xml(read_bytes(path, most=LARGE_FILE))
    nodes = {_name(node, network): node for node in root.one("nodes").children}
    items, skills = _usable(network, marks.ranked or marks.observations, marks.targets)
    labels, title = _labels(root)
    costs = _costs(root, nodes)
    bank_items = tuple(
        Item(
            name,
            text=_question(nodes[name]) or _other(labels.get(name, ""), name),
            cost=costs.get(name, 1.0),
        )
        for name in items
    )
    return ItemBank(
        network=network,
        skills=tuple(skills),
        items=bank_items,
        title=title,
        labels=tuple(labels.get(name) or name for name in skills),
    )


def _name(node: Element, network: Network) -> str:
    """Return the name of a node in the network; files of bnmind may have encoded ones."""
    name = node.attribute("id")
    return name if name in {v.name for v in network.variables} else decoded(name)


def _usable(
    network: Network, items: Sequence[str], skills: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the observations that can be items, and the targets that these depend on."""
    parents = {cpd.variable.name: [v.name for v in cpd.parents] for cpd in network.cpds}
    has_children = {name for of in parents.values() for name in of}
    ancestors: dict[str, set[str]] = {}
    for cpd in network.cpds:  # parents before children
        own = parents[cpd.variable.name]
        ancestors[cpd.variable.name] = set(own).union(*(ancestors[name] for name in own))
    usable = [name for name in items if name not in has_children and ancestors[name] & set(skills)]
    measured = set[str]().union(*(ancestors[name] for name in usable))
    kept = [name for name in skills if name in measured]
    for left_out, why in (
        (set(items) - set(usable), "observations with children, or that depend on no target"),
        (set(skills) - set(kept), "targets on which no observation depends"),
    ):
        if left_out:
            warnings.warn(
                f"{why}, are hidden variables of the bank: {', '.join(sorted(left_out))}",
                ModelFileWarning,
                stacklevel=4,
            )
    if not usable:
        raise ModelFileError("expected observations that depend on targets, got none")
    return usable, kept


def _question(node: Element) -> str:
    return " ".join(word for entry in node.each("question") for word in entry.words)


def _other(label: str, name: str) -> str:
    return "" if label == name else label


def _labels(root: Element) -> tuple[dict[str, str], str]:
    """Return the names that GeNIe shows for nodes, and for the network."""
    labels: dict[str, str] = {}
    title = ""
    for extensions in root.each("extensions"):
        for genie in extensions.each("genie"):
            title = title or genie.attributes.get("name", "")
            for node in _below(genie):
                texts = [" ".join(name.words) for name in node.each("name")]
                if node.tag == "node" and texts and "id" in node.attributes:
                    labels[node.attributes["id"]] = texts[0]
    return labels, title


def _below(element: Element) -> Iterator[Element]:
    """Yield all elements below another; submodels may contain nodes."""
    for child in element.children:
        yield child
        yield from _below(child)


def _costs(root: Element, nodes: Mapping[str, Element]) -> dict[str, float]:
    """Return the positive costs of observations, from their nodes or from a list beside them.

    A cost that depends on other nodes is left out, with a warning.
    """
    entries = [(name, cost) for name, node in nodes.items() for cost in _cost_entries(node)]
    for part in root.children:
        if "cost" in part.tag.lower():
            for entry in part.children:
                name = entry.attributes.get("id", "")
                entries += [(name, cost) for cost in (*_cost_entries(entry), entry)]
    costs: dict[str, float] = {}
    several = []
    for name, entry in entries:
        if len(entry.words) == 1 and name not in costs:
            try:
                costs[name] = float(entry.words[0])
            except ValueError:
                raise entry.place.fault(
                    f"expected the cost of {name}, got {entry.words[0][:40]}"
                ) from None
        elif len(entry.words) > 1:
            several.append(name)
    if several:
        warnings.warn(
            f"costs that depend on other nodes count as 1: {', '.join(sorted(set(several)))}",
            ModelFileWarning,
            stacklevel=4,
        )
    return {name: cost for name, cost in costs.items() if cost > 0 and name not in several}


def _cost_entries(node: Element) -> Iterable[Element]:
    return (entry for entry in node.children if entry.tag.lower() in _COST)
