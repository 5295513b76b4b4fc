"""Item banks in files: one JSON file, or a network file with the roles beside it.

============================  =====================================================
file                          content
============================  =====================================================
``bank.json``                 the whole bank, see `bnmind.adaptive.records`
``bank.xdsl``, ``.bif``, …    the network, for programs that read its format; skills
                              and items, with all their properties, are in
                              ``bank.xdsl.roles.json``; without this file, those of an
                              XDSL file are GeNIe's targets and ranked observations
============================  =====================================================

Item banks of GeNIe's diagnostic networks.

Targets become skills. Ranked observations, or all if none is ranked, become items, with the
observation costs and the question texts. All other nodes are hidden variables. Responses keep the
order of the states in the file.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bnmind import _files
from bnmind._arguments import checked
from bnmind._files import LARGE_FILE, encoded, read_bytes, write_files
from bnmind._messages import counted
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.item import Item
from bnmind.errors import InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network
from bnmind.pgm.encoded_names import decoded
from bnmind.pgm.files import FILE_CELLS, NETWORK_SUFFIXES, model_contents, read_network
from bnmind.pgm.formats.declared import ModelFileWarning
from bnmind.pgm.formats.xml import Element, parse_xml
from bnmind.questions.asked import read_diagnosis

_SHOWN = 6
"""Names that an error shows."""


@checked
def write_bank(
    bank: ItemBank | HasBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a bank to a file, in the format of its suffix.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns. ``.json`` files keep response models; other formats
        store tables.
    path
        Replaced if it exists, together with the file of roles beside it. If anything
        fails, all files stay as they were.
    max_cells
        The limit of cells in one table.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the format cannot hold the network, or a file cannot be written;
        the message names the file.
    TooLargeError
        If a table has more cells.
    """
    write_files(bank_contents(bank_of(bank), path, max_cells=max_cells))


def bank_contents(
    bank: ItemBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> dict[Path, bytes]:
    """Return the content of each file that `write_bank` writes, in the order of writing.

    Parameters and errors are those of `write_bank`. Before long work, call it with the
    initial bank to find out whether the final bank could be written.
    """
    from bnmind.adaptive.records import bank_to_json, roles_to_json

    if Path(path).suffix.lower() == ".json":
        texts = {Path(path): bank_to_json(bank, max_cells=max_cells)}
    else:
        # The network first and the roles last: a network without roles is not read as a bank.
        texts = model_contents(bank.network, path, max_cells=max_cells)
        texts[_roles(path)] = roles_to_json(bank)
    return {place: encoded(place, text) for place, text in texts.items()}


@checked
def read_bank(path: str | os.PathLike[str], *, normalize: bool = False) -> ItemBank:
    """Return the bank in a file.

    Parameters
    ----------
    path
        A file that `write_bank` wrote, or another program that knows the format of the network.
    normalize
        As for `bnmind.pgm.files.read_network`, where the bank is the file of a network.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, a file cannot be read, or its content is not a bank; the
        message names the file.
    TooLargeError
        If the tables would have too many cells. None is allocated.
    """
    from bnmind.adaptive.records import bank_from_json, roles_from_json

    suffix = Path(path).suffix.lower()
    if suffix not in NETWORK_SUFFIXES:
        raise ModelFileError(
            "expected a bank, a file whose name ends in .json (or"
            f" {', '.join(one for one in NETWORK_SUFFIXES if one != '.json')}), got"
            f" {Path(path).name!r}",
            str(path),
        )
    place = Path(path) if suffix == ".json" else _roles(path)
    if suffix != ".json" and not place.exists():
        place = Path(path)
        text = ""
    else:
        text = read_text(place)
    network = None if suffix == ".json" else read_network(path, normalize=normalize)
    try:
        if network is None:
            return bank_from_json(text)
        return roles_from_json(text, network) if text else _of_marks(path, network)
    except (ModelFileError, InvalidModelError) as fault:
        raise ModelFileError(f"{fault}, in {place}", str(place)) from fault
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, in {place}", needed=fault.needed, budget=fault.budget
        ) from fault


def _of_marks(path: str | os.PathLike[str], network: Network) -> ItemBank:
    """Return the bank of a network whose file itself tells the roles of the variables."""
    bank = genie_bank(path, network) if Path(path).suffix.lower() == ".xdsl" else None
    if bank is not None:
        return bank
    inner = {v.name for cpd in network.cpds for v in cpd.parents}
    items = [cpd.variable.name for cpd in network.cpds if cpd.parents]
    items = [name for name in items if name not in inner]
    skills = [v.name for v in network.variables if v.name in inner]
    line = (
        f'{{"schema": "bnmind-roles", "version": 1, "skills": {_some(skills)}, "items":'
        f" {_some(items)}}}"
    )
    raise ModelFileError(
        f"expected the skills and items of the network beside it: write a file"
        f" {_roles(path).name} with the line {line}"
    )


def _some(names: Sequence[str]) -> str:
    """Return the records of the first names as a list of JSON."""
    texts = [json.dumps({"name": name}, ensure_ascii=False) for name in names[:_SHOWN]]
    return f"[{', '.join([*texts, '…'] if len(names) > _SHOWN else texts)}]"


def read_text(
    path: str | os.PathLike[str], *, most: int = LARGE_FILE, damaged: bool = False
) -> str:
    """Return the text of a file; raises `ModelFileError` if it is empty or cannot be read.

    Files of more than ``most`` bytes are rejected. If ``damaged``, a text that is not valid
    UTF-8 is returned up to the first invalid byte.
    """
    text = _files.read_text(path, most=most, damaged=damaged)
    if not text.strip():
        raise ModelFileError(f"{path} is empty", str(path))
    return text


def _roles(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_name(f"{Path(path).name}.roles.json")


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
